//! The threads of a run, each with its units, in lockstep.
//!
//! Every thread executes the same sequence of barriers; between two of them it writes only what
//! belongs to its own units. Outputs are published into the buffer named by the parity of the
//! barrier epoch that follows, so a fast thread cannot overwrite what a slow one still reads.
//! Nothing depends on who is faster: the bits are the same for any number of threads.

mod implicit_step;
mod reporting;
mod slow_units;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::barrier::Barrier;
use crate::exchange_buffer::ExchangeBuffer;
use crate::fault::Fault;
use crate::implicit::ImplicitSolver;
use crate::incoming::Delivery;
use crate::pace::{Begun, Pace};
use crate::schedule::{Coupling, Duty, SubsystemId};
use crate::slow::{Companion, SlowUnit};
use crate::stats::Split;
use crate::step_plan::StepPlan;
use crate::unit::{ReportRequest, Unit, panic_message};

pub(crate) use reporting::{Every, Reporting};

const NEVER: u64 = u64::MAX;

/// What all threads of a run see.
pub(crate) struct Shared<'a> {
    pub plan: &'a StepPlan,
    pub exchange: &'a ExchangeBuffer,
    threads: usize,
    pub pace: Option<&'a Pace>,
    barrier: Barrier,
    /// The barrier epoch before which the first fault happened.
    fault_epoch: AtomicU64,
    fault: Mutex<Option<(u64, usize, Fault)>>,
    /// The last macro step to do.
    last_step: AtomicU64,
    verdict: AtomicU8,
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
}

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
    /// Time for which the others were waited for in this step.
    waiting: Duration,
    /// The barrier epoch with which this step began.
    began: u64,
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
            Ok(Ok(())) => {
                self.complete_slow_units();
                if self.wait_at_barrier().is_err() {
                    done -= 1;
                }
            }
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
                *done -= u64::from(self.fault_epoch() < self.began);
                return Err(halt);
            }
            if let Some(start) = start {
                self.stepped(start);
            }
            *done = n + 1 - first;
            if self.shared.last_step.load(Ordering::Relaxed) <= n {
                break;
            }
        }
        Ok(())
    }

    /// Reads the dials, where there are any.
    #[inline(never)]
    fn sample(&mut self, n: u64) {
        for place in 0..self.units.len() {
            let exchange = self.shared.exchange;
            self.unit(place).read_dials(n, exchange);
        }
        for slow in &mut self.slow {
            slow.sample(n, self.shared.exchange);
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
            self.shared.last_step.fetch_min(n + 1, Ordering::Relaxed);
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
            && n < self.shared.last_step.load(Ordering::Relaxed)
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
        if waits || self.fault_epoch() <= self.epoch {
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

    /// Evaluates outputs that depend directly on inputs once more, with what has just arrived.
    fn update_outputs(&mut self, n: u64) -> Result<(), Halt> {
        let plan = self.shared.plan;
        let t = plan.step_time(n + 1);
        let buffer = self.buffer();
        let updates = |id: usize| plan.feedthrough[id] && plan.releases(SubsystemId(id), n);
        for place in 0..self.units.len() {
            if updates(self.units[place].0) {
                self.send_again(place, t, buffer);
            }
        }
        for place in 0..self.slow.len() {
            if updates(self.slow[place].id) {
                self.send_slow_again(place, t, buffer);
            }
        }
        self.wait_at_barrier()?;
        for place in 0..self.units.len() {
            let exchange = self.shared.exchange;
            self.unit(place)
                .pull(t, exchange, buffer, Delivery::OutputUpdate, n + 1);
        }
        self.pull_slow(t, buffer, Delivery::OutputUpdate, n + 1);
        Ok(())
    }

    /// An event is a discontinuity: all units discard their history, and exchange what they are now
    /// until jumps of forces and accelerations have reached everybody. A unit in the middle of a
    /// longer step of its own is already beyond this time, and shows nothing of it.
    fn restart_after_event(&mut self, n: u64) -> Result<(), Halt> {
        let plan = self.shared.plan;
        let t = plan.step_time(n + 1);
        let is_here = |id: usize| plan.releases(SubsystemId(id), n);
        (0..self.units.len()).for_each(|place| self.unit(place).restart());
        for place in 0..self.slow.len() {
            self.with_slow(place, |unit| {
                unit.restart();
                Ok(())
            });
        }
        for _ in 0..plan.event_passes {
            let buffer = self.buffer();
            for place in 0..self.units.len() {
                if is_here(self.units[place].0) {
                    self.send_again(place, t, buffer);
                }
            }
            for place in 0..self.slow.len() {
                if is_here(self.slow[place].id) {
                    self.send_slow_again(place, t, buffer);
                }
            }
            self.wait_at_barrier()?;
            for place in 0..self.units.len() {
                let exchange = self.shared.exchange;
                self.unit(place)
                    .pull(t, exchange, buffer, Delivery::All, n + 1);
            }
            self.pull_slow(t, buffer, Delivery::All, n + 1);
        }
        Ok(())
    }

    /// The unit at a place, with which this thread is busy from now on.
    fn unit(&mut self, place: usize) -> &mut Unit {
        self.busy = Busy::With(place);
        self.units[place].1
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

    fn report(
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

    fn buffer(&self) -> usize {
        (self.epoch % 2) as usize
    }

    fn note(&self, unit: usize, fault: Fault) {
        let mut first = self.shared.fault.lock().expect("nobody panics holding it");
        let is_first = first
            .as_ref()
            .is_none_or(|(epoch, id, _)| (self.epoch, unit) < (*epoch, *id));
        if is_first {
            *first = Some((self.epoch, unit, fault));
        }
        let epoch = &self.shared.fault_epoch;
        epoch.fetch_min(self.epoch, Ordering::Relaxed);
    }

    fn fault_epoch(&self) -> u64 {
        self.shared.fault_epoch.load(Ordering::Relaxed)
    }

    /// The time, where it is looked at.
    fn clock(&self) -> Option<Instant> {
        self.is_sampled.then(Instant::now)
    }

    fn wait_at_barrier(&mut self) -> Result<(), Halt> {
        let clock = self.clock();
        self.shared.barrier.wait(self.thread);
        if let Some(clock) = clock {
            self.waiting += clock.elapsed();
        }
        let halted = self.fault_epoch() <= self.epoch;
        self.epoch += 1;
        if halted { Err(Halt) } else { Ok(()) }
    }
}
