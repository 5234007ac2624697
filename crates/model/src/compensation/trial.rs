//! What a compensation does to the motion: a short trial beside the monolithic model. Poles in the
//! right place do not make a good response; a gain that takes nearly all of a mass away leaves a
//! system that answers to everything.

use oldham_compensation::Compensation;
use oldham_cosim::{InMemory, Run, Simulation, SubsystemId};
use oldham_lumped::Integrator;
use oldham_stability::compensate::{Architecture, Site};

use crate::model::Model;

/// Macro steps of a trial, at most.
const STEPS: u64 = 2000;

impl Model {
    /// Largest relative error (root mean square) of the motions at these interfaces over a trial,
    /// without and with compensation. Nothing where there is no monolithic model to compare with, or
    /// where nothing moves in it.
    pub(super) fn trial(
        &self,
        sites: &[Site],
        laws: Vec<(SubsystemId, Compensation)>,
    ) -> Option<[f64; 2]> {
        let plain = self.uncompensated(Vec::new()).ok()?;
        let names = Architecture::new(&plain, sites)
            .ok()?
            .displacement_names(&plain);
        let exact = self.monolithic(Some(Integrator::Exact));
        let exact = exact.or_else(|_| self.monolithic(None)).ok()?;
        let compensated = self.uncompensated(Compensation::joined(laws)).ok()?;
        let steps = self.steps().min(STEPS);
        let reference = motions(exact, &names, steps)??;
        let sizes: Vec<f64> = reference.iter().map(|motion| square(motion)).collect();
        if sizes.iter().all(|size| *size == 0.0) {
            return None;
        }
        let error = |simulation: Simulation| {
            let Some(found) = motions(simulation, &names, steps)? else {
                return Some(f64::INFINITY);
            };
            let pairs = found.iter().zip(&reference).zip(&sizes);
            let moving = pairs.filter(|(_, size)| **size > 0.0);
            let relative = moving.map(|((found, wanted), size)| {
                let differences = found.iter().zip(wanted).map(|(a, b)| a - b);
                (square(&differences.collect::<Vec<_>>()) / size).sqrt()
            });
            Some(relative.fold(0.0, f64::max))
        };
        Some([error(plain)?, error(compensated)?])
    }
}

/// These columns over a run; nothing of a run that failed, and not even that of a model without
/// such columns.
fn motions(
    mut simulation: Simulation,
    names: &[String],
    steps: u64,
) -> Option<Option<Vec<Vec<f64>>>> {
    let columns = simulation.columns();
    let place = |name: &String| columns.iter().position(|column| column.name == *name);
    let columns: Vec<usize> = names.iter().map(place).collect::<Option<_>>()?;
    let count = columns.len();
    let mut memory = InMemory::default();
    let outcome = simulation.run(Run {
        record_columns: Some(columns),
        ..Run::new(steps, &mut memory)
    });
    let histories = (0..count).map(|index| memory.column(index)).collect();
    Some(outcome.end.is_ok().then_some(histories))
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}
