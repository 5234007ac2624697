//! The hydraulic manipulator, Sect. 3.3.
//!
//! The monolithic solution is replaced by implicit coupling in steps of 0.2 ms, the micro step of
//! both sides.

use oldham_cosim::{Hold, InputPort, Ports, Predictor};
use oldham_dmd::{Controls, Dmd, LONGEST_WINDOW, Received, Settings};
use oldham_model::{Model, Overrides};
use oldham_results::plot::{Figure, Panel, Series};

use super::oscillator::{over_the_window, over_windows};
use super::watch::Watched;
use crate::item::{PaperError, Report};
use crate::track::Track;

const FORCE: &str = include_str!("../../../../examples/hydraulic-manipulator.toml");
const PRESSURE: &str = include_str!("../../../../papers/pikulinski/pressure.toml");

/// Micro step of both sides, and step of the reference.
const FINE: f64 = 2e-4;
const DURATION: f64 = 9.96;

/// The motion of the spool.
#[derive(Clone, Copy)]
enum Control {
    /// As the example has it: 10 % of the neutral position at 1 Hz, our choice.
    Sine,
    /// Rests for 2 s, raises the boom for 1 s, rests for 2 s, lowers it for 1 s.
    Switched,
}

/// What is exchanged, and how the oil guesses the motion of the arm.
#[derive(Clone, Copy)]
enum Scheme {
    Hold,
    Window(usize),
    Automatic,
    Pressure,
}

impl Scheme {
    fn label(self) -> String {
        match self {
            Self::Hold => "hold".into(),
            Self::Window(window) => format!("learned, window {window}"),
            Self::Automatic => "learned, automatic window".into(),
            Self::Pressure => "pressure coupling".into(),
        }
    }

    fn settings(self) -> Option<Settings> {
        match self {
            Self::Window(window) => Some(Settings::fixed(window)),
            Self::Automatic => Some(Settings::automatic_for(LONGEST_WINDOW, 3)),
            Self::Hold | Self::Pressure => None,
        }
    }

    /// Length and rate of the cylinder, and the force.
    fn predictor(self, ports: &Ports) -> Box<dyn Predictor> {
        let Some(settings) = self.settings() else {
            return Box::new(Hold::new(0, ports));
        };
        let settings = Settings {
            received: Received::Only(vec![InputPort(0), InputPort(1)]),
            controls: Controls::Only(ports.output("lift.force").into_iter().collect()),
            ..settings
        };
        Box::new(Dmd::new(ports, &settings).expect("windows of the figures are long enough"))
    }
}

impl Control {
    fn model(self, text: &str, step: f64, more: &[(&str, &str)]) -> Result<Model, PaperError> {
        let mut set: Vec<(String, String)> = vec![
            ("simulation.step".into(), step.to_string()),
            ("simulation.duration".into(), DURATION.to_string()),
            // What is learned must not be what Newton's iteration leaves.
            ("multibody.arm.tolerance".into(), "1e-12".into()),
        ];
        if let Self::Switched = self {
            let spool = "0.02 * (step(t - 3) - step(t - 2) + step(t - 5) - step(t - 6))";
            set.push((
                "excitation.\"oil.lift.spool\"".into(),
                format!("\"{spool}\""),
            ));
        }
        let more = more.iter().map(|&(key, value)| (key.into(), value.into()));
        set.extend(more);
        Ok(Model::parse(text, "the paper's model", &Overrides(set))?)
    }

    /// Length and rate, sampled as a coupled run with this step is.
    fn reference(self, step: f64) -> Result<Track, PaperError> {
        let tight = [
            ("schedule.coupling", "implicit"),
            ("hydraulics.oil.predictor", "first-order"),
        ];
        let model = self.model(FORCE, FINE, &tight)?;
        let every = (step / FINE).round();
        let rows = (DURATION / step).round() as usize;
        let signals = ["arm.lift.length", "arm.lift.rate"];
        let mut simulation = model.simulation()?;
        Ok(Track::every(&mut simulation, &signals, rows, every as u64))
    }

    fn run(self, scheme: Scheme, step: f64) -> Result<Track, PaperError> {
        let (text, signals) = match scheme {
            Scheme::Pressure => (PRESSURE, ["arm.length", "arm.rate"]),
            _ => (FORCE, ["arm.lift.length", "arm.lift.rate"]),
        };
        let model = self.model(text, step, &[])?;
        let choose = |name: &str, ports: &Ports| (name == "oil").then(|| scheme.predictor(ports));
        let mut simulation = model.simulation_with(&choose)?;
        let rows = (DURATION / step).round() as usize;
        Ok(Track::of(&mut simulation, &signals, rows))
    }
}

/// Only the length counts as position.
fn nmse(track: &Track, reference: &Track) -> f64 {
    let length = |track: &Track| Track {
        times: Vec::new(),
        signals: vec![track.signals[0].clone()],
        energy: Vec::new(),
        failed: track.failed,
    };
    length(track).nmse(&length(reference))
}

pub(super) fn fig_18(report: &mut Report) -> Result<(), PaperError> {
    let step = 0.012;
    let reference = Control::Sine.reference(step)?;
    let error = |scheme| Ok::<_, PaperError>(nmse(&Control::Sine.run(scheme, step)?, &reference));
    let errors = over_windows(|window| error(Scheme::Window(window)))?;
    let hold = error(Scheme::Hold)?;
    let note = "another frequency of the control, which the paper does not print";
    report.row("NMSE, hold, as printed", 627.0, hold, "1", note);
    report.row(
        "NMSE, window 10, as printed",
        169.0,
        error(Scheme::Window(10))?,
        "1",
        note,
    );
    over_the_window(
        report,
        "manipulator",
        &errors,
        error(Scheme::Automatic)?,
        hold,
    )
}

pub(super) fn fig_19(report: &mut Report) -> Result<(), PaperError> {
    let step = 0.012;
    let model = Control::Sine.model(FORCE, step, &[])?;
    let mut panel = Panel::new("time / s", "length / m");
    for scheme in [Scheme::Hold, Scheme::Window(10)] {
        let log = std::cell::RefCell::new(None);
        let choose = |name: &str, ports: &Ports| -> Option<Box<dyn Predictor>> {
            let (watched, seen) = Watched::new((name == "oil").then(|| scheme.predictor(ports))?);
            log.replace(Some(seen));
            Some(Box::new(watched))
        };
        let mut simulation = model.simulation_with(&choose)?;
        let track = Track::of(&mut simulation, &["arm.lift.length"], 60);
        let seen = log.into_inner().unwrap_or_default();
        let seen = seen.lock().map(|log| log.clone()).unwrap_or_default();
        let (times, lengths): (Vec<f64>, Vec<f64>) = seen.into_iter().unzip();
        let label = format!("seen by the oil, {}", scheme.label());
        let jumps = lengths.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let note = "of the length between two of its steps, in the first 0.72 s";
        report.row(
            format!("largest jump, {}", scheme.label()),
            None,
            jumps.fold(0.0, f64::max),
            "m",
            note,
        );
        panel = panel.with_series(Series::new(label, times, lengths));
        if matches!(scheme, Scheme::Window(_)) {
            panel = panel.with_series(track.curve(0, "sent by the arm"));
        }
    }
    report.picture(&Figure::new("Length of the actuator").with_panel(panel))
}

/// Length and rate, and their errors, of all schemes.
fn compared(
    report: &mut Report,
    control: Control,
    step: f64,
    schemes: &[Scheme],
    bounds: [f64; 2],
) -> Result<(), PaperError> {
    let reference = control.reference(step)?;
    let shown = |panel: Panel, track: &Track, signal: usize, label: &str| {
        panel.with_series(track.curve(signal, label))
    };
    let mut panels = [
        Panel::new("time / s", "length error / m"),
        Panel::new("time / s", "length / m"),
        Panel::new("time / s", "rate error / (m/s)"),
        Panel::new("time / s", "rate / (m/s)"),
    ];
    panels[1] = shown(panels[1].clone(), &reference, 0, "implicit, 0.2 ms");
    panels[3] = shown(panels[3].clone(), &reference, 1, "implicit, 0.2 ms");
    for &scheme in schemes {
        let (track, label) = (control.run(scheme, step)?, scheme.label());
        let outcome = match track.failed {
            true => "unstable: the run fails",
            false => "stable",
        };
        for (signal, (name, unit)) in [("length", "m"), ("rate", "m/s")].into_iter().enumerate() {
            let worst = track.worst(signal, &reference);
            report.row(
                format!("largest {name} error, {label}"),
                None,
                worst,
                unit,
                outcome,
            );
            let errors = track.error_curve(signal, &reference, &label);
            let panel = panels[2 * signal].clone().with_series(errors);
            panels[2 * signal] = panel.with_y_limit(-bounds[signal], bounds[signal]);
            panels[2 * signal + 1] = shown(panels[2 * signal + 1].clone(), &track, signal, &label);
        }
        if !track.failed {
            let error = nmse(&track, &reference);
            let note = "Eq. 21, of the length";
            report.row(format!("NMSE, {label}"), None, error, "1", note);
        }
        report.row(
            format!("stable, {label}"),
            None,
            f64::from(!track.failed),
            "1",
            "one if it is",
        );
    }
    let limits = [(0.44, 0.58), (-0.15, 0.15)];
    for (panel, (low, high)) in [1, 3].into_iter().zip(limits) {
        panels[panel] = panels[panel].clone().with_y_limit(low, high);
    }
    let title = format!("The actuator at a macro step of {} ms", 1e3 * step);
    let figure = panels
        .into_iter()
        .fold(Figure::new(title), Figure::with_panel);
    report.picture(&figure)
}

pub(super) fn fig_20(report: &mut Report) -> Result<(), PaperError> {
    let schemes = [
        Scheme::Hold,
        Scheme::Pressure,
        Scheme::Window(10),
        Scheme::Automatic,
    ];
    compared(report, Control::Sine, 0.012, &schemes, [0.002, 0.01])
}

const FOR_SWITCHES: [Scheme; 5] = [
    Scheme::Hold,
    Scheme::Pressure,
    Scheme::Window(4),
    Scheme::Window(10),
    Scheme::Automatic,
];

pub(super) fn fig_21(report: &mut Report) -> Result<(), PaperError> {
    compared(
        report,
        Control::Switched,
        0.012,
        &FOR_SWITCHES,
        [0.003, 0.06],
    )
}

pub(super) fn fig_22(report: &mut Report) -> Result<(), PaperError> {
    compared(report, Control::Switched, 0.02, &FOR_SWITCHES, [0.01, 0.15])
}
