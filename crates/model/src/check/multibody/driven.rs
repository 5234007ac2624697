//! Prescribed motions, end stops and motors of joints.

use std::sync::Arc;

use oldham_multibody::{
    Coordinate, CoordinateForce, Drive, DrivenCoordinate, ElementId, Law, Marker, Target,
};

use super::{DraftJoint, Made, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::{read, read_if, read_or};
use crate::format::multibody::{self, Joint, Stops};
use crate::format::{At, Entry};

/// Prescribed coordinates of a joint.
pub(super) struct JointMotion {
    pub angle: Option<Drive>,
    pub slide: Option<Drive>,
}

impl MechanismDraft<'_> {
    /// Notes which coordinates of a joint are prescribed.
    pub(super) fn note_driven(&mut self, given: &Joint, name: &str) {
        for coordinate in [Coordinate::Angle, Coordinate::Slide] {
            if drives(given, coordinate) {
                let is_angle = coordinate == Coordinate::Angle;
                self.driven.insert((name.to_owned(), is_angle));
            }
        }
    }
}

/// Whether a joint prescribes a coordinate.
fn drives(given: &Joint, coordinate: Coordinate) -> bool {
    match coordinate {
        Coordinate::Angle => given.angle.is_some() || given.angle_rate.is_some(),
        Coordinate::Slide => given.slide.is_some() || given.slide_rate.is_some(),
    }
}

/// What the format calls a coordinate.
pub(super) fn word(coordinate: Coordinate) -> &'static str {
    match coordinate {
        Coordinate::Angle => "angle",
        Coordinate::Slide => "slide",
    }
}

impl Checker<'_> {
    /// Coordinates whose values are prescribed.
    pub(super) fn joint_motion(
        &mut self,
        given: &Joint,
        draft: &MechanismDraft<'_>,
    ) -> Option<JointMotion> {
        let mut drive = |given| read_if(given, |given| self.drive_at(given, draft));
        let (angle, slide) = (drive(&given.angle), drive(&given.slide));
        Some(JointMotion {
            angle: angle?,
            slide: slide?,
        })
    }

    /// Coordinates whose rates are prescribed: an element beside the joint. Gives that of the joint's
    /// main coordinate.
    pub(super) fn joint_rates(
        &mut self,
        entry: &Entry<Joint>,
        joint: &DraftJoint,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<ElementId> {
        let given = &entry.value.value;
        let rates = [
            (Coordinate::Angle, &given.angle_rate, &given.angle),
            (Coordinate::Slide, &given.slide_rate, &given.slide),
        ];
        let mut main = None;
        for (coordinate, rate, value) in rates {
            let Some(rate) = rate else { continue };
            if value.is_some() {
                let word = word(coordinate);
                let message = format!("`{word}` prescribes the motion already");
                self.report(&rate.span, message)
                    .label("contradicts it, or repeats it")
                    .help(format!("keep one of `{word}` and `{word}_rate`"));
                continue;
            }
            let Some(drive) = self.drive_at(rate, draft) else {
                continue;
            };
            if joint.has(coordinate) {
                let what = format!("{} drive", word(coordinate));
                let driven = DrivenCoordinate::new(coordinate, joint.ends, Target::Rate(drive));
                let element = draft.companion(&entry.name, &what, driven);
                if joint.coordinate == Some(coordinate) {
                    main = Some(element);
                }
            }
        }
        main
    }

    /// End stops: an element beside the joint.
    pub(super) fn joint_stops(
        &mut self,
        entry: &Entry<Joint>,
        joint: &DraftJoint,
        draft: &mut MechanismDraft<'_>,
    ) {
        let given = &entry.value.value;
        let all = [
            (Coordinate::Angle, &given.angle_stops),
            (Coordinate::Slide, &given.slide_stops),
        ];
        for (coordinate, stops) in all {
            let Some(stops) = stops else { continue };
            if drives(given, coordinate) {
                let word = word(coordinate);
                let message = format!("the {word} is prescribed: stops have nothing to act on");
                self.report(&stops.span, message).label("leave them out");
                continue;
            }
            if let (Some(law), true) = (self.stops(stops), joint.has(coordinate)) {
                let what = format!("{} stops", word(coordinate));
                let stops = CoordinateForce::new(coordinate, joint.ends, law, 0.0);
                draft.companion(&entry.name, &what, stops);
            }
        }
    }

    /// Damping of the coordinate: an element beside the joint.
    pub(super) fn joint_damping(
        &mut self,
        entry: &Entry<Joint>,
        joint: &DraftJoint,
        draft: &mut MechanismDraft<'_>,
    ) {
        let given = &entry.value.value.damping;
        let (Some(at), Some(coordinate)) = (given, joint.coordinate) else {
            return;
        };
        if let Some(damping) = self.number(at)
            && damping > 0.0
        {
            let law = Law::Linear {
                stiffness: 0.0,
                damping,
            };
            let damper = CoordinateForce::new(coordinate, joint.ends, law, 0.0);
            draft.companion(&entry.name, "damping", damper);
        }
    }

    /// Inertia of the coordinate alone: a rotor beside the joint.
    pub(super) fn joint_inertia(
        &mut self,
        entry: &Entry<Joint>,
        joint: &DraftJoint,
        draft: &mut MechanismDraft<'_>,
    ) {
        let given = &entry.value.value.reflected_inertia;
        let (Some(at), Some(coordinate)) = (given, joint.coordinate) else {
            return;
        };
        if let Some(inertia) = self.number(at)
            && inertia > 0.0
        {
            draft.rotor(&entry.name, (coordinate, joint.ends, inertia));
        }
    }

    fn stops(&mut self, given: &At<Stops>) -> Option<Law> {
        let Stops {
            lower,
            upper,
            stiffness,
            damping,
        } = &given.value;
        if lower.is_none() && upper.is_none() {
            let message = "the stops are nowhere";
            self.report_missing(&given.span, message)
                .label("has neither `lower` nor `upper`")
                .help("give `lower`, `upper` or both");
            return None;
        }
        let low = self.number_or(lower, f64::NEG_INFINITY);
        let high = self.number_or(upper, f64::INFINITY);
        let stiffness = self.required(stiffness);
        let damping = self.number_or(damping, 0.0);
        let (low, high) = (low?, high?);
        if low >= high {
            let message = "the lower stop must be below the upper one";
            self.report(&given.span, message)
                .label(format!("from {low} to {high}"))
                .help("exchange `lower` and `upper`, or leave one of them out");
            return None;
        }
        Some(Law::Stops {
            lower: low,
            upper: high,
            stiffness: stiffness?,
            damping: damping?,
        })
    }

    pub(super) fn motor(
        &mut self,
        entry: &Entry<multibody::Motor>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let joint = read(&given.joint, |name| self.coordinate(name, draft));
        let points = read(&given.characteristic, |pairs| {
            self.rising_pairs(pairs, "speed and torque")
        });
        let full = Drive::Constant(1.0);
        let command = read_or(&given.command, full, |at| self.drive_at(at, draft));
        let (coordinate, ends) = joint?;
        let (points, command) = (Arc::from(points?), command?);
        let law = Law::Motor { points, command };
        let motor = CoordinateForce::new(coordinate, ends, law, 0.0);
        Some((Box::new(motor), None))
    }

    /// The markers of a joint that has a certain coordinate.
    pub(super) fn joint_with(
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

    pub(super) fn joint_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<DraftJoint> {
        self.known(name, "joint", &draft.joints).copied()
    }
}
