//! Each element against a closed form, and the balances of mass and energy.

use oldham_cosim::{EnergyBalance, Hold, InputPort, Inputs, Subsystem};
use oldham_hydraulics::{
    Accumulator, Centre, Chambers, Cylinder, Element, Fluid, Line, Motor, Named, Network,
    NetworkPart, Orifice, Place, Spool, SpoolEdges, SpoolValve, Volume, resting,
};

const A: f64 = 6.53e-10;

fn fluid() -> Fluid {
    Fluid::new(850.0, A, 0.0)
}

fn network(volumes: &[(f64, f64)], tanks: &[f64], elements: &[Element]) -> Network {
    let volumes = volumes.iter().enumerate();
    let tanks = tanks.iter().enumerate();
    let elements = elements.iter().enumerate();
    let volumes = volumes
        .map(|(i, &(volume, pressure))| Named::new(format!("v{i}"), Volume::new(volume, pressure)));
    let tanks = tanks.map(|(i, &p)| Named::new(format!("t{i}"), p));
    let elements = elements.map(|(i, e)| Named::new(format!("e{i}"), *e));
    Network::new(
        fluid(),
        volumes.collect(),
        tanks.collect(),
        elements.collect(),
    )
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
        Element::Orifice(Orifice::new([V, Place::Tank(1)], area, discharge)),
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
        flow: 0.0,
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

/// A pump drives oil through a line: at rest p = p(tank) + R Q, and what starts there with that flow stays there.
#[test]
fn a_line_starts_with_its_flow() {
    let (flow, resistance) = (2e-4, 3e9);
    let line = |flow: f64| {
        Element::Line(Line {
            ends: [V, T],
            inertance: 2e7,
            resistance,
            flow,
        })
    };
    let of = |pressure: f64, at_start: f64| {
        let elements = [line(at_start), Element::Source { ends: [T, V] }];
        network(&[(1e-3, pressure)], &[1e5], &elements)
    };
    let rest = resting(&of(1e6, 0.0), &[true], &[], &[], &[flow]).unwrap();
    let expected = 1e5 + resistance * flow;
    let [pressure] = rest.pressures[..] else {
        panic!("one volume");
    };
    let [(0, found)] = rest.flows[..] else {
        panic!("one line");
    };
    assert!((pressure / expected - 1.0).abs() < 1e-9, "{pressure}");
    assert!((found / flow - 1.0).abs() < 1e-9, "{found}");
    let swing = |at_start: f64| {
        let mut part = NetworkPart::new(&of(pressure, at_start));
        let mut most: f64 = 0.0;
        for _ in 0..100 {
            run(&mut part, &[&[flow]], 1e-4, 1);
            most = most.max((part.pressure(0) - pressure).abs());
        }
        most
    };
    assert!(swing(found) < 1e-3, "{}", swing(found));
    assert!(swing(0.0) > 1e5);
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
            flow: 0.0,
        }),
        Element::Orifice(Orifice::new([v1, v2], 3e-6, 0.6)),
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

/// A cylinder whose chambers are closed is a spring of oil: 1 + a p goes as the inverse of the volume, the oil stays, and
/// what it stores is the work done on it.
#[test]
fn a_cylinder_with_closed_chambers_is_a_spring_of_oil() {
    let cylinder = Cylinder::new([2e-3, 3e-3], 0.5, 1.2);
    let chambers = Chambers {
        ends: [V, Place::Volume(1)],
        cylinder,
    };
    let (dead, start) = ([1e-4, 2e-4], [3e6, 2e6]);
    let volumes = [(dead[0], start[0]), (dead[1], start[1])];
    let mut part = NetworkPart::new(&network(&volumes, &[], &[Element::Chambers(chambers)]));
    let ports = part.ports().clone();
    let mut received = Inputs::new(&ports, Box::new(Hold::new(1, &ports)));
    // It does not start with the piston in the middle.
    let (from, speed) = (1.21, -4e-4);
    let length = |t: f64| from + speed * t;
    let mut outputs = vec![0.0; ports.output_width()];
    let at = |t: f64| [length(t), speed];
    part.outputs(0.0, &at(0.0), &mut outputs).unwrap();
    assert!((outputs[0] - start[0]).abs() < 1e-3 && (outputs[1] - start[1]).abs() < 1e-3);
    let (content, stored) = (part.content(), part.energy(0.0, &at(0.0)).potential);
    let (steps, end) = (400, 0.5);
    let (mut work, mut force) = (0.0, outputs[2]);
    for n in 0..steps {
        let times = [n, n + 1].map(|n| end * f64::from(n) / f64::from(steps));
        for t in times {
            received.receive(InputPort(0), t, &[length(t)]);
            received.receive(InputPort(1), t, &[speed]);
        }
        part.advance(times[0], times[1], &mut received).unwrap();
        part.outputs(times[1], &at(times[1]), &mut outputs).unwrap();
        work += 0.5 * (force + outputs[2]) * (length(times[1]) - length(times[0]));
        force = outputs[2];
    }
    let volume = |chamber: usize, length: f64| dead[chamber] + cylinder.volumes(length)[chamber];
    let mut expected = 0.0;
    for (chamber, sign) in [-1.0, 1.0].into_iter().enumerate() {
        let ratio = volume(chamber, from) / volume(chamber, length(end));
        let pressure = ((1.0 + A * start[chamber]) * ratio - 1.0) / A;
        let found = outputs[chamber];
        assert!((found / pressure - 1.0).abs() < 1e-9, "{found} {pressure}");
        expected += sign * cylinder.areas[chamber] * pressure;
    }
    assert!((force / expected - 1.0).abs() < 1e-9, "{force} {expected}");
    assert!((part.content() / content - 1.0).abs() < 1e-14);
    let gained = part.energy(end, &at(end)).potential - stored;
    assert!((gained / -work - 1.0).abs() < 1e-4, "{gained} {work}");
}

/// Pumped oil moves the piston at Q/A without a change of pressure; the other chamber is open to the tank.
#[test]
fn a_pump_moves_a_piston_by_its_flow() {
    let (area, flow, pressure) = (3e-3, 6e-5, 4e6);
    let cylinder = Cylinder::new([1e-3, area], 0.5, 1.0).friction(2e3, 0.0);
    let elements = [
        Element::Source { ends: [T, V] },
        Element::Chambers(Chambers {
            ends: [T, V],
            cylinder,
        }),
    ];
    let mut part = NetworkPart::new(&network(&[(1e-4, pressure)], &[1e5], &elements));
    let ports = part.ports().clone();
    let mut received = Inputs::new(&ports, Box::new(Hold::new(1, &ports)));
    // The flow counts as volume at zero pressure.
    let speed = flow / area / (1.0 + A * pressure);
    let (steps, end) = (200, 2.0);
    for n in 0..steps {
        let times = [n, n + 1].map(|n| end * f64::from(n) / f64::from(steps));
        for t in times {
            received.receive(InputPort(0), t, &[flow]);
            received.receive(InputPort(1), t, &[1.0 + speed * t]);
            received.receive(InputPort(2), t, &[speed]);
        }
        part.advance(times[0], times[1], &mut received).unwrap();
    }
    let inputs = [flow, 1.0 + speed * end, speed];
    let mut outputs = vec![0.0; ports.output_width()];
    part.outputs(end, &inputs, &mut outputs).unwrap();
    assert!((outputs[0] / pressure - 1.0).abs() < 1e-9, "{}", outputs[0]);
    let force = area * pressure - 1e-3 * 1e5 - 2e3 * speed;
    assert!((outputs[1] / force - 1.0).abs() < 1e-9, "{}", outputs[1]);
    // Supplied by pump and tank: what the piston gives, what friction takes, and what is stored.
    let energy = part.energy(end, &inputs);
    let friction = 2e3 * speed * speed * end;
    assert!((energy.dissipated / friction - 1.0).abs() < 1e-9);
    let start = NetworkPart::new(&network(&[(1e-4, pressure)], &[1e5], &elements))
        .energy(0.0, &[flow, 1.0, 0.0])
        .potential;
    let given = force * speed * end + friction + energy.potential - start;
    assert!(
        (energy.supplied / given - 1.0).abs() < 1e-9,
        "{energy:?} {given}"
    );
}

/// Half open, half the flow.
#[test]
fn a_variable_orifice_passes_as_much_as_it_is_open() {
    let elements = [Element::Orifice(Orifice::new([V, T], 1e-6, 0.6).variable())];
    let fall = |opening: f64| {
        let mut part = NetworkPart::new(&network(&[(1e-3, 5e6)], &[1e5], &elements));
        let before = part.content();
        run(&mut part, &[&[opening]], 1e-3, 10);
        before - part.content()
    };
    let flow = 0.6e-6 * (2.0 * 4.9e6 / 850.0_f64).sqrt();
    assert_eq!(fall(0.0), 0.0);
    assert!((fall(1.0) / (flow * 1e-3) - 1.0).abs() < 1e-2);
    assert!((fall(0.5) / fall(1.0) - 0.5).abs() < 5e-3);
    assert_eq!(fall(7.0), fall(1.0));
}

/// An accumulator that is drained below its precharge closes its neck when its oil is out: from then on the volume alone gives,
/// V a p' = -k √(p - T), and the time from one pressure to another is 2 V a (√(p₁ - T) - √(p₂ - T))/k. It fills again as soon as the
/// pressure exceeds the precharge.
#[test]
fn an_empty_accumulator_gives_nothing_and_fills_again() {
    let (volume, tank, precharge) = (1e-4, 1e5, 5e6);
    let (area, discharge) = (1e-8, 0.6);
    let elements = [
        Element::Accumulator(Accumulator {
            at: V,
            precharge,
            volume: 2e-4,
            exponent: 1.4,
            conductance: 1e-9,
        }),
        Element::Orifice(Orifice::new([V, T], area, discharge)),
        Element::Source { ends: [T, V] },
    ];
    let mut part = NetworkPart::new(&network(&[(volume, 5.5e6)], &[tank], &elements));
    let ports = part.ports().clone();
    let mut received = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    received.receive(InputPort(0), 0.0, &[0.0]);
    let oil = |part: &mut NetworkPart| {
        let mut sent = [0.0; 2];
        part.outputs(0.0, &[0.0], &mut sent).unwrap();
        sent[1]
    };
    let (step, mut passed, mut last) = (2e-3, [None; 2], part.pressure(0));
    let mut n = 0;
    while part.pressure(0) > 1e6 {
        part.advance(step * n as f64, step * (n + 1) as f64, &mut received)
            .unwrap();
        n += 1;
        let (p, left) = (part.pressure(0), oil(&mut part));
        assert!((0.0..2e-4).contains(&(left + 1e-18)), "{n}: {left}");
        for (passed, level) in passed.iter_mut().zip([0.9 * precharge, 0.5 * precharge]) {
            if passed.is_none() && p < level {
                *passed = Some(step * (n as f64 - (level - p) / (last - p)));
            }
        }
        last = p;
    }
    let k = area * discharge * (2.0 / 850.0_f64).sqrt();
    let root = |share: f64| (share * precharge - tank).sqrt();
    let expected = 2.0 * volume * A / k * (root(0.9) - root(0.5));
    let [from, to] = passed.map(|time| time.expect("both are passed"));
    assert!(
        ((to - from) / expected - 1.0).abs() < 2e-3,
        "{} {expected}",
        to - from
    );
    assert!(oil(&mut part).abs() < 1e-18);
    // A pump fills it again: what it holds is what the gas says.
    let now = step * n as f64;
    received.receive(InputPort(0), now, &[1e-5]);
    for n in 0..400 {
        let at = |n: usize| now + step * n as f64;
        part.advance(at(n), at(n + 1), &mut received).unwrap();
        assert!(oil(&mut part) > -1e-18);
    }
    let (p, held) = (part.pressure(0), oil(&mut part));
    // The flow loses some pressure in the neck.
    let gas = p - 1e-5 / 1e-9;
    let expected = 2e-4 * (1.0 - (precharge / gas).powf(1.0 / 1.4));
    assert!(
        held > 1e-6 && (held / expected - 1.0).abs() < 0.02,
        "{held} {expected}"
    );
}

/// A volume that a four-way valve with an open centre feeds and drains: κ² (P − p) = (1 − κ)² (p − T). The other one is the
/// other way round, and a spool that lags arrives there later.
#[test]
fn a_spool_valve_divides_the_pressure_between_pump_and_tank() {
    let volumes = [("a", 2e6), ("b", 2e6)];
    let volumes = volumes.map(|(name, p)| Named::new(name, Volume::new(1e-4, p)));
    let tanks = vec![Named::new("pump", 7e6), Named::new("tank", 1e5)];
    let [pump, tank] = [Place::Tank(0), Place::Tank(1)];
    let chambers = [Place::Volume(0), Place::Volume(1)];
    let of = |lag: f64| {
        let mut network = Network::new(fluid(), volumes.to_vec(), tanks.clone(), Vec::new());
        let valve = SpoolValve {
            neutral: 0.5,
            centre: Centre::Open,
            spool: Spool {
                rate: f64::INFINITY,
                lag,
            },
            control: None,
        };
        let edges = SpoolEdges {
            pump,
            tank,
            chambers,
            edge: Orifice::new(chambers, 1e-6, 0.6),
        };
        network.add_spool("valve", valve, edges);
        network
    };
    let expected = |kappa: f64| {
        let (feed, drain) = (kappa * kappa, (1.0 - kappa) * (1.0 - kappa));
        (feed * 7e6 + drain * 1e5) / (feed + drain)
    };
    let mut part = NetworkPart::new(&of(0.0));
    let names: Vec<_> = part
        .ports()
        .inputs()
        .iter()
        .map(|p| p.name.to_string())
        .collect();
    assert_eq!(names, ["valve.spool"]);
    run(&mut part, &[&[0.2]], 1.0, 1000);
    for (chamber, kappa) in [0.7, 0.3].into_iter().enumerate() {
        let p = part.pressure(chamber);
        assert!((p / expected(kappa) - 1.0).abs() < 1e-9, "{chamber}: {p}");
    }
    // Statics have it where it is told to be; one that lags begins where it is neutral, and has gone 1 − 1/e of its way in its lag.
    let rest = |lag: f64| {
        resting(&of(lag), &[true; 2], &[], &[], &[0.2])
            .unwrap()
            .pressures[0]
    };
    assert!((rest(0.0) / expected(0.7) - 1.0).abs() < 1e-9);
    assert!((rest(0.1) / expected(0.5) - 1.0).abs() < 1e-9);
    let mut slow = NetworkPart::new(&of(10.0));
    run(&mut slow, &[&[0.2]], 10.0, 10_000);
    let kappa = 0.5 + 0.2 * (1.0 - (-1.0_f64).exp());
    assert!((slow.pressure(0) / expected(kappa) - 1.0).abs() < 1e-3);
}
