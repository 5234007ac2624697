//! The one writer of SVG documents: the few elements that figures of results and pictures of
//! mechanisms need.

use std::fmt::{Arguments, Write};

use super::label::{EXPONENT_SIZE, Label};

const FONT_FAMILY: &str = "Noto Sans, Helvetica, Arial, sans-serif";

/// A place in the drawing: right and down from the upper left corner.
pub type Point = (f64, f64);

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

/// A document that grows element by element; its size is told at the end.
pub struct Svg {
    text: String,
    clips: usize,
    decimals: i32,
}

impl Svg {
    /// Nothing yet. Coordinates are written with so many decimals at most.
    pub fn new(decimals: u8) -> Self {
        Self {
            text: String::new(),
            clips: 0,
            decimals: decimals.into(),
        }
    }

    /// What was drawn, on a white page.
    pub fn finish(self, width: f64, height: f64) -> String {
        let (width, height) = (self.number(width), self.number(height));
        let body = self.text;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONT_FAMILY}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{body}</svg>\n"
        )
    }

    /// A coordinate as it is written.
    pub fn number(&self, value: f64) -> String {
        number(value, self.decimals)
    }

    /// The data of a path through points.
    pub fn path_data(&self, points: impl IntoIterator<Item = Point>) -> String {
        let mut data = String::new();
        for (index, (x, y)) in points.into_iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            data.push(command);
            data += &self.number(x);
            data.push(' ');
            data += &self.number(y);
        }
        data
    }

    /// An element as it stands, on a line of its own.
    pub fn element(&mut self, element: Arguments<'_>) {
        writeln!(self.text, "{element}").expect("writing to a string does not fail");
    }

    /// A text, with attributes as they stand.
    pub fn text_element(&mut self, attributes: Arguments<'_>, text: &str) {
        let text = escaped(text);
        self.element(format_args!("<text {attributes}>{text}</text>"));
    }

    /// Everything drawn by `draw` as a group, with attributes as they stand.
    pub fn group(&mut self, attributes: Arguments<'_>, draw: impl FnOnce(&mut Self)) {
        self.element(format_args!("<g {attributes}>"));
        draw(self);
        self.element(format_args!("</g>"));
    }

    /// An element of which some attributes take their values one after the other, again and again
    /// within so many seconds. Those that do not change are not animated.
    pub fn animated(
        &mut self,
        tag: &str,
        moving: &[(&str, Vec<String>)],
        attributes: &str,
        seconds: f64,
    ) {
        let (mut element, mut animations) = (format!("<{tag}"), String::new());
        let append = |text: &mut String, more: Arguments<'_>| {
            text.write_fmt(more)
                .expect("writing to a string does not fail");
        };
        for (name, values) in moving {
            let Some(first) = values.first() else {
                continue;
            };
            append(&mut element, format_args!(" {name}=\"{first}\""));
            if values.iter().any(|value| value != first) {
                let values = values.join(";");
                append(
                    &mut animations,
                    format_args!(
                        "<animate attributeName=\"{name}\" dur=\"{seconds}s\" repeatCount=\"indefinite\" values=\"{values}\"/>"
                    ),
                );
            }
        }
        match animations.as_str() {
            "" => self.element(format_args!("{element} {attributes}/>")),
            moves => self.element(format_args!("{element} {attributes}>{moves}</{tag}>")),
        }
    }

    /// Everything drawn by `draw` is cut off at the rectangle's border.
    pub(super) fn clipped(&mut self, corner: Point, size: Point, draw: impl FnOnce(&mut Self)) {
        let id = self.clips;
        self.clips += 1;
        let corners = [corner.0, corner.1, size.0, size.1];
        let [x, y, width, height] = corners.map(|value| self.number(value));
        self.element(format_args!(
            r#"<clipPath id="clip{id}"><rect x="{x}" y="{y}" width="{width}" height="{height}"/></clipPath>"#
        ));
        self.group(format_args!(r#"clip-path="url(#clip{id})""#), draw);
    }

    pub(super) fn polyline(&mut self, points: &[Point], stroke: Stroke) {
        let data = self.path_data(points.iter().copied());
        self.stroke(&data, stroke);
    }

    /// A closed line, with nothing inside.
    pub(super) fn outline(&mut self, corners: &[Point], stroke: Stroke) {
        let data = self.path_data(corners.iter().copied()) + "Z";
        self.stroke(&data, stroke);
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
        self.element(format_args!(
            r#"<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashes}/>"#
        ));
    }

    pub(super) fn disc(&mut self, centre: Point, radius: f64, colour: &str) {
        let (x, y) = (self.number(centre.0), self.number(centre.1));
        self.element(format_args!(
            r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>"#
        ));
    }

    /// Filled in one go: polygons that touch have no seam between them.
    pub(super) fn polygons(&mut self, polygons: &[Vec<Point>], colour: &str) {
        let closed = |corners: &Vec<Point>| self.path_data(corners.iter().copied()) + "Z";
        let data: String = polygons.iter().map(closed).collect();
        self.element(format_args!(r#"<path d="{data}" fill="{colour}"/>"#));
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, font: Font, text: &str) {
        let attributes = self.text_attributes(at, anchor, font);
        self.text_element(format_args!("{attributes}"), text);
    }

    /// Text on a white rim, readable across lines.
    pub(super) fn rimmed_text(&mut self, at: Point, anchor: Anchor, font: Font, text: &str) {
        let attributes = self.text_attributes(at, anchor, font);
        self.text_element(
            format_args!(
                r##"{attributes} stroke="#FFFFFF" stroke-width="3" stroke-linejoin="round" paint-order="stroke""##
            ),
            text,
        );
    }

    /// Text that reads from bottom to top.
    pub(super) fn upright_text(&mut self, at: Point, font: Font, text: &str) {
        let attributes = self.text_attributes(at, Anchor::Middle, font);
        let (x, y) = (self.number(at.0), self.number(at.1));
        self.text_element(
            format_args!(r#"{attributes} transform="rotate(-90 {x} {y})""#),
            text,
        );
    }

    pub(super) fn label(&mut self, at: Point, anchor: Anchor, font: Font, label: &Label) {
        let attributes = self.text_attributes(at, anchor, font);
        let text = escaped(&label.text);
        let exponent = label.exponent.as_ref().map(|exponent| {
            let rise = self.number(-0.45 * font.size);
            let size = self.number(EXPONENT_SIZE * font.size);
            format!(r#"<tspan dy="{rise}" font-size="{size}">{exponent}</tspan>"#)
        });
        let exponent = exponent.unwrap_or_default();
        self.element(format_args!("<text {attributes}>{text}{exponent}</text>"));
    }

    fn text_attributes(&self, at: Point, anchor: Anchor, font: Font) -> String {
        let (x, y) = (self.number(at.0), self.number(at.1));
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let Font { size, colour, bold } = font;
        let weight = if bold { r#" font-weight="bold""# } else { "" };
        format!(
            r#"x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}"#
        )
    }
}

/// Rounded, without trailing zeros.
fn number(value: f64, decimals: i32) -> String {
    let power = 10_f64.powi(decimals);
    let rounded = (value * power).round() / power;
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
        assert_eq!(number(0.1 + 0.2, 2), "0.3");
        assert_eq!(number(-0.001, 2), "0");
        assert_eq!(number(120.0, 2), "120");
        assert_eq!(number(1.26, 1), "1.3");
    }

    #[test]
    fn text_cannot_break_the_document() {
        assert_eq!(escaped("a<b & \u{1}c>"), "a&lt;b &amp;  c&gt;");
    }

    #[test]
    fn only_what_changes_is_animated() {
        let mut svg = Svg::new(1);
        let values = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
        let moving = [("cx", values(["1", "2"])), ("cy", values(["3", "3"]))];
        svg.animated("circle", &moving, r#"r="1""#, 2.0);
        let text = svg.finish(10.0, 10.0);
        assert!(text.contains(r#"<circle cx="1" cy="3" r="1"><animate attributeName="cx""#));
        assert_eq!(text.matches("<animate ").count(), 1);
    }
}
