//! Derivatives that elements do not provide, by differences of fourth order.

use super::{DAMPING, Entry, LeftOut, Local, STIFFNESS};
use crate::assembly::{Assembly, EvaluationPoint, Placed, local_residual};
use crate::element::Weights;
use crate::node::{Motion, NodeId};
use oldham_space::Vec3;

/// Relative step of the differences.
const STEP: f64 = 1e-4;
/// Below this fraction of what is differenced, a difference is rounding.
const ROUNDING: f64 = 1e-10;

/// What is changed.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Pose(NodeId, usize),
    Velocity(NodeId, usize),
    Multiplier(usize),
}

pub(crate) fn left_out(assembly: &Assembly, at: &EvaluationPoint<'_>, size: f64) -> LeftOut {
    let mut found = LeftOut::default();
    let rest: Vec<Motion> = at
        .motions
        .iter()
        .map(|motion| motion.moving(Vec3::ZERO, Vec3::ZERO))
        .collect();
    let resting = EvaluationPoint {
        motions: &rest,
        ..*at
    };
    let mut differences = Differences {
        assembly,
        motions: at.motions.to_vec(),
        rest: rest.clone(),
        multipliers: at.multipliers.to_vec(),
        size,
        local: Local::default(),
    };
    let residual =
        |placed: &Placed, at: &EvaluationPoint<'_>| local_residual(placed, at, &assembly.elements);
    let moves = |node: &NodeId| {
        let motion = &at.motions[node.0];
        motion.velocity != Vec3::ZERO || motion.angular_velocity != Vec3::ZERO
    };
    for placed in &assembly.elements {
        if placed.is_measured {
            differences.sensors(placed, at, &mut found);
        } else if placed.element.nodes().iter().any(moves)
            && (differences.is_damped(placed, at)
                || residual(placed, at) != residual(placed, &resting))
        {
            differences.viscous(placed, at, &resting, &mut found);
        }
    }
    found
}

/// The state, to be changed and restored.
struct Differences<'a> {
    assembly: &'a Assembly,
    motions: Vec<Motion>,
    rest: Vec<Motion>,
    multipliers: Vec<f64>,
    size: f64,
    local: Local,
}

impl Differences<'_> {
    /// All that an element's residual depends on, less what its Jacobian says.
    fn sensors(&mut self, placed: &Placed, at: &EvaluationPoint<'_>, found: &mut LeftOut) {
        let nodes = placed.reads.iter().copied();
        let nodes: Vec<NodeId> = nodes.filter(|&node| node != NodeId::GROUND).collect();
        for (weights, change, to) in [
            (
                STIFFNESS,
                Change::Pose as fn(NodeId, usize) -> Change,
                &mut found.stiffness,
            ),
            (DAMPING, Change::Velocity, &mut found.damping),
        ] {
            self.analytic(placed, at, weights);
            for &node in &nodes {
                for component in 0..6 {
                    let column = 6 * (node.0 - 1) + component;
                    let moved = self.derivative(placed, at, change(node, component), false);
                    self.take(placed, column, moved, to);
                }
            }
        }
        self.analytic(placed, at, STIFFNESS);
        let first = 6 * self.assembly.nodes();
        for index in placed.measured_multipliers.clone() {
            let moved = self.derivative(placed, at, Change::Multiplier(index), false);
            self.take(placed, first + index, moved, &mut found.force_columns);
        }
    }

    /// The exact stiffness of a moving element is that at rest, and the differences of what the
    /// velocities add to its forces.
    fn viscous(
        &mut self,
        placed: &Placed,
        at: &EvaluationPoint<'_>,
        resting: &EvaluationPoint<'_>,
        found: &mut LeftOut,
    ) {
        self.analytic(placed, at, STIFFNESS);
        let moving = self.local.matrix.clone();
        self.analytic(placed, resting, STIFFNESS);
        let change = moving.iter().zip(&mut self.local.matrix);
        change.for_each(|(moving, resting)| *resting = moving - *resting);
        for &node in placed.element.nodes() {
            if node == NodeId::GROUND {
                continue;
            }
            for component in 0..6 {
                let column = 6 * (node.0 - 1) + component;
                let moved = self.derivative(placed, at, Change::Pose(node, component), true);
                self.take(placed, column, moved, &mut found.stiffness);
            }
        }
    }

    /// Whether velocities change the forces of an element, although they may add nothing just now: a
    /// damper that turns as a whole would no longer do so if only its pose were turned.
    fn is_damped(&mut self, placed: &Placed, at: &EvaluationPoint<'_>) -> bool {
        self.analytic(placed, at, DAMPING);
        self.local.matrix.iter().any(|&entry| entry != 0.0)
    }

    fn analytic(&mut self, placed: &Placed, at: &EvaluationPoint<'_>, weights: Weights) {
        self.local.lay_out(placed, self.assembly.unknowns());
        let at = at.of(placed, &self.assembly.elements);
        self.local.evaluate(placed, &at, weights);
    }

    /// Adds the negative derivative of an element's forces, less the column of the Jacobian.
    fn take(
        &self,
        placed: &Placed,
        column: usize,
        (slopes, noise): (Vec<f64>, f64),
        to: &mut Vec<Entry>,
    ) {
        let local = &self.local;
        let stride = local.unknowns.len();
        let columns: Vec<usize> = (0..stride)
            .filter(|&j| local.unknowns[j] == Some(column))
            .collect();
        let entry = |row: usize| {
            let known: f64 = columns
                .iter()
                .map(|&j| local.matrix[j * stride + row])
                .sum();
            (-slopes[row] - known, known.abs())
        };
        // An element may have the same node twice: each of its rows counts.
        for row in 0..6 * placed.element.nodes().len() {
            let (value, known) = entry(row);
            if let Some(unknown) = local.unknowns[row]
                && value.abs() > noise + ROUNDING * known
            {
                to.push((unknown, column, value));
            }
        }
    }

    /// Derivative of an element's residual, and the size of its rounding error; of what the
    /// velocities alone cause, if `viscous`.
    fn derivative(
        &mut self,
        placed: &Placed,
        at: &EvaluationPoint<'_>,
        change: Change,
        viscous: bool,
    ) -> (Vec<f64>, f64) {
        let step = STEP * self.scale(change);
        let rows = 6 * placed.element.nodes().len();
        let mut slopes = vec![0.0; rows];
        let mut largest = 0.0_f64;
        for (times, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            let values = self.residual(placed, at, change, times * step, viscous);
            for (slope, value) in slopes.iter_mut().zip(values) {
                *slope += weight * value / (12.0 * step);
                largest = largest.max(value.abs());
            }
        }
        (slopes, 4.0 * f64::EPSILON * largest / step)
    }

    /// The size of a change that matters.
    fn scale(&self, change: Change) -> f64 {
        match change {
            Change::Pose(_, 0..3) => self.size,
            Change::Pose(..) => 1.0,
            Change::Velocity(node, 0..3) => self.size.max(self.motions[node.0].velocity.norm()),
            Change::Velocity(node, _) => self.motions[node.0].angular_velocity.norm().max(1.0),
            Change::Multiplier(index) => self.multipliers[index].abs().max(1.0),
        }
    }

    fn residual(
        &mut self,
        placed: &Placed,
        at: &EvaluationPoint<'_>,
        change: Change,
        step: f64,
        viscous: bool,
    ) -> Vec<f64> {
        let component = |i: usize| {
            let mut vector = Vec3::ZERO;
            vector[i % 3] = step;
            vector
        };
        let moved = |motion: &Motion, i: usize| match i {
            0..3 => motion.displaced(component(i), Vec3::ZERO),
            _ => motion.displaced(Vec3::ZERO, component(i)),
        };
        let rows = 6 * placed.element.nodes().len();
        let evaluate = |motions: &[Motion], multipliers: &[f64]| {
            let changed = EvaluationPoint {
                motions,
                multipliers,
                ..*at
            };
            local_residual(placed, &changed, &self.assembly.elements)[..rows].to_vec()
        };
        match change {
            Change::Pose(node, i) => {
                let [kept, resting] = [self.motions[node.0], self.rest[node.0]];
                self.motions[node.0] = moved(&kept, i);
                let mut values = evaluate(&self.motions, &self.multipliers);
                if viscous {
                    self.rest[node.0] = moved(&resting, i);
                    let still = evaluate(&self.rest, &self.multipliers);
                    values.iter_mut().zip(still).for_each(|(v, s)| *v -= s);
                }
                (self.motions[node.0], self.rest[node.0]) = (kept, resting);
                values
            }
            Change::Velocity(node, i) => {
                let kept = self.motions[node.0];
                let motion = &mut self.motions[node.0];
                match i {
                    0..3 => motion.velocity += component(i),
                    _ => motion.angular_velocity += component(i),
                }
                let values = evaluate(&self.motions, &self.multipliers);
                self.motions[node.0] = kept;
                values
            }
            Change::Multiplier(index) => {
                let kept = self.multipliers[index];
                self.multipliers[index] += step;
                let values = evaluate(&self.motions, &self.multipliers);
                self.multipliers[index] = kept;
                values
            }
        }
    }
}
