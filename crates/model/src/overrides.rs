//! Values given on the command line instead of in the file.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use crate::limits;
use crate::problem::{Findings, Problem};
use crate::renamed::Renamed;
use crate::schema::SchemaShape;
use crate::source::{Source, Span};

/// Keys and values that replace those of the file, as `--set key=value` gives them.
///
/// A key is a dotted path, such as `lumped.left.micro_steps`, or the bare name of a parameter. A
/// value is written as in the file; what is no TOML value is taken as a text, so that quotes can
/// be left out. An empty value takes the key away, as if the file did not have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(pub Vec<(String, String)>);

impl Overrides {
    /// No overrides.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds the texts to the source and says where keys and values lie.
    pub(crate) fn place(&self, source: &mut Source) -> Vec<Placed> {
        let place = |(key, value): &(String, String)| {
            let span = source.add_override(&format!("{key}={value}"));
            let middle = span.start + key.len();
            Placed {
                key: span.start..middle,
                value: middle + 1..span.end,
            }
        };
        self.0.iter().map(place).collect()
    }
}

/// Where one override lies in the source.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    key: Span,
    value: Span,
}

/// Puts the overrides into the parsed file. Whether the values fit is checked with the rest.
pub(crate) fn apply<'i>(
    overrides: &[Placed],
    source: &'i Source,
    tree: &mut DeTable<'i>,
    schema: &Value,
    renamed: &mut Renamed,
    findings: &mut Findings,
) {
    for placed in overrides {
        let applied = path(source, &placed.key)
            .and_then(|path| full_path(path, tree, schema))
            .map(|path| present_path(path, SchemaShape::new(schema), renamed))
            .and_then(|path| {
                if source.slice(placed.value.clone()).trim().is_empty() {
                    return unset(tree, &path);
                }
                let value = value(source, &placed.value)?;
                insert(tree, SchemaShape::new(schema), &path, value)
            });
        if let Err(problem) = applied {
            findings.push(problem);
        }
    }
}

type Key<'i> = Spanned<DeString<'i>>;

/// The segments of a dotted key.
fn path<'i>(source: &'i Source, span: &Span) -> Result<Vec<Key<'i>>, Problem> {
    let text = source.slice(span.clone());
    let no_key = || Problem::new(span.clone(), format!("`{text}` is no key")).label("override");
    // The parser knows how keys are quoted; its table has one entry a level.
    let line = format!("{text} = 0");
    limits::check(&line).map_err(|_| no_key())?;
    let mut table = DeTable::parse(&line).map_err(|_| no_key())?.into_inner();
    let mut path = Vec::new();
    loop {
        let mut entries = table.into_iter();
        let (Some((key, value)), None) = (entries.next(), entries.next()) else {
            return Err(no_key());
        };
        let place = span.start + key.span().start..span.start + key.span().end;
        path.push(Spanned::new(place, key.into_inner().into_owned().into()));
        match value.into_inner() {
            DeValue::Table(inner) => table = inner,
            _ => return Ok(path),
        }
    }
}

/// The path from the top of the file: a bare name may be a parameter.
fn full_path<'i>(
    mut path: Vec<Key<'i>>,
    tree: &DeTable<'i>,
    schema: &Value,
) -> Result<Vec<Key<'i>>, Problem> {
    let [only] = path.as_slice() else {
        return Ok(path);
    };
    let name = only.get_ref().as_ref();
    let parameters = tree
        .get("parameters")
        .and_then(|value| value.get_ref().as_table());
    if parameters.is_some_and(|parameters| parameters.contains_key(name)) {
        path.insert(0, Spanned::new(only.span(), "parameters".into()));
        return Ok(path);
    }
    let shape = SchemaShape::new(schema);
    if shape.key(name).is_some() || shape.renamed_keys().any(|(before, _)| before == name) {
        return Ok(path);
    }
    let parameters = parameters.into_iter().flatten();
    let names: Vec<String> = parameters
        .map(|(key, _)| key.get_ref().to_string())
        .collect();
    let paths = known_paths(shape);
    let known: Vec<&str> = names.iter().chain(&paths).map(String::as_str).collect();
    let last = |path: &str| path.rsplit('.').next().is_some_and(|last| last == name);
    let message = format!("the model has no parameter `{name}` to override");
    let problem = Problem::new(only.span(), message).label("override");
    if let Some(path) = known.iter().find(|path| last(path)) {
        return Err(problem.help(format!("did you mean `{path}`?")));
    }
    let problem = problem.suggest(name, known);
    if problem.help.is_some() || names.is_empty() {
        return Err(problem);
    }
    Err(problem.help(format!(
        "the parameters are {}; settings have paths, such as `simulation.step`",
        names.join(", ")
    )))
}

/// The path with the names that its keys have now.
fn present_path<'i>(
    mut path: Vec<Key<'i>>,
    schema: SchemaShape<'_>,
    renamed: &mut Renamed,
) -> Vec<Key<'i>> {
    let mut here = Some(schema);
    for key in &mut path {
        let Some(shape) = here else {
            break;
        };
        let now = renamed.key(key.get_ref(), shape).to_owned();
        here = shape.key(&now).or(shape.named());
        *key = Spanned::new(key.span(), now.into());
    }
    path
}

/// Dotted paths of all keys that do not lie below a name.
fn known_paths(shape: SchemaShape<'_>) -> Vec<String> {
    let mut paths = Vec::new();
    for key in shape.keys() {
        let inside = shape.key(key).into_iter().flat_map(known_paths);
        paths.extend(inside.map(|inner| format!("{key}.{inner}")));
        paths.push(key.to_owned());
    }
    paths
}

/// The value: TOML if it is, else a text.
fn value<'i>(source: &'i Source, span: &Span) -> Result<Spanned<DeValue<'i>>, Problem> {
    let text = source.slice(span.clone());
    limits::check(text).map_err(|problem| Problem {
        span: span.clone(),
        ..problem
    })?;
    Ok(match DeValue::parse(text) {
        Ok(value) => shifted(value, span.start),
        Err(_) => Spanned::new(span.clone(), DeValue::String(text.into())),
    })
}

/// The value with all its places moved.
fn shifted(value: Spanned<DeValue<'_>>, by: usize) -> Spanned<DeValue<'_>> {
    let span = value.span().start + by..value.span().end + by;
    let inner = match value.into_inner() {
        DeValue::Array(items) => {
            let mut moved = DeArray::new();
            for item in items {
                moved.push(shifted(item, by));
            }
            DeValue::Array(moved)
        }
        DeValue::Table(table) => {
            let moved = table.into_iter().map(|(key, value)| {
                let place = key.span().start + by..key.span().end + by;
                (Spanned::new(place, key.into_inner()), shifted(value, by))
            });
            DeValue::Table(moved.collect())
        }
        other => other,
    };
    Spanned::new(span, inner)
}

fn insert<'i>(
    table: &mut DeTable<'i>,
    shape: SchemaShape<'_>,
    path: &[Key<'i>],
    value: Spanned<DeValue<'i>>,
) -> Result<(), Problem> {
    let [key, rest @ ..] = path else {
        return Ok(());
    };
    let name = key.get_ref().as_ref();
    let is_new = shape.key(name).is_none() && !table.contains_key(name);
    if is_new
        && !shape.keys_are_ports()
        && let Some(problem) = unknown_name(table, shape, key)
    {
        return Err(problem);
    }
    if rest.is_empty() {
        table.insert(key.clone(), value);
        return Ok(());
    }
    let inside = shape.key(name).or(shape.named());
    let Some(inside) = inside else {
        // An unknown key: leave it for the check against the schema, which suggests a better one.
        table.insert(key.clone(), value);
        return Ok(());
    };
    let below = table
        .entry(key.clone())
        .or_insert(Spanned::new(key.span(), DeValue::Table(DeTable::new())));
    match below.get_mut() {
        DeValue::Table(below) => insert(below, inside, rest, value),
        _ => {
            let message = format!("`{name}` is no table: nothing below it can be overridden");
            Err(Problem::new(key.span(), message).label("override"))
        }
    }
}

/// Takes a key away, as if the file did not have it.
fn unset(table: &mut DeTable<'_>, path: &[Key<'_>]) -> Result<(), Problem> {
    let [key, rest @ ..] = path else {
        return Ok(());
    };
    let name = key.get_ref().as_ref();
    let missing = |table: &DeTable<'_>| {
        let names = table.keys().map(|key| key.get_ref().as_ref());
        let message = format!("there is no `{name}` that could be unset");
        let problem = Problem::new(key.span(), message).label("not in the file");
        problem.suggest(name, names)
    };
    if rest.is_empty() {
        return match table.remove(name) {
            Some(_) => Ok(()),
            None => Err(missing(table)),
        };
    }
    match table.get_mut(name).map(|below| below.get_mut()) {
        Some(DeValue::Table(below)) => unset(below, rest),
        _ => Err(missing(table)),
    }
}

/// An override changes what has a name, but invents no names.
fn unknown_name(table: &DeTable<'_>, shape: SchemaShape<'_>, key: &Key<'_>) -> Option<Problem> {
    shape.named()?;
    let name = key.get_ref().as_ref();
    let message = format!("the model has nothing called `{name}` to override");
    let names = table.keys().map(|key| key.get_ref().as_ref());
    let problem = Problem::new(key.span(), message).label("override");
    Some(problem.suggest(name, names))
}
