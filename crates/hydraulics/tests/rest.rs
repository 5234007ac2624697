//! Networks at rest, against closed forms.

use oldham_hydraulics::{
    Chambers, Cylinder, Element, Fluid, Line, Load, Motor, Named, Network, Orifice, Place, Volume,
    resting_pressures,
};

const TANK: f64 = 1e5;
const T: Place = Place::Tank(0);
const HEAD: Place = Place::Volume(0);
const ROD: Place = Place::Volume(1);

fn network(volumes: &[f64], elements: &[(&str, Element)]) -> Network {
    let volume = |(i, &pressure): (usize, &f64)| {
        let volume = 1e-4;
        Named::new(["head", "rod"][i], Volume::new(volume, pressure))
    };
    let elements = elements.iter();
    Network::new(
        Fluid::new(850.0, 6.53e-10, 0.0),
        volumes.iter().enumerate().map(volume).collect(),
        vec![Named::new("tank", TANK)],
        elements
            .map(|(name, one)| Named::new(*name, *one))
            .collect(),
    )
}

fn cylinder(ends: [Place; 2]) -> Element {
    let cylinder = Cylinder::new([1e-3, 2e-3], 0.4, 1.0);
    Element::Chambers(Chambers { ends, cylinder })
}

fn orifice(ends: [Place; 2], area: f64) -> Element {
    Element::Orifice(Orifice::new(ends, area, 0.6))
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

fn line(ends: [Place; 2], inertance: f64) -> Element {
    Element::Line(Line {
        ends,
        inertance,
        resistance: 0.0,
        flow: 0.0,
    })
}

/// Loads were blamed for a flow that was no number.
#[test]
fn a_flow_that_is_no_number_is_told_with_its_pump() {
    let pump = Element::Source { ends: [T, HEAD] };
    let lift = network(&[1e6], &[("lift", cylinder([T, HEAD])), ("pump", pump)]);
    let inputs = [MIDDLE[0], MIDDLE[1], f64::NAN];
    let told = resting_pressures(&lift, &[true], &LOAD, &inputs).unwrap_err();
    assert_eq!(told, "what `pump` receives is NaN");
}

/// A ring of lines without resistance was taken for loads that are not independent.
#[test]
fn lines_side_by_side_without_resistance_rest() {
    let lines = [
        ("lift", cylinder([T, HEAD])),
        ("one", line([HEAD, ROD], 1e6)),
        ("other", line([HEAD, ROD], 3e6)),
    ];
    let ring = network(&[1e6, 2e6], &lines);
    let p = resting_pressures(&ring, &[true, true], &LOAD, &MIDDLE).unwrap();
    let expected = (8e3 + 1e-3 * TANK) / 2e-3;
    assert!(
        p.iter().all(|p| (p / expected - 1.0).abs() < 1e-10),
        "{p:?}"
    );
}

#[test]
fn a_line_without_resistance_between_two_pressures_finds_no_end() {
    let mut pipe = network(&[1e6], &[("pipe", line([T, Place::Tank(1)], 1e6))]);
    pipe.tanks.push(Named::new("high", 3e5));
    let told = resting_pressures(&pipe, &[false], &[], &[]).unwrap_err();
    assert!(
        told.contains("the flow through `pipe` finds no rest: -2.0000e5 Pa"),
        "{told}"
    );
}

/// Two cylinders on one volume: their loads must be as their areas are. Where they are, that was no reason to refuse them.
#[test]
fn cylinders_side_by_side_on_one_volume_carry_loads_that_fit() {
    let mut both = network(
        &[1e6],
        &[
            ("left", cylinder([T, HEAD])),
            ("right", cylinder([T, HEAD])),
        ],
    );
    let load = |element, force| Load { element, force };
    let inputs = [1.0, 0.0, 1.0, 0.0];
    let loads = [load(0, 8e3), load(1, 8e3)];
    let p = resting_pressures(&both, &[true], &loads, &inputs).unwrap();
    let expected = (8e3 + 1e-3 * TANK) / 2e-3;
    assert!((p[0] / expected - 1.0).abs() < 1e-12, "{p:?}");
    let unequal = [load(0, 8e3), load(1, 7e3)];
    let told = resting_pressures(&both, &[true], &unequal, &inputs).unwrap_err();
    assert!(
        told.contains("`left` (8.0000e3 N), `right` (7.0000e3 N), which do not fit"),
        "{told}"
    );
    // What one valve lets out both make room for.
    let valve = Named::new("down", orifice([HEAD, T], 4e-6));
    both.elements.push(valve);
    let told = resting_pressures(&both, &[true], &loads, &inputs).unwrap_err();
    let speed = -4e-6 * 0.6 * (2.0 * (expected - TANK) / 850.0).sqrt() / 4e-3;
    for name in ["left", "right"] {
        let moves = format!("`{name}` moves at {speed:.4e} m/s");
        assert!(told.contains(&moves), "{told}");
    }
}

fn motor(displacement: f64, leakage: f64) -> Element {
    Element::Motor(Motor {
        ends: [HEAD, T],
        displacement,
        leakage,
        friction: 0.0,
    })
}

/// Below 1e-9 rad/s everything was at rest.
#[test]
fn a_large_motor_that_leaks_a_little_is_not_at_rest() {
    let (displacement, leakage) = (1e-2, 1e-20);
    let force = 1e7 * displacement;
    let leaking = network(&[1e6], &[("motor", motor(displacement, leakage))]);
    let load = [Load { element: 0, force }];
    let told = resting_pressures(&leaking, &[true], &load, &[0.0; 3]).unwrap_err();
    let speed = -leakage * 1e7 / displacement;
    assert!(
        told.contains(&format!("`motor` moves at {speed:.4e}")),
        "{told}"
    );
}

/// However small it is, and however much a wide way makes of the rounding of pressures.
#[test]
fn a_small_motor_on_a_wide_way_is_at_rest() {
    for displacement in [1e-5, 1e-8, 1e-11] {
        let force = 1.1e7 * displacement;
        let ways = [
            ("motor", motor(displacement, 0.0)),
            ("wide", orifice([HEAD, ROD], 1e-1)),
        ];
        let drive = network(&[1e6, 3e6], &ways);
        let load = [Load { element: 0, force }];
        let p = resting_pressures(&drive, &[true, true], &load, &[0.0; 3]).unwrap();
        let expected = TANK + 1.1e7;
        assert!(
            p.iter().all(|p| (p / expected - 1.0).abs() < 1e-10),
            "{displacement}: {p:?}"
        );
    }
}

/// Nothing says how high the pressure of two closed volumes is; where they start with a number, oil is kept.
#[test]
fn two_closed_volumes_meet_in_the_middle_or_are_open() {
    for area in [1e-9, 1e-5, 1e-1] {
        let closed = network(&[1e6, 3e6], &[("way", orifice([HEAD, ROD], area))]);
        let told = resting_pressures(&closed, &[true, true], &[], &[]).unwrap_err();
        assert!(told.contains("open") && told.contains("`head`"), "{told}");
        let p = resting_pressures(&closed, &[false, false], &[], &[]).unwrap();
        let error = p.iter().map(|p| (p / 2e6 - 1.0).abs());
        assert!(error.fold(0.0, f64::max) < 1e-6, "{area}: {p:?}");
    }
}
