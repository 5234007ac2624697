//! Orders of convergence against the matrix exponential.

mod common;

use common::*;
use oldham_cosim::Subsystem;
use oldham_lumped::{Integrator, Lumped, NodeRef, PortKind, Spec, StageInputs};

const LMS2: Integrator = Integrator::Lms2 { rho: 0.6 };
const RK4: Integrator = Integrator::Rk4 {
    inputs: StageInputs::Interpolated,
};
const RK4_HELD: Integrator = Integrator::Rk4 {
    inputs: StageInputs::Held,
};

/// Masses 1 and 2 between walls, springs 10, 20, 5, dampers 0.3, 0.2, 0.1.
fn oscillator(integrator: Integrator) -> Spec {
    let (one, two) = (NodeRef::node(0), NodeRef::node(1));
    let mut spec = spec(&[("one", 1.0, 0.0), ("two", -0.5, 2.0)], integrator);
    spec.elements = vec![
        mass(one, 1.0),
        mass(two, 2.0),
        spring(GROUND, one, 10.0, 0.3),
        spring(one, two, 20.0, 0.2),
        spring(two, GROUND, 5.0, 0.1),
    ];
    spec.outputs = vec![
        port("one", one, PortKind::Motion),
        port("two", two, PortKind::Motion),
    ];
    spec.inputs = vec![port("push", two, PortKind::Force)];
    spec
}

/// The same, and a force sin(3 t) on mass two, as z' = A z with z = (x1, x2, v1, v2, sin, cos).
#[rustfmt::skip]
const DRIVEN: [f64; 36] = [
    0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
    -30.0, 20.0, -0.5, 0.2, 0.0, 0.0,
    10.0, -12.5, 0.1, -0.15, 0.5, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 3.0,
    0.0, 0.0, 0.0, 0.0, -3.0, 0.0,
];
const END: f64 = 1.6;

/// Displacements, velocities, accelerations at the end.
fn reference(amplitude: f64) -> [Vec<f64>; 3] {
    let z = propagate(&DRIVEN, &[1.0, -0.5, 0.0, 2.0, 0.0, amplitude], END);
    let row = |row: usize| -> f64 {
        (0..6)
            .map(|column| DRIVEN[6 * row + column] * z[column])
            .sum()
    };
    [z[0..2].to_vec(), z[2..4].to_vec(), vec![row(2), row(3)]]
}

/// Errors of displacement, velocity and acceleration.
fn errors(spec: Spec, amplitude: f64, steps: usize) -> [f64; 3] {
    let mut lumped = Lumped::new(spec).unwrap();
    let push = move |t: f64| amplitude * (3.0 * t).sin();
    let mut inputs = driven(&lumped, move |t, out| out[0] = push(t));
    run(&mut lumped, &mut inputs, END, steps).unwrap();
    let motion = outputs(&mut lumped, END, &[push(END)]);
    let reference = reference(amplitude);
    [0, 1, 2].map(|kind| distance(&[motion[kind], motion[3 + kind]], &reference[kind]))
}

fn assert_order(integrator: Integrator, amplitude: f64, expected: f64) {
    let coarse = errors(oscillator(integrator), amplitude, 800);
    let fine = errors(oscillator(integrator), amplitude, 1600);
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        let found = order(coarse, fine);
        assert!(
            (found - expected).abs() < 0.1,
            "{integrator:?}: order {found}, errors {coarse:e} {fine:e}"
        );
    }
}

#[test]
fn free_vibration_converges_at_the_order_of_each_method() {
    assert_order(Integrator::SemiImplicitEuler, 0.0, 1.0);
    assert_order(Integrator::BackwardEuler, 0.0, 1.0);
    assert_order(LMS2, 0.0, 2.0);
    assert_order(Integrator::Lms2 { rho: 0.0 }, 0.0, 2.0);
    assert_order(Integrator::Lms2 { rho: 1.0 }, 0.0, 2.0);
}

/// Rounding would hide the fourth order at small steps.
#[test]
fn runge_kutta_is_of_fourth_order() {
    for amplitude in [0.0, 5.0] {
        let coarse = errors(oscillator(RK4), amplitude, 50);
        let fine = errors(oscillator(RK4), amplitude, 100);
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            assert!(
                (order(coarse, fine) - 4.0).abs() < 0.2,
                "{coarse:e} {fine:e}"
            );
        }
    }
}

#[test]
fn driven_vibration_converges_at_the_order_of_each_method() {
    assert_order(Integrator::SemiImplicitEuler, 5.0, 1.0);
    assert_order(Integrator::BackwardEuler, 5.0, 1.0);
    assert_order(LMS2, 5.0, 2.0);
}

#[test]
fn held_inputs_reduce_runge_kutta_to_first_order() {
    assert_order(RK4_HELD, 5.0, 1.0);
}

#[test]
fn the_exact_method_is_exact_in_free_vibration_for_any_step() {
    for steps in [1, 7, 100] {
        let errors = errors(oscillator(Integrator::Exact), 0.0, steps);
        assert!(errors.into_iter().all(|error| error < 1e-12), "{errors:?}");
    }
}

/// The cubic through four points of the step has an error of order h^4 inside it.
#[test]
fn the_exact_method_is_of_fourth_order_or_better_under_a_sine() {
    let coarse = errors(oscillator(Integrator::Exact), 5.0, 8);
    let fine = errors(oscillator(Integrator::Exact), 5.0, 16);
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!(order(coarse, fine) > 3.7, "{coarse:e} {fine:e}");
    }
}

/// A free mass under a cubic force moves along a polynomial of fifth degree.
#[test]
fn the_exact_method_is_exact_under_a_cubic_load_and_input() {
    let node = NodeRef::node(0);
    let mut spec = spec(&[("mass", 0.5, -1.0)], Integrator::Exact);
    spec.elements = vec![mass(node, 2.0), load(node, "4 - 6*t + 12*t^2")];
    spec.inputs = vec![port("push", node, PortKind::Force)];
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = driven(&lumped, |t, out| out[0] = -20.0 * t.powi(3));
    run(&mut lumped, &mut inputs, 2.0, 3).unwrap();
    let t: f64 = 2.0;
    let velocity = -1.0 + 2.0 * t - 1.5 * t.powi(2) + 2.0 * t.powi(3) - 2.5 * t.powi(4);
    let position = 0.5 - t + t.powi(2) - 0.5 * t.powi(3) + 0.5 * t.powi(4) - 0.5 * t.powi(5);
    assert!((lumped.velocities()[0] - velocity).abs() < 1e-12);
    assert!((lumped.positions()[0] - position).abs() < 1e-12);
}

#[test]
fn micro_steps_are_steps() {
    let mut with_micro = oscillator(LMS2);
    with_micro.micro_steps = 8;
    let few = errors(with_micro, 0.0, 100);
    let many = errors(oscillator(LMS2), 0.0, 800);
    assert!(distance(&few, &many) < 1e-12);
}

/// Matrices instead of elements give the same motion; a full mass matrix is solved with.
#[test]
fn a_full_mass_matrix_converges_to_the_exponential() {
    let nodes = [NodeRef::node(0), NodeRef::node(1)];
    for (integrator, steps, tolerance) in [
        (RK4, 2000, 1e-9),
        (Integrator::Exact, 10, 1e-12),
        (LMS2, 20_000, 1e-5),
    ] {
        let mut spec = spec(&[("one", 1.0, 0.0), ("two", -0.5, 2.0)], integrator);
        let stiffness = [30.0, -20.0, -20.0, 25.0];
        spec.elements = vec![matrices(&nodes, &[2.0, 1.0, 1.0, 3.0], &[], &stiffness)];
        let mut lumped = Lumped::new(spec).unwrap();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, END, steps).unwrap();
        // The inverse of the mass matrix is [3, -1; -1, 2] / 5.
        #[rustfmt::skip]
        let a = [
            0.0, 0.0, 1.0, 0.0,
            0.0, 0.0, 0.0, 1.0,
            -22.0, 17.0, 0.0, 0.0,
            14.0, -14.0, 0.0, 0.0,
        ];
        let z = propagate(&a, &[1.0, -0.5, 0.0, 2.0], END);
        let found = [lumped.positions(), lumped.velocities()].concat();
        assert!(
            distance(&found, &z) < tolerance,
            "{integrator:?}: {found:?} {z:?}"
        );
    }
}

#[test]
fn a_linear_system_is_factorised_once_for_each_formula() {
    let mut lumped = Lumped::new(oscillator(LMS2)).unwrap();
    let mut inputs = idle(&lumped);
    // 0.1 is not a binary fraction: the differences of times vary in their last digits.
    run(&mut lumped, &mut inputs, 1000.1, 3000).unwrap();
    let counters = lumped.counters();
    assert_eq!(counters.factorisations, 2, "starting step and all others");
    assert_eq!((counters.micro_steps, counters.iterations), (3000, 3000));
}

/// Position, velocity and acceleration prescribed at a boundary node act like a node that moves so.
#[test]
fn a_boundary_moves_its_neighbours_like_a_node() {
    let (one, two) = (NodeRef::node(0), NodeRef::boundary(0));
    for integrator in [RK4, Integrator::Exact] {
        let mut spec = spec(&[("one", 1.0, 0.0)], integrator);
        spec.boundary_nodes = vec![oldham_lumped::BoundarySpec::new("two")];
        spec.elements = vec![
            mass(one, 1.0),
            spring(GROUND, one, 10.0, 0.3),
            spring(one, two, 20.0, 0.2),
            matrices(&[one, two], &[0.5, 0.25, 0.25, 0.5], &[], &[]),
        ];
        spec.inputs = vec![port("two", two, PortKind::Motion)];
        let mut lumped = Lumped::new(spec).unwrap();
        let mut inputs = driven(&lumped, |t, out| {
            out[0] = (3.0 * t).sin();
            out[1] = 3.0 * (3.0 * t).cos();
            out[2] = -9.0 * (3.0 * t).sin();
        });
        run(&mut lumped, &mut inputs, END, 2000).unwrap();
        // 1.5 a + 0.5 v + 30 x = 20 sin + 0.6 cos + 2.25 sin
        #[rustfmt::skip]
        let a = [
            0.0, 1.0, 0.0, 0.0,
            -20.0, -0.5 / 1.5, 22.25 / 1.5, 0.6 / 1.5,
            0.0, 0.0, 0.0, 3.0,
            0.0, 0.0, -3.0, 0.0,
        ];
        let z = propagate(&a, &[1.0, 0.0, 0.0, 1.0], END);
        let found = [lumped.positions()[0], lumped.velocities()[0]];
        assert!(distance(&found, &z[..2]) < 1e-10, "{integrator:?}");
    }
}
