//! The two-mass oscillator, Sect. 2.1 and 3.1.

use oldham_cosim::{InputPort, OutputPort, Ports, Predictor};
use oldham_dmd::{Controls, Dmd, LONGEST_WINDOW, Received, Settings};
use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Scale, Series};

use super::watch::LateStart;
use crate::item::{PaperError, Report, model};
use crate::track::Track;

const FOUR_MASS: &str = include_str!("../../../../examples/four-mass-chain.toml");
const TWO_MASS: &str = include_str!("../../../../papers/pikulinski/two-mass.toml");

const POSITIONS: [&str; 2] = ["left.x1", "right.x2"];
/// Windows of the figures over the window.
pub(super) const WINDOWS: [usize; 13] = [4, 6, 8, 10, 14, 20, 30, 40, 50, 70, 100, 140, 200];
/// Energy error that a start from a plain hold leaves, found independently.
const LEFT_BY_HOLD_START: f64 = 0.013;

/// How the left side guesses.
#[derive(Clone, Copy)]
enum Guess {
    Hold,
    Window(usize),
    Automatic,
    /// Holds until the window is full.
    Late(usize),
}

impl Guess {
    fn predictor(self, ports: &Ports) -> Option<Box<dyn Predictor>> {
        let settings = match self {
            Self::Hold => return None,
            Self::Window(window) | Self::Late(window) => Settings::fixed(window),
            Self::Automatic => Settings::automatic_for(LONGEST_WINDOW, 3),
        };
        let dmd = Box::new(learner(ports, settings));
        Some(match self {
            Self::Late(window) => Box::new(LateStart::new(ports, dmd, H * window as f64)),
            _ => dmd,
        })
    }
}

const H: f64 = 0.01;
const STEPS: usize = 1000;

/// Position and velocity of the right mass, and the force on it.
fn learner(ports: &Ports, settings: Settings) -> Dmd {
    let settings = Settings {
        received: Received::Only(vec![InputPort(0), InputPort(1)]),
        controls: Controls::Only(ports.output("fc").into_iter().collect()),
        ..settings
    };
    Dmd::new(ports, &settings).expect("windows of the figures are long enough")
}

fn oscillator(root: f64, h: f64) -> Result<Model, PaperError> {
    model(TWO_MASS, &[("root", root), ("simulation.step", h)])
}

fn coupled(model: &Model, guess: Guess, steps: usize) -> Result<Track, PaperError> {
    let choose = |name: &str, ports: &Ports| match name {
        "left" => guess.predictor(ports),
        _ => None,
    };
    let mut simulation = model.simulation_with(&choose)?;
    Ok(Track::of(&mut simulation, &POSITIONS, steps))
}

fn monolithic(model: &Model, steps: usize) -> Result<Track, PaperError> {
    Ok(Track::of(&mut model.monolithic(None)?, &POSITIONS, steps))
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |worst, x| worst.max(x.abs()))
}

fn energy(track: &Track, label: &str) -> Series {
    Series::new(label, track.times.clone(), track.energy.clone())
}

pub(super) fn fig_2(report: &mut Report) -> Result<(), PaperError> {
    let model = oscillator(0.0, 1e-3)?;
    let steps = 10 * STEPS;
    let (held, alone) = (
        coupled(&model, Guess::Hold, steps)?,
        monolithic(&model, steps)?,
    );
    let note = "10 s at 1 ms; the print is a picture";
    let last = |track: &Track| track.energy.last().copied().unwrap_or(f64::NAN);
    report.row("energy at the end, hold", None, last(&held), "J", note);
    report.row(
        "energy at the end, monolithic",
        None,
        last(&alone),
        "J",
        note,
    );
    let panel = Panel::new("time / s", "energy / J")
        .with_series(energy(&held, "zero-order hold"))
        .with_series(energy(&alone, "monolithic"));
    report.picture(&Figure::new("Mechanical energy of the linear oscillator").with_panel(panel))
}

pub(super) fn fig_6(report: &mut Report) -> Result<(), PaperError> {
    let model = oscillator(1.0, H)?;
    let reference = monolithic(&model, STEPS)?;
    let error = |guess| Ok::<_, PaperError>(coupled(&model, guess, STEPS)?.nmse(&reference));
    let errors = over_windows(|window| error(Guess::Window(window)))?;
    let (automatic, hold) = (error(Guess::Automatic)?, error(Guess::Hold)?);
    over_the_window(report, "square-root spring", &errors, automatic, hold)?;
    let model = oscillator(0.0, H)?;
    let reference = monolithic(&model, STEPS)?;
    let error = |guess| Ok::<_, PaperError>(coupled(&model, guess, STEPS)?.nmse(&reference));
    let errors = over_windows(|window| error(Guess::Window(window)))?;
    let ratio = error(Guess::Automatic)? / smallest(&errors);
    let name = "automatic over best fixed, linear springs";
    report.row(name, None, ratio, "1", "at most 1.1 is wanted");
    let name = "automatic over best fixed, four-mass chain";
    report.row(name, None, four_masses()?, "1", "at most 1.1 is wanted");
    Ok(())
}

/// The automatic window over the best fixed one on a chain of four masses in steps of 3 ms, where the
/// exchanged motion is that of one mass of two.
fn four_masses() -> Result<f64, PaperError> {
    let model = model(FOUR_MASS, &[])?;
    let signals = ["first.x1.x", "first.x2.x", "second.x3.x", "second.x4.x"];
    let reference = Track::of(&mut model.monolithic(None)?, &signals, 3 * STEPS);
    let error = |settings: &Settings| {
        let choose = |name: &str, ports: &Ports| -> Option<Box<dyn Predictor>> {
            let settings = Settings {
                controls: Controls::Only(ports.output("fc").into_iter().collect()),
                ..settings.clone()
            };
            let dmd = (name == "first").then(|| Dmd::new(ports, &settings))?;
            Some(Box::new(
                dmd.expect("windows of the figures are long enough"),
            ))
        };
        let mut simulation = model.simulation_with(&choose)?;
        let track = Track::of(&mut simulation, &signals, 3 * STEPS);
        Ok::<_, PaperError>(track.nmse(&reference))
    };
    // A motion of three components, the force and the constant.
    let errors = over_windows(|window| match window {
        0..5 => Ok(f64::INFINITY),
        _ => error(&Settings::fixed(window)),
    })?;
    Ok(error(&Settings::automatic_for(LONGEST_WINDOW, 4))? / smallest(&errors))
}

/// An error for each window of the figures.
pub(super) fn over_windows(
    error: impl Fn(usize) -> Result<f64, PaperError>,
) -> Result<Vec<(usize, f64)>, PaperError> {
    let each = WINDOWS.iter().map(|&window| Ok((window, error(window)?)));
    each.collect()
}

fn smallest(errors: &[(usize, f64)]) -> f64 {
    let errors = errors.iter().map(|&(_, error)| error);
    errors.fold(f64::INFINITY, f64::min)
}

/// Table and picture of the position error over the window.
pub(super) fn over_the_window(
    report: &mut Report,
    what: &str,
    errors: &[(usize, f64)],
    automatic: f64,
    hold: f64,
) -> Result<(), PaperError> {
    let note = "Eq. 21 against the monolithic solution; the print is a picture";
    for &(window, error) in errors {
        report.row(format!("NMSE, window {window}"), None, error, "1", note);
    }
    let best = smallest(errors);
    let (windows, errors): (Vec<f64>, Vec<f64>) = errors
        .iter()
        .map(|&(window, error)| (window as f64, error))
        .unzip();
    report.row(
        "NMSE, automatic window",
        None,
        automatic,
        "1",
        "not in the paper",
    );
    let note = "at most 1.1 is wanted";
    report.row(
        "automatic over best fixed",
        None,
        automatic / best,
        "1",
        note,
    );
    report.row("NMSE, hold", None, hold, "1", "for comparison");
    let panel = Panel::new("window", "NMSE of the positions")
        .with_scales(Scale::Log, Scale::Log)
        .with_series(Series::new("fixed window", windows, errors))
        .with_guide("automatic", automatic);
    let panel = if hold.is_finite() {
        panel.with_guide("hold", hold)
    } else {
        panel
    };
    report
        .picture(&Figure::new(format!("Position error over the window: {what}")).with_panel(panel))
}

pub(super) fn fig_7(report: &mut Report) -> Result<(), PaperError> {
    let model = oscillator(0.0, H)?;
    let reference = monolithic(&model, STEPS)?;
    let panel = |signal: usize| {
        let label = ["x1 / m", "x2 / m"][signal];
        Panel::new("time / s", label).with_series(reference.curve(signal, "monolithic"))
    };
    let mut panels = [panel(0), panel(1)];
    let starts = [
        ("soft start", Guess::Window(100)),
        ("start at 100 pairs", Guess::Late(100)),
    ];
    for (label, guess) in starts {
        let track = coupled(&model, guess, STEPS)?;
        for (signal, panel) in panels.iter_mut().enumerate() {
            *panel = panel.clone().with_series(track.curve(signal, label));
        }
        let note = "window 100, linear springs, 10 ms; the print is a picture";
        let error = track.nmse(&reference);
        report.row(format!("NMSE, {label}"), None, error, "1", note);
    }
    let figure = Figure::new("Positions with two ways to start");
    report.picture(&panels.into_iter().fold(figure, Figure::with_panel))
}

/// Listens to an exchange under a hold.
pub(super) fn eq_24(report: &mut Report) -> Result<(), PaperError> {
    let mut simulation = oscillator(0.0, H)?.simulation()?;
    let [left, right] = ["left", "right"].map(|name| simulation.find(name));
    let (Some(left), Some(right)) = (left, right) else {
        unreachable!("the model has two parts");
    };
    let mut dmd = learner(simulation.ports(left), Settings::fixed(4));
    for pair in 0..=3 {
        let t = simulation.time();
        dmd.sent(t, simulation.outputs(left));
        for port in 0..2 {
            let place = simulation.ports(right).output_range(OutputPort(port));
            dmd.receive(InputPort(port), t, &simulation.outputs(right)[place]);
        }
        if pair < 3 {
            simulation.step().expect("the oscillator takes three steps");
        }
    }
    let found = dmd.model().expect("three pairs were seen").coefficients;
    let names = [
        "x from x", "x from v", "x from f", "v from x", "v from v", "v from f",
    ];
    // The model has a constant too; its force is the one on the right mass, the paper's the reaction.
    let places = [(0, 1.0), (1, 1.0), (2, -1.0), (4, 1.0), (5, 1.0), (6, -1.0)];
    let printed = [0.9, 0.01, -1e-4, -10.0, 1.0, -0.01];
    let mut worst: f64 = 0.0;
    for ((name, (place, sign)), printed) in names.into_iter().zip(places).zip(printed) {
        let computed = sign * found[place];
        worst = worst.max((computed - printed).abs());
        report.row(name, printed, computed, "SI", "after three pairs");
    }
    report.row(
        "largest difference",
        None,
        worst,
        "SI",
        "at most 1e-12 is wanted",
    );
    Ok(())
}

pub(super) fn fig_8(report: &mut Report) -> Result<(), PaperError> {
    let model = oscillator(0.0, H)?;
    let mut panel = Panel::new("time / s", "energy / J");
    let tracks = [
        ("monolithic", monolithic(&model, 200)?),
        ("hold", coupled(&model, Guess::Hold, 200)?),
        (
            "learned, window 100",
            coupled(&model, Guess::Window(100), 200)?,
        ),
    ];
    for (label, track) in &tracks {
        let part = |values: &[f64]| values[100..].to_vec();
        panel = panel.with_series(Series::new(*label, part(&track.times), part(&track.energy)));
        let note = "linear springs, 10 ms; the print is a picture";
        report.row(
            format!("energy at 2 s, {label}"),
            None,
            track.energy[200],
            "J",
            note,
        );
    }
    report.picture(&Figure::new("Energy of the linear oscillator").with_panel(panel))
}

pub(super) fn fig_9(report: &mut Report) -> Result<(), PaperError> {
    let errors = energy_figure(report, 0.0)?;
    let lasting = errors[STEPS / 2..].iter().sum::<f64>().abs() / (STEPS - STEPS / 2 + 1) as f64;
    let note = "mean over the last 5 s; a start from a hold leaves 0.013";
    report.row(
        "energy error that the start leaves",
        LEFT_BY_HOLD_START,
        lasting,
        "1",
        note,
    );
    let note = "over 10 s";
    report.row(
        "largest energy error",
        LEFT_BY_HOLD_START,
        largest(&errors),
        "1",
        note,
    );
    Ok(())
}

/// Relative energy errors of a hold and of the window 100; gives the latter.
fn energy_figure(report: &mut Report, root: f64) -> Result<Vec<f64>, PaperError> {
    let model = oscillator(root, H)?;
    let reference = monolithic(&model, STEPS)?;
    let mut panel = Panel::new("time / s", "relative energy error").with_y_limit(-0.2, 1.0);
    let mut learned = Vec::new();
    let guesses = [
        ("hold", Guess::Hold),
        ("learned, automatic window", Guess::Automatic),
        ("learned, window 100", Guess::Window(100)),
    ];
    for (label, guess) in guesses {
        let errors = coupled(&model, guess, STEPS)?.energy_errors(&reference);
        let note = "against the monolithic solution over 10 s; the print is a picture";
        report.row(
            format!("largest energy error, {label}"),
            None,
            largest(&errors),
            "1",
            note,
        );
        let times = reference.times[..errors.len()].to_vec();
        panel = panel.with_series(Series::new(label, times, errors.clone()));
        learned = errors;
    }
    let spring = if root == 0.0 { "linear" } else { "square-root" };
    let title = format!("Relative energy error, {spring} spring");
    report.picture(&Figure::new(title).with_panel(panel))?;
    Ok(learned)
}

pub(super) fn fig_11(report: &mut Report) -> Result<(), PaperError> {
    let model = oscillator(1.0, H)?;
    let reference = monolithic(&model, STEPS)?;
    let mut panel = Panel::new("time / s", "x1 / m").with_y_limit(-150.0, 150.0);
    panel = panel.with_series(reference.curve(0, "monolithic"));
    for (label, guess) in [
        ("hold", Guess::Hold),
        ("learned, window 100", Guess::Window(100)),
    ] {
        let track = coupled(&model, guess, STEPS)?;
        panel = panel.with_series(track.curve(0, label));
        let note = "against the monolithic solution over 10 s; the print is a picture";
        report.row(
            format!("largest error of x1, {label}"),
            None,
            track.worst(0, &reference),
            "m",
            note,
        );
    }
    report.picture(&Figure::new("Position of the left mass, square-root spring").with_panel(panel))
}

pub(super) fn fig_12(report: &mut Report) -> Result<(), PaperError> {
    let errors = energy_figure(report, 1.0)?;
    let within = errors.iter().filter(|error| error.abs() < 0.1).count() as f64;
    let note = "share of the time; the text says less than 10 % most of the time";
    let share = within / errors.len() as f64;
    report.row("energy error below 10 %", None, share, "1", note);
    Ok(())
}
