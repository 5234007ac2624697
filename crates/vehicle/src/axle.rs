//! Torques between a rotor and its carrier about the axis that a joint keeps common to both.

use oldham_multibody::element::{At, Half, Jacobian, Residual, Weights};
use oldham_multibody::{NodeId, References};
use oldham_space::Vec3;

/// A carrier (an upright) and a rotor (a rim).
#[derive(Clone, Debug)]
pub(crate) struct Axle {
    /// Carrier, rotor.
    pub nodes: [NodeId; 2],
    /// In axes of the carrier.
    axis: Vec3,
}

impl Axle {
    pub fn new(carrier: NodeId, rotor: NodeId, axis: Vec3) -> Self {
        Self {
            nodes: [carrier, rotor],
            axis: axis.unit(),
        }
    }

    pub fn refer(&mut self, references: &mut dyn References) {
        self.nodes.iter_mut().for_each(|node| references.node(node));
    }

    pub fn axis(&self, at: &At<'_>) -> Vec3 {
        at.motion(self.nodes[0]).rotation * self.axis
    }

    /// Angular velocity of the rotor relative to the carrier.
    pub fn rate(&self, at: &At<'_>) -> f64 {
        let [carrier, rotor] = self.nodes.map(|node| at.motion(node).angular_velocity);
        self.axis(at).dot(rotor - carrier)
    }

    /// Adds a torque on the rotor, and against the carrier.
    pub fn residual(&self, at: &At<'_>, torque: f64, out: &mut Residual<'_>) {
        let moment = self.axis(at) * torque;
        out.load(0, Vec3::ZERO, -moment);
        out.load(1, Vec3::ZERO, moment);
    }

    /// The same for its derivatives; `by_rate` is that of the torque by the rate.
    pub fn jacobian(
        &self,
        at: &At<'_>,
        torque: f64,
        by_rate: f64,
        weights: Weights,
        out: &mut Jacobian<'_>,
    ) {
        let axis = self.axis(at);
        let damping = axis.outer(axis) * (-by_rate * weights.damping);
        // The axis turns with the carrier: δ(s τ) = δφ × s τ.
        let turned = axis.skew() * (torque * weights.stiffness);
        for (node, sign) in [(0, -1.0), (1, 1.0)] {
            let row = (node, Half::Angular);
            out.add(row, (0, Half::Angular), (turned - damping) * sign);
            out.add(row, (1, Half::Angular), damping * sign);
        }
    }
}
