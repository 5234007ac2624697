//! Bodies that rest sleep until something touches or pushes them, where the model says so.

use crate::common::{assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, read};

/// Two boxes on a slope, a crate apart that is pushed from 0.3 s on, and a stone that falls onto the stack after 0.35 s.
const SCENE: &str = r#"
[model]
name = "Sleepers"

[simulation]
step = 1e-3
duration = 0.6

[multibody.s]
integrator = "impulses"
gravity = [-1.5, 0, -9.7]

[multibody.s.nodes]
low = { position = [0, 0, 0.1] }
top = { position = [0.01, 0, 0.25], orientation = { axis = [0, 0, 1], angle = 0.3 } }
crate = { position = [0, 2, 0.1] }
stone = { position = [0.1, 0.02, 0.95] }

[multibody.s.bodies]
low = { node = "low", mass = 3, shape = { box = [0.4, 0.4, 0.2] } }
top = { node = "top", mass = 2, shape = { box = [0.2, 0.2, 0.1] } }
crate = { node = "crate", mass = 2, shape = { box = [0.2, 0.2, 0.2] } }
stone = { node = "stone", mass = 0.3, shape = { sphere = 0.05 } }

[multibody.s.loads]
push = { on = "crate", force = ["if(t < 0.3, 0, 20)", 0, 0] }

[multibody.s.contact]
friction = 0.6
residual = 1e-8
sleep = true
bodies = ["low", "top", "crate", "stone"]

[multibody.s.shapes]
floor = { node = "ground", plane = [0, 0, 1] }

[multibody.s.sensors]
carried = { contact_force_between = ["low", "top"], axis = [0, 0, 1] }
"#;

#[test]
fn a_model_that_sleeps_moves_like_one_that_does_not() {
    let model = read(SCENE).unwrap_or_else(|problems| panic!("{problems}"));
    let sleeping = coupled(&model);
    let awake = SCENE.replace("sleep = true", "sleep = false");
    let waking = coupled(&read(&awake).unwrap_or_else(|problems| panic!("{problems}")));
    for node in ["low", "top", "crate", "stone"] {
        for axis in ["px", "py", "pz"] {
            let name = format!("s.nodes.{node}.{axis}");
            let pairs = sleeping.column(&name).into_iter().zip(waking.column(&name));
            let apart = pairs.fold(0.0, |most: f64, (one, other)| most.max((one - other).abs()));
            assert!(apart < 1e-6, "{name}: {apart:e} m apart");
        }
    }
    // At rest, not only nearly, from 0.1 s on until something happens to them.
    for (node, until) in [("low", 345), ("top", 345), ("crate", 300)] {
        for axis in ["vx", "vy", "vz"] {
            let speeds = sleeping.column(&format!("s.nodes.{node}.{axis}"));
            let rest = &speeds[100..until];
            assert!(rest.iter().all(|v| *v == 0.0), "{node} {axis}: {rest:?}");
        }
    }
    // The push exceeds friction by 20 − 0.6·2·9.7 − 2·1.5 N.
    let speed = *sleeping.column("s.nodes.crate.vx").last().unwrap();
    let expected = (20.0 - 0.6 * 2.0 * 9.7 - 3.0) / 2.0 * 0.3;
    assert!((speed - expected).abs() < 0.01, "{speed} {expected}");
    let carried = sleeping.column("s.sensors.carried");
    assert!((carried[200] - 2.0 * 9.7).abs() < 1e-4, "{}", carried[200]);
    assert!(
        carried.iter().any(|force| *force > 40.0),
        "the stone arrives"
    );
}

#[test]
fn sleepers_keep_the_bits_on_threads_and_after_a_checkpoint() {
    let model = read(SCENE).unwrap_or_else(|problems| panic!("{problems}"));
    assert_threads_keep_bits(&model);
    assert_checkpoint_keeps_bits(&model, &["s"]);
}

#[test]
fn sleep_is_refused_where_the_law_is_another_one() {
    for line in ["law = \"convex\"", "exact = 12"] {
        let text = SCENE.replace("sleep = true", &format!("sleep = true\n{line}"));
        let problems = read(&text).expect_err(line).to_string();
        assert!(problems.contains("bodies do not sleep with"), "{problems}");
    }
}
