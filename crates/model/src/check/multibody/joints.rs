//! Joints.

use oldham_multibody::{
    Coordinate, Direction, Drive, Element, Joint, Marker, Mat3, NodeId, PrescribedMotion,
    Quaternion,
};

use super::driven::JointMotion;
use super::{DraftJoint, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::read_if;
use crate::format::multibody::{self, Given, JointKind, Multibody};
use crate::format::{At, Entry, place};
use crate::mechanism::{NamedJoint, Pose, Symbol};
use crate::source::Span;

/// Two directions count as at right angles up to this cosine.
const RIGHT_ANGLE: f64 = 1e-9;

impl Checker<'_> {
    pub(super) fn joints<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.joints {
            self.element_name(&entry.name, "a joint", draft);
            let name = entry.name.value.as_str();
            draft.holders.insert(name.to_owned(), None);
            draft.joints.insert(name, None);
            if let Some(foreign) = &entry.value.value.foreign {
                self.foreign_joint(&entry.name, foreign, draft);
                continue;
            }
            let Some(kind) = &entry.value.value.kind else {
                draft.lost_elements = true;
                continue;
            };
            self.foreign_keys(kind, &entry.value.value);
            let Some((element, ends)) = self.joint(entry, kind.value, draft) else {
                draft.lost_elements = true;
                continue;
            };
            let element = draft.holder(name, element);
            let mut joint = DraftJoint {
                kind: Some(kind.value),
                element: Some(element),
                ends,
                coordinate: coordinate(kind.value),
                drive: None,
            };
            draft.note_driven(&entry.value.value, name);
            joint.drive = self.joint_rates(entry, &joint, draft);
            self.joint_stops(entry, &joint, draft);
            self.joint_damping(entry, &joint, draft);
            self.joint_inertia(entry, &joint, draft);
            draft.joints.insert(name, Some(joint));
            draft.spec.sketch.joints.push((symbol(kind.value), ends));
            draft.spec.joints.push(NamedJoint {
                name: name.to_owned(),
                element,
                ends,
            });
        }
    }

    /// The element, and the markers that it connects.
    fn joint(
        &mut self,
        entry: &Entry<multibody::Joint>,
        kind: JointKind,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<(Box<dyn Element>, [Marker; 2])> {
        let given = &entry.value.value;
        if kind == JointKind::Rod {
            return self.distance(given, draft);
        }
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        if kind == JointKind::PointOnCurve {
            return self.point_on_curve(given, nodes?, &frame?, draft);
        }
        let axes = self.joint_axes(given, kind, frame.unwrap_or(Pose::ABSOLUTE));
        let motion = self.joint_motion(given, draft);
        let displacement = self.directions_in_time(&given.displacement, draft);
        let rotation = self.directions_in_time(&given.rotation, draft);
        let displacement_rate = self.rates_in_time(&given.displacement_rate, draft);
        let rotation_rate = self.rates_in_time(&given.rotation_rate, draft);
        let friction = read_if(&given.friction, |at| self.friction(at, given, kind));
        let nodes = nodes?;
        let (frame, axes) = (frame?, axes?);
        let place = self.place_in(&frame, &given.position, nodes, draft)?;
        let ends = draft.markers(nodes, place, axes);
        if kind == JointKind::ConstantVelocity {
            let (joint, ends) = self.constant_velocity(given, ends, axes, &frame, draft)?;
            return Some((Box::new(joint), ends));
        }
        if kind == JointKind::Rolling {
            return self.rolling(given, ends, &frame, draft);
        }
        let [a, b] = ends;
        if let Some(friction) = friction? {
            return Some((Box::new(friction.joint(kind, ends)?), ends));
        }
        let joint = match kind {
            JointKind::Fixed => Joint::clamp(a, b),
            JointKind::Spherical => Joint::spherical(a, b),
            JointKind::Universal => Joint::universal(a, b),
            JointKind::Planar => Joint::planar(a, b),
            JointKind::PointOnLine => Joint::in_line(a, b),
            JointKind::PointOnPlane => Joint::in_plane(a, b),
            JointKind::Total if given.has_rates() => {
                let displacement =
                    self.both(&given.displacement_rate, displacement?, displacement_rate?);
                let rotation = self.both(&given.rotation_rate, rotation?, rotation_rate?);
                let motion = PrescribedMotion::new(a, b, displacement?, rotation?);
                return Some((Box::new(motion), ends));
            }
            JointKind::Total => Joint::total(a, b, displacement?, rotation?),
            JointKind::Rod
            | JointKind::PointOnCurve
            | JointKind::ConstantVelocity
            | JointKind::Rolling => {
                unreachable!("made above")
            }
            JointKind::Prismatic => match motion?.slide {
                Some(slide) => Joint::driven_prismatic(a, b, slide),
                None => Joint::prismatic(a, b),
            },
            JointKind::Cylindrical => {
                let JointMotion { slide, angle } = motion?;
                Joint::driven_cylindrical(a, b, slide, angle)
            }
            JointKind::Revolute => match motion?.angle {
                Some(angle) => Joint::driven_revolute(a, b, angle),
                None => Joint::revolute(a, b),
            },
        };
        Some((Box::new(joint), ends))
    }

    /// Components with their rates, which only bound ones can have.
    fn both(
        &mut self,
        given: &Option<At<Vec<At<Given>>>>,
        directions: [Direction; 3],
        rates: [Option<Drive>; 3],
    ) -> Option<[(Direction, Option<Drive>); 3]> {
        let list = given.iter().flat_map(|list| &list.value);
        for (at, (direction, rate)) in list.zip(directions.iter().zip(&rates)) {
            if let (Direction::Free, Some(_)) = (direction, rate) {
                let message = "the rate of a free component is not prescribed";
                self.report(&at.span, message)
                    .help("prescribe or lock the component too, or write \"free\" here");
                return None;
            }
        }
        let mut pairs = directions.into_iter().zip(rates);
        Some([0, 1, 2].map(|_| pairs.next().expect("three of each")))
    }

    fn distance(
        &mut self,
        given: &multibody::Joint,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Box<dyn Element>, [Marker; 2])> {
        let length = read_if(&given.length, |length| self.drive_at(length, draft));
        let line = self.line_between(&given.between, &given.points, &given.frame, draft)?;
        let length = length?.unwrap_or(Drive::Constant(line.length));
        let joint = Joint::distance(line.ends[0], line.ends[1], length);
        Some((Box::new(joint), line.ends))
    }

    /// Absolute axes of both markers: the joint's axis is the third one.
    fn joint_axes(
        &mut self,
        given: &multibody::Joint,
        kind: JointKind,
        frame: Pose,
    ) -> Option<Quaternion> {
        self.not_both(("orientation", &given.orientation), ("axis", &given.axis))?;
        if let (JointKind::Universal, Some(arms)) = (kind, &given.arms) {
            return self.cross(arms, &frame);
        }
        if let Some(axis) = &given.axis {
            let third = frame.direction(self.direction(axis)?);
            return Some(Marker::on(NodeId::GROUND).axis(third).orientation);
        }
        self.orientation_in(&frame, &given.orientation)
    }

    /// The axes of a universal joint from the arms of its cross.
    fn cross(&mut self, arms: &At<Vec<At<multibody::Vector>>>, frame: &Pose) -> Option<Quaternion> {
        let [first, second] = self.two(arms, "arms")?.map(|arm| self.direction(arm));
        let (first, second) = (frame.direction(first?), frame.direction(second?));
        if first.dot(second).abs() > RIGHT_ANGLE {
            let message = "the arms of the cross must be at right angles";
            self.report(&arms.span, message);
            return None;
        }
        let axes = Mat3::from_columns(first, second, first.cross(second));
        Some(Quaternion::from_matrix(&axes))
    }

    /// Keys that this kind of joint does not use.
    fn foreign_keys(&mut self, kind: &At<JointKind>, given: &multibody::Joint) {
        use JointKind as K;
        let with_axis = [
            K::Revolute,
            K::Prismatic,
            K::Cylindrical,
            K::Planar,
            K::PointOnLine,
            K::PointOnPlane,
            K::ConstantVelocity,
            K::Rolling,
        ];
        let with_place = [
            &with_axis[..],
            &[K::Fixed, K::Spherical, K::Universal, K::Total],
        ]
        .concat();
        let with_axes = [&with_place[..], &[K::PointOnCurve]].concat();
        let with_points = [K::Rod, K::PointOnCurve];
        let turning = [K::Revolute, K::Cylindrical];
        let sliding = [K::Prismatic, K::Cylindrical];
        let single = [K::Revolute, K::Cylindrical, K::Prismatic];
        let rubbing = [
            K::Revolute,
            K::Prismatic,
            K::Cylindrical,
            K::Spherical,
            K::Universal,
            K::Planar,
        ];
        let total = [K::Total];
        let keys: [(&str, Option<&Span>, &[JointKind]); 23] = [
            ("position", place(&given.position), &with_place),
            ("axis", place(&given.axis), &with_axis),
            ("orientation", place(&given.orientation), &with_axes),
            ("arms", place(&given.arms), &[K::Universal]),
            ("shafts", place(&given.shafts), &[K::ConstantVelocity]),
            ("curve", place(&given.curve), &[K::PointOnCurve]),
            ("normal", place(&given.normal), &[K::Rolling]),
            ("radius", place(&given.radius), &[K::Rolling]),
            ("points", place(&given.points), &with_points),
            ("length", place(&given.length), &[K::Rod]),
            ("angle", place(&given.angle), &turning),
            ("angle_rate", place(&given.angle_rate), &turning),
            ("angle_stops", place(&given.angle_stops), &turning),
            ("slide", place(&given.slide), &sliding),
            ("slide_rate", place(&given.slide_rate), &sliding),
            ("slide_stops", place(&given.slide_stops), &sliding),
            ("displacement", place(&given.displacement), &total),
            ("rotation", place(&given.rotation), &total),
            ("displacement_rate", place(&given.displacement_rate), &total),
            ("rotation_rate", place(&given.rotation_rate), &total),
            ("friction", place(&given.friction), &rubbing),
            ("damping", place(&given.damping), &single),
            (
                "reflected_inertia",
                place(&given.reflected_inertia),
                &single,
            ),
        ];
        for (key, span, kinds) in keys {
            if let Some(span) = span
                && !kinds.contains(&kind.value)
            {
                let message = format!("`{key}` has no meaning for this type of joint");
                self.report(span, message).label("not used");
            }
        }
    }
}

fn coordinate(kind: JointKind) -> Option<Coordinate> {
    match kind {
        JointKind::Revolute | JointKind::Cylindrical => Some(Coordinate::Angle),
        JointKind::Prismatic => Some(Coordinate::Slide),
        _ => None,
    }
}

fn symbol(kind: JointKind) -> Symbol {
    match kind {
        JointKind::Fixed | JointKind::Total => Symbol::Clamp,
        JointKind::Revolute
        | JointKind::Spherical
        | JointKind::Universal
        | JointKind::ConstantVelocity => Symbol::Pin,
        JointKind::Prismatic
        | JointKind::Cylindrical
        | JointKind::Planar
        | JointKind::PointOnLine
        | JointKind::PointOnPlane => Symbol::Slide,
        JointKind::PointOnCurve | JointKind::Rolling => Symbol::Point,
        JointKind::Rod => Symbol::Rod,
    }
}
