//! Wheels that roll on planes.

use oldham_multibody::{Element, Marker, RollingWheel, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::read_or;
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
        let normal = read_or(&given.normal, Vec3::Z, |normal| self.direction(normal));
        if given.radius.is_none() {
            self.report_missing(&between.span, "a wheel needs its `radius`")
                .help("give `radius` in m, the axle as `axis`, and the `normal` of the plane");
        }
        let radius = self.required(&given.radius);
        let normal = frame.direction(normal?).unit();
        let model = &draft.spec.whole.model;
        let wheel = model.initial(ends[1].node);
        let centre = model.place_of(&ends[1]);
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
