//! Nodes, and references to them.

use oldham_multibody::{Marker, Motion, NodeId, Vec3};

use super::{GROUND, MechanismDraft};
use crate::check::Checker;
use crate::format::At;
use crate::format::multibody::{Multibody, Node, Vector};
use crate::mechanism::Pose;
use crate::source::Span;

/// A line between points of two nodes.
pub(crate) struct LineBetween {
    pub ends: [Marker; 2],
    /// Its initial length.
    pub length: f64,
}

impl MechanismDraft<'_> {
    /// Markers at absolute places on two nodes.
    pub(crate) fn ends(&self, nodes: [NodeId; 2], points: [Vec3; 2]) -> [Marker; 2] {
        [0, 1].map(|i| self.spec.whole.model.marker(nodes[i], points[i]))
    }
}

impl Checker<'_> {
    pub(crate) fn nodes<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
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
    pub(crate) fn node_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<NodeId> {
        if let Some(&node) = draft.nodes.get(&name.value) {
            return Some(node);
        }
        let may_be_of_beam = name.value.contains('.') && draft.lost_meshes;
        if !draft.lost_nodes && !may_be_of_beam {
            let known = draft.nodes.keys().map(String::as_str);
            self.unknown(name, "node", known).or_help(
                "nodes are made in `nodes`, by `beams` as `<beam>.0`, and by `shells` as `<shell>.0.0`",
            );
        }
        None
    }

    /// A node that can move.
    pub(crate) fn moving_node_named(
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
    pub(crate) fn ends_of(
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

    /// The line between the points of two nodes that an element connects, which must not coincide.
    pub(crate) fn line_between(
        &mut self,
        between: &Option<At<Vec<At<String>>>>,
        points: &Option<At<Vec<At<Vector>>>>,
        frame: &Option<At<String>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<LineBetween> {
        let nodes = self.ends_of(between, draft);
        let frame = self.frame_named(frame, draft);
        let nodes = nodes?;
        let points = self.points_in(&frame?, points, nodes, draft)?;
        Some(LineBetween {
            length: self.apart(points, &between.as_ref()?.span)?,
            ends: draft.ends(nodes, points),
        })
    }

    /// The distance of two points that must not coincide: their line has no direction then.
    pub(crate) fn apart(&mut self, [a, b]: [Vec3; 2], place: &Span) -> Option<f64> {
        let distance = (b - a).norm();
        if distance > 0.0 {
            return Some(distance);
        }
        let message = "the two points coincide: there is no line between them";
        self.report(place, message);
        None
    }

    /// An absolute place that is given in a frame; by default at the second node, or at the first
    /// if that is the ground.
    pub(crate) fn place_in(
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
    pub(crate) fn points_in(
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
