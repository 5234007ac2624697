//! Where a mechanism is cut.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Method;

use crate::format::forms::by_form;
use crate::format::{
    At, Corrections, Fraction, InputsWithinStep, LawWeights, MicroSteps, Named, PredictorKind,
};

/// Cuts the mechanism into parts that are solved in parallel, as subsystems of their own.
///
/// The nodes of a cut keep their mass in a small coupling subsystem. Every part at such a node has
/// a massless interface copy of it, slaved to the predicted motion, and sends the load on it. Results keep
/// the names that they have without the cut.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Cut {
    /// What to cut: nodes (`"girder.12"`), and joints, springs, torsion springs and bushings
    /// between two nodes. A `*` stands for any name between two dots: `"sheet.4.*"` is a line of
    /// nodes.
    #[schemars(required)]
    pub at: Option<At<Vec<At<String>>>>,
    /// The parts, by name: a node of each, or a list of nodes whose surroundings are to form one
    /// part. Parts that are not named are numbered.
    pub parts: Named<Members>,
    /// How the parts are coupled. By default `interface-tangent`, or `interface-mass` where that
    /// cannot be: with several micro steps, smooth parts with different integrators, `rk4`, an interface that is moved by `impulses`,
    /// prescribed velocities, or implicit (tight) coupling.
    pub scheme: Option<At<Scheme>>,
    /// To what of the predicted motion of an interface node its copies in the parts are slaved.
    #[schemars(extend("default" = "position"))]
    pub prescribe: Option<At<Prescribe>>,
    /// Which parts advance first, where some are moved by impulses. By default `nonsmooth-first` where `prescribe` is a law,
    /// else `parallel`.
    pub order: Option<At<CutOrder>>,
    /// How often parts and coupling correct each step with `interface-tangent`. One correction
    /// leaves the square of what the predictor missed; each further one, with an iteration of its
    /// own, squares that again. Linear mechanisms need one. By default one, and two where a part is
    /// moved by impulses and there are shapes on the ground to press on.
    pub corrections: Option<At<Corrections>>,
    /// How parts predict the motion of interface nodes over a step.
    /// By default `hermite`; `hermite-velocity` where `prescribe` is a law.
    pub predictor: Option<At<PredictorKind>>,
    /// How coupling subsystems are integrated, where that differs from the mechanism.
    #[serde(default)]
    pub coupling: PieceMethod,
    /// How parts are integrated, by their names, where that differs from the mechanism.
    pub methods: Named<PieceMethod>,
}

/// How the parts are coupled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scheme {
    /// Interface nodes have a subsystem of their own, which advances after the parts and receives
    /// their interface Jacobians: how their loads change with its motion. Then the parts correct their
    /// steps. For linear mechanisms this is the step of the monolithic model.
    InterfaceTangent,
    /// The same, but the subsystem of the interface knows only its own mass and the loads.
    InterfaceMass,
    /// The first part at an interface has it with its mass and receives loads; the others are
    /// slaved to its motion. They advance in parallel or one after the other, as `schedule.kind` says.
    ForceDisplacement,
}

/// What of the motion of an interface node is prescribed.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Prescribe {
    Named(PrescribeName),
    Weights(LawWeights),
}

/// What of the motion of an interface node is prescribed, by name. Laws are for parts that are moved by impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PrescribeName {
    /// Position and orientation. Each part makes the velocity from its own history of them.
    Position,
    /// Velocity and angular velocity as well, as they are predicted. Not with
    /// `interface-tangent`, where copies end a step with the velocity of the interface anyway.
    PositionAndVelocity,
    /// A law: the velocity, and what is missing of the position at the start of the step.
    Original,
    /// A law of position, velocity and acceleration, with the weights 2, 2, 1.
    #[serde(rename = "index-1")]
    Index1,
    /// A law of position and velocity, with the weights 1, 1, 0.
    #[serde(rename = "index-2")]
    Index2,
    /// A law of the position alone.
    #[serde(rename = "index-3")]
    Index3,
}

/// Which parts advance first, where some are moved by impulses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CutOrder {
    /// All at the same time, or as `schedule.kind` says.
    Parallel,
    /// Those that are moved by impulses, with the predicted motion; the others then receive the loads of the same step.
    NonsmoothFirst,
    /// Those that are not, with the loads of the last step.
    SmoothFirst,
}

/// How parts of a cut mechanism are integrated. What is not given is as in the mechanism.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct PieceMethod {
    /// The integrator.
    pub integrator: Option<At<Method>>,
    /// Spectral radius at infinity of `lms2` and `generalised-alpha`, between 0 and 1.
    pub rho: Option<At<Fraction>>,
    /// How `rk4` sees inputs, such as the loads of the parts, within a micro step: on the line between
    /// those at its start and at its end, or as at its start.
    pub inputs_within_step: Option<At<InputsWithinStep>>,
    /// Integrator steps per macro step.
    pub micro_steps: Option<At<MicroSteps>>,
}

/// A node of a part, or several.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Members {
    One(String),
    Several(Vec<At<String>>),
}

by_form! {
    Members { plain One, list Several, }
    Prescribe { plain Named, table Weights, }
}
