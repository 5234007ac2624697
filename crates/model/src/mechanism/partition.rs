//! A cut mechanism, seen from outside: its subdomains, their sizes, and what lies between them.

use oldham_multibody::cut::{Role, Size};
use oldham_multibody::{CutScheme, NodeId};

use super::{Cutting, MechanismSpec};

/// How a mechanism is cut.
#[derive(Clone, Debug)]
pub struct PartitionReport {
    /// The scheme, as model files call it.
    pub scheme: &'static str,
    /// The parts, then the couplings.
    pub pieces: Vec<SubdomainReport>,
    /// The nodes between them.
    pub interfaces: Vec<InterfaceNode>,
    /// For each node, the ground first, the subdomain that has it with its mass.
    pub owners: Vec<Option<usize>>,
    /// Elements, as the nodes that they connect.
    pub links: Vec<OwnedElement>,
}

/// A subdomain.
#[derive(Clone, Debug)]
pub struct SubdomainReport {
    /// Its name after the mechanism's.
    pub name: String,
    /// Whether it is there only to couple others.
    pub is_coupling: bool,
    /// How large it is.
    pub size: Size,
}

/// A node that several subdomains know.
#[derive(Clone, Debug)]
pub struct InterfaceNode {
    /// The node.
    pub node: NodeId,
    /// The subdomain that moves it.
    pub owner: usize,
    /// The subdomains that follow it and send the loads on it.
    pub followers: Vec<usize>,
    /// Its mass in kg.
    pub mass: f64,
    /// Its moments of inertia about the three node axes, in kg.m².
    pub inertia: [f64; 3],
}

/// An element of a subdomain.
#[derive(Clone, Debug)]
pub struct OwnedElement {
    /// The nodes that it connects, the ground among them.
    pub nodes: Vec<NodeId>,
    /// The subdomain.
    pub piece: usize,
}

impl PartitionReport {
    pub(super) fn of(spec: &MechanismSpec, cutting: &Cutting) -> Self {
        let model = &spec.whole.model;
        let partition = &cutting.settings.partition;
        let portion = |(index, size): (usize, Size)| SubdomainReport {
            name: cutting.settings.names[index].clone(),
            is_coupling: partition.subdomains[index].role == Role::Coupling,
            size,
        };
        let interface = |interface: oldham_multibody::cut::Interface| {
            let (mass, inertia) = model.inertia(interface.node);
            InterfaceNode {
                node: interface.node,
                owner: interface.owner,
                followers: interface.followers,
                mass,
                inertia,
            }
        };
        let mut owners = vec![None; model.node_count()];
        let mut links = Vec::new();
        for (index, piece) in partition.subdomains.iter().enumerate() {
            for node in &piece.nodes {
                owners[node.index()] = Some(index);
            }
            links.extend(piece.elements.iter().map(|&element| OwnedElement {
                nodes: model.nodes_of(element).to_vec(),
                piece: index,
            }));
        }
        Self {
            scheme: match cutting.settings.scheme {
                CutScheme::InterfaceTangent => "interface-tangent",
                CutScheme::InterfaceMass => "interface-mass",
                CutScheme::ForceDisplacement => "force-displacement",
            },
            pieces: partition
                .sizes(model)
                .into_iter()
                .enumerate()
                .map(portion)
                .collect(),
            interfaces: partition.interfaces().into_iter().map(interface).collect(),
            owners,
            links,
        }
    }

    /// Estimated work of all subdomains over that of the longest way through a step: the largest
    /// part, then the largest coupling. No number of cores makes it faster.
    pub fn speed_up(&self) -> f64 {
        let total: f64 = self.pieces.iter().map(|piece| piece.size.work).sum();
        let largest = |is_coupling: bool| {
            let pieces = self.pieces.iter();
            let pieces = pieces.filter(|piece| piece.is_coupling == is_coupling);
            pieces.map(|piece| piece.size.work).fold(0.0, f64::max)
        };
        total / (largest(false) + largest(true))
    }

    /// The share of a subdomain in the estimated work.
    pub fn share(&self, piece: usize) -> f64 {
        let total: f64 = self.pieces.iter().map(|piece| piece.size.work).sum();
        self.pieces[piece].size.work / total
    }
}
