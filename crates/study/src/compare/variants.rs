//! What is compared: all combinations of the varied settings, or the usual schemes.

use oldham_cosim::Simulation;
use oldham_model::Model;

use serde::Serialize;

use crate::{Draw, MOST_COMBINATIONS, ModelFile, Settings, StudyError, Variation, combinations};

/// The schemes that are tried when none is asked for.
const SCHEMES: [(&str, &[(&str, &str)]); 6] = [
    (AS_IN_FILE, &[]),
    ("gauss-seidel", &[("schedule.kind", "gauss-seidel")]),
    ("first-order", &[("schedule.predictor", "first-order")]),
    ("second-order", &[("schedule.predictor", "second-order")]),
    ("output update", &[("schedule.output_update", "true")]),
    (
        "implicit",
        &[
            ("schedule.coupling", "implicit"),
            ("schedule.predictor", "first-order"),
        ],
    ),
];

const AS_IN_FILE: &str = "as in the file";

/// What subsystems that choose a predictor of their own could choose.
const PREDICTORS: [(&str, &str); 7] = [
    ("hold", "zero-order"),
    ("first-order", "first-order"),
    ("second-order", "second-order"),
    ("learned (dmd)", "dmd"),
    ("interface model", "interface-model"),
    (
        "interface model, jacobi",
        "{ kind = \"interface-model\", arrangement = \"jacobi\" }",
    ),
    (
        "interface model, sequential",
        "{ kind = \"interface-model\", arrangement = \"sequential\" }",
    ),
];

/// The schemes of cuts.
const CUT_SCHEMES: [&str; 3] = ["interface-tangent", "interface-mass", "force-displacement"];

/// A model under certain settings.
pub struct Variant {
    pub name: String,
    pub settings: Settings,
    pub model: Model,
    /// At its initial time. Gains of compensators are found when it is made, which may take long.
    pub simulation: Simulation,
}

/// A variant that is left out, and the one that is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alike {
    /// The one that is left out.
    pub name: String,
    /// The one that is run.
    #[serde(rename = "same_as")]
    pub like: String,
}

/// The variants to run, and those that would repeat them.
pub fn of(
    file: &ModelFile,
    model: &Model,
    vary: &[Variation],
    draw: &Draw,
) -> Result<(Vec<Variant>, Vec<Alike>), StudyError> {
    let base = file.settings();
    let usual = vary.is_empty();
    let wanted = match usual {
        true => schemes(model),
        false => combinations(vary, draw, MOST_COMBINATIONS)?,
    };
    let mut variants: Vec<Variant> = Vec::new();
    let mut alike = Vec::new();
    for (name, changes) in wanted {
        // A later setting of the same key wins.
        let replaced = |key: &str| changes.iter().any(|(other, _)| other == key);
        let kept = base.iter().filter(|(key, _)| !replaced(key));
        let settings: Settings = kept.chain(&changes).cloned().collect();
        let model = file.with_only(settings.clone()).read();
        // A scheme that does not go with this model (a loop of feedthrough, say) is left out.
        let may_be_left_out = usual && !changes.is_empty();
        if may_be_left_out && model.is_err() {
            continue;
        }
        let model = model?;
        if let Some(like) = variants
            .iter()
            .find(|other| model.is_solved_like(&other.model))
        {
            let like = like.name.clone();
            alike.push(Alike { name, like });
            continue;
        }
        let simulation = model.simulation();
        if may_be_left_out && simulation.is_err() {
            continue;
        }
        variants.push(Variant {
            name,
            settings,
            simulation: simulation?,
            model,
        });
    }
    Ok((variants, alike))
}

/// The usual schemes. Of a mechanism that is cut, and exchanges nothing else, those of its cut; of a
/// model with compensators also what they do, and the others without them.
fn schemes(model: &Model) -> Vec<(String, Settings)> {
    if model.is_cut() && model.subsystems().len() == 1 {
        return cut_schemes(model);
    }
    if !model.is_coupled() {
        return vec![(AS_IN_FILE.to_owned(), Settings::new())];
    }
    let usual = usual_schemes(model);
    if model.compensators().len() == 0 {
        return usual;
    }
    let all = |method: &str| -> Settings {
        let names = model.compensators();
        names
            .map(|name| (format!("compensator.{name}.method"), method.to_owned()))
            .collect()
    };
    let mut schemes = vec![
        (AS_IN_FILE.to_owned(), Settings::new()),
        ("uncompensated".to_owned(), all("none")),
    ];
    // The many modes of a mechanism take long to be found that cannot be assigned.
    if model.has_monolithic() {
        schemes.push(("assignment".to_owned(), all("assignment")));
    }
    schemes.push(("structural".to_owned(), all("structural")));
    let learned = [("schedule.predictor".to_owned(), "dmd".to_owned())];
    schemes.push((
        "learned (dmd)".to_owned(),
        [&all("none")[..], &learned].concat(),
    ));
    let others = usual
        .into_iter()
        .filter(|(_, changes): &(_, Settings)| !changes.is_empty());
    schemes.extend(others.map(|(name, changes)| (name, [all("none"), changes].concat())));
    schemes
}

/// The schemes of any model. Where subsystems choose their own predictors, those are what is varied: they
/// would win over the schedule's.
fn usual_schemes(model: &Model) -> Vec<(String, Settings)> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let own = |predictor: &str| -> Settings {
        let keys = model.own_predictors();
        keys.map(|key| (key, predictor.to_owned())).collect()
    };
    let mut schemes = Vec::new();
    for (name, changes) in SCHEMES {
        let is_predictor = PREDICTORS.iter().any(|(known, _)| *known == name);
        if is_predictor && !own("").is_empty() {
            continue;
        }
        let mut changes: Settings = changes.iter().map(owned).collect();
        if let Some((_, predictor)) = changes.iter().find(|(key, _)| key == "schedule.predictor") {
            changes.extend(own(&predictor.clone()));
        }
        schemes.push((name.to_owned(), changes));
    }
    if !own("").is_empty() {
        let others = PREDICTORS.map(|(name, word)| (name.to_owned(), own(word)));
        let first = ("interface model, first".to_owned(), model_first(model));
        schemes.splice(1..1, others.into_iter().chain([first]));
    }
    schemes
}

/// Subsystems that choose their predictors take interface models, and advance before all others.
fn model_first(model: &Model) -> Settings {
    let keys: Vec<String> = model.own_predictors().collect();
    let is_fast = |name: &&str| keys.iter().any(|key| key.contains(&format!(".{name}.")));
    let fast = model.subsystems().filter(is_fast);
    let slow = model.subsystems().filter(|name| !is_fast(name));
    let order: Vec<String> = fast.chain(slow).map(|name| format!("{name:?}")).collect();
    let mut changes = vec![
        ("schedule.kind".to_owned(), "gauss-seidel".to_owned()),
        (
            "schedule.order".to_owned(),
            format!("[{}]", order.join(", ")),
        ),
    ];
    changes.extend(
        keys.iter()
            .map(|key| (key.clone(), "interface-model".to_owned())),
    );
    changes
}

fn cut_schemes(model: &Model) -> Vec<(String, Settings)> {
    let all = |scheme: &str| -> Settings {
        let names = model.cut_mechanisms();
        names
            .map(|name| (format!("multibody.{name}.cut.scheme"), scheme.to_owned()))
            .collect()
    };
    let file = (AS_IN_FILE.to_owned(), Settings::new());
    let others = CUT_SCHEMES.map(|scheme| (scheme.to_owned(), all(scheme)));
    [file].into_iter().chain(others).collect()
}
