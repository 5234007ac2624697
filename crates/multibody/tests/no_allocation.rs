//! After start-up a step allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;

use oldham_cosim::{Hold, InputPort, Inputs, StageInputs, Subsystem};
use oldham_multibody::bench::{hanging_beam, spatial_chain};
use oldham_multibody::contact::{ContactShape, Grains, Shape, Surface};
use oldham_multibody::{
    AngleCounter, Body, Cable, Coordinate, CoordinateForce, Coordinates, Drive, DrivenCoordinate,
    ElasticTransmission, Frictional, Joint, Law, Load, LoadSensor, LuGre, Marker, Mat3, Measured,
    Method, Model, Motion, NodeId, Options, PartBuilder, PlaneCurve, PointOnCurve, Sensor, Servo,
    System, Target, Transmission, Vec3,
};

const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Interpolated,
};

fn assert_no_allocation(model: Model, method: Method, h: f64) {
    assert_no_allocation_in(Coordinates::Absolute, model, method, h);
}

fn assert_no_allocation_in(coordinates: Coordinates, model: Model, method: Method, h: f64) {
    let options = Options {
        method,
        account_energy: true,
        coordinates,
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    let region = allocations::region();
    for step in 0..200 {
        // Another size asks for other factors.
        let size = if step < 150 { h } else { 0.5 * h };
        system.step(size, &[]).unwrap();
    }
    let change = region.change();
    assert!(
        system.counters().factorisations > 1,
        "factorisations are part of the test"
    );
    assert_eq!(change.allocations + change.reallocations, 0);
}

/// A chain whose last link is held by a rod.
fn closed_chain() -> Model {
    let (mut model, nodes) = spatial_chain(5);
    let last = nodes[nodes.len() - 1];
    let place = model.initial(last).position;
    let above = Marker::on(NodeId::GROUND).offset(Vec3::Z);
    let length = (place - Vec3::Z).norm();
    model.element("rod", Joint::distance(above, Marker::on(last), length));
    model
}

/// Links that hang still, one below the other, but for rounding: down is along no axis.
fn resting_chain(links: usize) -> Model {
    let mut model = Model::new();
    let down = Vec3::new(0.1, 0.2, -0.7).unit();
    model.gravity(down * 9.81);
    let mut above = NodeId::GROUND;
    for i in 0..links {
        let top = down * (0.3 * i as f64);
        let node = model.node(format!("link {i}"), Motion::at(top + down * 0.15));
        model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
        let [a, b] = [above, node].map(|n| model.axis_marker(n, top, down.cross(Vec3::X)));
        model.element(format!("joint {i}"), Joint::revolute(a, b));
        above = node;
    }
    model
}

/// A link that a servo with a rotor swings, from limit to limit.
fn served_link() -> Model {
    let mut model = Model::new();
    let link = model.node("link", Motion::at(Vec3::X));
    model.body(link, Body::centred(1.0, Mat3::IDENTITY * 0.1));
    let ends = [NodeId::GROUND, link].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("hinge", Joint::revolute(ends[0], ends[1]));
    let target = Drive::function(|t| (40.0 * t).sin());
    let servo = Servo::new(Coordinate::Angle, ends, [1e3, 20.0]).at_position(target);
    model.element("servo", servo.limited(30.0));
    model.reflected_inertia("rotor", Coordinate::Angle, ends, 0.2);
    model
}

/// The same where Newton fails and steps are taken in pieces.
fn assert_retries_without_allocation() {
    let options = Options {
        max_iterations: 4,
        ..Options::default()
    };
    let mut system = System::new(hanging_beam(4, 0.05).0, options).unwrap();
    system.start(0.0, &[]).unwrap();
    let region = allocations::region();
    for _ in 0..5 {
        system.step(0.1, &[]).unwrap();
    }
    let change = region.change();
    assert!(system.counters().retries > 0);
    assert_eq!(change.allocations + change.reallocations, 0);
}

/// The same through the engine's interface, with a received wrench that its sender holds and that jumps.
fn assert_advance_without_allocation(method: Method) {
    let (model, nodes) = spatial_chain(4);
    let options = Options {
        method,
        ..Options::default()
    };
    let mut builder = PartBuilder::new(model);
    builder.load("tip", nodes[4]);
    let mut part = builder.build(options, 2).unwrap();
    let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(1, part.ports())));
    inputs.hold(part.ports(), InputPort(0));
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &[0.0; 6], &mut outputs).unwrap();
    let region = allocations::region();
    for step in 0..200 {
        let t = step as f64 * 1e-3;
        inputs.receive(InputPort(0), t, &[f64::from(step / 5); 6]);
        assert_eq!(inputs.have_jumped(), step > 0 && step % 5 == 0);
        part.advance(t, t + 1e-3, &mut inputs).unwrap();
        inputs.pass_jump();
        part.outputs(t + 1e-3, &[0.0; 6], &mut outputs).unwrap();
    }
    let change = region.change();
    assert_eq!(change.allocations + change.reallocations, 0);
}

/// A wheel with stops, a motor, friction and a cable, a driven one geared to another, a cam, and
/// sensors that are fed back and sent.
fn machine() -> PartBuilder {
    let mut model = Model::new();
    let wheel = |model: &mut Model, name: &str, x: f64| {
        let node = model.node(name, Motion::at(Vec3::X * x));
        model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
        let ends = [NodeId::GROUND, node].map(|n| model.marker(n, Vec3::X * x));
        (node, ends)
    };
    let law = LuGre {
        coulomb: 0.1,
        stiction: 0.1,
        stribeck: 0.1,
        stiffness: 1e3,
        damping: 0.0,
        viscous: 0.0,
    };
    let (free, free_ends) = wheel(&mut model, "free", 0.0);
    let [a, b] = free_ends;
    model.element("sleeve", Frictional::cylindrical(a, b, 0.05, 10.0, law));
    let stops = Law::Stops {
        lower: -0.1,
        upper: 0.1,
        stiffness: 1e3,
        damping: 0.1,
    };
    let stops = CoordinateForce::new(Coordinate::Angle, free_ends, stops, 0.0);
    model.element("stops", stops);
    let motor = Law::Motor {
        points: [(0.0, 2.0), (10.0, 0.0)].into(),
        command: Drive::Constant(1.0),
    };
    let motor = CoordinateForce::new(Coordinate::Angle, free_ends, motor, 0.0);
    model.element("motor", motor);
    let (_, driven) = wheel(&mut model, "driven", 1.0);
    model.element("driven", Joint::revolute(driven[0], driven[1]));
    let rate = Target::Rate(Drive::function(|t| 3.0 + t));
    let drive = DrivenCoordinate::new(Coordinate::Angle, driven, rate);
    model.element("drive", drive);
    let (_, geared) = wheel(&mut model, "geared", 2.0);
    model.element("geared", Joint::revolute(geared[0], geared[1]));
    let mesh = Law::Linear {
        stiffness: 1e3,
        damping: 1.0,
    };
    let relation = Transmission::gear(driven, geared, [1.0, 1.0]);
    model.element("mesh", ElasticTransmission::new(relation, mesh));
    let angle = |i: u32| std::f64::consts::TAU * f64::from(i) / 60.0;
    let circle = (0..60).map(|i| [0.1 + 0.3 * angle(i).cos(), 0.3 * angle(i).sin()]);
    let curve = PlaneCurve::new(circle.collect(), true).unwrap();
    let place = Vec3::new(1.0, 0.28, 0.0);
    let follower = model.node("follower", Motion::at(place));
    model.body(follower, Body::centred(1.0, Mat3::IDENTITY));
    let [a, b] = [NodeId::GROUND, follower].map(|n| model.axis_marker(n, place, Vec3::Y));
    model.element("guide", Joint::prismatic(a, b));
    let cam = [driven[1], Marker::on(follower)];
    let cam = model.element("cam", PointOnCurve::new(cam, curve));
    let rope = Law::Pulling(Box::new(Law::Linear {
        stiffness: 10.0,
        damping: 0.1,
    }));
    let points = [
        Marker::on(free).offset(Vec3::Y),
        Marker::on(NodeId::GROUND),
        b,
    ];
    let rope = model.element("rope", Cable::new(&points, 1.0, rope));
    let counter = model.element("turns", AngleCounter::new(driven));
    let sensors = vec![Sensor::Angle(counter), Sensor::Tension(rope)];
    let fed = Drive::Measured(Measured::new(sensors, |r| -0.01 * r[1] - 0.01 * r[2]));
    let none = || [Drive::ZERO, Drive::ZERO, Drive::ZERO];
    let push = Load::fixed(Marker::on(free), none(), [Drive::ZERO, Drive::ZERO, fed]);
    let push = model.element("push", push);
    let mut builder = PartBuilder::new(model);
    builder.push_coordinate("shaft", Coordinate::Angle, geared);
    builder.observe_sensor("contact", Sensor::Load(LoadSensor::force(cam, 1, Vec3::Y)));
    builder.observe_sensor("power", Sensor::Power(push));
    builder
}

fn assert_machine_runs_without_allocation() {
    let mut part = machine().build(Options::default(), 1).unwrap();
    let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(1, part.ports())));
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &[0.0], &mut outputs).unwrap();
    let region = allocations::region();
    for step in 0..200 {
        let t = f64::from(step) * 1e-3;
        part.advance(t, t + 1e-3, &mut inputs).unwrap();
        part.outputs(t + 1e-3, &[0.0], &mut outputs).unwrap();
    }
    let change = region.change();
    assert_eq!(change.allocations + change.reallocations, 0);
}

/// One test, since the counter is that of the whole process.
/// A hinged bar and grains on a floor: contacts of held nodes, of free ones and of grains, once they have been met.
fn assert_contacts_without_allocation() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let rough = Surface::rough(0.5);
    let bar = model.node("bar", Motion::at(Vec3::new(0.3, 0.0, 0.2)));
    model.body(bar, Body::centred(1.0, Mat3::diagonal(0.01, 0.1, 0.1)));
    let pivot = Vec3::new(0.0, 0.0, 0.2);
    let hinge = [NodeId::GROUND, bar].map(|node| model.axis_marker(node, pivot, Vec3::Y));
    model.element("hinge", Joint::revolute(hinge[0], hinge[1]));
    let block = model.node("block", Motion::at(Vec3::new(0.0, 1.0, 0.1)));
    model.body(block, Body::centred(1.0, Mat3::diagonal(0.01, 0.01, 0.01)));
    let half = Vec3::new(0.1, 0.1, 0.1);
    let tip = Marker::on(bar).offset(Vec3::X * 0.3);
    for (at, shape) in [
        (Marker::on(NodeId::GROUND), Shape::Plane),
        (tip, Shape::Sphere { radius: 0.05 }),
        (Marker::on(block), Shape::Box { half }),
    ] {
        model.contacts().shapes.push(ContactShape {
            name: String::new(),
            at,
            shape,
            surface: rough,
        });
    }
    model.contacts().grains.push(Grains {
        name: "grains".into(),
        centres: (0..5)
            .map(|i| Vec3::new(-1.0, 0.3 * f64::from(i), 0.05))
            .collect(),
        radius: 0.05,
        density: 1000.0,
        surface: rough,
        container: None,
    });
    let options = Options {
        method: Method::Impulses,
        account_energy: true,
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..1000 {
        system.step(1e-3, &[]).unwrap();
    }
    assert!(system.contact_report().unwrap().pressed >= 10);
    let region = allocations::region();
    for _ in 0..200 {
        system.step(1e-3, &[]).unwrap();
    }
    let change = region.change();
    assert_eq!(change.allocations + change.reallocations, 0);
}

#[test]
fn steps_factorisations_and_advances_allocate_nothing() {
    allocations::settle();
    assert_retries_without_allocation();
    assert_machine_runs_without_allocation();
    assert_contacts_without_allocation();
    for (method, beam_damping) in [(Method::default(), 0.05), (RK4, 0.0)] {
        assert_no_allocation(spatial_chain(5).0, method, 1e-3);
        assert_no_allocation(hanging_beam(4, beam_damping).0, method, 1e-4);
        // Next to nothing is much in comparison with no energy at all.
        assert_no_allocation(resting_chain(20), method, 1e-3);
        assert_no_allocation(served_link(), method, 1e-3);
        assert_advance_without_allocation(method);
    }
    let implicit = [Method::default(), Method::GeneralisedAlpha { rho: 0.6 }];
    for method in [RK4, Method::Impulses, implicit[0], implicit[1]] {
        for model in [spatial_chain(5).0, resting_chain(20), served_link()] {
            assert_no_allocation_in(Coordinates::Joint, model, method, 1e-3);
        }
    }
    for method in implicit {
        assert_no_allocation_in(Coordinates::Joint, closed_chain(), method, 1e-3);
    }
}
