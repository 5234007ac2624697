//! Positions and orientations: frames and nodes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::format::{At, Formula, Positive};

/// Numbers in a list.
pub(crate) type Vector = Vec<At<Formula>>;

/// Positive numbers in a list.
pub(crate) type Lengths = Vec<At<Positive>>;

/// A fixed reference frame.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Frame {
    /// The frame in which this one is given. By default the absolute frame.
    #[serde(rename = "in")]
    pub parent: Option<At<String>>,
    /// Its origin in m.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub position: Option<At<Vector>>,
    /// Its axes. By default those of the frame in which it is given.
    pub orientation: Option<At<Orientation>>,
}

/// A node: a point with axes that moves.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Node {
    /// The frame in which the rest is given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// Its initial position in m.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub position: Option<At<Vector>>,
    /// Its initial axes. By default those of the frame.
    pub orientation: Option<At<Orientation>>,
    /// Its initial velocity in m/s, in the axes of the frame. Before the start velocities are
    /// changed as little as possible until they fit all joints.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub velocity: Option<At<Vector>>,
    /// Its initial angular velocity in rad/s, in the axes of the frame.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub angular_velocity: Option<At<Vector>>,
}

/// An orientation: `axis` and `angle`, or one of the others.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Orientation {
    /// The axis of a rotation by `angle`.
    pub axis: Option<At<Vector>>,
    /// The angle of a rotation about `axis`, in rad.
    pub angle: Option<At<Formula>>,
    /// Three angles in rad: a rotation about the first axis, then about the rotated second axis,
    /// then about the rotated third axis.
    pub euler: Option<At<Vector>>,
    /// A rotation vector: its direction is the axis, its length the angle in rad.
    pub vector: Option<At<Vector>>,
    /// A quaternion of four numbers, the scalar first; it is normalised.
    pub quaternion: Option<At<Vector>>,
    /// Where the first axis points. Two of `x`, `y` and `z` are given: the earlier one is followed exactly, the other one
    /// as far as it is perpendicular to it.
    pub x: Option<At<Vector>>,
    /// Where the second axis points.
    pub y: Option<At<Vector>>,
    /// Where the third axis points.
    pub z: Option<At<Vector>>,
    /// The rotation matrix, row by row: its columns are the axes.
    pub matrix: Option<At<Vec<At<Vector>>>>,
}
