//! How inputs are predicted between communication points.

use schemars::JsonSchema;
use serde::Deserialize;

use super::forms::by_form;
use super::{At, Delays, Foreign, Fraction, Window};

/// How an input is extrapolated from what was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum PredictorKind {
    /// It stays as it was received last.
    #[serde(rename = "zero-order")]
    Zero,
    /// The line through the last two values.
    #[serde(rename = "first-order")]
    First,
    /// The parabola through the last three values.
    #[serde(rename = "second-order")]
    Second,
    /// The rate of a motion is taken as constant and integrated by LMS2; other quantities as
    /// `first-order`.
    #[serde(rename = "constant-rate")]
    ConstantRate,
    /// The same with the line through the last two rates.
    #[serde(rename = "linear-rate")]
    LinearRate,
    /// The same with the cubic through the last two values and rates: the interface-mass scheme.
    #[serde(rename = "hermite")]
    Hermite,
    /// Positions as `hermite`; the velocity is the rate that was extrapolated, and the acceleration is
    /// held. For parts that are coupled to contact.
    #[serde(rename = "hermite-velocity")]
    HermiteVelocity,
    /// The line through the last two accelerations, integrated twice by LMS2: what the sender itself
    /// begins its step with, if it is integrated by `lms2`.
    #[serde(rename = "linear-acceleration")]
    LinearAcceleration,
    /// A linear model of the sender is learned from what is exchanged (windowed dynamic mode
    /// decomposition). Exchange velocities too. Without a `window` its length is chosen
    /// automatically, up to 100 communication points.
    #[serde(rename = "dmd")]
    Dmd,
    /// Dynamic mode decomposition as its authors print it, for comparison with `dmd`: no constant, no kinematics, and always
    /// trusted. The `window` is 100 communication points by default.
    #[serde(rename = "plain-dmd")]
    PlainDmd,
    /// For a fast subsystem that pushes a mechanism and receives its motion: the motion is that of a
    /// reduced interface model of the mechanism (effective mass and acceleration at the interface),
    /// integrated in the steps of the fast subsystem under its own forces. Other inputs as
    /// `zero-order`. It must advance with the mechanism or before it.
    #[serde(rename = "interface-model")]
    InterfaceModel,
}

/// How an interface model and the fast subsystem go along together within a macro step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Arrangement {
    /// In each micro step the model goes along a straight line with the velocity of its middle, which the fast subsystem sees;
    /// forces at both ends change that velocity by halves (Verlet). Second order, and it feeds nothing that swings.
    Merged,
    /// Both at once: each sees what the other one was at the start of the micro step.
    Jacobi,
    /// In each micro step first the fast subsystem, then the model under its forces at the end.
    Sequential,
}

/// How inputs are predicted between communication points.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Predictor {
    Kind(PredictorKind),
    Settings(Box<PredictorSettings>),
}

/// A predictor with settings.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PredictorSettings {
    /// Which one.
    #[schemars(required)]
    pub kind: Option<At<PredictorKind>>,
    /// With `dmd`: the number of communication points that it learns from, at least one more than
    /// the coupling variables; an odd number is rounded up. By default it is chosen while running.
    /// With `plain-dmd`: at least as many as there are coupling variables; 100 by default.
    pub window: Option<At<Window>>,
    /// With `dmd` and a `window`: how many earlier communication points the model sees beside the latest,
    /// such as 1 when positions are exchanged without velocities. None by default.
    pub delays: Option<At<Delays>>,
    /// With `plain-dmd`: whether the model is updated by the recursion, one pair in and one pair out, instead of being fitted
    /// anew. False by default.
    pub recursive: Option<At<bool>>,
    /// With `constant-rate`, `linear-rate`, `hermite`, `hermite-velocity` and `linear-acceleration`: the
    /// spectral radius at infinity of the LMS2 formula that integrates. By default that of the receiving
    /// subsystem, if it is integrated by `lms2`; give that of the sender where it is not.
    pub rho: Option<At<Fraction>>,
    /// With `interface-model`: how the model and the subsystem go along together; `merged` by default.
    pub arrangement: Option<At<Arrangement>>,
    /// One of a registered kind instead.
    #[schemars(skip)]
    pub foreign: Option<At<Foreign>>,
}

by_form! { Predictor { plain Kind, table Settings, } }
