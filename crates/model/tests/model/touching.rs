//! What grippers, wheels and ropes need of contact: forces by pair and by body, rolling friction, surfaces that yield, nodes of beams, and parts that hang on
//! a cut while they press on the ground.

use crate::common::{History, coupled, example, read};

/// Contacts are recorded beside the outputs of the file, which stay what they are called: a controller reads the sensor that
/// it is connected to.
#[test]
fn outputs_of_what_touches_are_those_of_the_file() {
    let text = format!(
        "{STACK}
[multibody.s.outputs]
held = {{ sensor = \"held\" }}
carried = {{ sensor = \"carried\" }}

[control.twice]
inputs = {{ held = \"N\", carried = \"N\" }}
outputs.held = {{ value = \"2 * held\", unit = \"N\" }}
outputs.carried = {{ value = \"2 * carried\", unit = \"N\" }}

[[connection]]
from = \"s.held\"
to = \"twice.held\"

[[connection]]
from = \"s.carried\"
to = \"twice.carried\"
"
    );
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    let (sin, cos) = 20.0_f64.to_radians().sin_cos();
    for (name, force) in [("held", sin), ("carried", cos)] {
        let found = *run.column(&format!("twice.{name}")).last().unwrap();
        let expected = 2.0 * 2.0 * 9.81 * force;
        assert!(
            (found - expected).abs() < 1e-6 * expected,
            "{name}: {found} {expected}"
        );
    }
}

/// Two boxes on each other on a slope of 20°, which they do not slide down.
const STACK: &str = r#"
[model]
name = "Stack on a slope"

[parameters]
slope = "20 deg"

[simulation]
step = 1e-3
duration = 0.05

[multibody.s]
integrator = "impulses"
gravity = ["-9.81*sin(slope)", 0, "-9.81*cos(slope)"]

[multibody.s.nodes]
low = { position = [0, 0, 0.1] }
top = { position = [0, 0, 0.25] }

[multibody.s.bodies]
low = { node = "low", mass = 3, shape = { box = [0.4, 0.4, 0.2] } }
top = { node = "top", mass = 2, shape = { box = [0.2, 0.2, 0.1] } }

[multibody.s.contact]
friction = 0.6
bodies = ["low", "top"]

[multibody.s.shapes]
floor = { node = "ground", plane = [0, 0, 1] }

[multibody.s.sensors]
carried = { contact_force_between = ["low", "top"], axis = [0, 0, 1] }
held = { contact_force_between = ["low", "top"], axis = [1, 0, 0] }
answered = { contact_force_between = ["top", "low"], axis = [0, 0, 1] }
floor = { contact_force_between = ["ground", "low"], axis = [0, 0, 1] }
grip = { contact_force_between = ["ground", "low"], axis = [1, 0, 0] }
on_ground = { contact_force_between = ["low", "ground"], axis = [0, 0, 1] }
low = { contact_force = "low", axis = [0, 0, 1] }
apart = { contact_force_between = ["ground", "top"], axis = [0, 0, 1] }
"#;

/// Statics: each box is carried against the slope and held along it by what is below it.
#[test]
fn contact_forces_are_measured_by_pair_and_by_body() {
    let model = read(STACK).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    let (sin, cos) = 20.0_f64.to_radians().sin_cos();
    let g = 9.81;
    for (sensor, force) in [
        ("carried", 2.0 * g * cos),
        ("held", 2.0 * g * sin),
        ("answered", -2.0 * g * cos),
        ("floor", 5.0 * g * cos),
        ("grip", 5.0 * g * sin),
        ("on_ground", -5.0 * g * cos),
        ("low", 3.0 * g * cos),
        ("apart", 0.0),
    ] {
        let found = *run.column(&format!("s.sensors.{sensor}")).last().unwrap();
        assert!(
            (found - force).abs() < 1e-5,
            "{sensor}: {found} N, not {force} N"
        );
    }
}

#[test]
fn sensors_of_contacts_are_refused_where_nothing_touches() {
    let text = STACK.replace("contact_force = \"low\"", "contact_force = \"lower\"");
    let problems = read(&text).expect_err("an unknown node").to_string();
    assert!(problems.contains("there is no node `lower`"), "{problems}");
    let text = STACK.replace("bodies = [\"low\", \"top\"]", "bodies = [\"low\"]");
    let problems = read(&text).expect_err("a node without shapes").to_string();
    assert!(
        problems.contains("`top` has no shape in contact"),
        "{problems}"
    );
    let text = format!(
        "{STACK}\n[multibody.s.loads]\npush = {{ on = \"low\", force = [\"carried\", 0, 0] }}\n"
    );
    let problems = read(&text)
        .expect_err("forces that follow themselves")
        .to_string();
    assert!(problems.contains("carried"), "{problems}");
}

/// A ball of radius 0.1 m that rolls at 0.5 m/s: it stops after 7 v² r/(10 c g).
#[test]
fn rolling_friction_comes_from_model_files() {
    let text = r#"
        [model]
        name = "Rolling ball"
        [simulation]
        step = 2e-3
        duration = 5
        [multibody.s]
        integrator = "impulses"
        gravity = [0, 0, -9.81]
        [multibody.s.nodes]
        ball = { position = [0, 0, 0.1], velocity = [0.5, 0, 0], angular_velocity = [0, 5, 0] }
        [multibody.s.bodies]
        ball = { node = "ball", mass = 2, shape = { sphere = 0.1 } }
        [multibody.s.contact]
        friction = 0.5
        bodies = ["ball"]
        [multibody.s.shapes]
        floor = { node = "ground", plane = [0, 0, 1], rolling = 2e-3 }
    "#;
    let run = coupled(&read(text).unwrap_or_else(|problems| panic!("{problems}")));
    let way = 7.0 * 0.25 * 0.1 / (10.0 * 2e-3 * 9.81);
    let found = *run.column("s.nodes.ball.px").last().unwrap();
    assert!((found - way).abs() < 2e-3 * way, "{found} m, not {way} m");
    let speed = *run.column("s.nodes.ball.vx").last().unwrap();
    assert!(speed.abs() < 1e-9, "{speed}");
    for (instead_of, write) in [
        ("friction = 0.5", "friction = 0.5\nlaw = \"convex\""),
        ("friction = 0.5", "friction = 0.5\nexact = 4"),
    ] {
        let problems = read(&text.replace(instead_of, write)).expect_err("not known there");
        assert!(
            problems
                .to_string()
                .contains("neither rolling nor torsional"),
            "{problems}"
        );
    }
}

/// A mass that flies against a surface that yields.
fn blow(exponent: f64, damping: f64, step: f64) -> f64 {
    let text = format!(
        r#"
        [model]
        name = "Blow"
        [simulation]
        step = {step}
        duration = 0.02
        [multibody.s]
        [multibody.s.nodes]
        ball = {{ position = [0, 0, 0.102], velocity = [0, 0, -2] }}
        [multibody.s.bodies]
        ball = {{ node = "ball", mass = 0.5, shape = {{ sphere = 0.1 }} }}
        [multibody.s.compliant_contacts]
        floor = {{ nodes = ["ball"], radius = 0.1, against = {{ node = "ground", plane = [0, 0, 1] }}, stiffness = {stiffness}, exponent = {exponent}, damping = {damping} }}
    "#,
        stiffness = if exponent > 1.0 { 1e7 } else { 2e5 },
    );
    let run = coupled(&read(&text).unwrap_or_else(|problems| panic!("{problems}")));
    *run.column("s.nodes.ball.vz").last().unwrap()
}

/// The speed after a blow follows from the energy lost on the way in and out: with x = c v, x − ln(1 + x) before is −y − ln(1 − y) after, whatever stiffness and
/// exponent are (Hunt and Crossley's law integrated over the penetration).
#[test]
fn blows_on_yielding_surfaces_rebound_as_hunt_and_crossley_say() {
    for (exponent, damping) in [(1.0, 0.1), (1.5, 0.3), (1.5, 0.0)] {
        let before: f64 = damping * 2.0;
        let spent = before - before.ln_1p();
        // The other side rises with y: halving.
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for _ in 0..200 {
            let y = 0.5 * (low + high);
            match -y - (-y).ln_1p() < spent {
                true => low = y,
                false => high = y,
            }
        }
        let speed = if damping > 0.0 { low / damping } else { 2.0 };
        let errors = [2e-5, 1e-5].map(|step| (blow(exponent, damping, step) - speed).abs());
        assert!(
            errors[1] < 2e-4 * speed,
            "{exponent} {damping}: {errors:?} of {speed}"
        );
        assert!(
            errors[1] < 0.4 * errors[0] || errors[0] < 1e-6,
            "{exponent} {damping}: {errors:?}"
        );
    }
}

/// A cantilever that is pressed onto a stop half a millimetre below its tip: the tip goes on by (P − F) L³/(3 E I), and the stop answers with k times what is left.
#[test]
fn nodes_of_beams_meet_solids() {
    let text = r#"
        [model]
        name = "Leaf on a stop"
        [simulation]
        step = 1e-3
        duration = 2e-3
        [multibody.s]
        static_equilibrium = true
        [multibody.s.sections.leaf]
        rectangle = [0.02, 0.01]
        young = 2.1e11
        density = 7800
        [multibody.s.nodes]
        root = { position = [0, 0, 0] }
        [multibody.s.beams]
        leaf = { from = "root", to = [1, 0, 0], elements = 8, section = "leaf", up = [0, 0, 1] }
        [multibody.s.joints]
        clamp = { type = "fixed", between = ["ground", "root"] }
        [multibody.s.loads]
        press = { on = "leaf.16", force = [0, 0, -4] }
        [multibody.s.compliant_contacts]
        stop = { beam = "leaf", against = { node = "ground", box = [0.1, 0.1, 0.02], position = [1, 0, -0.0105] }, stiffness = 1e4 }
        [multibody.s.sensors]
        force = { force = "stop.leaf.16", axis = [0, 0, 1] }
        free = { force = "stop.leaf.8", axis = [0, 0, 1] }
        tip = { displacement = "leaf.16", axis = [0, 0, 1] }
    "#;
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    let last = |name: &str| *run.column(&format!("s.sensors.{name}")).last().unwrap();
    let stiff = 3.0 * 2.1e11 * 0.02_f64.powi(3) * 0.01 / 12.0;
    // w = (P − F)/stiff and F = k (w − d).
    let (k, d, p) = (1e4, 5e-4, 4.0);
    let w = (p + k * d) / (stiff + k);
    let (force, tip) = (last("force"), last("tip"));
    assert!((-tip - w).abs() < 1e-3 * w, "{tip} m, not {w} m below");
    assert!((force - k * (w - d)).abs() < 0.01 * force, "{force} N");
    assert_eq!(last("free"), 0.0);
}

/// A beam whose tip carries a finger that rests on the ground, the finger behind a cut and moved by impulses: what hangs on the cut cannot be pushed into the
/// ground. The propped cantilever: the ground carries the finger and 3/8 of the beam.
#[test]
fn a_finger_behind_a_cut_presses_on_the_ground() {
    let errors = [5e-4, 2.5e-4].map(propped);
    assert!(errors[1] < 0.01, "{errors:?}");
    assert!(errors[1] < 0.4 * errors[0], "{errors:?}");
}

/// How far the force of the ground is off, relative to what it must be.
fn propped(step: f64) -> f64 {
    let text = r#"
        [model]
        name = "Propped"
        [simulation]
        step = STEP
        duration = 1
        [multibody.s]
        gravity = [0, 0, -9.81]
        [multibody.s.sections.arm]
        tube = [0.025, 0.023]
        young = 7e10
        density = 2700
        damping = 5e-3
        [multibody.s.nodes]
        root = { position = [0, 0, 0.1] }
        finger = { position = [1, 0, 0.05] }
        [multibody.s.bodies]
        tip = { node = "arm.8", mass = 0.2, shape = { box = [0.02, 0.02, 0.02] } }
        finger = { node = "finger", mass = 0.5, shape = { sphere = 0.05 } }
        [multibody.s.beams]
        arm = { from = "root", to = [1, 0, 0.1], elements = 4, section = "arm", up = [0, 0, 1] }
        [multibody.s.joints]
        clamp = { type = "fixed", between = ["ground", "root"] }
        hold = { type = "fixed", between = ["arm.8", "finger"], position = [1, 0, 0.1] }
        [multibody.s.contact]
        bodies = ["finger"]
        [multibody.s.shapes]
        table = { node = "ground", plane = [0, 0, 1] }
        [multibody.s.cut]
        at = ["arm.8"]
        parts = { arm = "root", hand = "finger" }
        methods.hand.integrator = "impulses"
        [multibody.s.sensors]
        table = { contact_force = "finger", axis = [0, 0, 1] }
    "#;
    let text = text.replace("STEP", &step.to_string());
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let run = coupled(&model);
    let area = std::f64::consts::PI * (0.025_f64.powi(2) - 0.023_f64.powi(2));
    let weight = 9.81 * (0.7 + 3.0 / 8.0 * 2700.0 * area);
    let forces = run.column("s.sensors.table");
    let late = &forces[forces.len() / 2..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    let heights = run.column("s.nodes.finger.pz");
    let lowest = heights.iter().fold(f64::INFINITY, |least, z| least.min(*z));
    assert!(lowest > 0.05 - 5e-5, "{lowest}");
    (mean - weight).abs() / weight
}

/// An example with another value of a parameter.
fn example_with(name: &str, from: &str, to: &str) -> History {
    let text = example(name);
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let model = read(&text.replace(from, to)).unwrap_or_else(|problems| panic!("{problems}"));
    coupled(&model)
}

/// Two round pads hold a bar beside its centre: level where their torsional friction is enough for the largest acceleration of the hand, and not
/// where it is too little for the weight. Then both carry half of the weight.
#[test]
fn torsional_friction_of_pads_holds_a_bar() {
    let tilt = |torsion: f64| {
        let run = example_with("gripper", "torsion = 2e-3", &format!("torsion = {torsion}"));
        let last = |name: &str| *run.column(&format!("g.{name}")).last().unwrap();
        for jaw in ["carried_left", "carried_right"] {
            let carried = last(&format!("sensors.{jaw}"));
            assert!((carried - 0.5 * 9.81).abs() < 1e-4, "{jaw}: {carried} N");
        }
        let [q0, q2] = ["q0", "q2"].map(|part| last(&format!("nodes.bar.{part}")));
        2.0 * q2.atan2(q0)
    };
    let (force, arm, lift) = (60.0, 0.03, 0.075 * std::f64::consts::PI.powi(2));
    let enough = (9.81 + lift) * arm / (2.0 * force);
    let level = tilt(1.05 * enough);
    assert!(level.abs() < 1e-6, "{level} rad");
    let little = 0.9 * 9.81 * arm / (2.0 * force);
    // It comes to rest where the weight asks for no more than the pads hold.
    let tilted = tilt(little);
    assert!(tilted > 0.1 && tilted.cos() <= 0.9, "{tilted} rad");
}

/// Euler and Eytelwein: friction over half a turn multiplies the force by exp(μ π). A heavier weight slides with the acceleration that this leaves, a lighter one
/// is held.
#[test]
fn a_rope_on_a_drum_holds_and_slides_as_euler_says() {
    let lowered = |heavy: f64| {
        let run = example_with("rope-on-drum", "heavy = 2.0", &format!("heavy = {heavy}"));
        let [left, right] = ["left", "right"]
            .map(|node| *run.column(&format!("r.nodes.{node}.pz")).last().unwrap());
        0.5 * (left - right)
    };
    let held = lowered(2.0);
    assert!(held.abs() < 4e-3, "{held} m");
    let gain = (0.3 * std::f64::consts::PI).exp();
    let heavy = 4.0;
    let exact = 0.5 * 9.81 * (heavy - gain) / (heavy + gain) * 0.5 * 0.5;
    let found = lowered(heavy);
    assert!(
        (found / exact - 1.0).abs() < 0.05,
        "{found} m, not {exact} m"
    );
}
