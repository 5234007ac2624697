//! Hinges.

use oldham_multibody::{Frictional, Joint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use super::coordinate::{Resisting, Turning};
use super::friction::Rubbing;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Rotation about the axis.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Revolute {}

type Table = With<Axial, With<Turning, With<Resisting, With<Rubbing, Revolute>>>>;

pub(super) fn make(
    With(at, With(turning, With(resisting, With(rubbing, Revolute {})))): Table,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let along = [turning.along()];
    let motion = along[0].value(bench);
    let friction = rubbing.friction_along(
        &along,
        Some("a revolute joint needs the radius of its pin"),
        bench,
    );
    let [a, b] = at.ends(bench)?;
    let joint = match (friction?, motion?) {
        (Some(it), _) => {
            let joint = Frictional::revolute(a, b, it.radius, it.preload, it.law);
            ForeignJoint::new(joint, [a, b])
        }
        (None, Some(motion)) => ForeignJoint::new(Joint::driven_revolute(a, b, motion), [a, b]),
        (None, None) => ForeignJoint::new(Joint::revolute(a, b), [a, b]),
    };
    Some(resisting.joint(joint.drawn(Symbol::Pin), &along, bench))
}
