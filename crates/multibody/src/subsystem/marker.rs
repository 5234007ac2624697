//! Motions of points away from their nodes.

use crate::integrator::Record;
use crate::node::{Marker, Motion};
use oldham_space::Vec3;

/// The motion of a marker and its acceleration: a + α × r + ω × (ω × r).
pub(super) fn marker_motion(at: &Marker, record: &Record) -> (Motion, Vec3) {
    let node = &record.motion;
    if *at == Marker::on(at.node) {
        return (*node, record.acceleration);
    }
    let arm = at.arm(node);
    let w = node.angular_velocity;
    let carried = w.cross(arm);
    let motion = Motion::at_rest(node.position + arm, node.orientation.times(at.orientation))
        .moving(node.velocity + carried, w);
    let acceleration =
        record.acceleration + record.angular_acceleration.cross(arm) + w.cross(carried);
    (motion, acceleration)
}

/// Acceleration of the second of two markers as it is seen from the first, in the axes of that.
pub(super) fn relative_acceleration(ends: [Marker; 2], records: &[Record]) -> Vec3 {
    let [first, second] = ends.map(|end| marker_motion(&end, &records[end.node.0]));
    let (a, b) = (first.0, second.0);
    let w = a.angular_velocity;
    let alpha = records[ends[0].node.0].angular_acceleration;
    let between = b.position - a.position;
    let velocity = b.velocity - a.velocity - w.cross(between);
    let carried = alpha.cross(between) + w.cross(w.cross(between)) + w.cross(velocity) * 2.0;
    a.rotation.transpose_mul(second.1 - first.1 - carried)
}

/// The 19 components of a motion port.
pub(super) fn motion_values(
    motion: &Motion,
    acceleration: Vec3,
    angular_acceleration: Vec3,
) -> [f64; 19] {
    let mut values = [0.0; 19];
    values[0..3].copy_from_slice(&motion.position.0);
    values[3..7].copy_from_slice(&motion.orientation.0);
    values[7..10].copy_from_slice(&motion.velocity.0);
    values[10..13].copy_from_slice(&motion.angular_velocity.0);
    values[13..16].copy_from_slice(&acceleration.0);
    values[16..19].copy_from_slice(&angular_acceleration.0);
    values
}
