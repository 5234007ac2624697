//! The motion that errors are measured from: that of the monolithic model, or of the refined implicit coupling.

use std::collections::HashMap;
use std::time::Instant;

use oldham_cosim::{Cancel, Column, End, InMemory, Run, Simulation, SubsystemId};
use oldham_model::Model;

use crate::StudyError;
use crate::compare::{Channel, Kind, errors};

/// A refinement whose error is estimated below this has converged, where that is little work.
const CONVERGED: f64 = 1e-5;
/// The same where it is more: errors of couplings that are worth a thought are larger.
const SUFFICIENT: f64 = 2e-4;
/// What is little work, in matrix entries that are touched.
const LITTLE_WORK: f64 = 2e7;
/// What is taken where refining further would take too long.
const ACCEPTED: f64 = 1e-2;
/// Halvings of the macro step: at least, so that there is something to see within a step, and at most.
const HALVINGS: std::ops::RangeInclusive<u32> = 2..=7;
/// Values of a refinement that are kept.
const KEPT: u64 = 1 << 23;

/// What a motion is measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// The model without any exchange, with the same integrators and steps.
    Monolithic,
    /// Implicit coupling with a macro step that was halved until nothing changed.
    Converged,
    /// The coupling of the file with a macro step that was halved until nothing changed, where parts cannot iterate.
    Refined,
}

impl ReferenceKind {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Monolithic => "monolithic",
            Self::Converged => "converged",
            Self::Refined => "refined",
        }
    }
}

/// The motion, at the ends of its own steps.
#[derive(Clone)]
pub(super) struct Reference {
    pub kind: ReferenceKind,
    /// Estimated error, of one that was refined.
    pub error: Option<f64>,
    places: HashMap<String, usize>,
    start: f64,
    /// Its own steps in a macro step.
    finer: usize,
    step: f64,
    rows: Vec<Vec<f64>>,
}

/// What ends a search before its end.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub until: Instant,
    pub cancel: Option<&'a Cancel>,
}

impl Limits<'_> {
    /// Whether there is time for more.
    pub fn has_time(&self) -> bool {
        Instant::now() < self.until && self.allow().is_ok()
    }

    /// An error if the user has had enough.
    pub fn allow(&self) -> Result<(), StudyError> {
        match self.cancel.is_some_and(Cancel::is_requested) {
            true => Err(StudyError::Cancelled),
            false => Ok(()),
        }
    }
}

impl Reference {
    /// Of a model over so many of its macro steps.
    pub fn of(model: &Model, steps: u64, limits: Limits<'_>) -> Result<Self, StudyError> {
        match model.has_monolithic() {
            true => Self::monolithic(model, steps, limits),
            false => Self::converged(model, steps, limits),
        }
    }

    fn monolithic(model: &Model, steps: u64, limits: Limits<'_>) -> Result<Self, StudyError> {
        let mut simulation = model.monolithic(None)?;
        let rows = rows(&mut simulation, steps, limits)?;
        let kind = ReferenceKind::Monolithic;
        Ok(Self::from(kind, model, &simulation, 1, rows.rows))
    }

    fn converged(model: &Model, steps: u64, limits: Limits<'_>) -> Result<Self, StudyError> {
        let mut best: Option<Self> = None;
        let mut coarser: Option<Self> = None;
        let mut before = None;
        let mut failed = None;
        let begins = |model: Model| {
            let simulation = model.simulation();
            simulation.is_ok_and(|mut simulation| simulation.steps(1).is_ok())
        };
        // Sampled signals know no iteration.
        let is_implicit = begins(model.implicitly_coupled(0)) || !begins(model.refined(0));
        for halvings in 0..=*HALVINGS.end() {
            let finer = 1_u64 << halvings;
            let refined = match is_implicit {
                true => model.implicitly_coupled(halvings),
                false => model.refined(halvings),
            };
            let mut simulation = refined.simulation()?;
            let columns = simulation.columns().len() as u64;
            let is_enough = best
                .as_ref()
                .and_then(|best| best.error)
                .is_some_and(|error| error <= SUFFICIENT && halvings > *HALVINGS.start());
            let is_little = work(&mut simulation) * (steps * finer) as f64 <= LITTLE_WORK;
            if is_enough && !is_little {
                break;
            }
            if best.is_some() && (!limits.has_time() || steps * finer * columns > KEPT) {
                break;
            }
            let found = match rows(&mut simulation, steps * finer, limits) {
                Ok(found) => found,
                Err(StudyError::ReferenceFailed(fault)) => {
                    failed = Some(StudyError::ReferenceFailed(fault));
                    (coarser, before) = (None, None);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let kind = match is_implicit {
                true => ReferenceKind::Converged,
                false => ReferenceKind::Refined,
            };
            let mut found = Self::from(kind, model, &simulation, finer as usize, found.rows);
            if let Some(coarser) = coarser.take() {
                let distance = found.distance(&coarser, simulation.columns());
                let factor = before.map_or(2.0, |before: f64| (before / distance).clamp(2.0, 4.0));
                before = Some(distance);
                let error = distance / (factor - 1.0);
                found.error = Some(error);
                if error <= CONVERGED && halvings >= *HALVINGS.start() {
                    return Ok(found);
                }
                best = Some(found.clone());
            }
            coarser = Some(found);
        }
        match (best, failed) {
            (Some(best), _) if best.error.is_some_and(|error| error <= ACCEPTED) => Ok(best),
            (Some(best), _) => Err(StudyError::NotConverged {
                step: best.step,
                difference: best.error.unwrap_or(f64::NAN),
            }),
            (None, Some(failed)) => Err(failed),
            (None, None) => Err(StudyError::NotConverged {
                step: model.step(),
                difference: f64::NAN,
            }),
        }
    }

    fn from(
        kind: ReferenceKind,
        model: &Model,
        simulation: &Simulation,
        finer: usize,
        rows: Vec<Vec<f64>>,
    ) -> Self {
        let columns = simulation.columns().iter().enumerate();
        let places = columns.map(|(place, column)| (column.name.clone(), place));
        Self {
            kind,
            error: None,
            places: places.collect(),
            start: model.start(),
            finer,
            step: model.step() / finer as f64,
            rows,
        }
    }

    /// How far a coarser one is off by the signal that is furthest.
    fn distance(&self, coarser: &Self, columns: &[Column]) -> f64 {
        let ratio = self.finer / coarser.finer;
        let signals: Vec<(usize, Column)> = columns
            .iter()
            .filter(|column| is_signal(&column.name))
            .filter_map(|column| Some((self.place(&column.name)?, column.clone())))
            .collect();
        let mut channels: Vec<Channel> = signals.iter().map(|_| Channel::new(None)).collect();
        for (n, row) in coarser.rows.iter().enumerate() {
            for (channel, (place, _)) in channels.iter_mut().zip(&signals) {
                channel.take(n as f64, row[*place], self.rows[n * ratio][*place]);
            }
        }
        let kinds: Vec<Kind> = signals.iter().map(|(_, column)| Kind::of(column)).collect();
        let errors = errors(&kinds, &channels);
        let plain = |kind: &Kind| *kind != Kind::Orientation && !kind.is_rate();
        let largest = |is_wanted: &dyn Fn(&Kind) -> bool| {
            let all = kinds
                .iter()
                .zip(&errors)
                .filter(|(kind, _)| is_wanted(kind));
            all.filter_map(|(_, error)| *error).reduce(f64::max)
        };
        largest(&plain)
            .or_else(|| largest(&|_| true))
            .unwrap_or(0.0)
    }

    /// The same for the model with half the macro step, if the motion does not depend on that.
    pub fn at_half_step(&self, model: &Model) -> Option<Self> {
        let is_same = self.kind != ReferenceKind::Monolithic && self.finer.is_multiple_of(2);
        is_same.then(|| Self {
            finer: self.finer / 2,
            start: model.start(),
            ..self.clone()
        })
    }

    /// The place of a signal.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Its values at the end of macro step n.
    pub fn row(&self, n: usize) -> Option<&[f64]> {
        self.rows.get(n * self.finer).map(Vec::as_slice)
    }

    /// A signal at any time, by the cubic through the four ends of steps around it.
    pub fn at(&self, place: usize, t: f64) -> f64 {
        let x = (t - self.start) / self.step;
        let count = self.rows.len();
        let first = (x.floor() as isize - 1).clamp(0, count.saturating_sub(4) as isize) as usize;
        let last = (first + 4).min(count);
        let mut sum = 0.0;
        for i in first..last {
            let others = (first..last).filter(|&j| j != i);
            let weight: f64 = others
                .map(|j| (x - j as f64) / (i as f64 - j as f64))
                .product();
            sum += weight * self.rows[i][place];
        }
        sum
    }
}

/// About how much work a macro step is.
pub(super) fn work(simulation: &mut Simulation) -> f64 {
    let count = simulation.names().count();
    let parts = (0..count).map(SubsystemId);
    parts.map(|id| simulation.subsystem(id).work()).sum()
}

/// Balances of energy are compared on their own.
pub(super) fn is_signal(name: &str) -> bool {
    !["energy.", "exchange."]
        .iter()
        .any(|start| name.starts_with(start))
}

fn rows(
    simulation: &mut Simulation,
    steps: u64,
    limits: Limits<'_>,
) -> Result<InMemory, StudyError> {
    limits.allow()?;
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        cancel: limits.cancel.cloned(),
        ..Run::new(steps, &mut rows)
    });
    match outcome.end {
        Ok(End::Finished) => Ok(rows),
        Ok(End::Cancelled) => Err(StudyError::Cancelled),
        Err(fault) => Err(StudyError::ReferenceFailed(fault)),
    }
}
