//! The arm with two cylinders, Sect. 5.2.

use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Scale, Series};

use crate::item::{PaperError, Report, Settings, model, model_with};
use crate::track::Track;

const ARM: &str = include_str!("../../../../examples/two-cylinder-arm.toml");

/// Step of the hydraulics.
const MICRO: f64 = 2e-4;
/// Step of the reference, of both sides and of the exchange (Eq. 55).
const FINE: f64 = 1e-4;
const DURATION: f64 = 4.0;
/// Macro steps in ms, which are those of the arm.
const STEPS: [f64; 8] = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0, 16.0, 20.0];
const SIGNALS: [&str; 2] = ["arm.stick.length", "arm.stick.rate"];

pub(super) fn statics(report: &mut Report) -> Result<(), PaperError> {
    let arm = model(ARM, &[])?;
    let note = "found by the program; printed to four digits";
    for (actuator, printed) in arm.resting_actuators().iter().zip([0.4416, 0.4871]) {
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
    /// Smallest macro step in ms at which the paper calls it unstable, if it does.
    printed: Option<f64>,
}

const SCHEMES: [Scheme; 4] = [
    Scheme {
        label: "interface model",
        predictor: "interface-model",
        printed: None,
    },
    Scheme {
        label: "hold",
        predictor: "zero-order",
        printed: Some(10.0),
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

fn arm(step: f64, micro: f64, predictor: &str) -> Result<Model, PaperError> {
    let set: Settings = vec![
        ("simulation.step", step.to_string()),
        ("simulation.duration", DURATION.to_string()),
        ("hydraulics.oil.micro_step", micro.to_string()),
        ("hydraulics.oil.predictor", predictor.into()),
    ];
    model_with(ARM, &set)
}

/// Length and rate of the second cylinder, row by row of a run with this step.
fn reference(step: f64) -> Result<Track, PaperError> {
    let mut simulation = arm(FINE, FINE, "zero-order")?.simulation()?;
    let every = (step / FINE).round() as u64;
    let rows = (DURATION / step).round() as usize;
    Ok(Track::every(&mut simulation, &SIGNALS, rows, every))
}

pub(super) fn fig_13(report: &mut Report) -> Result<(), PaperError> {
    let mut panels = [
        Panel::new("macro step / ms", "RMS of the length error / m")
            .with_scales(Scale::Linear, Scale::Log),
        Panel::new("macro step / ms", "RMS of the rate error / (m/s)")
            .with_scales(Scale::Linear, Scale::Log),
    ];
    let references: Result<Vec<Track>, _> = STEPS.iter().map(|ms| reference(1e-3 * ms)).collect();
    let references = references?;
    for scheme in &SCHEMES {
        let mut errors = [Vec::new(), Vec::new()];
        let mut stable_up_to = 0.0;
        let mut failed = false;
        for (ms, reference) in STEPS.into_iter().zip(&references) {
            let mut simulation = arm(1e-3 * ms, MICRO, scheme.predictor)?.simulation()?;
            let rows = (DURATION / (1e-3 * ms)).round() as usize;
            let track = Track::of(&mut simulation, &SIGNALS, rows);
            let rms = [0, 1].map(|signal| track.rms(signal, reference));
            // A run that oscillates with the size of the motion itself is of no use, even if it ends.
            failed |= !(rms[1] < WILD);
            if failed {
                break;
            }
            stable_up_to = ms;
            for (errors, rms) in errors.iter_mut().zip(rms) {
                errors.push((ms, rms));
            }
            let name = format!("RMS of length, {}, {ms} ms", scheme.label);
            report.row(name, None, rms[0], "m", "reference: hold, all steps 0.1 ms");
            let name = format!("RMS of rate, {}, {ms} ms", scheme.label);
            report.row(
                name,
                None,
                rms[1],
                "m/s",
                "reference: hold, all steps 0.1 ms",
            );
        }
        for (panel, errors) in panels.iter_mut().zip(errors) {
            let (steps, errors): (Vec<f64>, Vec<f64>) = errors.into_iter().unzip();
            *panel = panel
                .clone()
                .with_series(Series::new(scheme.label, steps, errors));
        }
        let note = match scheme.printed {
            Some(_) => {
                "largest macro step tried that is; the paper's manoeuvre hits a block, ours does not"
            }
            None => "largest macro step tried that is",
        };
        let name = format!("stable up to, {}", scheme.label);
        let printed = match scheme.predictor {
            "interface-model" => Some(20.0),
            _ => scheme.printed,
        };
        report.row(name, printed, stable_up_to, "ms", note);
    }
    let figure = Figure::new("Errors of the second actuator");
    report.picture(&panels.into_iter().fold(figure, Figure::with_panel))
}

/// RMS of the rate error in m/s beyond which a run tells nothing: the actuator moves at a few cm/s.
const WILD: f64 = 0.1;
