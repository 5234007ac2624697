//! Sensors: numbers that are measured on a mechanism and drive loads and lengths.
//!
//! A sensor reads the state that is being solved for, not the last one: feedback has no delay. The
//! iteration's matrix does not know of it, so that very stiff feedback needs small steps.

use crate::element::{At, Element, References, Rod};
use crate::joint::{Coordinate, Ends, Joint};
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Sensors of one drive, at most.
pub(crate) const MOST_SENSORS: usize = 15;

/// What is measured.
#[derive(Clone, Debug)]
pub enum Sensor {
    /// Position of a node along a direction, from the origin.
    Position(NodeId, Vec3),
    /// Velocity of a node along a direction.
    Velocity(NodeId, Vec3),
    /// Angular velocity of a node about a direction.
    Spin(NodeId, Vec3),
    /// A joint's coordinate. An angle is taken between -π and π.
    Coordinate(Coordinate, [Marker; 2]),
    /// Its rate.
    Rate(Coordinate, [Marker; 2]),
    /// Force along a direction that a joint exerts on its second node. The number is the joint's
    /// first multiplier; see [`Model::first_multiplier`](crate::Model::first_multiplier).
    Force(Box<Joint>, usize, Vec3),
    /// Moment about a direction and about the node that a joint exerts on its second node.
    Moment(Box<Joint>, usize, Vec3),
    /// Tension of a rod without memory.
    Tension(Box<Rod>),
    /// What a type outside of this crate measures.
    Custom(Box<dyn CustomSensor>),
}

/// A sensor that is not among those of this crate. `#[derive(Clone, Debug)]` gives the rest.
pub trait CustomSensor: Debug + CloneSensor + Send + Sync {
    /// What it reads at a state. Forces are not known there: it measures motions.
    fn read(&self, at: &At<'_>) -> f64;

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
            Self::Position(node, n) => at.motion(*node).position.dot(*n),
            Self::Velocity(node, n) => at.motion(*node).velocity.dot(*n),
            Self::Spin(node, n) => at.motion(*node).angular_velocity.dot(*n),
            Self::Coordinate(coordinate, [a, b]) => {
                let ends = Ends::new(*a, *b);
                coordinate.value(&ends.geometry(at), 0.0)
            }
            Self::Rate(coordinate, [a, b]) => {
                let ends = Ends::new(*a, *b);
                coordinate.rate(&ends, &ends.geometry(at), at)
            }
            Self::Force(joint, first, n) => joint.wrench(at, *first).0.dot(*n),
            Self::Moment(joint, first, n) => joint.wrench(at, *first).1.dot(*n),
            Self::Tension(rod) => rod.tension(at),
            Self::Custom(sensor) => sensor.read(at),
        }
    }

    /// Shows what it reads, anywhere in the model.
    fn refer(&mut self, references: &mut dyn References) {
        match self {
            Self::Position(node, _) | Self::Velocity(node, _) | Self::Spin(node, _) => {
                references.node(node);
            }
            Self::Coordinate(_, ends) | Self::Rate(_, ends) => {
                ends.iter_mut()
                    .for_each(|end| references.node(&mut end.node));
            }
            Self::Force(joint, first, _) | Self::Moment(joint, first, _) => {
                joint.refer(references);
                references.multiplier(first);
            }
            Self::Tension(rod) => rod.refer(references),
            Self::Custom(sensor) => sensor.refer(references),
        }
    }
}

/// A function of time and of readings.
type Function = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// A number that is a function of time and of what sensors read.
#[derive(Clone)]
pub struct Measured {
    sensors: Arc<[Sensor]>,
    function: Arc<Function>,
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
        }
    }

    /// Shows what its sensors read.
    pub(crate) fn refer(&mut self, references: &mut dyn References) {
        let sensors = Arc::make_mut(&mut self.sensors);
        sensors
            .iter_mut()
            .for_each(|sensor| sensor.refer(references));
    }

    pub(crate) fn value(&self, at: &At<'_>) -> f64 {
        let mut values = [0.0; MOST_SENSORS + 1];
        values[0] = at.time;
        for (value, sensor) in values[1..].iter_mut().zip(&*self.sensors) {
            *value = sensor.read(at);
        }
        (self.function)(&values[..=self.sensors.len()])
    }
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function of {} sensors", self.sensors.len())
    }
}
