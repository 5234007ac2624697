//! What a multibody subsystem receives and sends.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Orientation, Vector};
use crate::format::{At, Formula};

/// What an input port receives: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// A force and a moment on this node, or on a point with an `offset` from it, in absolute axes.
    /// In return the subsystem sends the motion of the node or point at the port `<input>.motion`.
    pub wrench: Option<At<String>>,
    /// The prescribed motion of this node. In return the subsystem sends its load on the
    /// node (the reaction and inertia force, sign reversed) at the port `<input>.load`.
    pub pose: Option<At<String>>,
    /// A number of this unit, such as `"N"`, for use wherever a time function may stand, as
    /// `{ input = "<port>" }`.
    pub scalar: Option<At<String>>,
    /// A force along this actuator in N, positive when it pushes the two points apart. In return
    /// the subsystem sends length and rate of the line at the ports `<input>.length` and
    /// `<input>.rate`.
    pub thrust: Option<At<String>>,
    /// A pressure in this actuator in Pa, which acts on `area`.
    pub pressure: Option<At<String>>,
    /// A torque in N·m about the axis of this `revolute` or `cylindrical` joint, on its second node;
    /// the opposite acts on the first. In return the subsystem sends angle, rate and acceleration of
    /// the joint at the port `<input>.motion`, as lumped subsystems about an axis take them.
    pub torque: Option<At<String>>,
    /// A force in N along the axis of this `prismatic` or `cylindrical` joint, on its second node; the
    /// opposite acts on the first. In return the subsystem sends distance, rate and acceleration of
    /// the joint at the port `<input>.motion`, as lumped subsystems along a line take them.
    pub force: Option<At<String>>,
    /// Angle, rate and acceleration of this `revolute` or `cylindrical` joint, which are prescribed.
    /// In return the subsystem sends its torque on the owner of that motion at the port
    /// `<input>.torque`.
    pub rotation: Option<At<String>>,
    /// Distance, rate and acceleration of this `prismatic` or `cylindrical` joint, which are
    /// prescribed. In return the subsystem sends its force on the owner of that motion at the port
    /// `<input>.force`.
    pub sliding: Option<At<String>>,
    /// With `pressure`: the area in m² with which it pushes the two points apart; negative where
    /// it pulls them together.
    pub area: Option<At<Formula>>,
    /// With `wrench`: where it acts, relative to the node, in m and in node axes; the moment is
    /// about that point.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub offset: Option<At<Vector>>,
    /// With `wrench`: the axes of the point relative to those of the node, for the motion that is
    /// sent in return. By default those of the node.
    pub orientation: Option<At<Orientation>>,
}

/// What an output port sends: exactly one of these, with what belongs to it.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// The motion in space of this node, or of a point with an `offset` from it: position,
    /// orientation, velocities and accelerations.
    pub motion: Option<At<String>>,
    /// Displacement, velocity and acceleration of this node along `axis`, as lumped subsystems
    /// take them. The displacement is measured from the origin.
    pub translation: Option<At<String>>,
    /// Only the displacement of this node along `axis`, in m.
    pub displacement: Option<At<String>>,
    /// Only the velocity of this node along `axis`, in m/s.
    pub velocity: Option<At<String>>,
    /// Only the acceleration of this node along `axis`, in m/s².
    pub acceleration: Option<At<String>>,
    /// The force and moment, about the node and in absolute axes, that this joint, spring,
    /// torsion spring or bushing exerts on the node named by `on`.
    pub reaction: Option<At<String>>,
    /// The length of this actuator, in m.
    pub length: Option<At<String>>,
    /// The rate of the length of this actuator, in m/s.
    pub rate: Option<At<String>>,
    /// What this sensor measures.
    pub sensor: Option<At<String>>,
    /// Angle, rate and acceleration of this `revolute` or `cylindrical` joint, over any number of
    /// revolutions.
    pub rotation: Option<At<String>>,
    /// Distance, rate and acceleration of this `prismatic` or `cylindrical` joint.
    pub sliding: Option<At<String>>,
    /// With `translation`, `displacement`, `velocity` and `acceleration`: a fixed direction.
    pub axis: Option<At<Vector>>,
    /// With all that is sent of a node: a point away from it, in m and in node axes, whose motion is
    /// sent instead.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub offset: Option<At<Vector>>,
    /// With `motion`: the axes of the point relative to those of the node. By default those of the
    /// node.
    pub orientation: Option<At<Orientation>>,
    /// With `reaction`: the node; by default the second of the element.
    pub on: Option<At<String>>,
}
