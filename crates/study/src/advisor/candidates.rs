//! What may be set, as far as it can be built: each once.

use std::collections::HashMap;

use oldham_cosim::{Quantity, Simulation, Stage, SubsystemId};
use oldham_model::Model;
use serde::Serialize;
use toml::de::DeTable;

use crate::{Alike, ModelFile, Settings};

/// The model as its file says.
pub(super) const AS_IT_IS: &str = "as it is";

/// Predictors of any signal.
const HOLDS: [&str; 3] = ["zero-order", "first-order", "second-order"];
/// Predictors that integrate rates, for motions.
const INTEGRATING: [&str; 4] = [
    "constant-rate",
    "linear-rate",
    "hermite",
    "linear-acceleration",
];
/// Iterations of implicit coupling that does not wait until it has converged.
const ITERATIONS: [usize; 3] = [2, 3, 4];
/// Parts of which every order is tried.
const ORDERED: usize = 3;
/// Keys that others of the schedule do not go with.
const ORDER: &str = "schedule.order";
const STAGES: &str = "schedule.stages";
const IMPLICIT: &str = "schedule.implicit";
const TANGENT: &str = "schedule.tangent";
const KEYS: [&str; 4] = [ORDER, STAGES, IMPLICIT, TANGENT];
/// The schemes of cuts.
const CUT_SCHEMES: [&str; 3] = ["interface-tangent", "interface-mass", "force-displacement"];

/// A setting to be looked at.
pub(super) struct Candidate {
    pub name: String,
    pub settings: Settings,
    pub model: Model,
    /// Whether nothing but samples goes between the parts, so that linear parts may stand in for them.
    pub is_plain: bool,
}

/// A setting that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What it is.
    pub name: String,
    /// Why it cannot be built.
    pub reason: String,
}

/// All candidates, the model as it is first.
pub(super) struct Candidates {
    pub all: Vec<Candidate>,
    pub left_out: Vec<LeftOut>,
    pub alike: Vec<Alike>,
    /// The plainest coupling of the same parts, of which linear models are made.
    pub plain: Option<Model>,
}

struct Scheme {
    name: String,
    settings: Settings,
    is_plain: bool,
}

impl Candidates {
    /// Of a model with its changes.
    pub fn of(file: &ModelFile, model: &Model, simulation: &Simulation) -> Self {
        let space = Space::of(file, model, simulation);
        let is_plain = !simulation.corrects_steps() && model.compensators().len() == 0;
        let mut found = Self {
            all: Vec::new(),
            left_out: Vec::new(),
            alike: Vec::new(),
            plain: None,
        };
        let mut known: HashMap<u64, usize> = HashMap::new();
        let present = Scheme {
            name: AS_IT_IS.into(),
            settings: Settings::new(),
            is_plain,
        };
        for scheme in std::iter::once(present).chain(space.schemes()) {
            let changed = file.with(&scheme.settings);
            let read = changed.read().and_then(|model| {
                // What is refused when it is assembled is no candidate either.
                model.simulation().map(|_| model)
            });
            let model = match read {
                Ok(model) => model,
                Err(problems) => {
                    let first = problems
                        .iter()
                        .next()
                        .map(|problem| problem.message.clone());
                    found.left_out.push(LeftOut {
                        name: scheme.name,
                        reason: first.unwrap_or_else(|| problems.to_string()),
                    });
                    continue;
                }
            };
            if let Some(&like) = known.get(&model.solution_digest()) {
                let other = &mut found.all[like];
                // What is known of the one is known of the other.
                other.is_plain &= scheme.is_plain;
                found.alike.push(Alike {
                    name: scheme.name,
                    like: other.name.clone(),
                });
                continue;
            }
            known.insert(model.solution_digest(), found.all.len());
            found.all.push(Candidate {
                name: scheme.name,
                settings: scheme.settings,
                is_plain: scheme.is_plain && model.learner().is_none(),
                model,
            });
        }
        found.plain = file.with(&space.plain()).read().ok();
        found
    }

    /// The plainest coupling of a model alone.
    pub fn plain_of(file: &ModelFile, model: &Model, simulation: &Simulation) -> Option<Model> {
        file.with(&Space::of(file, model, simulation).plain())
            .read()
            .ok()
    }
}

/// What can be varied in a model.
struct Space {
    names: Vec<String>,
    /// Keys of parts that choose their predictors.
    own: Vec<String>,
    compensators: Vec<String>,
    cuts: Vec<String>,
    /// Keys that the model gives, and that have to go before others are given.
    given: Vec<&'static str>,
    is_nested: bool,
    has_motions: bool,
}

impl Space {
    fn of(file: &ModelFile, model: &Model, simulation: &Simulation) -> Self {
        let mut quantities = simulation
            .connections()
            .into_iter()
            .filter_map(|connection| {
                let ports = simulation.ports(connection.from);
                let mut ports = ports.outputs().iter().enumerate();
                ports.find_map(|(index, port)| {
                    let range = simulation
                        .ports(connection.from)
                        .output_range(oldham_cosim::OutputPort(index));
                    range
                        .contains(&connection.output)
                        .then(|| port.quantity.clone())
                })
            });
        let stages = &simulation.schedule().stages;
        Self {
            names: model.subsystems().map(Into::into).collect(),
            own: model.own_predictors().collect(),
            compensators: model.compensators().map(Into::into).collect(),
            cuts: model.cut_mechanisms().map(Into::into).collect(),
            given: KEYS
                .into_iter()
                .filter(|key| has_key(file, model, key))
                .collect(),
            is_nested: stages
                .iter()
                .any(|stage| matches!(stage, Stage::Nested { .. })),
            has_motions: quantities.any(|quantity| {
                matches!(
                    quantity,
                    Quantity::Motion | Quantity::Translation | Quantity::Rotation
                )
            }),
        }
    }

    /// Orders in which parts advance one after the other.
    fn orders(&self) -> Vec<Vec<SubsystemId>> {
        let all: Vec<SubsystemId> = (0..self.names.len()).map(SubsystemId).collect();
        if all.len() > ORDERED {
            let reversed = all.iter().rev().copied().collect();
            return vec![all, reversed];
        }
        permutations(&all)
    }

    /// Who advances when: a name and its settings.
    fn kinds(&self) -> Vec<(String, Settings)> {
        if self.is_nested || self.names.len() < 2 {
            return vec![(String::new(), Settings::new())];
        }
        let set = |kind: &str, order: String| {
            let mut settings = self.unset(&[ORDER, STAGES]);
            settings.push(("schedule.kind".to_owned(), kind.to_owned()));
            if !order.is_empty() {
                settings.push((ORDER.to_owned(), order));
            }
            settings
        };
        let mut kinds = vec![("jacobi".to_owned(), set("jacobi", String::new()))];
        for order in self.orders() {
            let names = order.iter().map(|id| self.names[id.0].as_str());
            let shown = names.clone().collect::<Vec<_>>().join(" before ");
            let quoted = names.map(|name| format!("{name:?}")).collect::<Vec<_>>();
            let settings = set("gauss-seidel", format!("[{}]", quoted.join(", ")));
            kinds.push((format!("gauss-seidel, {shown}"), settings));
        }
        kinds
    }

    /// How everybody predicts.
    fn predictor(&self, word: &str) -> Settings {
        let keys = self
            .own
            .iter()
            .cloned()
            .chain(["schedule.predictor".into()]);
        keys.map(|key| (key, word.to_owned())).collect()
    }

    /// What is in force besides, so that candidates do not depend on the file.
    fn explicit(&self, output_update: bool) -> Settings {
        let coupling = [
            ("schedule.coupling".into(), "explicit".into()),
            ("schedule.output_update".into(), output_update.to_string()),
        ];
        [&coupling[..], &self.unset(&[IMPLICIT, TANGENT])].concat()
    }

    /// Takes keys away that the model gives.
    fn unset(&self, keys: &[&str]) -> Settings {
        let given = self.given.iter().filter(|key| keys.contains(key));
        given
            .map(|key| ((*key).to_owned(), String::new()))
            .collect()
    }

    fn compensation(&self, method: &str) -> Settings {
        let keys = self.compensators.iter();
        keys.map(|name| (format!("compensator.{name}.method"), method.to_owned()))
            .collect()
    }

    /// All values held, nothing between the parts.
    fn plain(&self) -> Settings {
        let kind = match self.names.len() {
            0 | 1 => Settings::new(),
            _ => self.kinds().swap_remove(0).1,
        };
        [
            kind,
            self.predictor("zero-order"),
            self.explicit(false),
            self.compensation("none"),
        ]
        .concat()
    }

    fn schemes(&self) -> Vec<Scheme> {
        let mut schemes = Vec::new();
        let mut add = |name: String, settings: Vec<Settings>, is_plain: bool| {
            schemes.push(Scheme {
                name,
                settings: settings.concat(),
                is_plain,
            });
        };
        let cut = |scheme: &str| -> Settings {
            let keys = self.cuts.iter();
            keys.map(|name| (format!("multibody.{name}.cut.scheme"), scheme.to_owned()))
                .collect()
        };
        if !self.cuts.is_empty() {
            for scheme in CUT_SCHEMES {
                add(scheme.into(), vec![cut(scheme)], false);
            }
        }
        if self.names.len() < 2 {
            return schemes;
        }
        let motions: &[&str] = match self.has_motions {
            true => &INTEGRATING,
            false => &[],
        };
        let named = |parts: &[&str]| {
            let parts: Vec<&str> = parts
                .iter()
                .copied()
                .filter(|part| !part.is_empty())
                .collect();
            parts.join(", ")
        };
        let none = self.compensation("none");
        for (kind, settings) in self.kinds() {
            for predictor in HOLDS.iter().chain(motions) {
                for (update, word) in [(false, ""), (true, "output update")] {
                    add(
                        named(&[&kind, predictor, word]),
                        vec![
                            settings.clone(),
                            self.predictor(predictor),
                            self.explicit(update),
                            none.clone(),
                        ],
                        true,
                    );
                }
            }
            if !self.own.is_empty() {
                add(
                    named(&[&kind, "interface model"]),
                    vec![
                        settings.clone(),
                        self.predictor("zero-order"),
                        self.own_predictors("interface-model"),
                        self.explicit(false),
                        none.clone(),
                    ],
                    false,
                );
            }
            for method in ["assignment", "structural"] {
                if !self.compensators.is_empty() {
                    add(
                        named(&[&kind, method]),
                        vec![
                            settings.clone(),
                            self.predictor("zero-order"),
                            self.explicit(false),
                            self.compensation(method),
                        ],
                        false,
                    );
                }
            }
        }
        let (kind, jacobi) = self.kinds().swap_remove(0);
        for predictor in HOLDS {
            let tangent = ("schedule.tangent".to_owned(), "true".to_owned());
            add(
                named(&[&kind, predictor, "interface Jacobian"]),
                vec![
                    jacobi.clone(),
                    self.predictor(predictor),
                    self.explicit(false),
                    vec![tangent],
                    none.clone(),
                ],
                false,
            );
        }
        for (kind, settings) in self.kinds() {
            let iterations = ITERATIONS.iter().map(|&count| Some(count)).chain([None]);
            for count in iterations {
                let mut implicit = self.explicit(false);
                implicit[0].1 = "implicit".into();
                let word = match count {
                    Some(count) => {
                        let key = |key: &str| format!("schedule.implicit.{key}");
                        implicit.push((key("max_iterations"), count.to_string()));
                        implicit.push((key("on_limit"), "accept".into()));
                        format!("implicit, {count} iterations")
                    }
                    None => "implicit".to_owned(),
                };
                add(
                    named(&[&kind, "first-order", &word]),
                    vec![
                        settings.clone(),
                        self.predictor("first-order"),
                        implicit,
                        none.clone(),
                    ],
                    true,
                );
            }
        }
        schemes
    }

    fn own_predictors(&self, word: &str) -> Settings {
        let keys = self.own.iter();
        keys.map(|key| (key.clone(), word.to_owned())).collect()
    }
}

/// Whether a model gives a key, in its file, in one that it includes, or by a setting.
fn has_key(file: &ModelFile, model: &Model, key: &str) -> bool {
    let is_set = file.settings().iter().any(|(set, value)| {
        let is_below = set
            .strip_prefix(key)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        is_below && !value.is_empty()
    });
    let source = model.source();
    let texts = source
        .included()
        .map(|(_, text)| text)
        .chain([source.file_text()]);
    let stands_in = |text: &str| {
        let tree = DeTable::parse(text).ok()?;
        let (last, before) = key.rsplit_once('.').map(|(before, last)| (last, before))?;
        let table = tree.get_ref().get(before)?.get_ref().as_table()?;
        Some(table.contains_key(last))
    };
    let is_unset = |(set, value): &(String, String)| set == key && value.is_empty();
    let is_gone = file.settings().iter().any(is_unset);
    is_set || (!is_gone && texts.into_iter().any(|text| stands_in(text) == Some(true)))
}

fn permutations(all: &[SubsystemId]) -> Vec<Vec<SubsystemId>> {
    if all.len() < 2 {
        return vec![all.to_vec()];
    }
    let mut found = Vec::new();
    for (place, &first) in all.iter().enumerate() {
        let mut others = all.to_vec();
        others.remove(place);
        for mut rest in permutations(&others) {
            rest.insert(0, first);
            found.push(rest);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_parts_is_there_once() {
        let all: Vec<SubsystemId> = (0..3).map(SubsystemId).collect();
        let mut found = permutations(&all);
        assert_eq!(found.len(), 6);
        found.dedup();
        assert_eq!(found.len(), 6);
        assert!(
            found
                .iter()
                .all(|order| all.iter().all(|id| order.contains(id)))
        );
    }
}
