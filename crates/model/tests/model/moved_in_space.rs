//! A fast subsystem that moves a node of a mechanism in space, with a model of how that resists.

use crate::common::{History, coupled, read};

/// A light body on a spring that carries a heavy one: the heavy one is a mechanism of its own, whose grip follows the light
/// one in space. Both together are one rigid body.
fn carried(step: f64, spring: &str, spin: &str) -> History {
    carried_by("rk4", step, spring, spin)
}

/// The same with an integrator of the heavy one.
fn carried_by(integrator: &str, step: f64, spring: &str, spin: &str) -> History {
    coupled(&read(&carried_text(integrator, step, spring, spin)).unwrap())
}

fn carried_text(integrator: &str, step: f64, spring: &str, spin: &str) -> String {
    format!(
        r#"
[model]
name = "Carried"

[simulation]
duration = 0.5
step = {step}

[schedule]
kind = "gauss-seidel"
order = ["hand", "load"]

[multibody.hand]
integrator = "impulses"
micro_step = 5e-5
predictor = "interface-model"

[multibody.hand.nodes]
hand = {{ position = [0, 0, 0], {spin} }}

[multibody.hand.bodies]
hand = {{ node = "hand", mass = 0.5, inertia = [0.02, 0.02, 0.03] }}
{spring}

[multibody.hand.inputs]
carry = {{ wrench = "hand" }}

[multibody.load]
integrator = "{integrator}"

[multibody.load.nodes]
grip = {{ position = [0, 0, 0], {spin} }}
load = {{ position = [0, 0, 0], {spin} }}

[multibody.load.bodies]
load = {{ node = "load", mass = 5, inertia = [0.3, 0.3, 0.5] }}

[multibody.load.joints]
grip = {{ type = "fixed", between = ["grip", "load"] }}

[multibody.load.inputs]
grip = {{ pose = "grip" }}

[[connection]]
from = "hand.carry.motion"
to = "load.grip"

[[connection]]
from = "load.grip.load"
to = "hand.carry"
"#
    )
}

/// They swing at √(k/(m + M)).
#[test]
fn a_light_body_swings_with_the_heavy_one_that_it_carries() {
    let spring = r#"
[multibody.hand.springs]
spring = { between = ["ground", "hand"], points = [[-1, 0, 0], [0, 0, 0]], stiffness = 3000 }"#;
    let omega = (3000.0_f64 / 5.5).sqrt();
    for step in [0.01, 0.005] {
        let run = carried(step, spring, "velocity = [0.2, 0, 0]");
        let found = run.column("hand.carry.motion.px");
        for (n, x) in found.iter().enumerate() {
            let expected = 0.2 / omega * (omega * step * n as f64).sin();
            let error = (x - expected).abs() * omega / 0.2;
            assert!(error < 0.01, "{step} {n}: {x} {expected}");
        }
    }
}

/// The heavy one starts with the pose and velocity that the light one has at that instant, not with those at the end of its first
/// step: then no step begins with a jump, and the force on the light one is that of the swing, M ω v₀ sin ω t, from the first step on.
#[test]
fn a_prescribed_pose_started_with_a_motion_of_the_future() {
    let spring = r#"
[multibody.hand.springs]
spring = { between = ["ground", "hand"], points = [[-1, 0, 0], [0, 0, 0]], stiffness = 3000 }"#;
    let omega = (3000.0_f64 / 5.5).sqrt();
    let (step, largest) = (0.005, 5.0 * omega * 0.2);
    // One-step methods of first order tell a mean over the step.
    for (integrator, allowed) in [("lms2", 0.1), ("backward-euler", 0.12), ("impulses", 0.12)] {
        let run = carried_by(integrator, step, spring, "velocity = [0.2, 0, 0]");
        for (n, force) in run.column("load.grip.load.fx").iter().enumerate() {
            let expected = largest * (omega * step * n as f64).sin();
            let error = (force - expected).abs() / largest;
            assert!(error < allowed, "{integrator} {n}: {force} {expected}");
        }
    }
}

/// The same where the mechanism of the heavy one has an interface besides that does not follow within the step: the account of
/// its work asked the whole mechanism, which started with the pose of the future, and the first forces were 800 N and -2000 N.
#[test]
fn an_account_of_another_interface_started_the_mechanism_anew() {
    let spring = r#"
[multibody.hand.springs]
spring = { between = ["ground", "hand"], points = [[-1, 0, 0], [0, 0, 0]], stiffness = 3000 }"#;
    let fan = r#"
[lumped.drive]
coordinates = "rotation"
integrator = "lms2"
masses.m = { mass = 10 }
springs.d = { between = ["ground", "m"], stiffness = 10 }
inputs.t = { force = "m" }
outputs.m = { motion = "m" }

[[connection]]
from = "drive.m"
to = "load.fan"

[[connection]]
from = "load.fan.torque"
to = "drive.t"
"#;
    let text = carried_text("lms2", 0.005, spring, "velocity = [0.2, 0, 0]");
    let mut text = text + fan;
    for (before, after) in [
        (
            r#"order = ["hand", "load"]"#,
            r#"order = ["hand", "load", "drive"]"#,
        ),
        (
            "[multibody.load.bodies]",
            "fan = { position = [3, 0, 0] }\n[multibody.load.bodies]\nfan = { node = \"fan\", mass = 1, inertia = [1, 1, 1] }",
        ),
        (
            "[multibody.load.joints]",
            "[multibody.load.joints]\naxle = { type = \"revolute\", between = [\"ground\", \"fan\"], position = [3, 0, 0], axis = [0, 0, 1] }",
        ),
        (
            "[multibody.load.inputs]",
            "[multibody.load.inputs]\nfan = { rotation = \"axle\" }",
        ),
    ] {
        assert!(text.contains(before));
        text = text.replace(before, after);
    }
    let mixed = coupled(&read(&text).unwrap());
    let omega = (3000.0_f64 / 5.5).sqrt();
    let largest = 5.0 * omega * 0.2;
    for (n, force) in mixed.column("load.grip.load.fx").iter().enumerate() {
        let expected = largest * (omega * 0.005 * n as f64).sin();
        let error = (force - expected).abs() / largest;
        assert!(error < 0.1, "{n}: {force} {expected}");
    }
}

/// Free and turning, both precess as one symmetric body: the angular velocity goes round the axis of the body at
/// (C - A)/A ω₃, and the axis itself round the angular momentum.
#[test]
fn both_precess_as_one_symmetric_top() {
    // With LMS2 a false first step had tilted the axis.
    for integrator in ["rk4", "lms2"] {
        let spin = "angular_velocity = [0.8, 0, 6]";
        assert_precesses(&carried_by(integrator, 0.005, "", spin));
    }
}

fn assert_precesses(run: &History) {
    let spin: [f64; 3] = [0.8, 0.0, 6.0];
    let (a, c) = (0.32_f64, 0.53);
    let momentum = [a * spin[0], 0.0, c * spin[2]];
    let size = momentum[0].hypot(momentum[2]);
    // About the angular momentum the body turns at |L|/A.
    let rate = size / a;
    let quaternion =
        ["q0", "q1", "q2", "q3"].map(|name| run.column(&format!("load.nodes.load.{name}")));
    let [ws, xs, ys, zs] = quaternion;
    for (n, w) in ws.into_iter().enumerate() {
        let [x, y, z] = [xs[n], ys[n], zs[n]];
        let axis = [
            2.0 * (x * z + w * y),
            2.0 * (y * z - w * x),
            1.0 - 2.0 * (x * x + y * y),
        ];
        // The axis starts at z and turns about L by rate · t.
        let (sin, cos) = (rate * 0.005 * n as f64).sin_cos();
        let l = momentum.map(|value| value / size);
        let along = l[2];
        let expected = [
            l[0] * along * (1.0 - cos) + l[1] * sin,
            l[1] * along * (1.0 - cos) - l[0] * sin,
            cos + l[2] * along * (1.0 - cos),
        ];
        for (found, expected) in axis.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-3, "{n}: {axis:?} {expected}");
        }
    }
}
