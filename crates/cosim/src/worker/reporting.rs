//! Which steps the coordinator hears of.

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
