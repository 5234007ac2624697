//! Sensors: numbers that are measured on a mechanism and drive loads and lengths.
//!
//! A sensor reads the state that is being solved for, not the last one: feedback has no delay. It is part of the
//! iteration's matrix (`feedback.rs`), but for that of reactions, so that it may be as stiff as a joint.

use crate::assembly::lone_residual;
use crate::element::{At, Cable, Element, ElementId, Half, References, Rod};
use crate::joint::{AngleCounter, Coordinate, Ends};
use crate::node::{Marker, Motion, NodeId};
use oldham_cosim::Unit;
use oldham_space::Vec3;
use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Sensors of one drive, at most.
pub(crate) const MOST_SENSORS: usize = 15;

/// What is measured.
#[derive(Clone, Debug)]
pub enum Sensor {
    /// Position of a point along a direction, from the origin.
    Position(Marker, Vec3),
    /// Velocity of a point along a direction.
    Velocity(Marker, Vec3),
    /// Angular velocity of a node about a direction.
    Spin(NodeId, Vec3),
    /// Displacement of the second marker from the first along a direction in the axes of the first.
    Displacement([Marker; 2], Vec3),
    /// Its rate, as it is seen from the first marker.
    DisplacementRate([Marker; 2], Vec3),
    /// Distance of two markers.
    Distance([Marker; 2]),
    /// Its rate.
    DistanceRate([Marker; 2]),
    /// A joint's coordinate. An angle is taken between -π and π.
    Coordinate(Coordinate, [Marker; 2]),
    /// Its rate.
    Rate(Coordinate, [Marker; 2]),
    /// The angle of an [`AngleCounter`], over any number of turns.
    Angle(ElementId),
    /// A component of the load that an element exerts on one of its nodes.
    Load(LoadSensor),
    /// Tension of a [`Rod`] or a [`Cable`].
    Tension(ElementId),
    /// Power of the forces and moments that an element exerts on its nodes.
    Power(ElementId),
    /// A strain or an internal load of a section.
    Section(SectionSensor),
    /// What a type outside of this crate measures.
    Custom(Box<dyn CustomSensor>),
}

/// A component of the load that an element exerts on one of its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadSensor {
    element: ElementId,
    /// The place of the node among those of the element.
    node: usize,
    part: Half,
    direction: Vec3,
    /// In whose axes the direction is, and about which point moments are.
    seen_from: Option<[Marker; 2]>,
}

impl LoadSensor {
    /// The force along a fixed direction on a node, given by its place in
    /// [`Element::nodes`].
    pub fn force(element: ElementId, node: usize, direction: Vec3) -> Self {
        Self {
            element,
            node,
            part: Half::Linear,
            direction,
            seen_from: None,
        }
    }

    /// The moment about the node and a fixed direction.
    pub fn moment(element: ElementId, node: usize, direction: Vec3) -> Self {
        Self {
            part: Half::Angular,
            ..Self::force(element, node, direction)
        }
    }

    /// With the direction in the axes of a joint's first marker, and moments about its second.
    pub fn seen_from(self, ends: [Marker; 2]) -> Self {
        Self {
            seen_from: Some(ends),
            ..self
        }
    }

    fn read(&self, at: &At<'_>) -> f64 {
        let Some((element, there)) = at.other(self.element) else {
            return 0.0;
        };
        let (force, moment) = wrench_on(&lone_residual(element, &there), self.node);
        let load = match self.seen_from {
            Some(ends) => {
                let node = at.motion(element.nodes()[self.node]);
                let carriers = ends.map(|end| at.motion(end.node));
                seen_from(ends, carriers, node, (force, moment))
            }
            None => (force, moment),
        };
        match self.part {
            Half::Linear => load.0.dot(self.direction),
            Half::Angular => load.1.dot(self.direction),
        }
    }
}

/// A strain or an internal load of a beam or shell, in the axes of the section; see
/// [`SectionState`](crate::element::SectionState).
#[derive(Clone, Debug, PartialEq)]
pub struct SectionSensor {
    /// Elements, their evaluation points, and the weights of what is felt there: a line through two
    /// points, or one of them.
    pub samples: [(ElementId, usize, f64); 2],
    /// Strain or load.
    pub is_strain: bool,
    /// Which of them.
    pub component: usize,
    /// What a port that shows it carries.
    pub unit: Unit,
}

impl SectionSensor {
    fn read(&self, at: &At<'_>) -> f64 {
        let sample = |&(element, point, weight): &(ElementId, usize, f64)| {
            let (element, there) = at.other(element)?;
            let section = element.section(&there, point)?;
            let values = match self.is_strain {
                true => section.strains,
                false => section.loads,
            };
            Some(weight * values[self.component])
        };
        let used = self.samples.iter().filter(|(_, _, weight)| *weight != 0.0);
        used.filter_map(sample).sum()
    }
}

/// Force and moment on a node in the axes of the first of two markers, the moment about the second.
pub(crate) fn seen_from(
    ends: [Marker; 2],
    carriers: [&Motion; 2],
    node: &Motion,
    (force, moment): (Vec3, Vec3),
) -> (Vec3, Vec3) {
    let axes = carriers[0].orientation.times(ends[0].orientation).matrix();
    let point = carriers[1].position + ends[1].arm(carriers[1]);
    let moment = moment + (node.position - point).cross(force);
    (axes.transpose_mul(force), axes.transpose_mul(moment))
}

/// Force and moment on a node in the residual of an element.
pub(crate) fn wrench_on(residual: &[f64], node: usize) -> (Vec3, Vec3) {
    let v = &residual[6 * node..6 * node + 6];
    (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]))
}

/// A sensor that is not among those of this crate. `#[derive(Clone, Debug)]` gives the rest.
pub trait CustomSensor: Debug + CloneSensor + Send + Sync {
    /// What it reads at a state. Forces are not known there: it measures motions.
    fn read(&self, at: &At<'_>) -> f64;

    /// What a port that shows it carries.
    fn unit(&self) -> Unit {
        Unit::ONE
    }

    /// Shows all nodes and inputs that it refers to, in all places where it keeps them.
    fn refer(&mut self, references: &mut dyn References);
}

/// Copies a sensor whose type is not known; every sensor that is [`Clone`] has it.
pub trait CloneSensor {
    /// A copy.
    fn clone_box(&self) -> Box<dyn CustomSensor>;
}

impl<T: CustomSensor + Clone + 'static> CloneSensor for T {
    fn clone_box(&self) -> Box<dyn CustomSensor> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomSensor> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl Sensor {
    /// What it reads.
    pub(crate) fn read(&self, at: &At<'_>) -> f64 {
        match self {
            Self::Position(point, n) => {
                let node = at.motion(point.node);
                (node.position + point.arm(node)).dot(*n)
            }
            Self::Velocity(point, n) => velocity_of(point, at).dot(*n),
            Self::Spin(node, n) => at.motion(*node).angular_velocity.dot(*n),
            Self::Displacement(ends, n) => {
                let g = Ends::of(*ends).geometry(at);
                g.between.dot(g.axes[0] * *n)
            }
            Self::DisplacementRate(ends, n) => {
                let g = Ends::of(*ends).geometry(at);
                let [a, b] = ends.map(|end| velocity_of(&end, at));
                let carried = at.motion(ends[0].node).angular_velocity.cross(g.between);
                (b - a - carried).dot(g.axes[0] * *n)
            }
            Self::Distance(ends) => Ends::of(*ends).geometry(at).between.norm(),
            Self::DistanceRate(ends) => {
                let between = Ends::of(*ends).geometry(at).between;
                let [a, b] = ends.map(|end| velocity_of(&end, at));
                (b - a).dot(between.unit())
            }
            Self::Coordinate(coordinate, ends) => {
                let ends = Ends::of(*ends);
                coordinate.value(&ends.geometry(at), 0.0)
            }
            Self::Rate(coordinate, ends) => {
                let ends = Ends::of(*ends);
                coordinate.rate(&ends, &ends.geometry(at), at)
            }
            Self::Angle(counter) => read_as(at, *counter, AngleCounter::angle).unwrap_or(0.0),
            Self::Load(load) => load.read(at),
            Self::Tension(element) => match read_as(at, *element, Rod::tension) {
                None => read_as(at, *element, Cable::tension).unwrap_or(0.0),
                Some(tension) => tension,
            },
            Self::Power(element) => power_of(*element, at),
            Self::Section(section) => section.read(at),
            Self::Custom(sensor) => sensor.read(at),
        }
    }

    /// What a port that shows it carries.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Position(..)
            | Self::Displacement(..)
            | Self::Distance(_)
            | Self::Coordinate(Coordinate::Slide, _) => Unit::METRE,
            Self::Velocity(..)
            | Self::DisplacementRate(..)
            | Self::DistanceRate(_)
            | Self::Rate(Coordinate::Slide, _) => Unit::METRE_PER_SECOND,
            Self::Coordinate(Coordinate::Angle, _) | Self::Angle(_) => Unit::RADIAN,
            Self::Spin(..) | Self::Rate(Coordinate::Angle, _) => Unit::RADIAN_PER_SECOND,
            Self::Load(load) if load.part == Half::Angular => Unit::NEWTON_METRE,
            Self::Load(_) | Self::Tension(_) => Unit::NEWTON,
            Self::Power(_) => Unit(Cow::Borrowed("W")),
            Self::Section(section) => section.unit.clone(),
            Self::Custom(sensor) => sensor.unit(),
        }
    }

    /// Shows what it reads, anywhere in the model.
    pub(crate) fn refer(&mut self, references: &mut dyn References) {
        match self {
            Self::Position(point, _) | Self::Velocity(point, _) => references.node(&mut point.node),
            Self::Spin(node, _) => references.node(node),
            Self::Displacement(ends, _)
            | Self::DisplacementRate(ends, _)
            | Self::Distance(ends)
            | Self::DistanceRate(ends)
            | Self::Coordinate(_, ends)
            | Self::Rate(_, ends) => {
                let nodes = ends.iter_mut().map(|end| &mut end.node);
                nodes.for_each(|node| references.node(node));
            }
            Self::Load(load) => {
                references.element(&mut load.element);
                let ends = load.seen_from.iter_mut().flatten();
                ends.for_each(|end| references.node(&mut end.node));
            }
            Self::Angle(element) | Self::Tension(element) | Self::Power(element) => {
                references.element(element);
            }
            Self::Section(section) => {
                let samples = section.samples.iter_mut();
                samples.for_each(|(element, ..)| references.element(element));
            }
            Self::Custom(sensor) => sensor.refer(references),
        }
    }
}

fn velocity_of(point: &Marker, at: &At<'_>) -> Vec3 {
    let node = at.motion(point.node);
    node.velocity + node.angular_velocity.cross(point.arm(node))
}

/// What an element of a known type tells; nothing for one of another type.
fn read_as<T: Element>(
    at: &At<'_>,
    element: ElementId,
    what: fn(&T, &At<'_>) -> f64,
) -> Option<f64> {
    let (element, there) = at.other(element)?;
    let element = element.downcast_ref::<T>()?;
    Some(what(element, &there))
}

fn power_of(element: ElementId, at: &At<'_>) -> f64 {
    let Some((element, there)) = at.other(element) else {
        return 0.0;
    };
    let loads = lone_residual(element, &there);
    let nodes = element.nodes().iter().enumerate();
    let power = |(place, &node): (usize, &NodeId)| {
        let ((force, moment), motion) = (wrench_on(&loads, place), at.motion(node));
        force.dot(motion.velocity) + moment.dot(motion.angular_velocity)
    };
    nodes.map(power).sum()
}

/// A function of time and of readings.
type Function = dyn Fn(&[f64]) -> f64 + Send + Sync;
type Side = dyn Fn(&[f64]) -> u64 + Send + Sync;

/// A number that is a function of time and of what sensors read.
#[derive(Clone)]
pub struct Measured {
    sensors: Arc<[Sensor]>,
    function: Arc<Function>,
    /// A number that changes where the function passes a kink or a jump, if that is known.
    side: Option<Arc<Side>>,
}

impl Measured {
    /// The function gets the time, then the readings in the order of the sensors.
    ///
    /// # Panics
    /// If there are more than fifteen sensors.
    pub fn new(
        sensors: Vec<Sensor>,
        function: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        assert!(sensors.len() <= MOST_SENSORS, "too many sensors");
        Self {
            sensors: sensors.into(),
            function: Arc::new(function),
            side: None,
        }
    }

    /// With its kinks: `side` gives a number that changes where the function passes a kink or a jump.
    pub fn with_side(self, side: impl Fn(&[f64]) -> u64 + Send + Sync + 'static) -> Self {
        let side: Option<Arc<Side>> = Some(Arc::new(side));
        Self { side, ..self }
    }

    /// Shows what its sensors read.
    pub(crate) fn refer(&mut self, references: &mut dyn References) {
        let sensors = Arc::make_mut(&mut self.sensors);
        sensors
            .iter_mut()
            .for_each(|sensor| sensor.refer(references));
    }

    pub(crate) fn value(&self, at: &At<'_>) -> f64 {
        (self.function)(&self.readings(at)[..=self.sensors.len()])
    }

    pub(crate) fn side(&self, at: &At<'_>) -> u64 {
        let side = self.side.as_ref();
        side.map_or(0, |side| side(&self.readings(at)[..=self.sensors.len()]))
    }

    /// The time, then what the sensors read.
    fn readings(&self, at: &At<'_>) -> [f64; MOST_SENSORS + 1] {
        let at = &At {
            motions: at.sensed,
            ..*at
        };
        let mut values = [0.0; MOST_SENSORS + 1];
        values[0] = at.time;
        for (value, sensor) in values[1..].iter_mut().zip(&*self.sensors) {
            *value = sensor.read(at);
        }
        values
    }
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function of {} sensors", self.sensors.len())
    }
}
