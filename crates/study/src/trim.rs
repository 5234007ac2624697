//! The steady motion of a model: found by shooting, kept in a file, and where runs begin.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use oldham_cosim::{Cancel, Checkpoint, Column, Simulation};
use oldham_model::{Model, Problems, Template, matching};
use oldham_stability::{
    AnalysisError, Decision, Free, Going, Held, Maker, Multipliers, Shooting, ShootingError,
    ShootingProgress, SteadyMotion,
};
use serde::{Deserialize, Serialize};

use crate::advice::{decision_word, refuse_learner};
use crate::run::digest;
use crate::{ModelFile, Settings, StudyError};

/// What the period is called where it is found.
const PERIOD: &str = "period";
/// How far from the real axis, as a share of itself, a multiplier is one of a pair.
const NOT_REAL: f64 = 1e-6;

/// What a steady motion is looked for, besides what the model says.
#[derive(Clone, Debug, Default)]
pub struct TrimOptions {
    /// Signals that are held, with their values; they go over those of the model.
    pub hold: Vec<(String, f64)>,
    /// Further parameters that are found.
    pub free: Vec<String>,
    /// Period in s.
    pub period: Option<f64>,
    /// The period is only where the search for it begins.
    pub finds_period: bool,
    /// Seconds that the model runs before.
    pub settle: Option<f64>,
    /// How long the search may take.
    pub granted: Option<Duration>,
    /// Ends it: what was reached is kept.
    pub cancel: Option<Cancel>,
    /// Of the monolithic model instead of the coupled one.
    pub monolithic: bool,
}

impl TrimOptions {
    /// An error if they do not fit a model: names that are none, what cannot be held, a period that is missing.
    pub fn check(&self, file: &ModelFile, model: &Model) -> Result<(), StudyError> {
        let plan = Plan::new(file, model, self)?;
        let probe = plan.built(&plan.file.read()?)?;
        held(model, self, probe.columns()).map(|_| ())
    }
}

/// A quantity of a steady motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// What it is called.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// What becomes of a small difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Real and imaginary part of what it is multiplied by over a period.
    pub multiplier: [f64; 2],
    /// Its size.
    pub radius: f64,
    /// How far that may be off.
    pub error: f64,
    /// Growth rate in 1/s.
    pub growth: f64,
    /// Frequency in Hz, but for a whole number of turns a period.
    pub frequency: f64,
}

/// How a difference from a periodic motion grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growing {
    /// It changes its sign from period to period: no motion with constant coefficients does.
    HalfTheFrequency,
    /// It grows in step with the period.
    InStep,
    /// It vibrates with a frequency of its own.
    Vibrating,
}

impl Growing {
    fn of(multiplier: &Factor) -> Self {
        let [re, im] = multiplier.multiplier;
        match (
            im.abs() > multiplier.error.max(NOT_REAL * multiplier.radius),
            re < 0.0,
        ) {
            (true, _) => Self::Vibrating,
            (false, true) => Self::HalfTheFrequency,
            (false, false) => Self::InStep,
        }
    }

    /// As the end of a sentence about what grows.
    pub fn describe(self) -> &'static str {
        match self {
            Self::HalfTheFrequency => {
                "with half the frequency of the period: principal parametric resonance"
            }
            Self::InStep => {
                "in step with the period: parametric resonance, unless the motion is also left where nothing excites it"
            }
            Self::Vibrating => {
                "with a frequency of its own: flutter, or a combination resonance of two vibrations"
            }
        }
    }
}

/// A steady motion of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trim {
    /// Title of the model.
    pub model: String,
    /// Period in s; of what is constant from step to step, the time over which it was found to be.
    pub duration: f64,
    /// Macro steps of that.
    pub steps: u64,
    /// Macro step in s.
    pub step: f64,
    /// Macro steps that the state is after the start of the run that begins with it.
    pub filling: u64,
    /// Whether it repeats itself after a period, and not from step to step.
    pub is_periodic: bool,
    /// Parameters that were found.
    pub found: Vec<Quantity>,
    /// What is held.
    pub held: Vec<Quantity>,
    /// The most that changes over a period and should not, relative to the state.
    pub residual: f64,
    /// The part in which that is.
    pub worst: String,
    /// The same over the next period: it is larger where loads change with time.
    pub after: f64,
    /// Velocity in m/s of what is carried along.
    pub velocity: [f64; 3],
    /// Angular velocity of everything in rad/s.
    pub turning: [f64; 3],
    /// Fastest spin of anything besides, in rad/s.
    pub spin: f64,
    /// Directions in which nothing resists.
    pub drifts: usize,
    /// `stable`, `unstable` or `not decided`.
    pub verdict: String,
    /// How the fastest difference from a periodic motion grows, if one does.
    #[serde(default)]
    pub growing: Option<Growing>,
    /// Why nothing is known about small differences, if so.
    pub unknown: Option<String>,
    /// The largest first.
    pub multipliers: Vec<Factor>,
    /// Steps of Newton's method.
    pub iterations: usize,
    /// Macro steps that the search took.
    pub macro_steps: u64,
    /// Coordinates of the state.
    pub coordinates: usize,
    /// Changes of the model with which the state can be run.
    pub settings: Settings,
    /// Whether the search for it was ended before it was found.
    #[serde(default)]
    pub is_unfinished: bool,
    /// Whether it is that of the monolithic model.
    #[serde(default)]
    pub is_monolithic: bool,
}

/// A steady motion in a file.
#[derive(Debug)]
pub struct TrimmedFile {
    /// What is known of it.
    pub trim: Trim,
    checkpoint: Checkpoint,
}

impl TrimmedFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let found = Self::read_any(path)?;
        match found.trim.is_unfinished {
            true => Err(StudyError::NotFinished { path: path.into() }),
            false => Ok(found),
        }
    }

    /// Reads what a search that was ended has reached for this very model, if the file holds that.
    pub fn read_unfinished(path: &Path, file: &ModelFile) -> Option<Self> {
        let reached = Self::read_any(path).ok()?;
        let applied = reached.applied(file);
        let model = applied.read().ok()?;
        (reached.trim.is_unfinished && reached.is_of(&applied, &model)).then_some(reached)
    }

    fn read_any(path: &Path) -> Result<Self, StudyError> {
        let checkpoint = Checkpoint::read(path)?;
        let trim = checkpoint
            .note()
            .and_then(|note| serde_json::from_str(note).ok());
        let trim = trim.ok_or_else(|| StudyError::NotTrimmed { path: path.into() })?;
        Ok(Self { trim, checkpoint })
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), StudyError> {
        Ok(self.checkpoint.write(path)?)
    }

    /// The model as it starts with this state, for as long as it is to run.
    pub fn applied(&self, file: &ModelFile) -> ModelFile {
        let applied = file.with(&self.trim.settings);
        let Ok(model) = file.read() else {
            return applied;
        };
        let steps = (model.duration() / self.trim.step).round().max(1.0) + self.trim.filling as f64;
        applied.set("simulation.duration", steps * self.trim.step)
    }

    /// The simulation that begins with it, of the [applied](Self::applied) model.
    pub fn simulation(&self, model: &Model) -> Result<Simulation, StudyError> {
        let mut simulation = match self.trim.is_monolithic {
            true => model.monolithic(None)?,
            false => model.simulation()?,
        };
        self.restore(&mut simulation)?;
        Ok(simulation)
    }

    /// Puts a simulation of the [applied](Self::applied) model into this state. Parameters may be others than those
    /// that it was found with: then it is where the motion begins, and not steady.
    pub fn restore(&self, simulation: &mut Simulation) -> Result<(), StudyError> {
        Ok(simulation.restore(&self.checkpoint, self.checkpoint.model())?)
    }

    /// Whether it was found for this very model.
    pub fn is_of(&self, file: &ModelFile, model: &Model) -> bool {
        self.checkpoint.model() == digest(file, model, self.trim.is_monolithic)
    }
}

/// Looks for the steady motion of a model.
pub fn trim(
    file: &ModelFile,
    model: &Model,
    options: &TrimOptions,
    progress: impl FnMut(ShootingProgress),
) -> Result<TrimmedFile, StudyError> {
    trim_from(file, model, options, None, progress)
}

/// The same from a steady motion that was found for other parameters, or from what a search that was ended has reached.
pub fn trim_from(
    file: &ModelFile,
    model: &Model,
    options: &TrimOptions,
    before: Option<&TrimmedFile>,
    progress: impl FnMut(ShootingProgress),
) -> Result<TrimmedFile, StudyError> {
    refuse_learner(model)?;
    let plan = Plan::new(file, model, options)?;
    let probe = plan.built(&plan.file.read()?)?;
    let held = held(model, options, probe.columns())?;
    drop(probe);
    let value = |name: &String| {
        let found = before.and_then(|before| {
            let mut found = before.trim.found.iter();
            found.find(|quantity| quantity.name == *name)
        });
        let own = model.parameter(name).unwrap_or_default();
        found.map_or(own, |quantity| quantity.value)
    };
    let mut free: Vec<Free> = plan
        .names
        .iter()
        .map(|name| Free {
            name: name.clone(),
            value: value(name),
        })
        .collect();
    if plan.finds_period {
        let guess = plan.step * plan.steps.unwrap_or(1) as f64;
        free.push(Free {
            name: PERIOD.into(),
            value: before.map_or(guess, |before| before.trim.duration),
        });
    }
    let settle = options.settle.unwrap_or(model.trim_settling());
    let reached = RefCell::new(None);
    let search = Shooting {
        make: plan.maker(),
        held: held.clone(),
        free,
        period: plan.steps,
        drifting: !plan.finds_period,
        initial: before.map(|before| (before.checkpoint.state().clone(), before.trim.filling)),
        settling: (settle / plan.step).round() as u64,
        granted: options.granted,
        progress: Box::new(progress),
        reached: Box::new(|motion| {
            reached.replace(Some(motion));
        }),
        cancel: options.cancel.clone(),
    };
    match search.solve() {
        Ok(found) => plan.conclude(model, &held, found, false),
        Err(why) if why.is_unfinished() => {
            let reached = reached.into_inner();
            let reached = reached.map(|motion| plan.conclude(model, &held, motion, true));
            let reached = reached.transpose()?;
            Err(StudyError::Unfinished(Box::new(Unfinished {
                why,
                reached,
            })))
        }
        Err(error) => Err(error.into()),
    }
}

/// A search that was ended.
#[derive(Debug)]
pub struct Unfinished {
    /// Why.
    pub why: ShootingError,
    /// What was reached, from which the next one [goes on](trim_from).
    pub reached: Option<TrimmedFile>,
}

impl Unfinished {
    /// Whether it was interrupted, and not just out of time.
    pub fn was_interrupted(&self) -> bool {
        self.why == ShootingError::Analysis(AnalysisError::Interrupted)
    }
}

/// What is held, by the model and by who asks.
fn held(model: &Model, options: &TrimOptions, columns: &[Column]) -> Result<Vec<Held>, StudyError> {
    let given = |name: &str| options.hold.iter().any(|(other, _)| other == name);
    let own = model.held_in_trim().filter(|(name, _)| !given(name));
    let all = own.map(|(name, value)| (name.to_owned(), value));
    let all = all.chain(options.hold.iter().cloned());
    all.map(|(name, value)| {
        let places = matching(columns, &name);
        match places[..] {
            [] => {
                let known = columns.iter().map(|column| column.name.as_str());
                Err(StudyError::unknown("signal", &name, known))
            }
            [column] => Ok(Held {
                name,
                column,
                value,
            }),
            _ => {
                let parts: Vec<&str> = places
                    .iter()
                    .map(|&place| columns[place].name.as_str())
                    .collect();
                let why = format!("it has several components: {}", parts.join(", "));
                Err(StudyError::NotHoldable { name, why })
            }
        }
    })
    .collect()
}

fn free(model: &Model, options: &TrimOptions) -> Result<Vec<String>, StudyError> {
    let mut names = model.free_in_trim().to_vec();
    for name in &options.free {
        if model.parameter(name).is_none() {
            return Err(StudyError::unknown("parameter", name, model.parameters()));
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// How the model is stepped.
struct Plan {
    file: ModelFile,
    /// Parameters that are found; the period comes after them where it is.
    names: Vec<String>,
    start: f64,
    step: f64,
    duration: f64,
    /// Macro steps of a period.
    steps: Option<u64>,
    finds_period: bool,
    monolithic: bool,
}

impl Plan {
    fn new(file: &ModelFile, model: &Model, options: &TrimOptions) -> Result<Self, StudyError> {
        let period = options.period.or(model.trim_period());
        let finds_period = options.finds_period || model.trim_finds_period();
        if finds_period && period.is_none() {
            return Err(StudyError::NoPeriod);
        }
        let steps = period.map(|period| (period / model.step()).round().max(1.0));
        Ok(Self {
            file: file.clone(),
            names: free(model, options)?,
            start: model.start(),
            step: match (period, steps) {
                (Some(period), Some(steps)) => period / steps,
                _ => model.step(),
            },
            duration: model.duration(),
            steps: steps.map(|steps| steps as u64),
            finds_period,
            monolithic: options.monolithic,
        })
    }

    /// What is searched.
    fn built(&self, model: &Model) -> Result<Simulation, Problems> {
        match self.monolithic {
            true => model.monolithic(None),
            false => model.simulation(),
        }
    }

    /// The macro step with values of what is free.
    fn step(&self, free: &[f64]) -> f64 {
        match (self.steps, free.last()) {
            (Some(steps), Some(period)) if self.finds_period => period / steps as f64,
            _ => self.step,
        }
    }

    /// Changes with which a run begins so many steps before the start.
    fn clock(&self, filling: u64, step: f64) -> Settings {
        let steps = (self.duration / step).round().max(1.0) + filling as f64;
        let setting = |key: &str, value: f64| (format!("simulation.{key}"), value.to_string());
        vec![
            setting("step", step),
            setting("start", self.start - filling as f64 * step),
            setting("duration", steps * step),
        ]
    }

    /// All changes for values of what is free.
    fn settings(&self, filling: u64, free: &[f64]) -> Settings {
        let mut settings = self.clock(filling, self.step(free));
        let values = self.names.iter().zip(free);
        settings.extend(values.map(|(name, value)| (name.clone(), value.to_string())));
        settings
    }

    fn maker(&self) -> Maker<'_> {
        let mut kept: Option<(u64, Template)> = None;
        Box::new(move |free: &[f64], filling: u64| {
            let not_built = |error: Problems| AnalysisError::NotBuilt(error.to_string());
            if kept.as_ref().is_none_or(|(of, _)| *of != filling) {
                let file = self.file.with(&self.clock(filling, self.step));
                kept = Some((filling, file.template().map_err(not_built)?));
            }
            let (_, template) = kept.as_ref().expect("just made");
            let is_plain = self.names.iter().all(|name| template.has_parameter(name));
            let model = match is_plain && !self.finds_period {
                true => {
                    let names = self.names.iter().map(String::as_str);
                    template.with(&names.zip(free.iter().copied()).collect::<Vec<_>>())
                }
                false => self.file.with(&self.settings(filling, free)).read(),
            };
            self.built(&model.map_err(not_built)?).map_err(not_built)
        })
    }

    fn conclude(
        &self,
        model: &Model,
        held: &[Held],
        found: SteadyMotion,
        is_unfinished: bool,
    ) -> Result<TrimmedFile, StudyError> {
        let settings = self.settings(found.filling, &found.free);
        let run = self.file.with(&settings);
        let run_model = run.read()?;
        let mut simulation = self.built(&run_model)?;
        found.state.restore(&mut simulation);
        simulation.begin_energy_here().map_err(StudyError::Run)?;
        let checkpoint = simulation.checkpoint(&digest(&run, &run_model, self.monolithic))?;
        let Multipliers {
            ref values,
            ref unknown,
            duration,
            ..
        } = found.multipliers;
        let multipliers = values.iter().map(|one| {
            let pole = found.multipliers.pole(one);
            Factor {
                multiplier: [one.value.re, one.value.im],
                radius: one.value.norm(),
                error: one.error,
                growth: pole.re,
                frequency: pole.im / std::f64::consts::TAU,
            }
        });
        let multipliers: Vec<Factor> = multipliers.collect();
        let is_left = found.multipliers.decision() == Decision::Unstable && self.steps.is_some();
        let quantity = |name: &String, value: f64| Quantity {
            name: name.clone(),
            value,
        };
        let Going {
            velocity,
            turning,
            spin,
            drifts,
        } = found.going;
        let trim = Trim {
            model: model.name().into(),
            duration,
            steps: found.period,
            step: self.step(&found.free),
            filling: found.filling,
            is_periodic: self.steps.is_some(),
            found: self
                .names
                .iter()
                .zip(&found.free)
                .map(|(name, value)| quantity(name, *value))
                .collect(),
            held: held
                .iter()
                .zip(&found.held)
                .map(|(held, value)| quantity(&held.name, *value))
                .collect(),
            residual: found.residual,
            worst: found.worst,
            after: found.after,
            velocity,
            turning,
            spin,
            drifts,
            verdict: decision_word(found.multipliers.decision()).into(),
            unknown: unknown.clone(),
            growing: is_left.then(|| Growing::of(&multipliers[0])),
            multipliers,
            iterations: found.iterations,
            macro_steps: found.steps,
            coordinates: found.dimension,
            settings,
            is_unfinished,
            is_monolithic: self.monolithic,
        };
        let note = serde_json::to_string(&trim).expect("plain data");
        Ok(TrimmedFile {
            trim,
            checkpoint: checkpoint.with_note(note),
        })
    }
}
