//! The few SVG elements that a figure needs.

use std::fmt::Write;

use super::label::{EXPONENT_SIZE, Label};

const FONT_FAMILY: &str = "Noto Sans, Helvetica, Arial, sans-serif";

/// A place in the drawing: right and down from the upper left corner.
pub(super) type Point = (f64, f64);

/// How a line looks.
#[derive(Clone, Copy)]
pub(super) struct Stroke {
    pub(super) colour: &'static str,
    pub(super) width: f64,
    /// Lengths of dashes and gaps, empty for a solid line.
    pub(super) dashes: &'static str,
}

/// Which part of a text lies at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How text looks.
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) colour: &'static str,
    pub(super) bold: bool,
}

/// A document that grows element by element.
pub(super) struct Svg {
    text: String,
    clips: usize,
}

impl Svg {
    /// A white page.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut svg = Self {
            text: String::new(),
            clips: 0,
        };
        let (width, height) = (number(width), number(height));
        svg.push(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONT_FAMILY}">"#
        ));
        svg.push(format_args!(
            r##"<rect width="100%" height="100%" fill="#FFFFFF"/>"##
        ));
        svg
    }

    pub(super) fn finish(mut self) -> String {
        self.push(format_args!("</svg>"));
        self.text
    }

    /// Everything drawn by `draw` is cut off at the rectangle's border.
    pub(super) fn clipped(&mut self, corner: Point, size: Point, draw: impl FnOnce(&mut Self)) {
        let id = self.clips;
        self.clips += 1;
        let [x, y, width, height] = [corner.0, corner.1, size.0, size.1].map(number);
        self.push(format_args!(
            r#"<clipPath id="clip{id}"><rect x="{x}" y="{y}" width="{width}" height="{height}"/></clipPath>"#
        ));
        self.push(format_args!(r#"<g clip-path="url(#clip{id})">"#));
        draw(self);
        self.push(format_args!("</g>"));
    }

    pub(super) fn polyline(&mut self, points: &[Point], stroke: Stroke) {
        self.stroke(&path_data(points), stroke);
    }

    /// A closed line, with nothing inside.
    pub(super) fn outline(&mut self, corners: &[Point], stroke: Stroke) {
        self.stroke(&(path_data(corners) + "Z"), stroke);
    }

    fn stroke(&mut self, data: &str, stroke: Stroke) {
        let Stroke {
            colour,
            width,
            dashes,
        } = stroke;
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(r#" stroke-dasharray="{dashes}""#),
        };
        self.push(format_args!(
            r#"<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashes}/>"#
        ));
    }

    pub(super) fn disc(&mut self, centre: Point, radius: f64, colour: &str) {
        let (x, y) = (number(centre.0), number(centre.1));
        self.push(format_args!(
            r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>"#
        ));
    }

    /// Filled in one go: polygons that touch have no seam between them.
    pub(super) fn polygons(&mut self, polygons: &[Vec<Point>], colour: &str) {
        let closed = polygons.iter().map(|corners| path_data(corners) + "Z");
        let data: String = closed.collect();
        self.push(format_args!(r#"<path d="{data}" fill="{colour}"/>"#));
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, font: Font, text: &str) {
        let attributes = text_attributes(at, anchor, font);
        let text = escaped(text);
        self.push(format_args!("<text {attributes}>{text}</text>"));
    }

    /// Text on a white rim, readable across lines.
    pub(super) fn rimmed_text(&mut self, at: Point, anchor: Anchor, font: Font, text: &str) {
        let attributes = text_attributes(at, anchor, font);
        let text = escaped(text);
        self.push(format_args!(
            r##"<text {attributes} stroke="#FFFFFF" stroke-width="3" stroke-linejoin="round" paint-order="stroke">{text}</text>"##
        ));
    }

    /// Text that reads from bottom to top.
    pub(super) fn upright_text(&mut self, at: Point, font: Font, text: &str) {
        let attributes = text_attributes(at, Anchor::Middle, font);
        let (x, y) = (number(at.0), number(at.1));
        let text = escaped(text);
        self.push(format_args!(
            r#"<text {attributes} transform="rotate(-90 {x} {y})">{text}</text>"#
        ));
    }

    pub(super) fn label(&mut self, at: Point, anchor: Anchor, font: Font, label: &Label) {
        let attributes = text_attributes(at, anchor, font);
        let text = escaped(&label.text);
        let exponent = label.exponent.as_ref().map(|exponent| {
            let rise = number(-0.45 * font.size);
            let size = number(EXPONENT_SIZE * font.size);
            format!(r#"<tspan dy="{rise}" font-size="{size}">{exponent}</tspan>"#)
        });
        let exponent = exponent.unwrap_or_default();
        self.push(format_args!("<text {attributes}>{text}{exponent}</text>"));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{element}").expect("writing to a string does not fail");
    }
}

fn text_attributes(at: Point, anchor: Anchor, font: Font) -> String {
    let (x, y) = (number(at.0), number(at.1));
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let Font { size, colour, bold } = font;
    let weight = if bold { r#" font-weight="bold""# } else { "" };
    format!(r#"x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}"#)
}

fn path_data(points: &[Point]) -> String {
    let mut data = String::with_capacity(14 * points.len());
    for (index, &(x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        data.push(command);
        data += &number(x);
        data.push(' ');
        data += &number(y);
    }
    data
}

/// To a hundredth, without trailing zeros.
fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Adding zero turns minus zero into zero.
    format!("{}", rounded + 0.0)
}

/// Control characters are not allowed in XML, not even escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(120.0), "120");
    }

    #[test]
    fn text_cannot_break_the_document() {
        assert_eq!(escaped("a<b & \u{1}c>"), "a&lt;b &amp;  c&gt;");
    }
}
