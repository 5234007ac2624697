//! A multibody system behind ports.

use oldham_cosim::{
    EffectiveInterface, Hold, InputPort, Inputs, InterfaceResponse, Linearisable, Ports, Snapshot,
    Source, Subsystem,
};
use oldham_multibody::bench::{hanging_beam, spatial_chain};
use oldham_multibody::{
    Body, Coordinate, CoordinateForce, Direction, Drive, Joint, Law, Marker, Mat3, MechanismPart,
    Method, Model, ModelError, Motion, NodeId, Options, PartBuilder, PrescribedMotion, Quaternion,
    Rod, System, Vec3,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

fn no_exchange(ports: &Ports) -> Inputs {
    Inputs::new(ports, Box::new(Hold::new(0, ports)))
}

/// A node that is held carries its own weight: that is the load of the part on it.
#[test]
fn a_held_body_loads_its_node_with_its_weight() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -10.0));
    let node = model.node("body", Motion::at(Vec3::new(1.0, 2.0, 3.0)));
    let body = Body::centred(2.0, Mat3::IDENTITY).with_centre(Vec3::X * 0.1);
    model.body(node, body);
    let mut builder = PartBuilder::new(model);
    let (_, load) = builder.prescribe("hand", node);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let mut inputs = no_exchange(part.ports());
    for step in 0..3 {
        let t = 1e-3 * step as f64;
        let mut outputs = vec![0.0; 6];
        part.outputs(
            t,
            part.ports().initial_inputs().to_vec().as_slice(),
            &mut outputs,
        )
        .unwrap();
        let range = part.ports().output_range(load);
        let expected = [0.0, 0.0, -20.0, 0.0, 2.0, 0.0];
        for (value, expected) in outputs[range].iter().zip(expected) {
            assert!((value - expected).abs() < 1e-9, "{outputs:?}");
        }
        part.advance(t, t + 1e-3, &mut inputs).unwrap();
    }
}

struct Shaken;

const AMPLITUDE: f64 = 0.05;
const OMEGA: f64 = 30.0;

impl Source for Shaken {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        out.fill(0.0);
        out[3] = 1.0;
        out[1] = AMPLITUDE * (1.0 - (OMEGA * t).cos());
        out[8] = AMPLITUDE * OMEGA * (OMEGA * t).sin();
        out[14] = AMPLITUDE * OMEGA * OMEGA * (OMEGA * t).cos();
    }
}

fn pendulum_on(base: Motion) -> (Model, [NodeId; 2]) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let base = model.node("base", base);
    model.body(base, Body::centred(0.5, Mat3::diagonal(0.01, 0.02, 0.03)));
    let bob = model.node("bob", Motion::at(Vec3::new(0.3, 0.0, -0.4)));
    model.body(bob, Body::centred(1.0, Mat3::diagonal(0.01, 0.01, 0.01)));
    let [a, b] = [base, bob].map(|n| model.marker(n, Vec3::ZERO));
    model.element("pivot", Joint::spherical(a, b));
    (model, [base, bob])
}

/// The same motion, once through the port and once by a total pin joint with drives; and the load
/// on the port is the reaction of the joint, less the inertia of the base.
#[test]
fn a_prescribed_pose_is_a_total_pin_joint() {
    let (model, [base, bob]) = pendulum_on(Motion::at(Vec3::ZERO));
    let mut builder = PartBuilder::new(model);
    let (port, load) = builder.prescribe("base", base);
    let mut part = builder.build(Options::default(), 2).unwrap();
    let mut inputs = no_exchange(part.ports());
    inputs.drive(part.ports(), port, Box::new(Shaken));

    let (mut model, _) = pendulum_on(Motion::at(Vec3::ZERO));
    let shake = Drive::function(|t| AMPLITUDE * (1.0 - (OMEGA * t).cos()));
    let given = [
        Direction::Locked,
        Direction::Prescribed(shake),
        Direction::Locked,
    ];
    let locked = [(); 3].map(|()| Direction::Locked);
    let joint = Joint::total(Marker::on(NodeId::GROUND), Marker::on(base), given, locked);
    let pin = model.element("pin", joint);
    let mut whole = System::new(model, Options::default()).unwrap();
    whole.start(0.0, &[]).unwrap();

    for step in 0..500 {
        let t = 1e-3 * step as f64;
        part.advance(t, t + 1e-3, &mut inputs).unwrap();
        whole.step(0.5e-3, &[]).unwrap();
        whole.step(0.5e-3, &[]).unwrap();
    }
    let (a, b) = (part.system().motion(bob), whole.motion(bob));
    assert!((a.position - b.position).norm() < 1e-8);
    assert!((a.velocity - b.velocity).norm() < 1e-6);
    let mut at = vec![0.0; 19];
    inputs.at(0.5, &mut at);
    let mut outputs = vec![0.0; 6];
    part.outputs(0.5, &at, &mut outputs).unwrap();
    let range = part.ports().output_range(load);
    let reaction = whole.wrench(pin, 1, &[]).0;
    let inertia = whole.inertia_load(base).0;
    for i in 0..3 {
        let expected = inertia[i] - reaction[i];
        assert!(
            (outputs[range.start + i] - expected).abs() < 1e-3,
            "{outputs:?} {expected}"
        );
    }
}

fn chain_part() -> MechanismPart {
    let (model, nodes) = spatial_chain(4);
    let mut builder = PartBuilder::new(model);
    builder.load("tip", nodes[4]);
    builder
        .build(
            Options {
                account_energy: true,
                ..Options::default()
            },
            3,
        )
        .unwrap()
}

fn words(part: &mut MechanismPart) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.save(part.state().unwrap());
    snapshot
}

/// Saved at any point and continued, in the same part or in a new one, the run has the same bits.
#[test]
fn a_restored_run_continues_with_the_same_bits() {
    let h = 2e-3;
    let mut part = chain_part();
    let mut inputs = no_exchange(part.ports());
    let mut run = |part: &mut MechanismPart, from: usize, to: usize| {
        for step in from..to {
            part.advance(step as f64 * h, (step + 1) as f64 * h, &mut inputs)
                .unwrap();
        }
    };
    let saved: Vec<(usize, Snapshot)> = [0, 1, 2, 7, 30, 55]
        .into_iter()
        .scan(0, |reached, stop| {
            run(&mut part, *reached, stop);
            *reached = stop;
            Some((stop, words(&mut part)))
        })
        .collect();
    run(&mut part, 55, 80);
    let end = words(&mut part);
    let mut never_saved = chain_part();
    run(&mut never_saved, 0, 80);
    assert_eq!(words(&mut never_saved), end, "saving changes nothing");
    for (step, snapshot) in saved {
        snapshot.restore(part.state().unwrap());
        run(&mut part, step, 80);
        assert_eq!(words(&mut part), end, "same part from step {step}");
        let mut other = chain_part();
        snapshot.restore(other.state().unwrap());
        run(&mut other, step, 80);
        assert_eq!(words(&mut other), end, "new part from step {step}");
    }
}

/// A force that is switched on from outside.
struct Switched(Arc<AtomicBool>);

impl Source for Switched {
    fn value(&mut self, _t: f64, out: &mut [f64]) {
        out.fill(0.0);
        out[0] = if self.0.load(Relaxed) { 4.0 } else { 0.0 };
    }
}

/// A force that jumps: after a restart the motion is that of a constant force, to the last digit,
/// since the method is exact for it.
#[test]
fn after_a_restart_a_jump_of_the_load_costs_no_accuracy() {
    let mut model = Model::new();
    let mass = model.node("mass", Motion::at(Vec3::ZERO));
    model.body(mass, Body::centred(2.0, Mat3::IDENTITY));
    let mut builder = PartBuilder::new(model);
    let (port, _) = builder.load("mass", mass);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let mut inputs = no_exchange(part.ports());
    let switch = Arc::new(AtomicBool::new(false));
    inputs.drive(part.ports(), port, Box::new(Switched(switch.clone())));
    let time = |step: usize| step as f64 / 100.0;
    for step in 0..30 {
        if step == 10 {
            switch.store(true, Relaxed);
            part.restart();
        }
        part.advance(time(step), time(step + 1), &mut inputs)
            .unwrap();
    }
    let x = part.system().motion(mass).position[0];
    let expected = 0.5 * (4.0 / 2.0) * 0.2 * 0.2;
    assert!((x - expected).abs() < 1e-12, "{x} {expected}");
}

/// A settled beam stays where it is.
#[test]
fn a_settled_part_stays_at_rest() {
    let (model, nodes) = hanging_beam(6, 0.0);
    let mut builder = PartBuilder::new(model);
    builder.observe("middle", nodes[6]);
    let mut part = builder.build(Options::default(), 1).unwrap();
    part.find_static_equilibrium(0.0, &[]).unwrap();
    let before = part.system().motion(nodes[6]).position;
    let mut inputs = no_exchange(part.ports());
    for step in 0..100 {
        let t = 1e-3 * step as f64;
        part.advance(t, t + 1e-3, &mut inputs).unwrap();
    }
    let after = part.system().motion(nodes[6]).position;
    assert!(
        (after - before).norm() < 1e-8,
        "{:e}",
        (after - before).norm()
    );
}

/// A pendulum hanging at rest, seen from a wrench at its bob: x'' = -(g/l) x + F/m across, no
/// motion along.
#[test]
fn linearisation_of_a_hanging_pendulum() {
    let (mass, length, g) = (2.0, 0.5, 9.81);
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -g));
    let bob = model.node("bob", Motion::at(Vec3::Z * -length));
    let tiny = 1e-12;
    model.body(bob, Body::centred(mass, Mat3::diagonal(tiny, tiny, tiny)));
    let [a, b] = [NodeId::GROUND, bob].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.element("pivot", Joint::revolute(a, b));
    let mut builder = PartBuilder::new(model);
    let (force, motion) = builder.load("bob", bob);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let inputs = [0.0; 6];
    part.outputs(0.0, &inputs, &mut [0.0; 19]).unwrap();
    let linear = part.linearise(0.0, &inputs).unwrap();
    assert_eq!(linear.states, 2);
    let trace = linear.a[0] + linear.a[3];
    let determinant = linear.a[0] * linear.a[3] - linear.a[1] * linear.a[2];
    assert!(trace.abs() < 1e-9);
    assert!((determinant - g / length).abs() < 1e-6, "{determinant}");
    // Acceleration along x by the force along x: C B + D over both paths is 1/m at once.
    let x = part.ports().output_range(motion).start + 13;
    let fx = part.ports().input_range(force).start;
    assert!((linear.d[x * 6 + fx] - 1.0 / mass).abs() < 1e-6);
    // The free node alone feels its mass; the constrained directions are rigid.
    assert!(linear.d[(x + 2) * 6 + 2].abs() < 1e-9);
}

/// A received motion: the load on the port is that of a spring-mass oscillator on a shaken base.
#[test]
fn linearisation_at_a_prescribed_pose_gives_the_dynamic_stiffness() {
    let (mass, base_mass, k) = (2.0, 0.7, 50.0);
    let mut model = Model::new();
    let base = model.node("base", Motion::at(Vec3::ZERO));
    model.body(base, Body::centred(base_mass, Mat3::IDENTITY));
    let bob = model.node("bob", Motion::at(Vec3::X));
    model.body(bob, Body::centred(mass, Mat3::IDENTITY));
    let [a, b] = [base, bob].map(|n| model.axis_marker(n, Vec3::X, Vec3::X));
    model.element("guide", Joint::prismatic(a, b));
    let law = Law::Linear {
        stiffness: k,
        damping: 0.0,
    };
    model.element(
        "spring",
        Rod::new(Marker::on(base), Marker::on(bob), 1.0, law),
    );
    let mut builder = PartBuilder::new(model);
    let (motion, load) = builder.prescribe("base", base);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let inputs = part.ports().initial_inputs().to_vec();
    part.outputs(0.0, &inputs, &mut [0.0; 6]).unwrap();
    let linear = part.linearise(0.0, &inputs).unwrap();
    let determinant = linear.a[0] * linear.a[3] - linear.a[1] * linear.a[2];
    assert!((determinant - k / mass).abs() < 1e-6);
    // Force on the port by its acceleration: minus the bob's and not the base's inertia? The load
    // is that of the spring alone, so at once it does not feel any acceleration along the guide.
    let width = inputs.len();
    let x = part.ports().input_range(motion).start;
    let fx = part.ports().output_range(load).start;
    assert!(linear.d[fx * width + x + 13].abs() < 1e-6);
    // Across the guide the bob is carried along.
    assert!((linear.d[(fx + 1) * width + x + 14] + mass).abs() < 1e-5);
}

/// Two bodies on a guide joined by a clamp: each port sees both masses.
#[test]
fn effective_mass_at_a_wrench_port() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -10.0));
    let first = model.node("first", Motion::at(Vec3::ZERO));
    model.body(first, Body::centred(2.0, Mat3::IDENTITY));
    let second = model.node("second", Motion::at(Vec3::X));
    model.body(second, Body::centred(3.0, Mat3::IDENTITY));
    let [a, b] = [first, second].map(|n| model.marker(n, Vec3::X));
    model.element("clamp", Joint::clamp(a, b));
    let mut builder = PartBuilder::new(model);
    builder.load("first", first);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let inputs = [0.0; 6];
    part.outputs(0.0, &inputs, &mut [0.0; 19]).unwrap();
    let mut interface = EffectiveInterface::at((0..6).collect());
    assert!(part.interface(0.0, &inputs, &mut interface));
    // A force at the first node alone also turns both about their centre, 0.6 m away.
    let about_centre = 2.0 + 2.0 * 0.36 + 3.0 * 0.16;
    for (i, arm) in [0.0, 0.6, 0.6].into_iter().enumerate() {
        let expected = 1.0 / 5.0 + arm * arm / about_centre;
        assert!((interface.mobility[7 * i] - expected).abs() < 1e-9);
    }
    // They fall without turning.
    let expected = [0.0, 0.0, -10.0, 0.0, 0.0, 0.0];
    for (found, expected) in interface.answers.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8, "{interface:?}");
    }
}

/// A double pendulum with a thrust between its links and one to the ground, in motion: the second
/// derivative of both lengths, and how it changes with the thrusts, by differences of a run.
#[test]
fn the_interface_of_thrusts_tells_how_lengths_accelerate() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let spin =
        |w: f64, at: Vec3| Motion::at(at).moving(Vec3::new(0.0, w * at[0], 0.0), Vec3::Z * w);
    let first = model.node("first", spin(1.3, Vec3::X));
    model.body(first, Body::centred(2.0, Mat3::IDENTITY));
    let second = model.node(
        "second",
        Motion::at(Vec3::X * 3.0).moving(Vec3::Y * 3.9, Vec3::Z * 1.3),
    );
    model.body(second, Body::centred(1.0, Mat3::diagonal(0.4, 0.5, 0.6)));
    let ground = model.marker(NodeId::GROUND, Vec3::ZERO);
    let foot = model.marker(first, -Vec3::X);
    model.element("foot", Joint::revolute(ground, foot));
    let [a, b] = [(first, Vec3::X), (second, -Vec3::X)].map(|(node, at)| model.marker(node, at));
    model.element("knee", Joint::revolute(a, b));
    let below = model.marker(NodeId::GROUND, Vec3::new(1.0, -1.0, 0.0));
    let at_first = model.marker(first, Vec3::new(0.2, 0.1, 0.0));
    let at_second = model.marker(second, Vec3::new(0.3, 0.4, 0.0));
    let mut builder = PartBuilder::new(model);
    builder.thrust("lift", [below, at_first]);
    builder.thrust("fold", [at_first, at_second]);
    let build = |builder: PartBuilder| builder.build(Options::default(), 1).unwrap();
    let rates = |thrusts: [f64; 2], h: f64| {
        let mut part = build(builder.clone());
        let mut outputs = vec![0.0; part.ports().output_width()];
        part.outputs(0.0, &thrusts, &mut outputs).unwrap();
        let places = ["lift.rate", "fold.rate"].map(|name| {
            let port = part.ports().output(name).unwrap();
            part.ports().output_range(port).start
        });
        let before = places.map(|i| outputs[i]);
        let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(0, part.ports())));
        for (port, value) in thrusts.iter().enumerate() {
            inputs.receive(InputPort(port), 0.0, &[*value]);
        }
        part.advance(0.0, h, &mut inputs).unwrap();
        part.outputs(h, &thrusts, &mut outputs).unwrap();
        [0, 1].map(|i| (outputs[places[i]] - before[i]) / h)
    };
    // Extrapolated to a step of zero.
    let measured = |thrusts: [f64; 2]| {
        let (coarse, fine) = (rates(thrusts, 2e-4), rates(thrusts, 1e-4));
        [0, 1].map(|i| 2.0 * fine[i] - coarse[i])
    };
    let thrusts = [30.0, -12.0];
    let mut part = build(builder.clone());
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &thrusts, &mut outputs).unwrap();
    let mut found = EffectiveInterface::at(vec![0, 1]);
    assert!(part.interface(0.0, &thrusts, &mut found));
    let expected = measured(thrusts);
    for (found, expected) in found.answers.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5 * expected.abs());
    }
    for column in 0..2 {
        let mut other = thrusts;
        other[column] += 100.0;
        let other = measured(other);
        for row in 0..2 {
            let mobility = (other[row] - expected[row]) / 100.0;
            let off = (found.mobility[2 * row + column] - mobility).abs();
            assert!(
                off < 1e-5 * mobility.abs(),
                "{row} {column}: {found:?} {mobility}"
            );
        }
    }
    // It is symmetric.
    assert!((found.mobility[1] - found.mobility[2]).abs() < 1e-12);
}

/// A part that is asked for its interface after every step goes on as if it had not been.
#[test]
fn asking_for_the_interface_changes_nothing() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let bob = model.node("bob", Motion::at(Vec3::X));
    model.body(bob, Body::centred(2.0, Mat3::IDENTITY));
    let [hook, end] =
        [(NodeId::GROUND, Vec3::ZERO), (bob, -Vec3::X)].map(|(n, at)| model.marker(n, at));
    model.element("hinge", Joint::revolute(hook, end));
    let below = model.marker(NodeId::GROUND, Vec3::new(1.0, -1.0, 0.0));
    let mut builder = PartBuilder::new(model);
    builder.thrust("push", [below, Marker::on(bob)]);
    let run = |asks: bool| {
        let mut part = builder.clone().build(Options::default(), 1).unwrap();
        let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(0, part.ports())));
        let mut found = EffectiveInterface::at(vec![0]);
        let mut outputs = vec![0.0; part.ports().output_width()];
        for n in 0..50 {
            let t = 0.01 * f64::from(n);
            part.advance(t, t + 0.01, &mut inputs).unwrap();
            part.outputs(t + 0.01, &[0.0], &mut outputs).unwrap();
            if asks {
                assert!(part.interface(t + 0.01, &[0.0], &mut found));
            }
        }
        (outputs, part.counters().factorisations)
    };
    assert_eq!(run(true), run(false));
}

/// A belt stands still as a whole, and moves where it is touched.
struct Belt;

const BELT_SPEED: f64 = 2.0;
const BELT_SPIN: f64 = 3.0;

impl Source for Belt {
    fn value(&mut self, _: f64, out: &mut [f64]) {
        out.fill(0.0);
        out[3] = 1.0;
        out[7] = BELT_SPEED;
        out[10] = BELT_SPIN;
    }
}

/// Pose and velocity are both met, also where they do not belong together: dampers then drag a body
/// along, v = V (1 - exp(-c t / m)), beside a node that stays where it is.
#[test]
fn pose_and_velocity_are_prescribed_together() {
    let (mass, inertia, drag) = (2.0, 0.5, 4.0);
    let rho = 0.6;
    for method in [
        Method::Lms2 { rho },
        Method::GeneralisedAlpha { rho },
        Method::BackwardEuler,
    ] {
        let mut model = Model::new();
        let belt = model.node("belt", Motion::at(Vec3::ZERO));
        let body = model.node("body", Motion::at(Vec3::X));
        model.body(body, Body::centred(mass, Mat3::IDENTITY * inertia));
        let [a, b] = [belt, body].map(|node| Marker::on(node).axis(Vec3::X));
        let law = Law::Linear {
            stiffness: 0.0,
            damping: drag,
        };
        model.element("along", Rod::new(a, b, 1.0, law.clone()));
        model.element(
            "about",
            CoordinateForce::new(Coordinate::Angle, [a, b], law, 0.0),
        );
        let mut builder = PartBuilder::new(model);
        let (port, _) = builder.prescribe_motion("belt", belt);
        let options = Options {
            method,
            ..Options::default()
        };
        let mut part = builder.build(options, 4).unwrap();
        let mut inputs = no_exchange(part.ports());
        inputs.drive(part.ports(), port, Box::new(Belt));
        for step in 0..500 {
            let t = 1e-3 * f64::from(step);
            part.advance(t, t + 1e-3, &mut inputs).unwrap();
        }
        let (belt, body) = (part.system().motion(belt), part.system().motion(body));
        assert!(belt.position.norm() < 1e-14 && belt.orientation.log().norm() < 1e-14);
        assert!((belt.velocity - Vec3::X * BELT_SPEED).norm() < 1e-13);
        assert!((belt.angular_velocity - Vec3::X * BELT_SPIN).norm() < 1e-13);
        let dragged = |belt: f64, inertia: f64| belt * (1.0 - (-drag * 0.5 / inertia).exp());
        for (found, expected) in [
            (body.velocity[0], dragged(BELT_SPEED, mass)),
            (body.angular_velocity[0], dragged(BELT_SPIN, inertia)),
        ] {
            let off = (found / expected - 1.0).abs();
            assert!(off < 1e-3, "{method:?}: {found} {expected}");
        }
    }
}

struct Tumbling;

impl Source for Tumbling {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        let spin = Vec3::new(0.7, -1.9, 2.3);
        out.fill(0.0);
        out[3..7].copy_from_slice(&Quaternion::exp(spin * t).0);
        out[10..13].copy_from_slice(&spin.0);
    }
}

/// To normalise an orientation once more changes its last bit: the node must be at the very one
/// that is prescribed.
#[test]
fn a_given_node_turns_without_a_correction() {
    let mut model = Model::new();
    let hub = model.node("hub", Motion::at(Vec3::ZERO));
    model.body(hub, Body::centred(1.0, Mat3::IDENTITY));
    let mut builder = PartBuilder::new(model);
    let (port, _) = builder.prescribe_motion("hub", hub);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let mut inputs = no_exchange(part.ports());
    inputs.drive(part.ports(), port, Box::new(Tumbling));
    let mut given = vec![0.0; 19];
    for step in 0..300 {
        let [t, end] = [step, step + 1].map(|i| 1e-2 * f64::from(i));
        part.advance(t, end, &mut inputs).unwrap();
        inputs.at(end, &mut given);
        let prescribed = Quaternion([3, 4, 5, 6].map(|i: usize| given[i])).normalised();
        assert_eq!(part.system().motion(hub).orientation, prescribed);
    }
}

/// What a slider with a prescribed motion lacks in position is taken from the slider, not from the
/// node whose pose is given.
#[test]
fn a_given_node_stays_in_place_beside_a_prescribed_motion() {
    let stroke = |t: f64| 0.3 * (7.0 * t).sin();
    let speed = |t: f64| 2.1 * (7.0 * t).cos();
    let mut model = Model::new();
    let rail = model.node("rail", Motion::at(Vec3::ZERO));
    model.body(rail, Body::centred(0.1, Mat3::IDENTITY));
    let slider = model.node("slider", Motion::at(Vec3::ZERO));
    model.body(slider, Body::centred(2.0, Mat3::IDENTITY));
    let locked = || (Direction::Locked, Some(Drive::ZERO));
    let along = Direction::Prescribed(Drive::function(stroke));
    let motion = PrescribedMotion::new(
        Marker::on(rail),
        Marker::on(slider),
        [(along, Some(Drive::function(speed))), locked(), locked()],
        [locked(), locked(), locked()],
    );
    model.element("drive", motion);
    let mut builder = PartBuilder::new(model);
    let (port, _) = builder.prescribe("rail", rail);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let mut inputs = no_exchange(part.ports());
    inputs.drive(part.ports(), port, Box::new(Shaken));
    let mut given = vec![0.0; 19];
    for step in 0..100 {
        let [t, end] = [step, step + 1].map(|i| 1e-2 * f64::from(i));
        part.advance(t, end, &mut inputs).unwrap();
        inputs.at(end, &mut given);
        let place = Vec3::new(given[0], given[1], given[2]);
        let [rail, slider] = [rail, slider].map(|node| part.system().motion(node).position);
        assert!((rail - place).norm() < 1e-14, "{end}: {rail:?} {place:?}");
        let off = slider - rail - Vec3::X * stroke(end);
        assert!(off.norm() < 1e-9, "{end}: {off:?}");
    }
}

/// A tangent is that of nodes whose velocities follow from their poses.
#[test]
fn a_part_with_prescribed_velocities_shares_no_tangent() {
    let (model, [base, _]) = pendulum_on(Motion::at(Vec3::ZERO));
    let mut builder = PartBuilder::new(model);
    builder.prescribe_motion("base", base);
    builder.share_tangent();
    let Err(errors) = builder.build(Options::default(), 1) else {
        panic!("it was built");
    };
    let node = "base".to_owned();
    assert_eq!(errors, [ModelError::VelocityBesideTangent { node }]);
}

/// A disc on an axle, and on it a slider that goes radially outwards while the disc turns: the torque meets the inertia of
/// both, the force along the slide the slider alone, which is carried outwards by r ω².
#[test]
fn torque_and_force_at_joints_meet_what_the_joints_leave_free() {
    let (spin, radius, mass, inertia) = (3.0, 0.4, 2.0, 0.7);
    let mut model = Model::new();
    let turning = Vec3::Z * spin;
    let disc = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, turning);
    let disc = model.node("disc", disc);
    model.body(disc, Body::centred(5.0, Mat3::diagonal(0.4, 0.4, inertia)));
    let place = Vec3::X * radius;
    let slider = Motion::at(place).moving(turning.cross(place), turning);
    let slider = model.node("slider", slider);
    let own = 0.01;
    model.body(slider, Body::centred(mass, Mat3::diagonal(own, own, own)));
    let axle = [NodeId::GROUND, disc].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::Z));
    model.element("axle", Joint::revolute(axle[0], axle[1]));
    let slide = [disc, slider].map(|node| model.axis_marker(node, place, Vec3::X));
    model.element("slide", Joint::prismatic(slide[0], slide[1]));
    let mut builder = PartBuilder::new(model);
    builder.push_coordinate("axle", Coordinate::Angle, axle);
    builder.push_coordinate("slide", Coordinate::Slide, slide);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let pushes = [1.4, 6.0];
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &pushes, &mut outputs).unwrap();
    let mut found = EffectiveInterface::at(vec![0, 1]);
    assert!(part.interface(0.0, &pushes, &mut found));
    let both = inertia + own + mass * radius * radius;
    let expected = [1.0 / both, 0.0, 0.0, 1.0 / mass];
    for (found, expected) in found.mobility.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    // The slider is at rest on the disc, so that there is no Coriolis force.
    let accelerations = [pushes[0] / both, pushes[1] / mass + radius * spin * spin];
    for (found, expected) in found.answers.iter().zip(accelerations) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// The disc with the slider again: it is turned and slid by others, and resists with its inertia and with its mass. The
/// slider is pressed outwards by m r ω², and on a disc that turns faster and faster it resists sideways, which is felt as r m.
#[test]
fn what_is_moved_at_joints_resists_with_what_the_joints_carry() {
    let (spin, radius, mass, inertia, own) = (3.0, 0.4, 2.0, 0.7, 0.01);
    let mut model = Model::new();
    let turning = Vec3::Z * spin;
    let disc = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, turning);
    let disc = model.node("disc", disc);
    model.body(disc, Body::centred(5.0, Mat3::diagonal(0.4, 0.4, inertia)));
    let place = Vec3::X * radius;
    let slider = Motion::at(place).moving(turning.cross(place), turning);
    let slider = model.node("slider", slider);
    model.body(slider, Body::centred(mass, Mat3::diagonal(own, own, own)));
    let axle = [NodeId::GROUND, disc].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::Z));
    model.element("axle", Joint::revolute(axle[0], axle[1]));
    let slide = [disc, slider].map(|node| model.axis_marker(node, place, Vec3::X));
    model.element("slide", Joint::prismatic(slide[0], slide[1]));
    let mut builder = PartBuilder::new(model);
    builder.drive_coordinate("axle", Coordinate::Angle, axle);
    builder.drive_coordinate("slide", Coordinate::Slide, slide);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let (turned, slid) = (1.4, 6.0);
    let inputs = [0.0, spin, turned, 0.0, 0.0, slid];
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &inputs, &mut outputs).unwrap();
    let mut found = EffectiveInterface::at(vec![2, 5]);
    assert!(part.interface(0.0, &inputs, &mut found));
    let both = inertia + own + mass * radius * radius;
    let expected = [-both, 0.0, 0.0, -mass];
    for (found, expected) in found.mobility.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let forces = [-both * turned, -mass * (slid - radius * spin * spin)];
    for (found, expected) in found.answers.iter().zip(forces) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    // Any position will not do: only the acceleration is answered.
    assert!(!part.interface(0.0, &inputs, &mut EffectiveInterface::at(vec![0])));
}

/// Chains of random links with random axes: what a chain resists when its joints are moved is what moves them so, and the
/// matrices are inverse to each other, one after the other and mixed.
#[test]
fn random_chains_resist_as_forces_move_them() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    for _ in 0..20 {
        let (mut model, mut ends) = (Model::new(), Vec::new());
        model.gravity(Vec3::new(random(), -9.81, random()));
        let (mut before, mut place) = (NodeId::GROUND, Vec3::ZERO);
        for link in 0..4 {
            let [arm, axis] = [0, 1].map(|_| Vec3::new(random(), random(), random()));
            let node = model.node(format!("link {link}"), Motion::at(place + arm));
            let [a, b, c] = [0, 1, 2].map(|_| 0.5 + 0.4 * random().abs());
            let body = Body::centred(1.0 + random().abs(), Mat3::diagonal(a, b, c));
            model.body(node, body);
            let [first, second] = [before, node].map(|n| model.axis_marker(n, place, axis));
            model.element(format!("joint {link}"), Joint::revolute(first, second));
            ends.push([first, second]);
            before = node;
            place += arm;
        }
        let part = |moved: &[bool]| {
            let mut builder = PartBuilder::new(model.clone());
            for (joint, (ends, is_moved)) in ends.iter().zip(moved).enumerate() {
                let name = format!("port {joint}");
                match is_moved {
                    true => builder.drive_coordinate(&name, Coordinate::Angle, *ends),
                    false => {
                        let (force, motion) =
                            builder.push_coordinate(&name, Coordinate::Angle, *ends);
                        (force, motion)
                    }
                };
            }
            builder.build(Options::default(), 1).unwrap()
        };
        let ask = |part: &mut MechanismPart, moved: &[bool], values: &[f64]| {
            let (mut inputs, mut wanted) = (Vec::new(), Vec::new());
            for (is_moved, value) in moved.iter().zip(values) {
                if *is_moved {
                    inputs.extend([0.0; 2]);
                }
                wanted.push(inputs.len());
                inputs.push(*value);
            }
            let mut outputs = vec![0.0; part.ports().output_width()];
            part.outputs(0.0, &inputs, &mut outputs).unwrap();
            let mut found = EffectiveInterface::at(wanted);
            assert!(part.interface(0.0, &inputs, &mut found));
            found
        };
        let forces: Vec<f64> = (0..4).map(|_| 10.0 * random()).collect();
        let none = [false; 4];
        let pushed = ask(&mut part(&none), &none, &forces);
        for moved in [
            [true; 4],
            [true, false, false, true],
            [false, true, true, false],
        ] {
            // What was answered is given where it is moved, and what was given is the answer.
            let given: Vec<f64> = (0..4)
                .map(|i| {
                    if moved[i] {
                        pushed.answers[i]
                    } else {
                        forces[i]
                    }
                })
                .collect();
            let found = ask(&mut part(&moved), &moved, &given);
            for i in 0..4 {
                let expected = if moved[i] {
                    -forces[i]
                } else {
                    pushed.answers[i]
                };
                let size = 1.0 + expected.abs();
                assert!(
                    (found.answers[i] - expected).abs() < 1e-9 * size,
                    "{found:?}"
                );
            }
            // A change of the forces makes a change of accelerations: the hybrid matrix takes one to the other.
            let change: Vec<f64> = (0..4).map(|_| random()).collect();
            let product = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
                let rows = matrix.chunks_exact(4);
                rows.map(|row| row.iter().zip(vector).map(|(m, x)| m * x).sum())
                    .collect()
            };
            let made = product(&pushed.mobility, &change);
            let given: Vec<f64> = (0..4)
                .map(|i| if moved[i] { made[i] } else { change[i] })
                .collect();
            let answered = product(&found.mobility, &given);
            for i in 0..4 {
                let expected = if moved[i] { -change[i] } else { made[i] };
                assert!(
                    (answered[i] - expected).abs() < 1e-9,
                    "{answered:?} {expected}"
                );
            }
        }
    }
}
