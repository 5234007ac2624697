//! The ports of a network: units, what feeds through, and which forces belong to which motions.

use oldham_cosim::{Conjugate, Ports, Quantity, Unit};

use crate::element::Element;
use crate::network::{Named, Network, Received, Sent};

/// All ports, in the order in which the network names them.
pub(crate) fn ports(network: &Network) -> Ports {
    let mut ports = Ports::new();
    let cubic = |unit: &'static str| Quantity::Scalar(Unit(unit.into()));
    let elements = network.elements.len();
    // Rotations of shafts, lengths and rates of cylinders.
    let mut motions = vec![[None; 2]; elements];
    for Named { name, value } in &network.received {
        match *value {
            Received::Flow(_) => {
                ports.add_input(name, cubic("m3/s"));
            }
            Received::Shaft(element) => {
                motions[element][0] = Some(ports.add_input(name, Quantity::Rotation));
            }
            Received::Opening(_) | Received::Spool(_) => {
                ports.add_input(name, Quantity::Scalar(Unit::ONE));
            }
            Received::Length(element) => {
                let metre = Quantity::Scalar(Unit::METRE);
                let centre = match &network.elements[element].value {
                    Element::Chambers(chambers) => chambers.cylinder.centre,
                    _ => 0.0,
                };
                let length = ports.add_input_with(name, metre, vec![centre]);
                motions[element][0] = Some(length);
            }
            Received::Rate(element) => {
                let speed = Quantity::Scalar(Unit::METRE_PER_SECOND);
                motions[element][1] = Some(ports.add_input(name, speed));
            }
            Received::Speed(_) => {
                ports.add_input(name, Quantity::Scalar(Unit::METRE_PER_SECOND));
            }
        }
    }
    for Named { name, value } in &network.sent {
        match *value {
            Sent::Pressure(_) => {
                ports.add_output(name, Quantity::Scalar(Unit::PASCAL));
            }
            Sent::Flow(_) => {
                ports.add_output(name, cubic("m3/s"));
            }
            Sent::Oil(_) => {
                ports.add_output(name, cubic("m3"));
            }
            Sent::Spool(_) => {
                ports.add_output(name, Quantity::Scalar(Unit::ONE));
            }
            Sent::Torque(element) => {
                let torque = Quantity::Scalar(Unit::NEWTON_METRE);
                let force = ports.add_output(name, torque);
                let (Element::Motor(motor), [Some(motion), _]) =
                    (&network.elements[element].value, motions[element])
                else {
                    continue;
                };
                if motor.friction != 0.0 {
                    let rate = ports.input_range(motion).start + 1;
                    ports.feed_through(ports.output_range(force).start, rate);
                }
                ports.conjugate(Conjugate::GivesForce { motion, force });
            }
            Sent::Force(element) => {
                let force = ports.add_output(name, Quantity::Scalar(Unit::NEWTON));
                let component = ports.output_range(force).start;
                for input in motions[element].into_iter().flatten() {
                    ports.feed_through(component, ports.input_range(input).start);
                }
                if let [Some(motion), _] = motions[element] {
                    ports.conjugate(Conjugate::GivesForce { motion, force });
                }
            }
        }
    }
    ports
}
