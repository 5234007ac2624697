//! Cuts that cannot work: why, and what would work instead.

use crate::element::ElementId;
use crate::node::NodeId;

/// A cut that is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct CutError {
    /// What of the request is wrong.
    pub at: Place,
    /// Why it cannot work.
    pub reason: Reason,
    /// The nearest cut that would, if one was found.
    pub remedy: Option<Remedy>,
}

/// What of a request for a cut is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A node at which to cut.
    Node(NodeId),
    /// An element at which to cut.
    Element(ElementId),
    /// A requested part, by its place in the list.
    Part(usize),
}

/// Why a cut cannot work. Nodes and elements are given by their names.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reason {
    /// The ground is no node that could be cut.
    #[error("the ground does not move: nothing is cut there")]
    Ground,
    /// An element that connects more or fewer than two nodes.
    #[error(
        "`{element}` connects {nodes} nodes: only an element between two nodes can be cut, not through its middle"
    )]
    NotBetweenTwo {
        /// Name of the element.
        element: String,
        /// How many nodes it connects.
        nodes: usize,
    },
    /// An interface without inertia: its motion would not follow from the loads on it.
    #[error(
        "the node `{node}` has no {lack}: the coupling has nothing to accelerate there when loads arrive"
    )]
    NoInertia {
        /// Name of the node.
        node: String,
        /// What is missing.
        lack: Lack,
    },
    /// A node inside of one element.
    #[error(
        "the node `{node}` belongs to `{element}` alone: a cut there would go through that element"
    )]
    InsideElement {
        /// Name of the node.
        node: String,
        /// Name of the element.
        element: String,
    },
    /// A cut that separates nothing.
    #[error(
        "a cut at {} leaves everything in one part{}",
        quoted(nodes),
        connection(through)
    )]
    NothingSeparated {
        /// Names of the nodes of the cut.
        nodes: Vec<String>,
        /// Names of elements that still connect what the cut should separate, along a path.
        through: Vec<String>,
    },
    /// A part that nothing in it could accelerate.
    #[error("the part with {} has no mass at all", quoted(nodes))]
    PartWithoutInertia {
        /// Names of its nodes.
        nodes: Vec<String>,
    },
    /// Nodes whose poses are prescribed in a part whose joints fix them already.
    #[error(
        "between {} and {} a part would have joints alone, {}: a prescribed pose would constrain {} twice",
        quoted(nodes),
        if nodes.len() == 1 { "the ground" } else { "each other or the ground" },
        quoted(joints),
        if nodes.len() == 1 { "it" } else { "them" }
    )]
    HeldTwice {
        /// Names of the interface nodes.
        nodes: Vec<String>,
        /// Names of the joints.
        joints: Vec<String>,
    },
    /// Two requested parts that the cut does not separate.
    #[error(
        "`{}` and `{}` are to be in different parts, but the cut does not separate them{}",
        nodes[0],
        nodes[1],
        connection(through)
    )]
    NotSeparated {
        /// Names of a node of either part.
        nodes: [String; 2],
        /// Names of elements that still connect them, along a path.
        through: Vec<String>,
    },
    /// An element that follows what is measured in another subdomain.
    #[error(
        "`{element}` depends on the sensor at `{measured}`, but the cut puts the one into {home} and the other into {elsewhere}"
    )]
    MeasuredElsewhere {
        /// Name of the element.
        element: String,
        /// Name of the node, or of the joint whose reaction it is.
        measured: String,
        /// The subdomain that has the element.
        home: Home,
        /// The subdomain in which it is measured.
        elsewhere: Home,
    },
    /// A requested part named by a node of the cut, which belongs to no part.
    #[error("the node `{node}` is cut and belongs to the coupling: it cannot stand for a part")]
    CutNodeAsMember {
        /// Name of the node.
        node: String,
    },
}

/// A subdomain, by a node of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// The part of a node.
    Part(String),
    /// The coupling at a node.
    Coupling(String),
}

impl std::fmt::Display for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Part(node) => write!(f, "the part of `{node}`"),
            Self::Coupling(node) => write!(f, "the coupling at `{node}`"),
        }
    }
}

/// What an interface node lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Any mass.
    Mass,
    /// Rotary inertia about some axis.
    RotaryInertia,
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mass => "mass",
            Self::RotaryInertia => "rotary inertia about some axis",
        })
    }
}

/// A cut that works.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// At this node instead.
    Instead(String),
    /// At this node as well.
    Also(String),
    /// Without this node.
    Without(String),
    /// With these two nodes named as one part.
    Together([String; 2]),
}

impl std::fmt::Display for Remedy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Instead(node) => write!(f, "a cut at `{node}` instead would work"),
            Self::Also(node) => write!(f, "a second cut at `{node}` would separate it"),
            Self::Without(node) => write!(f, "without the cut at `{node}` it would work"),
            Self::Together([a, b]) => {
                write!(
                    f,
                    "it would work with one part for both: `[\"{a}\", \"{b}\"]`"
                )
            }
        }
    }
}

/// Names that a message lists at most.
const LISTED: usize = 4;

fn quoted(names: &[String]) -> String {
    let mut listed: Vec<String> = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > LISTED {
        listed.push("…".into());
    }
    listed.join(", ")
}

fn connection(through: &[String]) -> String {
    match through {
        [] => String::new(),
        _ => format!(": it is still connected through {}", quoted(through)),
    }
}
