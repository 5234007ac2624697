//! What would make an unstable coupling stable: settings that were tried.

use std::time::{Duration, Instant};

use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_stability::{Verdict, Way};

use crate::{Case, ModelFile, Settings, advisor};

/// Settings that often help.
const CANDIDATES: [&[(&str, &str)]; 6] = [
    &[("schedule.tangent", "true")],
    &[("schedule.output_update", "true")],
    &[("schedule.predictor", "first-order")],
    &[("schedule.predictor", "second-order")],
    &[("schedule.kind", "gauss-seidel")],
    &[
        ("schedule.coupling", "implicit"),
        ("schedule.predictor", "first-order"),
    ],
];

/// How mechanisms are cut so that couplings know of their parts more than the mass.
const CUT_SCHEME: &str = "interface-tangent";

/// Fractions of the macro step that are tried when nothing else helps: halves of halves.
const HALVINGS: i32 = 6;

/// Time that the trial of remedies takes at most, where its user waits for nothing else.
pub const LONGEST: Duration = Duration::from_secs(30);

/// Macro steps at most that a model runs with a remedy before it is named.
const TRIAL: u64 = 200;

/// What helps.
pub struct Remedies {
    /// Changes, any of which helps: the one with the smallest error at equal cost first.
    pub settings: Vec<Settings>,
    /// Whether all were tried.
    pub is_thorough: bool,
}

/// Looks for settings under which a model is stable and runs.
pub fn find(case: &Case<'_>, granted: Option<Duration>) -> Remedies {
    let mut search = Search {
        case,
        granted: granted.unwrap_or(LONGEST),
        started: Instant::now(),
        is_thorough: true,
    };
    let mut settings = search.remedies();
    if settings.len() > 1 {
        let left = search.granted.saturating_sub(search.started.elapsed());
        advisor::rank(case.file, case.model, &mut settings, left);
    }
    Remedies {
        settings,
        is_thorough: search.is_thorough,
    }
}

struct Search<'a> {
    case: &'a Case<'a>,
    granted: Duration,
    started: Instant,
    is_thorough: bool,
}

impl Search<'_> {
    fn remedies(&mut self) -> Vec<Settings> {
        let mut found = Vec::new();
        let mut tried = vec![Settings::new()];
        for changes in candidates(self.case.model) {
            let changes = self.effective(changes);
            if tried.contains(&changes) {
                continue;
            }
            tried.push(changes.clone());
            if self.helps(&changes) {
                found.push(changes);
            }
        }
        if !found.is_empty() {
            return found;
        }
        for n in 1..=HALVINGS {
            let step = (self.case.model.step() / 2_f64.powi(n)).to_string();
            let shorter = vec![("simulation.step".into(), step)];
            if self.helps(&shorter) {
                return vec![shorter];
            }
        }
        Vec::new()
    }

    /// The changes that change something: what is in force already is no remedy.
    fn effective(&self, mut changes: Settings) -> Settings {
        let Some((_, all)) = self.with(&changes) else {
            return Vec::new();
        };
        for place in (0..changes.len()).rev() {
            let change = changes.remove(place);
            let is_idle = |model: Model| model.is_solved_like(&all);
            if !self.with(&changes).is_some_and(|(_, model)| is_idle(model)) {
                changes.insert(place, change);
            }
        }
        changes
    }

    /// The model with further settings.
    fn with(&self, changes: &Settings) -> Option<(ModelFile, Model)> {
        let file = self.case.file.with(changes);
        let model = file.read().ok()?;
        Some((file, model))
    }

    fn helps(&mut self, changes: &Settings) -> bool {
        let left = self.granted.saturating_sub(self.started.elapsed());
        if left.is_zero() {
            self.is_thorough = false;
            return false;
        }
        let Some((file, model)) = self.with(changes) else {
            return false;
        };
        let case = Case {
            model: &model,
            file: &file,
            subject: self.case.subject,
            start: None,
        };
        match case.spectrum(Some(left)) {
            Ok((_, verdict)) => is_cure(&verdict) && runs(&model),
            Err(oldham_stability::AnalysisError::TooLong { .. }) => {
                self.is_thorough = false;
                false
            }
            Err(_) => false,
        }
    }
}

/// A verdict that is no worse than one can hope for: what is not decided for the mere size of the
/// model, without a mode that was found to grow, counts.
fn is_cure(verdict: &Verdict) -> bool {
    verdict.is_stable() || (!verdict.is_unstable() && matches!(verdict.way, Way::Krylov { .. }))
}

/// Whether the model gets through some steps, and does not stop with a fault.
fn runs(model: &Model) -> bool {
    let built: Result<Simulation, _> = model.simulation();
    let Ok(mut simulation) = built else {
        return false;
    };
    simulation.steps(model.steps().min(TRIAL)).is_ok()
}

/// What is tried: for cut mechanisms the scheme of their cuts, then what often helps.
fn candidates(model: &Model) -> Vec<Settings> {
    let schemes: Settings = model
        .cut_mechanisms()
        .map(|name| (format!("multibody.{name}.cut.scheme"), CUT_SCHEME.into()))
        .collect();
    let owned = |changes: &&[(&str, &str)]| -> Settings {
        let changes = changes.iter();
        changes
            .map(|&(key, value)| (key.into(), value.into()))
            .collect()
    };
    let cuts = (!schemes.is_empty()).then_some(schemes);
    cuts.into_iter()
        .chain(CANDIDATES.iter().map(owned))
        .collect()
}
