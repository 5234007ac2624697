//! Sensors, and expressions of what they measure.

use oldham_multibody::{
    Along, AngleCounter, Cable, ContactForce, Coordinate, Drive, Element, ElementId, LoadSensor,
    Marker, Measured, NodeId, Rod, Sensor, Sent, Vec3,
};

use super::{DraftJoint, MechanismDraft};
use crate::check::Checker;
use crate::format::multibody::{Multibody, SensorEntry};
use crate::format::{At, Entry, Formula, place};
use crate::mechanism::Pose;
use crate::source::Span;
use crate::words;

/// Sensors of one expression, at most.
const MOST: usize = 15;

/// When sensors are read: those of nodes and joints first, so that springs may use them; then those
/// of springs, for loads; then those of loads, which are only recorded and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Joints,
    Springs,
    Loads,
}

/// What a sensor gives.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// A number that expressions may use.
    Fed(Sensor),
    /// An acceleration or a force of contacts, which follows from the forces and is only shown.
    Shown(Sent),
}

impl Reading {
    /// As an output.
    pub fn sent(&self) -> Sent {
        match self {
            Self::Fed(sensor) => Sent::Sensor(sensor.clone()),
            Self::Shown(sent) => sent.clone(),
        }
    }
}

/// What an entry measures, of one thing ...
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Displacement,
    Velocity,
    Acceleration,
    AngularVelocity,
    Coordinate,
    Rate,
    Slide,
    SlideRate,
    Torque,
    Force,
    Moment,
    Tension,
    Power,
    ContactForce,
    Beam,
    Shell,
}

/// ... or between two nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Displacement,
    Velocity,
    Acceleration,
    Distance,
    DistanceRate,
    ContactForce,
}

const KINDS: &str = "one of `displacement`, `velocity`, `acceleration`, `angular_velocity`, \
    `relative_displacement`, `relative_velocity`, `relative_acceleration`, `distance`, \
    `distance_rate`, `coordinate`, `rate`, `slide`, `slide_rate`, `torque`, `force`, `moment`, \
    `tension`, `power`, `contact_force`, `contact_force_between`, `beam`, `shell`";

/// What is measured of one thing, and of what.
type OfOne<'g> = (Kind, &'g At<String>);
/// What is measured between two nodes.
type OfTwo<'g> = (Between, &'g At<Vec<At<String>>>);

/// All that an entry measures.
fn wanted(given: &SensorEntry) -> (Vec<OfOne<'_>>, Vec<OfTwo<'_>>) {
    let of_one = [
        (Kind::Displacement, &given.displacement),
        (Kind::Velocity, &given.velocity),
        (Kind::Acceleration, &given.acceleration),
        (Kind::AngularVelocity, &given.angular_velocity),
        (Kind::Coordinate, &given.coordinate),
        (Kind::Rate, &given.rate),
        (Kind::Slide, &given.slide),
        (Kind::SlideRate, &given.slide_rate),
        (Kind::Torque, &given.torque),
        (Kind::Force, &given.force),
        (Kind::Moment, &given.moment),
        (Kind::Tension, &given.tension),
        (Kind::Power, &given.power),
        (Kind::ContactForce, &given.contact_force),
        (Kind::Beam, &given.beam),
        (Kind::Shell, &given.shell),
    ];
    let of_two = [
        (Between::Displacement, &given.relative_displacement),
        (Between::Velocity, &given.relative_velocity),
        (Between::Acceleration, &given.relative_acceleration),
        (Between::Distance, &given.distance),
        (Between::DistanceRate, &given.distance_rate),
        (Between::ContactForce, &given.contact_force_between),
    ];
    (given_of(of_one), given_of(of_two))
}

fn given_of<K, T, const N: usize>(all: [(K, &Option<T>); N]) -> Vec<(K, &T)> {
    let given = all.into_iter();
    given
        .filter_map(|(kind, of)| Some((kind, of.as_ref()?)))
        .collect()
}

impl Checker<'_> {
    /// Reads the sensors of a stage.
    pub(super) fn sensors<'f>(
        &mut self,
        section: &'f Multibody,
        stage: Stage,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.sensors {
            if draft.readings.contains_key(entry.name.value.as_str())
                || draft.stage(section, &entry.value.value) != stage
            {
                continue;
            }
            let name = &entry.name;
            if !words::is_variable(&name.value) || name.value == "t" {
                let message = format!("`{}` cannot be used in an expression", name.value);
                self.report(&name.span, message)
                    .help("use letters, digits and `_`, and not the `t` of time");
            }
            let reading = match &entry.value.value.foreign {
                Some(foreign) => self.foreign_sensor(foreign, draft).map(Reading::Fed),
                None => self.sensor(entry, draft),
            };
            draft.readings.insert(&name.value, reading);
        }
    }

    fn sensor(
        &mut self,
        entry: &Entry<SensorEntry>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<Reading> {
        let given = &entry.value.value;
        let (one, two) = wanted(given);
        let kinds = (one.first().map(|it| it.0), two.first().map(|it| it.0));
        self.unused_by(given, kinds.0, kinds.1);
        match (&one[..], &two[..]) {
            (&[(kind, of)], []) => self.sensor_of(entry, kind, of, draft),
            ([], &[(kind, nodes)]) => self.sensor_between(entry, kind, nodes, draft),
            _ => {
                let (name, count) = (&entry.name.value, one.len() + two.len());
                let message = format!("`{name}` measures {count} things; it must be one");
                self.report_missing(&entry.value.span, message).help(KINDS);
                None
            }
        }
    }

    fn sensor_of(
        &mut self,
        entry: &Entry<SensorEntry>,
        kind: Kind,
        of: &At<String>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<Reading> {
        let sensor = match kind {
            Kind::Displacement | Kind::Velocity | Kind::Acceleration => {
                let (point, axis) = (self.point_of(entry, of, draft), self.measured_axis(entry));
                let (point, axis) = (point?, axis?);
                match kind {
                    Kind::Displacement => Sensor::Position(point, axis),
                    Kind::Velocity => Sensor::Velocity(point, axis),
                    _ => {
                        let shown = Sent::Along(point, axis, Along::Acceleration);
                        return Some(Reading::Shown(shown));
                    }
                }
            }
            Kind::AngularVelocity => {
                let (node, axis) = (self.moving_node_named(of, draft), self.measured_axis(entry));
                Sensor::Spin(node?, axis?)
            }
            Kind::Coordinate => {
                let (coordinate, ends) = self.coordinate(of, draft)?;
                match coordinate {
                    Coordinate::Angle => Sensor::Angle(draft.counter(&of.value, ends)),
                    Coordinate::Slide => Sensor::Coordinate(coordinate, ends),
                }
            }
            Kind::Rate => {
                let (coordinate, ends) = self.coordinate(of, draft)?;
                Sensor::Rate(coordinate, ends)
            }
            Kind::Slide => {
                let ends = self.joint_with(of, Coordinate::Slide, draft)?;
                Sensor::Coordinate(Coordinate::Slide, ends)
            }
            Kind::SlideRate => {
                let ends = self.joint_with(of, Coordinate::Slide, draft)?;
                Sensor::Rate(Coordinate::Slide, ends)
            }
            Kind::Torque => self.measured_torque(of, draft)?,
            Kind::Force | Kind::Moment => self.measured_load(entry, kind, of, draft)?,
            Kind::Tension => self.measured_spring(of, draft)?,
            Kind::Power => Sensor::Power(self.measured_element(of, draft)?.0),
            Kind::ContactForce => {
                let (on, axis) = (self.touching_node(of, draft), self.measured_axis(entry));
                let force = ContactForce {
                    on: on?,
                    by: None,
                    axis: axis?,
                };
                return Some(Reading::Shown(Sent::ContactForce(force)));
            }
            Kind::Beam | Kind::Shell => {
                let is_beam = kind == Kind::Beam;
                Sensor::Section(self.section_sensor(entry, of, is_beam, draft)?)
            }
        };
        Some(Reading::Fed(sensor))
    }

    fn sensor_between(
        &mut self,
        entry: &Entry<SensorEntry>,
        kind: Between,
        nodes: &At<Vec<At<String>>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Reading> {
        let given = &entry.value.value;
        let needs_axis = !matches!(kind, Between::Distance | Between::DistanceRate);
        let axis = needs_axis.then(|| self.measured_axis(entry));
        if kind == Between::ContactForce {
            let [by, on] = self
                .two(nodes, "nodes")?
                .map(|name| self.touching_node(name, draft));
            let force = ContactForce {
                on: on?,
                by: Some(by?),
                axis: axis??,
            };
            return Some(Reading::Shown(Sent::ContactForce(force)));
        }
        let [a, b] = self
            .two(nodes, "nodes")?
            .map(|name| self.node_named(name, draft));
        let nodes = [a?, b?];
        let points = self.points_in(&Pose::ABSOLUTE, &given.points, nodes, draft)?;
        let ends = draft.ends(nodes, points);
        // Markers have absolute axes at the start: the given direction turns with the first.
        Some(match kind {
            Between::Distance => Reading::Fed(Sensor::Distance(ends)),
            Between::DistanceRate => Reading::Fed(Sensor::DistanceRate(ends)),
            Between::Displacement => Reading::Fed(Sensor::Displacement(ends, axis??)),
            Between::Velocity => Reading::Fed(Sensor::DisplacementRate(ends, axis??)),
            Between::Acceleration => Reading::Shown(Sent::RelativeAcceleration(ends, axis??)),
            Between::ContactForce => unreachable!("told above"),
        })
    }

    /// Keys that what is measured does not use.
    fn unused_by(&mut self, given: &SensorEntry, one: Option<Kind>, two: Option<Between>) {
        if one.is_none() && two.is_none() {
            return;
        }
        let on_node = |kind| {
            matches!(
                kind,
                Kind::Displacement | Kind::Velocity | Kind::Acceleration
            )
        };
        let is_load = |kind| matches!(kind, Kind::Force | Kind::Moment);
        let on_section = |kind| matches!(kind, Kind::Beam | Kind::Shell);
        let directed =
            two.is_some_and(|two| !matches!(two, Between::Distance | Between::DistanceRate));
        let turns_or_touches = |kind| matches!(kind, Kind::AngularVelocity | Kind::ContactForce);
        let has_axis =
            directed || one.is_some_and(|k| on_node(k) || is_load(k) || turns_or_touches(k));
        let has_points = two.is_some_and(|two| two != Between::ContactForce);
        let uses: [(&str, Option<&Span>, bool); 7] = [
            ("axis", place(&given.axis), has_axis),
            ("offset", place(&given.offset), one.is_some_and(on_node)),
            ("points", place(&given.points), has_points),
            ("on", place(&given.on), one.is_some_and(is_load)),
            ("at", place(&given.at), one.is_some_and(on_section)),
            ("load", place(&given.load), one.is_some_and(on_section)),
            ("strain", place(&given.strain), one.is_some_and(on_section)),
        ];
        for (key, span, is_used) in uses {
            if let (Some(span), false) = (span, is_used) {
                let message = format!("`{key}` has no meaning for what this sensor measures");
                self.report(span, message).label("not used");
            }
        }
    }

    /// A node with shapes, or the ground.
    fn touching_node(&mut self, name: &At<String>, draft: &MechanismDraft<'_>) -> Option<NodeId> {
        let node = self.node_named(name, draft)?;
        if draft.spec.whole.model.touches(node) {
            return Some(node);
        }
        let message = format!("`{}` has no shape in contact", name.value);
        self.report(&name.span, message)
            .help("name its body in `contact.bodies`, or give it one of the `shapes`");
        None
    }

    fn point_of(
        &mut self,
        entry: &Entry<SensorEntry>,
        of: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Marker> {
        let offset = self.vector_or_zero(&entry.value.value.offset);
        let node = self.moving_node_named(of, draft)?;
        Some(Marker::on(node).offset(offset?))
    }

    fn measured_axis(&mut self, entry: &Entry<SensorEntry>) -> Option<Vec3> {
        if let Some(axis) = &entry.value.value.axis {
            return self.direction(axis);
        }
        let name = &entry.name.value;
        let message = format!("`{name}` needs the `axis` along which it measures");
        self.report_missing(&entry.value.span, message)
            .label("has no `axis`");
        None
    }

    /// The element that exerts something.
    fn measured_element<'d>(
        &mut self,
        of: &At<String>,
        draft: &'d MechanismDraft<'_>,
    ) -> Option<(ElementId, &'d dyn Element)> {
        let element = self.holder_named(of, "joint or spring", draft)?;
        Some((element, draft.spec.whole.model.get(element)))
    }

    /// The element of this name, whose reaction can be asked for.
    pub(super) fn holder_named(
        &mut self,
        name: &At<String>,
        what: &str,
        draft: &MechanismDraft<'_>,
    ) -> Option<ElementId> {
        let holder = draft.holders.get(name.value.as_str());
        if holder.is_none() {
            let known = draft.holders.keys().map(String::as_str);
            self.unknown(name, what, known)
                .or_help("joints, springs, torsion springs and bushings have reactions");
        }
        *holder?
    }

    fn measured_load(
        &mut self,
        entry: &Entry<SensorEntry>,
        kind: Kind,
        of: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Sensor> {
        let given = &entry.value.value;
        let axis = self.measured_axis(entry);
        let (element, holder) = self.measured_element(of, draft)?;
        let nodes = holder.nodes();
        let node = match &given.on {
            None => usize::from(nodes.len() > 1),
            Some(on) => self.node_of(of, on, nodes, draft)?,
        };
        let load = match kind {
            Kind::Force => LoadSensor::force(element, node, axis?),
            _ => LoadSensor::moment(element, node, axis?),
        };
        if given.in_joint_axes != Some(true) {
            return Some(Sensor::Load(load));
        }
        let joint = self.joint_named(of, draft)?;
        Some(Sensor::Load(load.seen_from(joint.ends)))
    }

    /// The place of a node among those of an element.
    pub(super) fn node_of(
        &mut self,
        element: &At<String>,
        on: &At<String>,
        nodes: &[NodeId],
        draft: &MechanismDraft<'_>,
    ) -> Option<usize> {
        let node = self.node_named(on, draft)?;
        let place = nodes.iter().position(|&end| end == node);
        if place.is_none() {
            let message = format!(
                "`{}` is not attached to the node `{}`",
                element.value, on.value
            );
            self.report(&on.span, message);
        }
        place
    }

    /// What drives a joint's coordinate: a servo; or, of a joint, its prescribed rate, or else the joint itself.
    fn measured_torque(&mut self, of: &At<String>, draft: &MechanismDraft<'_>) -> Option<Sensor> {
        let (element, coordinate, ends) = match draft.servos.get(of.value.as_str()) {
            Some(servo) => (*servo)?,
            None => {
                let (coordinate, ends) = self.coordinate(of, draft)?;
                let DraftJoint { drive, element, .. } = self.joint_named(of, draft)?;
                (drive.or(element)?, coordinate, ends)
            }
        };
        let load = match coordinate {
            Coordinate::Angle => LoadSensor::moment(element, 1, Vec3::Z),
            Coordinate::Slide => LoadSensor::force(element, 1, Vec3::Z),
        };
        Some(Sensor::Load(load.seen_from(ends)))
    }

    fn measured_spring(&mut self, of: &At<String>, draft: &MechanismDraft<'_>) -> Option<Sensor> {
        let (id, element) = self.measured_element(of, draft)?;
        if element.downcast_ref::<Rod>().is_some() || element.downcast_ref::<Cable>().is_some() {
            return Some(Sensor::Tension(id));
        }
        let message = format!("`{}` is not a spring along a line, nor a cable", of.value);
        self.report(&of.span, message)
            .help("`force` and `moment` measure joints and bushings");
        None
    }

    /// A sensor by its name.
    pub(super) fn sensor_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Reading> {
        self.known(name, "sensor", &draft.readings).cloned()
    }

    /// What an expression may use of a sensor.
    pub(super) fn fed_back(
        &mut self,
        name: &str,
        reading: Option<&Reading>,
        span: &Span,
    ) -> Option<Sensor> {
        match reading? {
            Reading::Fed(sensor) => Some(sensor.clone()),
            Reading::Shown(_) => {
                let what = match reading? {
                    Reading::Shown(Sent::ContactForce(_)) => "a force of contacts",
                    _ => "an acceleration",
                };
                let message = format!(
                    "`{name}` measures {what}, which follows from the forces: they cannot follow it without delay"
                );
                self.report(span, message).help(
                    "send it by an output and bring it back through a scalar input, or measure a velocity",
                );
                None
            }
        }
    }

    /// An expression of time and of what is measured.
    pub(super) fn measured_formula(
        &mut self,
        formula: &At<Formula>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Option<Drive>> {
        let Formula::Text(text) = &formula.value else {
            return Some(None);
        };
        let mut used: Vec<&str> = words::names(text)
            .filter_map(|name| Some(*draft.readings.get_key_value(name)?.0))
            .collect();
        used.sort_unstable();
        used.dedup();
        if used.is_empty() {
            return Some(None);
        }
        if used.len() > MOST {
            let message = format!("an expression may use {MOST} sensors, not {}", used.len());
            self.report(&formula.span, message);
            return None;
        }
        let variables: Vec<&str> = std::iter::once("t").chain(used.iter().copied()).collect();
        let expression = self.expression(formula, &variables)?;
        let fed = |name: &&str| {
            let reading = draft.readings[*name].as_ref();
            self.fed_back(name, reading, &formula.span)
        };
        let sensors: Option<Vec<Sensor>> = used.iter().map(fed).collect();
        let sided = expression.clone();
        let measured = Measured::new(sensors?, move |values| expression.eval(values))
            .with_side(move |values| sided.sides(values));
        Some(Some(Drive::Measured(measured)))
    }
}

impl MechanismDraft<'_> {
    /// When a sensor can be read: what it measures must be there.
    fn stage(&self, section: &Multibody, given: &SensorEntry) -> Stage {
        if given.contact_force.is_some() || given.contact_force_between.is_some() {
            return Stage::Loads;
        }
        let of = [
            &given.force,
            &given.moment,
            &given.power,
            &given.tension,
            &given.torque,
        ];
        let Some(of) = of.into_iter().flatten().next() else {
            return Stage::Joints;
        };
        let name = of.value.as_str();
        let owner = name.split('.').next().unwrap_or(name);
        let is_servo = section.servos.names().any(|servo| servo == name);
        let is_torque_of_joint = given.torque.is_some() && !is_servo;
        if is_torque_of_joint || section.joints.names().any(|joint| joint == owner) {
            Stage::Joints
        } else if section.loads.names().any(|load| load == name) {
            Stage::Loads
        } else {
            Stage::Springs
        }
    }

    /// The element that counts the turns of a joint.
    pub(super) fn counter(&mut self, joint: &str, ends: [Marker; 2]) -> ElementId {
        let name = format!("{joint}.turns");
        let known = self.spec.whole.model.find_element(&name);
        let model = &mut self.spec.whole.model;
        known.unwrap_or_else(|| model.element(name, AngleCounter::new(ends)))
    }
}
