//! Networks at rest, against closed forms.

use oldham_hydraulic_network::{
    Chambers, Element, Load, Motor, Named, Network, Place, Volume, resting_pressures,
};
use oldham_hydraulics::{Cylinder, Fluid};

const TANK: f64 = 1e5;
const T: Place = Place::Tank(0);
const HEAD: Place = Place::Volume(0);
const ROD: Place = Place::Volume(1);

fn network(volumes: &[f64], elements: &[(&str, Element)]) -> Network {
    let volume = |(i, &pressure): (usize, &f64)| {
        let volume = 1e-4;
        Named::new(["head", "rod"][i], Volume { volume, pressure })
    };
    let elements = elements.iter();
    Network {
        fluid: Fluid::new(850.0, 6.53e-10, 0.0),
        volumes: volumes.iter().enumerate().map(volume).collect(),
        tanks: vec![Named::new("tank", TANK)],
        elements: elements
            .map(|(name, one)| Named::new(*name, *one))
            .collect(),
        micro_steps: 1,
    }
}

fn cylinder(ends: [Place; 2]) -> Element {
    let cylinder = Cylinder::new([1e-3, 2e-3], 0.4, 1.0);
    Element::Chambers(Chambers { ends, cylinder })
}

fn orifice(ends: [Place; 2], area: f64) -> Element {
    Element::Orifice {
        ends,
        area,
        discharge: 0.6,
        is_variable: false,
    }
}

const LOAD: [Load; 1] = [Load {
    element: 0,
    force: 8e3,
}];
/// In the middle, at rest.
const MIDDLE: [f64; 2] = [1.0, 0.0];

#[test]
fn trapped_oil_carries_the_load() {
    let lift = network(&[1e6], &[("lift", cylinder([T, HEAD]))]);
    let p = resting_pressures(&lift, &[true], &LOAD, &MIDDLE).unwrap();
    let expected = (8e3 + 1e-3 * TANK) / 2e-3;
    assert!((p[0] / expected - 1.0).abs() < 1e-12, "{p:?}");
}

/// What is given stays, what is wanted follows from it; if both are wanted nothing says how high they are.
#[test]
fn a_cylinder_locked_on_both_sides_needs_one_pressure() {
    let locked = network(&[1e5, 3e6], &[("lift", cylinder([ROD, HEAD]))]);
    let p = resting_pressures(&locked, &[true, false], &LOAD, &MIDDLE).unwrap();
    assert!((p[1] - 3e6).abs() < 0.1, "{p:?}");
    assert!((2e-3 * p[0] - 1e-3 * p[1] - 8e3).abs() < 1e-6, "{p:?}");
    let open = resting_pressures(&locked, &[true, true], &LOAD, &MIDDLE).unwrap_err();
    assert!(open.contains("leave the pressure of `head` open"), "{open}");
    // Neither is wanted: both yield as they would if the piston gave way, by area over volume.
    let p = resting_pressures(&locked, &[false, false], &LOAD, &MIDDLE).unwrap();
    assert!((2e-3 * p[0] - 1e-3 * p[1] - 8e3).abs() < 1e-6, "{p:?}");
    assert!(
        ((p[0] - 1e5) / (3e6 - p[1]) / 2.0 - 1.0).abs() < 1e-6,
        "{p:?}"
    );
}

#[test]
fn an_open_valve_lets_the_load_sink_at_the_speed_of_its_flow() {
    let valve = orifice([HEAD, T], 4e-6);
    let lift = network(&[4e6], &[("lift", cylinder([T, HEAD])), ("down", valve)]);
    let told = resting_pressures(&lift, &[false], &LOAD, &MIDDLE).unwrap_err();
    let p = (8e3 + 1e-3 * TANK) / 2e-3;
    let speed = -4e-6 * 0.6 * (2.0 * (p - TANK) / 850.0).sqrt() / 2e-3;
    assert!(
        told.contains(&format!("`lift` moves at {speed:.4e} m/s")),
        "{told}"
    );
    assert!(told.contains("through `down`"), "{told}");
}

/// Two orifices in a row, as in an open-centre valve: (P - p) a² = (p - T) b².
#[test]
fn flows_balance_where_nothing_is_trapped() {
    let ways = [
        ("in", orifice([Place::Tank(1), HEAD], 3e-6)),
        ("out", orifice([HEAD, T], 2e-6)),
    ];
    let mut valve = network(&[1e5], &ways);
    valve.tanks.push(Named::new("pump", 2e7));
    let p = resting_pressures(&valve, &[true], &[], &[]).unwrap();
    let expected = (9.0 * 2e7 + 4.0 * TANK) / 13.0;
    assert!((p[0] / expected - 1.0).abs() < 1e-10, "{p:?}");
}

#[test]
fn a_pump_rests_where_its_relief_valve_takes_the_flow_or_not_at_all() {
    let relief = Element::OneWay {
        ends: [HEAD, T],
        opens: 1.4e7,
        conductance: 1e-10,
    };
    let pump = Element::Source { ends: [T, HEAD] };
    let safe = network(&[1e6], &[("pump", pump), ("relief", relief)]);
    let p = resting_pressures(&safe, &[true], &[], &[5e-5]).unwrap();
    assert!((p[0] / (TANK + 1.4e7 + 5e5) - 1.0).abs() < 1e-10, "{p:?}");
    let closed = network(&[1e6], &[("pump", pump)]);
    let told = resting_pressures(&closed, &[false], &[], &[5e-5]).unwrap_err();
    assert!(
        told.contains("`head` finds no rest") && told.contains("`pump`"),
        "{told}"
    );
}

/// A motor carries a torque; what leaks through it lets it turn.
#[test]
fn a_motor_holds_unless_it_leaks() {
    let motor = |leakage: f64| {
        Element::Motor(Motor {
            ends: [HEAD, T],
            displacement: 7e-5,
            leakage,
            friction: 0.0,
        })
    };
    let load = [Load {
        element: 0,
        force: 735.0,
    }];
    let tight = network(&[1e6], &[("motor", motor(0.0))]);
    let p = resting_pressures(&tight, &[true], &load, &[0.0; 3]).unwrap();
    assert!((p[0] / (TANK + 735.0 / 7e-5) - 1.0).abs() < 1e-12, "{p:?}");
    let leaking = network(&[1e6], &[("motor", motor(1e-12))]);
    let told = resting_pressures(&leaking, &[true], &load, &[0.0; 3]).unwrap_err();
    let speed = -1e-12 * (735.0 / 7e-5) / 7e-5;
    assert!(
        told.contains(&format!("`motor` moves at {speed:.4e}")),
        "{told}"
    );
}

#[test]
fn oil_does_not_pull_and_tanks_push_as_they_push() {
    let lift = network(&[1e6], &[("lift", cylinder([T, HEAD]))]);
    let pull = [Load {
        element: 0,
        force: -8e3,
    }];
    let told = resting_pressures(&lift, &[true], &pull, &MIDDLE).unwrap_err();
    assert!(
        told.contains("`head` would need a pressure of -3.95"),
        "{told}"
    );
    let loose = network(&[1e6], &[("lift", cylinder([T, T]))]);
    let told = resting_pressures(&loose, &[false], &LOAD, &MIDDLE).unwrap_err();
    assert!(
        told.contains("`lift` lies between tanks, which push with 1.0000e2 N"),
        "{told}"
    );
}
