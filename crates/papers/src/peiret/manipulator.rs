//! The arm with two cylinders, Sect. 5.2.

use oldham_results::plot::{Figure, Panel, Scale, Series};

use crate::item::{PaperError, Report, model};

use super::block::HOLD;
use super::machine::{Machine, Trial};

const ARM: &str = include_str!("../../../../examples/two-cylinder-arm.toml");

/// Step of the reference, of both sides and of the exchange (Eq. 55).
const FINE: f64 = 1e-4;
/// Macro steps in ms, which are those of the arm.
const STEPS: [f64; 8] = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0, 16.0, 20.0];

pub(super) fn statics(report: &mut Report) -> Result<(), PaperError> {
    let arm = model(ARM, &[])?;
    let note = "found by the program; printed to four digits";
    for (actuator, printed) in oldham_study::resting_actuators(&arm)
        .iter()
        .zip([0.4416, 0.4871])
    {
        let name = format!("neutral spool, {}", actuator.name);
        report.row(name, printed, actuator.spool, "1", note);
        let name = format!("push, {}", actuator.name);
        report.row(name, None, actuator.force, "N", "of the static load");
        for (chamber, pressure) in actuator.pressures.into_iter().enumerate() {
            let name = format!("pressure {}, {}", chamber + 1, actuator.name);
            report.row(name, None, pressure, "Pa", "absolute");
        }
    }
    Ok(())
}

/// How the oil guesses the motion of the arm within a macro step.
struct Scheme {
    label: &'static str,
    predictor: &'static str,
}

const SCHEMES: [Scheme; 4] = [
    Scheme {
        label: "interface model",
        predictor: "interface-model",
    },
    Scheme {
        label: "hold",
        predictor: "zero-order",
    },
    Scheme {
        label: "linear",
        predictor: "first-order",
    },
    Scheme {
        label: "quadratic",
        predictor: "second-order",
    },
];

pub(super) fn fig_13(report: &mut Report) -> Result<(), PaperError> {
    let arms = [
        Machine::BlockAsPrinted,
        Machine::BlockThatSlides,
        Machine::NoBlock,
    ];
    draw_errors(report, &arms)?;
    oil_first(report)?;
    let up_to = |scheme: &str| report.value(&format!("stable up to, block as printed, {scheme}"));
    let (model, hold) = (up_to("interface model"), up_to("hold"));
    report.statement(
        "the interface model is stable at all macro steps",
        model >= 20.0,
        "20 ms is the largest tried",
    );
    report.statement("a hold is unstable from 10 ms on", hold < 10.0, HOLD);
    let at =
        |scheme: &str| report.value(&format!("RMS of length, block as printed, {scheme}, 2 ms"));
    let (model, hold) = (at("interface model"), at("hold"));
    let which = if model > hold { "higher" } else { "lower here" };
    let note = format!(
        "{which}: length, block as printed, 2 ms: {model:.1e} m against {hold:.1e} m. On the block that slides it is higher at larger steps, by the force of the last step, which the arm takes in the paper's scheme: a hold partly cancels that delay. With the force of the same step (rows with the oil first) it is lower"
    );
    report.statement(
        "in the first example the interface model's error of the length is higher than a hold's at small steps",
        model > hold,
        note,
    );
    Ok(())
}

/// Where the error of the interface model on the sliding block comes from: the arm takes the force of the last step. With the
/// force of the same step, it is below that of a hold.
fn oil_first(report: &mut Report) -> Result<(), PaperError> {
    let machine = Machine::BlockThatSlides;
    let fine = Trial {
        machine,
        step: FINE,
        micro: FINE,
        predictor: "zero-order",
        oil_first: false,
    };
    let fine = fine.track(1e-3, &[])?;
    for ms in [8.0, 10.0, 16.0] {
        let reference = fine.thinned(ms as usize);
        for scheme in &SCHEMES[..2] {
            let trial = Trial {
                oil_first: true,
                ..Trial::coarse(machine, 1e-3 * ms, scheme.predictor)
            };
            let rms = trial.track(1e-3 * ms, &[])?.rms(0, &reference);
            let name = format!(
                "RMS of length, block that slides, oil first, {}, {ms} ms",
                scheme.label
            );
            let note =
                "Gauss-Seidel: the arm takes the force of the same step; not the paper's scheme";
            report.row(name, None, rms, "m", note);
        }
    }
    Ok(())
}

pub(super) fn fig_13_crane(report: &mut Report) -> Result<(), PaperError> {
    draw_errors(report, &[Machine::Crane])?;
    let up_to = |scheme: &str| report.value(&format!("stable up to, crane, {scheme}"));
    let (model, hold) = (up_to("interface model"), up_to("hold"));
    let note = format!("interface model to {model} ms, the largest tried, hold to {hold} ms");
    report.statement(
        "the interface model is stable at all macro steps, a hold at small ones only",
        model >= 20.0 && hold < 16.0,
        note,
    );
    Ok(())
}

fn draw_errors(report: &mut Report, machines: &[Machine]) -> Result<(), PaperError> {
    let mut figure = Figure::new("Errors of an actuator");
    for machine in machines {
        for panel in errors(report, *machine)? {
            figure = figure.with_panel(panel);
        }
    }
    report.picture(&figure)
}

/// Errors of a machine over the macro step, in rows and as two panels.
fn errors(report: &mut Report, machine: Machine) -> Result<[Panel; 2], PaperError> {
    let what = machine.label();
    let mut panels = [
        Panel::new("macro step / ms", format!("length error / m, {what}")),
        Panel::new("macro step / ms", format!("rate error / (m/s), {what}")),
    ]
    .map(|panel| panel.with_scales(Scale::Linear, Scale::Log));
    let fine = Trial {
        machine,
        step: FINE,
        micro: FINE,
        predictor: "zero-order",
        oil_first: false,
    };
    let reference = fine.track(1e-3, &[])?;
    for scheme in &SCHEMES {
        let mut errors = [Vec::new(), Vec::new()];
        let mut stable_up_to = 0.0;
        for ms in STEPS {
            let reference = reference.thinned(ms as usize);
            let track =
                Trial::coarse(machine, 1e-3 * ms, scheme.predictor).track(1e-3 * ms, &[])?;
            let rms = [0, 1].map(|signal| track.rms(signal, &reference));
            // An error as large as the motion itself: whether the run ends or not, it tells nothing.
            if rms[1] >= reference.size(1) {
                break;
            }
            stable_up_to = ms;
            for (errors, rms) in errors.iter_mut().zip(rms) {
                errors.push((ms, rms));
            }
            let note = format!("reference: hold, all steps 0.1 ms; {}", machine.told());
            for (signal, (name, unit)) in [("length", "m"), ("rate", "m/s")].into_iter().enumerate()
            {
                let name = format!("RMS of {name}, {what}, {}, {ms} ms", scheme.label);
                report.row(name, None, rms[signal], unit, &note);
            }
        }
        for (panel, errors) in panels.iter_mut().zip(errors) {
            let (steps, errors): (Vec<f64>, Vec<f64>) = errors.into_iter().unzip();
            let series = Series::new(scheme.label, steps, errors);
            *panel = panel.clone().with_series(series);
        }
        let name = format!("stable up to, {what}, {}", scheme.label);
        let note = format!("largest macro step tried that is; {}", machine.told());
        report.row(name, None, stable_up_to, "ms", &note);
    }
    Ok(panels)
}
