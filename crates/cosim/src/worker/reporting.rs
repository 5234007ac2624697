//! Which steps the coordinator hears of, and what it is told.

use super::{Busy, Coordinator, Halt, Worker};
use crate::schedule::SubsystemId;
use crate::unit::ReportRequest;

/// Which steps are reported to the coordinator.
#[derive(Clone, Copy)]
pub(crate) struct Reporting {
    /// The row is recorded after these steps ...
    pub record: Every,
    /// ... and the energy is watched after these.
    pub watch: Every,
    /// The row goes to whoever looks on after these.
    pub tap: Every,
    pub record_energy: bool,
    pub record_work: bool,
    pub last: u64,
}

impl Reporting {
    /// Whether the coordinator hears of step n.
    pub fn is_due(&self, n: u64) -> bool {
        self.record.is_due(n) || self.watch.is_due(n) || self.tap.is_due(n)
    }
}

/// Every so many steps, and after the last.
#[derive(Clone, Copy)]
pub(crate) struct Every {
    interval: u64,
    last: u64,
    next: u64,
}

impl Every {
    pub fn new(interval: u64, first: u64, last: u64) -> Self {
        let next = (first + 1).checked_next_multiple_of(interval);
        Self {
            interval,
            last,
            next: next.map_or(last, |count| (count - 1).min(last)),
        }
    }

    /// At no step.
    pub fn never() -> Self {
        Self {
            interval: u64::MAX,
            last: u64::MAX,
            next: u64::MAX,
        }
    }

    /// Whether it is due after step n. A division in every step would cost more than the answer
    /// is worth, so the next such step is kept.
    pub fn is_due(&self, n: u64) -> bool {
        n == self.next
    }

    /// Step n was done.
    pub fn pass(&mut self, n: u64) {
        if n == self.next {
            self.next = n.saturating_add(self.interval).min(self.last);
        }
    }
}

impl Worker<'_> {
    /// All units tell what they show, and the coordinator hears of it.
    pub(super) fn report(
        &mut self,
        n: u64,
        coordinator: &mut Option<&mut dyn Coordinator>,
    ) -> Result<(), Halt> {
        let t = self.shared.plan.step_time(n + 1);
        let with_energy = self.reporting.watch.is_due(n) || self.reporting.record_energy;
        let with_work = self.reporting.watch.is_due(n) || self.reporting.record_work;
        let plan = self.shared.plan;
        for place in 0..self.units.len() {
            self.busy = Busy::With(place);
            let (id, unit) = &mut self.units[place];
            let is_here = plan.releases(SubsystemId(*id), n);
            let request = ReportRequest {
                energy: with_energy,
                interface_works: is_here && with_work,
            };
            if let Err(fault) = unit.report(t, request, self.shared.exchange) {
                let id = *id;
                self.note(id, fault);
            }
        }
        for place in 0..self.slow.len() {
            let is_here = plan.releases(SubsystemId(self.slow[place].id), n);
            // What it shows has not changed since its last release.
            if !is_here && !with_energy && !with_work {
                continue;
            }
            let request = ReportRequest {
                energy: with_energy,
                interface_works: is_here && with_work,
            };
            let exchange = self.shared.exchange;
            self.with_slow(place, |unit| unit.report(t, request, exchange));
        }
        self.wait_at_barrier()?;
        self.busy = Busy::Coordinating;
        if let Some(coordinator) = coordinator
            && let Err(fault) = coordinator.reported(n, &self.reporting, self.shared)
        {
            self.note(0, fault);
        }
        self.wait_at_barrier()
    }
}
