//! The text that a model was read from: a file, the files that it includes, and the overrides of the
//! command line.
//!
//! One range of byte positions addresses all of it, so that a value that came from an included file or
//! from an override points there and not into the file.

use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Bytes of a [`Source`].
pub type Span = Range<usize>;

/// A model file, the files that it includes, and the overrides applied to it.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    /// In the order of the text; the first is the file itself, overrides come last.
    sections: Vec<Section>,
}

#[derive(Clone, Debug)]
struct Section {
    /// What messages call it.
    name: String,
    span: Span,
    /// The path by which the model includes it, seen from the folder of the model file.
    path: Option<String>,
    is_override: bool,
}

/// A place as a person counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// Name of the file, or `--set` for an override.
    pub name: &'a str,
    /// The whole text of the file or override.
    pub text: &'a str,
    /// The place as bytes of `text`.
    pub range: Range<usize>,
    /// From one.
    pub line: usize,
    /// From one, in characters.
    pub column: usize,
}

impl Source {
    /// The text of a file; `name` is what messages call it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let file = Section {
            name: name.into(),
            span: 0..text.len(),
            path: None,
            is_override: false,
        };
        Self {
            text,
            sections: vec![file],
        }
    }

    /// The same with the text of a file that it includes. The path is seen from the folder of the model
    /// file.
    pub fn including(mut self, path: &str, text: &str) -> Self {
        let name = path.to_owned();
        self.add(name, Some(path.to_owned()), false, text);
        self
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.sections[0].name
    }

    /// The folder of the file, as its name says.
    pub(crate) fn folder(&self) -> &Path {
        Path::new(self.name()).parent().unwrap_or(Path::new(""))
    }

    /// The text of the file, without what it includes and overrides.
    pub fn file_text(&self) -> &str {
        &self.text[self.sections[0].span.clone()]
    }

    /// The files that it includes, directly or not: their paths seen from the folder of the model file,
    /// and their texts.
    pub fn included(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections.iter().filter_map(|section| {
            let path = section.path.as_deref()?;
            Some((path, &self.text[section.span.clone()]))
        })
    }

    /// Where the text of an included file lies, if it is there.
    pub(crate) fn file_at(&self, path: &str) -> Option<Span> {
        let mut sections = self.sections.iter();
        let found = sections.find(|section| section.path.as_deref() == Some(path))?;
        Some(found.span.clone())
    }

    /// Adds an included file and says where it lies.
    pub(crate) fn add_file(&mut self, name: String, path: String, text: &str) -> Span {
        self.add(name, Some(path), false, text)
    }

    /// Adds an override and says where it lies.
    pub(crate) fn add_override(&mut self, text: &str) -> Span {
        self.add("--set".into(), None, true, text)
    }

    fn add(&mut self, name: String, path: Option<String>, is_override: bool, text: &str) -> Span {
        self.text.push('\n');
        let start = self.text.len();
        self.text.push_str(text);
        let span = start..self.text.len();
        self.sections.push(Section {
            name,
            span: span.clone(),
            path,
            is_override,
        });
        span
    }

    /// The text at a place.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// Whether a place lies in an override.
    pub(crate) fn is_override(&self, span: &Span) -> bool {
        self.section_around(span.start).is_override
    }

    /// Whether a word stands anywhere in it.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    /// Where a place is.
    pub fn locate(&self, span: &Span) -> Location<'_> {
        let Section {
            name,
            span: section,
            ..
        } = self.section_around(span.start);
        let text = &self.text[section.clone()];
        let inside = |position: usize| {
            let clamped = position.clamp(section.start, section.end) - section.start;
            floor_char_boundary(text, clamped)
        };
        let range = inside(span.start)..inside(span.end.max(span.start));
        let before = &text[..range.start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Location {
            name,
            text,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            range,
        }
    }

    fn section_around(&self, position: usize) -> &Section {
        let starts_before = |section: &Section| section.span.start <= position;
        let later = self.sections.partition_point(starts_before);
        &self.sections[later.saturating_sub(1)]
    }
}

fn floor_char_boundary(text: &str, mut position: usize) -> usize {
    while !text.is_char_boundary(position) {
        position -= 1;
    }
    position
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.name, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_an_override_points_at_the_override() {
        let mut source = Source::new("m.toml", "a = 1\nb = 2\n");
        let first = source.add_override("a=3");
        let second = source.add_override("b=-4");
        assert_eq!(source.locate(&first).text, "a=3");
        let place = source.locate(&(second.start + 2..second.end));
        assert_eq!((place.name, place.text), ("--set", "b=-4"));
        assert_eq!((place.line, place.column, place.range), (1, 3, 2..4));
        assert_eq!(source.locate(&(6..7)).line, 2);
        assert_eq!(source.file_text(), "a = 1\nb = 2\n");
        assert!(source.is_override(&first) && !source.is_override(&(6..7)));
    }

    #[test]
    fn a_place_in_an_included_file_points_there() {
        let source = Source::new("m.toml", "a = 1\n").including("parts/b.toml", "b = 2\nc = 3\n");
        let file = source.file_at("parts/b.toml").unwrap();
        let place = source.locate(&(file.start + 6..file.start + 7));
        assert_eq!(place.to_string(), "parts/b.toml:2:1");
        assert_eq!(source.included().count(), 1);
        assert_eq!(source.file_text(), "a = 1\n");
    }
}
