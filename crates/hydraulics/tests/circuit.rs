//! A circuit on its own: order, limits, energy, state.

use std::f64::consts::TAU;

use oldham_cosim::{EnergyBalance, Hold, Inputs, Ports, Snapshot, Source, Subsystem};
use oldham_hydraulics::{
    Actuator, Circuit, CircuitError, Cylinder, Fluid, NetworkPart, Relief, Rest, SafetyValves,
    Spool, Supply, Valve,
};

const LOAD: f64 = 8829.0;

fn lift(viscous: f64) -> Actuator {
    let cylinder = Cylinder::new([65e-4; 2], 0.442, 0.5).friction(viscous, 0.0);
    Actuator::holding("lift", cylinder, Valve::new(5e-4, 0.67), LOAD)
}

fn circuit(actuators: Vec<Actuator>) -> Circuit {
    Circuit {
        fluid: Fluid::new(850.0, 6.53e-10, -1.19e-18),
        supply: Supply {
            pump: 7.6e6,
            tank: 1e5,
        },
        actuators,
        micro_steps: 1,
    }
}

struct SourceFunction<F>(F);

impl<F: Fn(f64) -> f64 + Send> Source for SourceFunction<F> {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        out[0] = (self.0)(t);
    }
}

type Function = fn(f64) -> f64;

fn inputs(ports: &Ports, given: &[Function]) -> Inputs {
    let mut inputs = Inputs::new(ports, Box::new(Hold::new(0, ports)));
    for (port, &function) in given.iter().enumerate() {
        inputs.drive(
            ports,
            oldham_cosim::InputPort(port),
            Box::new(SourceFunction(function)),
        );
    }
    inputs
}

/// Advances in equal steps; gives the outputs at the end.
fn run(hydraulics: &mut NetworkPart, given: &[Function], duration: f64, steps: usize) -> Vec<f64> {
    let mut inputs = inputs(hydraulics.ports(), given);
    let time = |k: usize| duration * k as f64 / steps as f64;
    for k in 0..steps {
        hydraulics
            .advance(time(k), time(k + 1), &mut inputs)
            .unwrap();
    }
    let mut at_end = vec![0.0; given.len()];
    inputs.at(duration, &mut at_end);
    let mut outputs = vec![0.0; hydraulics.ports().output_width()];
    hydraulics.outputs(duration, &at_end, &mut outputs).unwrap();
    outputs
}

const STROKE: Function = |t| 0.5 + 0.02 * (TAU * 5.0 * t).sin();
const RATE: Function = |t| 0.02 * TAU * 5.0 * (TAU * 5.0 * t).cos();
const STILL: Function = |_| 0.5;
const ZERO: Function = |_| 0.0;
const WAVE: Function = |t| 0.03 * (TAU * 3.0 * t).sin();

#[test]
fn at_rest_under_its_load_nothing_changes() {
    let mut hydraulics = circuit(vec![lift(1e5)]).part().unwrap();
    let [force, p1, p2] = run(&mut hydraulics, &[STILL, ZERO, ZERO], 1.0, 1000)[..] else {
        panic!("three outputs");
    };
    assert!((force - LOAD).abs() < 1e-6, "{force}");
    assert!((p1 - 3.170_85e6).abs() < 5.0 && (p2 - 4.529_15e6).abs() < 5.0);
}

#[test]
fn the_method_is_of_second_order() {
    let end = |steps: usize| {
        let mut hydraulics = circuit(vec![lift(1e5)]).part().unwrap();
        run(&mut hydraulics, &[STROKE, RATE, WAVE], 0.1, steps)[0]
    };
    let exact = end(64_000);
    let errors = [500, 1000, 2000].map(|steps| (end(steps) - exact).abs());
    let orders = [errors[0] / errors[1], errors[1] / errors[2]].map(f64::log2);
    for order in orders {
        assert!((order - 2.0).abs() < 0.2, "{orders:?} {errors:?}");
    }
}

/// Eq. 32 and 33 for the pressures themselves, by the classical Runge–Kutta method in tiny steps.
#[test]
fn pressures_are_those_of_the_equations_as_they_are_printed() {
    let (rho, area, stroke, a, b) = (850.0, 65e-4, 0.442, 6.53e-10, -1.19e-18);
    let mut hydraulics = circuit(vec![lift(1e5)]).part().unwrap();
    let neutral = circuit(vec![lift(1e5)]).at_rest().unwrap()[0].spool;
    let rate_of = |t: f64, p: [f64; 2]| -> [f64; 2] {
        let opening = neutral + WAVE(t);
        let root = |d: f64| if d > 0.0 { (2.0 * d / rho).sqrt() } else { 0.0 };
        let valve = |open: f64, p: f64| {
            5e-4 * 0.67 * (open * root(7.6e6 - p) - (1.0 - open) * root(p - 1e5))
        };
        let bulk = |p: f64| (1.0 + a * p + b * p * p) / (a + 2.0 * b * p);
        let lengths = [
            0.5 * stroke + 0.5 - STROKE(t),
            0.5 * stroke + STROKE(t) - 0.5,
        ];
        [
            bulk(p[0]) / (area * lengths[0]) * (area * RATE(t) + valve(opening, p[0])),
            bulk(p[1]) / (area * lengths[1]) * (-area * RATE(t) + valve(1.0 - opening, p[1])),
        ]
    };
    let mut p = [0, 1].map(|chamber| hydraulics.pressure(chamber));
    let (steps, h) = (10_000, 1e-5);
    let along = |p: [f64; 2], k: [f64; 2], s: f64| [p[0] + s * k[0], p[1] + s * k[1]];
    for n in 0..steps {
        let t = f64::from(n) * h;
        let k1 = rate_of(t, p);
        let k2 = rate_of(t + 0.5 * h, along(p, k1, 0.5 * h));
        let k3 = rate_of(t + 0.5 * h, along(p, k2, 0.5 * h));
        let k4 = rate_of(t + h, along(p, k3, h));
        for i in 0..2 {
            p[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    run(&mut hydraulics, &[STROKE, RATE, WAVE], 0.1, 20_000);
    for (found, expected) in [0, 1]
        .map(|chamber| hydraulics.pressure(chamber))
        .iter()
        .zip(p)
    {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }
}

/// What flows in and what the piston gives away is what the oil stores.
#[test]
fn energy_is_accounted_for_to_the_order_of_the_method() {
    let imbalance = |steps: usize| {
        let mut hydraulics = circuit(vec![lift(1e5)]).part().unwrap();
        let given = [STROKE, RATE, WAVE];
        let mut inputs = inputs(hydraulics.ports(), &given);
        let (mut work, duration) = (0.0, 0.1);
        let start = hydraulics.energy(0.0, &given.map(|f| f(0.0)));
        let time = |k: usize| duration * k as f64 / steps as f64;
        let force = |hydraulics: &mut NetworkPart, t: f64| {
            let mut outputs = [0.0; 3];
            let at = given.map(|f| f(t));
            hydraulics.outputs(t, &at, &mut outputs).unwrap();
            outputs[0] * RATE(t)
        };
        for k in 0..steps {
            let before = force(&mut hydraulics, time(k));
            hydraulics
                .advance(time(k), time(k + 1), &mut inputs)
                .unwrap();
            let after = force(&mut hydraulics, time(k + 1));
            work += 0.5 * (before + after) * duration / steps as f64;
        }
        let end = hydraulics.energy(duration, &given.map(|f| f(duration)));
        (
            end.stored() - start.stored() - end.supplied + end.dissipated + work,
            work,
        )
    };
    let ((coarse, work), (fine, _)) = (imbalance(500), imbalance(1000));
    assert!(fine.abs() < 1e-3 * work.abs(), "{fine} of {work}");
    assert!((coarse / fine).abs() > 3.5, "{coarse} {fine}");
}

/// A chamber that grows faster than oil can follow cavitates: it goes to the floor and not below, and
/// comes back when the void is filled.
#[test]
fn a_torn_chamber_cavitates_and_recovers() {
    let mut hydraulics = circuit(vec![lift(0.0)]).part().unwrap();
    const TORN: Function = |t| 0.5 + 4.0 * t;
    const FAST: Function = |_| 4.0;
    let outputs = run(&mut hydraulics, &[TORN, FAST, ZERO], 0.02, 100);
    assert_eq!(outputs[2], 0.0, "floor of cavitation");
    assert!(outputs.iter().all(|value| value.is_finite()));
    let outputs = run(&mut hydraulics, &[|_| 0.58, ZERO, ZERO], 0.1, 500);
    assert!((outputs[2] - 4.529_15e6).abs() < 10.0, "{}", outputs[2]);
}

/// Far beyond the stroke, with the spool far out of its housing: finite, and pushed back.
#[test]
fn beyond_stroke_and_housing_all_stays_finite() {
    const OUT: [Function; 3] = [|t| 0.5 + 3.0 * t, |_| 3.0, |_| 7.0];
    const IN: [Function; 3] = [|t| 0.5 - 3.0 * t, |_| -3.0, |_| -7.0];
    for (given, side) in [(OUT, 1.0), (IN, -1.0)] {
        for duration in [0.05, 0.1, 0.2] {
            let mut hydraulics = circuit(vec![lift(1e5)]).part().unwrap();
            let outputs = run(&mut hydraulics, &given, duration, 1000);
            assert!(outputs.iter().all(|value| value.is_finite()), "{outputs:?}");
            if duration > 0.08 {
                assert!(outputs[0] * side < -1e5, "{outputs:?}");
            }
        }
    }
}

#[test]
fn several_actuators_do_not_disturb_each_other() {
    let mut second = lift(1e5);
    second.name = "reach".into();
    second.rest = Rest::Spool(0.5);
    let mut both = circuit(vec![second, lift(1e5)]).part().unwrap();
    let mut alone = circuit(vec![lift(1e5)]).part().unwrap();
    let given = [STILL, ZERO, ZERO, STROKE, RATE, WAVE];
    let both = run(&mut both, &given, 0.05, 250);
    let alone = run(&mut alone, &given[3..], 0.05, 250);
    assert_eq!(both[3..], alone[..]);
    assert!((both[1] - 3.85e6).abs() < 1.0, "{both:?}");
}

#[test]
fn a_restored_state_repeats_every_bit() {
    let mut hydraulics = circuit(vec![lift(1e5)]).part().unwrap();
    let given = [STROKE, RATE, WAVE];
    run(&mut hydraulics, &given, 0.03, 100);
    let mut saved = Snapshot::default();
    saved.save(hydraulics.state().unwrap());
    let bits = |outputs: Vec<f64>| outputs.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let first = bits(run(&mut hydraulics, &given, 0.03, 100));
    saved.restore(hydraulics.state().unwrap());
    assert_eq!(bits(run(&mut hydraulics, &given, 0.03, 100)), first);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let mut bad = circuit(vec![lift(-1.0), lift(1e5)]);
    bad.supply.tank = 9e6;
    bad.fluid.b = -1e-16;
    bad.actuators[1].cylinder.stroke = 0.0;
    let errors = bad.part().unwrap_err().0;
    assert_eq!(errors.len(), 5, "{errors:?}");
    let mut heavy = circuit(vec![lift(1e5)]);
    heavy.actuators[0].rest = Rest::Load(1e5);
    let error = heavy.part().unwrap_err().to_string();
    assert!(error.contains("cannot hold a load of 100000 N"), "{error}");
    assert!(error.contains("48750"), "{error}");
}

/// Length of the arm of a force from `from` to `to` that acts at `to`, about a point.
fn arm([from, to, about]: [[f64; 2]; 3]) -> f64 {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    let [x, y] = [to[0] - about[0], to[1] - about[1]];
    (x * dy - y * dx) / dx.hypot(dy)
}

/// The manipulator with two actuators of Peiret 2020, Table 2 (point A at (0.3, -0.3) m, the second
/// actuator 0.1 m from the elbow on link 1 and 0.45 m on link 2): loads by moments about elbow and
/// foot; the spool positions are those of `papers/oracles/hydraulic_statics.py`.
#[test]
fn the_machine_with_two_actuators_is_held_at_the_known_spools() {
    let along = |angle: f64, length: f64| [length * angle.cos(), length * angle.sin()];
    let plus = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
    let (one, two) = (30f64.to_radians(), -60f64.to_radians());
    let gravity = 9.81;
    let elbow = along(one, 1.0);
    let [upper, lower] = [along(one, 0.9), plus(elbow, along(two, 0.45))];
    let end = plus(elbow, along(two, 0.5));
    let second = gravity * 100.0 * (end[0] - elbow[0]) / arm([upper, lower, elbow]);
    let moment = gravity * (200.0 * 0.5 * elbow[0] + 250.0 * elbow[0] + 100.0 * end[0]);
    let first = moment / arm([[0.3, -0.3], along(one, 0.5), [0.0, 0.0]]);
    let actuators = [("boom", first), ("stick", second)].map(|(name, load)| {
        let cylinder = Cylinder::new([65e-4; 2], 0.442, 0.5);
        Actuator::holding(name, cylinder, Valve::new(5e-4, 0.67), load)
    });
    let rest = circuit(actuators.to_vec()).at_rest().unwrap();
    assert!((rest[0].spool - 0.441_599).abs() < 5e-7);
    assert!((rest[1].spool - 0.487_108).abs() < 5e-7);
}

/// All ways closed, the piston still: pressures stay. Opened, the free piston moves at the speed that the valve's flow
/// gives: with pressure differences halved, q = c A √(Δp/ρ).
#[test]
fn a_closed_centre_holds_and_feeds_as_its_orifice_does() {
    let mut lift = lift(0.0);
    lift.valve = lift.valve.closed(0.1);
    let mut hydraulics = circuit(vec![lift.clone()]).part().unwrap();
    assert_eq!(circuit(vec![lift.clone()]).at_rest().unwrap()[0].spool, 0.5);
    let still: [Function; 3] = [|_| 0.5, |_| 0.0, |_| 0.04];
    let outputs = run(&mut hydraulics, &still, 1.0, 100);
    assert!((outputs[0] - LOAD).abs() < 1e-6 * LOAD, "{outputs:?}");
    // Wide open, retracting at a speed at which both chambers keep the middle pressure: no force.
    let mut unloaded = lift;
    unloaded.rest = Rest::Load(0.0);
    let mut hydraulics = circuit(vec![unloaded]).part().unwrap();
    let moved: [Function; 3] = [|t| 0.5 - SPEED * t, |_| -SPEED, |_| 0.5];
    let outputs = run(&mut hydraulics, &moved, 0.02, 2000);
    let half = 0.5 * (7.6e6 - 1e5);
    assert!(outputs[0].abs() < 1e-3 * half * 65e-4, "{outputs:?}");
    assert!((outputs[1] - half - 1e5).abs() < 2e-3 * half, "{outputs:?}");
}

/// c A √(2 Δp/ρ) over the area of the piston, with half of 7.5 MPa at each edge.
const SPEED: f64 = 4.841_229_182_759_271;

/// A chamber that is pressed together gives off through its relief valve what the piston displaces.
#[test]
fn a_relief_valve_gives_off_what_the_piston_displaces() {
    let mut lift = lift(0.0);
    lift.valve = lift.valve.closed(0.0);
    lift.safety = SafetyValves {
        relief: Some(Relief {
            pressure: 6e6,
            conductance: 1e-9,
        }),
        makeup: Some(1e-7),
    };
    let mut hydraulics = circuit(vec![lift.clone()]).part().unwrap();
    let moved: [Function; 3] = [|t| 0.5 - 0.1 * t, |_| -0.1, |_| 0.0];
    let outputs = run(&mut hydraulics, &moved, 1.0, 2000);
    // Chamber 2 shrinks by 0.1 m/s times its area; chamber 1 is filled from the tank.
    let flow = 0.1 * 65e-4;
    let [p1, p2] = [1e5 - flow / 1e-7, 6e6 + flow / 1e-9];
    assert!((outputs[2] / p2 - 1.0).abs() < 1e-3, "{outputs:?} {p2}");
    assert!((outputs[1] / p1 - 1.0).abs() < 1e-2, "{outputs:?} {p1}");
    lift.safety.relief = Some(Relief {
        pressure: 3e6,
        conductance: 1e-9,
    });
    let errors = circuit(vec![lift]).part().unwrap_err().0;
    assert!(
        matches!(errors[0], CircuitError::ReliefOpens { .. }),
        "{errors:?}"
    );
}

/// A slow spool brings the pressures later to where they settle; its state is saved.
#[test]
fn a_slow_spool_arrives_late_and_is_part_of_the_state() {
    let mut slow = lift(0.0);
    slow.spool = Spool {
        rate: 0.1,
        lag: 0.0,
    };
    let command: [Function; 3] = [|_| 0.5, |_| 0.0, |_| 0.05];
    let [mut fast, mut slow] =
        [lift(0.0), slow].map(|actuator| circuit(vec![actuator]).part().unwrap());
    let force = |part: &mut NetworkPart, duration| run(part, &command, duration, 2000)[0];
    let at_once = force(&mut fast, 0.4);
    let half_way = force(&mut slow, 0.25);
    assert!((half_way - at_once).abs() > 100.0, "{half_way} {at_once}");
    let mut snapshot = Snapshot::default();
    snapshot.save(slow.state().unwrap());
    let arrived = force(&mut slow, 0.5);
    assert!(
        (arrived / at_once - 1.0).abs() < 1e-6,
        "{arrived} {at_once}"
    );
    snapshot.restore(slow.state().unwrap());
    assert_eq!(force(&mut slow, 0.5), arrived);
}

/// κ² (pump − p) = (1 − κ)² (p − tank) for chamber 1, and the other way round for chamber 2, from end to end of the housing.
#[test]
fn at_a_given_spool_pressures_are_those_of_the_closed_form() {
    for spool in [0.0, 1e-3, 0.1, 0.3, 0.5, 0.9, 1.0] {
        let mut given = lift(0.0);
        given.rest = Rest::Spool(spool);
        let found = circuit(vec![given]).at_rest().unwrap()[0];
        for (kappa, p) in [spool, 1.0 - spool].into_iter().zip(found.pressures) {
            let (feed, drain) = (kappa * kappa, (1.0 - kappa) * (1.0 - kappa));
            let expected = (feed * 7.6e6 + drain * 1e5) / (feed + drain);
            // Below 1 kPa flow is laminar, and not that of the square root.
            assert!((p - expected).abs() < 1e-9 * 7.6e6 || (p - expected).abs() < 1e3);
            let is_turbulent = (p - 1e5).min(7.6e6 - p) > 1e3;
            assert!(
                !is_turbulent || (p / expected - 1.0).abs() < 1e-9,
                "{p} {expected}"
            );
        }
    }
}

/// Under any load that pressures can carry the spool is found, with areas that differ too: the pressures follow from the load and
/// from p₁ + p₂ = pump + tank, the spool from the flow into chamber 1.
#[test]
fn a_spool_is_found_for_every_load_that_can_be_carried() {
    let supply = [7.6e6, 1e5];
    for areas in [[65e-4; 2], [65e-4, 45e-4], [20e-4, 90e-4]] {
        let thrust = |p: [f64; 2]| areas[1] * p[1] - areas[0] * p[0];
        let (least, most) = (thrust(supply), thrust([supply[1], supply[0]]));
        for share in [0.001, 0.02, 0.3, 0.5, 0.77, 0.98, 0.999] {
            let load = least + share * (most - least);
            let mut held = lift(0.0);
            held.cylinder.areas = areas;
            held.rest = Rest::Load(load);
            let found = circuit(vec![held]).at_rest().unwrap()[0];
            let first = ((supply[0] + supply[1]) * areas[1] - load) / (areas[0] + areas[1]);
            let [feed, drain] = [(supply[0] - first).sqrt(), (first - supply[1]).sqrt()];
            let spool = drain / (feed + drain);
            assert!((found.spool - spool).abs() < 1e-9, "{found:?} {spool}");
            assert!((found.pressures[0] / first - 1.0).abs() < 1e-9, "{found:?}");
            assert!(
                (found.force - load).abs() < 1e-6 * most.max(-least),
                "{found:?}"
            );
        }
        for beyond in [least - 1.0, most + 1.0, f64::NAN] {
            let mut held = lift(0.0);
            held.cylinder.areas = areas;
            held.rest = Rest::Load(beyond);
            let errors = circuit(vec![held]).at_rest().unwrap_err().0;
            assert!(matches!(errors[0], CircuitError::CannotHold { .. }));
        }
    }
}

#[test]
fn a_length_that_is_not_a_number_is_told() {
    let mut part = circuit(vec![lift(1e5)]).part().unwrap();
    let given: [Function; 3] = [|_| f64::NAN, ZERO, ZERO];
    let mut inputs = inputs(part.ports(), &given);
    let error = part.advance(0.0, 1e-3, &mut inputs).unwrap_err();
    assert!(error.to_string().contains("`lift` is torn"), "{error}");
    let given: [Function; 3] = [STILL, |_| f64::NAN, ZERO];
    let mut inputs = self::inputs(part.ports(), &given);
    let error = part.advance(0.0, 1e-3, &mut inputs).unwrap_err();
    assert!(error.to_string().contains("lift.chamber1"), "{error}");
}
