//! What goes where, as data: pieces, and the interfaces between them.

use std::collections::BTreeMap;

use super::sets::Sets;
use crate::element::ElementId;
use crate::node::NodeId;

/// Where to cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cut {
    /// At these nodes, and ...
    pub nodes: Vec<NodeId>,
    /// ... at these elements, each between two nodes.
    pub elements: Vec<ElementId>,
    /// Members of parts that are wanted in this order: whatever hangs together with a member belongs
    /// to the part. What no part claims becomes parts of its own.
    pub parts: Vec<Vec<NodeId>>,
    /// What becomes of the couplings.
    pub couplings: Couplings,
}

/// What becomes of the couplings of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Couplings {
    /// Each is a piece.
    #[default]
    Separate,
    /// Those that share a part are one piece.
    Joined,
    /// Each becomes part of the first part that it touches.
    InParts,
}

/// What goes where.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The parts, then the couplings.
    pub pieces: Vec<Piece>,
}

/// A model in the making.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is for.
    pub role: Role,
    /// Nodes that it has with their mass.
    pub nodes: Vec<NodeId>,
    /// Nodes of others whose poses are prescribed here.
    pub copies: Vec<NodeId>,
    /// Its elements.
    pub elements: Vec<ElementId>,
}

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A part of the mechanism.
    Part,
    /// Interface nodes between parts.
    Coupling,
}

/// A node that several pieces know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The node.
    pub node: NodeId,
    /// The piece that moves it, by its place in the plan.
    pub owner: usize,
    /// The pieces that follow and load it.
    pub followers: Vec<usize>,
}

impl Plan {
    /// All nodes that several pieces know, in order.
    pub fn interfaces(&self) -> Vec<Interface> {
        let mut followers: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            for &copy in &piece.copies {
                followers.entry(copy).or_default().push(index);
            }
        }
        let owner = |node: NodeId| {
            let owns = |piece: &Piece| piece.nodes.contains(&node);
            self.pieces
                .iter()
                .position(owns)
                .expect("every node has an owner")
        };
        followers
            .into_iter()
            .map(|(node, followers)| Interface {
                node,
                owner: owner(node),
                followers,
            })
            .collect()
    }

    /// The same with couplings as wanted.
    pub(super) fn with(self, couplings: Couplings) -> Self {
        match couplings {
            Couplings::Separate => self,
            Couplings::Joined => self.joined(),
            Couplings::InParts => self.without_couplings(),
        }
    }

    /// The same with couplings that share a part made one.
    fn joined(self) -> Self {
        let mut sets = Sets::new(self.pieces.len());
        for piece in self.pieces.iter().filter(|piece| piece.role == Role::Part) {
            let touches = |&(_, other): &(usize, &Piece)| {
                other.role == Role::Coupling && piece.knows_any_of(&other.nodes)
            };
            let couplings = self.pieces.iter().enumerate().filter(touches);
            sets.join_all(couplings.map(|(index, _)| index));
        }
        let merged = (0..self.pieces.len()).map(|index| sets.find(index));
        self.merged(merged.collect())
    }

    /// The same without couplings: each becomes part of the first part that it touches.
    fn without_couplings(self) -> Self {
        let home = |(index, piece): (usize, &Piece)| match piece.role {
            Role::Part => index,
            Role::Coupling => {
                let touches = |part: &Piece| part.knows_any_of(&piece.nodes);
                let first = self.pieces.iter().position(touches);
                first.expect("a coupling touches a part")
            }
        };
        let homes = self.pieces.iter().enumerate().map(home).collect();
        self.merged(homes)
    }

    /// Puts each piece into the one named in its place.
    fn merged(self, homes: Vec<usize>) -> Self {
        let mut pieces: Vec<Option<Piece>> = self.pieces.into_iter().map(Some).collect();
        for (index, &home) in homes.iter().enumerate() {
            if home == index {
                continue;
            }
            let piece = pieces[index].take().expect("merged once");
            let into = pieces[home].as_mut().expect("not merged itself");
            into.copies.retain(|copy| !piece.nodes.contains(copy));
            into.nodes.extend(piece.nodes);
            into.elements.extend(piece.elements);
            into.nodes.sort_unstable();
            into.elements.sort_unstable();
        }
        Self {
            pieces: pieces.into_iter().flatten().collect(),
        }
    }
}

impl Piece {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            nodes: Vec::new(),
            copies: Vec::new(),
            elements: Vec::new(),
        }
    }

    /// Whether a node moves here, with its mass or as a copy.
    pub fn has(&self, node: NodeId) -> bool {
        node == NodeId::GROUND || self.nodes.contains(&node) || self.copies.contains(&node)
    }

    fn knows_any_of(&self, nodes: &[NodeId]) -> bool {
        self.copies.iter().any(|copy| nodes.contains(copy))
    }
}
