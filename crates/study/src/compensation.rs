//! Feedback that undoes what the exchange does to the poles: what was tried, and its gains.

use oldham_model::{Approach, CompensationError, Gains, Model, Offer};

use crate::StudyError;

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
