//! Applied forces and couples.

use super::{
    At, Element, ElementEnergy, Half, Jacobian, References, Residual, Weights, refer_drives,
    refer_nodes,
};
use crate::drive::Drive;
use crate::kinks::mixed;
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;

/// A force and a couple at a marker.
#[derive(Clone, Debug)]
pub struct Load {
    nodes: [NodeId; 1],
    offset: Vec3,
    force: [Drive; 3],
    moment: [Drive; 3],
    follower: bool,
}

impl Load {
    /// Components in the absolute frame.
    pub fn fixed(at: Marker, force: [Drive; 3], moment: [Drive; 3]) -> Self {
        Self {
            nodes: [at.node],
            offset: at.offset,
            force,
            moment,
            follower: false,
        }
    }

    /// Components in node axes: the load turns with the node.
    pub fn follower(at: Marker, force: [Drive; 3], moment: [Drive; 3]) -> Self {
        Self {
            follower: true,
            ..Self::fixed(at, force, moment)
        }
    }

    /// Force, arm and couple in the absolute frame.
    fn evaluate(&self, at: &At<'_>) -> (Vec3, Vec3, Vec3) {
        let value = |drives: &[Drive; 3]| {
            let component = |i: usize| drives[i].at(at) * at.load_factor;
            Vec3::new(component(0), component(1), component(2))
        };
        let (force, moment) = (value(&self.force), value(&self.moment));
        let rotation = at.motion(self.nodes[0]).rotation;
        let arm = rotation * self.offset;
        if self.follower {
            (rotation * force, arm, rotation * moment)
        } else {
            (force, arm, moment)
        }
    }
}

impl Element for Load {
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
        let (force, arm, couple) = self.evaluate(at);
        out.load(0, force, arm.cross(force) + couple);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let (force, arm, couple) = self.evaluate(at);
        let ws = weights.stiffness;
        let by_turn = if self.follower {
            out.add((0, Half::Linear), (0, Half::Angular), force.skew() * ws);
            (arm.cross(force) + couple).skew()
        } else {
            -(force.skew() * arm.skew())
        };
        out.add((0, Half::Angular), (0, Half::Angular), by_turn * ws);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let (force, arm, couple) = self.evaluate(at);
        let motion = at.motion(self.nodes[0]);
        let w = motion.angular_velocity;
        let supplied = force.dot(motion.velocity + w.cross(arm)) + couple.dot(w);
        ElementEnergy {
            supplied,
            ..ElementEnergy::default()
        }
    }
}

/// A wrench at a marker that comes from six components of the input vector: force and moment in the
/// absolute frame, the moment about the marker.
#[derive(Clone, Debug)]
pub struct PortWrench {
    nodes: [NodeId; 1],
    offset: Vec3,
    first: usize,
}

impl PortWrench {
    /// The wrench in `inputs[first..first + 6]`.
    pub fn new(at: impl Into<Marker>, first: usize) -> Self {
        let marker = at.into();
        Self {
            nodes: [marker.node],
            offset: marker.offset,
            first,
        }
    }

    /// Force, arm, and moment about the node.
    fn evaluate(&self, at: &At<'_>) -> (Vec3, Vec3, Vec3) {
        let value = |i: usize| at.inputs[self.first + i];
        let force = Vec3::new(value(0), value(1), value(2));
        let moment = Vec3::new(value(3), value(4), value(5));
        if self.offset == Vec3::ZERO {
            return (force, Vec3::ZERO, moment);
        }
        let arm = at.motion(self.nodes[0]).rotation * self.offset;
        (force, arm, moment + arm.cross(force))
    }
}

impl Element for PortWrench {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        references.input(&mut self.first);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let (force, _, moment) = self.evaluate(at);
        out.load(0, force, moment);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let (force, arm, _) = self.evaluate(at);
        if arm != Vec3::ZERO {
            let by_turn = -(force.skew() * arm.skew());
            let angular = (0, Half::Angular);
            out.add(angular, angular, by_turn * weights.stiffness);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let (force, _, moment) = self.evaluate(at);
        let motion = at.motion(self.nodes[0]);
        ElementEnergy {
            supplied: force.dot(motion.velocity) + moment.dot(motion.angular_velocity),
            ..ElementEnergy::default()
        }
    }
}
