//! A thin wheel that rolls on a plane without slipping.
//!
//! With n the normal of the plane, a the axle, t₁ = n × a / |n × a| the direction of rolling and
//! w = a × t₁ the direction in the plane of the wheel that points away from the ground, the wheel of
//! radius r and centre c touches at p = c - r w. That p lies in the plane is a constraint on positions;
//! that the material of the wheel does not move along the plane there is one on velocities, in
//! two directions, which no constraint on positions could replace (nonholonomic). All three reactions act
//! at p.

use std::ops::Range;

use super::row::Gradient;
use super::{Ends, Geometry};
use crate::element::{At, Element, Half, Jacobian, References, Residual, Weights, refer_nodes};
use crate::node::{Marker, Motion, NodeId};
use oldham_space::{Mat3, Vec3};

/// A wheel on a plane. The third axis of the first marker is the normal of the plane, which it lies in; the
/// second marker is the centre of the wheel, and its third axis the axle.
#[derive(Clone, Debug)]
pub struct RollingWheel {
    ends: Ends,
    radius: f64,
}

/// Where the wheel touches.
struct Touch {
    geometry: Geometry,
    normal: Vec3,
    axle: Vec3,
    /// Sine of the angle between normal and axle.
    upright: f64,
    /// Normal, direction of rolling, and across it.
    directions: [Vec3; 3],
    /// From the two nodes to the point that touches.
    arms: [Vec3; 2],
}

/// How something changes when the two nodes turn.
type ByTurn = [Mat3; 2];

/// How directions and arms change when the nodes turn.
struct Turned {
    directions: [ByTurn; 3],
    /// Of the arm from the second node; that from the first changes by the same, and by the
    /// displacement of the nodes.
    arm: ByTurn,
}

impl RollingWheel {
    /// A wheel of this radius, whose axle is never normal to the plane.
    pub fn new(plane: Marker, centre: Marker, radius: f64) -> Self {
        Self {
            ends: Ends::new(plane, centre),
            radius,
        }
    }

    fn touch(&self, at: &At<'_>) -> Touch {
        let geometry = self.ends.geometry(at);
        let [normal, axle] = [0, 1].map(|end: usize| geometry.axes[end].column(2));
        let across = normal.cross(axle);
        let upright = across.norm();
        let forward = across * (1.0 / upright);
        let to_touch = geometry.arms[1] - axle.cross(forward) * self.radius;
        let [a, b] = self.ends.nodes.map(|node| at.motion(node));
        Touch {
            normal,
            axle,
            upright,
            directions: [normal, forward, normal.cross(forward)],
            arms: [b.position - a.position + to_touch, to_touch],
            geometry,
        }
    }

    /// Height of the lowest point of the wheel above the plane.
    fn height(&self, touch: &Touch) -> f64 {
        touch.normal.dot(touch.geometry.between) - self.radius * touch.upright
    }

    fn turned(&self, touch: &Touch) -> Turned {
        let [_, forward, _] = touch.directions;
        let [n, a, t, arm] =
            [touch.normal, touch.axle, forward, touch.geometry.arms[1]].map(Vec3::skew);
        let across = (Mat3::IDENTITY - forward.outer(forward)) * (1.0 / touch.upright);
        let zero = Mat3::ZERO;
        let by_normal = [-n, zero];
        let by_forward = [across * a * n, -(across * n * a)];
        let by_sideways = [t * n + n * by_forward[0], n * by_forward[1]];
        let away = [a * by_forward[0], t * a + a * by_forward[1]];
        Turned {
            directions: [by_normal, by_forward, by_sideways],
            arm: [-(away[0] * self.radius), -arm - away[1] * self.radius],
        }
    }
}

impl Touch {
    /// Of a displacement along a direction of the wheel against the plane, at the point that touches.
    fn gradient(&self, direction: Vec3) -> Gradient {
        Gradient {
            position: [-direction, direction],
            rotation: [
                -self.arms[0].cross(direction),
                self.arms[1].cross(direction),
            ],
        }
    }

    /// Velocity of the wheel's material against the plane's.
    fn slip(&self, [a, b]: [&Motion; 2]) -> Vec3 {
        b.velocity + b.angular_velocity.cross(self.arms[1])
            - a.velocity
            - a.angular_velocity.cross(self.arms[0])
    }
}

impl Element for RollingWheel {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
    }

    fn constraints(&self) -> usize {
        3
    }

    fn on_velocities(&self) -> Range<usize> {
        1..3
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let touch = self.touch(at);
        let slip = touch.slip(self.ends.nodes.map(|node| at.motion(node)));
        out.constraint(0, self.height(&touch));
        let mut reaction = Vec3::ZERO;
        for (index, (&direction, &multiplier)) in
            touch.directions.iter().zip(at.multipliers).enumerate()
        {
            if index > 0 {
                // What it has slipped by in the step; without one there is nothing to say.
                out.constraint(index, direction.dot(slip) * at.elapsed);
            }
            reaction += direction * multiplier;
        }
        touch.gradient(reaction).load(-1.0, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let touch = self.touch(at);
        let turned = self.turned(&touch);
        let motions = self.ends.nodes.map(|node| at.motion(node));
        let slip = touch.slip(motions);
        let spins = motions.map(|motion| motion.angular_velocity.skew());
        // By what a slip changes in the step when a velocity does, and when a pose does. Without a
        // step the wheel may not be moved along the plane at all.
        let [by_rate, by_pose] = match at.elapsed > 0.0 {
            true => [weights.damping, weights.stiffness].map(|weight| at.elapsed * weight),
            false => [1.0, 0.0],
        };
        let mut reaction = Vec3::ZERO;
        let mut by_turn = [Mat3::ZERO; 2];
        for (index, &direction) in touch.directions.iter().enumerate() {
            let gradient = touch.gradient(direction);
            let factor = if index == 0 { 1.0 } else { by_rate };
            for (node, by_turn) in by_turn.iter_mut().enumerate() {
                let (x, r) = (gradient.position[node], gradient.rotation[node]);
                out.by_multiplier(index, node, x, r);
                out.constraint_row(index, node, x * factor, r * factor);
                *by_turn += turned.directions[index][node] * at.multipliers[index];
            }
            reaction += direction * at.multipliers[index];
            if index > 0 {
                let relative = spins[1] - spins[0];
                for node in 0..2 {
                    let sign = if node == 0 { 1.0 } else { -1.0 };
                    // The arm from the first node changes with the displacement of the nodes.
                    let x = spins[0].transpose_mul(direction) * sign;
                    let r = turned.directions[index][node].transpose_mul(slip)
                        + (relative * turned.arm[node]).transpose_mul(direction);
                    out.constraint_row(index, node, x * by_pose, r * by_pose);
                }
            }
        }
        let force = reaction.skew() * weights.stiffness;
        let arms = touch.arms.map(Vec3::skew);
        for column in 0..2 {
            let by_turn = by_turn[column] * weights.stiffness;
            let by_arm = force * turned.arm[column];
            out.add((0, Linear), (column, Angular), -by_turn);
            out.add((1, Linear), (column, Angular), by_turn);
            out.add((0, Angular), (column, Angular), by_arm - arms[0] * by_turn);
            out.add((1, Angular), (column, Angular), arms[1] * by_turn - by_arm);
        }
        out.add((0, Angular), (0, Linear), -force);
        out.add((0, Angular), (1, Linear), force);
    }

    fn knows_derivatives(&self) -> bool {
        true
    }

    /// Of a slip in a step: the slip itself, and its rate.
    fn violation_derivatives(&self, at: &At<'_>, _step: f64, out: &mut [[f64; 2]]) {
        let touch = self.touch(at);
        let turned = self.turned(&touch);
        let [a, b] = self.ends.nodes.map(|node| at.motion(node));
        let slip = touch.slip([a, b]);
        let spins = [a.angular_velocity, b.angular_velocity];
        let rate = |by: &ByTurn| by[0] * spins[0] + by[1] * spins[1];
        let arm = rate(&turned.arm);
        let change = spins[1].cross(arm) - spins[0].cross(arm + b.velocity - a.velocity);
        for ((out, direction), by) in out.iter_mut().zip(touch.directions).zip(&turned.directions) {
            *out = [
                direction.dot(slip),
                rate(by).dot(slip) + direction.dot(change),
            ];
        }
    }

    fn is_conservative(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, EvaluationPoint};
    use crate::element::check::{assert_derivatives, markers};
    use crate::model::Model;

    fn wheel() -> Model {
        let mut model = Model::new();
        let [plane, centre] = markers(&mut model, true);
        model.element("wheel", RollingWheel::new(plane, centre, 0.3));
        model
    }

    #[test]
    fn derivatives_are_those_of_reactions_and_slips() {
        assert_derivatives(wheel(), 1.7, &[], 1e-8);
    }

    /// Rates of the slips against differences, and the rate of the height, which is a slip too.
    #[test]
    fn rates_of_slips_are_known() {
        let model = wheel();
        let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        let (assembly, _) = Assembly::new(model);
        let element = &assembly.elements[0];
        let wheel: &RollingWheel = element.element.downcast_ref().unwrap();
        let derivatives = |dt: f64| {
            let later: Vec<Motion> = motions.iter().map(|m| m.extrapolated(dt)).collect();
            let at = EvaluationPoint::new(dt, &later, &[0.0; 3], &[], &[]);
            let at = at.of(element, &assembly.elements);
            let mut found = [[0.0; 2]; 3];
            wheel.violation_derivatives(&at, 0.0, &mut found);
            (found, wheel.height(&wheel.touch(&at)))
        };
        let step = 1e-5;
        let [(before, low), (now, _), (after, high)] = [-step, 0.0, step].map(derivatives);
        for row in 0..3 {
            let rate = (after[row][0] - before[row][0]) / (2.0 * step);
            assert!((rate - now[row][1]).abs() < 1e-8, "{rate} {now:?}");
        }
        let rate = (high - low) / (2.0 * step);
        assert!((rate - now[0][0]).abs() < 1e-8, "{rate} {now:?}");
    }
}
