//! Simulations made from model files, against solutions that were not made from them.

use crate::common::{History, coupled, example, read};
use oldham_model::{Integrator, Model, Overrides};

fn monolithic(model: &Model) -> History {
    History::of(
        model,
        model.monolithic(None).expect("a monolithic reference"),
    )
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let scale = expected
        .iter()
        .fold(0.0_f64, |scale, value| scale.max(value.abs()));
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        let error = (a - b).abs() / scale;
        assert!(
            error <= tolerance,
            "row {index}: {a} for {b}, {error:.2e} of the scale"
        );
    }
}

/// The scheme of the example, written out by hand.
fn delayed_force_recurrence(steps: usize, h: f64) -> [Vec<f64>; 2] {
    let (k1, k2, kc) = (10.0, 1000.0, 100.0);
    let ([mut x1, mut v1], [mut x2, mut v2]) = ([0.0, 100.0], [0.0, -100.0]);
    let mut fc = kc * (x1 - x2);
    let mut history = [vec![x1], vec![x2]];
    for _ in 0..steps {
        let received = x2;
        v1 += h * (-k1 * x1 - kc * (x1 - x2));
        v2 += h * (-k2 * x2 + fc);
        x1 += h * v1;
        x2 += h * v2;
        fc = kc * (x1 - received);
        history[0].push(x1);
        history[1].push(x2);
    }
    history
}

/// x = V cos(w t) expanded in the two modes of the undamped oscillator with unit masses.
fn modal_solution(times: &[f64]) -> [Vec<f64>; 2] {
    let (a, b, c) = (110.0_f64, 1100.0_f64, -100.0_f64);
    let mean = (a + b) / 2.0;
    let radius = ((a - b) / 2.0).hypot(c);
    let mut history = [Vec::new(), Vec::new()];
    for &t in times {
        let mut x = [0.0; 2];
        for square in [mean - radius, mean + radius] {
            let mode = [c, square - a];
            let norm = mode[0] * mode[0] + mode[1] * mode[1];
            let start = (mode[0] * 100.0 - mode[1] * 100.0) / norm;
            let w = square.sqrt();
            for (x, shape) in x.iter_mut().zip(mode) {
                *x += shape * start * (w * t).sin() / w;
            }
        }
        history[0].push(x[0]);
        history[1].push(x[1]);
    }
    history
}

#[test]
fn force_displacement_coupling_is_the_delayed_recurrence_and_gains_energy() {
    let model = read(&example("two-mass-force-displacement")).unwrap();
    let run = coupled(&model);
    let [x1, x2] = delayed_force_recurrence(10_000, 1e-3);
    assert_near(&run.column("left.x1.x"), &x1, 1e-9);
    assert_near(&run.column("right.x2.x"), &x2, 1e-9);
    let energy = run.column("energy.total");
    assert!((energy[0] - 10_000.0).abs() < 1e-9);
    assert!(energy[10_000] > 2.0 * energy[0], "{}", energy[10_000]);
}

#[test]
fn refreshed_outputs_make_the_explicit_pair_monolithic() {
    let overrides = Overrides(vec![("schedule.output_update".into(), "true".into())]);
    let text = example("two-mass-force-displacement");
    let model = Model::parse(&text, "test.toml", &overrides).unwrap();
    let (run, monolithic) = (coupled(&model), monolithic(&model));
    for column in ["left.x1.x", "right.x2.v", "left.fc"] {
        assert_near(&run.column(column), &monolithic.column(column), 1e-9);
    }
}

#[test]
fn displacement_displacement_coupling_equals_the_monolithic_model() {
    let model = read(&example("two-mass-displacement-displacement")).unwrap();
    let (run, monolithic) = (coupled(&model), monolithic(&model));
    for column in ["left.x1.x", "right.x2.x", "left.x1.v", "energy.total"] {
        assert_near(&run.column(column), &monolithic.column(column), 1e-9);
    }
}

#[test]
fn the_exact_monolithic_model_is_the_modal_solution() {
    for name in [
        "two-mass-force-displacement",
        "two-mass-displacement-displacement",
    ] {
        let model = read(&example(name)).unwrap();
        let monolithic = model.monolithic(Some(Integrator::Exact)).unwrap();
        let run = History::of(&model, monolithic);
        let [x1, x2] = modal_solution(&run.record.times);
        assert_near(&run.column("left.x1.x"), &x1, 1e-9);
        assert_near(&run.column("right.x2.x"), &x2, 1e-9);
    }
}

#[test]
fn the_monolithic_model_records_the_same_signals() {
    for (name, text) in crate::common::examples() {
        let model = read(&text).unwrap();
        // Mechanisms cannot be joined with other parts.
        if text.contains("[multibody.") && model.is_coupled() {
            continue;
        }
        let coupled = model.simulation().unwrap();
        // Only lumped parts can be joined.
        let has_others = !text.contains("[lumped.") || text.contains("[control.");
        if model.is_coupled() && has_others {
            assert!(model.monolithic(None).is_err(), "{name}");
            continue;
        }
        let monolithic = model.monolithic(None).unwrap();
        let monolithic: Vec<_> = monolithic
            .columns()
            .iter()
            .map(|column| &column.name)
            .collect();
        for column in coupled.columns() {
            let is_account = column.name.starts_with("exchange.");
            let is_of_cut = column.name.contains(".interfaces.");
            assert!(
                is_account || is_of_cut || monolithic.contains(&&column.name),
                "{name}: {}",
                column.name
            );
        }
    }
}

#[test]
fn implicit_coupling_follows_the_monolithic_model_to_the_tolerance() {
    let model = read(&example("two-mass-tight")).unwrap();
    let (run, monolithic) = (coupled(&model), monolithic(&model));
    for column in ["left.x1.x", "right.x2.x", "left.fc"] {
        assert_near(&run.column(column), &monolithic.column(column), 1e-6);
    }
}

/// The poles of the coupled chain have positive real parts, those of the whole one do not.
#[test]
fn damped_models_lose_energy_as_a_whole_and_gain_it_when_cut() {
    for name in ["two-mass-damped", "four-mass-chain"] {
        let model = read(&example(name)).unwrap();
        let ends = |run: History| {
            let energy = run.column("energy.total");
            (energy[0], energy[energy.len() - 1])
        };
        let (start, end) = ends(coupled(&model));
        assert!(end > 1.5 * start, "{name}: {start} {end}");
        let (start, end) = ends(monolithic(&model));
        assert!(end < 0.9 * start, "{name}: {start} {end}");
    }
}

#[test]
fn sequential_and_multirate_examples_follow_their_monolithic_models() {
    for (name, column, tolerance) in [
        ("three-part-chain", "c.x.x", 0.02),
        ("multirate-pair", "slow.x.x", 0.02),
        ("multirate-pair", "fast.y.x", 0.02),
    ] {
        let model = read(&example(name)).unwrap();
        let (run, monolithic) = (coupled(&model), monolithic(&model));
        assert_near(&run.column(column), &monolithic.column(column), tolerance);
    }
}

/// A mass pushed by sin(w t), from rest: x = (t - sin(w t)/w) / (m w).
#[test]
fn a_drive_is_a_given_function_of_time() {
    let text = r#"
        [model]
        name = "Driven mass"
        [parameters]
        w = 3.0
        [simulation]
        duration = 2.0
        step = 1e-2
        [lumped.one]
        integrator = "rk4"
        micro_steps = 4
        masses.x = { mass = 2.0 }
        inputs.push = { force = "x" }
        outputs.x = { displacement = "x" }
        [excitation]
        "one.push" = "sin(w * t)"
    "#;
    let model = read(text).unwrap();
    for run in [coupled(&model), monolithic(&model)] {
        let exact = |&t: &f64| (t - (3.0 * t).sin() / 3.0) / 6.0;
        let expected: Vec<f64> = run.record.times.iter().map(exact).collect();
        assert_near(&run.column("one.x"), &expected, 1e-9);
    }
}

/// A mass on a spring whose other end is driven so that the mass moves as x = t^2.
#[test]
fn a_driven_motion_moves_its_boundary() {
    let text = r#"
        [model]
        name = "Driven end"
        [parameters]
        k = 50.0
        [simulation]
        duration = 1.0
        step = 1e-2
        [lumped.one]
        integrator = "exact"
        masses.x = { mass = 1.0 }
        springs.joint = { between = ["x", "hand"], stiffness = "k" }
        inputs.hand = { motion = "hand" }
        outputs.x = { displacement = "x" }
        [excitation]
        "one.hand" = { x = "t^2 + 2/k", v = "2*t", a = 2 }
    "#;
    let model = read(text).unwrap();
    let run = coupled(&model);
    let expected: Vec<f64> = run.record.times.iter().map(|t| t * t).collect();
    assert_near(&run.column("one.x"), &expected, 1e-9);
}
