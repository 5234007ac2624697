//! Which steps the coordinator hears of, and what it is told.

use super::{Busy, Coordinator, Halt, Worker};
use crate::meeting::Brought;
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
    /// What is asked after step n; of parts with longer steps, what will be asked until their next release.
    fn request(&self, n: u64, ahead: bool) -> ReportRequest {
        let is_watched = self.watch.is_due(n);
        let will_be = ahead && self.watch.interval < u64::MAX;
        ReportRequest {
            energy: is_watched || will_be || self.record_energy,
            interface_works: self.is_due(n) && (is_watched || self.record_work),
        }
    }

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
        self.tell(n, self.reporting.request(n, false), false);
        self.brought = Brought::Reports;
        self.wait_at_barrier()?;
        self.busy = Busy::Coordinating;
        if let Some(coordinator) = coordinator
            && let Err(fault) = coordinator.reported(n, &self.reporting, self.shared)
        {
            self.note(0, fault);
        }
        self.wait_at_barrier()
    }

    /// Parts with a longer step tell what they show when they release it; it stands until they do so again.
    #[inline(never)]
    pub(super) fn report_released(&mut self, n: u64) {
        let request = self.reporting.request(n, true);
        self.tell(n, request, true);
        let (plan, exchange) = (self.shared.plan, self.shared.exchange);
        let t = plan.step_time(n + 1);
        for place in 0..self.slow.len() {
            if plan.releases(SubsystemId(self.slow[place].id), n) {
                self.with_slow(place, |unit| unit.report(t, request, exchange));
            }
        }
    }

    /// Units at hand that release at step n, those with longer steps or the others, tell what they show.
    fn tell(&mut self, n: u64, request: ReportRequest, with_longer_steps: bool) {
        let plan = self.shared.plan;
        let t = plan.step_time(n + 1);
        for place in 0..self.units.len() {
            self.busy = Busy::With(place);
            let (id, unit) = &mut self.units[place];
            if (unit.every > 1) != with_longer_steps || !plan.releases(SubsystemId(*id), n) {
                continue;
            }
            if let Err(fault) = unit.report(t, request, self.shared.exchange) {
                self.shared.note(self.epoch, *id, fault);
            }
        }
    }
}
