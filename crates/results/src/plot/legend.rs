//! The legend: rows above the panel, where it never covers the data.

use std::borrow::Cow;

use super::draw::TEXT;
use super::figure::{Panel, Style};
use super::label::text_width;
use super::palette::{draw_marker, line};
use super::svg::{Anchor, Font, Point, Svg};

pub(super) const ROW_HEIGHT: f64 = 19.0;
const FONT: Font = Font {
    size: 12.0,
    colour: TEXT,
    bold: false,
};
const SAMPLE_WIDTH: f64 = 30.0;
const SAMPLE_GAP: f64 = 7.0;
const ENTRY_GAP: f64 = 22.0;

/// Names of a panel's curves, laid out in rows.
pub(super) struct Legend<'a> {
    rows: Vec<Vec<Entry<'a>>>,
}

struct Entry<'a> {
    label: Cow<'a, str>,
    style: Style,
    look: usize,
    left: f64,
}

impl<'a> Legend<'a> {
    /// Fills rows of the given width; the middle of a name that is wider gives way.
    pub(super) fn new(panel: &'a Panel, looks: &[usize], width: f64) -> Self {
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut left = f64::INFINITY;
        for (series, &look) in panel.series.iter().zip(looks) {
            if series.label.is_empty() {
                continue;
            }
            let label = shortened(&series.label, width - SAMPLE_WIDTH - SAMPLE_GAP);
            let needed = SAMPLE_WIDTH + SAMPLE_GAP + text_width(&label, FONT.size);
            if left + needed > width {
                rows.push(Vec::new());
                left = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push(Entry {
                    label,
                    style: series.style,
                    look,
                    left,
                });
            }
            left += needed + ENTRY_GAP;
        }
        Self { rows }
    }

    pub(super) fn height(&self) -> f64 {
        ROW_HEIGHT * self.rows.len() as f64
    }

    pub(super) fn draw(&self, svg: &mut Svg, corner: Point) {
        for (row, entries) in self.rows.iter().enumerate() {
            let middle = corner.1 + ROW_HEIGHT * (row as f64 + 0.5);
            for entry in entries {
                entry.draw(svg, (corner.0 + entry.left, middle));
            }
        }
    }
}

impl Entry<'_> {
    fn draw(&self, svg: &mut Svg, left: Point) {
        let (x, y) = left;
        if self.style.has_line() {
            svg.polyline(
                &[(x, y), (x + SAMPLE_WIDTH, y)],
                line(self.style, self.look),
            );
        }
        if self.style.has_points() {
            draw_marker(svg, (x + SAMPLE_WIDTH / 2.0, y), self.look);
        }
        let text = (x + SAMPLE_WIDTH + SAMPLE_GAP, y + 0.35 * FONT.size);
        svg.text(text, Anchor::Start, FONT, &self.label);
    }
}

/// As many characters of both ends as have room, with dots between them: names of signals differ at either end.
fn shortened(label: &str, width: f64) -> Cow<'_, str> {
    const DOTS: char = '\u{2026}';
    if text_width(label, FONT.size) <= width {
        return label.into();
    }
    let wide = |character: char| text_width(character.encode_utf8(&mut [0; 4]), FONT.size);
    let mut room = width - wide(DOTS);
    let mut inner = label.chars();
    let (mut head, mut tail) = (String::new(), Vec::new());
    for kept in 0.. {
        let is_turn_of_head = kept % 2 == 0;
        let next = match is_turn_of_head {
            true => inner.next(),
            false => inner.next_back(),
        };
        let Some(next) = next.filter(|&next| wide(next) <= room) else {
            break;
        };
        room -= wide(next);
        match is_turn_of_head {
            true => head.push(next),
            false => tail.push(next),
        }
    }
    head.push(DOTS);
    head.extend(tail.iter().rev());
    head.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = format!("multibody.{}.motion.x", "arm.".repeat(40));
        let short = shortened(&name, 200.0);
        assert!(text_width(&short, FONT.size) <= 200.0, "{short}");
        assert!(
            short.starts_with("multibody.") && short.ends_with("motion.x"),
            "{short}"
        );
        assert_eq!(shortened("x", 200.0), "x");
        assert_eq!(shortened("xyz", 0.0), "\u{2026}");
    }
}
