//! What model files may say of vehicles: elements and sensors of mechanisms.
//!
//! Places and directions are absolute, at the start, as everywhere in model files.

mod air;
mod ground;
mod reading;
mod suspension;
mod track;
mod tyre;
mod wheel;

use oldham_model::{At, Extensions, Problem, Site};
use oldham_multibody::NodeId;
use oldham_space::Vec3;

/// Everything that this crate adds to model files.
pub fn extensions() -> Extensions {
    let mut extensions = Extensions::new();
    register(&mut extensions);
    extensions
}

/// Adds it to other kinds.
pub fn register(extensions: &mut Extensions) {
    extensions.element("tyre", tyre::make);
    extensions.element("disc-brake", wheel::brake);
    extensions.element("hub-motor", wheel::motor);
    extensions.element("driven-axle", wheel::driven_axle);
    extensions.element("anti-roll-bar", suspension::anti_roll_bar);
    extensions.element("aerodynamics", air::make);
    extensions.element("ground-contact", ground::make);
    extensions.sensor("body-velocity", suspension::body_velocity);
    extensions.sensor("tyre", reading::make);
}

/// A direction in axes of a node; a null vector is reported.
fn direction(given: &At<[f64; 3]>, node: NodeId, site: &mut Site<'_>) -> Option<Vec3> {
    let along = vector(given.value);
    if along.norm() == 0.0 {
        let problem = Problem::new(given.span.clone(), "a null vector has no direction");
        site.report(problem.help("give a direction such as [0, 1, 0]"));
        return None;
    }
    Some(
        site.model()
            .initial(node)
            .rotation
            .transpose_mul(along.unit()),
    )
}

/// A place in axes of a node.
fn place(given: [f64; 3], node: NodeId, site: &Site<'_>) -> Vec3 {
    let motion = site.model().initial(node);
    motion
        .rotation
        .transpose_mul(vector(given) - motion.position)
}

fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x, y, z)
}
