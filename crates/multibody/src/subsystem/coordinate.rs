//! Ports at the coordinate of a joint: a torque comes in and the rotation goes out, or the other
//! way round; along a slide the same with a force and a translation.

use super::{MechanismPart, Output, PartBuilder};
use crate::assembly::EvaluationPoint;
use crate::element::{CoordinateForce, ElementId, Law};
use crate::joint::{AngleCounter, Coordinate, DrivenCoordinate, Ends, Target};
use crate::node::{Marker, Motion};
use oldham_cosim::{Conjugate, InputPort, OutputPort, Quantity, Unit};

impl Coordinate {
    /// What a port that shows its motion carries.
    pub fn motion_quantity(self) -> Quantity {
        match self {
            Self::Angle => Quantity::Rotation,
            Self::Slide => Quantity::Translation,
        }
    }

    /// What a port with a torque about it, or a force along it, carries.
    pub fn force_quantity(self) -> Quantity {
        Quantity::Scalar(match self {
            Self::Angle => Unit::NEWTON_METRE,
            Self::Slide => Unit::NEWTON,
        })
    }

    /// What such a force is called.
    pub fn force_name(self) -> &'static str {
        match self {
            Self::Angle => "torque",
            Self::Slide => "force",
        }
    }
}

impl PartBuilder {
    /// A torque or force along the coordinate between two markers that the part receives: it turns
    /// or pushes the second. In return it gives the motion of the coordinate, at a port named
    /// `name.motion`.
    pub fn push_coordinate(
        &mut self,
        name: &str,
        coordinate: Coordinate,
        ends: [Marker; 2],
    ) -> (InputPort, OutputPort) {
        let force = self.ports.add_input(name, coordinate.force_quantity());
        let input = self.ports.input_range(force).start;
        let law = Law::Thrust { input, factor: 1.0 };
        let element = CoordinateForce::new(coordinate, ends, law, 0.0);
        let element = self.model.element(format!("push of {name}"), element);
        self.for_ports.push((element, input));
        self.pushed.push((coordinate, ends, input));
        let motion = self.show_coordinate(&format!("{name}.motion"), coordinate, ends, element);
        self.ports
            .conjugate(Conjugate::GivesMotion { force, motion });
        (force, motion)
    }

    /// The motion of the coordinate between two markers, which the part receives. In return it gives
    /// the torque or force that it exerts on the owner of that motion, at a port named
    /// `name.torque` or `name.force`.
    pub fn drive_coordinate(
        &mut self,
        name: &str,
        coordinate: Coordinate,
        ends: [Marker; 2],
    ) -> (InputPort, OutputPort) {
        let motions: Vec<Motion> = self.model.nodes.iter().map(|node| node.initial).collect();
        let at = EvaluationPoint::new(0.0, &motions, &[], &[], &[]);
        let geometry = Ends::of(ends).geometry(&at.outside(&[]));
        let initial = vec![coordinate.value(&geometry, 0.0), 0.0, 0.0];
        let quantity = coordinate.motion_quantity();
        let motion = self.ports.add_input_with(name, quantity, initial);
        let first = self.ports.input_range(motion).start;
        let driven = DrivenCoordinate::new(coordinate, ends, Target::Motion(first));
        let driven = self.model.element(format!("motion of {name}"), driven);
        self.for_ports.push((driven, first));
        self.driven.push((driven, first + 2));
        let force = format!("{name}.{}", coordinate.force_name());
        let force = self.ports.add_output(force, coordinate.force_quantity());
        self.outputs.push(Output::Multiplier(driven));
        self.ports
            .conjugate(Conjugate::GivesForce { motion, force });
        (motion, force)
    }

    /// Shows the coordinate between two markers, an angle over any number of turns, its rate and
    /// its acceleration.
    pub fn observe_coordinate(
        &mut self,
        name: &str,
        coordinate: Coordinate,
        ends: [Marker; 2],
    ) -> OutputPort {
        let counter = AngleCounter::new(ends);
        let counter = self.model.element(format!("turns of {name}"), counter);
        self.show_coordinate(name, coordinate, ends, counter)
    }

    /// The counter is an element that remembers the angle.
    fn show_coordinate(
        &mut self,
        name: &str,
        coordinate: Coordinate,
        ends: [Marker; 2],
        counter: ElementId,
    ) -> OutputPort {
        self.outputs.push(Output::Coordinate {
            coordinate,
            ends,
            counter,
        });
        self.ports.add_output(name, coordinate.motion_quantity())
    }
}

impl MechanismPart {
    /// Value, rate and acceleration of a coordinate.
    pub(super) fn coordinate_motion(
        &self,
        coordinate: Coordinate,
        ends: [Marker; 2],
        counter: ElementId,
        inputs: &[f64],
    ) -> [f64; 3] {
        let system = &self.system;
        let elements = &system.assembly.elements;
        let point = system.evaluation_point(inputs);
        let at = point.of(&elements[counter.0], elements);
        let accelerations = ends.map(|end| {
            let record = &system.state.now[end.node.0];
            [record.acceleration, record.angular_acceleration]
        });
        let ends = Ends::of(ends);
        let geometry = ends.geometry(&at);
        [
            coordinate.value(&geometry, at.memory[0]),
            coordinate.rate(&ends, &geometry, &at),
            coordinate.acceleration(&ends, &at, accelerations),
        ]
    }
}
