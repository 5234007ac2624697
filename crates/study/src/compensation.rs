//! Feedback that undoes what the exchange does to the poles: what was tried, and its gains.

use nalgebra::Complex;
use oldham_model::{Approach, CompensationError, Gains, Model, Offer};
use oldham_stability::compensate::{Architecture, CouplingLaw, Design, Origin};
use serde::{Serialize, Serializer};

use crate::StudyError;
use crate::poles::damping;

/// What came of one approach.
pub struct TriedApproach {
    /// Which one.
    pub approach: Approach,
    /// Names of the compensators and what they would be, or why nothing is offered.
    pub outcome: Result<(Vec<String>, Offer), CompensationError>,
}

const ALL: [Approach; 3] = [
    Approach::Sampled,
    Approach::Continuous,
    Approach::Structural,
];

/// Tries one approach to compensate all interfaces of a model, or all there are.
pub fn compensate(model: &Model, wanted: Option<Approach>) -> Vec<TriedApproach> {
    let approaches = ALL.into_iter();
    let approaches = approaches.filter(|one| wanted.is_none_or(|wanted| wanted == *one));
    approaches
        .map(|approach| TriedApproach {
            approach,
            outcome: model.compensate(approach),
        })
        .collect()
}

/// The text of a gains file, for `gains_from` of a compensator: the gains of the first assignment
/// that worked.
pub fn gains_file(model: &Model, tried: &[TriedApproach]) -> Result<String, StudyError> {
    let assigned = tried.iter().find_map(|tried| match &tried.outcome {
        Ok((names, Offer::Assigned { rows, design, .. })) => Some((names, rows, design)),
        _ => None,
    });
    let Some((names, rows, design)) = assigned else {
        return Err(StudyError::NoGains {
            model: model.name().into(),
        });
    };
    let mut text = format!(
        "# Gains for {} with a macro step of {} s: `gains_from` of a [compensator] takes this file.\n\n",
        one_line(model.name()),
        model.step()
    );
    for (name, gains) in Gains::of_design(names, rows, design) {
        text += &gains.to_toml(&name);
    }
    Ok(text)
}

/// A name for a comment, which a line break would end and a control character would spoil.
fn one_line(name: &str) -> String {
    name.replace(char::is_control, " ")
}

/// Where a coupling law comes from, in words.
pub fn law_origin(law: &CouplingLaw) -> &'static str {
    match law.origin {
        Origin::Linearised => "from the linearisation of the force side",
        Origin::Identified => "identified from the coupling variables",
    }
}

/// What came of an approach, as it is serialised.
#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    outcome: Outcome<'a>,
    approach: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome<'a> {
    Refused { offered: bool, reason: String },
    Assigned(Box<Assigned<'a>>),
    Structural(Structural<'a>),
}

#[derive(Serialize)]
struct Assigned<'a> {
    offered: bool,
    compensators: &'a [String],
    rank: usize,
    rank_augmented: usize,
    conditions: usize,
    unknowns: usize,
    smallest_singular_value: f64,
    truncation: f64,
    trials: usize,
    radius_without: f64,
    radius_with: f64,
    modes: Vec<AssignedPoles>,
    gains: Vec<Gain<'a>>,
    error_without: Option<f64>,
    error_with: Option<f64>,
}

#[derive(Serialize)]
struct AssignedPoles {
    wanted: Pole,
    without: Pole,
    with: Pole,
}

#[derive(Serialize)]
struct Pole {
    re: f64,
    im: f64,
    damping: f64,
}

#[derive(Serialize)]
struct Gain<'a> {
    row: &'a str,
    signal: &'a str,
    gain: f64,
}

#[derive(Serialize)]
struct Structural<'a> {
    offered: bool,
    error_without: Option<f64>,
    error_with: Option<f64>,
    radius_without: f64,
    radius_with: f64,
    laws: Vec<Law<'a>>,
}

#[derive(Serialize)]
struct Law<'a> {
    terms: Vec<Term<'a>>,
    origin: &'static str,
    residual: f64,
}

#[derive(Serialize)]
struct Term<'a> {
    signal: &'a str,
    force_per_unit: f64,
}

impl From<Complex<f64>> for Pole {
    fn from(pole: Complex<f64>) -> Self {
        Self {
            re: pole.re,
            im: pole.im,
            damping: damping(pole),
        }
    }
}

impl<'a> Assigned<'a> {
    fn of(
        names: &'a [String],
        rows: &'a Architecture,
        design: &'a Design,
        errors: Option<[f64; 2]>,
    ) -> Self {
        let modes = design.modes.iter().map(|mode| AssignedPoles {
            wanted: mode.target.into(),
            without: mode.without.into(),
            with: mode.with.into(),
        });
        let gains = rows.candidates().zip(&design.gains);
        let gains = gains.map(|((row, candidate), gain)| Gain {
            row: &rows.rows[row].name,
            signal: &candidate.name,
            gain: *gain,
        });
        Self {
            offered: true,
            compensators: names,
            rank: design.ranks.rank,
            rank_augmented: design.ranks.augmented,
            conditions: design.ranks.equations,
            unknowns: design.ranks.unknowns,
            smallest_singular_value: design.ranks.smallest,
            truncation: design.truncation,
            trials: design.trials,
            radius_without: design.radius[0],
            radius_with: design.radius[1],
            modes: modes.collect(),
            gains: gains.collect(),
            error_without: errors.map(|errors| errors[0]),
            error_with: errors.map(|errors| errors[1]),
        }
    }
}

impl<'a> Law<'a> {
    fn of(law: &'a CouplingLaw) -> Self {
        let terms = law.own.iter().chain(&law.received);
        let terms = terms.map(|(candidate, gain)| Term {
            signal: &candidate.name,
            force_per_unit: *gain,
        });
        Self {
            terms: terms.collect(),
            origin: law_origin(law),
            residual: law.residual,
        }
    }
}

impl Serialize for TriedApproach {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outcome = match &self.outcome {
            Err(error) => Outcome::Refused {
                offered: false,
                reason: error.to_string(),
            },
            Ok((
                names,
                Offer::Assigned {
                    rows,
                    design,
                    errors,
                },
            )) => Outcome::Assigned(Box::new(Assigned::of(names, rows, design, *errors))),
            Ok((
                _,
                Offer::Structural {
                    laws,
                    radius,
                    errors,
                },
            )) => Outcome::Structural(Structural {
                offered: true,
                error_without: errors.map(|errors| errors[0]),
                error_with: errors.map(|errors| errors[1]),
                radius_without: radius[0],
                radius_with: radius[1],
                laws: laws.iter().map(Law::of).collect(),
            }),
        };
        let approach = match self.approach {
            Approach::Sampled => "z",
            Approach::Continuous => "s",
            Approach::Structural => "structural",
        };
        Data { outcome, approach }.serialize(serializer)
    }
}
