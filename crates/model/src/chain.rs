//! Lumped subsystems as they are drawn: points that move along a line or turn about it, and what is
//! between them, over all subsystems.

use std::collections::HashMap;

use oldham_cosim::{InputPort, OutputPort};
use oldham_lumped::{Coordinates, ElementKind, NodeRef, PortKind, PortSpec, Spec};

use crate::model::{Content, Model};

/// All lumped subsystems of a model together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Nodes, and inputs that move elements without being the node of another lumped subsystem.
    pub points: Vec<ChainPoint>,
    /// Springs, laws and matrices.
    pub links: Vec<ChainLink>,
}

/// A point of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainPoint {
    /// Its subsystem.
    pub part: String,
    /// Its name there.
    pub name: String,
    /// It turns about the line instead of moving along it.
    pub turns: bool,
    /// Its mass in kg, or its moment of inertia in kg.m²; zero if it has none of its own.
    pub inertia: f64,
    /// The column of results with its displacement or angle, if an output shows it.
    pub column: Option<String>,
}

/// An element between two points of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    /// Its subsystem.
    pub part: String,
    /// Its name there.
    pub name: String,
    /// Places among the points; the ground is `None`.
    pub ends: [Option<usize>; 2],
}

impl Model {
    /// Its lumped subsystems as one chain, across their connections.
    pub fn chain(&self) -> Chain {
        let mut drawing = Drawing {
            model: self,
            chain: Chain::default(),
            places: HashMap::new(),
        };
        let lumped = || {
            let parts = self.spec.parts.iter().enumerate();
            parts.filter_map(|(index, part)| Some((index, part.lumped()?)))
        };
        for (part, spec) in lumped() {
            drawing.nodes(part, spec);
        }
        for (part, spec) in lumped() {
            drawing.boundary_nodes(part, spec);
        }
        for (part, spec) in lumped() {
            drawing.elements(part, spec);
        }
        drawing.chain
    }

    /// The column with the displacement that an output shows, and the node of a lumped subsystem
    /// from which it takes it.
    fn displacement(&self, part: usize, port: OutputPort) -> Option<(String, Option<NodeRef>)> {
        let sender = &self.spec.parts[part];
        match &sender.content {
            Content::Lumped(spec) => {
                let output = spec.outputs.get(port.0)?;
                Some((column(&sender.name, output)?, Some(output.node)))
            }
            // A motion along a line is all that a lumped subsystem takes from others.
            Content::Multibody(spec) => {
                let (name, _) = spec.whole.outputs.get(port.0)?;
                Some((format!("{}.{name}.x", sender.name), None))
            }
            Content::Control(_) | Content::Foreign(_) => None,
        }
    }
}

/// The column with the displacement that a port of a lumped subsystem carries.
fn column(part: &str, port: &PortSpec) -> Option<String> {
    match port.kind {
        PortKind::Motion => Some(format!("{part}.{}.x", port.name)),
        PortKind::Displacement => Some(format!("{part}.{}", port.name)),
        PortKind::Velocity | PortKind::Acceleration | PortKind::Force => None,
    }
}

/// A chain in the making.
struct Drawing<'m> {
    model: &'m Model,
    chain: Chain,
    /// The points that nodes and boundary nodes of subsystems are.
    places: HashMap<(usize, NodeRef), usize>,
}

impl Drawing<'_> {
    fn point(&mut self, part: usize, node: NodeRef, point: ChainPoint) {
        self.places.insert((part, node), self.chain.points.len());
        self.chain.points.push(point);
    }

    fn nodes(&mut self, part: usize, spec: &Spec) {
        let owner = &self.model.spec.parts[part].name;
        for (index, node) in spec.nodes.iter().enumerate() {
            let node_ref = NodeRef::node(index);
            let mut shown = spec.outputs.iter().filter(|output| output.node == node_ref);
            let point = ChainPoint {
                part: owner.clone(),
                name: node.name.clone(),
                turns: spec.coordinates == Coordinates::Rotation,
                inertia: 0.0,
                column: shown.find_map(|output| column(owner, output)),
            };
            self.point(part, node_ref, point);
        }
    }

    /// A boundary node is the node of another lumped subsystem, or moves as some other output says.
    fn boundary_nodes(&mut self, part: usize, spec: &Spec) {
        let owner = &self.model.spec.parts[part].name;
        for (index, boundary) in spec.boundary_nodes.iter().enumerate() {
            let node_ref = NodeRef::boundary(index);
            let sender = self.sender(part, spec, node_ref);
            let shown = sender.and_then(|(from, port)| {
                let (column, node) = self.model.displacement(from, port)?;
                Some((column, node.map(|node| (from, node))))
            });
            let known = shown
                .as_ref()
                .and_then(|(_, node)| self.places.get(&(*node)?));
            if let Some(&place) = known {
                self.places.insert((part, node_ref), place);
                continue;
            }
            let point = ChainPoint {
                part: owner.clone(),
                name: boundary.name.clone(),
                turns: spec.coordinates == Coordinates::Rotation,
                inertia: 0.0,
                column: shown.map(|(column, _)| column),
            };
            self.point(part, node_ref, point);
        }
    }

    /// The output that moves a boundary node.
    fn sender(&self, part: usize, spec: &Spec, boundary: NodeRef) -> Option<(usize, OutputPort)> {
        let moves =
            |port: &PortSpec| matches!(port.kind, PortKind::Motion | PortKind::Displacement);
        let mut inputs = spec.inputs.iter();
        let port = inputs.position(|port| port.node == boundary && moves(port))?;
        let mut connections = self.model.spec.connections.iter();
        let connection = connections.find(|it| it.to == (part, InputPort(port)))?;
        Some(connection.from)
    }

    fn elements(&mut self, part: usize, spec: &Spec) {
        for element in &spec.elements {
            match &element.kind {
                ElementKind::Mass { node, mass } => self.load(part, *node, *mass),
                ElementKind::Spring { ends, .. } | ElementKind::ForceLaw { ends, .. } => {
                    self.link(part, spec, &element.name, *ends);
                }
                ElementKind::Load { .. } => {}
                ElementKind::Matrices {
                    nodes,
                    mass,
                    stiffness,
                    ..
                } => {
                    let entry = |matrix: &Option<Vec<f64>>, i: usize, j: usize| {
                        matrix
                            .as_ref()
                            .map_or(0.0, |values| values[i * nodes.len() + j])
                    };
                    for (i, &node) in nodes.iter().enumerate() {
                        self.load(part, node, entry(mass, i, i));
                        for (j, &other) in nodes.iter().enumerate().take(i) {
                            if entry(stiffness, i, j) != 0.0 {
                                self.link(part, spec, &element.name, [other, node]);
                            }
                        }
                    }
                }
            }
        }
    }

    fn load(&mut self, part: usize, node: NodeRef, inertia: f64) {
        if let Some(&place) = self.places.get(&(part, node)) {
            self.chain.points[place].inertia += inertia;
        }
    }

    fn link(&mut self, part: usize, spec: &Spec, name: &str, ends: [NodeRef; 2]) {
        let owner = &self.model.spec.parts[part].name;
        let places = ends.map(|end| self.places.get(&(part, end)).copied());
        // Where both sides have a copy of the element, one of them is drawn.
        let is_copied = ends.iter().any(|end| match end {
            NodeRef::Boundary(boundary) => spec.boundary_nodes[boundary.0].mirrored,
            _ => false,
        });
        let turned = [places[1], places[0]];
        let mut links = self.chain.links.iter();
        let is_drawn =
            |link: &ChainLink| link.part != *owner && (link.ends == places || link.ends == turned);
        if is_copied && links.any(is_drawn) {
            return;
        }
        self.chain.links.push(ChainLink {
            part: owner.clone(),
            name: name.into(),
            ends: places,
        });
    }
}
