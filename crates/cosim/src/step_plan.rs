//! The fixed part of a simulation: everything that a step needs to know and never changes.

use std::borrow::Cow;

use crate::balance::Interface;
use crate::port::Unit;
use crate::recorder::Column;
use crate::schedule::{Schedule, SubsystemId, Timeline};

/// A connection, seen from the coordinator of an implicit step.
pub(crate) struct IteratedConnection {
    /// `subsystem.port` of the sender.
    pub name: String,
    pub sender: SubsystemId,
    /// Place of the sent value in the exchange buffer (first of the two buffers).
    pub sent: usize,
    /// Place of the iterate in the exchange buffer.
    pub iterate: usize,
    pub width: usize,
    pub components: Vec<Cow<'static, str>>,
    pub units: Vec<Unit>,
}

pub(crate) struct StepPlan {
    pub schedule: Schedule,
    pub timeline: Timeline,
    /// For each phase, for each subsystem: does it advance or correct its step, and send, in it?
    pub sends: Vec<Vec<bool>>,
    /// For each phase, for each subsystem: does it close its work integrals again, because forces
    /// that it has already used are corrected in this phase?
    pub recomputes_work: Vec<Vec<bool>>,
    /// Whether a macro step may begin while others still end the last one.
    pub steps_join: bool,
    /// Own macro step of each subsystem as a multiple of the engine's.
    pub every: Vec<u64>,
    /// Whether any of them is longer than one.
    pub has_slow: bool,
    /// Are the outputs of the subsystem evaluated again after the exchange?
    pub updates: Vec<bool>,
    /// How often that is done.
    pub output_update_passes: usize,
    /// How often outputs are exchanged after an event.
    pub event_passes: usize,
    /// Distance between the two halves of the exchange buffer.
    pub stride: usize,
    pub iterated: Vec<IteratedConnection>,
    pub interfaces: Vec<Interface>,
    /// Parts that exchange motions both ways without any interface that could be balanced.
    pub without_energy_balance: Vec<[String; 2]>,
    /// Place of each interface's two works in the exchange buffer.
    pub works: Vec<[usize; 2]>,
    /// Places of the energy cells of all units, if all know their energy.
    pub energies: Option<Vec<usize>>,
    pub columns: Vec<Column>,
    /// Places in the exchange buffer of the leading columns, those that are plain outputs.
    pub output_places: Vec<usize>,
}

impl StepPlan {
    /// Time at a tick of macro step n: always the same bits for the same instant.
    pub fn time(&self, n: u64, tick: u64) -> f64 {
        let steps = match self.timeline.ticks_per_step {
            1 => (n + tick) as f64,
            ticks => n as f64 + tick as f64 / ticks as f64,
        };
        self.schedule.start + self.schedule.step * steps
    }

    /// Time at the start of macro step n.
    pub fn step_time(&self, n: u64) -> f64 {
        self.time(n, 0)
    }

    /// Whether a subsystem's outputs are released at the end of macro step n.
    pub fn releases(&self, subsystem: SubsystemId, n: u64) -> bool {
        let every = self.every[subsystem.0];
        every == 1 || (n + 1).is_multiple_of(every)
    }

    /// Whether a scheduled event falls into macro step n.
    pub fn has_event(&self, n: u64) -> bool {
        let events = &self.schedule.events;
        if events.is_empty() {
            return false;
        }
        let (from, to) = (self.step_time(n), self.step_time(n + 1));
        // An event on a step's end belongs to that step, even when the two differ by rounding.
        let slack = 1e-9 * self.schedule.step;
        let inside = |&event: &f64| event > from + slack && event <= to + slack;
        events.iter().any(inside)
    }
}
