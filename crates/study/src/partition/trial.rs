//! Timed steps of a model.

use std::time::Instant;

use oldham_cosim::{Discard, Run};
use oldham_model::Model;

use crate::StudyError;

/// Steps that are timed in one go.
pub(super) const STEPS: u64 = 200;
/// Steps before, until caches and factors are warm.
const BEFORE: u64 = 16;
/// So often at most; the best counts, since other load only ever adds time.
const REPEATS: f64 = 5.0;
/// Models whose steps are that long together, in µs, are timed once.
const LONG: f64 = 4e5;

/// What timed steps took.
pub(super) struct Timed {
    /// Wall time of a step in µs.
    pub step: f64,
    /// Work of each subsystem in a step, in µs, by name.
    pub work: Vec<(String, f64)>,
}

/// Runs a model for some steps on so many threads; `expected` is about what a step takes in µs, by count or as measured.
pub(super) fn timed(model: &Model, threads: usize, expected: f64) -> Result<Timed, StudyError> {
    let repeats = (LONG / (expected * STEPS as f64)).clamp(1.0, REPEATS) as usize;
    let mut simulation = model.simulation()?;
    let mut run = |steps: u64| {
        let start = Instant::now();
        let outcome = simulation.run(Run {
            threads,
            record_every: u64::MAX,
            ..Run::new(steps, &mut Discard)
        });
        let wall = start.elapsed().as_secs_f64() * 1e6 / steps as f64;
        outcome.end.map_err(StudyError::Run)?;
        Ok::<_, StudyError>((wall, outcome.summary))
    };
    run(BEFORE)?;
    let mut best: Option<f64> = None;
    let mut last = None;
    for _ in 0..repeats {
        let (wall, summary) = run(STEPS)?;
        best = Some(best.map_or(wall, |best| best.min(wall)));
        last = Some(summary);
    }
    let (step, summary) = (best.unwrap_or(0.0), last.expect("there are repeats"));
    // Single steps are looked at now and then: their shares count.
    let parts = summary.parts.iter();
    let looked_at: Vec<f64> = parts.map(|part| part.work_us.unwrap_or(0.0)).collect();
    let [work, waiting, rest] = summary.split_us.unwrap_or([1.0, 0.0, 0.0]);
    let share = work / (work + waiting + rest).max(f64::MIN_POSITIVE);
    let sum: f64 = looked_at.iter().sum();
    let scale = step * threads.min(summary.threads) as f64 * share / sum.max(f64::MIN_POSITIVE);
    let names = summary.parts.iter().map(|part| part.name.clone());
    Ok(Timed {
        step,
        work: names
            .zip(looked_at.iter().map(|work| scale * work))
            .collect(),
    })
}

/// Threads that so many parts can use here.
pub(super) fn threads_for(parts: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    parts.min(cores)
}

/// What the busiest of some threads has to do when pieces of work are dealt, the largest first.
pub(super) fn busiest(work: &[f64], threads: usize) -> f64 {
    let mut work = work.to_vec();
    work.sort_by(|a, b| b.total_cmp(a));
    let mut loads = vec![0.0_f64; threads.max(1)];
    for piece in work {
        let least = loads.iter_mut().min_by(|a, b| a.total_cmp(b));
        *least.expect("there is a thread") += piece;
    }
    loads.into_iter().fold(0.0, f64::max)
}
