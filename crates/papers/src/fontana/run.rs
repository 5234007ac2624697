//! Runs of structures, whole and cut.

use std::time::Instant;

use oldham_cosim::{InMemory, Run};

use crate::item::{PaperError, Settings, model_with};

/// What came of a run.
pub(super) struct History {
    pub times: Vec<f64>,
    /// The displacement that is compared.
    pub values: Vec<f64>,
    /// Energy that the exchange created, in joules.
    pub created: f64,
    /// Wall time in seconds.
    pub wall: f64,
}

impl History {
    /// The largest difference from another run.
    pub fn difference(&self, other: &Self) -> f64 {
        let pairs = self.values.iter().zip(&other.values);
        let apart = |(a, b): (&f64, &f64)| (a - b).abs();
        pairs.map(apart).fold(0.0, f64::max)
    }

    /// Magnitudes of the differences, for a logarithmic picture.
    pub fn differences(&self, other: &Self) -> Vec<f64> {
        let pairs = self.values.iter().zip(&other.values);
        pairs.map(|(a, b)| (a - b).abs().max(1e-18)).collect()
    }
}

/// How a model is run.
pub(super) struct RunSpec<'a> {
    pub text: &'a str,
    pub signal: &'a str,
    pub settings: Settings,
    pub duration: f64,
    /// Time between two recorded values.
    pub every: f64,
    pub threads: usize,
}

impl RunSpec<'_> {
    pub fn run(&self) -> Result<History, PaperError> {
        let model = model_with(self.text, &self.settings)?;
        let mut simulation = model.simulation()?;
        let columns = simulation.columns().iter();
        let place = columns
            .map(|column| &column.name)
            .position(|n| n == self.signal);
        let mut memory = InMemory::default();
        let steps = |time: f64| (time / model.step()).round() as u64;
        let start = Instant::now();
        let outcome = simulation.run(Run {
            threads: self.threads,
            record_every: steps(self.every).max(1),
            record_columns: Some(vec![place.expect("the model has this signal")]),
            ..Run::new(steps(self.duration), &mut memory)
        });
        let wall = start.elapsed().as_secs_f64();
        outcome.end?;
        let created = outcome.summary.created.iter().map(|one| one.created).sum();
        Ok(History {
            values: memory.column(0),
            times: memory.times,
            created,
            wall,
        })
    }
}

/// Cores that runs may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
