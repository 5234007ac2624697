//! Nodes that rest on each other sleep, where contacts say so: the same motion as awake, to the residual.

use oldham_cosim::{Snapshot, Subsystem};
use oldham_multibody::contact::{ContactShape, Shape, Surface};
use oldham_multibody::{
    Body, Marker, Mat3, Method, Model, Motion, NodeId, Options, PartBuilder, System, Vec3,
};

const STEP: f64 = 1e-3;

fn options() -> Options {
    Options {
        method: Method::Impulses,
        account_energy: true,
        ..Options::default()
    }
}

fn shape(model: &mut Model, at: impl Into<Marker>, shape: Shape) {
    let at = at.into();
    let name = format!("shape of {}", model.node_name(at.node));
    model.contacts().shapes.push(ContactShape {
        name,
        at,
        shape,
        surface: Surface::rough(0.5),
    });
}

/// A stack of two cubes, of which the upper one has its node in a corner of its bottom, and a ball that falls onto them after 0.34 s.
fn scene(sleep: bool) -> (Model, [NodeId; 3]) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    shape(&mut model, NodeId::GROUND, Shape::Plane);
    let half = Vec3::new(0.1, 0.1, 0.1);
    let moment = 2.0 * 0.01 * 2.0 / 3.0;
    let inertia = Mat3::diagonal(moment, moment, moment);
    let low = model.node("low", Motion::at(Vec3::Z * 0.1));
    model.body(low, Body::centred(2.0, inertia));
    shape(&mut model, low, Shape::Box { half });
    let corner = Vec3::new(-0.09, -0.1, 0.2);
    let top = model.node("top", Motion::at(corner));
    model.body(top, Body::centred(2.0, inertia).with_centre(half));
    let middle = Marker {
        offset: half,
        ..Marker::from(top)
    };
    shape(&mut model, middle, Shape::Box { half });
    let (radius, mass) = (0.05, 0.5);
    let ball = model.node("ball", Motion::at(Vec3::new(0.03, 0.0, 1.017)));
    let moment = 0.4 * mass * radius * radius;
    model.body(
        ball,
        Body::centred(mass, Mat3::diagonal(moment, moment, moment)),
    );
    shape(&mut model, ball, Shape::Sphere { radius });
    model.contacts().options.tolerance = 1e-8;
    model.contacts().options.sleep = sleep;
    (model, [low, top, ball])
}

#[test]
fn a_stack_sleeps_until_a_ball_falls_onto_it() {
    let (model, nodes) = scene(true);
    let mut sleeping = System::new(model, options()).unwrap();
    let mut waking = System::new(scene(false).0, options()).unwrap();
    for system in [&mut sleeping, &mut waking] {
        system.start(0.0, &[]).unwrap();
    }
    let (mut at_rest, mut moved) = (0, 0);
    for step in 0..500 {
        for system in [&mut sleeping, &mut waking] {
            system.step(STEP, &[]).unwrap();
        }
        for node in nodes {
            let [one, other] = [&sleeping, &waking].map(|system| system.motion(node).position);
            let apart = (one - other).norm();
            assert!(apart < 1e-6, "step {step}: {node:?} {apart:e} m apart");
        }
        let rests = |node| {
            let motion: &Motion = sleeping.motion(node);
            motion.velocity == Vec3::ZERO && motion.angular_velocity == Vec3::ZERO
        };
        match rests(nodes[0]) && rests(nodes[1]) {
            true => at_rest += 1,
            false if step > 100 => moved += 1,
            false => {}
        }
        if step == 200 {
            assert!(at_rest >= step - 20, "{at_rest} from the twentieth step on");
            let (one, other) = (sleeping.energy(&[]), waking.energy(&[]));
            assert!(one.dissipated.abs() < 1e-9, "{}", one.dissipated);
            assert!((one.dissipated - other.dissipated).abs() < 1e-9);
        }
    }
    assert!(
        at_rest > 300 && moved > 0,
        "{at_rest} at rest, {moved} moved"
    );
    let (one, other) = (sleeping.energy(&[]), waking.energy(&[]));
    assert!((one.dissipated - other.dissipated).abs() < 1e-5 * other.dissipated);
}

#[test]
fn sleepers_are_restored_with_the_same_bits() {
    let (model, [_, top, _]) = scene(true);
    let mut builder = PartBuilder::new(model);
    builder.observe("top", top);
    let mut part = builder.build(options(), 1).unwrap();
    part.system_mut().start(0.0, &[]).unwrap();
    let step = |part: &mut oldham_multibody::MechanismPart, count: usize| {
        for _ in 0..count {
            part.system_mut().step(STEP, &[]).unwrap();
        }
    };
    step(&mut part, 200);
    let mut saved = Snapshot::default();
    saved.save(part.state().unwrap());
    for count in [50, 300] {
        // In sleep, and beyond its end.
        step(&mut part, count);
        let mut straight = Snapshot::default();
        straight.save(part.state().unwrap());
        saved.restore(part.state().unwrap());
        step(&mut part, count);
        let mut again = Snapshot::default();
        again.save(part.state().unwrap());
        assert_eq!(straight.words(), again.words(), "{count} steps");
        saved.restore(part.state().unwrap());
    }
}
