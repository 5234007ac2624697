//! How fast a body that nothing holds turns within a step, so that its energy stays.
//!
//! Momenta are what is integrated, and a body turns with the angular velocity that belongs to its momentum L. That velocity changes while it turns: taken
//! where the step begins, it feeds energy into a body that tumbles. Taken at half the turn, ω = J(½)⁻¹ L with the axes turned by h ω/2, the step is
//! reversible, and the energy stays within a band that shrinks with the square of the step.

use oldham_space::{Mat3, Quaternion, Vec3};

use crate::contact::scene::inverse;
use crate::system::System;

/// Passes of the iteration for the angular velocity; each gains a factor of h |ω|.
const MOST_PASSES: usize = 50;

/// A body that no constraint holds, and whose moments of inertia differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spinning {
    pub node: usize,
    inertia: Mat3,
    inverse: Mat3,
    /// What the angular velocity of the step is ahead of that at its beginning.
    pub ahead: Vec3,
}

impl Spinning {
    /// A body with an inertia about its centre of mass in node axes, unless it has none about some axis, or is round.
    pub fn new(node: usize, inertia: Mat3) -> Option<Self> {
        let m = &inertia.0;
        let off = m[0][1].abs() + m[0][2].abs() + m[1][2].abs();
        if off == 0.0 && m[0][0] == m[1][1] && m[1][1] == m[2][2] {
            return None;
        }
        Some(Self {
            node,
            inertia,
            inverse: inverse(&inertia)?,
            ahead: Vec3::ZERO,
        })
    }

    /// The angular velocity at half the turn, of a body that begins with `spin` in axes `rotation`.
    fn halfway(&self, rotation: &Mat3, spin: Vec3, h: f64) -> Option<Vec3> {
        let momentum = *rotation * (self.inertia * rotation.transpose_mul(spin));
        let mut now = spin;
        for _ in 0..MOST_PASSES {
            let axes = Quaternion::exp(now * (0.5 * h)).matrix() * *rotation;
            let next = axes * (self.inverse * axes.transpose_mul(momentum));
            let change = (next - now).norm();
            now = next;
            if change <= 1e-15 * now.norm() {
                return Some(now);
            }
        }
        // Steps of more than a radian are not iterated.
        None
    }
}

impl System {
    /// Gives bodies that nothing holds the angular velocities with which they turn within the step.
    pub(crate) fn look_halfway(&mut self, h: f64) {
        for body in &mut self.work.spinning {
            let motion = &mut self.motions[body.node];
            let rotation = &self.state.now[body.node].motion.rotation;
            let spin = motion.angular_velocity;
            let found = body.halfway(rotation, spin, h);
            body.ahead = found.map_or(Vec3::ZERO, |found| found - spin);
            let arm = *rotation * self.assembly.inertia[body.node].centre();
            motion.angular_velocity += body.ahead;
            motion.velocity -= body.ahead.cross(arm);
        }
    }

    /// Gives them the angular velocities back that belong to their momenta where the step begins.
    pub(crate) fn look_back(&mut self) {
        for body in &self.work.spinning {
            let motion = &mut self.motions[body.node];
            let rotation = &self.state.now[body.node].motion.rotation;
            let arm = *rotation * self.assembly.inertia[body.node].centre();
            motion.angular_velocity -= body.ahead;
            motion.velocity += body.ahead.cross(arm);
        }
    }
}
