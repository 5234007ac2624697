//! What Newton's iteration, friction, explicit stages and retried steps may cost and may leave.

mod elliptic;

use elliptic::{TUMBLING, Tumbling, pendulum_angle};
use oldham_cosim::{StageInputs, Subsystem};
use oldham_multibody::bench::hanging_beam;
use oldham_multibody::{
    Beam3, Body, CoordinateForce, Drive, Frictional, Joint, Load, LuGre, Marker, Mat3, Method,
    Model, Motion, NodeId, Options, PartBuilder, Quaternion, Section, SolveError, System, Vec3,
};

fn started(model: Model, options: Options) -> System {
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn tumbling(h: f64, steps: usize) -> (f64, System) {
    tumbling_by(Method::default(), h, steps)
}

fn tumbling_by(method: Method, h: f64, steps: usize) -> (f64, System) {
    let Tumbling { j, start } = TUMBLING;
    let mut model = Model::new();
    let body = model.node("body", Motion::at(Vec3::ZERO).moving(Vec3::ZERO, start));
    model.body(body, Body::centred(1.0, Mat3::diagonal(j[0], j[1], j[2])));
    let options = Options {
        method,
        ..Options::default()
    };
    let mut system = started(model, options);
    for _ in 0..steps {
        system.step(h, &[]).unwrap();
    }
    let motion = system.motion(body);
    let in_body = motion.rotation.transpose_mul(motion.angular_velocity);
    let error = (in_body - TUMBLING.spin(h * steps as f64)).norm();
    (error, system)
}

/// The error of a torque-free body went from 4.7e-6 up to 1.8e-5 as the step was halved twice:
/// what the iteration left did not shrink with the step.
#[test]
fn newton_default_tolerance_does_not_hide_the_order_of_the_method() {
    let errors = [250, 1000, 4000, 16000, 64000].map(|steps| tumbling(1.0 / steps as f64, steps).0);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2() / 2.0;
        assert!((order - 2.0).abs() < 0.15, "{order}, {errors:?}");
    }
    assert!(errors[4] < 4e-9, "{errors:?}");
}

/// The same by generalised-alpha, whose prediction misses by the first order of the step: the error rose from 1.5e-8 to
/// 1.8e-7 as the step was halved twice.
#[test]
fn nor_that_of_generalised_alpha() {
    let method = Method::GeneralisedAlpha { rho: 0.6 };
    let error = |steps: usize| tumbling_by(method, 1.0 / steps as f64, steps).0;
    let errors = [1000, 4000, 16000].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2() / 2.0;
        assert!((order - 2.0).abs() < 0.15, "{order}, {errors:?}");
    }
}

/// A body that only turns has no linear acceleration: with the scale zero every step iterated to
/// round-off.
#[test]
fn a_pure_rotor_does_not_iterate_to_round_off() {
    let (_, system) = tumbling(1e-3, 2000);
    let counters = system.counters();
    assert_eq!(counters.stagnations, 0, "{counters:?}");
    assert!(
        counters.iterations < 3 * counters.micro_steps,
        "{counters:?}"
    );
}

/// 22 kg pressed onto its rail with 5 kN, slowed down gently through 1 mm/s. With a slope that was
/// not the derivative, Newton contracted by 0.9 only.
#[test]
fn friction_close_to_standstill_takes_few_iterations() {
    let law = LuGre {
        coulomb: 0.3,
        stiction: 0.3,
        stribeck: 1e-3,
        stiffness: 1e5,
        damping: 0.0,
        viscous: 0.0,
    };
    let mut model = Model::new();
    let node = model.node(
        "slide",
        Motion::at(Vec3::ZERO).moving(Vec3::Z * 5e-3, Vec3::ZERO),
    );
    model.body(node, Body::centred(22.0, Mat3::IDENTITY));
    let [rail, slide] = [NodeId::GROUND, node].map(Marker::on);
    model.element("rail", Frictional::prismatic(rail, slide, 5e3, law));
    // Friction wins by 22 kg times 0.05 m/s².
    let push = [0.0, 0.0, 0.3 * 5e3 - 22.0 * 0.05].map(Drive::Constant);
    let none = || [0.0; 3].map(Drive::Constant);
    model.element("push", Load::fixed(slide, push, none()));
    let mut system = started(model, Options::default());
    // At first the bristles are bent.
    (0..20).for_each(|_| system.step(1e-3, &[]).unwrap());
    let (mut before, mut worst) = (system.counters().iterations, 0);
    for _ in 0..1000 {
        system.step(1e-3, &[]).unwrap();
        let done = system.counters().iterations;
        worst = worst.max(done - before);
        before = done;
    }
    assert!(
        system.motion(node).velocity[2].abs() < 1e-4,
        "it has stopped"
    );
    assert!(worst <= 6, "{worst} iterations in a step");
    assert!(before <= 3 * 1000, "{before} iterations in all");
}

/// The same mass thrown: it stops within a step, from either side, and stays.
#[test]
fn friction_stops_a_fast_slide_without_jumping_to_and_fro() {
    let law = LuGre {
        coulomb: 0.3,
        stiction: 0.4,
        stribeck: 1e-2,
        stiffness: 1e5,
        damping: 10.0,
        viscous: 0.0,
    };
    for speed in [0.2, -0.2] {
        let mut model = Model::new();
        let motion = Motion::at(Vec3::ZERO).moving(Vec3::Z * speed, Vec3::ZERO);
        let node = model.node("slide", motion);
        model.body(node, Body::centred(22.0, Mat3::IDENTITY));
        let [rail, slide] = [NodeId::GROUND, node].map(Marker::on);
        model.element("rail", Frictional::prismatic(rail, slide, 5e3, law));
        let mut system = started(model, Options::default());
        for _ in 0..50 {
            system.step(1e-3, &[]).unwrap();
        }
        let counters = system.counters();
        assert_eq!(counters.retries, 0, "{counters:?}");
        // Bristles hold it: it swings on them by less than a tenth of a millimetre.
        let place = system.motion(node).position[2];
        let way = speed * speed / (2.0 * 0.3 * 5e3 / 22.0);
        assert!((place.abs() - way).abs() < 2e-4, "{place} {way}");
    }
}

/// Wound over several turns, the torque is that of the whole angle; it fell from π to -π.
#[test]
fn torsion_springs_count_whole_turns() {
    let mut model = Model::new();
    let nodes = ["a", "b"].map(|name| model.node(name, Motion::at(Vec3::ZERO)));
    for node in nodes {
        model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.01));
    }
    let ground = Marker::on(NodeId::GROUND);
    let [a, b] = nodes.map(Marker::on);
    let drive = Drive::function(|t| 2.0 * t);
    model.element("motor", Joint::driven_revolute(ground, a, drive));
    model.element("hold", Joint::driven_revolute(ground, b, 0.0));
    let spring = model.element(
        "spring",
        CoordinateForce::torsion_spring(a, b, 1.0, 0.0, 0.0),
    );
    let mut system = started(model, Options::default());
    for step in 1..=4000 {
        system.step(2e-3, &[]).unwrap();
        let (_, torque) = system.wrench(spring, 1, &[]);
        let angle = 2.0 * 2e-3 * f64::from(step);
        assert!(
            (torque[2] - angle).abs() < 1e-6,
            "{torque:?} at {angle} rad"
        );
    }
}

/// Accelerations of explicit stages came from second differences over the step: 2e-3 m/s² of noise
/// at a microsecond.
#[test]
fn accelerations_of_constraints_are_free_of_differences() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let spin = Vec3::Y * 3.0;
    let arm = Vec3::X * 2.0;
    let node = model.node("bob", Motion::at(arm).moving(spin.cross(arm), spin));
    model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
    let [a, b] = [NodeId::GROUND, node].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.element("hinge", Joint::revolute(a, b));
    let mut builder = PartBuilder::new(model);
    let motion = builder.observe("bob", node);
    let method = Method::Rk4 {
        inputs: StageInputs::Interpolated,
    };
    let options = Options {
        method,
        ..Options::default()
    };
    let mut part = builder.build(options, 1).unwrap();
    let mut inputs = oldham_cosim::Inputs::new(
        part.ports(),
        Box::new(oldham_cosim::Hold::new(0, part.ports())),
    );
    let first = part.ports().output_range(motion).start;
    let mut outputs = vec![0.0; part.ports().output_width()];
    for step in 0..20 {
        let [from, to] = [step, step + 1].map(|k| f64::from(k) * 1e-6);
        part.advance(from, to, &mut inputs).unwrap();
        part.outputs(to, &[], &mut outputs).unwrap();
        let now = *part.system().motion(node);
        let w = now.angular_velocity;
        // About the hinge: (0.1 + 4) α = moment of the weight.
        let alpha = now.position.cross(Vec3::Z * -9.81) * (1.0 / 4.1);
        let expected = alpha.cross(now.position) + w.cross(w.cross(now.position));
        let found = Vec3::new(
            outputs[first + 13],
            outputs[first + 14],
            outputs[first + 15],
        );
        assert!(
            (found - expected).norm() < 1e-11,
            "{:e}",
            (found - expected).norm()
        );
    }
}

/// The second of two sections has a damping of its own; it was that of the first.
#[test]
fn the_second_section_of_a_beam_damps() {
    let dissipated = |damping: [f64; 2]| {
        let mut model = Model::new();
        let nodes = [0.0, 0.5, 1.0].map(|x| {
            let motion = Motion::at(Vec3::X * x);
            let node = model.node(format!("{x}"), motion);
            model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
            node
        });
        let section = |d: f64| Section::diagonal([1e4, 1e4, 1e4, 1e2, 1e2, 1e2]).damped(d);
        let beam = Beam3::with_offsets(
            &model,
            nodes,
            [Vec3::ZERO; 3],
            damping.map(section),
            Vec3::Y,
        );
        model.element("beam", beam);
        // Stretched evenly about its middle.
        let moving = |x: f64| Vec3::X * (x - 0.5);
        let mut pulled = Model::new();
        for x in [0.0, 0.5, 1.0] {
            let motion = Motion::at(Vec3::X * x).moving(moving(x), Vec3::ZERO);
            let node = pulled.node(format!("{x}"), motion);
            pulled.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
        }
        let beam = Beam3::with_offsets(
            &model,
            nodes,
            [Vec3::ZERO; 3],
            damping.map(section),
            Vec3::Y,
        );
        pulled.element("beam", beam);
        let options = Options {
            account_energy: true,
            ..Options::default()
        };
        let mut system = started(pulled, options);
        for _ in 0..100 {
            system.step(1e-4, &[]).unwrap();
        }
        system.energy(&[]).dissipated
    };
    let [first, second, both] = [[0.01, 0.0], [0.0, 0.01], [0.01, 0.01]].map(dissipated);
    assert!(second > 0.3 * both, "{first} {second} {both}");
    assert!((first - second).abs() < 1e-9 * both, "{first} {second}");
}

/// A load that is NaN was reported as a singular matrix.
#[test]
fn a_load_that_is_not_a_number_is_named() {
    let mut model = Model::new();
    let nodes = [0.0, 1.0, 2.0].map(|x| {
        let node = model.node(format!("{x}"), Motion::at(Vec3::X * x));
        model.body(node, Body::centred(1.0, Mat3::IDENTITY));
        node
    });
    model.element(
        "held",
        Joint::clamp(
            Marker::on(NodeId::GROUND),
            model.marker(nodes[0], Vec3::ZERO),
        ),
    );
    let section = Section::diagonal([1e4, 1e4, 1e4, 1e2, 1e2, 1e2]);
    let beam = Beam3::new(&model, nodes, section, Vec3::Y);
    model.element("beam", beam);
    let wind = Drive::function(|t| if t > 0.05 { f64::NAN } else { 1.0 });
    let none = || [0.0; 3].map(Drive::Constant);
    let force = [Drive::ZERO, Drive::ZERO, wind];
    model.element("wind", Load::follower(Marker::on(nodes[2]), force, none()));
    let mut system = started(model, Options::default());
    let failed = (0..100).find_map(|_| system.step(1e-3, &[]).err());
    match failed {
        Some(SolveError::NotFinite { element, .. }) => assert_eq!(element, "wind"),
        other => panic!("{other:?}"),
    }
}

/// A step that Newton cannot take is taken in pieces, and the motion is still that of the model.
#[test]
fn too_large_a_step_is_taken_in_pieces() {
    let run = |h: f64, steps: usize, max_iterations: usize| {
        let (model, nodes) = hanging_beam(4, 0.05);
        let options = Options {
            max_iterations,
            ..Options::default()
        };
        let mut system = started(model, options);
        for _ in 0..steps {
            system.step(h, &[]).unwrap();
        }
        (system.motion(nodes[4]).position, system.counters())
    };
    let (coarse, counters) = run(0.1, 5, 4);
    assert!(counters.retries > 0, "{counters:?}");
    assert!(counters.micro_steps > 5, "{counters:?}");
    let (fine, _) = run(1e-3, 500, 25);
    assert!((coarse - fine).norm() < 0.05, "{coarse:?} {fine:?}");
}

/// At each change of the step size the one-step formula begins anew: still of second order.
#[test]
fn changing_step_sizes_keep_the_second_order() {
    let error = |steps: usize| {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -9.81));
        let angle = 1.2_f64;
        let place = Vec3::new(angle.sin(), 0.0, -angle.cos());
        let node = model.node(
            "bob",
            Motion::at_rest(place, Quaternion::exp(Vec3::Y * -angle)),
        );
        model.body(node, Body::centred(1.0, Mat3::ZERO));
        let [a, b] = [NodeId::GROUND, node].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
        model.element("hinge", Joint::revolute(a, b));
        let mut system = started(model, Options::default());
        let h = 1.0 / steps as f64;
        for _ in 0..steps / 2 {
            // A whole step, then one in four pieces.
            system.step(h, &[]).unwrap();
            (0..4).for_each(|_| system.step(0.25 * h, &[]).unwrap());
        }
        let place = system.motion(node).position;
        place[0].atan2(-place[2]) - pendulum_angle(angle, 9.81_f64.sqrt(), 1.0)
    };
    let errors = [100, 200, 400].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.2, "{order}, {errors:?}");
    }
}

/// Forces of elements that an input drives depend on it at once; reactions do not.
#[test]
fn forces_driven_by_inputs_are_declared_as_feedthrough() {
    let mut model = Model::new();
    let node = model.node("body", Motion::at(Vec3::ZERO));
    model.body(node, Body::centred(1.0, Mat3::IDENTITY));
    let mut builder = PartBuilder::new(model);
    let (_, drive) = builder.drive("push", oldham_cosim::Unit::NEWTON);
    let (_, other) = builder.drive("angle", oldham_cosim::Unit::RADIAN);
    let none = || [0.0; 3].map(Drive::Constant);
    let [ground, body] = [NodeId::GROUND, node].map(Marker::on);
    let load = Load::fixed(body, [drive, Drive::ZERO, Drive::ZERO], none());
    let load = builder.model().element("load", load);
    let joint = builder
        .model()
        .element("joint", Joint::driven_revolute(ground, body, other));
    let force = builder.observe_element("force", load, 0);
    let reaction = builder.observe_element("reaction", joint, 1);
    let motion = builder.observe("motion", node);
    let part = builder.build(Options::default(), 1).unwrap();
    let ports = part.ports();
    let direct = |port| ports.direct_inputs(ports.output_range(port).start).to_vec();
    assert_eq!(direct(force), [0]);
    assert!(direct(reaction).is_empty() && direct(motion).is_empty());
}
