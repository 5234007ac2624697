//! Nodes: points with a position and an orientation.

use oldham_space::Quaternion;
use oldham_space::{Mat3, Vec3};

/// Index of a node in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) usize);

impl NodeId {
    /// The absolute frame: a node that never moves.
    pub const GROUND: Self = Self(0);

    /// Its place among the nodes of its model, the ground being the first.
    pub fn index(self) -> usize {
        self.0
    }
}

/// The motion of a node in the absolute frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Position.
    pub position: Vec3,
    /// Orientation.
    pub orientation: Quaternion,
    /// The same orientation as a matrix: node axes to absolute axes.
    pub rotation: Mat3,
    /// Velocity.
    pub velocity: Vec3,
    /// Angular velocity.
    pub angular_velocity: Vec3,
}

impl Motion {
    /// At rest in a place.
    pub fn at_rest(position: Vec3, orientation: Quaternion) -> Self {
        let orientation = orientation.normalised();
        Self {
            position,
            orientation,
            rotation: orientation.matrix(),
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
        }
    }

    /// At rest in a place, with the axes of the absolute frame.
    pub fn at(position: Vec3) -> Self {
        Self::at_rest(position, Quaternion::IDENTITY)
    }

    /// The same pose with another velocity and angular velocity.
    pub fn moving(self, velocity: Vec3, angular_velocity: Vec3) -> Self {
        Self {
            velocity,
            angular_velocity,
            ..self
        }
    }

    /// Where the node is after `dt`, by its present velocity.
    pub(crate) fn extrapolated(&self, dt: f64) -> Self {
        self.displaced(self.velocity * dt, self.angular_velocity * dt)
    }

    /// Moved and turned, with the same velocities.
    pub(crate) fn displaced(&self, displacement: Vec3, turn: Vec3) -> Self {
        let turn = Quaternion::exp(turn);
        let orientation = turn.times(self.orientation).normalised();
        Self {
            position: self.position + displacement,
            orientation,
            rotation: orientation.matrix(),
            ..*self
        }
    }
}

/// A place fixed to a node: where a joint or an element is attached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// The node that carries it.
    pub node: NodeId,
    /// Position relative to the node, in node axes.
    pub offset: Vec3,
    /// Axes of the marker relative to the node's.
    pub orientation: Quaternion,
}

impl From<NodeId> for Marker {
    /// At the node itself.
    fn from(node: NodeId) -> Self {
        Self::on(node)
    }
}

impl Marker {
    /// At the node itself.
    pub fn on(node: NodeId) -> Self {
        Self {
            node,
            offset: Vec3::ZERO,
            orientation: Quaternion::IDENTITY,
        }
    }

    /// From the node to the marker, in absolute axes.
    pub(crate) fn arm(&self, node: &Motion) -> Vec3 {
        node.rotation * self.offset
    }

    /// Moved away from the node, in node axes.
    pub fn offset(self, offset: Vec3) -> Self {
        Self { offset, ..self }
    }

    /// With its own axes.
    pub fn oriented(self, orientation: Quaternion) -> Self {
        Self {
            orientation: orientation.normalised(),
            ..self
        }
    }

    /// With its third axis along `axis`, in node axes.
    pub fn axis(self, axis: Vec3) -> Self {
        let z = axis.unit();
        let x = z.perpendicular();
        let axes = Mat3::from_columns(x, z.cross(x), z);
        self.oriented(Quaternion::from_matrix(&axes))
    }
}
