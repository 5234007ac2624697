//! Joints with clearance.

use oldham_multibody::{Clearance, Marker, NodeId, Quaternion, SurfaceFriction};

use super::{Made, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::read_if;
use crate::format::Entry;
use crate::format::multibody;

impl Checker<'_> {
    pub(super) fn clearance(
        &mut self,
        entry: &Entry<multibody::Clearance>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let axis = read_if(&given.axis, |axis| self.direction(axis));
        let gap = self.required(&given.gap);
        let stiffness = self.required(&given.stiffness);
        let damping = self.number_or(&given.damping, 0.0);
        let friction = read_if(&given.friction, |at| self.surface_friction(&at.value));
        let (nodes, frame) = (nodes?, frame?);
        let place = self.place_in(&frame, &given.position, nodes, draft)?;
        let (gap, stiffness, damping) = (gap?, stiffness?, damping?);
        let clearance = match axis? {
            Some(axis) => {
                let axis = frame.direction(axis);
                let axes = Marker::on(NodeId::GROUND).axis(axis).orientation;
                let ends = draft.markers(nodes, place, axes);
                Clearance::pin(ends, gap, stiffness, damping)
            }
            None => {
                let ends = draft.markers(nodes, place, Quaternion::IDENTITY);
                Clearance::ball(ends, gap, stiffness, damping)
            }
        };
        let clearance = match friction? {
            Some(friction) => clearance.with_friction(friction),
            None => clearance,
        };
        Some((Box::new(clearance), None))
    }

    fn surface_friction(&mut self, given: &multibody::SurfaceFriction) -> Option<SurfaceFriction> {
        let coefficient = self.required(&given.coefficient);
        let radius = self.required(&given.radius);
        let speed = self.number_or(&given.speed, 1e-3);
        Some(SurfaceFriction {
            coefficient: coefficient?,
            radius: radius?,
            speed: speed?,
        })
    }
}
