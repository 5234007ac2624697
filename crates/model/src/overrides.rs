//! Values given on the command line instead of in the file.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limits;
use crate::problem::{Findings, Problem};
use crate::renamed::Renamed;
use crate::reuse;
use crate::schema::SchemaShape;
use crate::source::{Source, Span};
use crate::tree::{Key, Value, shifted};

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

/// One value that replaces another.
#[derive(Clone, Debug)]
pub(crate) struct Change<'i> {
    /// The keys that lead to it.
    pub path: Vec<Key<'i>>,
    /// Nothing takes the key away.
    pub value: Option<Value<'i>>,
}

impl Change<'_> {
    fn keys(&self) -> impl Iterator<Item = &str> {
        self.path.iter().map(|key| key.get_ref().as_ref())
    }
}

/// What the overrides say, as far as they can be read.
pub(crate) fn changes<'i>(
    overrides: &[Placed],
    source: &'i Source,
    findings: &mut Findings,
) -> Vec<Change<'i>> {
    let mut changes = Vec::new();
    for placed in overrides {
        let path = path(source, &placed.key);
        let value = match source.slice(placed.value.clone()).trim().is_empty() {
            true => Ok(None),
            false => value(source, &placed.value).map(Some),
        };
        match path.and_then(|path| Ok((path, value?))) {
            Ok((path, value)) => changes.push(Change { path, value }),
            Err(problem) => findings.push(problem),
        }
    }
    changes
}

/// Changes of the tree before anything in it is written out: first of what is chosen, then of
/// parameters and of what templates are given. Gives the others, which change what comes out.
pub(crate) fn apply_early<'i>(
    given: Vec<Change<'i>>,
    tree: &mut DeTable<'i>,
    schema: &serde_json::Value,
    findings: &mut Findings,
) -> Vec<Change<'i>> {
    let is_choice = |change: &Change<'_>| change.keys().next().is_some_and(reuse::is_choice);
    let (choices, given): (Vec<_>, Vec<_>) = given.into_iter().partition(is_choice);
    for change in choices {
        replace(tree, &change.path, change.value, findings);
    }
    let mut late = Vec::new();
    for change in reuse::chosen(tree, findings).into_iter().chain(given) {
        if change.keys().next().is_some_and(reuse::is_include) {
            let message = "what a model includes cannot be overridden";
            findings
                .report(&change.path[0].span(), message)
                .label("override")
                .help("write a file that includes the others, and run that");
            continue;
        }
        let path = match full_path(change.path, tree, schema) {
            Ok(path) => path,
            Err(problem) => {
                findings.push(problem);
                continue;
            }
        };
        let change = Change { path, ..change };
        match reuse::is_early(change.keys()) {
            true => replace(tree, &change.path, change.value, findings),
            false => late.push(change),
        }
    }
    late
}

/// Replaces a value in a tree that is not written out yet. The tables that lead to it must be there.
fn replace<'i>(
    table: &mut DeTable<'i>,
    path: &[Key<'i>],
    value: Option<Value<'i>>,
    findings: &mut Findings,
) {
    let Some(value) = value else {
        if let Err(problem) = unset(table, path) {
            findings.push(problem);
        }
        return;
    };
    let (Some((last, above)), Some(first)) = (path.split_last(), path.first()) else {
        return;
    };
    let mut below = table;
    for key in above {
        let name = key.get_ref().as_ref();
        if !below.contains_key(name) {
            findings.push(nothing_called(below, key));
            return;
        }
        let inside = below.get_mut(name).map(Spanned::get_mut);
        let Some(DeValue::Table(inside)) = inside else {
            findings.push(no_table(key));
            return;
        };
        below = inside;
    }
    let is_parameter = first.get_ref() == "parameters" && path.len() == 2;
    if is_parameter && !below.contains_key(last.get_ref().as_ref()) {
        findings.push(nothing_called(below, last));
        return;
    }
    below.insert(last.clone(), value);
}

/// Puts changes into the tree of a model that is written out. Whether the values fit is checked with
/// the rest.
pub(crate) fn apply<'i>(
    changes: Vec<Change<'i>>,
    tree: &mut DeTable<'i>,
    schema: &serde_json::Value,
    renamed: &mut Renamed,
    findings: &mut Findings,
) {
    let mut placed = Vec::new();
    for change in changes {
        let path = present_path(change.path, SchemaShape::new(schema), renamed);
        placed.push((tables_on(&path, tree), path, change.value));
    }
    for (known, path, value) in placed {
        let applied = match value {
            Some(value) => insert(tree, SchemaShape::new(schema), &path, known + 1, value),
            None => unset(tree, &path),
        };
        if let Err(problem) = applied {
            findings.push(problem);
        }
    }
}

/// How many keys of a path lead to tables that are there.
fn tables_on(path: &[Key<'_>], tree: &DeTable<'_>) -> usize {
    let mut here = Some(tree);
    let is_table = |key: &&Key<'_>| {
        let name = key.get_ref().as_ref();
        here = here.and_then(|table| table.get(name)?.get_ref().as_table());
        here.is_some()
    };
    path.iter().take_while(is_table).count()
}

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
    schema: &serde_json::Value,
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
fn value<'i>(source: &'i Source, span: &Span) -> Result<Value<'i>, Problem> {
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

/// So many tables, this one included, are `known`: they were there before all changes. In others, which
/// the changes make, names are new of necessity.
fn insert<'i>(
    table: &mut DeTable<'i>,
    shape: SchemaShape<'_>,
    path: &[Key<'i>],
    known: usize,
    value: Value<'i>,
) -> Result<(), Problem> {
    let [key, rest @ ..] = path else {
        return Ok(());
    };
    let name = key.get_ref().as_ref();
    let is_new = shape.key(name).is_none() && !table.contains_key(name);
    if is_new
        && known > 0
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
        DeValue::Table(below) => insert(below, inside, rest, known.saturating_sub(1), value),
        _ => Err(no_table(key)),
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
    Some(nothing_called(table, key))
}

fn nothing_called(table: &DeTable<'_>, key: &Key<'_>) -> Problem {
    let name = key.get_ref().as_ref();
    let message = format!("the model has nothing called `{name}` to override");
    let names = table.keys().map(|key| key.get_ref().as_ref());
    let problem = Problem::new(key.span(), message).label("override");
    problem.suggest(name, names)
}

fn no_table(key: &Key<'_>) -> Problem {
    let message = format!(
        "`{}` is no table: nothing below it can be overridden",
        key.get_ref()
    );
    Problem::new(key.span(), message).label("override")
}
