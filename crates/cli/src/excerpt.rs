//! The lines of a text around a problem, as they can be shown: long lines cut to what is near the
//! place, control characters written out.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use oldham_model::Location;

use crate::output::escaped;

/// Characters of a line that are shown before and after the place of a problem.
const BEFORE: usize = 60;
const AFTER: usize = 100;

/// Lines of a place that are shown; the rest of a longer one is left out.
const MOST_LINES: usize = 20;

/// What stands for characters that are left out.
const MORE: &str = "…";

/// A few lines of a longer text.
pub struct Excerpt {
    name: String,
    text: String,
    /// The marked bytes of `text`.
    pub marked: std::ops::Range<usize>,
    /// Number of the first line, from zero.
    first_line: usize,
    /// Line and column of the place in the whole text, from zero.
    place: (usize, usize),
}

impl Excerpt {
    /// The place with a line on either side.
    pub fn around(place: &Location<'_>) -> Self {
        let (whole, range) = (place.text, &place.range);
        let mut excerpt = Self {
            name: escaped(place.name),
            text: String::new(),
            marked: 0..0,
            first_line: place.line.saturating_sub(2),
            place: (place.line - 1, place.column - 1),
        };
        let line_start = whole[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let before = line_start.saturating_sub(1);
        let mut at = match line_start {
            0 => 0,
            _ => whole[..before].rfind('\n').map_or(0, |at| at + 1),
        };
        let mut after = None;
        for count in 0..MOST_LINES + 2 {
            let rest = &whole[at..];
            let line = rest.split('\n').next().unwrap_or_default();
            if count > 0 {
                excerpt.text.push('\n');
            }
            excerpt.add(line, at, range);
            let ends = at + line.len();
            if after.is_some() || ends >= whole.len() {
                break;
            }
            after = (ends >= range.end).then_some(());
            at = ends + 1;
        }
        excerpt.marked.end = excerpt.marked.end.max(excerpt.marked.start);
        excerpt
    }

    /// Adds a line that starts at byte `at` of the whole text.
    fn add(&mut self, line: &str, at: usize, range: &std::ops::Range<usize>) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let has_start = (at..=at + line.len()).contains(&range.start);
        let first = match has_start {
            true => line[..range.start - at]
                .chars()
                .count()
                .saturating_sub(BEFORE),
            false => 0,
        };
        let last = match has_start {
            true => first + BEFORE + AFTER,
            false => BEFORE + AFTER,
        };
        if first > 0 {
            self.text.push_str(MORE);
        }
        let mut left_out = false;
        for (column, (offset, character)) in line.char_indices().enumerate() {
            let place = at + offset;
            if column < first {
                continue;
            }
            if column > last {
                left_out = true;
                if place <= range.end {
                    self.marked.end = self.text.len();
                }
                break;
            }
            if place <= range.start {
                self.marked.start = self.text.len();
            }
            if place <= range.end {
                self.marked.end = self.text.len();
            }
            self.text
                .push_str(&escaped(character.encode_utf8(&mut [0; 4])));
        }
        let end = at + line.len();
        if !left_out && end <= range.start {
            self.marked.start = self.text.len();
        }
        if !left_out && end <= range.end {
            self.marked.end = self.text.len();
        }
        if left_out {
            self.text.push_str(MORE);
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let lines = self.text.read_span(span, before, after)?;
        // Without its surroundings the place itself is asked for, to be told as line and column.
        let (line, column) = match (before, after) {
            (0, 0) => self.place,
            _ => (lines.line() + self.first_line, lines.column()),
        };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            lines.data(),
            *lines.span(),
            line,
            column,
            lines.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, range: std::ops::Range<usize>) -> Excerpt {
        let before = &text[..range.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Excerpt::around(&Location {
            name: "m.toml",
            text,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            range,
        })
    }

    #[test]
    fn short_lines_are_shown_as_they_are() {
        let text = "a = 1\nb = wrong\nc = 3\nd = 4\n";
        let shown = excerpt(text, 10..15);
        assert_eq!(shown.text, "a = 1\nb = wrong\nc = 3");
        assert_eq!(&shown.text[shown.marked.clone()], "wrong");
        assert_eq!((shown.first_line, shown.place), (0, (1, 4)));
        let last = excerpt(text, text.len()..text.len());
        assert_eq!(last.marked, last.text.len()..last.text.len());
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("x = 1\n{}wrong{}\n", "y".repeat(70_000), "z".repeat(70_000));
        let shown = excerpt(&text, 70_006..70_011);
        assert!(shown.text.len() < 300, "{}", shown.text.len());
        assert_eq!(&shown.text[shown.marked.clone()], "wrong");
        assert_eq!(shown.place, (1, 70_000));
        let whole = excerpt(&text, 6..140_011);
        assert!(whole.text.len() < 300);
        assert_eq!(whole.marked.start, 6);
    }

    #[test]
    fn control_characters_keep_the_mark_in_place() {
        let text = "a = \"\u{1b}[31m\" wrong\n";
        let at = text.find("wrong").unwrap();
        let shown = excerpt(text, at..at + 5);
        assert_eq!(&shown.text[shown.marked.clone()], "wrong");
        assert!(!shown.text.contains('\u{1b}'));
    }
}
