//! Joints: algebraic constraints between markers on two nodes.
//!
//! Every joint of the usual kind is a list of scalar [`Row`]s; [`families`](self) of them are the
//! constructors of [`Joint`]. Each row knows its gradient and its second derivative, so a new joint
//! is a constructor of a few lines. Constraints that are not made of such rows implement
//! [`Element`] themselves, as [`PrescribedPose`] does.

mod coordinate;
mod counter;
mod curve;
mod driven;
mod families;
mod friction;
mod lugre;
mod motion;
mod pose;
mod relieved;
mod rolling;
mod row;
mod transmission;

pub use coordinate::Coordinate;
pub use counter::AngleCounter;
pub use curve::{PlaneCurve, PointOnCurve};
pub use driven::{DrivenCoordinate, Target};
pub use families::Direction;
pub use friction::Frictional;
pub use lugre::{BristleRates, Bristles, LuGre};
pub use motion::PrescribedMotion;
pub use pose::PrescribedPose;
pub(crate) use relieved::Relieved;
pub use rolling::RollingWheel;
pub use row::Row;
pub use transmission::{ElasticTransmission, Transmission};

use crate::drive::Drive;
use crate::element::{
    At, Element, ElementEnergy, Jacobian, References, Residual, Weights, refer_drives, refer_nodes,
};
use crate::node::{Marker, NodeId};
use oldham_space::Quaternion;
use oldham_space::{Mat3, Vec3};
pub(crate) use row::{Gradient, RowKind, add_along_hessian, spin_of};
use row::{Moving, TurnRates};

/// Constraints between two markers.
#[derive(Clone, Debug)]
pub struct Joint {
    ends: Ends,
    rows: Vec<Row>,
    /// Prescribed rotation vector, for rows of kind turn.
    turn: [Drive; 3],
}

/// The two markers that a joint connects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub nodes: [NodeId; 2],
    pub offsets: [Vec3; 2],
    pub axes: [Quaternion; 2],
}

impl Ends {
    pub fn new(a: Marker, b: Marker) -> Self {
        Self {
            nodes: [a.node, b.node],
            offsets: [a.offset, b.offset],
            axes: [a.orientation, b.orientation],
        }
    }

    /// Between two markers.
    pub fn of([a, b]: [Marker; 2]) -> Self {
        Self::new(a, b)
    }

    /// Orientations of the markers.
    fn orientations(&self, at: &At<'_>) -> [Quaternion; 2] {
        [0, 1].map(|i| {
            let node = at.motion(self.nodes[i]);
            node.orientation.times(self.axes[i])
        })
    }

    pub fn geometry(&self, at: &At<'_>) -> Geometry {
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let arms = [a.rotation * self.offsets[0], b.rotation * self.offsets[1]];
        Geometry {
            arms,
            axes: self.orientations(at).map(Quaternion::matrix),
            between: b.position + arms[1] - a.position - arms[0],
            theta: Vec3::ZERO,
        }
    }
}

/// What all rows of a joint share at one state.
#[derive(Clone, Copy)]
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
            ends: Ends::new(a, b),
            rows,
            turn: [Drive::ZERO, Drive::ZERO, Drive::ZERO],
        }
    }

    pub(crate) fn ends(&self) -> &Ends {
        &self.ends
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The prescribed rotation vector.
    pub(crate) fn turn(&self) -> &[Drive; 3] {
        &self.turn
    }

    /// Prescribes the rotation vector from the first marker's axes to the second's.
    pub fn turning(self, turn: [Drive; 3]) -> Self {
        Self { turn, ..self }
    }

    /// Derivatives of the violations if the prescribed rotation vector has these, and the targets
    /// of rows have those.
    fn derivatives(
        &self,
        at: &At<'_>,
        turn: [Vec3; 2],
        targets: impl Fn(usize, &Row) -> [f64; 2],
        out: &mut [[f64; 2]],
    ) {
        let g = self.geometry(at);
        let motions = self.ends.nodes.map(|node| at.motion(node));
        let moving = Moving::new(&g, motions);
        let mut turning = TurnRates::default();
        if self.turns() {
            let [a, b] = motions.map(|motion| motion.angular_velocity);
            // Seen in the axes of the first marker, which turn with a.
            let seen = |v: Vec3| g.axes[0].transpose_mul(v);
            let spin = [seen(b - a), -seen(a.cross(b))];
            let [x, y, z] = [0, 1, 2].map(|i| self.turn[i].value(at.time, at.inputs));
            let target = spin_of(Vec3::new(x, y, z), turn[0], turn[1]);
            turning = TurnRates::new(g.theta, spin, target);
        }
        for (index, (row, out)) in self.rows.iter().zip(out).enumerate() {
            let [first, second] = row.derivatives(&g, &moving, &turning);
            let target = targets(index, row);
            *out = [first - target[0], second - target[1]];
        }
    }

    /// Whether some row is a component of the rotation vector.
    fn turns(&self) -> bool {
        let turns = |row: &Row| matches!(row.kind, RowKind::Turn { .. });
        self.rows.iter().any(turns)
    }

    /// Whether a row prescribes a motion.
    fn is_driven(&self, row: &Row) -> bool {
        let moves = |drive: &Drive| !matches!(drive, Drive::Constant(_));
        match row.kind {
            RowKind::Turn { .. } => self.turn.iter().any(moves) || moves(&row.target),
            _ => moves(&row.target),
        }
    }

    fn geometry(&self, at: &At<'_>) -> Geometry {
        let mut geometry = self.ends.geometry(at);
        if self.turns() {
            let [x, y, z] = [0, 1, 2].map(|i| self.turn[i].value(at.time, at.inputs));
            let target = Quaternion::exp(Vec3::new(x, y, z));
            let [first, second] = self.ends.orientations(at);
            let relative = first.conjugate().times(second);
            geometry.theta = relative.times(target.conjugate()).log();
        }
        geometry
    }
}

impl Element for Joint {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
        refer_drives(&mut self.turn, references);
        for row in &mut self.rows {
            row.target.refer(references);
        }
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

    fn knows_derivatives(&self) -> bool {
        true
    }

    fn violation_derivatives(&self, at: &At<'_>, step: f64, out: &mut [[f64; 2]]) {
        let derivatives = |drive: &Drive| drive.derivatives(at.time, step);
        let turn = self.turn.each_ref().map(derivatives);
        let turn = [0, 1].map(|k| Vec3::new(turn[0][k], turn[1][k], turn[2][k]));
        let targets = |_, row: &Row| derivatives(&row.target);
        self.derivatives(at, turn, targets, out);
    }

    /// Power of the prescribed motion, by the reaction. Rows that prescribe none do no work,
    /// whatever the rounding of their velocities.
    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let geometry = self.geometry(at);
        let motions = self.ends.nodes.map(|node| at.motion(node));
        let rows = self.rows.iter().zip(at.multipliers);
        let driven = rows.filter(|(row, _)| self.is_driven(row));
        let power =
            |(row, &multiplier): (&Row, &f64)| -multiplier * row.gradient(&geometry).rate(motions);
        ElementEnergy {
            supplied: driven.map(power).sum(),
            ..ElementEnergy::default()
        }
    }

    fn is_conservative(&self) -> bool {
        !self.rows.iter().any(|row| self.is_driven(row))
    }
}
