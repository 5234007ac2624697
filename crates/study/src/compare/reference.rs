//! What variants are compared with.

use std::path::Path;
use std::rc::Rc;

use oldham_cosim::{Cancel, Column, End, InMemory, Simulation};
use oldham_model::{Integrator, Model};
use oldham_results::{Table, read, resample};
use serde::Serialize;

use super::ranking::{Kind, errors};
use super::stretch::{Channel, Pace};
use super::{CompareOptions, STORED, Watch};
use crate::StudyError;

/// A refinement whose error is estimated below this has converged.
const CONVERGED: f64 = 2e-4;
/// What is taken where refining further would take too long.
const ACCEPTED: f64 = 1e-2;
/// Halvings of the macro step at most.
const HALVINGS: u32 = 12;
/// Macro steps of a refinement at most, unless the model itself has nearly as many.
const STEPS: u64 = 400_000;
/// Values of a refinement that are kept.
const KEPT: u64 = 1 << 22;
/// Times that differ by less than this part of the duration are the same.
const SAME_TIME: f64 = 1e-9;

/// What was asked for, or follows from the model.
pub enum Choice {
    Monolithic(Option<Integrator>),
    /// A coupling, refined until the solution does not change.
    Converged(Refinable),
    File(String, Rc<Table>),
}

/// What is refined.
pub enum Refinable {
    /// Implicit coupling; with the file, to go on with if no refinement of that comes to an end.
    Implicit(Box<Model>),
    /// The coupling of the file: an iteration that passes motions and forces back and forth does not begin where a light
    /// subsystem moves a heavy one.
    AsInFile(Box<Model>),
}

impl Refinable {
    fn of(model: &Model) -> Self {
        let begins = |model: Model| {
            let simulation = model.simulation();
            simulation.is_ok_and(|mut simulation| simulation.steps(1).is_ok())
        };
        match !begins(model.implicitly_coupled(0)) && begins(model.refined(0)) {
            true => Self::AsInFile(Box::new(model.refined(0))),
            false => Self::Implicit(Box::new(model.refined(0))),
        }
    }

    /// A variant of the same step is compared with the file: its own coupling may not converge.
    fn refine(&self, model: &Model, halvings: u32) -> Model {
        match self {
            Self::Implicit(_) => model.implicitly_coupled(halvings),
            Self::AsInFile(file) if file.step() == model.step() => file.refined(halvings),
            Self::AsInFile(_) => model.refined(halvings),
        }
    }
}

impl Choice {
    pub fn of(model: &Model, options: &CompareOptions<'_>) -> Result<Self, StudyError> {
        let wanted = options.reference;
        let is_itself = match wanted {
            // Without any exchange the model is its own monolithic reference.
            Some("monolithic") => !model.is_coupled(),
            None => !model.is_coupled() && options.vary.is_empty(),
            Some(_) => false,
        };
        if is_itself {
            return Err(StudyError::NothingToCompare {
                model: model.name().into(),
            });
        }
        let choice = match wanted {
            None if !model.is_coupled() || !model.has_monolithic() => {
                Self::Converged(Refinable::of(model))
            }
            None | Some("monolithic") => Self::Monolithic(None),
            Some("exact") => Self::Monolithic(Some(Integrator::Exact)),
            Some("converged") => Self::Converged(Refinable::of(model)),
            Some(path) if Path::new(path).exists() => Self::file(path)?,
            Some(other) => return Err(StudyError::NoReference { name: other.into() }),
        };
        match (&choice, model.solvable_only_cut()) {
            (Self::File(..), _) | (_, None) => Ok(choice),
            (_, Some(mechanism)) => Err(StudyError::OnlyCut {
                mechanism: mechanism.into(),
            }),
        }
    }

    fn file(path: &str) -> Result<Self, StudyError> {
        let table = read(Path::new(path))?;
        let times = table.time();
        if let Err(error) = resample(times, times, &[]) {
            return Err(StudyError::BadReference {
                path: path.into(),
                reason: error.to_string(),
            });
        }
        Ok(Self::File(path.into(), Rc::new(table)))
    }

    pub fn name(&self) -> String {
        match self {
            Self::Monolithic(None) => "monolithic".into(),
            Self::Monolithic(Some(_)) => "exact".into(),
            Self::Converged(Refinable::Implicit(_)) => "converged".into(),
            Self::Converged(Refinable::AsInFile(_)) => "converged, coupled as in the file".into(),
            Self::File(path, _) => path.clone(),
        }
    }

    /// Names of what the reference of a model has, or why there is no reference.
    pub fn columns(&self, model: &Model) -> Result<Vec<String>, StudyError> {
        let names = |simulation: &Simulation| -> Vec<String> {
            let columns = simulation.columns().iter();
            columns.map(|column| column.name.clone()).collect()
        };
        match self {
            Self::Monolithic(integrator) => Ok(names(&model.monolithic(*integrator)?)),
            Self::Converged(refinable) => Ok(names(&refinable.refine(model, 0).simulation()?)),
            Self::File(path, table) => {
                let times = table.time();
                let (first, last) = (times[0], times[times.len() - 1]);
                let (start, end) = (model.start(), model.start() + model.duration());
                let slack = SAME_TIME * model.duration();
                if first > start + slack || last < end - slack {
                    return Err(StudyError::BadReference {
                        path: path.into(),
                        reason: format!(
                            "it goes from {first} s to {last} s, the model from {start} s to {end} s; \
                             set simulation.duration, or make a longer reference"
                        ),
                    });
                }
                let is_finite = |name: &&str| {
                    let values = table.column(name);
                    values.is_some_and(|values| values.iter().all(|value| value.is_finite()))
                };
                Ok(table.names().filter(is_finite).map(str::to_owned).collect())
            }
        }
    }

    /// Whether all rows of the reference are held in memory.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Converged(_))
    }

    /// The reference of a variant; converged ones are found once for all variants that share them.
    pub fn reference(
        &mut self,
        model: &Model,
        columns: &[Column],
        pace: &Pace,
        found: &mut Vec<Found>,
        watch: &Watch<'_>,
    ) -> Result<Reference, StudyError> {
        match self {
            Self::Monolithic(integrator) => {
                Reference::solved(model.monolithic(*integrator)?, columns)
            }
            Self::File(_, table) => Ok(Reference::File {
                places: columns.iter().map(|column| column.name.clone()).collect(),
                table: Rc::clone(table),
            }),
            Self::Converged(refinable) => {
                let mut key = refinable.refine(model, 0);
                let is_it = |found: &&Found| {
                    found.every == pace.every
                        && found.columns == columns
                        && found.key.is_solved_like(&key)
                };
                if let Some(found) = found.iter().find(is_it) {
                    return Ok(Reference::Converged(Rc::clone(&found.reference)));
                }
                let mut reference = Converged::find(refinable, model, columns, pace, watch);
                if let (Err(StudyError::ReferenceFailed(_)), Refinable::Implicit(file)) =
                    (&reference, &*refinable)
                {
                    *refinable = Refinable::AsInFile(file.clone());
                    key = refinable.refine(model, 0);
                    reference = Converged::find(refinable, model, columns, pace, watch);
                }
                let reference = Rc::new(reference?);
                found.push(Found {
                    key,
                    every: pace.every,
                    columns: columns.to_vec(),
                    reference: Rc::clone(&reference),
                });
                Ok(Reference::Converged(reference))
            }
        }
    }

    /// How much rarer rows are compared than recorded, so that those of a reference can be kept.
    pub fn rarer(&self, rows: u64, columns: usize) -> u64 {
        match self.is_kept() {
            true => (rows * columns as u64).div_ceil(KEPT).max(1),
            false => 1,
        }
    }
}

/// A converged reference that was found, and for what.
pub struct Found {
    key: Model,
    every: u64,
    columns: Vec<Column>,
    reference: Rc<Converged>,
}

/// A reference that is at hand.
pub enum Reference {
    /// Solved beside the variant.
    Solved(Box<Simulation>, Vec<usize>),
    Converged(Rc<Converged>),
    File {
        places: Vec<String>,
        table: Rc<Table>,
    },
}

/// How far a reference was refined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Refined {
    /// The macro step of the last refinement.
    pub step: f64,
    /// Its estimated error.
    pub error: f64,
}

impl Reference {
    fn solved(simulation: Simulation, columns: &[Column]) -> Result<Self, StudyError> {
        let places = places(&simulation, columns);
        Ok(Self::Solved(Box::new(simulation), places))
    }

    /// How far it was refined, if it was.
    pub fn refined(&self) -> Option<Refined> {
        match self {
            Self::Converged(converged) => Some(Refined {
                step: converged.step,
                error: converged.error,
            }),
            Self::Solved(..) | Self::File { .. } => None,
        }
    }

    /// Its values at these times, row by row; a simulation does so many steps for them. Rows may be
    /// missing at the end, where the variant has one between two of the reference.
    pub fn rows(
        &mut self,
        times: &[f64],
        steps: u64,
        pace: &Pace,
        cancel: Option<&Cancel>,
    ) -> Result<Vec<Vec<f64>>, StudyError> {
        match self {
            Self::Solved(simulation, places) => {
                let (rows, outcome) = pace.advance(simulation, places, steps, cancel);
                match outcome.end {
                    Ok(End::Finished) => Ok(at_times(&rows, times)),
                    Ok(End::Cancelled) => Err(StudyError::Cancelled),
                    Err(fault) => Err(StudyError::ReferenceFailed(fault)),
                }
            }
            Self::Converged(converged) => Ok(at_times(&converged.rows, times)),
            Self::File { places, table } => {
                let mut rows = vec![Vec::with_capacity(places.len()); times.len()];
                for name in places.iter() {
                    let values = table.column(name).unwrap_or_default();
                    for (row, value) in
                        rows.iter_mut()
                            .zip(interpolated(table.time(), values, times))
                    {
                        row.push(value);
                    }
                }
                Ok(rows)
            }
        }
    }
}

fn places(simulation: &Simulation, columns: &[Column]) -> Vec<usize> {
    let place = |column: &Column| {
        let found = simulation
            .columns()
            .iter()
            .position(|c| c.name == column.name);
        found.expect("the columns of both were compared before")
    };
    columns.iter().map(place).collect()
}

/// Rows of the reference at the times of the variant, as far as they coincide.
fn at_times(reference: &InMemory, times: &[f64]) -> Vec<Vec<f64>> {
    let Some(first) = times.first() else {
        return Vec::new();
    };
    let from = reference.times.partition_point(|time| time < first);
    let both = reference.times[from..].iter().zip(times);
    let alike = both
        .take_while(|(reference, time)| reference == time)
        .count();
    reference.rows[from..from + alike].to_vec()
}

/// Values at these times, linearly between those given; times just outside take the value at the end.
fn interpolated(given: &[f64], values: &[f64], times: &[f64]) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Vec::new();
    };
    let from = given
        .partition_point(|&time| time <= first)
        .saturating_sub(1);
    let to = (given.partition_point(|&time| time < last) + 1).min(given.len());
    let (given, values) = (&given[from..to], &values[from..to]);
    let (low, high) = (given[0], given[given.len() - 1]);
    let inside: Vec<f64> = times.iter().map(|time| time.clamp(low, high)).collect();
    resample(given, values, &inside).expect("the times were checked before")
}

/// A coupling, refined until two refinements agree.
pub struct Converged {
    rows: InMemory,
    /// Macro step of the last refinement.
    step: f64,
    /// Estimated from how far refinements are apart.
    error: f64,
}

impl Converged {
    fn find(
        refinable: &Refinable,
        model: &Model,
        columns: &[Column],
        pace: &Pace,
        watch: &Watch<'_>,
    ) -> Result<Self, StudyError> {
        let mut coarser: Option<InMemory> = None;
        let mut best: Option<Self> = None;
        let mut before = None;
        let mut fault = None;
        for halvings in 0..=HALVINGS {
            let finer = 1 << halvings;
            if halvings > 1 && model.steps() * finer > STEPS.max(4 * model.steps()) {
                break;
            }
            let refined = refinable.refine(model, halvings);
            (watch.announce)(&format!("reference, macro step {} s", refined.step()));
            let mut simulation = refined.simulation()?;
            let places = places(&simulation, columns);
            let pace = pace.refined(finer);
            let steps = refined.steps();
            let (rows, outcome) = pace.advance(&mut simulation, &places, steps, watch.cancel);
            match outcome.end {
                Ok(End::Finished) => {}
                Ok(End::Cancelled) => return Err(StudyError::Cancelled),
                // A finer step may well succeed.
                Err(error) => {
                    fault = Some(error);
                    (coarser, before) = (None, None);
                    continue;
                }
            }
            if let Some(coarser) = coarser.take() {
                let distance = distance(columns, &coarser, &rows);
                let error = estimate(distance, before.replace(distance));
                let found = Self {
                    rows: rows.clone(),
                    step: refined.step(),
                    error,
                };
                if error <= CONVERGED {
                    return Ok(found);
                }
                best = Some(found);
            }
            coarser = Some(rows);
        }
        match (best, fault) {
            (Some(best), _) if best.error <= ACCEPTED => Ok(best),
            (Some(best), _) => Err(StudyError::NotConverged {
                step: best.step,
                difference: best.error,
            }),
            (None, Some(fault)) => Err(StudyError::ReferenceFailed(fault)),
            (None, None) => Err(StudyError::NotConverged {
                step: model.step(),
                difference: f64::NAN,
            }),
        }
    }
}

/// The error of the last refinement, from its distance to the one before and the distance before that:
/// where these fall by a factor, errors do. Nothing is trusted to be of more than second order, or of
/// less than first.
fn estimate(distance: f64, before: Option<f64>) -> f64 {
    let factor = before.map_or(2.0, |before| (before / distance).clamp(2.0, 4.0));
    distance / (factor - 1.0)
}

/// How far two solutions are apart, by the signal that is furthest: displacements, forces and
/// pressures, or rates where there is nothing else.
fn distance(columns: &[Column], coarser: &InMemory, finer: &InMemory) -> f64 {
    let columns: Vec<&Column> = columns
        .iter()
        .filter(|column| column.name != STORED)
        .collect();
    let kinds: Vec<Kind> = columns.iter().map(|column| Kind::of(column)).collect();
    let channels: Vec<Channel> = (0..columns.len())
        .map(|place| {
            let mut channel = Channel::new(None);
            for ((time, coarse), fine) in finer.times.iter().zip(&coarser.rows).zip(&finer.rows) {
                channel.take(*time, coarse[place], fine[place]);
            }
            channel
        })
        .collect();
    let errors = errors(&kinds, &channels);
    let largest = |wanted: &dyn Fn(&Kind) -> bool| {
        let all = kinds.iter().zip(&errors).filter(|(kind, _)| wanted(kind));
        all.filter_map(|(_, error)| *error).reduce(f64::max)
    };
    let plain = largest(&|kind| *kind != Kind::Orientation && !kind.is_rate());
    plain.or_else(|| largest(&|_| true)).unwrap_or(0.0)
}
