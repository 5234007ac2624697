//! The robot arm of the examples: closed loops that have closed forms.

use oldham_model::{Model, Overrides};

use crate::common::{History, assert_threads_keep_bits, coupled, repository};
use crate::sensors::{last, near};

/// Angles at the start, and by how much they change in the first second: those of the file.
const START: [f64; 3] = [0.0, 0.6, -1.2];
const MOVES: [f64; 3] = [1.5, 0.5, 0.6];
const JOINTS: [&str; 3] = ["yaw", "shoulder", "elbow"];

fn robot(pairs: &[(&str, &str)]) -> Model {
    let pairs = pairs
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()));
    let path = repository().join("examples/robot-arm.toml");
    Model::read(&path, &Overrides(pairs.collect())).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What the joints should have turned by.
fn wanted(time: f64) -> [f64; 3] {
    let u = time.min(1.0);
    MOVES.map(|by| by * u * u * u * (10.0 - 15.0 * u + 6.0 * u * u))
}

/// The largest difference of the errors of all joints from those of the closed form.
fn worst(run: &History, expected: impl Fn(f64) -> f64) -> f64 {
    let mut worst = 0.0_f64;
    for (i, joint) in JOINTS.into_iter().enumerate() {
        let angles = run.column(&format!("arm.sensors.{joint}"));
        for (&t, angle) in run.record.times.iter().zip(angles) {
            let error = wanted(t)[i] - angle;
            worst = worst.max((error - expected(t)).abs());
        }
    }
    worst
}

/// Computed torque makes the errors of all joints obey e″ + 2 ω e′ + ω² e = 0, however the joints
/// act on each other: from an offset they fall as (1 + ω t) e^(-ω t). What sampling adds is its delay,
/// of first order in the period.
#[test]
fn errors_of_the_robot_fall_as_the_loop_says() {
    let offset = 0.05;
    let worst_at = |sample: &str, step: &str| {
        let model = robot(&[
            ("payload", "1e-9"),
            ("integral", "0"),
            ("offset", "0.05"),
            ("sample", sample),
            ("simulation.step", step),
        ]);
        let run = coupled(&model);
        worst(&run, |t| {
            offset * (1.0 + 25.0 * t) * (-25.0 * t).exp() - offset
        })
    };
    let [coarse, fine] = [worst_at("2e-3", "1e-3"), worst_at("1e-3", "5e-4")];
    assert!(coarse < 8e-4, "{coarse}");
    let order = (coarse / fine).log2();
    assert!((order - 1.0).abs() < 0.1, "{order}: {coarse} {fine}");
}

/// The arm follows with a payload that the controller does not know, and holds it in the end with
/// the torques of statics: weights times levers.
#[test]
fn the_robot_holds_an_unknown_payload() {
    let model = robot(&[]);
    let run = coupled(&model);
    assert!(worst(&run, |_| 0.0) < 0.02);
    let (upper, lower) = (
        START[1] + MOVES[1],
        START[1] + START[2] + MOVES[1] + MOVES[2],
    );
    let (g, payload) = (9.81, 2.0);
    let elbow = g * lower.cos() * (5.0 * 0.2 + payload * 0.4);
    let shoulder = elbow + g * upper.cos() * (8.0 * 0.25 + (5.0 + payload) * 0.5);
    near(last(&run, "motors.yaw"), 0.0, 1e-5);
    near(last(&run, "motors.elbow"), elbow, 1e-5);
    near(last(&run, "motors.shoulder"), shoulder, 1e-5);
    near(last(&run, "motors.error"), 0.0, 1e-6);
    assert_threads_keep_bits(&model);
}
