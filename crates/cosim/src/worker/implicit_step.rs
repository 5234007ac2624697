//! An implicit step: all units advance again until what they exchange has converged.

use std::sync::atomic::Ordering;

use super::{Busy, Coordinator, Halt, Worker};
use crate::fault::Fault;
use crate::implicit::IterationVerdict;
use crate::incoming::Delivery;
use crate::meeting::Brought;

impl Worker<'_> {
    pub(super) fn implicit_step(
        &mut self,
        n: u64,
        coordinator: &mut Option<&mut dyn Coordinator>,
    ) -> Result<(), Halt> {
        let plan = self.shared.plan;
        let exchange = self.shared.exchange;
        let t = plan.step_time(n + 1);
        let phases = plan.timeline.phases.len();
        for place in 0..self.units.len() {
            let unit = self.unit(place);
            unit.save();
            unit.predict_iterate(t, exchange);
        }
        self.brought = Brought::Iterates;
        self.wait_at_barrier()?;
        self.busy = Busy::Coordinating;
        if let Some(solver) = coordinator
            .as_mut()
            .and_then(|coordinator| coordinator.implicit())
        {
            solver.start(plan, exchange);
        }
        let mut first = true;
        loop {
            for place in 0..self.units.len() {
                let unit = self.unit(place);
                if !first {
                    unit.roll_back();
                }
                unit.pull_iterate(t, exchange);
            }
            first = false;
            let opening = self.epoch;
            for phase in 0..phases {
                let buffer = self.phase(n, phase, true)?.buffer;
                if phase + 1 < phases {
                    for place in 0..self.units.len() {
                        let delivery = Delivery::Phase(phase);
                        self.unit(place).pull(t, exchange, buffer, delivery, n + 1);
                    }
                }
            }
            let phase_of = |id: usize| plan.sends.iter().position(|sends| sends[id]);
            let buffer_of = |id| {
                let phase = phase_of(id).expect("every unit is in the schedule");
                ((opening + phase as u64) % 2) as usize
            };
            self.coordinate_iteration(n, coordinator, buffer_of);
            self.wait_at_barrier()?;
            if self.shared.verdict.load(Ordering::Relaxed) == IterationVerdict::Again as u8 {
                continue;
            }
            for place in 0..self.units.len() {
                self.unit(place).pull_iterate(t, exchange);
            }
            return Ok(());
        }
    }

    fn coordinate_iteration(
        &mut self,
        n: u64,
        coordinator: &mut Option<&mut dyn Coordinator>,
        buffer_of: impl Fn(usize) -> usize,
    ) {
        let plan = self.shared.plan;
        self.busy = Busy::Coordinating;
        let Some(coordinator) = coordinator else {
            return;
        };
        let Some(solver) = coordinator.implicit() else {
            return;
        };
        let verdict = solver.judge(plan, self.shared.exchange, buffer_of);
        let iterations = solver.iterations();
        self.shared.verdict.store(verdict as u8, Ordering::Relaxed);
        match verdict {
            IterationVerdict::Again => {}
            IterationVerdict::Converged => coordinator.iterated(iterations, true),
            IterationVerdict::Accepted => coordinator.iterated(iterations, false),
            IterationVerdict::Failed => {
                let (port, change) = solver.worst(plan);
                let fault = Fault::NotConverged {
                    t: plan.step_time(n + 1),
                    iterations,
                    port,
                    change,
                };
                self.note(0, fault);
            }
        }
    }
}
