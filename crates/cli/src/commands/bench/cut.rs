//! What cutting a structure gains.

use std::time::Instant;

use oldham_cosim::{Discard, Run, Simulation};
use oldham_model::{Model, Overrides};
use oldham_papers::structures::{Beam, Shell};

use super::Figure;
use crate::failure::Failure;
use crate::table::number;

/// Repetitions; the best counts.
const REPEATS: usize = 7;
/// Seconds that a repetition lasts, about.
const LASTS: f64 = 0.15;

const PLAIN: &str = "interface-mass";
const TANGENT: &str = "interface-tangent";

/// Time of a step in microseconds, and how it is split between work, waiting and exchange.
#[derive(Clone, Copy)]
struct Step {
    wall: f64,
    split: [f64; 3],
}

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    let (whole, plain) = beam(&mut figures, "beam-speedup", 24, 2, PLAIN, Some(1.6))?;
    let (_, tangent) = beam(&mut figures, "beam-tangent-speedup", 24, 2, TANGENT, None)?;
    let note = "wall time of a step with the tangent over that of the plain scheme";
    let cost = tangent.wall / plain.wall;
    figures.push(Figure::new("tangent-cost", cost, "1", note));
    split(&mut figures, &plain);
    projection(&mut figures, &whole, &plain);
    beam(&mut figures, "beam-96-speedup", 96, 2, PLAIN, Some(1.8))?;
    beam(
        &mut figures,
        "beam-96-tangent-speedup",
        96,
        2,
        TANGENT,
        None,
    )?;
    beam(&mut figures, "three-parts-speedup", 24, 3, PLAIN, None)?;
    shell(&mut figures, "shell-speedup", [4, 2], 1e-4, PLAIN)?;
    shell(&mut figures, "shell-tangent-speedup", [4, 2], 1e-4, TANGENT)?;
    shell(&mut figures, "shell-16x8-speedup", [16, 8], 2e-5, PLAIN)?;
    shell(
        &mut figures,
        "shell-16x8-tangent-speedup",
        [16, 8],
        2e-5,
        TANGENT,
    )?;
    Ok(figures)
}

/// Whole and cut on two threads, with the figure for their ratio.
fn beam(
    figures: &mut Vec<Figure>,
    name: &'static str,
    elements: usize,
    parts: usize,
    scheme: &str,
    required: Option<f64>,
) -> Result<(Step, Step), Failure> {
    let model = |parts: usize| {
        let beam = Beam {
            elements,
            parts,
            damping: 0.0,
            step: 1e-4,
        };
        beam.model()
    };
    let scheme = ("multibody.beam.cut.scheme".into(), scheme.into());
    let whole = time(&model(1), &[], 1)?;
    let cut = time(&model(parts), &[scheme], 2)?;
    figures.push(speedup(name, whole, cut, required));
    Ok((whole, cut))
}

fn shell(
    figures: &mut Vec<Figure>,
    name: &'static str,
    divisions: [usize; 2],
    step: f64,
    scheme: &str,
) -> Result<(), Failure> {
    let model = |parts: usize| {
        let shell = Shell {
            divisions,
            parts,
            damping: 0.0,
            step,
        };
        shell.model()
    };
    let required = (scheme == PLAIN).then_some(1.8);
    let scheme = ("multibody.shell.cut.scheme".into(), scheme.into());
    let whole = time(&model(1), &[], 1)?;
    let cut = time(&model(2), &[scheme], 2)?;
    figures.push(speedup(name, whole, cut, required));
    Ok(())
}

fn speedup(name: &'static str, whole: Step, cut: Step, required: Option<f64>) -> Figure {
    let note = format!(
        "wall time of a step: {} us whole, {} us cut on 2 threads",
        number(whole.wall),
        number(cut.wall)
    );
    let figure = Figure::new(name, whole.wall / cut.wall, "1", &note);
    match required {
        Some(limit) => figure.at_least(limit),
        None => figure,
    }
}

fn split(figures: &mut Vec<Figure>, step: &Step) {
    let names = ["beam-work", "beam-waiting", "beam-exchange"];
    let note = "of a step of the beam of 24 elements in two parts, mean thread, best run";
    for (name, value) in names.into_iter().zip(step.split) {
        figures.push(Figure::new(name, value, "us", note));
    }
}

/// With more cores than there are here: the work of the whole is shared, the exchange is not.
fn projection(figures: &mut Vec<Figure>, whole: &Step, cut: &Step) {
    let note = "projection, not measured: work of the whole shared by so many parts, plus waiting and exchange as with two";
    let overhead = (cut.wall - whole.wall / 2.0).max(0.0);
    for (name, parts) in [("projected-4-parts", 4.0), ("projected-8-parts", 8.0)] {
        let value = whole.wall / (whole.wall / parts + overhead);
        figures.push(Figure::new(name, value, "1", note));
    }
}

/// The best of several runs.
fn time(text: &str, set: &[(String, String)], threads: usize) -> Result<Step, Failure> {
    let build = || -> Result<Simulation, Failure> {
        let overrides = Overrides(set.to_vec());
        Ok(Model::parse(text, "the benchmark's model", &overrides)?.simulation()?)
    };
    let trial = run(&mut build()?, threads, 200);
    let steps = (LASTS * 1e6 / trial.wall).clamp(200.0, 20_000.0) as u64;
    let mut best = trial;
    for _ in 0..REPEATS {
        let found = run(&mut build()?, threads, steps);
        if found.wall < best.wall {
            best = found;
        }
    }
    Ok(best)
}

fn run(simulation: &mut Simulation, threads: usize, steps: u64) -> Step {
    let start = Instant::now();
    let outcome = simulation.run(Run {
        threads,
        record_every: u64::MAX,
        ..Run::new(steps, &mut Discard)
    });
    let wall = start.elapsed().as_secs_f64() * 1e6 / steps as f64;
    assert!(outcome.end.is_ok(), "the benchmark's model runs");
    let split = outcome.summary.split_us.unwrap_or([f64::NAN; 3]);
    Step { wall, split }
}
