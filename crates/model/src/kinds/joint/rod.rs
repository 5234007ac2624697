//! Massless rigid rods.

use oldham_multibody::{Drive, Joint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Ends;
use crate::check::Bench;
use crate::check::keys::read_if;
use crate::extensions::{ForeignJoint, With};
use crate::format::At;
use crate::format::multibody::{Given, Vector};
use crate::mechanism::Symbol;

/// Everything but the distance of two points: a massless rigid rod.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Rod {
    /// Two points `[on a, on b]` in m instead of the nodes themselves.
    points: Option<At<Vec<At<Vector>>>>,
    /// The distance in m. By default that of the initial positions.
    length: Option<At<Given>>,
}

pub(super) fn make(
    With(Ends { between, frame }, Rod { points, length }): With<Ends, Rod>,
    Bench { checker, draft, .. }: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let length = read_if(&length, |length| checker.drive_at(length, draft));
    let line = checker.line_between(&between, &points, &frame, draft)?;
    let length = length?.unwrap_or(Drive::Constant(line.length));
    let joint = Joint::distance(line.ends[0], line.ends[1], length);
    Some(ForeignJoint::new(joint, line.ends).drawn(Symbol::Rod))
}
