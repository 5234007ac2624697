//! What sensors and ports show, against closed forms.

use oldham_cosim::{Hold, InputPort, Inputs, Linearisable, Source, Subsystem, Unit};
use oldham_multibody::{
    AngleCounter, BeamMesh, Body, Coordinate, CoordinateForce, Drive, Joint, Law, LineInertia,
    Load, LoadSensor, Lumping, Marker, Mat3, MechanismPart, Model, Motion, NodeId, Options,
    PartBuilder, Quaternion, Rod, Section, SectionSensor, Sensor, Shell4, ShellSection, Vec3,
    straight_beam,
};

const H: f64 = 1e-3;

fn none() -> [Drive; 3] {
    [Drive::ZERO, Drive::ZERO, Drive::ZERO]
}

/// A wheel on a hinge about z, turning at this speed.
fn wheel(model: &mut Model, inertia: f64, speed: f64) -> (NodeId, [Marker; 2]) {
    let motion = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::Z * speed);
    let node = model.node("wheel", motion);
    model.body(node, Body::centred(2.0, Mat3::IDENTITY * inertia));
    let ends = [Marker::on(NodeId::GROUND), Marker::on(node)];
    model.element("hinge", Joint::revolute(ends[0], ends[1]));
    (node, ends)
}

fn build(builder: PartBuilder) -> MechanismPart {
    builder.build(Options::default(), 1).unwrap()
}

/// Numbers that stay.
struct Constant(Vec<f64>);

impl Source for Constant {
    fn value(&mut self, _: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }
}

/// Advances with inputs that stay, and gives the outputs at the end.
fn run(part: &mut MechanismPart, inputs: &[f64], steps: usize) -> Vec<f64> {
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, inputs, &mut outputs).unwrap();
    let ports = part.ports().clone();
    let mut received = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    for port in (0..ports.inputs().len()).map(InputPort) {
        let value = inputs[ports.input_range(port)].to_vec();
        received.drive(&ports, port, Box::new(Constant(value)));
    }
    for step in 0..steps {
        let t = step as f64 * H;
        part.advance(t, t + H, &mut received).unwrap();
    }
    part.outputs(steps as f64 * H, inputs, &mut outputs)
        .unwrap();
    outputs
}

/// Three turns and a half: the counted angle goes on, the plain one is between -π and π.
#[test]
fn a_counted_angle_goes_on_over_whole_turns() {
    let mut model = Model::new();
    let speed = 22.0;
    let (_, ends) = wheel(&mut model, 0.1, speed);
    let counter = model.element("turns", AngleCounter::new(ends));
    let mut builder = PartBuilder::new(model);
    builder.observe_sensor("angle", Sensor::Angle(counter));
    builder.observe_sensor("plain", Sensor::Coordinate(Coordinate::Angle, ends));
    builder.observe_sensor("rate", Sensor::Rate(Coordinate::Angle, ends));
    builder.observe_coordinate("motion", Coordinate::Angle, ends);
    let mut part = build(builder);
    let found = run(&mut part, &[], 1000);
    let turned = speed;
    let turn = std::f64::consts::TAU;
    for angle in [found[0], found[3]] {
        assert!((angle - turned).abs() < 1e-9, "{angle} {turned}");
    }
    assert!(
        (found[1] - (turned - 4.0 * turn)).abs() < 1e-9,
        "{}",
        found[1]
    );
    assert!((found[2] - speed).abs() < 1e-9);
    assert!(found[5].abs() < 1e-6, "no acceleration: {}", found[5]);
}

/// A torque τ through the port: the angle is τ t² / 2 J, at constant acceleration.
#[test]
fn a_torque_port_turns_a_wheel() {
    let mut model = Model::new();
    let (inertia, torque) = (0.4, 6.0);
    let (_, ends) = wheel(&mut model, inertia, 0.0);
    let mut builder = PartBuilder::new(model);
    builder.push_coordinate("shaft", Coordinate::Angle, ends);
    let mut part = build(builder);
    let found = run(&mut part, &[torque], 1000);
    let alpha = torque / inertia;
    // LMS2 is exact for constant accelerations but for its first step.
    assert!((found[0] - 0.5 * alpha).abs() < 1e-5, "{}", found[0]);
    assert!((found[1] - alpha).abs() < 1e-5);
    assert!((found[2] - alpha).abs() < 1e-9);
}

/// A received rotation with constant acceleration: the torque on its owner is -J α, and a received
/// slide along gravity carries the weight.
#[test]
fn a_received_motion_answers_with_its_load() {
    let mut model = Model::new();
    let (_, ends) = wheel(&mut model, 0.4, 0.0);
    let mut builder = PartBuilder::new(model);
    builder.drive_coordinate("shaft", Coordinate::Angle, ends);
    let mut part = build(builder);
    let mut outputs = [0.0];
    part.outputs(0.0, &[0.0, 1.0, 5.0], &mut outputs).unwrap();
    assert!((outputs[0] + 0.4 * 5.0).abs() < 1e-9, "{outputs:?}");
    assert!((part.system().motion(ends[1].node).angular_velocity[2] - 1.0).abs() < 1e-12);

    let mut model = Model::new();
    model.gravity(Vec3::Z * -10.0);
    let cage = model.node("cage", Motion::at(Vec3::ZERO));
    model.body(cage, Body::centred(3.0, Mat3::IDENTITY));
    let ends = [Marker::on(NodeId::GROUND), Marker::on(cage)];
    model.element("guide", Joint::prismatic(ends[0], ends[1]));
    let mut builder = PartBuilder::new(model);
    builder.drive_coordinate("rope", Coordinate::Slide, ends);
    let mut part = build(builder);
    let found = run(&mut part, &[0.2, 0.0, 0.0], 10);
    assert!((found[0] + 30.0).abs() < 1e-8, "{found:?}");
    assert!((part.system().motion(cage).position[2] - 0.2).abs() < 1e-12);
}

/// Two bodies that move in a known way: place, velocity and acceleration of a point of the second,
/// as they are seen from the first, which turns.
#[test]
fn relative_motion_is_seen_from_the_first_marker() {
    let (w, v, radius) = (3.0, 0.7, 0.5);
    let mut model = Model::new();
    let turning = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::Z * w);
    let table = model.node("table", turning);
    model.body(table, Body::centred(1.0, Mat3::IDENTITY));
    let straight = Motion::at(Vec3::X * radius).moving(Vec3::Y * v, Vec3::ZERO);
    let ball = model.node("ball", straight);
    model.body(ball, Body::centred(1.0, Mat3::IDENTITY));
    let ends = [Marker::on(table), Marker::on(ball)];
    let mut builder = PartBuilder::new(model);
    for axis in [Vec3::X, Vec3::Y] {
        builder.observe_sensor("place", Sensor::Displacement(ends, axis));
        builder.observe_sensor("speed", Sensor::DisplacementRate(ends, axis));
        builder.observe_relative_acceleration("bend", ends, axis);
    }
    builder.observe_sensor("distance", Sensor::Distance(ends));
    builder.observe_sensor("growth", Sensor::DistanceRate(ends));
    let point = Marker::on(ball).offset(Vec3::Z * 0.3);
    builder.observe_sensor("point", Sensor::Position(point, Vec3::Z));
    let mut part = build(builder);
    let found = run(&mut part, &[], 500);
    // Free bodies: a straight line seen from a table that turns.
    let t = 0.5;
    let (s, c) = (w * t).sin_cos();
    let (x, y) = (radius, v * t);
    let expected = [c * x + s * y, -s * x + c * y];
    let rates = [s * v + w * expected[1], c * v - w * expected[0]];
    let bends = [
        2.0 * w * rates[1] + w * w * expected[0],
        -2.0 * w * rates[0] + w * w * expected[1],
    ];
    for i in 0..2 {
        let [place, rate, bend] = [0, 1, 2].map(|k| found[3 * i + k]);
        assert!((place - expected[i]).abs() < 1e-9, "{place} {expected:?}");
        assert!((rate - rates[i]).abs() < 1e-9, "{rate} {rates:?}");
        assert!((bend - bends[i]).abs() < 1e-6, "{bend} {bends:?}");
    }
    let distance = x.hypot(y);
    assert!((found[6] - distance).abs() < 1e-12);
    assert!((found[7] - v * y / distance).abs() < 1e-12);
    assert!((found[8] - 0.3).abs() < 1e-12);
}

/// A beam with a weight at its end, held at the root by a joint with turned axes: reactions in
/// those axes, about the joint.
#[test]
fn reactions_are_seen_in_the_axes_of_the_joint() {
    let (mass, g, arm, tilt) = (2.0, 9.81, 0.8, 0.3_f64);
    let mut model = Model::new();
    model.gravity(Vec3::Z * -g);
    let load = model.node("load", Motion::at(Vec3::X * arm));
    model.body(load, Body::centred(mass, Mat3::IDENTITY));
    let axes = Quaternion::exp(Vec3::Y * tilt);
    let [a, b] = [NodeId::GROUND, load].map(|n| model.oriented_marker(n, Vec3::ZERO, axes));
    let weld = model.element("weld", Joint::clamp(a, b));
    let mut builder = PartBuilder::new(model);
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let force = LoadSensor::force(weld, 1, axis).seen_from([a, b]);
        builder.observe_sensor("force", Sensor::Load(force));
    }
    let moment = LoadSensor::moment(weld, 1, Vec3::Y).seen_from([a, b]);
    builder.observe_sensor("moment", Sensor::Load(moment));
    let plain = LoadSensor::moment(weld, 1, Vec3::Y);
    builder.observe_sensor("plain", Sensor::Load(plain));
    let mut part = build(builder);
    let found = run(&mut part, &[], 5);
    // The joint pushes the load up: along its own axes by the tilt; its moment about the joint
    // balances the weight, and about the node there is none.
    let weight = mass * g;
    let expected = [
        -weight * tilt.sin(),
        0.0,
        weight * tilt.cos(),
        -weight * arm,
        0.0,
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
}

/// Power of a spring is the negative rate of what it stores, that of a load what it supplies.
#[test]
fn power_is_the_rate_of_work() {
    let (k, amplitude, mass) = (50.0_f64, 0.2, 2.0_f64);
    let mut model = Model::new();
    let node = model.node("mass", Motion::at(Vec3::X * (1.0 + amplitude)));
    model.body(node, Body::centred(mass, Mat3::IDENTITY));
    let law = Law::Linear {
        stiffness: k,
        damping: 0.0,
    };
    let rod = Rod::new(Marker::on(NodeId::GROUND), Marker::on(node), 1.0, law);
    let spring = model.element("spring", rod);
    let push = [Drive::ZERO, Drive::Constant(3.0), Drive::ZERO];
    let push = model.element("push", Load::fixed(Marker::on(node), none(), push));
    let mut builder = PartBuilder::new(model);
    builder.observe_sensor("spring", Sensor::Power(spring));
    builder.observe_sensor("tension", Sensor::Tension(spring));
    builder.observe_sensor("push", Sensor::Power(push));
    builder.observe_sensor("spin", Sensor::Spin(node, Vec3::Y));
    let mut part = build(builder);
    let found = run(&mut part, &[], 300);
    let w = (k / mass).sqrt();
    let (s, c) = (w * 0.3).sin_cos();
    let (x, v) = (amplitude * c, -amplitude * w * s);
    assert!(
        (found[0] + k * x * v).abs() < 1e-4,
        "{} {}",
        found[0],
        -k * x * v
    );
    assert!((found[1] - k * x).abs() < 1e-4);
    assert!((found[2] - 3.0 * found[3]).abs() < 1e-12);
}

/// A cantilever under a tip load: at the evaluation points the shear force is the load, the bending
/// moment the load times the rest of the length, and the strains are these over the stiffness.
#[test]
fn sections_of_a_cantilever_feel_the_load_beyond() {
    let (length, load, bending, elements) = (2.0, 3.0, 4e4, 2);
    let mut model = Model::new();
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X * length,
        up: Vec3::Y,
        elements,
        section: Section::diagonal([1e7, 1e7, 1e7, 1e4, bending, bending]),
        inertia: LineInertia {
            mass: 1.0,
            rotary: [1e-3; 3],
        },
        lumping: Lumping::Segments,
    };
    let nodes = straight_beam(&mut model, "beam", &mesh);
    let root = model.marker(nodes[0], Vec3::ZERO);
    model.element("root", Joint::clamp(Marker::on(NodeId::GROUND), root));
    let force = [Drive::ZERO, Drive::Constant(load), Drive::ZERO];
    let tip = Marker::on(nodes[2 * elements]);
    model.element("tip", Load::fixed(tip, force, none()));
    let mut builder = PartBuilder::new(model.clone());
    let sensor = |element: usize, point: usize, is_strain: bool, component: usize| {
        let name = format!("beam.element {element}");
        let element = model.find_element(&name).unwrap();
        Sensor::Section(SectionSensor {
            samples: [(element, point, 1.0), (element, point, 0.0)],
            is_strain,
            component,
            unit: Unit::ONE,
        })
    };
    let mut places = Vec::new();
    for element in 0..elements {
        for point in 0..2 {
            builder.observe_sensor("shear", sensor(element, point, false, 1));
            builder.observe_sensor("moment", sensor(element, point, false, 5));
            builder.observe_sensor("curvature", sensor(element, point, true, 5));
            let side = if point == 0 { -1.0 } else { 1.0 };
            let half = 0.5 * length / elements as f64;
            places.push((2 * element + 1) as f64 * half + side * half / 3.0_f64.sqrt());
        }
    }
    let mut part = build(builder);
    part.find_static_equilibrium(0.0, &[]).unwrap();
    let mut found = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &[], &mut found).unwrap();
    for (place, found) in places.iter().zip(found.chunks(3)) {
        let moment = load * (length - place);
        // The tip sinks by 0.2 mm: the arm is shorter by less than a micrometre.
        assert!((found[0] - load).abs() < 1e-6, "{found:?}");
        assert!((found[1] - moment).abs() < 1e-6, "{found:?} {moment}");
        assert!((found[2] * bending - moment).abs() < 1e-6);
    }
}

/// A square sheet under uniform tension: membrane force per length in the middle.
#[test]
fn a_sheet_in_tension_has_uniform_resultants() {
    let (young, poisson, thickness, side) = (1e7, 0.3, 0.01, 0.5);
    let section = ShellSection::isotropic(young, poisson, thickness);
    let stretch = 1e-4;
    let mut model = Model::new();
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let nodes =
        corners.map(|(x, y)| model.node("corner", Motion::at(Vec3::new(x * side, y * side, 0.0))));
    let shell = model.element("sheet", Shell4::new(&model, nodes, &section).unwrap());
    for (node, (x, y)) in nodes.into_iter().zip(corners) {
        model.body(node, Body::centred(1.0, Mat3::IDENTITY));
        let moved = Vec3::new(x * side * (1.0 + stretch), y * side, 0.0);
        model.place(node, Motion::at(moved));
    }
    let mut builder = PartBuilder::new(model);
    for (is_strain, component) in [(true, 0), (true, 1), (false, 0), (false, 1), (false, 3)] {
        builder.observe_sensor(
            "section",
            Sensor::Section(SectionSensor {
                samples: [(shell, 0, 1.0), (shell, 0, 0.0)],
                is_strain,
                component,
                unit: Unit::ONE,
            }),
        );
    }
    let mut part = build(builder);
    let mut found = vec![0.0; 5];
    part.outputs(0.0, &[], &mut found).unwrap();
    let plane = young * thickness / (1.0 - poisson * poisson);
    let expected = [
        stretch,
        0.0,
        plane * stretch,
        poisson * plane * stretch,
        0.0,
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// A sensor that reads the element which it drives is refused, by its name.
#[test]
fn an_element_cannot_follow_itself() {
    let mut model = Model::new();
    let node = model.node("node", Motion::at(Vec3::ZERO));
    model.body(node, Body::centred(1.0, Mat3::IDENTITY));
    let itself = model.element("load", Load::fixed(Marker::on(node), none(), none()));
    let sensor = Sensor::Power(itself);
    let measured = oldham_multibody::Measured::new(vec![sensor], |r| r[1]);
    let force = [Drive::Measured(measured), Drive::ZERO, Drive::ZERO];
    model.replace(itself, Load::fixed(Marker::on(node), force, none()));
    let refused = model.check().unwrap_err();
    assert!(refused[0].to_string().contains("`load` follows a sensor"));
}

/// A wheel on a torsion spring, linearised at its ports: from torque to angle 1 / (J s² + k), from
/// a given rotation to the torque on its owner -(J a + k x).
#[test]
fn ports_at_joints_are_linearised() {
    let (inertia, k) = (0.4, 30.0);
    let sprung = |model: &mut Model| {
        let (_, ends) = wheel(model, inertia, 0.0);
        let spring = CoordinateForce::torsion_spring(ends[0], ends[1], k, 0.0, 0.0);
        model.element("spring", spring);
        ends
    };
    let mut model = Model::new();
    let ends = sprung(&mut model);
    let mut builder = PartBuilder::new(model);
    builder.push_coordinate("shaft", Coordinate::Angle, ends);
    let mut part = build(builder);
    part.outputs(0.0, &[0.0], &mut [0.0; 3]).unwrap();
    let found = part.linearise(0.0, &[0.0]).unwrap();
    assert_eq!(found.states, 2);
    // (s I - A)⁻¹ B at a real s.
    let s = 3.0;
    let [a, b, c, d] = [0, 1, 2, 3].map(|i: usize| found.a[i]);
    let determinant = (s - a) * (s - d) - b * c;
    let (u, w) = (found.b[0], found.b[1]);
    let state = [
        ((s - d) * u + b * w) / determinant,
        (c * u + (s - a) * w) / determinant,
    ];
    let expected = 1.0 / (inertia * s * s + k);
    for (row, factor) in [1.0, s, s * s].into_iter().enumerate() {
        let output = found.c[2 * row] * state[0] + found.c[2 * row + 1] * state[1] + found.d[row];
        assert!((output - factor * expected).abs() < 1e-7, "{output} {row}");
    }

    let mut model = Model::new();
    let ends = sprung(&mut model);
    let idle = model.node("idle", Motion::at(Vec3::X));
    model.body(idle, Body::centred(1.0, Mat3::IDENTITY));
    let mut builder = PartBuilder::new(model);
    builder.drive_coordinate("shaft", Coordinate::Angle, ends);
    let mut part = build(builder);
    part.outputs(0.0, &[0.0; 3], &mut [0.0]).unwrap();
    let found = part.linearise(0.0, &[0.0; 3]).unwrap();
    for (found, expected) in found.d.iter().zip([-k, 0.0, -inertia]) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}
