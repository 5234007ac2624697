//! A model that was read and checked.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use oldham_control::Controller;
use oldham_cosim::{InputPort, OutputPort, Scale, Schedule, Subsystem};
use oldham_expression::Expression;
use oldham_lumped::{Integrator, Spec};
use oldham_multibody::Vec3;
use oldham_prediction::RateExtrapolation;

use crate::compensation::gains::Gains;
use crate::data::DataFile;
use crate::extensions::{Extensions, ForeignPart, PredictorFactory};
use crate::mechanism::{Cutting, MechanismSpec};
use crate::overrides::Overrides;
use crate::problem::Problems;
use crate::read;
use crate::source::{Source, Span};

/// A checked model, from which simulations are made.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) source: Source,
    pub(crate) spec: ModelSpec,
}

/// What a model file says, in the engine's terms.
#[derive(Clone, Debug)]
pub(crate) struct ModelSpec {
    pub name: String,
    pub description: Option<String>,
    pub clock: Clock,
    /// By name.
    pub parameters: Vec<(String, f64)>,
    pub energy_bound: f64,
    pub threads: usize,
    pub parts: Vec<PartSpec>,
    pub connections: Vec<ConnectionSpec>,
    pub drives: Vec<DrivenInput>,
    pub compensators: Vec<CompensatorSpec>,
    pub schedule: Schedule,
    /// Subsystems advance one after the other.
    pub is_sequential: bool,
    pub monolithic_spec: MonolithicSpec,
    pub record: Record,
    pub trim: Trim,
    pub cockpit: Cockpit,
    /// Remarks that a user should read.
    pub notes: Vec<String>,
    /// Files that were read besides the model's own.
    pub data: Vec<DataFile>,
    /// What words of the file are called now.
    pub former_words: Option<String>,
    /// The length of which the macro step is a multiple, where micro steps are given by theirs.
    pub step_grain: Option<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub start: f64,
    pub step: f64,
    pub steps: u64,
    pub duration: f64,
    pub events: Vec<f64>,
}

/// A subsystem; its place among the parts is its identity in the schedule.
#[derive(Clone, Debug)]
pub(crate) struct PartSpec {
    pub name: String,
    pub span: Span,
    pub content: Content,
    /// How its inputs are predicted.
    pub prediction: Prediction,
    /// Whether it says so itself, whatever the schedule says.
    pub chooses_predictor: bool,
    /// Its own macro step in steps of the engine.
    pub every: u32,
}

/// What a subsystem is made of.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Lumped(Spec),
    Multibody(Box<MechanismSpec>),
    Control(Box<Controller>),
    Foreign(ForeignSpec),
}

/// A subsystem of a registered kind.
#[derive(Clone)]
pub(crate) struct ForeignSpec {
    pub kind: String,
    /// What its table says.
    pub settings: String,
    pub micro_steps: usize,
    pub part: Arc<dyn ForeignPart>,
}

impl ForeignSpec {
    /// A new solver, or why there is none: what comes from outside may panic.
    pub fn solver(&self) -> Result<Box<dyn Subsystem>, String> {
        let made = AssertUnwindSafe(|| self.part.solver(self.micro_steps));
        catch_unwind(made).unwrap_or_else(|panic| Err(panicked(&self.kind, panic.as_ref())))
    }
}

/// What to say of a kind whose program panicked.
pub(crate) fn panicked(kind: &str, panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "the program of `{kind}` panicked: {}",
        text.unwrap_or("no message")
    )
}

impl fmt::Debug for ForeignSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind, self.settings, self.micro_steps)
    }
}

impl PartSpec {
    pub fn lumped(&self) -> Option<&Spec> {
        match &self.content {
            Content::Lumped(spec) => Some(spec),
            _ => None,
        }
    }

    pub fn cutting(&self) -> Option<&Cutting> {
        match &self.content {
            Content::Multibody(spec) => spec.cutting.as_ref(),
            _ => None,
        }
    }

    pub fn set_micro_steps(&mut self, micro_steps: usize) {
        *match &mut self.content {
            Content::Lumped(spec) => &mut spec.micro_steps,
            Content::Multibody(spec) => &mut spec.micro_steps,
            Content::Foreign(spec) => &mut spec.micro_steps,
            // It takes the steps that its own accuracy needs.
            Content::Control(_) => return,
        } = micro_steps;
    }

    pub fn micro_steps(&self) -> usize {
        match &self.content {
            Content::Lumped(spec) => spec.micro_steps,
            Content::Multibody(spec) => spec.micro_steps,
            // Its steps are found as they are needed.
            Content::Control(_) => 1,
            Content::Foreign(spec) => spec.micro_steps,
        }
    }
}

/// From an output to an input, each with the place of its part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionSpec {
    pub from: (usize, OutputPort),
    pub to: (usize, InputPort),
    /// What is done to the value on its way.
    pub scale: Scale,
}

impl ConnectionSpec {
    /// What arrives of a number.
    pub fn received(&self, sent: f64) -> f64 {
        self.scale.gain * sent + self.scale.offset
    }

    /// The number of which this arrives.
    pub fn sent(&self, received: f64) -> f64 {
        (received - self.scale.offset) / self.scale.gain
    }
}

/// An input that is given as a function of time.
#[derive(Clone, Debug)]
pub(crate) struct DrivenInput {
    pub part: usize,
    pub port: InputPort,
    /// Where it is given.
    pub span: Span,
    pub course: Course,
    /// An external input.
    pub external: Option<ExternalInput>,
}

/// An input that is set from outside while a run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalInput {
    /// What it is called where it is set and recorded.
    pub name: String,
    /// Its numbers until it is set.
    pub initial: Vec<f64>,
    /// The lowest and the highest value that a driver gives its first number.
    pub range: [f64; 2],
    /// What whoever sets it feels.
    pub feedback: Option<Feedback>,
}

/// A recorded signal that is felt by somebody who sets an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Its column.
    pub signal: String,
    /// Its magnitude at full strength.
    pub full: f64,
}

/// What the driver and those who look on have before them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cockpit {
    /// Where they sit.
    pub seat: Option<Seat>,
    /// Instruments.
    pub gauges: Vec<Gauge>,
}

/// Where a driver sits.
#[derive(Clone, Debug, PartialEq)]
pub struct Seat {
    /// The node of the body that carries them, with its mechanism, such as `car.chassis`.
    pub node: String,
    /// Where their eye is, in node axes.
    pub eye: Option<Vec3>,
}

/// An instrument for a recorded signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// Its column.
    pub signal: String,
    /// What is written beside it.
    pub label: String,
    /// The unit that it is shown in, and how many SI units that is; the SI unit if none is given.
    pub unit: Option<(String, f64)>,
    /// The ends of its scale in that unit.
    pub range: Option<[f64; 2]>,
}

/// A function of time.
#[derive(Clone, Debug)]
pub(crate) enum Course {
    /// An expression of t for each component.
    Each(Vec<Expression>),
    /// An expression of t for the first component; the others are its derivatives.
    Differentiated(Expression),
}

/// What is done against the delay at an interface.
#[derive(Clone, Debug)]
pub(crate) struct CompensatorSpec {
    pub name: String,
    pub span: Span,
    /// The force that crosses the interface.
    pub force: (usize, OutputPort),
    /// A force input of its sender.
    pub correct: Option<InputPort>,
    pub way: Way,
    /// Designed in continuous time.
    pub continuous: bool,
    /// Only so many modes.
    pub modes: Option<usize>,
    /// For the poles of the monolithic model as it is integrated.
    pub as_integrated: bool,
    /// What may be fed back, with places in the text.
    pub signals: Option<Vec<(String, Span)>>,
}

/// How a compensator gets its gains.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Way {
    Assignment,
    Given(Gains),
    Structural,
    Off,
}

/// How the monolithic model is solved.
#[derive(Clone, Debug)]
pub(crate) struct MonolithicSpec {
    /// The section that says so, if there is one.
    pub span: Span,
    pub integrator: Integrator,
    pub micro_steps: usize,
}

/// How the inputs of a part are predicted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Prediction {
    /// A polynomial of this order.
    Hold(usize),
    /// The rate is extrapolated and integrated by LMS2 with this spectral radius.
    Integrated(RateExtrapolation, f64),
    /// A model of the sender is learned.
    Learned(oldham_dmd::Settings),
    /// The same as its authors print it.
    Plain(oldham_dmd::PlainSettings),
    /// Motions are those of a reduced interface model of the sender.
    InterfaceModel(oldham_interface_model::Arrangement),
    /// By one of a registered kind.
    Foreign(ForeignPrediction),
}

/// A predictor of a registered kind.
#[derive(Clone)]
pub(crate) struct ForeignPrediction {
    pub kind: String,
    /// What its table says.
    pub settings: String,
    pub make: Arc<PredictorFactory>,
}

impl PartialEq for ForeignPrediction {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, &self.settings) == (&other.kind, &other.settings)
    }
}

impl fmt::Debug for ForeignPrediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.settings)
    }
}

/// What is recorded.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub every: u32,
    pub signals: Option<Vec<(String, Span)>>,
}

/// A steady motion.
#[derive(Clone, Debug)]
pub(crate) struct Trim {
    pub hold: Vec<(String, Span, f64)>,
    pub free: Vec<String>,
    pub period: Option<f64>,
    pub finds_period: bool,
    pub settle: f64,
}

impl Model {
    /// Reads a model file, with some of its values replaced.
    pub fn read(path: &Path, overrides: &Overrides) -> Result<Self, Problems> {
        Self::read_with(path, overrides, &Extensions::new())
    }

    /// The same with further kinds of elements, joints, sensors, subsystems and predictors.
    pub fn read_with(
        path: &Path,
        overrides: &Overrides,
        extensions: &Extensions,
    ) -> Result<Self, Problems> {
        read::file(path, overrides, extensions)
    }

    /// Reads a model from a text; `name` is what messages call it.
    pub fn parse(text: &str, name: &str, overrides: &Overrides) -> Result<Self, Problems> {
        Self::parse_with(text, name, overrides, &Extensions::new())
    }

    /// The same with further kinds of elements, joints, sensors, subsystems and predictors.
    pub fn parse_with(
        text: &str,
        name: &str,
        overrides: &Overrides,
        extensions: &Extensions,
    ) -> Result<Self, Problems> {
        Self::of(Source::new(name, text), overrides, extensions)
    }

    /// Reads a model from a text with the files that it includes, and further kinds of things.
    pub fn of(
        source: Source,
        overrides: &Overrides,
        extensions: &Extensions,
    ) -> Result<Self, Problems> {
        read::text(source, overrides, extensions)
    }

    /// Its title.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What it shows.
    pub fn description(&self) -> Option<&str> {
        self.spec.description.as_deref()
    }

    /// Initial time in s.
    pub fn start(&self) -> f64 {
        self.spec.clock.start
    }

    /// Simulated time in s.
    pub fn duration(&self) -> f64 {
        self.spec.clock.duration
    }

    /// Macro step in s.
    pub fn step(&self) -> f64 {
        self.spec.clock.step
    }

    /// The length of which the macro step must be a multiple, where micro steps are given by their length.
    pub fn step_grain(&self) -> Option<f64> {
        self.spec.step_grain
    }

    /// Number of macro steps.
    pub fn steps(&self) -> u64 {
        self.spec.clock.steps
    }

    /// The factor at which growing energy stops a run, if it should.
    pub fn energy_bound(&self) -> Option<f64> {
        (self.spec.energy_bound > 0.0).then_some(self.spec.energy_bound)
    }

    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        let found = self.spec.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// Names of the parameters, in alphabetical order.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spec.parameters.iter().map(|(name, _)| name.as_str())
    }

    /// Threads that advance subsystems.
    pub fn threads(&self) -> usize {
        self.spec.threads
    }

    /// Whether its subsystems exchange anything.
    pub fn is_coupled(&self) -> bool {
        !self.spec.connections.is_empty() || self.is_cut()
    }

    /// Whether any mechanism is cut.
    pub fn is_cut(&self) -> bool {
        self.cut_mechanisms().next().is_some()
    }

    /// Names of the mechanisms that are cut.
    pub fn cut_mechanisms(&self) -> impl Iterator<Item = &str> {
        let cut = self.spec.parts.iter().filter(|p| p.cutting().is_some());
        cut.map(|part| part.name.as_str())
    }

    /// Names of the subsystems, in the order of the file.
    pub fn subsystems(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spec.parts.iter().map(|part| part.name.as_str())
    }

    /// Subsystems of registered kinds: their names and kinds.
    pub fn foreign_subsystems(&self) -> impl Iterator<Item = (&str, &str)> {
        self.spec
            .parts
            .iter()
            .filter_map(|part| match &part.content {
                Content::Foreign(spec) => Some((part.name.as_str(), spec.kind.as_str())),
                _ => None,
            })
    }

    /// Subsystems of registered kinds, by their names: what they say of themselves.
    pub fn foreign_descriptions(&self) -> impl Iterator<Item = (&str, &dyn Any)> {
        let parts = self.spec.parts.iter();
        parts.filter_map(|part| match &part.content {
            Content::Foreign(spec) => Some((part.name.as_str(), spec.part.description()?)),
            _ => None,
        })
    }

    /// The first subsystem whose inputs are predicted by what is learned while running.
    pub fn learner(&self) -> Option<&str> {
        let learns = |part: &&PartSpec| {
            matches!(
                part.prediction,
                Prediction::Learned(_) | Prediction::Plain(_)
            )
        };
        let found = self.spec.parts.iter().find(learns);
        found.map(|part| part.name.as_str())
    }

    /// Keys of the predictors that subsystems choose for themselves.
    pub fn own_predictors(&self) -> impl Iterator<Item = String> {
        let choosing = self.spec.parts.iter().filter(|part| part.chooses_predictor);
        choosing.map(|part| {
            let section = match &part.content {
                Content::Lumped(_) => "lumped",
                Content::Multibody(_) => "multibody",
                Content::Control(_) => "control",
                Content::Foreign(spec) => &spec.kind,
            };
            format!("{section}.{}.predictor", part.name)
        })
    }

    /// Macro steps between two recorded rows.
    pub fn record_every(&self) -> u64 {
        u64::from(self.spec.record.every)
    }

    /// The signals to be recorded, each with its place in the text; all, if nothing is said. The
    /// names are those of the simulation's columns, which only a simulation knows.
    pub fn signals(&self) -> Option<impl ExactSizeIterator<Item = (&str, &Span)>> {
        let signals = self.spec.record.signals.as_ref()?;
        Some(signals.iter().map(|(name, span)| (name.as_str(), span)))
    }

    /// Signals that are held in the steady motion of the model, with their values.
    pub fn held_in_trim(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        let held = self.spec.trim.hold.iter();
        held.map(|(name, _, value)| (name.as_str(), *value))
    }

    /// Parameters that are found with the steady motion of the model.
    pub fn free_in_trim(&self) -> &[String] {
        &self.spec.trim.free
    }

    /// Period of the steady motion of the model in s, if it has one.
    pub fn trim_period(&self) -> Option<f64> {
        self.spec.trim.period
    }

    /// Whether that period is only where the search for it begins.
    pub fn trim_finds_period(&self) -> bool {
        self.spec.trim.finds_period
    }

    /// Time in s over which the model runs before its steady motion is looked for.
    pub fn trim_settling(&self) -> f64 {
        self.spec.trim.settle
    }

    /// What the driver and those who look on have before them.
    pub fn cockpit(&self) -> &Cockpit {
        &self.spec.cockpit
    }

    /// What is set from outside while a run goes on.
    pub fn external_inputs(&self) -> impl Iterator<Item = &ExternalInput> {
        let drives = self.spec.drives.iter();
        drives.filter_map(|drive| drive.external.as_ref())
    }

    /// The gains that compensators are given, as a text that changes when one of them does: they
    /// may come from a file of their own.
    pub fn given_gains(&self) -> String {
        let given = self.spec.compensators.iter().filter_map(|compensator| {
            let Way::Given(gains) = &compensator.way else {
                return None;
            };
            Some(gains.to_toml(&compensator.name))
        });
        given.collect()
    }

    /// The files that it reads besides its own text, but for gains of compensators.
    pub fn data_files(&self) -> &[DataFile] {
        &self.spec.data
    }

    /// How the monolithic model is integrated.
    pub fn monolithic_integrator(&self) -> Integrator {
        self.spec.monolithic_spec.integrator
    }

    /// Remarks that a user should read: what the model asks for and cannot have.
    pub fn notes(&self) -> &[String] {
        &self.spec.notes
    }

    /// A remark on keys and values that are still read but have other names now.
    pub fn former_words(&self) -> Option<&str> {
        self.spec.former_words.as_deref()
    }

    /// The text it was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }
}
