//! Welds.

use oldham_multibody::Joint;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Placed;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::mechanism::Symbol;

/// Nothing: a weld.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Fixed {}

pub(super) fn make(
    With(at, Fixed {}): With<Placed, Fixed>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let [a, b] = at.ends(bench)?;
    Some(ForeignJoint::new(Joint::clamp(a, b), [a, b]).drawn(Symbol::Clamp))
}
