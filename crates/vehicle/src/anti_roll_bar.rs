//! Anti-roll bars: a torsion spring between two rockers (or arms) that turn in the chassis.

use oldham_multibody::element::{At, ElementEnergy, Half, Jacobian, Residual, Weights};
use oldham_multibody::{Element, NodeId, References};
use oldham_space::{Mat3, Vec3};

/// A bar that is twisted by the difference of the angles of two rockers relative to the chassis.
/// Joints keep the axes of the rockers fixed in the chassis.
#[derive(Clone, Debug)]
pub struct AntiRollBar {
    /// Chassis, left rocker, right rocker.
    nodes: [NodeId; 3],
    arms: [Arm; 2],
    /// Stiffness in N·m/rad and damping in N·m·s/rad.
    stiffness: f64,
    damping: f64,
}

/// How a rocker turns: about an axis of the chassis; the reference is at right angles to it, given
/// in axes of the chassis and of the rocker.
#[derive(Clone, Debug)]
struct Arm {
    axis: Vec3,
    references: [Vec3; 2],
}

/// The bar at a state.
struct Twist {
    angle: f64,
    rate: f64,
    /// Derivative of the angle by the spins of the nodes.
    gradients: [Vec3; 3],
}

impl AntiRollBar {
    /// A bar without load at the given orientations of chassis, left and right rocker. The axes are
    /// those about which the rockers turn by equal angles when both wheels move up together, in the
    /// absolute frame.
    pub fn new(
        nodes: [NodeId; 3],
        orientations: [Mat3; 3],
        axes: [Vec3; 2],
        stiffness: f64,
        damping: f64,
    ) -> Self {
        let arms = [0, 1].map(|side| {
            let reference = axes[side].perpendicular();
            let [chassis, rocker] = [orientations[0], orientations[1 + side]];
            Arm {
                axis: chassis.transpose_mul(axes[side].unit()),
                references: [
                    chassis.transpose_mul(reference),
                    rocker.transpose_mul(reference),
                ],
            }
        });
        Self {
            nodes,
            arms,
            stiffness,
            damping,
        }
    }

    fn twist(&self, at: &At<'_>) -> Twist {
        let motions = self.nodes.map(|node| at.motion(node));
        let mut twist = Twist {
            angle: 0.0,
            rate: 0.0,
            gradients: [Vec3::ZERO; 3],
        };
        for (side, (arm, sign)) in self.arms.iter().zip([1.0, -1.0]).enumerate() {
            let rocker = motions[1 + side];
            let axis = motions[0].rotation * arm.axis;
            let from = motions[0].rotation * arm.references[0];
            let to = rocker.rotation * arm.references[1];
            twist.angle += sign * axis.dot(from.cross(to)).atan2(from.dot(to));
            let turning = rocker.angular_velocity - motions[0].angular_velocity;
            twist.rate += sign * axis.dot(turning);
            twist.gradients[0] -= axis * sign;
            twist.gradients[1 + side] += axis * sign;
        }
        twist
    }

    fn torque(&self, twist: &Twist) -> f64 {
        self.stiffness * twist.angle + self.damping * twist.rate
    }
}

impl Element for AntiRollBar {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.nodes.iter_mut().for_each(|node| references.node(node));
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let twist = self.twist(at);
        let torque = self.torque(&twist);
        for (node, gradient) in twist.gradients.into_iter().enumerate() {
            out.load(node, Vec3::ZERO, gradient * -torque);
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let twist = self.twist(at);
        let k = self.stiffness * weights.stiffness + self.damping * weights.damping;
        let torque = self.torque(&twist) * weights.stiffness;
        for (row, u) in twist.gradients.into_iter().enumerate() {
            for (column, w) in twist.gradients.into_iter().enumerate() {
                out.add(
                    (row, Half::Angular),
                    (column, Half::Angular),
                    u.outer(w) * k,
                );
            }
            // The axes turn with the chassis.
            out.add((row, Half::Angular), (0, Half::Angular), u.skew() * -torque);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let twist = self.twist(at);
        ElementEnergy {
            stored: 0.5 * self.stiffness * twist.angle * twist.angle,
            dissipated: self.damping * twist.rate * twist.rate,
            supplied: 0.0,
        }
    }
}
