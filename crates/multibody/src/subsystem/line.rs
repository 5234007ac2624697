//! Actuators: pushes along the line between two points that come through ports, and what the line
//! does in return.

use super::{Output, PartBuilder};
use crate::element::{Law, Rod};
use crate::integrator::Record;
use crate::node::Marker;
use oldham_cosim::{Conjugate, InputPort, OutputPort, Quantity, Unit};

/// What is shown of the line between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineValue {
    /// Its length.
    Length,
    /// The rate of its length.
    Rate,
}

impl LineValue {
    /// What a port that shows it carries.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Length => Quantity::Scalar(Unit::METRE),
            Self::Rate => Quantity::Scalar(Unit::METRE_PER_SECOND),
        }
    }

    /// The value between two markers.
    pub(super) fn between(self, ends: [Marker; 2], nodes: &[Record]) -> f64 {
        let [a, b] = ends.map(|end| {
            let motion = &nodes[end.node.0].motion;
            let arm = motion.rotation * end.offset;
            let velocity = motion.velocity + motion.angular_velocity.cross(arm);
            (motion.position + arm, velocity)
        });
        let between = b.0 - a.0;
        let length = between.norm();
        match self {
            Self::Length => length,
            Self::Rate => (b.1 - a.1).dot(between) / length,
        }
    }
}

impl PartBuilder {
    /// A force that the part receives and that pushes two points apart. In return it gives length
    /// and rate of the line between them, at ports named `name.length` and `name.rate`.
    pub fn thrust(&mut self, name: &str, ends: [Marker; 2]) -> (InputPort, [OutputPort; 2]) {
        let force = self.push_apart(name, Unit::NEWTON, ends, 1.0);
        let component = self.ports.input_range(force).start;
        self.thrusts.push((ends, component));
        let length = self.observe_line(&format!("{name}.length"), ends, LineValue::Length);
        let rate = self.observe_line(&format!("{name}.rate"), ends, LineValue::Rate);
        self.ports.conjugate(Conjugate::GivesMotion {
            force,
            motion: length,
        });
        self.ports.declare_rate(length, rate);
        (force, [length, rate])
    }

    /// A pressure that the part receives and that pushes two points apart with this area, or pulls
    /// them together if the area is negative.
    pub fn pressure(&mut self, name: &str, ends: [Marker; 2], area: f64) -> InputPort {
        self.push_apart(name, Unit::PASCAL, ends, area)
    }

    /// Shows length or rate of the line between two points.
    pub fn observe_line(&mut self, name: &str, ends: [Marker; 2], value: LineValue) -> OutputPort {
        self.outputs.push(Output::Line(ends, value));
        self.ports.add_output(name, value.quantity())
    }

    fn push_apart(&mut self, name: &str, unit: Unit, ends: [Marker; 2], factor: f64) -> InputPort {
        let port = self.ports.add_input(name, Quantity::Scalar(unit));
        let input = self.ports.input_range(port).start;
        let [a, b] = ends;
        let rod = Rod::new(a, b, 0.0, Law::Thrust { input, factor });
        let element = self.model.element(format!("push of {name}"), rod);
        self.for_ports.push((element, input));
        port
    }
}
