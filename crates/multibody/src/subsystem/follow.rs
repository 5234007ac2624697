//! Nodes that follow a motion from another part by a law: the modified inputs of Zhang 2022, Sect. 2.3.

use crate::node::Motion;
use oldham_cosim::{Followed, MotionLaw};
use oldham_space::{Quaternion, V3, Vec3};

/// Places of a motion's vectors: position, velocity, angular velocity, accelerations.
const POSITION: usize = 0;
const ORIENTATION: usize = 3;
const VELOCITY: usize = 7;
const SPIN: usize = 10;
const ACCELERATION: usize = 13;
const ANGULAR_ACCELERATION: usize = 16;

fn vector(values: &[f64], at: usize) -> Vec3 {
    Vec3::new(values[at], values[at + 1], values[at + 2])
}

/// The way to a received pose from one's own: displacement and rotation vector in absolute axes.
fn way(own: &Motion, values: &[f64]) -> [Vec3; 2] {
    let orientation = Quaternion([0, 1, 2, 3].map(|i: usize| values[ORIENTATION + i]));
    let turn = orientation.normalised().times(own.orientation.conjugate());
    [vector(values, POSITION) - own.position, turn.log()]
}

/// Puts the pose to which the law leads within a step of this size in place of the one received at its end.
pub(super) fn put(law: MotionLaw, own: &Motion, h: f64, start: &[f64], end: &mut [f64]) {
    let [gaps_at_start, gaps_at_end] = [way(own, start), way(own, end)];
    let rates = [
        [vector(end, VELOCITY), vector(end, ACCELERATION)],
        [vector(end, SPIN), vector(end, ANGULAR_ACCELERATION)],
    ];
    let own_rates = [own.velocity, own.angular_velocity];
    let [velocity, spin] = [0, 1].map(|half: usize| {
        V3([0, 1, 2].map(|axis: usize| {
            let followed = Followed {
                velocity: own_rates[half][axis],
                gap_at_start: gaps_at_start[half][axis],
                gap_at_end: gaps_at_end[half][axis],
                rates_at_end: rates[half].map(|rate| rate[axis]),
            };
            law.velocity(followed, h)
        }))
    });
    let reached = own.displaced(velocity * h, spin * h);
    end[POSITION..POSITION + 3].copy_from_slice(&reached.position.0);
    end[ORIENTATION..ORIENTATION + 4].copy_from_slice(&reached.orientation.0);
}
