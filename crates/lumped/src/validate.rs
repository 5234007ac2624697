//! Checks of a description before anything is assembled from it; all problems at once.

use std::collections::HashSet;

use oldham_cosim::MotionLaw;
use oldham_expression::Expression;

use crate::error::SpecError;
use crate::spec::{
    BoundaryMotion, ElementKind, Integrator, LAW_VARIABLES, LOAD_VARIABLES, NodeRef, PortKind,
    PortSpec, Prescribed, Spec,
};

/// Largest number of coordinates for dense factorisations.
pub(crate) const DENSE_LIMIT: usize = 2000;
/// Largest number of coordinates for a matrix exponential, whose matrices are six times as wide.
const EXPONENTIAL_LIMIT: usize = 250;

/// Everything that can be said without assembling.
pub(crate) fn validate(spec: &Spec) -> Vec<SpecError> {
    let mut found = Vec::new();
    check_integrator(spec, &mut found);
    check_names(spec, &mut found);
    check_nodes(spec, &mut found);
    check_references(spec, &mut found);
    if found
        .iter()
        .any(|e| matches!(e, SpecError::NoSuchNode { .. }))
    {
        return found;
    }
    check_elements(spec, &mut found);
    check_ports(spec, &mut found);
    check_boundary_motions(spec, &mut found);
    check_tangents(spec, &mut found);
    check_size(spec, &mut found);
    found
}

fn check_integrator(spec: &Spec, found: &mut Vec<SpecError>) {
    if spec.micro_steps == 0 {
        found.push(SpecError::NoMicroSteps);
    }
    if let Integrator::Lms2 { rho } = spec.integrator
        && !(0.0..=1.0).contains(&rho)
    {
        found.push(SpecError::BadSpectralRadius { rho });
    }
}

fn check_names(spec: &Spec, found: &mut Vec<SpecError>) {
    let nodes = spec.nodes.iter().map(|node| &node.name);
    for name in duplicates(nodes.chain(spec.boundary_nodes.iter().map(|boundary| &boundary.name))) {
        found.push(SpecError::DuplicateNode { name });
    }
    for (ports, is_input) in [(&spec.inputs, true), (&spec.outputs, false)] {
        for name in duplicates(ports.iter().map(|port| &port.name)) {
            found.push(SpecError::DuplicatePort { name, is_input });
        }
    }
}

fn duplicates<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.filter(|name| !seen.insert(*name)).cloned().collect()
}

fn check_nodes(spec: &Spec, found: &mut Vec<SpecError>) {
    for node in &spec.nodes {
        check_finite(&node.name, "the initial position", node.position, found);
        check_finite(&node.name, "the initial velocity", node.velocity, found);
    }
}

fn check_finite(place: &str, what: &'static str, value: f64, found: &mut Vec<SpecError>) {
    if !value.is_finite() {
        let place = place.to_owned();
        found.push(SpecError::NotFinite { place, what, value });
    }
}

fn check_references(spec: &Spec, found: &mut Vec<SpecError>) {
    let mut check = |place: &str, node: NodeRef| {
        let exists = match node {
            NodeRef::Ground => true,
            NodeRef::Node(index) => index.0 < spec.nodes.len(),
            NodeRef::Boundary(index) => index.0 < spec.boundary_nodes.len(),
        };
        if !exists {
            let place = place.to_owned();
            found.push(SpecError::NoSuchNode { place, node });
        }
    };
    for element in &spec.elements {
        for &node in element.kind.attachments() {
            check(&element.name, node);
        }
    }
    for port in spec.inputs.iter().chain(&spec.outputs) {
        check(&port.name, port.node);
    }
    for tangent in &spec.tangents {
        for &(_, node) in &tangent.points {
            check(&tangent.tangent_input(), NodeRef::Node(node));
        }
    }
    for boundary in &spec.boundary_nodes {
        let owner = match boundary.motion {
            BoundaryMotion::Inputs => None,
            BoundaryMotion::Follows(node) => Some(node),
        };
        for &node in boundary.reactions.iter().chain(&owner) {
            check(&boundary.name, NodeRef::Node(node));
        }
    }
}

fn check_elements(spec: &Spec, found: &mut Vec<SpecError>) {
    for element in &spec.elements {
        let name = &element.name;
        match &element.kind {
            ElementKind::Mass { mass, .. } => {
                check_finite(name, "the mass", *mass, found);
                if *mass <= 0.0 {
                    found.push(SpecError::BadMass {
                        element: name.clone(),
                        mass: *mass,
                    });
                }
            }
            ElementKind::Spring {
                stiffness,
                damping,
                rest,
                ..
            } => {
                check_finite(name, "the stiffness", *stiffness, found);
                check_finite(name, "the damping", *damping, found);
                check_finite(name, "the elongation at rest", *rest, found);
            }
            ElementKind::ForceLaw { law, .. } => {
                check_variables(name, law, &LAW_VARIABLES, found);
                if spec.integrator == Integrator::Exact {
                    let element = name.clone();
                    found.push(SpecError::NonlinearExact { element });
                }
            }
            ElementKind::Load { force, .. } => {
                check_variables(name, force, &LOAD_VARIABLES, found);
            }
            ElementKind::Matrices {
                nodes,
                mass,
                damping,
                stiffness,
            } => {
                let size = nodes.len();
                check_matrix(name, "mass", mass.as_deref(), size, found);
                check_matrix(name, "damping", damping.as_deref(), size, found);
                check_matrix(name, "stiffness", stiffness.as_deref(), size, found);
            }
        }
    }
}

fn check_variables(
    element: &str,
    expression: &Expression,
    expected: &[&'static str],
    found: &mut Vec<SpecError>,
) {
    if !expression.variables().eq(expected.iter().copied()) {
        found.push(SpecError::WrongVariables {
            element: element.to_owned(),
            found: expression.variables().map(str::to_owned).collect(),
            expected: expected.to_vec(),
        });
    }
}

fn check_matrix(
    element: &str,
    what: &'static str,
    matrix: Option<&[f64]>,
    size: usize,
    found: &mut Vec<SpecError>,
) {
    let Some(matrix) = matrix else { return };
    if matrix.len() != size * size {
        found.push(SpecError::WrongMatrixSize {
            element: element.to_owned(),
            what,
            found: matrix.len(),
            expected: size * size,
        });
    }
    if let Some(&value) = matrix.iter().find(|value| !value.is_finite()) {
        check_finite(element, what, value, found);
    }
}

fn check_ports(spec: &Spec, found: &mut Vec<SpecError>) {
    let mut misplaced = |port: &PortSpec| {
        found.push(SpecError::MisplacedPort {
            port: port.name.clone(),
            kind: port.kind,
            node: port.node,
        });
    };
    for port in &spec.inputs {
        match (port.kind, port.node) {
            (PortKind::Force, NodeRef::Node(_)) => {}
            (PortKind::Force, _) => misplaced(port),
            (_, NodeRef::Boundary(_)) => {}
            _ => misplaced(port),
        }
    }
    for port in &spec.outputs {
        match (port.kind, port.node) {
            (_, NodeRef::Ground) | (PortKind::Force, NodeRef::Node(_)) => misplaced(port),
            _ => {}
        }
    }
}

/// What the inputs give of each boundary node's motion, and what the elements use of it.
fn check_boundary_motions(spec: &Spec, found: &mut Vec<SpecError>) {
    let given = given_components(spec, found);
    if !is_implicit(spec) {
        found.extend(
            spec.position_driven()
                .map(|boundary| SpecError::NeedsImplicitFormula {
                    boundary: spec.boundary_nodes[boundary.0].name.clone(),
                }),
        );
    }
    check_followed(spec, found);
    let mut reported = HashSet::new();
    for element in &spec.elements {
        for (position, &node) in element.kind.attachments().iter().enumerate() {
            let NodeRef::Boundary(boundary) = node else {
                continue;
            };
            if spec.boundary_nodes[boundary.0].motion != BoundaryMotion::Inputs {
                continue;
            }
            let needed = match spec.boundary_nodes[boundary.0].prescribed {
                Prescribed::Position => 1,
                Prescribed::Motion | Prescribed::Law(_) => 3,
            };
            for (index, component) in COMPONENTS.into_iter().enumerate().take(needed) {
                let lacks = uses(&element.kind, position, component) && !given[boundary.0][index];
                if lacks && reported.insert((boundary, index)) {
                    found.push(SpecError::BoundaryLacks {
                        boundary: spec.boundary_nodes[boundary.0].name.clone(),
                        component,
                        element: element.name.clone(),
                    });
                }
            }
        }
    }
}

/// Boundary nodes that follow by a law need a method that steps velocities, and the whole motion.
fn check_followed(spec: &Spec, found: &mut Vec<SpecError>) {
    for (index, boundary) in spec.boundary_nodes.iter().enumerate() {
        let Prescribed::Law(law) = boundary.prescribed else {
            continue;
        };
        if boundary.motion != BoundaryMotion::Inputs {
            continue;
        }
        let name = || boundary.name.clone();
        if spec.integrator != Integrator::SemiImplicitEuler {
            found.push(SpecError::CannotFollow { boundary: name() });
        }
        let mut ports = spec.inputs.iter();
        let node = NodeRef::boundary(index);
        if !ports.any(|port| port.node == node && port.kind == PortKind::Motion) {
            found.push(SpecError::FollowsPartly { boundary: name() });
        }
        if let MotionLaw::Baumgarte { alpha, beta, gamma } = law {
            let weights = [alpha, beta, gamma];
            let valid = weights
                .iter()
                .all(|weight| weight.is_finite() && *weight >= 0.0);
            // Without the position the boundary node would drift away from what it stands for.
            if !valid || alpha == 0.0 {
                found.push(SpecError::LawWeights { boundary: name() });
            }
        }
    }
}

fn is_implicit(spec: &Spec) -> bool {
    matches!(
        spec.integrator,
        Integrator::Lms2 { .. } | Integrator::BackwardEuler
    )
}

fn check_tangents(spec: &Spec, found: &mut Vec<SpecError>) {
    if spec.sends_tangent && spec.position_driven().next().is_none() {
        found.push(SpecError::NothingTraced);
    }
    if spec.tangents.is_empty() {
        return;
    }
    if !is_implicit(spec) {
        found.push(SpecError::CannotTakeTangent);
    }
    if spec.micro_steps > 1 {
        let micro_steps = spec.micro_steps;
        found.push(SpecError::TangentWithinStep { micro_steps });
    }
}

const COMPONENTS: [PortKind; 3] = [
    PortKind::Displacement,
    PortKind::Velocity,
    PortKind::Acceleration,
];

fn given_components(spec: &Spec, found: &mut Vec<SpecError>) -> Vec<[bool; 3]> {
    let mut given = vec![[false; 3]; spec.boundary_nodes.len()];
    for port in &spec.inputs {
        let NodeRef::Boundary(boundary) = port.node else {
            continue;
        };
        if spec.boundary_nodes[boundary.0].motion != BoundaryMotion::Inputs {
            let port = port.name.clone();
            found.push(SpecError::BoundaryAtHome { port });
            continue;
        }
        for (index, component) in COMPONENTS.into_iter().enumerate() {
            if port.kind == component || port.kind == PortKind::Motion {
                if given[boundary.0][index] {
                    let boundary = spec.boundary_nodes[boundary.0].name.clone();
                    found.push(SpecError::BoundaryFedTwice {
                        boundary,
                        component,
                    });
                } else {
                    given[boundary.0][index] = true;
                }
            }
        }
    }
    given
}

/// Whether the element's forces depend on this component of the motion of its attachment.
fn uses(kind: &ElementKind, position: usize, component: PortKind) -> bool {
    use PortKind::{Acceleration, Displacement, Velocity};
    match (kind, component) {
        (ElementKind::Mass { .. }, Acceleration) => true,
        (ElementKind::Spring { stiffness, .. }, Displacement) => *stiffness != 0.0,
        (ElementKind::Spring { damping, .. }, Velocity) => *damping != 0.0,
        (ElementKind::ForceLaw { law, .. }, Displacement) => law.uses("d"),
        (ElementKind::ForceLaw { law, .. }, Velocity) => law.uses("v"),
        (
            ElementKind::Matrices {
                stiffness, nodes, ..
            },
            Displacement,
        ) => has_column(stiffness.as_deref(), nodes.len(), position),
        (ElementKind::Matrices { damping, nodes, .. }, Velocity) => {
            has_column(damping.as_deref(), nodes.len(), position)
        }
        (ElementKind::Matrices { mass, nodes, .. }, Acceleration) => {
            has_column(mass.as_deref(), nodes.len(), position)
        }
        _ => false,
    }
}

fn has_column(matrix: Option<&[f64]>, size: usize, column: usize) -> bool {
    let entries = matrix.unwrap_or_default().iter();
    entries
        .skip(column)
        .step_by(size)
        .any(|&entry| entry != 0.0)
}

fn check_size(spec: &Spec, found: &mut Vec<SpecError>) {
    let limit = match spec.integrator {
        Integrator::Exact => EXPONENTIAL_LIMIT,
        Integrator::BackwardEuler | Integrator::Lms2 { .. } => DENSE_LIMIT,
        _ if has_mass_between_nodes(spec) => DENSE_LIMIT,
        _ => usize::MAX,
    };
    if spec.nodes.len() > limit {
        found.push(SpecError::TooManyCoordinates {
            found: spec.nodes.len(),
            limit,
            integrator: spec.integrator,
        });
    }
}

fn has_mass_between_nodes(spec: &Spec) -> bool {
    spec.elements.iter().any(|element| match &element.kind {
        ElementKind::Matrices {
            nodes,
            mass: Some(mass),
            ..
        } => {
            let size = nodes.len();
            let mut entries = mass.iter().enumerate();
            entries.any(|(at, &m)| m != 0.0 && at / size != at % size)
        }
        _ => false,
    })
}
