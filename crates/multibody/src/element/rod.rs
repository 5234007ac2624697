//! A force along the line between two points: springs, dampers, rods.

use super::{Account, At, Element, Jacobian, Part, References, Residual, Weights, refer_nodes};
use crate::drive::{Drive, interpolate};
use crate::math::{Mat3, Vec3};
use crate::node::{Marker, NodeId};
use std::sync::Arc;

/// Tension as a function of elongation and its rate.
#[derive(Clone, Debug)]
pub enum Law {
    /// stiffness · elongation + damping · rate.
    Linear {
        /// Stiffness.
        stiffness: f64,
        /// Damping.
        damping: f64,
    },
    /// Straight lines through (elongation, tension), and damping · rate.
    Table {
        /// Points, by rising elongation.
        points: Arc<[(f64, f64)]>,
        /// Damping.
        damping: f64,
    },
    /// A given tension: an actuator, an internal force.
    Given(Drive),
    /// A push that a port receives: a factor times a component of the input vector. The engine
    /// accounts for its work, as for everything that comes through ports.
    Thrust {
        /// The component.
        input: usize,
        /// The factor: one for a force, an area for a pressure.
        factor: f64,
    },
    /// Generalised Maxwell solid: a spring, and beside it springs in series with dampers.
    Viscoelastic {
        /// Stiffness after long times.
        stiffness: f64,
        /// Stiffness and relaxation time of each branch.
        branches: Arc<[(f64, f64)]>,
    },
}

impl Law {
    fn memory(&self) -> usize {
        match self {
            Self::Viscoelastic { branches, .. } => 1 + branches.len(),
            _ => 0,
        }
    }

    /// Tension of a branch whose elongation has grown steadily, and its derivative by that. What is
    /// remembered are the elongation, then the tensions of the branches.
    fn branch((stiffness, time): (f64, f64), before: f64, growth: f64, elapsed: f64) -> (f64, f64) {
        if elapsed == 0.0 {
            return (before, 0.0);
        }
        let x = elapsed / time;
        let slope = stiffness * -(-x).exp_m1() / x;
        (before * (-x).exp() + slope * growth, slope)
    }

    /// Tension, and its derivatives by elongation and rate.
    fn evaluate(&self, elongation: f64, rate: f64, at: &At<'_>) -> (f64, f64, f64) {
        match self {
            Self::Given(drive) => (drive.value(at.time, at.inputs), 0.0, 0.0),
            Self::Thrust { input, factor } => (-factor * at.inputs[*input], 0.0, 0.0),
            Self::Viscoelastic {
                stiffness,
                branches,
            } => {
                let growth = elongation - at.memory[0];
                let (mut tension, mut by_length) = (stiffness * elongation, *stiffness);
                for (&branch, &before) in branches.iter().zip(&at.memory[1..]) {
                    let (force, slope) = Self::branch(branch, before, growth, at.elapsed);
                    tension += force;
                    by_length += slope;
                }
                (tension, by_length, 0.0)
            }
            Self::Linear { stiffness, damping } => (
                stiffness * elongation + damping * rate,
                *stiffness,
                *damping,
            ),
            Self::Table { points, damping } => {
                let tension = interpolate(points, elongation) + damping * rate;
                (tension, slope(points, elongation), *damping)
            }
        }
    }

    fn stored(&self, elongation: f64) -> f64 {
        match self {
            Self::Linear { stiffness, .. } | Self::Viscoelastic { stiffness, .. } => {
                0.5 * stiffness * elongation * elongation
            }
            Self::Table { points, .. } => area(points, elongation) - area(points, 0.0),
            Self::Given(_) | Self::Thrust { .. } => 0.0,
        }
    }

    fn damping(&self) -> f64 {
        match self {
            Self::Linear { damping, .. } | Self::Table { damping, .. } => *damping,
            Self::Given(_) | Self::Thrust { .. } | Self::Viscoelastic { .. } => 0.0,
        }
    }
}

fn slope(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|&(p, _)| p <= x);
    if after == 0 || after == points.len() {
        return 0.0;
    }
    let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
    (y1 - y0) / (x1 - x0)
}

/// Area under the table from its first point to x.
fn area(points: &[(f64, f64)], x: f64) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    if x < first.0 {
        return first.1 * (x - first.0);
    }
    let mut sum = 0.0;
    for pair in points.windows(2) {
        let ((x0, y0), (x1, _)) = (pair[0], pair[1]);
        if x <= x0 {
            break;
        }
        let end = x.min(x1);
        sum += 0.5 * (y0 + interpolate(points, end)) * (end - x0);
    }
    sum + last.1 * (x - last.0).max(0.0)
}

/// A massless rod between two markers, with a tension law.
#[derive(Clone, Debug)]
pub struct Rod {
    nodes: [NodeId; 2],
    offsets: [Vec3; 2],
    free_length: Drive,
    law: Law,
}

/// Places and velocities of the ends, seen along the line.
struct Line {
    arms: [Vec3; 2],
    direction: Vec3,
    length: f64,
    rate: f64,
}

impl Rod {
    /// Between two markers that are never at the same place.
    pub fn new(a: Marker, b: Marker, free_length: impl Into<Drive>, law: Law) -> Self {
        Self {
            nodes: [a.node, b.node],
            offsets: [a.offset, b.offset],
            free_length: free_length.into(),
            law,
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
            rate: velocity.dot(direction),
        }
    }

    fn elongation(&self, at: &At<'_>, line: &Line) -> f64 {
        line.length - self.free_length.value(at.time, at.inputs)
    }
}

impl Element for Rod {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        self.free_length.refer(references);
        if let Law::Given(tension) = &mut self.law {
            tension.refer(references);
        }
    }

    fn memory(&self) -> usize {
        self.law.memory()
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let Law::Viscoelastic { branches, .. } = &self.law else {
            return;
        };
        let elongation = self.elongation(at, &self.line(at));
        let growth = elongation - at.memory[0];
        memory[0] = elongation;
        for (i, &branch) in branches.iter().enumerate() {
            memory[1 + i] = Law::branch(branch, at.memory[1 + i], growth, at.elapsed).0;
        }
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let line = self.line(at);
        let elongation = self.elongation(at, &line);
        let (tension, ..) = self.law.evaluate(elongation, line.rate, at);
        let force = line.direction * tension;
        out.load(0, force, line.arms[0].cross(force));
        out.load(1, -force, -line.arms[1].cross(force));
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let line = self.line(at);
        let (tension, by_length, by_rate) =
            self.law.evaluate(self.elongation(at, &line), line.rate, at);
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
            out.add((node, Part::Angular), (node, Part::Angular), -turned);
        }
    }

    fn energy(&self, at: &At<'_>) -> Account {
        let line = self.line(at);
        let mut account = Account {
            stored: self.law.stored(self.elongation(at, &line)),
            dissipated: self.law.damping() * line.rate * line.rate,
            supplied: 0.0,
        };
        if let Law::Given(drive) = &self.law {
            account.supplied = -drive.value(at.time, at.inputs) * line.rate;
        }
        if let Law::Viscoelastic { branches, .. } = &self.law {
            for ((stiffness, time), tension) in branches.iter().zip(&at.memory[1..]) {
                let work = tension * tension / stiffness;
                account.stored += 0.5 * work;
                account.dissipated += work / time;
            }
        }
        account
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
            out.add((row, Part::Linear), (column, Part::Linear), k);
            out.add((row, Part::Linear), (column, Part::Angular), by_turn);
            out.add((row, Part::Angular), (column, Part::Linear), arms[row] * k);
            out.add(
                (row, Part::Angular),
                (column, Part::Angular),
                arms[row] * by_turn,
            );
        }
    }
}
