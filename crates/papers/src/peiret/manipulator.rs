//! The arm with two cylinders, Sect. 5.2.

use oldham_results::plot::{Figure, Panel, Scale, Series};

use crate::item::{PaperError, Report, model};

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
    /// Largest macro step in ms at which the paper shows it to be stable, if it does.
    printed: Option<f64>,
}

const SCHEMES: [Scheme; 4] = [
    Scheme {
        label: "interface model",
        predictor: "interface-model",
        printed: Some(20.0),
    },
    Scheme {
        label: "hold",
        predictor: "zero-order",
        printed: Some(8.0),
    },
    Scheme {
        label: "linear",
        predictor: "first-order",
        printed: None,
    },
    Scheme {
        label: "quadratic",
        predictor: "second-order",
        printed: None,
    },
];

pub(super) fn fig_13(report: &mut Report) -> Result<(), PaperError> {
    let arms = [
        Machine::BlockAsPrinted,
        Machine::BlockThatSlides,
        Machine::NoBlock,
    ];
    draw_errors(report, &arms)
}

pub(super) fn fig_13_crane(report: &mut Report) -> Result<(), PaperError> {
    draw_errors(report, &[Machine::Crane])
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
            let note = "reference: hold, all steps 0.1 ms";
            for (signal, (name, unit)) in [("length", "m"), ("rate", "m/s")].into_iter().enumerate()
            {
                let name = format!("RMS of {name}, {what}, {}, {ms} ms", scheme.label);
                report.row(name, None, rms[signal], unit, note);
            }
        }
        for (panel, errors) in panels.iter_mut().zip(errors) {
            let (steps, errors): (Vec<f64>, Vec<f64>) = errors.into_iter().unzip();
            let series = Series::new(scheme.label, steps, errors);
            *panel = panel.clone().with_series(series);
        }
        let name = format!("stable up to, {what}, {}", scheme.label);
        let printed = scheme
            .printed
            .filter(|_| machine == Machine::BlockAsPrinted);
        let note = match (machine, scheme.predictor) {
            (Machine::BlockAsPrinted, "zero-order") => {
                "largest macro step tried that is; the paper calls 10 ms unstable"
            }
            (Machine::Crane, "zero-order") => {
                "largest macro step tried that is; in the paper 10 ms oscillates severely while the log is grasped"
            }
            (Machine::Crane, "interface-model") => {
                "largest macro step tried that is; the paper's is stable at all of its steps"
            }
            _ => "largest macro step tried that is",
        };
        report.row(name, printed, stable_up_to, "ms", note);
    }
    Ok(panels)
}
