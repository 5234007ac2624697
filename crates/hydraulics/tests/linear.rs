//! Linear models of networks and circuits, against closed forms and against small motions.

use oldham_cosim::{Hold, InputPort, Inputs, Linearisable, Linearisation, Subsystem};
use oldham_hydraulics::{
    Accumulator, Actuator, Chambers, Circuit, Cylinder, Element, Fluid, Line, Motor, Named,
    Network, NetworkPart, Orifice, Place, SpeedControl, Spool, Supply, Valve, Volume,
};

const A: f64 = 6.53e-10;
const V: Place = Place::Volume(0);
const T: Place = Place::Tank(0);

fn network(volumes: &[(f64, f64)], elements: &[Element]) -> Network {
    let volumes = volumes.iter().enumerate();
    let volumes = volumes.map(|(i, &(v, p))| Named::new(format!("v{i}"), Volume::new(v, p)));
    let elements = elements.iter().enumerate();
    Network::new(
        Fluid::new(850.0, A, 0.0),
        volumes.collect(),
        vec![Named::new("tank", 1e5)],
        elements
            .map(|(i, e)| Named::new(format!("e{i}"), *e))
            .collect(),
    )
}

fn linear(part: &mut NetworkPart, inputs: &[f64]) -> Linearisation {
    part.linearise(0.0, inputs)
        .unwrap_or_else(|| panic!("{:?}", part.not_linear()))
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

/// V a p' = −k √(p − T).
#[test]
fn a_volume_behind_an_orifice_falls_at_the_rate_of_its_slope() {
    let (volume, p) = (1e-3, 5e6);
    let orifice = Element::Orifice(Orifice::new([V, T], 2e-6, 0.6));
    let mut part = NetworkPart::new(&network(&[(volume, p)], &[orifice]));
    let found = linear(&mut part, &[]);
    let k = 2e-6 * 0.6 * (2.0 / 850.0_f64).sqrt();
    assert_near(found.a[0], -k / (2.0 * (p - 1e5).sqrt()) / (volume * A));
    assert_near(found.c[0], 1.0 / A);
    assert_eq!(part.state_names(), ["v0"]);
}

/// Oil as a spring, a line as a mass: V a p' = −q, L q' = p − T − R q.
#[test]
fn a_line_and_a_volume_swing_at_their_frequency() {
    let (volume, inertance, resistance) = (1e-3, 5e6, 3e8);
    let line = Element::Line(Line {
        ends: [V, T],
        inertance,
        resistance,
        flow: 1e-4,
    });
    let gas = Accumulator {
        at: V,
        precharge: 2e6,
        volume: 5e-4,
        exponent: 1.3,
        conductance: 2e-9,
    };
    let elements = [line, Element::Accumulator(gas)];
    let mut part = NetworkPart::new(&network(&[(volume, 5e6)], &elements));
    let found = linear(&mut part, &[]);
    assert_eq!(found.states, 3);
    let conductance = gas.conductance;
    assert_near(found.a[0], -conductance / (volume * A));
    assert_near(found.a[1], -1.0 / volume);
    assert_near(found.a[3], 1.0 / (A * inertance));
    assert_near(found.a[4], -resistance / inertance);
    assert_near(found.a[6], conductance / A);
    // Of the gas p Vⁿ is constant: dp/dq = n p/V.
    let left = gas.volume * (gas.precharge / 5e6_f64).powf(1.0 / gas.exponent);
    assert_near(found.a[8], -conductance * gas.exponent * 5e6 / left);
    assert_eq!(part.state_names(), ["v0", "e0", "e1"]);
}

/// Trapped oil on both sides is as stiff as its bulk modulus makes it: dF/ds = −β (A₁²/V₁ + A₂²/V₂), β = (1 + a p)/a. Before the
/// first step, too: its oil is there then.
#[test]
fn a_locked_cylinder_is_as_stiff_as_its_oil() {
    let cylinder = Cylinder::new([1e-3, 2e-3], 0.4, 1.0).friction(700.0, 0.0);
    let ends = [V, Place::Volume(1)];
    let chambers = Element::Chambers(Chambers { ends, cylinder });
    let (p, rigid) = ([3e6, 2e6], 1e-4);
    let mut part = NetworkPart::new(&network(&p.map(|p| (rigid, p)), &[chambers]));
    let found = linear(&mut part, &[1.05, 0.0]);
    let volumes = cylinder.volumes(1.05);
    let stiffness = (0..2).map(|i| {
        let beta = (1.0 + A * p[i]) / A;
        beta * cylinder.areas[i].powi(2) / (volumes[i] + rigid)
    });
    let stiffness: f64 = stiffness.sum();
    // Outputs are both pressures and the force, inputs length and rate.
    assert_near(found.d[4], -stiffness);
    assert_near(found.d[5], -700.0);
}

/// Advances in small steps under constant inputs; gives what is sent at the end.
fn simulated(mut part: NetworkPart, values: &[f64], time: f64, steps: usize) -> Vec<f64> {
    let ports = part.ports().clone();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    for port in 0..ports.inputs().len() {
        let range = ports.input_range(InputPort(port));
        inputs.receive(InputPort(port), 0.0, &values[range]);
    }
    for n in 0..steps {
        let at = |n: usize| time * n as f64 / steps as f64;
        part.advance(at(n), at(n + 1), &mut inputs).unwrap();
    }
    let mut sent = vec![0.0; ports.output_width()];
    part.outputs(time, values, &mut sent).unwrap();
    sent
}

/// What a linear model sends after a constant change of its inputs, by the classical Runge–Kutta method.
fn answered(model: &Linearisation, change: &[f64], time: f64, steps: usize) -> Vec<f64> {
    let (n, width) = (model.states, change.len());
    let rates = |x: &[f64]| -> Vec<f64> {
        let row = |i: usize| -> f64 {
            let own: f64 = (0..n).map(|j| model.a[i * n + j] * x[j]).sum();
            let given: f64 = (0..width).map(|j| model.b[i * width + j] * change[j]).sum();
            own + given
        };
        (0..n).map(row).collect()
    };
    let along = |x: &[f64], k: &[f64], s: f64| -> Vec<f64> {
        x.iter().zip(k).map(|(x, k)| x + s * k).collect()
    };
    let (mut x, h) = (vec![0.0; n], time / steps as f64);
    for _ in 0..steps {
        let k1 = rates(&x);
        let k2 = rates(&along(&x, &k1, 0.5 * h));
        let k3 = rates(&along(&x, &k2, 0.5 * h));
        let k4 = rates(&along(&x, &k3, h));
        for i in 0..n {
            x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    let sent = model.c.len() / n;
    let row = |i: usize| -> f64 {
        let own: f64 = (0..n).map(|j| model.c[i * n + j] * x[j]).sum();
        let given: f64 = (0..width).map(|j| model.d[i * width + j] * change[j]).sum();
        own + given
    };
    (0..sent).map(row).collect()
}

/// Compares a small motion with that of the linear model: the difference falls with the square of its size.
fn assert_answers(part: &NetworkPart, inputs: &[f64], change: &[f64], time: f64) {
    let model = linear(&mut part.clone(), inputs);
    let at_rest = simulated(part.clone(), inputs, time, 4000);
    let errors = [1.0, 0.5].map(|share| {
        let change: Vec<f64> = change.iter().map(|c| share * c).collect();
        let moved: Vec<f64> = inputs.iter().zip(&change).map(|(u, c)| u + c).collect();
        let found = simulated(part.clone(), &moved, time, 4000);
        let expected = answered(&model, &change, time, 20_000);
        let both = found.iter().zip(&at_rest).zip(&expected);
        let errors = both.map(|((moved, rest), linear)| {
            let size = linear.abs().max(1e-9 * rest.abs());
            ((moved - rest - linear) / size).abs()
        });
        errors.fold(0.0, f64::max)
    });
    assert!(errors[0] < 0.05, "{errors:?}");
    assert!(
        errors[1] < 0.7 * errors[0] || errors[1] < 1e-4,
        "{errors:?}"
    );
}

fn circuit(actuator: Actuator) -> Circuit {
    Circuit {
        fluid: Fluid::new(850.0, 6.53e-10, -1.19e-18),
        supply: Supply {
            pump: 7.6e6,
            tank: 1e5,
        },
        actuators: vec![actuator],
        micro_steps: 1,
    }
}

fn lift() -> Actuator {
    let cylinder = Cylinder::new([65e-4, 45e-4], 0.442, 0.5).friction(1e5, 0.0);
    Actuator::holding("lift", cylinder, Valve::new(5e-4, 0.67), 8829.0)
}

#[test]
fn small_motions_of_a_circuit_are_those_of_its_linear_model() {
    let part = circuit(lift()).part().unwrap();
    assert_answers(&part, &[0.5, 0.0, 0.0], &[0.0, 1e-3, 1e-3], 0.003);
    let mut lagging = lift();
    lagging.spool = Spool {
        rate: 30.0,
        lag: 0.01,
    };
    let mut part = circuit(lagging).part().unwrap();
    assert_answers(&part, &[0.5, 0.0, 0.0], &[0.0, 0.0, 1e-3], 0.02);
    assert_eq!(
        part.state_names(),
        ["lift.chamber1", "lift.chamber2", "lift.spool"]
    );
}

/// A spool that is limited in its speed alone is where it is told to be in small motions; while it moves at its limit there is no
/// linear model, and it says so.
#[test]
fn a_spool_at_its_largest_speed_has_no_linear_model() {
    let mut limited = lift();
    limited.spool = Spool {
        rate: 3.0,
        lag: 0.0,
    };
    let mut part = circuit(limited).part().unwrap();
    assert_eq!(linear(&mut part, &[0.5, 0.0, 0.0]).states, 2);
    assert!(part.linearise(0.0, &[0.5, 0.0, 0.1]).is_none());
    let why = part.not_linear().unwrap();
    assert!(why.contains("`lift` moves at its largest speed"), "{why}");
}

#[test]
fn small_motions_under_a_speed_control_are_those_of_its_linear_model() {
    let mut led = lift();
    led.control = Some(SpeedControl {
        proportional: 6.0,
        derivative: 1.0,
    });
    let part = circuit(led).part().unwrap();
    let mut model = part.clone();
    assert_eq!(linear(&mut model, &[0.5, 0.0, 0.0]).states, 3);
    assert_answers(&part, &[0.5, 0.0, 0.0], &[0.0, 0.0, 1e-3], 0.02);
}

/// All elements at once, at rest under their loads.
#[test]
fn small_motions_of_a_network_are_those_of_its_linear_model() {
    let [a, b] = [V, Place::Volume(1)];
    let cylinder = Cylinder::new([1e-3, 2e-3], 0.4, 1.0).friction(1e3, 0.0);
    let elements = [
        Element::Source { ends: [T, a] },
        Element::Orifice(Orifice::new([a, b], 3e-6, 0.6).variable()),
        Element::Orifice(Orifice::new([b, T], 2e-6, 0.6)),
        Element::OneWay {
            ends: [a, T],
            opens: 1e6,
            conductance: 1e-11,
        },
        Element::Line(Line {
            ends: [a, b],
            inertance: 1e6,
            resistance: 1e10,
            flow: 0.0,
        }),
        Element::Accumulator(Accumulator {
            at: b,
            precharge: 1e6,
            volume: 1e-4,
            exponent: 1.4,
            conductance: 1e-9,
        }),
        Element::Motor(Motor {
            ends: [a, T],
            displacement: 1e-6,
            leakage: 1e-12,
            friction: 0.1,
        }),
        Element::Chambers(Chambers {
            ends: [T, b],
            cylinder,
        }),
    ];
    let mut part = NetworkPart::new(&network(&[(1e-4, 6e6), (1e-4, 4e6)], &elements));
    // Flow, opening, motion of the shaft, length and rate; some time to settle.
    let inputs = [1.5e-4, 0.7, 0.0, 10.0, 0.0, 1.0, 0.0];
    let ports = part.ports().clone();
    let mut held = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    for port in 0..ports.inputs().len() {
        let range = ports.input_range(InputPort(port));
        held.receive(InputPort(port), 0.0, &inputs[range]);
    }
    for n in 0..20_000 {
        let at = |n: usize| 1e-3 * n as f64;
        part.advance(at(n), at(n + 1), &mut held).unwrap();
    }
    let change = [1e-7, 1e-4, 0.0, 1e-3, 0.0, 1e-6, 0.0];
    assert_answers(&part, &inputs, &change, 0.02);
}
