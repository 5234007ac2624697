//! Which coupling suits a model: settings ranked by their error at equal cost.
//!
//! Everything that can be set and built is looked at by analysis first: linear models of the parts about the motion of a
//! reference stand in for them in the engine itself, under the schedule and the predictors of each candidate. The best are
//! checked by short runs, which have the last word. A setting that is not stable is never advised.

mod candidates;
mod cost;
mod drift;
mod linear;
mod rank;
mod reference;
mod script;
mod stand_in;
mod trial;
mod write;

use std::sync::Arc;
use std::time::{Duration, Instant};

use oldham_cosim::{Cancel, SubsystemId};
use oldham_model::Model;
use oldham_stability::Decision;
use serde::{Serialize, Serializer};

use crate::{Alike, Case, ModelFile, Settings, StudyError, Subject, decision_word};
pub use candidates::LeftOut;
use candidates::{AS_IT_IS, Candidate, Candidates};
pub use cost::{Cost, Prices};
pub use drift::Drift;
pub(crate) use drift::drift;
pub use linear::NotPredicted;
use linear::{LinearPart, linear_parts};
pub(crate) use rank::rank;
pub use reference::ReferenceKind;
use reference::{Limits, Reference, work};
use stand_in::StandIn;
use trial::{Off, off};
pub use write::{Written, write_settings};

/// Time that an advisor takes at most, if nothing else is granted.
pub const LONGEST_ADVICE: Duration = Duration::from_secs(60);

/// Macro steps of the model that are looked at, and of one whose steps are much work.
const STEPS: u64 = 2000;
const FEWEST_STEPS: u64 = 200;
/// Matrix entries that are touched in a run of it.
const WORK: f64 = 1e6;
/// How many of the best are checked by runs.
const CHECKED: usize = 5;
/// How many stable ones are looked for among them: a first and a second choice.
const SOUND: usize = 2;
/// Candidates that cannot be predicted and are run instead, at most.
const RUN_INSTEAD: usize = 60;
/// Candidates of another cost whose order is predicted.
const ORDERED: usize = 10;
/// Shares of the time after which the reference, and the predictions, have to be done.
const REFERENCE_SHARE: f64 = 0.4;
const PREDICTION_SHARE: f64 = 0.7;
/// Share of the time left that one verdict takes at most.
const VERDICT_SHARE: f64 = 0.3;
/// Errors that differ by less than this factor are alike: then the simplest and cheapest setting is better.
const ALIKE: f64 = 1.1;
/// A prediction that is off by more than this factor was not of a linear model.
const LINEAR: f64 = 3.0;
/// Orders that are believed.
const ORDERS: [f64; 2] = [0.5, 4.0];
/// Errors below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Predictions that differ by less than this share are of settings that do the same.
const SAME: f64 = 1e-3;
/// Halvings of the macro step that are tried where nothing else is stable.
const HALVINGS: i32 = 6;

/// How advice is found.
#[derive(Clone, Copy)]
pub struct AdvisorOptions<'a> {
    /// Time that it takes at most.
    pub granted: Duration,
    /// How many of the best are checked by runs; of all if there are fewer.
    pub checked: usize,
    /// What an advance and an exchange cost, where that is not to be measured.
    pub prices: Option<Prices>,
    /// Ends the search when set.
    pub cancel: Option<&'a Cancel>,
    /// Is told what is being done.
    pub progress: Option<&'a dyn Fn(&str)>,
}

impl Default for AdvisorOptions<'_> {
    fn default() -> Self {
        Self {
            granted: LONGEST_ADVICE,
            checked: CHECKED,
            prices: None,
            cancel: None,
            progress: None,
        }
    }
}

/// A setting that was looked at.
#[derive(Clone, Debug)]
pub struct Assessed {
    /// What it is.
    pub name: String,
    /// What of the model it changes.
    pub settings: Settings,
    /// Error by analysis, where it is known.
    pub predicted: Option<f64>,
    /// What a run has shown, if there was one.
    pub run: Option<Shown>,
    /// What it costs, once that is known.
    pub cost: Option<Cost>,
    /// How its error falls with the macro step, where that was asked for.
    pub order: Option<f64>,
    /// What is decided about its stability, if it was analysed.
    pub stability: Option<Decision>,
    /// Growth in 1/s of its dominant mode, its frequency in Hz, and the interface that feeds it.
    pub mode: Option<(f64, f64, Option<String>)>,
    /// The model under these settings.
    digest: u64,
}

/// What a run has shown.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Error of the signal that is furthest from the reference; none if the run stopped.
    pub error: Option<f64>,
    /// That signal.
    pub signal: String,
    /// Why the run stopped.
    pub fault: Option<String>,
    /// The interface at which the exchange made most energy, with what it made in J.
    pub interface: Option<(String, f64)>,
    /// The same relative to the energy that went through it, where both are known and noticeable.
    pub share: Option<f64>,
}

impl Assessed {
    fn of(candidate: &Candidate) -> Self {
        Self {
            name: candidate.name.clone(),
            settings: candidate.settings.clone(),
            predicted: None,
            run: None,
            cost: None,
            order: None,
            stability: None,
            mode: None,
            digest: candidate.model.solution_digest(),
        }
    }

    /// Its error: measured, or predicted where there was no run.
    pub fn error(&self) -> Option<f64> {
        match &self.run {
            Some(run) => run.error,
            None => self.predicted,
        }
    }

    /// The error that it would have with a step at which it costs as much as the model as it is.
    pub fn at_equal_cost(&self) -> Option<f64> {
        self.at_equal_cost_above(0.0)
    }

    /// The same, where errors below a floor are no differences.
    fn at_equal_cost_above(&self, floor: f64) -> Option<f64> {
        let relative = self.cost.map_or(1.0, |cost| cost.relative);
        let order = self.order.unwrap_or(1.0);
        Some(self.error()?.max(floor) * relative.powf(order))
    }

    /// Whether it may be advised: a run came to its end, and no growth was found.
    pub fn is_sound(&self) -> bool {
        self.stability == Some(Decision::Stable)
            && self.run.as_ref().is_some_and(|run| run.error.is_some())
    }

    /// By which factor the prediction was off, at least one.
    pub fn misprediction(&self) -> Option<f64> {
        let (predicted, measured) = (self.predicted?, self.run.as_ref()?.error?);
        // Of rounding nothing can be predicted.
        let ratio = predicted.max(ROUNDING) / measured.max(ROUNDING);
        ratio.is_finite().then(|| ratio.max(1.0 / ratio))
    }
}

/// What is advised for a model.
#[derive(Serialize)]
pub struct Recommendation {
    /// Title of the model.
    pub model: String,
    /// Macro steps over which errors were found.
    pub steps: u64,
    /// Their duration in s.
    pub duration: f64,
    /// Macro steps of the whole run.
    pub of_steps: u64,
    /// Whether something was not tried for lack of time.
    pub is_cut_short: bool,
    /// What errors are measured from.
    pub reference: &'static str,
    /// The error of that, where it was refined.
    pub reference_error: Option<f64>,
    /// The model as it is.
    pub present: Assessed,
    /// Sound settings that were run, the best first. The model as it is may be among them.
    pub choices: Vec<Assessed>,
    /// Settings that were run and stopped, or whose stability is not proved.
    pub unsound: Vec<Assessed>,
    /// Settings with larger errors, by prediction or by a run, whose stability was not looked at; the best first.
    pub others: Vec<Assessed>,
    /// Settings that cannot be built.
    pub left_out: Vec<LeftOut>,
    /// Settings that are the same as others.
    pub alike: Vec<Alike>,
    /// Why nothing was predicted, if so.
    pub not_predicted: Option<String>,
    /// What was not tried.
    pub not_tried: Vec<String>,
}

impl Recommendation {
    /// What is advised; nothing if no sound setting was found.
    pub fn first(&self) -> Option<&Assessed> {
        self.choices.first()
    }

    /// Whether the first choice is the model as it is.
    pub fn is_fine(&self) -> bool {
        self.first()
            .is_some_and(|first| first.digest == self.present.digest)
    }

    /// All that were run.
    pub fn run(&self) -> impl Iterator<Item = &Assessed> {
        let all = self.choices.iter().chain(&self.unsound).chain(&self.others);
        all.filter(|one| one.run.is_some())
    }

    /// Settings whose predictions the runs did not confirm.
    pub fn not_linear(&self) -> impl Iterator<Item = &Assessed> {
        self.run()
            .filter(|choice| choice.misprediction().is_some_and(|factor| factor > LINEAR))
    }
}

/// Looks for the coupling with the smallest error at equal cost.
///
/// ```
/// use oldham_study::{AdvisorOptions, ModelFile, advise};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-force-displacement.toml"));
/// let file = file.set("simulation.duration", 0.2);
/// let model = file.read()?;
/// let advice = advise(&file, &model, &AdvisorOptions::default())?;
/// let first = advice.first().expect("a setting that is stable");
/// assert!(first.error() < advice.present.error());
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn advise(
    file: &ModelFile,
    model: &Model,
    options: &AdvisorOptions<'_>,
) -> Result<Recommendation, StudyError> {
    if let Some(mechanism) = model.solvable_only_cut() {
        return Err(StudyError::OnlyCut {
            mechanism: mechanism.into(),
        });
    }
    Advisor::new(file, model, options)?.advise()
}

struct Advisor<'a> {
    file: &'a ModelFile,
    model: &'a Model,
    options: &'a AdvisorOptions<'a>,
    started: Instant,
    steps: u64,
    candidates: Candidates,
    reference: Reference,
    prices: Prices,
    present: Cost,
    not_predicted: Option<NotPredicted>,
    not_tried: Vec<String>,
}

impl<'a> Advisor<'a> {
    fn new(
        file: &'a ModelFile,
        model: &'a Model,
        options: &'a AdvisorOptions<'a>,
    ) -> Result<Self, StudyError> {
        let started = Instant::now();
        let tell = |what: &str| options.progress.iter().for_each(|tell| tell(what));
        let steps = model.steps().min(STEPS);
        tell("the reference");
        let mut simulation = model.simulation()?;
        if simulation.connections().is_empty() {
            return Err(StudyError::NothingToAdvise {
                model: model.name().into(),
            });
        }
        let steps = steps.min(((WORK / work(&mut simulation)) as u64).max(FEWEST_STEPS));
        let candidates = Candidates::of(file, model, &simulation);
        let limits = Limits {
            until: started + options.granted.mul_f64(REFERENCE_SHARE),
            cancel: options.cancel,
        };
        let reference = Reference::of(model, steps, limits)?;
        let free = Prices {
            advance: 1.0,
            exchange: 1.0,
        };
        let not_tried = vec![
            "other coupling variables, which need other ports in the file".to_owned(),
            "predictors that learn, whose stability is not decided by any analysis".to_owned(),
            "other micro steps, which change the parts themselves".to_owned(),
        ];
        Ok(Self {
            file,
            model,
            options,
            started,
            steps,
            candidates,
            reference,
            prices: options.prices.unwrap_or(free),
            present: Cost::unit(),
            not_predicted: None,
            not_tried,
        })
    }

    fn tell(&self, what: &str) {
        if let Some(tell) = self.options.progress {
            tell(what);
        }
    }

    fn limits(&self, share: f64) -> Limits<'a> {
        Limits {
            until: self.started + self.options.granted.mul_f64(share),
            cancel: self.options.cancel,
        }
    }

    fn advise(mut self) -> Result<Recommendation, StudyError> {
        let mut all: Vec<Assessed> = self.candidates.all.iter().map(Assessed::of).collect();
        self.tell(AS_IT_IS);
        self.run(0, &mut all[0])?;
        self.predict_all(&mut all)?;
        let order = self.distinct(&all);
        let mut checked = vec![0];
        let (first, later) = order.split_at(order.len().min(self.options.checked));
        for (rank, &index) in first.iter().enumerate() {
            if !self.limits(1.0).has_time() {
                let left = first.len() - rank;
                self.not_tried
                    .push(format!("runs of {left} settings, for lack of time"));
                break;
            }
            self.check(index, &mut all, &mut checked)?;
        }
        self.run_instead(&mut all, &mut checked)?;
        self.judge(0, &mut all[0])?;
        let mut sound = self.judge_best(&mut all, &checked)?;
        for &index in later {
            if sound >= SOUND || !self.limits(1.0).has_time() {
                break;
            }
            self.check(index, &mut all, &mut checked)?;
            self.judge(index, &mut all[index])?;
            sound += usize::from(all[index].is_sound());
        }
        let present = all[0].clone();
        if !checked.iter().any(|&index| all[index].is_sound()) {
            let shorter = self.shorter_steps()?;
            checked.extend(all.len()..all.len() + shorter.len());
            all.extend(shorter);
        }
        Ok(self.recommendation(present, all, &checked))
    }

    /// Runs a candidate, unless that was done.
    fn check(
        &mut self,
        index: usize,
        all: &mut [Assessed],
        checked: &mut Vec<usize>,
    ) -> Result<(), StudyError> {
        if !checked.contains(&index) {
            self.tell(&all[index].name);
            self.run(index, &mut all[index])?;
            checked.push(index);
        }
        Ok(())
    }

    /// Analyses the stability of those that ran, the best first, until some are stable, and all that are as good as the best of
    /// these; counts them.
    fn judge_best(&self, all: &mut [Assessed], checked: &[usize]) -> Result<usize, StudyError> {
        let mut order: Vec<usize> = checked.to_vec();
        let key = |one: &Assessed| one.at_equal_cost().unwrap_or(f64::INFINITY);
        order.sort_by(|&a, &b| key(&all[a]).total_cmp(&key(&all[b])));
        let mut sound = 0;
        let mut alike = f64::INFINITY;
        for index in order {
            let is_enough = sound >= SOUND && key(&all[index]) > alike;
            if is_enough || !self.limits(1.0).has_time() {
                break;
            }
            if all[index].stability.is_none() && all[index].error().is_some() {
                self.tell(&all[index].name);
                self.judge(index, &mut all[index])?;
            }
            if all[index].is_sound() {
                sound += 1;
                // The simplest of those that are as good as the best is advised.
                alike = alike.min(ALIKE * key(&all[index]));
            }
        }
        Ok(sound)
    }

    /// Predicts what can be predicted.
    fn predict_all(&mut self, all: &mut [Assessed]) -> Result<(), StudyError> {
        let limits = self.limits(PREDICTION_SHARE);
        let Some(plain) = &self.candidates.plain else {
            self.not_predicted = Some(NotPredicted::Special("more than samples"));
            return Ok(());
        };
        self.tell("linear models of the parts");
        let parts = match linear_parts(plain, &self.reference, self.steps as usize, limits) {
            Ok(parts) => parts,
            Err(reason) => {
                self.not_predicted = Some(reason);
                return Ok(());
            }
        };
        let mut missed = 0;
        for (index, assessed) in all.iter_mut().enumerate() {
            if !self.candidates.all[index].is_plain {
                continue;
            }
            if !limits.has_time() {
                missed += 1;
                continue;
            }
            self.tell(&assessed.name);
            let candidate = &self.candidates.all[index];
            if let Some((error, cost)) =
                self.predicted(&candidate.model, &parts, &self.reference, self.steps)?
            {
                assessed.predicted = Some(error);
                assessed.cost = Some(cost.at(self.prices, self.present));
            }
        }
        if missed > 0 {
            self.not_tried.push(format!(
                "the analysis of {missed} settings, for lack of time"
            ));
        }
        self.predict_orders(all, limits)
    }

    /// The error of linear parts under the schedule and the predictors of a model, and what it costs; nothing where that
    /// does not come to its end.
    fn predicted(
        &self,
        model: &Model,
        parts: &[Arc<LinearPart>],
        reference: &Reference,
        steps: u64,
    ) -> Result<Option<(f64, Cost)>, StudyError> {
        let mut simulation = model.simulation()?;
        if simulation.names().count() != parts.len() {
            return Ok(None);
        }
        for (index, part) in parts.iter().enumerate() {
            let id = SubsystemId(index);
            let stand_in = StandIn::new(simulation.ports(id), Arc::clone(part));
            simulation.replace(id, Box::new(stand_in));
        }
        simulation.track_work(false);
        let found = off(&mut simulation, model, reference, steps, self.limits(1.0))?;
        let Ok(Off { error, summary, .. }) = found else {
            return Ok(None);
        };
        let cost = Cost::counted(&simulation, &summary);
        Ok(error.is_finite().then_some((error, cost)))
    }

    /// How errors fall with the step, of the best among those that cost more or less than the model as it is.
    fn predict_orders(
        &mut self,
        all: &mut [Assessed],
        limits: Limits<'_>,
    ) -> Result<(), StudyError> {
        let order = self.ranked(all);
        let is_other = |index: &usize| {
            all[*index]
                .cost
                .is_some_and(|cost| (cost.relative - 1.0).abs() > 0.01)
        };
        let wanted: Vec<usize> = order.into_iter().filter(is_other).take(ORDERED).collect();
        if wanted.is_empty() || !limits.has_time() {
            return Ok(());
        }
        let Some(half) = self.half(limits)? else {
            return Ok(());
        };
        for index in wanted {
            if !limits.has_time() {
                return Ok(());
            }
            let Some(model) = self.with_half_step(&all[index].settings) else {
                continue;
            };
            let Some(error) = all[index].predicted else {
                continue;
            };
            if let Some((finer, _)) =
                self.predicted(&model, &half.parts, &half.reference, 2 * self.steps)?
            {
                all[index].order = order_of(error, finer);
            }
        }
        Ok(())
    }

    fn half_step(&self) -> (String, String) {
        (
            "simulation.step".into(),
            (0.5 * self.model.step()).to_string(),
        )
    }

    fn with_half_step(&self, settings: &Settings) -> Option<Model> {
        let file = self.file.with(settings).with(&[self.half_step()]);
        file.read().ok()
    }

    /// The parts at half the step; nothing where they cannot be had.
    fn half(&self, limits: Limits<'_>) -> Result<Option<Half>, StudyError> {
        let file = self.file.with(&[self.half_step()]);
        let Ok(model) = file.read() else {
            return Ok(None);
        };
        let Ok(simulation) = model.simulation() else {
            return Ok(None);
        };
        let Some(plain) = Candidates::plain_of(&file, &model, &simulation) else {
            return Ok(None);
        };
        let reference = match self.reference.at_half_step(&model) {
            Some(reference) => reference,
            None => Reference::of(&model, 2 * self.steps, limits)?,
        };
        let parts = linear_parts(&plain, &reference, 2 * self.steps as usize, limits);
        Ok(parts.ok().map(|parts| Half { parts, reference }))
    }

    /// Candidates with a prediction, the best first.
    fn ranked(&self, all: &[Assessed]) -> Vec<usize> {
        let key = |index: usize| {
            let one = &all[index];
            let relative = one.cost.map_or(1.0, |cost| cost.relative);
            // What costs more and whose order is not known yet is taken for one of second order.
            let order = one.order.unwrap_or(2.0);
            let error = one.predicted.unwrap_or(f64::INFINITY).max(ROUNDING);
            error * relative.powf(order)
        };
        let mut order = order_by(all.len(), key);
        order.retain(|&index| all[index].predicted.is_some());
        order
    }

    /// Those of them that differ: what is predicted to do the same as a better one is not run.
    fn distinct(&self, all: &[Assessed]) -> Vec<usize> {
        let mut distinct: Vec<usize> = Vec::new();
        let is_everything = self.options.checked >= all.len();
        for index in self.ranked(all) {
            let error = |index: usize| all[index].predicted.unwrap_or(f64::INFINITY);
            let same = |&other: &usize| {
                let (a, b) = (error(index), error(other));
                (a - b).abs() <= SAME * a.max(b).max(ROUNDING / SAME)
            };
            if is_everything || index == 0 || !distinct.iter().any(same) {
                distinct.push(index);
            }
        }
        distinct
    }

    /// Runs a candidate, and one of another cost with half the step as well.
    fn run(&mut self, index: usize, assessed: &mut Assessed) -> Result<(), StudyError> {
        let model = self.candidates.all[index].model.clone();
        let (shown, cost) = self.shown(&model, index == 0)?;
        assessed.cost = cost.map(|cost| cost.at(self.prices, self.present));
        let (error, cost) = (shown.error, assessed.cost);
        assessed.run = Some(shown);
        let is_other = cost.is_some_and(|cost| (cost.relative - 1.0).abs() > 0.01);
        if let Some(error) = error
            && is_other
            && self.limits(1.0).has_time()
            && let Some(model) = self.with_half_step(&assessed.settings)
        {
            let limits = self.limits(1.0);
            let reference = match self.reference.at_half_step(&model) {
                Some(reference) => reference,
                None => Reference::of(&model, 2 * self.steps, limits)?,
            };
            let mut simulation = model.simulation()?;
            let finer = off(&mut simulation, &model, &reference, 2 * self.steps, limits)?;
            assessed.order = finer.ok().and_then(|finer| order_of(error, finer.error));
        }
        Ok(())
    }

    /// What a run of a model shows. That of the model as it is says what things cost.
    fn shown(
        &mut self,
        model: &Model,
        is_present: bool,
    ) -> Result<(Shown, Option<Cost>), StudyError> {
        let mut simulation = model.simulation()?;
        let limits = self.limits(1.0);
        let found = off(&mut simulation, model, &self.reference, self.steps, limits)?;
        let found = match found {
            Ok(found) => found,
            Err(fault) => {
                let shown = Shown {
                    error: None,
                    signal: String::new(),
                    fault: Some(fault.to_string()),
                    interface: None,
                    share: None,
                };
                return Ok((shown, None));
            }
        };
        let summary = &found.summary;
        let cost = Cost::counted(&simulation, summary);
        if is_present {
            self.present = cost;
            if self.options.prices.is_none() {
                self.prices = Prices::measured(&simulation, summary, cost);
            }
        }
        let most = summary
            .created
            .iter()
            .max_by(|a, b| a.created.abs().total_cmp(&b.created.abs()));
        let shown = Shown {
            error: Some(found.error),
            signal: found.signal,
            fault: None,
            interface: most.map(|one| (one.interface.clone(), one.created)),
            share: most.and_then(|one| one.share),
        };
        Ok((shown, Some(cost)))
    }

    /// What the stability analysis says.
    fn judge(&self, index: usize, assessed: &mut Assessed) -> Result<(), StudyError> {
        let model = &self.candidates.all[index].model;
        self.judge_model(model, assessed)
    }

    fn judge_model(&self, model: &Model, assessed: &mut Assessed) -> Result<(), StudyError> {
        self.limits(1.0).allow()?;
        let left = (self.started + self.options.granted).saturating_duration_since(Instant::now());
        // One that takes long is no reason to decide nothing on all others.
        let left = left.mul_f64(VERDICT_SHARE);
        let file = self.file.with(&assessed.settings);
        let case = Case {
            model,
            file: &file,
            subject: Subject::Coupling,
            start: None,
        };
        if let Ok((_, verdict)) = case.spectrum(Some(left)) {
            assessed.stability = Some(verdict.decision());
            let interface = verdict.interface.clone();
            assessed.mode = Some((verdict.growth, verdict.frequency, interface));
        }
        Ok(())
    }

    /// Candidates that were not predicted are run.
    fn run_instead(
        &mut self,
        all: &mut [Assessed],
        checked: &mut Vec<usize>,
    ) -> Result<(), StudyError> {
        let open: Vec<usize> = (1..all.len())
            .filter(|&index| all[index].predicted.is_none() && !checked.contains(&index))
            .collect();
        // What was predicted to fail is no candidate where others were predicted to work.
        let was_analysed = self.not_predicted.is_none();
        let plain = |index: &usize| self.candidates.all[*index].is_plain;
        let mut open: Vec<usize> = open
            .into_iter()
            .filter(|index| !(was_analysed && plain(index)))
            .collect();
        // What is special comes first: there is less of it.
        open.sort_by_key(|index| plain(index));
        let most = RUN_INSTEAD.max(self.options.checked);
        for (done, &index) in open.iter().enumerate() {
            if done == most || !self.limits(1.0).has_time() {
                let left = open.len() - done;
                self.not_tried.push(format!(
                    "{left} settings that could not be predicted and were not run"
                ));
                break;
            }
            self.check(index, all, checked)?;
        }
        Ok(())
    }

    /// The same coupling with shorter steps, where nothing else is sound.
    fn shorter_steps(&mut self) -> Result<Vec<Assessed>, StudyError> {
        for n in 1..=HALVINGS {
            if !self.limits(1.0).has_time() {
                self.not_tried
                    .push("shorter macro steps, for lack of time".into());
                return Ok(Vec::new());
            }
            let finer = 2_f64.powi(n);
            let step = (self.model.step() / finer).to_string();
            let settings: Settings = vec![("simulation.step".into(), step)];
            let Ok(model) = self.file.with(&settings).read() else {
                continue;
            };
            let name = format!("macro step / {finer}");
            self.tell(&name);
            let candidate = Candidate {
                name,
                settings,
                model,
                is_plain: false,
            };
            let mut assessed = Assessed::of(&candidate);
            let limits = self.limits(1.0);
            let steps = self.steps * finer as u64;
            let Ok(reference) = Reference::of(&candidate.model, steps, limits) else {
                continue;
            };
            let mut simulation = candidate.model.simulation()?;
            let found = off(&mut simulation, &candidate.model, &reference, steps, limits)?;
            let Ok(found) = found else {
                continue;
            };
            let mut cost = Cost::counted(&simulation, &found.summary);
            cost.steps = finer;
            assessed.cost = Some(cost.at(self.prices, self.present));
            assessed.run = Some(Shown {
                error: Some(found.error),
                signal: found.signal,
                fault: None,
                interface: None,
                share: None,
            });
            self.judge_model(&candidate.model, &mut assessed)?;
            if assessed.is_sound() {
                return Ok(vec![assessed]);
            }
        }
        Ok(Vec::new())
    }

    /// Only the changes that change something.
    fn reduce(&self, assessed: &mut Assessed) {
        for place in (0..assessed.settings.len()).rev() {
            let change = assessed.settings.remove(place);
            let read = self.file.with(&assessed.settings).read();
            let is_idle = read.is_ok_and(|model| model.solution_digest() == assessed.digest);
            if !is_idle {
                assessed.settings.insert(place, change);
            }
        }
    }

    fn recommendation(
        self,
        present: Assessed,
        all: Vec<Assessed>,
        checked: &[usize],
    ) -> Recommendation {
        let (mut choices, mut unsound, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (index, mut assessed) in all.into_iter().enumerate() {
            let was_run = checked.contains(&index);
            let has_failed = assessed.run.as_ref().is_some_and(|run| run.error.is_none());
            if was_run && (has_failed || assessed.stability.is_some()) {
                self.reduce(&mut assessed);
                match assessed.is_sound() {
                    true => choices.push(assessed),
                    false => unsound.push(assessed),
                }
            } else if was_run || assessed.predicted.is_some() {
                others.push(assessed);
            }
        }
        // What the reference does not resolve is no difference.
        let floor = (2.0 * self.reference.error.unwrap_or(0.0)).max(ROUNDING);
        let key = |one: &Assessed| one.at_equal_cost_above(floor).unwrap_or(f64::INFINITY);
        choices.sort_by(|a, b| key(a).total_cmp(&key(b)));
        simplest_first(&mut choices, key);
        others.sort_by(|a, b| key(a).total_cmp(&key(b)));
        Recommendation {
            model: self.model.name().into(),
            steps: self.steps,
            duration: self.steps as f64 * self.model.step(),
            of_steps: self.model.steps(),
            is_cut_short: Instant::now() >= self.started + self.options.granted,
            reference: self.reference.kind.word(),
            reference_error: self.reference.error,
            present,
            choices,
            unsound,
            others,
            left_out: self.candidates.left_out,
            alike: self.candidates.alike,
            not_predicted: self.not_predicted.map(|reason| reason.to_string()),
            not_tried: self.not_tried,
        }
    }
}

/// Parts with half the macro step.
struct Half {
    parts: Vec<Arc<LinearPart>>,
    reference: Reference,
}

/// How an error falls that has come to another one with half the step.
fn order_of(error: f64, finer: f64) -> Option<f64> {
    let order = (error / finer).log2();
    // Of rounding there is no order.
    (order.is_finite() && error > ROUNDING).then(|| order.clamp(ORDERS[0], ORDERS[1]))
}

/// The places of some things by a key, equal ones as they stand.
fn order_by(count: usize, key: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    order
}

/// Among the choices that are as good as the best, that with the fewest changes and the least cost comes first.
fn simplest_first(choices: &mut [Assessed], key: impl Fn(&Assessed) -> f64) {
    let Some(best) = choices.first().map(&key) else {
        return;
    };
    let alike = choices
        .iter()
        .take_while(|one| key(one) <= ALIKE * best)
        .count();
    let cost = |one: &Assessed| one.cost.map_or(f64::INFINITY, |cost| cost.relative);
    choices[..alike].sort_by(|a, b| {
        let changes = a.settings.len().cmp(&b.settings.len());
        changes.then(cost(a).total_cmp(&cost(b)))
    });
}

impl Serialize for Assessed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Mode<'a> {
            growth: f64,
            frequency: f64,
            interface: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Data<'a> {
            name: &'a str,
            set: Vec<String>,
            predicted_error: Option<f64>,
            run: Option<&'a Shown>,
            error_at_equal_cost: Option<f64>,
            order: Option<f64>,
            cost: Option<Cost>,
            decision: Option<&'static str>,
            mode: Option<Mode<'a>>,
        }
        let mode = self.mode.as_ref();
        let data = Data {
            name: &self.name,
            set: self
                .settings
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect(),
            predicted_error: self.predicted,
            run: self.run.as_ref(),
            error_at_equal_cost: self.at_equal_cost(),
            order: self.order,
            cost: self.cost,
            decision: self.stability.map(decision_word),
            mode: mode.map(|(growth, frequency, interface)| Mode {
                growth: *growth,
                frequency: *frequency,
                interface: interface.as_deref(),
            }),
        };
        data.serialize(serializer)
    }
}
