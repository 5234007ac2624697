//! Tables as functions.

use schemars::JsonSchema;
use serde::Deserialize;

use super::multibody::{Pairs, Vector};
use super::{At, Rows};

/// A function through given points, for use in any expression as `<name>(x)`, or as `<name>(x, y)` where
/// it has two arguments: exactly one of `points`, `values` and `file`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Table {
    /// A function of one number: pairs of abscissa and value, by increasing abscissa.
    pub points: Option<At<Pairs>>,
    /// With `values`: the places of the first argument, increasing.
    pub x: Option<At<Vector>>,
    /// With `values`: the places of the second argument, increasing.
    pub y: Option<At<Vector>>,
    /// A function of two numbers: a row for each of `x` with a value for each of `y`.
    pub values: Option<At<Rows>>,
    /// A file of comma-separated values; its path is relative to the model file.
    pub file: Option<At<String>>,
    /// With `file`: the headings of the columns (or their numbers from 1 where there are none): the
    /// abscissa and the value, or both arguments and the value. By default the first two.
    pub columns: Option<At<Vec<At<String>>>>,
    /// With `file`: the units of these columns, such as `["s", "mm"]`. By default SI units.
    pub units: Option<At<Vec<At<String>>>>,
    /// What lies between the points.
    #[schemars(extend("default" = "linear"))]
    pub interpolation: Option<Interpolation>,
    /// What lies beyond the first and the last point.
    #[schemars(extend("default" = "hold"))]
    pub outside: Option<Outside>,
}

/// What lies between the points of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Interpolation {
    /// Straight lines, of two arguments bilinear patches.
    Linear,
    /// Monotone cubics: a continuous slope, and no overshoot.
    Cubic,
}

/// What lies beyond the ends of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outside {
    /// The value at the end.
    Hold,
    /// A straight line with the slope at the end.
    Extrapolate,
    /// Nothing: a run that gets there stops and says so.
    Refuse,
}
