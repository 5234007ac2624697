//! The search for the best cut, from the graph to short runs.

use std::time::Duration;

use oldham_model::{Mechanism, Model};
use oldham_stability::{AnalysisError, Decision};
use serde::{Serialize, Serializer};

use super::candidates::{Admitted, Candidates, Readable, Refusal, Searched};
use super::graph::microseconds;
use super::trial::{busiest, threads_for, timed};
use super::{CandidateCut, CostTable, PartitionError};
use crate::{Advice, Case, ModelFile, StudyError, mechanisms};

/// Cuts that are analysed.
const ANALYSED: usize = 8;
/// Time for each analysis. One that takes longer decides nothing, and changes no order; where all cuts that run take
/// longer, others are not analysed.
const PATIENCE: Duration = Duration::from_secs(2);
/// Cuts that run.
const RUN: usize = 3;

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct CutSearch {
    /// The mechanism.
    pub mechanism: String,
    /// Parts that were asked for.
    pub parts: usize,
    /// What the answer goes by.
    pub costs: CostTable,
    /// What was looked through.
    pub searched: Searched,
    /// Why cuts were refused, each reason once, with how often.
    pub refused: Vec<(String, usize)>,
    /// A step of the model with the mechanism uncut, as timed, in µs.
    pub whole: f64,
    /// Threads of the timed runs.
    pub threads: usize,
    /// Cuts, best first.
    pub cuts: Vec<SearchedCut>,
    /// Cuts that were found unstable.
    pub unstable: Vec<SearchedCut>,
}

/// A cut, and what is known of it.
#[derive(Clone, Debug, Serialize)]
pub struct SearchedCut {
    /// Where.
    #[serde(serialize_with = "as_setting")]
    pub cut: CandidateCut,
    /// What the costs let expect.
    pub expected: Expectation,
    /// What the analysis says.
    pub stability: CutStability,
    /// A step on the threads of the search, as timed, in µs, if it was run.
    pub measured: Option<f64>,
}

/// What a step of a cut should take, in µs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// The largest part.
    pub largest: f64,
    /// All couplings.
    pub coupling: f64,
    /// Waiting and exchange.
    pub exchange: f64,
    /// All of them, with a core for each part.
    pub step: f64,
    /// A step of the whole over that.
    pub speed_up: f64,
    /// A step with the cores of this machine.
    pub step_here: f64,
}

/// What the analysis says of a cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutStability {
    /// It does not grow.
    Stable,
    /// It grows by itself.
    Unstable,
    /// Nothing is decided, for a reason.
    NotDecided(String),
    /// It was not among the best.
    NotAnalysed,
}

fn as_setting<S: Serializer>(cut: &CandidateCut, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Data<'a> {
        at: &'a [String],
        parts: Vec<&'a [String]>,
        setting: String,
    }
    let (key, value) = cut.setting();
    let data = Data {
        at: &cut.at,
        parts: cut.parts.iter().map(Vec::as_slice).collect(),
        setting: format!("{key}={value}"),
    };
    data.serialize(serializer)
}

/// The mechanism of this name, or the only one.
pub fn mechanism_named<'m>(
    model: &'m Model,
    name: Option<&str>,
) -> Result<Mechanism<'m>, StudyError> {
    let all = mechanisms(model)?;
    let names = || all.iter().map(|it| it.name().to_owned()).collect();
    let found = match name {
        None if all.len() > 1 => {
            return Err(PartitionError::WhichMechanism { names: names() }.into());
        }
        None => all.first(),
        Some(name) => all.iter().find(|it| it.name() == name),
    };
    found.copied().ok_or_else(|| StudyError::Unknown {
        what: "mechanism",
        name: name.unwrap_or_default().into(),
        known: names(),
    })
}

/// Looks for the cut of a mechanism into so many parts with the shortest step, by these costs or by an estimate.
///
/// The best cuts by cost are analysed, and the best of those run for some steps. What they then take changes the order where
/// the costs were measured.
pub fn find_cut(
    file: &ModelFile,
    model: &Model,
    mechanism: Option<&str>,
    parts: usize,
    costs: Option<&CostTable>,
    progress: &mut dyn FnMut(&str),
) -> Result<CutSearch, StudyError> {
    let mechanism = mechanism_named(model, mechanism)?;
    if mechanism.partition().is_some() {
        let mechanism = mechanism.name().into();
        return Err(PartitionError::AlreadyCut { mechanism }.into());
    }
    let estimate;
    let costs = match costs {
        Some(costs) => costs,
        None => {
            estimate = CostTable::estimated(&mechanism.model().outline());
            &estimate
        }
    };
    progress("searching the graph");
    let candidates = Candidates::find(mechanism, model, costs, parts)?;
    if candidates.admitted.is_empty() {
        return Err(no_cut(mechanism, model, costs, parts, &candidates.refusals)?.into());
    }
    let mut found = CutSearch {
        mechanism: mechanism.name().into(),
        parts,
        costs: costs.clone(),
        searched: candidates.searched,
        refused: Vec::new(),
        whole: timed(model, 1, costs.whole)?.step,
        threads: threads_for(parts),
        cuts: Vec::new(),
        unstable: Vec::new(),
    };
    let mut refusals = candidates.refusals;
    let mut analysed = 0;
    let (mut runs, mut too_long) = (0, 0);
    for candidate in &candidates.admitted {
        let expected = expectation(costs, candidate, found.threads);
        let mut searched = SearchedCut {
            cut: candidate.cut.clone(),
            expected,
            stability: CutStability::NotAnalysed,
            measured: None,
        };
        if analysed < ANALYSED && too_long < RUN {
            let readable = match candidate.read(file) {
                Ok(readable) => readable,
                Err(text) => {
                    refusals.push(Refusal {
                        text,
                        is_of_rigid_bodies: false,
                    });
                    continue;
                }
            };
            progress("analysing cuts");
            analysed += 1;
            let stability = stability(&readable);
            too_long += usize::from(stability.1);
            searched.stability = stability.0;
            if searched.stability == CutStability::Unstable {
                found.unstable.push(searched);
                continue;
            }
            if runs < RUN {
                progress("running cuts");
                match timed(&readable.model, found.threads, costs.whole) {
                    Ok(timed) => searched.measured = Some(timed.step),
                    Err(error) => {
                        refusals.push(Refusal {
                            text: error.to_string(),
                            is_of_rigid_bodies: false,
                        });
                        continue;
                    }
                }
                runs += 1;
            }
        }
        found.cuts.push(searched);
    }
    found.refused = counted(&refusals);
    let unstable = found.unstable.len();
    found
        .cuts
        .retain(|it| it.measured.is_some() || it.stability != CutStability::NotAnalysed);
    if found.cuts.is_empty() {
        return Err(match unstable {
            0 => no_cut(mechanism, model, costs, parts, &refusals)?,
            _ => PartitionError::Unstable {
                mechanism: found.mechanism,
                analysed: unstable,
                step: model.step(),
                shorter: model.step() / 2.0,
            },
        }
        .into());
    }
    if costs.measured {
        let order = |it: &SearchedCut| it.measured.unwrap_or(f64::INFINITY);
        found.cuts.sort_by(|a, b| order(a).total_cmp(&order(b)));
    }
    Ok(found)
}

fn expectation(costs: &CostTable, candidate: &Admitted, threads: usize) -> Expectation {
    let separator = &candidate.separator;
    let work: Vec<f64> = separator
        .work
        .iter()
        .map(|work| microseconds(*work))
        .collect();
    let largest = work.iter().copied().fold(0.0, f64::max);
    let coupling = microseconds(separator.in_separator);
    let step = largest + coupling + costs.exchange;
    Expectation {
        largest,
        coupling,
        exchange: costs.exchange,
        step,
        speed_up: costs.whole / step,
        step_here: busiest(&work, threads) + coupling + costs.exchange,
    }
}

/// What the analysis says, and whether it took too long.
fn stability(readable: &Readable) -> (CutStability, bool) {
    let case = Case::of(&readable.model, &readable.file);
    let verdict = case.spectrum(Some(PATIENCE)).map(|(_, verdict)| verdict);
    let advice = Advice::without_remedies(&case, verdict);
    let is_too_long = matches!(advice.verdict, Err(AnalysisError::TooLong { .. }));
    let stability = match (advice.decision(), &advice.verdict) {
        (Some(Decision::Stable), _) => CutStability::Stable,
        (Some(Decision::Unstable), _) => CutStability::Unstable,
        (Some(Decision::Undecided), _) => {
            CutStability::NotDecided(advice.doubt().unwrap_or_default())
        }
        (None, Err(error)) => CutStability::NotDecided(error.to_string()),
        (None, Ok(_)) => CutStability::NotAnalysed,
    };
    (stability, is_too_long)
}

/// Each reason once, with how often it was given.
fn counted(refusals: &[Refusal]) -> Vec<(String, usize)> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for refusal in refusals {
        match counted.iter_mut().find(|(text, _)| *text == refusal.text) {
            Some((_, count)) => *count += 1,
            None => counted.push((refusal.text.clone(), 1)),
        }
    }
    counted
}

/// Why there is no cut into so many parts, and what there is instead.
fn no_cut(
    mechanism: Mechanism<'_>,
    model: &Model,
    costs: &CostTable,
    parts: usize,
    refusals: &[Refusal],
) -> Result<PartitionError, StudyError> {
    let name = mechanism.name().to_owned();
    let structural = mechanism.model().outline();
    let is_rigid = !structural.elements.iter().any(|it| it.is_structural);
    let first = refusals.first();
    let text = first.map_or_else(String::new, |it| it.text.clone());
    let reason = match first {
        Some(first) if is_rigid && first.is_of_rigid_bodies => {
            format!("it consists of rigid bodies and joints, and {text}")
        }
        _ => text,
    };
    let can_be = |parts: usize| -> Result<bool, StudyError> {
        Ok(!Candidates::find(mechanism, model, costs, parts)?
            .admitted
            .is_empty())
    };
    if parts > 2 && can_be(2)? {
        let (mut most, mut too_many) = (2, parts);
        while too_many - most > 1 {
            let middle = (most + too_many) / 2;
            match can_be(middle)? {
                true => most = middle,
                false => too_many = middle,
            }
        }
        return Ok(PartitionError::TooManyParts {
            mechanism: name,
            parts,
            reason,
            most,
        });
    }
    let subsystems = model.subsystems();
    let instead = match subsystems.len() {
        0 | 1 => "bodies that are joined by something that gives, such as a bushing, can be mechanisms of their own, which exchange \
                  motion and force"
            .to_owned(),
        several => format!(
            "the model's {several} subsystems ({}) run in parallel as they are: --threads {several}",
            subsystems
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    Ok(PartitionError::NoCut {
        mechanism: name,
        reason,
        instead,
    })
}
