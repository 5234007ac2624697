//! Taking a model apart as planned.

use super::plan::{Piece, Plan};
use crate::body::Inertia;
use crate::element::{ElementId, References};
use crate::model::{Model, NamedElement, Node};
use crate::node::NodeId;
use crate::sensor::Sensor;

/// A piece of a model, with the way to it from the whole.
pub struct Split {
    /// The piece. Its copies of nodes have no mass, and nothing prescribes their poses yet.
    pub model: Model,
    /// For each node of the whole, the ground first, what it is in the piece.
    pub nodes: Vec<Option<NodeId>>,
    /// For each element of the whole what it is in the piece.
    pub elements: Vec<Option<ElementId>>,
}

impl Plan {
    /// Takes a model apart: every element and every body goes into one piece. Inputs keep their
    /// components; see [`Model::redirect_inputs`].
    pub fn split(&self, model: Model) -> Vec<Split> {
        let mut elements: Vec<Option<NamedElement>> =
            model.elements.into_iter().map(Some).collect();
        let whole = Whole {
            nodes: &model.nodes,
            bodies: &model.bodies,
            gravity: model.gravity,
        };
        let split = |piece: &Piece| whole.split(piece, &mut elements);
        self.pieces.iter().map(split).collect()
    }
}

/// What all pieces are made from.
struct Whole<'m> {
    nodes: &'m [Node],
    bodies: &'m [(NodeId, crate::body::Body)],
    gravity: crate::math::Vec3,
}

impl Whole<'_> {
    fn split(&self, piece: &Piece, elements: &mut [Option<NamedElement>]) -> Split {
        let mut model = Model::new();
        model.gravity(self.gravity);
        let nodes = self.nodes_into(&mut model, piece);
        let mut places = vec![None; elements.len()];
        for &element in &piece.elements {
            let mut named = elements[element.0]
                .take()
                .expect("every element is in one piece");
            named.element.refer(&mut Renumbered(&nodes));
            places[element.0] = Some(ElementId(model.elements.len()));
            model.elements.push(named);
        }
        Split {
            model,
            nodes,
            elements: places,
        }
    }

    /// Adds nodes in the order of the whole, with bodies where they are no copies.
    fn nodes_into(&self, model: &mut Model, piece: &Piece) -> Vec<Option<NodeId>> {
        let mut kept: Vec<NodeId> = [&piece.nodes[..], &piece.copies].concat();
        kept.sort_unstable();
        let mut nodes = vec![None; self.nodes.len()];
        nodes[NodeId::GROUND.0] = Some(NodeId::GROUND);
        for node in kept {
            let whole = &self.nodes[node.0];
            let is_copy = piece.copies.contains(&node);
            nodes[node.0] = Some(NodeId(model.nodes.len()));
            model.nodes.push(Node {
                name: whole.name.clone(),
                initial: whole.initial,
                inertia: if is_copy {
                    Inertia::default()
                } else {
                    whole.inertia
                },
            });
        }
        for &(node, body) in self.bodies {
            if piece.nodes.contains(&node)
                && let Some(place) = nodes[node.0]
            {
                model.bodies.push((place, body));
            }
        }
        nodes
    }
}

/// Gives nodes their new names.
struct Renumbered<'a>(&'a [Option<NodeId>]);

impl References for Renumbered<'_> {
    fn node(&mut self, node: &mut NodeId) {
        *node = self.0[node.0].expect("a piece has the nodes of its elements");
    }

    fn input(&mut self, _: &mut usize) {}
}

/// Gives inputs their new components.
struct Redirected<F>(F);

impl<F: Fn(usize) -> usize> References for Redirected<F> {
    fn node(&mut self, _: &mut NodeId) {}

    fn input(&mut self, component: &mut usize) {
        *component = self.0(*component);
    }
}

/// Looks for sensors.
#[derive(Default)]
struct Measures(bool);

impl References for Measures {
    fn node(&mut self, _: &mut NodeId) {}

    fn input(&mut self, _: &mut usize) {}

    fn sensors(&mut self, _: &[Sensor]) {
        self.0 = true;
    }
}

impl Model {
    /// The first element that follows sensors: such a model cannot be split, since a sensor may
    /// look at another piece.
    pub fn follows_sensors(&mut self) -> Option<&str> {
        self.elements.iter_mut().find_map(|named| {
            let mut measures = Measures::default();
            named.element.refer(&mut measures);
            measures.0.then_some(named.name.as_str())
        })
    }

    /// Tells all elements that the inputs which they use are other components now.
    pub fn redirect_inputs(&mut self, to: impl Fn(usize) -> usize) {
        let mut redirected = Redirected(&to);
        for named in &mut self.elements {
            named.element.refer(&mut redirected);
            named
                .inputs
                .iter_mut()
                .for_each(|input| *input = to(*input));
        }
    }
}
