//! The hydraulic manipulator, Sect. 3.3.
//!
//! The monolithic solution is replaced by implicit coupling in steps of 0.2 ms, the micro step of
//! both sides.

use oldham_cosim::{Hold, InputPort, Ports, Predictor};
use oldham_dmd::{Controls, Dmd, LONGEST_WINDOW, Received, Settings};
use oldham_model::{Model, Overrides};
use oldham_results::plot::{Figure, Panel, Series};

use super::oscillator::{Others, or_failed, over_the_window, over_windows};
use super::watch::Watched;
use super::{Method, plain};
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
    /// The same at another frequency in Hz, with a mechanism that takes one step of the macro step's size, as the paper's.
    Paper(f64),
    /// Rests for 2 s, raises the boom for 1 s, rests for 2 s, lowers it for 1 s; all of it later by so much, in s.
    Switched(f64),
}

/// What is exchanged, and how the oil guesses the motion of the arm.
#[derive(Clone, Copy)]
enum Scheme {
    Hold,
    /// As the paper does.
    Paper(usize, Method),
    Window(usize),
    Automatic,
    Pressure,
}

impl Scheme {
    fn label(self) -> String {
        match self {
            Self::Hold => "hold".into(),
            Self::Paper(window, Method::Batch) => format!("paper's, window {window}"),
            Self::Paper(window, Method::Recursive) => {
                format!("paper's, recursive, window {window}")
            }
            Self::Window(window) => format!("learned, window {window}"),
            Self::Automatic => "learned, automatic window".into(),
            Self::Pressure => "pressure coupling".into(),
        }
    }

    fn settings(self) -> Option<Settings> {
        match self {
            Self::Window(window) => Some(Settings::fixed(window)),
            Self::Automatic => Some(Settings::automatic_for(LONGEST_WINDOW, 3)),
            Self::Hold | Self::Paper(..) | Self::Pressure => None,
        }
    }

    /// Length and rate of the cylinder, and the force.
    fn predictor(self, ports: &Ports) -> Box<dyn Predictor> {
        if let Self::Paper(window, method) = self {
            return Box::new(plain(ports, 2, &["lift.force"], window, method));
        }
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
        if let Self::Paper(frequency) = self {
            set.push(("frequency".into(), frequency.to_string()));
            set.push(("multibody.arm.micro_step".into(), step.to_string()));
        }
        if let Self::Switched(later) = self {
            let [on, off, down, back] = [2.0, 3.0, 5.0, 6.0].map(|t| t + later);
            let spool = format!(
                "0.02 * (step(t - {off}) - step(t - {on}) + step(t - {down}) - step(t - {back}))"
            );
            set.push((
                "excitation.\"oil.lift.spool\"".into(),
                format!("\"{spool}\""),
            ));
        }
        let more = more.iter().map(|&(key, value)| (key.into(), value.into()));
        set.extend(more);
        Ok(Model::parse_with(
            text,
            "the paper's model",
            &Overrides(set),
            oldham_study::shipped_kinds(),
        )?)
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
        self.run_with(scheme, step, &[])
    }

    fn run_with(
        self,
        scheme: Scheme,
        step: f64,
        more: &[(&str, &str)],
    ) -> Result<Track, PaperError> {
        let (text, signals) = match scheme {
            Scheme::Pressure => (PRESSURE, ["arm.length", "arm.rate"]),
            _ => (FORCE, ["arm.lift.length", "arm.lift.rate"]),
        };
        let model = self.model(text, step, more)?;
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

/// Samples of 0.2 ms in a macro step of 12 ms: Eq. 21 sums over samples, and the hydraulics of the paper steps by 0.2 ms.
const SAMPLES: f64 = 60.0;

pub(super) fn fig_18(report: &mut Report) -> Result<(), PaperError> {
    let step = 0.012;
    let mut printed = [Some(627.0), Some(169.0)];
    for hertz in [0.5, 0.45] {
        let control = Control::Paper(hertz);
        let reference = control.reference(step)?;
        let schemes = [
            Scheme::Hold,
            Scheme::Paper(10, Method::Batch),
            Scheme::Paper(10, Method::Recursive),
            Scheme::Window(10),
            Scheme::Automatic,
        ];
        for (place, scheme) in schemes.into_iter().enumerate() {
            let error = SAMPLES * nmse(&control.run(scheme, step)?, &reference);
            let name = format!("{hertz} Hz, one step of 12 ms: NMSE, {}", scheme.label());
            let printed = printed.get_mut(place).and_then(Option::take);
            report.row(name, printed, or_failed(error), "1", NOT_PRINTED);
        }
    }
    let at = |hertz: &str, scheme: &str| {
        report.value(&format!("{hertz} Hz, one step of 12 ms: NMSE, {scheme}"))
    };
    let ratio = |hertz: &str| at(hertz, "hold") / at(hertz, "paper's, window 10");
    let note = format!(
        "hold over the paper's predictor: {:.1} at 0.5 Hz, {:.1} at 0.45 Hz; printed 3.7",
        ratio("0.5"),
        ratio("0.45")
    );
    report.statement(
        "a window of 10 makes the error several times smaller",
        ratio("0.5") > 2.0,
        note,
    );
    let reference = Control::Sine.reference(step)?;
    let error = |scheme| Ok::<_, PaperError>(nmse(&Control::Sine.run(scheme, step)?, &reference));
    let paper = over_windows(|window| error(Scheme::Paper(window, Method::Batch)))?;
    let errors = over_windows(|window| error(Scheme::Window(window)))?;
    let others = Others {
        recursive: error(Scheme::Paper(10, Method::Recursive))?,
        automatic: error(Scheme::Automatic)?,
        hold: error(Scheme::Hold)?,
    };
    over_the_window(
        report,
        "manipulator in micro steps of 0.2 ms, 1 Hz",
        &paper,
        &errors,
        &others,
    )
}

const NOT_PRINTED: &str = "neither the frequency of the control nor the samples of Eq. 21 are printed: ours are as the row says, and 0.2 ms. Between 0.45 and 0.5 Hz the errors change several times, and one frequency cannot give both numbers exactly";

pub(super) fn fig_19(report: &mut Report) -> Result<(), PaperError> {
    let step = 0.012;
    let model = Control::Sine.model(FORCE, step, &[])?;
    let mut panel = Panel::new("time / s", "length / m");
    for scheme in [
        Scheme::Hold,
        Scheme::Paper(10, Method::Batch),
        Scheme::Window(10),
    ] {
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
        let error = nmse(&track, &reference);
        let note = "Eq. 21, of the length";
        report.row(format!("NMSE, {label}"), None, or_failed(error), "1", note);
        if let (Control::Switched(_), false) = (control, track.failed) {
            let left = offset(&track, &reference).map(|offset| offset / error);
            let note = "of the NMSE: the constant difference that is left after the switches, which nothing takes away again, since the oil holds any length";
            report.row(
                format!("share of lasting offsets, {label}"),
                None,
                left,
                "1",
                note,
            );
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

/// When the spool is moved, and for half a second after: between and after these times the length should stand still.
const MOVING: [(f64, f64); 2] = [(2.0, 3.5), (5.0, 6.5)];

/// The NMSE that a track would have if its length differed from the reference by the mean difference at rest only.
fn offset(track: &Track, reference: &Track) -> Option<f64> {
    let mut offsets = track.signals[0].clone();
    let rests = [
        (0.0, MOVING[0].0),
        (MOVING[0].1, MOVING[1].0),
        (MOVING[1].1, DURATION),
    ];
    let mut mean = [0.0; 3];
    for (mean, (from, to)) in mean.iter_mut().zip(rests) {
        let places = |track: &Track| {
            let within = track.times.iter().map(move |t| (from..=to).contains(t));
            within
                .enumerate()
                .filter(|(_, is)| *is)
                .map(|(place, _)| place)
                .collect::<Vec<_>>()
        };
        let places = places(track);
        let sum: f64 = places
            .iter()
            .map(|&p| track.signals[0][p] - reference.signals[0][p])
            .sum();
        *mean = sum / places.len().max(1) as f64;
    }
    for (place, t) in track.times.iter().enumerate() {
        let rest = rests
            .iter()
            .position(|(from, to)| (*from..=*to).contains(t));
        let apart = rest.map_or(0.0, |rest| mean[rest]);
        offsets[place] = reference.signals[0][place] + apart;
    }
    let held = Track {
        times: Vec::new(),
        signals: vec![offsets],
        energy: Vec::new(),
        failed: false,
    };
    let error = nmse(&held, reference);
    error.is_finite().then_some(error)
}

pub(super) fn fig_20(report: &mut Report) -> Result<(), PaperError> {
    let schemes = [
        Scheme::Hold,
        Scheme::Pressure,
        Scheme::Paper(10, Method::Batch),
        Scheme::Window(10),
        Scheme::Automatic,
    ];
    compared(report, Control::Sine, 0.012, &schemes, [0.002, 0.01])?;
    let [hold, pressure, paper] =
        of_schemes(report, ["hold", "pressure coupling", "paper's, window 10"]);
    let note = format!("NMSE {paper:.3} against {pressure:.3} and {hold:.3}");
    report.statement(
        "with a sinusoidal control the learned motion is nearer than pressure coupling, and that than a hold",
        paper < pressure && pressure < hold,
        note,
    );
    Ok(())
}

fn of_schemes<const N: usize>(report: &Report, labels: [&str; N]) -> [f64; N] {
    labels.map(|label| report.value(&format!("NMSE, {label}")))
}

const FOR_SWITCHES: [Scheme; 7] = [
    Scheme::Hold,
    Scheme::Pressure,
    Scheme::Paper(4, Method::Batch),
    Scheme::Paper(10, Method::Batch),
    Scheme::Window(4),
    Scheme::Window(10),
    Scheme::Automatic,
];

pub(super) fn fig_21(report: &mut Report) -> Result<(), PaperError> {
    compared(
        report,
        Control::Switched(0.0),
        0.012,
        &FOR_SWITCHES,
        [0.008, 0.06],
    )?;
    let told = |label: &str| match report.value(&format!("NMSE, {label}")) {
        error if error.is_nan() => "fails".to_owned(),
        error => format!("{error:.3}"),
    };
    let note = format!(
        "paper's predictor: {} with 4, {} with 10; pressure coupling {}, hold {}. Few pairs around a switch determine the unknowns from one jump and the oscillation of the oil, and predict far off; an independent computation of the same has 6.7 against 0.77 of a hold",
        told("paper's, window 4"),
        told("paper's, window 10"),
        told("pressure coupling"),
        told("hold")
    );
    let [four, ten, pressure] = of_schemes(
        report,
        [
            "paper's, window 4",
            "paper's, window 10",
            "pressure coupling",
        ],
    );
    report.statement(
        "with a switched control at 12 ms a window of 4 is nearer than one of 10 and than pressure coupling",
        four < ten && four < pressure,
        note,
    );
    let [hold, automatic] = of_schemes(report, ["hold", "learned, automatic window"]);
    let note = "ours drops what it learned before a switch. What is left is made in the steps around the switches, where nothing is learned yet, and most of it stays as an offset (rows of lasting offsets): pressure coupling exchanges what does not jump there. Rounding moves this value (rows of rounding)";
    report.row(
        "automatic window over hold",
        None,
        automatic / hold,
        "1",
        note,
    );
    by_rounding(report, 0.012)?;
    over_the_step(report, 0.012)
}

/// Pump pressures of the figure's run and of its neighbours, in Pa: each larger by 1e-12 of itself, which no machine could tell.
fn neighbours() -> impl Iterator<Item = f64> {
    (0..7).map(|k| 7.6e6 * (1.0 + 1e-12 * f64::from(k)))
}

/// Errors of runs that differ from the figure's by rounding. Before the first switch everything rests, so that what is learned there is
/// rounding, and the first steps after the switch hang on it.
fn by_rounding(report: &mut Report, step: f64) -> Result<(), PaperError> {
    let control = Control::Switched(0.0);
    let reference = control.reference(step)?;
    let schemes = [
        Scheme::Hold,
        Scheme::Paper(4, Method::Batch),
        Scheme::Paper(10, Method::Batch),
        Scheme::Window(10),
        Scheme::Automatic,
    ];
    let mut medians = Vec::new();
    for scheme in schemes {
        let mut errors = Vec::new();
        for pump in neighbours() {
            let pump = format!("{pump:?}");
            let more = [("hydraulics.oil.pump", pump.as_str())];
            errors.push(nmse(&control.run_with(scheme, step, &more)?, &reference));
        }
        errors.sort_by(f64::total_cmp);
        let note = "of seven runs whose pump pressures differ by 1e-12 of themselves each: everything rests before the first switch, and rounding decides what is learned of it";
        let [smallest, median, largest] =
            [0, errors.len() / 2, errors.len() - 1].map(|at| errors[at]);
        for (which, error) in [
            ("smallest", smallest),
            ("median", median),
            ("largest", largest),
        ] {
            let name = format!("rounding: {which} NMSE, {}", scheme.label());
            report.row(name, None, or_failed(error), "1", note);
        }
        medians.push(median);
    }
    let name = "rounding: median of the automatic window over hold";
    report.row(name, None, medians[4] / medians[0], "1", "of the same runs");
    Ok(())
}

/// When the switches are, in s after those of the figure: they stand at 8 ms and 0 ms within a macro step of 12 ms.
const LATER: [f64; 4] = [0.0, 3e-3, 6e-3, 9e-3];

/// Errors when the switches lie elsewhere within a macro step, and their means: the paper does not print when its switches are.
fn over_the_step(report: &mut Report, step: f64) -> Result<(), PaperError> {
    let schemes = [
        Scheme::Hold,
        Scheme::Pressure,
        Scheme::Paper(4, Method::Batch),
        Scheme::Paper(10, Method::Batch),
        Scheme::Automatic,
    ];
    let mut means = [0.0; 5];
    for later in LATER {
        let control = Control::Switched(later);
        let reference = control.reference(step)?;
        for (scheme, mean) in schemes.into_iter().zip(&mut means) {
            let error = nmse(&control.run(scheme, step)?, &reference);
            *mean += error / LATER.len() as f64;
            if later > 0.0 {
                let name = format!(
                    "switches {:.0} ms later: NMSE, {}",
                    1e3 * later,
                    scheme.label()
                );
                let note = "which scheme is best depends on where within a macro step the switches lie, which is not printed: in the step of a switch the arm moves by the force of before, and nothing learned knows of it";
                report.row(name, None, or_failed(error), "1", note);
            }
        }
    }
    for (scheme, mean) in schemes.into_iter().zip(means) {
        let name = format!(
            "mean over four places of the switches: NMSE, {}",
            scheme.label()
        );
        report.row(name, None, or_failed(mean), "1", "0, 3, 6 and 9 ms later");
    }
    let [hold, .., automatic] = means;
    let name = "mean over four places of the switches: automatic window over hold";
    report.row(name, None, automatic / hold, "1", "0, 3, 6 and 9 ms later");
    Ok(())
}

pub(super) fn fig_22(report: &mut Report) -> Result<(), PaperError> {
    compared(
        report,
        Control::Switched(0.0),
        0.02,
        &FOR_SWITCHES,
        [0.01, 0.15],
    )?;
    let is_stable = |label: &str| report.value(&format!("stable, {label}")) > 0.0;
    let holds =
        !is_stable("hold") && is_stable("pressure coupling") && is_stable("paper's, window 4");
    let note = "of the paper's predictor with windows of 4 and 10, see the rows";
    report.statement(
        "at 20 ms a hold is unstable, the others are not",
        holds,
        note,
    );
    let [pressure, four, ten] = of_schemes(
        report,
        [
            "pressure coupling",
            "paper's, window 4",
            "paper's, window 10",
        ],
    );
    let note = format!(
        "NMSE: pressure {pressure:.3}, paper's predictor {four:.3} with 4, {ten:.3} with 10. About four fifths of either are offsets that stay, which the few predictions after a switch decide, and the switched signal is not printed"
    );
    report.statement(
        "at 20 ms a window of 4 is nearer than one of 10",
        four < ten,
        note,
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After switches the automatic window is nearer than a hold at the figure's own instants, and on average over instants within a macro step; a quarter
    /// of a macro step later it may be the other way round. Rounding decides single runs, so that its error is the median of five.
    #[test]
    fn the_automatic_window_beats_a_hold_after_switches() {
        let mut errors = [0.0; 2];
        for later in [0.0, 6e-3] {
            let control = Control::Switched(later);
            let reference = control.reference(0.012).unwrap();
            for (scheme, error) in [Scheme::Hold, Scheme::Automatic]
                .into_iter()
                .zip(&mut errors)
            {
                let mut samples: Vec<_> = neighbours()
                    .take(5)
                    .map(|pump| {
                        let more = [("hydraulics.oil.pump", &*format!("{pump:?}"))];
                        let track = control.run_with(scheme, 0.012, &more).unwrap();
                        nmse(&track, &reference)
                    })
                    .collect();
                samples.sort_by(f64::total_cmp);
                *error += samples[2];
            }
            assert!(errors[1] < 0.8 * errors[0], "{later}: {errors:?}");
        }
    }
}
