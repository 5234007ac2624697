//! Joints.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Given, Orientation, Vector};
use crate::format::{At, Foreign, Formula, NonNegative, Positive};

/// A joint between two nodes. It attaches to both where they are at the start.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Joint {
    /// What it leaves free.
    #[schemars(required)]
    #[serde(rename = "type")]
    pub kind: Option<At<JointKind>>,
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// The frame in which `position`, `axis` and `orientation` are given. By default the absolute
    /// frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Where it is, in m. By default at the second node, or at the first if the second is the
    /// ground. Not for `rod`, which connects the nodes themselves or the `points`.
    pub position: Option<At<Vector>>,
    /// Its axis: of rotation, of sliding, normal to the plane, or the axle. By default the third axis of the
    /// frame.
    pub axis: Option<At<Vector>>,
    /// Its three axes instead of only one: for `fixed`, `spherical`, `universal`, `point-on-curve` and
    /// `total`.
    pub orientation: Option<At<Orientation>>,
    /// With `universal`: the arms of the cross on the first and on the second node, two directions
    /// at right angles. By default the first and second axis of `orientation`.
    pub arms: Option<At<Vec<At<Vector>>>>,
    /// With `rod` and `point-on-curve`: two points `[on a, on b]` in m instead of the nodes
    /// themselves. That on `a` is the origin of the curve.
    pub points: Option<At<Vec<At<Vector>>>>,
    /// With `constant-velocity`: the directions of the two shafts, at the start. By default both
    /// along `axis`.
    pub shafts: Option<At<Vec<At<Vector>>>>,
    /// With `point-on-curve`: the two coordinates in m as expressions of `s`, which goes from 0 to 1,
    /// along the first two axes of `orientation`. A curve that ends where it begins is closed.
    pub curve: Option<At<Vector>>,
    /// With `rolling`: the normal of the plane on `a`, away from which the wheel is. By default the third
    /// axis of the frame. `axis` is the axle.
    pub normal: Option<At<Vector>>,
    /// With `rolling`: the radius of the wheel in m.
    pub radius: Option<At<Positive>>,
    /// With `rod`: the distance in m. By default that of the initial positions.
    pub length: Option<At<Given>>,
    /// With `revolute` and `cylindrical`: the angle in rad about the axis, from the initial
    /// orientation, as it is to be.
    pub angle: Option<At<Given>>,
    /// With `prismatic` and `cylindrical`: the distance in m along the axis, from the initial
    /// position, as it is to be.
    pub slide: Option<At<Given>>,
    /// With `revolute` and `cylindrical`: the rate of the angle in rad/s as it is to be, instead of
    /// the angle, which starts at zero.
    pub angle_rate: Option<At<Given>>,
    /// With `prismatic` and `cylindrical`: the rate of the distance in m/s as it is to be, instead
    /// of the distance, which starts at zero.
    pub slide_rate: Option<At<Given>>,
    /// With `revolute` and `cylindrical`: end stops of the angle, in rad.
    pub angle_stops: Option<At<Stops>>,
    /// With `prismatic` and `cylindrical`: end stops of the distance, in m.
    pub slide_stops: Option<At<Stops>>,
    /// With `total`: for each of the three axes the displacement of `b` in m as it is to be,
    /// or `"free"` or `"locked"` (at zero).
    pub displacement: Option<At<Vec<At<Given>>>>,
    /// With `total`: for each of the three axes the component of the rotation vector in rad as it
    /// is to be, or `"free"` or `"locked"` (at zero).
    pub rotation: Option<At<Vec<At<Given>>>>,
    /// With `total`: for each of the three axes the rate of the displacement in m/s as it is to be
    /// besides the displacement, or `"free"` where the displacement alone counts.
    pub displacement_rate: Option<At<Vec<At<Given>>>>,
    /// With `total`: for each of the three axes the rate of the component of the rotation vector
    /// in rad/s as it is to be besides the component, or `"free"` where the component alone counts.
    pub rotation_rate: Option<At<Vec<At<Given>>>>,
    /// With `revolute`, `cylindrical` and `prismatic`: damping of the coordinate in N·m·s/rad or N·s/m; of a `cylindrical`
    /// joint that of the angle.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// With `revolute`, `cylindrical` and `prismatic`: inertia against the motion in the joint alone, in kg·m² or kg, such as that of a
    /// rotor times the square of its gear. It is a node `<name>.rotor` of its own, which turns with the coordinate.
    #[schemars(extend("default" = 0.0))]
    pub reflected_inertia: Option<At<NonNegative>>,
    /// Friction, with `revolute`, `prismatic`, `cylindrical`, `spherical`, `universal` and `planar`.
    pub friction: Option<At<Friction>>,
    /// One of a registered kind instead.
    #[schemars(skip)]
    pub foreign: Option<At<Foreign>>,
}

impl Joint {
    /// Whether velocities are prescribed.
    pub fn has_rates(&self) -> bool {
        self.displacement_rate.is_some() || self.rotation_rate.is_some()
    }
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JointKind {
    /// Nothing: a weld.
    #[schemars(extend("x-formerly" = "clamp"))]
    Fixed,
    /// Rotation about the axis.
    Revolute,
    /// All rotations.
    Spherical,
    /// Sliding along the axis.
    Prismatic,
    /// Sliding along the axis and rotation about it.
    Cylindrical,
    /// Rotations about the two arms of a cross.
    Universal,
    /// Sliding in the plane normal to the axis, and rotation about the axis.
    Planar,
    /// Sliding along the axis, and all rotations.
    #[schemars(extend("x-formerly" = "in-line"))]
    PointOnLine,
    /// Sliding in the plane normal to the axis, and all rotations.
    #[schemars(extend("x-formerly" = "in-plane"))]
    PointOnPlane,
    /// Rotations about all axes but the shafts, which turn at the same speed whatever the angle
    /// between them.
    ConstantVelocity,
    /// Everything but leaving a plane curve that is drawn on the first node: a cam, a slot, a track.
    /// The point may move across the plane.
    PointOnCurve,
    /// Rolling of a thin wheel, `b`, on a plane of `a`, which it touches at the start, without slip; and tilting.
    Rolling,
    /// Everything but the distance of two points: a massless rigid rod.
    #[schemars(extend("x-formerly" = "distance"))]
    Rod,
    /// Those of the six relative motions of `b` in the axes fixed to `a` that are not locked or
    /// prescribed. With `ground` as `a` they are absolute (a total pin joint).
    Total,
}

/// End stops of a joint: beyond them it is pushed back by
/// `stiffness · penetration · (1 + damping · rate of penetration)`, after Hunt and Crossley, and never
/// pulled.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Stops {
    /// The lower stop; none, if it is left out. The joint starts at zero.
    pub lower: Option<At<Formula>>,
    /// The upper stop; none, if it is left out.
    pub upper: Option<At<Formula>>,
    /// Stiffness in N/m or N·m/rad.
    #[schemars(required)]
    pub stiffness: Option<At<Positive>>,
    /// Damping in s/m or s/rad.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
}

/// LuGre friction: bristles of stiffness σ₀ and damping σ₁ (per normal force), viscous friction
/// σ₂, and a level between the static and the Coulomb coefficient. The normal force is `preload`
/// plus the reaction of the joint. Where a joint slips in several directions at once, as a
/// `cylindrical` one, they share the friction.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Friction {
    /// Coulomb coefficient.
    #[schemars(required)]
    pub coulomb: Option<At<Positive>>,
    /// Static coefficient. By default the Coulomb coefficient.
    pub stiction: Option<At<Positive>>,
    /// Stribeck velocity in m/s.
    #[schemars(extend("default" = 0.01))]
    pub stribeck: Option<At<Positive>>,
    /// Bristle stiffness σ₀ in 1/m.
    #[schemars(required)]
    pub stiffness: Option<At<Positive>>,
    /// Bristle damping σ₁ in s/m.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Viscous friction σ₂ in s/m.
    #[schemars(extend("default" = 0.0))]
    pub viscous: Option<At<NonNegative>>,
    /// Radius in m on which it acts: of the pin of a `revolute` or `cylindrical` joint, of the ball of
    /// a `spherical` one, of the bearings of a `universal` one; the mean radius of the face of a
    /// `planar` one, for the rotation about its normal.
    pub radius: Option<At<Positive>>,
    /// Normal force without any reaction in N.
    #[schemars(extend("default" = 0.0))]
    pub preload: Option<At<NonNegative>>,
}
