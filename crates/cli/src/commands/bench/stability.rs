//! How long the verdict on a cut structure takes, and how sharp it is.

use std::time::{Duration, Instant};

use oldham_model::{Model, Overrides};
use oldham_papers::structures::{Beam, Shell};
use oldham_stability::{Decision, Spectrum, analyse};
use oldham_study::{ModelFile, StudyError};

use super::{Figure, cpu_seconds};
use crate::failure::Failure;

const TURBINE: &str = include_str!("../../../../../examples/wind-turbine.toml");
const CAR: &str = include_str!("../../../../../examples/formula-student.toml");
/// Periods after which the state is met whose analysis is timed.
const MET_AFTER: u64 = 20;
/// Time that it is granted.
const GRANTED: Duration = Duration::from_secs(120);

/// Error of the radius per step, at most.
const SHARPEST: f64 = 1e-6;

/// A structure under the interface-mass scheme: names of its figures, the model, seconds allowed.
struct Case {
    names: [&'static str; 2],
    mechanism: &'static str,
    model: String,
    seconds: f64,
}

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for case in cases() {
        let key = format!("multibody.{}.cut.scheme", case.mechanism);
        let overrides = Overrides(vec![(key, "interface-mass".into())]);
        let model = Model::parse(&case.model, "structure.toml", &overrides)?;
        let mut simulation = model.simulation()?;
        let started = Instant::now();
        let verdict = analyse(&mut simulation)?;
        let seconds = started.elapsed().as_secs_f64();
        let decision = match verdict.decision() {
            Decision::Stable => "stable",
            Decision::Unstable => "unstable",
            Decision::Undecided => "not decided",
        };
        let note = format!(
            "wall time of the analysis on two cores: {decision}, radius {:.9}",
            verdict.radius
        );
        let [name, error] = case.names;
        figures.push(Figure::new(name, seconds, "s", &note).required(case.seconds));
        // Where nothing is decided, the error is what the verdict leaves open.
        let left = match verdict.decision() {
            Decision::Undecided => verdict.error.max(verdict.reach - 1.0),
            _ => verdict.error,
        };
        let note = "error of the radius, per step";
        figures.push(Figure::new(error, left, "1", note).required(SHARPEST));
    }
    figures.push(one_state("sampled", "wind-turbine.toml", TURBINE, 5.0)?);
    figures.push(one_state("car-state", "formula-student.toml", CAR, 3.0)?);
    Ok(figures)
}

/// CPU time of the verdict on one state, as it is met on the way of a run.
fn one_state(name: &'static str, file: &str, text: &str, seconds: f64) -> Result<Figure, Failure> {
    let model = ModelFile::of_text(file, text).read()?;
    let mut simulation = model.simulation()?;
    let steps = MET_AFTER * simulation.period();
    simulation.steps(steps).map_err(StudyError::Run)?;
    let started = cpu_seconds();
    let spectrum = Spectrum::here(&mut simulation, Some(GRANTED))?;
    let taken = cpu_seconds() - started;
    let note = format!(
        "CPU time of one state, {} coordinates, {} steps a period: {:?}, radius {:.9}",
        spectrum.dimension(),
        simulation.period(),
        spectrum.decision(),
        spectrum.radius()
    );
    Ok(Figure::new(name, taken, "s", &note).required(seconds))
}

fn cases() -> Vec<Case> {
    let beam = |names, elements: usize, damping: f64, seconds: f64| Case {
        names,
        mechanism: "beam",
        model: Beam {
            elements,
            parts: 2,
            damping,
            step: 1e-4,
        }
        .model(),
        seconds,
    };
    let shell = |names, damping: f64, seconds: f64| Case {
        names,
        mechanism: "shell",
        model: Shell {
            divisions: [16, 8],
            parts: 2,
            damping,
            step: 4e-5,
        }
        .model(),
        seconds,
    };
    vec![
        beam(["beam-12", "beam-12-error"], 12, 1e-3, 2.0),
        beam(["beam-96", "beam-96-error"], 96, 1e-3, 5.0),
        beam(["beam-1000", "beam-1000-error"], 1000, 1e-3, 20.0),
        shell(["shell-16x8", "shell-16x8-error"], 2e-3, 10.0),
        beam(["beam-12-undamped", "beam-12-undamped-error"], 12, 0.0, 4.0),
        beam(
            ["beam-96-undamped", "beam-96-undamped-error"],
            96,
            0.0,
            20.0,
        ),
        beam(
            ["beam-1000-undamped", "beam-1000-undamped-error"],
            1000,
            0.0,
            90.0,
        ),
        shell(
            ["shell-16x8-undamped", "shell-16x8-undamped-error"],
            0.0,
            200.0,
        ),
    ]
}
