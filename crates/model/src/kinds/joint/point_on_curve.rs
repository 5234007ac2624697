//! Points on curves: cams, slots, tracks.

use oldham_multibody::{Marker, PlaneCurve, PointOnCurve, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Ends;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::format::At;
use crate::format::multibody::{Orientation, Vector};
use crate::mechanism::{Outline, Symbol};

/// Points through which the spline of a curve goes.
const POINTS: usize = 400;
/// A curve is closed if its ends are nearer to each other than this fraction of its size.
const CLOSED: f64 = 1e-9;
/// What the points of a curve depend on.
const CURVE_VARIABLES: [&str; 1] = ["s"];

/// Everything but leaving a plane curve that is drawn on the first node: a cam, a slot, a track.
/// The point may move across the plane.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OnCurve {
    /// The axes in which the curve is drawn. By default those of the frame.
    orientation: Option<At<Orientation>>,
    /// Two points `[on a, on b]` in m instead of the nodes
    /// themselves. That on `a` is the origin of the curve.
    points: Option<At<Vec<At<Vector>>>>,
    /// The two coordinates in m as expressions of `s`, which goes from 0 to 1,
    /// along the first two axes of `orientation`. A curve that ends where it begins is closed.
    curve: Option<At<Vector>>,
}

pub(super) fn make(
    With(Ends { between, frame }, given): With<Ends, OnCurve>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let nodes = bench.checker.ends_of(&between, bench.draft);
    let frame = bench.checker.frame_named(&frame, bench.draft);
    let (nodes, frame) = (nodes?, frame?);
    let curve = plane_curve(&given.curve, bench);
    let Bench { checker, draft, .. } = bench;
    let axes = checker.orientation_in(&frame, &given.orientation);
    let points = checker.points_in(&frame, &given.points, nodes, draft)?;
    let (curve, axes) = (curve?, axes?);
    let model = &draft.spec.whole.model;
    let ends = [0, 1].map(|i| model.oriented_marker(nodes[i], points[i], axes));
    let turned = axes.matrix();
    let profile = curve.0.iter().map(|[x, y]| {
        let place = points[0] + turned * Vec3::new(*x, *y, 0.0);
        model.marker(nodes[0], place)
    });
    let mut profile: Vec<Marker> = profile.collect();
    if curve.1 {
        profile.extend(profile.first().copied());
    }
    let Some(spline) = PlaneCurve::new(curve.0, curve.1) else {
        let span = &given.curve.as_ref()?.span;
        let message = "the curve has no length somewhere, or a point that is not finite";
        checker.report(span, message);
        return None;
    };
    draft.spec.sketch.outlines.push(Outline::Profile(profile));
    let joint = PointOnCurve::new(ends, spline);
    Some(ForeignJoint::new(joint, ends).drawn(Symbol::Point))
}

/// Points of a curve, and whether it is closed.
fn plane_curve(
    given: &Option<At<Vector>>,
    Bench { checker, kind, .. }: &mut Bench<'_, '_, '_>,
) -> Option<(Vec<[f64; 2]>, bool)> {
    let Some(given) = given else {
        let message = "a point on a curve needs the `curve`";
        checker
            .report_missing(kind, message)
            .help("such as curve = [\"0.1 * cos(2 * pi * s)\", \"0.1 * sin(2 * pi * s)\"]");
        return None;
    };
    let [x, y] = checker.expressions(given, &CURVE_VARIABLES)?;
    let point = |s: f64| [x.eval(&[s]), y.eval(&[s])];
    let mut points: Vec<[f64; 2]> = (0..=POINTS)
        .map(|i| point(i as f64 / POINTS as f64))
        .collect();
    let size = points.iter().flatten().fold(0.0_f64, |m, v| m.max(v.abs()));
    let (first, last) = (points[0], points[POINTS]);
    let gap = (first[0] - last[0]).hypot(first[1] - last[1]);
    let is_closed = gap <= CLOSED * size;
    if is_closed {
        points.pop();
    }
    Some((points, is_closed))
}
