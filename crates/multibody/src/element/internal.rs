//! Forces and couples between two nodes.

use super::{
    At, Element, ElementEnergy, Half, Jacobian, References, Residual, Weights, refer_drives,
    refer_nodes,
};
use crate::drive::Drive;
use crate::kinks::mixed;
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;

/// A force and a couple on one node, and their opposites at the same place on another: together
/// they are no load on the whole.
#[derive(Clone, Debug)]
pub struct InternalLoad {
    nodes: [NodeId; 2],
    offset: Vec3,
    force: [Drive; 3],
    moment: [Drive; 3],
    follower: bool,
}

/// Force, couple, and the arms from both nodes to where they act, in the absolute frame.
struct Acting {
    force: Vec3,
    couple: Vec3,
    arms: [Vec3; 2],
}

impl InternalLoad {
    /// On the node of a marker, at the marker; the opposite acts on `other`. Components are in the
    /// absolute frame, or in axes of the marker's node if it is a follower.
    pub fn new(
        on: Marker,
        other: NodeId,
        force: [Drive; 3],
        moment: [Drive; 3],
        follower: bool,
    ) -> Self {
        Self {
            nodes: [on.node, other],
            offset: on.offset,
            force,
            moment,
            follower,
        }
    }

    fn evaluate(&self, at: &At<'_>) -> Acting {
        let value = |drives: &[Drive; 3]| {
            let [x, y, z] = [0, 1, 2].map(|i: usize| drives[i].at(at) * at.load_factor);
            Vec3::new(x, y, z)
        };
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let turned = |v: Vec3| if self.follower { a.rotation * v } else { v };
        let arm = a.rotation * self.offset;
        Acting {
            force: turned(value(&self.force)),
            couple: turned(value(&self.moment)),
            arms: [arm, a.position + arm - b.position],
        }
    }
}

impl Element for InternalLoad {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        refer_drives(&mut self.force, references);
        refer_drives(&mut self.moment, references);
    }

    fn side(&self, at: &At<'_>) -> u64 {
        let drives = self.force.iter().chain(&self.moment);
        drives.map(|drive| drive.side(at)).fold(0, mixed)
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let Acting {
            force,
            couple,
            arms,
        } = self.evaluate(at);
        out.load(0, force, arms[0].cross(force) + couple);
        out.load(1, -force, -arms[1].cross(force) - couple);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let Acting {
            force,
            couple,
            arms,
        } = self.evaluate(at);
        let f = force.skew() * weights.stiffness;
        // What turns with the first node: the arm, and for a follower force and couple.
        let swing = -(f * arms[0].skew());
        out.add((0, Angular), (0, Angular), swing);
        out.add((1, Angular), (0, Angular), -swing);
        out.add((1, Angular), (0, Linear), -f);
        out.add((1, Angular), (1, Linear), f);
        if self.follower {
            let c = couple.skew() * weights.stiffness;
            for (node, sign) in [(0, 1.0), (1, -1.0)] {
                out.add((node, Linear), (0, Angular), f * sign);
                let moment = arms[node].skew() * f + c;
                out.add((node, Angular), (0, Angular), moment * sign);
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let Acting {
            force,
            couple,
            arms,
        } = self.evaluate(at);
        let power = |node: usize| {
            let motion = at.motion(self.nodes[node]);
            let w = motion.angular_velocity;
            force.dot(motion.velocity + w.cross(arms[node])) + couple.dot(w)
        };
        ElementEnergy {
            supplied: power(0) - power(1),
            ..ElementEnergy::default()
        }
    }
}
