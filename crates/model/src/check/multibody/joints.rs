//! Joints, and references to them.

use oldham_multibody::{Coordinate, ElementId, Marker};

use super::MechanismDraft;
use crate::check::Checker;
use crate::extensions::{ForeignJoint, find};
use crate::format::At;
use crate::format::multibody::Multibody;
use crate::mechanism::NamedJoint;

/// A joint, for those who refer to it.
#[derive(Clone)]
pub(crate) struct DraftJoint {
    /// What its kind is called in model files.
    pub kind: String,
    pub element: ElementId,
    pub ends: [Marker; 2],
    /// What it leaves free, if that is a single coordinate; the angle of a cylindrical joint.
    pub coordinate: Option<Coordinate>,
    /// Another coordinate that it leaves free.
    second: Option<Coordinate>,
    /// What prescribes the rate of its coordinate.
    pub drive: Option<ElementId>,
}

impl DraftJoint {
    /// Whether it has a coordinate of this kind.
    pub fn has(&self, coordinate: Coordinate) -> bool {
        [self.coordinate, self.second].contains(&Some(coordinate))
    }
}

/// What the format calls a coordinate.
pub(crate) fn word(coordinate: Coordinate) -> &'static str {
    match coordinate {
        Coordinate::Angle => "angle",
        Coordinate::Slide => "slide",
    }
}

impl Checker<'_> {
    pub(super) fn joints<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        let extensions = self.extensions;
        for entry in &section.joints {
            self.element_name(&entry.name, "a joint", draft);
            let name = entry.name.value.as_str();
            draft.holders.insert(name.to_owned(), None);
            draft.joints.insert(name, None);
            let kind = find(&extensions.joints, &entry.value.value.kind.value);
            let made = kind.and_then(|kind| {
                let joint = self.at_bench(kind, name, &entry.value, draft, |settings, bench| {
                    (kind.make)(settings, bench)
                })?;
                Some((kind.name.clone(), joint))
            });
            match made {
                Some((kind, joint)) => draft.joint(kind, &entry.name, joint),
                None => draft.lost_elements = true,
            }
        }
    }

    /// The markers of a joint that has a certain coordinate.
    pub(crate) fn joint_with(
        &mut self,
        name: &At<String>,
        coordinate: Coordinate,
        draft: &MechanismDraft<'_>,
    ) -> Option<[Marker; 2]> {
        let joint = self.joint_named(name, draft)?;
        if joint.has(coordinate) {
            return Some(joint.ends);
        }
        let (does, which) = match coordinate {
            Coordinate::Angle => ("turn about", "`revolute` and `cylindrical`"),
            Coordinate::Slide => ("slide along", "`prismatic` and `cylindrical`"),
        };
        let message = format!("the joint `{}` does not {does} an axis", name.value);
        self.report(&name.span, message)
            .help(format!("{which} joints do"));
        None
    }

    pub(crate) fn joint_named<'d>(
        &mut self,
        name: &At<String>,
        draft: &'d MechanismDraft<'_>,
    ) -> Option<&'d DraftJoint> {
        self.known(name, "joint", &draft.joints)
    }
}

impl<'f> MechanismDraft<'f> {
    /// Adds a joint with all that belongs to it.
    fn joint(&mut self, kind: String, name: &'f At<String>, joint: ForeignJoint) {
        let element = self.holder(&name.value, joint.element);
        for coordinate in joint.driven {
            let is_angle = coordinate == Coordinate::Angle;
            self.driven.insert((name.value.clone(), is_angle));
        }
        let mut drive = None;
        for companion in joint.companions {
            let element = self.companion(name, &companion.name, companion.element);
            if companion.drives {
                drive = Some(element);
            }
        }
        if let (Some(coordinate), true) = (joint.coordinate, joint.reflected_inertia > 0.0) {
            self.rotor(name, (coordinate, joint.ends, joint.reflected_inertia));
        }
        let known = DraftJoint {
            kind,
            element,
            ends: joint.ends,
            coordinate: joint.coordinate,
            second: joint.second,
            drive,
        };
        self.joints.insert(&name.value, Some(known));
        self.spec.sketch.joints.push((joint.symbol, joint.ends));
        self.spec.joints.push(NamedJoint {
            name: name.value.clone(),
            element,
            ends: joint.ends,
        });
    }
}
