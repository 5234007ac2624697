//! What goes where, as data: subdomains, and the interfaces between them.

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
    /// Members of parts that are wanted in this order: whatever hangs together with a member
    /// belongs to the part. What no part claims becomes parts of its own.
    pub parts: Vec<Vec<NodeId>>,
    /// What becomes of the couplings.
    pub couplings: Couplings,
}

/// What becomes of the couplings of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Couplings {
    /// Each is a subdomain.
    #[default]
    Separate,
    /// Those that share a part are one subdomain.
    Joined,
    /// Each becomes part of the first part that it touches.
    InParts,
}

/// What goes where.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The parts, then the couplings.
    pub subdomains: Vec<Subdomain>,
}

/// A model in the making.
#[derive(Clone, Debug, PartialEq)]
pub struct Subdomain {
    /// What it is for.
    pub role: Role,
    /// Nodes that it has with their mass.
    pub nodes: Vec<NodeId>,
    /// Nodes of others whose poses are prescribed here.
    pub copies: Vec<NodeId>,
    /// Its elements.
    pub elements: Vec<ElementId>,
}

/// What a subdomain is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A part of the mechanism.
    Part,
    /// Interface nodes between parts.
    Coupling,
}

/// A node that several subdomains know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The node.
    pub node: NodeId,
    /// The subdomain that moves it, by its place in the partition.
    pub owner: usize,
    /// The subdomains that follow and load it.
    pub followers: Vec<usize>,
}

impl Partition {
    /// The subdomain that has a node with its mass.
    pub fn owner(&self, node: NodeId) -> usize {
        let owns = |subdomain: &Subdomain| subdomain.nodes.contains(&node);
        let found = self.subdomains.iter().position(owns);
        found.expect("every node has an owner")
    }

    /// The subdomain that has some nodes, itself or as copies, and elements; a single node is at home
    /// where its mass is.
    pub fn home(&self, nodes: &[NodeId], elements: &[ElementId]) -> Option<usize> {
        if let (&[node], []) = (nodes, elements) {
            return Some(self.owner(node));
        }
        let has_all = |subdomain: &Subdomain| {
            nodes.iter().all(|&node| subdomain.has(node))
                && elements.iter().all(|it| subdomain.elements.contains(it))
        };
        self.subdomains.iter().position(has_all)
    }

    /// All nodes that several subdomains know, in order.
    pub fn interfaces(&self) -> Vec<Interface> {
        let mut followers: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (index, subdomain) in self.subdomains.iter().enumerate() {
            for &copy in &subdomain.copies {
                followers.entry(copy).or_default().push(index);
            }
        }
        let owner = |node: NodeId| {
            let owns = |subdomain: &Subdomain| subdomain.nodes.contains(&node);
            self.subdomains
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
        let mut sets = Sets::new(self.subdomains.len());
        for subdomain in self
            .subdomains
            .iter()
            .filter(|subdomain| subdomain.role == Role::Part)
        {
            let touches = |&(_, other): &(usize, &Subdomain)| {
                other.role == Role::Coupling && subdomain.knows_any_of(&other.nodes)
            };
            let couplings = self.subdomains.iter().enumerate().filter(touches);
            sets.join_all(couplings.map(|(index, _)| index));
        }
        let merged = (0..self.subdomains.len()).map(|index| sets.find(index));
        self.merged(merged.collect())
    }

    /// The same without couplings: each becomes part of the first part that it touches.
    fn without_couplings(self) -> Self {
        let home = |(index, subdomain): (usize, &Subdomain)| match subdomain.role {
            Role::Part => index,
            Role::Coupling => {
                let touches = |part: &Subdomain| part.knows_any_of(&subdomain.nodes);
                let first = self.subdomains.iter().position(touches);
                first.expect("a coupling touches a part")
            }
        };
        let homes = self.subdomains.iter().enumerate().map(home).collect();
        self.merged(homes)
    }

    /// Puts each subdomain into the one named in its place.
    fn merged(self, homes: Vec<usize>) -> Self {
        let mut subdomains: Vec<Option<Subdomain>> =
            self.subdomains.into_iter().map(Some).collect();
        for (index, &home) in homes.iter().enumerate() {
            if home == index {
                continue;
            }
            let subdomain = subdomains[index].take().expect("merged once");
            let into = subdomains[home].as_mut().expect("not merged itself");
            into.copies.retain(|copy| !subdomain.nodes.contains(copy));
            into.nodes.extend(subdomain.nodes);
            into.elements.extend(subdomain.elements);
            into.nodes.sort_unstable();
            into.elements.sort_unstable();
        }
        Self {
            subdomains: subdomains.into_iter().flatten().collect(),
        }
    }
}

impl Subdomain {
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
