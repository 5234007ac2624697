//! Contact in mechanisms: guides, jaws, rows of balls, bodies that tumble, against closed forms.

use crate::common::{assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, read};

const STAMPS: &str = r#"
[model]
name = "Stamps on vertical guides"
[parameters]
n = 4
[simulation]
duration = 0.2
step = 5e-4
[multibody.m]
integrator = "impulses"
gravity = [0, 0, -9.81]
nodes."b{i}" = { repeat.i = "n", position = ["{i}", 0, 0.1] }
bodies."b{i}" = { repeat.i = "n", node = "b{i}", mass = 1, shape = { box = [0.1, 0.1, 0.1] } }
joints."guide{i}" = { repeat.i = "n", type = "prismatic", between = ["ground", "b{i}"], axis = [0, 0, 1] }
shapes."b{i}" = { repeat.i = "n", body = "b{i}" }
contact = { friction = 0.5 }
shapes.floor = { node = "ground", plane = [0, 0, 1] }
"#;

/// Sixteen contacts of guided blocks that fall by 50 mm: they come to rest on the floor, and m g h each is gone. By either law.
#[test]
fn guided_blocks_land_and_rest() {
    let convex = STAMPS.replace("friction = 0.5", "friction = 0.5, law = \"convex\"");
    for text in [STAMPS, convex.as_str()] {
        let run = coupled(&read(text).unwrap());
        for k in 1..=4 {
            let height = *run.column(&format!("m.nodes.b{k}.pz")).last().unwrap();
            assert!((height - 0.05).abs() < 1e-6, "{height}");
        }
        let lost = *run.column("energy.dissipated").last().unwrap();
        let exact = 4.0 * 9.81 * 0.05;
        assert!((lost / exact - 1.0).abs() < 1e-3, "{lost} {exact}");
    }
}

const JAWS: &str = r#"
[model]
name = "Two jaws close"
[simulation]
duration = 0.1
step = 5e-4
[multibody.m]
integrator = "impulses"
nodes.left = { position = [-0.05, 0, 0] }
nodes.right = { position = [0.05, 0, 0] }
bodies.left = { node = "left", mass = 0.2, shape = { box = [0.02, 0.06, 0.1] } }
bodies.right = { node = "right", mass = 0.2, shape = { box = [0.02, 0.06, 0.1] } }
joints.jawl = { type = "prismatic", between = ["ground", "left"], axis = [1, 0, 0] }
joints.jawr = { type = "prismatic", between = ["ground", "right"], axis = [1, 0, 0] }
springs.stop = { between = ["ground", "left"], points = [[-1, 0, 0], [-0.05, 0, 0]], stiffness = 1000, damping = 5 }
loads.gripr = { on = "right", force = [-30, 0, 0] }
contact = { friction = 0.6, bodies = ["left", "right"] }
"#;

/// The right jaw flies 80 mm, hits the left one plastically, and both swing on the spring with half the speed: the closed form of a damped
/// oscillator. Errors fall with the step.
#[test]
fn jaws_on_guides_meet_and_swing_together() {
    let (mass, stiffness, damping, force, gap) = (0.2_f64, 1000.0, 5.0, 30.0, 0.08);
    let meets = (2.0 * gap * mass / force).sqrt();
    let speed = -0.5 * force / mass * meets;
    let both = 2.0 * mass;
    let decay = damping / (2.0 * both);
    let omega = (stiffness / both - decay * decay).sqrt();
    let rest = -force / stiffness;
    let t = 0.1 - meets;
    let sine = (speed - rest * decay) / omega;
    let swing = -rest * (omega * t).cos() + sine * (omega * t).sin();
    let exact = rest + (-decay * t).exp() * swing;
    let error = |step: &str| {
        let text = JAWS.replace("step = 5e-4", &format!("step = {step}"));
        let run = coupled(&read(&text).unwrap());
        run.column("m.nodes.left.px").last().unwrap() + 0.05 - exact
    };
    let errors = ["5e-4", "1e-4", "2e-5"].map(error);
    assert!(
        errors[0].abs() < 3e-3 && errors[2].abs() < 1.5e-4,
        "{errors:?} {exact}"
    );
    assert!(errors[2].abs() < 0.3 * errors[0].abs(), "{errors:?}");
}

const VICE: &str = r#"
[model]
name = "Box in a vice"
[simulation]
duration = 0.1
step = 5e-4
[multibody.m]
integrator = "impulses"
gravity = [0, 0, -9.81]
nodes.left = { position = [-0.05, 0, 0] }
nodes.right = { position = [0.05, 0, 0] }
nodes.box = {}
bodies.left = { node = "left", mass = 0.2, shape = { box = [0.02, 0.06, 0.1] } }
bodies.right = { node = "right", mass = 0.2, shape = { box = [0.02, 0.06, 0.1] } }
bodies.box = { node = "box", mass = 1, shape = { box = [0.08, 0.08, 0.08] } }
joints.jawl = { type = "prismatic", between = ["ground", "left"], axis = [1, 0, 0], slide = 0 }
joints.jawr = { type = "prismatic", between = ["ground", "right"], axis = [1, 0, 0] }
loads.gripr = { on = "right", force = [-30, 0, 0] }
contact = { friction = 0.6, bodies = ["left", "right", "box"] }
"#;

/// A box squeezed with 30 N: both jaws carry its weight together, friction stays within its bound, nothing moves. With little friction it
/// falls, and the jaws meet.
#[test]
fn a_vice_holds_a_box_by_friction() {
    let run = coupled(&read(VICE).unwrap());
    // How the jaws share the weight is not determined: friction may hold tension between them. Their sum is, and nothing changes in time.
    let forces = ["left", "right"]
        .map(|jaw| ["fx", "fy", "fz"].map(|axis| run.column(&format!("m.contacts.{jaw}.{axis}"))));
    for axis in 0..3 {
        let sum = [0.0, 0.0, -9.81][axis];
        for step in 5..forces[0][0].len() {
            let [left, right] = [0, 1].map(|jaw| forces[jaw][axis][step]);
            assert!((left + right - sum).abs() < 1e-7, "{axis}: {left} {right}");
            assert!((left - forces[0][axis][5]).abs() < 1e-6, "{axis}: {left}");
        }
    }
    for jaw in &forces {
        let [x, y, z] = [0, 1, 2].map(|axis| jaw[axis][5]);
        assert!((x.abs() - 30.0).abs() < 1e-6, "{x}");
        assert!(y.hypot(z) <= 0.6 * x.abs() * (1.0 + 1e-9), "{y} {z}");
    }
    let height = *run.column("m.nodes.box.pz").last().unwrap();
    assert!(height.abs() < 1e-9, "{height}");
    // 2 μ N = 6 N of 9.81 N are carried.
    let slips = VICE.replace("friction = 0.6", "friction = 0.1");
    let run = coupled(&read(&slips).unwrap());
    let fallen = *run.column("m.nodes.box.pz").last().unwrap();
    let exact = -0.5 * (9.81 - 6.0) * 0.1 * 0.1;
    assert!((fallen / exact - 1.0).abs() < 0.01, "{fallen} {exact}");
    // The jaws meet 0.25 s later, and the run goes on.
    let long = slips.replace("duration = 0.1", "duration = 0.6");
    let run = coupled(&read(&long).unwrap());
    let right = *run.column("m.nodes.right.px").last().unwrap();
    assert!((right + 0.03).abs() < 1e-5, "{right}");
}

#[test]
fn contacts_of_guides_have_the_same_bits_on_any_number_of_threads_and_after_a_checkpoint() {
    let model = read(&VICE.replace("friction = 0.6", "friction = 0.1")).unwrap();
    assert_threads_keep_bits(&model);
    assert_checkpoint_keeps_bits(&model, &["m"]);
}

fn cradle(step: &str) -> String {
    let mut text = format!(
        r#"
[model]
name = "Newton's cradle"
[simulation]
duration = 0.8
step = {step}
[multibody.s]
integrator = "impulses"
gravity = [0, 0, -9.81]
contact = {{ restitution = 1, bodies = ["b0", "b1", "b2", "b3", "b4"] }}
"#
    );
    for k in 0..5 {
        let hinge = 0.1001 * k as f64;
        let (angle, length) = (if k == 0 { 0.3_f64 } else { 0.0 }, 0.5);
        let (x, z) = (hinge - length * angle.sin(), -length * angle.cos());
        text += &format!(
            r#"
nodes.b{k} = {{ position = [{x}, 0, {z}] }}
bodies.b{k} = {{ node = "b{k}", mass = 1, shape = {{ sphere = 0.05 }} }}
joints.j{k} = {{ type = "revolute", between = ["ground", "b{k}"], position = [{hinge}, 0, 0], axis = [0, 1, 0] }}
"#
        );
    }
    text
}

/// Balls on hinges, a tenth of a millimetre apart, which is less than they move in a step: the last one swings as high as the first did, 0.3 rad, and the
/// others stay.
#[test]
fn a_cradle_on_hinges_passes_the_swing_on() {
    for (step, tolerance) in [("1e-3", 0.01), ("2e-4", 0.003)] {
        let run = coupled(&read(&cradle(step)).unwrap());
        let highest = |k: usize| {
            let hinge = 0.1001 * k as f64;
            let x = run.column(&format!("s.nodes.b{k}.px"));
            let late = &x[x.len() / 2..];
            late.iter()
                .fold(0.0_f64, |most, x| most.max(((x - hinge) / 0.5).asin()))
        };
        let last = highest(4);
        assert!((last / 0.3 - 1.0).abs() < tolerance, "{step}: {last}");
        assert!((1..4).all(|k| highest(k) < 0.01), "{step}");
    }
}

/// A free body about its middle axis, which it cannot keep: it flips over and over, and its energy stays. Its band shrinks with the square of the step.
#[test]
fn a_tumbling_body_keeps_its_energy() {
    let band = |step: &str| {
        let text = format!(
            r#"
[model]
name = "A wing nut"
[simulation]
duration = 20.0
step = {step}
[multibody.s]
integrator = "impulses"
nodes.p = {{ angular_velocity = [1e-3, 10, 1e-3] }}
bodies.p = {{ node = "p", mass = 1, inertia = [0.01, 0.02, 0.028] }}
"#
        );
        let run = coupled(&read(&text).unwrap());
        let energy = run.column("energy.total");
        let flips = run.column("s.nodes.p.q1");
        assert!(flips.iter().any(|q| q.abs() > 0.1), "it never flips");
        energy
            .iter()
            .fold(0.0_f64, |most, e| most.max((e / energy[0] - 1.0).abs()))
    };
    let bands = [band("2e-3"), band("1e-3")];
    assert!(bands[1] < 2e-4, "{bands:?}");
    assert!(bands[1] < 0.3 * bands[0], "{bands:?}");
}
