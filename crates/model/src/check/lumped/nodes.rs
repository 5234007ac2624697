//! Nodes: masses with a motion of their own, boundary nodes whose motion is received.

use oldham_lumped::{BoundarySpec, ElementKind, NodeRef, NodeSpec};

use super::{GROUND, LumpedDraft};
use crate::check::Checker;
use crate::format::{At, Lumped};

impl Checker<'_> {
    pub(super) fn masses<'f>(&mut self, section: &'f Lumped, draft: &mut LumpedDraft<'f>) {
        for entry in &section.masses {
            self.name(&entry.name, "a mass");
            self.not_ground(&entry.name);
            let name = entry.name.value.as_str();
            let node = NodeRef::node(draft.spec.nodes.len());
            draft.nodes.insert(name, node);
            let place = entry.name.span.clone();
            draft.places.insert(name.to_owned(), place);
            draft.complete &= !self.findings.is_damaged(&entry.value.span);
            let given = &entry.value.value;
            if let Some(mass) = self.required(&given.mass) {
                draft.element(entry, ElementKind::Mass { node, mass });
            }
            let position = self.number_or(&given.position, 0.0);
            let velocity = self.number_or(&given.velocity, 0.0);
            draft.spec.nodes.push(NodeSpec {
                name: name.to_owned(),
                position: position.unwrap_or_default(),
                velocity: velocity.unwrap_or_default(),
            });
        }
    }

    fn not_ground(&mut self, name: &At<String>) {
        if name.value == GROUND {
            let message = "`ground` is always there and does not move";
            self.report(&name.span, message)
                .label("choose another name");
        }
    }

    /// The received node of this name, made when it is first mentioned.
    pub(super) fn boundary<'f>(
        &mut self,
        name: &'f At<String>,
        draft: &mut LumpedDraft<'f>,
    ) -> Option<NodeRef> {
        match draft.nodes.get(name.value.as_str()) {
            Some(&boundary @ NodeRef::Boundary(_)) => Some(boundary),
            Some(_) => {
                let mass = &name.value;
                let message =
                    format!("`{mass}` is a mass: its motion is computed here, not received");
                self.report(&name.span, message)
                    .label("has its own motion")
                    .help("give the boundary node another name, or receive a `force` on this mass");
                None
            }
            None => {
                self.name(name, "a node");
                self.not_ground(name);
                let boundary = NodeRef::boundary(draft.spec.boundary_nodes.len());
                let node = BoundarySpec::new(name.value.clone());
                draft.spec.boundary_nodes.push(node);
                draft.nodes.insert(&name.value, boundary);
                draft.places.insert(name.value.clone(), name.span.clone());
                Some(boundary)
            }
        }
    }

    pub(super) fn own_node(
        &mut self,
        name: &At<String>,
        draft: &LumpedDraft<'_>,
    ) -> Option<NodeRef> {
        let wrong = "is no mass of this subsystem: a force can act only on those";
        self.node_where(name, draft, wrong, |node| matches!(node, NodeRef::Node(_)))
    }

    pub(super) fn received_node(
        &mut self,
        name: &At<String>,
        draft: &LumpedDraft<'_>,
    ) -> Option<NodeRef> {
        let wrong = "is not received: a subsystem sends the force on nodes of others only";
        self.node_where(name, draft, wrong, |node| {
            matches!(node, NodeRef::Boundary(_))
        })
    }

    pub(super) fn moving_node(
        &mut self,
        name: &At<String>,
        draft: &LumpedDraft<'_>,
    ) -> Option<NodeRef> {
        self.node_where(name, draft, "does not move", |node| node != NodeRef::Ground)
    }

    pub(super) fn any_node(
        &mut self,
        name: &At<String>,
        draft: &LumpedDraft<'_>,
    ) -> Option<NodeRef> {
        self.node_where(name, draft, "is no node", |_| true)
    }

    fn node_where(
        &mut self,
        name: &At<String>,
        draft: &LumpedDraft<'_>,
        wrong: &str,
        fits: impl Fn(NodeRef) -> bool,
    ) -> Option<NodeRef> {
        match draft.nodes.get(name.value.as_str()) {
            Some(&node) if fits(node) => Some(node),
            Some(_) => {
                let message = format!("`{}` {wrong}", name.value);
                self.report(&name.span, message).label("wrong kind of node");
                None
            }
            None if !draft.all_nodes_known => None,
            None => {
                let fitting = draft.nodes.iter().filter(|(_, node)| fits(**node));
                self.unknown(name, "node", fitting.map(|(name, _)| *name))
                    .or_help(
                        "nodes are made in `masses`, or in `inputs` by receiving their motion",
                    );
                None
            }
        }
    }
}
