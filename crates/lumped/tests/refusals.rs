//! Descriptions that are refused, and why.

mod common;

use common::*;
use oldham_cosim::MotionLaw;
use oldham_expression::Expression;
use oldham_lumped::{
    BoundarySpec, ElementKind, Integrator, Lumped, NodeIndex, NodeRef, PortKind, Prescribed, Spec,
    SpecError, TangentSpec,
};

const EULER: Integrator = Integrator::SemiImplicitEuler;

/// A mass on a spring, with a second spring to a boundary node of which everything is known.
fn sound() -> Spec {
    let (own, far) = (NodeRef::node(0), NodeRef::boundary(0));
    let mut spec = spec(&[("own", 0.0, 0.0)], EULER);
    spec.boundary_nodes = vec![BoundarySpec::new("far")];
    spec.elements = vec![
        mass(own, 1.0),
        spring(GROUND, own, 1.0, 0.0),
        spring(own, far, 1.0, 0.1),
    ];
    spec.inputs = vec![port("far", far, PortKind::Motion)];
    spec.outputs = vec![port("pull", far, PortKind::Force)];
    spec
}

fn problems(change: impl Fn(&mut Spec)) -> Vec<SpecError> {
    let mut spec = sound();
    change(&mut spec);
    Lumped::new(spec).expect_err("must be refused")
}

fn problem(change: impl Fn(&mut Spec)) -> SpecError {
    let mut found = problems(change);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn the_sound_description_is_accepted_and_may_have_negative_stiffness() {
    let mut spec = sound();
    spec.elements
        .push(spring(GROUND, NodeRef::node(0), -5.0, -0.1));
    assert!(Lumped::new(spec).is_ok());
}

#[test]
fn a_node_without_mass_is_named() {
    let found = problem(|spec| {
        spec.elements.remove(0);
    });
    let node = "own".to_owned();
    assert_eq!(found, SpecError::NodeWithoutMass { node });
}

#[test]
fn masses_must_be_positive_and_finite() {
    for bad in [0.0, -1.0] {
        let found = problem(|spec| spec.elements.push(mass(NodeRef::node(0), bad)));
        assert!(matches!(found, SpecError::BadMass { mass, .. } if mass == bad));
    }
    let found = problem(|spec| spec.elements.push(mass(NodeRef::node(0), f64::NAN)));
    assert!(matches!(found, SpecError::NotFinite { .. }));
}

#[test]
fn a_mass_matrix_must_be_symmetric_and_positive_definite() {
    let own = NodeRef::node(0);
    let with = |matrix: [f64; 4]| {
        problem(|spec| {
            let mut second = spec.nodes[0].clone();
            second.name = "second".to_owned();
            spec.nodes.push(second);
            spec.elements
                .push(matrices(&[own, NodeRef::node(1)], &matrix, &[], &[]));
        })
    };
    let skew = with([1.0, 0.1, 0.2, 1.0]);
    assert!(matches!(skew, SpecError::MassNotSymmetric { .. }));
    let lower_only = with([1.0, 0.0, 0.2, 1.0]);
    assert!(matches!(lower_only, SpecError::MassNotSymmetric { .. }));
    let indefinite = with([1.0, 3.0, 3.0, 1.0]);
    assert_eq!(indefinite, SpecError::MassNotPositiveDefinite);
    let negative = with([1.0, 0.0, 0.0, -1.0]);
    assert_eq!(negative, SpecError::MassNotPositiveDefinite);
}

#[test]
fn numbers_that_are_none_are_found() {
    let own = NodeRef::node(0);
    for bad in [f64::NAN, f64::INFINITY] {
        let is_not_finite = |found| matches!(found, SpecError::NotFinite { .. });
        assert!(is_not_finite(problem(|spec| spec
            .elements
            .push(spring(own, GROUND, bad, 0.0)))));
        assert!(is_not_finite(problem(|spec| spec
            .elements
            .push(spring(own, GROUND, 0.0, bad)))));
        assert!(is_not_finite(problem(|spec| spec.nodes[0].velocity = bad)));
        let matrix = matrices(&[own], &[], &[bad], &[]);
        assert!(is_not_finite(problem(|spec| spec
            .elements
            .push(matrix.clone()))));
    }
}

#[test]
fn matrices_must_fit_their_nodes() {
    let found = problem(|spec| {
        let matrix = matrices(&[NodeRef::node(0)], &[], &[], &[1.0, 2.0]);
        spec.elements.push(matrix);
    });
    assert!(matches!(
        found,
        SpecError::WrongMatrixSize {
            found: 2,
            expected: 1,
            ..
        }
    ));
}

/// What no input gives would silently be zero.
#[test]
fn a_boundary_must_be_given_all_that_is_used_of_it() {
    let far = NodeRef::boundary(0);
    let lacks = |component: PortKind, found: &SpecError| matches!(found, SpecError::BoundaryLacks { component: c, .. } if *c == component);
    let no_velocity = problem(|spec| spec.inputs[0].kind = PortKind::Displacement);
    assert!(lacks(PortKind::Velocity, &no_velocity), "{no_velocity}");
    assert!(
        no_velocity
            .to_string()
            .contains("velocity of the boundary node `far`")
    );
    let no_displacement = problem(|spec| spec.inputs[0].kind = PortKind::Velocity);
    assert!(lacks(PortKind::Displacement, &no_displacement));
    let no_acceleration = problem(|spec| {
        spec.inputs[0].kind = PortKind::Displacement;
        spec.inputs.push(port("rate", far, PortKind::Velocity));
        spec.elements.push(mass(far, 1.0));
    });
    assert!(lacks(PortKind::Acceleration, &no_acceleration));
    let twice = problem(|spec| spec.inputs.push(port("again", far, PortKind::Velocity)));
    assert!(matches!(
        twice,
        SpecError::BoundaryFedTwice {
            component: PortKind::Velocity,
            ..
        }
    ));
}

#[test]
fn ports_belong_where_they_have_a_meaning() {
    let (own, far) = (NodeRef::node(0), NodeRef::boundary(0));
    let is_misplaced = |found| matches!(found, SpecError::MisplacedPort { .. });
    assert!(is_misplaced(problem(|s| s.inputs.push(port(
        "p",
        own,
        PortKind::Velocity
    )))));
    assert!(is_misplaced(problem(|s| s.inputs.push(port(
        "p",
        far,
        PortKind::Force
    )))));
    assert!(is_misplaced(problem(|s| s.outputs.push(port(
        "p",
        own,
        PortKind::Force
    )))));
    assert!(is_misplaced(problem(|s| s.outputs.push(port(
        "p",
        GROUND,
        PortKind::Motion
    )))));
}

#[test]
fn names_are_unique() {
    let own = NodeRef::node(0);
    let ports = problem(|spec| spec.outputs.push(port("pull", own, PortKind::Motion)));
    assert!(matches!(
        ports,
        SpecError::DuplicatePort {
            is_input: false,
            ..
        }
    ));
    let nodes = problem(|spec| spec.boundary_nodes[0].name = "own".to_owned());
    assert!(matches!(nodes, SpecError::DuplicateNode { .. }));
}

#[test]
fn references_must_exist() {
    let found = problem(|spec| {
        spec.elements
            .push(spring(NodeRef::node(5), GROUND, 1.0, 0.0))
    });
    assert!(matches!(found, SpecError::NoSuchNode { .. }));
    let found =
        problem(|spec| spec.boundary_nodes[0].reactions = vec![oldham_lumped::NodeIndex(3)]);
    assert!(matches!(found, SpecError::NoSuchNode { .. }));
}

#[test]
fn a_boundary_at_home_takes_no_input() {
    let found = problem(|spec| {
        let node = oldham_lumped::NodeIndex(0);
        spec.boundary_nodes[0].motion = oldham_lumped::BoundaryMotion::Follows(node);
    });
    assert!(matches!(found, SpecError::BoundaryAtHome { .. }));
}

#[test]
fn the_exact_integrator_is_for_linear_systems() {
    let found = problem(|spec| {
        spec.integrator = Integrator::Exact;
        spec.elements.push(law(GROUND, NodeRef::node(0), "d^3"));
    });
    assert!(matches!(found, SpecError::NonlinearExact { .. }));
}

#[test]
fn expressions_must_have_the_variables_of_their_element() {
    let found = problem(|spec| {
        spec.elements.push(law(GROUND, NodeRef::node(0), "d"));
        let ElementKind::ForceLaw { law, .. } = &mut spec.elements[3].kind else {
            unreachable!()
        };
        *law = Expression::parse("x", &["x"]).unwrap();
    });
    assert!(matches!(found, SpecError::WrongVariables { .. }));
}

#[test]
fn dense_methods_have_a_limit_and_explicit_ones_have_none() {
    let chain = |integrator| {
        let names: Vec<String> = (0..2001).map(|index| format!("n{index}")).collect();
        let nodes: Vec<_> = names.iter().map(|name| (name.as_str(), 0.0, 0.0)).collect();
        let mut spec = spec(&nodes, integrator);
        spec.elements = (0..2001)
            .map(|index| mass(NodeRef::node(index), 1.0))
            .collect();
        Lumped::new(spec)
    };
    assert!(chain(EULER).is_ok());
    let found = chain(Integrator::Lms2 { rho: 0.6 }).unwrap_err();
    assert!(matches!(
        found[0],
        SpecError::TooManyCoordinates {
            found: 2001,
            limit: 2000,
            ..
        }
    ));
}

#[test]
fn methods_have_sensible_parameters() {
    assert_eq!(
        problem(|spec| spec.micro_steps = 0),
        SpecError::NoMicroSteps
    );
    for rho in [-0.1, 1.1, f64::NAN] {
        let found = problem(|spec| spec.integrator = Integrator::Lms2 { rho });
        assert!(matches!(found, SpecError::BadSpectralRadius { .. }));
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let found = problems(|spec| {
        spec.micro_steps = 0;
        spec.nodes[0].position = f64::NAN;
        spec.elements.push(mass(NodeRef::node(0), -1.0));
        spec.inputs[0].kind = PortKind::Displacement;
    });
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_tangent_needs_something_to_answer_to_and_an_implicit_formula_that_takes_it() {
    let sends = |spec: &mut Spec| spec.sends_tangent = true;
    assert_eq!(problem(sends), SpecError::NothingTraced);
    let takes = |node: usize| TangentSpec {
        sender: "other".into(),
        points: vec![("own".into(), NodeIndex(node))],
    };
    let explicit = problem(|spec| spec.tangents = vec![takes(0)]);
    assert_eq!(explicit, SpecError::CannotTakeTangent);
    let within = problem(|spec| {
        spec.integrator = Integrator::BackwardEuler;
        spec.micro_steps = 2;
        spec.tangents = vec![takes(0)];
    });
    assert_eq!(within, SpecError::TangentWithinStep { micro_steps: 2 });
    let nowhere = problem(|spec| {
        spec.integrator = Integrator::BackwardEuler;
        spec.tangents = vec![takes(7)];
    });
    assert!(matches!(nowhere, SpecError::NoSuchNode { .. }));
}

/// A law needs a method that steps velocities, the whole motion, and a hold on the position.
#[test]
fn a_law_that_cannot_be_followed_is_refused() {
    let follow =
        |law| move |spec: &mut Spec| spec.boundary_nodes[0].prescribed = Prescribed::Law(law);
    assert!(matches!(
        problem(|spec| {
            follow(MotionLaw::INDEX_1)(spec);
            spec.integrator = Integrator::Lms2 { rho: 0.6 };
        }),
        SpecError::CannotFollow { .. }
    ));
    for law in [
        MotionLaw::baumgarte(0.0, 1.0, 1.0),
        MotionLaw::baumgarte(1.0, -1.0, 0.0),
        MotionLaw::baumgarte(1.0, f64::NAN, 0.0),
    ] {
        let found = problem(follow(law));
        assert!(matches!(found, SpecError::LawWeights { .. }), "{found}");
    }
    let parts = [
        PortKind::Displacement,
        PortKind::Velocity,
        PortKind::Acceleration,
    ];
    let found = problem(|spec| {
        follow(MotionLaw::INDEX_1)(spec);
        let far = NodeRef::boundary(0);
        spec.inputs = parts
            .map(|kind| port(&format!("{kind:?}"), far, kind))
            .to_vec();
    });
    assert!(matches!(found, SpecError::FollowsPartly { .. }), "{found}");
}
