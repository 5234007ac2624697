//! What goes where: parts, couplings and the interfaces between them.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{CutError, Lack, Place, Reason};
use super::graph::Graph;
use super::rank;
use super::sets::Sets;
use crate::element::ElementId;
use crate::model::Model;
use crate::node::NodeId;

/// Moments of inertia whose product is below this fraction of the largest one's cube count as none.
const NO_ROTARY_INERTIA: f64 = 1e-12;

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

    /// The same with couplings that share a part made one.
    pub fn joined(self) -> Self {
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
    pub fn without_couplings(self) -> Self {
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
    fn knows_any_of(&self, nodes: &[NodeId]) -> bool {
        self.copies.iter().any(|copy| nodes.contains(copy))
    }
}

/// A cut in the making.
pub(super) struct Partition<'m> {
    model: &'m Model,
    graph: &'m Graph,
    cut: &'m Cut,
    /// For each node: is it cut?
    pub is_interface: Vec<bool>,
    /// For each element: is it cut?
    pub is_cut: Vec<bool>,
    /// The part of each node that is not cut.
    part_of: Vec<Option<usize>>,
    parts: usize,
    errors: Vec<CutError>,
}

impl<'m> Partition<'m> {
    pub fn new(model: &'m Model, graph: &'m Graph, cut: &'m Cut) -> Self {
        let mut partition = Self {
            model,
            graph,
            cut,
            is_interface: vec![false; model.nodes.len()],
            is_cut: vec![false; model.elements.len()],
            part_of: vec![None; model.nodes.len()],
            parts: 0,
            errors: Vec::new(),
        };
        partition.mark();
        partition
    }

    /// The plan, or everything that is wrong with the cut.
    pub fn plan(mut self) -> Result<Plan, Vec<CutError>> {
        self.inertia_of_interfaces();
        if self.errors.is_empty() {
            self.find_parts();
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let plan = self.pieces();
        self.judge(&plan);
        if self.errors.is_empty() {
            Ok(plan)
        } else {
            Err(self.errors)
        }
    }

    fn refuse(&mut self, at: Place, reason: Reason) {
        let remedy = None;
        self.errors.push(CutError { at, reason, remedy });
    }

    fn name(&self, node: usize) -> String {
        self.model.nodes[node].name.clone()
    }

    fn names(&self, nodes: impl IntoIterator<Item = usize>) -> Vec<String> {
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
    fn place_of(&self, node: usize) -> Place {
        let holds = |element: &&ElementId| self.graph.nodes_of(element.0).contains(&node);
        match self.cut.elements.iter().find(holds) {
            Some(&element) if !self.cut.nodes.contains(&NodeId(node)) => Place::Element(element),
            _ => Place::Node(NodeId(node)),
        }
    }

    fn interface_nodes(&self) -> Vec<usize> {
        let nodes = 1..self.is_interface.len();
        nodes.filter(|&node| self.is_interface[node]).collect()
    }

    /// An interface moves under loads by its own inertia: it needs some in all six directions.
    fn inertia_of_interfaces(&mut self) {
        for node in self.interface_nodes() {
            if let Some(lack) = self.model.lack_of_inertia(NodeId(node)) {
                let place = self.place_of(node);
                let node = self.name(node);
                self.refuse(place, Reason::NoInertia { node, lack });
            }
        }
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
    fn connection(&self, from: usize, to: usize) -> Vec<String> {
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
    fn parts_at(&self, node: usize) -> BTreeSet<usize> {
        let elements = self.graph.elements_at(node).iter();
        let others = elements.flat_map(|&element| self.graph.nodes_of(element));
        others.filter_map(|&other| self.part_of[other]).collect()
    }

    /// Interface nodes that move together: those between the same parts, and those that an element
    /// connects with nobody else.
    fn couplings(&self) -> Vec<Vec<usize>> {
        let mut sets = Sets::new(self.model.nodes.len());
        let mut between: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
        for node in self.interface_nodes() {
            between.entry(self.parts_at(node)).or_default().push(node);
        }
        for nodes in between.into_values() {
            sets.join_all(nodes);
        }
        for element in 0..self.is_cut.len() {
            let nodes = self.graph.nodes_of(element);
            if nodes.iter().all(|&node| self.is_interface[node]) {
                sets.join_all(nodes.iter().copied());
            }
        }
        let mut couplings: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in self.interface_nodes() {
            couplings.entry(sets.find(node)).or_default().push(node);
        }
        couplings.into_values().collect()
    }

    fn pieces(&self) -> Plan {
        let couplings = self.couplings();
        let part = |_| Piece::new(Role::Part);
        let coupling = |_| Piece::new(Role::Coupling);
        let mut pieces: Vec<Piece> = (0..self.parts).map(part).collect();
        pieces.extend((0..couplings.len()).map(coupling));
        let mut home = self.part_of.clone();
        for (index, nodes) in couplings.iter().enumerate() {
            for &node in nodes {
                home[node] = Some(self.parts + index);
                for part in self.parts_at(node) {
                    pieces[part].copies.push(NodeId(node));
                }
            }
        }
        for (node, home) in home.iter().enumerate() {
            if let Some(home) = home {
                pieces[*home].nodes.push(NodeId(node));
            }
        }
        for element in 0..self.is_cut.len() {
            let nodes = self.graph.nodes_of(element);
            let in_part = nodes.iter().find_map(|&node| self.part_of[node]);
            let in_coupling = || nodes.first().and_then(|&node| home[node]);
            let piece = in_part.or_else(in_coupling).unwrap_or(0);
            pieces[piece].elements.push(ElementId(element));
        }
        for piece in &mut pieces {
            piece.copies.sort_unstable();
        }
        Plan { pieces }
    }

    /// Refuses what cannot work.
    fn judge(&mut self, plan: &Plan) {
        for piece in &plan.pieces {
            match piece.role {
                Role::Part => self.judge_part(piece),
                Role::Coupling => self.judge_coupling(piece),
            }
        }
    }

    fn judge_part(&mut self, piece: &Piece) {
        let nodes = piece.nodes.iter().map(|node| node.0);
        let has_mass = |node: usize| self.model.nodes[node].inertia.mass > 0.0;
        if !nodes.clone().any(has_mass) {
            let place = match piece.copies.first() {
                Some(copy) => self.place_of(copy.0),
                None => Place::Part(0),
            };
            let nodes = self.names(nodes);
            self.refuse(place, Reason::PartWithoutInertia { nodes });
            return;
        }
        if let Some(found) = rank::held_twice(self.model, piece) {
            let place = self.place_of(found.nodes[0].0);
            let nodes = self.names(found.nodes.iter().map(|node| node.0));
            let joints = found.joints;
            self.refuse(place, Reason::HeldTwice { nodes, joints });
        }
    }

    /// A coupling is worth its while if it lies between parts, or holds something itself.
    fn judge_coupling(&mut self, piece: &Piece) {
        let nodes: Vec<usize> = piece.nodes.iter().map(|node| node.0).collect();
        let at = nodes.iter().map(|&node| self.parts_at(node));
        let parts: BTreeSet<usize> = at.flatten().collect();
        let holds = |element: &ElementId| self.model.elements[element.0].element.nodes().len() > 1;
        let needed = if piece.elements.iter().any(holds) {
            1
        } else {
            2
        };
        if parts.len() >= needed {
            return;
        }
        let place = self.place_of(nodes[0]);
        let reason = match self.only_element(&nodes) {
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

    /// The element of more than two nodes that is the only one at a single node.
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
            [only] if self.graph.nodes_of(only).len() > 2 => Some(only),
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

impl Piece {
    fn new(role: Role) -> Self {
        Self {
            role,
            nodes: Vec::new(),
            copies: Vec::new(),
            elements: Vec::new(),
        }
    }
}

impl Model {
    /// What a node would lack as an interface.
    fn lack_of_inertia(&self, node: NodeId) -> Option<Lack> {
        let inertia = &self.nodes[node.0].inertia;
        if inertia.mass <= 0.0 {
            return Some(Lack::Mass);
        }
        // About the centre of mass, where it is smallest.
        let c = inertia.first * (1.0 / inertia.mass);
        let steiner = (crate::math::Mat3::IDENTITY * c.dot(c) - c.outer(c)) * inertia.mass;
        let moments = inertia.second - steiner;
        let entries = moments.0.iter().flatten();
        let size = entries.fold(0.0_f64, |m, v| m.max(v.abs()));
        let [x, y, z] = [0, 1, 2].map(|i| moments.column(i));
        let positive = x.dot(y.cross(z)) > NO_ROTARY_INERTIA * size.powi(3);
        (!positive).then_some(Lack::RotaryInertia)
    }
}
