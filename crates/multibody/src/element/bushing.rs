//! A six-dimensional spring and damper between two markers.

use super::{Account, At, Element, Jacobian, Part, References, Residual, Weights, refer_nodes};
use crate::math::{Mat3, Vec3};
use crate::node::{Marker, NodeId};
use crate::rotation::{Quaternion, inverse_tangent, inverse_transpose_derivative};

/// Forces against the relative displacement and the relative rotation vector of two markers, in
/// the axes of the first.
#[derive(Clone, Debug)]
pub struct Bushing {
    nodes: [NodeId; 2],
    offsets: [Vec3; 2],
    axes: [Quaternion; 2],
    /// Stiffness against displacement.
    pub stiffness: Mat3,
    /// Damping against its rate.
    pub damping: Mat3,
    /// Stiffness against rotation.
    pub rotational_stiffness: Mat3,
    /// Damping against the relative angular velocity.
    pub rotational_damping: Mat3,
}

/// Relative motion, in the axes of the first marker unless said otherwise.
struct Relative {
    arms: [Vec3; 2],
    /// Axes of the first marker, in the absolute frame.
    axes: Mat3,
    /// From the first marker to the second, in the absolute frame.
    between: Vec3,
    displacement: Vec3,
    rate: Vec3,
    theta: Vec3,
    spin: Vec3,
}

impl Bushing {
    /// Without any stiffness yet: set the public fields.
    pub fn new(a: Marker, b: Marker) -> Self {
        Self {
            nodes: [a.node, b.node],
            offsets: [a.offset, b.offset],
            axes: [a.orientation, b.orientation],
            stiffness: Mat3::ZERO,
            damping: Mat3::ZERO,
            rotational_stiffness: Mat3::ZERO,
            rotational_damping: Mat3::ZERO,
        }
    }

    fn relative(&self, at: &At<'_>) -> Relative {
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let arms = [a.rotation * self.offsets[0], b.rotation * self.offsets[1]];
        let between = b.position + arms[1] - a.position - arms[0];
        let [first, second] = [(a, 0), (b, 1)].map(|(n, i)| n.orientation.times(self.axes[i]));
        let axes = first.matrix();
        let velocity = b.velocity + b.angular_velocity.cross(arms[1])
            - a.velocity
            - a.angular_velocity.cross(arms[0] + between);
        Relative {
            arms,
            axes,
            between,
            displacement: axes.transpose_mul(between),
            rate: axes.transpose_mul(velocity),
            theta: first.conjugate().times(second).log(),
            spin: axes.transpose_mul(b.angular_velocity - a.angular_velocity),
        }
    }

    /// Force and moment that pull the second marker back, in the absolute frame. The moment is
    /// conjugate to the spin, so that the elastic part has a potential.
    fn load(&self, r: &Relative) -> (Vec3, Vec3) {
        let force = self.stiffness * r.displacement + self.damping * r.rate;
        let moment = inverse_tangent(r.theta).transpose_mul(self.rotational_stiffness * r.theta)
            + self.rotational_damping * r.spin;
        (r.axes * force, r.axes * moment)
    }
}

impl Element for Bushing {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let r = self.relative(at);
        let (force, moment) = self.load(&r);
        out.load(0, force, (r.arms[0] + r.between).cross(force) + moment);
        out.load(1, -force, -r.arms[1].cross(force) - moment);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Part::{Angular, Linear};
        let r = self.relative(at);
        let (force, moment) = self.load(&r);
        let turn = |m: Mat3| r.axes * m * r.axes.transpose();
        let (ws, wd) = (weights.stiffness, weights.damping);
        let k = turn(self.stiffness * ws + self.damping * wd);
        // The force acts on both nodes at the second marker: arms from both nodes to there.
        let arms = [(r.arms[0] + r.between).skew(), r.arms[1].skew()];
        let (f, m) = (force.skew() * ws, moment.skew() * ws);
        let inverse = inverse_tangent(r.theta);
        let torque = self.rotational_stiffness * r.theta;
        let by_theta = inverse_transpose_derivative(r.theta, torque)
            + inverse.transpose() * self.rotational_stiffness;
        let kr = turn(by_theta * inverse * ws + self.rotational_damping * wd);
        for row in 0..2 {
            let sign = if row == 0 { -1.0 } else { 1.0 };
            // Change of the force by each unknown; the axes turn with the first node.
            let by = [
                (0, Linear, -k),
                (0, Angular, k * arms[0] - f),
                (1, Linear, k),
                (1, Angular, -(k * arms[1])),
            ];
            for (node, part, d) in by {
                out.add((row, Linear), (node, part), d * sign);
                out.add((row, Angular), (node, part), arms[row] * d * sign);
            }
            // Change of the arm, with the force held.
            if row == 0 {
                out.add((0, Angular), (0, Linear), -f);
                out.add((0, Angular), (1, Linear), f);
                out.add((0, Angular), (1, Angular), -(f * r.arms[1].skew()));
            } else {
                out.add((1, Angular), (1, Angular), f * r.arms[1].skew());
            }
            out.add((row, Angular), (0, Angular), (-kr - m) * sign);
            out.add((row, Angular), (1, Angular), kr * sign);
        }
    }

    fn energy(&self, at: &At<'_>) -> Account {
        let r = self.relative(at);
        Account {
            stored: 0.5 * r.displacement.dot(self.stiffness * r.displacement)
                + 0.5 * r.theta.dot(self.rotational_stiffness * r.theta),
            dissipated: r.rate.dot(self.damping * r.rate)
                + r.spin.dot(self.rotational_damping * r.spin),
            supplied: 0.0,
        }
    }
}
