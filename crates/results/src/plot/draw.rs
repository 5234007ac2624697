//! Lays a figure out and draws it.

use std::convert::identity;

use super::axis::Axis;
use super::decimate::{markers, pieces};
use super::figure::{Cells, Figure, Guide, Panel, Scale, Series};
use super::label::{Label, text_width};
use super::legend::Legend;
use super::looks::looks;
use super::palette::{draw_marker, line};
use super::svg::{Anchor, Font, Point, Stroke, Svg};
use super::ticks::Ticks;

/// Coordinates are written to a hundredth.
const DECIMALS: u8 = 2;
const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 230.0;
/// A map wants to be nearly square.
const MAP_HEIGHT: f64 = 480.0;
/// Of a frame, however much its vertical axis needs beside it.
const LEAST_WIDTH: f64 = 560.0;
const MARGIN: f64 = 16.0;
const TITLE_HEIGHT: f64 = 30.0;
/// Between the legend and the frame, and room for a power of ten above the axis.
const HEAD_HEIGHT: f64 = 10.0;
const POWER_HEIGHT: f64 = 14.0;
const TICK_LENGTH: f64 = 4.0;
/// From an axis to its labels.
const LABEL_GAP: f64 = 7.0;
/// Across the text of a vertical axis label, with its gap to the numbers.
const Y_LABEL_WIDTH: f64 = 26.0;
/// Numbers and label below the frame, and the gap to the next panel.
const FOOT_HEIGHT: f64 = 54.0;
const RIGHT_MARGIN: f64 = 28.0;

pub(super) const TEXT: &str = "#222222";
const FAINT_TEXT: &str = "#555555";

const TITLE_FONT: Font = font(16.0, TEXT, true);
const AXIS_FONT: Font = font(13.0, TEXT, false);
const TICK_FONT: Font = font(12.0, TEXT, false);
const GUIDE_FONT: Font = font(11.0, FAINT_TEXT, false);

const FRAME: Stroke = stroke("#333333", 1.0, "");
const GRID: Stroke = stroke("#E3E3E3", 0.8, "");
const MINOR_GRID: Stroke = stroke("#F1F1F1", 0.8, "");
const FILL: &str = "#F3C9B0";
const GUIDE: Stroke = stroke("#777777", 1.1, "4 3");

const fn font(size: f64, colour: &'static str, bold: bool) -> Font {
    Font { size, colour, bold }
}

const fn stroke(colour: &'static str, width: f64, dashes: &'static str) -> Stroke {
    Stroke {
        colour,
        width,
        dashes,
    }
}

/// The figure as a document.
pub(super) fn draw(figure: &Figure) -> String {
    let looks = looks(figure);
    let panels = figure.panels.iter().zip(&looks);
    let axes: Vec<_> = panels
        .map(|(panel, looks)| PanelAxes::new(panel, looks))
        .collect();
    // One left edge for all panels.
    let left = axes.iter().map(PanelAxes::left_space).fold(0.0, f64::max);
    let mut top = MARGIN;
    if !figure.title.is_empty() {
        top += TITLE_HEIGHT;
    }
    let mut layouts = Vec::new();
    for mut panel in axes {
        panel.bring_to_scale(WIDTH - RIGHT_MARGIN - left);
        let layout = Layout::new(panel, left, top);
        top = layout.bottom();
        layouts.push(layout);
    }
    let mut svg = Svg::new(DECIMALS);
    let title_place = (WIDTH / 2.0, MARGIN + TITLE_FONT.size * 0.8);
    svg.text(title_place, Anchor::Middle, TITLE_FONT, &figure.title);
    for layout in &layouts {
        layout.draw(&mut svg);
    }
    svg.finish(WIDTH, top + MARGIN / 2.0)
}

/// A panel with its axes, before it has a place.
struct PanelAxes<'a> {
    panel: &'a Panel,
    looks: &'a [usize],
    x: Axis,
    y: Axis,
    y_ticks: Ticks,
}

impl<'a> PanelAxes<'a> {
    fn new(panel: &'a Panel, looks: &'a [usize]) -> Self {
        let x = x_axis(panel);
        let mut y = y_axis(panel);
        if panel.is_to_scale {
            y = y.widened(x.span() * height(panel) / LEAST_WIDTH);
        }
        let y_ticks = Ticks::of(&y, (height(panel) / 36.0) as usize);
        Self {
            panel,
            looks,
            x,
            y,
            y_ticks,
        }
    }

    /// Widens the horizontal axis to the scale of the vertical one, in a frame of this width.
    fn bring_to_scale(&mut self, width: f64) {
        if self.panel.is_to_scale {
            self.x = self.x.widened(self.y.span() * width / height(self.panel));
        }
    }

    /// What the vertical axis needs beside it.
    fn left_space(&self) -> f64 {
        let power = power_label(&self.y_ticks);
        let labels = self.y_ticks.major.iter().map(|tick| &tick.label);
        let widest = labels
            .chain(&power)
            .map(|label| label.width(TICK_FONT.size))
            .fold(0.0, f64::max);
        let y_label = if self.panel.y_label.is_empty() {
            0.0
        } else {
            Y_LABEL_WIDTH
        };
        MARGIN + y_label + widest + LABEL_GAP
    }
}

fn height(panel: &Panel) -> f64 {
    match panel.cells.is_some() || panel.is_to_scale {
        true => MAP_HEIGHT,
        false => PLOT_HEIGHT,
    }
}

/// Curves reach the sides of the frame; markers keep away from it.
fn x_axis(panel: &Panel) -> Axis {
    if let Some(cells) = &panel.cells {
        let edges = borders(&cells.x, panel.x_scale);
        return Axis::covering(edges.into_iter(), panel.x_scale, 0.0);
    }
    let has_points = panel.series.iter().any(|series| series.style.has_points());
    let padding = if has_points { 0.04 } else { 0.0 };
    let values = panel.series.iter().flat_map(|series| &series.x).copied();
    Axis::covering(values, panel.x_scale, padding)
}

fn y_axis(panel: &Panel) -> Axis {
    if let Some(cells) = &panel.cells {
        let edges = borders(&cells.y, panel.y_scale);
        return Axis::covering(edges.into_iter(), panel.y_scale, 0.0);
    }
    if let Some((low, high)) = panel.y_limit {
        return Axis::limited(low, high, panel.y_scale);
    }
    let guides = panel.guides.iter().map(|guide| guide.y);
    let values = panel.series.iter().flat_map(|series| &series.y).copied();
    Axis::covering(values.chain(guides), panel.y_scale, 0.05)
}

fn power_label(ticks: &Ticks) -> Option<Label> {
    (ticks.power != 0).then(|| Label::power("\u{d7}", ticks.power))
}

/// A panel in its place: `left` and `top` to `right` and `floor` is the frame.
struct Layout<'a> {
    axes: PanelAxes<'a>,
    legend: Legend<'a>,
    legend_top: f64,
    left: f64,
    right: f64,
    top: f64,
    floor: f64,
}

impl<'a> Layout<'a> {
    fn new(axes: PanelAxes<'a>, left: f64, legend_top: f64) -> Self {
        let right = WIDTH - RIGHT_MARGIN;
        let legend = Legend::new(axes.panel, axes.looks, right - left - LABEL_GAP);
        let power = power_label(&axes.y_ticks).map_or(0.0, |_| POWER_HEIGHT);
        let top = legend_top + legend.height().max(power) + HEAD_HEIGHT;
        let floor = top + height(axes.panel);
        Self {
            axes,
            legend,
            legend_top,
            left,
            right,
            top,
            floor,
        }
    }

    fn bottom(&self) -> f64 {
        self.floor + FOOT_HEIGHT
    }

    fn x(&self, position: f64) -> f64 {
        self.left + position * (self.right - self.left)
    }

    fn y(&self, position: f64) -> f64 {
        self.floor - position * (self.floor - self.top)
    }

    /// Points far outside stay outside, but at a distance that a drawing can express.
    fn place(&self, x: f64, y: f64) -> Option<Point> {
        let far = |position: f64| position.clamp(-20.0, 20.0);
        let x = self.axes.x.position(x).map(far)?;
        let y = self.axes.y.position(y).map(far)?;
        Some((self.x(x), self.y(y)))
    }

    fn draw(&self, svg: &mut Svg) {
        let x_ticks = self.x_ticks();
        self.draw_grid(svg, &x_ticks);
        let size = (self.right - self.left, self.floor - self.top);
        svg.clipped((self.left, self.top), size, |svg| self.draw_curves(svg));
        self.draw_frame(svg);
        self.draw_x_ticks(svg, &x_ticks);
        self.draw_y_ticks(svg);
        self.draw_axis_labels(svg);
        self.legend
            .draw(svg, (self.left + LABEL_GAP, self.legend_top));
    }

    /// As many ticks as their labels leave room for.
    fn x_ticks(&self) -> Ticks {
        let width = self.right - self.left;
        let fits = |ticks: &Ticks| {
            let labels = ticks.major.iter().map(|tick| &tick.label);
            let widest = labels.map(|label| label.width(TICK_FONT.size));
            let widest = widest.fold(0.0, f64::max);
            (widest + 24.0) * ticks.major.len() as f64 <= width
        };
        let axis = &self.axes.x;
        (1..=10)
            .rev()
            .map(|most| Ticks::of(axis, most))
            .find(fits)
            .unwrap_or_else(|| Ticks::of(axis, 1))
    }

    fn draw_grid(&self, svg: &mut Svg, x_ticks: &Ticks) {
        let y_ticks = &self.axes.y_ticks;
        let minor_x = x_ticks.minor.iter().map(|&value| (value, MINOR_GRID));
        let major_x = x_ticks.major.iter().map(|tick| (tick.value, GRID));
        let minor_y = y_ticks.minor.iter().map(|&value| (value, MINOR_GRID));
        let major_y = y_ticks.major.iter().map(|tick| (tick.value, GRID));
        let x_lines: Vec<_> = minor_x.chain(major_x).collect();
        for (value, stroke) in x_lines {
            if let Some(x) = self.axes.x.position(value).map(|share| self.x(share)) {
                svg.polyline(&[(x, self.top), (x, self.floor)], stroke);
            }
        }
        for (value, stroke) in minor_y.chain(major_y) {
            if let Some(y) = self.axes.y.position(value).map(|share| self.y(share)) {
                svg.polyline(&[(self.left, y), (self.right, y)], stroke);
            }
        }
    }

    fn draw_curves(&self, svg: &mut Svg) {
        if let Some(cells) = &self.axes.panel.cells {
            self.draw_cells(svg, cells);
        }
        for guide in &self.axes.panel.guides {
            self.draw_guide(svg, guide);
        }
        for (series, &look) in self.axes.panel.series.iter().zip(self.axes.looks) {
            self.draw_series(svg, series, look);
        }
        self.draw_guide_labels(svg);
    }

    /// Neighbours in a row are filled in one piece, which keeps the picture small.
    fn draw_cells(&self, svg: &mut Svg, cells: &Cells) {
        let panel = self.axes.panel;
        let x = borders(&cells.x, panel.x_scale);
        let y = borders(&cells.y, panel.y_scale);
        let columns = cells.x.len();
        let mut runs = Vec::new();
        for (row, filled) in cells.filled.chunks(columns.max(1)).enumerate() {
            let mut column = 0;
            for run in filled.chunk_by(|a, b| a == b) {
                let end = column + run.len();
                let corners = [(column, row), (end, row), (end, row + 1), (column, row + 1)];
                let place = |(i, j): (usize, usize)| self.place(x[i], y[j]);
                if run[0]
                    && let Some(corners) =
                        corners.into_iter().map(place).collect::<Option<Vec<_>>>()
                {
                    runs.push(corners);
                }
                column = end;
            }
        }
        svg.polygons(&runs, FILL);
    }

    fn draw_guide(&self, svg: &mut Svg, guide: &Guide) {
        if let Some(share) = self.axes.y.position(guide.y) {
            let y = self.y(share);
            svg.polyline(&[(self.left, y), (self.right, y)], GUIDE);
        }
    }

    /// At the right end above the line, or wherever else around it there is room beside the other labels.
    fn draw_guide_labels(&self, svg: &mut Svg) {
        let mut taken: Vec<[f64; 4]> = Vec::new();
        let guides = self.axes.panel.guides.iter();
        for guide in guides.filter(|guide| !guide.label.is_empty()) {
            let Some(share) = self.axes.y.position(guide.y) else {
                continue;
            };
            let line = self.y(share);
            let width = text_width(&guide.label, GUIDE_FONT.size);
            let [left, right] = [self.left + 5.0 + width, self.right - 5.0];
            let place = |(end, y): (f64, f64)| {
                let top = y - 1.1 * GUIDE_FONT.size;
                [end - width, top, end, y + 0.3 * GUIDE_FONT.size]
            };
            let [above, below] = [line - 5.0, line + 13.0];
            let ends = [right, left, 0.5 * (left + right)].into_iter();
            let mut places = ends.flat_map(|end| [place((end, above)), place((end, below))]);
            let has_room = |&[left, top, right, bottom]: &[f64; 4]| {
                let is_apart = |other: &[f64; 4]| {
                    right < other[0] || left > other[2] || bottom < other[1] || top > other[3]
                };
                top >= self.top && bottom <= self.floor && taken.iter().all(is_apart)
            };
            let place = places.find(has_room).unwrap_or(place((right, above)));
            let corner = (place[2], place[1] + 1.1 * GUIDE_FONT.size);
            svg.rimmed_text(corner, Anchor::End, GUIDE_FONT, &guide.label);
            taken.push(place);
        }
    }

    fn draw_series(&self, svg: &mut Svg, series: &Series, look: usize) {
        let points = || {
            let pairs = series.x.iter().zip(&series.y);
            pairs.map(|(&x, &y)| self.place(x, y))
        };
        if series.style.has_line() {
            let stroke = line(series.style, look);
            for piece in pieces(points()) {
                match piece[..] {
                    // A line of no length would not show.
                    [point] => svg.disc(point, stroke.width, stroke.colour),
                    _ => svg.polyline(&piece, stroke),
                }
            }
        }
        if series.style.has_points() {
            for point in markers(points()) {
                draw_marker(svg, point, look);
            }
        }
    }

    fn draw_frame(&self, svg: &mut Svg) {
        let corners = [
            (self.left, self.top),
            (self.left, self.floor),
            (self.right, self.floor),
        ];
        svg.polyline(&corners, FRAME);
    }

    fn draw_x_ticks(&self, svg: &mut Svg, ticks: &Ticks) {
        for tick in &ticks.major {
            if let Some(x) = self.axes.x.position(tick.value).map(|share| self.x(share)) {
                svg.polyline(&[(x, self.floor), (x, self.floor + TICK_LENGTH)], FRAME);
                let place = (x, self.floor + LABEL_GAP + TICK_FONT.size);
                svg.label(place, Anchor::Middle, TICK_FONT, &tick.label);
            }
        }
        if let Some(power) = power_label(ticks) {
            svg.label(
                (self.right, self.x_label_line()),
                Anchor::End,
                TICK_FONT,
                &power,
            );
        }
    }

    fn draw_y_ticks(&self, svg: &mut Svg) {
        for tick in &self.axes.y_ticks.major {
            if let Some(y) = self.axes.y.position(tick.value).map(|share| self.y(share)) {
                svg.polyline(&[(self.left - TICK_LENGTH, y), (self.left, y)], FRAME);
                let place = (self.left - LABEL_GAP, y + 0.35 * TICK_FONT.size);
                svg.label(place, Anchor::End, TICK_FONT, &tick.label);
            }
        }
        if let Some(power) = power_label(&self.axes.y_ticks) {
            let place = (self.left - LABEL_GAP, self.top - POWER_HEIGHT);
            svg.label(place, Anchor::End, TICK_FONT, &power);
        }
    }

    fn x_label_line(&self) -> f64 {
        self.floor + LABEL_GAP + TICK_FONT.size + 19.0
    }

    fn draw_axis_labels(&self, svg: &mut Svg) {
        let panel = self.axes.panel;
        let below = ((self.left + self.right) / 2.0, self.x_label_line());
        svg.text(below, Anchor::Middle, AXIS_FONT, &panel.x_label);
        let beside = (MARGIN + AXIS_FONT.size * 0.8, (self.top + self.floor) / 2.0);
        svg.upright_text(beside, AXIS_FONT, &panel.y_label);
    }
}

/// Borders of the cells around points: half-way between neighbours, as far beyond the ends.
fn borders(points: &[f64], scale: Scale) -> Vec<f64> {
    let (into, back) = match scale {
        Scale::Linear => (identity as fn(f64) -> f64, identity as fn(f64) -> f64),
        Scale::Log => (f64::ln as fn(f64) -> f64, f64::exp as fn(f64) -> f64),
    };
    let points: Vec<f64> = points.iter().map(|&point| into(point)).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    let inner: Vec<f64> = points
        .windows(2)
        .map(|pair| 0.5 * (pair[0] + pair[1]))
        .collect();
    let margin_below = inner.first().map_or(0.5, |border| border - first);
    let margin_above = inner.last().map_or(0.5, |border| last - border);
    let below = [first - margin_below].into_iter();
    let all = below.chain(inner).chain([last + margin_above]);
    all.map(back).collect()
}
