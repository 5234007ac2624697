//! What is evaluated and sent once more at a communication point: output updates, restarts after events.

use super::{Busy, Halt, Worker};
use crate::incoming::Delivery;
use crate::meeting::Brought;
use crate::schedule::SubsystemId;

impl Worker<'_> {
    /// Evaluates outputs that depend on the inputs of this instant once more, with what has just arrived: samples, and
    /// where the schedule asks for it all direct feedthrough.
    pub(super) fn update_outputs(&mut self, n: u64) -> Result<(), Halt> {
        let plan = self.shared.plan;
        let updates = |id: usize| plan.updates[id] && plan.releases(SubsystemId(id), n);
        self.exchange_again(n, updates, Delivery::OutputUpdate)
    }

    /// An event is a discontinuity: all units discard their history, and exchange what they are now
    /// until jumps of forces and accelerations have reached everybody. A unit in the middle of a
    /// longer step of its own is already beyond this time, and shows nothing of it.
    pub(super) fn restart_after_event(&mut self, n: u64) -> Result<(), Halt> {
        let plan = self.shared.plan;
        (0..self.units.len()).for_each(|place| self.unit(place).restart());
        for place in 0..self.slow.len() {
            self.with_slow(place, |unit| {
                unit.restart();
                Ok(())
            });
        }
        let is_here = |id: usize| plan.releases(SubsystemId(id), n);
        (0..plan.event_passes).try_for_each(|_| self.exchange_again(n, is_here, Delivery::All))
    }

    /// Some units send what they are at the end of step n; all take what is delivered to them.
    fn exchange_again(
        &mut self,
        n: u64,
        sends: impl Fn(usize) -> bool,
        delivery: Delivery,
    ) -> Result<(), Halt> {
        let t = self.shared.plan.step_time(n + 1);
        let buffer = self.buffer();
        for place in 0..self.units.len() {
            if sends(self.units[place].0) {
                self.send_again(place, t, buffer);
            }
        }
        for place in 0..self.slow.len() {
            if sends(self.slow[place].id) {
                self.send_slow_again(place, t, buffer);
            }
        }
        self.brought = Brought::Outputs(buffer);
        self.wait_at_barrier()?;
        for place in 0..self.units.len() {
            let exchange = self.shared.exchange;
            self.unit(place).pull(t, exchange, buffer, delivery, n + 1);
        }
        self.pull_slow(t, buffer, delivery, n + 1);
        Ok(())
    }

    /// Evaluates and publishes the outputs of a unit at the time it has reached.
    fn send_again(&mut self, place: usize, t: f64, buffer: usize) {
        self.busy = Busy::With(place);
        let (id, unit) = &mut self.units[place];
        match unit.evaluate(t) {
            Ok(()) => {
                unit.release();
                unit.publish(t, self.shared.exchange, buffer);
            }
            Err(fault) => {
                let id = *id;
                self.note(id, fault);
            }
        }
    }
}
