//! Steps that end where a law changes: orders of convergence at kinks and jumps.

mod common;

use common::*;
use oldham_cosim::{Counters, Subsystem};
use oldham_lumped::{Integrator, Lumped, NodeRef, Spec, StageInputs};
use std::f64::consts::PI;

const RK4: Integrator = Integrator::Rk4 {
    inputs: StageInputs::Interpolated,
};
const LMS2: Integrator = Integrator::Lms2 { rho: 0.6 };
const G: f64 = 9.81;

fn under_a_law(mass_of: f64, x: f64, v: f64, text: &str, integrator: Integrator) -> Spec {
    let node = NodeRef::node(0);
    let mut spec = spec(&[("mass", x, v)], integrator);
    spec.elements = vec![mass(node, mass_of), law(GROUND, node, text)];
    spec
}

/// The position after some time, and what it took.
fn position(spec: Spec, end: f64, steps: usize) -> (f64, Counters) {
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = idle(&lumped);
    run(&mut lumped, &mut inputs, end, steps).unwrap();
    (lumped.positions()[0], lumped.counters())
}

/// The mean over neighbouring numbers of steps: where in a step a kink falls differs from one to the next.
fn mean_error(error: impl Fn(usize) -> f64, steps: usize) -> f64 {
    (0..6).map(|i| error(steps + 11 * i)).sum::<f64>() / 6.0
}

fn measured_order(error: impl Fn(usize) -> f64, steps: usize) -> (f64, f64) {
    let [coarse, fine] = [steps, 4 * steps].map(|steps| mean_error(&error, steps));
    ((coarse / fine).log2() / 2.0, fine)
}

/// A mass falls onto a stiff stop and bounces without loss: free flight and a piece of a sine, whose times are
/// known. The force has a kink: of the order of four two is left, unless steps end there.
#[test]
fn a_mass_bounces_on_a_stop() {
    let (height, mass, stiffness) = (0.2, 1.5, 4e4_f64);
    let w = (stiffness / mass).sqrt();
    let fall = (2.0_f64 * height / G).sqrt();
    // On the stop x = -s (1 - cos w t) - (v / w) sin w t with the sag s, until it is back.
    let (speed, sag) = (G * fall, G / (w * w));
    let period = 2.0 * fall + 2.0 / w * (PI - (speed / w / sag).atan());
    let flown = 0.25 * period;
    let expected = height - 0.5 * G * flown * flown;
    let text = "1.5*9.81 + if(d < 0, 4e4*d, 0)";
    let error = |integrator: Integrator, locates_kinks: bool| {
        move |steps: usize| {
            let spec = Spec {
                locates_kinks,
                ..under_a_law(mass, height, 0.0, text, integrator)
            };
            let (found, counters) = position(spec, 3.25 * period, steps);
            let events = if locates_kinks { 6 } else { 0 };
            assert_eq!(counters.events, events, "three times down and up");
            (found - expected).abs()
        }
    };
    let (order, fine) = measured_order(error(RK4, true), 500);
    assert!(order > 3.7 && fine < 5e-6, "{order} {fine}");
    let (order, _) = measured_order(error(RK4, false), 2000);
    assert!(order > 1.5 && order < 3.0, "{order}");
    let (order, _) = measured_order(error(LMS2, false), 2000);
    assert!(order > 1.7, "{order}");
}

/// A force that jumps: x" = -sgn(x), whose motion is made of parabolas with the period 4 √(2 a).
#[test]
fn a_force_that_jumps() {
    let amplitude = 0.3_f64;
    let period = 4.0 * (2.0 * amplitude).sqrt();
    let end = 2.25 * period;
    let error = |locates_kinks: bool| {
        move |steps: usize| {
            let spec = Spec {
                locates_kinks,
                ..under_a_law(1.0, amplitude, 0.0, "sgn(d)", RK4)
            };
            // A quarter of a period after the turn it passes the middle.
            position(spec, end - 0.1 * period, steps).0
        }
    };
    // Parabolas are met exactly.
    let early = 0.15 * period;
    let expected = amplitude - 0.5 * early * early;
    let found = error(true)(237);
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    let (order, _) = measured_order(|steps| (error(false)(steps) - expected).abs(), 1000);
    assert!(order < 1.5, "{order}");
}

/// A load that begins within a step.
#[test]
fn a_load_that_begins_within_a_step() {
    let node = NodeRef::node(0);
    let mut loaded = spec(&[("mass", 0.0, 0.0)], RK4);
    loaded.elements = vec![mass(node, 2.0), load(node, "step(t - 0.31234)")];
    loaded.locates_kinks = true;
    let (found, counters) = position(loaded, 1.0, 10);
    let pushed = 1.0 - 0.31234;
    assert!((found - 0.25 * pushed * pushed).abs() < 1e-10, "{found}");
    assert_eq!(counters.events, 1);
}
