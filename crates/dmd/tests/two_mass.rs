//! The two-mass oscillator of Pikuliński 2026, Sect. 3.1: force–displacement coupling in a Jacobi
//! schedule, semi-implicit Euler.

mod support;

use oldham_cosim::{Hold, Ports, Predictor, Schedule, Simulation};
use oldham_dmd::{Dmd, Settings};
use support::{Exchange, K2, TwoMass, energy_error, hold, learning, stored};

const H: f64 = 0.01;
const STEPS: usize = 1000;
/// Energy error that a start from a plain hold leaves at this step.
const LEFT_BY_HOLD_START: f64 = 0.013;

fn fixed(window: usize) -> impl FnOnce(&Ports) -> Box<dyn Predictor> {
    move |ports| learning(ports, &Settings::fixed(window), &mut None)
}

/// The recurrence of the right mass under a force, Eq. 24, from three pairs of an exchange.
#[test]
fn three_pairs_determine_the_other_side() {
    let exchanged = TwoMass::linear(Exchange::Velocity).coupled(H, hold);
    let (mut simulation, mut dmd) = (exchanged, None);
    for k in 0..=3 {
        let t = simulation.time();
        let [left, right] = ["left", "right"].map(|name| simulation.find(name).unwrap());
        let ports = simulation.ports(left);
        let dmd: &mut Dmd =
            dmd.get_or_insert_with(|| Dmd::new(ports, &Settings::fixed(4)).unwrap());
        dmd.sent(t, simulation.outputs(left));
        for (port, value) in simulation.outputs(right).iter().enumerate() {
            dmd.receive(oldham_cosim::InputPort(port), t, &[*value]);
        }
        if k < 3 {
            simulation.step().unwrap();
        }
    }
    let model = dmd.unwrap().model().unwrap();
    let expected = [[1.0 - H * H * K2, H, H * H, 0.0], [-H * K2, 1.0, H, 0.0]];
    for (found, expected) in model.coefficients.iter().zip(expected.as_flattened()) {
        // The force here is the one on the right mass, the paper's is the reaction to it.
        assert!((found - expected).abs() < 1e-12, "{model:?}");
    }
}

/// Mean of the energy error over the second half of a run, relative to the initial energy.
fn lasting_error(a: &mut Simulation, b: &mut Simulation) -> f64 {
    let start = stored(b);
    let mut sum = 0.0;
    for k in 0..STEPS {
        a.step().unwrap();
        b.step().unwrap();
        if k >= STEPS / 2 {
            sum += (stored(a) - stored(b)) / start;
        }
    }
    sum.abs() / (STEPS / 2) as f64
}

#[test]
fn the_start_leaves_less_than_a_tenth_of_the_energy_error_of_a_hold_start() {
    for exchange in [Exchange::Velocity, Exchange::Acceleration] {
        let pair = TwoMass::linear(exchange);
        for window in [6, 100] {
            let mut coupled = pair.coupled(H, fixed(window));
            let error = lasting_error(&mut coupled, &mut pair.monolithic(H));
            assert!(error < LEFT_BY_HOLD_START / 30.0, "{exchange:?}: {error}");
            let mut coupled = pair.coupled(H, fixed(window));
            let worst = energy_error(&mut coupled, &mut pair.monolithic(H), STEPS);
            assert!(worst < LEFT_BY_HOLD_START / 10.0, "{exchange:?}: {worst}");
        }
    }
}

/// The first predictions miss by O(h²), so does the force; the energy that is left shrinks faster.
#[test]
fn the_error_of_the_start_vanishes_with_the_step() {
    let pair = TwoMass::linear(Exchange::Velocity);
    let error = |h: f64| {
        let (mut a, mut b) = (pair.coupled(h, fixed(100)), pair.monolithic(h));
        lasting_error(&mut a, &mut b)
    };
    let order = (error(4e-3) / error(1e-3)).log(4.0);
    assert!(order > 3.0, "order {order}");
}

/// Without a velocity one snapshot is not the state of the other side; one delay more is.
#[test]
fn a_delay_is_chosen_when_only_the_position_is_exchanged() {
    let pair = TwoMass::linear(Exchange::Position);
    let mut monitor = None;
    let mut coupled = pair.coupled(1e-3, |ports| {
        learning(ports, &Settings::automatic(100, ports), &mut monitor)
    });
    let error = energy_error(&mut coupled, &mut pair.monolithic(1e-3), STEPS);
    let report = monitor.unwrap().read();
    assert_eq!(report.shape.delays, 1, "{report:?}");
    assert!(report.error < 1e-10, "{report:?}");
    assert!(error < 1e-3, "{error}");
}

#[test]
fn the_choice_settles_when_every_model_is_exact() {
    let pair = TwoMass::linear(Exchange::Velocity);
    let mut monitor = None;
    let mut coupled = pair.coupled(H, |ports| {
        learning(ports, &Settings::automatic(100, ports), &mut monitor)
    });
    (0..STEPS).for_each(|_| coupled.step().unwrap());
    let report = monitor.unwrap().read();
    assert!(report.switches <= 1, "{report:?}");
    assert_eq!((report.resets, report.fallbacks), (0, 0), "{report:?}");
    assert_eq!(report.rank, 4, "position, velocity, force, constant");
}

#[test]
fn a_spring_of_square_root_law_is_followed_far_better_than_by_a_hold() {
    let pair = TwoMass::square_root(Exchange::Velocity);
    for h in [1e-2, 1e-3] {
        let steps = (10.0 / h) as usize;
        let held = energy_error(&mut pair.coupled(h, hold), &mut pair.monolithic(h), steps);
        for automatic in [false, true] {
            let mut coupled = pair.coupled(h, |ports| {
                let settings = match automatic {
                    true => Settings::automatic(100, ports),
                    false => Settings::fixed(100),
                };
                learning(ports, &settings, &mut None)
            });
            let learned = energy_error(&mut coupled, &mut pair.monolithic(h), steps);
            assert!(learned < 0.02 * held, "{h}: {learned} against {held}");
        }
    }
}

/// Twenty micro steps a macro step, and both sides learn: the left the motion, the right the force.
#[test]
fn with_micro_steps_two_learning_sides_beat_every_hold() {
    let pair = TwoMass::linear(Exchange::Velocity).micro_steps(20);
    let error = |predictor: &dyn Fn(&Ports) -> Box<dyn Predictor>| {
        let predictors = [pair.left_ports(), pair.right_ports()].map(|ports| predictor(&ports));
        let jacobi = |left, right| Schedule::jacobi(H, [left, right]);
        let mut coupled = pair.scheduled(predictors, jacobi);
        energy_error(&mut coupled, &mut pair.monolithic(H), STEPS)
    };
    let learned = error(&|ports| learning(ports, &Settings::automatic(100, ports), &mut None));
    for order in 0..=2 {
        let held = error(&|ports| Box::new(Hold::new(order, ports)));
        assert!(
            learned < 0.1 * held,
            "order {order}: {learned} against {held}"
        );
    }
}
