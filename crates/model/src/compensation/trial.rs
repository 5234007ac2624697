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

/// A trial is followed for so many times its length: a pole that is slightly wrong shows late.
const LENGTHS: u64 = 4;

impl Model {
    /// Largest relative error (root mean square) of the motions at these interfaces, without and with compensation: over a trial and
    /// over two and four times as long, whichever speaks most against the compensation. Nothing where there is no monolithic model
    /// to compare with, or where nothing moves in it.
    pub(super) fn trial(
        &self,
        sites: &[Site],
        laws: Vec<(SubsystemId, Compensation)>,
    ) -> Option<[f64; 2]> {
        let plain = self.uncompensated(Vec::new()).ok()?;
        let names = Architecture::new(&plain, sites)
            .ok()?
            .displacement_names(&plain);
        let exact = || {
            let exact = self.monolithic(Some(Integrator::Exact));
            exact.or_else(|_| self.monolithic(None)).ok()
        };
        let once = self.steps().min(STEPS);
        // A model may end where its duration does, as tables of loads do.
        let (steps, reference) = match motions(exact()?, &names, LENGTHS * once)? {
            Some(reference) => (LENGTHS * once, reference),
            None => (once, motions(exact()?, &names, once)??),
        };
        let compensated = self.uncompensated(Compensation::joined(laws)).ok()?;
        let runs = [
            motions(plain, &names, steps)?,
            motions(compensated, &names, steps)?,
        ];
        let lengths = [1, 2, LENGTHS].map(|times| times * once);
        let lengths = lengths.into_iter().filter(|&length| length <= steps);
        let errors = lengths.filter_map(|length| {
            let [without, with] = &runs;
            let over = |run| error(run, &reference, length as usize);
            Some([over(without)?, over(with)?])
        });
        errors.max_by(|a, b| harm(a).total_cmp(&harm(b)))
    }
}

/// How much larger an error is with compensation than without.
fn harm([without, with]: &[f64; 2]) -> f64 {
    match with.is_finite() {
        true if with == without => 1.0,
        true => with / without,
        false => f64::INFINITY,
    }
}

/// Largest relative error of these motions over so many steps, infinite for a run that failed; nothing where nothing moves.
fn error(found: &Option<Vec<Vec<f64>>>, reference: &[Vec<f64>], steps: usize) -> Option<f64> {
    let first = |motion: &[f64]| motion.len().min(steps + 1);
    let moving = |motion: &[f64]| square(motion[..first(motion)].iter().copied());
    let sizes: Vec<f64> = reference.iter().map(|motion| moving(motion)).collect();
    if sizes.iter().all(|size| *size == 0.0) {
        return None;
    }
    let Some(found) = found else {
        return Some(f64::INFINITY);
    };
    let pairs = found.iter().zip(reference).zip(sizes);
    let moving = pairs.filter(|(_, size)| *size > 0.0);
    let relative = moving.map(|((found, wanted), size)| {
        let differences = found.iter().zip(wanted).map(|(a, b)| a - b);
        (square(differences.take(first(wanted))) / size).sqrt()
    });
    Some(relative.fold(0.0, f64::max))
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

fn square(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}
