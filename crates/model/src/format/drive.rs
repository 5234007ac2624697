//! Inputs that are functions of time, or set from outside while a run goes on.

use schemars::JsonSchema;
use serde::Deserialize;

use super::forms::by_form;
use super::{At, Formula, Interpolation, Outside, Positive};

// An excitation: one expression, one for each number of an array, one for each component of a motion, or an
// external input. What is described in the schema is the key.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum Drive {
    Scalar(Formula),
    Each(Vec<At<Formula>>),
    Motion(Box<DrivenMotion>),
}

/// A prescribed motion, or an external input.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct DrivenMotion {
    /// Displacement (m) or angle (rad), as an expression of time `t`.
    pub x: Option<At<Formula>>,
    /// Its rate, as an expression of time `t`. Without `v` and `a` they are the exact derivatives of
    /// `x`.
    pub v: Option<At<Formula>>,
    /// Its acceleration, as an expression of time `t`.
    pub a: Option<At<Formula>>,
    /// Instead: a file of comma-separated values; its path is relative to the model file. Of a motion
    /// it gives the displacement or angle, whose derivatives are the rest.
    pub file: Option<At<String>>,
    /// With `file`: the heading of the column with the time in s.
    #[schemars(extend("default" = "t"))]
    pub time: Option<At<String>>,
    /// With `file`: the heading of the column with the value.
    pub column: Option<At<String>>,
    /// With `file`: the unit of the value, such as `"mm"`. By default the SI unit.
    pub unit: Option<At<String>>,
    /// With `file`: what lies between the points.
    #[schemars(extend("default" = "linear"))]
    pub interpolation: Option<Interpolation>,
    /// With `file`: what lies before the first and after the last point.
    #[schemars(extend("default" = "hold"))]
    pub outside: Option<Outside>,
    /// Instead: the input is set from outside while the run goes on, and recorded under this name.
    pub external: Option<At<String>>,
    /// With `external`: its value until it is set; zero by default. Of a motion, the displacement.
    pub initial: Option<At<Formula>>,
    /// With `external`: the lowest and the highest value that a driver gives it; by default one less
    /// and one more than the initial value.
    pub range: Option<At<Vec<At<Formula>>>>,
    /// With `external`: the recorded signal that the driver feels, such as a steering torque.
    /// Positive pushes the input towards higher values.
    pub feedback: Option<At<String>>,
    /// With `feedback`: its magnitude at which a wheel pushes, and a gamepad shakes, with all its strength.
    #[schemars(extend("default" = 1.0))]
    pub full_feedback: Option<At<Positive>>,
}

by_form! { Drive { plain Scalar, list Each, table Motion, } }
