//! How a mechanism resists at a node whose pose is prescribed, against the equations of Newton and Euler.

use oldham_cosim::{EffectiveInterface, Hold, Inputs, InterfaceResponse, Subsystem};
use oldham_multibody::{
    Body, Joint, Marker, Mat3, MechanismPart, Model, Motion, Options, PartBuilder, Vec3,
};

const GRAVITY: f64 = 9.81;

/// Prescribed at the origin, with a spin and these accelerations.
fn ask(part: &mut MechanismPart, spin: Vec3, [a, alpha]: [Vec3; 2]) -> EffectiveInterface {
    let mut inputs = vec![0.0; 19];
    inputs[3] = 1.0;
    inputs[10..13].copy_from_slice(&spin.0);
    inputs[13..16].copy_from_slice(&a.0);
    inputs[16..19].copy_from_slice(&alpha.0);
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &inputs, &mut outputs).unwrap();
    let mut found = EffectiveInterface::at((13..19).collect());
    assert!(part.interface(0.0, &inputs, &mut found));
    // What is told of the present is what is sent.
    for (told, sent) in found.answers.iter().zip(&outputs) {
        assert!(
            (told - sent).abs() < 1e-8 * (1.0 + sent.abs()),
            "{found:?} {outputs:?}"
        );
    }
    found
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
        "{found} {expected}"
    );
}

/// A body beside the node, joined to it: the force is m (g - a), the moment about the node that of this force at the centre
/// of mass less J α + ω × J ω. Bodies of the node itself weigh, but their inertia is that of the owner.
#[test]
fn a_rigid_body_resists_with_mass_and_gyroscopic_moment() {
    let (mass, own) = (3.0, 5.0);
    let principal = Vec3::new(0.4, 0.6, 0.9);
    let centre = Vec3::new(0.3, -0.4, 0.2);
    let spin = Vec3::new(1.5, -2.0, 4.0);
    let moving = |at: Vec3| Motion::at(at).moving(spin.cross(at), spin);
    let mut model = Model::new();
    model.gravity(Vec3::Y * -GRAVITY);
    let hand = model.node("hand", moving(Vec3::ZERO));
    model.body(hand, Body::centred(own, Mat3::diagonal(1.0, 2.0, 3.0)));
    let body = model.node("body", moving(centre));
    let inertia = Mat3::diagonal(principal[0], principal[1], principal[2]);
    model.body(body, Body::centred(mass, inertia));
    let [a, b] = [hand, body].map(|node| model.axis_marker(node, centre, Vec3::Z));
    model.element("grip", Joint::clamp(a, b));
    let mut builder = PartBuilder::new(model);
    builder.prescribe("hand", hand);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let loads = |[a, alpha]: [Vec3; 2], spin: Vec3, gravity: f64| {
        let of_centre = a + alpha.cross(centre) + spin.cross(spin.cross(centre));
        let force = (Vec3::Y * -gravity - of_centre) * mass;
        let angular = inertia * alpha + spin.cross(inertia * spin);
        let moment = centre.cross(force) - angular;
        [force - Vec3::Y * (own * gravity), moment]
    };
    let given = [Vec3::new(2.0, -1.0, 0.5), Vec3::new(3.0, 1.0, -2.0)];
    let found = ask(&mut part, spin, given);
    let expected = loads(given, spin, GRAVITY);
    for (axis, &answer) in found.answers.iter().enumerate() {
        close(answer, expected[axis / 3][axis % 3]);
    }
    for column in 0..6 {
        let unit = [Vec3::X, Vec3::Y, Vec3::Z][column % 3];
        let accelerated = match column {
            0..3 => [unit, Vec3::ZERO],
            _ => [Vec3::ZERO, unit],
        };
        let expected = loads(accelerated, Vec3::ZERO, 0.0);
        for row in 0..6 {
            close(found.mobility[6 * row + column], expected[row / 3][row % 3]);
        }
    }
}

/// A pendulum resists along its rod only: with the rod along n it pulls by m (g·n - a·n + l ω²).
#[test]
fn a_pendulum_resists_along_its_rod() {
    let (mass, length, angle, rate) = (2.0, 0.7, 0.6_f64, 3.0);
    let rod = Vec3::new(angle.sin(), -angle.cos(), 0.0);
    let spin = Vec3::Z * rate;
    let mut model = Model::new();
    model.gravity(Vec3::Y * -GRAVITY);
    let hand = model.node("hand", Motion::at(Vec3::ZERO));
    let bob = Motion::at(rod * length).moving(spin.cross(rod * length), spin);
    let bob = model.node("bob", bob);
    // Turning costs next to nothing.
    let none = 1e-12;
    model.body(bob, Body::centred(mass, Mat3::diagonal(none, none, none)));
    let [a, b] = [hand, bob].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::Z));
    model.element("hinge", Joint::revolute(a, b));
    let mut builder = PartBuilder::new(model);
    builder.prescribe("hand", hand);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let given = Vec3::new(4.0, -2.0, 0.0);
    let found = ask(&mut part, Vec3::ZERO, [given, Vec3::ZERO]);
    let pull = mass * (GRAVITY * angle.cos() - given.dot(rod) + length * rate * rate);
    for axis in 0..2 {
        close(found.answers[axis], pull * rod[axis]);
        for along in 0..2 {
            let expected = -mass * rod[axis] * rod[along];
            close(found.mobility[6 * axis + along], expected);
        }
    }
    // Nothing is felt of a turn about the hinge.
    close(found.mobility[6 * 5 + 5], 0.0);
}

/// A part that does not prescribe the node answers by a motion, and one matrix is the inverse of the other.
#[test]
fn resistance_is_the_inverse_of_mobility() {
    let build = |is_moved: bool| {
        let mut model = Model::new();
        model.gravity(Vec3::Y * -GRAVITY);
        let hand = model.node("hand", Motion::at(Vec3::ZERO));
        let place = Vec3::new(0.5, 0.1, -0.2);
        let body = model.node("body", Motion::at(place));
        model.body(body, Body::centred(4.0, Mat3::diagonal(0.3, 0.4, 0.6)));
        let [a, b] = [hand, body].map(|node| model.axis_marker(node, place, Vec3::Z));
        model.element("grip", Joint::clamp(a, b));
        let mut builder = PartBuilder::new(model);
        match is_moved {
            true => builder.prescribe("hand", hand),
            false => builder.load_at("hand", Marker::on(hand)),
        };
        builder.build(Options::default(), 1).unwrap()
    };
    let resisting = ask(&mut build(true), Vec3::ZERO, [Vec3::ZERO; 2]);
    let mut part = build(false);
    let inputs = [0.0; 6];
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &inputs, &mut outputs).unwrap();
    let mut moving = EffectiveInterface::at((0..6).collect());
    assert!(part.interface(0.0, &inputs, &mut moving));
    for row in 0..6 {
        for column in 0..6 {
            let product: f64 = (0..6)
                .map(|k| resisting.mobility[6 * row + k] * moving.mobility[6 * k + column])
                .sum();
            close(product, if row == column { -1.0 } else { 0.0 });
        }
    }
}

/// Whoever keeps an account asks for outputs with what others have sent for the end of the step. The part started there, and
/// its first step went back.
#[test]
fn a_question_started_the_mechanism_where_the_step_ends() {
    let pose = |x: f64| {
        let mut inputs = [0.0; 19];
        (inputs[0], inputs[3]) = (x, 1.0);
        inputs
    };
    let run = |is_asked: bool| {
        let mut model = Model::new();
        let hand = model.node("hand", Motion::at(Vec3::ZERO));
        let body = model.node("body", Motion::at(Vec3::X));
        model.body(body, Body::centred(2.0, Mat3::IDENTITY));
        let [a, b] = [hand, body].map(|node| model.axis_marker(node, Vec3::X, Vec3::Z));
        model.element("grip", Joint::clamp(a, b));
        let mut builder = PartBuilder::new(model);
        let (input, load) = builder.prescribe("hand", hand);
        let mut part = builder.build(Options::default(), 1).unwrap();
        let mut outputs = vec![0.0; part.ports().output_width()];
        part.outputs(0.0, &pose(0.0), &mut outputs).unwrap();
        if is_asked {
            let (end, asked) = (pose(1e-3), &mut outputs[..]);
            part.some_outputs(&[load], 0.0, &end, asked).unwrap();
        }
        let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(1, part.ports())));
        inputs.receive(input, 0.01, &pose(1e-3));
        part.advance(0.0, 0.01, &mut inputs).unwrap();
        part.outputs(0.01, &pose(1e-3), &mut outputs).unwrap();
        outputs
    };
    // By the first formula, from rest: x = h² a / 4.
    let force = -2.0 * 4.0 * 1e-3 / 1e-4;
    assert!((run(false)[0] - force).abs() < 1e-6 * force.abs());
    assert_eq!(run(true), run(false));
}
