//! Ball joints.

use oldham_multibody::{Frictional, Joint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Placed;
use super::friction::Rubbing;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// All rotations.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Spherical {}

pub(super) fn make(
    With(at, With(rubbing, Spherical {})): With<Placed, With<Rubbing, Spherical>>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let friction = rubbing.friction(
        Some("a spherical joint needs the radius of its ball"),
        bench,
    );
    let [a, b] = at.ends(bench)?;
    let joint = match friction? {
        Some(it) => {
            let joint = Frictional::spherical(a, b, it.radius, it.preload, it.law);
            ForeignJoint::new(joint, [a, b])
        }
        None => ForeignJoint::new(Joint::spherical(a, b), [a, b]),
    };
    Some(joint.drawn(Symbol::Pin))
}
