//! The Formula Student car: how much faster than real time, whole and cut, and how long its longest
//! steps take.

use std::time::Instant;

use oldham_cosim::{Discard, Recorder, Run, Simulation};
use oldham_model::Model;
use oldham_study::ModelFile;

use super::{Figure, cpu_seconds};
use crate::failure::Failure;
use crate::table::number;

const CAR: &str = include_str!("../../../../../examples/formula-student.toml");
/// Steps of a repetition, and repetitions: the best counts.
const STEPS: u64 = 10_000;
const REPEATS: usize = 5;
/// Steps whose times are looked at one by one.
const TIMED: u64 = 400_000;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let model = car(STEPS, false)?;
    let whole = best(&model, |model| Ok(model.monolithic(None)?), 1)?;
    let cut = best(&model, |model| Ok(model.simulation()?), 2)?;
    let period = model.step() * 1e6;
    let note = |step: f64| {
        format!(
            "{} us for a step of {} us, step steer from 100 km/h",
            number(step),
            number(period)
        )
    };
    let ratio = "wall time of a step, whole over cut in front and rear on 2 threads";
    let mut figures = vec![
        Figure::new("whole", period / whole, "1", &note(whole)).at_least(4.0),
        Figure::new("cut", period / cut, "1", &note(cut)).at_least(7.3),
        Figure::new("speedup", whole / cut, "1", ratio).at_least(1.6),
    ];
    let times = step_times(&car(TIMED, false)?)?;
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let note = format!(
        "CPU time of a step of the whole car, of {} steps; median {} us, longest {} us",
        times.len(),
        number(at(0.5)),
        number(at(1.0))
    );
    figures.push(Figure::new("p999", at(0.999), "us", &note).required(150.0));
    Ok(figures)
}

/// The car at its test speed, steered after a second, for so many steps of 0.3 ms.
pub(super) fn car(steps: u64, shows_nodes: bool) -> Result<Model, Failure> {
    let file = ModelFile::of_text("formula-student.toml", CAR)
        .set("v0", 100.0 / 3.6)
        .set("t_step", 1.0)
        .set("record.nodes", shows_nodes)
        .set("simulation.duration", format!("{steps} * 3e-4"));
    Ok(file.read()?)
}

/// Microseconds of wall time for a step.
fn best(
    model: &Model,
    build: impl Fn(&Model) -> Result<Simulation, Failure>,
    threads: usize,
) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let mut simulation = build(model)?;
        let start = Instant::now();
        let outcome = simulation.run(Run {
            threads,
            record_every: u64::MAX,
            ..Run::new(STEPS, &mut Discard)
        });
        let wall = start.elapsed().as_secs_f64() * 1e6 / STEPS as f64;
        assert!(outcome.end.is_ok(), "the benchmark's model runs");
        best = best.min(wall);
    }
    Ok(best)
}

/// Looks at the clock of the thread after every step.
struct Stopwatch {
    last: f64,
    times: Vec<f64>,
}

impl Recorder for Stopwatch {
    fn record(&mut self, _t: f64, _row: &[f64]) -> std::io::Result<()> {
        let now = cpu_seconds();
        self.times.push((now - self.last) * 1e6);
        self.last = now;
        Ok(())
    }
}

/// Microseconds of CPU time for each step of the whole car, in rising order.
fn step_times(model: &Model) -> Result<Vec<f64>, Failure> {
    let mut simulation = model.monolithic(None)?;
    let mut stopwatch = Stopwatch {
        last: cpu_seconds(),
        times: Vec::with_capacity(TIMED as usize + 1),
    };
    let outcome = simulation.run(Run {
        threads: 1,
        record_every: 1,
        record_columns: Some(Vec::new()),
        ..Run::new(TIMED, &mut stopwatch)
    });
    assert!(outcome.end.is_ok(), "the benchmark's model runs");
    // The first row is that of the start.
    let mut times = stopwatch.times.split_off(1);
    times.sort_by(f64::total_cmp);
    Ok(times)
}
