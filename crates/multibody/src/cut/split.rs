//! Taking a model apart as planned.

use super::partition::{Partition, Subdomain};
use crate::body::Inertia;
use crate::contact::ContactModel;
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
        let mut elements: Vec<Option<NamedElement>> =
            model.elements.into_iter().map(Some).collect();
        let whole = Whole {
            nodes: &model.nodes,
            bodies: &model.bodies,
            gravity: model.gravity,
            contacts: &model.contacts,
        };
        let split = |subdomain: &Subdomain| whole.split(subdomain, &mut elements);
        self.subdomains.iter().map(split).collect()
    }
}

/// What all subdomains are made from.
struct Whole<'m> {
    nodes: &'m [Node],
    bodies: &'m [(NodeId, crate::body::Body)],
    gravity: oldham_space::Vec3,
    contacts: &'m ContactModel,
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
        let mut places = vec![None; elements.len()];
        for (here, &element) in subdomain.elements.iter().enumerate() {
            places[element.0] = Some(ElementId(here));
        }
        for mut named in taken {
            named.element.refer(&mut Renumbered {
                node: |node: NodeId| nodes[node.0].expect("a piece has the nodes of its elements"),
                element: |read: ElementId| places[read.0].expect("a piece has what it measures"),
            });
            let renamed = NamedElement::new(named.name, named.element);
            model.elements.push(renamed);
        }
        let is_copy = |node: NodeId| subdomain.copies.contains(&node);
        model.contacts = self.contacts.within(|node| match is_copy(node) {
            true => None,
            false => nodes[node.0],
        });
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

/// Gives nodes and elements their new names.
pub(crate) struct Renumbered<N, E> {
    pub node: N,
    pub element: E,
}

impl<N: Fn(NodeId) -> NodeId, E: Fn(ElementId) -> ElementId> References for Renumbered<N, E> {
    fn node(&mut self, node: &mut NodeId) {
        *node = (self.node)(*node);
    }

    fn input(&mut self, _: &mut usize) {}

    fn element(&mut self, element: &mut ElementId) {
        *element = (self.element)(*element);
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
