//! A mass on the slow side, a spring on the fast side.

mod common;

use common::{PUSHED, at_end, element, port, spring};
use oldham_cosim::{Builder, Hold, InputPort, Inputs, OutputPort, Schedule, Simulation, Subsystem};
use oldham_interface_model::{Fed, Shown};
use oldham_lumped::{
    Coordinates, ElementKind, Integrator, Lumped, NodeRef, NodeSpec, PortKind, Spec,
};

const MASS: f64 = 2.0;
const STIFFNESS: f64 = 2e4;

/// A mass that is pushed.
fn slow() -> Lumped {
    let node = NodeRef::node(0);
    let mut spec = Spec::new(Coordinates::Translation, Integrator::Lms2 { rho: 0.6 });
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
    spring(STIFFNESS, 0.0, micro_steps)
}

fn fed(steps: usize) -> Fed {
    Fed::new(Box::new(fast(1)), &[PUSHED], steps)
}

/// Within a macro step the fast side takes the steps of Verlet's method of the whole.
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
        v -= 0.5 * size * STIFFNESS * x / MASS;
        x += size * v;
        v -= 0.5 * size * STIFFNESS * x / MASS;
    }
    let (mut received, mut outputs) = at_end(&mut fed, &mut inputs, end);
    assert!((outputs[0] + STIFFNESS * x).abs() < 1e-9 * STIFFNESS * x.abs());
    // What is sent after that counts more than the model.
    received[0] = 0.5;
    fed.outputs(end, &received, &mut outputs).unwrap();
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
