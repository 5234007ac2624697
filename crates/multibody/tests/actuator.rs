//! Pushes along a line that come through ports.

use oldham_cosim::{EnergyBalance, Hold, Inputs, Source, Subsystem};
use oldham_multibody::{
    Body, Joint, LineValue, Marker, Mat3, MechanismPart, Model, Motion, NodeId, Options,
    PartBuilder, Vec3,
};
use std::f64::consts::FRAC_PI_6;

struct Constant(f64);

impl Source for Constant {
    fn value(&mut self, _t: f64, out: &mut [f64]) {
        out[0] = self.0;
    }
}

/// The manipulator of Pikuliński 2026, Sect. 3.3: a boom of length 1 m at 30°, a point mass at its
/// tip and another one on a massless link of 0.5 m that hangs from there.
fn manipulator() -> (Model, [Marker; 2]) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let along = Vec3::new(FRAC_PI_6.cos(), FRAC_PI_6.sin(), 0.0);
    let boom = model.node("boom", Motion::at(along * 0.5));
    let across = Mat3::IDENTITY - along.outer(along);
    model.body(boom, Body::centred(200.0, across * (200.0 / 12.0)));
    model.body(
        boom,
        Body::centred(250.0, Mat3::ZERO).with_centre(along * 0.5),
    );
    let bob = model.node("bob", Motion::at(along + Vec3::new(0.0, -0.5, 0.0)));
    model.body(bob, Body::centred(100.0, Mat3::ZERO));
    let foot = [NodeId::GROUND, boom].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::Z));
    model.element("foot", Joint::revolute(foot[0], foot[1]));
    let tip = [boom, bob].map(|node| model.axis_marker(node, along, Vec3::Z));
    model.element("tip", Joint::revolute(tip[0], tip[1]));
    let base = Vec3::new(FRAC_PI_6.cos(), 0.0, 0.0);
    let ends = [
        model.marker(NodeId::GROUND, base),
        model.marker(boom, along * 0.5),
    ];
    (model, ends)
}

fn run(part: &mut MechanismPart, given: &[f64], steps: usize, h: f64) -> Vec<f64> {
    let ports = part.ports().clone();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    for (port, &value) in given.iter().enumerate() {
        let source = Box::new(Constant(value));
        inputs.drive(&ports, oldham_cosim::InputPort(port), source);
    }
    for k in 0..steps {
        part.advance(h * k as f64, h * (k + 1) as f64, &mut inputs)
            .unwrap();
    }
    let mut outputs = vec![0.0; ports.output_width()];
    part.outputs(h * steps as f64, given, &mut outputs).unwrap();
    outputs
}

/// Moments about the foot: 8829 N hold the boom where it is, at an actuator length of 0.5 m.
#[test]
fn the_static_thrust_holds_the_manipulator() {
    let (model, ends) = manipulator();
    let mut builder = PartBuilder::new(model);
    builder.thrust("lift", ends);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let outputs = run(&mut part, &[8829.0], 500, 1e-3);
    assert!((outputs[0] - 0.5).abs() < 1e-9, "{outputs:?}");
    assert!(outputs[1].abs() < 1e-8, "{outputs:?}");
}

#[test]
fn pressures_on_areas_act_as_their_force() {
    let lengths = [true, false].map(|as_force| {
        let (model, ends) = manipulator();
        let mut builder = PartBuilder::new(model);
        if as_force {
            builder.thrust("lift", ends);
        } else {
            builder.pressure("p1", ends, -65e-4);
            builder.pressure("p2", ends, 65e-4);
            builder.observe_line("length", ends, LineValue::Length);
            builder.observe_line("rate", ends, LineValue::Rate);
        }
        let mut part = builder.build(Options::default(), 1).unwrap();
        let given: &[f64] = if as_force { &[9100.0] } else { &[1e6, 2.4e6] };
        run(&mut part, given, 200, 1e-3)
    });
    assert!(lengths[0][1] > 0.01);
    for (a, b) in lengths[0].iter().zip(&lengths[1]) {
        assert!((a - b).abs() < 1e-12, "{lengths:?}");
    }
}

/// A mass on a rail, pushed from a point beside it: work is the integral of thrust over length.
#[test]
fn length_and_rate_belong_to_the_work_of_the_thrust() {
    let mut model = Model::new();
    let node = model.node("mass", Motion::at(Vec3::new(0.3, 0.0, 0.0)));
    model.body(node, Body::centred(2.0, Mat3::IDENTITY));
    let rail = [NodeId::GROUND, node]
        .map(|node| model.axis_marker(node, Vec3::new(0.3, 0.0, 0.0), Vec3::X));
    model.element("rail", Joint::prismatic(rail[0], rail[1]));
    let ends = [
        model.marker(NodeId::GROUND, Vec3::new(0.0, 0.4, 0.0)),
        model.marker(node, Vec3::new(0.3, 0.0, 0.0)),
    ];
    let mut builder = PartBuilder::new(model);
    builder.thrust("push", ends);
    let speed = builder.observe_along("x", node, Vec3::X, oldham_multibody::Along::Motion);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let outputs = run(&mut part, &[7.0], 1000, 1e-3);
    let range = part.ports().output_range(speed);
    let [x, v] = [outputs[range.start], outputs[range.start + 1]];
    let length = (x * x + 0.16).sqrt();
    assert!((outputs[0] - length).abs() < 1e-12);
    assert!((outputs[1] - v * x / length).abs() < 1e-12);
    let work = 7.0 * (length - 0.5);
    assert!((0.5 * 2.0 * v * v / work - 1.0).abs() < 1e-5, "{v} {work}");
    let energy = part.energy(1.0, &[7.0]);
    assert_eq!(
        energy.supplied, 0.0,
        "the engine counts what comes through ports"
    );
}
