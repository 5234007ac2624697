//! What is to be said of a model's coupling before it runs: is it stable, and what would help?

use std::time::{Duration, Instant};

use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_stability::{AnalysisError, Decision, Spectrum, Verdict, Way};
use serde::{Serialize, Serializer};

use crate::motion::{LookedAt, NotJudged, StateKind, Survey, SurveyProgress};
use crate::{Drift, ModelFile, Settings, TrimmedFile, advisor, remedies};

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
    /// The trimmed state that it begins with, of the model that this is [applied](TrimmedFile::applied) to.
    pub start: Option<&'a TrimmedFile>,
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
            start: None,
        }
    }

    /// The same from a trimmed state.
    pub fn beginning_with(mut self, start: Option<&'a TrimmedFile>) -> Self {
        self.start = start;
        if start.is_some_and(|start| start.trim.is_monolithic) {
            self.subject = Subject::Whole;
        }
        self
    }

    /// Its modes, those set aside that it has without the coupling; or an error if that takes
    /// longer than is granted.
    pub fn spectrum(
        &self,
        granted: Option<Duration>,
    ) -> Result<(Spectrum, Verdict), AnalysisError> {
        self.judge(&mut self.simulation()?, granted)
    }

    /// What is analysed.
    pub(crate) fn simulation(&self) -> Result<Simulation, AnalysisError> {
        refuse_learner(self.model)?;
        if let Some(start) = self.start {
            let begun = start.simulation(self.model);
            return begun.map_err(|error| AnalysisError::NotBuilt(error.to_string()));
        }
        let built = match self.subject {
            Subject::Coupling => self.model.simulation(),
            Subject::Whole => self.model.monolithic(None),
        };
        built.map_err(|problems| AnalysisError::NotBuilt(problems.to_string()))
    }

    /// The modes of a simulation of the model that has not begun.
    pub(crate) fn judge(
        &self,
        simulation: &mut Simulation,
        granted: Option<Duration>,
    ) -> Result<(Spectrum, Verdict), AnalysisError> {
        let started = Instant::now();
        let mut spectrum = analyse(simulation, granted, started)?;
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
        let left = granted.map(|granted| granted.saturating_sub(started.elapsed()));
        let verdict = Verdict::within(&spectrum, simulation, left)?;
        Ok((spectrum, verdict))
    }

    /// The same motion without the coupling; where there is no such model, with a shorter macro
    /// step, which changes what the coupling does but not what the model does.
    pub(crate) fn reference(&self) -> Option<Simulation> {
        // A state belongs to its coupling and to its step.
        if self.start.is_some() {
            return None;
        }
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
    /// The states that were looked at, where the model was looked at along its run. Then the verdict is that
    /// on the worst of them.
    pub survey: Option<Survey>,
    /// What the exchange of a stable coupling does to the energy, if that is more than a little and was looked for.
    pub drift: Option<Drift>,
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
    /// None was tried: it is not the start of the run that is unstable, and remedies are tried there.
    Elsewhere,
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
        if let Some(search) = advice.look_for_remedies(case, granted)
            && (search, granted.is_some()) == (Search::TooLong, true)
        {
            advice.search = Search::Hurried;
        }
        advice
    }

    /// Analyses the model where it runs, within the time that is granted; remedies are not looked for.
    pub fn along_run(
        case: &Case<'_>,
        granted: Duration,
        progress: &mut dyn FnMut(SurveyProgress),
    ) -> Self {
        match Survey::of(case, granted, progress) {
            Ok(survey) => Self::of_survey(case, survey),
            Err(error) => Self::without_remedies(case, Err(error)),
        }
    }

    fn of_survey(case: &Case<'_>, survey: Survey) -> Self {
        let worst = survey.worst().map(|state| match &state.verdict {
            Ok(verdict) => Ok(verdict.clone()),
            Err(NotJudged::Failed(error)) => Err(error.clone()),
            Err(_) => Err(AnalysisError::TooLong {
                seconds: survey.granted.as_secs_f64(),
            }),
        });
        let verdict = worst.unwrap_or(Err(AnalysisError::TooLong {
            seconds: survey.granted.as_secs_f64(),
        }));
        Self {
            survey: Some(survey),
            ..Self::without_remedies(case, verdict)
        }
    }

    /// Looks for changes under which an unstable model does not grow, and says how far, if there was a
    /// reason to.
    pub fn look_for_remedies(
        &mut self,
        case: &Case<'_>,
        granted: Option<Duration>,
    ) -> Option<Search> {
        // What helps would have to be trimmed anew.
        if case.start.is_some()
            || case.subject != Subject::Coupling
            || self.decision() != Some(Decision::Unstable)
        {
            return None;
        }
        let worst = self.survey.as_ref().and_then(Survey::worst);
        self.search = match worst {
            Some(state) if state.kind != StateKind::Start => Search::Elsewhere,
            _ => {
                let found = remedies::find(case, granted);
                self.remedies = found.settings;
                match found.is_thorough {
                    true => Search::Thorough,
                    false => Search::TooLong,
                }
            }
        };
        Some(self.search)
    }

    /// What is decided about the model; nothing if it was not analysed.
    pub fn decision(&self) -> Option<Decision> {
        let verdict = self.verdict.as_ref().ok()?;
        Some(match self.doubt() {
            Some(_) => Decision::Undecided,
            None => verdict.decision(),
        })
    }

    /// Why nothing is decided, if so.
    pub fn doubt(&self) -> Option<String> {
        let verdict = self.verdict.as_ref().ok()?;
        let state = self.survey.as_ref().and_then(Survey::worst);
        if let Some(doubt) = state.and_then(|state| state.doubt.clone()) {
            return Some(doubt);
        }
        if verdict.is_unstable() {
            return None;
        }
        let along = self.survey.as_ref().and_then(Survey::doubt);
        verdict.doubt().or(along)
    }

    /// From an analysis that was made, where nothing else is offered.
    pub fn without_remedies(case: &Case<'_>, verdict: Result<Verdict, AnalysisError>) -> Self {
        Self {
            verdict,
            remedies: Vec::new(),
            duration: case.model.duration(),
            subject: case.subject,
            search: Search::Thorough,
            survey: None,
            drift: None,
        }
    }

    /// Looks whether a stable coupling makes or takes energy.
    pub fn look_for_drift(&mut self, case: &Case<'_>, granted: Duration) {
        let is_stable = self.decision() == Some(Decision::Stable);
        if is_stable && case.subject == Subject::Coupling && case.start.is_none() {
            self.drift = advisor::drift(case.model, granted);
        }
    }
}

/// The decision in a word or two.
pub fn decision_word(decision: Decision) -> &'static str {
    match decision {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_steps: Option<u64>,
    growth: f64,
    frequency: f64,
    states: usize,
    coordinates: usize,
    interface: Option<&'a str>,
    own_growth: Option<OwnGrowth>,
    remedies: Vec<String>,
    /// The time of the state that this is about, in s.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// All states that were looked at, the worst first.
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at: Option<&'a [LookedAt]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<&'a Drift>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_until: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_ended: Option<String>,
}

/// A state that was looked at.
#[derive(Serialize)]
struct State {
    time: f64,
    kind: &'static str,
    analysed: bool,
    decision: Option<&'static str>,
    stable: Option<bool>,
    reason: Option<String>,
    spectral_radius: Option<f64>,
    error: Option<f64>,
    growth: Option<f64>,
    frequency: Option<f64>,
    notes: Vec<String>,
}

impl State {
    fn of(state: &LookedAt) -> Self {
        let verdict = state.verdict.as_ref().ok();
        Self {
            time: state.time,
            kind: match state.kind {
                StateKind::Start => "start",
                StateKind::Equilibrium => "equilibrium",
                StateKind::Run => "run",
            },
            analysed: verdict.is_some(),
            decision: state.decision().map(decision_word),
            stable: state.decision().and_then(is_stable),
            reason: state.reason(),
            spectral_radius: verdict.map(|verdict| verdict.radius),
            error: verdict.map(|verdict| verdict.error),
            growth: verdict.map(|verdict| verdict.growth),
            frequency: verdict.map(|verdict| verdict.frequency),
            notes: state.notes(),
        }
    }
}

impl Serialize for LookedAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        State::of(self).serialize(serializer)
    }
}

fn is_stable(decision: Decision) -> Option<bool> {
    match decision {
        Decision::Stable => Some(true),
        Decision::Unstable => Some(false),
        Decision::Undecided => None,
    }
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
            Way::Measured { .. } => ("measured", None, None),
        };
        let measured_steps = match verdict.way {
            Way::Measured { steps } => Some(steps),
            _ => None,
        };
        let found = Found {
            analysed: true,
            decision: decision_word(self.decision().unwrap_or(Decision::Undecided)),
            stable: self.decision().and_then(is_stable),
            reason: self.doubt(),
            time: self
                .survey
                .as_ref()
                .and_then(|survey| Some(survey.worst()?.time)),
            looked_at: self.survey.as_ref().map(|survey| &survey.states[..]),
            drift: self.drift.as_ref(),
            run_until: self.survey.as_ref().map(|survey| survey.until),
            run_ended: self.survey.as_ref().and_then(|survey| survey.ended.clone()),
            spectral_radius: verdict.radius,
            error: verdict.error,
            bound: verdict.reach,
            reach: verdict.reach,
            method,
            matrix_vector_products: products,
            products,
            evaluations,
            measured_steps,
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
