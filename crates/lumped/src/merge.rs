//! The monolithic model: several coupled descriptions joined into one, without any exchange.
//!
//! A boundary node that a connection feeds moves with its owner's node. The force of the elements on it
//! goes to the node where its force output is connected; if that output is connected nowhere, the
//! force is dropped, because the partner has its own copy of the elements.

use oldham_cosim::{InputPort, OutputPort};

use crate::spec::{
    BoundaryIndex, BoundaryMotion, BoundarySpec, Coordinates, Element, Integrator, NodeIndex,
    NodeRef, NodeSpec, PortKind, PortSpec, Spec,
};

/// One of the descriptions to be joined.
#[derive(Clone, Copy, Debug)]
pub struct MergedPart<'a> {
    /// Prefix of everything that comes from it.
    pub name: &'a str,
    /// The description.
    pub spec: &'a Spec,
}

/// An output of one part that feeds an input of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedConnection {
    /// Place of the sender among the parts.
    pub from_part: usize,
    /// Place in the sender's [`Spec::outputs`].
    pub output: OutputPort,
    /// Place of the receiver among the parts.
    pub to_part: usize,
    /// Place in the receiver's [`Spec::inputs`].
    pub input: InputPort,
}

/// Why descriptions cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Nothing to join.
    #[error("there is no part to join")]
    NoParts,
    /// Angles and displacements do not mix.
    #[error("`{part}` moves in {found}, the parts before it in {expected}")]
    CoordinatesDiffer {
        /// The first part that differs.
        part: String,
        /// What it has.
        found: Coordinates,
        /// What the others have.
        expected: Coordinates,
    },
    /// A connection names a part or port that does not exist.
    #[error("connection {index} leads from or to a port that does not exist")]
    NoSuchPort {
        /// Place among the connections.
        index: usize,
    },
    /// The two ports carry different things.
    #[error("`{output}` carries {from}, but `{input}` takes {to}")]
    KindsDiffer {
        /// The sender's port.
        output: String,
        /// The receiver's port.
        input: String,
        /// What is sent.
        from: PortKind,
        /// What is taken.
        to: PortKind,
    },
    /// A boundary node cannot move with two nodes.
    #[error("boundary node `{boundary}` is fed from two different nodes")]
    TwoOwners {
        /// The boundary node.
        boundary: String,
    },
    /// A motion that is passed on from boundary node to boundary node and never computed.
    #[error("the motion of boundary node `{boundary}` is not computed by any of the parts")]
    NoOwner {
        /// The boundary node.
        boundary: String,
    },
    /// A motion input on an own node, or a force input on a boundary node.
    #[error("input `{input}` cannot be fed: motions go to boundary nodes, forces to nodes")]
    Misplaced {
        /// The receiver's port.
        input: String,
    },
}

/// Joins `parts` into one description. Inputs that no connection feeds stay, and so do all
/// outputs; nodes, boundary nodes, elements and ports are renamed to `part.name`.
pub fn merge(
    parts: &[MergedPart<'_>],
    connections: &[MergedConnection],
    integrator: Integrator,
    micro_steps: usize,
) -> Result<Spec, MergeError> {
    let coordinates = common_coordinates(parts)?;
    let mut joined = Joined::concatenate(parts);
    for (index, connection) in connections.iter().enumerate() {
        joined.check(parts, index, connection)?;
        joined.fed[connection.to_part][connection.input.0] = true;
    }
    let owners = joined.owners(parts, connections)?;
    for (boundary, owner) in joined.boundary_nodes.iter_mut().zip(owners) {
        if let Some(node) = owner {
            boundary.motion = BoundaryMotion::Follows(node);
        }
    }
    joined.lead_reactions_home(parts, connections)?;
    let inputs = joined.open_inputs(parts);
    Ok(Spec {
        outputs: joined.all_outputs(parts),
        nodes: joined.nodes,
        boundary_nodes: joined.boundary_nodes,
        elements: joined.elements,
        inputs,
        micro_steps,
        locates_kinks: parts.iter().any(|part| part.spec.locates_kinks),
        ..Spec::new(coordinates, integrator)
    })
}

fn common_coordinates(parts: &[MergedPart<'_>]) -> Result<Coordinates, MergeError> {
    let expected = parts.first().ok_or(MergeError::NoParts)?.spec.coordinates;
    match parts.iter().find(|part| part.spec.coordinates != expected) {
        None => Ok(expected),
        Some(part) => Err(MergeError::CoordinatesDiffer {
            part: part.name.to_owned(),
            found: part.spec.coordinates,
            expected,
        }),
    }
}

/// The parts side by side, with the places at which each one's nodes and boundary nodes start.
struct Joined {
    nodes: Vec<NodeSpec>,
    boundary_nodes: Vec<BoundarySpec>,
    elements: Vec<Element>,
    node_starts: Vec<usize>,
    boundary_starts: Vec<usize>,
    /// Which inputs of which part a connection feeds.
    fed: Vec<Vec<bool>>,
}

/// What feeds a boundary node's motion: a node that is computed, or another boundary node.
type MotionSource = Option<NodeRef>;

impl Joined {
    fn concatenate(parts: &[MergedPart<'_>]) -> Self {
        let mut joined = Self {
            nodes: Vec::new(),
            boundary_nodes: Vec::new(),
            elements: Vec::new(),
            node_starts: Vec::new(),
            boundary_starts: Vec::new(),
            fed: Vec::new(),
        };
        for part in parts {
            joined.append(part);
        }
        joined
    }

    fn append(&mut self, part: &MergedPart<'_>) {
        let index = self.node_starts.len();
        self.node_starts.push(self.nodes.len());
        self.boundary_starts.push(self.boundary_nodes.len());
        self.fed.push(vec![false; part.spec.inputs.len()]);
        self.nodes
            .extend(part.spec.nodes.iter().map(|node| NodeSpec {
                name: qualified(part, &node.name),
                ..node.clone()
            }));
        for boundary in &part.spec.boundary_nodes {
            let renumbered = self.renumber_boundary(index, part, boundary);
            self.boundary_nodes.push(renumbered);
        }
        for element in &part.spec.elements {
            let mut renumbered = element.clone();
            renumbered.name = qualified(part, &element.name);
            for node in renumbered.kind.attachments_mut() {
                *node = self.renumber(index, *node);
            }
            self.elements.push(renumbered);
        }
    }

    fn renumber(&self, part: usize, node: NodeRef) -> NodeRef {
        match node {
            NodeRef::Ground => NodeRef::Ground,
            NodeRef::Node(NodeIndex(i)) => NodeRef::node(self.node_starts[part] + i),
            NodeRef::Boundary(BoundaryIndex(i)) => {
                NodeRef::boundary(self.boundary_starts[part] + i)
            }
        }
    }

    /// A part may itself be a joined one, with boundary nodes that are already at home.
    fn renumber_boundary(
        &self,
        index: usize,
        part: &MergedPart<'_>,
        boundary: &BoundarySpec,
    ) -> BoundarySpec {
        let start = self.node_starts[index];
        let shifted = |node: &NodeIndex| NodeIndex(start + node.0);
        BoundarySpec {
            name: qualified(part, &boundary.name),
            motion: match &boundary.motion {
                BoundaryMotion::Inputs => BoundaryMotion::Inputs,
                BoundaryMotion::Follows(node) => BoundaryMotion::Follows(shifted(node)),
            },
            reactions: boundary.reactions.iter().map(shifted).collect(),
            prescribed: boundary.prescribed,
            mirrored: boundary.mirrored,
        }
    }

    fn check(
        &self,
        parts: &[MergedPart<'_>],
        index: usize,
        connection: &MergedConnection,
    ) -> Result<(), MergeError> {
        let sender = parts.get(connection.from_part);
        let receiver = parts.get(connection.to_part);
        let (Some(sender), Some(receiver)) = (sender, receiver) else {
            return Err(MergeError::NoSuchPort { index });
        };
        let output = sender.spec.outputs.get(connection.output.0);
        let input = receiver.spec.inputs.get(connection.input.0);
        let (Some(output), Some(input)) = (output, input) else {
            return Err(MergeError::NoSuchPort { index });
        };
        if output.kind != input.kind {
            return Err(MergeError::KindsDiffer {
                output: qualified(sender, &output.name),
                input: qualified(receiver, &input.name),
                from: output.kind,
                to: input.kind,
            });
        }
        Ok(())
    }

    /// For every boundary node, the node that moves it.
    fn owners(
        &self,
        parts: &[MergedPart<'_>],
        connections: &[MergedConnection],
    ) -> Result<Vec<Option<NodeIndex>>, MergeError> {
        let sources = self.motion_sources(parts, connections)?;
        let owner = |boundary| self.follow(&sources, boundary);
        (0..self.boundary_nodes.len()).map(owner).collect()
    }

    fn motion_sources(
        &self,
        parts: &[MergedPart<'_>],
        connections: &[MergedConnection],
    ) -> Result<Vec<MotionSource>, MergeError> {
        let mut sources = vec![None; self.boundary_nodes.len()];
        for connection in connections {
            let (output, input) = ports(parts, connection);
            if input.kind == PortKind::Force {
                continue;
            }
            let target = self.renumber(connection.to_part, input.node);
            let NodeRef::Boundary(BoundaryIndex(boundary)) = target else {
                return Err(misplaced(parts, connection));
            };
            let source = self.renumber(connection.from_part, output.node);
            if sources[boundary]
                .replace(source)
                .is_some_and(|other| other != source)
            {
                return Err(MergeError::TwoOwners {
                    boundary: self.boundary_nodes[boundary].name.clone(),
                });
            }
        }
        Ok(sources)
    }

    /// Follows a motion that is passed on from boundary node to boundary node back to where it is computed.
    fn follow(
        &self,
        sources: &[MotionSource],
        boundary: usize,
    ) -> Result<Option<NodeIndex>, MergeError> {
        if let BoundaryMotion::Follows(node) = self.boundary_nodes[boundary].motion {
            return Ok(Some(node));
        }
        if sources[boundary].is_none() {
            return Ok(None);
        }
        let mut at = boundary;
        for _ in 0..=self.boundary_nodes.len() {
            match (sources[at], self.boundary_nodes[at].motion) {
                (_, BoundaryMotion::Follows(node)) => return Ok(Some(node)),
                (Some(NodeRef::Node(node)), _) => return Ok(Some(node)),
                (Some(NodeRef::Boundary(next)), _) => at = next.0,
                _ => break,
            }
        }
        Err(MergeError::NoOwner {
            boundary: self.boundary_nodes[boundary].name.clone(),
        })
    }

    fn lead_reactions_home(
        &mut self,
        parts: &[MergedPart<'_>],
        connections: &[MergedConnection],
    ) -> Result<(), MergeError> {
        for connection in connections {
            let (output, input) = ports(parts, connection);
            if input.kind != PortKind::Force {
                continue;
            }
            let from = self.renumber(connection.from_part, output.node);
            let to = self.renumber(connection.to_part, input.node);
            let (NodeRef::Boundary(boundary), NodeRef::Node(node)) = (from, to) else {
                return Err(misplaced(parts, connection));
            };
            self.boundary_nodes[boundary.0].reactions.push(node);
        }
        Ok(())
    }

    fn open_inputs(&self, parts: &[MergedPart<'_>]) -> Vec<PortSpec> {
        let mut open = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            for (port, fed) in part.spec.inputs.iter().zip(&self.fed[index]) {
                let node = self.renumber(index, port.node);
                if !fed && !self.is_at_home(node) {
                    open.push(self.renamed(index, part, port));
                }
            }
        }
        open
    }

    /// Whether the node is a boundary node that needs no input any more.
    fn is_at_home(&self, node: NodeRef) -> bool {
        let NodeRef::Boundary(boundary) = node else {
            return false;
        };
        self.boundary_nodes[boundary.0].motion != BoundaryMotion::Inputs
    }

    fn all_outputs(&self, parts: &[MergedPart<'_>]) -> Vec<PortSpec> {
        let of_part = |(index, part): (usize, &MergedPart<'_>)| {
            let ports = part.spec.outputs.iter();
            ports
                .map(|port| self.renamed(index, part, port))
                .collect::<Vec<_>>()
        };
        parts.iter().enumerate().flat_map(of_part).collect()
    }

    fn renamed(&self, index: usize, part: &MergedPart<'_>, port: &PortSpec) -> PortSpec {
        PortSpec {
            name: qualified(part, &port.name),
            node: self.renumber(index, port.node),
            kind: port.kind,
        }
    }
}

fn ports<'a>(
    parts: &[MergedPart<'a>],
    connection: &MergedConnection,
) -> (&'a PortSpec, &'a PortSpec) {
    (
        &parts[connection.from_part].spec.outputs[connection.output.0],
        &parts[connection.to_part].spec.inputs[connection.input.0],
    )
}

fn misplaced(parts: &[MergedPart<'_>], connection: &MergedConnection) -> MergeError {
    let (_, input) = ports(parts, connection);
    MergeError::Misplaced {
        input: qualified(&parts[connection.to_part], &input.name),
    }
}

fn qualified(part: &MergedPart<'_>, name: &str) -> String {
    format!("{}.{name}", part.name)
}
