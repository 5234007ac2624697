//! Constraints along a motion: their gradients, and how these change as it goes on.
//!
//! A constraint on places is φ(q, t) = 0, for a change q of the poses G q = 0 with the gradient G. Along
//! the motion that holds at all times, so that G q' + G' q = 0 and G q'' + 2 G' q' + G'' q = 0. One on velocities
//! (rolling) is W v = 0, for changes W q' + P q = 0 and W q'' + (W' + P) q' + P' q = 0: it leaves places
//! alone.

use super::exact::by_rotation;
use super::{DAMPING, Entry, Local, STIFFNESS};
use crate::assembly::{Assembly, EvaluationPoint};
use crate::node::Motion;
use crate::system::System;
use nalgebra::DMatrix;
use oldham_space::{Quaternion, Vec3};

/// Angle, or fraction of the size, by which the motion goes on between differences.
const STRIDE: f64 = 2e-3;
/// Longest time between differences, in s.
const LONGEST: f64 = 1e-3;
/// Rate in 1/s below which a mechanism is at rest.
const AT_REST: f64 = 1e-8;

/// Constraints by rows; entries count these from zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstraintRows {
    /// Of each constraint: is it on velocities?
    pub on_velocities: Vec<bool>,
    /// Gradients G of those on places, and W of those on velocities.
    pub gradients: Vec<Entry>,
    /// The matrix P of those on velocities.
    pub by_pose: Vec<Entry>,
}

impl ConstraintRows {
    pub fn at(assembly: &Assembly, at: &EvaluationPoint<'_>) -> Self {
        let mut found = Self {
            on_velocities: vec![false; assembly.constraints],
            ..Self::default()
        };
        let first = 6 * assembly.nodes();
        let mut local = Local::default();
        for placed in assembly.elements.iter() {
            let multipliers = placed.multipliers.clone();
            if multipliers.is_empty() {
                continue;
            }
            let on_velocities = placed.element.on_velocities();
            let is_fast = |row: usize| on_velocities.contains(&(row - first - multipliers.start));
            local.lay_out(placed, assembly.unknowns());
            let mut rows = |at: &EvaluationPoint<'_>, weights| {
                local.evaluate(placed, &at.of(placed, &assembly.elements), weights);
                let (mut rows, mut columns) = (Vec::new(), Vec::new());
                local.constraint_entries(&mut rows, &mut columns);
                rows
            };
            let counted = |(i, j, value): Entry| (i - first, j, value);
            let slow = rows(at, STIFFNESS).into_iter().filter(|e| !is_fast(e.0));
            found.gradients.extend(slow.map(counted));
            if on_velocities.is_empty() {
                continue;
            }
            for row in on_velocities.clone() {
                found.on_velocities[multipliers.start + row] = true;
            }
            // What it has slipped by in a second changes by the slip.
            let second = at.after(1.0);
            let by_velocity = rows(&second, DAMPING).into_iter();
            let by_velocity: Vec<Entry> =
                by_velocity.filter(|e| is_fast(e.0)).map(counted).collect();
            let by_pose = rows(&second, STIFFNESS).into_iter();
            let by_pose = by_pose.filter(|e| is_fast(e.0)).map(counted);
            found.by_pose.extend(by_pose);
            found.by_pose.extend(by_rotation(&by_velocity, at.motions));
            found.gradients.extend(by_velocity);
        }
        found
    }

    /// Whether some constraint is on velocities.
    pub fn has_velocities(&self) -> bool {
        self.on_velocities.contains(&true)
    }

    /// As dense matrices for so many unknowns of nodes, at rest: nothing changes but what is moved.
    pub fn dense(&self, unknowns: usize) -> DenseRows {
        let size = self.on_velocities.len();
        let by_pose = dense(&self.by_pose, size, unknowns);
        DenseRows {
            on_velocities: self.on_velocities.clone(),
            gradients: dense(&self.gradients, size, unknowns),
            velocity: by_pose.clone(),
            acceleration: [DMatrix::zeros(size, unknowns), by_pose],
        }
    }
}

pub(crate) fn dense(entries: &[Entry], rows: usize, columns: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(rows, columns);
    for &(i, j, value) in entries {
        matrix[(i, j)] += value;
    }
    matrix
}

/// The constraints on changes q of a motion: `gradients` q' + `velocity` q = 0 for all, and
/// `gradients` q'' + `acceleration[1]` q' + `acceleration[0]` q = 0.
#[derive(Clone, Debug)]
pub(crate) struct DenseRows {
    pub on_velocities: Vec<bool>,
    pub gradients: DMatrix<f64>,
    pub velocity: DMatrix<f64>,
    pub acceleration: [DMatrix<f64>; 2],
}

impl System {
    /// The constraints along the present motion, which goes on with these accelerations. What changes
    /// is found by differences of fourth order.
    pub(crate) fn rows_along(&self, inputs: &[f64], accelerations: &[[Vec3; 2]]) -> DenseRows {
        let at = self.evaluation_point(inputs);
        let now = ConstraintRows::at(&self.assembly, &at);
        let (n, m) = (6 * self.assembly.nodes(), self.assembly.constraints);
        let mut rows = now.dense(n);
        let rate = self.rate(accelerations);
        if rate < AT_REST || m == 0 {
            return rows;
        }
        let dt = (STRIDE / rate).min(LONGEST);
        let [after, before, far, back] = [1.0, -1.0, 2.0, -2.0].map(|times: f64| {
            let time = times * dt;
            let nodes = self.motions.iter().zip(accelerations);
            let motions: Vec<Motion> = nodes.map(|(m, a)| going_on(m, *a, time)).collect();
            let then = EvaluationPoint {
                time: at.time + time,
                input_time: at.time,
                motions: &motions,
                ..at
            };
            let rows = ConstraintRows::at(&self.assembly, &then);
            [dense(&rows.gradients, m, n), dense(&rows.by_pose, m, n)]
        });
        let first =
            |k: usize| ((&after[k] - &before[k]) * 8.0 - (&far[k] - &back[k])) / (12.0 * dt);
        let second =
            ((&after[0] + &before[0]) * 16.0 - (&far[0] + &back[0]) - &rows.gradients * 30.0)
                / (12.0 * dt * dt);
        let [gradients, by_pose] = [0, 1].map(first);
        for (i, &is_on_velocity) in now.on_velocities.iter().enumerate() {
            if is_on_velocity {
                rows.acceleration[0].set_row(i, &by_pose.row(i));
                let both = rows.velocity.row(i) + gradients.row(i);
                rows.acceleration[1].set_row(i, &both);
            } else {
                rows.velocity.set_row(i, &gradients.row(i));
                rows.acceleration[0].set_row(i, &second.row(i));
                rows.acceleration[1].set_row(i, &(gradients.row(i) * 2.0));
            }
        }
        rows
    }

    /// How fast the motion goes on, in 1/s.
    fn rate(&self, accelerations: &[[Vec3; 2]]) -> f64 {
        let nodes = self.motions.iter().zip(accelerations);
        let of = |(motion, [a, alpha]): (&Motion, &[Vec3; 2])| {
            let turning = motion.angular_velocity.norm().max(alpha.norm().sqrt());
            let moving = motion.velocity.norm() / self.size;
            turning.max(moving).max((a.norm() / self.size).sqrt())
        };
        nodes.map(of).fold(0.0, f64::max)
    }
}

/// A node some time later, to second order in the time.
fn going_on(motion: &Motion, [a, alpha]: [Vec3; 2], dt: f64) -> Motion {
    let moved = motion.position + motion.velocity * dt + a * (0.5 * dt * dt);
    let turn = motion.angular_velocity * dt + alpha * (0.5 * dt * dt);
    let orientation = Quaternion::exp(turn).times(motion.orientation);
    Motion::at_rest(moved, orientation).moving(
        motion.velocity + a * dt,
        motion.angular_velocity + alpha * dt,
    )
}
