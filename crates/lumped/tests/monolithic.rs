//! The monolithic model of coupled descriptions.

mod common;

use common::*;
use nalgebra::DMatrix;
use oldham_cosim::{EnergyBalance, Linearisable, Subsystem};
use oldham_cosim::{InputPort, OutputPort};
use oldham_lumped::{
    BoundarySpec, Coordinates, Integrator, Lumped, MergeError, MergedConnection, MergedPart,
    NodeRef, PortKind, Spec, merge,
};

const OWN: NodeRef = NodeRef::Node(oldham_lumped::NodeIndex(0));
const FAR: NodeRef = NodeRef::Boundary(oldham_lumped::BoundaryIndex(0));
const EULER: Integrator = Integrator::SemiImplicitEuler;

const K1: f64 = 10.0;
const K2: f64 = 1000.0;
const KC: f64 = 100.0;
const CC: f64 = 0.7;

/// A mass of 1 on a spring.
fn side(stiffness: f64, position: f64) -> Spec {
    let mut spec = spec(&[("mass", position, 0.0)], EULER);
    spec.elements = vec![mass(OWN, 1.0), spring(GROUND, OWN, stiffness, 0.0)];
    spec.outputs = vec![port("motion", OWN, PortKind::Motion)];
    spec
}

/// The same with the coupling spring to a boundary node of the other mass.
fn side_with_coupling(stiffness: f64, position: f64) -> Spec {
    let mut spec = side(stiffness, position);
    spec.boundary_nodes = vec![BoundarySpec::new("far")];
    spec.elements.push(spring(OWN, FAR, KC, CC));
    spec.inputs = vec![port("far", FAR, PortKind::Motion)];
    spec.outputs.push(port("pull", FAR, PortKind::Force));
    spec
}

fn connection(from: (usize, usize), to: (usize, usize)) -> MergedConnection {
    MergedConnection {
        from_part: from.0,
        output: OutputPort(from.1),
        to_part: to.0,
        input: InputPort(to.1),
    }
}

fn parts<'a>(left: &'a Spec, right: &'a Spec) -> [MergedPart<'a>; 2] {
    let part = |name, spec| MergedPart { name, spec };
    [part("left", left), part("right", right)]
}

/// Left takes the motion of right and gives it a force.
fn force_displacement() -> Spec {
    let left = side_with_coupling(K1, 0.01);
    let mut right = side(K2, 0.0);
    right.inputs = vec![port("push", OWN, PortKind::Force)];
    let connections = [connection((1, 0), (0, 0)), connection((0, 1), (1, 0))];
    merge(&parts(&left, &right), &connections, Integrator::Exact, 1).unwrap()
}

/// Both take the motion of the other, both have the coupling spring.
fn displacement_displacement() -> Spec {
    let mut left = side_with_coupling(K1, 0.01);
    let mut right = side_with_coupling(K2, 0.0);
    left.boundary_nodes[0].mirrored = true;
    right.boundary_nodes[0].mirrored = true;
    let connections = [connection((1, 0), (0, 0)), connection((0, 0), (1, 0))];
    merge(&parts(&left, &right), &connections, Integrator::Exact, 1).unwrap()
}

/// The two masses written down as one system.
fn by_hand() -> Spec {
    let (one, two) = (NodeRef::node(0), NodeRef::node(1));
    let start = [("one", 0.01, 0.0), ("two", 0.0, 0.0)];
    let mut spec = spec(&start, Integrator::Exact);
    spec.elements = vec![
        mass(one, 1.0),
        mass(two, 1.0),
        spring(GROUND, one, K1, 0.0),
        spring(GROUND, two, K2, 0.0),
        spring(one, two, KC, CC),
    ];
    spec
}

fn undamped(mut spec: Spec) -> Spec {
    for element in &mut spec.elements {
        if let oldham_lumped::ElementKind::Spring { damping, .. } = &mut element.kind {
            *damping = 0.0;
        }
    }
    spec
}

/// K = [110, -100; -100, 1100] has the eigenvalues 100 and 1110.
#[test]
fn the_monolithic_model_has_the_frequencies_of_the_coupled_system() {
    for monolithic in [force_displacement(), displacement_displacement()] {
        let mut lumped = Lumped::new(undamped(monolithic)).unwrap();
        assert_eq!(lumped.ports().input_width(), 0);
        let linear = lumped.linearise(0.0, &[]).unwrap();
        let eigenvalues = DMatrix::from_row_slice(4, 4, &linear.a).complex_eigenvalues();
        let mut frequencies: Vec<f64> = eigenvalues.iter().map(|value| value.im.abs()).collect();
        frequencies.sort_by(f64::total_cmp);
        assert!((frequencies[0] - 10.0).abs() < 1e-9);
        assert!((frequencies[3] - 1110.0_f64.sqrt()).abs() < 1e-9);
        assert!((frequencies[3] - 33.317).abs() < 1e-3);
    }
}

#[test]
fn the_monolithic_model_moves_like_the_system_written_by_hand() {
    let mut reference = Lumped::new(by_hand()).unwrap();
    let mut inputs = idle(&reference);
    run(&mut reference, &mut inputs, 2.0, 50).unwrap();
    let expected = reference.energy(2.0, &[]);
    for monolithic in [force_displacement(), displacement_displacement()] {
        let mut lumped = Lumped::new(monolithic).unwrap();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, 2.0, 50).unwrap();
        assert!(distance(lumped.positions(), reference.positions()) < 1e-15);
        assert!(distance(lumped.velocities(), reference.velocities()) < 1e-14);
        let energy = lumped.energy(2.0, &[]);
        assert!((energy.stored() - expected.stored()).abs() < 1e-15);
        assert!((energy.dissipated - expected.dissipated).abs() < 1e-15);
    }
}

/// fc = kc (x1 - x2) + cc (v1 - v2), the force on mass two, also where nothing is exchanged.
#[test]
fn the_coupling_force_stays_an_output() {
    for monolithic in [force_displacement(), displacement_displacement()] {
        let names: Vec<_> = monolithic
            .outputs
            .iter()
            .map(|port| port.name.clone())
            .collect();
        assert_eq!(names[..3], ["left.motion", "left.pull", "right.motion"]);
        let mut lumped = Lumped::new(monolithic).unwrap();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, 0.1, 3).unwrap();
        let values = outputs(&mut lumped, 0.1, &[]);
        let (x, v) = (lumped.positions(), lumped.velocities());
        let expected = KC * (x[0] - x[1]) + CC * (v[0] - v[1]);
        assert!((values[3] - expected).abs() < 1e-12);
    }
}

#[test]
fn a_part_alone_gives_the_same_force_from_the_received_motion() {
    let mut lumped = Lumped::new(side_with_coupling(K1, 0.01)).unwrap();
    let values = outputs(&mut lumped, 0.0, &[0.003, -0.2, 5.0]);
    let expected = KC * (0.01 - 0.003) + CC * (0.0 + 0.2);
    assert!((values[3] - expected).abs() < 1e-15);
}

#[test]
fn a_one_way_coupling_drops_the_reaction() {
    let (left, right) = (side_with_coupling(K1, 0.01), side(K2, 0.5));
    let connections = [connection((1, 0), (0, 0))];
    let monolithic = merge(&parts(&left, &right), &connections, Integrator::Exact, 1).unwrap();
    let mut lumped = Lumped::new(monolithic).unwrap();
    let mut inputs = idle(&lumped);
    run(&mut lumped, &mut inputs, 1.0, 10).unwrap();
    let free = 0.5 * K2.sqrt().cos();
    assert!((lumped.positions()[1] - free).abs() < 1e-12);
}

#[test]
fn open_inputs_stay_and_are_named_after_their_part() {
    let mut left = side_with_coupling(K1, 0.0);
    left.inputs.push(port("shake", OWN, PortKind::Force));
    let right = side(K2, 0.0);
    let connections = [connection((1, 0), (0, 0))];
    let monolithic = merge(&parts(&left, &right), &connections, EULER, 4).unwrap();
    let names: Vec<_> = monolithic
        .inputs
        .iter()
        .map(|port| port.name.as_str())
        .collect();
    assert_eq!(names, ["left.shake"]);
    assert_eq!(monolithic.nodes[1].name, "right.mass");
    assert_eq!(monolithic.micro_steps, 4);
}

/// A middle part hands the motion of the right one on to the left one.
#[test]
fn a_motion_that_is_passed_on_leads_back_to_its_owner() {
    let left = side_with_coupling(K1, 0.01);
    let mut middle = side_with_coupling(K1, 0.0);
    middle.outputs = vec![port("copy", FAR, PortKind::Motion)];
    let right = side(K2, 0.0);
    let part = |name, spec| MergedPart { name, spec };
    let parts = [
        part("left", &left),
        part("middle", &middle),
        part("right", &right),
    ];
    let connections = [connection((2, 0), (1, 0)), connection((1, 0), (0, 0))];
    let monolithic = merge(&parts, &connections, EULER, 1).unwrap();
    let owner = oldham_lumped::BoundaryMotion::Follows(oldham_lumped::NodeIndex(2));
    assert!(
        monolithic
            .boundary_nodes
            .iter()
            .all(|boundary| boundary.motion == owner)
    );
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let (left, right) = (side_with_coupling(K1, 0.0), side(K2, 0.0));
    let join = |parts: &[MergedPart<'_>], connections: &[MergedConnection]| {
        merge(parts, connections, EULER, 1).unwrap_err()
    };
    assert_eq!(join(&[], &[]), MergeError::NoParts);
    let both = parts(&left, &right);
    let nowhere = join(&both, &[connection((1, 7), (0, 0))]);
    assert_eq!(nowhere, MergeError::NoSuchPort { index: 0 });
    let mixed = join(&both, &[connection((0, 1), (0, 0))]);
    assert!(matches!(mixed, MergeError::KindsDiffer { .. }));
    let two = join(
        &both,
        &[connection((1, 0), (0, 0)), connection((0, 0), (0, 0))],
    );
    assert!(matches!(two, MergeError::TwoOwners { .. }));
    let mut turning = right.clone();
    turning.coordinates = Coordinates::Rotation;
    let turning = join(&parts(&left, &turning), &[]);
    assert!(matches!(turning, MergeError::CoordinatesDiffer { .. }));
    let mut mirror = left.clone();
    mirror.outputs = vec![port("copy", FAR, PortKind::Motion)];
    let round = [connection((0, 0), (1, 0)), connection((1, 0), (0, 0))];
    let endless = join(&parts(&mirror, &mirror), &round);
    assert!(matches!(endless, MergeError::NoOwner { .. }));
}

/// Added mass at the interface, exchanged through the acceleration, becomes part of the owner.
#[test]
fn mass_on_a_boundary_joins_its_owner_in_the_monolithic_model() {
    let mut left = side_with_coupling(K1, 0.01);
    left.elements.push(mass(FAR, 0.5));
    let mut right = side(K2, 0.0);
    right.inputs = vec![port("push", OWN, PortKind::Force)];
    let connections = [connection((1, 0), (0, 0)), connection((0, 1), (1, 0))];
    let monolithic = merge(&parts(&left, &right), &connections, Integrator::Exact, 1).unwrap();
    let mut reference = by_hand();
    reference.elements.push(mass(NodeRef::node(1), 0.5));
    let mut moved = Vec::new();
    for spec in [monolithic, reference] {
        let mut lumped = Lumped::new(spec).unwrap();
        let mut inputs = idle(&lumped);
        run(&mut lumped, &mut inputs, 1.0, 10).unwrap();
        moved.push(lumped.positions().to_vec());
    }
    assert!(distance(&moved[0], &moved[1]) < 1e-15);
}
