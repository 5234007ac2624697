//! Before a run: is the coupling stable, and if not, what would be?

use std::path::Path;
use std::time::{Duration, Instant};

use oldham_model::Model;
use oldham_stability::{AnalysisError, Decision, Verdict, Way, analyse_quickly};
use serde_json::{Value, json};

use crate::fold::fold;
use crate::load;

/// Keys with their values.
type Settings = [(String, String)];

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

/// Growth per step that is as good as none.
const FAINT: f64 = 1e-8;

/// How mechanisms are cut so that couplings know of their parts more than the mass.
const CUT_SCHEME: &str = "interface-tangent";

/// Fractions of the macro step that are tried when nothing else helps: halves of halves.
const HALVINGS: i32 = 6;

/// What the analysis says of a model, and what would help.
pub struct Advice {
    /// The analysis, or why there is none.
    pub verdict: Result<Verdict, AnalysisError>,
    /// Settings under which the same model does not grow.
    pub remedies: Vec<String>,
    duration: f64,
    is_monolithic: bool,
}

impl Advice {
    /// Analyses the model as it would run, and what would help it, for no longer than `patience`
    /// each.
    pub fn on(model: &Model, path: &Path, set: &Settings, patience: Duration) -> Self {
        let advice = Self::without_remedies(verdict_of(model, patience), model);
        advice.with_remedies(model, path, set, patience)
    }

    /// Only the analysis.
    pub fn without_remedies(verdict: Result<Verdict, AnalysisError>, model: &Model) -> Self {
        Self {
            verdict,
            remedies: Vec::new(),
            duration: model.duration(),
            is_monolithic: false,
        }
    }

    /// The model was analysed in one piece: there is no coupling of which to speak.
    pub fn monolithic(self) -> Self {
        Self {
            is_monolithic: true,
            ..self
        }
    }

    fn subject(&self) -> &'static str {
        match self.is_monolithic {
            true => "the model in one piece",
            false => "the coupling",
        }
    }

    /// With what would help, if that is needed.
    pub fn with_remedies(
        mut self,
        model: &Model,
        path: &Path,
        set: &Settings,
        patience: Duration,
    ) -> Self {
        if self.verdict.as_ref().is_ok_and(Verdict::is_unstable) {
            let search = Search {
                path,
                set,
                patience,
                started: Instant::now(),
            };
            self.remedies = search.remedies(model);
        }
        self
    }

    /// A warning for people, if there is something to warn of.
    pub fn warning(&self) -> Option<String> {
        let verdict = self.verdict.as_ref().ok()?;
        if !verdict.is_unstable() {
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
        let subject = self.subject();
        let mut text = format!(
            "{subject} is unstable{interface}: a mode at {:.3} Hz grows at {:.4} 1/s, {how_far} this run (spectral radius {})",
            verdict.frequency,
            verdict.growth,
            radius(verdict),
        );
        if self.is_monolithic {
            text += "\n  without any exchange: it is the model or its integrator";
        } else if self.remedies.is_empty() {
            text += "\n  none of the usual settings helps, nor does a shorter macro step: look at the \
                     masses, stiffnesses and dampers at that interface";
        } else {
            let with = match verdict.way {
                Way::Dense => "stable with",
                Way::Krylov { .. } => "no growing mode found with",
            };
            text += &match self.remedies.as_slice() {
                [only] => format!("\n  {with} --set {only}"),
                several => format!(
                    "\n  {with} one of:\n    --set {}",
                    several.join("\n    --set ")
                ),
            };
        }
        Some(text)
    }

    /// The warning or the finding, indented and folded.
    pub fn for_people(&self) -> String {
        let text = self.warning().unwrap_or_else(|| self.finding());
        fold(&format!("  {text}"), 4)
    }

    /// The finding for people, where there is nothing to warn of.
    pub fn finding(&self) -> String {
        let verdict = match &self.verdict {
            Ok(verdict) => verdict,
            Err(reason) => return format!("stability not analysed: {reason}"),
        };
        let (radius, coordinates) = (radius(verdict), verdict.dimension);
        let subject = self.subject();
        let found = format!("spectral radius {radius}, {coordinates} coordinates");
        let unseen = 100.0 * (verdict.reach - 1.0);
        match (verdict.decision(), verdict.way) {
            (Decision::Undecided, _) => format!(
                "whether {subject} is stable is not decided: no mode was found that grows for certain, but one may grow by up to {unseen:.2} % a step; {found}",
            ),
            (_, Way::Krylov { .. }) if verdict.reach > 1.0 + FAINT => format!(
                "no mode of {subject} was found to grow, and none grows by more than {unseen:.2} % a step; {found}",
            ),
            (_, Way::Dense | Way::Krylov { .. }) => format!("{subject} is stable: {found}"),
        }
    }

    /// For machines.
    pub fn as_json(&self) -> Value {
        match &self.verdict {
            Err(error) => json!({"analysed": false, "reason": error.to_string()}),
            Ok(verdict) => json!({
                "analysed": true,
                "stable": match verdict.decision() {
                    Decision::Stable => Some(true),
                    Decision::Unstable => Some(false),
                    Decision::Undecided => None,
                },
                "spectral_radius": verdict.radius,
                "error": verdict.error,
                "reach": verdict.reach,
                "method": match verdict.way {
                    Way::Dense => "dense",
                    Way::Krylov { .. } => "krylov",
                },
                "products": match verdict.way {
                    Way::Dense => None,
                    Way::Krylov { products } => Some(products),
                },
                "growth": verdict.growth,
                "frequency": verdict.frequency,
                "coordinates": verdict.dimension,
                "interface": verdict.interface,
                "remedies": self.remedies,
            }),
        }
    }
}

/// A radius; what is not found from a matrix with its error and what it took.
fn radius(verdict: &Verdict) -> String {
    match verdict.way {
        Way::Dense => format!("{:.9}", verdict.radius),
        Way::Krylov { products } => format!(
            "{:.6} ± {:.1e} from {products} products",
            verdict.radius, verdict.error
        ),
    }
}

/// Looks for settings under which a model does not grow.
struct Search<'a> {
    path: &'a Path,
    set: &'a Settings,
    patience: Duration,
    started: Instant,
}

impl Search<'_> {
    fn remedies(&self, model: &Model) -> Vec<String> {
        let candidates = candidates(model);
        let helping = candidates.iter().filter(|changes| self.helps(changes));
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
            .find(|step| self.helps(&[("simulation.step".into(), step.clone())]));
        longest
            .map(|step| format!("simulation.step={step}"))
            .into_iter()
            .collect()
    }

    fn helps(&self, changes: &Settings) -> bool {
        let left = self.patience.saturating_sub(self.started.elapsed());
        if left.is_zero() {
            return false;
        }
        let changed: Vec<_> = self.set.iter().chain(changes).cloned().collect();
        let Ok(model) = load::with_overrides(self.path, &changed) else {
            return false;
        };
        verdict_of(&model, left).is_ok_and(|verdict| !verdict.is_unstable())
    }
}

/// What is tried: for cut mechanisms the scheme of their cuts, then what often helps.
fn candidates(model: &Model) -> Vec<Vec<(String, String)>> {
    let schemes: Vec<(String, String)> = model
        .cut_mechanisms()
        .map(|name| (format!("multibody.{name}.cut.scheme"), CUT_SCHEME.into()))
        .collect();
    let owned = |changes: &&[(&str, &str)]| -> Vec<(String, String)> {
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

fn verdict_of(model: &Model, patience: Duration) -> Result<Verdict, AnalysisError> {
    if let Some(part) = model.learner() {
        return Err(AnalysisError::Learns(part.into()));
    }
    // A model that reads without problems builds; that it builds is reported where it is run.
    let Ok(mut simulation) = model.simulation() else {
        return Err(AnalysisError::NoState(model.name().into()));
    };
    analyse_quickly(&mut simulation, patience)
}
