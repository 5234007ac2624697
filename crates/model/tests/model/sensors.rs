//! Sensors, ports at joints, joints and force elements from model files, against closed forms.

use std::f64::consts::TAU;

use oldham_model::Model;

use crate::common::{
    History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, read,
};

/// A model with one mechanism, for a second.
pub fn mechanism(contents: &str) -> Model {
    parsed(&format!("[multibody.m]\n{contents}"))
}

fn parsed(parts: &str) -> Model {
    let text = format!("[model]\nname = \"M\"\n[simulation]\nduration = 1.0\nstep = 1e-3\n{parts}");
    read(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[track_caller]
pub fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "{found} {expected}");
}

pub fn last(run: &History, name: &str) -> f64 {
    *run.column(name).last().expect("a row")
}

/// A wheel turns at a prescribed speed, with a load torque against it: all that can be said of a
/// joint.
#[test]
fn a_driven_wheel_shows_angle_rate_torque_and_power() {
    let model = mechanism(
        r#"
        nodes.wheel = { position = [0, 0, 0] }
        bodies.wheel = { node = "wheel", mass = 2, inertia = [0.3, 0.3, 0.4] }
        joints.hinge = { type = "revolute", between = ["ground", "wheel"], angle_rate = "20 + 3 * t" }
        loads.brake = { on = "wheel", moment = [0, 0, -5] }
        sensors.angle = { coordinate = "hinge" }
        sensors.rate = { rate = "hinge" }
        sensors.torque = { torque = "hinge" }
        sensors.drive = { power = "hinge.angle drive" }
        sensors.brake = { power = "brake" }
        sensors.rim = { velocity = "wheel", offset = [0.5, 0, 0], axis = [0, 1, 0] }
        outputs.sent = { sensor = "angle" }
        outputs.motion = { rotation = "hinge" }
        "#,
    );
    let run = coupled(&model);
    let (angle, rate) = (20.0 + 1.5, 23.0);
    assert!(angle > 3.0 * TAU, "more than three turns");
    near(last(&run, "m.sensors.angle"), angle, 1e-9);
    near(last(&run, "m.sent"), angle, 1e-9);
    near(last(&run, "m.motion.x"), angle, 1e-9);
    near(last(&run, "m.motion.v"), rate, 1e-6);
    near(last(&run, "m.motion.a"), 3.0, 1e-3);
    near(last(&run, "m.sensors.rate"), rate, 1e-6);
    let torque = 0.4 * 3.0 + 5.0;
    near(last(&run, "m.sensors.torque"), torque, 1e-3);
    near(last(&run, "m.sensors.drive"), torque * rate, 1e-2);
    near(last(&run, "m.sensors.brake"), -5.0 * rate, 1e-5);
    near(last(&run, "m.sensors.rim"), 0.5 * rate * angle.cos(), 1e-5);
}

/// Feedback of the counted angle over several turns is a torsion spring from where it began.
#[test]
fn feedback_of_a_counted_angle_pulls_back_over_whole_turns() {
    let model = mechanism(
        r#"
        nodes.wheel = { position = [0, 0, 0], angular_velocity = [0, 0, 60] }
        bodies.wheel = { node = "wheel", mass = 2, inertia = [0.3, 0.3, 0.4] }
        joints.hinge = { type = "revolute", between = ["ground", "wheel"] }
        sensors.angle = { coordinate = "hinge" }
        loads.pull = { on = "wheel", moment = [0, 0, "-10 * angle"] }
        "#,
    );
    let run = coupled(&model);
    let w = (10.0_f64 / 0.4).sqrt();
    let angles = run.column("m.sensors.angle");
    assert!(angles.iter().fold(0.0_f64, |m, a| m.max(*a)) > TAU);
    for (t, angle) in run.record.times.iter().zip(angles) {
        near(angle, 60.0 / w * (w * t).sin(), 2e-3);
    }
}

/// Two bodies on a rail, and a point on one of them: relative motions, accelerations included.
#[test]
fn relative_motions_are_measured() {
    let model = mechanism(
        r#"
        nodes.a = { position = [0, 0, 0], angular_velocity = [0, 0, 2] }
        nodes.b = { position = [1, 0, 0], velocity = [0.5, 0, 0] }
        bodies.a = { node = "a", mass = 1, inertia = [1, 1, 1] }
        bodies.b = { node = "b", mass = 1, inertia = [1, 1, 1] }
        sensors.x = { relative_displacement = ["a", "b"], axis = [1, 0, 0] }
        sensors.v = { relative_velocity = ["a", "b"], axis = [1, 0, 0] }
        sensors.acc = { relative_acceleration = ["a", "b"], axis = [1, 0, 0] }
        sensors.d = { distance = ["a", "b"], points = [[0, 0, 0], [1, 0, 0.3]] }
        sensors.r = { distance_rate = ["a", "b"] }
        sensors.own = { acceleration = "b", axis = [1, 0, 0] }
        outputs.acc = { sensor = "acc" }
        "#,
    );
    let run = coupled(&model);
    let (t, w) = (1.0_f64, 2.0_f64);
    let x = 1.0 + 0.5 * t;
    let seen = x * (w * t).cos();
    let rate = 0.5 * (w * t).cos() - w * x * (w * t).sin();
    let bend = -2.0 * w * 0.5 * (w * t).sin() - w * w * x * (w * t).cos();
    near(last(&run, "m.sensors.x"), seen, 1e-9);
    near(last(&run, "m.sensors.v"), rate, 1e-9);
    near(last(&run, "m.sensors.acc"), bend, 1e-6);
    near(last(&run, "m.acc"), bend, 1e-6);
    near(last(&run, "m.sensors.d"), x.hypot(0.3), 1e-9);
    near(last(&run, "m.sensors.r"), 0.5, 1e-9);
    near(last(&run, "m.sensors.own"), 0.0, 1e-9);
}

/// A cantilever at rest under a tip load: moment, shear and curvature along it, at the root too.
#[test]
fn beams_and_shells_tell_what_their_sections_feel() {
    let model = mechanism(
        r#"
        static_equilibrium = true
        sections.steel = { rectangle = [0.02, 0.01], young = 2.1e11, density = 1e-6 }
        beams.b = { from = [0, 0, 0], to = [1, 0, 0], elements = 4, section = "steel", up = [0, 1, 0], lumping = "points" }
        bodies.tip = { node = "b.8", mass = 0.1, inertia = [1e-3, 1e-3, 1e-3] }
        joints.root = { type = "fixed", between = ["ground", "b.0"] }
        loads.tip = { on = "b.8", force = [0, 0.2, 0] }
        sensors.root = { beam = "b", at = [0], load = "bending-z" }
        sensors.middle = { beam = "b", at = [0.5], load = "bending-z" }
        sensors.shear = { beam = "b", at = [0.3], load = "shear-y" }
        sensors.bend = { beam = "b", at = [0.25], strain = "bending-z" }
        "#,
    );
    let run = coupled(&model);
    let first = |name: &str| run.column(name)[0];
    near(first("m.sensors.root"), 0.2, 1e-6);
    near(first("m.sensors.middle"), 0.1, 1e-6);
    near(first("m.sensors.shear"), 0.2, 1e-6);
    // The section is 0.01 m high along y.
    let stiffness = 2.1e11 * 0.02 * 0.01_f64.powi(3) / 12.0;
    let stiffnesses = [stiffness, 2.1e11 * 0.01 * 0.02_f64.powi(3) / 12.0];
    let bend = first("m.sensors.bend");
    let is_one = stiffnesses.iter().any(|k| (bend * k - 0.15).abs() < 1e-5);
    assert!(is_one, "{bend}");
}

/// Motor inertia and shaft as a lumped part about an axis, coupled to a wheel in the mechanism: two
/// inertias on a torsion spring, ω² = k (1/J₁ + 1/J₂). Once the mechanism receives the torque, once
/// the motion.
#[test]
fn a_drivetrain_turns_a_joint() {
    let wheel = r#"
        nodes.wheel = { position = [0, 0, 0] }
        bodies.wheel = { node = "wheel", mass = 2, inertia = [0.3, 0.3, 0.4] }
        joints.hinge = { type = "revolute", between = ["ground", "wheel"] }
        sensors.angle = { coordinate = "hinge" }
    "#;
    let receives_torque = format!(
        r#"
        [simulation]
        duration = 1.0
        step = 1e-4
        [multibody.m]
        {wheel}
        inputs.shaft = {{ torque = "hinge" }}
        [lumped.d]
        coordinates = "rotation"
        integrator = "lms2"
        masses.motor = {{ mass = 0.1, velocity = 30 }}
        springs.shaft = {{ between = ["motor", "wheel"], stiffness = 50 }}
        inputs.wheel = {{ motion = "wheel" }}
        outputs.torque = {{ force = "wheel" }}
        outputs.motor = {{ motion = "motor" }}
        [[connection]]
        from = "m.shaft.motion"
        to = "d.wheel"
        [[connection]]
        from = "d.torque"
        to = "m.shaft"
        "#
    );
    let receives_motion = format!(
        r#"
        [simulation]
        duration = 1.0
        step = 1e-4
        [multibody.m]
        {wheel}
        nodes.flange = {{ position = [0, 0, 0] }}
        bodies.flange = {{ node = "flange", mass = 1, inertia = [1e-6, 1e-6, 1e-6] }}
        joints.bearing = {{ type = "revolute", between = ["ground", "flange"] }}
        torsion_springs.shaft = {{ between = ["flange", "wheel"], stiffness = 50 }}
        inputs.shaft = {{ rotation = "bearing" }}
        [lumped.d]
        coordinates = "rotation"
        integrator = "lms2"
        masses.motor = {{ mass = 0.1, velocity = 30 }}
        inputs.torque = {{ force = "motor" }}
        outputs.motor = {{ motion = "motor" }}
        [[connection]]
        from = "d.motor"
        to = "m.shaft"
        [[connection]]
        from = "m.shaft.torque"
        to = "d.torque"
        "#
    );
    let (j1, j2, k, start) = (0.1_f64, 0.4_f64, 50.0_f64, 30.0);
    let w = (k * (1.0 / j1 + 1.0 / j2)).sqrt();
    let mean = start * j1 / (j1 + j2);
    for text in [receives_torque, receives_motion] {
        let text = format!("[model]\nname = \"drivetrain\"\n{text}");
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let run = coupled(&model);
        let exchanged = run.names().any(|name| name.starts_with("exchange."));
        assert!(exchanged, "the energy of the exchange is watched");
        let angles = run.column("m.sensors.angle");
        for (t, angle) in run.record.times.iter().zip(angles) {
            let expected = mean * (t - (w * t).sin() / w);
            near(angle, expected, 2e-2);
        }
        assert_threads_keep_bits(&model);
        assert_checkpoint_keeps_bits(&model, &["m", "d"]);
    }
}

/// A carriage between two stops comes back with what Hunt and Crossley leave it, on a prismatic
/// joint; and a bar swings between two stops.
#[test]
fn stops_send_a_carriage_back() {
    let model = mechanism(
        r#"
        nodes.c = { position = [0, 0, 0], velocity = [2, 0, 0] }
        bodies.c = { node = "c", mass = 3, inertia = [1, 1, 1] }
        joints.rail = { type = "prismatic", between = ["ground", "c"], axis = [1, 0, 0], slide_stops = { upper = 0.4, stiffness = 5e4, damping = 0.2 } }
        sensors.x = { slide = "rail" }
        sensors.v = { slide_rate = "rail" }
        sensors.stop = { power = "rail.slide stops" }
        "#,
    );
    let run = coupled(&model);
    let kept = |v: f64| 0.2 * v - (0.2 * v).ln_1p();
    near(kept(last(&run, "m.sensors.v")), kept(2.0), 2e-2 * kept(2.0));
    let farthest = run.column("m.sensors.x").into_iter().fold(0.0, f64::max);
    assert!(farthest > 0.4 && farthest < 0.42, "{farthest}");
    assert_checkpoint_keeps_bits(&model, &["m"]);
}

/// ω = ω₀ (1 - exp(-T₀ t / J ω₀)).
#[test]
fn a_motor_runs_up() {
    let model = mechanism(
        r#"
        nodes.rotor = { position = [0, 0, 0] }
        bodies.rotor = { node = "rotor", mass = 2, inertia = [0.3, 0.3, 0.4] }
        joints.bearing = { type = "revolute", between = ["ground", "rotor"] }
        motors.m = { joint = "bearing", characteristic = [[-100, 26], [0, 6], [100, -14]], command = 1 }
        sensors.rate = { rate = "bearing" }
        sensors.power = { power = "m" }
        "#,
    );
    let run = coupled(&model);
    let (rates, powers) = (run.column("m.sensors.rate"), run.column("m.sensors.power"));
    for (row, t) in run.record.times.iter().enumerate() {
        let rate = 30.0 * (1.0 - (-6.0 * t / (0.4 * 30.0)).exp());
        near(rates[row], rate, 1e-4);
        near(powers[row], rates[row] * (6.0 - 0.2 * rates[row]), 1e-9);
    }
}

/// A rope that only pulls, a bumper that only pushes, a strut by its map, a torsion bar by its
/// table: each against its closed form.
#[test]
fn springs_by_tables_maps_and_sides() {
    let model = mechanism(
        r#"
        nodes.rope = { position = [1.1, 0, 0] }
        bodies.rope = { node = "rope", mass = 2, inertia = [1, 1, 1] }
        springs.rope = { between = ["ground", "rope"], stiffness = 200, length = 1, acts = "in-tension" }
        nodes.bumper = { position = [0, 0.9, 0] }
        bodies.bumper = { node = "bumper", mass = 2, inertia = [1, 1, 1] }
        springs.bumper = { between = ["ground", "bumper"], stiffness = 200, length = 1, acts = "in-compression" }
        nodes.strut = { position = [0, 0, 1.1] }
        bodies.strut = { node = "strut", mass = 2, inertia = [1, 1, 1] }
        springs.strut = { between = ["ground", "strut"], length = 1, map = { d = [-1, 1], v = [-10, 10], force = [[-280, -120], [120, 280]] } }
        frames.turned = { orientation = { axis = [0, 0, 1], angle = 0 } }
        nodes.bar = { position = [5, 0, 0], angular_velocity = [0, 0, 1] }
        bodies.bar = { node = "bar", mass = 2, inertia = [1, 1, 2] }
        joints.bar = { type = "revolute", between = ["ground", "bar"] }
        torsion_springs.twist = { between = ["ground", "bar"], table = [[-1, -200], [0, 0], [1, 200]] }
        sensors.rope = { displacement = "rope", axis = [1, 0, 0] }
        sensors.bumper = { displacement = "bumper", axis = [0, 1, 0] }
        sensors.strut = { displacement = "strut", axis = [0, 0, 1] }
        sensors.bar = { coordinate = "bar" }
        "#,
    );
    let run = coupled(&model);
    let w = 10.0_f64;
    let release = TAU / 4.0 / w;
    // c = 8: d = 2, damped.
    let delta = 8.0 / 4.0;
    let damped = (w * w - delta * delta).sqrt();
    let columns = ["rope", "bumper", "strut", "bar"];
    let columns = columns.map(|name| run.column(&format!("m.sensors.{name}")));
    for (row, &t) in run.record.times.iter().enumerate() {
        let pulled = match t < release {
            true => 0.1 * (w * t).cos(),
            false => -0.1 * w * (t - release),
        };
        near(columns[0][row], 1.0 + pulled, 2e-4);
        near(columns[1][row], 1.0 - pulled, 2e-4);
        let (s, c) = (damped * t).sin_cos();
        let strut = 0.1 * (-delta * t).exp() * (c + delta / damped * s);
        near(columns[2][row], 1.0 + strut, 2e-4);
        near(columns[3][row], (w * t).sin() / w, 2e-4);
    }
}

/// A load by a table of what a sensor measures is a spring.
#[test]
fn a_table_of_a_sensor_drives_a_load() {
    let model = mechanism(
        r#"
        nodes.c = { position = [0.1, 0, 0] }
        bodies.c = { node = "c", mass = 2, inertia = [1, 1, 1] }
        sensors.x = { displacement = "c", axis = [1, 0, 0] }
        loads.pull = { on = "c", force = [{ table = [[-1, 200], [1, -200]], of = "x" }, 0, 0] }
        "#,
    );
    let run = coupled(&model);
    for (t, x) in run.record.times.iter().zip(run.column("m.sensors.x")) {
        near(x, 0.1 * (10.0 * t).cos(), 2e-4);
    }
}

/// Three nodes on a rigid link are one body: a pendulum with the mass and inertia of all.
#[test]
fn a_rigid_link_is_one_body() {
    let model = mechanism(
        r#"
        gravity = [0, 0, -9.81]
        nodes.top = { position = [0.1, 0, 0] }
        nodes.middle = { position = [0.5, 0, 0] }
        nodes.end = { position = [1, 0, 0] }
        bodies.middle = { node = "middle", mass = 1, inertia = [0.1, 0.1, 0.1] }
        bodies.end = { node = "end", mass = 2, inertia = [0.1, 0.1, 0.1] }
        joints.pivot = { type = "revolute", between = ["ground", "top"], position = [0, 0, 0], axis = [0, 1, 0] }
        rigid_links.rod = { master = "top", nodes = ["middle", "end"] }
        sensors.angle = { coordinate = "pivot" }
        sensors.pull = { force = "rod.end", axis = [0, 0, 1] }
        outputs.acc = { rotation = "pivot" }
        "#,
    );
    let run = coupled(&model);
    let inertia = 0.25 + 2.0 + 0.2;
    let alpha = 9.81 * (0.5 + 2.0) / inertia;
    near(run.column("m.acc.a")[0], alpha, 1e-9);
}

/// A bushing by its whole matrix: the static yield solves K q = f.
#[test]
fn a_bushing_by_its_whole_matrix() {
    let model = mechanism(
        r#"
        nodes.c = { position = [0, 0, 0] }
        bodies.c = { node = "c", mass = 2, inertia = [1, 1, 1] }
        bushings.b = { between = ["ground", "c"], stiffness_matrix = [
            [5000, 0, 0, 0, 0, 0], [0, 4000, 0, 0, 0, 100], [0, 0, 6000, 0, 0, 0],
            [0, 0, 0, 40, 0, 0], [0, 0, 0, 0, 50, 0], [0, 100, 0, 0, 0, 60]] }
        loads.f = { on = "c", force = [0, 0.01, 0] }
        "#,
    );
    let mechanism = model.mechanisms().next().unwrap();
    let rest = mechanism.equilibrium(None, 1).unwrap();
    let determinant = 4000.0 * 60.0 - 100.0 * 100.0;
    near(rest.poses[1].position[1], 0.01 * 60.0 / determinant, 1e-12);
    let turn = rest.poses[1].orientation.log()[2];
    near(turn, -0.01 * 100.0 / determinant, 1e-12);
}

/// Friction on a planar joint and in a ball: a sliding block, a spinning ball.
#[test]
fn friction_in_joints_of_several_degrees_of_freedom() {
    let model = mechanism(
        r#"
        gravity = [0, 0, -9.81]
        nodes.block = { position = [0, 0, 0], velocity = [1.8, 2.4, 0] }
        bodies.block = { node = "block", mass = 2, inertia = [0.1, 0.1, 0.1] }
        joints.table = { type = "planar", between = ["ground", "block"], friction = { coulomb = 0.2, stiffness = 1e5, radius = 0.1 } }
        nodes.ball = { position = [1, 0, 0], angular_velocity = [3, 4, 0] }
        bodies.ball = { node = "ball", mass = 2, inertia = [0.4, 0.4, 0.4] }
        joints.socket = { type = "spherical", between = ["ground", "ball"], friction = { coulomb = 0.2, stiffness = 1e5, radius = 0.05, preload = 20.38 } }
        sensors.v = { velocity = "block", axis = [0.6, 0.8, 0] }
        sensors.w = { angular_velocity = "ball", axis = [0.6, 0.8, 0] }
        "#,
    );
    let run = coupled(&model);
    near(last(&run, "m.sensors.v"), 3.0 - 0.2 * 9.81, 1e-2);
    // The ball hangs in its socket: preload and weight press.
    near(
        last(&run, "m.sensors.w"),
        5.0 - 0.2 * 40.0 * 0.05 / 0.4,
        1e-2,
    );
}

/// Prescribed slides and turns of a cylinder, and a prescribed slide of a carriage.
#[test]
fn cylinders_and_carriages_are_driven() {
    let model = mechanism(
        r#"
        nodes.a = { position = [0, 0, 0] }
        bodies.a = { node = "a", mass = 2, inertia = [0.1, 0.1, 0.1] }
        joints.a = { type = "cylindrical", between = ["ground", "a"], slide = "0.2 * t", angle_rate = 9 }
        nodes.b = { position = [1, 0, 0] }
        bodies.b = { node = "b", mass = 2, inertia = [0.1, 0.1, 0.1] }
        joints.b = { type = "prismatic", between = ["ground", "b"], axis = [0, 1, 0], slide = { sine = [0, 0.1, 1, 0] } }
        sensors.slide = { slide = "a" }
        sensors.angle = { coordinate = "a" }
        sensors.b = { coordinate = "b" }
        sensors.push = { torque = "b" }
        "#,
    );
    let run = coupled(&model);
    near(last(&run, "m.sensors.slide"), 0.2, 1e-9);
    near(last(&run, "m.sensors.angle"), 9.0, 1e-9);
    let pushes = run.column("m.sensors.push");
    for (row, t) in run.record.times.iter().enumerate() {
        let expected = 0.1 * (TAU * t).sin();
        near(run.column("m.sensors.b")[row], expected, 1e-9);
        if row > 20 {
            near(pushes[row], -2.0 * TAU * TAU * expected, 2e-3);
        }
    }
}
