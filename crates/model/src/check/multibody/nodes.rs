//! Nodes, and references to them.

use oldham_multibody::{Motion, NodeId, Vec3};

use super::{GROUND, MechanismDraft};
use crate::check::Checker;
use crate::format::At;
use crate::format::multibody::{Multibody, Node, Vector};
use crate::mechanism::Pose;

impl Checker<'_> {
    pub(super) fn nodes<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.nodes {
            self.name(&entry.name, "a node");
            if entry.name.value == GROUND {
                let message = "`ground` is always there and does not move";
                self.report(&entry.name.span, message)
                    .label("choose another name");
            }
            let motion = self.motion(&entry.value.value, draft);
            let name = &entry.name;
            let node = draft.node(&name.value, motion.unwrap_or_default(), &name.span);
            if motion.is_none() {
                draft.unplaced.insert(node);
            }
        }
    }

    fn motion(&mut self, node: &Node, draft: &MechanismDraft<'_>) -> Option<Motion> {
        let frame = self.frame_named(&node.frame, draft);
        let axes = frame.unwrap_or(Pose::ABSOLUTE);
        let position = self.vector_or_zero(&node.position);
        let orientation = self.orientation_in(&axes, &node.orientation);
        let velocity = self.vector_or_zero(&node.velocity);
        let spin = self.vector_or_zero(&node.angular_velocity);
        let motion = Motion::at_rest(frame?.point(position?), orientation?);
        Some(motion.moving(axes.direction(velocity?), axes.direction(spin?)))
    }

    /// The node of this name.
    pub(super) fn node_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<NodeId> {
        if let Some(&node) = draft.nodes.get(&name.value) {
            return Some(node);
        }
        let may_be_of_beam = name.value.contains('.') && !draft.all_beams_known;
        if draft.all_nodes_known && !may_be_of_beam {
            let known = draft.nodes.keys().map(String::as_str);
            self.unknown(name, "node", known).or_help(
                "nodes are made in `nodes`, by `beams` as `<beam>.0`, and by `shells` as `<shell>.0.0`",
            );
        }
        None
    }

    /// A node that can move.
    pub(super) fn moving_node_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<NodeId> {
        let node = self.node_named(name, draft)?;
        if node == NodeId::GROUND {
            self.report(&name.span, "the ground does not move")
                .label("name a node");
            return None;
        }
        Some(node)
    }

    /// The two different nodes that an element connects.
    pub(super) fn ends_of(
        &mut self,
        between: &Option<At<Vec<At<String>>>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<[NodeId; 2]> {
        let between = between.as_ref()?;
        let [a, b] = self
            .two(between, "nodes")?
            .map(|name| self.node_named(name, draft));
        if a.is_some() && a == b {
            let message = "it must be between two different nodes";
            self.report(&between.span, message)
                .label("the same node twice");
            return None;
        }
        Some([a?, b?])
    }

    /// An absolute place that is given in a frame; by default at the second node, or at the first
    /// if that is the ground.
    pub(super) fn place_in(
        &mut self,
        frame: &Pose,
        given: &Option<At<Vector>>,
        nodes: [NodeId; 2],
        draft: &MechanismDraft<'_>,
    ) -> Option<Vec3> {
        let motions = nodes.map(|node| draft.motion(node));
        match (given, motions) {
            (Some(given), [Some(_), Some(_)]) => Some(frame.point(self.vector(given)?)),
            (None, [Some(a), Some(_)]) if nodes[1] == NodeId::GROUND => Some(a.position),
            (None, [Some(_), Some(b)]) => Some(b.position),
            _ => None,
        }
    }

    /// The points of two nodes that an element connects: as given in a frame, or the nodes.
    pub(super) fn points_in(
        &mut self,
        frame: &Pose,
        given: &Option<At<Vec<At<Vector>>>>,
        nodes: [NodeId; 2],
        draft: &MechanismDraft<'_>,
    ) -> Option<[Vec3; 2]> {
        let motions = nodes.map(|node| draft.motion(node));
        let [Some(a), Some(b)] = motions else {
            return None;
        };
        let Some(given) = given else {
            return Some([a.position, b.position]);
        };
        let [a, b] = self.two(given, "points")?.map(|point| self.vector(point));
        Some([frame.point(a?), frame.point(b?)])
    }
}
