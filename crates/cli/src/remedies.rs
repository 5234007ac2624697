//! Before a run: is the coupling stable, and if not, what would be?

use std::path::Path;

use oldham_model::Model;
use oldham_stability::{AnalysisError, Verdict, analyse};
use serde_json::{Value, json};

use crate::load;

/// Settings that often help, the cheapest first.
const CANDIDATES: [&[(&str, &str)]; 6] = [
    &[("schedule.tangent", "true")],
    &[("schedule.refresh", "true")],
    &[("schedule.predictor", "first-order")],
    &[("schedule.predictor", "second-order")],
    &[("schedule.kind", "gauss-seidel")],
    &[
        ("schedule.coupling", "tight"),
        ("schedule.predictor", "first-order"),
    ],
];

/// Fractions of the macro step that are tried when nothing else helps: halves of halves.
const HALVINGS: i32 = 6;

/// What the analysis says of a model, and what would help.
pub struct Advice {
    /// The analysis, or why there is none.
    pub verdict: Result<Verdict, AnalysisError>,
    /// Settings under which the same model is stable.
    pub remedies: Vec<String>,
    duration: f64,
}

impl Advice {
    /// Analyses the model as it would run.
    pub fn on(model: &Model, path: &Path, set: &[(String, String)]) -> Self {
        let verdict = verdict_of(model);
        let unstable = verdict.as_ref().is_ok_and(|verdict| !verdict.is_stable());
        let remedies = if unstable {
            remedies(model, path, set)
        } else {
            Vec::new()
        };
        Self {
            verdict,
            remedies,
            duration: model.duration(),
        }
    }

    /// A warning for people, if there is something to warn of.
    pub fn warning(&self) -> Option<String> {
        let verdict = self.verdict.as_ref().ok()?;
        if verdict.is_stable() {
            return None;
        }
        let interface = match &verdict.interface {
            Some(name) => format!(" at the interface `{name}`"),
            None => String::new(),
        };
        let factor = (verdict.growth * self.duration).exp();
        let how_far = match factor.is_finite() {
            true => format!("by a factor of {} over", crate::table::number(factor)),
            false => "beyond all bounds in".into(),
        };
        let mut text = format!(
            "the coupling is unstable{interface}: a mode at {:.3} Hz grows at {:.4} 1/s, {how_far} this run (spectral radius {:.9})",
            verdict.frequency, verdict.growth, verdict.radius,
        );
        if self.remedies.is_empty() {
            text += "\n  none of the usual settings helps, nor does a shorter macro step: look at the masses, stiffnesses and dampers at that interface";
        } else {
            text += "\n  stable with: --set ";
            text += &self.remedies.join(", or --set ");
        }
        Some(text)
    }

    /// For machines.
    pub fn as_json(&self) -> Value {
        match &self.verdict {
            Err(error) => json!({"analysed": false, "reason": error.to_string()}),
            Ok(verdict) => json!({
                "analysed": true,
                "stable": verdict.is_stable(),
                "spectral_radius": verdict.radius,
                "growth": verdict.growth,
                "frequency": verdict.frequency,
                "coordinates": verdict.dimension,
                "interface": verdict.interface,
                "remedies": self.remedies,
            }),
        }
    }
}

/// Settings under which the model is stable.
fn remedies(model: &Model, path: &Path, set: &[(String, String)]) -> Vec<String> {
    let helping = CANDIDATES
        .iter()
        .filter(|changes| is_stable_with(path, set, changes));
    let found: Vec<String> = helping
        .map(|changes| {
            let settings = changes.iter().map(|(key, value)| format!("{key}={value}"));
            settings.collect::<Vec<_>>().join(" --set ")
        })
        .collect();
    if !found.is_empty() {
        return found;
    }
    let steps = (1..=HALVINGS).map(|n| (model.step() / 2_f64.powi(n)).to_string());
    let longest = steps
        .into_iter()
        .find(|step| is_stable_with(path, set, &[("simulation.step", step)]));
    longest
        .map(|step| format!("simulation.step={step}"))
        .into_iter()
        .collect()
}

fn verdict_of(model: &Model) -> Result<Verdict, AnalysisError> {
    if let Some(part) = model.learner() {
        return Err(AnalysisError::Learns(part.into()));
    }
    // A model that reads without problems builds; that it builds is reported where it is run.
    let Ok(mut simulation) = model.simulation() else {
        return Err(AnalysisError::NoState(model.name().into()));
    };
    analyse(&mut simulation)
}

fn is_stable_with(path: &Path, set: &[(String, String)], changes: &[(&str, &str)]) -> bool {
    let changes = changes
        .iter()
        .map(|&(key, value)| (key.into(), value.into()));
    let changed: Vec<_> = set.iter().cloned().chain(changes).collect();
    let Ok(model) = load::with_overrides(path, &changed) else {
        return false;
    };
    verdict_of(&model).is_ok_and(|verdict| verdict.is_stable())
}
