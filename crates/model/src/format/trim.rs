//! What is constant in a steady motion.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Formula, Named, NonNegative, Positive};

/// The steady motion that `oldham trim` looks for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Trim {
    /// What is held: names of recorded signals, such as `"car.sensors.vx"`, with the value that each has, as its mean over a
    /// period.
    pub hold: Named<Formula>,
    /// Parameters that are found with the motion; their values in the file are where the search begins.
    #[serde(default)]
    pub free: Vec<At<String>>,
    /// Period of the motion, in s. Without it, what should be constant is constant from step to step. The step
    /// becomes a whole fraction of it.
    pub period: Option<At<Positive>>,
    /// Whether `period` is only where the search for the period begins: of a motion that no load drives, such as a limit cycle.
    #[schemars(extend("default" = false))]
    pub find_period: Option<bool>,
    /// Time in s over which the model runs before the search begins.
    #[schemars(extend("default" = 0.0))]
    pub settling_time: Option<At<NonNegative>>,
}
