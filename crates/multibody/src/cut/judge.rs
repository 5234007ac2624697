//! Which cuts cannot work.

use std::collections::BTreeSet;

use super::error::{Lack, Place, Reason};
use super::partition::{Partition, Role, Subdomain};
use super::partitioner::Partitioner;
use super::rank;
use crate::element::ElementId;
use crate::model::Model;
use crate::node::NodeId;
use oldham_space::Mat3;

/// Moments of inertia whose product is below this fraction of the largest one's cube count as none.
const NO_ROTARY_INERTIA: f64 = 1e-12;

impl Partitioner<'_> {
    /// An interface moves under loads by its own inertia: it needs some in all six directions.
    pub(super) fn inertia_of_interfaces(&mut self) {
        for node in self.interface_nodes() {
            if let Some(lack) = self.model.lack_of_inertia(NodeId(node)) {
                let place = self.place_of(node);
                let node = self.name(node);
                self.refuse(place, Reason::NoInertia { node, lack });
            }
        }
    }

    /// Refuses parts that cannot work.
    pub(super) fn judge_parts(&mut self, partition: &Partition) {
        let subdomains = partition.subdomains.iter();
        subdomains
            .filter(|subdomain| subdomain.role == Role::Part)
            .for_each(|part| self.judge_part(part));
    }

    /// Refuses couplings that cannot work.
    pub(super) fn judge_couplings(&mut self, partition: &Partition) {
        let subdomains = partition.subdomains.iter();
        subdomains
            .filter(|subdomain| subdomain.role == Role::Coupling)
            .for_each(|coupling| self.judge_coupling(coupling));
    }

    fn judge_part(&mut self, subdomain: &Subdomain) {
        let nodes = subdomain.nodes.iter().map(|node| node.0);
        let has_mass = |node: usize| self.model.nodes[node].inertia.mass > 0.0;
        if !nodes.clone().any(has_mass) {
            let place = match subdomain.copies.first() {
                Some(copy) => self.place_of(copy.0),
                None => Place::Part(0),
            };
            let nodes = self.names(nodes);
            self.refuse(place, Reason::PartWithoutInertia { nodes });
            return;
        }
        if let Some(found) = rank::held_twice(self.model, subdomain)
            && let Some(first) = found.nodes.first()
        {
            let place = self.place_of(first.0);
            let nodes = self.names(found.nodes.iter().map(|node| node.0));
            let joints = found.joints;
            self.refuse(place, Reason::HeldTwice { nodes, joints });
        }
    }

    /// A coupling is worth its while if it lies between parts, or holds something itself. At the
    /// end of a beam it is not, whatever holds that end.
    fn judge_coupling(&mut self, subdomain: &Subdomain) {
        let nodes: Vec<usize> = subdomain.nodes.iter().map(|node| node.0).collect();
        let at = nodes.iter().map(|&node| self.parts_at(node));
        let parts: BTreeSet<usize> = at.flatten().collect();
        let holds = |element: &ElementId| self.model.elements[element.0].element.nodes().len() > 1;
        let only = self.only_element(&nodes);
        let needed = match subdomain.elements.iter().any(holds) && only.is_none() {
            true => 1,
            false => 2,
        };
        if parts.len() >= needed {
            return;
        }
        let place = self.place_of(nodes[0]);
        let reason = match only {
            Some(element) => Reason::InsideElement {
                node: self.name(nodes[0]),
                element: self.model.elements[element].name.clone(),
            },
            None => Reason::NothingSeparated {
                through: self.way_around(&nodes),
                nodes: self.names(nodes),
            },
        };
        self.refuse(place, reason);
    }

    /// The beam or shell element that is the only one at a single node.
    fn only_element(&self, nodes: &[usize]) -> Option<usize> {
        let &[node] = nodes else { return None };
        let joining = |&&element: &&usize| self.graph.nodes_of(element).len() > 1;
        let elements: Vec<usize> = self
            .graph
            .elements_at(node)
            .iter()
            .filter(joining)
            .copied()
            .collect();
        match elements[..] {
            [only] if self.model.elements[only].element.is_structural() => Some(only),
            _ => None,
        }
    }

    /// How one gets from one side of a node to the other beside the cut.
    fn way_around(&self, nodes: &[usize]) -> Vec<String> {
        let mut sides = Vec::new();
        for &element in nodes.iter().flat_map(|&node| self.graph.elements_at(node)) {
            let others = self.graph.nodes_of(element).iter();
            let side = others.copied().find(|&other| !self.is_interface[other]);
            sides.extend(side.filter(|side| !sides.contains(side)));
        }
        match sides[..] {
            [first, .., last] => self.connection(first, last),
            _ => Vec::new(),
        }
    }
}

impl Model {
    /// What a node would lack as an interface.
    pub(super) fn lack_of_inertia(&self, node: NodeId) -> Option<Lack> {
        let inertia = &self.nodes[node.0].inertia;
        if inertia.mass <= 0.0 {
            return Some(Lack::Mass);
        }
        // About the centre of mass, where it is smallest.
        let c = inertia.first * (1.0 / inertia.mass);
        let steiner = (Mat3::IDENTITY * c.dot(c) - c.outer(c)) * inertia.mass;
        let moments = inertia.second - steiner;
        let entries = moments.0.iter().flatten();
        let size = entries.fold(0.0_f64, |m, v| m.max(v.abs()));
        let [x, y, z] = [0, 1, 2].map(|i| moments.column(i));
        let positive = x.dot(y.cross(z)) > NO_ROTARY_INERTIA * size.powi(3);
        (!positive).then_some(Lack::RotaryInertia)
    }
}
