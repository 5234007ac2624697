//! Legends beside everything else in a figure, as another program lays the text out.

use std::sync::Arc;

use oldham_results::plot::{Figure, Panel, Scale, Series, Style};
use resvg::tiny_skia::Rect;
use resvg::usvg::{Group, Node, Options, Tree, fontdb::Database};

/// What is drawn of a figure, where it lies.
#[derive(Default)]
struct Drawn {
    /// Frames of the panels, to which curves are clipped.
    frames: Vec<Rect>,
    /// Texts outside of the frames, each with the number of frames before it.
    texts: Vec<(String, Rect, usize)>,
    /// Lines and markers outside of the frames that are no wider than a sample of a legend.
    samples: Vec<(Rect, usize)>,
    /// Texts in the frames.
    inner: Vec<(String, Rect)>,
}

impl Drawn {
    fn of(figure: &Figure) -> (Self, f32) {
        let mut fonts = Database::new();
        fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
        fonts.load_font_data(notosans::BOLD_TTF.to_vec());
        fonts.set_sans_serif_family("Noto Sans");
        let options = Options {
            fontdb: Arc::new(fonts),
            ..Options::default()
        };
        let tree = Tree::from_str(&figure.to_svg(), &options).expect("an SVG document");
        let mut drawn = Self::default();
        drawn.note(tree.root(), false);
        (drawn, tree.size().width())
    }

    fn note(&mut self, group: &Group, is_inside: bool) {
        for node in group.children() {
            match node {
                Node::Group(group) => {
                    if let Some(clip) = group.clip_path() {
                        self.frames.push(clip.root().abs_bounding_box());
                    }
                    self.note(group, is_inside || group.clip_path().is_some());
                }
                Node::Text(text) => {
                    let said = text.chunks().iter().map(|chunk| chunk.text()).collect();
                    match is_inside {
                        true => self.inner.push((said, node.abs_bounding_box())),
                        false => {
                            let place = node.abs_bounding_box();
                            self.texts.push((said, place, self.frames.len()));
                        }
                    }
                }
                Node::Path(_) if !is_inside => {
                    let place = node.abs_bounding_box();
                    if place.width() < 31.0 && place.height() < 15.0 {
                        self.samples.push((place, self.frames.len()));
                    }
                }
                Node::Path(_) | Node::Image(_) => {}
            }
        }
    }
}

fn all_but<T>(all: &[T], index: usize) -> impl Iterator<Item = &T> {
    all[..index].iter().chain(&all[index + 1..])
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.left() < b.right() && b.left() < a.right() && a.top() < b.bottom() && b.top() < a.bottom()
}

/// A small generator of numbers that are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    /// Narrow and wide letters, those of signals and those of other scripts.
    fn name(&mut self, longest: usize) -> String {
        let letters: Vec<char> = "WMmwil.,_ []0123456789Tfy\u{b7}\u{d7}\u{3b1}\u{3b2}@%"
            .chars()
            .collect();
        let count = 1 + self.below(longest);
        let inner = (0..count).map(|_| letters[self.below(letters.len())]);
        // Ends that are letters: spaces at an end would have no ink.
        format!("s{}e", inner.collect::<String>())
    }
}

const STYLES: [Style; 5] = [
    Style::Line,
    Style::Solid,
    Style::Reference,
    Style::Points,
    Style::LineAndPoints,
];

fn figure(random: &mut Random) -> Figure {
    let mut figure = Figure::new("Title of the figure");
    for _ in 0..1 + random.below(3) {
        let size = 10_f64.powi(random.below(13) as i32 - 6);
        let scale = [Scale::Linear, Scale::Log][random.below(2)];
        let mut panel = Panel::new("time in s", "value in m").with_scales(Scale::Linear, scale);
        let longest = [8, 30, 120, 400][random.below(4)];
        for _ in 0..1 + random.below(9) {
            let y = (0..20).map(|_| size * (1.0 + random.below(1000) as f64));
            let y = y.collect();
            let x = (0..20).map(f64::from).collect();
            let style = STYLES[random.below(STYLES.len())];
            let name = random.name(longest);
            panel = panel.with_series(Series::new(name, x, y).with_style(style));
        }
        figure = figure.with_panel(panel);
    }
    figure
}

/// Names of curves collide neither with each other, nor with samples, frames, titles, numbers or other panels, and end
/// within the picture.
#[test]
fn legends_collide_with_nothing() {
    let mut random = Random(30);
    for case in 0..60 {
        let (drawn, width) = Drawn::of(&figure(&mut random));
        assert!(
            !drawn.samples.is_empty() && drawn.texts.len() > 5,
            "{case}: something is drawn"
        );
        let is_name = |text: &str| text.starts_with('s') && text.ends_with('e');
        for (index, (text, place, panel)) in drawn.texts.iter().enumerate() {
            if !is_name(text) {
                continue;
            }
            assert!(
                place.left() >= 0.0 && place.right() <= width,
                "{case}: {text} leaves the picture"
            );
            for (other, beside, _) in all_but(&drawn.texts, index) {
                assert!(!overlap(place, beside), "{case}: {text} lies on {other}");
            }
            for frame in &drawn.frames {
                assert!(!overlap(place, frame), "{case}: {text} lies on a panel");
            }
            for (sample, of_panel) in &drawn.samples {
                assert!(
                    panel != of_panel || !overlap(place, sample),
                    "{case}: {text} lies on a sample"
                );
            }
        }
    }
}

/// The labels of guides, which stand in the frame: those of neighbours keep apart as long as there is room.
#[test]
fn labels_of_close_guides_keep_apart() {
    for apart in [0.0, 0.01, 0.05, 0.2, 0.5, 1.0] {
        let ramp = Series::new("ramp", vec![0.0, 1.0], vec![0.0, 1.0]);
        let panel = Panel::new("x", "y").with_series(ramp);
        let panel = panel
            .with_guide("hold", 0.0)
            .with_guide("ours, automatic", apart);
        let panel = panel.with_guide("as printed", apart / 2.0);
        let (drawn, _) = Drawn::of(&Figure::new("").with_panel(panel));
        assert_eq!(drawn.inner.len(), 3);
        let frame = drawn.frames[0];
        for (index, (text, place)) in drawn.inner.iter().enumerate() {
            let is_inside = place.top() >= frame.top() && place.bottom() <= frame.bottom();
            assert!(is_inside, "{apart}: {text} is cut off");
            for (other, beside) in &drawn.inner[index + 1..] {
                assert!(!overlap(place, beside), "{apart}: {text} lies on {other}");
            }
        }
    }
}
