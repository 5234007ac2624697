//! A step allocates nothing.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;
mod common;

use common::*;
use oldham_cosim::{EnergyBalance, MotionLaw, StepCorrection, Subsystem};
use oldham_lumped::{
    BoundarySpec, Integrator, Lumped, NodeIndex, NodeRef, PortKind, Prescribed, Spec, StageInputs,
    TangentSpec,
};

fn busy(integrator: Integrator) -> Spec {
    let (one, two, boundary) = (NodeRef::node(0), NodeRef::node(1), NodeRef::boundary(0));
    let mut spec = spec(&[("one", 1.0, 0.0), ("two", 0.0, 1.0)], integrator);
    spec.boundary_nodes = vec![BoundarySpec::new("far")];
    spec.elements = vec![
        mass(one, 1.0),
        mass(two, 2.0),
        spring(GROUND, one, 10.0, 0.1),
        spring(two, boundary, 5.0, 0.1),
        load(one, "sin(3*t)"),
    ];
    if integrator != Integrator::Exact {
        spec.elements.push(law(one, two, "d + d^3 + 0.1*v"));
    }
    spec.inputs = vec![
        port("far", boundary, PortKind::Motion),
        port("push", two, PortKind::Force),
    ];
    spec.outputs = vec![
        port("pull", boundary, PortKind::Force),
        port("two", two, PortKind::Motion),
    ];
    spec.micro_steps = 3;
    spec
}

#[test]
fn advancing_and_reading_outputs_allocates_nothing() {
    allocations::settle();
    for integrator in [
        Integrator::SemiImplicitEuler,
        Integrator::BackwardEuler,
        Integrator::Lms2 { rho: 0.6 },
        Integrator::Rk4 {
            inputs: StageInputs::Interpolated,
        },
        Integrator::Exact,
    ] {
        let mut lumped = Lumped::new(busy(integrator)).unwrap();
        let mut inputs = driven(&lumped, |t, out| out[0] = t.sin());
        let mut outputs = [0.0; 4];
        // The exact method makes its propagator when it first sees a step size.
        lumped.advance(0.0, 0.01, &mut inputs).unwrap();
        let region = allocations::region();
        for index in 1..100 {
            let t = 0.01 * index as f64;
            lumped
                .advance(t, 0.01 * (index + 1) as f64, &mut inputs)
                .unwrap();
            lumped
                .outputs(t, &[0.1, 0.2, 0.3, 0.4], &mut outputs)
                .unwrap();
            lumped.energy(t, &[0.1, 0.2, 0.3, 0.4]);
        }
        assert_eq!(region.change().allocations, 0, "{integrator:?}");
    }
    allocates_nothing_with_tangents();
    allocates_nothing_with_a_law();
}

/// A part that sends its tangent and takes one, corrected in every step.
fn allocates_nothing_with_tangents() {
    let mut spec = busy(Integrator::Lms2 { rho: 0.6 });
    spec.micro_steps = 1;
    spec.boundary_nodes[0].prescribed = Prescribed::Position;
    spec.sends_tangent = true;
    spec.tangents = vec![TangentSpec {
        sender: "other".into(),
        points: vec![("far".into(), NodeIndex(1))],
    }];
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = driven(&lumped, |t, out| out[0] = t.sin());
    let (mut at_end, mut outputs) = ([0.0; 8], [0.0; 8]);
    let region = allocations::region();
    for index in 0..100 {
        let t = 0.01 * f64::from(index);
        lumped.advance(t, t + 0.01, &mut inputs).unwrap();
        at_end[0] = 1e-6 + (t + 0.01).sin();
        lumped.correct(t + 0.01, &at_end).unwrap();
        lumped.outputs(t + 0.01, &at_end, &mut outputs).unwrap();
    }
    assert_eq!(region.change().allocations, 0);
}

/// A boundary node that follows by a law.
fn allocates_nothing_with_a_law() {
    let mut spec = busy(Integrator::SemiImplicitEuler);
    spec.boundary_nodes[0].prescribed = Prescribed::Law(MotionLaw::INDEX_1);
    let mut lumped = Lumped::new(spec).unwrap();
    let mut inputs = driven(&lumped, |t, out| out[0] = t.sin());
    let mut outputs = [0.0; 4];
    let region = allocations::region();
    for index in 0..100 {
        let t = 0.01 * f64::from(index);
        lumped.advance(t, t + 0.01, &mut inputs).unwrap();
        lumped.outputs(t + 0.01, &[0.1; 4], &mut outputs).unwrap();
    }
    assert_eq!(region.change().allocations, 0);
}
