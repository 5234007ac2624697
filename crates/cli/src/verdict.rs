//! The verdict on a model, in the same words for every command.

use std::path::Path;
use std::time::{Duration, Instant};

use oldham_model::Model;
use oldham_stability::{AnalysisError, Decision, Spectrum, Verdict, Way};
use serde_json::{Value, json};

use crate::fold::fold;
use crate::load;
use crate::remedies;
use crate::table::number;

/// Keys with their values.
pub type Settings = [(String, String)];

/// What is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The parts as they exchange.
    Coupling,
    /// The model in one piece, or a model without any exchange.
    Whole,
}

/// A model with the settings that it was read with.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub model: &'a Model,
    pub path: &'a Path,
    pub set: &'a Settings,
    pub subject: Subject,
}

impl<'a> Case<'a> {
    /// The model as it runs.
    pub fn of(model: &'a Model, path: &'a Path, set: &'a Settings) -> Self {
        let subject = match model.is_coupled() {
            true => Subject::Coupling,
            false => Subject::Whole,
        };
        Self {
            model,
            path,
            set,
            subject,
        }
    }

    /// Its modes, those set aside that it has without the coupling; or an error if that takes
    /// longer than is granted.
    pub fn spectrum(
        &self,
        granted: Option<Duration>,
    ) -> Result<(Spectrum, Verdict), AnalysisError> {
        let started = Instant::now();
        refuse_learner(self.model)?;
        let built = match self.subject {
            Subject::Coupling => self.model.simulation(),
            Subject::Whole => self.model.monolithic(None),
        };
        let mut simulation =
            built.map_err(|problems| AnalysisError::NotBuilt(problems.to_string()))?;
        let mut spectrum = analyse(&mut simulation, granted, started)?;
        if self.subject == Subject::Coupling
            && spectrum.may_grow_by_itself()
            && let Some(mut reference) = self.reference()
        {
            match analyse(&mut reference, granted, started) {
                Ok(reference) => spectrum.set_aside(&reference),
                Err(error @ AnalysisError::TooLong { .. }) => return Err(error),
                Err(_) => {}
            }
        }
        let verdict = Verdict::of(&spectrum, &mut simulation)?;
        Ok((spectrum, verdict))
    }

    /// The same motion without the coupling; where there is no such model, with half the macro
    /// step, which changes what the coupling does but not what the model does.
    fn reference(&self) -> Option<oldham_cosim::Simulation> {
        let is_mixed =
            self.model.subsystems().len() > 1 && self.model.mechanisms().next().is_some();
        if !is_mixed && let Ok(monolithic) = self.model.monolithic(None) {
            return Some(monolithic);
        }
        let half = (0.5 * self.model.step()).to_string();
        let changes = [("simulation.step".to_owned(), half)];
        let set: Vec<_> = self.set.iter().chain(&changes).cloned().collect();
        load::with_overrides(self.path, &set)
            .ok()?
            .simulation()
            .ok()
    }
}

fn analyse(
    simulation: &mut oldham_cosim::Simulation,
    granted: Option<Duration>,
    started: Instant,
) -> Result<Spectrum, AnalysisError> {
    match granted {
        None => Spectrum::of(simulation),
        Some(granted) => {
            let left = granted.saturating_sub(started.elapsed());
            Spectrum::within(simulation, left).map_err(|error| match error {
                AnalysisError::TooLong { .. } => AnalysisError::TooLong {
                    seconds: granted.as_secs_f64(),
                },
                other => other,
            })
        }
    }
}

/// What a model learns while it runs no analysis describes.
pub fn refuse_learner(model: &Model) -> Result<(), AnalysisError> {
    match model.learner() {
        Some(part) => Err(AnalysisError::Learns(part.into())),
        None => Ok(()),
    }
}

/// What the analysis says of a model, and what would help.
pub struct Advice {
    /// The analysis, or why there is none.
    pub verdict: Result<Verdict, AnalysisError>,
    /// Settings under which the same model does not grow.
    pub remedies: Vec<String>,
    duration: f64,
    subject: Subject,
    /// How the search for remedies ended.
    search: Search,
}

/// How far remedies were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// All were tried.
    Thorough,
    /// There was no time for all, because something else is waiting.
    Hurried,
    /// There was no time for all.
    TooLong,
}

impl Advice {
    /// Analyses the model as it would run, and what would help it; without a limit of time, or for
    /// no longer than is granted each.
    pub fn on(case: &Case<'_>, granted: Option<Duration>) -> Self {
        let verdict = case.spectrum(granted).map(|(_, verdict)| verdict);
        Self::of(case, verdict, granted)
    }

    /// From an analysis that was made.
    pub fn of(
        case: &Case<'_>,
        verdict: Result<Verdict, AnalysisError>,
        granted: Option<Duration>,
    ) -> Self {
        let mut advice = Self::without_remedies(case, verdict);
        if case.subject == Subject::Coupling
            && advice.verdict.as_ref().is_ok_and(Verdict::is_unstable)
        {
            let found = remedies::find(case, granted);
            advice.remedies = found.settings;
            advice.search = match (found.is_thorough, granted) {
                (true, _) => Search::Thorough,
                (false, Some(_)) => Search::Hurried,
                (false, None) => Search::TooLong,
            };
        }
        advice
    }

    /// From an analysis that was made, where nothing else is offered.
    pub fn without_remedies(case: &Case<'_>, verdict: Result<Verdict, AnalysisError>) -> Self {
        Self {
            verdict,
            remedies: Vec::new(),
            duration: case.model.duration(),
            subject: case.subject,
            search: Search::Thorough,
        }
    }

    fn subject(&self) -> &'static str {
        match self.subject {
            Subject::Whole => "the monolithic model",
            Subject::Coupling => "the coupling",
        }
    }

    /// A warning for people, if there is something to warn of.
    pub fn warning(&self) -> Option<String> {
        let verdict = self.verdict.as_ref().ok()?;
        if !verdict.is_unstable() {
            return None;
        }
        let interface = match &verdict.interface {
            Some(name) if self.subject == Subject::Coupling => {
                format!(" at the interface `{name}`")
            }
            _ => String::new(),
        };
        let factor = (verdict.growth * self.duration).exp();
        let how_far = match factor.is_finite() {
            true => format!("by a factor of {} over", number(factor)),
            false => "beyond all bounds in".into(),
        };
        let subject = self.subject();
        let mut text = format!(
            "{subject} is unstable{interface}: a mode at {:.3} Hz grows at {:.4} 1/s, {how_far} this run (spectral radius {})",
            verdict.frequency,
            verdict.growth,
            radius(verdict),
        );
        text += &self.own_growth(verdict);
        if self.subject == Subject::Whole {
            text += "\n  without any coupling: it is the model or its integrator";
            return Some(text);
        }
        text += &match self.remedies.as_slice() {
            [] if self.search == Search::Hurried => {
                "\n  `oldham check` looks for settings that help".to_owned()
            }
            [] if self.search == Search::TooLong => format!(
                "\n  no setting that helps was found within {} s; not all were tried",
                remedies::LONGEST.as_secs()
            ),
            [] => {
                "\n  none of the usual settings helps, nor does a shorter macro step: look at the \
                   masses, stiffnesses and dampers at that interface"
                    .to_owned()
            }
            [only] => format!("\n  stable with --set {only}"),
            several => format!(
                "\n  stable with one of:\n    --set {}",
                several.join("\n    --set ")
            ),
        };
        Some(text)
    }

    /// What the model does by itself.
    fn own_growth(&self, verdict: &Verdict) -> String {
        match verdict.own {
            Some([growth, frequency]) => format!(
                "; a mode at {frequency:.3} Hz that grows at {growth:.4} 1/s is the model's own: it is there without the coupling"
            ),
            None => String::new(),
        }
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
        let own = self.own_growth(verdict);
        let found = format!("spectral radius {radius}, {coordinates} states{own}");
        match verdict.doubt() {
            Some(doubt) => {
                format!("whether {subject} is stable is not decided, because {doubt}; {found}")
            }
            None => format!("{subject} is stable: {found}"),
        }
    }

    /// For machines.
    pub fn as_json(&self) -> Value {
        match &self.verdict {
            Err(error) => json!({"analysed": false, "reason": error.to_string()}),
            Ok(verdict) => {
                let mut answer = as_json(verdict);
                answer["remedies"] = json!(self.remedies);
                answer
            }
        }
    }
}

/// The decision in a word or two.
pub fn brief(verdict: &Verdict) -> String {
    let word = match verdict.decision() {
        Decision::Stable => "stable",
        Decision::Unstable => "unstable",
        Decision::Undecided => "not decided",
    };
    word.into()
}

/// A verdict for machines.
pub fn as_json(verdict: &Verdict) -> Value {
    json!({
        "analysed": true,
        "decision": brief(verdict),
        "stable": match verdict.decision() {
            Decision::Stable => Some(true),
            Decision::Unstable => Some(false),
            Decision::Undecided => None,
        },
        "reason": verdict.doubt(),
        "spectral_radius": verdict.radius,
        "error": verdict.error,
        "bound": verdict.reach,
        "reach": verdict.reach,
        "method": match verdict.way {
            Way::Dense => "dense",
            Way::Frequency { .. } => "frequency",
            Way::Krylov { .. } => "krylov",
        },
        "matrix_vector_products": match verdict.way {
            Way::Dense | Way::Frequency { .. } => None,
            Way::Krylov { products } => Some(products),
        },
        "products": match verdict.way {
            Way::Dense | Way::Frequency { .. } => None,
            Way::Krylov { products } => Some(products),
        },
        "evaluations": match verdict.way {
            Way::Frequency { evaluations } => Some(evaluations),
            _ => None,
        },
        "growth": verdict.growth,
        "frequency": verdict.frequency,
        "states": verdict.dimension,
        "coordinates": verdict.dimension,
        "interface": verdict.interface,
        "own_growth": verdict.own.map(|[growth, frequency]| {
            json!({"growth": growth, "frequency": frequency})
        }),
    })
}

/// A radius with its error.
pub fn radius(verdict: &Verdict) -> String {
    let text = with_error(verdict.radius, verdict.error);
    match verdict.way {
        Way::Dense | Way::Frequency { .. } => text,
        Way::Krylov { products } => format!("{text} from {products} matrix-vector products"),
    }
}

/// As many digits as are known, and how far the last of them is known.
pub fn with_error(radius: f64, error: f64) -> String {
    let digits = (-error.max(1e-300).log10()).floor().clamp(1.0, 9.0) as usize + 1;
    let digits = digits.clamp(3, 9);
    format!("{radius:.digits$} ± {error:.0e}")
}
