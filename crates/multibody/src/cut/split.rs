//! Taking a model apart as planned.

use std::collections::BTreeMap;

use super::partition::{Partition, Subdomain};
use crate::body::Inertia;
use crate::element::{ElementId, References};
use crate::model::{Model, NamedElement, Node};
use crate::node::NodeId;

/// A subdomain of a model, with the way to it from the whole.
pub struct Split {
    /// The subdomain. Its copies of nodes have no mass, and nothing prescribes their poses yet.
    pub model: Model,
    /// For each node of the whole, the ground first, what it is in the subdomain.
    pub nodes: Vec<Option<NodeId>>,
    /// For each element of the whole what it is in the subdomain.
    pub elements: Vec<Option<ElementId>>,
}

impl Partition {
    /// Takes a model apart: every element and every body goes into one subdomain. Inputs keep their
    /// components; see [`Model::redirect_inputs`].
    pub fn split(&self, model: Model) -> Vec<Split> {
        let multipliers = first_multipliers(model.elements.iter());
        let mut elements: Vec<Option<NamedElement>> =
            model.elements.into_iter().map(Some).collect();
        let whole = Whole {
            multipliers,
            nodes: &model.nodes,
            bodies: &model.bodies,
            gravity: model.gravity,
        };
        let split = |subdomain: &Subdomain| whole.split(subdomain, &mut elements);
        self.subdomains.iter().map(split).collect()
    }
}

/// What all subdomains are made from.
struct Whole<'m> {
    /// Of each element.
    multipliers: Vec<usize>,
    nodes: &'m [Node],
    bodies: &'m [(NodeId, crate::body::Body)],
    gravity: oldham_space::Vec3,
}

impl Whole<'_> {
    fn split(&self, subdomain: &Subdomain, elements: &mut [Option<NamedElement>]) -> Split {
        let mut model = Model::new();
        model.gravity(self.gravity);
        let nodes = self.nodes_into(&mut model, subdomain);
        let take = |element: &ElementId| {
            let taken = elements[element.0].take();
            taken.expect("every element is in one piece")
        };
        let taken: Vec<NamedElement> = subdomain.elements.iter().map(take).collect();
        let here = first_multipliers(taken.iter());
        let was = subdomain
            .elements
            .iter()
            .map(|element| self.multipliers[element.0]);
        let mut renumbered = Renumbered {
            nodes: &nodes,
            multipliers: joints_only(&taken, was.zip(here)),
        };
        let mut places = vec![None; elements.len()];
        for (&element, mut named) in subdomain.elements.iter().zip(taken) {
            named.element.refer(&mut renumbered);
            places[element.0] = Some(ElementId(model.elements.len()));
            let renamed = NamedElement::new(named.name, named.element);
            model.elements.push(renamed);
        }
        Split {
            model,
            nodes,
            elements: places,
        }
    }

    /// Adds nodes in the order of the whole, with bodies where they are no copies.
    fn nodes_into(&self, model: &mut Model, subdomain: &Subdomain) -> Vec<Option<NodeId>> {
        let mut kept: Vec<NodeId> = [&subdomain.nodes[..], &subdomain.copies].concat();
        kept.sort_unstable();
        let mut nodes = vec![None; self.nodes.len()];
        nodes[NodeId::GROUND.0] = Some(NodeId::GROUND);
        for node in kept {
            let whole = &self.nodes[node.0];
            let is_copy = subdomain.copies.contains(&node);
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
            if subdomain.nodes.contains(&node)
                && let Some(place) = nodes[node.0]
            {
                model.bodies.push((place, body));
            }
        }
        nodes
    }
}

/// The place of each element's first multiplier.
fn first_multipliers<'a>(elements: impl Iterator<Item = &'a NamedElement>) -> Vec<usize> {
    let mut next = 0;
    let first = |named: &NamedElement| {
        let first = next;
        next += named.element.constraints();
        first
    };
    elements.map(first).collect()
}

/// Leaves out elements without multipliers, which have no place among them.
fn joints_only(
    elements: &[NamedElement],
    places: impl Iterator<Item = (usize, usize)>,
) -> BTreeMap<usize, usize> {
    let elements = elements.iter().zip(places);
    let joints = elements.filter(|(named, _)| named.element.constraints() > 0);
    joints.map(|(_, places)| places).collect()
}

/// Gives nodes and multipliers their new names.
struct Renumbered<'a> {
    nodes: &'a [Option<NodeId>],
    multipliers: BTreeMap<usize, usize>,
}

impl References for Renumbered<'_> {
    fn node(&mut self, node: &mut NodeId) {
        *node = self.nodes[node.0].expect("a piece has the nodes of its elements");
    }

    fn input(&mut self, _: &mut usize) {}

    fn multiplier(&mut self, first: &mut usize) {
        *first = self.multipliers[first];
    }
}

/// Gives inputs their new components.
struct Redirected<F>(F);

impl<F: Fn(usize) -> usize> References for Redirected<F> {
    fn node(&mut self, _: &mut NodeId) {}

    fn input(&mut self, component: &mut usize) {
        *component = self.0(*component);
    }
}

impl Model {
    /// Tells all elements that the inputs which they use are other components now.
    pub fn redirect_inputs(&mut self, to: impl Fn(usize) -> usize) {
        let mut redirected = Redirected(&to);
        for named in &mut self.elements {
            named.element.refer(&mut redirected);
            let inputs = named.uses.inputs.iter_mut();
            inputs.for_each(|input| *input = to(*input));
        }
    }
}
