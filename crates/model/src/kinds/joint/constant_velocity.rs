//! Constant-velocity joints between shafts, which may be at an angle.

use oldham_multibody::{Joint, Marker, Quaternion, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Axial, Placement};
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::format::At;
use crate::format::multibody::Vector;

/// Rotations about all axes but the shafts, which turn at the same speed whatever the angle
/// between them.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ConstantVelocity {
    /// The directions of the two shafts, at the start. By default both along `axis`.
    shafts: Option<At<Vec<At<Vector>>>>,
}

pub(super) fn make(
    With(at, ConstantVelocity { shafts }): With<Axial, ConstantVelocity>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let placed = at.placed(bench)?;
    let ends = match &shafts {
        None => placed.ends,
        Some(shafts) => along(shafts, &placed, bench)?,
    };
    let joint = Joint::constant_velocity(ends[0], ends[1]);
    Some(ForeignJoint::new(joint, ends))
}

/// Markers whose axes are those of the shafts.
fn along(
    shafts: &At<Vec<At<Vector>>>,
    Placement { ends, frame, axes }: &Placement,
    Bench { checker, draft, .. }: &mut Bench<'_, '_, '_>,
) -> Option<[Marker; 2]> {
    let [first, second] = checker
        .two(shafts, "shafts")?
        .map(|shaft| checker.direction(shaft));
    let (first, second) = (frame.direction(first?), frame.direction(second?));
    let Some(bend) = between(first, second) else {
        let message = "the shafts point against each other";
        checker
            .report(&shafts.span, message)
            .help("give both in the direction of the power");
        return None;
    };
    let axle = axes.matrix().column(2);
    let turn = between(axle, first)?;
    let turned = [turn.times(*axes), bend.times(turn).times(*axes)];
    let model = &draft.spec.whole.model;
    let marker = |end: &Marker, axes| model.oriented_marker(end.node, model.place_of(end), axes);
    Some([marker(&ends[0], turned[0]), marker(&ends[1], turned[1])])
}

/// The shortest rotation from one direction to another; nothing for opposite ones.
fn between(from: Vec3, to: Vec3) -> Option<Quaternion> {
    let axis = from.cross(to);
    let (sine, cosine) = (axis.norm(), from.dot(to));
    if sine < 1e-12 {
        return (cosine > 0.0).then_some(Quaternion::IDENTITY);
    }
    Some(Quaternion::exp(axis * (sine.atan2(cosine) / sine)))
}
