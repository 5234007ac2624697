//! Who advances when.

use schemars::JsonSchema;
use serde::Deserialize;

use super::forms::by_form;
use super::named::PORT_PATTERN;
use super::{At, Columns, Count, Iterations, Named, NonNegative, Positive, Predictor};

/// Who advances when, and how inputs are predicted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Schedule {
    /// The order of the subsystems within a macro step.
    #[schemars(extend("default" = "jacobi"))]
    pub kind: Option<At<Kind>>,
    /// With `gauss-seidel`: the subsystems in their order. By default that of the file.
    pub order: Option<At<Vec<At<String>>>>,
    /// With `stages`: a list of stages. A stage is a list of subsystems that advance together, or
    /// a table with a list of stages of its own that runs several times per step.
    pub stages: Option<At<Vec<At<Stage>>>>,
    /// How inputs are predicted between communication points. By default `zero-order` with explicit
    /// and `first-order` with implicit coupling.
    pub predictor: Option<At<Predictor>>,
    /// Explicit (loose) coupling does a macro step once; implicit (tight) coupling repeats it until
    /// the coupling variables converge.
    #[schemars(extend("default" = "explicit"))]
    pub coupling: Option<At<Coupling>>,
    /// Output update: outputs with direct feedthrough are evaluated again with the inputs of the
    /// communication point before they are used.
    #[schemars(extend("default" = false, "x-formerly" = "refresh"))]
    pub output_update: Option<bool>,
    /// Subsystems with position-driven inputs (`position_driven`) also send their interface Jacobian,
    /// the derivative of their forces with respect to these positions, and are corrected after the owners of these positions have advanced: `true` for all of them,
    /// or a list of their names.
    #[schemars(extend("default" = false))]
    pub tangent: Option<At<Tangent>>,
    /// How an implicitly coupled step iterates; used when `coupling` is `implicit`.
    #[schemars(extend("x-formerly" = "tight"))]
    #[serde(default)]
    pub implicit: Implicit,
}

/// The order of the subsystems within a macro step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// All in parallel, then one communication point.
    Jacobi,
    /// One after the other, each with what the earlier ones just sent.
    GaussSeidel,
    /// As `stages` says.
    Stages,
}

/// When a macro step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Coupling {
    /// Loose (weak) coupling: after one pass.
    #[schemars(extend("x-formerly" = "loose"))]
    Explicit,
    /// Tight (strong, iterative) coupling: when the iteration has converged.
    #[schemars(extend("x-formerly" = "tight"))]
    Implicit,
}

/// Subsystems that advance together, or stages that run several times per step.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Stage {
    Together(Vec<At<String>>),
    Nested(Nested),
}

/// Stages that run several times per step.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Nested {
    /// How often they run per step of the enclosing stage.
    #[schemars(required)]
    pub ratio: Option<At<Count>>,
    /// What runs each time.
    #[schemars(required)]
    pub stages: Option<Vec<At<Stage>>>,
}

by_form! {
    Stage { list Together, table Nested, }
    Tangent { plain All, list Of, }
}

/// All subsystems that can, or some by name.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Tangent {
    All(bool),
    Of(Vec<At<String>>),
}

/// How an implicitly coupled step iterates.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Implicit {
    /// A coupling variable has converged when it changes by less than this fraction of the largest
    /// magnitude that it has had so far, plus `absolute`.
    #[schemars(extend("default" = oldham_cosim::ImplicitSettings::default().relative))]
    pub relative: Option<At<NonNegative>>,
    /// Absolute tolerance, in the unit of each port.
    #[schemars(extend("default" = oldham_cosim::ImplicitSettings::default().absolute))]
    pub absolute: Option<At<NonNegative>>,
    /// Absolute tolerances of single outputs, as `"subsystem.port"`.
    #[schemars(extend("propertyNames" = { "pattern": PORT_PATTERN }))]
    pub ports: Named<NonNegative>,
    /// Iterations per macro step at most.
    #[schemars(extend("default" = oldham_cosim::ImplicitSettings::default().max_iterations))]
    pub max_iterations: Option<At<Iterations>>,
    /// How the next iterate is found.
    #[schemars(extend("default" = "quasi-newton"))]
    pub acceleration: Option<At<Acceleration>>,
    /// The fraction of each change that is taken: by default 1 with `fixed`; the first one, by
    /// default 0.5, with `aitken`.
    pub relaxation: Option<At<Positive>>,
    /// How many changes `quasi-newton` remembers.
    #[schemars(extend("default" = DEFAULT_COLUMNS))]
    pub columns: Option<At<Columns>>,
    /// What happens when `max_iterations` is reached.
    #[schemars(extend("default" = "fail"))]
    pub on_limit: Option<OnLimit>,
}

/// Changes that `quasi-newton` remembers when nothing else is said.
pub(crate) const DEFAULT_COLUMNS: usize = 8;

/// How the next iterate is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Acceleration {
    /// Newton's method with a Jacobian fitted to the last changes.
    QuasiNewton,
    /// A fraction of the change, adapted from the last two.
    Aitken,
    /// A fixed fraction of the change.
    Fixed,
}

/// What happens at the limit of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnLimit {
    /// The run stops.
    Fail,
    /// The last iterate is taken, and counted.
    Accept,
}
