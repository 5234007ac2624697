//! What all threads of a run see: the plan, the exchange buffer, the barrier, the first fault.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use crate::barrier::Barrier;
use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::pace::Pace;
use crate::step_plan::StepPlan;

const NEVER: u64 = u64::MAX;

/// What all threads of a run see.
pub(crate) struct Shared<'a> {
    pub plan: &'a StepPlan,
    pub exchange: &'a ExchangeBuffer,
    threads: usize,
    pub pace: Option<&'a Pace>,
    pub(super) barrier: Barrier,
    /// The barrier epoch before which the first fault happened.
    fault_epoch: AtomicU64,
    fault: Mutex<Option<(u64, usize, Fault)>>,
    /// The last macro step to do.
    pub(super) last_step: AtomicU64,
    pub(super) verdict: AtomicU8,
    started: Instant,
}

impl<'a> Shared<'a> {
    /// For so many threads, of which some may be companions of slow units and not workers.
    pub fn new(
        plan: &'a StepPlan,
        exchange: &'a ExchangeBuffer,
        threads: usize,
        companions: usize,
        pace: Option<&'a Pace>,
    ) -> Self {
        let workers = threads - companions;
        Self {
            plan,
            exchange,
            threads,
            pace,
            barrier: Barrier::new(workers),
            fault_epoch: AtomicU64::new(NEVER),
            fault: Mutex::new(None),
            last_step: AtomicU64::new(NEVER),
            verdict: AtomicU8::new(0),
            started: Instant::now(),
        }
    }

    /// How many threads there are: workers, and companions of slow units.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// A thread is there, and about to begin.
    pub fn enter(&self, thread: usize) {
        if let Some(pace) = self.pace {
            pace.enter(thread);
        }
    }

    /// Share of their time for which threads have slept, waiting for another.
    pub fn sleeping_share(&self) -> f64 {
        let all = self.threads as f64 * self.started.elapsed().as_secs_f64();
        self.barrier.slept().as_secs_f64() / all.max(1e-9)
    }

    /// The first fault; where several threads failed in the same phase, that of the first unit.
    pub fn into_fault(self) -> Option<Fault> {
        let fault = self
            .fault
            .into_inner()
            .expect("no thread panics holding it");
        fault.map(|(_, _, fault)| fault)
    }

    /// Notes a fault that happened before a barrier epoch; the first one counts.
    pub(super) fn note(&self, epoch: u64, unit: usize, fault: Fault) {
        let mut first = self.fault.lock().expect("nobody panics holding it");
        let is_first = first
            .as_ref()
            .is_none_or(|(noted, id, _)| (epoch, unit) < (*noted, *id));
        if is_first {
            *first = Some((epoch, unit, fault));
        }
        self.fault_epoch.fetch_min(epoch, Ordering::Relaxed);
    }

    /// The barrier epoch before which the first fault happened.
    pub(super) fn fault_epoch(&self) -> u64 {
        self.fault_epoch.load(Ordering::Relaxed)
    }
}
