//! Universal joints.

use oldham_multibody::{Frictional, Joint, Mat3, Quaternion};
use schemars::JsonSchema;
use serde::Deserialize;

use super::friction::Rubbing;
use super::{Ends, Place};
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::format::At;
use crate::format::multibody::Vector;
use crate::mechanism::Pose;

/// Two directions count as at right angles up to this cosine.
const RIGHT_ANGLE: f64 = 1e-9;

/// Rotations about the two arms of a cross.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Universal {
    /// The arms of the cross on the first and on the second node, two directions
    /// at right angles. By default the first and second axis of `orientation`.
    arms: Option<At<Vec<At<Vector>>>>,
}

type Table = With<Ends, With<Place, With<Rubbing, Universal>>>;

pub(super) fn make(
    With(ends, With(place, With(rubbing, given))): Table,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let axes = |frame: &Pose, bench: &mut Bench<'_, '_, '_>| match &given.arms {
        Some(arms) => cross(arms, frame, bench),
        None => bench.checker.orientation_in(frame, &place.orientation),
    };
    let of = "a universal joint needs the radius of its bearings";
    let friction = rubbing.friction(Some(of), bench);
    let [a, b] = ends.placed(&place.position, axes, bench)?.ends;
    Some(match friction? {
        Some(it) => {
            let joint = Frictional::universal(a, b, it.radius, it.preload, it.law);
            ForeignJoint::new(joint, [a, b])
        }
        None => ForeignJoint::new(Joint::universal(a, b), [a, b]),
    })
}

/// The axes from the arms of the cross.
fn cross(
    arms: &At<Vec<At<Vector>>>,
    frame: &Pose,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<Quaternion> {
    let checker = &mut *bench.checker;
    let [first, second] = checker.two(arms, "arms")?.map(|arm| checker.direction(arm));
    let (first, second) = (frame.direction(first?), frame.direction(second?));
    if first.dot(second).abs() > RIGHT_ANGLE {
        let message = "the arms of the cross must be at right angles";
        checker.report(&arms.span, message);
        return None;
    }
    let axes = Mat3::from_columns(first, second, first.cross(second));
    Some(Quaternion::from_matrix(&axes))
}
