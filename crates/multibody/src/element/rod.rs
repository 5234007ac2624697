//! A force along the line between two points: springs, dampers, rods.

use super::account::Beyond;
use super::{
    At, Element, ElementEnergy, Half, InternalState, Jacobian, Law, NotLinear, References,
    Residual, Weights, refer_nodes,
};
use crate::drive::Drive;
use crate::kinks::mixed;
use crate::node::{Marker, Motion, NodeId};
use oldham_space::{Mat3, Vec3};

/// A massless rod between two markers, with a tension law.
#[derive(Clone, Debug)]
pub struct Rod {
    nodes: [NodeId; 2],
    offsets: [Vec3; 2],
    spring: Beyond,
}

/// Places and velocities of the ends, seen along the line.
struct Line {
    arms: [Vec3; 2],
    direction: Vec3,
    length: f64,
    /// Of the elongation.
    rate: f64,
}

impl Rod {
    /// Between two markers that are never at the same place.
    pub fn new(a: Marker, b: Marker, free_length: impl Into<Drive>, law: Law) -> Self {
        Self {
            nodes: [a.node, b.node],
            offsets: [a.offset, b.offset],
            spring: Beyond {
                law,
                free: free_length.into(),
                follows: true,
            },
        }
    }

    fn line(&self, at: &At<'_>) -> Line {
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let arms = [a.rotation * self.offsets[0], b.rotation * self.offsets[1]];
        let between = b.position + arms[1] - a.position - arms[0];
        let velocity = b.velocity + b.angular_velocity.cross(arms[1])
            - a.velocity
            - a.angular_velocity.cross(arms[0]);
        let length = between.norm();
        let direction = between * (1.0 / length);
        Line {
            arms,
            direction,
            length,
            rate: velocity.dot(direction) - self.spring.winding(at),
        }
    }

    /// Whether its law depends on the past.
    pub fn remembers(&self) -> bool {
        self.spring.law.memory() > 0
    }

    /// The tension.
    pub(crate) fn tension(&self, at: &At<'_>) -> f64 {
        let line = self.line(at);
        self.spring
            .law
            .tension(self.elongation(at, &line), line.rate, at)
    }

    fn elongation(&self, at: &At<'_>, line: &Line) -> f64 {
        line.length - self.spring.free.at(at)
    }
}

impl Element for Rod {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        self.spring.free.refer(references);
        self.spring.law.refer(references);
    }

    fn memory(&self) -> usize {
        self.spring.law.memory()
    }

    fn depends_on_past(&self) -> bool {
        self.remembers()
    }

    fn internal_states(&self, at: &At<'_>) -> Result<Vec<InternalState>, NotLinear> {
        let line = self.line(at);
        let n = line.direction;
        let six = |x: Vec3, r: Vec3| [x[0], x[1], x[2], r[0], r[1], r[2]];
        // What a node adds to the rate of the elongation by its velocity, and by its pose.
        let [a, b] = self.nodes.map(|node| at.motion(node));
        let velocities = [(a, 0), (b, 1)].map(|(motion, end): (&Motion, usize)| {
            motion.velocity + motion.angular_velocity.cross(line.arms[end])
        });
        let apart = velocities[1] - velocities[0];
        let across = (apart - n * n.dot(apart)) * (1.0 / line.length);
        let (mut by_velocity, mut by_pose) = (Vec::new(), Vec::new());
        for (motion, arm, sign) in [(a, line.arms[0], -1.0), (b, line.arms[1], 1.0)] {
            by_velocity.push(six(n * sign, arm.cross(n) * sign));
            let carried = across + n.cross(motion.angular_velocity);
            by_pose.push(six(across * sign, arm.cross(carried) * sign));
        }
        let times = |rows: &[[f64; 6]], factor: f64| -> Vec<[f64; 6]> {
            rows.iter().map(|row| row.map(|v| v * factor)).collect()
        };
        match &self.spring.law {
            Law::Viscoelastic { branches, .. } => {
                let branch = |(i, &(stiffness, time)): (usize, &(f64, f64))| {
                    let mut by_states = vec![0.0; branches.len()];
                    by_states[i] = -1.0 / time;
                    InternalState {
                        name: format!("branch{}", i + 1),
                        place: 1 + i,
                        by_states,
                        by_poses: times(&by_pose, stiffness),
                        by_velocities: times(&by_velocity, stiffness),
                        forces: times(&by_velocity, -1.0),
                    }
                };
                Ok(branches.iter().enumerate().map(branch).collect())
            }
            // With w = δz - (dz/dd) δd the law's stiffness holds as it is, and w decays alone.
            Law::Hysteresis(law) => {
                let [_, decay] = law
                    .rate_slopes(at.memory[1], line.rate)
                    .ok_or(super::states::TURNS)?;
                Ok(vec![InternalState {
                    name: "set".into(),
                    place: 1,
                    by_states: vec![decay],
                    by_poses: times(&by_pose, 0.0),
                    by_velocities: times(&by_velocity, 0.0),
                    forces: times(&by_velocity, -law.by_internal()),
                }])
            }
            _ => Ok(Vec::new()),
        }
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let elongation = self.elongation(at, &self.line(at));
        self.spring.law.remember(elongation, at, memory);
    }

    fn side(&self, at: &At<'_>) -> u64 {
        let line = self.line(at);
        let law = self
            .spring
            .law
            .side(self.elongation(at, &line), line.rate, at);
        mixed(law, self.spring.free.side(at))
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let line = self.line(at);
        let elongation = self.elongation(at, &line);
        let tension = self.spring.law.tension(elongation, line.rate, at);
        let force = line.direction * tension;
        out.load(0, force, line.arms[0].cross(force));
        out.load(1, -force, -line.arms[1].cross(force));
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let line = self.line(at);
        let (tension, by_length, by_rate) =
            self.spring
                .law
                .evaluate(self.elongation(at, &line), line.rate, at);
        let n = line.direction;
        let along = weights.stiffness * by_length + weights.damping * by_rate;
        let across = weights.stiffness * tension / line.length;
        let dyad = n.outer(n);
        // The change of the force when the second end moves relative to the first.
        let k = dyad * along + (Mat3::IDENTITY - dyad) * across;
        add_point_stiffness(out, k, line.arms);
        let force = n * (tension * weights.stiffness);
        for (node, sign) in [(0, 1.0), (1, -1.0)] {
            let turned = force.skew() * line.arms[node].skew() * sign;
            out.add((node, Half::Angular), (node, Half::Angular), -turned);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let [dissipated, supplied] = self.powers(at);
        let elongation = self.elongation(at, &self.line(at));
        let mut stored = self.spring.stored(elongation, at);
        if let Law::Viscoelastic { branches, .. } = &self.spring.law {
            for ((stiffness, _), tension) in branches.iter().zip(&at.memory[1..]) {
                stored += 0.5 * tension * tension / stiffness;
            }
        }
        ElementEnergy {
            stored,
            dissipated,
            supplied,
        }
    }

    fn powers(&self, at: &At<'_>) -> [f64; 2] {
        let line = self.line(at);
        let elongation = self.elongation(at, &line);
        let [mut dissipated, supplied] = self.spring.powers(elongation, line.rate, at);
        if let Law::Viscoelastic { branches, .. } = &self.spring.law {
            for ((stiffness, time), tension) in branches.iter().zip(&at.memory[1..]) {
                dissipated += tension * tension / (stiffness * time);
            }
        }
        [dissipated, supplied]
    }
}

/// Adds the stiffness `k` between two points at `arms` from their nodes.
pub(crate) fn add_point_stiffness(out: &mut Jacobian<'_>, k: Mat3, arms: [Vec3; 2]) {
    let arms = arms.map(|arm| arm.skew());
    for row in 0..2 {
        for column in 0..2 {
            let k = if row == column { k } else { -k };
            // δ(point) = δx - arm × δφ; moment = arm × force.
            let by_turn = -(k * arms[column]);
            out.add((row, Half::Linear), (column, Half::Linear), k);
            out.add((row, Half::Linear), (column, Half::Angular), by_turn);
            out.add((row, Half::Angular), (column, Half::Linear), arms[row] * k);
            out.add(
                (row, Half::Angular),
                (column, Half::Angular),
                arms[row] * by_turn,
            );
        }
    }
}
