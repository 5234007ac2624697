//! A torsion spring and damper about a common axis of two markers.

use super::{
    At, Element, ElementEnergy, Half, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::drive::Drive;
use crate::joint::nearest_angle;
use crate::node::{Marker, NodeId};
use oldham_space::{Mat3, Vec3};

/// A torsion bar about the third axis of the first marker; a joint keeps the axes of the two
/// markers aligned. The angle is between -π and π at the start; from there on whole turns count.
#[derive(Clone, Debug)]
pub struct TorsionSpring {
    nodes: [NodeId; 2],
    axes: [Mat3; 2],
    law: Law,
    free_angle: Drive,
}

/// The relative turn of the markers.
struct Twist {
    axis: Vec3,
    /// Over any number of turns.
    angle: f64,
    /// Beyond the free angle.
    beyond: f64,
    rate: f64,
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

    fn twist(&self, at: &At<'_>) -> Twist {
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let first = a.rotation * self.axes[0];
        let x = b.rotation * self.axes[1].column(0);
        let angle = first.column(1).dot(x).atan2(first.column(0).dot(x));
        let angle = nearest_angle(angle, at.memory[0]);
        let axis = first.column(2);
        let rate = axis.dot(b.angular_velocity - a.angular_velocity);
        Twist {
            axis,
            angle,
            beyond: angle - self.free_angle.at(at),
            rate,
        }
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

    /// The angle, to count whole turns.
    fn memory(&self) -> usize {
        1
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        memory[0] = self.twist(at).angle;
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let twist = self.twist(at);
        let torque = twist.axis * self.law.evaluate(twist.beyond, twist.rate, at).0;
        out.load(0, Vec3::ZERO, torque);
        out.load(1, Vec3::ZERO, -torque);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let twist = self.twist(at);
        let axis = twist.axis;
        let (torque, by_angle, by_rate) = self.law.evaluate(twist.beyond, twist.rate, at);
        let k = weights.stiffness * by_angle + weights.damping * by_rate;
        let along = axis.outer(axis) * k;
        // The axis turns with the first node.
        let turned = axis.skew() * (torque * weights.stiffness);
        for (row, sign) in [(0, 1.0), (1, -1.0)] {
            out.add(
                (row, Half::Angular),
                (0, Half::Angular),
                (along + turned) * sign,
            );
            out.add((row, Half::Angular), (1, Half::Angular), along * -sign);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let Twist { beyond, rate, .. } = self.twist(at);
        ElementEnergy {
            stored: self.law.stored(beyond, at),
            dissipated: self.law.dissipated(beyond, rate, at),
            supplied: 0.0,
        }
    }
}
