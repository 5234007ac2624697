//! The clamped shell, whole and cut along its middle line.

use oldham_results::plot::{Figure, Panel, Scale, Series};

use super::run::{History, RunSpec, cores};
use crate::item::{PaperError, Report};
use crate::structures::Shell;

const DURATION: f64 = 1.5;
/// The force grows until then.
const PUSHED: f64 = 1.0;

/// A way to cut the shell in two.
struct Variant {
    divisions: [usize; 2],
    scheme: &'static str,
    step: f64,
}

const VARIANTS: [Variant; 4] = [
    Variant {
        divisions: [4, 2],
        scheme: PLAIN,
        step: 2e-4,
    },
    Variant {
        divisions: [4, 2],
        scheme: PLAIN,
        step: 1e-4,
    },
    Variant {
        divisions: [4, 2],
        scheme: TANGENT,
        step: 1e-4,
    },
    // The plain scheme would need steps below 5e-5 s here.
    Variant {
        divisions: [16, 8],
        scheme: TANGENT,
        step: 1e-3,
    },
];

const PLAIN: &str = "interface-mass";
const TANGENT: &str = "interface-tangent";

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let mut motion = Panel::new("time / s", "height of the middle / m");
    let mut errors = Panel::new("time / s", "difference from the monolithic shell / m")
        .with_scales(Scale::Linear, Scale::Log);
    let mut plain = Vec::new();
    for variant in &VARIANTS {
        let (whole, cut) = (variant.solve(1)?, variant.solve(2)?);
        let [along, across] = variant.divisions;
        let size = format!("{along} x {across}");
        let name = format!("{size}, {}, h = {} ms", variant.scheme, 1e3 * variant.step);
        let differences = cut.differences(&whole);
        let pushed = cut.times.iter().take_while(|&&t| t <= PUSHED).count();
        let largest = differences[..pushed].iter().copied().fold(0.0, f64::max);
        if variant.scheme == PLAIN {
            plain.push(largest);
        } else {
            heights(report, &size, &whole, variant.step);
            motion = motion.with_series(Series::new(size, whole.times, whole.values));
        }
        let row = format!("{name}: largest difference from the monolithic solution");
        let note = "2 parts, up to 1 s; about 1.4 s the motion itself magnifies small differences";
        report.row(row, None, largest, "m", note);
        let row = format!("{name}: spurious energy of the coupling");
        report.row(row, None, cut.created, "J", "sum over the interfaces");
        errors = errors.with_series(Series::new(name, cut.times, differences));
    }
    let order = (plain[0] / plain[1]).log2();
    let note = "h = 0.2 ms and 0.1 ms; in theory 3 with the Hermite predictor";
    let name = "4 x 2, interface-mass: order of the difference";
    report.row(name, None, order, "1", note);
    let title = "The shell in two parts against the monolithic solution";
    report.picture(&Figure::new(title).with_panel(motion).with_panel(errors))
}

fn heights(report: &mut Report, size: &str, whole: &History, step: f64) {
    for (name, time) in [("0.1 s", 0.1), ("0.5 s", 0.5), ("1 s", 1.0)] {
        let at = whole.times.iter().position(|t| (t - time).abs() < 1e-6);
        let height = at.map_or(f64::NAN, |i| whole.values[i]);
        let note = format!(
            "h = {} ms, density 1000 kg/m3 (not printed); the print is a picture",
            1e3 * step
        );
        report.row(
            format!("{size}: height at {name}"),
            None,
            height,
            "m",
            &note,
        );
    }
}

impl Variant {
    fn solve(&self, parts: usize) -> Result<History, PaperError> {
        let shell = Shell {
            divisions: self.divisions,
            parts,
            damping: 0.0,
            step: self.step,
        };
        let settings = match parts {
            1 => Vec::new(),
            _ => vec![("multibody.shell.cut.scheme", self.scheme.to_owned())],
        };
        RunSpec {
            text: &shell.model(),
            signal: Shell::SIGNAL,
            settings,
            duration: DURATION,
            every: 5e-3,
            threads: parts.min(cores()),
        }
        .run()
    }
}
