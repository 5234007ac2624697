//! Gears, racks and screws.

use oldham_multibody::{Coordinate, Marker, Transmission};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::At;
use crate::format::multibody::Multibody;
use crate::problem::Problem;

impl Checker<'_> {
    pub(super) fn transmissions<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.transmissions {
            self.element_name(&entry.name, "a transmission", draft);
            let given = &entry.value.value;
            let joints = given.joints.as_ref();
            let joints = joints.and_then(|joints| self.two(joints, "joints"));
            let joints = joints.map(|pair| pair.map(|name| self.coordinate(name, draft)));
            let ratios = given.ratios.as_ref();
            let ratios: Option<[f64; 2]> =
                ratios.and_then(|ratios| self.numbers(ratios, "one ratio for each joint"));
            if let (Some([Some(first), Some(second)]), Some([p, q])) = (joints, ratios) {
                let sides = [(first.0, first.1, p), (second.0, second.1, q)];
                let element = Transmission::new(sides[0], sides[1]);
                draft.element(&entry.name.value, Box::new(element));
            }
        }
    }

    /// The coordinate of a joint, with the markers between which it is measured.
    pub(super) fn coordinate(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Coordinate, [Marker; 2])> {
        let Some(joint) = draft.joints.get(name.value.as_str()) else {
            let message = format!("there is no joint `{}` in this subsystem", name.value);
            let problem = Problem::new(name.span.clone(), message).label("unknown joint");
            let known = draft.joints.keys().copied();
            self.findings.push_misspelt(problem, &name.value, known);
            return None;
        };
        let joint = (*joint)?;
        let Some(coordinate) = joint.coordinate else {
            let message = format!("the joint `{}` has no single coordinate", name.value);
            let problem = Problem::new(name.span.clone(), message)
                .help("`revolute`, `cylindrical` and `prismatic` joints have one");
            self.findings.push(problem);
            return None;
        };
        Some((coordinate, joint.ends))
    }
}
