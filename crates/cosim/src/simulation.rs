//! The simulation: units, plan and exchange buffer.

use std::any::Any;
use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abilities::{Accuracy, Energy, Linearisation};
use crate::barrier::Barrier;
use crate::dial::{Dial, ExternalInput};
use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::implicit::ImplicitSolver;
use crate::incoming::IncomingConnection;
use crate::pace::Begun;
use crate::port::Ports;
use crate::ranks::Company;
use crate::recorder::Column;
use crate::schedule::{Coupling, Schedule, SubsystemId};
use crate::state::{State, Visitor, part_can_be_kept};
use crate::step_plan::StepPlan;
use crate::subsystem::{StepError, Subsystem};
use crate::summary::Tally;
use crate::switches::Switches;
use crate::unit::{Unit, panic_message};
use crate::worker::{Coordinator, Every, Reporting, Shared, Worker};

/// A co-simulation, ready to run. Made by [`crate::Builder`].
pub struct Simulation {
    pub(crate) units: Vec<Unit>,
    pub(crate) plan: StepPlan,
    pub(crate) exchange: ExchangeBuffer,
    pub(crate) implicit: Option<ImplicitSolver>,
    /// Macro steps done.
    pub(crate) steps_done: u64,
    pub(crate) tally: Tally,
    /// The ranks that share it, if several do.
    pub(crate) company: Option<Company>,
    /// The unit whose state was visited last: a panic there is blamed on it.
    visited: usize,
}

impl Simulation {
    pub(crate) fn start(
        units: Vec<Unit>,
        plan: StepPlan,
        exchange: ExchangeBuffer,
    ) -> Result<Self, Fault> {
        let implicit = match &plan.schedule.coupling {
            Coupling::Implicit(settings) => Some(ImplicitSolver::new(settings, &plan)),
            Coupling::Explicit => None,
        };
        let mut simulation = Self {
            units,
            plan,
            exchange,
            implicit,
            steps_done: 0,
            tally: Tally::default(),
            company: None,
            visited: 0,
        };
        simulation.tally.notes = simulation
            .plan
            .without_energy_balance
            .iter()
            .map(no_energy_balance)
            .collect();
        simulation.exchange_initially()?;
        let t = simulation.time();
        for unit in &mut simulation.units {
            unit.guarded(t, |unit| {
                unit.begin(t);
                Ok(())
            })?;
        }
        simulation.tally.initial_energy = simulation.energies()?;
        Ok(simulation)
    }

    /// Does one macro step on this thread.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.steps(1)
    }

    /// Does some macro steps on this thread, without recording, watching or timing them: for
    /// analyses that take many short looks.
    pub fn steps(&mut self, count: u64) -> Result<(), Fault> {
        let Some(ahead) = count.checked_sub(1) else {
            return Ok(());
        };
        let alone = Barrier::new(1);
        let shared = Shared::new(&self.plan, &self.exchange, 1, &alone, None);
        let reporting = Reporting {
            record: Every::never(),
            watch: Every::never(),
            tap: Every::never(),
            record_energy: false,
            record_work: false,
            last: self.steps_done + ahead,
        };
        let mut coordinator = SilentCoordinator(self.implicit.as_mut());
        let units = self.units.iter_mut().enumerate().collect();
        let mut worker = Worker::new(0, units, &[], &shared, reporting);
        self.steps_done += worker.run(self.steps_done, Some(&mut coordinator));
        drop(worker);
        shared.into_fault().map_or(Ok(()), Err)
    }

    /// From now on implicit steps and the equations of the parts are iterated until rounding stops
    /// them, so that small differences of the state show in the result.
    pub fn sharpen(&mut self) -> Result<(), Fault> {
        let t = self.time();
        for unit in &mut self.units {
            unit.asked(t, |part| part.accuracy().map(Accuracy::sharpen))?;
        }
        if let Some(implicit) = &mut self.implicit {
            implicit.sharpen();
        }
        Ok(())
    }

    /// Whether the work at interfaces is accounted for from now on, as it is at first. Analyses
    /// that take thousands of steps and look at the motion only do without: it takes a prediction
    /// of the inputs and an evaluation of the outputs in each step.
    pub fn track_work(&mut self, keep: bool) {
        let t = self.time();
        self.units
            .iter_mut()
            .for_each(|unit| unit.track_work(keep, t));
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        self.plan.step_time(self.steps_done)
    }

    /// Macro steps done since the initial time.
    pub fn steps_done(&self) -> u64 {
        self.steps_done
    }

    /// Macro steps after which the pattern of advances repeats.
    pub fn period(&self) -> u64 {
        let units = self.units.iter();
        let multiples = units.map(|unit| unit.every * unit.pattern);
        multiples.fold(1, crate::schedule::least_common_multiple)
    }

    /// The schedule it was built with.
    pub fn schedule(&self) -> &Schedule {
        &self.plan.schedule
    }

    /// Whether any part corrects its steps for what arrives after it has advanced.
    pub fn corrects_steps(&self) -> bool {
        !self.plan.schedule.corrected().is_empty()
    }

    /// All quantities that can be recorded, in the order of the recorder's rows.
    pub fn columns(&self) -> &[Column] {
        &self.plan.columns
    }

    /// Names of the interfaces whose energy is balanced.
    pub fn interfaces(&self) -> Vec<&str> {
        let interfaces = self.plan.interfaces.iter();
        interfaces
            .map(|interface| interface.name.as_str())
            .collect()
    }

    /// The name of the first interface between two subsystems.
    pub fn interface_between(&self, a: SubsystemId, b: SubsystemId) -> Option<&str> {
        let joins = |interface: &&crate::balance::Interface| {
            let units = interface.sides.map(|(unit, _)| unit);
            units == [a.0, b.0] || units == [b.0, a.0]
        };
        let mut interfaces = self.plan.interfaces.iter();
        interfaces.find(joins).map(|interface| &*interface.name)
    }

    /// Energy that the exchange has created so far, for each interface, the exchange at the time
    /// reached included.
    pub fn created(&mut self) -> Vec<f64> {
        self.take_stock();
        let works = |&(unit, work_index): &(usize, usize)| self.units[unit].work_at(work_index);
        let interfaces = self.plan.interfaces.iter();
        interfaces
            .map(|interface| interface.created([0, 1].map(|side| works(&interface.sides[side]))))
            .collect()
    }

    /// Opens the work integrals of the coming step. One that cannot say what its outputs are keeps
    /// the work integral of the last step: its fault shows when it advances.
    pub(crate) fn take_stock(&mut self) {
        let (t, steps) = (self.time(), self.steps_done);
        for unit in &mut self.units {
            if steps.is_multiple_of(unit.every) {
                let _ = unit.guarded(t, |unit| unit.take_stock(t));
            }
        }
    }

    /// The dial of an external input.
    pub fn dial(&self, name: &str) -> Option<Dial> {
        let inputs = self.units.iter().flat_map(|unit| unit.inputs.external());
        let mut named = inputs.filter(|input| input.name == name);
        named.next().map(ExternalInput::dial)
    }

    /// Names of the external inputs, and how many numbers each has.
    pub fn external_inputs(&self) -> Vec<(&str, usize)> {
        let inputs = self.units.iter().flat_map(|unit| unit.inputs.external());
        inputs
            .map(|input| (&*input.name, input.held().len()))
            .collect()
    }

    /// Plays an external input back: its values in each macro step from the initial time on, one
    /// after the other, as an earlier run recorded them at the *end* of each step. Dials are not
    /// heard then. Says whether there is such an input.
    pub fn replay(&mut self, name: &str, values: &[f64]) -> bool {
        let mut units = self.units.iter_mut();
        let input = units.find_map(|unit| unit.inputs.external_mut(name));
        let is_there = input.is_some();
        if let Some(input) = input {
            input.replay(values.into());
        }
        is_there
    }

    /// Finds a subsystem by name.
    pub fn find(&self, name: &str) -> Option<SubsystemId> {
        let found = self.units.iter().position(|unit| unit.name == name);
        found.map(SubsystemId)
    }

    /// Names of the subsystems.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.units.iter().map(|unit| unit.name.as_str())
    }

    /// The ports of a subsystem.
    pub fn ports(&self, id: SubsystemId) -> &Ports {
        &self.units[id.0].ports
    }

    /// A subsystem itself, for analyses.
    pub fn subsystem(&mut self, id: SubsystemId) -> &mut dyn Subsystem {
        self.units[id.0].subsystem.as_mut()
    }

    /// A subsystem of a known type, for analyses that know more of it.
    pub fn known<S: Subsystem>(&self, id: SubsystemId) -> Option<&S> {
        let subsystem: &dyn Any = self.units[id.0].subsystem.as_ref();
        subsystem.downcast_ref()
    }

    /// The same, to be changed.
    pub fn known_mut<S: Subsystem>(&mut self, id: SubsystemId) -> Option<&mut S> {
        let subsystem: &mut dyn Any = self.units[id.0].subsystem.as_mut();
        subsystem.downcast_mut()
    }

    /// The linearisation of a subsystem at the time reached, with the inputs as they are known;
    /// nothing where it has none.
    pub fn linearise(&mut self, id: SubsystemId) -> Result<Option<Linearisation>, Fault> {
        let t = self.time();
        let found = self.units[id.0].linear(t, |part, inputs| part.linearise(t, inputs));
        Ok(found?.flatten())
    }

    /// Why the last linearisation of a subsystem gave nothing, as far as it says.
    pub fn not_linear(&mut self, id: SubsystemId) -> Result<Option<String>, Fault> {
        let t = self.time();
        let found = self.units[id.0].linear(t, |part, _| part.not_linear());
        Ok(found?.flatten())
    }

    /// Names of the states of that linearisation; none if they mean nothing by themselves.
    pub fn state_names(&mut self, id: SubsystemId) -> Result<Vec<String>, Fault> {
        let t = self.time();
        let found = self.units[id.0].linear(t, |part, _| part.state_names());
        Ok(found?.unwrap_or_default())
    }

    /// All connections, with places in the flat vectors of their subsystems.
    pub fn connections(&self) -> Vec<ConnectionRange> {
        let of_receiver = |(index, unit): (usize, &Unit)| {
            let to = SubsystemId(index);
            let connected = |incoming_connection: &IncomingConnection| ConnectionRange {
                from: incoming_connection.sender,
                output: incoming_connection.sent
                    - self.units[incoming_connection.sender.0].places.outputs,
                to,
                input: incoming_connection.input.start,
                width: incoming_connection.input.len(),
                gain: incoming_connection.scale.map_or(1.0, |scale| scale.gain),
            };
            unit.incoming
                .all()
                .iter()
                .map(connected)
                .collect::<Vec<_>>()
        };
        self.units
            .iter()
            .enumerate()
            .flat_map(of_receiver)
            .collect()
    }

    /// The last outputs that a subsystem sent.
    pub fn outputs(&self, id: SubsystemId) -> &[f64] {
        self.units[id.0].visible_outputs()
    }

    /// The last value of a recorded quantity that a subsystem sends, by its place among the
    /// [columns](Self::columns); nothing for energies and inputs.
    pub fn value(&self, column: usize) -> Option<f64> {
        let place = *self.plan.output_places.get(column)?;
        let mut units = self.units.iter();
        units.find_map(|unit| {
            let offset = place.checked_sub(unit.places.report)?;
            unit.visible_outputs().get(offset).copied()
        })
    }

    /// How many coordinates of the state belong to each subsystem and what it receives, in their order.
    pub fn coordinate_counts(&mut self) -> Vec<(String, usize)> {
        let counts = self.units.iter_mut().map(|unit| {
            let mut size = Coordinates(0);
            unit.visit(&mut size);
            (unit.name.clone(), size.0)
        });
        counts.collect()
    }

    /// Starts the energy balance at the present state: it leaves out the motion that led there.
    pub fn begin_energy_here(&mut self) -> Result<(), Fault> {
        let energies = self.energies()?;
        let begun = |energy: Energy| Energy {
            potential: energy.potential + energy.dissipated - energy.supplied,
            ..energy
        };
        self.tally.initial_energy = energies.map(|all| all.into_iter().map(begun).collect());
        Ok(())
    }

    /// The energy of the whole model, if every part knows its own.
    pub fn energy(&mut self) -> Option<Energy> {
        let energies = self.energies().ok()??;
        Some(energies.into_iter().fold(Energy::default(), Energy::add))
    }

    /// The energies of the parts, if all know theirs.
    pub(crate) fn energies(&mut self) -> Result<Option<Vec<Energy>>, Fault> {
        let t = self.time();
        let mut energies = Vec::with_capacity(self.units.len());
        for unit in &mut self.units {
            match unit.guarded(t, |unit| Ok(unit.energy(t)))? {
                Some(energy) => energies.push(energy),
                None => return Ok(None),
            }
        }
        Ok(Some(energies))
    }

    /// Work with the state of all parts, where a panic is a fault of the part that was visited.
    pub(crate) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T, Fault> {
        self.visited = 0;
        let attempt = catch_unwind(AssertUnwindSafe(|| work(self)));
        attempt.map_err(|panic| Fault::Panic {
            subsystem: self.units[self.visited].name.clone(),
            t: self.time(),
            message: panic_message(panic.as_ref()),
        })
    }

    /// On which side of their kinks all parts are.
    pub fn switches(&mut self) -> Result<Switches, Fault> {
        let t = self.time();
        let mut found = Switches::default();
        for unit in &mut self.units {
            unit.guarded(t, |unit| {
                unit.switches(t, &mut found);
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// The parts that can be saved and restored but not looked into: no part of their state has coordinates.
    pub fn black_boxes(&mut self) -> Result<Vec<SubsystemId>, Fault> {
        let t = self.time();
        let mut found = Vec::new();
        for (index, unit) in self.units.iter_mut().enumerate() {
            let is_opaque = |part: &mut dyn Subsystem| {
                part.state().is_some_and(|state| {
                    let mut size = Coordinates(0);
                    state.visit(&mut size);
                    size.0 == 0 && !state.is_chartable()
                })
            };
            if unit.asked(t, is_opaque)? {
                found.push(SubsystemId(index));
            }
        }
        Ok(found)
    }

    /// Works with a subsystem by itself, given the time reached, the duration of its own macro step, and its inputs as
    /// they are known. What it does to the state of the subsystem is left to it.
    pub fn alone<T>(
        &mut self,
        id: SubsystemId,
        work: impl FnOnce(&mut dyn Subsystem, Moment<'_>) -> Result<T, StepError>,
    ) -> Result<T, Fault> {
        let t = self.time();
        let step = self.plan.schedule.step;
        let unit = &mut self.units[id.0];
        let step = step * unit.every as f64;
        unit.guarded(t, |unit| unit.alone(t, step, work))
    }

    /// Puts another subsystem with the same ports in the place of one, which is given back: a model of it, for an
    /// analysis.
    ///
    /// # Panics
    /// If their inputs or outputs are not alike.
    pub fn replace(&mut self, id: SubsystemId, other: Box<dyn Subsystem>) -> Box<dyn Subsystem> {
        self.units[id.0].replace(other)
    }

    /// The first part whose state has no coordinates, though it can be saved.
    pub fn part_without_chart(&mut self) -> Result<Option<String>, Fault> {
        let own = self.part_that(|part| part.state().is_some_and(|state| !state.is_chartable()))?;
        if own.is_some() {
            return Ok(own);
        }
        // Predictors and sources have state, too.
        let t = self.time();
        for unit in &mut self.units {
            if !unit.guarded(t, |unit| Ok(unit.inputs.is_chartable()))? {
                return Ok(Some(unit.name.clone()));
            }
        }
        Ok(None)
    }

    /// The first part that cannot be saved and restored.
    pub fn part_without_state(&mut self) -> Result<Option<String>, Fault> {
        self.part_that(|part| part.state().is_none())
    }

    /// Lets parts that cannot be saved, but made anew, return to a state by being led there again: for analyses. The first
    /// that cannot be led to where it is is named, with the reason.
    pub fn allow_replays(&mut self) -> Result<Option<(String, String)>, Fault> {
        let t = self.time();
        for unit in &mut self.units {
            let allowed = unit.asked(t, |part| {
                let is_needed = part.state().is_none();
                let replay = part.replay().filter(|_| is_needed);
                replay.map_or(Ok(()), |replay| replay.by_replay())
            })?;
            if let Err(reason) = allowed {
                return Ok(Some((unit.name.clone(), reason)));
            }
        }
        Ok(None)
    }

    /// The first part whose state cannot be written to disk.
    pub fn part_without_bytes(&mut self) -> Result<Option<String>, Fault> {
        self.part_that(|part| part.state().is_some_and(|state| !part_can_be_kept(state)))
    }

    fn part_that(
        &mut self,
        holds: impl Fn(&mut dyn Subsystem) -> bool,
    ) -> Result<Option<String>, Fault> {
        let t = self.time();
        for unit in &mut self.units {
            if unit.asked(t, &holds)? {
                return Ok(Some(unit.name.clone()));
            }
        }
        Ok(None)
    }
}

fn no_energy_balance(parts: &[String; 2]) -> String {
    let [a, b] = parts;
    format!(
        "the energy error between `{a}` and `{b}` is not monitored, because their ports are not power-conjugate: neither sends a force that belongs to a motion it receives"
    )
}

/// When and with what a subsystem is worked with by itself.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The time reached.
    pub time: f64,
    /// The duration of its macro step.
    pub step: f64,
    /// All its inputs.
    pub inputs: &'a [f64],
}

/// A connection between two subsystems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionRange {
    /// The sender.
    pub from: SubsystemId,
    /// First component in its output vector.
    pub output: usize,
    /// The receiver.
    pub to: SubsystemId,
    /// First component in its input vector.
    pub input: usize,
    /// Number of components.
    pub width: usize,
    /// The factor with which they are received.
    pub gain: f64,
}

/// Counts coordinates.
struct Coordinates(usize);

impl Visitor for Coordinates {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        self.0 += values.len();
    }
    fn rotation(&mut self, _: &mut [f64; 4]) {
        self.0 += 3;
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
}

/// Coordinates implicit steps and nothing else.
struct SilentCoordinator<'a>(Option<&'a mut ImplicitSolver>);

impl Coordinator for SilentCoordinator<'_> {
    fn implicit(&mut self) -> Option<&mut ImplicitSolver> {
        self.0.as_deref_mut()
    }
    fn iterated(&mut self, _iterations: usize, _converged: bool) {}
    fn reported(&mut self, _: u64, _: &Reporting, _: &Shared<'_>) -> Result<(), Fault> {
        Ok(())
    }
    fn begins(&mut self, _: Begun) {}
    fn stepped(&mut self, _: u64, _: &Shared<'_>) -> bool {
        true
    }
}

/// The complete state: all parts with their predictors, histories and work integrals.
impl State for Simulation {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.steps_done);
        for (index, unit) in self.units.iter_mut().enumerate() {
            self.visited = index;
            unit.visit(visitor);
        }
        if let Some(implicit) = &mut self.implicit {
            implicit.visit(visitor);
        }
    }
}
