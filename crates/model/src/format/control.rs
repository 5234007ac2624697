//! A controller.

use schemars::JsonSchema;
use serde::Deserialize;

use super::multibody::Vector;
use super::{At, Formula, Named, NonNegative, Pacing, Positive, Rows};

/// A controller: what it sends is computed from what it receives by expressions of inputs, states,
/// signals, blocks, time `t` and parameters, in any order. It has no mass and no energy. Without
/// `sample` it is continuous: linear ones are solved exactly, others with error control.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Control {
    /// What it receives, by the name of the port: its unit, such as `"rad/s"`.
    pub inputs: Named<String>,
    /// Named expressions, for use in others.
    pub signals: Named<Formula>,
    /// What it remembers, by name.
    pub states: Named<ControlState>,
    /// Ready blocks, by the name of their output.
    pub blocks: Named<Block>,
    /// What it sends, by the name of the port.
    pub outputs: Named<ControlOutput>,
    /// The sample period in s of a sampled controller, a multiple of the macro step: inputs are
    /// taken at the samples, outputs held between them.
    pub sample: Option<At<Positive>>,
    #[schemars(flatten)]
    pub pacing: Pacing,
}

/// Something that a controller remembers.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ControlState {
    /// Its value at the start.
    #[schemars(extend("default" = 0.0))]
    pub initial: Option<At<Formula>>,
    /// Its rate, per s, in a continuous controller.
    pub rate: Option<At<Formula>>,
    /// Its value at the next sample, in a sampled controller.
    pub next: Option<At<Formula>>,
}

/// What a controller sends.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ControlOutput {
    /// The value, as an expression.
    #[schemars(required)]
    pub value: Option<At<Formula>>,
    /// Its unit, such as `"N"`.
    #[schemars(extend("default" = "1"))]
    pub unit: Option<At<String>>,
}

/// A ready block with an output of its own name. Saturation, dead zone and lookup tables are
/// functions of expressions: `clamp`, `deadzone` and whatever `[table]` defines.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Block {
    /// What it does.
    #[schemars(required)]
    pub kind: Option<At<BlockKind>>,
    /// What goes in, as an expression.
    pub input: Option<At<Formula>>,
    /// With `state-space`: what goes in, as expressions, one for each column of `b`.
    pub inputs: Option<At<Vec<At<Formula>>>>,
    /// With `pid`: proportional gain.
    #[schemars(extend("default" = 0.0))]
    pub kp: Option<At<Formula>>,
    /// With `pid`: integral gain, per s.
    #[schemars(extend("default" = 0.0))]
    pub ki: Option<At<Formula>>,
    /// With `pid`: derivative gain, times s.
    #[schemars(extend("default" = 0.0))]
    pub kd: Option<At<Formula>>,
    /// With `pid`: bandwidth of the derivative's filter in rad/s; needed with `kd`.
    pub filter: Option<At<Positive>>,
    /// With `pid`: least and largest output. The integral is led back by the difference of the
    /// limited and the unlimited output (back-calculation).
    pub limits: Option<At<Vector>>,
    /// With `pid`: the time constant of that in s. By default `kp / ki`, or 1 s without `kp`.
    pub tracking: Option<At<Positive>>,
    /// With `transfer-function`: coefficients of the numerator, highest power of s first.
    pub numerator: Option<At<Vector>>,
    /// With `transfer-function`: coefficients of the denominator, highest power of s first.
    pub denominator: Option<At<Vector>>,
    /// With `state-space`: the matrix A of x' = A x + B u, y = C x + D u.
    pub a: Option<At<Rows>>,
    /// With `state-space`: the matrix B.
    pub b: Option<At<Rows>>,
    /// With `state-space`: the matrix C. With several rows the outputs are called after the block
    /// with 1, 2, ... appended.
    pub c: Option<At<Rows>>,
    /// With `state-space`: the matrix D; zeros by default.
    pub d: Option<At<Rows>>,
    /// With `state-space`: the states at the start; zeros by default.
    pub initial_states: Option<At<Vector>>,
    /// With `transfer-function` and `state-space` of a sampled controller: the coefficients are those
    /// of discrete time already (powers of z, next states). Otherwise they are discretised exactly
    /// for inputs that are held between the samples.
    #[schemars(extend("default" = false))]
    pub discrete: Option<bool>,
    /// With `rate-limit`: the largest rate upwards, per s, and downwards where `fall` says nothing
    /// else.
    pub rise: Option<At<Positive>>,
    /// With `rate-limit`: the largest rate downwards, per s.
    pub fall: Option<At<Positive>>,
    /// With `rate-limit` of a continuous controller: the time constant in s with which the output
    /// follows the input below the limits.
    pub lag: Option<At<Positive>>,
    /// With `delay`: the delay in s; a macro step at least, of a sampled controller a whole number
    /// of samples.
    pub time: Option<At<NonNegative>>,
    /// With `pid`: the integral at the start; with `rate-limit`: the output at the start; with
    /// `delay`: the output until the delay has passed.
    #[schemars(extend("default" = 0.0))]
    pub initial: Option<At<Formula>>,
}

/// What a block does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BlockKind {
    /// Proportional, integral and filtered derivative action, with limits and anti-windup.
    Pid,
    /// A quotient of two polynomials.
    TransferFunction,
    /// A linear system by its matrices.
    StateSpace,
    /// Follows its input no faster than at a given rate.
    RateLimit,
    /// Gives what went in some time ago.
    Delay,
}
