//! What goes where: finding the parts and couplings of a cut.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{CutError, Place, Reason};
use super::graph::Graph;
use super::partition::{Couplings, Cut, Partition, Role, Subdomain};
use super::sets::Sets;
use crate::element::ElementId;
use crate::model::Model;
use crate::node::NodeId;

/// A cut in the making.
pub(super) struct Partitioner<'m> {
    pub model: &'m Model,
    pub graph: &'m Graph,
    pub cut: &'m Cut,
    /// For each node: is it cut?
    pub is_interface: Vec<bool>,
    /// For each element: is it cut?
    pub is_cut: Vec<bool>,
    /// The part of each node that is not cut.
    part_of: Vec<Option<usize>>,
    parts: usize,
    errors: Vec<CutError>,
}

impl<'m> Partitioner<'m> {
    pub fn new(model: &'m Model, graph: &'m Graph, cut: &'m Cut) -> Self {
        let mut partitioner = Self {
            model,
            graph,
            cut,
            is_interface: vec![false; model.nodes.len()],
            is_cut: vec![false; model.elements.len()],
            part_of: vec![None; model.nodes.len()],
            parts: 0,
            errors: Vec::new(),
        };
        partitioner.mark();
        partitioner
    }

    /// The partition, or everything that is wrong with the cut.
    pub fn partition(mut self) -> Result<Partition, Vec<CutError>> {
        self.inertia_of_interfaces();
        if self.errors.is_empty() {
            self.find_parts();
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let partition = self.subdomains();
        // Parts that take interfaces in are judged with them.
        let in_parts = self.cut.couplings == Couplings::InParts;
        if !in_parts {
            self.judge_parts(&partition);
        }
        self.judge_couplings(&partition);
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let partition = partition.with(self.cut.couplings);
        if in_parts {
            self.judge_parts(&partition);
        }
        self.sensors(&partition);
        match self.errors.is_empty() {
            true => Ok(partition),
            false => Err(self.errors),
        }
    }

    pub fn refuse(&mut self, at: Place, reason: Reason) {
        let remedy = None;
        self.errors.push(CutError { at, reason, remedy });
    }

    pub fn name(&self, node: usize) -> String {
        self.model.nodes[node].name.clone()
    }

    pub fn names(&self, nodes: impl IntoIterator<Item = usize>) -> Vec<String> {
        nodes.into_iter().map(|node| self.name(node)).collect()
    }

    /// Marks interface nodes and cut elements.
    fn mark(&mut self) {
        for &node in &self.cut.nodes {
            if node == NodeId::GROUND {
                self.refuse(Place::Node(node), Reason::Ground);
            } else {
                self.is_interface[node.0] = true;
            }
        }
        for &element in &self.cut.elements {
            let named = &self.model.elements[element.0];
            let nodes = named.element.nodes().len();
            if nodes != 2 {
                let element_name = named.name.clone();
                let reason = Reason::NotBetweenTwo {
                    element: element_name,
                    nodes,
                };
                self.refuse(Place::Element(element), reason);
                continue;
            }
            self.is_cut[element.0] = true;
            for &node in self.graph.nodes_of(element.0) {
                self.is_interface[node] = true;
            }
        }
    }

    /// The item of the request to which an interface node is due.
    pub fn place_of(&self, node: usize) -> Place {
        let holds = |element: &&ElementId| self.graph.nodes_of(element.0).contains(&node);
        match self.cut.elements.iter().find(holds) {
            Some(&element) if !self.cut.nodes.contains(&NodeId(node)) => Place::Element(element),
            _ => Place::Node(NodeId(node)),
        }
    }

    pub fn interface_nodes(&self) -> Vec<usize> {
        let nodes = 1..self.is_interface.len();
        nodes.filter(|&node| self.is_interface[node]).collect()
    }

    /// What hangs together without interface nodes and cut elements, grouped as requested.
    fn find_parts(&mut self) {
        let mut sets = Sets::new(self.model.nodes.len());
        for element in (0..self.is_cut.len()).filter(|&element| !self.is_cut[element]) {
            let nodes = self.graph.nodes_of(element).iter().copied();
            sets.join_all(nodes.filter(|&node| !self.is_interface[node]));
        }
        let mut part_of_set = self.claimed(&mut sets);
        self.parts = self.cut.parts.len();
        for node in 1..self.model.nodes.len() {
            if self.is_interface[node] {
                continue;
            }
            let part = part_of_set.entry(sets.find(node)).or_insert_with(|| {
                self.parts += 1;
                self.parts - 1
            });
            self.part_of[node] = Some(*part);
        }
    }

    /// The requested part of each set that one is requested for.
    fn claimed(&mut self, sets: &mut Sets) -> BTreeMap<usize, usize> {
        let mut part_of_set = BTreeMap::new();
        let mut first_member: BTreeMap<usize, usize> = BTreeMap::new();
        for (part, members) in self.cut.parts.iter().enumerate() {
            for &NodeId(member) in members {
                if self.is_interface[member] {
                    let node = self.name(member);
                    self.refuse(Place::Part(part), Reason::CutNodeAsMember { node });
                    continue;
                }
                let set = sets.find(member);
                let earlier = part_of_set.insert(set, part);
                let first = *first_member.entry(set).or_insert(member);
                if earlier.is_some_and(|earlier| earlier != part) {
                    let through = self.connection(first, member);
                    let nodes = [self.name(first), self.name(member)];
                    self.refuse(Place::Part(part), Reason::NotSeparated { nodes, through });
                }
            }
        }
        part_of_set
    }

    /// Names of the elements between two nodes, beside the cut.
    pub fn connection(&self, from: usize, to: usize) -> Vec<String> {
        let path = self
            .graph
            .path(from, to, &self.is_interface, &self.is_cut)
            .unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        for element in path {
            let name = &self.model.elements[element].name;
            if names.last() != Some(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The parts that have elements at a node.
    pub fn parts_at(&self, node: usize) -> BTreeSet<usize> {
        let elements = self.graph.elements_at(node).iter();
        let others = elements.flat_map(|&element| self.graph.nodes_of(element));
        others.filter_map(|&other| self.part_of[other]).collect()
    }

    /// Interface nodes that are solved together: those that an element connects with nobody else.
    /// The others between the same parts are shared out to as many couplings as there are parts:
    /// so every thread has one.
    fn couplings(&self) -> Vec<Vec<usize>> {
        let mut between: BTreeMap<BTreeSet<usize>, Vec<Vec<usize>>> = BTreeMap::new();
        for nodes in self.tied_interfaces() {
            let parts = nodes.iter().flat_map(|&node| self.parts_at(node));
            between.entry(parts.collect()).or_default().push(nodes);
        }
        let mut couplings: Vec<Vec<usize>> = between
            .into_iter()
            .flat_map(|(parts, tied)| shared_out(&tied, parts.len()))
            .collect();
        couplings.sort_unstable();
        couplings
    }

    /// Interface nodes, those together that elements of their own connect.
    fn tied_interfaces(&self) -> Vec<Vec<usize>> {
        let mut sets = Sets::new(self.model.nodes.len());
        for element in 0..self.is_cut.len() {
            let nodes = self.graph.nodes_of(element);
            if nodes.iter().all(|&node| self.is_interface[node]) {
                sets.join_all(nodes.iter().copied());
            }
        }
        let mut tied: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in self.interface_nodes() {
            tied.entry(sets.find(node)).or_default().push(node);
        }
        tied.into_values().collect()
    }

    fn subdomains(&self) -> Partition {
        let couplings = self.couplings();
        let part = |_| Subdomain::new(Role::Part);
        let coupling = |_| Subdomain::new(Role::Coupling);
        let mut subdomains: Vec<Subdomain> = (0..self.parts).map(part).collect();
        subdomains.extend((0..couplings.len()).map(coupling));
        let mut home = self.part_of.clone();
        for (index, nodes) in couplings.iter().enumerate() {
            for &node in nodes {
                home[node] = Some(self.parts + index);
                for part in self.parts_at(node) {
                    subdomains[part].copies.push(NodeId(node));
                }
            }
        }
        for (node, home) in home.iter().enumerate() {
            if let Some(home) = home {
                subdomains[*home].nodes.push(NodeId(node));
            }
        }
        for element in 0..self.is_cut.len() {
            let nodes = self.graph.nodes_of(element);
            let in_part = nodes.iter().find_map(|&node| self.part_of[node]);
            let in_coupling = || nodes.first().and_then(|&node| home[node]);
            let subdomain = in_part.or_else(in_coupling).unwrap_or(0);
            subdomains[subdomain].elements.push(ElementId(element));
        }
        for subdomain in &mut subdomains {
            subdomain.copies.sort_unstable();
        }
        Partition { subdomains }
    }
}

/// Items in order, shared out as evenly as they can be; nobody gets nothing.
fn shared_out(items: &[Vec<usize>], shares: usize) -> Vec<Vec<usize>> {
    let shares = shares.clamp(1, items.len());
    let from = |share: usize| share * items.len() / shares;
    (0..shares)
        .map(|share| items[from(share)..from(share + 1)].concat())
        .collect()
}
