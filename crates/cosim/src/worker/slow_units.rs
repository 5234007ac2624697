//! What a worker does with its slow units: their steps begin, what arrives is kept for them, and they
//! are waited for where the schedule says so.

use super::Worker;
use crate::fault::Fault;
use crate::incoming::Delivery;
use crate::schedule::SubsystemId;
use crate::unit::Unit;

impl Worker<'_> {
    /// The slow members of a phase: their steps begin, and what they release is published.
    #[inline(never)]
    pub(super) fn advance_slow(&mut self, n: u64, phase: usize, buffer: usize) {
        let plan = self.shared.plan;
        let span = &plan.timeline.phases[phase];
        let (from, to) = (plan.time(n, span.from), plan.time(n, span.to));
        for place in 0..self.slow.len() {
            let slow = &mut self.slow[place];
            let (id, every) = (SubsystemId(slow.id), slow.every);
            if !plan.sends[phase][id.0] {
                continue;
            }
            if n.is_multiple_of(every) {
                slow.begin(from, plan.step_time(n + every));
            }
            if plan.releases(id, n) {
                let exchange = self.shared.exchange;
                self.with_slow(place, |unit| {
                    unit.release();
                    unit.publish(to, exchange, buffer);
                    Ok(())
                });
            }
        }
    }

    /// What a phase has sent, for the slow units.
    #[inline(never)]
    pub(super) fn deliver_to_slow(&mut self, n: u64, phase: usize, buffer: usize) {
        let plan = self.shared.plan;
        let span = &plan.timeline.phases[phase];
        let t = plan.time(n, span.to);
        self.pull_slow(t, buffer, Delivery::Phase(phase), n + 1);
        for place in 0..self.slow.len() {
            if plan.recomputes_work[phase][self.slow[place].id] {
                let h = t - plan.time(n, span.from);
                self.with_slow(place, |unit| {
                    unit.recompute_work(t, h);
                    Ok(())
                });
            }
        }
    }

    /// Delivers what was sent at time t to the slow units.
    pub(super) fn pull_slow(&mut self, t: f64, buffer: usize, delivery: Delivery, steps_done: u64) {
        for slow in &mut self.slow {
            let pulled = slow.pull(t, self.shared.exchange, buffer, delivery, steps_done);
            if let Err(fault) = pulled {
                self.shared.note(self.epoch, slow.id, fault);
            }
        }
    }

    pub(super) fn send_slow_again(&mut self, place: usize, t: f64, buffer: usize) {
        let exchange = self.shared.exchange;
        self.with_slow(place, |unit| {
            unit.evaluate(t)?;
            unit.release();
            unit.publish(t, exchange, buffer);
            Ok(())
        });
    }

    /// Does something with a slow unit at hand.
    pub(super) fn with_slow(
        &mut self,
        place: usize,
        work: impl FnOnce(&mut Unit) -> Result<(), Fault>,
    ) {
        let slow = &mut self.slow[place];
        let id = slow.id;
        let t = self.shared.plan.step_time(self.step);
        let done = slow.complete(t).and_then(|unit| match unit {
            Some(unit) => unit.guarded(t, work),
            None => Ok(()),
        });
        if let Err(fault) = done {
            self.note(id, fault);
        }
    }

    /// All slow units have advanced and received what was sent to them: the state is whole.
    pub(super) fn complete_slow_units(&mut self) {
        for place in 0..self.slow.len() {
            self.with_slow(place, |_| Ok(()));
        }
    }
}
