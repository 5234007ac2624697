//! Marks on a page: one picture, several beside each other, or an animation.

use oldham_multibody::Vec3;
use oldham_results::plot::svg::Svg;

use super::view::Flat;
use super::{Ink, Mark, View};

/// A tenth of a unit is finer than any screen shows.
const DECIMALS: u8 = 1;
/// Width of a panel in units of the page.
const WIDTH: f64 = 640.0;
/// Bounds of its height.
const HEIGHTS: [f64; 2] = [140.0, 560.0];
/// Space around the drawing.
const MARGIN: f64 = 36.0;
/// Space for a title above, and for the scale below.
const HEAD: f64 = 34.0;
const FOOT: f64 = 34.0;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 18.0;

/// A panel: some marks, each list with how strongly it shows.
pub struct Page {
    view: View,
    title: String,
    /// What colours mean.
    legend: Vec<(Ink, String)>,
    layers: Vec<(Vec<Mark>, f64)>,
    has_axes: bool,
}

/// Frames of the same marks at equal distances in time.
pub struct Animation {
    /// From where it is seen.
    pub view: View,
    /// Title.
    pub title: String,
    /// Marks of each frame.
    pub frames: Vec<Vec<Mark>>,
    /// Time of each frame in s.
    pub times: Vec<f64>,
    /// Seconds that it takes to show it once.
    pub duration: f64,
}

impl Page {
    /// Nothing yet.
    pub fn new(title: impl Into<String>, view: View) -> Self {
        Self {
            view,
            title: title.into(),
            legend: Vec::new(),
            layers: Vec::new(),
            has_axes: false,
        }
    }

    /// Says what inks mean, below the title.
    pub fn legend(mut self, legend: Vec<(Ink, String)>) -> Self {
        self.legend = legend;
        self
    }

    /// Adds marks; strength 1 is black on white, 0 is nothing.
    pub fn layer(mut self, marks: Vec<Mark>, strength: f64) -> Self {
        self.layers.push((marks, strength));
        self
    }

    /// Several pages below each other as one picture.
    pub fn stack(pages: &[Self]) -> String {
        Self::grid(pages, 1)
    }

    /// Several pages as one picture, so many beside each other.
    pub fn grid(pages: &[Self], columns: usize) -> String {
        let mut svg = Svg::new(DECIMALS);
        let mut height = 0.0;
        for line in pages.chunks(columns.max(1)) {
            let mut highest = 0.0_f64;
            for (column, page) in line.iter().enumerate() {
                highest = highest.max(page.draw([WIDTH * column as f64, height], &mut svg));
            }
            height += highest;
        }
        let columns = columns.clamp(1, pages.len().max(1));
        svg.finish(WIDTH * columns as f64, height)
    }

    /// Draws the page with its upper left corner at a place, and gives its height.
    fn draw(&self, place: Flat, svg: &mut Svg) -> f64 {
        let mut sheet = Sheet::around(&self.view, self.layers.iter().map(|(marks, _)| marks));
        let lines = legend_lines(&self.legend);
        sheet.height += LEGEND_LINE * lines.len() as f64;
        let [right, down] = place.map(|value| svg.number(value));
        svg.group(
            format_args!("transform=\"translate({right} {down})\""),
            |svg| {
                sheet.furniture(svg, &self.title);
                if self.has_axes {
                    sheet.axes(svg);
                }
                legend(svg, &lines);
                for (marks, strength) in &self.layers {
                    svg.group(format_args!("opacity=\"{strength}\""), |svg| {
                        marks.iter().for_each(|mark| sheet.still(svg, mark));
                    });
                }
            },
        );
        sheet.height
    }

    /// Draws the axes of the absolute frame, and names the view.
    pub fn axes(mut self) -> Self {
        self.has_axes = true;
        self
    }

    /// The page alone.
    pub fn to_svg(&self) -> String {
        Self::stack(std::slice::from_ref(self))
    }
}

impl Animation {
    /// An SVG that moves by itself.
    pub fn to_svg(&self) -> String {
        let sheet = self.sheet();
        let mut svg = Svg::new(DECIMALS);
        sheet.furniture(&mut svg, &self.title);
        for index in 0..self.frames.first().map_or(0, Vec::len) {
            let moving: Vec<&Mark> = self.frames.iter().map(|frame| &frame[index]).collect();
            sheet.moving(&mut svg, &moving, self.duration);
        }
        sheet.clock(&mut svg, &self.times, self.duration);
        svg.finish(WIDTH, sheet.height)
    }

    /// One frame.
    pub fn still(&self, index: usize) -> String {
        let sheet = self.sheet();
        let mut svg = Svg::new(DECIMALS);
        sheet.furniture(&mut svg, &self.title);
        for mark in &self.frames[index] {
            sheet.still(&mut svg, mark);
        }
        sheet.note(&mut svg, &format!("t = {:.3} s", self.times[index]));
        svg.finish(WIDTH, sheet.height)
    }

    /// Several frames over each other, the later ones stronger.
    pub fn overlay(&self, count: usize) -> Page {
        let mut page = Page::new(self.title.clone(), self.view);
        let last = self.frames.len().saturating_sub(1);
        let count = count.clamp(1, last + 1);
        for i in 0..count {
            let frame = if count == 1 {
                last
            } else {
                i * last / (count - 1)
            };
            let strength = 0.15 + 0.85 * (i as f64 + 1.0) / count as f64;
            let strength = if i + 1 == count { 1.0 } else { 0.5 * strength };
            page = page.layer(self.frames[frame].clone(), strength);
        }
        page
    }

    fn sheet(&self) -> Sheet {
        Sheet::around(&self.view, self.frames.iter())
    }
}

/// A rectangle around what is seen.
struct Bounds {
    low: Flat,
    high: Flat,
}

impl Bounds {
    const NONE: Self = Self {
        low: [f64::INFINITY; 2],
        high: [f64::NEG_INFINITY; 2],
    };

    fn take(&mut self, seen: Flat) {
        for (i, value) in seen.into_iter().enumerate() {
            self.low[i] = self.low[i].min(value);
            self.high[i] = self.high[i].max(value);
        }
    }

    /// Around both, of which either may be around nothing.
    fn with(&self, other: &Self) -> Self {
        Self {
            low: [0, 1].map(|i| self.low[i].min(other.low[i])),
            high: [0, 1].map(|i| self.high[i].max(other.high[i])),
        }
    }

    fn size(&self) -> [f64; 2] {
        [0, 1].map(|i| (self.high[i] - self.low[i]).max(0.0))
    }
}

/// The map from metres to the page.
struct Sheet {
    view: View,
    scale: f64,
    /// Lower left corner of the drawing, in m.
    corner: Flat,
    /// Added to the right, to centre what is narrow.
    shift: f64,
    height: f64,
    /// Of lines and symbols: less than one where the mechanism is small on the page, because it goes far.
    symbols: f64,
}

/// A mechanism that is smaller on the page has smaller symbols, so that it does not vanish behind them ...
const ROOMY: f64 = 200.0;
/// ... but no smaller than this.
const SMALLEST: f64 = 0.12;

impl Sheet {
    fn around<'m>(view: &View, layers: impl Iterator<Item = &'m Vec<Mark>>) -> Self {
        let mut all = Bounds::NONE;
        let mut largest = 0.0_f64;
        for marks in layers {
            let (mut mechanism, mut ground) = (Bounds::NONE, Bounds::NONE);
            for mark in marks {
                let bounds = match mark.ink {
                    Ink::Guide => &mut ground,
                    _ => &mut mechanism,
                };
                mark.points.iter().for_each(|at| bounds.take(view.see(*at)));
            }
            largest = largest.max(mechanism.size().into_iter().fold(0.0, f64::max));
            all = all.with(&mechanism).with(&ground);
        }
        if all.low[0] > all.high[0] {
            all = Bounds {
                low: [0.0; 2],
                high: [1.0; 2],
            };
        }
        let size = all.size().map(|size| size.max(1e-9));
        let room = [
            WIDTH - 2.0 * MARGIN,
            HEIGHTS[1] - HEAD - FOOT - 2.0 * MARGIN,
        ];
        let scale = (room[0] / size[0]).min(room[1] / size[1]);
        let height = scale * size[1] + HEAD + FOOT + 2.0 * MARGIN;
        let extra = (HEIGHTS[0] - height).max(0.0);
        // A single point has no size to compare with.
        let symbols = match largest > 0.0 {
            true => (scale * largest / ROOMY).clamp(SMALLEST, 1.0),
            false => 1.0,
        };
        Self {
            view: *view,
            scale,
            corner: [all.low[0], all.low[1] - 0.5 * extra / scale],
            shift: 0.5 * (room[0] - scale * size[0]),
            height: height + extra,
            symbols,
        }
    }

    fn place(&self, point: Vec3) -> Flat {
        let seen = self.view.see(point);
        [
            MARGIN + self.shift + self.scale * (seen[0] - self.corner[0]),
            self.height - FOOT - MARGIN - self.scale * (seen[1] - self.corner[1]),
        ]
    }

    fn path(&self, svg: &Svg, mark: &Mark) -> String {
        let places = mark.points.iter().map(|&point| self.place(point));
        let mut path = svg.path_data(places.map(|[x, y]| (x, y)));
        if matches!(mark.ink, Ink::Face | Ink::Tube) {
            path.push('Z');
        }
        path
    }

    fn still(&self, svg: &mut Svg, mark: &Mark) {
        self.moving(svg, &[mark], 0.0);
    }

    /// One mark in all frames.
    fn moving(&self, svg: &mut Svg, frames: &[&Mark], duration: f64) {
        let Some(first) = frames.first() else {
            return;
        };
        let style = style(first.ink, self.symbols);
        if first.points.len() > 1 {
            let paths = frames.iter().map(|mark| self.path(svg, mark)).collect();
            svg.animated("path", &[("d", paths)], &style, duration);
            return;
        }
        let places = frames.iter().map(|mark| self.place(mark.points[0]));
        let places: Vec<[String; 2]> = places
            .map(|place| place.map(|value| svg.number(value)))
            .collect();
        let support = match first.ink {
            Ink::Ground => Some(GROUND),
            Ink::Clamp => Some(CLAMP),
            _ => None,
        };
        if let Some(support) = support {
            let [x, y] = &places[0];
            svg.element(format_args!(
                "<path transform=\"translate({x} {y}){}\" {support} {style}/>",
                match self.symbols < 1.0 {
                    true => format!(" scale({})", svg.number(self.symbols)),
                    false => String::new(),
                }
            ));
            return;
        }
        let along = |axis: usize| places.iter().map(|place| place[axis].clone()).collect();
        let moving = [("cx", along(0)), ("cy", along(1))];
        svg.animated("circle", &moving, &style, duration);
    }

    /// Title, and a scale.
    fn furniture(&self, svg: &mut Svg, title: &str) {
        let middle = WIDTH / 2.0;
        svg.text_element(
            format_args!(
                "x=\"{middle}\" y=\"22\" text-anchor=\"middle\" font-size=\"14\" font-weight=\"bold\""
            ),
            title,
        );
        let metres = round_length(120.0 / self.scale);
        let (y, end) = (self.height - 16.0, MARGIN + metres * self.scale);
        let [above, line, below] = [y - 3.0, y, y + 4.0].map(|value| svg.number(value));
        let [end, text] = [end, end + 6.0].map(|value| svg.number(value));
        svg.element(format_args!(
            "<path d=\"M{MARGIN} {above}v6M{MARGIN} {line}H{end}M{end} {above}v6\" stroke=\"#000000\" fill=\"none\"/>"
        ));
        svg.text_element(
            format_args!("x=\"{text}\" y=\"{below}\" font-size=\"11\""),
            &format!("{metres} m"),
        );
    }

    /// The axes of the absolute frame in the lower right corner, and the name of the view.
    fn axes(&self, svg: &mut Svg) {
        const LENGTH: f64 = 26.0;
        // Below the drawing, beside the name of the view.
        let origin = [WIDTH - MARGIN - 34.0, self.height - 16.0];
        let place = [origin[0] - 12.0, self.height - 12.0];
        let [x, y] = place.map(|value| svg.number(value));
        svg.text_element(
            format_args!("x=\"{x}\" y=\"{y}\" text-anchor=\"end\" font-size=\"11\""),
            self.view.label(),
        );
        for (axis, name) in [(Vec3::X, "x"), (Vec3::Y, "y"), (Vec3::Z, "z")] {
            let [x, y] = self.view.see(axis);
            if x.hypot(y) < 0.1 {
                continue;
            }
            let end = [origin[0] + LENGTH * x, origin[1] - LENGTH * y];
            // The head: two short lines back from the end.
            let [back, side] = [[-0.22 * x, 0.22 * y], [-0.12 * y, -0.12 * x]];
            let barb = |sign: f64| {
                let [dx, dy] = [0, 1].map(|i| svg.number(LENGTH * (back[i] + sign * side[i])));
                format!("{}l{dx} {dy}", svg.path_data([(end[0], end[1])]))
            };
            let shaft = svg.path_data([(origin[0], origin[1]), (end[0], end[1])]);
            let (left, right) = (barb(1.0), barb(-1.0));
            svg.element(format_args!(
                "<path d=\"{shaft}{left}{right}\" stroke=\"#555555\" fill=\"none\"/>"
            ));
            let beyond = [
                origin[0] + (LENGTH + 8.0) * x,
                origin[1] - (LENGTH + 8.0) * y + 4.0,
            ];
            let [x, y] = beyond.map(|value| svg.number(value));
            svg.text_element(
                format_args!(
                    "x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#555555\""
                ),
                name,
            );
        }
    }

    /// A word in the lower right corner.
    fn note(&self, svg: &mut Svg, text: &str) {
        let (x, y) = (WIDTH - MARGIN, svg.number(self.height - 12.0));
        svg.text_element(
            format_args!("x=\"{x}\" y=\"{y}\" text-anchor=\"end\" font-size=\"11\""),
            text,
        );
    }

    /// A bar that grows with time.
    fn clock(&self, svg: &mut Svg, times: &[f64], duration: f64) {
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return;
        };
        let (x, y) = (WIDTH - MARGIN - 160.0, svg.number(self.height - 18.0));
        svg.element(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"160\" height=\"4\" fill=\"#DDDDDD\"/>"
        ));
        svg.element(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"0\" height=\"4\" fill=\"#0072B2\"><animate attributeName=\"width\" values=\"0;160\" dur=\"{duration}s\" repeatCount=\"indefinite\"/></rect>"
        ));
        let (x, y) = (x - 8.0, svg.number(self.height - 12.0));
        svg.text_element(
            format_args!("x=\"{x}\" y=\"{y}\" text-anchor=\"end\" font-size=\"11\""),
            &format!("{} s to {} s", four_digits(*first), four_digits(*last)),
        );
    }
}

/// Breaks a legend into lines that fit the page.
fn legend_lines(entries: &[(Ink, String)]) -> Vec<Vec<(Ink, &str)>> {
    let mut lines: Vec<Vec<(Ink, &str)>> = Vec::new();
    let mut room = 0.0;
    for (ink, text) in entries {
        let width = entry_width(text);
        if lines.is_empty() || width > room {
            lines.push(Vec::new());
            room = WIDTH - 2.0 * MARGIN;
        }
        room -= width;
        lines.last_mut().expect("a line").push((*ink, text));
    }
    lines
}

fn entry_width(text: &str) -> f64 {
    26.0 + 6.5 * text.chars().count() as f64
}

/// Lines of coloured names, centred below the title.
fn legend(svg: &mut Svg, lines: &[Vec<(Ink, &str)>]) {
    for (index, line) in lines.iter().enumerate() {
        let width: f64 = line.iter().map(|(_, text)| entry_width(text)).sum();
        let (mut x, y) = (
            0.5 * (WIDTH - width) + 8.0,
            HEAD + 8.0 + LEGEND_LINE * index as f64,
        );
        for (ink, text) in line {
            let [dot, beside] = [x, x + 9.0].map(|value| svg.number(value));
            let [middle, base] = [y, y + 4.0].map(|value| svg.number(value));
            let style = style(*ink, 1.0);
            svg.element(format_args!(
                "<circle cx=\"{dot}\" cy=\"{middle}\" {style}/>"
            ));
            svg.text_element(
                format_args!("x=\"{beside}\" y=\"{base}\" font-size=\"11\""),
                text,
            );
            x += entry_width(text);
        }
    }
}

/// The colour of a piece: distinct under colour blindness, again and again for more than six.
fn colour(piece: usize) -> &'static str {
    const COLOURS: [&str; 6] = [
        "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    ];
    COLOURS[piece % COLOURS.len()]
}

/// A hatched support, drawn around the origin.
const GROUND: &str = "d=\"M0 0L-8 12H8ZM-12 12H12M-10 17l5 -5M-4 17l5 -5M2 17l5 -5M8 17l4 -4\"";

/// A hatched block, drawn around the origin.
const CLAMP: &str = "d=\"M-8 -8H8V8H-8ZM-8 -3L-3 -8M-8 3L3 -8M-8 8L8 -8M-3 8L8 -3M3 8L8 3\"";

/// How something is drawn: dots have a radius.
struct Look {
    radius: Option<f64>,
    fill: &'static str,
    /// Colour and width.
    stroke: Option<(&'static str, f64)>,
    more: &'static str,
}

const ROUND: &str = r#" stroke-linejoin="round" stroke-linecap="round""#;
const JOINED: &str = r#" stroke-linejoin="round""#;

fn look(ink: Ink) -> Look {
    let line = |stroke, more| Look {
        radius: None,
        fill: "none",
        stroke: Some(stroke),
        more,
    };
    let dot = |radius, fill, stroke| Look {
        radius: Some(radius),
        fill,
        stroke,
        more: "",
    };
    let face = |fill, more| Look {
        radius: None,
        fill,
        stroke: Some(("#1F5C85", 1.0)),
        more,
    };
    match ink {
        Ink::Member(piece) => dot(4.0, colour(piece), None),
        Ink::Tie(piece) => line((colour(piece), 2.0), JOINED),
        Ink::Ring => dot(8.0, "none", Some(("#000000", 1.5))),
        Ink::Face => face("#56B4E9", r#" fill-opacity="0.25" stroke-linejoin="round""#),
        Ink::Tube => face("#D9E6EE", JOINED),
        Ink::Link => line(("#1F5C85", 4.0), ROUND),
        Ink::Rod => line(("#555555", 3.0), ROUND),
        Ink::Beam => line(("#0072B2", 3.5), ROUND),
        Ink::Spring => line(("#009E73", 1.5), JOINED),
        Ink::Damper => line(("#555555", 1.5), JOINED),
        Ink::Contact => line(("#D55E00", 1.5), ROUND),
        Ink::Guide => line(("#888888", 1.0), r#" stroke-dasharray="8 3 2 3""#),
        Ink::Pin => dot(4.5, "#FFFFFF", Some(("#000000", 1.5))),
        Ink::Dot => dot(2.5, "#000000", None),
        Ink::Ground | Ink::Clamp => line(("#555555", 1.2), ""),
    }
}

/// The attributes of an ink, its lines and dots so many times as large.
fn style(ink: Ink, size: f64) -> String {
    let look = look(ink);
    let scaled = |value: f64| (1e3 * value * size).round() / 1e3;
    let mut style = String::new();
    if let Some(radius) = look.radius {
        style += &format!("r=\"{}\" ", scaled(radius));
    }
    style += &format!("fill=\"{}\"", look.fill);
    if let Some((colour, width)) = look.stroke {
        // The symbol of a support is scaled as a whole.
        let width = match ink {
            Ink::Ground | Ink::Clamp | Ink::Guide => width,
            _ => scaled(width),
        };
        style += &format!(" stroke=\"{colour}\" stroke-width=\"{width}\"");
    }
    style + look.more
}

/// A value to four digits, without zeros at its end.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The next 1, 2 or 5 times a power of ten below.
fn round_length(length: f64) -> f64 {
    let power = 10.0_f64.powf(length.log10().floor());
    let leading = [5.0, 2.0, 1.0]
        .into_iter()
        .find(|step| step * power <= length);
    leading.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::super::ViewName;
    use super::*;

    fn rod(angle: f64) -> Vec<Mark> {
        let end = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let points = vec![Vec3::ZERO, end];
        let still = Mark {
            ink: Ink::Ground,
            points: vec![Vec3::ZERO],
        };
        vec![
            Mark {
                ink: Ink::Link,
                points,
            },
            still,
        ]
    }

    #[test]
    fn only_what_moves_is_animated() {
        let animation = Animation {
            view: View::of(ViewName::Xy, std::iter::empty()),
            title: "a < b".into(),
            frames: vec![rod(0.0), rod(1.0), rod(2.0)],
            times: vec![0.0, 1.0, 2.0],
            duration: 2.0,
        };
        let svg = animation.to_svg();
        // The rod, and the clock.
        assert_eq!(svg.matches("<animate ").count(), 2);
        assert!(svg.contains("a &lt; b"));
        assert!(!animation.still(1).contains("<animate "));
        assert!(oldham_results::plot::svg_to_png(&animation.still(2)).is_ok());
    }

    /// What had no guides was drawn nowhere: the empty rectangle around them reached to infinity.
    #[test]
    fn what_is_drawn_is_on_the_page_with_and_without_guides() {
        let guide = Mark {
            ink: Ink::Guide,
            points: vec![Vec3::ZERO, Vec3::X * 3.0],
        };
        let view = View::of(ViewName::Xy, std::iter::empty());
        for marks in [
            rod(1.0),
            [rod(1.0), vec![guide.clone()]].concat(),
            vec![guide],
        ] {
            let svg = Page::new("rod", view).layer(marks, 1.0).to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn scales_are_round_numbers() {
        for (length, expected) in [(0.37, 0.2), (1.0, 1.0), (7.3, 5.0), (0.049, 0.02)] {
            assert!((round_length(length) - expected).abs() < 1e-12);
        }
    }
}
