//! Joints along curves, and of shafts at an angle.

use oldham_multibody::{
    Element, Joint, Marker, NodeId, PlaneCurve, PointOnCurve, Quaternion, Vec3,
};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::At;
use crate::format::multibody::{self, Vector};
use crate::mechanism::{Outline, Pose};

/// Points through which the spline of a curve goes.
const POINTS: usize = 400;
/// A curve is closed if its ends are nearer to each other than this fraction of its size.
const CLOSED: f64 = 1e-9;
/// What the points of a curve depend on.
const CURVE_VARIABLES: [&str; 1] = ["s"];

impl Checker<'_> {
    /// A point of the second node on a curve that is drawn on the first.
    pub(super) fn point_on_curve(
        &mut self,
        given: &multibody::Joint,
        nodes: [NodeId; 2],
        frame: &Pose,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<(Box<dyn Element>, [Marker; 2])> {
        let curve = match &given.curve {
            Some(curve) => self.plane_curve(curve),
            None => {
                let span = &given.kind.as_ref()?.span;
                let message = "a point on a curve needs the `curve`";
                self.report_missing(span, message)
                    .help("such as curve = [\"0.1 * cos(2 * pi * s)\", \"0.1 * sin(2 * pi * s)\"]");
                None
            }
        };
        let axes = self.orientation_in(frame, &given.orientation);
        let points = self.points_in(frame, &given.points, nodes, draft)?;
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
            self.report(span, message);
            return None;
        };
        draft.spec.sketch.outlines.push(Outline::Profile(profile));
        Some((Box::new(PointOnCurve::new(ends, spline)), ends))
    }

    /// Points of a curve, and whether it is closed.
    fn plane_curve(&mut self, given: &At<Vector>) -> Option<(Vec<[f64; 2]>, bool)> {
        let [x, y] = self.expressions(given, &CURVE_VARIABLES)?;
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

    /// A constant-velocity joint between shafts, which may be at an angle.
    pub(super) fn constant_velocity(
        &mut self,
        given: &multibody::Joint,
        ends: [Marker; 2],
        axes: Quaternion,
        frame: &Pose,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Joint, [Marker; 2])> {
        let Some(shafts) = &given.shafts else {
            return Some((Joint::constant_velocity(ends[0], ends[1]), ends));
        };
        let [first, second] = self
            .two(shafts, "shafts")?
            .map(|shaft| self.direction(shaft));
        let (first, second) = (frame.direction(first?), frame.direction(second?));
        let Some(bend) = between(first, second) else {
            let message = "the shafts point against each other";
            self.report(&shafts.span, message)
                .help("give both in the direction of the power");
            return None;
        };
        let place = axes.matrix().column(2);
        let turn = between(place, first)?;
        let [a, b] = [turn.times(axes), bend.times(turn).times(axes)];
        let model = &draft.spec.whole.model;
        let turned =
            |end: Marker, axes| model.oriented_marker(end.node, model.place_of(&end), axes);
        let ends = [turned(ends[0], a), turned(ends[1], b)];
        Some((Joint::constant_velocity(ends[0], ends[1]), ends))
    }
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
