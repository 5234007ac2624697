//! The threads of a run, each with its units, in lockstep.
//!
//! Every thread executes the same sequence of barriers; between two of them it writes only what
//! belongs to its own units. Outputs are published into the buffer named by the parity of the
//! barrier epoch that follows, so a fast thread cannot overwrite what a slow one still reads.
//! Nothing depends on who is faster: the bits are the same for any number of threads.

mod implicit_step;
mod reporting;
mod shared;
mod slow_units;
mod updates;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::fault::Fault;
use crate::implicit::ImplicitSolver;
use crate::incoming::Delivery;
use crate::meeting::Brought;
use crate::pace::Begun;
use crate::schedule::{Coupling, Duty, SubsystemId};
use crate::slow::{Companion, SlowUnit};
use crate::stats::Split;
use crate::unit::{Unit, panic_message};

pub(crate) use reporting::{Every, Reporting};
pub(crate) use shared::{Shared, Signals};

/// A fault was noted: leave the run. All threads see it at the same barrier.
pub(crate) struct Halt;

/// What the first thread does besides its units.
pub(crate) trait Coordinator {
    /// The iteration of implicit steps.
    fn implicit(&mut self) -> Option<&mut ImplicitSolver>;
    /// An implicit step was done.
    fn iterated(&mut self, iterations: usize, converged: bool);
    /// A reported step is complete: record, balance, judge.
    fn reported(&mut self, n: u64, reporting: &Reporting, shared: &Shared<'_>)
    -> Result<(), Fault>;
    /// A paced step begins.
    fn begins(&mut self, step: Begun);
    /// A step is complete. Returns false to end the run after the next step.
    fn stepped(&mut self, n: u64, shared: &Shared<'_>) -> bool;
}

/// Whose code a thread executes: a panic is blamed on it.
#[derive(Clone, Copy)]
enum Busy {
    /// The unit at this place among those of the thread.
    With(usize),
    /// Recording, judging, reporting progress.
    Coordinating,
}

/// One thread's share of the run.
pub(crate) struct Worker<'a> {
    /// Its number among the workers.
    thread: usize,
    units: Vec<(usize, &'a mut Unit)>,
    /// Units with a longer step of their own.
    slow: Vec<SlowUnit<'a>>,
    shared: &'a Shared<'a>,
    reporting: Reporting,
    epoch: u64,
    /// The macro step that is being done.
    step: u64,
    busy: Busy,
    /// Whether the time of this step is looked at.
    is_sampled: bool,
    /// Whether any of its units has inputs that are set from outside.
    samples: bool,
    /// Whether any of its units works elsewhere.
    has_remote: bool,
    /// Time for which the others were waited for in this step.
    waiting: Duration,
    /// The barrier epoch with which this step began.
    began: u64,
    /// What others read of what was written since the last barrier.
    brought: Brought,
    /// What was sent at the end of the last step and not yet taken.
    pending: Option<Sent>,
    pub split: Split,
}

/// Outputs in the exchange buffer: the macro step and the phase that sent them.
#[derive(Clone, Copy)]
struct Sent {
    step: u64,
    phase: usize,
    buffer: usize,
}

impl<'a> Worker<'a> {
    /// `companions` are the threads on which some slow units, named by their places, advance.
    pub fn new(
        thread: usize,
        units: Vec<(usize, &'a mut Unit)>,
        companions: &'a [(usize, Companion<'a>)],
        shared: &'a Shared<'a>,
        reporting: Reporting,
    ) -> Self {
        let mut all = units.iter();
        let samples = all.any(|(_, unit)| unit.inputs.external().next().is_some());
        let (slow, units): (Vec<_>, Vec<_>) =
            units.into_iter().partition(|(_, unit)| unit.can_overlap());
        let slow = slow.into_iter().map(|(id, unit)| {
            let mut companions = companions.iter();
            let companion = companions.find(|(other, _)| *other == id);
            SlowUnit::new(id, unit, companion.map(|(_, companion)| companion))
        });
        Self {
            thread,
            samples,
            has_remote: units.iter().any(|(_, unit)| unit.is_remote),
            slow: slow.collect(),
            units,
            shared,
            reporting,
            epoch: 0,
            step: 0,
            busy: Busy::Coordinating,
            is_sampled: false,
            waiting: Duration::ZERO,
            began: 0,
            brought: Brought::Nothing,
            pending: None,
            split: Split::default(),
        }
    }

    /// Runs the steps from `first` to the reporting's last, or until a fault or a request to end.
    /// Returns the number of complete steps.
    ///
    /// A panic, wherever it happens, is noted as a fault of the part or of the coordinator that was
    /// busy, and this thread still waits at the next barrier: the others learn of it there. So that
    /// this holds for the end of the last step too, the run closes with a barrier.
    pub fn run(&mut self, first: u64, mut coordinator: Option<&mut dyn Coordinator>) -> u64 {
        let mut done = 0;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            self.all_steps(first, &mut coordinator, &mut done)
        }));
        match attempt {
            Ok(Ok(())) => match self.wait_at_barrier() {
                Ok(()) => {
                    // What fails in a long step that goes on is no fault of the steps that are done.
                    self.complete_slow_units();
                    let _ = self.wait_at_barrier();
                }
                Err(Halt) => done -= 1,
            },
            Ok(Err(Halt)) => {}
            Err(panic) => {
                self.note_panic(panic.as_ref());
                let _ = self.wait_at_barrier();
            }
        }
        done
    }

    fn all_steps(
        &mut self,
        first: u64,
        coordinator: &mut Option<&mut dyn Coordinator>,
        done: &mut u64,
    ) -> Result<(), Halt> {
        for n in first..=self.reporting.last {
            self.step = n;
            if let Some(pace) = &self.shared.pace {
                let begun = pace.wait(n);
                if let Some(coordinator) = coordinator {
                    coordinator.begins(begun);
                }
            }
            self.is_sampled = Split::is_due(n);
            let start = self.clock();
            self.began = self.epoch;
            if let Err(halt) = self.step(n, coordinator) {
                // The fault may be one of the last step, of which this thread learns only now.
                *done -= u64::from(self.shared.fault_epoch() < self.began);
                return Err(halt);
            }
            if let Some(start) = start {
                self.stepped(start);
            }
            *done = n + 1 - first;
            if self.shared.signals.last_step.load(Ordering::Relaxed) <= n {
                break;
            }
        }
        Ok(())
    }

    /// Reads the dials, where there are any.
    #[inline(never)]
    fn sample(&mut self, n: u64) {
        let t = self.shared.plan.step_time(n);
        for place in 0..self.units.len() {
            let exchange = self.shared.exchange;
            self.unit(place).read_dials(n, t, exchange);
        }
        for slow in &mut self.slow {
            slow.sample(n, t, self.shared.exchange);
        }
    }

    /// A step that was looked at has ended.
    fn stepped(&mut self, start: Instant) {
        self.split.stepped(start.elapsed());
        self.split.waited(std::mem::take(&mut self.waiting));
    }

    fn note_panic(&mut self, panic: &(dyn Any + Send)) {
        let t = self.shared.plan.step_time(self.step);
        let message = panic_message(panic);
        let (unit, fault) = match self.busy {
            Busy::With(place) => {
                let (id, unit) = &self.units[place];
                let subsystem = unit.name.clone();
                let fault = Fault::Panic {
                    subsystem,
                    t,
                    message,
                };
                (*id, fault)
            }
            Busy::Coordinating => (0, Fault::CoordinatorPanic { t, message }),
        };
        self.note(unit, fault);
    }

    fn step(&mut self, n: u64, coordinator: &mut Option<&mut dyn Coordinator>) -> Result<(), Halt> {
        if self.samples {
            self.sample(n);
        }
        match self.shared.plan.schedule.coupling {
            Coupling::Explicit => self.explicit_step(n)?,
            Coupling::Implicit(_) => self.implicit_step(n, coordinator)?,
        }
        for _ in 0..self.shared.plan.output_update_passes {
            self.update_outputs(n)?;
        }
        if self.shared.plan.has_event(n) {
            self.restart_after_event(n)?;
        }
        if self.shared.plan.has_slow {
            self.report_released(n);
        }
        if self.reporting.is_due(n) {
            self.report(n, coordinator)?;
            self.reporting.record.pass(n);
            self.reporting.watch.pass(n);
            self.reporting.tap.pass(n);
        }
        self.busy = Busy::Coordinating;
        if let Some(coordinator) = coordinator
            && !coordinator.stepped(n, self.shared)
        {
            // The others see it at a barrier of the next step, and leave after it.
            self.shared
                .signals
                .last_step
                .fetch_min(n + 1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn explicit_step(&mut self, n: u64) -> Result<(), Halt> {
        let phases = self.shared.plan.timeline.phases.len();
        for phase in 0..phases {
            let waits = phase + 1 < phases || !self.next_step_can_begin(n);
            let sent = self.phase(n, phase, waits)?;
            if waits {
                if let Some(earlier) = self.pending.take() {
                    self.deliver(earlier);
                }
                self.deliver(sent);
            } else {
                self.pending = Some(sent);
            }
        }
        Ok(())
    }

    /// Whether step n needs no barrier at its end: whoever advances first in the next one waits for
    /// nothing that is sent now, and the others take it after the barrier that follows. All threads
    /// decide alike: a request to end the run was made before a barrier of this step.
    fn next_step_can_begin(&self, n: u64) -> bool {
        let plan = self.shared.plan;
        plan.steps_join
            && self.shared.pace.is_none()
            && n < self.reporting.last
            && n < self.shared.signals.last_step.load(Ordering::Relaxed)
            && !self.reporting.is_due(n)
            && !plan.has_event(n)
    }

    /// Hands what was sent to those who receive it.
    fn deliver(&mut self, sent: Sent) {
        let Sent {
            step: n,
            phase,
            buffer,
        } = sent;
        let plan = self.shared.plan;
        let span = &plan.timeline.phases[phase];
        let t = plan.time(n, span.to);
        let delivery = Delivery::Phase(phase);
        for place in 0..self.units.len() {
            self.busy = Busy::With(place);
            let (id, unit) = &mut self.units[place];
            unit.pull(t, self.shared.exchange, buffer, delivery, n + 1);
            if plan.recomputes_work[phase][*id] {
                unit.recompute_work(t, t - plan.time(n, span.from));
            }
        }
        if !self.slow.is_empty() {
            self.deliver_to_slow(n, phase, buffer);
        }
    }

    /// Advances the phase's members and publishes what they send; waits for the other threads, or
    /// goes on without, if nothing has failed.
    fn phase(&mut self, n: u64, phase: usize, waits: bool) -> Result<Sent, Halt> {
        let plan = self.shared.plan;
        let buffer = self.buffer();
        let span = &plan.timeline.phases[phase];
        let (from, to) = (plan.time(n, span.from), plan.time(n, span.to));
        if self.has_remote && span.duty == Duty::Advance {
            self.begin_remote(phase, from, to);
        }
        for place in 0..self.units.len() {
            let (id, unit) = &mut self.units[place];
            if !plan.sends[phase][*id] {
                continue;
            }
            self.busy = Busy::With(place);
            let clock = self.is_sampled.then(Instant::now);
            let advanced = if span.duty == Duty::Correct {
                unit.correct(from, to)
            } else if unit.every == 1 {
                unit.advance(from, to)
            } else if n.is_multiple_of(unit.every) {
                unit.advance(from, plan.step_time(n + unit.every))
            } else {
                Ok(())
            };
            if let Some(clock) = clock {
                let steps = match span.duty {
                    Duty::Advance => unit.every,
                    Duty::Correct => 0,
                };
                self.split.worked(clock.elapsed(), &mut unit.spent, steps);
            }
            match advanced {
                Err(fault) => {
                    let id = *id;
                    self.note(id, fault);
                }
                Ok(()) if plan.releases(SubsystemId(*id), n) => {
                    unit.release();
                    unit.publish(to, self.shared.exchange, buffer);
                }
                Ok(()) => {}
            }
        }
        if !self.slow.is_empty() {
            self.advance_slow(n, phase, buffer);
        }
        self.brought = Brought::Outputs(buffer);
        if waits || self.shared.fault_epoch() <= self.epoch {
            self.wait_at_barrier()?;
        } else {
            self.epoch += 1;
        }
        Ok(Sent {
            step: n,
            phase,
            buffer,
        })
    }

    /// Those of a phase who work elsewhere begin together.
    #[inline(never)]
    fn begin_remote(&mut self, phase: usize, from: f64, to: f64) {
        for place in 0..self.units.len() {
            let (id, unit) = &mut self.units[place];
            if unit.is_remote && self.shared.plan.sends[phase][*id] {
                self.busy = Busy::With(place);
                unit.begin_away(from, to);
            }
        }
    }

    /// The unit at a place, with which this thread is busy from now on.
    fn unit(&mut self, place: usize) -> &mut Unit {
        self.busy = Busy::With(place);
        self.units[place].1
    }

    fn note(&self, unit: usize, fault: Fault) {
        self.shared.note(self.epoch, unit, fault);
    }

    fn buffer(&self) -> usize {
        (self.epoch % 2) as usize
    }

    /// The time, where it is looked at.
    fn clock(&self) -> Option<Instant> {
        self.is_sampled.then(Instant::now)
    }

    fn wait_at_barrier(&mut self) -> Result<(), Halt> {
        let clock = self.clock();
        let brought = std::mem::replace(&mut self.brought, Brought::Nothing);
        if self.shared.meets {
            let signals = &self.shared.signals;
            self.shared.meeting.wait(self.thread, brought, signals);
        }
        if let Some(clock) = clock {
            self.waiting += clock.elapsed();
        }
        let halted = self.shared.fault_epoch() <= self.epoch;
        self.epoch += 1;
        if halted { Err(Halt) } else { Ok(()) }
    }
}
