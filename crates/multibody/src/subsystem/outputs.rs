//! What the output ports of a mechanism show.

use oldham_cosim::{OutputPort, Quantity, Unit};
use oldham_space::Vec3;

use super::marker::{marker_motion, motion_values, relative_acceleration};
use super::{ContactForce, LineValue, MechanismPart};
use crate::element::ElementId;
use crate::integrator::Record;
use crate::joint::Coordinate;
use crate::node::{Marker, NodeId};
use crate::sensor::Sensor;

/// What an output port shows.
#[derive(Clone, Debug)]
pub(super) enum Output {
    Motion(Marker),
    /// Motion of a marker along a direction.
    Along(Marker, Vec3, Along),
    /// Length or rate of the line between two markers.
    Line([Marker; 2], LineValue),
    /// Motion of a joint's coordinate; the turns of an angle are counted by the element.
    Coordinate {
        coordinate: Coordinate,
        ends: [Marker; 2],
        counter: ElementId,
    },
    /// Acceleration of the second marker relative to the first, as it is seen from there, along a
    /// direction in its axes.
    RelativeAcceleration([Marker; 2], Vec3),
    /// What a sensor reads.
    Sensor(Box<Sensor>),
    /// The centres of some grains.
    Grains(std::ops::Range<usize>),
    /// Force and moment of all contacts on a node.
    ContactLoad(NodeId),
    /// Where these press.
    ContactPoint(NodeId),
    /// The force of contacts on a node along a direction.
    ContactForce(ContactForce),
    /// The only multiplier of an element.
    Multiplier(ElementId),
    /// Force and moment of an element on one of its nodes.
    Element(ElementId, usize),
    /// Internal load of the part on a node whose pose is prescribed.
    Interface(NodeId, ElementId),
    /// How these loads change with the prescribed poses.
    Tangent,
}

/// What is shown of a motion along a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Displacement from the origin, velocity and acceleration.
    Motion,
    /// Only the displacement.
    Displacement,
    /// Only the velocity.
    Velocity,
    /// Only the acceleration.
    Acceleration,
}

impl Along {
    /// What a port that shows it carries.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Motion => Quantity::Translation,
            Self::Displacement => Quantity::Scalar(Unit::METRE),
            Self::Velocity => Quantity::Scalar(Unit::METRE_PER_SECOND),
            Self::Acceleration => Quantity::Scalar(Unit::METRE_PER_SECOND2),
        }
    }

    fn write(self, values: &mut [f64], [x, v, a]: [f64; 3]) {
        match self {
            Self::Motion => values.copy_from_slice(&[x, v, a]),
            Self::Displacement => values[0] = x,
            Self::Velocity => values[0] = v,
            Self::Acceleration => values[0] = a,
        }
    }
}

impl MechanismPart {
    /// Writes all outputs at the present state. Of a step that is not finished there is only its
    /// interface to show: all else stays as it was before.
    pub(crate) fn write_outputs(&self, inputs: &[f64], outputs: &mut [f64]) {
        for (index, output) in self.outputs.iter().enumerate() {
            if self.is_unfinished && !self.is_of_interface(output) {
                continue;
            }
            let range = self.ports.output_range(OutputPort(index));
            self.output(output, inputs, &mut outputs[range]);
        }
    }

    fn is_of_interface(&self, output: &Output) -> bool {
        match output {
            Output::Tangent | Output::Interface(..) => true,
            Output::Motion(at) => {
                let tangent = self.tangent.as_ref();
                tangent.is_some_and(|tangent| tangent.end(at.node).is_some())
            }
            _ => false,
        }
    }

    /// The state of a node; of a prescribed one also while its step is not finished.
    fn end(&self, node: NodeId) -> &Record {
        let previewed = self.tangent.as_ref().and_then(|tangent| tangent.end(node));
        previewed.unwrap_or(&self.system.state.now[node.0])
    }

    pub(super) fn output(&self, output: &Output, inputs: &[f64], values: &mut [f64]) {
        let system = &self.system;
        let (force, moment) = match *output {
            Output::Motion(at) => {
                let record = self.end(at.node);
                let (motion, a) = marker_motion(&at, record);
                let alpha = record.angular_acceleration;
                values.copy_from_slice(&motion_values(&motion, a, alpha));
                return;
            }
            Output::Along(at, direction, along) => {
                let record = &system.state.now[at.node.0];
                let (motion, a) = marker_motion(&at, record);
                let vectors = [motion.position, motion.velocity, a];
                along.write(values, vectors.map(|v| v.dot(direction)));
                return;
            }
            Output::Tangent => {
                let tangent = self.tangent.as_ref().expect("the port was made with it");
                tangent.write(values);
                return;
            }
            Output::Line(ends, value) => {
                values[0] = value.between(ends, &system.state.now);
                return;
            }
            Output::Coordinate {
                coordinate,
                ends,
                counter,
            } => {
                let motion = self.coordinate_motion(coordinate, ends, counter, inputs);
                values.copy_from_slice(&motion);
                return;
            }
            Output::RelativeAcceleration(ends, direction) => {
                values[0] = relative_acceleration(ends, &system.state.now).dot(direction);
                return;
            }
            Output::Sensor(ref sensor) => {
                let point = system.evaluation_point(inputs);
                values[0] = sensor.read(&point.outside(&system.assembly.elements));
                return;
            }
            Output::Grains(ref range) => {
                let centres = system.grains()[range.clone()].iter().flat_map(|c| c.0);
                values.iter_mut().zip(centres).for_each(|(to, x)| *to = x);
                return;
            }
            Output::ContactPoint(node) => {
                values.copy_from_slice(&system.contact_load(node)[2].0);
                return;
            }
            Output::ContactForce(ContactForce { on, by, axis }) => {
                let force = match by {
                    Some(by) => system.contact_force_between(by, on),
                    None => system.contact_load(on)[0],
                };
                values[0] = force.dot(axis);
                return;
            }
            Output::ContactLoad(node) => {
                let [force, moment, _] = system.contact_load(node);
                (force, moment)
            }
            Output::Multiplier(element) => {
                values[0] = system.multipliers[system.multiplier_range(element)][0];
                return;
            }
            Output::Element(element, node) => system.wrench(element, node, inputs),
            Output::Interface(node, joint) => {
                let m = &system.multipliers[system.multiplier_range(joint)];
                let (force, moment) = self.end(node).inertia_load();
                // The reaction on the body is the negative multiplier.
                (
                    force + Vec3::new(m[0], m[1], m[2]),
                    moment + Vec3::new(m[3], m[4], m[5]),
                )
            }
        };
        values[..3].copy_from_slice(&force.0);
        values[3..].copy_from_slice(&moment.0);
    }
}
