//! Springs, bushings, and relations between joints.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Given, Orientation, Vector};
use crate::format::{At, Formula, NonNegative};

/// Pairs of numbers.
pub(crate) type Pairs = Vec<At<Vector>>;

/// A massless spring, damper or rod between two points. It pulls them together with
/// `stiffness · elongation + damping · rate`, or as its table says.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Spring {
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// Two points `[on a, on b]` in m, at the start, instead of the nodes themselves.
    pub points: Option<At<Vec<At<Vector>>>>,
    /// The frame in which the points are given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Stiffness in N/m.
    #[schemars(extend("default" = 0.0))]
    pub stiffness: Option<At<Formula>>,
    /// Damping in N·s/m.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Free (unstretched) length in m. By default the initial distance of the points.
    pub length: Option<At<Given>>,
    /// Elongation (m) and tension (N) in pairs of rising elongation, instead of a stiffness.
    pub table: Option<At<Pairs>>,
    /// The tension in N as an expression of the elongation `d`, its rate `v` and time `t`, instead
    /// of all the others but `length`.
    pub force: Option<At<Formula>>,
    /// Viscoelastic: Maxwell (Prony) elements, each a pair of stiffness (N/m) and relaxation time
    /// (s), in parallel with the spring of `stiffness`; without `damping`.
    #[schemars(extend("x-formerly" = "branches"))]
    pub maxwell: Option<At<Pairs>>,
}

/// A point-to-point force element: a force or pressures that the subsystem receives act along the
/// line between two points, as in a hydraulic cylinder or a linear motor. It has no mass.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Actuator {
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// Two points `[on a, on b]` in m, at the start, instead of the nodes themselves.
    pub points: Option<At<Vec<At<Vector>>>>,
    /// The frame in which the points are given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Damping in N·s/m: friction of a cylinder whose pressures are received. A received force of
    /// a hydraulic subsystem has its friction in it already.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
}

/// A torsion spring and damper about an axis that a joint keeps common to two nodes. The angle
/// begins between -π and π and counts full revolutions from there.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct TorsionSpring {
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// The axis. By default the third axis of the frame.
    pub axis: Option<At<Vector>>,
    /// The frame in which the axis is given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Stiffness in N·m/rad.
    #[schemars(extend("default" = 0.0))]
    pub stiffness: Option<At<Formula>>,
    /// Damping in N·m·s/rad.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// The torque in N·m as an expression of the twist `d`, its rate `v` and time `t`, instead of
    /// stiffness and damping.
    pub torque: Option<At<Formula>>,
    /// The free (unloaded) angle in rad, from the initial orientation.
    #[schemars(extend("default" = 0.0))]
    pub angle: Option<At<Given>>,
}

/// Springs and dampers against displacement and rotation of `b` relative to `a`, in axes fixed to
/// `a`; without load at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Bushing {
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// Where it is in m. By default at the second node, or at the first if the second is the
    /// ground.
    pub position: Option<At<Vector>>,
    /// Its axes. By default those of the frame.
    pub orientation: Option<At<Orientation>>,
    /// The frame in which position and orientation are given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Stiffness along the three axes in N/m.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub stiffness: Option<At<Vector>>,
    /// Damping along the three axes in N·s/m.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub damping: Option<At<Vector>>,
    /// Stiffness about the three axes in N·m/rad.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub rotational_stiffness: Option<At<Vector>>,
    /// Damping about the three axes in N·m·s/rad.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub rotational_damping: Option<At<Vector>>,
    /// Forces along the three axes in N besides, each an expression of the displacement `d` along
    /// its axis, its rate `v` and time `t`; they pull `b` back.
    pub force: Option<At<Vec<At<Formula>>>>,
    /// Torques about the three axes in N·m besides, each an expression of the component `d` of the
    /// rotation vector, its rate `v` and time `t`; they rotate `b` back.
    pub torque: Option<At<Vec<At<Formula>>>>,
}

/// A linear relation between the coordinates of two joints: the angle of a `revolute` or
/// `cylindrical` joint in rad, the distance of a `prismatic` joint in m. The sum of ratio times
/// coordinate stays as it is at the start.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Transmission {
    /// The two joints.
    #[schemars(required)]
    pub joints: Option<At<Vec<At<String>>>>,
    /// The two ratios: the radii of two gear wheels that rotate against each other; the radius of a
    /// pinion and -1 for its rack.
    #[schemars(required)]
    pub ratios: Option<At<Vector>>,
}
