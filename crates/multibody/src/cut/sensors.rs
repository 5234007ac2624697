//! Measured quantities: an element must find what it follows in its own piece.

use super::error::{Home, Place, Reason};
use super::partition::Partition;
use super::plan::{Piece, Plan, Role};
use crate::element::ElementId;
use crate::node::NodeId;

/// What a sensor reads.
#[derive(Clone, Copy)]
enum Measured {
    Node(NodeId),
    Reaction(ElementId),
}

impl Partition<'_> {
    /// Refuses cuts between an element and what it follows: feedback has no delay within a piece,
    /// and would have one from another.
    pub(super) fn sensors(&mut self, plan: &Plan) {
        for (index, piece) in plan.pieces.iter().enumerate() {
            for &element in &piece.elements {
                let Some(measured) = self.missing(piece, element) else {
                    continue;
                };
                let reason = Reason::MeasuredElsewhere {
                    element: self.model.elements[element.0].name.clone(),
                    measured: self.name_of(measured),
                    home: self.home(plan, index),
                    elsewhere: self.home(plan, place_of(measured, plan)),
                };
                self.refuse(self.between(element, measured), reason);
            }
        }
    }

    /// The first quantity that an element follows and its piece has not.
    fn missing(&self, piece: &Piece, element: ElementId) -> Option<Measured> {
        let uses = &self.model.elements[element.0].uses;
        let reactions = uses.reactions.iter();
        let joints = reactions.filter_map(|&first| self.model.element_of_multiplier(first));
        let mut foreign = joints.filter(|joint| !piece.elements.contains(joint));
        let mut nodes = uses.nodes.iter().copied();
        let reaction = foreign.next().map(Measured::Reaction);
        reaction.or_else(|| {
            let node = nodes.find(|&node| !piece.has(node));
            node.map(Measured::Node)
        })
    }

    fn name_of(&self, measured: Measured) -> String {
        match measured {
            Measured::Node(node) => self.name(node.0),
            Measured::Reaction(joint) => self.model.elements[joint.0].name.clone(),
        }
    }

    /// A piece, by the node that stands for it in the request, or by its first.
    fn home(&self, plan: &Plan, index: usize) -> Home {
        let piece = &plan.pieces[index];
        let requested = self.cut.parts.get(index).and_then(|part| part.first());
        let first = piece.nodes.first();
        let name = |node: Option<&NodeId>| node.map_or_else(String::new, |node| self.name(node.0));
        match piece.role {
            Role::Part => Home::Part(name(requested.or(first))),
            Role::Coupling => Home::Coupling(name(first)),
        }
    }

    /// The item of the request that lies between an element and what it follows, or the first; the
    /// element itself where nothing is cut.
    fn between(&self, element: ElementId, measured: Measured) -> Place {
        let first = |element: ElementId| self.graph.nodes_of(element.0).first().copied();
        let to = match measured {
            Measured::Node(node) => Some(node.0),
            Measured::Reaction(joint) => first(joint),
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

/// The piece in which something is measured.
fn place_of(measured: Measured, plan: &Plan) -> usize {
    let has = |piece: &Piece| match measured {
        Measured::Node(node) => piece.nodes.contains(&node),
        Measured::Reaction(joint) => piece.elements.contains(&joint),
    };
    let found = plan.pieces.iter().position(has);
    found.expect("everything is in a piece")
}
