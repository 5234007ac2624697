//! What is to be said of a model's coupling before it runs: is it stable, and what would help?

use std::time::{Duration, Instant};

use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_stability::{AnalysisError, Decision, Spectrum, Verdict, Way};
use serde::{Serialize, Serializer};

use crate::remedies;
use crate::{ModelFile, Settings};

/// What is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The parts as they exchange.
    Coupling,
    /// The monolithic reference, or a model without any exchange.
    Whole,
}

/// A model with the settings that it was read with.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The model.
    pub model: &'a Model,
    /// Where it comes from.
    pub file: &'a ModelFile,
    /// What of it is analysed.
    pub subject: Subject,
}

/// How much shorter the step of a reference is; the first of them that the model admits.
const DIVISORS: [f64; 6] = [2.0, 3.0, 4.0, 5.0, 7.0, 10.0];

impl<'a> Case<'a> {
    /// The model as it runs.
    pub fn of(model: &'a Model, file: &'a ModelFile) -> Self {
        let subject = match model.is_coupled() {
            true => Subject::Coupling,
            false => Subject::Whole,
        };
        Self {
            model,
            file,
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

    /// The same motion without the coupling; where there is no such model, with a shorter macro
    /// step, which changes what the coupling does but not what the model does.
    fn reference(&self) -> Option<Simulation> {
        let is_mixed =
            self.model.subsystems().len() > 1 && self.model.mechanisms().next().is_some();
        if !is_mixed && let Ok(monolithic) = self.model.monolithic(None) {
            return Some(monolithic);
        }
        // Given micro steps must divide it.
        DIVISORS.into_iter().find_map(|divisor| {
            let shorter = self.file.clone();
            let shorter = shorter.set("simulation.step", self.model.step() / divisor);
            shorter.read().ok()?.simulation().ok()
        })
    }
}

fn analyse(
    simulation: &mut Simulation,
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
///
/// ```
/// use oldham_study::{Advice, Case, ModelFile};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-force-displacement.toml"));
/// let model = file.read()?;
/// let advice = Advice::on(&Case::of(&model, &file), None);
/// assert!(advice.verdict.as_ref().is_ok_and(|verdict| verdict.is_unstable()));
/// let remedy = &advice.remedies[0];
/// let better = file.with(remedy);
/// assert!(Advice::on(&Case::of(&better.read()?, &better), None).verdict.unwrap().is_stable());
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub struct Advice {
    /// The analysis, or why there is none.
    pub verdict: Result<Verdict, AnalysisError>,
    /// Changes under which the same model does not grow: any one of them helps.
    pub remedies: Vec<Settings>,
    /// Duration of the run in s.
    pub duration: f64,
    /// What was analysed.
    pub subject: Subject,
    /// How the search for remedies ended.
    pub search: Search,
}

/// How far remedies were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
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
}

/// The decision in a word or two.
pub fn decision_word(verdict: &Verdict) -> &'static str {
    match verdict.decision() {
        Decision::Stable => "stable",
        Decision::Unstable => "unstable",
        Decision::Undecided => "not decided",
    }
}

/// A remedy as arguments of the command.
fn as_arguments(settings: &Settings) -> String {
    let settings = settings.iter().map(|(key, value)| format!("{key}={value}"));
    settings.collect::<Vec<_>>().join(" --set ")
}

impl Advice {
    /// The remedies, each as what follows `--set` on the command line.
    pub fn remedies_as_arguments(&self) -> Vec<String> {
        self.remedies.iter().map(as_arguments).collect()
    }
}

#[derive(Serialize)]
struct Missing {
    analysed: bool,
    reason: String,
}

/// A mode that the model has without the coupling.
#[derive(Serialize)]
struct OwnGrowth {
    growth: f64,
    frequency: f64,
}

#[derive(Serialize)]
struct Found<'a> {
    analysed: bool,
    decision: &'static str,
    stable: Option<bool>,
    reason: Option<String>,
    spectral_radius: f64,
    error: f64,
    bound: f64,
    reach: f64,
    method: &'static str,
    matrix_vector_products: Option<usize>,
    products: Option<usize>,
    evaluations: Option<usize>,
    growth: f64,
    frequency: f64,
    states: usize,
    coordinates: usize,
    interface: Option<&'a str>,
    own_growth: Option<OwnGrowth>,
    remedies: Vec<String>,
}

impl Serialize for Advice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let verdict = match &self.verdict {
            Ok(verdict) => verdict,
            Err(error) => {
                let missing = Missing {
                    analysed: false,
                    reason: error.to_string(),
                };
                return missing.serialize(serializer);
            }
        };
        let (method, products, evaluations) = match verdict.way {
            Way::Dense => ("dense", None, None),
            Way::Frequency { evaluations } => ("frequency", None, Some(evaluations)),
            Way::Krylov { products } => ("krylov", Some(products), None),
        };
        let found = Found {
            analysed: true,
            decision: decision_word(verdict),
            stable: match verdict.decision() {
                Decision::Stable => Some(true),
                Decision::Unstable => Some(false),
                Decision::Undecided => None,
            },
            reason: verdict.doubt().map(|doubt| doubt.to_string()),
            spectral_radius: verdict.radius,
            error: verdict.error,
            bound: verdict.reach,
            reach: verdict.reach,
            method,
            matrix_vector_products: products,
            products,
            evaluations,
            growth: verdict.growth,
            frequency: verdict.frequency,
            states: verdict.dimension,
            coordinates: verdict.dimension,
            interface: verdict.interface.as_deref(),
            own_growth: verdict
                .own
                .map(|[growth, frequency]| OwnGrowth { growth, frequency }),
            remedies: self.remedies_as_arguments(),
        };
        found.serialize(serializer)
    }
}
