//! Friction in joints.

use oldham_multibody::{Frictional, LuGre, Marker};

use crate::check::Checker;
use crate::format::At;
use crate::format::multibody::{Friction, Joint, JointKind};

/// Stribeck velocity in m/s when none is given.
const DEFAULT_STRIBECK: f64 = 0.01;

/// Friction with what belongs to the joint.
pub(super) struct JointFriction {
    law: LuGre,
    preload: f64,
    radius: Option<f64>,
}

impl JointFriction {
    /// The joint with its friction.
    pub fn joint(&self, kind: JointKind, [a, b]: [Marker; 2]) -> Option<Frictional> {
        let Self { law, preload, .. } = *self;
        let make = match kind {
            JointKind::Prismatic => return Some(Frictional::prismatic(a, b, preload, law)),
            JointKind::Revolute => Frictional::revolute,
            JointKind::Cylindrical => Frictional::cylindrical,
            JointKind::Spherical => Frictional::spherical,
            JointKind::Universal => Frictional::universal,
            JointKind::Planar => Frictional::planar,
            _ => return None,
        };
        Some(make(a, b, self.radius?, preload, law))
    }
}

impl Checker<'_> {
    pub(super) fn friction(
        &mut self,
        given: &At<Friction>,
        joint: &Joint,
        kind: JointKind,
    ) -> Option<JointFriction> {
        let span = &given.span;
        let given = &given.value;
        for (motion, what) in [(&joint.angle, "angle"), (&joint.slide, "slide")] {
            if motion.is_some() {
                let message = format!("the {what} is prescribed: friction has nothing to act on");
                self.report(span, message).label("leave it out");
                return None;
            }
        }
        let coulomb = self.required(&given.coulomb);
        let stiction = self.number_or(&given.stiction, coulomb.unwrap_or_default());
        let stribeck = self.number_or(&given.stribeck, DEFAULT_STRIBECK);
        let stiffness = self.required(&given.stiffness);
        let damping = self.number_or(&given.damping, 0.0);
        let viscous = self.number_or(&given.viscous, 0.0);
        let preload = self.number_or(&given.preload, 0.0);
        let of = match kind {
            JointKind::Prismatic => None,
            JointKind::Revolute => Some("a revolute joint needs the radius of its pin"),
            JointKind::Cylindrical => Some("a cylindrical joint needs the radius of its pin"),
            JointKind::Spherical => Some("a spherical joint needs the radius of its ball"),
            JointKind::Universal => Some("a universal joint needs the radius of its bearings"),
            JointKind::Planar => Some("a planar joint needs the mean radius of its face"),
            // Reported as a key that this type does not use.
            _ => return None,
        };
        let radius = match (&given.radius, of) {
            (Some(at), _) => self.number(at),
            (None, Some(of)) => {
                let message = format!("friction of {of}");
                self.report_missing(span, message).label("has no `radius`");
                return None;
            }
            (None, None) => None,
        };
        Some(JointFriction {
            law: LuGre {
                coulomb: coulomb?,
                stiction: stiction?,
                stribeck: stribeck?,
                stiffness: stiffness?,
                damping: damping?,
                viscous: viscous?,
            },
            preload: preload?,
            radius,
        })
    }
}
