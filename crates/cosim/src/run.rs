//! Running a simulation: threads, recording, watching, stopping.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::barrier::Barrier;
use crate::cancel::Cancel;
use crate::fault::Fault;
use crate::load_balancing::overlapping;
use crate::lockstep::run_stretch;
use crate::meeting::Meeting;
use crate::pace::{Pace, Pacer, Pacing};
use crate::ranks::{Company, RankMeeting};
use crate::recorder::Recorder;
use crate::run_monitor::{ColumnSource, RunMonitor};
use crate::simulation::Simulation;
use crate::stats::Stopwatch;
use crate::summary::Summary;
use crate::thread_choice::ThreadChoice;
use crate::unit::{ReportRequest, panic_message};
use crate::worker::{Every, Reporting, Shared};

/// Steps between two looks at the energy.
const WATCH_EVERY: u64 = 64;

/// How to run.
pub struct Run<'a> {
    /// Macro steps to do.
    pub steps: u64,
    /// Threads; more than there are subsystems make no difference.
    pub threads: usize,
    /// A row is recorded every so many macro steps, and after the last.
    pub record_every: u64,
    /// Which columns are recorded; all if `None`.
    pub record_columns: Option<Vec<usize>>,
    /// Where rows go.
    pub recorder: &'a mut dyn Recorder,
    /// Who looks on while it runs.
    pub tap: Option<Tap<'a>>,
    /// The pace of a clock that is kept; as fast as it can if `None`.
    pub pace: Option<Pacing>,
    /// Ends the run within two steps when requested.
    pub cancel: Option<Cancel>,
    /// Stops when the stored energy exceeds this multiple of what the model started with, was
    /// supplied and got from its potentials; and when it is NaN or infinite.
    pub energy_bound: Option<f64>,
    /// Called about ten times a second.
    pub progress: Option<&'a mut dyn FnMut(Progress)>,
}

impl<'a> Run<'a> {
    /// So many steps on this thread, every step recorded.
    pub fn new(steps: u64, recorder: &'a mut dyn Recorder) -> Self {
        Self {
            steps,
            threads: 1,
            record_every: 1,
            record_columns: None,
            recorder,
            tap: None,
            pace: None,
            cancel: None,
            energy_bound: None,
            progress: None,
        }
    }
}

/// Somebody who looks on: rows at an interval of their own, besides those that are recorded.
pub struct Tap<'a> {
    /// A row every so many macro steps, and after the last.
    pub every: u64,
    /// Which columns; all if `None`.
    pub columns: Option<Vec<usize>>,
    /// Where they go. It is called in the step loop and must not wait.
    pub recorder: &'a mut dyn Recorder,
}

/// What was done before the first step: where ranks share the work, all learn what failed on one of them.
fn in_company(company: Option<&Company>, done: Result<(), Fault>) -> Result<(), Fault> {
    match company {
        Some(company) => company.agree(done.err().map(|fault| (0, 0, fault))),
        None => done,
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Macro steps done in this run.
    pub steps: u64,
    /// Simulated time reached.
    pub time: f64,
    /// Simulated seconds per second of wall time.
    pub real_time_factor: f64,
    /// Median, 99th percentile and maximum of the time per macro step so far, in microseconds.
    pub step_us: [f64; 3],
    /// Paced steps that ended after their deadline so far.
    pub missed: u64,
}

/// How a run ended without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All steps are done.
    Finished,
    /// It was cancelled.
    Cancelled,
}

/// What came of a run.
pub struct Outcome {
    /// How it ended.
    pub end: Result<End, Fault>,
    /// What it did, all runs of this simulation together.
    pub summary: Summary,
}

impl Simulation {
    /// Runs so many macro steps. The row at the initial time is recorded too.
    pub fn run(&mut self, run: Run<'_>) -> Outcome {
        let started = Instant::now();
        let before = self.steps_done;
        let end = self
            .ask_parts()
            .and_then(|()| self.run_caught(run, started));
        let told = self.ask_parts();
        let end = match self.company {
            Some(_) => self.come_together(end, told),
            None => end.and_then(|end| told.map(|()| end)),
        };
        self.tally.wall += started.elapsed();
        self.tally.simulated += (self.steps_done - before) as f64 * self.plan.schedule.step;
        let summary = self.summary();
        Outcome { end, summary }
    }

    /// A run of several ranks has ended: all of them end it alike, and know the states of all parts.
    fn come_together(
        &mut self,
        end: Result<End, Fault>,
        told: Result<(), Fault>,
    ) -> Result<End, Fault> {
        let Some(company) = &self.company else {
            return end;
        };
        let end = company.must_be_agreed(end);
        let told = company.agree(told.err().map(|fault| (0, 0, fault)));
        let gathered = self.gather();
        let end = end.and_then(|end| told.map(|()| end));
        end.and_then(|end| gathered.map(|()| end))
    }

    /// Asks all parts what they tell of themselves.
    pub(crate) fn ask_parts(&mut self) -> Result<(), Fault> {
        let t = self.time();
        for unit in &mut self.units {
            unit.guarded(t, |unit| {
                unit.ask();
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Threads in lockstep see to panics by themselves; this is for what is done before and after.
    fn run_caught(&mut self, run: Run<'_>, started: Instant) -> Result<End, Fault> {
        let attempt = catch_unwind(AssertUnwindSafe(|| self.run_timed(run, started)));
        attempt.unwrap_or_else(|panic| {
            Err(Fault::CoordinatorPanic {
                t: self.time(),
                message: panic_message(panic.as_ref()),
            })
        })
    }

    fn run_timed(&mut self, run: Run<'_>, started: Instant) -> Result<End, Fault> {
        let company = self.company.as_ref();
        let parts = company.map_or(self.units.len(), Company::count_here);
        let threads = run.threads.clamp(1, parts.max(1));
        company.into_iter().for_each(Company::begin);
        self.tally.threads = threads;
        let all = || (0..self.plan.columns.len()).collect();
        let columns: Vec<usize> = run.record_columns.unwrap_or_else(all);
        let (tap_interval, tap) = match run.tap {
            Some(tap) => {
                let columns = tap.columns.unwrap_or_else(all);
                (tap.every.max(1), Some((columns, tap.recorder)))
            }
            None => (u64::MAX, None),
        };
        let shown = || tap.iter().flat_map(|(columns, _)| columns).chain(&columns);
        let outputs = self.plan.output_places.len() + self.plan.interfaces.len();
        let record_energy = shown().any(|&column| column >= outputs);
        let works = self.plan.output_places.len()..outputs;
        let record_work = shown().any(|column| works.contains(column));
        let first = self.steps_done;
        let watched = run.energy_bound.is_some() && self.plan.energies.is_some();
        let last = first + run.steps.max(1) - 1;
        let watch_every = if watched { WATCH_EVERY } else { u64::MAX };
        let is_tapped = tap.is_some();
        let tap_every = |first| match is_tapped {
            true => Every::new(tap_interval, first, last),
            false => Every::never(),
        };
        let reporting = Reporting {
            record: Every::new(run.record_every.max(1), first, last),
            watch: Every::new(watch_every, first, last),
            tap: tap_every(first),
            record_energy,
            record_work,
            last,
        };
        if watched {
            let checked = self.check_initial_energy();
            in_company(company, checked)?;
        }
        for unit in &mut self.units {
            unit.inputs.cancel_by(run.cancel.clone());
        }
        let step = self.plan.schedule.step;
        let pace = run.pace.map(|pacing| Pace::new(pacing, first, step));
        let pace = pace.as_ref();
        let names: Vec<String> = self.names().map(Into::into).collect();
        self.tally
            .passed
            .resize(self.plan.interfaces.len(), [0.0; 2]);
        let mut monitor = RunMonitor {
            plan: &self.plan,
            names: &names,
            implicit: self.implicit.as_mut(),
            recorder: run.recorder,
            row: vec![0.0; columns.len()],
            sources: columns
                .iter()
                .map(|&i| ColumnSource::of(&self.plan, i))
                .collect(),
            records_energy: record_energy,
            initial: self.tally.initial(),
            tap: tap.map(|(columns, recorder)| {
                let sources = columns.iter().map(|&i| ColumnSource::of(&self.plan, i));
                (sources.collect(), vec![0.0; columns.len()], recorder)
            }),
            pacer: pace.map(Pacer::new),
            missed: None,
            cancel: run.cancel.clone(),
            cancelled: false,
            energy_bound: run.energy_bound,
            progress: run.progress,
            started,
            stopwatch: Stopwatch::start(),
            last_progress: started,
            first,
            // Paced steps tell nothing of the speed.
            threads: match pace {
                Some(_) => ThreadChoice::fixed(threads, started),
                // The ranks would not choose alike.
                None if company.is_some() => ThreadChoice::fixed(threads, started),
                None => ThreadChoice::new(threads, started, first),
            },
            tally: &mut self.tally,
        };
        // Where a run goes on, parts with longer steps show what they have released.
        let slow = self.units.iter_mut().filter(|unit| unit.every > 1);
        slow.for_each(|unit| unit.show(&self.exchange));
        if first == 0 {
            let t = self.plan.step_time(0);
            let request = ReportRequest {
                energy: record_energy,
                interface_works: record_work,
            };
            let mut units = self.units.iter_mut();
            let reported = units.try_for_each(|unit| {
                unit.guarded(t, |unit| unit.report(t, request, &self.exchange))
            });
            in_company(company, reported)?;
            let barrier = Barrier::new(1);
            let alone = Shared::new(&self.plan, &self.exchange, 1, &barrier, None);
            in_company(company, monitor.record_first(t, &alone))?;
        }
        if run.steps == 0 {
            return Ok(End::Finished);
        }
        monitor.stopwatch = Stopwatch::start();
        let end = first + run.steps;
        while self.steps_done < end {
            let threads = monitor.threads.threads();
            monitor.tally.threads = threads;
            let first = self.steps_done;
            let overlapping = overlapping(&self.units, threads);
            let workers = threads - overlapping.len();
            let (of_threads, of_ranks);
            let meeting: &dyn Meeting = match company {
                None => {
                    of_threads = Barrier::new(workers);
                    &of_threads
                }
                Some(company) => {
                    of_ranks = RankMeeting::new(workers, company, &self.exchange);
                    &of_ranks
                }
            };
            let shared = Shared::new(&self.plan, &self.exchange, threads, meeting, pace);
            let reporting = Reporting {
                record: Every::new(run.record_every.max(1), first, last),
                watch: Every::new(watch_every, first, last),
                tap: tap_every(first),
                ..reporting
            };
            let stretch = run_stretch(
                &mut self.units,
                &overlapping,
                &shared,
                reporting,
                first,
                &mut monitor,
            )?;
            self.steps_done += stretch.done;
            monitor.tally.split.add(&stretch.split);
            let (now, sleeping) = (Instant::now(), shared.sleeping_share());
            monitor.threads.choose(now, self.steps_done, sleeping);
            monitor.cancelled |= shared.signals.is_cancelled.load(Ordering::Relaxed);
            let ended = match company {
                // All ranks know whether one of them has noted a fault.
                Some(company) if shared.has_fault() => company.agree(shared.into_noted()),
                _ => shared.into_fault().map_or(Ok(()), Err),
            };
            if let Err(fault) = ended {
                monitor.stopwatch.stop(&mut monitor.tally.times);
                return Err(fault);
            }
            if monitor.cancelled || monitor.missed.is_some() {
                break;
            }
        }
        monitor.stopwatch.stop(&mut monitor.tally.times);
        if let Some(fault) = monitor.missed {
            return Err(fault);
        }
        match monitor.cancelled && self.steps_done < end {
            true => Ok(End::Cancelled),
            false => Ok(End::Finished),
        }
    }

    fn check_initial_energy(&self) -> Result<(), Fault> {
        let energies = self.tally.initial_energy.iter().flatten();
        let wrong = energies.enumerate().find(|(_, e)| !e.stored().is_finite());
        match wrong {
            None => Ok(()),
            Some((part, energy)) => Err(Fault::EnergyNotFinite {
                t: self.plan.step_time(0),
                subsystem: self.units[part].name.clone(),
                energy: energy.stored(),
            }),
        }
    }
}
