//! Colours, dash patterns and markers, by the number of a curve's look.

use super::figure::Style;
use super::svg::{Point, Stroke, Svg};

/// Okabe and Ito's colours, which remain distinct under colour blindness, in an order of falling
/// contrast to white. Their yellow is left out: it vanishes on paper.
const COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
];

/// Five, against seven colours: the pairs repeat only after 35 curves.
const DASHES: [&str; 5] = ["", "7 3", "2 2.2", "9 3 2 3", "14 4"];

const CURVE_WIDTH: f64 = 1.7;

const REFERENCE: Stroke = Stroke {
    colour: "#000000",
    width: 1.2,
    dashes: "1.4 3",
};

const OUTLINE_WIDTH: f64 = 1.5;

fn colour(look: usize) -> &'static str {
    COLOURS[look % COLOURS.len()]
}

/// The line of a curve.
pub(super) fn line(style: Style, look: usize) -> Stroke {
    let dashes = match style {
        Style::Reference => return REFERENCE,
        Style::Line => DASHES[look % DASHES.len()],
        Style::Solid | Style::Points | Style::LineAndPoints => "",
    };
    Stroke {
        colour: colour(look),
        width: CURVE_WIDTH,
        dashes,
    }
}

/// The first look is a disc; the others are outlines around it, so that points which coincide all
/// show.
pub(super) fn draw_marker(svg: &mut Svg, (x, y): Point, look: usize) {
    const SQUARE: &[Point] = &[(-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)];
    const TRIANGLE: &[Point] = &[(0.0, -6.6), (5.7, 3.7), (-5.7, 3.7)];
    const DIAMOND: &[Point] = &[(0.0, -6.2), (6.2, 0.0), (0.0, 6.2), (-6.2, 0.0)];
    const FLIPPED: &[Point] = &[(0.0, 6.6), (5.7, -3.7), (-5.7, -3.7)];
    let corners = match look % 5 {
        1 => SQUARE,
        2 => TRIANGLE,
        3 => DIAMOND,
        4 => FLIPPED,
        _ => return svg.disc((x, y), 3.0, colour(look)),
    };
    let corners: Vec<_> = corners.iter().map(|&(dx, dy)| (x + dx, y + dy)).collect();
    let stroke = Stroke {
        colour: colour(look),
        width: OUTLINE_WIDTH,
        dashes: "",
    };
    svg.outline(&corners, stroke);
}
