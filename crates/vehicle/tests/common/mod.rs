//! What several tests use.
#![allow(dead_code)]

pub mod car;
pub mod hard_points;

use oldham_multibody::{Body, Joint, Marker, Mat3, Model, Motion, NodeId, Quaternion, Vec3};
use oldham_vehicle::{MagicFormula, Road, Tyre};
use std::sync::Arc;

/// The tyre of the examples.
pub fn formula() -> Arc<MagicFormula> {
    let text = include_str!("../data/slick.tir");
    Arc::new(MagicFormula::parse(text).expect("the example is a tyre"))
}

/// A rim with a tyre, and a carrier to which it is hinged; both have these velocities.
pub struct Wheel {
    pub carrier: NodeId,
    pub rim: NodeId,
}

/// Adds a wheel whose centre is at `place`, rolling with `velocity` and `spin`.
pub fn wheel(
    model: &mut Model,
    place: Vec3,
    turn: Quaternion,
    velocity: Vec3,
    spin: f64,
    road: &Arc<Road>,
) -> Wheel {
    let start = Motion::at_rest(place, turn);
    let axis = start.rotation * Vec3::Y;
    let carrier = model.node("carrier", start.moving(velocity, Vec3::ZERO));
    let rim = model.node("rim", start.moving(velocity, axis * spin));
    model.body(carrier, Body::centred(10.0, Mat3::diagonal(0.2, 0.2, 0.2)));
    model.body(rim, Body::centred(8.0, Mat3::diagonal(0.15, 0.25, 0.15)));
    let [a, b] = [carrier, rim].map(|node| Marker::on(node).axis(Vec3::Y));
    model.element("bearing", Joint::revolute(a, b));
    model.element("tyre", Tyre::new(rim, Vec3::Y, formula(), road.clone()));
    Wheel { carrier, rim }
}
