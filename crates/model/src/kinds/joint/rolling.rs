//! Wheels that roll on planes.

use oldham_multibody::{RollingWheel, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use crate::check::Bench;
use crate::check::keys::read_or;
use crate::extensions::{ForeignJoint, With};
use crate::format::multibody::Vector;
use crate::format::{At, Positive};
use crate::mechanism::Symbol;

/// The sine of the angle between axle and normal that a wheel has at least.
const LEAST_TILT: f64 = 1e-6;

/// Rolling of a thin wheel, `b`, on a plane of `a`, which it touches at the start, without slip; and tilting.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Rolling {
    /// The normal of the plane on `a`, away from which the wheel is. By default the third
    /// axis of the frame. `axis` is the axle.
    normal: Option<At<Vector>>,
    /// The radius of the wheel in m.
    radius: Option<At<Positive>>,
}

/// A wheel whose markers are at its centre, with the axle as their third axis.
pub(super) fn make(
    With(at, Rolling { normal, radius }): With<Axial, Rolling>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let placed = at.placed(bench)?;
    let between = at.0.between.as_ref()?;
    let Bench { checker, draft, .. } = bench;
    let normal = read_or(&normal, Vec3::Z, |normal| checker.direction(normal));
    if radius.is_none() {
        checker
            .report_missing(&between.span, "a wheel needs its `radius`")
            .help("give `radius` in m, the axle as `axis`, and the `normal` of the plane");
    }
    let radius = checker.required(&radius);
    let normal = placed.frame.direction(normal?).unit();
    let ends = placed.ends;
    let model = &draft.spec.whole.model;
    let wheel = model.initial(ends[1].node);
    let centre = model.place_of(&ends[1]);
    let axle = wheel.rotation * ends[1].orientation.matrix().column(2);
    let across = normal.cross(axle);
    if across.norm() < LEAST_TILT {
        let message = "the axle is normal to the plane: the wheel lies flat on it";
        checker
            .report(&between.span, message)
            .help("give the axle as `axis` and the normal of the plane as `normal`");
        return None;
    }
    let touching = centre - axle.cross(across.unit()) * radius?;
    let plane = model.axis_marker(ends[0].node, touching, normal);
    let wheel = RollingWheel::new(plane, ends[1], radius?);
    Some(ForeignJoint::new(wheel, ends).drawn(Symbol::Point))
}
