//! Each element against a closed form, and the balances of mass and energy.

use oldham_cosim::{EnergyBalance, Hold, InputPort, Inputs, Subsystem};
use oldham_hydraulic_network::{
    Accumulator, Element, Line, Motor, Named, Network, NetworkPart, Place, Volume,
};
use oldham_hydraulics::Fluid;

const A: f64 = 6.53e-10;

fn fluid() -> Fluid {
    Fluid::new(850.0, A, 0.0)
}

fn network(volumes: &[(f64, f64)], tanks: &[f64], elements: &[Element]) -> Network {
    let volumes = volumes.iter().enumerate();
    let tanks = tanks.iter().enumerate();
    let elements = elements.iter().enumerate();
    Network {
        fluid: fluid(),
        volumes: volumes
            .map(|(i, &(volume, pressure))| {
                Named::new(format!("v{i}"), Volume { volume, pressure })
            })
            .collect(),
        tanks: tanks
            .map(|(i, &p)| Named::new(format!("t{i}"), p))
            .collect(),
        elements: elements
            .map(|(i, e)| Named::new(format!("e{i}"), *e))
            .collect(),
        micro_steps: 1,
    }
}

/// Advances in equal steps under constant inputs, port by port.
fn run(part: &mut NetworkPart, inputs: &[&[f64]], time: f64, steps: usize) {
    let ports = part.ports().clone();
    let mut received = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    for (port, values) in inputs.iter().enumerate() {
        received.receive(InputPort(port), 0.0, values);
    }
    for n in 0..steps {
        let at = |n: usize| time * n as f64 / steps as f64;
        part.advance(at(n), at(n + 1), &mut received).unwrap();
    }
}

const V: Place = Place::Volume(0);
const T: Place = Place::Tank(0);

/// Two tanks, and between them a volume with a check valve from one and an orifice to the other: at rest what comes in goes
/// out.
#[test]
fn an_orifice_and_a_check_valve_balance() {
    let (area, discharge, conductance) = (2e-6, 0.6, 2e-11);
    let elements = [
        Element::OneWay {
            ends: [T, V],
            opens: 1e5,
            conductance,
        },
        Element::Orifice {
            ends: [V, Place::Tank(1)],
            area,
            discharge,
        },
    ];
    let mut part = NetworkPart::new(&network(&[(1e-4, 1e6)], &[5e6, 1e5], &elements));
    run(&mut part, &[], 1.0, 2000);
    let p = part.pressure(0);
    let [into, out] = [
        conductance * (5e6 - 1e5 - p),
        area * discharge * (2.0 * (p - 1e5) / 850.0).sqrt(),
    ];
    assert!((into / out - 1.0).abs() < 1e-9, "{p}: {into} {out}");
    assert!(into > 0.0);
}

/// A check valve does not let oil back, and a relief valve keeps the pressure where the pump's flow passes it.
#[test]
fn valves_pass_one_way_and_beyond_their_pressure() {
    let check = Element::OneWay {
        ends: [T, V],
        opens: 0.0,
        conductance: 1e-10,
    };
    let mut part = NetworkPart::new(&network(&[(1e-3, 3e6)], &[1e5], &[check]));
    run(&mut part, &[], 1.0, 100);
    assert!((part.pressure(0) - 3e6).abs() < 1e-3);
    let (opens, conductance, flow) = (8e6, 1e-9, 3e-4);
    let elements = [
        Element::Source { ends: [T, V] },
        Element::OneWay {
            ends: [V, T],
            opens,
            conductance,
        },
    ];
    let mut part = NetworkPart::new(&network(&[(1e-3, 1e5)], &[1e5], &elements));
    run(&mut part, &[&[flow]], 2.0, 2000);
    let expected = 1e5 + opens + flow / conductance;
    assert!(
        (part.pressure(0) / expected - 1.0).abs() < 1e-9,
        "{}",
        part.pressure(0)
    );
}

/// A pump fills a closed volume: V (ρ − ρ0) = ρ(0) Q t.
#[test]
fn a_flow_source_compresses_a_volume() {
    let elements = [Element::Source { ends: [T, V] }];
    let (volume, flow, time) = (2e-3, 1e-5, 0.4);
    let mut part = NetworkPart::new(&network(&[(volume, 1e6)], &[1e5], &elements));
    run(&mut part, &[&[flow]], time, 200);
    // exp σ = 1 + a p.
    let expected = 1e6 + flow * time / (volume * A);
    assert!(
        (part.pressure(0) / expected - 1.0).abs() < 1e-6,
        "{}",
        part.pressure(0)
    );
}

/// A line between a volume and a tank is an oscillator with ω² = 1/(V a L) − R²/(2 L)², damped by R/(2 L).
#[test]
fn a_line_with_a_volume_is_an_oscillator() {
    let (volume, inertance, resistance) = (1e-3, 2e7, 4e8);
    let (mean, amplitude) = (5e6, 10.0);
    let line = Element::Line(Line {
        ends: [V, T],
        inertance,
        resistance,
    });
    let damping = 0.5 * resistance / inertance;
    let omega = (1.0 / (volume * A * inertance) - damping * damping).sqrt();
    let time = 2.3 * std::f64::consts::TAU / omega;
    let error = |steps: usize| {
        let mut part = NetworkPart::new(&network(&[(volume, mean + amplitude)], &[mean], &[line]));
        run(&mut part, &[], time, steps);
        let phase = omega * time;
        let envelope = amplitude * (-damping * time).exp();
        let expected = envelope * (phase.cos() + damping / omega * phase.sin());
        (part.pressure(0) - mean - expected).abs() / amplitude
    };
    let (coarse, fine) = (error(1000), error(2000));
    assert!(fine < 1e-3, "{fine}");
    // Second order.
    assert!(coarse / fine > 3.5, "{coarse} {fine}");
}

/// A volume with an accumulator is filled: all pressures are those of the gas law, and the oil is where it should be.
#[test]
fn an_accumulator_follows_its_gas_law() {
    let gas = Accumulator {
        at: V,
        precharge: 3e6,
        volume: 1e-3,
        exponent: 1.4,
        conductance: 1e-7,
    };
    let elements = [Element::Source { ends: [T, V] }, Element::Accumulator(gas)];
    let (volume, flow, time) = (1e-5, 1e-4, 4.0);
    let mut part = NetworkPart::new(&network(&[(volume, 3e6)], &[1e5], &elements));
    run(&mut part, &[&[flow]], time, 4000);
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(time, &[flow], &mut outputs).unwrap();
    let [p, oil] = [outputs[0], outputs[1]];
    // What went in is in the gas or compressed.
    assert!(
        (oil + volume * A * (p - 3e6) - flow * time).abs() < 1e-12,
        "{oil}"
    );
    let expected = 3e6 * (1e-3 / (1e-3 - oil)).powf(1.4);
    // Beside the flow through its neck.
    assert!(
        (p - expected - flow / 1e-7).abs() < 1e-3 * expected,
        "{p} {expected}"
    );
}

/// A motor that turns at a given rate between two tanks: torque and flow are displacement times pressure and rate.
#[test]
fn a_motor_gives_torque_and_takes_flow() {
    let motor = Motor {
        ends: [V, T],
        displacement: 1.6e-5,
        leakage: 2e-12,
        friction: 0.3,
    };
    let elements = [Element::Source { ends: [T, V] }, Element::Motor(motor)];
    let mut part = NetworkPart::new(&network(&[(1e-4, 1e6)], &[1e5], &elements));
    let (flow, rate) = (1.0e-3, 50.0);
    let inputs: [&[f64]; 2] = [&[flow], &[0.0, rate, 0.0]];
    run(&mut part, &inputs, 2.0, 4000);
    // What does not turn the shaft leaks.
    let expected = 1e5 + (flow - motor.displacement * rate) / motor.leakage;
    let p = part.pressure(0);
    assert!((p / expected - 1.0).abs() < 1e-6, "{p} {expected}");
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(2.0, &[flow, 0.0, rate, 0.0], &mut outputs)
        .unwrap();
    let torque = motor.displacement * (p - 1e5) - motor.friction * rate;
    assert!((outputs[1] / torque - 1.0).abs() < 1e-12);
}

/// A closed circuit keeps its oil, and stored energy falls by what is dissipated.
#[test]
fn mass_and_energy_are_balanced() {
    let [v0, v1, v2] = [0, 1, 2].map(Place::Volume);
    let gas = Accumulator {
        at: v2,
        precharge: 2e6,
        volume: 5e-4,
        exponent: 1.3,
        conductance: 2e-9,
    };
    let elements = [
        Element::Line(Line {
            ends: [v0, v1],
            inertance: 5e6,
            resistance: 3e8,
        }),
        Element::Orifice {
            ends: [v1, v2],
            area: 3e-6,
            discharge: 0.6,
        },
        Element::OneWay {
            ends: [v0, v2],
            opens: 3e6,
            conductance: 1e-11,
        },
        Element::Accumulator(gas),
    ];
    let volumes = [(1e-3, 2e7), (5e-4, 1e6), (2e-4, 2.5e6)];
    let balance = |steps: usize| {
        let mut part = NetworkPart::new(&network(&volumes, &[], &elements));
        let (content, before) = (part.content(), part.energy(0.0, &[]));
        run(&mut part, &[], 0.05, steps);
        let change = part.content() / content - 1.0;
        assert!(change.abs() < 1e-12, "{change}");
        let after = part.energy(0.05, &[]);
        let lost = before.stored() - after.stored();
        assert!(after.dissipated > 0.1 * before.stored());
        (lost - after.dissipated).abs() / after.dissipated
    };
    let (coarse, fine) = (balance(500), balance(1000));
    assert!(fine < 1e-3, "{fine}");
    assert!(coarse / fine > 3.0, "{coarse} {fine}");
}

/// Oil is sucked from a closed volume: its pressure stops at that of cavitation.
#[test]
fn pressures_end_at_cavitation() {
    let elements = [Element::Source { ends: [V, T] }];
    let mut network = network(&[(1e-3, 1e6)], &[1e5], &elements);
    network.fluid.cavitation = 2e4;
    let mut part = NetworkPart::new(&network);
    run(&mut part, &[&[1e-4]], 1.0, 500);
    assert_eq!(part.pressure(0), 2e4);
}
