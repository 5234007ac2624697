//! What a predictor is doing, readable while it runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::settings::ModelSize;

/// What a predictor is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Shape of the model in use.
    pub shape: ModelSize,
    /// Pairs in its window so far.
    pub pairs: u64,
    /// Numerical rank of those pairs.
    pub rank: u64,
    /// Steps for which a hold was used because the model was no better, or NaN.
    pub fallbacks: u64,
    /// How often the past was dropped: the prediction error jumped, the step changed, or an event
    /// was announced.
    pub resets: u64,
    /// How often another model was chosen.
    pub switches: u64,
    /// Usual prediction error in units of what a plain hold misses.
    pub error: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModelSize { window, delays } = self.shape;
        write!(
            f,
            "window {window}, delays {delays}, error {:.1e} of a hold's, {} steps held instead, past dropped {} times, model changed {} times",
            self.error, self.fallbacks, self.resets, self.switches
        )
    }
}

const FIELDS: usize = 8;

/// A window to a predictor that a simulation has taken over.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    fields: Arc<[AtomicU64; FIELDS]>,
}

impl Monitor {
    /// What the predictor reported at its newest exchange.
    pub fn read(&self) -> Report {
        let [
            window,
            delays,
            pairs,
            rank,
            fallbacks,
            resets,
            switches,
            error,
        ] = std::array::from_fn(|i| self.fields[i].load(Ordering::Relaxed));
        Report {
            shape: ModelSize {
                window: window as usize,
                delays: delays as usize,
            },
            pairs,
            rank,
            fallbacks,
            resets,
            switches,
            error: f64::from_bits(error),
        }
    }

    pub(crate) fn write(&self, report: &Report) {
        let values = [
            report.shape.window as u64,
            report.shape.delays as u64,
            report.pairs,
            report.rank,
            report.fallbacks,
            report.resets,
            report.switches,
            report.error.to_bits(),
        ];
        for (field, value) in self.fields.iter().zip(values) {
            field.store(value, Ordering::Relaxed);
        }
    }
}
