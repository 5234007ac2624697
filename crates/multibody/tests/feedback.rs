//! Loads that read sensors: feedback of any stiffness, without delay.

use oldham_multibody::{
    Body, Coordinate, CoordinateForce, Drive, Joint, Load, Marker, Mat3, Measured, Model, Motion,
    NodeId, Options, Sensor, System, Vec3,
};

/// An upright arm of two links in gravity, each 1 m long, of 1 kg.
fn arm() -> (Model, [NodeId; 2], [[Marker; 2]; 2]) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let mut below = NodeId::GROUND;
    let mut hinges = Vec::new();
    let links = [0.0, 1.0].map(|height| {
        let name = format!("link {height}");
        let node = model.node(name, Motion::at(Vec3::Z * (height + 0.5)));
        model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.08));
        let place = Vec3::Z * height;
        let ends = [below, node].map(|n| model.axis_marker(n, place, Vec3::Y));
        model.element(format!("hinge {height}"), Joint::revolute(ends[0], ends[1]));
        hinges.push(ends);
        below = node;
        node
    });
    (model, links, [hinges[0], hinges[1]])
}

fn target(t: f64) -> f64 {
    0.4 * (3.0 * t).sin()
}

/// Torques as loads of sensors on both links of each hinge.
fn with_feedback(gains: [f64; 2]) -> (Model, [NodeId; 2]) {
    let (mut model, links, hinges) = arm();
    let [stiffness, damping] = gains;
    for (i, ends) in hinges.into_iter().enumerate() {
        let torque = |sign: f64| {
            let sensors = vec![
                Sensor::Coordinate(Coordinate::Angle, ends),
                Sensor::Rate(Coordinate::Angle, ends),
            ];
            let law = move |r: &[f64]| sign * (stiffness * (target(r[0]) - r[1]) - damping * r[2]);
            let torque = Drive::Measured(Measured::new(sensors, law));
            let none = || [0.0; 3].map(Drive::Constant);
            (none(), [Drive::ZERO, torque, Drive::ZERO])
        };
        for (node, sign) in [(links[i], 1.0), (ends[0].node, -1.0)] {
            if node != NodeId::GROUND {
                let (force, moment) = torque(sign);
                let load = Load::fixed(Marker::on(node), force, moment);
                model.element(format!("torque {i} {sign}"), load);
            }
        }
    }
    (model, links)
}

/// The same as springs and dampers, whose derivatives have always been there.
fn with_springs([stiffness, damping]: [f64; 2]) -> (Model, [NodeId; 2]) {
    let (mut model, links, hinges) = arm();
    for (i, [a, b]) in hinges.into_iter().enumerate() {
        let free = Drive::function(target);
        let spring = CoordinateForce::torsion_spring(a, b, stiffness, damping, free);
        model.element(format!("spring {i}"), spring);
    }
    (model, links)
}

fn run((model, links): (Model, [NodeId; 2])) -> ([Motion; 2], System) {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..500 {
        system.step(1e-3, &[]).unwrap();
    }
    (links.map(|link| *system.motion(link)), system)
}

/// A step of 1 ms is up to 28 and 10⁴ times as long as what the damping of a joint would allow if the matrix did not
/// know of it: iterations diverged, steps were divided, matrices were called singular.
#[test]
fn servos_of_any_stiffness_are_springs_and_dampers() {
    for gains in [[500.0, 10.0], [2e4, 2.3e3], [1e7, 1e6]] {
        let (served, system) = run(with_feedback(gains));
        let (sprung, other) = run(with_springs(gains));
        let (counters, others) = (system.counters(), other.counters());
        println!("{gains:?}: {counters:?}, springs {others:?}");
        assert_eq!(counters.retries, 0, "{counters:?}");
        assert!(
            counters.iterations <= others.iterations + 100,
            "{counters:?} {others:?}"
        );
        for (a, b) in served.iter().zip(&sprung) {
            let error = (a.position - b.position).norm();
            assert!(error < 1e-8, "{gains:?}: {error:e}");
        }
    }
}

/// The load acts on one body and reads another one, far away: a block of the matrix that no joint has. The second mass
/// follows the first with x2' = -(x2 - x1) k / d; with d = 0 it would be there at once.
#[test]
fn a_load_may_read_a_body_that_nothing_connects() {
    let mut model = Model::new();
    let [leader, follower] = ["leader", "follower"].map(|name| {
        let node = model.node(name, Motion::at(Vec3::ZERO));
        model.body(node, Body::centred(1.0, Mat3::IDENTITY));
        node
    });
    model.place(leader, Motion::at(Vec3::ZERO).moving(Vec3::X, Vec3::ZERO));
    let sensors = vec![
        Sensor::Position(Marker::on(leader), Vec3::X),
        Sensor::Position(Marker::on(follower), Vec3::X),
        Sensor::Velocity(Marker::on(leader), Vec3::X),
        Sensor::Velocity(Marker::on(follower), Vec3::X),
    ];
    let pull = Measured::new(sensors, |r| 1e6 * (r[1] - r[2]) + 1e5 * (r[3] - r[4]));
    let none = || [0.0; 3].map(Drive::Constant);
    let force = [Drive::Measured(pull), Drive::ZERO, Drive::ZERO];
    model.element("pull", Load::fixed(Marker::on(follower), force, none()));
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    (0..1000).for_each(|_| system.step(1e-3, &[]).unwrap());
    let counters = system.counters();
    assert_eq!(counters.retries, 0, "{counters:?}");
    assert!(counters.iterations < 1200, "{counters:?}");
    // The fast root of s² + 1e5 s + 1e6 is gone after 0.1 ms; the slow one, -10.001/s, closes the gap that it left.
    let [s1, s2] = [-1.0, 1.0].map(|sign: f64| -5e4 + sign * (25e8_f64 - 1e6).sqrt());
    // The gap g = x1 - x2 begins with g = 0, g' = 1.
    let gap = ((s2).exp() - (s1).exp()) / (s2 - s1);
    let found = system.motion(leader).position[0] - system.motion(follower).position[0];
    assert!((found - gap).abs() < 1e-7, "{found:e} {gap:e}");
}

/// The wrong sign: the rate of a hinge pushes it on. The run was lost with "`pin` gives NaN", and nothing on the load.
#[test]
fn a_motion_that_feedback_drives_away_names_the_feedback() {
    let mut model = Model::new();
    let bob = model.node("bob", Motion::at(Vec3::X));
    model.body(bob, Body::centred(1.0, Mat3::IDENTITY * 0.01));
    let ends = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    model.element("pin", Joint::revolute(ends[0], ends[1]));
    let rate = vec![Sensor::Rate(Coordinate::Angle, ends)];
    let push = Drive::Measured(Measured::new(rate, |r| 50.0 * r[1]));
    let none = || [0.0; 3].map(Drive::Constant);
    let moment = [Drive::ZERO, push, Drive::ZERO];
    model.element("push", Load::fixed(Marker::on(bob), none(), moment));
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let lost = (0..1000).find_map(|_| system.step(1e-3, &[]).err());
    let said = lost.expect("no step follows it for ever").to_string();
    assert!(said.contains("`push` follows sensors"), "{said}");
    assert!(said.contains("wrong sign"), "{said}");
}
