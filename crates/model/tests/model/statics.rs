//! Reactions and static loads from model files.

use oldham_cosim::Unit;
use oldham_model::Model;
use oldham_multibody::Vec3;

use crate::common::{coupled, read};

const EXCAVATOR: &str = r#"
[model]
name = "Excavator arm"
[parameters]
a1 = "pi / 6"
a2 = "-pi / 4"
L1 = 3.0
L2 = 2.0
bx = "L1 * cos(a1)"
bz = "1 + L1 * sin(a1)"
[simulation]
duration = 0.5
step = 2e-3
[multibody.arm]
gravity = [0, 0, -9.81]
[multibody.arm.frames]
boom = { position = [0, 0, 1], orientation = { axis = [0, 1, 0], angle = "-a1" } }
stick = { position = ["bx", 0, "bz"], orientation = { axis = [0, 1, 0], angle = "-a2" } }
[multibody.arm.nodes]
boom = { in = "boom", position = ["L1 / 2", 0, 0] }
stick = { in = "stick", position = ["L2 / 2", 0, 0] }
[multibody.arm.bodies]
boom = { node = "boom", mass = 800, shape = { box = ["L1", 0.3, 0.3] } }
stick = { node = "stick", mass = 350, shape = { box = ["L2", 0.2, 0.2] } }
bucket = { node = "stick", mass = 400, centre = ["L2 / 2", 0, 0], shape = { sphere = 0.3 } }
[multibody.arm.joints]
foot = { type = "revolute", between = ["ground", "boom"], in = "boom", position = [0, 0, 0], axis = [0, 1, 0] }
elbow = { type = "revolute", between = ["boom", "stick"], in = "stick", position = [0, 0, 0], axis = [0, 1, 0] }
[multibody.arm.actuators]
boom = { between = ["ground", "boom"], points = [[0.6, 0, 0.6], ["1.4 * cos(a1)", 0, "1 + 1.4 * sin(a1)"]], load = "static" }
stick = { between = ["boom", "stick"], points = [["1.2 * cos(a1) - 0.5 * sin(a1)", 0, "1 + 1.2 * sin(a1) + 0.5 * cos(a1)"], ["bx - 0.5 * cos(a2)", 0, "bz - 0.5 * sin(a2)"]], load = "static" }
"#;

struct Expected {
    boom: f64,
    stick: f64,
    foot: Vec3,
    elbow: Vec3,
}

/// Loads of the two cylinders from moments about the elbow and about the foot, and the pins from
/// the forces.
fn expected() -> Expected {
    let g = Vec3::Z * -9.81;
    let (a1, a2) = (std::f64::consts::FRAC_PI_6, -std::f64::consts::FRAC_PI_4);
    let along = |angle: f64| Vec3::new(angle.cos(), 0.0, angle.sin());
    let foot = Vec3::Z;
    let elbow = foot + along(a1) * 3.0;
    let weights_of_stick = [
        (elbow + along(a2) * 1.0, 350.0),
        (elbow + along(a2) * 2.0, 400.0),
    ];
    let weight_of_boom = (foot + along(a1) * 1.5, 800.0);
    let across = Vec3::new(-a1.sin(), 0.0, a1.cos());
    let stick = [
        foot + along(a1) * 1.2 + across * 0.5,
        elbow - along(a2) * 0.5,
    ];
    let boom = [
        Vec3::new(0.6, 0.0, 0.6),
        Vec3::new(1.4 * a1.cos(), 0.0, 1.0 + 1.4 * a1.sin()),
    ];
    let moment = |about: Vec3, (at, mass): (Vec3, f64)| (at - about).cross(g * mass)[1];
    let lever = |about: Vec3, line: [Vec3; 2]| {
        let direction = (line[1] - line[0]).unit();
        ((line[1] - about).cross(direction)[1], direction)
    };
    let (arm, stick_direction) = lever(elbow, stick);
    let weights: f64 = weights_of_stick.iter().map(|&it| moment(elbow, it)).sum();
    let stick_load = -weights / arm;
    let (arm, boom_direction) = lever(foot, boom);
    let all = weights_of_stick.iter().chain([&weight_of_boom]);
    let weights: f64 = all.map(|&it| moment(foot, it)).sum();
    let boom_load = -weights / arm;
    // On the second node: the pin of the elbow holds the stick, that of the foot everything.
    let elbow_pin = -(g * 750.0 + stick_direction * stick_load);
    let foot_pin = -(g * 1550.0 + boom_direction * boom_load);
    Expected {
        boom: boom_load,
        stick: stick_load,
        foot: foot_pin,
        elbow: elbow_pin,
    }
}

fn excavator() -> Model {
    read(EXCAVATOR).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn the_excavator_finds_the_loads_of_its_cylinders() {
    let model = excavator();
    let mechanism = model.mechanisms().next().unwrap();
    let rest = mechanism.equilibrium(None, 4).unwrap();
    let expected = expected();
    // What a separate model with rods had found, to the newton.
    assert!((expected.boom - 51874.0).abs() < 1.0, "{}", expected.boom);
    assert!((expected.stick + 16563.0).abs() < 1.0, "{}", expected.stick);
    for ((name, load, _), (known, value)) in rest
        .loads
        .iter()
        .zip([("boom", expected.boom), ("stick", expected.stick)])
    {
        assert_eq!(name, known);
        assert!((load / value - 1.0).abs() < 1e-10, "{name}: {load} {value}");
    }
    // Joint axes: the third along y; the axes of the marker are fixed to the first node.
    for (reaction, pin) in rest.reactions.iter().zip([expected.foot, expected.elbow]) {
        assert!((reaction.force.norm() / pin.norm() - 1.0).abs() < 1e-10);
        assert!(reaction.force[2].abs() < 1e-6, "nothing along the pin");
        assert!(reaction.moment.norm() < 1e-5, "a pin carries no moment");
    }
    assert_eq!(rest.reactions[0].joint, "foot");
    // The foot is on the ground: its axes are absolute, with z along y and x perpendicular.
    let axes = oldham_multibody::Marker::on(oldham_multibody::NodeId::GROUND).axis(Vec3::Y);
    let seen = axes.orientation.matrix().transpose_mul(expected.foot);
    assert!((rest.reactions[0].force - seen).norm() < 1e-6 * seen.norm());
}

#[test]
fn the_run_stays_where_the_loads_hold_it() {
    let model = excavator();
    let run = coupled(&model);
    let heights = run.column("arm.nodes.stick.pz");
    for height in &heights {
        assert!(
            (height - heights[0]).abs() < 1e-7,
            "{height} {}",
            heights[0]
        );
    }
}

/// With hydraulics or a motor beside it the static load stays: a push through the port moves it.
#[test]
fn a_push_besides_moves_it() {
    let text = format!(
        "{EXCAVATOR}[multibody.arm.inputs]\nmore = {{ thrust = \"boom\" }}\n[excitation]\n\"arm.more\" = 2000.0\n"
    );
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    let heights = run.column("arm.nodes.boom.pz");
    assert!(
        heights[heights.len() - 1] > heights[0] + 1e-3,
        "it is lifted"
    );
}

/// Modes with a static load: a lever that a constant force holds up is neutral or falls; on a spring
/// besides, ω² = (k - F / L₀ ...) is that of the stiffness about the pivot.
#[test]
fn a_static_load_adds_its_geometric_stiffness() {
    // A bar on a pivot at the origin along x, a vertical actuator below its end, weight in the
    // middle. Constant force, held end at (1, 0), foot at (1, -1): for a turn φ the end moves to
    // (cos φ, sin φ); the torque of the force F along the line and of the weight W = 2 F is
    // τ(φ) = F (e_x sinφ-ish); its slope at zero is computed below by differences.
    let model = read(
        r#"
[model]
name = "lever"
[simulation]
duration = 1.0
step = 1e-3
[multibody.m]
gravity = [0, 0, -10]
nodes.bar = { position = [0.5, 0, 0] }
bodies.bar = { node = "bar", mass = 2, inertia = [0.1, 0.1, 0.1] }
joints.pivot = { type = "revolute", between = ["ground", "bar"], position = [0, 0, 0], axis = [0, 1, 0] }
torsion_springs.soft = { between = ["ground", "bar"], axis = [0, 1, 0], stiffness = 30 }
actuators.jack = { between = ["ground", "bar"], points = [[1, 0, -1], [1, 0, 0]], load = "static" }
"#,
    )
    .unwrap_or_else(|problems| panic!("{problems}"));
    let mechanism = model.mechanisms().next().unwrap();
    let rest = mechanism.equilibrium(None, 4).unwrap();
    assert!((rest.loads[0].1 - 10.0).abs() < 1e-9, "{:?}", rest.loads);
    let (_, modes) = mechanism
        .vibrations(oldham_model::About::Start, 1, None)
        .unwrap();
    let torque = |phi: f64| {
        let (s, c) = phi.sin_cos();
        let (x, z) = (c - 1.0, s + 1.0);
        let length = x.hypot(z);
        // Force along (x, z) at (c, s), weight 20 at half of it; about the pivot.
        10.0 * (c * z - s * x) / length - 20.0 * 0.5 * c - 30.0 * phi
    };
    let h = 1e-4;
    let stiffness = -(torque(h) - torque(-h)) / (2.0 * h);
    let omega = (stiffness / (0.1 + 0.5)).sqrt();
    assert!(
        (modes.modes[0].omega / omega - 1.0).abs() < 1e-6,
        "{} {omega}",
        modes.modes[0].omega
    );
}

/// The lift of the examples with pressures that are found, and its valves as they are at the start.
fn lift(more: &[(&str, &str)]) -> Result<Model, oldham_model::Problems> {
    let text = crate::common::example("hydraulic-lift");
    let text = more.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    read(&text)
}

/// The platform stays where it is, and the oil below its piston carries it: (m g + A₁ p_T)/A₂. The supply rests where the relief
/// valve takes what the pump gives, which is not where it starts.
#[test]
fn a_network_finds_the_pressures_that_hold_a_machine() {
    let model = lift(&[]).unwrap();
    let carries = (800.0 * 9.81 + 1e-3 * 1e5) / 2e-3;
    let run = coupled(&model);
    let length = run.column("lift.platform.length");
    assert!((run.column("oil.head.p")[0] / carries - 1.0).abs() < 1e-10);
    // Until the valve opens at 0.5 s nothing moves.
    assert!(
        length[..50].iter().all(|l| (l - 1.2).abs() < 1e-9),
        "{:?}",
        &length[..50]
    );
    let rest = model
        .mechanisms()
        .next()
        .unwrap()
        .equilibrium(None, 4)
        .unwrap();
    let parts = model.resting_parts(None, &[&rest]);
    let values = parts[0].values.as_ref().unwrap();
    let value = |name: &str| values.iter().find(|value| value.name == name).unwrap();
    assert!((value("head.p").found / carries - 1.0).abs() < 1e-10);
    assert_eq!(value("head.p").given, None);
    assert!((value("supply.p").found / (1e5 + 1.4e7 + 5e-5 / 1e-10) - 1.0).abs() < 1e-10);
    assert_eq!(value("supply.p").given, Some(1.2e7));
}

#[test]
fn a_network_whose_valve_is_open_says_what_moves() {
    let opened = lift(&[(
        r#""oil.down.opening" = "#,
        r#""oil.down.opening" = "0.5" #"#,
    )]);
    let told = opened.unwrap_err().to_string();
    let carries = (800.0 * 9.81 + 1e-3 * 1e5) / 2e-3;
    let speed = -0.5 * 4e-6 * 0.6 * (2.0 * (carries - 1e5) / 850.0_f64).sqrt() / 2e-3;
    assert!(
        told.contains(&format!("`lift` moves at {speed:.4e}")),
        "{told}"
    );
    assert!(told.contains("through `down`"), "{told}");
}

/// A motor holds the axle of a drum: the torque of the rope over its displacement.
#[test]
fn a_motor_of_a_network_holds_a_joint() {
    let model = read(&crate::common::example("winch")).unwrap();
    let rest = model
        .mechanisms()
        .next()
        .unwrap()
        .equilibrium(None, 4)
        .unwrap();
    let (name, torque, unit) = &rest.loads[0];
    assert_eq!((&name[..], unit), ("motor", &Unit::NEWTON_METRE));
    assert!(
        (torque / (500.0 * 9.81 * 0.15) - 1.0).abs() < 1e-9,
        "{torque}"
    );
    let parts = model.resting_parts(None, &[&rest]);
    let values = parts[0].values.as_ref().unwrap();
    let value = |name: &str| {
        values
            .iter()
            .find(|value| value.name == name)
            .unwrap()
            .found
    };
    let difference = 500.0 * 9.81 * 0.15 / 7e-5;
    assert!(((value("high.p") - value("low.p")) / difference - 1.0).abs() < 1e-9);
    // Nothing flows in the line.
    assert!((value("supply.p") / value("high.p") - 1.0).abs() < 1e-9);
    let run = coupled(&model);
    let angle = run.column("winch.motor.motion.x");
    assert!(
        angle[..50].iter().all(|x| x.abs() < 1e-9),
        "{:?}",
        &angle[..50]
    );
}

/// A circuit with loads as numbers does not start from statics, but statics hold what it pushes.
#[test]
fn statics_hold_what_a_circuit_with_given_loads_pushes() {
    let text = crate::common::example("two-cylinder-arm");
    let loads = |text: &str| {
        let model = read(text).unwrap();
        let rest = model.mechanisms().next().unwrap().equilibrium(None, 4);
        rest.unwrap().loads
    };
    let given = text.replace("load = \"static\"", "load = 3000");
    assert_ne!(given, text);
    for ((name, found, _), (_, expected, _)) in loads(&given).iter().zip(loads(&text)) {
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{name}: {found} {expected}"
        );
    }
}
