//! Joints: algebraic constraints between markers on two nodes.
//!
//! Every joint of the usual kind is a list of scalar [`Row`]s; [`families`](self) of them are the
//! constructors of [`Joint`]. Each row knows its gradient and its second derivative, so a new joint
//! is a constructor of a few lines. Constraints that are not made of such rows implement
//! [`Element`] themselves, as [`PrescribedPose`] does.

mod families;
mod pose;
mod row;

pub use families::Direction;
pub use pose::PrescribedPose;
pub use row::Row;

use crate::drive::Drive;
use crate::element::{Account, At, Element, Jacobian, Residual, Weights};
use crate::math::{Mat3, Vec3};
use crate::node::{Marker, NodeId};
use crate::rotation::Quaternion;
use row::{Gradient, RowKind};

/// Constraints between two markers.
#[derive(Clone, Debug)]
pub struct Joint {
    nodes: [NodeId; 2],
    offsets: [Vec3; 2],
    axes: [Quaternion; 2],
    rows: Vec<Row>,
    /// Prescribed rotation vector, for rows of kind turn.
    turn: [Drive; 3],
}

/// What all rows of a joint share at one state.
pub(crate) struct Geometry {
    /// From the nodes to the markers.
    pub arms: [Vec3; 2],
    /// Axes of the markers in the absolute frame.
    pub axes: [Mat3; 2],
    /// From the first marker to the second.
    pub between: Vec3,
    /// Rotation vector from the prescribed relative orientation to the present one, in the axes
    /// of the first marker.
    pub theta: Vec3,
}

impl Joint {
    /// A joint made of rows.
    pub fn from_rows(a: Marker, b: Marker, rows: Vec<Row>) -> Self {
        Self {
            nodes: [a.node, b.node],
            offsets: [a.offset, b.offset],
            axes: [a.orientation, b.orientation],
            rows,
            turn: [Drive::ZERO, Drive::ZERO, Drive::ZERO],
        }
    }

    /// Prescribes the rotation vector from the first marker's axes to the second's.
    pub fn turning(self, turn: [Drive; 3]) -> Self {
        Self { turn, ..self }
    }

    fn geometry(&self, at: &At<'_>) -> Geometry {
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let arms = [a.rotation * self.offsets[0], b.rotation * self.offsets[1]];
        let [first, second] = [(a, 0), (b, 1)].map(|(n, i)| n.orientation.times(self.axes[i]));
        let theta = if self
            .rows
            .iter()
            .any(|row| matches!(row.kind, RowKind::Turn { .. }))
        {
            let [x, y, z] = [0, 1, 2].map(|i| self.turn[i].value(at.time, at.inputs));
            let target = Quaternion::exp(Vec3::new(x, y, z));
            let relative = first.conjugate().times(second);
            relative.times(target.conjugate()).log()
        } else {
            Vec3::ZERO
        };
        Geometry {
            arms,
            axes: [first.matrix(), second.matrix()],
            between: b.position + arms[1] - a.position - arms[0],
            theta,
        }
    }
}

impl Element for Joint {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn constraints(&self) -> usize {
        self.rows.len()
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let geometry = self.geometry(at);
        let mut load = Gradient::default();
        for (index, (row, &multiplier)) in self.rows.iter().zip(at.multipliers).enumerate() {
            let target = row.target.value(at.time, at.inputs);
            out.constraint(index, row.value(&geometry) - target);
            load.add_scaled(&row.gradient(&geometry), -multiplier);
        }
        for node in 0..2 {
            out.load(node, load.position[node], load.rotation[node]);
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let geometry = self.geometry(at);
        for (index, (row, &multiplier)) in self.rows.iter().zip(at.multipliers).enumerate() {
            let gradient = row.gradient(&geometry);
            for node in 0..2 {
                out.constraint(
                    index,
                    node,
                    gradient.position[node],
                    gradient.rotation[node],
                );
            }
            row.add_hessian(&geometry, multiplier * weights.stiffness, out);
        }
    }

    /// Power of the prescribed motion, by the reaction.
    fn energy(&self, at: &At<'_>) -> Account {
        let geometry = self.geometry(at);
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let power = |(row, &multiplier): (&Row, &f64)| {
            let g = row.gradient(&geometry);
            let rate = g.position[0].dot(a.velocity)
                + g.position[1].dot(b.velocity)
                + g.rotation[0].dot(a.angular_velocity)
                + g.rotation[1].dot(b.angular_velocity);
            -multiplier * rate
        };
        Account {
            supplied: self.rows.iter().zip(at.multipliers).map(power).sum(),
            ..Account::default()
        }
    }
}
