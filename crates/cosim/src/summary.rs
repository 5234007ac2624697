//! What a simulation has done so far: counts, times, energies.

use std::ops::Add;
use std::time::Duration;

use serde::Serialize;

use crate::abilities::Energy;
use crate::cpu::CpuLevel;
use crate::pace::Punctuality;
use crate::ranks::RankSummary;
use crate::run_monitor::AT_REST;
use crate::simulation::Simulation;
use crate::stats::{Split, StepTimes};
use crate::subsystem::Counters;
use crate::unit::Unit;

/// Micro steps per macro step from which on the work integrals of an interface are trusted.
const FINE_MICRO_STEPS: u64 = 4;

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
    /// Steps that took less than so many microseconds, and not less than half of that.
    pub step_histogram: Vec<(f64, u64)>,
    /// How well steps kept their times, if the run was paced.
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
    /// Spurious energy, of integrators and exchange together.
    #[serde(rename = "spurious_energy")]
    pub imbalance: Option<f64>,
    /// Energy created by the exchange at each interface, in joules.
    #[serde(rename = "interfaces")]
    pub created: Vec<InterfaceSummary>,
    /// Work of each part.
    pub parts: Vec<PartSummary>,
    /// What each rank did, where several shared the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankSummary>,
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
    /// What the exchange has made at least, relative to the energy that went through it, as far as both are
    /// known and noticeable beside the energy of the whole model.
    pub share: Option<f64>,
}

impl Summary {
    /// The largest share that the exchange at an interface made of what went through it.
    pub fn largest_share(&self) -> Option<f64> {
        let shares = self.created.iter().filter_map(|interface| interface.share);
        shares.reduce(f64::max)
    }

    /// The same, where it is a reason to doubt the run.
    pub fn doubtful_share(&self) -> Option<f64> {
        self.largest_share().filter(|&share| share > DOUBTFUL)
    }
}

/// Work of a part.
#[derive(Clone, Debug, Serialize)]
pub struct PartSummary {
    /// The subsystem.
    pub name: String,
    /// What it did.
    #[serde(flatten)]
    pub counters: Counters,
    /// Time per macro step in microseconds, from the steps that were looked at.
    pub work_us: Option<f64>,
}

/// How well the steps of a paced run kept their times.
#[derive(Clone, Debug, Serialize)]
pub struct Lateness {
    /// Microseconds that a step may take from the instant at which it is due.
    pub budget_us: f64,
    /// How late steps began: median, 99.9th percentile and maximum, in microseconds.
    pub late_us: [f64; 3],
    /// How late they began: steps below so many microseconds, and not below half of that.
    pub histogram: Vec<(f64, u64)>,
    /// Steps that ended after their deadline.
    pub missed: u64,
    /// Steps that took longer than their budget themselves, however late they began.
    pub overruns: u64,
    /// Rows that were left out because their step was late.
    pub dropped_rows: u64,
    /// Seconds of the clock by which the run has slipped.
    pub slipped: f64,
}

/// Spurious energy, relative to what was at work, that a user should know of.
const DOUBTFUL: f64 = 0.2;
/// Spurious energy of one interface, relative to what was at work in the whole model, below which nothing is said.
const NOTICEABLE: f64 = 1e-3;

/// Counts that go on over several runs.
#[derive(Default)]
pub(crate) struct Tally {
    pub times: StepTimes,
    pub punctuality: Punctuality,
    pub split: Split,
    pub wall: Duration,
    /// Simulated in that time, in seconds.
    pub simulated: f64,
    pub threads: usize,
    pub iterations: u64,
    pub most_iterations: u64,
    pub not_converged: u64,
    pub rows: u64,
    /// Of each part.
    pub initial_energy: Option<Vec<Energy>>,
    /// The most that was supplied, and the most that potentials gave up, as far as was looked.
    pub peaks: [f64; 2],
    /// The most energy that was in motion or exchanged with potentials, as far as was looked.
    pub most_at_work: f64,
    /// The most work, in joules, that each side of each interface has seen since the start, as far as was
    /// looked.
    pub passed: Vec<[f64; 2]>,
    pub notes: Vec<String>,
}

impl Tally {
    /// The energy of the whole model at the initial time.
    pub fn initial(&self) -> Option<Energy> {
        let parts = self.initial_energy.as_ref()?;
        Some(parts.iter().copied().fold(Energy::default(), Energy::add))
    }

    /// What is to be said where the energy account does not close by far, if anything.
    fn doubt(&self, energy: Energy) -> Option<String> {
        let initial = self.initial()?;
        let spurious = imbalance(Some(initial), energy).abs();
        let at_work = self
            .most_at_work
            .max(initial.kinetic)
            .max(energy.dissipated);
        let share = spurious / at_work;
        // Where nothing was looked at, or nothing moves, there is nothing to compare with.
        (at_work > AT_REST && self.most_at_work > 0.0 && share > DOUBTFUL).then(|| {
            let share = in_words(share);
            format!(
                "the spurious energy is {share} the most that was at work: motions or forces of this run are wrong somewhere; `energy.imbalance` in the results shows when, and a run with half the step by how much"
            )
        })
    }

    /// What an exchange has made at least, relative to what went through it: zero where it is hardly anything
    /// beside the energy of the whole model. What the integrators of its sides undo does not count.
    fn share(&self, interface: usize, created: f64, uncertainty: Option<f64>) -> Option<f64> {
        let least = created.abs() - uncertainty?;
        let [first, second] = *self.passed.get(interface)?;
        // Each side's work has some of the error in it: the smaller one is nearer to what went through.
        let passed = first.min(second).max(AT_REST);
        (self.most_at_work > 0.0).then(|| match least > NOTICEABLE * self.most_at_work {
            true => least / passed,
            false => 0.0,
        })
    }
}

/// What is to be said of an interface that makes much of what goes through it, if anything.
fn doubt_exchange(interface: &InterfaceSummary) -> Option<String> {
    let share = interface.share.filter(|&share| share > DOUBTFUL)?;
    let (share, name) = (in_words(share), &interface.interface);
    Some(format!(
        "the exchange at `{name}` has made at least {share} the energy that went through it: forces and motions there are wrong; a smaller macro step or another coupling helps"
    ))
}

/// A share as one would say it.
fn in_words(share: f64) -> String {
    match share < 2.0 {
        true => format!("{:.0} % of", 100.0 * share),
        false => format!("{share:.1} times"),
    }
}

impl Simulation {
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
        let micro_steps = self.units[unit].told.counters.micro_steps;
        micro_steps > 0 && micro_steps < FINE_MICRO_STEPS * self.steps_done
    }

    /// What the predictors have to say.
    fn predictors(&self) -> impl Iterator<Item = String> {
        self.units.iter().filter_map(|unit| {
            let note = unit.told.note.as_ref()?;
            Some(format!("`{}` {note}", unit.name))
        })
    }

    /// Parts whose contacts were not solved in every step.
    fn contacts(&self) -> impl Iterator<Item = String> {
        self.units.iter().filter_map(|unit| {
            let note = unit.told.counters.contacts?.note()?;
            Some(format!("`{}` {note}", unit.name))
        })
    }

    /// What was done so far.
    pub fn summary(&mut self) -> Summary {
        // Who fails here has failed the run, or will.
        let _ = self.ask_parts();
        let energies = self.energies().ok().flatten();
        let created = self.created();
        let errors = self.integrator_errors(energies.as_deref());
        let energy = energies.map(|parts| parts.into_iter().fold(Energy::default(), Energy::add));
        let tally = &self.tally;
        let spurious = energy.map(|energy| imbalance(tally.initial(), energy));
        let doubt = energy.and_then(|energy| tally.doubt(energy));
        let interfaces = self.plan.interfaces.iter().zip(created);
        let created: Vec<InterfaceSummary> = interfaces
            .enumerate()
            .map(|(index, (interface, created))| {
                let sides = &interface.sides;
                let uncertainty = sides.iter().try_fold(0.0, |sum: f64, &(unit, _)| {
                    let undone = -errors[unit]? * created.signum();
                    Some((sum + undone.max(0.0)).min(created.abs()))
                });
                InterfaceSummary {
                    interface: interface.name.clone(),
                    created,
                    uncertainty,
                    coarse: sides.iter().any(|&(unit, _)| self.is_coarse(unit)),
                    share: tally.share(index, created, uncertainty),
                }
            })
            .collect();
        let doubted: Vec<String> = created.iter().filter_map(doubt_exchange).collect();
        let wall = tally.wall.as_secs_f64();
        Summary {
            steps: self.steps_done,
            time: self.time(),
            wall,
            real_time_factor: tally.simulated / wall.max(1e-9),
            threads: tally.threads,
            step_us: tally.times.median_p99_longest_us(),
            step_p999_us: tally.times.quantile_us(0.999),
            step_histogram: tally.times.octaves(),
            lateness: tally.punctuality.lateness(),
            split_us: tally.split.mean_us(),
            exchanges: self.units.iter().map(|unit| unit.received).sum(),
            iterations: tally.iterations,
            most_iterations: tally.most_iterations,
            not_converged: tally.not_converged,
            rows: tally.rows,
            initial_energy: tally.initial().map(Into::into),
            final_energy: energy.map(Into::into),
            imbalance: spurious,
            created,
            parts: self.units.iter().map(part_summary).collect(),
            ranks: self
                .company
                .as_ref()
                .map_or_else(Vec::new, |company| company.summaries.clone()),
            notes: tally
                .notes
                .iter()
                .cloned()
                .chain(self.predictors())
                .chain(self.contacts())
                .chain(doubt)
                .chain(doubted)
                .collect(),
            cpu: CpuLevel::detect(),
        }
    }
}

fn part_summary(unit: &Unit) -> PartSummary {
    PartSummary {
        name: unit.name.clone(),
        counters: unit.told.counters,
        work_us: unit.spent.mean_us(),
    }
}

/// Spurious energy: neither there at the start nor supplied. Integrators and the
/// exchange make it.
pub(crate) fn imbalance(initial: Option<Energy>, now: Energy) -> f64 {
    let initial = initial.map_or(0.0, |energy| energy.stored());
    now.stored() - initial + now.dissipated - now.supplied
}
