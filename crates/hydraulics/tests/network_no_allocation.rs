//! A step of a network with every kind of element allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;

use oldham_cosim::{EnergyBalance, Hold, Inputs, Subsystem};
use oldham_hydraulics::{
    Accumulator, Chambers, Cylinder, Element, Fluid, Line, Motor, Named, Network, NetworkPart,
    Orifice, Place, Volume,
};

fn network() -> Network {
    let [a, b, tank] = [Place::Volume(0), Place::Volume(1), Place::Tank(0)];
    let elements = [
        Element::Source { ends: [tank, a] },
        Element::Orifice(Orifice::new([a, b], 1e-6, 0.6).variable()),
        Element::OneWay {
            ends: [b, tank],
            opens: 2e6,
            conductance: 1e-10,
        },
        Element::Line(Line {
            ends: [a, b],
            inertance: 1e6,
            resistance: 1e8,
            flow: 0.0,
        }),
        Element::Accumulator(Accumulator {
            at: b,
            precharge: 1e6,
            volume: 1e-3,
            exponent: 1.4,
            conductance: 1e-9,
        }),
        Element::Motor(Motor {
            ends: [a, tank],
            displacement: 1e-5,
            leakage: 1e-12,
            friction: 0.1,
        }),
        Element::Chambers(Chambers {
            ends: [a, b],
            cylinder: Cylinder::new([1e-3; 2], 0.4, 1.0).friction(1e3, 10.0),
        }),
    ];
    let volume = |pressure: f64| Volume::new(1e-3, pressure);
    let elements = elements.into_iter().enumerate();
    let network = Network::new(
        Fluid::new(850.0, 6.53e-10, 0.0),
        vec![Named::new("a", volume(3e6)), Named::new("b", volume(2e6))],
        vec![Named::new("tank", 1e5)],
        elements
            .map(|(i, element)| Named::new(format!("e{i}"), element))
            .collect(),
    );
    Network {
        micro_steps: 10,
        ..network
    }
}

#[test]
fn advancing_and_reading_outputs_allocates_nothing() {
    allocations::settle();
    let mut part = NetworkPart::new(&network());
    let ports = part.ports().clone();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    let values = ports.initial_inputs().to_vec();
    let mut outputs = vec![0.0; ports.output_width()];
    let region = allocations::region();
    for k in 0..20 {
        let t = 0.01 * f64::from(k);
        part.advance(t, t + 0.01, &mut inputs).unwrap();
        part.outputs(t, &values, &mut outputs).unwrap();
        part.energy(t, &values);
    }
    assert_eq!(region.change().allocations, 0);
}
