//! A mass on the slow side, a spring on the fast side.

use oldham_cosim::{Builder, Hold, InputPort, Inputs, OutputPort, Schedule, Simulation, Subsystem};
use oldham_interface_model::{Coordinate, Fed, Shown};
use oldham_lumped::{
    BoundarySpec, Coordinates, Element, ElementKind, Integrator, Lumped, NodeRef, NodeSpec,
    PortKind, PortSpec, Spec,
};

const MASS: f64 = 2.0;
const STIFFNESS: f64 = 2e4;

fn spec(integrator: Integrator, micro_steps: usize) -> Spec {
    Spec {
        coordinates: Coordinates::Translation,
        nodes: Vec::new(),
        boundary_nodes: Vec::new(),
        elements: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        integrator,
        micro_steps,
        locates_kinks: false,
        sends_tangent: false,
        tangents: Vec::new(),
    }
}

fn port(name: &str, node: NodeRef, kind: PortKind) -> PortSpec {
    PortSpec {
        name: name.into(),
        node,
        kind,
    }
}

fn element(kind: ElementKind) -> Element {
    Element {
        name: "element".into(),
        kind,
    }
}

/// A mass that is pushed.
fn slow() -> Lumped {
    let node = NodeRef::node(0);
    let mut spec = spec(Integrator::Lms2 { rho: 0.6 }, 1);
    spec.nodes = vec![NodeSpec {
        name: "mass".into(),
        position: 0.01,
        velocity: 0.3,
    }];
    spec.elements = vec![element(ElementKind::Mass { node, mass: MASS })];
    spec.inputs = vec![port("force", node, PortKind::Force)];
    spec.outputs = vec![
        port("x", node, PortKind::Displacement),
        port("v", node, PortKind::Velocity),
    ];
    Lumped::new(spec).unwrap()
}

/// A spring that follows it.
fn fast(micro_steps: usize) -> Lumped {
    let far = NodeRef::boundary(0);
    let mut spec = spec(Integrator::SemiImplicitEuler, micro_steps);
    spec.boundary_nodes = vec![BoundarySpec::new("far")];
    spec.elements = vec![element(ElementKind::Spring {
        ends: [NodeRef::Ground, far],
        stiffness: STIFFNESS,
        damping: 0.0,
        rest: 0.0,
    })];
    spec.inputs = vec![
        port("x", far, PortKind::Displacement),
        port("v", far, PortKind::Velocity),
    ];
    spec.outputs = vec![port("force", far, PortKind::Force)];
    Lumped::new(spec).unwrap()
}

const COORDINATE: Coordinate = Coordinate::Pushed {
    position: InputPort(0),
    rate: Some(InputPort(1)),
    force: OutputPort(0),
};

fn fed(steps: usize) -> Fed {
    Fed::new(Box::new(fast(1)), &[COORDINATE], steps)
}

/// Within a macro step the fast side takes the steps of semi-implicit Euler of the whole.
#[test]
fn within_a_step_the_model_moves_as_the_mechanism_would() {
    let (steps, size) = (8, 1e-3);
    let mut fed = fed(steps);
    let mut inputs = Inputs::new(fed.ports(), Box::new(Hold::new(0, fed.ports())));
    let (mut x, mut v) = (0.01, 0.3);
    // The mechanism shows its acceleration under a force that is not the present one.
    let acted = -50.0;
    for (port, values) in [
        (0, vec![x]),
        (1, vec![v]),
        // Nothing is told about momentum.
        (2, vec![acted / MASS, acted, 1.0 / MASS, 0.0, 0.0, 0.0]),
    ] {
        inputs.receive(InputPort(port), 0.0, &values);
    }
    let end = steps as f64 * size;
    fed.advance(0.0, end, &mut inputs).unwrap();
    for _ in 0..steps {
        v -= size * STIFFNESS * x / MASS;
        x += size * v;
    }
    let mut at_end = vec![0.0; fed.ports().input_width()];
    inputs.at(end, &mut at_end);
    let mut outputs = [0.0];
    fed.outputs(end, &at_end, &mut outputs).unwrap();
    assert!((outputs[0] + STIFFNESS * x).abs() < 1e-9 * STIFFNESS * x.abs());
    // What is sent after that counts more than the model.
    at_end[0] = 0.5;
    fed.outputs(end, &at_end, &mut outputs).unwrap();
    assert!((outputs[0] + STIFFNESS * 0.5).abs() < 1e-9);
}

/// With the model, or with held positions.
fn coupled(step: f64, is_fed: bool) -> Simulation {
    let mut builder = Builder::new();
    let steps = (step / 1e-4).round() as usize;
    let (mechanism, spring): (Box<dyn Subsystem>, Box<dyn Subsystem>) = match is_fed {
        true => (
            Box::new(Shown::new(Box::new(slow()), "interface", &[InputPort(0)])),
            Box::new(fed(steps)),
        ),
        false => (Box::new(slow()), Box::new(fast(steps))),
    };
    let hold = |part: &dyn Subsystem| Box::new(Hold::new(0, part.ports()));
    let (first, second) = (hold(&*mechanism), hold(&*spring));
    let slow = builder.add("slow", mechanism, first);
    let fast = builder.add("fast", spring, second);
    builder.connect((slow, OutputPort(0)), (fast, InputPort(0)));
    builder.connect((slow, OutputPort(1)), (fast, InputPort(1)));
    builder.connect((fast, OutputPort(0)), (slow, InputPort(0)));
    if is_fed {
        builder.connect((slow, OutputPort(2)), (fast, InputPort(2)));
    }
    builder
        .build(Schedule::gauss_seidel(step, [fast, slow]))
        .unwrap()
}

/// The largest position within two seconds, over that of the exact motion.
fn growth(step: f64, is_fed: bool) -> f64 {
    let mut simulation = coupled(step, is_fed);
    let id = simulation.find("slow").unwrap();
    let mut most: f64 = 0.0;
    for _ in 0..(2.0 / step) as usize {
        simulation.steps(1).unwrap();
        most = most.max(simulation.outputs(id)[0].abs());
    }
    most / 0.01_f64.hypot(0.3 / 100.0)
}

/// The frequency is 100 rad/s, and nothing is damped.
#[test]
fn longer_steps_are_stable_with_the_model_than_without() {
    assert!(growth(0.002, false) > 100.0);
    for step in [0.001, 0.002, 0.005, 0.01] {
        let growth = growth(step, true);
        assert!(growth < 1.01, "{step}: {growth}");
    }
}
