//! What must not go wrong: settings that cannot work, data that teach nothing, jumps, rollback.

mod support;

use oldham_cosim::{
    Hold, ImplicitSettings, InputPort, OutputPort, Ports, Predictor, Quantity, Schedule,
    Simulation, Snapshot, Unit,
};
use oldham_dmd::{Controls, Dmd, DmdError, ModelSize, Settings};
use support::{Exchange, TwoMass, learning};

const H: f64 = 0.01;
const IN: InputPort = InputPort(0);

/// A motion along a line in, a force out.
fn ports() -> Ports {
    let mut ports = Ports::new();
    ports.add_input("far", Quantity::Translation);
    ports.add_output("force", Quantity::Scalar(Unit::NEWTON));
    ports
}

/// Only scalars without rates in, nothing out.
fn scalars(count: usize) -> Ports {
    let mut ports = Ports::new();
    for index in 0..count {
        ports.add_input(format!("in{index}"), Quantity::Scalar(Unit::ONE));
    }
    ports
}

fn dmd(ports: &Ports, settings: Settings) -> Dmd {
    Dmd::new(ports, &settings).unwrap()
}

fn predicted(dmd: &mut Dmd, t: f64, width: usize) -> Vec<f64> {
    let mut inputs = vec![f64::NAN; width];
    dmd.predict(t, None, &mut inputs);
    inputs
}

#[test]
fn a_window_that_cannot_determine_the_model_is_refused() {
    let refusal = |settings: &Settings| Dmd::new(&ports(), settings).err();
    let short = refusal(&Settings::fixed(4)).unwrap();
    assert_eq!(
        short,
        DmdError::WindowTooShort {
            window: 4,
            needed: 5,
            received: 3,
            sent: 1,
            delays: 0
        }
    );
    assert!(short.to_string().contains("at least 5 pairs"), "{short}");
    assert_eq!(refusal(&Settings::fixed(5)), None);
    let candidates = vec![ModelSize {
        window: 8,
        delays: 1,
    }];
    let delayed = Settings {
        candidates,
        ..Settings::fixed(0)
    };
    assert!(matches!(
        refusal(&delayed),
        Some(DmdError::WindowTooShort { needed: 9, .. })
    ));
}

#[test]
fn other_settings_that_cannot_work_are_refused() {
    let good = Settings::fixed(10);
    let refusal = |settings: Settings| Dmd::new(&ports(), &settings).err();
    let none = Settings {
        candidates: Vec::new(),
        ..good.clone()
    };
    assert_eq!(refusal(none), Some(DmdError::NoCandidates));
    for truncation in [0.0, 1.0, f64::NAN] {
        let settings = Settings {
            truncation,
            ..good.clone()
        };
        assert_eq!(refusal(settings), Some(DmdError::Truncation));
    }
    let controls = Controls::Only(vec![OutputPort(1)]);
    let wrong = DmdError::NoSuchOutput(OutputPort(1));
    assert_eq!(refusal(Settings { controls, ..good }), Some(wrong));
    let nothing = Dmd::new(&Ports::new(), &Settings::fixed(10)).err();
    assert_eq!(nothing, Some(DmdError::NothingReceived));
}

#[test]
fn a_port_that_nothing_feeds_is_left_alone() {
    let mut dmd = dmd(&scalars(2), Settings::fixed(10));
    assert!(predicted(&mut dmd, 0.0, 2).iter().all(|x| x.is_nan()));
    for k in 0..20 {
        dmd.receive(IN, f64::from(k), &[f64::from(k).sin()]);
    }
    let inputs = predicted(&mut dmd, 20.0, 2);
    assert!(inputs[0].is_finite() && inputs[1].is_nan());
}

#[test]
fn at_the_time_of_a_sample_the_sample_itself_is_given() {
    let mut dmd = dmd(&ports(), Settings::fixed(10));
    for k in 0..30 {
        let t = H * f64::from(k);
        dmd.sent(t, &[t]);
        dmd.receive(IN, t, &[9.0, 9.0, 9.0]);
        let sample = [t.sin(), t.cos(), -t.sin()];
        dmd.receive(IN, t, &sample);
        assert_eq!(predicted(&mut dmd, t, 3), sample);
        predicted(&mut dmd, t + H, 3);
    }
}

/// x(k) = cos(0.3 k) obeys x(k+1) = 2 cos(0.3) x(k) - x(k-1): exact with one delay, also several
/// steps ahead.
#[test]
fn a_recurrence_is_continued_over_several_steps() {
    let candidates = vec![ModelSize {
        window: 10,
        delays: 1,
    }];
    let settings = Settings {
        candidates,
        ..Settings::fixed(10)
    };
    let mut dmd = dmd(&scalars(1), settings);
    for k in 0..12 {
        dmd.receive(IN, f64::from(k), &[(0.3 * f64::from(k)).cos()]);
    }
    for ahead in [1, 5, 3, 2] {
        let k = f64::from(11 + ahead);
        let [x] = predicted(&mut dmd, k, 1)[..] else {
            panic!("one input")
        };
        assert!((x - (0.3 * k).cos()).abs() < 1e-12, "{ahead} ahead: {x}");
    }
}

/// Between samples of a harmonic motion a cubic with the right values and rates at both ends errs
/// by O(h^4).
#[test]
fn within_a_step_the_prediction_is_of_fourth_order() {
    let error = |h: f64| {
        let mut dmd = dmd(&ports(), Settings::fixed(10));
        let mut worst: f64 = 0.0;
        for k in 0..40 {
            let t = h * f64::from(k);
            dmd.sent(t, &[0.0]);
            dmd.receive(IN, t, &[t.sin(), t.cos(), -t.sin()]);
            let x = predicted(&mut dmd, t + 0.5 * h, 3)[0];
            if k > 10 {
                worst = worst.max((x - (t + 0.5 * h).sin()).abs());
            }
        }
        worst
    };
    let order = (error(0.2) / error(0.1)).log2();
    assert!((order - 4.0).abs() < 0.3, "{order}");
}

#[test]
fn a_sample_at_the_end_of_the_step_makes_it_an_interpolation() {
    let mut dmd = dmd(&ports(), Settings::fixed(10));
    let cubic = |t: f64| [t * t * t, 3.0 * t * t, 6.0 * t];
    dmd.receive(IN, 0.0, &cubic(0.0));
    dmd.receive(IN, 1.0, &cubic(1.0));
    let x = predicted(&mut dmd, 0.25, 3);
    assert!((x[0] - 0.25f64.powi(3)).abs() < 1e-15);
}

#[test]
fn constant_data_are_continued_as_they_are() {
    let mut dmd = dmd(&ports(), Settings::automatic(30, &ports()));
    for k in 0..200 {
        let t = H * f64::from(k);
        dmd.sent(t, &[-4.0]);
        dmd.receive(IN, t, &[0.25, 0.0, 0.0]);
        for x in [t + 0.3 * H, t + H].map(|t| predicted(&mut dmd, t, 3)) {
            assert_eq!(x, [0.25, 0.0, 0.0], "step {k}");
        }
    }
    let report = dmd.report();
    assert_eq!((report.rank, report.resets, report.switches), (1, 0, 0));
}

/// Six signals that are multiples of one: rank two with the constant, and still exact.
#[test]
fn signals_that_repeat_each_other_are_harmless() {
    let mut dmd = dmd(&scalars(6), Settings::automatic(40, &scalars(6)));
    let decay = |k: u32| 0.9f64.powi(k as i32);
    for k in 0..100 {
        for port in 0..6 {
            let value = decay(k) * 10f64.powi(port as i32 * 3 - 6);
            dmd.receive(InputPort(port), f64::from(k), &[value]);
        }
        let next = predicted(&mut dmd, f64::from(k + 1), 6);
        assert!(next.iter().all(|x| x.is_finite()));
        if k > 5 {
            let error = next[2] - decay(k + 1);
            assert!(error.abs() < 1e-12 * decay(k), "step {k}: {error}");
        }
    }
    assert!(dmd.report().rank <= 2, "{:?}", dmd.report());
}

/// A ball that bounces, and on the way gets into a stronger field: x, v, and what one step makes of
/// them.
fn bounce(mut each: impl FnMut(u32, [f64; 2], bool, [f64; 2])) {
    let (mut x, mut v) = (1.0, 0.0);
    for k in 0..400 {
        let before = [x, v];
        let gravity = if k < 300 { 9.81 } else { 300.0 };
        v -= H * gravity;
        x += H * v;
        let hits = x < 0.0;
        if hits {
            (x, v) = (-x, -v);
        }
        each(k, before, hits, [x, v]);
    }
}

/// The motion between impacts is learned; an impact is not, and what was learned holds after it.
/// It is of no use in another field.
#[test]
fn an_impact_is_left_out_and_other_dynamics_drop_the_past() {
    let mut dmd = dmd(&scalars(2), Settings::fixed(20));
    let (mut impacts, mut worst, mut resets) = (0, 0.0f64, 0);
    bounce(|k, now, hits, next| {
        let t = H * f64::from(k);
        (0..2).for_each(|i| dmd.receive(InputPort(i), t, &[now[i]]));
        let guess = predicted(&mut dmd, t + H, 2);
        match k {
            20..300 if !hits => worst = worst.max((guess[0] - next[0]).abs()),
            20..300 => impacts += 1,
            _ => {}
        }
        if k == 299 {
            resets = dmd.report().resets;
        }
    });
    assert!(impacts >= 3);
    assert_eq!(resets, 0);
    assert!(worst < 1e-10, "{worst}");
    assert!(dmd.report().resets > 0, "{:?}", dmd.report());
}

/// Nothing can be learned from noise, and nothing is: the newest value is held.
#[test]
fn noise_is_answered_with_a_hold_and_counted() {
    let mut dmd = dmd(&scalars(1), Settings::fixed(6));
    let mut seed: u32 = 1;
    let mut held = 0;
    for k in 0..500 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let walk = f64::from(seed >> 16) / 65536.0 * if k % 7 == 0 { 50.0 } else { 1.0 };
        dmd.receive(IN, f64::from(k), &[walk]);
        let next = predicted(&mut dmd, f64::from(k + 1), 1)[0];
        assert!(next.abs() < 1e3, "{next}");
        held += u64::from(next == walk);
    }
    let report = dmd.report();
    assert!(report.fallbacks > 10, "{report:?}");
    assert!(held >= report.fallbacks);
}

#[test]
fn numbers_that_are_none_are_not_taken_up() {
    let mut dmd = dmd(&ports(), Settings::fixed(10));
    for k in 0..50 {
        let t = H * f64::from(k);
        let bad = k % 13 == 5;
        dmd.sent(t, &[if bad { f64::INFINITY } else { t }]);
        dmd.receive(IN, t, &[if bad { f64::NAN } else { t.sin() }, t.cos(), 0.0]);
        let next = predicted(&mut dmd, t + H, 3);
        assert!(
            next.iter().all(|x| x.is_finite() && x.abs() < 10.0),
            "{next:?}"
        );
    }
}

#[test]
fn numbers_that_overflow_end_in_a_hold() {
    let mut dmd = dmd(&scalars(1), Settings::fixed(6));
    for k in 0..60 {
        let value = if k < 20 { 1e200 * f64::from(k) } else { 1.0 };
        dmd.receive(IN, f64::from(k), &[value]);
        assert!(predicted(&mut dmd, f64::from(k + 1), 1)[0].is_finite());
    }
    assert_eq!(predicted(&mut dmd, 60.0, 1), [1.0]);
}

#[test]
fn another_step_size_makes_another_model() {
    let mut dmd = dmd(&ports(), Settings::fixed(10));
    let mut t: f64 = 0.0;
    for k in 0..60 {
        dmd.sent(t, &[0.0]);
        dmd.receive(IN, t, &[t.sin(), t.cos(), -t.sin()]);
        predicted(&mut dmd, t + H, 3);
        t += if k < 30 { H } else { 2.0 * H };
    }
    assert_eq!(dmd.report().resets, 1);
    assert!(dmd.report().error < 1e-8, "{:?}", dmd.report());
}

/// What comes late replaces what was already learned from.
#[test]
fn a_sample_that_is_replaced_late_leaves_no_trace() {
    let feed = |dmd: &mut Dmd, replace: bool| {
        for k in 0..30 {
            let t = H * f64::from(k);
            let sample = [t.sin(), t.cos(), -t.sin()];
            dmd.sent(t, &[t]);
            if replace && k == 29 {
                dmd.receive(IN, t, &[t.sin() + 1e-3, t.cos(), -t.sin()]);
                predicted(dmd, t + H, 3);
            }
            dmd.receive(IN, t, &sample);
        }
        predicted(dmd, 30.0 * H, 3)
    };
    let straight = feed(&mut dmd(&ports(), Settings::fixed(20)), false);
    let replaced = feed(&mut dmd(&ports(), Settings::fixed(20)), true);
    assert_eq!(straight, replaced);
}

fn bits(simulation: &mut Simulation, steps: usize) -> Vec<u64> {
    let mut bits = Vec::new();
    for _ in 0..steps {
        simulation.step().unwrap();
        for name in ["left", "right"] {
            let id = simulation.find(name).unwrap();
            bits.extend(simulation.outputs(id).iter().map(|x| x.to_bits()));
        }
    }
    bits
}

/// The learned factors are no part of the state: they are made anew from it, to the last bit.
#[test]
fn rollback_and_a_fresh_start_from_a_snapshot_repeat_every_bit() {
    let pair = TwoMass::square_root(Exchange::Velocity);
    let build = || {
        pair.coupled(H, |ports| {
            learning(ports, &Settings::automatic(30, ports), &mut None)
        })
    };
    for before in [1, 2, 5, 37, 150] {
        let mut simulation = build();
        bits(&mut simulation, before);
        let mut snapshot = Snapshot::default();
        snapshot.save(&mut simulation);
        let straight = bits(&mut simulation, 80);
        snapshot.restore(&mut simulation);
        assert_eq!(
            straight,
            bits(&mut simulation, 80),
            "rolled back to {before}"
        );
        let mut fresh = build();
        snapshot.restore(&mut fresh);
        assert_eq!(straight, bits(&mut fresh, 80), "continued from {before}");
    }
}

/// An implicit schedule saves, rolls back and delivers iterates at the end of the step.
#[test]
fn tight_iterations_start_closer_and_converge_to_the_same() {
    let pair = TwoMass::linear(Exchange::Velocity);
    let run = |predictor: &dyn Fn(&Ports) -> Box<dyn Predictor>| {
        let predictors = [
            predictor(&pair.left_ports()),
            support::hold(&pair.right_ports()),
        ];
        let mut simulation = pair.scheduled(predictors, |left, right| {
            Schedule::jacobi(H, [left, right]).implicit(ImplicitSettings::default())
        });
        (0..200).for_each(|_| simulation.step().unwrap());
        let left = simulation.find("left").unwrap();
        (simulation.outputs(left)[0], simulation.summary().iterations)
    };
    let (held, more) = run(&|ports| Box::new(Hold::new(1, ports)));
    let (learned, fewer) = run(&|ports| learning(ports, &Settings::fixed(20), &mut None));
    assert!(
        (held - learned).abs() < 1e-5 * held.abs(),
        "{held} {learned}"
    );
    assert!(fewer <= more, "{fewer} against {more} iterations");
}

/// One part goes before, one after: at each step a sample at its end is there already, the other
/// one is still to come. The first is interpolated, the second predicted with what was learned.
#[test]
fn in_a_sequential_schedule_what_is_still_to_come_is_predicted() {
    let ports = scalars(2);
    let mut dmd = dmd(&ports, Settings::fixed(40));
    let early = |t: f64| (7.0 * t).sin();
    let late = |t: f64| (7.0 * t + 0.4).cos() + 0.3 * (7.0 * t).sin();
    dmd.receive(InputPort(0), 0.0, &[early(0.0)]);
    dmd.receive(InputPort(1), 0.0, &[late(0.0)]);
    let mut worst = [0.0_f64; 2];
    for step in 0..200 {
        let [from, to] = [step, step + 1].map(|n| f64::from(n) * H);
        dmd.receive(InputPort(0), to, &[early(to)]);
        for micro in 0..=4 {
            let t = from + (to - from) * f64::from(micro) / 4.0;
            let inputs = predicted(&mut dmd, t, 2);
            if step > 100 && micro == 4 {
                worst[0] = worst[0].max((inputs[0] - early(t)).abs());
                worst[1] = worst[1].max((inputs[1] - late(t)).abs());
            }
        }
        dmd.receive(InputPort(1), to, &[late(to)]);
    }
    // A hold misses the second one by up to 7 H.
    assert!(worst[0] < 1e-15 && worst[1] < 1e-9, "{worst:?}");
    let note = dmd.note().unwrap();
    assert!(note.starts_with("predicts with what it learned"), "{note}");
}

/// A force in a plane, and the moment that its computation rounds to: 1e-16 of it, another one at every step. Counted as a signal,
/// that noise would weigh as much as the force. Two swings are known from their recurrence after a few periods.
#[test]
fn a_component_that_is_rounding_is_no_signal() {
    let mut ports = Ports::new();
    ports.add_input("load", Quantity::Wrench);
    ports.add_output("motion", Quantity::Translation);
    let mut dmd = dmd(&ports, Settings::automatic(50, &ports));
    let force = |t: f64| [20.0 * (3.0 * t).sin(), 15.0 * (5.0 * t).cos()];
    let motion = |t: f64| [(3.0 * t).cos(), (5.0 * t).sin(), 0.0];
    let mut random = 1u64;
    let mut most = [0.0f64; 2];
    for k in 0..400u32 {
        let t = H * f64::from(k);
        let [fx, fy] = force(t);
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let noise = 4e-15 * ((random >> 40) as f64 / (1u64 << 24) as f64 - 0.5);
        dmd.receive(IN, t, &[fx, fy, 0.0, 0.0, 0.0, noise]);
        dmd.sent(t, &motion(t));
        let found = predicted(&mut dmd, t + H, 6);
        let next = force(t + H);
        if k > 100 {
            for i in 0..2 {
                most[0] = most[0].max((found[i] - next[i]).abs());
                most[1] = most[1].max(([fx, fy][i] - next[i]).abs());
            }
        }
    }
    assert!(most[0] < 1e-6 * most[1], "{most:?}");
    assert_eq!(dmd.report().resets, 0);
}
