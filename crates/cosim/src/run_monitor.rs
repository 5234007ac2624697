//! What the first thread of a run does besides its units: it records, shows, watches the energy,
//! reports progress and ends the run.

use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::abilities::Energy;
use crate::builder::ENERGY_COLUMNS;
use crate::cancel::Cancel;
use crate::fault::Fault;
use crate::implicit::ImplicitSolver;
use crate::pace::{Begun, Pacer};
use crate::recorder::Recorder;
use crate::run::Progress;
use crate::stats::Stopwatch;
use crate::step_plan::StepPlan;
use crate::summary::{Tally, imbalance};
use crate::thread_choice::ThreadChoice;
use crate::unit::panic_message;
use crate::worker::{Coordinator, Reporting, Shared};

/// Energy, in joules, that nobody calls growth: what rounding makes of a model at rest.
pub(crate) const AT_REST: f64 = 1e-9;
/// Wall time between two reports of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

fn recording_fault(t: f64, error: &std::io::Error) -> Fault {
    Fault::Recording {
        t,
        message: error.to_string(),
    }
}

/// Where a recorded number comes from.
#[derive(Clone, Copy)]
pub(crate) enum ColumnSource {
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
    pub fn of(plan: &StepPlan, index: usize) -> Self {
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
pub(crate) struct RunMonitor<'a, 'r> {
    pub plan: &'a StepPlan,
    pub names: &'a [String],
    pub implicit: Option<&'a mut ImplicitSolver>,
    pub recorder: &'r mut dyn Recorder,
    pub sources: Vec<ColumnSource>,
    pub records_energy: bool,
    /// Energy of the whole model at the initial time.
    pub initial: Option<Energy>,
    pub row: Vec<f64>,
    pub tap: Option<(Vec<ColumnSource>, Vec<f64>, &'r mut dyn Recorder)>,
    pub pacer: Option<Pacer<'a>>,
    /// The deadline that was missed, which ends the run.
    pub missed: Option<Fault>,
    pub cancel: Option<Cancel>,
    pub cancelled: bool,
    pub energy_bound: Option<f64>,
    pub progress: Option<&'r mut dyn FnMut(Progress)>,
    pub started: Instant,
    pub stopwatch: Stopwatch,
    pub last_progress: Instant,
    pub first: u64,
    pub threads: ThreadChoice,
    pub tally: &'a mut Tally,
}

impl RunMonitor<'_, '_> {
    /// Records the row at the initial time, where no worker sees to panics.
    pub fn record_first(&mut self, t: f64, shared: &Shared<'_>) -> Result<(), Fault> {
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
            let term = |offset| shared.exchange.get(place + offset);
            Energy::of_terms([0, 1, 2, 3].map(term))
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
        let at_work = energy.kinetic + given_up.abs();
        self.tally.most_at_work = self.tally.most_at_work.max(at_work);
        for (passed, places) in self.tally.passed.iter_mut().zip(&self.plan.works) {
            let works = places.map(|place| shared.exchange.get(place).abs());
            *passed = [passed[0].max(works[0]), passed[1].max(works[1])];
        }
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
            // Parts that are coupled without such an interface may feed each other unseen.
            None if self.names.len() > 1 => "the energy at the connections is not known, so either the coupling is unstable, which `oldham check` tells, or an integrator is: use a smaller macro step, or a smaller micro step or an implicit integrator".into(),
            _ => "no interface has spurious energy of that size, so an integrator is unstable: use a smaller micro step or an implicit integrator".into(),
        }
    }

    /// What is done at steps whose time is taken: most short ones pass without.
    #[inline(never)]
    fn look_at_clock(&mut self, n: u64, shared: &Shared<'_>) -> bool {
        let tally = &mut *self.tally;
        let now = match &mut self.pacer {
            None => self.stopwatch.lap(&mut tally.times),
            Some(pacer) => {
                let t = self.plan.step_time(n + 1);
                let kept = pacer.ended(t, &mut tally.times, &mut tally.punctuality);
                self.missed = self.missed.take().or(kept.err());
                Instant::now()
            }
        };
        if let Some(progress) = &mut self.progress
            && now - self.last_progress >= PROGRESS_EVERY
        {
            self.last_progress = now;
            let time = self.plan.step_time(n + 1);
            let simulated = time - self.plan.step_time(self.first);
            progress(Progress {
                steps: n + 1 - self.first,
                time,
                real_time_factor: simulated / (now - self.started).as_secs_f64(),
                step_us: self.tally.times.median_p99_longest_us(),
                missed: self.tally.punctuality.missed,
            });
        }
        !self.threads.is_over(now, n + 1, || shared.sleeping_share())
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
        let pacer = self.pacer.as_ref();
        let is_dropped = n < reporting.last && pacer.is_some_and(Pacer::drops_output);
        if reporting.record.is_due(n) {
            match is_dropped {
                true => self.tally.punctuality.drop_row(),
                false => self.record(n + 1, shared)?,
            }
        }
        if reporting.tap.is_due(n) && !is_dropped {
            self.show(n + 1, shared)?;
        }
        match self.energy_bound {
            Some(bound) if reporting.watch.is_due(n) => self.watch(n, bound, shared),
            _ => Ok(()),
        }
    }

    fn begins(&mut self, step: Begun) {
        if let Some(pacer) = &mut self.pacer {
            pacer.begins(step, &mut self.tally.punctuality);
        }
    }

    fn stepped(&mut self, n: u64, shared: &Shared<'_>) -> bool {
        let goes_on = match self.pacer.is_none() && self.stopwatch.passes() {
            true => true,
            false => self.look_at_clock(n, shared),
        };
        let cancel = self.cancel.as_ref().is_some_and(Cancel::is_requested);
        if cancel {
            self.cancelled = true;
            shared.signals.is_cancelled.store(true, Ordering::Relaxed);
        }
        goes_on && !cancel && self.missed.is_none()
    }
}
