//! The two-mass oscillator, Sect. 2.1 and 3.1.

use oldham_cosim::{InputPort, OutputPort, Ports, Predictor};
use oldham_dmd::{Controls, Dmd, LONGEST_WINDOW, Received, Settings};
use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Scale, Series};

use super::watch::LateStart;
use super::{Method, plain};
use crate::computed::Computed;
use crate::item::{PaperError, Report, model};
use crate::track::Track;

const FOUR_MASS: &str = include_str!("../../../../examples/four-mass-chain.toml");
const DISPLACEMENTS: &str =
    include_str!("../../../../examples/two-mass-displacement-displacement.toml");
const TWO_MASS: &str = include_str!("../../../../papers/pikulinski/two-mass.toml");

const POSITIONS: [&str; 2] = ["left.x1", "right.x2"];
/// Windows of the figures over the window.
pub(super) const WINDOWS: [usize; 13] = [4, 6, 8, 10, 14, 20, 30, 40, 50, 70, 100, 140, 200];

/// How the left side guesses.
#[derive(Clone, Copy)]
enum Guess {
    Hold,
    /// As the paper does.
    Paper(usize, Method),
    Window(usize),
    Automatic,
    /// Holds until the window is full.
    Late(usize),
}

impl Guess {
    fn predictor(self, ports: &Ports) -> Option<Box<dyn Predictor>> {
        let settings = match self {
            Self::Hold => return None,
            Self::Paper(window, method) => {
                return Some(Box::new(plain(ports, 2, &["fc"], window, method)));
            }
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
    let both = self::model(DISPLACEMENTS, &[])?;
    let at = ["left.x1.x", "right.x2.x"];
    let exchanged = Track::of(&mut both.simulation()?, &at, steps);
    let undivided = Track::of(&mut both.monolithic(None)?, &at, steps);
    let apart = exchanged
        .worst(0, &undivided)
        .max(exchanged.worst(1, &undivided));
    let name = "displacement-displacement coupling: largest difference from the monolithic motion";
    report.row(name, None, apart, "m", "10 s at 1 ms, of a motion of 30 m");
    report.statement(
        "exchanging displacements both ways gives the monolithic solution",
        apart < 1e-9,
        format!("to {apart:.0e} m"),
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
    let paper = over_windows(|window| error(Guess::Paper(window, Method::Batch)))?;
    let errors = over_windows(|window| error(Guess::Window(window)))?;
    let others = Others {
        recursive: error(Guess::Paper(100, Method::Recursive))?,
        automatic: error(Guess::Automatic)?,
        hold: error(Guess::Hold)?,
    };
    over_the_window(report, "square-root spring", &paper, &errors, &others)?;
    let (least, most) = (smallest(&paper), greatest(&paper));
    let at = |wanted: usize| {
        paper
            .iter()
            .find(|(window, _)| *window == wanted)
            .map_or(f64::NAN, |found| found.1)
    };
    let note = format!(
        "paper's own predictor: between {least:.0} and {most:.0} for all windows from 4 to 200, {:.0} at 100 and {:.0} at 200, against 2e5 of a hold; ours between {:.0} and {:.0}",
        at(100),
        at(200),
        smallest(&errors),
        greatest(&errors)
    );
    report.statement(
        "the error decreases up to a window of 100, and hardly changes beyond",
        at(100) < 0.5 * at(10) && (at(200) / at(100) - 1.0).abs() < 0.5,
        note,
    );
    let model = oscillator(0.0, H)?;
    let reference = monolithic(&model, STEPS)?;
    let error = |guess| Ok::<_, PaperError>(coupled(&model, guess, STEPS)?.nmse(&reference));
    let paper = over_windows(|window| error(Guess::Paper(window, Method::Batch)))?;
    let (least, most) = (smallest(&paper), greatest(&paper));
    report.row(
        "linear springs, paper's: largest over smallest NMSE of all windows",
        None,
        most / least,
        "1",
        "windows from 4 to 200",
    );
    report.statement(
        "with linear springs the window has little influence from 4 on",
        most < 100.0 * least || most < 1.0,
        format!("paper's own predictor: NMSE from {least:.2e} to {most:.2e}, all of it left by the hold of the first steps"),
    );
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

fn greatest(errors: &[(usize, f64)]) -> f64 {
    errors.iter().map(|&(_, error)| error).fold(0.0, f64::max)
}

/// What is shown beside the errors over the window.
pub(super) struct Others {
    /// The paper's recursion at its own window.
    pub recursive: f64,
    pub automatic: f64,
    pub hold: f64,
}

/// An error, or that there is none since the run failed.
pub(super) fn or_failed(error: f64) -> Computed {
    match error.is_finite() {
        true => error.into(),
        false => Computed::Failed,
    }
}

/// Table and picture of the position error over the window: by the paper's predictor, then by ours.
pub(super) fn over_the_window(
    report: &mut Report,
    what: &str,
    paper: &[(usize, f64)],
    errors: &[(usize, f64)],
    others: &Others,
) -> Result<(), PaperError> {
    let note = "Eq. 21 against the monolithic solution; the print is a picture";
    for (name, errors) in [("paper's, ", paper), ("", errors)] {
        for &(window, error) in errors {
            report.row(
                format!("NMSE, {name}window {window}"),
                None,
                or_failed(error),
                "1",
                note,
            );
        }
    }
    let note = "Eq. 12 to 19 instead of Eq. 4 in every step, at the window that the paper chose";
    report.row(
        "NMSE, paper's, recursive",
        None,
        or_failed(others.recursive),
        "1",
        note,
    );
    let best = smallest(errors);
    report.row(
        "NMSE, automatic window",
        None,
        others.automatic,
        "1",
        "not in the paper",
    );
    let note = "at most 1.1 is wanted";
    report.row(
        "automatic over best fixed",
        None,
        others.automatic / best,
        "1",
        note,
    );
    report.row(
        "NMSE, hold",
        None,
        or_failed(others.hold),
        "1",
        "for comparison",
    );
    let curve = |label: &str, errors: &[(usize, f64)]| {
        let shown = errors
            .iter()
            .filter(|(_, error)| error.is_finite() && *error > 0.0);
        let (windows, errors) = shown.map(|&(window, error)| (window as f64, error)).unzip();
        Series::new(label, windows, errors)
    };
    let mut panel = Panel::new("window", "NMSE of the positions")
        .with_scales(Scale::Log, Scale::Log)
        .with_series(curve("paper's", paper))
        .with_series(curve("ours, fixed window", errors))
        .with_guide("ours, automatic", others.automatic);
    if others.hold.is_finite() {
        panel = panel.with_guide("hold", others.hold);
    }
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
        ("paper's start", Guess::Paper(100, Method::Batch)),
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
    let [soft, full] = ["paper's start", "start at 100 pairs"]
        .map(|label| report.value(&format!("NMSE, {label}")));
    let note = format!("NMSE {soft:.2e} with the soft start, {full:.2e} without");
    report.statement(
        "without the soft start the motion is another one for good",
        soft < 0.1 * full,
        note,
    );
    let figure = Figure::new("Positions with three ways to start");
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
            "paper's, window 100",
            coupled(&model, Guess::Paper(100, Method::Batch), 200)?,
        ),
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
    let lasting = |errors: &[f64]| {
        errors[STEPS / 2..].iter().sum::<f64>().abs() / (STEPS - STEPS / 2 + 1) as f64
    };
    let [paper, ours] = errors;
    let note = "mean over the last 5 s: left by the hold of the first steps, after which the model is exact; 0.013 found independently";
    report.row(
        "energy error that the paper's start leaves",
        None,
        lasting(&paper),
        "1",
        note,
    );
    let note = "mean over the last 5 s: ours begins with kinematics";
    report.row(
        "energy error that our start leaves",
        None,
        lasting(&ours),
        "1",
        note,
    );
    report.row(
        "largest energy error, ours",
        None,
        largest(&ours),
        "1",
        "over 10 s",
    );
    let grows = |label: &str| report.value(&format!("largest energy error, {label}"));
    let holds = grows("hold") > 10.0 * grows("paper's, window 100");
    let note = "the error of the paper's predictor stays as it is after its start";
    report.statement(
        "the learned co-simulation keeps the energy, with a hold it diverges",
        holds,
        note,
    );
    Ok(())
}

/// Relative energy errors of a hold, of the paper's predictor and of ours, with the window 100; gives those two.
fn energy_figure(report: &mut Report, root: f64) -> Result<[Vec<f64>; 2], PaperError> {
    let model = oscillator(root, H)?;
    let reference = monolithic(&model, STEPS)?;
    let mut panel = Panel::new("time / s", "relative energy error").with_y_limit(-0.2, 1.0);
    let mut learned = Vec::new();
    let guesses = [
        ("hold", Guess::Hold),
        ("learned, automatic window", Guess::Automatic),
        ("paper's, window 100", Guess::Paper(100, Method::Batch)),
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
        learned.push(errors);
    }
    let spring = if root == 0.0 { "linear" } else { "square-root" };
    let title = format!("Relative energy error, {spring} spring");
    report.picture(&Figure::new(title).with_panel(panel))?;
    let ours = learned.pop().unwrap_or_default();
    Ok([learned.pop().unwrap_or_default(), ours])
}

pub(super) fn fig_11(report: &mut Report) -> Result<(), PaperError> {
    let model = oscillator(1.0, H)?;
    let reference = monolithic(&model, STEPS)?;
    let mut panel = Panel::new("time / s", "x1 / m").with_y_limit(-150.0, 150.0);
    panel = panel.with_series(reference.curve(0, "monolithic"));
    for (label, guess) in [
        ("hold", Guess::Hold),
        ("paper's, window 100", Guess::Paper(100, Method::Batch)),
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
    let [paper, ours] = energy_figure(report, 1.0)?;
    let share = |errors: &[f64]| {
        errors.iter().filter(|error| error.abs() < 0.1).count() as f64 / errors.len() as f64
    };
    let note = "share of the time";
    report.row(
        "energy error below 10 %, paper's",
        None,
        share(&paper),
        "1",
        note,
    );
    report.row(
        "energy error below 10 %, ours",
        None,
        share(&ours),
        "1",
        note,
    );
    report.statement(
        "the energy error is below 10 % for most of the time",
        share(&paper) > 0.5,
        format!(
            "paper's own predictor: {:.1} % of the time, ours {:.1} %. What is left is not the window's doing, since it is the same for all of 40 and more (fig-6), but that of the first steps",
            100.0 * share(&paper),
            100.0 * share(&ours)
        ),
    );
    Ok(())
}
