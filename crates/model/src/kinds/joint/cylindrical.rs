//! Pins that turn and slide.

use oldham_multibody::{Frictional, Joint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use super::coordinate::{Resisting, Sliding, Turning};
use super::friction::Rubbing;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Sliding along the axis and rotation about it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Cylindrical {}

type Moving = With<Turning, With<Sliding, With<Resisting, Rubbing>>>;

pub(super) fn make(
    With(at, With(moving, Cylindrical {})): With<Axial, With<Moving, Cylindrical>>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let With(turning, With(sliding, With(resisting, rubbing))) = &moving;
    let along = [turning.along(), sliding.along()];
    let [angle, slide] = along.map(|one| one.value(bench));
    let of = "a cylindrical joint needs the radius of its pin";
    let friction = rubbing.friction_along(&along, Some(of), bench);
    let [a, b] = at.ends(bench)?;
    let joint = match friction? {
        Some(it) => {
            let joint = Frictional::cylindrical(a, b, it.radius, it.preload, it.law);
            ForeignJoint::new(joint, [a, b])
        }
        None => {
            let joint = Joint::driven_cylindrical(a, b, slide?, angle?);
            ForeignJoint::new(joint, [a, b])
        }
    };
    Some(resisting.joint(joint.drawn(Symbol::Slide), &along, bench))
}
