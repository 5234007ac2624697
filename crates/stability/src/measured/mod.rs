//! Parts that cannot be looked into, such as FMUs: linear models of them, from what they answer.
//!
//! Their states can be saved and restored but have no coordinates; where they cannot be saved, fresh instances are led
//! to them, which looks the same from here. So each is driven by itself from the present state:
//! impulses at its inputs (`responses`) give a small linear model (`realisation`), which takes its place in the
//! simulation (`stand_in`). Everything that is known about couplings of native parts is then known about these, too.

mod driver;
mod probe;
mod realisation;
mod realised;
mod responses;
mod stand_in;

use oldham_cosim::{Quantity, Simulation, Subsystem, SubsystemId};

use crate::recurrence::{AnalysisError, TimeBudget};
pub use probe::{Probed, probe};
use realisation::Record;
pub(crate) use realisation::{Fineness, Realisation};
pub use realised::{Realised, realise};
use responses::Responses;
use stand_in::StandIn;

/// Why a part cannot be described by what it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmeasurable {
    /// The same inputs from the same state do not give the same outputs.
    #[error(
        "from the same saved state it answers differently each time; it saves only a part of its state, or depends on something outside of the model"
    )]
    NotRepeatable,
    /// It has no saved state, and fresh instances of it do not give the same outputs.
    #[error(
        "it cannot save its state, and fresh instances of it that are led in the same way answer differently; it depends on something outside of the model"
    )]
    FreshOnesDiffer,
    /// It is not linear from step to step.
    #[error(
        "it answers to small changes of its inputs differently from step to step, with no period of up to 16 steps"
    )]
    NotPeriodic,
    /// No response stands above noise and curvature.
    #[error(
        "what follows from small changes of its inputs does not stand above its noise, or is not proportional to them"
    )]
    Noise,
    /// Orientations do not add up.
    #[error("it receives an orientation, which small changes are not added to")]
    Orientation,
}

/// The parts of a simulation that cannot be looked into, as far as they were measured.
pub(crate) struct BlackBoxes {
    all: Vec<Responses>,
    /// Macro steps in a step of each.
    every: Vec<u64>,
}

impl BlackBoxes {
    /// Looks at them; nothing if there are none.
    pub fn of(simulation: &mut Simulation) -> Result<Option<Self>, AnalysisError> {
        let ids = simulation.black_boxes()?;
        if ids.is_empty() {
            return Ok(None);
        }
        let mut all = Vec::new();
        for &id in &ids {
            let places = connected(simulation, id)?;
            all.push(Responses::of(simulation, id, places)?);
        }
        let macro_step = simulation.schedule().step;
        let mut every = Vec::new();
        for &id in &ids {
            let own = simulation.alone(id, |_, moment| Ok(moment.step))?;
            every.push((own / macro_step).round() as u64);
        }
        Ok(Some(Self { all, every }))
    }

    /// Measures up to so many steps.
    pub fn extend(
        &mut self,
        simulation: &mut Simulation,
        steps: usize,
        budget: &TimeBudget,
    ) -> Result<(), AnalysisError> {
        let mut all = self.all.iter_mut();
        all.try_for_each(|one| one.extend(simulation, steps, budget))
    }

    /// Steps that all of them took.
    pub fn steps(&self) -> u64 {
        self.all.iter().map(|one| one.steps).sum()
    }

    /// What was measured.
    pub fn records(&self) -> Vec<Record> {
        self.all.iter().map(Responses::record).collect()
    }

    /// The simulation with a model in the place of each.
    pub fn with_models<T>(
        &self,
        simulation: &mut Simulation,
        models: &[Realisation],
        work: impl FnOnce(&mut Simulation) -> Result<T, AnalysisError>,
    ) -> Result<T, AnalysisError> {
        self.with(simulation, self.stand_ins(simulation, models), work)
    }

    fn stand_ins(&self, simulation: &Simulation, models: &[Realisation]) -> Vec<StandIn> {
        let pairs = self.all.iter().zip(models);
        let stand_in = |(one, model): (&Responses, &Realisation)| {
            StandIn::new(simulation.ports(one.id), one, model.clone())
        };
        pairs.map(stand_in).collect()
    }

    fn with<T>(
        &self,
        simulation: &mut Simulation,
        stand_ins: Vec<StandIn>,
        work: impl FnOnce(&mut Simulation) -> Result<T, AnalysisError>,
    ) -> Result<T, AnalysisError> {
        let mut kept: Vec<Box<dyn Subsystem>> = Vec::new();
        for (one, stand_in) in self.all.iter().zip(stand_ins) {
            kept.push(simulation.replace(one.id, Box::new(stand_in)));
        }
        let worked = work(simulation);
        for (one, part) in self.all.iter().zip(kept) {
            simulation.replace(one.id, part);
        }
        worked
    }

    /// The same with one output of one of them amplified.
    pub fn with_amplified<T>(
        &self,
        simulation: &mut Simulation,
        models: &[Realisation],
        (one, output, factor): (usize, usize, f64),
        work: impl FnOnce(&mut Simulation) -> Result<T, AnalysisError>,
    ) -> Result<T, AnalysisError> {
        let mut stand_ins = self.stand_ins(simulation, models);
        stand_ins[one].amplify(output, factor);
        self.with(simulation, stand_ins, work)
    }

    /// What each receives while the simulation, with models in their places, takes so many macro steps.
    pub fn received(
        &self,
        simulation: &mut Simulation,
        steps: u64,
    ) -> Result<Vec<Vec<Vec<f64>>>, AnalysisError> {
        let mut received = vec![Vec::new(); self.all.len()];
        for n in 1..=steps {
            simulation.steps(1)?;
            for (index, one) in self.all.iter().enumerate() {
                if n % self.every[index] == 0
                    && let Some(stand_in) = simulation.known::<StandIn>(one.id)
                {
                    received[index].push(stand_in.last_changes().to_vec());
                }
            }
        }
        Ok(received)
    }

    /// Drives each part itself, and its model, by what is received along a mode that grows by a factor in each of its steps:
    /// how far the model is off at each output, relative to its answer.
    pub fn misses(
        &mut self,
        simulation: &mut Simulation,
        models: &[Realisation],
        received: &[Vec<Vec<f64>>],
        growth: f64,
    ) -> Result<Vec<Vec<f64>>, AnalysisError> {
        let stand_ins = self.stand_ins(simulation, models);
        let mut misses = Vec::new();
        for (index, mut stand_in) in stand_ins.into_iter().enumerate() {
            let one = &mut self.all[index];
            let in_a_step = growth.powf(self.every[index] as f64);
            let scale = scale(&received[index], &one.sizes);
            let scaled = |changes: &Vec<f64>| changes.iter().map(|c| c * scale).collect();
            let changes: Vec<Vec<f64>> = received[index].iter().map(scaled).collect();
            let played = one.play(simulation, &changes)?;
            let changes_count = changes.len();
            let width = one.outputs.len();
            let (mut off, mut answer) = (vec![0.0; width], vec![0.0; width]);
            for (n, (changes, played)) in changes.iter().zip(&played).enumerate() {
                stand_in.push(changes);
                // What grows stands above the noise in the end.
                if growth > 1.0 && 3 * n < 2 * changes_count {
                    continue;
                }
                let weight = in_a_step.powi(n as i32).powi(-2);
                for i in 0..width {
                    let expected = stand_in.changes()[i];
                    off[i] += weight * (played[i] - expected).powi(2);
                    answer[i] += weight * expected.powi(2);
                }
            }
            let pairs = off.iter().zip(&answer);
            let share = |(off, answer): (&f64, &f64)| match *answer > 0.0 {
                true => (off / answer).sqrt(),
                false => 0.0,
            };
            misses.push(pairs.map(share).collect());
        }
        Ok(misses)
    }
}

/// A factor that makes changes as large as impulses.
fn scale(changes: &[Vec<f64>], sizes: &[f64]) -> f64 {
    let mut largest = 0.0_f64;
    for changes in changes {
        for (place, change) in changes.iter().enumerate() {
            largest = largest.max(change.abs() / sizes[place % sizes.len()]);
        }
    }
    1.0 / largest.max(f64::MIN_POSITIVE)
}

/// Places of the inputs of a part that are connected and carry what may grow.
fn connected(simulation: &mut Simulation, id: SubsystemId) -> Result<Vec<usize>, AnalysisError> {
    let ports = simulation.ports(id);
    let mut places = Vec::new();
    for connection in simulation.connections() {
        if connection.to != id {
            continue;
        }
        let ranges = (0..ports.inputs().len()).map(oldham_cosim::InputPort);
        let port = ranges
            .into_iter()
            .find(|&port| ports.input_range(port).start == connection.input);
        let Some(port) = port else { continue };
        let quantity = &ports.inputs()[port.0].quantity;
        if *quantity == Quantity::Motion {
            let part = simulation.names().nth(id.0).unwrap_or_default().to_owned();
            let reason = Unmeasurable::Orientation;
            return Err(AnalysisError::Unmeasurable { part, reason });
        }
        if quantity.is_coordinate() && !quantity.is_held() {
            places.extend(ports.input_range(port));
        }
    }
    places.sort_unstable();
    Ok(places)
}
