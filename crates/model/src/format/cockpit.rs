//! What the driver and those who look on have before them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Formula};

/// What the driver of the model, and those who look on, have before them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Cockpit {
    /// The node of the body on which the driver sits, as `"mechanism.node"`, such as `"car.chassis"`: chase and cockpit cameras go
    /// with it, its first axis points ahead. By default the first node of a mechanism with wheels.
    pub on: Option<At<String>>,
    /// Where the eye of the driver is at the start, in m. By default a little above the origin of the node.
    pub eye: Option<At<[At<Formula>; 3]>>,
    /// Recorded signals that instruments show.
    #[serde(default)]
    pub gauges: Vec<At<Gauge>>,
}

/// An instrument for a signal.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Gauge {
    /// The recorded signal, such as `"car.vx"`.
    #[schemars(required)]
    pub signal: Option<At<String>>,
    /// What is written beside it. By default the name of the signal.
    pub label: Option<At<String>>,
    /// The unit that it is shown in, such as `"km/h"`. By default the SI unit.
    pub unit: Option<At<String>>,
    /// The lowest and the highest value of its scale, in that unit. By default there is a number alone.
    pub range: Option<At<[At<Formula>; 2]>>,
}
