//! From a file to a checked model: limits, syntax, overrides, structure, meaning.

use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use crate::extensions::Extensions;
use crate::limits::{self, MAX_BYTES};
use crate::model::Model;
use crate::overrides::{self, Overrides};
use crate::problem::{Findings, Problem, Problems};
use crate::renamed::Renamed;
use crate::schema::SchemaShape;
use crate::source::{Source, Span};
use crate::tree::shifted_table;
use crate::{check, extensions, format, reuse, structure};

/// Reads a file.
pub(crate) fn file(
    path: &Path,
    overrides: &Overrides,
    extensions: &Extensions,
) -> Result<Model, Problems> {
    text(content(path)?, overrides, extensions)
}

/// The text of a file and of all that it includes.
pub(crate) fn content(path: &Path) -> Result<Source, Problems> {
    let name = path.display().to_string();
    let mut source = match text_of(path) {
        Ok(content) => Source::new(name, content),
        Err(Unreadable::NoText(bytes, at)) => {
            let source = Source::new(name, String::from_utf8_lossy(&bytes));
            let problem = Problem::new(at..at + 1, "the file is no text in UTF-8");
            return Err(Findings::from(problem.label("this byte")).into_problems(&source));
        }
        Err(error) => {
            let source = Source::new(name, "");
            let help = "give the path of a model file, such as one of the examples";
            let problem = Problem::new(0..0, error.to_string()).help(help);
            return Err(Findings::from(problem).into_problems(&source));
        }
    };
    let mut findings = Findings::default();
    let folder = path.parent().unwrap_or(Path::new(""));
    reuse::gather(&mut source, folder, &mut findings);
    findings.finish(&source)?;
    Ok(source)
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("the file is longer than {} MiB, the limit for models", MAX_BYTES >> 20)]
    TooLong,
    /// The bytes, and where they are no text.
    #[error("the file is no text in UTF-8")]
    NoText(Vec<u8>, usize),
}

/// The text of one file.
pub(crate) fn text_of(path: &Path) -> Result<String, Unreadable> {
    let bytes = oldham_files::read_beyond(path, MAX_BYTES)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Unreadable::TooLong);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Unreadable::NoText(error.into_bytes(), at)
    })
}

/// Reads a text.
pub(crate) fn text(
    mut source: Source,
    overrides: &Overrides,
    extensions: &Extensions,
) -> Result<Model, Problems> {
    let overrides = overrides.place(&mut source);
    let mut findings = Findings::default();
    let parsed = parse(&source, &overrides, extensions, &mut findings);
    let spec = parsed.and_then(|parsed| {
        let mut spec = check::check(&parsed.file, &source, &[], extensions, &mut findings)?;
        spec.former_words = parsed.renamed.note();
        Some((spec, parsed.file.monolithic.is_some()))
    });
    findings.finish(&source)?;
    let (spec, asks_for_monolithic) = spec.expect("a plan without problems");
    let model = Model { source, spec };
    if let Some(problem) = model.algebraic_loop() {
        return Err(Findings::from(problem).into_problems(&model.source));
    }
    if asks_for_monolithic {
        let monolithic = model.merged(model.spec.monolithic_spec.integrator);
        monolithic.map_err(|findings| findings.into_problems(&model.source))?;
    }
    Ok(model)
}

/// A text read into types.
pub(crate) struct Parsed {
    pub file: format::File,
    /// The old words in it.
    pub renamed: Renamed,
    /// Parameters on which it depends what there is: with other values the text reads differently.
    pub structural: Vec<String>,
}

/// From text to types; nothing if not even that is possible.
pub(crate) fn parse(
    source: &Source,
    overrides: &[overrides::Placed],
    extensions: &Extensions,
    findings: &mut Findings,
) -> Option<Parsed> {
    let mut tree = reuse::tree(source, findings)?;
    let schema = extensions.shared_schema();
    let mut renamed = Renamed::default();
    let changes = overrides::changes(overrides, source, findings);
    let changes = overrides::apply_early(changes, &mut tree, schema, findings);
    let before = findings.len();
    let structural = reuse::expand(&mut tree, source, findings);
    if findings.len() > before {
        // What could not be written out is missing everywhere: that is no news.
        return None;
    }
    renamed.table(&mut tree, SchemaShape::new(schema), findings);
    overrides::apply(changes, &mut tree, schema, &mut renamed, findings);
    renamed.table(&mut tree, SchemaShape::new(schema), findings);
    structure::check(&mut tree, schema, findings);
    extensions::wrap(&mut tree, extensions);
    let whole = Spanned::new(0..0, tree);
    match format::File::deserialize(Deserializer::from(whole)) {
        Ok(file) => Some(Parsed {
            file,
            renamed,
            structural,
        }),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            findings.report(&span, error.message());
            None
        }
    }
}

/// Most mistakes of syntax in a file: the parser keeps them all.
const MAX_MISTAKES: usize = 10_000;

/// Text that is parsed at once, however wrong it is, in bytes.
const PIECE: usize = 256 << 10;

/// Looks at the beginning of a long text, then at twice as much of it, and so on: what is no model
/// at all is found before all its mistakes are collected.
fn has_countless_mistakes(text: &str) -> bool {
    let mut size = PIECE;
    while size < text.len() {
        let line_end = text.as_bytes()[..size]
            .iter()
            .rposition(|&byte| byte == b'\n');
        let beginning = line_end.map_or("", |end| &text[..end]);
        if DeTable::parse_recoverable(beginning).1.len() > MAX_MISTAKES {
            return true;
        }
        size *= 2;
    }
    false
}

/// The tree of one file of a source.
pub(crate) fn syntax<'s>(
    source: &'s Source,
    place: &Span,
    findings: &mut Findings,
) -> Option<DeTable<'s>> {
    let text = source.slice(place.clone());
    let there = |span: Span| span.start + place.start..span.end + place.start;
    if let Err(problem) = limits::check(text) {
        let span = there(problem.span.clone());
        findings.push(Problem { span, ..problem });
        return None;
    }
    if has_countless_mistakes(text) {
        let message = format!("the file has more than {MAX_MISTAKES} mistakes of syntax");
        let help = "is it a model file? Models are written in TOML";
        findings.report(&there(0..0), message).help(help);
        return None;
    }
    let (tree, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(match place.start {
            0 => tree.into_inner(),
            start => shifted_table(tree.into_inner(), start),
        });
    }
    // One slip makes several complaints: the first of each line tells it best.
    let mut last: Option<usize> = None;
    for error in errors {
        let span = there(error.span().unwrap_or_default());
        let same_line = last.is_some_and(|last| {
            let between = last.min(span.start)..last.max(span.start);
            !source.slice(between).contains('\n')
        });
        last = Some(span.start);
        if !same_line {
            let name = source.slice(span.clone()).to_owned();
            let first = match error.message().starts_with("duplicate key") {
                true => first_key(tree.get_ref(), &name, span.start - place.start),
                false => None,
            };
            let problem = Problem::new(span, error.message()).label("here");
            findings.push(match first {
                Some(first) => {
                    let line = source.locate(&there(first)).line;
                    problem.help(format!(
                        "line {line} has `{name}` already: keep one of them"
                    ))
                }
                None => problem,
            });
        }
    }
    None
}

/// The last key of a name before a place.
fn first_key(table: &DeTable<'_>, name: &str, before: usize) -> Option<Span> {
    let mut found: Option<Span> = None;
    for (key, value) in table {
        let here = (key.get_ref() == name).then(|| key.span());
        let inside = value.get_ref().as_table();
        let inside = inside.and_then(|table| first_key(table, name, before));
        for span in [here, inside].into_iter().flatten() {
            let is_later = found.as_ref().is_none_or(|found| span.start > found.start);
            if span.start < before && is_later {
                found = Some(span);
            }
        }
    }
    found
}
