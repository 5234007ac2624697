//! A node whose whole motion comes from an input port.

use super::row::TurnRates;
use crate::element::{
    At, Element, ElementEnergy, Half, Jacobian, PrescribedEnd, References, Residual, Weights,
    refer_nodes,
};
use crate::node::NodeId;
use oldham_space::Vec3;
use oldham_space::rotation::{Quaternion, inverse_tangent, inverse_transpose_derivative};

/// Prescribes position and orientation of a node (Fontana 2026, Sect. 4.1.3) from 19 components of
/// the input vector: position, quaternion, velocity, angular velocity, and accelerations.
///
/// Only the pose is enforced, unless the velocity [is too](Self::with_velocity). The other rates
/// serve when initial velocities and accelerations are made consistent.
#[derive(Clone, Debug)]
pub struct PrescribedPose {
    nodes: [NodeId; 1],
    first: usize,
    has_velocity: bool,
}

impl PrescribedPose {
    /// The motion in `inputs[first..first + 19]`.
    pub fn new(node: NodeId, first: usize) -> Self {
        Self {
            nodes: [node],
            first,
            has_velocity: false,
        }
    }

    /// The node ends its steps with the velocity and angular velocity of that motion, too, instead
    /// of those that the integration formula makes of its poses.
    pub fn with_velocity(self) -> Self {
        Self {
            has_velocity: true,
            ..self
        }
    }

    fn vector(&self, inputs: &[f64], i: usize) -> Vec3 {
        let first = self.first + i;
        Vec3::new(inputs[first], inputs[first + 1], inputs[first + 2])
    }

    fn orientation(&self, inputs: &[f64]) -> Quaternion {
        Quaternion([3, 4, 5, 6].map(|i: usize| inputs[self.first + i])).normalised()
    }

    fn target(&self, at: &At<'_>) -> (Vec3, Quaternion) {
        let vector = |i: usize| self.vector(at.inputs, i);
        let orientation = self.orientation(at.inputs);
        let dt = at.time - at.input_time;
        if dt == 0.0 {
            return (vector(0), orientation);
        }
        let half = 0.5 * dt * dt;
        let turn = Quaternion::exp(vector(10) * dt + vector(16) * half);
        (
            vector(0) + vector(7) * dt + vector(13) * half,
            turn.times(orientation),
        )
    }

    /// Displacement and rotation vector from the prescribed pose, in the absolute frame.
    fn deviation(&self, at: &At<'_>) -> (Vec3, Vec3) {
        let motion = at.motion(self.nodes[0]);
        let (position, orientation) = self.target(at);
        if motion.position == position && motion.orientation == orientation {
            // Within a step the node has been put there.
            return (Vec3::ZERO, Vec3::ZERO);
        }
        let turn = motion.orientation.times(orientation.conjugate());
        (motion.position - position, turn.log())
    }
}

impl Element for PrescribedPose {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        references.input(&mut self.first);
    }

    fn constraints(&self) -> usize {
        6
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let (displacement, theta) = self.deviation(at);
        for i in 0..3 {
            out.constraint(i, displacement[i]);
            out.constraint(3 + i, theta[i]);
        }
        let (force, moment) = multipliers(at);
        out.load(0, -force, -inverse_tangent(theta).transpose_mul(moment));
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let (_, theta) = self.deviation(at);
        let inverse = inverse_tangent(theta);
        for (i, e) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            out.constraint(i, 0, e, Vec3::ZERO);
            out.constraint(3 + i, 0, Vec3::ZERO, inverse.transpose_mul(e));
        }
        let (_, moment) = multipliers(at);
        let turned = inverse_transpose_derivative(theta, moment) * inverse * weights.stiffness;
        out.add((0, Half::Angular), (0, Half::Angular), turned);
    }

    fn knows_derivatives(&self) -> bool {
        true
    }

    fn violation_derivatives(&self, at: &At<'_>, _step: f64, out: &mut [[f64; 2]]) {
        let motion = at.motion(self.nodes[0]);
        let vector = |i: usize| self.vector(at.inputs, i);
        let (_, theta) = self.deviation(at);
        let spin = [motion.angular_velocity, Vec3::ZERO];
        let turning = TurnRates::new(theta, spin, [vector(10), vector(16)]);
        let [velocity, acceleration] = [motion.velocity - vector(7), -vector(13)];
        for i in 0..3 {
            out[i] = [velocity[i], acceleration[i]];
            out[3 + i] = turning.0.map(|vector| vector[i]);
        }
    }

    fn prescribed_end(&self, inputs: &[f64]) -> Option<PrescribedEnd> {
        let vector = |i: usize| self.vector(inputs, i);
        let (position, orientation) = (vector(0), self.orientation(inputs));
        Some(match self.has_velocity {
            false => PrescribedEnd::Pose(position, orientation),
            true => PrescribedEnd::Motion(position, orientation, [vector(7), vector(10)]),
        })
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let (force, moment) = multipliers(at);
        let motion = at.motion(self.nodes[0]);
        ElementEnergy {
            supplied: -force.dot(motion.velocity) - moment.dot(motion.angular_velocity),
            ..ElementEnergy::default()
        }
    }
}

fn multipliers(at: &At<'_>) -> (Vec3, Vec3) {
    let m = at.multipliers;
    (Vec3::new(m[0], m[1], m[2]), Vec3::new(m[3], m[4], m[5]))
}
