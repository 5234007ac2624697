//! The eigenvalues of a coupling with parts that cannot be looked into, from models that were measured.
//!
//! How far the dominant one is off is measured, too: from half of the record, from models made otherwise, and by driving
//! the parts themselves along the mode. A verdict counts when two records, the second twice as long, give the same.

use nalgebra::Complex;
use oldham_cosim::{Chart, Simulation};

use super::{Decision, Spectrum, Way};
use crate::measured::{BlackBoxes, Fineness, Realisation};
use crate::recurrence::{AnalysisError, TimeBudget};

/// Steps of the first record and of the longest.
const FIRST: usize = 128;
const LONGEST: usize = 2048;
/// How models are made: the first of them gives the eigenvalues.
const MODELS: [Fineness; 3] = [
    Fineness {
        delays: 28,
        above_noise: 3.0,
    },
    Fineness {
        delays: 28,
        above_noise: 12.0,
    },
    Fineness {
        delays: 20,
        above_noise: 3.0,
    },
];
/// A mode shows itself in a record in which it turns or grows by e to the power of this. A slower one is known as well
/// as the models follow it: so many times what they miss.
const RESOLVED: f64 = 3.0;
const SLOW: f64 = 1e3;
/// Macro steps after which histories are filled.
const FILLING: u64 = 4;
/// Growth and decay of a mode along which parts are driven.
const GROWTH: f64 = 1e3;
const DECAY: f64 = 0.1;
/// Growth in a step, or decay, that is too fast for a mode to be followed, and what its error is taken for then.
const FAR: f64 = 5.0;
const ROUGHLY: f64 = 0.05;
/// Steps along a mode at least.
const SHORTEST: f64 = 16.0;
/// By how much outputs are amplified to see what they do to an eigenvalue.
const AMPLIFIED: f64 = 1e-4;
/// Error that is stated at least.
const LEAST: f64 = 5e-9;
/// Weights of what is measured of the error.
const HALF: f64 = 1.5;
const SPREAD: f64 = 2.0;
const ALONG: f64 = 5.0;

/// What driving the parts along a mode has shown.
struct Along {
    /// How far the eigenvalue is off by it.
    error: f64,
    /// What the models miss, relative to the answers.
    missed: f64,
}

impl Along {
    const UNKNOWN: Self = Self {
        error: f64::INFINITY,
        missed: 1.0,
    };
}

impl Spectrum {
    /// The spectrum of a simulation with parts that cannot be looked into, a few steps from its present state or there;
    /// nothing if it has none.
    pub(super) fn from_measurements(
        simulation: &mut Simulation,
        is_ahead: bool,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        if let Some((part, reason)) = simulation.allow_replays()? {
            return Err(AnalysisError::NotLed { part, reason });
        }
        if simulation.black_boxes()?.is_empty() {
            return Ok(None);
        }
        if let Some(part) = simulation.part_without_state()? {
            return Err(AnalysisError::NoState(part));
        }
        simulation.sharpen()?;
        if is_ahead {
            simulation.steps(FILLING * simulation.period())?;
        }
        let here = Chart::about(simulation);
        let Some(mut boxes) = BlackBoxes::of(simulation)? else {
            return Ok(None);
        };
        let mut before = None;
        let mut steps = FIRST;
        loop {
            boxes.extend(simulation, steps, budget)?;
            let mut found = Self::from_record(simulation, &here, &mut boxes, steps, budget)?;
            here.base().restore(simulation);
            let decision = found.decision();
            let is_sure = decision != Decision::Undecided && before == Some(decision);
            if is_sure || steps >= LONGEST {
                if !is_sure {
                    found.doubt(f64::INFINITY);
                }
                found.way = Way::Measured {
                    steps: boxes.steps(),
                };
                found.source.chart = here;
                found.source.mode = None;
                return Ok(Some(found));
            }
            before = Some(decision);
            steps *= 2;
        }
    }

    /// What a record says, with its error.
    fn from_record(
        simulation: &mut Simulation,
        here: &Chart,
        boxes: &mut BlackBoxes,
        steps: usize,
        budget: &TimeBudget,
    ) -> Result<Self, AnalysisError> {
        let records = boxes.records();
        let models = |fineness: Fineness, share: usize| -> Option<Vec<Realisation>> {
            let parts = records.iter();
            let realised = parts.map(|record| {
                let long = (record.len() / share).max(4).min(record.len());
                record.first(long).realise(fineness)
            });
            realised.collect()
        };
        let analyse = |simulation: &mut Simulation, models: &[Realisation]| {
            let found = boxes.with_models(simulation, models, |simulation| {
                Self::here(simulation, budget.left())
            });
            here.base().restore(simulation);
            found
        };
        let failed = AnalysisError::NoEigenvalues;
        let first = models(MODELS[0], 1).ok_or(failed)?;
        let mut found = analyse(simulation, &first)?;
        let radius = found.radius();
        let mut spread = 0.0_f64;
        for fineness in &MODELS[1..] {
            if let Some(other) = models(*fineness, 1) {
                let other = analyse(simulation, &other)?.radius();
                spread = spread.max((other - radius).abs());
            }
        }
        let half = match models(MODELS[0], 2) {
            Some(half) => (analyse(simulation, &half)?.radius() - radius).abs(),
            None => f64::INFINITY,
        };
        let fits = records.iter().zip(&first);
        let misfit = fits.map(|(record, model)| record.misfit(model));
        let is_missed = misfit.fold(0.0, f64::max) > 1.0;
        let along = match is_missed {
            true => Along::UNKNOWN,
            false => found.along(simulation, here, boxes, &first, steps, budget)?,
        };
        here.base().restore(simulation);
        let value = found.dominant().value;
        let turned = value.ln().norm() * steps as f64 * found.step / found.duration;
        let coarse = match turned < RESOLVED && value.norm() > 0.0 {
            true => RESOLVED / steps as f64 * (SLOW * along.missed).min(1.0),
            false => 0.0,
        };
        found.doubt(HALF * half + SPREAD * spread + ALONG * along.error + coarse + LEAST);
        Ok(found)
    }

    /// How far the dominant eigenvalue is off by what the models miss along its mode.
    fn along(
        &self,
        simulation: &mut Simulation,
        here: &Chart,
        boxes: &mut BlackBoxes,
        models: &[Realisation],
        steps: usize,
        budget: &TimeBudget,
    ) -> Result<Along, AnalysisError> {
        let value = self.dominant().value;
        let Some(mode) = self.source.mode.clone() else {
            return Ok(Along::UNKNOWN);
        };
        let growth = value.norm().powf(self.step / self.duration);
        if !(1.0 / FAR..FAR).contains(&growth) {
            return Ok(Along {
                error: ROUGHLY * value.norm(),
                missed: 1.0,
            });
        }
        let long = match growth > 1.0 {
            true => GROWTH.ln() / growth.ln(),
            false => DECAY.ln() / growth.ln(),
        };
        let long = long.max(SHORTEST).min(steps as f64) as u64;
        let received = boxes.with_models(simulation, models, |simulation| {
            self.source.chart.apply(simulation, mode.as_slice());
            let mut moved = boxes.received(simulation, long)?;
            self.source.chart.base().restore(simulation);
            // What comes without the mode is not of it.
            let still = boxes.received(simulation, long)?;
            for (moved, still) in moved.iter_mut().flatten().zip(still.iter().flatten()) {
                moved.iter_mut().zip(still).for_each(|(m, s)| *m -= s);
            }
            Ok(moved)
        })?;
        here.base().restore(simulation);
        let misses = boxes.misses(simulation, models, &received, growth)?;
        here.base().restore(simulation);
        let mut error = 0.0;
        let mut all: (f64, f64) = (0.0, 0.0);
        for (one, misses) in misses.iter().enumerate() {
            for (output, &share) in misses.iter().enumerate() {
                budget.allow(std::time::Duration::ZERO)?;
                let change = (one, output, 1.0 + AMPLIFIED);
                let other = boxes.with_amplified(simulation, models, change, |simulation| {
                    Self::here(simulation, budget.left())
                });
                here.base().restore(simulation);
                let moved = nearest(&other?, value);
                error += moved / AMPLIFIED * share;
                all = (all.0 + moved * share, all.1 + moved);
            }
        }
        // A pole that is off by d shows as d times half the record, long before the response does.
        let missed = if all.1 > 0.0 { all.0 / all.1 } else { 0.0 };
        Ok(Along {
            error: error + 2.0 * missed / steps as f64,
            missed,
        })
    }

    /// Takes the eigenvalues for no better known than this.
    fn doubt(&mut self, error: f64) {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        for mode in &mut self.modes {
            mode.error += error;
        }
        let far = self.modes.iter().map(|m| m.value.norm() + m.error);
        self.reach = far.fold(self.reach, f64::max);
    }
}

/// How far the nearest eigenvalue is.
fn nearest(spectrum: &Spectrum, value: Complex<f64>) -> f64 {
    let distances = spectrum.modes.iter().map(|m| (m.value - value).norm());
    let nearest = distances.fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { nearest } else { 0.0 }
}
