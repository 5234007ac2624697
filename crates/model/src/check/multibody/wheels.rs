//! Wheels that roll on planes.

use oldham_multibody::{Element, Marker, RollingWheel, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody;
use crate::mechanism::Pose;

/// The sine of the angle between axle and normal that a wheel has at least.
const LEAST_TILT: f64 = 1e-6;

impl Checker<'_> {
    /// A wheel whose markers are at its centre, with the axle as their third axis.
    pub(super) fn rolling(
        &mut self,
        given: &multibody::Joint,
        ends: [Marker; 2],
        frame: &Pose,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Box<dyn Element>, [Marker; 2])> {
        let between = given.between.as_ref()?;
        let normal = match &given.normal {
            Some(normal) => self.direction(normal),
            None => Some(Vec3::Z),
        };
        if given.radius.is_none() {
            self.report_missing(&between.span, "a wheel needs its `radius`")
                .help("give `radius` in m, the axle as `axis`, and the `normal` of the plane");
        }
        let radius = given.radius.as_ref().and_then(|at| self.number(at));
        let normal = frame.direction(normal?).unit();
        let model = &draft.spec.whole.model;
        let wheel = model.initial(ends[1].node);
        let centre = wheel.position + wheel.rotation * ends[1].offset;
        let axle = wheel.rotation * ends[1].orientation.matrix().column(2);
        let across = normal.cross(axle);
        if across.norm() < LEAST_TILT {
            let message = "the axle is normal to the plane: the wheel lies flat on it";
            self.report(&between.span, message)
                .help("give the axle as `axis` and the normal of the plane as `normal`");
            return None;
        }
        let touching = centre - axle.cross(across.unit()) * radius?;
        let plane = model.axis_marker(ends[0].node, touching, normal);
        let wheel = RollingWheel::new(plane, ends[1], radius?);
        Some((Box::new(wheel), ends))
    }
}
