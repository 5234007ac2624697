//! Inputs and outputs at points away from their nodes.

use oldham_stability::{Spectrum, Way};

use crate::common::{History, coupled, read};

/// An arm on a pin; a small body hangs at a point of it, as a subsystem of its own.
const PARTED: &str = r#"
model.name = "A body at a point of an arm"
simulation = { duration = 0.5, step = 1e-3 }
schedule = { coupling = "implicit", implicit = { relative = 1e-10 } }
[multibody.arm]
gravity = [0, 0, -9.81]
tolerance = 1e-10
nodes.a = { position = [0.2, 0, 0] }
bodies.a = { node = "a", mass = 4.0, inertia = [0.1, 0.2, 0.2] }
joints.pin = { type = "revolute", between = ["ground", "a"], position = [0, 0, 0], axis = [0, 1, 0] }
inputs.grip = { wrench = "a", offset = [0.5, 0, 0.1] }
outputs.tip = { motion = "a", offset = [0.5, 0, 0.1], orientation = { axis = [0, 1, 0], angle = 0.3 } }
outputs.height = { translation = "a", axis = [0, 0, 1], offset = [0.5, 0, 0.1] }
[multibody.body]
gravity = [0, 0, -9.81]
tolerance = 1e-10
nodes.grip = { position = [0.7, 0, 0.1] }
nodes.b = { position = [0.7, 0, 0.1] }
bodies.b = { node = "b", mass = 0.5, inertia = [0.01, 0.02, 0.03] }
joints.weld = { type = "fixed", between = ["grip", "b"] }
inputs.grip = { pose = "grip" }
[[connection]]
from = "arm.grip.motion"
to = "body.grip"
[[connection]]
from = "body.grip.load"
to = "arm.grip"
"#;

/// The same as one mechanism.
const WHOLE: &str = r#"
model.name = "The same"
simulation = { duration = 0.5, step = 1e-3 }
[multibody.arm]
gravity = [0, 0, -9.81]
tolerance = 1e-10
nodes.a = { position = [0.2, 0, 0] }
nodes.b = { position = [0.7, 0, 0.1] }
bodies.a = { node = "a", mass = 4.0, inertia = [0.1, 0.2, 0.2] }
bodies.b = { node = "b", mass = 0.5, inertia = [0.01, 0.02, 0.03] }
joints.pin = { type = "revolute", between = ["ground", "a"], position = [0, 0, 0], axis = [0, 1, 0] }
joints.weld = { type = "fixed", between = ["a", "b"] }
outputs.tip = { motion = "b" }
outputs.point = { motion = "a", offset = [0.5, 0, 0.1], orientation = { axis = [0, 1, 0], angle = 0.3 } }
"#;

fn model(text: &str) -> History {
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    coupled(&model)
}

#[test]
fn a_body_at_a_point_moves_as_if_it_were_welded_there() {
    let (parted, whole) = (model(PARTED), model(WHOLE));
    for component in ["px", "pz", "vx", "vz", "wy"] {
        let column = format!("arm.tip.{component}");
        let (a, b) = (parted.column(&column), whole.column(&column));
        let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        let apart = apart.fold(0.0, f64::max);
        assert!(apart < 1e-4, "{column}: {apart}");
    }
    let columns = [
        ("arm.tip.pz", "x"),
        ("arm.tip.vz", "v"),
        ("arm.tip.az", "a"),
    ];
    for (of_motion, along) in columns {
        let along = parted.column(&format!("arm.height.{along}"));
        assert_eq!(parted.column(of_motion), along, "{of_motion}");
    }
}

/// At the start everything hangs horizontally: α = -(Σ m g x) / (Σ J + m (x² + z²)), and the axes of
/// the point are turned by 0.3 rad.
#[test]
fn the_acceleration_of_a_point_is_that_of_the_closed_form() {
    let whole = model(WHOLE);
    let moment = 9.81 * (4.0 * 0.2 + 0.5 * 0.7);
    let inertia = 0.2 + 4.0 * 0.04 + 0.02 + 0.5 * (0.49 + 0.01);
    let alpha = moment / inertia;
    let first = |name: &str| whole.column(name)[0];
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-6 * expected.abs();
    assert!(
        close(first("arm.point.aly"), alpha),
        "{}",
        first("arm.point.aly")
    );
    assert!(close(first("arm.point.az"), -0.7 * alpha));
    assert!(close(first("arm.point.ax"), 0.1 * alpha));
    assert!(close(first("arm.point.q2"), 0.15_f64.sin()));
}

#[test]
fn points_are_for_motions_and_wrenches_only() {
    for (instead_of, write, expected) in [
        (
            "inputs.grip = { pose = \"grip\" }",
            "inputs.grip = { pose = \"grip\", offset = [1, 0, 0] }",
            "only a wrench acts on a point of a node",
        ),
        (
            "offset = [0.5, 0, 0.1] }\n[multibody.body]",
            "offset = [0.5, 0] }\n[multibody.body]",
            "3 numbers are needed",
        ),
        (
            "outputs.height = { translation = \"a\", axis = [0, 0, 1]",
            "outputs.height = { reaction = \"pin\"",
            "only the motion of a node can be that of a point",
        ),
    ] {
        assert!(PARTED.contains(instead_of), "{instead_of}");
        let problems = read(&PARTED.replacen(instead_of, write, 1)).expect_err(write);
        assert!(problems.to_string().contains(expected), "{problems}");
    }
}

/// The frequency domain knows how the rotation of a node moves its points. A point that is loaded is
/// left to probing.
#[test]
fn the_stability_of_a_point_is_the_same_in_both_ways() {
    let explicit = PARTED
        .replace("schedule = {", "# ")
        .replace("[multibody.body]", "torsion_springs.s = { between = [\"ground\", \"a\"], axis = [0, 1, 0], stiffness = 80, damping = 2 }\n[multibody.body]");
    let at_node = explicit.replace("wrench = \"a\", offset = [0.5, 0, 0.1]", "wrench = \"a\"");
    let at_node = at_node.replace("from = \"arm.grip.motion\"", "from = \"arm.tip\"");
    let spectrum = |text: &str, is_frequency: bool| {
        let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
        let found = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
        let in_frequency = matches!(found.way(), Way::Frequency { .. });
        assert_eq!(in_frequency, is_frequency, "{:?}", found.way());
        let probed = Spectrum::by_matrix(&mut model.simulation().unwrap()).unwrap();
        let (a, b) = (found.radius(), probed.radius());
        assert!((a - b).abs() < 1e-6 * b, "{a} {b}");
    };
    spectrum(&at_node, true);
    spectrum(&explicit, false);
}
