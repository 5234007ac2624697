//! What subsystems of several kinds have. In the file these keys stand beside the others; before a section is read, they
//! are put into tables of their own ([`crate::extensions::wrap`]), since flattening would lose their places.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, MicroSteps, Multiple, Positive, Predictor};

/// How a macro step is divided.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Division {
    /// Integrator steps per macro step of this subsystem.
    #[schemars(extend("default" = 1))]
    pub micro_steps: Option<At<MicroSteps>>,
    /// The length of an integrator step, in s, instead of their number; must divide the macro
    /// step of this subsystem.
    pub micro_step: Option<At<Positive>>,
}

/// When a subsystem advances, and what it guesses meanwhile.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Pacing {
    /// The subsystem's own macro step, as a multiple of the model's.
    #[schemars(extend("default" = 1))]
    pub every: Option<At<Multiple>>,
    /// How its inputs are predicted between communication points; overrides `schedule.predictor`.
    pub predictor: Option<At<Predictor>>,
}
