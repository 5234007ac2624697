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
const PLAIN: &str = "interface-mass";
const TANGENT: &str = "interface-tangent";

/// Time of a step in microseconds, and how it is split between work, waiting and exchange.
#[derive(Clone, Copy)]
struct Step {
    wall: f64,
    split: [f64; 3],
}

/// A structure to be timed.
struct Case {
    /// Its name in the model file.
    mechanism: &'static str,
    whole: String,
    cut: String,
    steps: u64,
}

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    let small = beam(24, 2, 5000);
    let (whole, plain) = small.compare(&mut figures, "beam-speedup", PLAIN, Some(1.6))?;
    let (_, tangent) = small.compare(&mut figures, "beam-tangent-speedup", TANGENT, Some(1.6))?;
    let note = "wall time of a step with the interface Jacobian over that of the plain scheme";
    let cost = tangent.wall / plain.wall;
    figures.push(Figure::new("tangent-cost", cost, "1", note));
    split(&mut figures, &plain);
    projection(&mut figures, &whole, &plain);
    let large = beam(96, 2, 1500);
    large.compare(&mut figures, "beam-96-speedup", PLAIN, Some(1.8))?;
    large.compare(&mut figures, "beam-96-tangent-speedup", TANGENT, Some(1.8))?;
    let three = beam(24, 3, 5000);
    three.compare(&mut figures, "three-parts-speedup", PLAIN, Some(1.35))?;
    three.compare(&mut figures, "three-parts-tangent-speedup", TANGENT, None)?;
    // The plain scheme is stable up to 5e-5 s at least on the fine mesh, 2e-4 s on that of the paper.
    let fine = shell([16, 8], 4e-5, 5000);
    fine.compare(&mut figures, "shell-speedup", PLAIN, Some(1.8))?;
    fine.compare(&mut figures, "shell-tangent-speedup", TANGENT, Some(1.6))?;
    let coarse = shell([4, 2], 1e-4, 10_000);
    let (whole, plain) = coarse.compare(&mut figures, "shell-4x2-speedup", PLAIN, Some(1.8))?;
    let note =
        "what it would be if waiting and exchange took no time: nodes of the cut are in both parts";
    let limit = whole.wall / plain.split[0];
    figures.push(Figure::new("shell-4x2-limit", limit, "1", note));
    coarse.compare(
        &mut figures,
        "shell-4x2-tangent-speedup",
        TANGENT,
        Some(1.4),
    )?;
    Ok(figures)
}

fn beam(elements: usize, parts: usize, steps: u64) -> Case {
    let model = |parts: usize| {
        let beam = Beam {
            elements,
            parts,
            damping: 0.0,
            step: 1e-4,
        };
        beam.model()
    };
    Case {
        mechanism: "beam",
        whole: model(1),
        cut: model(parts),
        steps,
    }
}

fn shell(divisions: [usize; 2], step: f64, steps: u64) -> Case {
    let model = |parts: usize| {
        let shell = Shell {
            divisions,
            parts,
            damping: 0.0,
            step,
        };
        shell.model()
    };
    Case {
        mechanism: "shell",
        whole: model(1),
        cut: model(2),
        steps,
    }
}

impl Case {
    /// Whole, and cut on two threads, with the figure for their ratio.
    fn compare(
        &self,
        figures: &mut Vec<Figure>,
        name: &'static str,
        scheme: &str,
        required: Option<f64>,
    ) -> Result<(Step, Step), Failure> {
        let key = format!("multibody.{}.cut.scheme", self.mechanism);
        let whole = time(&self.whole, &[], 1, self.steps)?;
        let cut = time(&self.cut, &[(key, scheme.into())], 2, self.steps)?;
        figures.push(speedup(name, whole, cut, required));
        Ok((whole, cut))
    }
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

/// With more cores than there are here: work is shared, the exchange is not.
fn projection(figures: &mut Vec<Figure>, whole: &Step, cut: &Step) {
    let note = "projection, not measured: the computational load of two parts shared by so many, plus waiting and communication as with two";
    let [work, waiting, exchange] = cut.split;
    for (name, parts) in [("projected-4-parts", 4.0), ("projected-8-parts", 8.0)] {
        let value = whole.wall / (2.0 * work / parts + waiting + exchange);
        figures.push(Figure::new(name, value, "1", note));
    }
}

/// The best of several runs over the same time.
fn time(text: &str, set: &[(String, String)], threads: usize, steps: u64) -> Result<Step, Failure> {
    let mut best: Option<Step> = None;
    for _ in 0..REPEATS {
        let overrides = Overrides(set.to_vec());
        let model = Model::parse(text, "the benchmark's model", &overrides)?;
        let found = run(&mut model.simulation()?, threads, steps);
        best = Some(match best {
            Some(best) if best.wall <= found.wall => best,
            _ => found,
        });
    }
    Ok(best.expect("there are repetitions"))
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
