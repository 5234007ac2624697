//! Measured quantities: an element must find what it follows in its own subdomain.

use super::error::{Home, Place, Reason};
use super::partition::{Partition, Role, Subdomain};
use super::partitioner::Partitioner;
use crate::element::ElementId;
use crate::joint::AngleCounter;
use crate::node::NodeId;

/// What a sensor reads.
#[derive(Clone, Copy)]
enum MeasuredQuantity {
    Node(NodeId),
    Element(ElementId),
}

impl Partitioner<'_> {
    /// Refuses cuts between an element and what it follows: feedback has no delay within a
    /// subdomain, and would have one from another.
    pub(super) fn sensors(&mut self, partition: &Partition) {
        for (index, subdomain) in partition.subdomains.iter().enumerate() {
            for &element in &subdomain.elements {
                let Some(measured) = self.missing(subdomain, element) else {
                    continue;
                };
                let reason = Reason::MeasuredElsewhere {
                    element: self.model.elements[element.0].name.clone(),
                    measured: self.name_of(measured),
                    home: self.home(partition, index),
                    elsewhere: self.home(partition, place_of(measured, partition)),
                };
                self.refuse(self.between(element, measured), reason);
            }
        }
    }

    /// The first quantity that an element follows and its subdomain has not.
    fn missing(&self, subdomain: &Subdomain, element: ElementId) -> Option<MeasuredQuantity> {
        let uses = &self.model.elements[element.0].uses;
        let read = uses.elements.iter();
        let mut foreign = read.filter(|element| !subdomain.elements.contains(element));
        let mut nodes = uses.nodes.iter().copied();
        let element = foreign.next().copied().map(MeasuredQuantity::Element);
        element.or_else(|| {
            let node = nodes.find(|&node| !subdomain.has(node));
            node.map(MeasuredQuantity::Node)
        })
    }

    fn name_of(&self, measured: MeasuredQuantity) -> String {
        match measured {
            MeasuredQuantity::Node(node) => self.name(node.0),
            MeasuredQuantity::Element(element) => {
                let named = &self.model.elements[element.0];
                let counts = named.element.downcast_ref::<AngleCounter>().is_some();
                let joint = named.name.strip_suffix(".turns").filter(|_| counts);
                joint.unwrap_or(&named.name).to_owned()
            }
        }
    }

    /// A subdomain, by the node that stands for it in the request, or by its first.
    fn home(&self, partition: &Partition, index: usize) -> Home {
        let subdomain = &partition.subdomains[index];
        let requested = self.cut.parts.get(index).and_then(|part| part.first());
        let first = subdomain.nodes.first();
        let name = |node: Option<&NodeId>| node.map_or_else(String::new, |node| self.name(node.0));
        match subdomain.role {
            Role::Part => Home::Part(name(requested.or(first))),
            Role::Coupling => Home::Coupling(name(first)),
        }
    }

    /// The item of the request that lies between an element and what it follows, or the first; the
    /// element itself where nothing is cut.
    fn between(&self, element: ElementId, measured: MeasuredQuantity) -> Place {
        let first = |element: ElementId| self.graph.nodes_of(element.0).first().copied();
        let to = match measured {
            MeasuredQuantity::Node(node) => Some(node.0),
            MeasuredQuantity::Element(joint) => first(joint),
        };
        let anything = (
            vec![false; self.is_interface.len()],
            vec![false; self.is_cut.len()],
        );
        let way = first(element).zip(to).and_then(|(from, to)| {
            let path = self.graph.path(from, to, &anything.0, &anything.1)?;
            Some((from, to, path))
        });
        let interfaces = self.interface_nodes();
        let on_way = |node: &usize| {
            let joins =
                |pair: &[usize]| pair.iter().all(|&e| self.graph.nodes_of(e).contains(node));
            way.as_ref().is_some_and(|(from, to, path)| {
                from == node || to == node || path.windows(2).any(joins)
            })
        };
        let found = interfaces.iter().copied().find(on_way);
        match found.or(interfaces.first().copied()) {
            Some(node) => self.place_of(node),
            None => Place::Element(element),
        }
    }
}

/// The subdomain in which something is measured.
fn place_of(measured: MeasuredQuantity, partition: &Partition) -> usize {
    let has = |subdomain: &Subdomain| match measured {
        MeasuredQuantity::Node(node) => subdomain.nodes.contains(&node),
        MeasuredQuantity::Element(joint) => subdomain.elements.contains(&joint),
    };
    let found = partition.subdomains.iter().position(has);
    found.expect("everything is in a piece")
}
