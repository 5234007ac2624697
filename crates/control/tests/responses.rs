//! Responses against closed forms.

mod support;

use oldham_control::{
    Control, ControlError, Controller, Linear, Pid, RateLimit, Timing, TransferFunction,
};
use oldham_cosim::{Linearisable, Snapshot, Subsystem, Unit};
use support::{Driven, parse};

const PID: Pid = Pid {
    kp: 0.0,
    ki: 0.0,
    kd: 0.0,
    filter: 0.0,
    limits: None,
    tracking: 1.0,
    initial: 0.0,
};

fn second_order(omega: f64, zeta: f64) -> TransferFunction {
    TransferFunction {
        numerator: vec![omega * omega],
        denominator: vec![1.0, 2.0 * zeta * omega, omega * omega],
    }
}

/// The step response of ω²/(s² + 2ζω s + ω²).
fn step_response(omega: f64, zeta: f64, t: f64) -> f64 {
    let damped = omega * (1.0 - zeta * zeta).sqrt();
    let phase = damped * t;
    1.0 - (-zeta * omega * t).exp() * (phase.cos() + zeta * omega / damped * phase.sin())
}

#[test]
fn a_transfer_function_answers_a_step_as_the_textbook_says() {
    let (omega, zeta) = (7.0, 0.3);
    let mut controller = Controller::default();
    controller.input("u", Unit::ONE);
    let input = parse("u", &["u"]);
    controller
        .transfer_function("y", input, &second_order(omega, zeta), false)
        .unwrap();
    controller.output("y", Unit::ONE, parse("y", &["y"]));
    let mut driven = Driven::new(&controller, 0.05, |_| 1.0);
    for _ in 0..100 {
        let found = driven.step()[0];
        let expected = step_response(omega, zeta, driven.time());
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

/// A mass 1/s² under proportional and derivative feedback: the closed loop is of second order.
/// With the step written as a function of time the controller is not linear any more, and goes the
/// other way through the program.
#[test]
fn a_closed_loop_answers_a_step_as_the_textbook_says() {
    let (omega, zeta) = (3.0_f64, 0.4_f64);
    let gains = format!("{}*(r - x) - {}*v", omega * omega, 2.0 * zeta * omega);
    let mut received = Controller::default();
    received.input("r", Unit::METRE);
    let mut written = Controller::default();
    written.signal("r", parse("step(t)", &["t"]));
    for controller in [&mut received, &mut written] {
        controller.signal("force", parse(&gains, &["r", "x", "v"]));
        controller.state("x", 0.0, parse("v", &["v"]));
        controller.state("v", 0.0, parse("force", &["force"]));
        controller.output("x", Unit::METRE, parse("x", &["x"]));
    }
    for (controller, tolerance) in [(received, 1e-12), (written, 1e-8)] {
        let mut driven = Driven::new(&controller, 0.1, |_| 1.0);
        for _ in 0..100 {
            let found = driven.step()[0];
            let expected = step_response(omega, zeta, driven.time());
            assert!((found - expected).abs() < tolerance, "{found} {expected}");
        }
    }
}

#[test]
fn a_cubic_input_is_followed_exactly() {
    let mut controller = Controller::default();
    controller.input("u", Unit::ONE);
    controller.state("y", 0.0, parse("(u - y)/0.5 + 1", &["u", "y"]));
    controller.output("y", Unit::ONE, parse("y", &["y"]));
    // y' = (u - y)/T + 1 with u = t³: y = t³ - 3T t² + 6T² t - 6T³ + T + C e^(-t/T).
    let lag: f64 = 0.5;
    let particular =
        move |t: f64| t.powi(3) - 3.0 * lag * t * t + 6.0 * lag * lag * t - 6.0 * lag.powi(3) + lag;
    let mut driven = Driven::new(&controller, 0.2, |t| t.powi(3));
    for _ in 0..20 {
        let found = driven.step()[0];
        let t = driven.time();
        let expected = particular(t) - particular(0.0) * (-t / lag).exp();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

/// A PI controller with a constant error that changes its sign: the integral climbs, is held back at
/// the limit by back-calculation, and leaves it at once.
#[test]
fn a_pid_with_saturation_follows_its_pieces() {
    let (kp, ki, tracking, high) = (2.0, 3.0, 0.4, 4.0);
    let mut controller = Controller::default();
    controller.input("e", Unit::ONE);
    let pid = Pid {
        kp,
        ki,
        limits: Some([-4.0, high]),
        tracking,
        ..PID
    };
    controller.pid("u", parse("e", &["e"]), &pid).unwrap();
    controller.output("u", Unit::ONE, parse("u", &["u"]));
    let turn = 2.0;
    let mut driven = Driven::new(
        &controller,
        0.05,
        move |t| if t < turn - 1e-9 { 1.0 } else { -1.0 },
    );
    // Free: I = ki t, until kp + I reaches the limit.
    let reaches = (high - kp) / ki;
    // Limited: I' = ki + (high - kp - I)/T towards its end value.
    let end = high - kp + ki * tracking;
    let limited = |t: f64| end + (high - kp - end) * (-(t - reaches) / tracking).exp();
    // The error turns: -kp + I is free again.
    let at_turn = limited(turn);
    let expected = |t: f64| {
        if t < reaches {
            kp + ki * t
        } else if t < turn {
            high
        } else {
            -kp + at_turn - ki * (t - turn)
        }
    };
    for k in 1..=60 {
        let found = driven.step()[0];
        if k == 40 {
            continue; // The very jump.
        }
        let t = driven.time();
        let expected = expected(t);
        assert!((found - expected).abs() < 1e-8, "{t}: {found} {expected}");
    }
}

#[test]
fn the_derivative_is_filtered() {
    let (kd, filter) = (0.5, 20.0);
    let mut controller = Controller::default();
    controller.input("e", Unit::ONE);
    let pid = Pid { kd, filter, ..PID };
    controller.pid("u", parse("e", &["e"]), &pid).unwrap();
    controller.output("u", Unit::ONE, parse("u", &["u"]));
    let mut driven = Driven::new(&controller, 0.01, |t| 3.0 * t);
    for _ in 0..50 {
        let found = driven.step()[0];
        let expected = 3.0 * kd * -(-filter * driven.time()).exp_m1();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn a_rate_limit_and_a_delay_in_continuous_time() {
    let mut controller = Controller::default();
    controller.input("u", Unit::ONE);
    let limit = RateLimit {
        rise: 2.0,
        fall: 1.0,
        lag: 1e-3,
        initial: 0.0,
    };
    controller
        .rate_limit("slow", parse("u", &["u"]), &limit)
        .unwrap();
    controller
        .transport_delay("late", parse("u", &["u"]), 0.35, -1.0)
        .unwrap();
    controller.output("slow", Unit::ONE, parse("slow", &["slow"]));
    controller.output("late", Unit::ONE, parse("late", &["late"]));
    let mut driven = Driven::new(&controller, 0.1, |t| 10.0 + t);
    assert_eq!(driven.control.ports().direct_inputs(0), [0; 0]);
    for k in 1..=30 {
        let [slow, late] = driven.step()[..] else {
            panic!("two outputs");
        };
        let t = driven.time();
        assert!((slow - 2.0 * t).abs() < 1e-9, "{slow}");
        if k > 7 {
            assert!((late - (10.0 + t - 0.35)).abs() < 1e-12, "{late}");
        }
        if k < 2 {
            assert_eq!(late, -1.0);
        }
    }
}

#[test]
fn a_sampled_controller_follows_its_recursion_and_holds_between() {
    let (period, lag) = (0.04, 0.1_f64);
    let mut controller = Controller::sampled(period);
    controller.input("u", Unit::ONE);
    let function = TransferFunction {
        numerator: vec![1.0],
        denominator: vec![lag, 1.0],
    };
    controller
        .transfer_function("y", parse("u", &["u"]), &function, false)
        .unwrap();
    controller
        .transport_delay("late", parse("y", &["y"]), 3.0 * period, 0.0)
        .unwrap();
    let limit = RateLimit {
        rise: 5.0,
        fall: 5.0,
        lag: 0.0,
        initial: 0.0,
    };
    controller
        .rate_limit("slow", parse("u", &["u"]), &limit)
        .unwrap();
    for name in ["y", "late", "slow"] {
        controller.output(name, Unit::ONE, parse(name, &[name]));
    }
    let input = |t: f64| (5.0 * t).sin();
    let mut driven = Driven::new(&controller, 0.01, input);
    // Zero-order hold of 1/(T s + 1): y⁺ = a y + (1 - a) u.
    let a = (-period / lag).exp();
    let (mut y, mut slow, mut past) = (0.0, 0.0, vec![0.0; 3]);
    for sample in 0..50 {
        let t = period * f64::from(sample);
        slow += (input(t) - slow).clamp(-5.0 * period, 5.0 * period);
        for k in 0..4 {
            let found = driven.outputs();
            let expected = [y, past[0], slow];
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-13, "{t} {k}: {found:?} {expected:?}");
            }
            driven.step();
        }
        past.remove(0);
        past.push(y);
        y = a * y + (1.0 - a) * input(t);
    }
}

#[test]
fn a_state_space_with_several_outputs() {
    let mut controller = Controller::default();
    controller.input("u", Unit::ONE);
    let system = Linear {
        a: vec![vec![0.0, 1.0], vec![-4.0, 0.0]],
        b: vec![vec![0.0], vec![0.0]],
        c: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        d: vec![vec![0.0], vec![1.0]],
        initial: vec![1.0, 0.0],
        discrete: false,
    };
    controller
        .linear("y", vec![parse("u", &["u"])], &system)
        .unwrap();
    controller.output("place", Unit::ONE, parse("y1", &["y1"]));
    controller.output("rate", Unit::ONE, parse("y2", &["y2"]));
    let mut driven = Driven::new(&controller, 0.3, |_| 5.0);
    assert_eq!(driven.control.ports().direct_inputs(0), [0; 0]);
    assert_eq!(driven.control.ports().direct_inputs(1), [0]);
    for _ in 0..10 {
        let found = driven.step();
        let t = driven.time();
        assert!((found[0] - (2.0 * t).cos()).abs() < 1e-12);
        assert!((found[1] - 5.0 + 2.0 * (2.0 * t).sin()).abs() < 1e-12);
    }
    let linear = driven.control.linearise(0.0, &[5.0]).unwrap();
    assert_eq!(linear.a, [0.0, 1.0, -4.0, 0.0]);
    assert_eq!(
        (linear.c, linear.d),
        (vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 1.0])
    );
}

/// Rollback repeats a step bit by bit, whatever the controller remembers.
#[test]
fn a_restored_controller_repeats_its_step() {
    let mut controller = Controller::default();
    controller.input("u", Unit::ONE);
    let pid = Pid {
        kp: 1.0,
        ki: 2.0,
        kd: 0.1,
        filter: 50.0,
        limits: Some([-0.5, 0.5]),
        ..PID
    };
    controller
        .pid("a", parse("u - late", &["u", "late"]), &pid)
        .unwrap();
    controller
        .transport_delay("late", parse("a", &["a"]), 0.25, 0.0)
        .unwrap();
    controller.output("a", Unit::ONE, parse("a", &["a"]));
    let mut driven = Driven::new(&controller, 0.1, |t| (3.0 * t).sin());
    for _ in 0..20 {
        let mut before = Snapshot::default();
        before.save(&mut driven.control);
        let from = driven.time();
        let first = driven.step();
        let to = driven.time();
        before.restore(&mut driven.control);
        driven
            .control
            .advance(from, to, &mut driven.inputs)
            .unwrap();
        assert_eq!(driven.outputs(), first);
    }
}

#[test]
fn what_makes_no_controller_is_named() {
    let refuse = |controller: &Controller, step: f64| {
        Control::new(controller, Timing { start: 0.0, step }).unwrap_err()
    };
    let mut closed = Controller::default();
    for (name, value) in [("a", "b + 1"), ("b", "c"), ("c", "2*a"), ("d", "a")] {
        closed.signal(name, parse(value, &["a", "b", "c"]));
    }
    let error = refuse(&closed, 0.1).to_string();
    assert!(error.ends_with("a <- b <- c <- a"), "{error}");
    let sampled = Controller::sampled(0.01);
    let error = refuse(&sampled, 0.004).to_string();
    assert!(
        error.contains("no multiple of the macro step of 0.004 s"),
        "{error}"
    );
    assert!(error.contains("0.0033333"), "{error}");
    let mut delayed = Controller::default();
    delayed
        .transport_delay("late", parse("t", &["t"]), 0.05, 0.0)
        .unwrap();
    assert!(matches!(
        refuse(&delayed, 0.1),
        ControlError::ShortDelay { .. }
    ));
    let mut sampled = Controller::sampled(0.1);
    let between = sampled.transport_delay("late", parse("t", &["t"]), 0.25, 0.0);
    assert!(matches!(
        between,
        Err(ControlError::DelayBetweenSamples { .. })
    ));
    let improper = TransferFunction {
        numerator: vec![1.0, 0.0, 0.0],
        denominator: vec![1.0, 1.0],
    };
    let improper = delayed.transfer_function("d", parse("t", &["t"]), &improper, false);
    assert!(matches!(
        improper,
        Err(ControlError::Improper { numerator: 2, .. })
    ));
}

/// The sizes of late steps differ by rounding of their times: a controller made its matrix exponential anew for each.
#[test]
fn late_steps_keep_the_exponential_of_the_first() {
    let mut controller = Controller::default();
    controller.state("x", 0.0, parse("-10*x", &["x"]));
    controller.output("x", Unit::ONE, parse("x", &["x"]));
    let step = 2e-4;
    let mut driven = Driven::new(&controller, step, |_| 0.0);
    // Up to 8e5 s.
    for first in [10_000_000, 500_000_000, 4_000_000_000_u32] {
        for k in first..first + 20 {
            let [from, to] = [k, k + 1].map(|k| f64::from(k) * step);
            let advanced = driven.control.advance(from, to, &mut driven.inputs);
            advanced.unwrap();
        }
    }
    let counters = driven.control.counters();
    assert_eq!(counters.micro_steps, 60);
    assert_eq!(counters.factorisations, 0);
}
