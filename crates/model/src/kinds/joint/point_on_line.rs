//! Points on lines.

use oldham_multibody::Joint;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Sliding along the axis, and all rotations.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PointOnLine {}

pub(super) fn make(
    With(at, PointOnLine {}): With<Axial, PointOnLine>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let [a, b] = at.ends(bench)?;
    Some(ForeignJoint::new(Joint::in_line(a, b), [a, b]).drawn(Symbol::Slide))
}
