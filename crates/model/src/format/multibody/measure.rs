//! Sensors inside a mechanism.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Vector;
use crate::format::{At, Foreign};

/// A sensor: exactly one of these, with what belongs to it. It measures the state that a step
/// solves for, so that feedback has no delay.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Measure {
    /// The displacement of this node along `axis` from the origin, in m.
    pub displacement: Option<At<String>>,
    /// The velocity of this node along `axis`, in m/s.
    pub velocity: Option<At<String>>,
    /// The angular velocity of this node about `axis`, in rad/s.
    pub angular_velocity: Option<At<String>>,
    /// The coordinate of this joint: the angle of a `revolute` or `cylindrical` one in rad,
    /// between -π and π, or the distance of a `prismatic` one in m; zero at the start.
    pub coordinate: Option<At<String>>,
    /// The rate of the coordinate of this joint.
    pub rate: Option<At<String>>,
    /// The force along `axis` in N that this joint exerts on its second node. At the very start
    /// it counts as zero.
    pub force: Option<At<String>>,
    /// The moment about `axis` in N·m, and about the node, that this joint exerts on its second
    /// node. At the very start it counts as zero.
    pub moment: Option<At<String>>,
    /// The tension of this spring in N. Not of one with `maxwell` elements.
    pub tension: Option<At<String>>,
    /// A fixed direction, where one is needed.
    pub axis: Option<At<Vector>>,
    /// One of a registered kind instead.
    #[schemars(skip)]
    pub foreign: Option<At<Foreign>>,
}
