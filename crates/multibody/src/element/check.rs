//! Tests of the elements of this crate: their derivatives against differences.

mod forces;
mod friction;
mod joints;
mod time_derivatives;

pub(crate) use super::derivatives::{assert_derivatives, assert_velocity_derivatives};
use crate::model::Model;
use crate::node::{Marker, Motion};
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// Of differences.
const STEP: f64 = 1e-6;

/// Two nodes in general poses.
pub(crate) fn two_nodes(model: &mut Model, moving: bool) -> [crate::node::NodeId; 2] {
    let speed = if moving { 1.0 } else { 0.0 };
    let turn = |v: Vec3| Quaternion::exp(v);
    let a = Motion::at_rest(Vec3::new(0.1, -0.4, 0.3), turn(Vec3::new(0.4, 0.9, -0.3))).moving(
        Vec3::new(0.3, 0.1, -0.5) * speed,
        Vec3::new(1.1, 0.2, 0.4) * speed,
    );
    let b = Motion::at_rest(Vec3::new(1.2, 0.5, -0.2), turn(Vec3::new(-0.2, 0.7, 0.5))).moving(
        Vec3::new(-0.2, 0.8, 0.1) * speed,
        Vec3::new(0.3, -0.7, 0.9) * speed,
    );
    [model.node("a", a), model.node("b", b)]
}

/// Markers on two nodes in general poses.
pub(crate) fn markers(model: &mut Model, moving: bool) -> [Marker; 2] {
    let [a, b] = two_nodes(model, moving);
    [
        Marker::on(a)
            .offset(Vec3::new(0.2, 0.1, -0.3))
            .oriented(Quaternion::exp(Vec3::new(0.1, 0.2, 0.3))),
        Marker::on(b)
            .offset(Vec3::new(-0.1, 0.3, 0.2))
            .oriented(Quaternion::exp(Vec3::new(-0.3, 0.2, 0.1))),
    ]
}
