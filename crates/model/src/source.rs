//! The text that a model was read from: a file, followed by the overrides of the command line.
//!
//! One range of byte positions addresses all of it, so that a value that an override replaced
//! points at the override and not into the file.

use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Bytes of a [`Source`].
pub type Span = Range<usize>;

/// A model file and the overrides applied to it.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// End of the file's own text.
    file_end: usize,
    /// Where each override starts.
    overrides: Vec<usize>,
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
        Self {
            name: name.into(),
            file_end: text.len(),
            overrides: Vec::new(),
            text,
        }
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder of the file, as its name says.
    pub(crate) fn folder(&self) -> &Path {
        Path::new(&self.name).parent().unwrap_or(Path::new(""))
    }

    /// The text of the file, without overrides.
    pub fn file_text(&self) -> &str {
        &self.text[..self.file_end]
    }

    /// Adds an override and says where it lies.
    pub(crate) fn add_override(&mut self, text: &str) -> Span {
        self.text.push('\n');
        let start = self.text.len();
        self.overrides.push(start);
        self.text.push_str(text);
        start..self.text.len()
    }

    /// The text at a place.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// Where a place is.
    pub fn locate(&self, span: &Span) -> Location<'_> {
        let (name, section) = self.section_around(span.start);
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

    fn section_around(&self, position: usize) -> (&str, Span) {
        let later = self.overrides.partition_point(|&start| start <= position);
        match later.checked_sub(1) {
            None => (&self.name, 0..self.file_end),
            Some(index) => {
                let end = match self.overrides.get(later) {
                    Some(next) => next - 1,
                    None => self.text.len(),
                };
                ("--set", self.overrides[index]..end)
            }
        }
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
    fn lines_and_columns_count_characters_from_one() {
        let source = Source::new("m.toml", "ä = 1\nöü = 2\n");
        let place = |span| source.locate(&span).to_string();
        assert_eq!(place(0..2), "m.toml:1:1");
        assert_eq!(place(5..6), "m.toml:1:5");
        assert_eq!(place(12..13), "m.toml:2:4");
        assert_eq!(place(8..9), "m.toml:2:1", "inside a character");
        assert_eq!(place(900..901), "m.toml:3:1", "past the end");
    }

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
    }
}
