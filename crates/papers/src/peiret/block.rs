//! The arm with two cylinders that pushes a block, Sect. 5.2.
//!
//! As printed, the push cannot overcome the friction, and the block stays where it is. So there is a second variant beside it,
//! in which it slides to the wall.

use oldham_results::plot::{Figure, Panel};

use super::machine::{Machine, Trial};
use super::replay::most_active_rows;
use crate::computed::Computed;
use crate::item::{PaperError, Report};
use crate::track::Track;

/// Where the block is.
const PLACE: &str = "arm.nodes.block.px";
/// Macro steps that are drawn, in ms.
const DRAWN: [f64; 3] = [2.0, 10.0, 20.0];
const VARIANTS: [Machine; 2] = [Machine::BlockAsPrinted, Machine::BlockThatSlides];
const SCHEMES: [(&str, &str); 2] = [
    ("interface model", "interface-model"),
    ("hold", "zero-order"),
];

/// One signal in panels, a panel for each variant and scheme, with a curve for each macro step.
fn panels(
    report: &mut Report,
    signal: usize,
    label: &str,
    limits: impl Fn(Machine) -> (f64, f64),
) -> Result<Vec<Panel>, PaperError> {
    let mut panels = Vec::new();
    for variant in VARIANTS {
        for (scheme, predictor) in SCHEMES {
            let below = format!("time / s, {}", variant.label());
            let (low, high) = limits(variant);
            let mut panel = Panel::new(below, format!("{label}, {scheme}")).with_y_limit(low, high);
            for ms in DRAWN {
                let track = Trial::coarse(variant, 1e-3 * ms, predictor).track(1e-3 * ms, &[])?;
                panel = panel.with_series(track.curve(signal, &format!("{ms} ms")));
                let name = format!("final length, {}, {scheme}, {ms} ms", variant.label());
                let length = track.signals[0].last().copied().unwrap_or(f64::NAN);
                let outcome = match track.failed {
                    true => "unstable: the run fails",
                    false => "stable, at 8 s",
                };
                if signal == 0 {
                    let computed = match track.failed {
                        true => Computed::Failed,
                        false => length.into(),
                    };
                    let note = format!("{outcome}; {}", variant.told());
                    report.row(name, None, computed, "m", &note);
                }
            }
            panels.push(panel);
        }
    }
    Ok(panels)
}

pub(super) fn fig_7(report: &mut Report) -> Result<(), PaperError> {
    for variant in VARIANTS {
        let track = Trial::coarse(variant, 2e-3, "interface-model").track(2e-3, &[PLACE])?;
        let place = track.signals[3].last().copied();
        let name = format!("way of the block, {}", variant.label());
        let way = place.unwrap_or(f64::NAN) - 1.3;
        report.row(name, None, way, "m", variant.told());
    }
    for variant in [Machine::BlockThatSlides, Machine::BlockOnSoftGround] {
        let rows = most_active_rows(variant, 2e-3)?;
        let why = match variant {
            Machine::BlockThatSlides => {
                "; rigid points are redundant: two at the wall carry what four could, and their 6 rows are lacking"
            }
            _ => {
                "; floor and wall yield as the paper's crane and log do: all points press, and some slide"
            }
        };
        let note = format!(
            "paper: 2 revolutes x 5, 4 points each on floor and wall x 3, tip x 1; ours: {}{why}",
            rows.told()
        );
        let name = format!("most active rows, {}", variant.label());
        report.row(name, 35.0, rows.count() as f64, "1", &note);
    }
    let way = |variant: &str| report.value(&format!("way of the block, {variant}"));
    let (printed, slides) = (way("block as printed"), way("block that slides"));
    let note = format!(
        "from the printed data it moves by {:.1e} m: the push of the second cylinder, about 655 N, is less than the friction of the block, 2452 N. With friction 0.1 and four times the valve's motion it goes {slides:.2} m, to the wall",
        printed.abs()
    );
    report.statement("the arm pushes the block to the wall", printed > 0.05, note);
    let mut figure = Figure::new("The second actuator");
    for panel in panels(report, 0, "length / m", |_| (0.45, 0.55))? {
        figure = figure.with_panel(panel);
    }
    for panel in panels(report, 2, "force / N", |_| (0.0, 2e4))? {
        figure = figure.with_panel(panel);
    }
    let ends = |scheme: &str, ms: f64| {
        report
            .value(&format!(
                "final length, block as printed, {scheme}, {ms} ms"
            ))
            .is_finite()
    };
    let is_stable = DRAWN.into_iter().all(|ms| ends("interface model", ms));
    let holds = !ends("hold", 10.0);
    report.statement(
        "the interface model is stable at all macro steps",
        is_stable,
        "2, 10 and 20 ms, block as printed",
    );
    report.statement("a hold is unstable from 10 ms on", holds, HOLD);
    report.picture(&figure)
}

/// Where the paper's claim about the hold fails.
pub(super) const HOLD: &str = "from the printed data a hold is stable at 10 ms and beyond, here and in two independent computations in the plane; what made the paper's unstable is not printed";

/// What counts as no motion, in m/s.
const AT_REST: f64 = 1e-6;

/// Rate and time just before the tip meets the block: from then on the rate is less than half of what it was.
fn impact(track: &Track) -> (f64, f64) {
    // At rest there is rounding only.
    let mut most = (AT_REST, 0.0);
    for (rate, t) in track.signals[1].iter().zip(&track.times) {
        if *rate > most.0 {
            most = (*rate, *t);
        } else if most.0 > AT_REST && *rate < 0.5 * most.0 {
            break;
        }
    }
    most
}

/// Before and after an impact, in s.
const AROUND: [f64; 2] = [0.1, 0.3];

pub(super) fn fig_8(report: &mut Report) -> Result<(), PaperError> {
    let mut details = Vec::new();
    for variant in VARIANTS {
        let mut times = Vec::new();
        for ms in DRAWN {
            let track =
                Trial::coarse(variant, 1e-3 * ms, "interface-model").track(1e-3 * ms, &[])?;
            let (rate, time) = impact(&track);
            times.push(time);
            let name = format!("rate at the impact, {}, {ms} ms", variant.label());
            report.row(name, None, rate, "m/s", "interface model");
            let name = format!("when, {}, {ms} ms", variant.label());
            let note = match variant {
                Machine::BlockAsPrinted => {
                    "the tip meets the block; the paper: right after 2 s; where the floor is, is not printed"
                }
                _ => "the tip meets the block; its valve opens four times as far",
            };
            report.row(name, None, time, "s", note);
        }
        for (scheme, predictor) in SCHEMES {
            let below = format!("time / s, around the impact, {}", variant.label());
            let mut panel = Panel::new(below, format!("rate / (m/s), {scheme}"));
            for ms in DRAWN {
                let track = Trial::coarse(variant, 1e-3 * ms, predictor).track(1e-3 * ms, &[])?;
                let near = track.within(times[0] - AROUND[0], times[0] + AROUND[1]);
                panel = panel.with_series(near.curve(1, &format!("{ms} ms")));
            }
            details.push(panel);
        }
    }
    let when = report.value("when, block as printed, 2 ms");
    let note = format!(
        "at {when:.2} s: where the floor is, is not printed, and the tip begins 0.067 m above it here"
    );
    report.statement("the tip meets the block right after 2 s", when > 2.0, note);
    let limits = |variant| match variant {
        Machine::BlockAsPrinted => (-0.01, 0.03),
        _ => (-0.05, 0.1),
    };
    let mut figure = Figure::new("Rate of the second actuator");
    for panel in panels(report, 1, "rate / (m/s)", limits)?
        .into_iter()
        .chain(details)
    {
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}
