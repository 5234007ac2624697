//! Models with their ports as values, of which parts are made.

use super::{Along, LineValue, PartBuilder};
use crate::contact::ContactModel;
use crate::cut::Renumbered;
use crate::element::ElementId;
use crate::joint::Coordinate;
use crate::model::{Model, Used};
use crate::node::{Marker, NodeId};
use crate::redundancy::DegreesOfFreedom;
use crate::sensor::Sensor;
use oldham_cosim::{OutputPort, Quantity, Unit};
use oldham_space::Vec3;

/// A model and its ports, from which parts are made any number of times, whole or cut.
#[derive(Clone, Debug, Default)]
pub struct PortedModel {
    /// What it consists of.
    pub model: Model,
    /// Names of the inputs, and what they receive.
    pub inputs: Vec<(String, Received)>,
    /// Names of the outputs, and what they send.
    pub outputs: Vec<(String, Sent)>,
    /// Whether redundant joints share their load; see [`PartBuilder::share_loads`].
    pub shares_loads: bool,
}

impl PortedModel {
    /// A builder with all its ports.
    pub fn builder(&self) -> PartBuilder {
        let mut builder = PartBuilder::new(self.model.clone());
        if self.shares_loads {
            builder.share_loads();
        }
        for (name, received) in &self.inputs {
            received.add_to(&mut builder, name, |node| node);
        }
        for (name, sent) in &self.outputs {
            sent.add_to(&mut builder, name, |node| node, |element| element);
        }
        builder
    }

    /// The same without shapes and grains, for analyses of smooth motion.
    pub fn without_contacts(&self) -> Self {
        let mut smooth = self.clone();
        smooth.model.contacts = ContactModel::default();
        smooth
    }

    /// In how many ways it can move, in the initial position.
    pub fn degrees_of_freedom(&self, time: f64) -> DegreesOfFreedom {
        let received = self.inputs.iter().map(|(_, received)| received);
        let given: Vec<NodeId> = received
            .clone()
            .filter(|received| matches!(received, Received::Pose(_)))
            .flat_map(Received::nodes)
            .collect();
        let width = received.map(|received| received.quantity().width()).sum();
        self.model
            .degrees_of_freedom(time, &vec![0.0; width], &given)
    }
}

/// What an input port receives.
#[derive(Clone, Debug)]
pub enum Received {
    /// A force and a moment at a marker.
    Wrench(Marker),
    /// The motion of a node, which is prescribed.
    Pose(NodeId),
    /// A number of this unit.
    Scalar(Unit),
    /// A force between two points.
    Thrust([Marker; 2]),
    /// A pressure on an area between two points.
    Pressure([Marker; 2], f64),
    /// A torque about, or a force along, the coordinate of a joint.
    CoordinateForce(Coordinate, [Marker; 2]),
    /// The motion of the coordinate of a joint, which is prescribed.
    CoordinateMotion(Coordinate, [Marker; 2]),
}

/// What an output port sends.
#[derive(Clone, Debug)]
pub enum Sent {
    /// The motion of a marker.
    Motion(Marker),
    /// The motion of a marker along a direction.
    Along(Marker, Vec3, Along),
    /// Length or rate of the line between two points.
    Line([Marker; 2], LineValue),
    /// The motion of the coordinate of a joint.
    Coordinate(Coordinate, [Marker; 2]),
    /// The acceleration of the second of two markers as it is seen from the first, along a direction
    /// in the axes of that.
    RelativeAcceleration([Marker; 2], Vec3),
    /// What a sensor reads.
    Sensor(Sensor),
    /// The centres of grains of one kind, one after the other.
    Grains {
        /// Their name.
        kind: String,
        /// How many there are.
        count: usize,
        /// The node of their container.
        near: Option<NodeId>,
    },
    /// The wrench of all contacts on a node.
    ContactLoad(NodeId),
    /// Where these press.
    ContactPoint(NodeId),
    /// The force of contacts on a node along a fixed direction.
    ContactForce(ContactForce),
    /// The wrench of an element on one of its nodes.
    Reaction {
        /// The element.
        element: ElementId,
        /// The place of the node among those of the element.
        node: usize,
    },
}

/// The force of contacts on a node along a fixed direction: a mean over the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// The node.
    pub on: NodeId,
    /// The node whose contacts count; those of all nodes if there is none.
    pub by: Option<NodeId>,
    /// The direction.
    pub axis: Vec3,
}

/// What a port shows or pushes: all of it must be in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Nodes.
    pub nodes: Vec<NodeId>,
    /// Elements.
    pub elements: Vec<ElementId>,
}

impl Received {
    /// What a port of it carries.
    pub fn quantity(&self) -> Quantity {
        match self {
            Self::Wrench(_) => Quantity::Wrench,
            Self::Pose(_) => Quantity::Motion,
            Self::Scalar(unit) => Quantity::Scalar(unit.clone()),
            Self::Thrust(_) => Quantity::Scalar(Unit::NEWTON),
            Self::Pressure(..) => Quantity::Scalar(Unit::PASCAL),
            Self::CoordinateForce(coordinate, _) => coordinate.force_quantity(),
            Self::CoordinateMotion(coordinate, _) => coordinate.motion_quantity(),
        }
    }

    /// What a solver sends in return, by the ends of the ports' names.
    pub fn answers(&self) -> Vec<(&'static str, Quantity)> {
        match self {
            Self::Wrench(_) => vec![("motion", Quantity::Motion)],
            Self::Pose(_) => vec![("load", Quantity::Wrench)],
            Self::Thrust(_) => vec![
                ("length", LineValue::Length.quantity()),
                ("rate", LineValue::Rate.quantity()),
            ],
            Self::CoordinateForce(coordinate, _) => vec![("motion", coordinate.motion_quantity())],
            Self::CoordinateMotion(coordinate, _) => {
                vec![(coordinate.force_name(), coordinate.force_quantity())]
            }
            Self::Scalar(_) | Self::Pressure(..) => Vec::new(),
        }
    }

    /// What must be in one place for it.
    pub fn needs(&self) -> Needs {
        let elements = Vec::new();
        let nodes = self.nodes();
        Needs { nodes, elements }
    }

    /// The nodes where it acts.
    fn nodes(&self) -> Vec<NodeId> {
        match self {
            Self::Wrench(at) => vec![at.node],
            Self::Pose(node) => vec![*node],
            Self::Scalar(_) => Vec::new(),
            Self::Thrust(ends)
            | Self::Pressure(ends, _)
            | Self::CoordinateForce(_, ends)
            | Self::CoordinateMotion(_, ends) => ends.map(|end| end.node).to_vec(),
        }
    }

    /// Gives a solver the port, whose nodes may have other names there; tells the ports that answer.
    pub fn add_to(
        &self,
        builder: &mut PartBuilder,
        name: &str,
        here: impl Fn(NodeId) -> NodeId,
    ) -> Vec<OutputPort> {
        match self {
            Self::Wrench(at) => vec![builder.load_at(name, moved(at, &here)).1],
            Self::Pose(node) => vec![builder.prescribe(name, here(*node)).1],
            Self::Scalar(unit) => {
                builder.drive(name, unit.clone());
                Vec::new()
            }
            Self::Thrust(ends) => {
                let ends = ends.map(|end| moved(&end, &here));
                builder.thrust(name, ends).1.to_vec()
            }
            Self::Pressure(ends, area) => {
                builder.pressure(name, ends.map(|end| moved(&end, &here)), *area);
                Vec::new()
            }
            Self::CoordinateForce(coordinate, ends) => {
                let ends = ends.map(|end| moved(&end, &here));
                vec![builder.push_coordinate(name, *coordinate, ends).1]
            }
            Self::CoordinateMotion(coordinate, ends) => {
                let ends = ends.map(|end| moved(&end, &here));
                vec![builder.drive_coordinate(name, *coordinate, ends).1]
            }
        }
    }
}

impl Sent {
    /// What a port of it carries.
    pub fn quantity(&self) -> Quantity {
        match self {
            Self::Motion(_) => Quantity::Motion,
            Self::Along(_, _, along) => along.quantity(),
            Self::Line(_, value) => value.quantity(),
            Self::Coordinate(coordinate, _) => coordinate.motion_quantity(),
            Self::RelativeAcceleration(..) => Quantity::Scalar(Unit::METRE_PER_SECOND2),
            Self::Sensor(sensor) => Quantity::Scalar(sensor.unit()),
            Self::Grains { count, .. } => Quantity::Array(Unit::METRE, 3 * count),
            Self::ContactPoint(_) => Quantity::Array(Unit::METRE, 3),
            Self::ContactForce(_) => Quantity::Scalar(Unit::NEWTON),
            Self::ContactLoad(_) | Self::Reaction { .. } => Quantity::Wrench,
        }
    }

    /// What must be in one place for it.
    pub fn needs(&self) -> Needs {
        let ends = |ends: &[Marker; 2]| ends.map(|end| end.node).to_vec();
        let (nodes, elements) = match self {
            Self::Motion(at) | Self::Along(at, ..) => (vec![at.node], Vec::new()),
            Self::Line(of, _) | Self::Coordinate(_, of) | Self::RelativeAcceleration(of, _) => {
                (ends(of), Vec::new())
            }
            Self::Sensor(sensor) => {
                let mut used = Used::default();
                sensor.clone().refer(&mut used);
                (used.nodes, used.elements)
            }
            Self::Grains { near, .. } => (near.iter().copied().collect(), Vec::new()),
            Self::ContactLoad(node) | Self::ContactPoint(node) => (vec![*node], Vec::new()),
            Self::ContactForce(force) => {
                let nodes = [Some(force.on), force.by].into_iter().flatten();
                let moving = nodes.filter(|node| *node != NodeId::GROUND);
                (moving.collect(), Vec::new())
            }
            Self::Reaction { element, .. } => (Vec::new(), vec![*element]),
        };
        Needs { nodes, elements }
    }

    /// Gives a solver the port, whose nodes and elements may have other names there.
    pub fn add_to(
        &self,
        builder: &mut PartBuilder,
        name: &str,
        here: impl Fn(NodeId) -> NodeId,
        element_here: impl Fn(ElementId) -> ElementId,
    ) -> OutputPort {
        match self {
            Self::Motion(at) => builder.observe_at(name, moved(at, &here)),
            Self::Along(at, axis, along) => {
                builder.observe_along(name, moved(at, &here), *axis, *along)
            }
            Self::Line(ends, value) => {
                builder.observe_line(name, ends.map(|end| moved(&end, &here)), *value)
            }
            Self::Coordinate(coordinate, ends) => {
                let ends = ends.map(|end| moved(&end, &here));
                builder.observe_coordinate(name, *coordinate, ends)
            }
            Self::RelativeAcceleration(ends, direction) => {
                let ends = ends.map(|end| moved(&end, &here));
                builder.observe_relative_acceleration(name, ends, *direction)
            }
            Self::Sensor(sensor) => {
                let mut sensor = sensor.clone();
                sensor.refer(&mut Renumbered {
                    node: here,
                    element: element_here,
                });
                builder.observe_sensor(name, sensor)
            }
            Self::Grains { kind, .. } => builder.observe_grains(name, kind),
            Self::ContactLoad(node) => builder.observe_contacts(name, here(*node)),
            Self::ContactPoint(node) => builder.observe_contact_point(name, here(*node)),
            Self::ContactForce(force) => {
                let here = |node: NodeId| match node == NodeId::GROUND {
                    true => node,
                    false => here(node),
                };
                let force = ContactForce {
                    on: here(force.on),
                    by: force.by.map(here),
                    ..*force
                };
                builder.observe_contact_force(name, force)
            }
            Self::Reaction { element, node } => {
                builder.observe_element(name, element_here(*element), *node)
            }
        }
    }
}

/// The same marker on what its node is called elsewhere.
fn moved(marker: &Marker, here: impl Fn(NodeId) -> NodeId) -> Marker {
    Marker {
        node: here(marker.node),
        ..*marker
    }
}
