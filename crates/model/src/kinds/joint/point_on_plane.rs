//! Points on planes.

use oldham_multibody::Joint;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Sliding in the plane normal to the axis, and all rotations.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PointOnPlane {}

pub(super) fn make(
    With(at, PointOnPlane {}): With<Axial, PointOnPlane>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let [a, b] = at.ends(bench)?;
    Some(ForeignJoint::new(Joint::in_plane(a, b), [a, b]).drawn(Symbol::Slide))
}
