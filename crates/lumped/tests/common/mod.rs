//! Short ways to write descriptions and to run them.
#![allow(dead_code, reason = "every test file uses a part of this")]

use nalgebra::{DMatrix, DVector};
use oldham_cosim::Hold;
use oldham_cosim::{Inputs, Source};
use oldham_cosim::{StepError, Subsystem};
use oldham_expression::Expression;
use oldham_lumped::{
    Coordinates, Element, ElementKind, Integrator, LAW_VARIABLES, LOAD_VARIABLES, Lumped, NodeRef,
    NodeSpec, PortKind, PortSpec, Spec,
};

pub const GROUND: NodeRef = NodeRef::Ground;

/// A description with these nodes (name, position, velocity) and nothing else yet.
pub fn spec(nodes: &[(&str, f64, f64)], integrator: Integrator) -> Spec {
    let node = |&(name, position, velocity): &(&str, f64, f64)| NodeSpec {
        name: name.to_owned(),
        position,
        velocity,
    };
    Spec {
        nodes: nodes.iter().map(node).collect(),
        ..Spec::new(Coordinates::Translation, integrator)
    }
}

fn element(name: &str, kind: ElementKind) -> Element {
    let name = name.to_owned();
    Element { name, kind }
}

pub fn mass(node: NodeRef, mass: f64) -> Element {
    element("mass", ElementKind::Mass { node, mass })
}

pub fn spring(a: NodeRef, b: NodeRef, stiffness: f64, damping: f64) -> Element {
    let kind = ElementKind::Spring {
        ends: [a, b],
        stiffness,
        damping,
        rest: 0.0,
    };
    element("spring", kind)
}

pub fn law(a: NodeRef, b: NodeRef, text: &str) -> Element {
    let law = Expression::parse(text, &LAW_VARIABLES).unwrap();
    element("law", ElementKind::ForceLaw { ends: [a, b], law })
}

pub fn load(node: NodeRef, text: &str) -> Element {
    let force = Expression::parse(text, &LOAD_VARIABLES).unwrap();
    element("load", ElementKind::Load { node, force })
}

pub fn matrices(nodes: &[NodeRef], mass: &[f64], damping: &[f64], stiffness: &[f64]) -> Element {
    let given = |matrix: &[f64]| (!matrix.is_empty()).then(|| matrix.to_vec());
    let kind = ElementKind::Matrices {
        nodes: nodes.to_vec(),
        mass: given(mass),
        damping: given(damping),
        stiffness: given(stiffness),
    };
    element("matrices", kind)
}

pub fn port(name: &str, node: NodeRef, kind: PortKind) -> PortSpec {
    let name = name.to_owned();
    PortSpec { name, node, kind }
}

/// A function of time as a source.
pub struct SourceFunction<F>(pub F);

impl<F: FnMut(f64, &mut [f64]) + Send> Source for SourceFunction<F> {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        (self.0)(t, out);
    }
}

/// Inputs at their initial values.
pub fn idle(lumped: &Lumped) -> Inputs {
    let ports = lumped.ports();
    Inputs::new(ports, Box::new(Hold::new(0, ports)))
}

/// Inputs of which the first is driven.
pub fn driven(lumped: &Lumped, source: impl FnMut(f64, &mut [f64]) + Send + 'static) -> Inputs {
    let mut inputs = idle(lumped);
    let port = oldham_cosim::InputPort(0);
    inputs.drive(lumped.ports(), port, Box::new(SourceFunction(source)));
    inputs
}

/// Runs from 0 to `end` in equal macro steps.
pub fn run(
    lumped: &mut Lumped,
    inputs: &mut Inputs,
    end: f64,
    steps: usize,
) -> Result<(), StepError> {
    let time = |index: usize| end * index as f64 / steps as f64;
    for index in 0..steps {
        lumped.advance(time(index), time(index + 1), inputs)?;
    }
    Ok(())
}

/// The outputs at time t for these inputs.
pub fn outputs(lumped: &mut Lumped, t: f64, inputs: &[f64]) -> Vec<f64> {
    let mut outputs = vec![0.0; lumped.ports().output_width()];
    lumped.outputs(t, inputs, &mut outputs).unwrap();
    outputs
}

/// State z(t) of z' = A z, with A row by row.
pub fn propagate(a: &[f64], start: &[f64], t: f64) -> Vec<f64> {
    let size = start.len();
    let matrix = DMatrix::from_row_slice(size, size, a) * t;
    let end = matrix.exp() * DVector::from_column_slice(start);
    end.as_slice().to_vec()
}

/// Exponent p of error ~ h^p, from errors at h and at h/2.
pub fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}
