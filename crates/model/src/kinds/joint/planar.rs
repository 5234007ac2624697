//! Planes on planes.

use oldham_multibody::{Frictional, Joint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use super::friction::Rubbing;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Sliding in the plane normal to the axis, and rotation about the axis.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Planar {}

pub(super) fn make(
    With(at, With(rubbing, Planar {})): With<Axial, With<Rubbing, Planar>>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let friction = rubbing.friction(
        Some("a planar joint needs the mean radius of its face"),
        bench,
    );
    let [a, b] = at.ends(bench)?;
    let joint = match friction? {
        Some(it) => {
            let joint = Frictional::planar(a, b, it.radius, it.preload, it.law);
            ForeignJoint::new(joint, [a, b])
        }
        None => ForeignJoint::new(Joint::planar(a, b), [a, b]),
    };
    Some(joint.drawn(Symbol::Slide))
}
