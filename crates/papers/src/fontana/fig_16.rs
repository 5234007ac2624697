//! The clamped shell, whole and cut along its middle line.

use oldham_results::plot::{Figure, Panel, Scale, Series};

use super::run::{History, Plan, cores};
use crate::item::{PaperError, Report};
use crate::structures::Shell;

const DURATION: f64 = 1.5;

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let mut motion = Panel::new("time / s", "height of the middle / m");
    let mut errors = Panel::new("time / s", "difference from the whole shell / m")
        .with_scales(Scale::Linear, Scale::Log);
    for divisions in [[4, 2], [16, 8]] {
        let (whole, cut) = (solve(divisions, 1, 1e-3)?, solve(divisions, 2, 1e-3)?);
        let size = format!("{} x {}", divisions[0], divisions[1]);
        for (name, time) in [("0.1 s", 0.1), ("0.5 s", 0.5), ("1 s", 1.0)] {
            let at = whole.times.iter().position(|t| (t - time).abs() < 1e-6);
            let height = at.map_or(f64::NAN, |i| whole.values[i]);
            let note = "h = 1 ms, density 1000 kg/m3 (not printed); the print is a picture";
            report.row(format!("{size}: height at {name}"), None, height, "m", note);
        }
        let name = format!("{size}, 2 parts: largest difference from the whole");
        let note =
            "interface tangent; a thin shell's rotary inertia is too small for the plain scheme";
        report.row(name, None, cut.difference(&whole), "m", note);
        let name = format!("{size}, 2 parts: energy created by the exchange");
        report.row(name, None, cut.created, "J", "sum over the interfaces");
        let differences = cut.differences(&whole);
        errors = errors.with_series(Series::new(size.clone(), cut.times, differences));
        motion = motion.with_series(Series::new(size, whole.times, whole.values));
    }
    let title = "The shell in two parts against the whole";
    report.picture(&Figure::new(title).with_panel(motion).with_panel(errors))
}

fn solve(divisions: [usize; 2], parts: usize, step: f64) -> Result<History, PaperError> {
    let shell = Shell {
        divisions,
        parts,
        damping: 0.0,
        step,
    };
    Plan {
        text: &shell.model(),
        signal: Shell::SIGNAL,
        settings: Vec::new(),
        duration: DURATION,
        every: 5e-3,
        threads: parts.min(cores()),
    }
    .run()
}
