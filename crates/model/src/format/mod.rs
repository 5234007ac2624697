//! The model file as the user writes it: one type a section.
//!
//! These types say what may be written and what it means; their comments become the descriptions
//! in the schema and the reference page. They are lenient on purpose: what is required, known or
//! well-typed is checked against the schema first, with all problems at once, so every field is
//! optional here and nothing stops at the first mistake.

mod at;
mod cockpit;
mod compensator;
mod control;
mod drive;
mod foreign;
mod forms;
mod head;
mod lumped;
mod motion_law;
pub(crate) mod multibody;
mod named;
mod number;
mod predictor;
mod schedule;
mod table;
mod trim;

use schemars::JsonSchema;
use serde::Deserialize;

pub use at::At;
pub(crate) use at::place;
pub(crate) use cockpit::{Cockpit, Gauge};
pub(crate) use compensator::{Compensator, Domain, Method, Targets};
pub(crate) use control::{Block, BlockKind, Control, ControlState};
pub(crate) use drive::{Drive, DrivenMotion};
pub(crate) use foreign::{Foreign, ForeignSection, Setting, TAGS, Value, plain};
pub(crate) use head::{Division, Pacing};
pub(crate) use lumped::{
    Coordinates, DEFAULT_RHO, InputsWithinStep, Integrator, Lumped, Rows, Spring,
};
pub(crate) use motion_law::{LawName, LawWeights, MotionLaw};
pub use multibody::TimeFunction;
pub(crate) use multibody::{Lumping, Multibody};
pub use named::{Entry, Named};
pub use number::Formula;
pub(crate) use number::{
    Columns, Corrections, Count, Delays, Fraction, Iterations, Mass, MicroSteps, Multiple,
    NonNegative, Number, Poisson, Positive, Restitution, Tolerance, Window,
};
pub(crate) use predictor::{Arrangement, Predictor, PredictorKind};
pub(crate) use schedule::{
    Acceleration, Coupling, DEFAULT_COLUMNS, Implicit, Kind, OnLimit, Schedule, Stage, Tangent,
};

pub(crate) use table::{Interpolation, Outside, Table};
pub(crate) use trim::Trim;

/// Words of the format for values of the libraries that have the same names.
macro_rules! stands_for {
    ($($word:ident => $value:path { $($name:ident),* })*) => { $(
        impl From<$word> for $value {
            fn from(word: $word) -> Self {
                match word { $($word::$name => Self::$name,)* }
            }
        }
    )* };
}

stands_for! {
    Interpolation => oldham_expression::Interpolation { Linear, Cubic }
    Outside => oldham_expression::Outside { Hold, Extrapolate, Refuse }
    InputsWithinStep => oldham_cosim::StageInputs { Held, Interpolated }
    OnLimit => oldham_cosim::OnLimit { Fail, Accept }
    Coordinates => oldham_lumped::Coordinates { Translation, Rotation }
    Arrangement => oldham_interface_model::Arrangement { Merged, Jacobi, Sequential }
    Lumping => oldham_multibody::Lumping { Segments, Points }
}

/// The factor of [`Simulation::energy_bound`] when none is given.
pub(crate) const DEFAULT_ENERGY_BOUND: f64 = 100.0;

/// A co-simulation model. All quantities are in SI units. Wherever a number is expected, a
/// string with an expression of parameters may stand instead.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "Oldham model")]
pub(crate) struct File {
    /// What the model is.
    #[schemars(required)]
    pub model: Option<At<Heading>>,
    /// Named numbers, for use in expressions: a number, or an expression of other parameters, in
    /// any order.
    pub parameters: Named<Formula>,
    /// How long and how finely it is simulated.
    #[schemars(required)]
    pub simulation: Option<At<Simulation>>,
    /// Lumped-parameter subsystems: masses, springs, dampers and loads along one line or about
    /// one axis, by name.
    pub lumped: Named<Lumped>,
    /// Multibody subsystems: rigid bodies, joints, springs, beams and shells in space, by name.
    pub multibody: Named<Multibody>,
    /// Controllers: signals that are computed from others, by name.
    pub control: Named<Control>,
    /// Tables, by the name under which expressions call them.
    pub table: Named<Table>,
    /// Subsystems of registered kinds, by kind and name.
    #[schemars(skip)]
    pub foreign: Named<Named<ForeignSection>>,
    /// Which output feeds which input.
    #[serde(default)]
    pub connection: Vec<At<Connection>>,
    /// Inputs that no connection feeds, as `"subsystem.port"`: an expression of time `t`, a list of them
    /// for an array, or one for each of `x`, `v` and `a` of a motion.
    #[schemars(extend("propertyNames" = { "pattern": named::PORT_PATTERN }, "x-formerly" = "drive"))]
    pub excitation: Named<Drive>,
    /// Compensators, by name: feedback that undoes the delay of the coupling.
    pub compensator: Named<Compensator>,
    /// Who advances when, and how inputs are predicted.
    #[serde(default)]
    pub schedule: Schedule,
    /// How the monolithic reference model is solved: all subsystems as one set of equations. By
    /// default with the integrator of the subsystems (of the first one, where they differ) and their largest
    /// number of micro steps.
    pub monolithic: Option<At<Monolithic>>,
    /// What is recorded.
    #[serde(default)]
    pub record: Record,
    /// The steady motion that `oldham trim` looks for.
    #[serde(default)]
    pub trim: Trim,
    /// What the driver of the model, and those who look on, have before them.
    #[serde(default)]
    pub cockpit: Cockpit,
}

/// A section that describes a subsystem.
#[derive(Clone, Copy)]
pub(crate) enum Subsystem<'f> {
    Lumped(&'f Entry<Lumped>),
    Multibody(&'f Entry<Multibody>),
    Control(&'f Entry<Control>),
    /// Of a registered kind.
    Foreign(&'f str, &'f Entry<ForeignSection>),
}

impl<'f> Subsystem<'f> {
    pub fn name(self) -> &'f At<String> {
        match self {
            Self::Lumped(entry) => &entry.name,
            Self::Multibody(entry) => &entry.name,
            Self::Control(entry) => &entry.name,
            Self::Foreign(_, entry) => &entry.name,
        }
    }
}

impl File {
    /// The subsystems of all kinds, in the order of the text.
    pub fn subsystems(&self) -> Vec<Subsystem<'_>> {
        let lumped = self.lumped.iter().map(Subsystem::Lumped);
        let multibody = self.multibody.iter().map(Subsystem::Multibody);
        let control = self.control.iter().map(Subsystem::Control);
        let foreign = self.foreign.iter().flat_map(|kind| {
            let parts = kind.value.value.iter();
            parts.map(|entry| Subsystem::Foreign(&kind.name.value, entry))
        });
        let own = lumped.chain(multibody).chain(control);
        let mut all: Vec<_> = own.chain(foreign).collect();
        all.sort_by(|a, b| a.name().in_text_order(b.name()));
        all
    }
}

/// What the model is.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Heading {
    /// Title of the model.
    #[schemars(required)]
    pub name: Option<At<String>>,
    /// What it shows.
    pub description: Option<String>,
}

/// How long and how finely the model is simulated.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Simulation {
    /// Simulated time, in s; a whole number of macro steps.
    #[schemars(required)]
    pub duration: Option<At<Positive>>,
    /// Macro step, in s: the time between two communication points.
    #[schemars(required)]
    pub step: Option<At<Positive>>,
    /// Initial time, in s.
    #[schemars(extend("default" = 0.0))]
    pub start: Option<At<Formula>>,
    /// Times, in s, of discontinuities such as jumps of loads: at the first communication point at
    /// or after each of them all predictors and integrators discard their history.
    #[serde(default)]
    pub events: Vec<At<Formula>>,
    /// The run stops when the stored energy exceeds this multiple of what it started with and was
    /// supplied; 0 switches the guard off.
    #[schemars(extend("default" = DEFAULT_ENERGY_BOUND))]
    pub energy_bound: Option<At<NonNegative>>,
    /// Threads that advance subsystems. The results do not depend on it.
    #[schemars(extend("default" = 1))]
    pub threads: Option<At<Count>>,
}

/// One wire from an output to an input.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Connection {
    /// The output, as `subsystem.port`.
    #[schemars(required)]
    pub from: Option<At<String>>,
    /// The input, as `subsystem.port`.
    #[schemars(required)]
    pub to: Option<At<String>>,
    /// The factor with which the input receives it; not zero. With one, scalars of different units
    /// may be connected.
    #[schemars(extend("default" = 1.0))]
    pub gain: Option<At<Formula>>,
    /// What is added, in the unit of the input; of a motion, to the displacement.
    #[schemars(extend("default" = 0.0))]
    pub offset: Option<At<Formula>>,
    /// The unit in which the output counts, such as `"rpm"`, if it is another one than that of the
    /// input: the number is converted.
    pub unit: Option<At<String>>,
}

/// How the monolithic reference model is solved.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Monolithic {
    /// Its integrator.
    pub integrator: Option<At<Integrator>>,
    /// Spectral radius at infinity of `lms2`, between 0 (most damping) and 1 (none).
    #[schemars(extend("default" = lumped::DEFAULT_RHO))]
    pub rho: Option<At<Fraction>>,
    /// How `rk4` sees its inputs within a micro step.
    #[schemars(extend("default" = "interpolated"))]
    pub inputs_within_step: Option<At<InputsWithinStep>>,
    /// Integrator steps per macro step.
    pub micro_steps: Option<At<MicroSteps>>,
}

/// What is recorded.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Record {
    /// Macro steps between two recorded rows.
    #[schemars(extend("default" = 1))]
    pub every: Option<At<Count>>,
    /// Names of the recorded signals, such as `left.x1.v` or `energy.total`; all, if not given. A
    /// name without component, such as `left.x1`, stands for all its components. External inputs are
    /// always recorded.
    pub signals: Option<Vec<At<String>>>,
    /// Record the position and orientation of every node of multibody subsystems, beside the
    /// signals: an animation needs them. Their names are such as `arm.nodes.tip.px`.
    #[schemars(extend("default" = true))]
    pub nodes: Option<bool>,
    /// Record these internal loads of every element of beams and shells, such as
    /// `["bending-z", "m11"]`: pictures in the browser are coloured by the first of beams and the first
    /// of shells. Their names are such as `arm.sections.boom.3.bending-z`.
    pub section_loads: Option<Vec<At<multibody::SectionWord>>>,
}
