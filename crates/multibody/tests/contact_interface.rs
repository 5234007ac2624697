//! Effective mass at an interface of a mechanism in contact, against closed forms.

use oldham_cosim::{EffectiveInterface, Hold, InputPort, Inputs, InterfaceResponse, Subsystem};
use oldham_multibody::contact::{ContactShape, Shape, Surface};
use oldham_multibody::{
    Body, Joint, Marker, Mat3, MechanismPart, Method, Model, Motion, NodeId, Options, PartBuilder,
    Vec3,
};

const GRAVITY: f64 = 9.81;
const MASS: f64 = 3.0;
const H: f64 = 1e-3;

fn shape(model: &mut Model, at: Marker, shape: Shape, friction: f64) {
    model.contacts().shapes.push(ContactShape {
        name: "shape".into(),
        at,
        shape,
        surface: Surface::rough(friction),
    });
}

/// A cube of 0.2 m on a rough floor with a wrench at its centre; with a joint it keeps its upright plane, so that its
/// mobility comes from the factors.
fn block(guided: bool) -> MechanismPart {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    shape(&mut model, Marker::on(NodeId::GROUND), Shape::Plane, 0.5);
    let place = Vec3::Z * 0.1;
    let node = model.node("block", Motion::at(place));
    let j = MASS * 0.04 / 6.0;
    model.body(node, Body::centred(MASS, Mat3::diagonal(j, j, j)));
    let half = Vec3::new(0.1, 0.1, 0.1);
    shape(&mut model, Marker::on(node), Shape::Box { half }, 0.5);
    if guided {
        let [a, b] = [NodeId::GROUND, node].map(|n| model.axis_marker(n, place, Vec3::Y));
        model.element("guide", Joint::planar(a, b));
    }
    let mut builder = PartBuilder::new(model);
    builder.load_at("push", Marker::on(node));
    let options = Options {
        method: Method::Impulses,
        ..Options::default()
    };
    builder.build(options, 1).expect("a part")
}

/// Pushes for some steps, and asks for the three forces.
fn pushed(guided: bool, force: Vec3) -> (EffectiveInterface, Vec3) {
    let mut part = block(guided);
    let ports = part.ports().clone();
    let values = [force.0, [0.0; 3]].concat();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    inputs.receive(InputPort(0), 0.0, &values);
    let mut outputs = vec![0.0; ports.output_width()];
    part.outputs(0.0, &values, &mut outputs).unwrap();
    for n in 0..20 {
        let from = f64::from(n) * H;
        part.advance(from, from + H, &mut inputs).unwrap();
    }
    let mut found = EffectiveInterface::at(vec![0, 1, 2]);
    assert!(part.interface(20.0 * H, &values, &mut found));
    part.outputs(20.0 * H, &values, &mut outputs).unwrap();
    // A motion has position, orientation, velocity, angular velocity and accelerations.
    (found, Vec3::new(outputs[7], outputs[8], outputs[9]))
}

#[test]
fn a_block_that_sticks_does_not_answer() {
    for guided in [false, true] {
        let (found, velocity) = pushed(guided, Vec3::new(0.3 * MASS * GRAVITY, 0.0, 0.0));
        assert!(velocity.norm() < 1e-9, "{velocity:?}");
        for value in found.mobility.iter().chain(&found.answers) {
            assert!(value.abs() < 1e-7, "{guided}: {found:?}");
        }
    }
}

/// Friction has reached its bound: it stays, and the whole mass answers, but not into the floor.
#[test]
fn a_block_that_slides_answers_with_its_mass() {
    for guided in [false, true] {
        let (found, velocity) = pushed(guided, Vec3::new(0.8 * MASS * GRAVITY, 0.0, 0.0));
        assert!(
            (velocity[0] - 0.3 * GRAVITY * 20.0 * H).abs() < 1e-6,
            "{velocity:?}"
        );
        let acceleration = found.answers[0];
        assert!(
            (acceleration - 0.3 * GRAVITY).abs() < 1e-6,
            "{guided}: {found:?}"
        );
        let [x, z] = [found.mobility[0], found.mobility[8]];
        assert!((x - 1.0 / MASS).abs() < 1e-7, "{guided}: {found:?}");
        assert!(z.abs() < 1e-7, "{guided}: {found:?}");
    }
}

/// Lifted off, nothing is left of the contact.
#[test]
fn a_block_in_the_air_answers_freely() {
    let (found, _) = pushed(false, Vec3::Z * (1.5 * MASS * GRAVITY));
    for axis in 0..3 {
        assert!(
            (found.mobility[4 * axis] - 1.0 / MASS).abs() < 1e-12,
            "{found:?}"
        );
    }
    assert!((found.answers[2] - 0.5 * GRAVITY).abs() < 1e-9, "{found:?}");
}

/// Asking costs no factorisation: the next step takes the factors over, and its bits are the same.
#[test]
fn asking_changes_neither_bits_nor_factorisations() {
    let run = |asks: bool| {
        let mut part = block(true);
        let ports = part.ports().clone();
        let values = [0.7 * MASS * GRAVITY, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
        inputs.receive(InputPort(0), 0.0, &values);
        let mut outputs = vec![0.0; ports.output_width()];
        part.outputs(0.0, &values, &mut outputs).unwrap();
        let before = part.counters().factorisations;
        let mut found = EffectiveInterface::at(vec![0, 1, 2]);
        for n in 0..50 {
            let from = f64::from(n) * H;
            if asks {
                assert!(part.interface(from, &values, &mut found));
            }
            part.advance(from, from + H, &mut inputs).unwrap();
        }
        part.outputs(50.0 * H, &values, &mut outputs).unwrap();
        let bits: Vec<u64> = outputs.iter().map(|value| value.to_bits()).collect();
        (bits, part.counters().factorisations - before)
    };
    let (asked, plain) = (run(true), run(false));
    assert_eq!(asked, plain);
    assert_eq!(plain.1, 50);
}
