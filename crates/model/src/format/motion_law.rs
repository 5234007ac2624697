//! How a part that steps velocities follows a prescribed motion.

use schemars::JsonSchema;
use serde::Deserialize;

use super::forms::by_form;
use super::{At, NonNegative, Positive};

/// A law by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LawName {
    /// The prescribed velocity, and what is missing of the position at the start of the step.
    Original,
    /// Position, velocity and acceleration, with the weights 2, 2, 1.
    #[serde(rename = "index-1")]
    Index1,
    /// Position and velocity, with the weights 1, 1, 0.
    #[serde(rename = "index-2")]
    Index2,
    /// The position alone: weights 1, 0, 0.
    #[serde(rename = "index-3")]
    Index3,
}

/// Weights of a law, free of dimension: they mean the same at every step size.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct LawWeights {
    /// Of the position.
    #[schemars(required)]
    pub alpha: Option<At<Positive>>,
    /// Of the velocity.
    #[schemars(extend("default" = 0.0))]
    pub beta: Option<At<NonNegative>>,
    /// Of the acceleration.
    #[schemars(extend("default" = 0.0))]
    pub gamma: Option<At<NonNegative>>,
}

/// How a part that steps velocities follows a prescribed motion.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum MotionLaw {
    Named(LawName),
    Weights(LawWeights),
}

by_form! { MotionLaw { plain Named, table Weights, } }
