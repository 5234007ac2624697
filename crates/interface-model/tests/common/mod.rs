//! Springs that follow something, and what fast subsystems send at the end of a step.
#![allow(dead_code, reason = "each test file uses its own part")]

use oldham_cosim::{InputPort, Inputs, OutputPort, Subsystem};
use oldham_interface_model::{Coordinate, Fed};
use oldham_lumped::{
    BoundarySpec, Coordinates, Element, ElementKind, Integrator, Lumped, NodeRef, PortKind,
    PortSpec, Spec,
};

/// What a spring follows, and pushes.
pub const PUSHED: Coordinate = Coordinate::Pushed {
    position: InputPort(0),
    rate: Some(InputPort(1)),
    force: OutputPort(0),
};

pub fn port(name: &str, node: NodeRef, kind: PortKind) -> PortSpec {
    let name = name.into();
    PortSpec { name, node, kind }
}

pub fn element(kind: ElementKind) -> Element {
    let name = "element".into();
    Element { name, kind }
}

/// A spring to the ground with friction that follows one coordinate.
pub fn spring(stiffness: f64, damping: f64, micro_steps: usize) -> Lumped {
    let far = NodeRef::boundary(0);
    let spring = ElementKind::Spring {
        ends: [NodeRef::Ground, far],
        stiffness,
        damping,
        rest: 0.0,
    };
    let spec = Spec {
        boundary_nodes: vec![BoundarySpec::new("far")],
        elements: vec![element(spring)],
        inputs: vec![
            port("x", far, PortKind::Displacement),
            port("v", far, PortKind::Velocity),
        ],
        outputs: vec![port("force", far, PortKind::Force)],
        micro_steps,
        ..Spec::new(Coordinates::Translation, Integrator::SemiImplicitEuler)
    };
    Lumped::new(spec).unwrap()
}

/// What is received and sent at the end of a step.
pub fn at_end(fed: &mut Fed, inputs: &mut Inputs, end: f64) -> (Vec<f64>, Vec<f64>) {
    let mut received = vec![0.0; fed.ports().input_width()];
    inputs.at(end, &mut received);
    let mut sent = vec![0.0; fed.ports().output_width()];
    fed.outputs(end, &received, &mut sent).unwrap();
    (received, sent)
}
