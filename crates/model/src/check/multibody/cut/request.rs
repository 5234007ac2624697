//! What is to be cut: names of nodes, joints and parts.

use oldham_multibody::cut::{Cut, Place};
use oldham_multibody::{Element, NodeId};

use super::{GROUND, MechanismDraft};
use crate::check::Checker;
use crate::format::multibody::{self, Members};
use crate::format::{At, Entry};
use crate::mechanism::Cutting;
use crate::source::Span;

/// A cut with the places where its members were written.
#[derive(Default)]
pub(super) struct Request {
    pub cut: Cut,
    nodes: Vec<Span>,
    elements: Vec<Span>,
    parts: Vec<Span>,
}

impl Request {
    pub fn is_empty(&self) -> bool {
        self.cut.nodes.is_empty() && self.cut.elements.is_empty()
    }

    /// Where an item was written.
    pub fn span(&self, place: Place) -> Option<&Span> {
        match place {
            Place::Node(node) => {
                let index = self.cut.nodes.iter().position(|&other| other == node)?;
                self.nodes.get(index)
            }
            Place::Element(element) => {
                let found = self.cut.elements.iter().position(|&other| other == element);
                self.elements.get(found?)
            }
            Place::Part(part) => self.parts.get(part),
        }
    }
}

impl Checker<'_> {
    /// What the table names; what it cannot mean is reported.
    pub(super) fn request(
        &mut self,
        given: &multibody::Cut,
        draft: &MechanismDraft<'_>,
    ) -> Request {
        let mut request = Request::default();
        for name in given.at.iter().flat_map(|at| &at.value) {
            self.cut_at(name, draft, &mut request);
        }
        for entry in &given.parts {
            self.part_named(entry, draft, &mut request);
        }
        request
    }

    /// Notes what a name in `at` means.
    fn cut_at(&mut self, name: &At<String>, draft: &MechanismDraft<'_>, request: &mut Request) {
        let names = draft.spec.sketch.nodes.iter();
        let nodes = names.filter(|node| stands_for(&name.value, node));
        let nodes: Vec<NodeId> = nodes.map(|node| draft.nodes[node]).collect();
        match (&nodes[..], draft.spec.whole.model.find_element(&name.value)) {
            ([], None) => self.unknown_cut(name, draft),
            ([_, ..], None) => {
                request
                    .nodes
                    .extend(nodes.iter().map(|_| name.span.clone()));
                request.cut.nodes.extend(nodes);
            }
            ([], Some(element)) => {
                if self.can_be_cut(name, draft.spec.whole.model.get(element)) {
                    request.elements.push(name.span.clone());
                    request.cut.elements.push(element);
                }
            }
            ([_, ..], Some(_)) => {
                let message = format!("`{}` is a node and an element as well", name.value);
                self.report(&name.span, message)
                    .label("which one is to be cut?")
                    .help("call one of them otherwise");
            }
        }
    }

    fn can_be_cut(&mut self, name: &At<String>, element: &dyn Element) -> bool {
        let (what, help) = if element.is_structural() {
            (
                "an element of a beam or shell",
                "cut at one of its end nodes",
            )
        } else if element.nodes().len() < 2 {
            ("a load", "cut at the node on which it acts")
        } else {
            return true;
        };
        let message = format!("`{}` is {what}, not a connection of two nodes", name.value);
        self.report(&name.span, message)
            .label("cannot be cut as a whole")
            .help(help);
        false
    }

    fn unknown_cut(&mut self, name: &At<String>, draft: &MechanismDraft<'_>) {
        let prefix = format!("{}.", name.value);
        let mut nodes = draft.spec.sketch.nodes.iter();
        // Neither an end, nor the middle of a three-node element.
        if let Some(inner) = nodes.by_ref().filter(|n| n.starts_with(&prefix)).nth(2) {
            let whole = &name.value;
            let message = format!("`{whole}` has many nodes and cannot be cut as a whole");
            self.report(&name.span, message)
                .label("where?")
                .help(format!("name some of its nodes, such as `{inner}`"));
            return;
        }
        let nodes = draft.spec.sketch.nodes.iter();
        let known = nodes
            .map(String::as_str)
            .chain(draft.spec.whole.model.element_names());
        let known = known.filter(|&known| known != GROUND);
        self.unknown(name, "node, joint or spring", known)
            .or_help("nodes of beams are called `<beam>.0`, of shells `<shell>.0.0`; `*` stands for any name between two dots");
    }

    /// A part by the nodes that are in it.
    fn part_named(
        &mut self,
        entry: &Entry<Members>,
        draft: &MechanismDraft<'_>,
        request: &mut Request,
    ) {
        self.name(&entry.name, "a part");
        if !Cutting::is_free_name(&entry.name.value) {
            let message = format!("no part can be called `{}`", entry.name.value);
            self.report(&entry.name.span, message)
                .label("the subsystem between the parts is called so");
        }
        let members: Vec<At<String>> = match &entry.value.value {
            Members::One(name) => vec![At::new(name.clone(), &entry.value.span)],
            Members::Several(names) => names.clone(),
        };
        let nodes = members
            .iter()
            .filter_map(|name| self.moving_node_named(name, draft));
        request.cut.parts.push(nodes.collect());
        request.parts.push(entry.value.span.clone());
    }
}

/// Whether a pattern means a name: `*` is any part of it between two dots.
fn stands_for(pattern: &str, name: &str) -> bool {
    if name == GROUND {
        return pattern == GROUND;
    }
    let (mut pattern, mut name) = (pattern.split('.'), name.split('.'));
    loop {
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == "*" || wanted == found => {}
            _ => return false,
        }
    }
}
