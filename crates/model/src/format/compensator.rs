//! Compensation of the delay of the coupling.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Count, Formula, Named};

/// A compensator at one interface between a force side, which sends a force and receives a motion,
/// and a motion side, which sends the motion and receives the force. It undoes what the delay of the
/// coupling does to the motion, by feeding back displacements, velocities and accelerations of both
/// sides: u = -K y.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Compensator {
    /// The force that crosses the interface, as `subsystem.port` of the force side. Feedback is added
    /// to it as it is sent.
    #[schemars(required)]
    pub force: Option<At<String>>,
    /// With `assignment`: a force input of the force side at the interface, as
    /// `subsystem.port`, fed by nothing else. The motion of that mass must be an output.
    pub correct: Option<At<String>>,
    /// How it compensates.
    #[schemars(extend("default" = "assignment"))]
    pub method: Option<Method>,
    /// With `assignment`: the model on which gains are designed.
    #[schemars(extend("default" = "z"))]
    pub domain: Option<Domain>,
    /// With `assignment`: the poles that are wanted.
    #[schemars(extend("default" = "exact"))]
    pub targets: Option<Targets>,
    /// With `assignment`: assign only so many modes, the slowest ones; by default all. A compensator
    /// with few gains cannot put back many modes.
    pub modes: Option<At<Count>>,
    /// With `assignment`: the motions that may be fed back, such as `left.x1` (an output) or
    /// `left.far` (an input), or single components such as `left.x1.v`; by default all motions that
    /// the two subsystems send, and what the force side receives.
    pub signals: Option<At<Vec<At<String>>>>,
    /// Gains instead of a design.
    pub gains: Option<At<Gains>>,
    /// A file with gains instead of a design, as `oldham compensate --out` writes it; relative to
    /// the model file.
    pub gains_from: Option<At<String>>,
}

/// How a compensator works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// Gains put the poles of the co-simulation where those of the monolithic model are.
    Assignment,
    /// The motion side evaluates the linear part of the coupling law itself, at every micro step;
    /// the force side sends only the remainder.
    Structural,
    /// Not at all.
    None,
}

/// The model on which gains are designed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Domain {
    /// The co-simulation as it is run.
    Z,
    /// The parts in continuous time, with a hold on every exchanged signal.
    S,
}

/// The poles that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Targets {
    /// Those of the equations of motion, as if every step were exact.
    Exact,
    /// Those of the monolithic reference model with its integrator.
    Monolithic,
}

/// Gains by the component that they multiply, such as `"x1.v"`, without the subsystem's name. What
/// is added is minus gain times component.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Gains {
    /// For the force on the force side: its outputs and what it receives.
    #[schemars(extend("x-formerly" = "correct"))]
    pub force_side: Named<Formula>,
    /// For the force on the motion side: outputs of the motion side.
    #[schemars(extend("x-formerly" = "push"))]
    pub motion_side: Named<Formula>,
    /// For what is added to the force as it is sent: outputs of the force side.
    #[schemars(extend("x-formerly" = "send"))]
    pub sent_force: Named<Formula>,
}
