//! Constraints that a prescribed pose would repeat.

use std::collections::BTreeSet;

use super::partition::Subdomain;
use crate::element::ElementId;
use crate::model::Model;
use crate::node::NodeId;

/// Interface nodes that the joints of a part hold already.
pub(super) struct HeldTwice {
    pub nodes: Vec<NodeId>,
    pub joints: Vec<String>,
}

/// Whether the poses of a part's copies and its joints constrain the same thing twice, though the
/// joints alone do not.
pub(super) fn held_twice(model: &Model, subdomain: &Subdomain) -> Option<HeldTwice> {
    let elements: Vec<usize> = subdomain.elements.iter().map(|element| element.0).collect();
    let inputs = vec![0.0; model.inputs_used().last().map_or(0, |last| last + 1)];
    let is_copy = |node: NodeId| subdomain.copies.contains(&node);
    let all = |_| true;
    let found = model.dependence_among(&elements, 0.0, &inputs, all, |node| !is_copy(node));
    let involved = found.involved;
    // What the whole model holds twice itself is not the cut's fault.
    let takes_part = |row: usize| involved.contains(&row);
    let alone = model.dependence_among(&elements, 0.0, &inputs, takes_part, |_| true);
    if involved.is_empty() || !alone.involved.is_empty() {
        return None;
    }
    let has_part = |element: &&ElementId| {
        let first = model.first_multiplier(**element);
        let count = model.get(**element).constraints();
        involved.range(first..first + count).next().is_some()
    };
    let joints: Vec<ElementId> = subdomain
        .elements
        .iter()
        .filter(has_part)
        .copied()
        .collect();
    let touched = joints.iter().flat_map(|&joint| model.nodes_of(joint));
    let nodes: BTreeSet<NodeId> = touched.copied().filter(|&node| is_copy(node)).collect();
    // Where no copy takes part, lengths of very different size are to blame, not the cut.
    if nodes.is_empty() {
        return None;
    }
    let name = |joint: ElementId| model.elements[joint.0].name.clone();
    Some(HeldTwice {
        nodes: nodes.into_iter().collect(),
        joints: joints.into_iter().map(name).collect(),
    })
}
