//! What all threads of a run see: the plan, the exchange buffer, the barrier, the first fault.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::meeting::Meeting;
use crate::pace::Pace;
use crate::step_plan::StepPlan;

const NEVER: u64 = u64::MAX;

/// What all who advance units learn at a meeting, besides what is sent.
pub(crate) struct Signals {
    /// The barrier epoch before which the first fault happened.
    pub fault_epoch: AtomicU64,
    /// The last macro step to do.
    pub last_step: AtomicU64,
    /// Whether the run was cancelled.
    pub is_cancelled: AtomicBool,
}

/// What all threads of a run see.
pub(crate) struct Shared<'a> {
    pub plan: &'a StepPlan,
    pub exchange: &'a ExchangeBuffer,
    threads: usize,
    pub pace: Option<&'a Pace>,
    pub(super) meeting: &'a dyn Meeting,
    /// Whether there is anybody to meet.
    pub(super) meets: bool,
    pub signals: Signals,
    fault: Mutex<Option<(u64, usize, Fault)>>,
    pub(super) verdict: AtomicU8,
    started: Instant,
}

impl<'a> Shared<'a> {
    /// For so many threads, of which those that are workers meet, and the others are companions of slow units.
    pub fn new(
        plan: &'a StepPlan,
        exchange: &'a ExchangeBuffer,
        threads: usize,
        meeting: &'a dyn Meeting,
        pace: Option<&'a Pace>,
    ) -> Self {
        Self {
            plan,
            exchange,
            threads,
            pace,
            meeting,
            meets: meeting.is_needed(),
            signals: Signals {
                fault_epoch: AtomicU64::new(NEVER),
                last_step: AtomicU64::new(NEVER),
                is_cancelled: AtomicBool::new(false),
            },
            fault: Mutex::new(None),
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
        self.meeting.slept().as_secs_f64() / all.max(1e-9)
    }

    /// Whether a fault was noted, here or on another rank.
    pub fn has_fault(&self) -> bool {
        self.fault_epoch() != NEVER
    }

    /// The first fault; where several threads failed in the same phase, that of the first unit.
    pub fn into_fault(self) -> Option<Fault> {
        self.into_noted().map(|(_, _, fault)| fault)
    }

    /// The same with its barrier epoch and its unit.
    pub fn into_noted(self) -> Option<(u64, usize, Fault)> {
        let fault = self.fault.into_inner();
        fault.expect("no thread panics holding it")
    }

    /// Notes a fault that happened before a barrier epoch; the first one counts.
    pub(super) fn note(&self, epoch: u64, unit: usize, fault: Fault) {
        let mut first = self
            .fault
            .lock()
            .expect("no thread panics while it holds it");
        let is_first = first
            .as_ref()
            .is_none_or(|(noted, id, _)| (epoch, unit) < (*noted, *id));
        if is_first {
            *first = Some((epoch, unit, fault));
        }
        self.signals.fault_epoch.fetch_min(epoch, Ordering::Relaxed);
    }

    /// The barrier epoch before which the first fault happened.
    pub fn fault_epoch(&self) -> u64 {
        self.signals.fault_epoch.load(Ordering::Relaxed)
    }
}
