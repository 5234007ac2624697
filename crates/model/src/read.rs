//! From a file to a checked model: limits, syntax, overrides, structure, meaning.

use std::fs::File;
use std::io::Read;
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
use crate::source::Source;
use crate::{check, extensions, format, structure};

/// Reads a file.
pub(crate) fn file(
    path: &Path,
    overrides: &Overrides,
    extensions: &Extensions,
) -> Result<Model, Problems> {
    text(content(path)?, overrides, extensions)
}

/// The text of a file.
pub(crate) fn content(path: &Path) -> Result<Source, Problems> {
    let name = path.display().to_string();
    let nothing = |message: String| {
        let source = Source::new(name.as_str(), "");
        let help = "give the path of a model file, such as one of the examples";
        Findings::from(Problem::new(0..0, message).help(help)).into_problems(&source)
    };
    let bytes = bounded(path).map_err(|error| nothing(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        let limit = MAX_BYTES >> 20;
        return Err(nothing(format!(
            "the file is longer than {limit} MiB, the limit for models"
        )));
    }
    match String::from_utf8(bytes) {
        Ok(content) => Ok(Source::new(name, content)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let source = Source::new(name, String::from_utf8_lossy(error.as_bytes()));
            let problem = Problem::new(at..at + 1, "the file is no text in UTF-8");
            Err(Findings::from(problem.label("this byte")).into_problems(&source))
        }
    }
}

/// At most one byte more than is accepted, whatever the file claims to be.
fn bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text.
pub(crate) fn text(
    mut source: Source,
    overrides: &Overrides,
    extensions: &Extensions,
) -> Result<Model, Problems> {
    let overrides = overrides.place(&mut source);
    let mut findings = Findings::default();
    let file = parse(&source, &overrides, extensions, &mut findings);
    let spec = file.and_then(|(file, renamed)| {
        let mut spec = check::check(&file, &source, extensions, &mut findings)?;
        spec.former_words = renamed.note();
        Some((spec, file.monolithic.is_some()))
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

/// From text to types, with the old words in it; nothing if not even that is possible.
pub(crate) fn parse(
    source: &Source,
    overrides: &[overrides::Placed],
    extensions: &Extensions,
    findings: &mut Findings,
) -> Option<(format::File, Renamed)> {
    let text = source.file_text();
    if let Err(problem) = limits::check(text) {
        findings.push(problem);
        return None;
    }
    let mut tree = syntax(source, findings)?;
    let schema = extensions.shared_schema();
    let mut renamed = Renamed::default();
    renamed.table(&mut tree, SchemaShape::new(schema), findings);
    overrides::apply(overrides, source, &mut tree, schema, &mut renamed, findings);
    renamed.table(&mut tree, SchemaShape::new(schema), findings);
    structure::check(&mut tree, schema, findings);
    extensions::wrap(&mut tree, extensions);
    let whole = Spanned::new(0..0, tree);
    match format::File::deserialize(Deserializer::from(whole)) {
        Ok(file) => Some((file, renamed)),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            findings.push(Problem::new(span, error.message()));
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

fn syntax<'s>(source: &'s Source, findings: &mut Findings) -> Option<DeTable<'s>> {
    if has_countless_mistakes(source.file_text()) {
        let message = format!("the file has more than {MAX_MISTAKES} mistakes of syntax");
        let help = "is it a model file? Models are written in TOML";
        findings.push(Problem::new(0..0, message).help(help));
        return None;
    }
    let (tree, errors) = DeTable::parse_recoverable(source.file_text());
    if errors.is_empty() {
        return Some(tree.into_inner());
    }
    // One slip makes several complaints: the first of each line tells it best.
    let mut last: Option<usize> = None;
    for error in errors {
        let span = error.span().unwrap_or_default();
        let same_line = last.is_some_and(|last| {
            let between = last.min(span.start)..last.max(span.start);
            !source.slice(between).contains('\n')
        });
        last = Some(span.start);
        if !same_line {
            findings.push(Problem::new(span, error.message()).label("here"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_nothing_but_mistakes_is_refused_as_a_whole() {
        let read = |text: String| {
            let source = Source::new("m.toml", text);
            let read = super::text(source, &Overrides::default(), &Extensions::new());
            read.expect_err("not a model")
        };
        let problems = read("=\n".repeat(300_000));
        assert_eq!(problems.iter().len(), 1);
        assert!(problems.to_string().contains("mistakes of syntax"));
        assert!(read("=\n".repeat(20)).iter().len() > 1, "told one by one");
    }
}
