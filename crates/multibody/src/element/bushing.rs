//! A six-dimensional spring and damper between two markers.

use super::{
    At, Element, ElementEnergy, Half, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::kinks::mixed;
use crate::node::{Marker, NodeId};
use oldham_space::rotation::{Quaternion, inverse_tangent, inverse_transpose_derivative};
use oldham_space::{Mat3, Vec3};

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
    /// Force by rotation; its transpose gives the moment by displacement.
    pub coupling: Mat3,
    /// Force by angular velocity; its transpose gives the moment by velocity.
    pub damping_coupling: Mat3,
    /// Laws along axes besides, none that remembers; by axis 0, 1, 2.
    pub laws: Vec<(usize, Law)>,
    /// The same about axes: of the components of the rotation vector.
    pub rotational_laws: Vec<(usize, Law)>,
}

/// Force of the laws along or about three axes, and its derivatives.
#[derive(Clone, Copy, Default)]
struct Laws {
    force: Vec3,
    /// What the rates add to it.
    viscous: Vec3,
    by_position: Mat3,
    by_rate: Mat3,
}

impl Laws {
    fn evaluate(laws: &[(usize, Law)], position: Vec3, rate: Vec3, at: &At<'_>) -> Self {
        let mut sum = Self::default();
        for (axis, law) in laws {
            let i = *axis;
            let (force, by_position, by_rate) = law.evaluate(position[i], rate[i], at);
            let slow = law.tension(position[i], 0.0, at);
            sum.force[i] += slow;
            sum.viscous[i] += force - slow;
            sum.by_position.0[i][i] += by_position;
            sum.by_rate.0[i][i] += by_rate;
        }
        sum
    }
}

fn stored(laws: &[(usize, Law)], position: Vec3, at: &At<'_>) -> f64 {
    let each = laws.iter().map(|(i, law)| law.stored(position[*i], at));
    each.sum()
}

fn dissipated(laws: &[(usize, Law)], position: Vec3, rate: Vec3, at: &At<'_>) -> f64 {
    let each = laws.iter();
    each.map(|(i, law)| law.dissipated(position[*i], rate[*i], at))
        .sum()
}

/// Power of what time adds to the laws. Elastic torques work along the rates of the components of the
/// rotation vector, which are not those of the spin.
fn supplied(laws: &[(usize, Law)], position: Vec3, rate: Vec3, at: &At<'_>) -> f64 {
    let each = laws.iter();
    each.map(|(i, law)| law.supplied(position[*i], rate[*i], at))
        .sum()
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
            coupling: Mat3::ZERO,
            damping_coupling: Mat3::ZERO,
            laws: Vec::new(),
            rotational_laws: Vec::new(),
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
    fn load(&self, r: &Relative, [along, about]: &[Laws; 2]) -> (Vec3, Vec3) {
        let force = self.stiffness * r.displacement
            + self.coupling * r.theta
            + self.damping * r.rate
            + self.damping_coupling * r.spin;
        let moment = inverse_tangent(r.theta).transpose_mul(self.torque(r, about))
            + self.rotational_damping * r.spin
            + self.damping_coupling.transpose_mul(r.rate)
            + about.viscous;
        (
            r.axes * (force + along.force + along.viscous),
            r.axes * moment,
        )
    }

    /// The elastic torque that is conjugate to the rotation vector.
    fn torque(&self, r: &Relative, about: &Laws) -> Vec3 {
        self.rotational_stiffness * r.theta
            + self.coupling.transpose_mul(r.displacement)
            + about.force
    }

    /// Laws along and about the axes.
    fn laws(&self, r: &Relative, at: &At<'_>) -> [Laws; 2] {
        [
            Laws::evaluate(&self.laws, r.displacement, r.rate, at),
            Laws::evaluate(&self.rotational_laws, r.theta, r.spin, at),
        ]
    }
}

impl Element for Bushing {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        for (_, law) in self.laws.iter_mut().chain(&mut self.rotational_laws) {
            law.refer(references);
        }
    }

    fn side(&self, at: &At<'_>) -> u64 {
        let r = self.relative(at);
        let along = self
            .laws
            .iter()
            .map(|(i, law)| law.side(r.displacement[*i], r.rate[*i], at));
        let about = &self.rotational_laws;
        let about = about
            .iter()
            .map(|(i, law)| law.side(r.theta[*i], r.spin[*i], at));
        along.chain(about).fold(0, mixed)
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let r = self.relative(at);
        let (force, moment) = self.load(&r, &self.laws(&r, at));
        out.load(0, force, (r.arms[0] + r.between).cross(force) + moment);
        out.load(1, -force, -r.arms[1].cross(force) - moment);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let r = self.relative(at);
        let laws = self.laws(&r, at);
        let (force, moment) = self.load(&r, &laws);
        let [along, about] = laws;
        let turn = |m: Mat3| r.axes * m * r.axes.transpose();
        let (ws, wd) = (weights.stiffness, weights.damping);
        let k =
            turn((self.stiffness + along.by_position) * ws + (self.damping + along.by_rate) * wd);
        // The force acts on both nodes at the second marker: arms from both nodes to there.
        let arms = [(r.arms[0] + r.between).skew(), r.arms[1].skew()];
        let (f, m) = (force.skew() * ws, moment.skew() * ws);
        let inverse = inverse_tangent(r.theta);
        let torque = self.torque(&r, &about);
        let by_theta = inverse_transpose_derivative(r.theta, torque)
            + inverse.transpose() * (self.rotational_stiffness + about.by_position);
        let kr = turn(by_theta * inverse * ws + (self.rotational_damping + about.by_rate) * wd);
        // Force by rotation, and moment by displacement.
        let by_turn = turn(self.coupling * inverse * ws + self.damping_coupling * wd);
        let by_shift = inverse.transpose() * self.coupling.transpose() * ws;
        let by_shift = turn(by_shift + self.damping_coupling.transpose() * wd);
        for row in 0..2 {
            let sign = if row == 0 { -1.0 } else { 1.0 };
            // Change of the force by each unknown; the axes turn with the first node.
            let by = [
                (0, Linear, -k),
                (0, Angular, k * arms[0] - f - by_turn),
                (1, Linear, k),
                (1, Angular, by_turn - k * arms[1]),
            ];
            for (node, part, d) in by {
                out.add((row, Linear), (node, part), d * sign);
                out.add((row, Angular), (node, part), arms[row] * d * sign);
            }
            for (node, side) in [(0, -sign), (1, sign)] {
                out.add((row, Angular), (node, Linear), by_shift * side);
                let by_spin = -(by_shift * arms[node]);
                out.add((row, Angular), (node, Angular), by_spin * side);
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

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let r = self.relative(at);
        ElementEnergy {
            stored: 0.5 * r.displacement.dot(self.stiffness * r.displacement)
                + 0.5 * r.theta.dot(self.rotational_stiffness * r.theta)
                + r.displacement.dot(self.coupling * r.theta)
                + stored(&self.laws, r.displacement, at)
                + stored(&self.rotational_laws, r.theta, at),
            dissipated: r.rate.dot(self.damping * r.rate)
                + r.spin.dot(self.rotational_damping * r.spin)
                + 2.0 * r.rate.dot(self.damping_coupling * r.spin)
                + dissipated(&self.laws, r.displacement, r.rate, at)
                + dissipated(&self.rotational_laws, r.theta, r.spin, at),
            supplied: supplied(&self.laws, r.displacement, r.rate, at)
                + supplied(
                    &self.rotational_laws,
                    r.theta,
                    inverse_tangent(r.theta) * r.spin,
                    at,
                ),
        }
    }
}
