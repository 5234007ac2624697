//! Steps at the pace of a clock: when each may begin, when it should have ended, and what happens
//! when it has not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::clock::{Clock, WallClock, nanoseconds};
use crate::fault::Fault;
use crate::stats::StepTimes;
use crate::summary::Lateness;

/// What happens when a step ends after its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMiss {
    /// What was lost is lost: all further steps are due so much later, and one stall is one miss.
    #[default]
    Slip,
    /// The steps keep their times: those after it follow at once until the run has caught up.
    CatchUp,
    /// The same, and as long as steps are late they are neither recorded nor shown.
    DropOutput,
    /// The run ends with a fault.
    Stop,
}

/// What a thread of a paced run does before its first step; it is told its number.
pub type ThreadStart = dyn Fn(usize) + Send + Sync;

/// How a run keeps the pace of a clock.
#[derive(Clone)]
pub struct Pacing {
    /// Simulated seconds for each second of the clock.
    pub factor: f64,
    /// What a step may take from the instant at which it is due; by default until the next is due.
    pub budget: Option<Duration>,
    /// What happens when it takes longer.
    pub on_miss: OnMiss,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Done by each thread before its first step.
    pub thread_start: Option<Arc<ThreadStart>>,
}

impl Pacing {
    /// At so many simulated seconds for each second of the clock on the wall; what is late slips.
    pub fn new(factor: f64) -> Self {
        Self {
            factor,
            budget: None,
            on_miss: OnMiss::default(),
            clock: Arc::new(WallClock::default()),
            thread_start: None,
        }
    }
}

/// When each step may begin. Every thread waits for itself, to the same instants: nobody spins for
/// somebody who sleeps.
pub(crate) struct Pace {
    pacing: Pacing,
    /// When the first thread was ready for the first step.
    start: OnceLock<Duration>,
    first: u64,
    /// Time of a step on the clock, in seconds.
    period: f64,
    budget: Duration,
    /// Nanoseconds by which the run has slipped.
    slipped: AtomicU64,
}

impl Pace {
    /// Step `first` begins as soon as a thread is ready for it, and the others follow at the period
    /// of a step of this length.
    pub fn new(pacing: Pacing, first: u64, step: f64) -> Self {
        let period = step / pacing.factor;
        Self {
            start: OnceLock::new(),
            budget: pacing.budget.unwrap_or(seconds(period)),
            pacing,
            first,
            period,
            slipped: AtomicU64::new(0),
        }
    }

    /// What a thread does before its first step.
    pub fn enter(&self, thread: usize) {
        if let Some(start) = &self.pacing.thread_start {
            start(thread);
        }
    }

    fn due(&self, n: u64) -> Duration {
        let slipped = Duration::from_nanos(self.slipped.load(Ordering::Relaxed));
        let start = *self.start.get_or_init(|| self.pacing.clock.now());
        start + seconds((n - self.first) as f64 * self.period) + slipped
    }

    /// Waits until step n may begin.
    pub fn wait(&self, n: u64) -> Begun {
        let due = self.due(n);
        self.pacing.clock.wait_until(due);
        let begun = self.pacing.clock.now();
        Begun { due, begun }
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4)
}

/// A step that was due, and began.
#[derive(Clone, Copy, Default)]
pub(crate) struct Begun {
    due: Duration,
    begun: Duration,
}

/// How well paced steps kept their times; goes on over several runs.
#[derive(Default)]
pub(crate) struct Punctuality {
    late: StepTimes,
    budget: Duration,
    pub missed: u64,
    overruns: u64,
    dropped: u64,
    slipped: Duration,
}

impl Punctuality {
    /// A row was left out.
    pub fn drop_row(&mut self) {
        self.dropped += 1;
    }

    pub fn lateness(&self) -> Option<Lateness> {
        (self.late.count() > 0).then(|| Lateness {
            budget_us: self.budget.as_secs_f64() * 1e6,
            late_us: [
                self.late.quantile_us(0.5),
                self.late.quantile_us(0.999),
                self.late.longest_us(),
            ],
            histogram: self.late.octaves(),
            missed: self.missed,
            overruns: self.overruns,
            dropped_rows: self.dropped,
            slipped: self.slipped.as_secs_f64(),
        })
    }
}

/// Watches the times of the steps of a paced run, on its first thread.
pub(crate) struct Pacer<'a> {
    pace: &'a Pace,
    step: Begun,
}

impl<'a> Pacer<'a> {
    pub fn new(pace: &'a Pace) -> Self {
        Self {
            pace,
            step: Begun::default(),
        }
    }

    /// A step begins.
    pub fn begins(&mut self, step: Begun, punctuality: &mut Punctuality) {
        self.step = step;
        punctuality.budget = self.pace.budget;
        punctuality.late.add(nanoseconds(step.begun - step.due));
    }

    /// Whether the output of the step is to be left out.
    pub fn drops_output(&self) -> bool {
        self.pace.pacing.on_miss == OnMiss::DropOutput && self.is_late(self.pace.pacing.clock.now())
    }

    fn is_late(&self, now: Duration) -> bool {
        now > self.step.due + self.pace.budget
    }

    /// The step that ends at a time of the simulation has ended. A fault if that ends the run.
    pub fn ended(
        &mut self,
        t: f64,
        times: &mut StepTimes,
        punctuality: &mut Punctuality,
    ) -> Result<(), Fault> {
        let now = self.pace.pacing.clock.now();
        let took = now - self.step.begun;
        times.add(nanoseconds(took));
        punctuality.overruns += u64::from(took > self.pace.budget);
        if !self.is_late(now) {
            return Ok(());
        }
        punctuality.missed += 1;
        if matches!(self.pace.pacing.on_miss, OnMiss::Slip | OnMiss::Stop) {
            let lost = now.saturating_sub(self.step.due + seconds(self.pace.period));
            punctuality.slipped += lost;
            let lost = nanoseconds(lost);
            self.pace.slipped.fetch_add(lost, Ordering::Relaxed);
        }
        match self.pace.pacing.on_miss {
            OnMiss::CatchUp | OnMiss::DropOutput | OnMiss::Slip => Ok(()),
            OnMiss::Stop => Err(Fault::Deadline {
                t,
                late_us: (now - self.step.due - self.pace.budget).as_secs_f64() * 1e6,
                took_us: took.as_secs_f64() * 1e6,
                budget_us: self.pace.budget.as_secs_f64() * 1e6,
            }),
        }
    }
}
