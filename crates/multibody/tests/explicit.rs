//! The explicit method: its order against closed forms, joints that stay closed, what it refuses.

mod elliptic;

use elliptic::{TUMBLING, Tumbling, pendulum_angle};
use oldham_cosim::{Hold, Inputs, Snapshot, Source, StageInputs, Subsystem};
use oldham_multibody::{
    Body, Drive, Frictional, Joint, Law, Load, LoadSensor, LuGre, Marker, Mat3, Measured,
    MechanismPart, Method, Model, ModelError, Motion, NodeId, Options, PartBuilder, Quaternion,
    Rod, Sensor, SolveError, System, Vec3,
};

const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Interpolated,
};

fn options() -> Options {
    Options {
        method: RK4,
        account_energy: true,
        ..Options::default()
    }
}

fn run(model: Model, end: f64, steps: usize) -> System {
    let mut system = System::new(model, options()).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..steps {
        system.step(end / steps as f64, &[]).unwrap();
    }
    system
}

fn assert_fourth_order(error: impl Fn(usize) -> f64, steps: usize) {
    let errors = [steps, 2 * steps, 4 * steps].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!(
            (order - 4.0).abs() < 0.2,
            "order {order}, errors {errors:?}"
        );
    }
}

fn tumbling() -> (Model, NodeId) {
    let Tumbling { j, start } = TUMBLING;
    let mut model = Model::new();
    let body = model.node("body", Motion::at(Vec3::ZERO).moving(Vec3::ZERO, start));
    model.body(body, Body::centred(1.0, Mat3::diagonal(j[0], j[1], j[2])));
    (model, body)
}

#[test]
fn a_body_without_torque_tumbles_with_fourth_order() {
    let error = |steps| {
        let (model, body) = tumbling();
        let system = run(model, 5.0, steps);
        let motion = system.motion(body);
        let in_body = motion.rotation.transpose_mul(motion.angular_velocity);
        (in_body - TUMBLING.spin(5.0)).norm()
    };
    assert_fourth_order(error, 100);
}

/// The moment of momentum stands still in the absolute frame: an oracle for the orientation.
#[test]
fn orientations_are_of_fourth_order_too() {
    let error = |steps| {
        let (model, body) = tumbling();
        let system = run(model, 5.0, steps);
        let Tumbling { j, start } = TUMBLING;
        let inertia = Mat3::diagonal(j[0], j[1], j[2]);
        let now = system.motion(body).rotation * (inertia * TUMBLING.spin(5.0));
        (now - inertia * start).norm()
    };
    assert_fourth_order(error, 100);
}

const LENGTH: f64 = 0.5;
const RELEASED_AT: f64 = 2.0;

/// A body on a hinge about z, released from rest; its node is its centre of mass.
fn pendulum() -> (Model, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let turn = Quaternion::exp(Vec3::Z * RELEASED_AT);
    let place = turn.matrix() * Vec3::new(0.0, -LENGTH, 0.0);
    let bob = model.node("bob", Motion::at_rest(place, turn));
    model.body(bob, Body::centred(2.0, Mat3::diagonal(0.1, 0.1, 0.1)));
    let [a, b] = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("hinge", Joint::revolute(a, b));
    (model, bob)
}

/// How far the hinge is open, and how fast it opens.
fn gap(motion: &Motion) -> [f64; 2] {
    let arm = motion.rotation * Vec3::new(0.0, LENGTH, 0.0);
    let opens = motion.velocity + motion.angular_velocity.cross(arm);
    [(motion.position + arm).norm(), opens.norm()]
}

#[test]
fn a_pendulum_swings_with_fourth_order_and_its_hinge_stays_closed() {
    let end = 1.5;
    // J about the hinge: 0.1 + 2 · 0.5²
    let rate = (2.0 * 9.81 * LENGTH / 0.6_f64).sqrt();
    let exact = pendulum_angle(RELEASED_AT, rate, end);
    let error = |steps| {
        let (model, bob) = pendulum();
        let system = run(model, end, steps);
        let motion = system.motion(bob);
        let [open, opens] = gap(motion);
        assert!(open < 1e-15, "{open:e}");
        assert!(opens < 1e-10, "{opens:e}");
        let angle = motion.rotation.0[1][0].atan2(motion.rotation.0[0][0]);
        (angle - exact).abs()
    };
    assert_fourth_order(error, 100);
}

/// m a of a pendulum at its angle and angular velocity.
#[test]
fn accelerations_belong_to_the_state_reached() {
    let (model, bob) = pendulum();
    let system = run(model, 0.7, 700);
    let motion = system.motion(bob);
    let angle = motion.rotation.0[1][0].atan2(motion.rotation.0[0][0]);
    let spin = motion.angular_velocity[2];
    let turning = -2.0 * 9.81 * LENGTH * angle.sin() / 0.6;
    let outward = motion.position * (1.0 / LENGTH);
    let along = Vec3::Z.cross(outward);
    let acceleration = along * (turning * LENGTH) - outward * (spin * spin * LENGTH);
    let (load, _) = system.inertia_load(bob);
    assert!((load - acceleration * 2.0).norm() < 1e-6, "{load:?}");
}

/// A symmetric top in steady precession about its tip (Goldstein, Classical Mechanics, Sect. 5.7).
#[test]
fn a_heavy_top_precesses_with_fourth_order() {
    let (mass, length, gravity, tilt) = (2.0_f64, 0.3, 9.81, 0.6_f64);
    let (j1_centre, j3, spin) = (0.02, 0.01, 250.0);
    let j1 = j1_centre + mass * length * length;
    let (a, b, c) = (j1 * tilt.cos(), -j3 * spin, mass * gravity * length);
    let precession = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
    let lean = Quaternion::exp(Vec3::X * tilt);
    let axis = lean.matrix() * Vec3::Z;
    let omega = Vec3::Z * precession + axis * (spin - precession * tilt.cos());
    let centre = axis * length;
    let end = 0.5;
    let expected = Quaternion::exp(Vec3::Z * (precession * end)).matrix() * centre;
    let error = |steps| {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -gravity));
        let motion = Motion::at_rest(centre, lean).moving(omega.cross(centre), omega);
        let top = model.node("top", motion);
        let inertia = Mat3::diagonal(j1_centre, j1_centre, j3);
        model.body(top, Body::centred(mass, inertia));
        let tip = model.marker(top, Vec3::ZERO);
        model.element("tip", Joint::spherical(Marker::on(NodeId::GROUND), tip));
        let system = run(model, end, steps);
        (system.motion(top).position - expected).norm()
    };
    assert_fourth_order(error, 500);
}

/// What a driven hinge and a damper do is what the energy changes by.
#[test]
fn work_is_integrated_with_the_order_of_the_motion() {
    let error = |steps| {
        let (mut model, bob) = pendulum();
        let place = model.initial(bob).position;
        let other = model.node("other", Motion::at(place + Vec3::X * 0.4));
        model.body(other, Body::centred(0.5, Mat3::diagonal(0.01, 0.01, 0.01)));
        let law = Law::Linear {
            stiffness: 40.0,
            damping: 3.0,
        };
        model.element(
            "damper",
            Rod::new(Marker::on(bob), Marker::on(other), 0.3, law),
        );
        let push = Drive::function(|t: f64| 5.0 * (3.0 * t).sin());
        let none = || Drive::ZERO;
        model.element(
            "push",
            Load::fixed(
                Marker::on(bob),
                [push, none(), none()],
                [none(), none(), none()],
            ),
        );
        let mut system = System::new(model, options()).unwrap();
        system.start(0.0, &[]).unwrap();
        let before = system.energy(&[]);
        for _ in 0..steps {
            system.step(1.0 / steps as f64, &[]).unwrap();
        }
        let after = system.energy(&[]);
        assert!(after.dissipated > 0.1 && after.supplied.abs() > 0.1);
        (after.stored() - before.stored() + after.dissipated - after.supplied).abs()
    };
    // The errors of motion and work partly cancel: the balance closes faster than either.
    let errors = [200, 400, 800].map(error);
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1]).log2() > 3.8, "{errors:?}");
    }
}

/// A driven joint: the crank follows its drive, which does the work on a rotor.
#[test]
fn a_driven_joint_follows_its_drive_and_its_work_is_the_kinetic_energy() {
    let mut model = Model::new();
    let rotor = model.node("rotor", Motion::at(Vec3::ZERO));
    model.body(rotor, Body::centred(1.0, Mat3::diagonal(0.2, 0.2, 0.4)));
    let [a, b] = [NodeId::GROUND, rotor].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    let drive = Drive::function(|t: f64| t * t * t);
    model.element("motor", Joint::driven_revolute(a, b, drive));
    let system = run(model, 1.0, 200);
    let motion = system.motion(rotor);
    let angle = motion.rotation.0[1][0].atan2(motion.rotation.0[0][0]);
    assert!((angle - 1.0).abs() < 1e-14, "{angle}");
    assert!((motion.angular_velocity[2] - 3.0).abs() < 1e-9);
    let energy = system.energy(&[]);
    assert!((energy.kinetic - 0.5 * 0.4 * 9.0).abs() < 1e-8);
    assert!(
        (energy.supplied - energy.kinetic).abs() < 1e-7,
        "{energy:?}"
    );
}

/// A drive that swings within milliseconds, by steps that resolve it.
#[test]
fn a_fast_drive_is_followed_with_its_velocity() {
    let (rate, end) = (1000.0, 0.0123);
    let error = |steps| {
        let mut model = Model::new();
        let rotor = model.node("rotor", Motion::at(Vec3::ZERO));
        model.body(rotor, Body::centred(1.0, Mat3::IDENTITY));
        let [a, b] = [NodeId::GROUND, rotor].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
        let drive = Drive::function(move |t: f64| 1e-2 * (rate * t).sin());
        model.element("motor", Joint::driven_revolute(a, b, drive));
        let system = run(model, end, steps);
        let spin = system.motion(rotor).angular_velocity[2];
        (spin / (1e-2 * rate) - (rate * end).cos()).abs()
    };
    let [coarse, fine] = [123, 246].map(error);
    assert!(coarse < 1e-6 && fine < 1e-7, "{coarse:e} {fine:e}");
}

#[test]
fn a_node_that_moves_no_mass_is_refused() {
    let (mut model, bob) = pendulum();
    let loose = model.node("loose", Motion::at(Vec3::X));
    let law = Law::Linear {
        stiffness: 1.0,
        damping: 0.0,
    };
    model.element(
        "thread",
        Rod::new(Marker::on(bob), Marker::on(loose), 0.0, law),
    );
    let mut system = System::new(model, options()).unwrap();
    let error = system.start(0.0, &[]).unwrap_err();
    assert!(
        matches!(&error, SolveError::WithoutInertia { unknown, .. } if unknown == "loose"),
        "{error}"
    );
}

/// Its rotation moves no mass, but the hinge leaves only the one that does.
#[test]
fn a_point_mass_on_a_hinge_is_not_refused() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let bob = model.node("bob", Motion::at(Vec3::X));
    model.body(bob, Body::centred(1.0, Mat3::ZERO));
    let [a, b] = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("hinge", Joint::revolute(a, b));
    let system = run(model, 0.5, 500);
    let fallen = system.energy(&[]);
    assert!(
        fallen.kinetic > 1.0 && fallen.stored().abs() < 1e-9,
        "{fallen:?}"
    );
}

#[test]
fn what_depends_on_the_past_or_on_reactions_is_refused() {
    let law = LuGre {
        coulomb: 0.1,
        stiction: 0.2,
        stribeck: 0.01,
        stiffness: 1e4,
        damping: 10.0,
        viscous: 0.0,
    };
    let mut model = Model::new();
    let rotor = model.node("rotor", Motion::at(Vec3::ZERO));
    model.body(rotor, Body::centred(1.0, Mat3::IDENTITY));
    let [a, b] = [NodeId::GROUND, rotor].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    let pin = model.element("pin", Frictional::revolute(a, b, 0.1, 1.0, law));
    let sensor = Sensor::Load(LoadSensor::force(pin, 1, Vec3::X));
    let follows = Drive::Measured(Measured::new(vec![sensor], |values| values[1]));
    let none = || Drive::ZERO;
    model.element(
        "feedback",
        Load::fixed(
            Marker::on(rotor),
            [follows, none(), none()],
            [none(), none(), none()],
        ),
    );
    let refused = System::new(model, options()).err().unwrap();
    let expected = [
        ModelError::DependsOnPast {
            element: "pin".into(),
        },
        ModelError::ReadsReactions {
            element: "feedback".into(),
        },
    ];
    assert_eq!(refused, expected);
}

#[test]
fn a_tangent_is_neither_shared_nor_used() {
    let (model, bob) = pendulum();
    let mut builder = PartBuilder::new(model);
    builder.attach("other", &[bob]);
    let refused = builder.build(options(), 1).err().unwrap();
    assert_eq!(refused, [ModelError::NoTangent]);
    let (mut model, _) = tumbling();
    let copy = model.node("copy", Motion::at(Vec3::X));
    let mut builder = PartBuilder::new(model);
    builder.prescribe("copy", copy);
    builder.share_tangent();
    let refused = builder.build(options(), 1).err().unwrap();
    assert_eq!(refused, [ModelError::NoTangent]);
}

/// Far beyond the limit of stability of a stiff spring.
#[test]
fn a_step_that_is_too_long_names_what_is_lost() {
    let mut model = Model::new();
    let mass = model.node("mass", Motion::at(Vec3::X * 1.1));
    model.body(mass, Body::centred(1.0, Mat3::IDENTITY));
    let law = Law::Linear {
        stiffness: 1e8,
        damping: 0.0,
    };
    model.element(
        "spring",
        Rod::new(Marker::on(NodeId::GROUND), Marker::on(mass), 1.0, law),
    );
    let mut system = System::new(model, options()).unwrap();
    system.start(0.0, &[]).unwrap();
    let failed = (0..1000).find_map(|_| system.step(0.1, &[]).err());
    let error = failed.expect("it blows up");
    assert!(
        matches!(
            &error,
            SolveError::Diverged { .. } | SolveError::NotFinite { .. }
        ),
        "{error}"
    );
}

/// A force that grows by 1 N/s.
struct Ramp;

impl Source for Ramp {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        out.fill(0.0);
        out[0] = t;
    }
}

/// A part driven by a wrench t N, of which the stages see the start or their own time: x = t³/6.
#[test]
fn stages_see_held_or_interpolated_inputs() {
    let end = |seen: StageInputs, steps: usize| {
        let mut model = Model::new();
        let mass = model.node("mass", Motion::at(Vec3::ZERO));
        model.body(mass, Body::centred(1.0, Mat3::IDENTITY));
        let mut builder = PartBuilder::new(model);
        let (wrench, _) = builder.load("push", mass);
        let options = Options {
            method: Method::Rk4 { inputs: seen },
            ..Options::default()
        };
        let mut part = builder.build(options, 2).unwrap();
        let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(0, part.ports())));
        inputs.drive(part.ports(), wrench, Box::new(Ramp));
        let h = 1.0 / steps as f64;
        for step in 0..steps {
            let from = step as f64 * h;
            part.advance(from, from + h, &mut inputs).unwrap();
        }
        part.system().motion(mass).position[0]
    };
    let exact = 1.0 / 6.0;
    assert!((end(StageInputs::Interpolated, 10) - exact).abs() < 1e-14);
    let error = |steps| (end(StageInputs::Held, steps) - exact).abs();
    let order = (error(10) / error(20)).log2();
    assert!((order - 1.0).abs() < 0.1, "{order}");
}

#[test]
fn a_restored_part_goes_on_with_the_same_bits() {
    let (model, bob) = pendulum();
    let mut builder = PartBuilder::new(model);
    builder.observe("bob", bob);
    let mut part = builder.build(options(), 1).unwrap();
    let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(0, part.ports())));
    let mut outputs = vec![0.0; part.ports().output_width()];
    let mut advance = |part: &mut MechanismPart, steps: std::ops::Range<u32>| {
        for step in steps {
            let t = f64::from(step) * 1e-2;
            part.advance(t, t + 1e-2, &mut inputs).unwrap();
        }
        part.outputs(0.5, &[], &mut outputs).unwrap();
        outputs.iter().map(|v| v.to_bits()).collect::<Vec<u64>>()
    };
    advance(&mut part, 0..10);
    let mut saved = Snapshot::default();
    saved.save(part.state().unwrap());
    let through = advance(&mut part, 10..50);
    advance(&mut part, 50..60);
    saved.restore(part.state().unwrap());
    assert_eq!(advance(&mut part, 10..50), through);
}
