//! Running a simulation: threads, recording, watching, stopping.

use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::builder::ENERGY_COLUMNS;
use crate::cancel::Cancel;
use crate::cpu::CpuLevel;
use crate::fault::Fault;
use crate::implicit::ImplicitSolver;
use crate::load_balancing::overlapping;
use crate::lockstep::run_stretch;
use crate::pace::Pace;
use crate::recorder::Recorder;
use crate::simulation::Simulation;
use crate::stats::{Split, StepTimes, Stopwatch};
use crate::step_plan::StepPlan;
use crate::subsystem::{Counters, Energy};
use crate::thread_choice::ThreadChoice;
use crate::unit::{ReportRequest, Unit, panic_message};
use crate::worker::{Coordinator, Every, Reporting, Shared};

/// Steps between two looks at the energy.
const WATCH_EVERY: u64 = 64;
/// Energy, in joules, that nobody calls growth: what rounding makes of a model at rest.
const AT_REST: f64 = 1e-9;
/// Micro steps per macro step from which on the work integrals of an interface are trusted.
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
    /// Who looks on while it runs.
    pub tap: Option<Tap<'a>>,
    /// Simulated seconds for each second of wall time; as fast as it can if `None`. A step that is
    /// late is not waited for: the run slips.
    pub pace: Option<f64>,
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

/// How late the steps of a paced run began.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lateness {
    /// Median, 99.9th percentile and maximum, in microseconds.
    pub late_us: [f64; 3],
    /// Steps that began later than the next one should have.
    pub missed: u64,
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
    /// The time that one step in a thousand exceeds, in microseconds.
    pub step_p999_us: f64,
    /// How late steps began, if the run was paced.
    pub lateness: Option<Lateness>,
    /// Time of a step, in microseconds, as the mean thread sees it in one of 64 steps: work of the
    /// parts, waiting for other threads, and the exchange with recording and watching.
    pub split_us: Option<[f64; 3]>,
    /// Values delivered from port to port.
    #[serde(rename = "values_exchanged")]
    pub exchanges: u64,
    /// Iterations of implicit steps.
    pub iterations: u64,
    /// Most iterations in one step.
    pub most_iterations: u64,
    /// Implicit steps that were accepted without convergence.
    pub not_converged: u64,
    /// Rows recorded.
    pub rows: u64,
    /// Energy at the initial time, if all parts know theirs.
    pub initial_energy: Option<EnergySummary>,
    /// Energy now.
    pub final_energy: Option<EnergySummary>,
    /// Energy that came from nowhere, by integrators and exchange together.
    #[serde(rename = "spurious_energy")]
    pub imbalance: Option<f64>,
    /// Energy created by the exchange at each interface, in joules.
    #[serde(rename = "interfaces")]
    pub created: Vec<InterfaceSummary>,
    /// Work of each part.
    pub parts: Vec<PartSummary>,
    /// Remarks that a user should read.
    pub notes: Vec<String>,
    /// Instruction set in use.
    pub cpu: CpuLevel,
}

/// An energy balance in joules.
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
    #[serde(rename = "spurious_energy")]
    pub created: f64,
    /// How much of it, in joules, the integrators of both sides undo by their own error in work:
    /// what is left is the least that the exchange has added to the model. Unknown where a part
    /// does not know its energy or keeps the force to itself.
    pub uncertainty: Option<f64>,
    /// The sides take so few micro steps that their own error in work may be as large.
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
    /// Time per macro step in microseconds, from the steps that were looked at.
    pub work_us: Option<f64>,
}

/// Counts that go on over several runs.
#[derive(Default)]
pub(crate) struct Tally {
    pub times: StepTimes,
    /// How late paced steps began, and how many later than the next one should have.
    pub late: StepTimes,
    pub missed: u64,
    pub split: Split,
    pub wall: Duration,
    pub threads: usize,
    pub iterations: u64,
    pub most_iterations: u64,
    pub not_converged: u64,
    pub rows: u64,
    /// Of each part.
    pub initial_energy: Option<Vec<Energy>>,
    /// The most that was supplied, and the most that potentials gave up, as far as was looked.
    pub peaks: [f64; 2],
    pub notes: Vec<String>,
}

impl Tally {
    /// The energy of the whole model at the initial time.
    fn initial(&self) -> Option<Energy> {
        let parts = self.initial_energy.as_ref()?;
        Some(parts.iter().copied().fold(Energy::default(), Energy::add))
    }
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
            self.check_initial_energy()?;
        }
        for unit in &mut self.units {
            unit.inputs.cancel_by(run.cancel.clone());
        }
        let period = self.plan.schedule.step / run.pace.unwrap_or(f64::INFINITY);
        let pace = run.pace.map(|_| Pace::new(started, first, period));
        let names: Vec<String> = self.names().map(Into::into).collect();
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
            period: Duration::try_from_secs_f64(period).unwrap_or(Duration::MAX),
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
                None => ThreadChoice::new(threads, started, first),
            },
            tally: &mut self.tally,
        };
        if first == 0 {
            let t = self.plan.step_time(0);
            let request = ReportRequest {
                energy: record_energy,
                interface_works: record_work,
            };
            for unit in &mut self.units {
                unit.guarded(t, |unit| unit.report(t, request, &self.exchange))?;
            }
            let alone = Shared::new(&self.plan, &self.exchange, 1, 0, None);
            monitor.record_first(t, &alone)?;
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
            let companions = overlapping.len();
            let shared = Shared::new(&self.plan, &self.exchange, threads, companions, pace);
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
            if let Some(fault) = shared.into_fault() {
                monitor.stopwatch.stop(&mut monitor.tally.times);
                return Err(fault);
            }
            if monitor.cancelled {
                break;
            }
        }
        monitor.stopwatch.stop(&mut monitor.tally.times);
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

    /// What the integrator of each part has made of work, in joules: the energy it has gained
    /// beyond what came in. Nothing where that is not known.
    fn integrator_errors(&self, energies: Option<&[Energy]>) -> Vec<Option<f64>> {
        let unknown = || vec![None; self.units.len()];
        let (Some(now), Some(initial)) = (energies, &self.tally.initial_energy) else {
            return unknown();
        };
        let error = |(index, unit): (usize, &Unit)| {
            let gains = unit.interface_works.iter().enumerate();
            let gains = gains.map(|(place, work)| work.gain(unit.work_at(place)));
            let came_in = gains.sum::<Option<f64>>()?;
            Some(imbalance(Some(initial[index]), now[index]) - came_in)
        };
        self.units.iter().enumerate().map(error).collect()
    }

    /// Whether a unit takes too few micro steps per macro step for its work integral.
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
        let energies = self.energies().ok().flatten();
        let created = self.created();
        let errors = self.integrator_errors(energies.as_deref());
        let energy = energies.map(|parts| parts.into_iter().fold(Energy::default(), Energy::add));
        let tally = &self.tally;
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
            step_p999_us: tally.times.quantile_us(0.999),
            lateness: (tally.late.count() > 0).then(|| Lateness {
                late_us: [
                    tally.late.quantile_us(0.5),
                    tally.late.quantile_us(0.999),
                    tally.late.longest_us(),
                ],
                missed: tally.missed,
            }),
            split_us: tally.split.mean_us(),
            exchanges: self.units.iter().map(|unit| unit.received).sum(),
            iterations: tally.iterations,
            most_iterations: tally.most_iterations,
            not_converged: tally.not_converged,
            rows: tally.rows,
            initial_energy: tally.initial().map(Into::into),
            final_energy: energy.map(Into::into),
            imbalance: energy.map(|energy| imbalance(tally.initial(), energy)),
            created: names
                .zip(created)
                .zip(self.plan.interfaces.iter())
                .map(|((interface, created), sides)| InterfaceSummary {
                    interface,
                    created,
                    uncertainty: sides.sides.iter().try_fold(0.0, |sum: f64, &(unit, _)| {
                        let undone = -errors[unit]? * created.signum();
                        Some((sum + undone.max(0.0)).min(created.abs()))
                    }),
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
        work_us: unit.spent.mean_us(),
    }
}

/// Energy that came from nowhere: neither there at the start nor supplied. Integrators and the
/// exchange make it.
fn imbalance(initial: Option<Energy>, now: Energy) -> f64 {
    let initial = initial.map_or(0.0, |energy| energy.stored());
    now.stored() - initial + now.dissipated - now.supplied
}

fn recording_fault(t: f64, error: &std::io::Error) -> Fault {
    Fault::Recording {
        t,
        message: error.to_string(),
    }
}

/// Where a recorded number comes from.
#[derive(Clone, Copy)]
enum ColumnSource {
    /// A place in the exchange buffer.
    Output(usize),
    /// An interface.
    Created(usize),
    Stored,
    Dissipated,
    Supplied,
    Imbalance,
}

impl ColumnSource {
    /// The columns of a plan are its outputs, then its interfaces, then the energies.
    fn of(plan: &StepPlan, index: usize) -> Self {
        let (outputs, interfaces) = (plan.output_places.len(), plan.interfaces.len());
        if index < outputs {
            return Self::Output(plan.output_places[index]);
        }
        if index < outputs + interfaces {
            return Self::Created(index - outputs);
        }
        match ENERGY_COLUMNS[index - outputs - interfaces] {
            "energy.total" => Self::Stored,
            "energy.dissipated" => Self::Dissipated,
            "energy.supplied" => Self::Supplied,
            _ => Self::Imbalance,
        }
    }
}

/// Records, watches the energy, reports progress and cancels, on the first thread.
struct RunMonitor<'a, 'r> {
    plan: &'a StepPlan,
    names: &'a [String],
    implicit: Option<&'a mut ImplicitSolver>,
    recorder: &'r mut dyn Recorder,
    sources: Vec<ColumnSource>,
    records_energy: bool,
    /// Energy of the whole model at the initial time.
    initial: Option<Energy>,
    row: Vec<f64>,
    tap: Option<(Vec<ColumnSource>, Vec<f64>, &'r mut dyn Recorder)>,
    period: Duration,
    cancel: Option<Cancel>,
    cancelled: bool,
    energy_bound: Option<f64>,
    progress: Option<&'r mut dyn FnMut(Progress)>,
    started: Instant,
    stopwatch: Stopwatch,
    last_progress: Instant,
    first: u64,
    threads: ThreadChoice,
    tally: &'a mut Tally,
}

impl RunMonitor<'_, '_> {
    /// Records the row at the initial time, where no worker sees to panics.
    fn record_first(&mut self, t: f64, shared: &Shared<'_>) -> Result<(), Fault> {
        let attempt = catch_unwind(AssertUnwindSafe(|| self.record(0, shared)));
        attempt.unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            Err(Fault::CoordinatorPanic { t, message })
        })
    }

    /// Records the row at the start of macro step n.
    fn record(&mut self, n: u64, shared: &Shared<'_>) -> Result<(), Fault> {
        let mut row = std::mem::take(&mut self.row);
        self.fill(&self.sources, &mut row, shared);
        self.tally.rows += 1;
        let t = self.plan.step_time(n);
        let written = self.recorder.record(t, &row);
        self.row = row;
        written.map_err(|error| recording_fault(t, &error))
    }

    /// Shows the row at the start of macro step n to whoever looks on.
    fn show(&mut self, n: u64, shared: &Shared<'_>) -> Result<(), Fault> {
        let Some((sources, mut row, recorder)) = self.tap.take() else {
            return Ok(());
        };
        self.fill(&sources, &mut row, shared);
        let t = self.plan.step_time(n);
        let shown = recorder.record(t, &row);
        self.tap = Some((sources, row, recorder));
        shown.map_err(|error| recording_fault(t, &error))
    }

    fn fill(&self, sources: &[ColumnSource], row: &mut [f64], shared: &Shared<'_>) {
        let energy = match self.records_energy {
            true => self.energy(shared),
            false => Energy::default(),
        };
        for (value, source) in row.iter_mut().zip(sources) {
            *value = match *source {
                ColumnSource::Output(place) => shared.exchange.get(place),
                ColumnSource::Created(interface) => self.created(interface, shared),
                ColumnSource::Stored => energy.stored(),
                ColumnSource::Dissipated => energy.dissipated,
                ColumnSource::Supplied => energy.supplied,
                ColumnSource::Imbalance => imbalance(self.initial, energy),
            };
        }
    }

    fn created(&self, interface: usize, shared: &Shared<'_>) -> f64 {
        let works = self.plan.works[interface].map(|place| shared.exchange.get(place));
        self.plan.interfaces[interface].created(works)
    }

    /// The energies that the parts reported.
    fn energies<'s>(&self, shared: &'s Shared<'_>) -> impl Iterator<Item = Energy> + use<'s, '_> {
        let places = self.plan.energies.iter().flatten();
        places.map(|&place| {
            let cell = |offset| shared.exchange.get(place + offset);
            Energy {
                kinetic: cell(0),
                potential: cell(1),
                dissipated: cell(2),
                supplied: cell(3),
            }
        })
    }

    fn energy(&self, shared: &Shared<'_>) -> Energy {
        self.energies(shared).fold(Energy::default(), Energy::add)
    }

    /// Compares the stored energy with what there was to be had: at the start, from loads and
    /// drives, and from potentials that gave it up, as that of gravity in a fall.
    fn watch(&mut self, n: u64, bound: f64, shared: &Shared<'_>) -> Result<(), Fault> {
        let Some(initial) = self.initial else {
            return Ok(());
        };
        let t = self.plan.step_time(n + 1);
        let is_number = |energy: &Energy| (energy.stored() + energy.supplied).is_finite();
        let mut energies = self.energies(shared).zip(self.names);
        let wrong = energies.find(|(energy, _)| !is_number(energy));
        drop(energies);
        if let Some((energy, name)) = wrong {
            return Err(Fault::EnergyNotFinite {
                t,
                subsystem: name.clone(),
                energy: energy.stored(),
            });
        }
        let energy = self.energy(shared);
        let given_up = initial.potential - energy.potential;
        let peaks = &mut self.tally.peaks;
        *peaks = [peaks[0].max(energy.supplied.abs()), peaks[1].max(given_up)];
        let initially = initial.kinetic.abs() + initial.potential.abs();
        let available = initially + peaks[0] + peaks[1];
        if energy.stored() <= bound * available.max(AT_REST) {
            return Ok(());
        }
        Err(Fault::EnergyBound {
            t,
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
                "the coupling at `{}` has added {energy:.3e} J of spurious energy: use a smaller macro step, implicit (tight) coupling, or schedule.output_update = true",
                self.plan.interfaces[index].name
            ),
            _ => "no interface has spurious energy of that size, so an integrator is unstable: use a smaller micro step or an implicit integrator".into(),
        }
    }
}

impl Coordinator for RunMonitor<'_, '_> {
    fn implicit(&mut self) -> Option<&mut ImplicitSolver> {
        self.implicit.as_deref_mut()
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
        if reporting.tap.is_due(n) {
            self.show(n + 1, shared)?;
        }
        match self.energy_bound {
            Some(bound) if reporting.watch.is_due(n) => self.watch(n, bound, shared),
            _ => Ok(()),
        }
    }

    fn begins(&mut self, late: Duration) {
        self.tally.late.add(late.as_nanos() as u64);
        self.tally.missed += u64::from(late > self.period);
        self.stopwatch.begin();
    }

    fn stepped(&mut self, n: u64, shared: &Shared<'_>) -> bool {
        let lap = self.stopwatch.lap(&mut self.tally.times);
        let goes_on =
            lap.is_none_or(|now| !self.threads.is_over(now, n + 1, || shared.sleeping_share()));
        if let Some(now) = lap
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
        let cancel = self.cancel.as_ref().is_some_and(Cancel::is_requested);
        self.cancelled |= cancel;
        goes_on && !cancel
    }
}
