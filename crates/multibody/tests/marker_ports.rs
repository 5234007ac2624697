//! Ports at points away from their nodes.

use oldham_cosim::{Hold, InputPort, Inputs, OutputPort, Ports, Predictor, Subsystem};
use oldham_multibody::{
    Along, Body, Drive, Joint, Load, Marker, Mat3, MechanismPart, Model, Motion, NodeId, Options,
    PartBuilder, Quaternion, Vec3,
};

fn outputs(part: &mut MechanismPart, t: f64, inputs: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; part.ports().output_width()];
    part.outputs(t, inputs, &mut values).expect("outputs");
    values
}

fn vector(values: &[f64], first: usize) -> Vec3 {
    Vec3::new(values[first], values[first + 1], values[first + 2])
}

fn close(a: Vec3, b: Vec3, tolerance: f64) -> bool {
    (a - b).norm() <= tolerance * (1.0 + b.norm())
}

/// A free body that turns, with a wrench at a point of it: Newton and Euler give the accelerations of
/// its centre, and rigid motion those of the point, a + α × r + ω × (ω × r).
#[test]
fn a_wrench_at_a_point_moves_node_and_point_as_newton_and_euler_say() {
    let orientation = Quaternion::exp(Vec3::new(0.3, -0.4, 0.9));
    let rotation = orientation.matrix();
    let (mass, principal) = (2.5, [0.3, 0.5, 0.7]);
    let spin = Vec3::new(1.0, -2.0, 0.5);
    let velocity = Vec3::new(0.1, 0.2, -0.3);
    let place = Vec3::new(1.0, 2.0, 3.0);
    let mut model = Model::new();
    let motion = Motion::at_rest(place, orientation).moving(velocity, spin);
    let node = model.node("body", motion);
    let [x, y, z] = principal;
    model.body(node, Body::centred(mass, Mat3::diagonal(x, y, z)));
    let axes = Quaternion::exp(Vec3::new(-0.2, 0.1, 0.6));
    let offset = Vec3::new(0.4, -0.1, 0.25);
    let marker = Marker::on(node).offset(offset).oriented(axes);
    let mut builder = PartBuilder::new(model);
    let (_, point) = builder.load_at("grip", marker);
    let own = builder.observe("body", node);
    let n = Vec3::new(0.6, 0.0, 0.8);
    let along = builder.observe_along("along", marker, n, Along::Motion);
    let mut part = builder.build(Options::default(), 1).expect("a part");

    let (force, moment) = (Vec3::new(3.0, -1.0, 2.0), Vec3::new(0.2, 0.5, -0.4));
    let inputs = [force.0, moment.0].concat();
    let values = outputs(&mut part, 0.0, &inputs);
    let of = |port: OutputPort| part.ports().output_range(port).start;
    let (point, own, along) = (of(point), of(own), of(along));

    let arm = rotation * offset;
    let inertia = rotation * Mat3::diagonal(x, y, z) * rotation.transpose();
    let inverse = rotation * Mat3::diagonal(1.0 / x, 1.0 / y, 1.0 / z) * rotation.transpose();
    let acceleration = force * (1.0 / mass);
    let torque = moment + arm.cross(force) - spin.cross(inertia * spin);
    let turning = inverse * torque;
    assert!(close(vector(&values, own + 13), acceleration, 1e-9));
    assert!(close(vector(&values, own + 16), turning, 1e-9));

    let carried = acceleration + turning.cross(arm) + spin.cross(spin.cross(arm));
    assert!(close(vector(&values, point), place + arm, 1e-12));
    assert!(close(
        vector(&values, point + 7),
        velocity + spin.cross(arm),
        1e-12
    ));
    assert!(close(vector(&values, point + 10), spin, 1e-12));
    assert!(close(vector(&values, point + 13), carried, 1e-9));
    assert!(close(vector(&values, point + 16), turning, 1e-9));
    let expected = orientation.times(axes);
    let q: Vec<f64> = values[point + 3..point + 7].to_vec();
    assert!(q.iter().zip(expected.0).all(|(a, b)| (a - b).abs() < 1e-12));
    let line = [place + arm, velocity + spin.cross(arm), carried].map(|v| v.dot(n));
    for (i, expected) in line.into_iter().enumerate() {
        assert!((values[along + i] - expected).abs() < 1e-8);
    }
}

fn given(ports: &Ports, values: &[f64]) -> Inputs {
    let mut hold = Hold::new(0, ports);
    for port in 0..ports.inputs().len() {
        let range = ports.input_range(InputPort(port));
        hold.receive(InputPort(port), 0.0, &values[range]);
    }
    Inputs::new(ports, Box::new(hold))
}

/// A lever on a pin, pulled at its end by a force that keeps its direction.
fn lever(pull: impl FnOnce(&mut PartBuilder, Marker)) -> MechanismPart {
    let mut model = Model::new();
    let node = model.node("lever", Motion::at(Vec3::ZERO));
    model.body(node, Body::centred(1.0, Mat3::diagonal(0.4, 0.4, 0.4)));
    let pin = |node| Marker::on(node).axis(Vec3::Y);
    model.element("pin", Joint::revolute(pin(NodeId::GROUND), pin(node)));
    let mut builder = PartBuilder::new(model);
    pull(&mut builder, Marker::on(node).offset(Vec3::X * 0.8));
    builder.observe_at("end", Marker::on(node).offset(Vec3::X * 0.8));
    builder.build(Options::default(), 1).expect("a part")
}

/// Received at a port or given as a load, it is the same force, with the same Jacobian: the same
/// motion in as many iterations.
#[test]
fn a_received_wrench_acts_as_a_given_load_at_the_point() {
    let force = [0.0, 0.0, -30.0];
    let mut received = lever(|builder, end| {
        builder.load_at("pull", end);
    });
    let mut loaded = lever(|builder, end| {
        let [x, y, z] = force.map(Drive::Constant);
        let none = [Drive::ZERO, Drive::ZERO, Drive::ZERO];
        builder
            .model()
            .element("pull", Load::fixed(end, [x, y, z], none));
    });
    let wrench = [force, [0.0; 3]].concat();
    let mut exchanged = given(received.ports(), &wrench);
    let mut nothing = given(loaded.ports(), &[]);
    for step in 0..400 {
        let t = step as f64 * 1e-3;
        let last = |values: Vec<f64>| values[values.len() - 19..].to_vec();
        let a = last(outputs(&mut received, t, &wrench));
        let b = last(outputs(&mut loaded, t, &[]));
        let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-7, "at {t}");
        received
            .advance(t, t + 1e-3, &mut exchanged)
            .expect("a step");
        loaded.advance(t, t + 1e-3, &mut nothing).expect("a step");
    }
    let iterations = |part: &MechanismPart| part.counters().iterations;
    assert_eq!(iterations(&received), iterations(&loaded));
}
