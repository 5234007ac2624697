//! Tyres in model files.

use super::ground::{RoadSettings, known_tyre, read, road};
use crate::tyre::{MagicFormula, PropertyFile, Tyre, TyreProblem};
use oldham_model::{At, Problem, Site};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Steps per revolution of a wheel that keep its spin accurate (Fontana 2026, Sect. 5.3).
const STEPS_PER_REVOLUTION: f64 = 100.0;

/// A tyre between a rim and the road, by the magic formula (MF 5.2 or 6.1) with a carcass that
/// relaxes. Its coefficients come from one of `file`, `coefficients` and `like`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// The node of the rim, which is at the centre of the wheel.
    rim: At<String>,
    /// The axis of the wheel, to the left of the vehicle.
    #[schemars(extend("default" = [0.0, 1.0, 0.0]))]
    axis: Option<At<[f64; 3]>>,
    /// A tyre property file (.tir) beside the model.
    file: Option<At<String>>,
    /// Coefficients by the keys of tyre property files, in SI units; `FITTYP` is 5 or 6 (MF 5,
    /// MF 5.2) or 61 (MF 6.1).
    coefficients: Option<At<BTreeMap<String, f64>>>,
    /// The same coefficients and the same road as this tyre, which is written further up.
    like: Option<At<String>>,
    /// The side of the vehicle: a tyre that was measured on the other one is mirrored. By default
    /// it runs as measured.
    side: Option<Side>,
    /// The road. By default the plane z = 0.
    road: Option<RoadSettings>,
    /// The highest speed of the vehicle in m/s: says whether a step is short enough for it.
    #[schemars(extend("exclusiveMinimum" = 0))]
    top_speed: Option<f64>,
}

/// A side of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Side {
    Left,
    Right,
}

pub(super) fn make(settings: Settings, site: &mut Site<'_>) -> Option<Tyre> {
    let rim = site.node(&settings.rim)?;
    let axis = match &settings.axis {
        Some(axis) => super::direction(axis, rim, site)?,
        None => {
            let left = oldham_space::Vec3::Y;
            site.model().initial(rim).rotation.transpose_mul(left)
        }
    };
    let (formula, road) = match (&settings.file, &settings.coefficients, &settings.like) {
        (Some(file), None, None) => {
            let text = read(file, "tyre property", site);
            let formula = text.and_then(|text| {
                told(
                    MagicFormula::parse(&text),
                    &file.value,
                    file.span.clone(),
                    site,
                )
            });
            (formula?, road(&settings.road, &None, site)?)
        }
        (None, Some(given), None) => {
            let numbers = given
                .value
                .iter()
                .map(|(key, value)| (key.as_str(), *value));
            let properties = PropertyFile::from_numbers(numbers);
            let formula = MagicFormula::from_properties(&properties);
            let formula = told(formula, "coefficients", given.span.clone(), site);
            (formula?, road(&settings.road, &None, site)?)
        }
        (None, None, Some(like)) => {
            let known = known_tyre(like, site)?;
            let road = match &settings.road {
                Some(road) => road.make(site)?,
                None => known.road().clone(),
            };
            return finished(
                Tyre::new(rim, axis, known.formula().clone(), road),
                &settings,
                site,
            );
        }
        _ => {
            let message = "a tyre needs exactly one of `file`, `coefficients` and `like`";
            let problem = Problem::new(site.place(), message);
            site.report(problem.help("give the path of a tyre property file as `file`"));
            return None;
        }
    };
    finished(
        Tyre::new(rim, axis, Arc::new(formula), road),
        &settings,
        site,
    )
}

fn finished(tyre: Tyre, settings: &Settings, site: &mut Site<'_>) -> Option<Tyre> {
    site.draw(tyre.outline());
    if let (Some(speed), Some(step)) = (settings.top_speed, site.micro_step()) {
        let longest =
            std::f64::consts::TAU * tyre.formula().radius() / speed / STEPS_PER_REVOLUTION;
        if step > longest {
            site.note(format!(
                "at {speed} m/s the wheel `{}` turns once in {:.0} steps of {step} s; take steps of at most \
                 {longest:.1e} s, so that it takes {STEPS_PER_REVOLUTION}",
                settings.rim.value,
                longest * STEPS_PER_REVOLUTION / step,
            ));
        }
    }
    Some(match settings.side {
        Some(side) => tyre.on_side(side == Side::Left),
        None => tyre,
    })
}

/// The formula, or its problems as those of the model.
fn told(
    formula: Result<MagicFormula, Vec<TyreProblem>>,
    name: &str,
    place: oldham_model::Span,
    site: &mut Site<'_>,
) -> Option<MagicFormula> {
    match formula {
        Ok(formula) => Some(formula),
        Err(problems) => {
            for problem in problems {
                let line = problem
                    .line
                    .map_or(String::new(), |line| format!(", line {line}"));
                let message = format!("`{name}`{line}: {}", problem.what);
                site.report(Problem::new(place.clone(), message).help(problem.help));
            }
            None
        }
    }
}
