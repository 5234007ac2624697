//! Joints.

use oldham_multibody::{
    Coordinate, Direction, Drive, Element, Frictional, Joint, LuGre, Marker, Mat3, NodeId,
    PrescribedMotion, Quaternion, Vec3,
};

use super::{DraftJoint, MechanismDraft};
use crate::check::Checker;
use crate::format::multibody::{self, Friction, Given, JointKind, Multibody};
use crate::format::{At, Entry, place};
use crate::mechanism::{Pose, Symbol};
use crate::problem::Problem;
use crate::source::Span;

/// Stribeck velocity in m/s when none is given.
const DEFAULT_STRIBECK: f64 = 0.01;
/// Two directions count as at right angles up to this cosine.
const RIGHT_ANGLE: f64 = 1e-9;

impl Checker<'_> {
    pub(super) fn joints<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.joints {
            self.element_name(&entry.name, "a joint", draft);
            let name = entry.name.value.as_str();
            draft.holders.insert(name, None);
            draft.joints.insert(name, None);
            if let Some(foreign) = &entry.value.value.foreign {
                self.foreign_joint(&entry.name, foreign, draft);
                continue;
            }
            let Some(kind) = &entry.value.value.kind else {
                continue;
            };
            self.foreign_keys(kind, &entry.value.value);
            let Some((element, ends)) = self.joint(entry, kind.value, draft) else {
                continue;
            };
            draft.holder(name, element);
            let joint = DraftJoint {
                kind: Some(kind.value),
                ends,
                coordinate: coordinate(kind.value),
            };
            draft.joints.insert(name, Some(joint));
            draft.spec.sketch.joints.push((symbol(kind.value), ends));
        }
    }

    /// The element, and the markers that it connects.
    fn joint(
        &mut self,
        entry: &Entry<multibody::Joint>,
        kind: JointKind,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Box<dyn Element>, [Marker; 2])> {
        let given = &entry.value.value;
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        if kind == JointKind::Rod {
            return self.distance(given, nodes?, &frame?, draft);
        }
        let axes = self.joint_axes(given, kind, frame.unwrap_or(Pose::ABSOLUTE));
        let angle = given.angle.as_ref();
        let angle = angle.map(|angle| self.drive_at(angle, draft));
        let displacement = self.directions_in_time(&given.displacement, draft);
        let rotation = self.directions_in_time(&given.rotation, draft);
        let displacement_rate = self.rates_in_time(&given.displacement_rate, draft);
        let rotation_rate = self.rates_in_time(&given.rotation_rate, draft);
        let friction = given.friction.as_ref();
        let friction = friction.map(|friction| self.friction(friction, kind));
        let nodes = nodes?;
        let place = self.place_in(&frame?, &given.position, nodes, draft)?;
        let ends = draft.markers(nodes, place, axes?);
        let [a, b] = ends;
        let joint = match kind {
            JointKind::Fixed => Joint::clamp(a, b),
            JointKind::Spherical => Joint::spherical(a, b),
            JointKind::Cylindrical => Joint::cylindrical(a, b),
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
            JointKind::Rod => unreachable!("a rod has no axes"),
            JointKind::Prismatic => match friction {
                Some(friction_of) => {
                    let JointFriction { law, preload, .. } = friction_of?;
                    let joint = Frictional::prismatic(a, b, preload, law);
                    return Some((Box::new(joint), ends));
                }
                None => Joint::prismatic(a, b),
            },
            JointKind::Revolute => match (friction, angle) {
                (Some(friction_of), None) => {
                    let friction_of = friction_of?;
                    let (preload, radius) = (friction_of.preload, friction_of.radius?);
                    let joint = Frictional::revolute(a, b, radius, preload, friction_of.law);
                    return Some((Box::new(joint), ends));
                }
                (None, Some(angle)) => Joint::driven_revolute(a, b, angle?),
                (None, None) => Joint::revolute(a, b),
                (Some(_), Some(_)) => {
                    self.driven_with_friction(given.friction.as_ref()?);
                    return None;
                }
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
                let problem = Problem::new(at.span.clone(), message)
                    .help("prescribe or lock the component too, or write \"free\" here");
                self.findings.push(problem);
                return None;
            }
        }
        let mut pairs = directions.into_iter().zip(rates);
        Some([0, 1, 2].map(|_| pairs.next().expect("three of each")))
    }

    fn driven_with_friction(&mut self, friction: &At<Friction>) {
        let message = "the angle is prescribed: friction has nothing to act on";
        let problem = Problem::new(friction.span.clone(), message);
        self.findings.push(problem.label("leave it out"));
    }

    fn distance(
        &mut self,
        given: &multibody::Joint,
        nodes: [NodeId; 2],
        frame: &Pose,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Box<dyn Element>, [Marker; 2])> {
        let length = given.length.as_ref();
        let length = length.map(|length| self.drive_at(length, draft));
        let points = self.points_in(frame, &given.points, nodes, draft)?;
        let apart = self.apart(points, &given.between.as_ref()?.span)?;
        let ends = [0, 1].map(|i| draft.spec.whole.model.marker(nodes[i], points[i]));
        let length = match length {
            Some(length) => length?,
            None => Drive::Constant(apart),
        };
        let joint = Joint::distance(ends[0], ends[1], length);
        Some((Box::new(joint), ends))
    }

    /// The distance of two points that must not coincide: their line has no direction then.
    pub(super) fn apart(&mut self, [a, b]: [Vec3; 2], place: &Span) -> Option<f64> {
        let distance = (b - a).norm();
        if distance > 0.0 {
            return Some(distance);
        }
        let message = "the two points coincide: there is no line between them";
        self.findings.push(Problem::new(place.clone(), message));
        None
    }

    /// Absolute axes of both markers: the joint's axis is the third one.
    fn joint_axes(
        &mut self,
        given: &multibody::Joint,
        kind: JointKind,
        frame: Pose,
    ) -> Option<Quaternion> {
        if let (Some(axis), Some(_)) = (&given.axis, &given.orientation) {
            let message = "`axis` and `orientation` say the same thing: give one of them";
            let problem = Problem::new(axis.span.clone(), message).label("one too many");
            self.findings.push(problem);
            return None;
        }
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
            self.findings.push(Problem::new(arms.span.clone(), message));
            return None;
        }
        let axes = Mat3::from_columns(first, second, first.cross(second));
        Some(Quaternion::from_matrix(&axes))
    }

    fn friction(&mut self, given: &At<Friction>, kind: JointKind) -> Option<JointFriction> {
        let place = &given.span;
        let given = &given.value;
        let coulomb = self.required(&given.coulomb);
        let stiction = match &given.stiction {
            Some(at) => self.number(at),
            None => coulomb,
        };
        let stribeck = self.number_or(&given.stribeck, DEFAULT_STRIBECK);
        let stiffness = self.required(&given.stiffness);
        let damping = self.number_or(&given.damping, 0.0);
        let viscous = self.number_or(&given.viscous, 0.0);
        let preload = self.number_or(&given.preload, 0.0);
        let radius = match (&given.radius, kind) {
            (Some(at), _) => self.number(at),
            (None, JointKind::Revolute) => {
                let message = "friction of a revolute joint needs the radius of its pin";
                let problem = Problem::new(place.clone(), message).label("has no `radius`");
                self.findings.incomplete(place, problem);
                None
            }
            (None, _) => None,
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
        ];
        let with_place = [
            &with_axis[..],
            &[K::Fixed, K::Spherical, K::Universal, K::Total],
        ]
        .concat();
        let keys: [(&str, Option<&Span>, &[JointKind]); 12] = [
            ("position", place(&given.position), &with_place),
            ("axis", place(&given.axis), &with_axis),
            ("orientation", place(&given.orientation), &with_place),
            ("arms", place(&given.arms), &[K::Universal]),
            ("points", place(&given.points), &[K::Rod]),
            ("length", place(&given.length), &[K::Rod]),
            ("angle", place(&given.angle), &[K::Revolute]),
            ("displacement", place(&given.displacement), &[K::Total]),
            ("rotation", place(&given.rotation), &[K::Total]),
            (
                "displacement_rate",
                place(&given.displacement_rate),
                &[K::Total],
            ),
            ("rotation_rate", place(&given.rotation_rate), &[K::Total]),
            (
                "friction",
                place(&given.friction),
                &[K::Revolute, K::Prismatic],
            ),
        ];
        for (key, span, kinds) in keys {
            if let Some(span) = span
                && !kinds.contains(&kind.value)
            {
                let message = format!("`{key}` has no meaning for this type of joint");
                let problem = Problem::new(span.clone(), message).label("not used");
                self.findings.push(problem);
            }
        }
    }
}

/// Friction with what belongs to the joint.
struct JointFriction {
    law: LuGre,
    preload: f64,
    radius: Option<f64>,
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
        JointKind::Revolute | JointKind::Spherical | JointKind::Universal => Symbol::Pin,
        JointKind::Prismatic
        | JointKind::Cylindrical
        | JointKind::Planar
        | JointKind::PointOnLine
        | JointKind::PointOnPlane => Symbol::Slide,
        JointKind::Rod => Symbol::Rod,
    }
}
