//! Colours, dash patterns and markers, by a curve's place in its panel.

use super::figure::Style;

/// Okabe and Ito's colours, which remain distinct under colour blindness, in an order of falling
/// contrast to white. Their yellow is left out: it vanishes on paper.
const COLOURS: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
];

/// Five, against seven colours: the pairs repeat only after 35 curves.
const DASHES: [&str; 5] = ["", "7 3", "2 2.2", "9 3 2 3", "14 4"];

const DASHED: &str = "6 4";

pub(super) fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// Dash pattern, empty for a solid line.
pub(super) fn dashes(style: Style, index: usize) -> &'static str {
    match style {
        Style::Line => DASHES[index % DASHES.len()],
        Style::Dashed => DASHED,
        Style::Solid | Style::Points | Style::LineAndPoints => "",
    }
}

/// Corners of a marker around its centre, or `None` for a disc.
pub(super) fn marker(index: usize) -> Option<&'static [(f64, f64)]> {
    const SQUARE: &[(f64, f64)] = &[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)];
    const TRIANGLE: &[(f64, f64)] = &[(0.0, -4.4), (4.0, 2.8), (-4.0, 2.8)];
    const DIAMOND: &[(f64, f64)] = &[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)];
    const FLIPPED: &[(f64, f64)] = &[(0.0, 4.4), (4.0, -2.8), (-4.0, -2.8)];
    [
        None,
        Some(SQUARE),
        Some(TRIANGLE),
        Some(DIAMOND),
        Some(FLIPPED),
    ][index % 5]
}
