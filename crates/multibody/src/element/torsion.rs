//! A torsion spring and damper about a common axis of two markers.

use super::{
    Account, At, Element, Jacobian, Law, Part, References, Residual, Weights, refer_nodes,
};
use crate::drive::Drive;
use crate::math::{Mat3, Vec3};
use crate::node::{Marker, NodeId};

/// A torsion bar about the third axis of the first marker; a joint keeps the axes of the two
/// markers aligned. The angle is taken between -π and π.
#[derive(Clone, Debug)]
pub struct TorsionSpring {
    nodes: [NodeId; 2],
    axes: [Mat3; 2],
    law: Law,
    free_angle: Drive,
}

impl TorsionSpring {
    /// Torque `stiffness · (angle - free_angle) + damping · rate`.
    pub fn new(
        a: Marker,
        b: Marker,
        stiffness: f64,
        damping: f64,
        free_angle: impl Into<Drive>,
    ) -> Self {
        Self::with_law(a, b, Law::Linear { stiffness, damping }, free_angle)
    }

    /// Torque by a law of `angle - free_angle` and its rate; none that remembers.
    pub fn with_law(a: Marker, b: Marker, law: Law, free_angle: impl Into<Drive>) -> Self {
        Self {
            nodes: [a.node, b.node],
            axes: [a, b].map(|marker| marker.orientation.matrix()),
            law,
            free_angle: free_angle.into(),
        }
    }

    /// Axis, twist beyond the free angle, and rate.
    fn twist(&self, at: &At<'_>) -> (Vec3, f64, f64) {
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let first = a.rotation * self.axes[0];
        let x = b.rotation * self.axes[1].column(0);
        let angle = first.column(1).dot(x).atan2(first.column(0).dot(x));
        let axis = first.column(2);
        let rate = axis.dot(b.angular_velocity - a.angular_velocity);
        (axis, angle - self.free_angle.at(at), rate)
    }
}

impl Element for TorsionSpring {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        self.free_angle.refer(references);
        self.law.refer(references);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let (axis, twist, rate) = self.twist(at);
        let torque = axis * self.law.evaluate(twist, rate, at).0;
        out.load(0, Vec3::ZERO, torque);
        out.load(1, Vec3::ZERO, -torque);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let (axis, twist, rate) = self.twist(at);
        let (torque, by_angle, by_rate) = self.law.evaluate(twist, rate, at);
        let k = weights.stiffness * by_angle + weights.damping * by_rate;
        let along = axis.outer(axis) * k;
        // The axis turns with the first node.
        let turned = axis.skew() * (torque * weights.stiffness);
        for (row, sign) in [(0, 1.0), (1, -1.0)] {
            out.add(
                (row, Part::Angular),
                (0, Part::Angular),
                (along + turned) * sign,
            );
            out.add((row, Part::Angular), (1, Part::Angular), along * -sign);
        }
    }

    fn energy(&self, at: &At<'_>) -> Account {
        let (_, twist, rate) = self.twist(at);
        Account {
            stored: self.law.stored(twist, at),
            dissipated: self.law.dissipated(twist, rate, at),
            supplied: 0.0,
        }
    }
}
