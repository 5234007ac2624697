//! A model as a search for cuts sees it: what hangs together, and where no cut can be.

use super::error::Lack;
use super::graph::Graph;
use super::size::{ENTRIES_OF_A_BODY, ENTRIES_OF_A_COPY, entries_of};
use crate::element::ElementKind;
use crate::model::{Model, NamedElement};
use crate::node::NodeId;

/// Nodes and elements, without what they do.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// All nodes but the ground, in order: the first one is node 1.
    pub nodes: Vec<OutlinedNode>,
    /// All elements, in order.
    pub elements: Vec<OutlinedElement>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlinedNode {
    /// Its mass in kg.
    pub mass: f64,
    /// Why no cut can be here, if so.
    pub obstacle: Option<Obstacle>,
}

/// Why a node cannot be an interface, whatever else is cut.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// Nothing resists loads there.
    NoInertia(Lack),
    /// It belongs to this beam or shell element alone.
    InsideElement(String),
}

/// An element.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlinedElement {
    /// What it is.
    pub kind: ElementKind,
    /// Its moving nodes, by their places in [`Outline::nodes`], each once.
    pub nodes: Vec<usize>,
    /// Further nodes that its sensors read.
    pub reads: Vec<usize>,
    /// Whether it is a piece of a beam or shell.
    pub is_structural: bool,
}

impl Outline {
    /// Matrix entries that a node with mass touches.
    pub const ENTRIES_OF_A_NODE: f64 = ENTRIES_OF_A_BODY;
    /// The same of a copy of a node whose pose is prescribed.
    pub const ENTRIES_OF_A_COPY: f64 = ENTRIES_OF_A_COPY;
}

impl Model {
    /// What a search for cuts needs to know.
    pub fn outline(&self) -> Outline {
        let graph = Graph::of(self);
        let node = |node: usize| OutlinedNode {
            mass: self.nodes[node].inertia.mass,
            obstacle: self.obstacle(&graph, node),
        };
        let elements = self.elements.iter().enumerate();
        Outline {
            nodes: (1..self.nodes.len()).map(node).collect(),
            elements: elements
                .map(|(place, named)| self.outlined(&graph, place, named))
                .collect(),
        }
    }

    fn outlined(&self, graph: &Graph, place: usize, named: &NamedElement) -> OutlinedElement {
        let nodes: Vec<usize> = graph.nodes_of(place).iter().map(|node| node - 1).collect();
        let of_elements = named
            .uses
            .elements
            .iter()
            .flat_map(|read| self.nodes_of(*read));
        let read = named.uses.nodes.iter().chain(of_elements);
        let mut reads: Vec<usize> = read
            .filter(|node| **node != NodeId::GROUND)
            .map(|node| node.0 - 1)
            .filter(|node| !nodes.contains(node))
            .collect();
        reads.sort_unstable();
        reads.dedup();
        OutlinedElement {
            kind: ElementKind::of(&*named.element),
            nodes,
            reads,
            is_structural: named.element.is_structural(),
        }
    }

    fn obstacle(&self, graph: &Graph, node: usize) -> Option<Obstacle> {
        if let Some(lack) = self.lack_of_inertia(NodeId(node)) {
            return Some(Obstacle::NoInertia(lack));
        }
        let at = graph.elements_at(node).iter();
        let mut joining = at.filter(|element| graph.nodes_of(**element).len() > 1);
        match (joining.next(), joining.next()) {
            (Some(&only), None) if self.elements[only].element.is_structural() => {
                let name = self.elements[only].name.clone();
                Some(Obstacle::InsideElement(name))
            }
            _ => None,
        }
    }
}

impl ElementKind {
    /// Matrix entries that such an element touches.
    pub fn entries(&self) -> f64 {
        entries_of(self.nodes, self.constraints)
    }
}
