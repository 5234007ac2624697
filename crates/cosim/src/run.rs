//! Running a simulation: threads, recording, watching, stopping.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::builder::ENERGY_COLUMNS;
use crate::cpu::CpuLevel;
use crate::crew::{Crew, Every, Leader, Reporting, Shared};
use crate::deal::deal;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::simulation::Simulation;
use crate::stats::{Split, StepTimes, Stopwatch};
use crate::subsystem::{Counters, Energy};
use crate::tight::TightSolver;
use crate::unit::Unit;

/// Steps between two looks at the energy.
const WATCH_EVERY: u64 = 64;
/// Stored energy below this fraction of what kinetic and potential energy amount to is no growth.
const CANCELS: f64 = 1e-2;
/// Micro steps per macro step from which on the accounts of an interface are trusted.
const FINE_MICRO_STEPS: u64 = 4;
/// Wall time between two reports of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

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
    /// Ends the run within two steps when set.
    pub cancel: Option<&'a AtomicBool>,
    /// Stops when the stored energy exceeds this multiple of what the model started with and was
    /// supplied.
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
            cancel: None,
            energy_bound: None,
            progress: None,
        }
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

/// What a simulation has done so far.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Macro steps.
    pub steps: u64,
    /// Simulated time reached, in seconds.
    pub time: f64,
    /// Wall time spent, in seconds.
    pub wall: f64,
    /// Simulated seconds per second of wall time.
    pub real_time_factor: f64,
    /// Threads of the last run.
    pub threads: usize,
    /// Median, 99th percentile and maximum of the time per macro step, in microseconds. Steps
    /// shorter than a microsecond are timed in groups of sixteen.
    pub step_us: [f64; 3],
    /// Time of a step, in microseconds, as the mean thread sees it in one of 64 steps: work of the
    /// parts, waiting for other threads, and the exchange with recording and watching.
    pub split_us: Option<[f64; 3]>,
    /// Values delivered from port to port.
    pub exchanges: u64,
    /// Iterations of tight steps.
    pub iterations: u64,
    /// Most iterations in one step.
    pub most_iterations: u64,
    /// Tight steps that were accepted without convergence.
    pub not_converged: u64,
    /// Rows recorded.
    pub rows: u64,
    /// Energy at the initial time, if all parts know theirs.
    pub initial_energy: Option<EnergySummary>,
    /// Energy now.
    pub final_energy: Option<EnergySummary>,
    /// Energy that came from nowhere, by integrators and exchange together.
    pub imbalance: Option<f64>,
    /// Energy created by the exchange at each interface, in joules.
    pub created: Vec<InterfaceSummary>,
    /// Work of each part.
    pub parts: Vec<PartSummary>,
    /// Remarks that a user should read.
    pub notes: Vec<String>,
    /// Instruction set in use.
    pub cpu: CpuLevel,
}

/// An energy account in joules.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EnergySummary {
    /// Kinetic and potential.
    pub stored: f64,
    /// Lost in dampers.
    pub dissipated: f64,
    /// Work of loads.
    pub supplied: f64,
}

impl From<Energy> for EnergySummary {
    fn from(energy: Energy) -> Self {
        Self {
            stored: energy.stored(),
            dissipated: energy.dissipated,
            supplied: energy.supplied,
        }
    }
}

/// Energy balance of an interface.
#[derive(Clone, Debug, Serialize)]
pub struct InterfaceSummary {
    /// Both ports.
    pub interface: String,
    /// Energy created by the exchange, in joules, as its two sides account for it.
    pub created: f64,
    /// The sides take so few micro steps that their own error in work is as large.
    pub coarse: bool,
}

/// Work of a part.
#[derive(Clone, Debug, Serialize)]
pub struct PartSummary {
    /// The subsystem.
    pub name: String,
    /// Integrator steps.
    pub micro_steps: u64,
    /// Nonlinear iterations.
    pub iterations: u64,
    /// Matrix factorisations.
    pub factorisations: u64,
    /// Iterations that rounding errors ended before they met their tolerance.
    pub stagnations: u64,
    /// Corrections of a step for other inputs that were iterated further.
    pub refinements: u64,
    /// Steps that failed and were taken again in shorter pieces.
    pub retries: u64,
    /// Steps in which the own frame of some element was not found to full precision.
    pub unfitted: u64,
}

/// Counts that go on over several runs.
#[derive(Default)]
pub(crate) struct Tally {
    pub times: StepTimes,
    pub split: Split,
    pub wall: Duration,
    pub threads: usize,
    pub iterations: u64,
    pub most_iterations: u64,
    pub not_converged: u64,
    pub rows: u64,
    pub initial_energy: Option<Energy>,
    pub notes: Vec<String>,
}

impl Simulation {
    /// Runs so many macro steps. The row at the initial time is recorded too.
    pub fn run(&mut self, run: Run<'_>) -> Outcome {
        let started = Instant::now();
        let end = self.run_timed(run, started);
        self.tally.wall += started.elapsed();
        let summary = self.summary();
        Outcome { end, summary }
    }

    fn run_timed(&mut self, run: Run<'_>, started: Instant) -> Result<End, Fault> {
        let threads = run.threads.clamp(1, self.units.len().max(1));
        self.tally.threads = threads;
        let all = 0..self.plan.columns.len();
        let columns = run.record_columns.unwrap_or_else(|| all.collect());
        let outputs = self.plan.output_places.len() + self.plan.interfaces.len();
        let record_energy = columns.iter().any(|&column| column >= outputs);
        let first = self.steps_done;
        let watched = run.energy_bound.is_some() && self.plan.energies.is_some();
        let last = first + run.steps.max(1) - 1;
        let watch_every = if watched { WATCH_EVERY } else { u64::MAX };
        let reporting = Reporting {
            record: Every::new(run.record_every.max(1), first, last),
            watch: Every::new(watch_every, first, last),
            record_energy,
            last,
        };
        let shared = Shared::new(&self.plan, &self.board, threads);
        let mut control = Control {
            plan: &self.plan,
            tight: self.tight.as_mut(),
            recorder: run.recorder,
            row: vec![0.0; columns.len()],
            columns,
            cancel: run.cancel,
            cancelled: false,
            energy_bound: run.energy_bound,
            progress: run.progress,
            started,
            stopwatch: Stopwatch::start(),
            last_progress: started,
            first,
            tally: &mut self.tally,
        };
        if first == 0 {
            for unit in &mut self.units {
                unit.report(self.plan.step_time(0), record_energy, &self.board);
            }
            control.record(0, &shared)?;
        }
        if run.steps == 0 {
            return Ok(End::Finished);
        }
        control.stopwatch = Stopwatch::start();
        let mut shares = deal(&mut self.units, &self.plan, threads);
        let own = shares.remove(0);
        let (done, split) = std::thread::scope(|scope| {
            let start = |units| {
                let mut crew = Crew::new(units, &shared, reporting);
                scope.spawn(move || {
                    crew.run(first, None);
                    crew.split
                })
            };
            let others: Vec<_> = shares.into_iter().map(start).collect();
            let mut crew = Crew::new(own, &shared, reporting);
            let done = crew.run(first, Some(&mut control));
            let mut split = crew.split;
            for other in others {
                split.add(&other.join().expect("a panic of a part is a fault"));
            }
            (done, split)
        });
        control.tally.split.add(&split);
        control.stopwatch.stop(&mut control.tally.times);
        let cancelled = control.cancelled;
        self.steps_done += done;
        match shared.into_fault() {
            Some(fault) => Err(fault),
            None if cancelled && done < run.steps => Ok(End::Cancelled),
            None => Ok(End::Finished),
        }
    }

    /// Whether a unit takes too few micro steps per macro step for its account of work.
    fn is_coarse(&self, unit: usize) -> bool {
        let micro_steps = self.units[unit].counters().micro_steps;
        micro_steps > 0 && micro_steps < FINE_MICRO_STEPS * self.steps_done
    }

    /// What the predictors have to say.
    fn predictors(&self) -> impl Iterator<Item = String> {
        self.units.iter().filter_map(|unit| {
            let note = unit.inputs.note()?;
            Some(format!("`{}` {note}", unit.name))
        })
    }

    /// What was done so far.
    pub fn summary(&mut self) -> Summary {
        let energy = self.energy();
        let tally = &self.tally;
        let created = self.created();
        let names = self.plan.interfaces.iter().map(|i| i.name.clone());
        let wall = tally.wall.as_secs_f64();
        let simulated = self.time() - self.plan.schedule.start;
        Summary {
            steps: self.steps_done,
            time: self.time(),
            wall,
            real_time_factor: simulated / wall.max(1e-9),
            threads: tally.threads,
            step_us: [
                tally.times.quantile_us(0.5),
                tally.times.quantile_us(0.99),
                tally.times.longest_us(),
            ],
            split_us: tally.split.mean_us(),
            exchanges: self.units.iter().map(|unit| unit.received).sum(),
            iterations: tally.iterations,
            most_iterations: tally.most_iterations,
            not_converged: tally.not_converged,
            rows: tally.rows,
            initial_energy: tally.initial_energy.map(Into::into),
            final_energy: energy.map(Into::into),
            imbalance: energy.map(|energy| imbalance(tally.initial_energy, energy)),
            created: names
                .zip(created)
                .zip(self.plan.interfaces.iter())
                .map(|((interface, created), sides)| InterfaceSummary {
                    interface,
                    created,
                    coarse: sides.sides.iter().any(|&(unit, _)| self.is_coarse(unit)),
                })
                .collect(),
            parts: self.units.iter().map(part_summary).collect(),
            notes: tally
                .notes
                .iter()
                .cloned()
                .chain(self.predictors())
                .collect(),
            cpu: CpuLevel::detect(),
        }
    }
}

fn part_summary(unit: &Unit) -> PartSummary {
    let Counters {
        micro_steps,
        iterations,
        factorisations,
        stagnations,
        refinements,
        retries,
        unfitted,
    } = unit.counters();
    PartSummary {
        name: unit.name.clone(),
        micro_steps,
        iterations,
        factorisations,
        stagnations,
        refinements,
        retries,
        unfitted,
    }
}

/// Energy that came from nowhere: neither there at the start nor supplied. Integrators and the
/// exchange make it.
fn imbalance(initial: Option<Energy>, now: Energy) -> f64 {
    let initial = initial.map_or(0.0, |energy| energy.stored());
    now.stored() - initial + now.dissipated - now.supplied
}

/// The leader's desk.
struct Control<'a, 'r> {
    plan: &'a Plan,
    tight: Option<&'a mut TightSolver>,
    recorder: &'r mut dyn Recorder,
    columns: Vec<usize>,
    row: Vec<f64>,
    cancel: Option<&'r AtomicBool>,
    cancelled: bool,
    energy_bound: Option<f64>,
    progress: Option<&'r mut dyn FnMut(Progress)>,
    started: Instant,
    stopwatch: Stopwatch,
    last_progress: Instant,
    first: u64,
    tally: &'a mut Tally,
}

impl Control<'_, '_> {
    /// Records the row at the start of macro step n.
    fn record(&mut self, n: u64, shared: &Shared<'_>) -> Result<(), Fault> {
        let t = self.plan.step_time(n);
        for place in 0..self.columns.len() {
            self.row[place] = self.value(self.columns[place], shared);
        }
        self.tally.rows += 1;
        let written = self.recorder.record(t, &self.row);
        written.map_err(|error| Fault::Recording {
            t,
            message: error.to_string(),
        })
    }

    fn value(&self, column: usize, shared: &Shared<'_>) -> f64 {
        let outputs = self.plan.output_places.len();
        let interfaces = self.plan.interfaces.len();
        if column < outputs {
            return shared.board.get(self.plan.output_places[column]);
        }
        if column < outputs + interfaces {
            return self.created(column - outputs, shared);
        }
        let energy = self.energy(shared);
        match ENERGY_COLUMNS[column - outputs - interfaces] {
            "energy.total" => energy.stored(),
            "energy.dissipated" => energy.dissipated,
            "energy.supplied" => energy.supplied,
            _ => imbalance(self.tally.initial_energy, energy),
        }
    }

    fn created(&self, interface: usize, shared: &Shared<'_>) -> f64 {
        let works = self.plan.works[interface].map(|place| shared.board.get(place));
        self.plan.interfaces[interface].created(works)
    }

    fn energy(&self, shared: &Shared<'_>) -> Energy {
        let places = self.plan.energies.iter().flatten();
        places.fold(Energy::default(), |sum, &place| {
            let cell = |offset| shared.board.get(place + offset);
            let part = Energy {
                kinetic: cell(0),
                potential: cell(1),
                dissipated: cell(2),
                supplied: cell(3),
            };
            sum + part
        })
    }

    fn watch(&self, n: u64, bound: f64, shared: &Shared<'_>) -> Result<(), Fault> {
        let Some(initial) = self.tally.initial_energy else {
            return Ok(());
        };
        let energy = self.energy(shared);
        let available = initial.stored().abs() + energy.supplied.abs();
        if available == 0.0 || energy.stored() <= bound * available {
            return Ok(());
        }
        // What falls from rest has no energy to start with: its kinetic and potential energy
        // cancel up to the error of the integration.
        let turned_over = energy.kinetic.abs() + energy.potential.abs();
        if energy.stored() <= CANCELS * turned_over {
            return Ok(());
        }
        Err(Fault::EnergyBound {
            t: self.plan.step_time(n + 1),
            energy: energy.stored(),
            bound,
            available,
            blame: self.blame(shared),
        })
    }

    /// Names the interface that created most, and what helps.
    fn blame(&self, shared: &Shared<'_>) -> String {
        let created = (0..self.plan.interfaces.len()).map(|i| (i, self.created(i, shared)));
        let largest = created.max_by(|a, b| a.1.total_cmp(&b.1));
        match largest {
            Some((index, energy)) if energy > 0.0 => format!(
                "the exchange at `{}` has created {energy:.3e} J: use a smaller macro step, tight coupling, or schedule.refresh = true",
                self.plan.interfaces[index].name
            ),
            _ => "no exchange created it, so an integrator is unstable: use a smaller micro step or an implicit integrator".into(),
        }
    }
}

impl Leader for Control<'_, '_> {
    fn tight(&mut self) -> Option<&mut TightSolver> {
        self.tight.as_deref_mut()
    }

    fn iterated(&mut self, iterations: usize, converged: bool) {
        self.tally.iterations += iterations as u64;
        self.tally.most_iterations = self.tally.most_iterations.max(iterations as u64);
        self.tally.not_converged += u64::from(!converged);
    }

    fn reported(
        &mut self,
        n: u64,
        reporting: &Reporting,
        shared: &Shared<'_>,
    ) -> Result<(), Fault> {
        if reporting.record.is_due(n) {
            self.record(n + 1, shared)?;
        }
        match self.energy_bound {
            Some(bound) if reporting.watch.is_due(n) => self.watch(n, bound, shared),
            _ => Ok(()),
        }
    }

    fn stepped(&mut self, n: u64) -> bool {
        if let Some(now) = self.stopwatch.lap(&mut self.tally.times)
            && let Some(progress) = &mut self.progress
            && now - self.last_progress >= PROGRESS_EVERY
        {
            self.last_progress = now;
            let time = self.plan.step_time(n + 1);
            let simulated = time - self.plan.step_time(self.first);
            progress(Progress {
                steps: n + 1 - self.first,
                time,
                real_time_factor: simulated / (now - self.started).as_secs_f64(),
            });
        }
        let cancel = self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed));
        self.cancelled |= cancel;
        !cancel
    }
}
