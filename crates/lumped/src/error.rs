//! What can be wrong with a description.

use crate::spec::{Integrator, NodeRef, PortKind};

/// One problem of a [`crate::Spec`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// Zero micro steps.
    #[error("a macro step needs at least one micro step")]
    NoMicroSteps,
    /// A spectral radius outside 0 to 1.
    #[error("the spectral radius rho = {rho} of LMS2 must lie between 0 and 1")]
    BadSpectralRadius {
        /// As given.
        rho: f64,
    },
    /// Two nodes or boundary nodes of one name.
    #[error("there are two nodes or boundary nodes named `{name}`")]
    DuplicateNode {
        /// The name.
        name: String,
    },
    /// Two inputs or two outputs of one name.
    #[error("there are two {} named `{name}`", if *.is_input { "inputs" } else { "outputs" })]
    DuplicatePort {
        /// The name.
        name: String,
        /// Among the inputs or among the outputs.
        is_input: bool,
    },
    /// A reference to a node that does not exist.
    #[error("`{place}` refers to {node}, which does not exist")]
    NoSuchNode {
        /// The element, port or boundary node.
        place: String,
        /// Its reference.
        node: NodeRef,
    },
    /// A number that is none.
    #[error("{what} of `{place}` is {value}")]
    NotFinite {
        /// The element or node.
        place: String,
        /// Which number.
        what: &'static str,
        /// As given.
        value: f64,
    },
    /// A matrix of the wrong size.
    #[error("the {what} matrix of `{element}` has {found} entries, not {expected}")]
    WrongMatrixSize {
        /// The element.
        element: String,
        /// Which matrix.
        what: &'static str,
        /// Entries given.
        found: usize,
        /// Square of the number of nodes.
        expected: usize,
    },
    /// An expression of other variables than the element has.
    #[error("the expression of `{element}` has the variables {}, not {}", .found.join(", "), .expected.join(", "))]
    WrongVariables {
        /// The element.
        element: String,
        /// Those that the expression was parsed with.
        found: Vec<String>,
        /// Those that the element gives it.
        expected: Vec<&'static str>,
    },
    /// A mass that is zero or negative.
    #[error("the mass {mass} of `{element}` must be positive")]
    BadMass {
        /// The element.
        element: String,
        /// As given.
        mass: f64,
    },
    /// A node without inertia has no equation of motion.
    #[error("node `{node}` has no mass: give it one, or leave the node out")]
    NodeWithoutMass {
        /// The node.
        node: String,
    },
    /// The assembled mass matrix is not symmetric.
    #[error("the mass matrix is not symmetric between `{row}` and `{column}`")]
    MassNotSymmetric {
        /// One node.
        row: String,
        /// The other node.
        column: String,
    },
    /// The assembled mass matrix is not positive definite.
    #[error("the mass matrix is not positive definite")]
    MassNotPositiveDefinite,
    /// Part of a boundary node's motion is used but never given.
    #[error(
        "`{element}` depends on the {} of the boundary node `{boundary}`, which no input gives: it would \
         silently be zero", component_name(*.component)
    )]
    BoundaryLacks {
        /// The boundary node.
        boundary: String,
        /// The missing part of its motion.
        component: PortKind,
        /// The element that uses it.
        element: String,
    },
    /// Two inputs for the same part of a boundary node's motion.
    #[error("the {} of the boundary node `{boundary}` is given by two inputs", component_name(*.component))]
    BoundaryFedTwice {
        /// The boundary node.
        boundary: String,
        /// The part of its motion.
        component: PortKind,
    },
    /// An input to a boundary node that moves with a node of the same description.
    #[error("input `{port}` feeds a boundary node that already moves with a node")]
    BoundaryAtHome {
        /// The port.
        port: String,
    },
    /// A port where it has no meaning.
    #[error(
        "port `{port}` carries {kind} and cannot be at {node}: motion inputs and force outputs \
         belong to boundary nodes, force inputs to nodes, and nothing to the ground"
    )]
    MisplacedPort {
        /// The port.
        port: String,
        /// What it carries.
        kind: PortKind,
        /// Where it is.
        node: NodeRef,
    },
    /// Dense matrices would not fit.
    #[error(
        "{found} degrees of freedom are too many for the dense matrices that `{integrator}` or a full \
         mass matrix needs: at most {limit}; use an explicit integrator with masses at nodes"
    )]
    TooManyCoordinates {
        /// Own nodes.
        found: usize,
        /// Nodes allowed.
        limit: usize,
        /// The integrator.
        integrator: Integrator,
    },
    /// Rates from positions are a matter of implicit formulas.
    #[error(
        "only the position of `{boundary}` is used, so its rates come from an implicit formula: use lms2 or backward-euler"
    )]
    NeedsImplicitFormula {
        /// The boundary node.
        boundary: String,
    },
    /// A law gives velocities.
    #[error(
        "`{boundary}` follows its motion by a law for velocities: use semi-implicit-euler, or prescribe its position"
    )]
    CannotFollow {
        /// The boundary node.
        boundary: String,
    },
    /// A law reads position, velocity and acceleration.
    #[error(
        "`{boundary}` follows by a law, which needs its displacement, velocity and acceleration: send its motion in one port"
    )]
    FollowsPartly {
        /// The boundary node.
        boundary: String,
    },
    /// Weights that make no law.
    #[error(
        "the law of `{boundary}` needs a positive weight alpha of the position; beta and gamma may be zero, none may be negative"
    )]
    LawWeights {
        /// The boundary node.
        boundary: String,
    },
    /// A tangent without anything to which it answers.
    #[error("an interface Jacobian is sent over position-driven nodes, and there is none")]
    NothingTraced,
    /// A tangent needs a formula that makes rates of positions.
    #[error(
        "an interface Jacobian is taken into account by an implicit formula: use lms2 or backward-euler"
    )]
    CannotTakeTangent,
    /// A tangent holds at the end of a macro step.
    #[error(
        "a received interface Jacobian holds at the end of the macro step, so this must be one micro step, not {micro_steps}"
    )]
    TangentWithinStep {
        /// As given.
        micro_steps: usize,
    },
    /// The exact integrator is for linear systems.
    #[error("`{element}` is nonlinear: the exact integrator is for linear elements only")]
    NonlinearExact {
        /// The element.
        element: String,
    },
}

fn component_name(component: PortKind) -> &'static str {
    match component {
        PortKind::Motion => "motion",
        PortKind::Displacement => "displacement",
        PortKind::Velocity => "velocity",
        PortKind::Acceleration => "acceleration",
        PortKind::Force => "force",
    }
}
