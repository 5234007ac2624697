//! Laws given as functions, loads between nodes, and loads that follow what is measured.

use oldham_multibody::{
    Body, Bushing, Coordinate, CoordinateForce, Direction, Drive, InternalLoad, Joint, Law, Load,
    LoadSensor, Marker, Mat3, Measured, Model, Motion, NodeId, Options, Rod, Sensor, System, Vec3,
};

fn started(model: Model) -> System {
    let options = Options {
        account_energy: true,
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn none() -> [Drive; 3] {
    [Drive::ZERO, Drive::ZERO, Drive::ZERO]
}

/// A body of 2 kg and 2 kg m² at x = 1, without any joint.
fn body(model: &mut Model, motion: Motion) -> NodeId {
    let node = model.node("body", motion);
    model.body(node, Body::centred(2.0, Mat3::diagonal(2.0, 2.0, 2.0)));
    node
}

/// Γ(1/4)²/√π. The period of m x'' = -k x³ with amplitude A is this over A √(k/m).
const CUBIC: f64 = 7.416_298_709_2;

/// After a quarter of the period the oscillator passes the origin with v = A² √(k/2m).
fn assert_cubic(
    mut system: System,
    mass: f64,
    k: f64,
    amplitude: f64,
    x: impl Fn(&System) -> [f64; 2],
) {
    let period = CUBIC / (amplitude * (k / mass).sqrt());
    let steps = 2000;
    let before = system.energy(&[]).stored();
    for _ in 0..steps {
        system.step(0.25 * period / steps as f64, &[]).unwrap();
    }
    let [place, speed] = x(&system);
    assert!(place.abs() < 1e-5 * amplitude, "{place:e}");
    let expected = amplitude * amplitude * (k / (2.0 * mass)).sqrt();
    assert!(
        (speed.abs() / expected - 1.0).abs() < 1e-5,
        "{speed} {expected}"
    );
    let lost = before - system.energy(&[]).stored();
    assert!(lost.abs() < 1e-5 * before.abs(), "{lost:e} of {before}");
}

#[test]
fn a_rod_with_a_cubic_law_has_the_period_of_its_oscillator() {
    let (k, amplitude) = (300.0, 0.2);
    let mut model = Model::new();
    let node = body(&mut model, Motion::at(Vec3::X * (1.0 + amplitude)));
    let cubic = Law::function(move |e, _, _| k * e * e * e);
    let rod = Rod::new(Marker::on(NodeId::GROUND), Marker::on(node), 1.0, cubic);
    model.element("rod", rod);
    assert_cubic(started(model), 2.0, k, amplitude, |system| {
        let motion = system.motion(node);
        [motion.position[0] - 1.0, motion.velocity[0]]
    });
}

#[test]
fn bushings_and_torsion_bars_follow_laws_too() {
    let (k, amplitude) = (300.0, 0.2);
    let cubic = move || Law::function(move |e, _, _| k * e * e * e);
    let mut model = Model::new();
    let node = body(&mut model, Motion::at(Vec3::Y * amplitude));
    let mut bushing = Bushing::new(Marker::on(NodeId::GROUND), Marker::on(node));
    bushing.laws = vec![(1, cubic())];
    model.element("bushing", bushing);
    assert_cubic(started(model), 2.0, k, amplitude, |system| {
        let motion = system.motion(node);
        [motion.position[1], motion.velocity[1]]
    });
    let turned = oldham_multibody::Quaternion::exp(Vec3::Z * amplitude);
    let about_z = |system: &System, node: NodeId| {
        let motion = system.motion(node);
        [motion.orientation.log()[2], motion.angular_velocity[2]]
    };
    for kind in ["bushing", "torsion"] {
        let mut model = Model::new();
        let node = body(&mut model, Motion::at_rest(Vec3::ZERO, turned));
        let ends = (Marker::on(NodeId::GROUND), Marker::on(node));
        if kind == "bushing" {
            let mut bushing = Bushing::new(ends.0, ends.1);
            bushing.rotational_laws = vec![(2, cubic())];
            model.element(kind, bushing);
        } else {
            let bar = CoordinateForce::new(Coordinate::Angle, [ends.0, ends.1], cubic(), 0.0);
            model.element(kind, bar);
        }
        assert_cubic(started(model), 2.0, k, amplitude, |s| about_z(s, node));
    }
}

/// Momentum and moment of momentum of two free bodies stay zero, whatever acts between them, while
/// the bodies do move.
#[test]
fn internal_loads_move_no_whole() {
    for follower in [false, true] {
        let mut model = Model::new();
        let a = model.node("a", Motion::at(Vec3::new(0.3, 0.1, -0.2)));
        model.body(a, Body::centred(2.0, Mat3::diagonal(1.0, 2.0, 2.5)));
        let b = model.node("b", Motion::at(Vec3::new(-0.8, 0.5, 0.4)));
        model.body(b, Body::centred(3.0, Mat3::diagonal(0.6, 0.5, 0.9)));
        let force = [3.0, -5.0, 2.0].map(Drive::Constant);
        let moment = [0.4, 1.0, -0.7].map(Drive::Constant);
        let on = Marker::on(a).offset(Vec3::new(0.1, 0.2, 0.0));
        model.element("push", InternalLoad::new(on, b, force, moment, follower));
        let mut system = started(model);
        (0..1000).for_each(|_| system.step(1e-3, &[]).unwrap());
        let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
        let bodies = [
            (a, 2.0, Mat3::diagonal(1.0, 2.0, 2.5)),
            (b, 3.0, Mat3::diagonal(0.6, 0.5, 0.9)),
        ];
        for (node, mass, inertia) in bodies {
            let m = system.motion(node);
            let spin = m.rotation * (inertia * m.rotation.transpose_mul(m.angular_velocity));
            linear += m.velocity * mass;
            angular += m.position.cross(m.velocity) * mass + spin;
            assert!(m.velocity.norm() > 0.1 && m.angular_velocity.norm() > 0.1);
        }
        assert!(linear.norm() < 1e-9, "{linear:?}");
        assert!(angular.norm() < 2e-5, "{angular:?}");
        let energy = system.energy(&[]);
        let balance = energy.kinetic - energy.supplied;
        assert!(balance.abs() < 1e-4 * energy.kinetic, "{energy:?}");
    }
}

/// A force -k x - d v of what is measured is a spring and a damper: x = A e^(-δt) (cos ωt + δ/ω
/// sin ωt) from rest.
#[test]
fn feedback_of_place_and_velocity_is_a_damped_spring() {
    let (mass, k, d, amplitude) = (2.0_f64, 200.0_f64, 8.0_f64, 0.3);
    let mut model = Model::new();
    let node = body(&mut model, Motion::at(Vec3::X * amplitude));
    let sensors = vec![
        Sensor::Position(node.into(), Vec3::X),
        Sensor::Velocity(node.into(), Vec3::X),
    ];
    let control = Measured::new(sensors, move |r| -k * r[1] - d * r[2]);
    let force = [Drive::Measured(control), Drive::ZERO, Drive::ZERO];
    model.element("control", Load::fixed(Marker::on(node), force, none()));
    let mut system = started(model);
    let delta = d / (2.0 * mass);
    let omega = (k / mass - delta * delta).sqrt();
    for _ in 0..1000 {
        system.step(1e-3, &[]).unwrap();
        let (s, c) = (omega * system.time()).sin_cos();
        let expected = amplitude * (-delta * system.time()).exp() * (c + delta / omega * s);
        let error = system.motion(node).position[0] - expected;
        assert!(error.abs() < 1e-4 * amplitude, "{error:e}");
    }
}

/// A hinge's angle and rate, fed back as a torque: the pendulum's frequency is that of a torsion
/// spring. Small swings about the vertical axis, so that weight does nothing.
#[test]
fn feedback_of_a_joint_coordinate_is_a_torsion_spring() {
    let mut model = Model::new();
    let turned = oldham_multibody::Quaternion::exp(Vec3::Z * 0.4);
    let node = body(&mut model, Motion::at_rest(Vec3::ZERO, turned));
    let markers = [Marker::on(NodeId::GROUND), Marker::on(node)];
    model.element("hinge", Joint::revolute(markers[0], markers[1]));
    let sensors = vec![Sensor::Coordinate(Coordinate::Angle, markers)];
    let control = Measured::new(sensors, |r| -50.0 * r[1]);
    let moment = [Drive::ZERO, Drive::ZERO, Drive::Measured(control)];
    model.element("motor", Load::fixed(Marker::on(node), none(), moment));
    let mut system = started(model);
    let omega = 5.0;
    (0..1000).for_each(|_| system.step(1e-3, &[]).unwrap());
    let angle = system.motion(node).orientation.log()[2];
    let expected = 0.4 * (omega * system.time()).cos();
    assert!((angle - expected).abs() < 1e-4, "{angle} {expected}");
}

/// A scale: half of the reaction under a held body pushes another one. The reaction is the weight,
/// and the push brings (m g / 2) / m₂ once the multiplier is known.
#[test]
fn a_measured_reaction_drives_another_body() {
    let (g, mass) = (9.81, 2.0);
    let mut model = Model::new();
    model.gravity(Vec3::Z * -g);
    let held = body(&mut model, Motion::at(Vec3::ZERO));
    let clamp = Joint::clamp(Marker::on(NodeId::GROUND), Marker::on(held));
    let clamp = model.element("clamp", clamp);
    let cart = model.node("cart", Motion::at(Vec3::X));
    model.body(cart, Body::centred(5.0, Mat3::IDENTITY));
    use Direction::{Free, Locked};
    let [a, b] = [NodeId::GROUND, cart].map(|n| model.marker(n, Vec3::X));
    let rail = Joint::total(a, b, [Free, Locked, Locked], [Locked, Locked, Locked]);
    model.element("rail", rail);
    let scale = Sensor::Load(LoadSensor::force(clamp, 1, Vec3::Z));
    let push = Measured::new(vec![scale], |r| 0.5 * r[1]);
    let force = [Drive::Measured(push), Drive::ZERO, Drive::ZERO];
    model.element("push", Load::fixed(Marker::on(cart), force, none()));
    let mut system = started(model);
    system.step(1e-3, &[]).unwrap();
    let before = system.motion(cart).velocity[0];
    (0..1000).for_each(|_| system.step(1e-3, &[]).unwrap());
    let gained = system.motion(cart).velocity[0] - before;
    let expected = 0.5 * mass * g / 5.0;
    assert!(
        (gained / expected - 1.0).abs() < 2e-3,
        "{gained} {expected}"
    );
}
