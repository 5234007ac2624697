//! Servos in joints, from model files.

use oldham_model::Model;

use crate::common::{
    History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
};
use crate::sensors::{last, mechanism, near};

fn robot(changes: &[(&str, &str)]) -> Model {
    let mut text = example("robot-servo");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    read(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

const AXES: [&str; 6] = ["yaw", "shoulder", "bend", "twist", "tilt", "tool"];

/// Both parts have servos; one of them reaches its limit.
#[test]
fn the_cut_robot_moves_as_the_whole_one() {
    let model = robot(&[]);
    let parts = coupled(&model);
    let whole = History::of(&model, model.monolithic(None).expect("one piece"));
    for axis in AXES {
        let name = format!("robot.sensors.{axis}");
        let pairs = parts.column(&name).into_iter().zip(whole.column(&name));
        let apart = pairs.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(apart < 5e-6, "{axis}: {apart:e}");
    }
    let torques = parts.column("robot.sensors.shoulder_torque");
    let most = torques.iter().fold(0.0_f64, |most, t| most.max(t.abs()));
    near(most, 110.0, 1e-9);
}

/// At rest in the end: the angle is short of the target by what the torque needs.
#[test]
fn the_error_of_the_robot_is_torque_over_gain() {
    let model = robot(&[("duration = 1.5", "duration = 3")]);
    let run = coupled(&model);
    for (axis, target, gain) in [
        ("shoulder", 0.9, 2e5),
        ("bend", -0.5, 1e5),
        ("tilt", 0.8, 1e4),
    ] {
        let angle = last(&run, &format!("robot.sensors.{axis}"));
        let torque = last(&run, &format!("robot.sensors.{axis}_torque"));
        near(target - angle, torque / gain, 1e-9);
    }
}

#[test]
fn threads_and_checkpoints_keep_the_bits_of_servos() {
    let model = robot(&[("duration = 1.5", "duration = 0.2")]);
    assert_threads_keep_bits(&model);
    assert_checkpoint_keeps_bits(&model, &["robot.arm", "robot.hand"]);
}

/// A sampled controller sends the position: steps of the target, each answered by the loop's step response.
#[test]
fn a_sampled_controller_may_send_the_target() {
    let (j, kp, kd) = (0.5, 40.0, 3.0);
    let run = |step: f64| {
        let text = format!(
            r#"
[model]
name = "Held target"
[simulation]
duration = 1
step = {step}
[multibody.m]
nodes.wheel = {{}}
bodies.wheel = {{ node = "wheel", mass = 1, inertia = [0.3, 0.3, 0.3] }}
joints.axle = {{ type = "revolute", between = ["ground", "wheel"] }}
servos.s = {{ joint = "axle", position = {{ input = "target" }}, kp = {kp}, kd = {kd}, rotor_inertia = 0.002, gear = 10 }}
sensors.angle = {{ coordinate = "axle" }}
inputs.target = {{ scalar = "rad" }}
predictor = "zero-order"
[control.c]
sample = 0.1
outputs.target = {{ value = "0.2 + 0.5 * t", unit = "rad" }}
[[connection]]
from = "c.target"
to = "m.target"
"#
        );
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        last(&coupled(&model), "m.sensors.angle")
    };
    let decay = 0.5 * kd / j;
    let omega = f64::sqrt(kp / j - decay * decay);
    let response = |t: f64| {
        let (sin, cos) = (omega * t).sin_cos();
        1.0 - (-decay * t).exp() * (cos + decay / omega * sin)
    };
    let later: f64 = (1..10)
        .map(|k| 0.05 * response(1.0 - 0.1 * f64::from(k)))
        .sum();
    let exact = 0.2 * response(1.0) + later;
    let [coarse, fine] = [4e-3, 2e-3].map(|step| (run(step) - exact).abs());
    assert!(fine < 2e-4, "{coarse:e} {fine:e}");
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.3, "{order}: {coarse:e} {fine:e}");
}

/// A slider, with a target that reads a sensor: the second mass follows the first.
#[test]
fn a_servo_may_follow_a_sensor() {
    let model = mechanism(
        r#"
        nodes.a = { velocity = [0.4, 0, 0] }
        nodes.b = { position = [0, 1, 0] }
        bodies.a = { node = "a", mass = 1, shape = { sphere = 0.1 } }
        bodies.b = { node = "b", mass = 1, shape = { sphere = 0.1 } }
        joints.left = { type = "prismatic", between = ["ground", "a"], axis = [1, 0, 0] }
        joints.right = { type = "prismatic", between = ["ground", "b"], axis = [1, 0, 0] }
        servos.s = { joint = "right", position = "x", velocity = "v", kp = 1e6, kd = 1e4 }
        sensors.x = { coordinate = "left" }
        sensors.v = { rate = "left" }
        sensors.y = { coordinate = "right" }
        sensors.effort = { torque = "s" }
        "#,
    );
    let run = coupled(&model);
    near(last(&run, "m.sensors.x"), 0.4, 1e-12);
    near(last(&run, "m.sensors.y"), 0.4, 1e-6);
    near(last(&run, "m.sensors.effort"), 0.0, 1e-3);
}

fn refused(servo: &str) -> String {
    let text = format!(
        r#"[model]
name = "Bad"
[simulation]
duration = 1
step = 1e-3
[multibody.m]
nodes.a = {{}}
nodes.b = {{}}
nodes.c = {{}}
bodies.a = {{ node = "a", mass = 1, shape = {{ sphere = 0.1 }} }}
bodies.b = {{ node = "b", mass = 1, shape = {{ sphere = 0.1 }} }}
bodies.c = {{ node = "c", mass = 1, shape = {{ sphere = 0.1 }} }}
joints.axle = {{ type = "revolute", between = ["ground", "a"] }}
joints.ball = {{ type = "spherical", between = ["ground", "b"] }}
joints.driven = {{ type = "revolute", between = ["ground", "c"], angle = "t" }}
servos.s = {{ {servo} }}
"#
    );
    let problems = read(&text).err().unwrap_or_else(|| panic!("{servo}"));
    problems.to_string()
}

/// What is wrong, where, and what to do.
#[test]
fn bad_servos_are_refused() {
    for (servo, what, to_do) in [
        (
            r#"joint = "axle", kp = -1"#,
            "must not be negative",
            "give 0 or a number above it",
        ),
        (r#"joint = "axle", kp = nan"#, "finite", ""),
        (r#"joint = "axle", kp = inf"#, "finite", ""),
        (r#"joint = "axle", kp = "0 / 0""#, "finite", ""),
        (
            r#"joint = "axle", kd = -2"#,
            "must not be negative",
            "give 0 or a number above it",
        ),
        (r#"joint = "axle", kd = nan"#, "finite", ""),
        (
            r#"joint = "axle", kp = 1, limit = -3"#,
            "must be positive",
            "give a number above 0",
        ),
        (r#"joint = "axle", kp = 1, limit = inf"#, "finite", ""),
        (
            r#"joint = "axle", kp = 1, rotor_inertia = -1e-3"#,
            "must not be negative",
            "give 0 or",
        ),
        (
            r#"joint = "axle", kp = 1, rotor_inertia = nan"#,
            "finite",
            "",
        ),
        (
            r#"joint = "axle", kp = 1, rotor_inertia = 1, gear = 0"#,
            "must be positive",
            "above 0",
        ),
        (
            r#"joint = "axle", kp = 1, gear = 5"#,
            "only `rotor_inertia` is seen through a gear",
            "",
        ),
        (
            r#"joint = "axle", kp = 1, velocity = 2"#,
            "without `kd` no velocity is held",
            "",
        ),
        (
            r#"joint = "axle", position = 1"#,
            "the servo `s` does nothing",
            "give `kp`",
        ),
        (
            r#"joint = "axel", kp = 1"#,
            "no joint `axel`",
            "did you mean `axle`?",
        ),
        (
            r#"joint = "ball", kp = 1"#,
            "the joint `ball` has no single coordinate",
            "`revolute`",
        ),
        (
            r#"joint = "driven", kp = 1"#,
            "the angle of `driven` is prescribed",
            "leave out the servo",
        ),
        (r#"kp = 1"#, "`joint` is missing", "write `joint = ...`"),
    ] {
        let found = refused(servo);
        println!("{found}");
        assert!(
            found.contains(what) && found.contains(to_do),
            "{servo}: {found}"
        );
    }
}
