//! The description of a lumped system: plain data, from which [`crate::Lumped`] is made.

use oldham_cosim::{MotionLaw, Quantity, StageInputs, Unit};
use oldham_expression::Expression;

/// A complete description.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Along a line or about an axis.
    pub coordinates: Coordinates,
    /// The nodes whose motion this subsystem computes.
    pub nodes: Vec<NodeSpec>,
    /// Stand-ins for nodes whose motion is computed elsewhere.
    pub boundary_nodes: Vec<BoundarySpec>,
    /// What stands between the nodes.
    pub elements: Vec<Element>,
    /// In the order of the subsystem's input ports.
    pub inputs: Vec<PortSpec>,
    /// In the order of the subsystem's output ports.
    pub outputs: Vec<PortSpec>,
    /// How the motion is integrated.
    pub integrator: Integrator,
    /// Integrator steps a macro step, at least one.
    pub micro_steps: usize,
    /// Whether steps of [`Integrator::Rk4`] end at the kinks and jumps of force laws and loads, so that the order
    /// of four is kept.
    pub locates_kinks: bool,
    /// Whether it sends, besides the forces on its position-driven boundary nodes, how they change with the boundary nodes'
    /// positions, and the motions for which that holds: outputs [`Spec::TANGENT`], and one
    /// [`Spec::at`] each boundary node, after all others.
    pub sends_tangent: bool,
    /// The tangents of other parts that it takes into account, in inputs after all others.
    pub tangents: Vec<TangentSpec>,
}

impl Spec {
    /// Nothing yet, integrated by one step a macro step.
    pub fn new(coordinates: Coordinates, integrator: Integrator) -> Self {
        Self {
            coordinates,
            nodes: Vec::new(),
            boundary_nodes: Vec::new(),
            elements: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            integrator,
            micro_steps: 1,
            locates_kinks: false,
            sends_tangent: false,
            tangents: Vec::new(),
        }
    }

    /// Name of the output with the tangent of the forces on all position-driven boundary nodes.
    pub const TANGENT: &str = "tangent";

    /// Name of the output with the motion of a boundary node as it was used.
    pub fn at(boundary: &str) -> String {
        format!("{boundary}.at")
    }

    /// The boundary nodes over which a tangent is sent, in the order of its rows and columns.
    pub fn position_driven(&self) -> impl Iterator<Item = BoundaryIndex> {
        let boundary_nodes = self.boundary_nodes.iter().enumerate();
        boundary_nodes
            .filter(|(_, boundary)| {
                boundary.prescribed == Prescribed::Position
                    && boundary.motion == BoundaryMotion::Inputs
            })
            .map(|(index, _)| BoundaryIndex(index))
    }
}

/// The tangent of another part's forces on own nodes: with it, a force f that was found for the
/// positions y counts as f + T (x - y).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TangentSpec {
    /// The part that sends it: prefix of the input ports.
    pub sender: String,
    /// In the order of rows and columns: the sender's boundary node and the own node that it stands for.
    pub points: Vec<(String, NodeIndex)>,
}

impl TangentSpec {
    /// Name of the input with the tangent.
    pub fn tangent_input(&self) -> String {
        format!("{}.{}", self.sender, Spec::TANGENT)
    }

    /// Name of the input with the motion that the sender used for a boundary node.
    pub fn at_input(&self, boundary: &str) -> String {
        format!("{}.{}", self.sender, Spec::at(boundary))
    }
}

/// What the one coordinate of every node measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Displacement in m, force in N.
    Translation,
    /// Angle in rad, moment in N.m.
    Rotation,
}

/// A node with a state of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSpec {
    /// Unique among nodes and boundary nodes.
    pub name: String,
    /// Initial displacement or angle.
    pub position: f64,
    /// Initial rate.
    pub velocity: f64,
}

/// A stand-in for a node whose motion is computed elsewhere. Elements attach to it as to any node.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundarySpec {
    /// Unique among nodes and boundary nodes.
    pub name: String,
    /// Where its motion comes from.
    pub motion: BoundaryMotion,
    /// Own nodes that take up the force which the elements exert on this boundary node. Empty in a
    /// subsystem of a co-simulation, where that force leaves through a port.
    pub reactions: Vec<NodeIndex>,
    /// What of the received motion is prescribed, and how.
    pub prescribed: Prescribed,
    /// The owner of the motion has its own copy of every element attached here (displacement
    /// feeds displacement on both sides): this side accounts for half of their energy.
    pub mirrored: bool,
}

impl BoundarySpec {
    /// A boundary node moved through input ports, not mirrored.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            motion: BoundaryMotion::Inputs,
            reactions: Vec::new(),
            prescribed: Prescribed::Motion,
            mirrored: false,
        }
    }
}

/// How a boundary node takes up the motion that it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Prescribed {
    /// As it is received.
    #[default]
    Motion,
    /// Only the position; velocity and acceleration are what the integrator's own formula makes of
    /// the positions (implicit integrators).
    Position,
    /// The boundary node has a position and a velocity of its own, which follow by a law (semi-implicit
    /// Euler). The force on it is the mean over the last step.
    Law(MotionLaw),
}

/// Where a boundary node's motion comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundaryMotion {
    /// From the input ports on it; components without a port are zero.
    Inputs,
    /// It moves with a node of the same description: the monolithic model.
    Follows(NodeIndex),
}

/// Place of a node in [`Spec::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

/// Place of a boundary node in [`Spec::boundary_nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundaryIndex(pub usize);

/// What an element or a port attaches to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeRef {
    /// At rest, takes any force.
    Ground,
    /// A node with a state of its own.
    Node(NodeIndex),
    /// A stand-in for a node elsewhere.
    Boundary(BoundaryIndex),
}

impl NodeRef {
    /// Own node number `index`.
    pub fn node(index: usize) -> Self {
        Self::Node(NodeIndex(index))
    }

    /// Boundary node number `index`.
    pub fn boundary(index: usize) -> Self {
        Self::Boundary(BoundaryIndex(index))
    }
}

/// A named element.
#[derive(Clone, Debug)]
pub struct Element {
    /// For messages; need not be unique.
    pub name: String,
    /// What it does.
    pub kind: ElementKind,
}

/// What an element does. Elongation is always second end minus first.
#[derive(Clone, Debug)]
pub enum ElementKind {
    /// Inertia of one node.
    Mass {
        /// Where.
        node: NodeRef,
        /// In kg, or kg.m2.
        mass: f64,
    },
    /// Linear spring and damper side by side.
    Spring {
        /// First and second end.
        ends: [NodeRef; 2],
        /// Force per elongation; may be negative.
        stiffness: f64,
        /// Force per rate of elongation; may be negative.
        damping: f64,
        /// Elongation without force.
        rest: f64,
    },
    /// Any law of elongation, rate and time.
    ForceLaw {
        /// First and second end.
        ends: [NodeRef; 2],
        /// Tension, which pulls the ends together, as an expression of [`LAW_VARIABLES`].
        law: Expression,
    },
    /// A force given in time.
    Load {
        /// Where.
        node: NodeRef,
        /// An expression of [`LOAD_VARIABLES`].
        force: Expression,
    },
    /// Any linear element: the force on its nodes is `-(M a + C v + K x)`.
    Matrices {
        /// The nodes, in the order of rows and columns.
        nodes: Vec<NodeRef>,
        /// Dense, row by row.
        mass: Option<Vec<f64>>,
        /// Dense, row by row.
        damping: Option<Vec<f64>>,
        /// Dense, row by row.
        stiffness: Option<Vec<f64>>,
    },
}

/// Variables of a force law: elongation, its rate, time.
pub const LAW_VARIABLES: [&str; 3] = ["d", "v", "t"];

/// Variables of a load: time.
pub const LOAD_VARIABLES: [&str; 1] = ["t"];

impl ElementKind {
    /// Everything that the element attaches to.
    pub fn attachments(&self) -> &[NodeRef] {
        match self {
            Self::Mass { node, .. } | Self::Load { node, .. } => std::slice::from_ref(node),
            Self::Spring { ends, .. } | Self::ForceLaw { ends, .. } => ends,
            Self::Matrices { nodes, .. } => nodes,
        }
    }

    /// Everything that the element attaches to, for renumbering.
    pub(crate) fn attachments_mut(&mut self) -> &mut [NodeRef] {
        match self {
            Self::Mass { node, .. } | Self::Load { node, .. } => std::slice::from_mut(node),
            Self::Spring { ends, .. } | Self::ForceLaw { ends, .. } => ends,
            Self::Matrices { nodes, .. } => nodes,
        }
    }
}

/// A port on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Unique among the ports of its direction.
    pub name: String,
    /// Where. Motion inputs belong to boundary nodes, force inputs to own nodes, force outputs to boundary nodes;
    /// motion outputs may be taken from both.
    pub node: NodeRef,
    /// What it carries.
    pub kind: PortKind,
}

/// What a port carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// Displacement, velocity and acceleration together.
    Motion,
    /// Displacement or angle.
    Displacement,
    /// Its rate.
    Velocity,
    /// Its second derivative.
    Acceleration,
    /// Force or moment: as input on an own node, as output the force that this subsystem exerts
    /// on a boundary node's owner.
    Force,
}

impl PortKind {
    /// The engine's name for it.
    pub fn quantity(self, coordinates: Coordinates) -> Quantity {
        use Coordinates::{Rotation, Translation};
        match (self, coordinates) {
            (Self::Motion, Translation) => Quantity::Translation,
            (Self::Motion, Rotation) => Quantity::Rotation,
            (Self::Displacement, Translation) => Quantity::Scalar(Unit::METRE),
            (Self::Displacement, Rotation) => Quantity::Scalar(Unit::RADIAN),
            (Self::Velocity, Translation) => Quantity::Scalar(Unit::METRE_PER_SECOND),
            (Self::Velocity, Rotation) => Quantity::Scalar(Unit::RADIAN_PER_SECOND),
            (Self::Acceleration, Translation) => Quantity::Scalar(Unit::METRE_PER_SECOND2),
            (Self::Acceleration, Rotation) => Quantity::Scalar(Unit::RADIAN_PER_SECOND2),
            (Self::Force, Translation) => Quantity::Scalar(Unit::NEWTON),
            (Self::Force, Rotation) => Quantity::Scalar(Unit::NEWTON_METRE),
        }
    }
}

/// How the motion is integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integrator {
    /// First order, explicit, symplectic: the velocity first, then the position with it.
    SemiImplicitEuler,
    /// First order, implicit.
    BackwardEuler,
    /// Second order, implicit, two-step, with tunable dissipation.
    Lms2 {
        /// Spectral radius at infinite frequency: one dissipates nothing, zero the most.
        rho: f64,
    },
    /// Fourth order, explicit.
    Rk4 {
        /// Which inputs the stages within a step see.
        inputs: StageInputs,
    },
    /// Exact for linear systems under inputs and loads that are cubic in time within a step.
    Exact,
}
