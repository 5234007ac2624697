//! Joints with clearance.

use oldham_multibody::{Clearance, Marker, NodeId, Quaternion, SurfaceFriction};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody::{self, Multibody};

impl Checker<'_> {
    pub(super) fn clearances<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.clearances {
            self.element_name(&entry.name, "a clearance", draft);
            draft.holders.insert(entry.name.value.clone(), None);
            if let Some(clearance) = self.clearance(&entry.value.value, draft) {
                draft.holder(&entry.name.value, Box::new(clearance));
            }
        }
    }

    fn clearance(
        &mut self,
        given: &multibody::Clearance,
        draft: &MechanismDraft<'_>,
    ) -> Option<Clearance> {
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let axis = given.axis.as_ref().map(|axis| self.direction(axis));
        let gap = self.required(&given.gap);
        let stiffness = self.required(&given.stiffness);
        let damping = self.number_or(&given.damping, 0.0);
        let friction = given
            .friction
            .as_ref()
            .map(|at| self.surface_friction(&at.value));
        let (nodes, frame) = (nodes?, frame?);
        let place = self.place_in(&frame, &given.position, nodes, draft)?;
        let (gap, stiffness, damping) = (gap?, stiffness?, damping?);
        let clearance = match axis {
            Some(axis) => {
                let axis = frame.direction(axis?);
                let axes = Marker::on(NodeId::GROUND).axis(axis).orientation;
                let ends = draft.markers(nodes, place, axes);
                Clearance::pin(ends, gap, stiffness, damping)
            }
            None => {
                let ends = draft.markers(nodes, place, Quaternion::IDENTITY);
                Clearance::ball(ends, gap, stiffness, damping)
            }
        };
        Some(match friction {
            Some(friction) => clearance.with_friction(friction?),
            None => clearance,
        })
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
