//! Prescribed motions: position alone, and position and velocity.

use oldham_cosim::StageInputs;
use oldham_multibody::{
    Body, Direction, Drive, ElementId, Joint, Marker, Mat3, Method, Model, Motion, NodeId, Options,
    PrescribedMotion, Quaternion, System, Vec3,
};

const OMEGA: f64 = 7.0;
const LMS2: Method = Method::Lms2 { rho: 0.6 };
const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Interpolated,
};

fn by(method: Method) -> Options {
    Options {
        method,
        ..Options::default()
    }
}

fn place(t: f64) -> f64 {
    0.3 * (OMEGA * t).sin()
}

fn speed(t: f64) -> f64 {
    0.3 * OMEGA * (OMEGA * t).cos()
}

/// A carriage that moves along x as prescribed, and a pendulum that hangs from it.
fn crane(method: Method) -> (System, [NodeId; 2], ElementId) {
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
    let mut system = System::new(model, by(method)).unwrap();
    system.start(0.0, &[]).unwrap();
    (system, [carriage, bob], drive)
}

#[test]
fn position_and_velocity_are_met_in_every_step() {
    let implicit = [0.0, 0.6, 1.0].map(|rho| Method::Lms2 { rho });
    for method in implicit.into_iter().chain([RK4]) {
        let (mut system, [carriage, _], _) = crane(method);
        for _ in 0..300 {
            system.step(1e-2, &[]).unwrap();
            let (t, motion) = (system.time(), system.motion(carriage));
            let error = motion.position[0] - place(t);
            assert!(error.abs() < 1e-9, "{method:?} {t}: {error:e}");
            let error = motion.velocity[0] - speed(t);
            assert!(error.abs() < 1e-6, "{method:?} {t}: {error:e}");
        }
    }
}

/// Positions and velocities of the pendulum, and the driving force, against a much finer run.
#[test]
fn the_method_keeps_its_order() {
    for (method, expected, steps) in [(LMS2, 2.0, 150), (RK4, 4.0, 20)] {
        let run = |steps: usize| {
            let (mut system, [_, bob], drive) = crane(method);
            let h = 0.6 / steps as f64;
            (0..steps).for_each(|_| system.step(h, &[]).unwrap());
            let motion = *system.motion(bob);
            let force = system.multipliers(drive)[0];
            [motion.position[0], motion.velocity[0], force]
        };
        let (reference, coarse, fine) = (run(16 * steps), run(steps), run(2 * steps));
        for i in 0..3 {
            let errors = [coarse, fine].map(|values| (values[i] - reference[i]).abs());
            let order = (errors[0] / errors[1]).log2();
            assert!(
                (order - expected).abs() < 0.25,
                "{method:?}, {i}: {order} {errors:?}"
            );
        }
    }
}

/// A position that stands and a velocity that does not, both from outside.
#[test]
fn an_inconsistent_motion_is_met_as_it_is() {
    [LMS2, RK4]
        .into_iter()
        .for_each(meets_an_inconsistent_motion);
}

fn meets_an_inconsistent_motion(method: Method) {
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
    let mut system = System::new(model, by(method)).unwrap();
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
    [LMS2, RK4].into_iter().for_each(turns_as_prescribed);
}

fn turns_as_prescribed(method: Method) {
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
    let mut system = System::new(model, by(method)).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..200 {
        system.step(1e-2, &[]).unwrap();
        let (t, motion) = (system.time(), system.motion(rotor));
        let turned = Quaternion::exp(axis * place(t)).conjugate();
        assert!(turned.times(motion.orientation).log().norm() < 1e-8);
        assert!((motion.angular_velocity - axis * speed(t)).norm() < 1e-6);
    }
}
