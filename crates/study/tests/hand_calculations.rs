//! Machines among the examples against what one calculates by hand.

use std::f64::consts::TAU;

use oldham_model::About;
use oldham_multibody::Mode;
use oldham_study::{ModelFile, solve_in_memory, vibrations};

const G: f64 = 9.81;

/// A run of an example.
struct Ride {
    times: Vec<f64>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Ride {
    fn of(name: &str, settings: &[(&str, f64)]) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
        let file = ModelFile::new(format!("{folder}{name}.toml"));
        let file = settings
            .iter()
            .fold(file, |file, (key, value)| file.set(*key, *value));
        let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
        let recorded = solve_in_memory(&model, 1, None, &mut |_| {});
        let recorded = recorded.unwrap_or_else(|error| panic!("{name}: {error}"));
        Self {
            times: recorded.times,
            names: recorded.names,
            columns: recorded.columns,
        }
    }

    /// A signal at a time.
    fn at(&self, time: f64, signal: &str) -> f64 {
        let row = self.times.partition_point(|t| *t < time - 1e-9);
        let column = self.names.iter().position(|name| name == signal);
        let column = column.unwrap_or_else(|| panic!("no `{signal}`"));
        self.columns[column][row.min(self.times.len() - 1)]
    }

    fn end(&self, signal: &str) -> f64 {
        self.at(f64::INFINITY, signal)
    }
}

fn assert_close(found: f64, expected: f64, share: f64) {
    let off = (found - expected).abs() / expected.abs();
    assert!(off < share, "{found} instead of {expected}");
}

/// The torque of the motor, which falls along a line, and the drag of the fan balance where a quadratic says; the
/// pulleys swing against each other on the belt.
#[test]
fn a_belt_drive_runs_at_the_speed_where_torques_balance() {
    let ride = Ride::of("belt-drive", &[]);
    let expected = (76.8_f64.sqrt() - 8.0) / 0.01;
    assert_close(ride.end("drive.sensors.fan"), expected, 1e-9);
    assert_close(ride.end("drive.sensors.motor"), 2.0 * expected, 1e-9);
    // Moment of the drag.
    let drag = 5e-3 * expected * expected;
    assert_close(ride.end("drive.sensors.belt"), drag, 1e-6);

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    let file = ModelFile::new(format!("{folder}belt-drive.toml"));
    let model = file.set("belt_damping", 0.0).read().unwrap();
    let found = vibrations(&model, About::Start, 6, None).unwrap();
    let modes = found.iter().flat_map(|of| &of.found.modes);
    let highest = modes.map(Mode::frequency).fold(0.0, f64::max);
    let omega = (2e4_f64 * (0.05_f64.powi(2) / 0.02 + 0.1_f64.powi(2) / 0.5)).sqrt();
    assert_close(highest, omega / TAU, 1e-6);
}

/// On a circle at walking pace the trailer's axle runs on one whose radius follows from lengths alone.
#[test]
fn a_trailer_cuts_the_corner_as_far_as_geometry_says() {
    let ride = Ride::of("tractor", &[("simulation.duration", 30.0)]);
    let signal = |name: &str| ride.end(&format!("rig.sensors.{name}"));
    let (hitch, drawbar): (f64, f64) = (0.8, 4.0);
    let radius = signal("vx") / signal("tractor_yaw");
    assert_close(radius, 8.0, 2e-3);
    let expected = (64.0 + hitch * hitch - drawbar * drawbar).sqrt();
    assert_close(
        signal("trailer_speed") / signal("trailer_yaw"),
        expected,
        5e-3,
    );
    // It stands where its tyres carry it, and the ball bears its part of the trailer.
    let on_ball = 6000.0 * G * 0.5 / drawbar;
    assert_close(ride.at(0.5, "rig.sensors.on_ball"), on_ball, 1e-3);
}

/// Moments about the line between both contact points, in a steady bend.
#[test]
fn a_motorcycle_leans_as_the_balance_of_moments_says() {
    let ride = Ride::of("motorcycle", &[]);
    let signal = |name: &str| ride.end(&format!("bike.sensors.{name}"));
    // At rest in its springs before the bend.
    assert!(ride.at(0.9, "bike.sensors.telescope").abs() < 1e-9);
    let lean = (signal("left_side") - signal("middle")).asin();
    let (yaw, radius) = (-signal("yaw_rate"), 0.3);
    let speed = signal("spin") * radius;
    // Mass, height, and the moments of inertia about the axes across and upright.
    let bodies: [(f64, f64, f64, f64); 6] = [
        (220.0, 0.65, 30.0, 22.0),
        (10.0, 0.8, 0.4, 0.3),
        (6.0, 0.3, 0.15, 0.05),
        (8.0, 0.3, 0.25, 0.25),
        (14.0, 0.3, 0.55, 0.3),
        (17.0, 0.3, 0.65, 0.35),
    ];
    let sum = |of: fn(&(f64, f64, f64, f64)) -> f64| bodies.iter().map(of).sum::<f64>();
    let first = sum(|(m, z, _, _)| m * z);
    let second = sum(|(m, z, across, upright)| m * z * z + across - upright);
    let track = speed / yaw;
    let spun = yaw * speed * (0.55 + 0.65) / radius;
    let moment = yaw * yaw * track * first + spun - yaw * yaw * lean.sin() * second;
    assert_close(moment, G * lean.tan() * first, 0.01);
    assert!(lean > 0.5 && (speed - 15.0).abs() < 1e-3, "{lean} {speed}");
}

/// A point that is so far along and above a body which is turned about the y axis, from a joint.
fn beyond([x, z]: [f64; 2], turned: f64, up: f64) -> [f64; 2] {
    [x + up * turned.sin(), z + up * turned.cos()]
}

/// In the bend each pair of joints carries the moment of what is above it.
#[test]
fn the_joints_of_a_humanoid_carry_what_is_above_them() {
    let ride = Ride::of("humanoid", &[("simulation.duration", 3.0)]);
    let at = |name: &str| ride.at(2.9, &format!("body.sensors.{name}"));
    // The legs share the load as their feet happen to stick: what both do together is determined.
    let angle =
        |joint: &str| 0.5 * (at(&format!("{joint}_l_angle")) + at(&format!("{joint}_r_angle")));
    let torque = |joint: &str| at(&format!("{joint}_l_torque")) + at(&format!("{joint}_r_torque"));
    let shank = -angle("ankle");
    let thigh = shank - angle("knee");
    let pelvis = thigh - angle("hip");
    let trunk = pelvis + at("waist_angle");
    let head = trunk + at("neck_angle");
    let upper = trunk + angle("shoulder");
    let fore = upper + angle("elbow");
    let ankle = [0.0, 0.08];
    let knee = beyond(ankle, shank, 0.42);
    let hip = beyond(knee, thigh, 0.42);
    let waist = beyond(hip, pelvis, 0.13);
    let (shoulder, neck) = (beyond(waist, trunk, 0.37), beyond(waist, trunk, 0.45));
    let elbow = beyond(shoulder, upper, -0.28);
    let above_hips = [
        (11.0, beyond(hip, pelvis, 0.05)),
        (24.0, beyond(waist, trunk, 0.22)),
        (5.0, beyond(neck, head, 0.12)),
        (4.0, beyond(shoulder, upper, -0.14)),
        (3.2, beyond(elbow, fore, -0.15)),
    ];
    let thighs = [(15.0, beyond(knee, thigh, 0.21))];
    let shanks = [(6.4, beyond(ankle, shank, 0.21))];
    let moment = |about: [f64; 2], parts: &[(f64, [f64; 2])]| -> f64 {
        parts.iter().map(|(m, at)| m * G * (at[0] - about[0])).sum()
    };
    let hips = moment(hip, &above_hips);
    let knees = moment(knee, &above_hips) + moment(knee, &thighs);
    let ankles = moment(ankle, &above_hips) + moment(ankle, &thighs) + moment(ankle, &shanks);
    // A part of the largest moment: it sways a little.
    for (joint, expected) in [("hip", hips), ("knee", knees), ("ankle", ankles)] {
        let off = torque(joint) - expected;
        assert!(
            off.abs() < 0.01 * knees.abs(),
            "{joint}: {} {expected}",
            torque(joint)
        );
    }
    let weight = 70.6 * G;
    assert_close(at("ground_l") + at("ground_r"), weight, 1e-3);
}

/// Three boxes are carried by friction and put down where the tables say; with half the grip that the lift takes they
/// stay on the table.
#[test]
fn a_packing_robot_holds_what_friction_can_hold() {
    let ride = Ride::of("packing-robot", &[]);
    let signal = |time: f64, name: &str| ride.at(time, &format!("robot.sensors.{name}"));
    for (number, place) in [0.43, 0.60, 0.77].into_iter().enumerate() {
        let at = |axis: &str| signal(f64::INFINITY, &format!("box{}_{axis}", number + 1));
        assert!((at("x") - place).abs() < 1e-4, "{}", at("x"));
        assert!((at("z") - 0.06).abs() < 1e-4, "{}", at("z"));
    }
    // Held still above the carton: palm, two jaws and a box.
    assert_close(signal(2.2, "lift_force"), (4.0 + 0.8 + 1.5) * G, 1e-4);
    for pad in ["left_pad", "right_pad"] {
        assert_close(signal(2.2, pad), 60.0, 1e-6);
    }
    let ride = Ride::of(
        "packing-robot",
        &[("grip", 16.0), ("simulation.duration", 2.5)],
    );
    assert!((ride.end("robot.sensors.box1_z") - 0.36).abs() < 1e-3);
}
