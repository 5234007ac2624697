//! Nonlinear springs and conservation laws.

mod common;

use common::*;
use oldham_cosim::{EnergyBalance, StepError, Subsystem};
use oldham_lumped::{Integrator, Lumped, NodeRef, Spec, StageInputs};

const LMS2: Integrator = Integrator::Lms2 { rho: 0.6 };
const RK4: Integrator = Integrator::Rk4 {
    inputs: StageInputs::Interpolated,
};

fn single(text: &str, position: f64, velocity: f64, integrator: Integrator) -> Spec {
    let node = NodeRef::node(0);
    let mut spec = spec(&[("mass", position, velocity)], integrator);
    spec.elements = vec![mass(node, 1.0), law(GROUND, node, text)];
    spec
}

/// Period from the zero crossings of the displacement.
fn period(spec: Spec, step: f64, end: f64) -> f64 {
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = idle(&lumped);
    let mut crossings = Vec::new();
    for index in 0..(end / step) as usize {
        let before = (lumped.positions()[0], lumped.velocities()[0]);
        let t = index as f64 * step;
        lumped.advance(t, t + step, &mut inputs).unwrap();
        let after = (lumped.positions()[0], lumped.velocities()[0]);
        if before.0 > 0.0 && after.0 <= 0.0 {
            crossings.push(t + root_of_hermite(before, after, step));
        }
    }
    let count = crossings.len() - 1;
    (crossings[count] - crossings[0]) / count as f64
}

/// Where the cubic with these end values and slopes is zero.
fn root_of_hermite((x0, v0): (f64, f64), (x1, v1): (f64, f64), h: f64) -> f64 {
    let value = |s: f64| {
        let r = 1.0 - s;
        r * r * (1.0 + 2.0 * s) * x0 + s * s * (3.0 - 2.0 * s) * x1 + h * s * r * (r * v0 - s * v1)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if value(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    h * low
}

/// m x'' = -x^3 from amplitude A: T = 4 K(1/2) / A = Gamma(1/4)^2 / (A sqrt(pi)).
#[test]
fn the_period_of_a_cubic_spring_is_that_of_the_elliptic_integral() {
    let gamma_quarter: f64 = 3.625_609_908_221_908;
    let amplitude = 1.5;
    let expected = gamma_quarter.powi(2) / (amplitude * std::f64::consts::PI.sqrt());
    let rk4 = period(single("d^3", amplitude, 0.0, RK4), 1e-3, 30.0);
    assert!((rk4 - expected).abs() < 1e-9, "{rk4} {expected}");
    let coarse = period(single("d^3", amplitude, 0.0, LMS2), 4e-3, 30.0) - expected;
    let fine = period(single("d^3", amplitude, 0.0, LMS2), 2e-3, 30.0) - expected;
    assert!(coarse.abs() < 1e-3);
    assert!((order(coarse, fine) - 2.0).abs() < 0.15, "{coarse} {fine}");
}

/// m x'' = -k sgn(x) sqrt|x| from amplitude A: quarter period
/// = integral dx / sqrt(4k/3m (A^1.5 - x^1.5)) = sqrt(3/4) A^(1/4) B(2/3, 1/2) / 1.5 for k = m = 1.
#[test]
fn the_period_of_a_square_root_spring_is_that_of_the_beta_function() {
    let beta = 2.587_109_559_230_2;
    let amplitude: f64 = 0.01;
    let expected = 4.0 * 0.75_f64.sqrt() * amplitude.powf(0.25) * beta / 1.5;
    let text = "sgn(d)*sqrt(abs(d))";
    let lms2 = period(single(text, amplitude, 0.0, LMS2), 2e-4, 20.0);
    assert!(
        (lms2 - expected).abs() < 1e-4 * expected,
        "{lms2} {expected}"
    );
}

/// The root has an infinite slope where the motion starts and passes again and again.
#[test]
fn newton_survives_the_infinite_slope_of_a_square_root_spring() {
    for integrator in [LMS2, Integrator::BackwardEuler] {
        for (position, velocity) in [(0.0, 0.0), (0.0, 1.0), (0.0, 1e-6), (1e-12, 0.0)] {
            let text = "1000*sgn(d)*sqrt(abs(d)) + 0.5*v";
            let mut lumped = Lumped::new(single(text, position, velocity, integrator)).unwrap();
            let mut inputs = idle(&lumped);
            run(&mut lumped, &mut inputs, 1.0, 1000).unwrap();
            assert!(lumped.positions()[0].abs() < 0.1);
            let each = lumped.counters().iterations as f64 / 1000.0;
            assert!(each < 15.0, "{each} iterations a step");
        }
    }
}

/// Far from the origin positions are resolved coarsely: the kink lies between two of them. The
/// second-order method ends in a minute cycle about the kink, as it must for an infinite slope.
#[test]
fn newton_settles_on_a_square_root_spring_far_from_the_origin() {
    let (one, two) = (NodeRef::node(0), NodeRef::node(1));
    for (integrator, tolerance) in [(LMS2, 1e-7), (Integrator::BackwardEuler, 1e-12)] {
        let mut spec = spec(&[("one", 10.0, 0.0), ("two", 10.001, 0.0)], integrator);
        spec.elements = vec![
            mass(one, 1.0),
            mass(two, 1.0),
            law(one, two, "100*sgn(d)*sqrt(abs(d)) + 20*v"),
        ];
        let mut lumped = Lumped::new(spec).unwrap();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, 20.0, 20_000).unwrap();
        let apart = (lumped.positions()[0] - lumped.positions()[1]).abs();
        assert!(apart < tolerance, "{apart:e}");
    }
}

/// A load suddenly pulls at a root that rests in its infinite slope, far from the origin.
#[test]
fn newton_leaves_the_infinite_slope_when_pulled() {
    let (one, two) = (NodeRef::node(0), NodeRef::node(1));
    let mut spec = spec(&[("one", 10.0, 0.0), ("two", 10.0, 0.0)], LMS2);
    spec.elements = vec![
        mass(one, 1.0),
        mass(two, 1.0),
        spring(GROUND, one, 0.0, 30.0),
        law(one, two, "100*sgn(d)*sqrt(abs(d)) + 20*v"),
        load(two, "5"),
    ];
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = idle(&lumped);
    run(&mut lumped, &mut inputs, 5.0, 5000).unwrap();
    // In the end the pair creeps at 5/30 with the root stretched until it carries the load.
    let apart = lumped.positions()[1] - lumped.positions()[0];
    assert!((apart - 0.0025).abs() < 1e-8, "{apart}");
    assert!((lumped.velocities()[0] - 5.0 / 30.0).abs() < 1e-8);
}

#[test]
fn a_law_that_cannot_be_balanced_is_reported_with_its_node() {
    let mut lumped = Lumped::new(single("1e3*step(v) - 500", 0.0, 0.0, LMS2)).unwrap();
    let mut inputs = idle(&lumped);
    let error = run(&mut lumped, &mut inputs, 1.0, 100).unwrap_err();
    let StepError::NotConverged { worst, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(worst, "mass");
}

#[test]
fn a_law_that_gives_no_number_is_reported() {
    let mut lumped = Lumped::new(single("ln(d)", 0.1, -1.0, RK4)).unwrap();
    let mut inputs = idle(&lumped);
    let error = run(&mut lumped, &mut inputs, 1.0, 100).unwrap_err();
    assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
}

/// A shadow energy near the true one is conserved: no drift over 1600 periods.
#[test]
fn semi_implicit_euler_keeps_the_energy_bounded() {
    let node = NodeRef::node(0);
    let mut spec = spec(&[("mass", 1.0, 0.0)], Integrator::SemiImplicitEuler);
    spec.elements = vec![mass(node, 1.0), spring(GROUND, node, 100.0, 0.0)];
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = idle(&lumped);
    for index in 0..100_000 {
        let t = index as f64 * 0.01;
        lumped.advance(t, t + 0.01, &mut inputs).unwrap();
        let energy = lumped.energy(t + 0.01, &[]).stored();
        assert!((energy / 50.0 - 1.0).abs() < 0.06, "{energy} at {t}");
    }
}

#[test]
fn free_bodies_keep_their_momentum() {
    let nodes: Vec<NodeRef> = (0..3).map(NodeRef::node).collect();
    for integrator in [
        Integrator::SemiImplicitEuler,
        Integrator::BackwardEuler,
        LMS2,
        RK4,
    ] {
        let start = [("a", 0.0, 1.0), ("b", 0.1, -2.0), ("c", 0.3, 0.5)];
        let mut spec = spec(&start, integrator);
        spec.elements = vec![
            mass(nodes[0], 1.0),
            mass(nodes[1], 2.0),
            mass(nodes[2], 3.0),
            spring(nodes[0], nodes[1], 100.0, 1.0),
            law(nodes[2], nodes[1], "50*d + 30*d^3 + 0.2*v"),
        ];
        let mut lumped = Lumped::new(spec).unwrap();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, 10.0, 2000).unwrap();
        let momentum = lumped.velocities().iter().zip([1.0, 2.0, 3.0]);
        let momentum: f64 = momentum.map(|(v, m)| m * v).sum();
        assert!((momentum + 1.5).abs() < 1e-9, "{integrator:?} {momentum}");
    }
}

/// A linear law as an expression is the same as a linear spring.
#[test]
fn a_linear_law_moves_like_a_spring() {
    for integrator in [LMS2, RK4, Integrator::SemiImplicitEuler] {
        let mut with_law = Lumped::new(single("40*d + 0.3*v", 1.0, 0.0, integrator)).unwrap();
        let mut with_spring = single("0", 1.0, 0.0, integrator);
        with_spring.elements[1] = spring(GROUND, NodeRef::node(0), 40.0, 0.3);
        let mut with_spring = Lumped::new(with_spring).unwrap();
        for lumped in [&mut with_law, &mut with_spring] {
            let mut inputs = idle(lumped);
            run(lumped, &mut inputs, 2.0, 500).unwrap();
        }
        assert!(distance(with_law.positions(), with_spring.positions()) < 1e-10);
    }
}
