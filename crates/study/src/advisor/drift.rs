//! Couplings that are stable and wrong: the exchange makes or takes energy all the time.

use std::time::{Duration, Instant};

use oldham_cosim::{Cancel, Discard, End, Run, Simulation, Summary};
use oldham_model::Model;
use serde::Serialize;

use super::STEPS;

/// Share of the energy of a model from which on it is told.
const NOTICEABLE: f64 = 0.01;

/// What the exchange of a model does to its energy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The interface that makes or takes most.
    pub interface: String,
    /// What the exchange makes, in J.
    pub made: f64,
    /// The same, relative to the energy that the model has and was supplied.
    pub share: f64,
    /// In so many seconds.
    pub seconds: f64,
}

/// Runs a model for a while, and tells what the exchange makes of its energy if that is more than a little. Nothing where
/// parts do not know their energies, or where there was no time.
pub(crate) fn drift(model: &Model, granted: Duration) -> Option<Drift> {
    let mut simulation = model.simulation().ok()?;
    if simulation.interfaces().is_empty() {
        return None;
    }
    let until = Instant::now() + granted;
    let steps = model.steps().min(STEPS);
    let summary = run(&mut simulation, steps, until)?;
    let (interface, made) = match model.has_monolithic() {
        true => {
            let whole = run(&mut model.monolithic(None).ok()?, steps, until)?;
            // What the integrators make is no matter of the exchange.
            (most(&summary)?.0, summary.imbalance? - whole.imbalance?)
        }
        false => most(&summary)?,
    };
    let ends = [&summary.initial_energy, &summary.final_energy];
    let stored = ends.into_iter().flatten().map(|energy| energy.stored.abs());
    let supplied = summary.final_energy.as_ref()?.supplied.abs();
    let size = stored.fold(0.0, f64::max) + supplied;
    (made.abs() > NOTICEABLE * size).then(|| Drift {
        interface,
        made,
        share: made / size,
        seconds: steps as f64 * model.step(),
    })
}

/// The interface that makes most, with what it makes at least. Where little goes through it, nothing is said.
fn most(summary: &Summary) -> Option<(String, f64)> {
    let least = |made: f64, uncertainty: f64| made.signum() * (made.abs() - uncertainty).max(0.0);
    let all = summary.created.iter().map(|interface| {
        let is_much = interface.share.is_some_and(|share| share > NOTICEABLE);
        let made = match interface.uncertainty.filter(|_| is_much) {
            Some(uncertainty) => least(interface.created, uncertainty),
            None => 0.0,
        };
        (interface, made)
    });
    let found = all.max_by(|(a, x), (b, y)| {
        let made = x.abs().total_cmp(&y.abs());
        made.then(a.created.abs().total_cmp(&b.created.abs()))
    });
    found.map(|(interface, made)| (interface.interface.clone(), made))
}

fn run(simulation: &mut Simulation, steps: u64, until: Instant) -> Option<Summary> {
    let ends = Cancel::default();
    let mut watch = |_| {
        if Instant::now() > until {
            ends.request();
        }
    };
    let outcome = simulation.run(Run {
        record_columns: Some(Vec::new()),
        cancel: Some(ends.clone()),
        progress: Some(&mut watch),
        ..Run::new(steps, &mut Discard)
    });
    (outcome.end == Ok(End::Finished)).then_some(outcome.summary)
}
