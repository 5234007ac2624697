//! Prescribed motions: position alone, and position and velocity.

use oldham_multibody::{
    Body, Direction, Drive, ElementId, Joint, Marker, Mat3, Method, Model, Motion, NodeId, Options,
    PrescribedMotion, Quaternion, System, Vec3,
};

const OMEGA: f64 = 7.0;

fn place(t: f64) -> f64 {
    0.3 * (OMEGA * t).sin()
}

fn speed(t: f64) -> f64 {
    0.3 * OMEGA * (OMEGA * t).cos()
}

/// A carriage that moves along x as prescribed, and a pendulum that hangs from it.
fn crane(rho: f64) -> (System, [NodeId; 2], ElementId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let carriage = model.node("carriage", Motion::at(Vec3::ZERO));
    model.body(carriage, Body::centred(3.0, Mat3::IDENTITY));
    let bob = model.node("bob", Motion::at(Vec3::Z * -1.0));
    model.body(bob, Body::centred(1.0, Mat3::diagonal(0.1, 0.1, 0.1)));
    let [a, b] = [carriage, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.element("pivot", Joint::revolute(a, b));
    let both = |value: Direction, rate: Drive| (value, Some(rate));
    let locked = || both(Direction::Locked, Drive::ZERO);
    let drive = model.element(
        "drive",
        PrescribedMotion::new(
            Marker::on(NodeId::GROUND),
            Marker::on(carriage),
            [
                both(
                    Direction::Prescribed(Drive::function(place)),
                    Drive::function(speed),
                ),
                locked(),
                locked(),
            ],
            [locked(), locked(), locked()],
        ),
    );
    let options = Options {
        method: Method::Lms2 { rho },
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    (system, [carriage, bob], drive)
}

#[test]
fn position_and_velocity_are_met_in_every_step() {
    for rho in [0.0, 0.6, 1.0] {
        let (mut system, [carriage, _], _) = crane(rho);
        for _ in 0..300 {
            system.step(1e-2, &[]).unwrap();
            let (t, motion) = (system.time(), system.motion(carriage));
            assert!((motion.position[0] - place(t)).abs() < 1e-9, "{rho} {t}");
            let error = motion.velocity[0] - speed(t);
            assert!(error.abs() < 1e-6, "{rho} {t}: {error:e}");
        }
    }
}

/// Positions and velocities of the pendulum, and the driving force, against a much finer run.
#[test]
fn the_method_keeps_its_order() {
    let run = |steps: usize| {
        let (mut system, [_, bob], drive) = crane(0.6);
        let h = 0.6 / steps as f64;
        (0..steps).for_each(|_| system.step(h, &[]).unwrap());
        let motion = *system.motion(bob);
        let force = system.multipliers(drive)[0];
        [motion.position[0], motion.velocity[0], force]
    };
    let (reference, coarse, fine) = (run(9600), run(150), run(300));
    for i in 0..3 {
        let errors = [coarse, fine].map(|values| (values[i] - reference[i]).abs());
        let order = (errors[0] / errors[1]).log2();
        assert!((order - 2.0).abs() < 0.25, "{i}: {order} {errors:?}");
    }
}

/// A position that stands and a velocity that does not, both from outside.
#[test]
fn an_inconsistent_motion_is_met_as_it_is() {
    let mut model = Model::new();
    let body = model.node("body", Motion::at(Vec3::ZERO));
    model.body(body, Body::centred(2.0, Mat3::IDENTITY));
    let free = || (Direction::Free, None);
    let given = (
        Direction::Prescribed(Drive::Input(0)),
        Some(Drive::Input(1)),
    );
    let joint = PrescribedMotion::new(
        Marker::on(NodeId::GROUND),
        Marker::on(body),
        [given, free(), free()],
        [free(), free(), free()],
    );
    model.element("hold", joint);
    let mut system = System::new(model, Options::default()).unwrap();
    let inputs = [0.25, 1.5];
    system.start(0.0, &inputs).unwrap();
    for _ in 0..50 {
        system.step(1e-2, &inputs).unwrap();
        let motion = system.motion(body);
        assert!((motion.position[0] - 0.25).abs() < 1e-9);
        assert!((motion.velocity[0] - 1.5).abs() < 1e-9);
    }
}

/// A rotor about a skew axis whose rotation vector is φ(t) n: its angular velocity is φ' n.
#[test]
fn a_prescribed_rotation_has_its_angular_velocity() {
    let axis = Vec3::new(2.0, -1.0, 2.0) * (1.0 / 3.0);
    let mut model = Model::new();
    let rotor = model.node("rotor", Motion::at(Vec3::ZERO));
    model.body(rotor, Body::centred(2.0, Mat3::diagonal(1.0, 2.0, 2.5)));
    let turn = [0, 1, 2].map(|i| {
        let n = axis[i];
        let angle = Drive::function(move |t| n * place(t));
        let rate = Drive::function(move |t| n * speed(t));
        (Direction::Prescribed(angle), Some(rate))
    });
    let locked = || (Direction::Locked, None);
    let joint = PrescribedMotion::new(
        Marker::on(NodeId::GROUND),
        Marker::on(rotor),
        [locked(), locked(), locked()],
        turn,
    );
    model.element("turn", joint);
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..200 {
        system.step(1e-2, &[]).unwrap();
        let (t, motion) = (system.time(), system.motion(rotor));
        let turned = Quaternion::exp(axis * place(t)).conjugate();
        assert!(turned.times(motion.orientation).log().norm() < 1e-8);
        assert!((motion.angular_velocity - axis * speed(t)).norm() < 1e-6);
    }
}
