//! Settings that all help, the one with the smallest error first.

use std::time::{Duration, Instant};

use oldham_model::Model;

use super::cost::{Cost, Prices};
use super::reference::{Limits, Reference};
use super::trial::off;
use super::{ROUNDING, order_by};
use crate::{ModelFile, Settings};

/// Macro steps that are run for it.
const STEPS: u64 = 500;
/// What things cost where nothing is measured.
const PRICES: Prices = Prices {
    advance: 4.0,
    exchange: 1.0,
};
/// How errors are taken to fall with the step.
const ORDER: f64 = 2.0;

/// Ranks settings of a model by their errors at equal cost in short runs. Where there is no reference in the time, they stay
/// as they are.
pub(crate) fn rank(
    file: &ModelFile,
    model: &Model,
    settings: &mut Vec<Settings>,
    granted: Duration,
) {
    let limits = Limits {
        until: Instant::now() + granted,
        cancel: None,
    };
    let steps = model.steps().min(STEPS);
    let Ok(reference) = Reference::of(model, steps, limits) else {
        return;
    };
    let floor = ROUNDING.max(2.0 * reference.error.unwrap_or(0.0));
    let error = |changes: &Settings| -> Option<f64> {
        if !limits.has_time() {
            return None;
        }
        let model = file.with(changes).read().ok()?;
        let mut simulation = model.simulation().ok()?;
        let found = off(&mut simulation, &model, &reference, steps, limits);
        let found = found.ok()?.ok()?;
        let cost = Cost::counted(&simulation, &found.summary).at(PRICES, Cost::unit());
        Some(found.error.max(floor) * cost.relative.powf(ORDER))
    };
    let errors: Vec<Option<f64>> = settings.iter().map(error).collect();
    let order = order_by(settings.len(), |index| {
        errors[index].unwrap_or(f64::INFINITY)
    });
    *settings = order
        .into_iter()
        .map(|index| settings[index].clone())
        .collect();
}
