//! Slides.

use oldham_multibody::{Frictional, Joint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use super::coordinate::{Resisting, Sliding};
use super::friction::Rubbing;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Sliding along the axis.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Prismatic {}

type Table = With<Axial, With<Sliding, With<Resisting, With<Rubbing, Prismatic>>>>;

pub(super) fn make(
    With(at, With(sliding, With(resisting, With(rubbing, Prismatic {})))): Table,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let along = [sliding.along()];
    let motion = along[0].value(bench);
    let friction = rubbing.friction_along(&along, None, bench);
    let [a, b] = at.ends(bench)?;
    let joint = match (friction?, motion?) {
        (Some(it), _) => {
            let joint = Frictional::prismatic(a, b, it.preload, it.law);
            ForeignJoint::new(joint, [a, b])
        }
        (None, Some(motion)) => ForeignJoint::new(Joint::driven_prismatic(a, b, motion), [a, b]),
        (None, None) => ForeignJoint::new(Joint::prismatic(a, b), [a, b]),
    };
    Some(resisting.joint(joint.drawn(Symbol::Slide), &along, bench))
}
