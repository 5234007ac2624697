//! Steady motions over a parameter: each from the one before, with the values at which they change their stability.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::trim::{Factor, Trim, TrimOptions, TrimmedFile, trim_from};
use crate::{ModelFile, Range, StudyError};

/// How often the place of a branch point is improved, and how near it is found at best, as a share of the range.
const IMPROVEMENTS: usize = 6;
const NEAR: f64 = 1e-5;
/// How far from the real axis, as a share of itself, a multiplier is one of a pair.
const REAL: f64 = 1e-3;

/// What happens where a multiplier passes the unit circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Branching {
    /// A real multiplier passes one: the motion meets another one of the same period, or turns back.
    Fold,
    /// A real multiplier passes minus one: a motion of twice the period begins.
    PeriodDoubling,
    /// A pair passes: a vibration begins (Hopf, Neimark and Sacker).
    Vibration,
}

impl Branching {
    /// As a sentence about the parameter's value.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Fold => {
                "a multiplier passes 1: the motion meets another one, or turns back (branch or turning point)"
            }
            Self::PeriodDoubling => {
                "a multiplier passes -1: a motion of twice the period begins (period doubling)"
            }
            Self::Vibration => {
                "a pair of multipliers passes the unit circle: a vibration begins (Hopf bifurcation)"
            }
        }
    }
}

/// A value at which a steady motion changes its stability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchPoint {
    /// Where, between two values at which motions were found.
    pub value: f64,
    /// How far that may be off.
    pub error: f64,
    /// What happens there.
    pub kind: Branching,
    /// Frequency in Hz of what begins to grow.
    pub frequency: f64,
}

/// What was found at a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FollowedMotion {
    /// The value of the parameter.
    pub value: f64,
    /// The steady motion, if there is one.
    pub trim: Option<Trim>,
    /// Why there is none.
    pub failure: Option<String>,
    /// The file of its state.
    pub file: Option<PathBuf>,
    /// Whether it was found earlier and read back.
    pub is_known: bool,
}

/// Steady motions over a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Continuation {
    /// The parameter.
    #[serde(rename = "over")]
    pub key: String,
    /// One for each value.
    pub motions: Vec<FollowedMotion>,
    /// Where they change their stability.
    pub branch_points: Vec<BranchPoint>,
}

/// Follows the steady motion of a model over a range of a parameter. States go to files in a folder; those that are there already
/// and belong to the same model are read back, so that a search that was interrupted goes on.
pub fn continuation(
    file: &ModelFile,
    range: &Range,
    options: &TrimOptions,
    folder: &Path,
    mut progress: impl FnMut(f64, usize),
) -> Result<Continuation, StudyError> {
    let Some(values) = range.equal_steps() else {
        let key = range.key.clone();
        return Err(StudyError::NoRange { key });
    };
    let key = &range.key;
    if values.iter().all(|value| *value == values[0]) {
        return Err(StudyError::OneValue { key: key.clone() });
    }
    options.check(file, &file.clone().set(key, values[0]).read()?)?;
    let mut motions = Vec::with_capacity(values.len());
    let mut branch_points = Vec::new();
    let mut before: Option<(f64, TrimmedFile)> = None;
    let span = values.last().unwrap_or(&0.0) - values.first().unwrap_or(&0.0);
    for (place, &value) in values.iter().enumerate() {
        progress(value, place);
        let path = folder.join(format!("{place:04}.trim"));
        let varied = file.clone().set(key, value);
        let known = known(&varied, &path);
        let is_known = known.is_some();
        let found = match known {
            Some(found) => Ok(found),
            None => {
                let reached = TrimmedFile::read_unfinished(&path, &varied);
                let from = before.as_ref().map(|(_, found)| found);
                let from = reached.as_ref().or(from);
                let found = trim_from(&varied, &varied.read()?, options, from, |_| {});
                let found = kept(found, &path)?;
                if let Ok(found) = &found {
                    found.write(&path)?;
                }
                found
            }
        };
        match found {
            Ok(found) => {
                motions.push(FollowedMotion {
                    value,
                    trim: Some(found.trim.clone()),
                    failure: None,
                    file: Some(path),
                    is_known,
                });
                if let Some((last, earlier)) = &before {
                    let ends = [(*last, earlier), (value, &found)];
                    branch_points.extend(branch_point(file, key, options, ends, NEAR * span)?);
                }
                before = Some((value, found));
            }
            Err(StudyError::Trim(failure)) => {
                motions.push(FollowedMotion {
                    value,
                    trim: None,
                    failure: Some(failure.to_string()),
                    file: None,
                    is_known: false,
                });
                before = None;
            }
            Err(other) => return Err(other),
        }
    }
    Ok(Continuation {
        key: key.clone(),
        motions,
        branch_points,
    })
}

/// What a search that was ended has reached goes to the file of what it looked for.
fn kept(
    found: Result<TrimmedFile, StudyError>,
    path: &Path,
) -> Result<Result<TrimmedFile, StudyError>, StudyError> {
    if let Err(StudyError::Unfinished(unfinished)) = &found
        && let Some(reached) = &unfinished.reached
    {
        reached.write(path)?;
    }
    Ok(match found {
        // The others may be found in the time that each is granted.
        Err(StudyError::Unfinished(unfinished)) if !unfinished.was_interrupted() => {
            Err(StudyError::Trim(unfinished.why))
        }
        other => other,
    })
}

/// A state that was found earlier for this very model.
fn known(file: &ModelFile, path: &Path) -> Option<TrimmedFile> {
    let found = TrimmedFile::read(path).ok()?;
    let applied = found.applied(file);
    let model = applied.read().ok()?;
    found.is_of(&applied, &model).then_some(found)
}

/// Multipliers that grow.
fn growing(trim: &Trim) -> usize {
    let growing = trim.multipliers.iter().filter(|one| one.radius > 1.0);
    growing.count()
}

/// The multiplier nearest to the unit circle of those that grow at one end only: of the end with more of them the least.
fn crossing(trim: &Trim) -> Option<&Factor> {
    let growing = trim.multipliers.iter().filter(|one| one.radius > 1.0);
    growing.min_by(|a, b| a.radius.total_cmp(&b.radius))
}

/// The same multiplier of a motion nearby.
fn counterpart<'t>(trim: &'t Trim, of: &Factor) -> Option<&'t Factor> {
    let distance = |one: &&Factor| {
        let [re, im] = one.multiplier;
        // Of a pair, one is listed.
        (re - of.multiplier[0]).hypot(im.abs() - of.multiplier[1].abs())
    };
    let decaying = trim.multipliers.iter().filter(|one| one.radius <= 1.0);
    decaying.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// What happens where a multiplier passes.
fn kind_of(one: &Factor) -> Branching {
    let [re, im] = one.multiplier;
    match (im.abs() > REAL * one.radius, re > 0.0) {
        (true, _) => Branching::Vibration,
        (false, true) => Branching::Fold,
        (false, false) => Branching::PeriodDoubling,
    }
}

/// What is between two motions, of which one has a growing multiplier more.
fn branch_point(
    file: &ModelFile,
    key: &str,
    options: &TrimOptions,
    [(mut low, first), (mut high, second)]: [(f64, &TrimmedFile); 2],
    near: f64,
) -> Result<Option<BranchPoint>, StudyError> {
    let mut trims = [first.trim.clone(), second.trim.clone()];
    let mut found: Option<BranchPoint> = None;
    for _ in 0..IMPROVEMENTS {
        let [before, after] = trims.each_ref().map(growing);
        if before == after {
            break;
        }
        let more = usize::from(after > before);
        let Some(grows) = crossing(&trims[more]) else {
            break;
        };
        // Where its logarithm would be zero if that changed in proportion.
        let there = counterpart(&trims[1 - more], grows).map_or(-grows.growth, |one| one.growth);
        let share = (grows.growth / (grows.growth - there)).clamp(0.02, 0.98);
        let [from, to] = if more == 1 { [high, low] } else { [low, high] };
        let value = from + share * (to - from);
        let moved = found
            .as_ref()
            .map_or(high - low, |found| (value - found.value).abs());
        found = Some(BranchPoint {
            value,
            error: moved.min(high - low),
            kind: kind_of(grows),
            frequency: grows.frequency,
        });
        if moved < near {
            break;
        }
        let varied = file.clone().set(key, value);
        let start = if more == 1 { first } else { second };
        match trim_from(&varied, &varied.read()?, options, Some(start), |_| {}) {
            Ok(between) if growing(&between.trim) == before => {
                (low, trims[0]) = (value, between.trim)
            }
            Ok(between) => (high, trims[1]) = (value, between.trim),
            Err(StudyError::Trim(_)) => break,
            Err(other) => return Err(other),
        }
    }
    Ok(found)
}
