//! Models that are wrong, incomplete or inconsistent.

use oldham_multibody::{
    Body, Drive, Joint, Law, Marker, Mat3, Model, Motion, NodeId, Options, Rod, System, Vec3,
};
use std::f64::consts::PI;

fn started(model: Model) -> System {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

/// A massless double hinge: the intermediate node has no inertia at all. In units of every size.
#[test]
fn a_node_without_mass_is_carried_by_its_joints() {
    let build = |massless: bool, length: f64, mass: f64| {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, -9.81 * length, 0.0));
        let bob = model.node("bob", Motion::at(Vec3::X * length));
        let inertia = 0.1 * mass * length * length;
        let inertia = Mat3::diagonal(inertia, inertia, inertia);
        model.body(bob, Body::centred(mass, inertia));
        let hinge = |model: &Model, n| model.axis_marker(n, Vec3::ZERO, Vec3::Z);
        let last = if massless {
            let link = model.node("link", Motion::at(Vec3::ZERO));
            let [p, q] = [NodeId::GROUND, link].map(|n| hinge(&model, n));
            model.element("hinge", Joint::revolute(p, q));
            link
        } else {
            NodeId::GROUND
        };
        let [p, q] = [last, bob].map(|n| hinge(&model, n));
        let joint = if massless {
            Joint::clamp(p, q)
        } else {
            Joint::revolute(p, q)
        };
        model.element("arm", joint);
        let mut system = started(model);
        (0..1000).for_each(|_| system.step(1e-3, &[]).unwrap());
        system.motion(bob).position * length.recip()
    };
    for (length, mass) in [
        (1.0, 1.0),
        (1e3, 1e-3),
        (1e-3, 1e-9),
        (1e6, 1e12),
        (1e-6, 1e3),
    ] {
        let difference = build(true, length, mass) - build(false, length, mass);
        assert!(
            difference.norm() < 1e-6,
            "{length} m, {mass} kg: {difference:?}"
        );
    }
}

#[test]
fn redundant_joints_are_named() {
    let mut model = Model::new();
    let plate = model.node("plate", Motion::at(Vec3::ZERO));
    model.body(plate, Body::centred(1.0, Mat3::IDENTITY));
    for (name, x) in [("left hinge", -1.0), ("right hinge", 1.0)] {
        let place = Vec3::new(x, 0.0, 0.0);
        let [a, b] = [NodeId::GROUND, plate].map(|n| model.axis_marker(n, place, Vec3::X));
        model.element(name, Joint::revolute(a, b));
    }
    let mut system = System::new(model, Options::default()).unwrap();
    let message = system.start(0.0, &[]).unwrap_err().to_string();
    assert!(
        message.contains("left hinge") && message.contains("right hinge"),
        "{message}"
    );
}

/// A wheel without any load is at rest in every position.
#[test]
fn a_free_motion_is_named_in_statics() {
    let mut model = Model::new();
    let wheel = model.node("wheel", Motion::at(Vec3::ZERO));
    model.body(wheel, Body::centred(1.0, Mat3::IDENTITY));
    let [a, b] = [NodeId::GROUND, wheel].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("axle", Joint::revolute(a, b));
    let mut system = System::new(model, Options::default()).unwrap();
    let message = system.equilibrium(0.0, 1, &[]).unwrap_err().to_string();
    assert!(
        message.contains("wheel") || message.contains("axle"),
        "{message}"
    );
}

#[test]
fn a_law_that_gives_no_number_is_named() {
    let mut model = Model::new();
    let mass = model.node("mass", Motion::at(Vec3::X));
    model.body(mass, Body::centred(1.0, Mat3::IDENTITY));
    let pull = Drive::function(|t| if t > 0.0105 { f64::NAN } else { 1.0 });
    let ends = (Marker::on(NodeId::GROUND), Marker::on(mass));
    model.element(
        "winch",
        Rod::new(ends.0, ends.1, 0.0, Law::Prescribed(pull)),
    );
    let mut system = started(model);
    let error = (0..100).find_map(|_| system.step(1e-3, &[]).err()).unwrap();
    assert!(error.to_string().contains("winch"), "{error}");
    assert!(
        (system.time() - 0.010).abs() < 1e-9,
        "the last good state is kept"
    );
}

#[test]
fn unphysical_bodies_are_refused_all_at_once() {
    let mut model = Model::new();
    for (name, mass, j) in [("light", -1.0, 1.0), ("flat", 1.0, 9.0), ("good", 1.0, 1.5)] {
        let node = model.node(name, Motion::at(Vec3::ZERO));
        model.body(node, Body::centred(mass, Mat3::diagonal(1.0, 1.0, j)));
    }
    let problems = System::new(model, Options::default()).err().unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
}

/// Start from rest, hanging out of reach of the joint: positions are assembled first.
#[test]
fn positions_and_velocities_are_made_consistent() {
    let mut model = Model::new();
    let bob = model.node("bob", Motion::at(Vec3::new(1.1, 0.2, 0.0)));
    model.body(bob, Body::centred(1.0, Mat3::IDENTITY));
    let rod = Joint::distance(Marker::on(NodeId::GROUND), Marker::on(bob), 1.0);
    model.element("rod", rod);
    let turned = model.node(
        "turned",
        Motion::at(Vec3::ZERO).moving(Vec3::new(0.0, 1.0, 0.0), Vec3::ZERO),
    );
    model.body(turned, Body::centred(1.0, Mat3::IDENTITY));
    let far = Marker::on(turned).offset(Vec3::new(PI, 0.0, 0.0));
    let mut place = Marker::on(NodeId::GROUND);
    place.offset = Vec3::new(PI, 0.0, 0.0);
    model.element("pivot", Joint::spherical(place, far));
    let system = started(model);
    assert!((system.motion(bob).position.norm() - 1.0).abs() < 1e-12);
    let motion = system.motion(turned);
    let at_pivot = motion.velocity + motion.angular_velocity.cross(Vec3::new(PI, 0.0, 0.0));
    assert!(at_pivot.norm() < 1e-9, "{at_pivot:?}");
}

/// A long chain that is held at both ends, one of them twice. Only those are named who take part,
/// and in no time: the check is sparse, and weak pivots do not make the matrix dense.
#[test]
fn redundancy_in_a_large_model_is_named_quickly() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let (mut last, mut links) = (NodeId::GROUND, Vec::new());
    for i in 0..1000 {
        let link = model.node(format!("link {i}"), Motion::at(Vec3::X * (i as f64 + 0.5)));
        model.body(link, Body::centred(1.0, Mat3::diagonal(0.1, 0.1, 0.1)));
        let [a, b] = [last, link].map(|n| model.marker(n, Vec3::X * i as f64));
        model.element(format!("joint {i}"), Joint::universal(a, b));
        links.push(link);
        last = link;
    }
    let [a, b] = [NodeId::GROUND, last].map(|n| model.axis_marker(n, Vec3::X * 1000.0, Vec3::Z));
    model.element("far end", Joint::in_plane(a, b));
    let pair = [links[399], links[400]];
    let [a, b] = pair.map(|n| model.axis_marker(n, Vec3::X * 400.0, Vec3::X));
    model.element("again", Joint::in_line(a, b));
    let start = std::time::Instant::now();
    let mut system = System::new(model, Options::default()).unwrap();
    let error = system.start(0.0, &[]).unwrap_err();
    let oldham_multibody::SolveError::Redundant { joints } = &error else {
        panic!("{error}");
    };
    assert_eq!(joints, &["joint 400", "again"]);
    let spent = start.elapsed().as_secs_f64();
    assert!(spent < 10.0, "{spent} s");
}
