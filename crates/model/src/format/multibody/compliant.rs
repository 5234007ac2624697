//! Springs, bushings, and relations between joints.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Given, Orientation, Vector};
use crate::format::{At, Formula, Fraction, NonNegative, Positive};

/// Pairs of numbers.
pub(crate) type Pairs = Vec<At<Vector>>;

/// A massless spring, damper or rod between two points. It pulls them together with
/// `stiffness · elongation + damping · rate`, or as its table says.
#[derive(Debug, Deserialize, JsonSchema)]
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
    /// Tension (N) over elongation and rate, instead of stiffness and damping.
    pub map: Option<At<Map>>,
    /// Whether it only pulls or only pushes: a rope, a bumper. By default it does both.
    pub acts: Option<Acts>,
    /// The tension in N as an expression of the elongation `d`, its rate `v` and time `t`, instead
    /// of all the others but `length` and `acts`.
    pub force: Option<At<Formula>>,
    /// Hysteresis after Bouc and Wen, with `stiffness` at small elongations; without `damping`.
    pub hysteresis: Option<At<Hysteresis>>,
    /// Viscoelastic: Maxwell (Prony) elements, each a pair of stiffness (N/m) and relaxation time
    /// (s), in parallel with the spring of `stiffness`; without `damping`.
    #[schemars(extend("x-formerly" = "branches"))]
    pub maxwell: Option<At<Pairs>>,
}

/// Hysteresis after Bouc and Wen: the tension is `ratio · stiffness · d + (1 - ratio) · stiffness · z`,
/// with `dz/dd = 1 - |z/yield|^exponent (softness + (1 - softness) sgn(z dd))`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Hysteresis {
    /// Ratio of the stiffness at large elongations to that at small ones.
    #[schemars(required)]
    pub ratio: Option<At<Fraction>>,
    /// The elongation in m at which it yields.
    #[schemars(required)]
    #[serde(rename = "yield")]
    pub yield_at: Option<At<Positive>>,
    /// Sharpness of the transition.
    #[schemars(extend("default" = 1.0))]
    pub exponent: Option<At<Positive>>,
    /// How soft unloading is, from 0 to 1; at 0.5 it is straight.
    #[schemars(extend("default" = 0.5))]
    pub softness: Option<At<Fraction>>,
}

/// A massless cable that runs over pulleys, or through points, and only pulls.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Cable {
    /// Two to eight nodes in order, `ground` among them: the first and the last are its ends.
    #[schemars(required)]
    pub through: Option<At<Vec<At<String>>>>,
    /// A point on each of them in m, at the start, instead of the nodes themselves.
    pub points: Option<At<Vec<At<Vector>>>>,
    /// The frame in which the points are given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Stiffness of the whole cable in N/m.
    #[schemars(required)]
    pub stiffness: Option<At<Positive>>,
    /// Damping in N·s/m.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Free (unstretched) length in m, which a winch at the first end may change in time. By default the
    /// initial length.
    pub length: Option<At<Given>>,
    /// Radii in m of the pulleys between the ends, in order; 0 for a point. The points are their
    /// centres. A negative one says that the cable runs clockwise about `axis`. By default all are
    /// points.
    pub radii: Option<At<Vector>>,
    /// The axis of the pulleys, at the start; each turns with its node. The cable lies in the plane across
    /// it. By default the third axis of the frame.
    pub axis: Option<At<Vector>>,
    /// Coefficients of friction between the cable and the pulleys or points between the ends, in order:
    /// the tensions on both sides of a pulley differ by the factor e^(coefficient · angle of wrap) at
    /// most. By default it runs freely.
    pub friction: Option<At<Vector>>,
    /// With `friction`: by so many m the cable gives before it slips.
    #[schemars(extend("default" = 1e-4))]
    pub presliding: Option<At<Positive>>,
}

/// A joint with clearance, as a force: the two nodes move freely against each other up to the gap, and
/// beyond are pushed back by `stiffness · penetration · (1 + damping · rate of penetration)`, after Hunt
/// and Crossley.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Clearance {
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// Where it is in m. By default at the second node, or at the first if the second is the
    /// ground.
    pub position: Option<At<Vector>>,
    /// The axis of a pin in a bore: nothing acts along it. Without it, a ball in a socket.
    pub axis: Option<At<Vector>>,
    /// The frame in which position and axis are given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// The gap in m: difference of the radii of bore and pin. The pin starts in the middle.
    #[schemars(required)]
    pub gap: Option<At<Positive>>,
    /// Stiffness in N/m.
    #[schemars(required)]
    pub stiffness: Option<At<Positive>>,
    /// Damping in s/m.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Friction where pin or ball touch. By default there is none.
    pub friction: Option<At<SurfaceFriction>>,
}

/// Coulomb's friction on the surface of a pin or a ball, `coefficient · normal force · slip / √(slip² + speed²)`: what
/// ought to stick creeps.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SurfaceFriction {
    /// Coefficient of friction.
    #[schemars(required)]
    pub coefficient: Option<At<NonNegative>>,
    /// Radius of the pin or the ball in m.
    #[schemars(required)]
    pub radius: Option<At<Positive>>,
    /// Slip in m/s at which 1/√2 of the friction acts.
    #[schemars(extend("default" = 1e-3))]
    pub speed: Option<At<Positive>>,
}

/// When a spring acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Acts {
    /// Only where it is longer than its free length, and never pushing.
    InTension,
    /// Only where it is shorter than its free length, and never pulling.
    InCompression,
}

/// A force over elongation (or angle) and rate: bilinear between the given ones, constant beyond.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Map {
    /// Rising elongations in m, or angles in rad.
    #[schemars(required)]
    pub d: Option<At<Vector>>,
    /// Rising rates in m/s, or rad/s.
    #[schemars(required)]
    pub v: Option<At<Vector>>,
    /// For each elongation a list of forces in N, or torques in N·m, one for each rate.
    #[schemars(required)]
    pub force: Option<At<Vec<At<Vector>>>>,
}

/// A point-to-point force element: a force or pressures that the subsystem receives act along the
/// line between two points, as in a hydraulic cylinder or a linear motor. It has no mass.
#[derive(Debug, Deserialize, JsonSchema)]
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
    /// A force in N besides, positive when it pushes the two points apart: a time function, or
    /// `"static"` for the force that holds the line at its length in static equilibrium. That is found
    /// before the run, which then starts in equilibrium.
    pub load: Option<At<Given>>,
}

/// A motor in a joint: a torque or force that depends on the speed.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Motor {
    /// The `revolute`, `cylindrical` or `prismatic` joint that it drives, on its second node against
    /// the first.
    #[schemars(required)]
    pub joint: Option<At<String>>,
    /// Speed (rad/s or m/s) and torque (N·m) or force (N) in pairs of rising speed: straight lines
    /// between, constant beyond.
    #[schemars(required)]
    pub characteristic: Option<At<Pairs>>,
    /// A factor of the torque, such as a throttle between -1 and 1.
    #[schemars(extend("default" = 1.0))]
    pub command: Option<At<Given>>,
}

/// A servo in a joint: proportional and derivative feedback of the joint's coordinate. It exerts
/// `kp · (position - coordinate) + kd · (velocity - rate)` on the second node against the first, at most `limit`. It is
/// part of the equations that a step solves, so that it may be as stiff as one likes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Servo {
    /// The `revolute`, `cylindrical` or `prismatic` joint that it drives.
    #[schemars(required)]
    pub joint: Option<At<String>>,
    /// Where the coordinate of the joint should be, in rad over any number of revolutions or in m; the joint
    /// starts at zero.
    #[schemars(extend("default" = 0.0))]
    pub position: Option<At<Given>>,
    /// The rate that the coordinate should have, in rad/s or m/s. By default the rate of `position` where that is a
    /// function of time, and zero where it is an input or reads sensors.
    pub velocity: Option<At<Given>>,
    /// Gain of the position, in N·m/rad or N/m: a stiffness.
    #[schemars(extend("default" = 0.0))]
    pub kp: Option<At<NonNegative>>,
    /// Gain of the velocity, in N·m·s/rad or N·s/m: a damping.
    #[schemars(extend("default" = 0.0))]
    pub kd: Option<At<NonNegative>>,
    /// The largest torque in N·m, or force in N. By default there is no limit.
    pub limit: Option<At<Positive>>,
    /// Moment of inertia of the rotor in kg·m², which the joint feels times the square of `gear`. It resists the
    /// relative motion in the joint alone. The rotor is a node `<name>.rotor` of its own, which turns with the
    /// coordinate.
    #[schemars(extend("default" = 0.0))]
    pub rotor_inertia: Option<At<NonNegative>>,
    /// With `rotor_inertia`: revolutions of the rotor for one of the joint, or radians for one metre.
    #[schemars(extend("default" = 1.0))]
    pub gear: Option<At<Positive>>,
}

/// A rigid link: nodes that move with a master node as one rigid body.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct RigidLink {
    /// The node that leads, `ground` among them.
    #[schemars(required)]
    pub master: Option<At<String>>,
    /// The nodes that follow.
    #[schemars(required)]
    pub nodes: Option<At<Vec<At<String>>>>,
}

/// A torsion spring and damper about an axis of two nodes, which a joint should keep common to both. Where
/// none does, the angle is the twist: what is left of the relative rotation besides the shortest one that tilts one
/// axis into the other; the moment acts about the mean of both axes, and energy is stored. Axes that come near to
/// opposite directions have no twist. The angle begins between -π and π and counts full revolutions from there.
#[derive(Debug, Deserialize, JsonSchema)]
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
    /// Damping in N·m·s/rad of the rate of the angle; a free angle that moves is not damped against.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Angle (rad) and torque (N·m) in pairs of rising angle, instead of a stiffness.
    pub table: Option<At<Pairs>>,
    /// Torque (N·m) over angle and rate, instead of stiffness and damping.
    pub map: Option<At<Map>>,
    /// The torque in N·m as an expression of the twist `d` beyond the free angle, the rate `v` of the angle and time
    /// `t`, instead of stiffness and damping.
    pub torque: Option<At<Formula>>,
    /// The free (unloaded) angle in rad, from the initial orientation.
    #[schemars(extend("default" = 0.0))]
    pub angle: Option<At<Given>>,
}

/// Springs and dampers against displacement and rotation of `b` relative to `a`, in axes fixed to
/// `a`; without load at the start.
#[derive(Debug, Deserialize, JsonSchema)]
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
    /// The whole stiffness instead: six rows of six numbers, a symmetric matrix of displacements along
    /// and rotations about the three axes (N/m, N/rad, N·m/rad).
    pub stiffness_matrix: Option<At<Vec<At<Vector>>>>,
    /// The whole damping instead: six rows of six numbers, a symmetric matrix.
    pub damping_matrix: Option<At<Vec<At<Vector>>>>,
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
pub(crate) struct Transmission {
    /// The two joints.
    #[schemars(required)]
    pub joints: Option<At<Vec<At<String>>>>,
    /// The two ratios: the radii of two gear wheels that rotate against each other; the radius of a
    /// pinion and -1 for its rack.
    #[schemars(required)]
    pub ratios: Option<At<Vector>>,
    /// Stiffness of teeth or belt in N/m, for ratios that are radii in m: the sum then gives. By
    /// default it is rigid.
    pub stiffness: Option<At<Positive>>,
    /// With `stiffness`: damping, in N·s/m, or in s/m where there is `backlash`.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// With `stiffness`: how far the sum may be off without any force, in m, in both directions
    /// together.
    #[schemars(extend("default" = 0.0))]
    pub backlash: Option<At<NonNegative>>,
}
