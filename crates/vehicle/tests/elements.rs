//! Brakes, motors, anti-roll bars, aerodynamics and ground contact: derivatives and balances.

mod common;

use oldham_multibody::element::assert_derivatives;
use oldham_multibody::{
    Body, Drive, Joint, LuGre, Marker, Mat3, Model, Motion, NodeId, Options, Quaternion, System,
    Vec3,
};
use oldham_vehicle::{
    AeroMap, Aerodynamics, AntiRollBar, DiscBrake, DrivenAxle, EngineMap, FinalDrive,
    GroundContact, GroundLaw, HeightGrid, HubMotor, MotorLimits, Road,
};
use std::sync::Arc;

const FRICTION: LuGre = LuGre {
    coulomb: 0.4,
    stiction: 0.45,
    stribeck: 0.01,
    stiffness: 1e5,
    damping: 30.0,
    viscous: 0.0,
};
const LIMITS: MotorLimits = MotorLimits {
    torque: 300.0,
    power: 20e3,
    speed: 150.0,
};

/// Two nodes with one axis, the second turning about it.
fn axle(spin: f64) -> (Model, [NodeId; 2], Vec3) {
    let mut model = Model::new();
    let turn = Quaternion::exp(Vec3::new(0.1, -0.2, 0.3));
    let carrier = Motion::at_rest(Vec3::ZERO, turn).moving(Vec3::ZERO, Vec3::new(0.2, 0.1, -0.3));
    let axis = carrier.rotation * Vec3::Y;
    let rotor = carrier.moving(Vec3::ZERO, carrier.angular_velocity + axis * spin);
    let nodes = [model.node("carrier", carrier), model.node("rotor", rotor)];
    (model, nodes, Vec3::Y)
}

#[test]
fn derivatives_are_those_of_differences() {
    // Sliding steadily, and in presliding.
    for spin in [40.0, 2e-3, -1e-3] {
        let (mut model, nodes, axis) = axle(spin);
        let brake = DiscBrake::new(nodes, axis, 0.09, Drive::Constant(900.0), FRICTION);
        model.element("brake", brake);
        assert_derivatives(model, 0.0, &[], 1e-6);
    }
    for spin in [40.0, -3.0, 120.0] {
        let (mut model, nodes, axis) = axle(spin);
        let command = Drive::Constant(250.0);
        model.element("motor", HubMotor::new(nodes, axis, command, LIMITS));
        assert_derivatives(model, 0.0, &[], 1e-6);
    }
    let mut model = Model::new();
    let turned = |angle: f64| Motion::at_rest(Vec3::ZERO, Quaternion::exp(Vec3::X * angle));
    let chassis = model.node("chassis", turned(0.0).moving(Vec3::ZERO, Vec3::ZERO));
    let left = model.node("left", turned(0.3).moving(Vec3::ZERO, Vec3::X * 0.7));
    let right = model.node("right", turned(0.2).moving(Vec3::ZERO, Vec3::X * -0.4));
    let orientations = [Mat3::IDENTITY; 3];
    let bar = AntiRollBar::new(
        [chassis, left, right],
        orientations,
        [Vec3::X, -Vec3::X],
        300.0,
        5.0,
    );
    model.element("bar", bar);
    assert_derivatives(model, 0.0, &[], 1e-6);
    // Below idle, in the map, on the overrun, with a lock.
    for (throttle, spins) in [(1.0, [5.0, 5.2]), (0.7, [60.0, 59.0]), (0.0, [-3.0, 90.0])] {
        let (mut model, [chassis, left], _) = axle(spins[0]);
        let (others, [_, rotor], _) = axle(spins[1]);
        let right = model.node("right", *others.initial(rotor));
        model.element("axle", driven_axle([chassis, left, right], throttle));
        assert_derivatives(model, 0.0, &[], 1e-6);
    }
}

/// An engine with a differential on three nodes.
fn driven_axle(nodes: [NodeId; 3], throttle: f64) -> DrivenAxle {
    let map = EngineMap {
        speeds: vec![100.0, 300.0, 500.0],
        full: vec![40.0, 60.0, 0.0],
        drag: vec![5.0, 10.0, 20.0],
    };
    let drive = FinalDrive {
        ratio: 4.0,
        idle: 150.0,
        preload: 20.0,
        locking: 0.3,
    };
    DrivenAxle::new(nodes, Vec3::Y, Drive::Constant(throttle), map, drive)
}

/// Two wheels at different speeds, the clutch slipping at 150 rad/s: the engine's torque there drives
/// both, and what the lock carries over brings them together.
#[test]
fn a_differential_drives_both_wheels_and_its_lock_brings_them_together() {
    let mut model = Model::new();
    let inertia = 0.5;
    let [left, right] = [("left", 30.0), ("right", 24.0)].map(|(name, spin)| {
        let rim = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::Y * spin);
        let rim = model.node(name, rim);
        model.body(rim, Body::centred(6.0, Mat3::diagonal(0.3, inertia, 0.3)));
        let [a, b] = [NodeId::GROUND, rim].map(|node| Marker::on(node).axis(Vec3::Y));
        model.element(format!("bearing of {name}"), Joint::revolute(a, b));
        rim
    });
    model.element("axle", driven_axle([NodeId::GROUND, left, right], 1.0));
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let h = 1e-4;
    let mut go = |steps: usize| {
        (0..steps).for_each(|_| system.step(h, &[]).unwrap());
        [left, right].map(|rim| system.motion(rim).angular_velocity[1])
    };
    let [faster, slower] = go(200);
    let driving = 4.0 * 45.0;
    let sum = 54.0 + driving / inertia * 0.02;
    assert!(
        (faster + slower - sum).abs() < 1e-3 * sum,
        "{faster} {slower} {sum}"
    );
    let apart = 6.0 - (20.0 + 0.3 * driving) / inertia * 0.02;
    assert!(
        (faster - slower - apart).abs() < 0.05,
        "{faster} {slower} {apart}"
    );
    let [left, right] = go(1000);
    assert!((left - right).abs() < 1e-2, "{left} {right}");
}

fn map(values: [f64; 4]) -> HeightGrid {
    HeightGrid::new([0.02, 0.02], [0.04, 0.06], [2, 2], values.to_vec())
}

fn aero(model: &mut Model, start: Motion) -> Aerodynamics {
    let chassis = model.node("chassis", start);
    let map = AeroMap {
        drag: map([1.2, 1.3, 1.1, 1.25]),
        front: map([1.4, 1.1, 1.3, 1.0]),
        rear: map([1.5, 1.6, 1.2, 1.3]),
        by_yaw: [0.5, -1.0, -1.5],
        side: 1.1,
        yawing: 0.2,
    };
    let points = [Vec3::new(0.8, 0.0, -0.25), Vec3::new(-0.75, 0.0, -0.24)];
    Aerodynamics::new(chassis, points, 1.2, 1.1, map, Arc::new(Road::flat()))
}

#[test]
fn derivatives_of_aerodynamics_and_ground_contact() {
    let turn = Quaternion::exp(Vec3::new(0.01, 0.02, 0.3));
    let start = Motion::at_rest(Vec3::new(1.0, 2.0, 0.3), turn)
        .moving(Vec3::new(25.0, 9.0, -0.2), Vec3::new(0.1, 0.2, 0.5));
    let mut model = Model::new();
    let aero = aero(&mut model, start);
    model.element("aero", aero);
    assert_derivatives(model, 0.0, &[], 1e-6);
    let mut model = Model::new();
    let chassis = model.node("chassis", start);
    let law = GroundLaw {
        stiffness: 2e5,
        damping: 500.0,
        friction: 0.6,
    };
    let point = Vec3::new(0.5, 0.1, -0.32);
    let contact = GroundContact::new(chassis, point, law, Arc::new(Road::flat()));
    model.element("floor", contact);
    assert_derivatives(model, 0.0, &[], 1e-6);
}

/// Straight on at given ride heights: forces at both axles are coefficient times dynamic pressure.
#[test]
fn downforce_acts_where_it_is_said_to() {
    let speed = 30.0;
    let start = Motion::at(Vec3::new(0.0, 0.0, 0.29)).moving(Vec3::X * speed, Vec3::ZERO);
    let mut model = Model::new();
    let aero = aero(&mut model, start);
    model.body(
        NodeIdOf(&model).last(),
        Body::centred(250.0, Mat3::diagonal(20.0, 90.0, 100.0)),
    );
    let id = model.element("aero", aero);
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let (force, moment) = system.wrench(id, 0, &[]);
    // Ride heights 0.04 and 0.05: the middle of the map, where the spline gives the mean.
    let q = 0.5 * 1.2 * 1.1 * speed * speed;
    let mean = |values: [f64; 4]| values.iter().sum::<f64>() / 4.0;
    let (front, rear) = (
        q * mean([1.4, 1.1, 1.3, 1.0]),
        q * mean([1.5, 1.6, 1.2, 1.3]),
    );
    let drag = q * mean([1.2, 1.3, 1.1, 1.25]);
    let share = speed / speed.hypot(1.0);
    assert!((force - Vec3::new(-drag * share, 0.0, -front - rear)).norm() < 1e-9);
    let pitching = 0.8 * front - 0.75 * rear + 0.245 * drag * share;
    assert!((moment[1] - pitching).abs() < 1e-9, "{moment:?} {pitching}");
}

struct NodeIdOf<'m>(&'m Model);

impl NodeIdOf<'_> {
    fn last(&self) -> NodeId {
        self.0.moving_nodes().last().expect("a node").0
    }
}

/// A disc that is braked from spin: Coulomb's torque gives the time to standstill.
#[test]
fn a_brake_stops_a_disc_in_the_time_of_its_torque() {
    let (inertia, spin, clamping, radius) = (0.3, 60.0, 500.0, 0.09);
    let mut model = Model::new();
    let rim = model.node(
        "rim",
        Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::Y * spin),
    );
    model.body(rim, Body::centred(5.0, Mat3::diagonal(0.2, inertia, 0.2)));
    let [a, b] = [NodeId::GROUND, rim].map(|node| Marker::on(node).axis(Vec3::Y));
    model.element("bearing", Joint::revolute(a, b));
    let friction = LuGre {
        stiction: FRICTION.coulomb,
        ..FRICTION
    };
    let brake = DiscBrake::new(
        [NodeId::GROUND, rim],
        Vec3::Y,
        radius,
        Drive::Constant(clamping),
        friction,
    );
    model.element("brake", brake);
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let torque = 2.0 * clamping * radius * friction.coulomb;
    let stop = inertia * spin / torque;
    let h = 1e-3;
    let steps = (0.5 * stop / h) as usize;
    for _ in 0..steps {
        system.step(h, &[]).unwrap();
    }
    let expected = spin - torque / inertia * steps as f64 * h;
    let found = system.motion(rim).angular_velocity[1];
    assert!((found - expected).abs() < 2e-3 * spin, "{found} {expected}");
    for _ in steps..(1.2 * stop / h) as usize {
        system.step(h, &[]).unwrap();
    }
    let left = system.motion(rim).angular_velocity[1];
    assert!(left.abs() < 1e-3, "{left}");
}
