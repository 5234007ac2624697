//! State, energy, linearisation, interface and ports.

mod common;

use common::*;
use nalgebra::DMatrix;
use oldham_cosim::{Chart, EnergyBalance, InterfaceResponse, Linearisable, Snapshot};
use oldham_cosim::{Conjugate, InputPort, OutputPort, Quantity};
use oldham_cosim::{EffectiveInterface, Subsystem};
use oldham_lumped::{
    BoundarySpec, Coordinates, Integrator, Lumped, NodeRef, PortKind, Spec, StageInputs,
};

const RK4: Integrator = Integrator::Rk4 {
    inputs: StageInputs::Interpolated,
};
const LMS2: Integrator = Integrator::Lms2 { rho: 0.6 };

/// Three nodes, a boundary node, a full mass matrix, a nonlinear law and every kind of port.
fn rich(integrator: Integrator) -> Spec {
    let [one, two, three] = [0, 1, 2].map(NodeRef::node);
    let boundary = NodeRef::boundary(0);
    let start = [("one", 0.3, -0.2), ("two", -0.1, 0.4), ("three", 0.2, 0.1)];
    let mut spec = spec(&start, integrator);
    spec.boundary_nodes = vec![BoundarySpec::new("far")];
    spec.elements = vec![
        mass(one, 1.0),
        mass(three, 1.5),
        matrices(&[one, two], &[0.5, 0.2, 0.2, 0.8], &[], &[]),
        matrices(
            &[two, boundary],
            &[0.3, 0.1, 0.1, 0.3],
            &[0.2, -0.1, -0.1, 0.3],
            &[],
        ),
        spring(GROUND, one, 12.0, 0.3),
        spring(one, two, 8.0, 0.1),
        spring(three, GROUND, 4.0, 0.0),
        law(three, boundary, "3*d + 2*d^3 + 0.2*v*abs(v)"),
    ];
    spec.inputs = vec![
        port("far", boundary, PortKind::Motion),
        port("push", one, PortKind::Force),
        port("shove", three, PortKind::Force),
    ];
    spec.outputs = vec![
        port("pull", boundary, PortKind::Force),
        port("one", one, PortKind::Motion),
        port("three", three, PortKind::Displacement),
        port("two.a", two, PortKind::Acceleration),
        port("three.a", three, PortKind::Acceleration),
        port("far.v", boundary, PortKind::Velocity),
    ];
    spec
}

const INPUTS: [f64; 5] = [0.15, -0.3, 0.7, 1.1, -0.4];

fn lumped(integrator: Integrator) -> Lumped {
    Lumped::new(rich(integrator)).unwrap()
}

#[test]
fn a_restored_state_continues_bit_for_bit() {
    for integrator in [
        Integrator::SemiImplicitEuler,
        Integrator::BackwardEuler,
        LMS2,
        RK4,
    ] {
        let mut first = lumped(integrator);
        let mut inputs = driven(&first, |t, out| out[0] = (5.0 * t).sin());
        let time = |index: usize| 0.013 * index as f64;
        for index in 0..20 {
            first
                .advance(time(index), time(index + 1), &mut inputs)
                .unwrap();
        }
        let mut saved = Snapshot::default();
        saved.save(first.state().unwrap());
        let mut second = lumped(integrator);
        saved.restore(second.state().unwrap());
        for index in 20..40 {
            first
                .advance(time(index), time(index + 1), &mut inputs)
                .unwrap();
            outputs(&mut second, time(index), &INPUTS);
            second
                .advance(time(index), time(index + 1), &mut inputs)
                .unwrap();
        }
        let [mut one, mut other] = [Snapshot::default(), Snapshot::default()];
        one.save(first.state().unwrap());
        other.save(second.state().unwrap());
        assert_eq!(one, other, "{integrator:?}");
        assert_eq!(first.energy(0.5, &INPUTS), second.energy(0.5, &INPUTS));
    }
}

#[test]
fn the_state_holds_history_only_where_the_method_has_one() {
    let dimension = |integrator| Chart::about(lumped(integrator).state().unwrap()).dimension();
    assert_eq!(dimension(Integrator::SemiImplicitEuler), 6);
    assert_eq!(dimension(RK4), 6);
    assert_eq!(dimension(Integrator::BackwardEuler), 6);
    assert_eq!(dimension(LMS2), 18);
}

/// After a restart the next step is the one that a fresh system makes from there.
#[test]
fn a_restart_forgets_the_past() {
    let mut old = lumped(LMS2);
    let mut inputs = idle(&old);
    for index in 0..10 {
        let t = 0.01 * index as f64;
        old.advance(t, t + 0.01, &mut inputs).unwrap();
    }
    let mut spec = rich(LMS2);
    for (index, node) in spec.nodes.iter_mut().enumerate() {
        node.position = old.positions()[index];
        node.velocity = old.velocities()[index];
    }
    let mut fresh = Lumped::new(spec).unwrap();
    let mut without_restart = old.clone();
    old.restart();
    for lumped in [&mut old, &mut fresh, &mut without_restart] {
        lumped.advance(0.1, 0.11, &mut inputs).unwrap();
    }
    assert!(distance(old.positions(), fresh.positions()) < 1e-15);
    assert!(distance(old.positions(), without_restart.positions()) > 1e-12);
}

/// What is stored and lost is what was there and was brought.
#[test]
fn the_energy_account_balances_to_second_order() {
    let [one, two] = [0, 1].map(NodeRef::node);
    let drift = |steps: usize| {
        let mut spec = spec(&[("one", 0.5, 0.0), ("two", -0.2, 1.0)], RK4);
        spec.elements = vec![
            mass(one, 1.0),
            mass(two, 2.0),
            spring(GROUND, one, 10.0, 0.5),
            matrices(
                &[one, two],
                &[],
                &[0.3, -0.3, -0.3, 0.3],
                &[20.0, -20.0, -20.0, 20.0],
            ),
            law(two, GROUND, "5*d + 9*d^3 + 0.4*v"),
            load(one, "3*sin(4*t)"),
        ];
        let mut lumped = Lumped::new(spec).unwrap();
        let before = lumped.energy(0.0, &[]).stored();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, 2.0, steps).unwrap();
        let after = lumped.energy(2.0, &[]);
        assert!(after.dissipated > 0.1 && after.supplied.abs() > 0.01);
        after.stored() + after.dissipated - after.supplied - before
    };
    let (coarse, fine) = (drift(1000), drift(2000));
    assert!(coarse.abs() < 1e-4, "{coarse}");
    assert!((order(coarse, fine) - 2.0).abs() < 0.2, "{coarse} {fine}");
}

#[test]
fn a_mirrored_boundary_halves_the_energy_of_its_elements() {
    let (own, far) = (NodeRef::node(0), NodeRef::boundary(0));
    let mut spec = spec(&[("own", 0.0, 0.0)], RK4);
    spec.boundary_nodes = vec![BoundarySpec::new("far")];
    spec.elements = vec![
        mass(own, 1.0),
        spring(own, far, 100.0, 0.0),
        law(own, far, "8*d^3"),
    ];
    spec.inputs = vec![port("far", far, PortKind::Displacement)];
    let mut energies = Vec::new();
    for mirrored in [false, true] {
        spec.boundary_nodes[0].mirrored = mirrored;
        let mut lumped = Lumped::new(spec.clone()).unwrap();
        energies.push(lumped.energy(0.0, &[0.5]).potential);
    }
    assert!((energies[0] - (12.5 + 0.125)).abs() < 1e-14);
    assert_eq!(energies[1], 0.5 * energies[0]);
}

#[test]
fn a_spring_at_its_rest_length_carries_nothing() {
    let (one, two) = (NodeRef::node(0), NodeRef::node(1));
    let mut spec = spec(&[("one", 0.2, 0.0), ("two", 0.9, 0.0)], RK4);
    spec.elements = vec![mass(one, 1.0), mass(two, 1.0), spring(one, two, 50.0, 0.0)];
    let oldham_lumped::ElementKind::Spring { rest, .. } = &mut spec.elements[2].kind else {
        unreachable!()
    };
    *rest = 0.7;
    spec.outputs = vec![port("a", two, PortKind::Acceleration)];
    let mut lumped = Lumped::new(spec).unwrap();
    assert!(outputs(&mut lumped, 0.0, &[])[0].abs() < 1e-14);
    assert!(lumped.energy(0.0, &[]).potential < 1e-28);
}

/// C and D against central differences of the outputs; A and B against those of one small step.
#[test]
fn the_linearisation_is_that_of_outputs_and_steps() {
    let mut lumped = lumped(RK4);
    let linear = lumped.linearise(0.0, &INPUTS).unwrap();
    assert_eq!(linear.states, 6);
    let matrix = |rows, columns, values: &[f64]| DMatrix::from_row_slice(rows, columns, values);
    let width = lumped.ports().output_width();
    let (a, b) = (matrix(6, 6, &linear.a), matrix(6, 5, &linear.b));
    let (c, d) = (matrix(width, 6, &linear.c), matrix(width, 5, &linear.d));

    let chart = Chart::about(lumped.state().unwrap());
    let difference = 1e-5;
    let step = 1e-3;
    // A step of z' = A z + B u with u held: z = exp(A h) z0 + (integral of exp(A s) ds) B u.
    let mut augmented = DMatrix::zeros(11, 11);
    augmented.view_mut((0, 0), (6, 6)).copy_from(&(&a * step));
    augmented.view_mut((0, 6), (6, 5)).copy_from(&(&b * step));
    let propagator = augmented.exp();

    let mut probe = |column: usize, sign: f64| {
        let mut state = [0.0; 6];
        let mut values = INPUTS;
        if column < 6 {
            state[column] = sign * difference;
        } else {
            values[column - 6] += sign * difference;
        }
        chart.apply(lumped.state().unwrap(), &state);
        let given = outputs(&mut lumped, 0.0, &values);
        let mut inputs = idle(&lumped);
        let ports = lumped.ports();
        for (port, range) in [(0, 0..3), (1, 3..4), (2, 4..5)] {
            let values = values[range].to_vec();
            let source =
                SourceFunction(move |_: f64, out: &mut [f64]| out.copy_from_slice(&values));
            inputs.drive(ports, InputPort(port), Box::new(source));
        }
        lumped.advance(0.0, step, &mut inputs).unwrap();
        let moved = [lumped.positions(), lumped.velocities()].concat();
        (given, moved)
    };
    for column in 0..11 {
        let (above, below) = (probe(column, 1.0), probe(column, -1.0));
        let slope = |above: &[f64], below: &[f64], row: usize| {
            (above[row] - below[row]) / (2.0 * difference)
        };
        for row in 0..width {
            let expected = if column < 6 {
                c[(row, column)]
            } else {
                d[(row, column - 6)]
            };
            let found = slope(&above.0, &below.0, row);
            assert!(
                (found - expected).abs() < 1e-7,
                "output {row} by {column}: {found} {expected}"
            );
        }
        for row in 0..6 {
            let expected = propagator[(row, column)];
            let found = slope(&above.1, &below.1, row);
            // The law bends a little within the step.
            assert!(
                (found - expected).abs() < 1e-5,
                "state {row} by {column}: {found} {expected}"
            );
        }
    }
}

/// Declared direct feedthrough is exactly what changes when an input changes.
#[test]
fn feedthrough_is_declared_component_by_component() {
    let mut lumped = lumped(RK4);
    let before = outputs(&mut lumped, 0.0, &INPUTS);
    for input in 0..INPUTS.len() {
        let mut changed = INPUTS;
        changed[input] += 0.5;
        let after = outputs(&mut lumped, 0.0, &changed);
        for output in 0..before.len() {
            let declared = lumped.ports().direct_inputs(output).contains(&input);
            let name = lumped.ports().output_component_name(output);
            assert_eq!(
                before[output] != after[output],
                declared,
                "{name} by {input}"
            );
        }
    }
}

#[test]
fn conjugate_pairs_and_quantities_follow_from_the_ports() {
    let mut spec = rich(RK4);
    let lumped = Lumped::new(spec.clone()).unwrap();
    let expected = [
        Conjugate::GivesForce {
            motion: InputPort(0),
            force: OutputPort(0),
        },
        Conjugate::GivesMotion {
            force: InputPort(1),
            motion: OutputPort(1),
        },
        Conjugate::GivesMotion {
            force: InputPort(2),
            motion: OutputPort(2),
        },
    ];
    assert_eq!(lumped.ports().conjugates(), expected);
    assert_eq!(lumped.ports().inputs()[0].quantity, Quantity::Translation);
    spec.coordinates = Coordinates::Rotation;
    let turning = Lumped::new(spec).unwrap();
    assert_eq!(turning.ports().inputs()[0].quantity, Quantity::Rotation);
    let torque = turning.ports().inputs()[1].quantity.component_unit(0);
    assert_eq!(torque.to_string(), "N.m");
}

/// The accelerations under any forces follow from those under others.
#[test]
fn the_effective_interface_predicts_the_accelerations() {
    let mut spec = rich(RK4);
    spec.inputs
        .push(port("two", NodeRef::node(1), PortKind::Force));
    spec.outputs = [0, 2, 1]
        .map(|node| {
            port(
                &format!("a{node}"),
                NodeRef::node(node),
                PortKind::Acceleration,
            )
        })
        .to_vec();
    let mut lumped = Lumped::new(spec).unwrap();
    let inputs = |applied: [f64; 3]| [&INPUTS[..3], &applied[..]].concat();
    let before = [0.3, -0.1, 2.0];
    let mut interface = EffectiveInterface::at(vec![3, 4, 5]);
    assert!(lumped.interface(0.0, &inputs(before), &mut interface));
    for applied in [before, [0.0; 3], [1.0, 0.0, 0.0], [-2.0, 3.0, 0.5]] {
        let accelerations = outputs(&mut lumped, 0.0, &inputs(applied));
        for (row, acceleration) in accelerations.iter().enumerate() {
            let columns =
                (0..3).map(|i| interface.mobility[3 * row + i] * (applied[i] - before[i]));
            let expected = interface.answers[row] + columns.sum::<f64>();
            assert!((acceleration - expected).abs() < 1e-12);
        }
    }
    // A motion that is received is no force.
    let mut none = EffectiveInterface::at(vec![0]);
    assert!(!lumped.interface(0.0, &inputs(before), &mut none));
}

/// Two masses m1, m2 in common inertia m12: seen from the first, m1 - m12^2 / m2.
#[test]
fn the_effective_mass_is_the_schur_complement() {
    let [one, two] = [0, 1].map(NodeRef::node);
    let mut spec = spec(&[("one", 0.0, 0.0), ("two", 0.0, 0.0)], RK4);
    spec.elements = vec![matrices(&[one, two], &[4.0, 1.5, 1.5, 2.0], &[], &[])];
    spec.inputs = vec![port("push", one, PortKind::Force)];
    let mut lumped = Lumped::new(spec).unwrap();
    let mut interface = EffectiveInterface::at(vec![0]);
    assert!(lumped.interface(0.0, &[0.0], &mut interface));
    assert!((1.0 / interface.mobility[0] - (4.0 - 2.25 / 2.0)).abs() < 1e-14);
}

#[test]
fn outputs_leave_the_motion_unchanged() {
    let mut asked = lumped(LMS2);
    let mut silent = lumped(LMS2);
    let mut inputs = idle(&asked);
    for index in 0..20 {
        let t = 0.01 * index as f64;
        asked.advance(t, t + 0.01, &mut inputs).unwrap();
        silent.advance(t, t + 0.01, &mut inputs).unwrap();
        outputs(&mut asked, t + 0.01, &INPUTS);
        asked.energy(t + 0.01, &INPUTS);
        asked.linearise(t + 0.01, &INPUTS);
        let mut interface = EffectiveInterface::at(vec![3]);
        asked.interface(t + 0.01, &INPUTS, &mut interface);
    }
    assert_eq!(asked.positions(), silent.positions());
}
