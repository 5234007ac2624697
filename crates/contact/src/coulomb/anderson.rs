//! Sweeps of exact local solutions, accelerated by Anderson's method.
//!
//! A sweep maps impulses x onto g(x). The next impulses are the combination of the last few g whose changes f = g − x, weighed
//! as energies, nearly cancel. Where f grows to the double, the last g stands and the past is forgotten.
//!
//! Reference: D. Anderson, Journal of the ACM 12 (1965) 547–560.

use oldham_space::Vec3;

use super::island::{Island, Residual};
use super::local::{self, Three};
use crate::room::Room;

/// How many differences are combined.
const DEPTH: usize = 6;
/// What is added to the normal equations, relative to their trace.
const RIDGE: f64 = 1e-10;
/// Sweeps between two looks at the residual.
const LOOK: usize = 5;

/// Room for the past.
#[derive(Clone, Debug, Default)]
pub struct Anderson {
    /// Changes, weighed, and what sweeps led to; one line for each.
    changes: [Vec<f64>; DEPTH + 1],
    reached: [Vec<Three>; DEPTH + 1],
    swept: Vec<Three>,
    velocities: Vec<[Vec3; 2]>,
    best: Vec<Three>,
}

/// Solves each contact in turn for what the others do.
pub fn sweep(island: &Island, impulses: &mut [Three], velocities: &mut [[Vec3; 2]]) {
    for (link, impulse) in island.links.iter().zip(impulses) {
        let u = island.relative(link, impulse, velocities);
        let b: Three = std::array::from_fn(|i| {
            let line = &link.w[i];
            u[i] - line[0] * impulse[0] - line[1] * impulse[1] - line[2] * impulse[2]
        });
        let found = local::solve(&link.w, b, link.friction);
        let change = std::array::from_fn(|i| found[i] - impulse[i]);
        island.apply(link, &change, velocities);
        *impulse = found;
    }
}

impl Anderson {
    /// Sweeps at most so often. Leaves the best impulses by residual, and says how good they are and how many sweeps were taken.
    pub fn run(
        &mut self,
        island: &Island,
        impulses: &mut Vec<Three>,
        tolerance: f64,
        most_sweeps: usize,
    ) -> (Residual, usize) {
        island.velocities(impulses, &mut self.velocities);
        let mut best = island.residual(impulses, &self.velocities);
        self.best.clone_from(impulses);
        let (mut known, mut before) = (0, f64::INFINITY);
        let (mut age, mut sweeps) = (0, 0);
        while sweeps < most_sweeps && !best.is_met(tolerance) {
            self.swept.clone_from(impulses);
            island.velocities(&self.swept, &mut self.velocities);
            sweep(island, &mut self.swept, &mut self.velocities);
            sweeps += 1;
            let place = age % (DEPTH + 1);
            let change = self.record(island, impulses, place);
            if change > 2.0 * before && known > 0 {
                // The last sweep before the extrapolation stands.
                let last = (age + DEPTH) % (DEPTH + 1);
                impulses.clone_from(&self.reached[last]);
                (known, before) = (0, f64::INFINITY);
                continue;
            }
            before = change;
            if sweeps == 1 || sweeps % LOOK == 0 || sweeps == most_sweeps || change == 0.0 {
                let now = island.residual(&self.swept, &self.velocities);
                if now.is_better(&best) {
                    best = now;
                    self.best.clone_from(&self.swept);
                }
                if change == 0.0 {
                    break;
                }
            }
            self.extrapolate(island, impulses, place, known);
            age += 1;
            known = (known + 1).min(DEPTH);
        }
        std::mem::swap(impulses, &mut self.best);
        (best, sweeps)
    }

    /// Plain sweeps: slower, but they arrive in places where extrapolation does not.
    pub fn run_plainly(
        &mut self,
        island: &Island,
        impulses: &mut Vec<Three>,
        tolerance: f64,
        most_sweeps: usize,
    ) -> (Residual, usize) {
        island.velocities(impulses, &mut self.velocities);
        let mut best = island.residual(impulses, &self.velocities);
        self.best.clone_from(impulses);
        let mut sweeps = 0;
        while sweeps < most_sweeps && !best.is_met(tolerance) {
            for _ in 0..LOOK {
                sweep(island, impulses, &mut self.velocities);
            }
            sweeps += LOOK;
            island.velocities(impulses, &mut self.velocities);
            let now = island.residual(impulses, &self.velocities);
            if now.is_better(&best) {
                best = now;
                self.best.clone_from(impulses);
            }
        }
        std::mem::swap(impulses, &mut self.best);
        (best, sweeps)
    }

    /// Keeps what a sweep did; returns the size of its change.
    fn record(&mut self, island: &Island, impulses: &[Three], place: usize) -> f64 {
        let changes = &mut self.changes[place];
        changes.clear();
        changes.make_room(3 * impulses.len());
        for ((new, old), link) in self.swept.iter().zip(impulses).zip(&island.links) {
            let weight = link.mean.sqrt();
            changes.extend((0..3).map(|i| (new[i] - old[i]) * weight));
        }
        self.reached[place].clone_from(&self.swept);
        changes.iter().map(|f| f * f).sum::<f64>().sqrt()
    }

    /// Combines what is known, within the cones. The line `place` is the latest of `known` + 1.
    #[allow(clippy::needless_range_loop)] // Rows and columns of one small matrix.
    fn extrapolate(&self, island: &Island, impulses: &mut [Three], place: usize, known: usize) {
        let line = |back: usize| (place + DEPTH + 1 - back) % (DEPTH + 1);
        let now = &self.changes[place];
        let mut matrix = [[0.0; DEPTH]; DEPTH];
        let mut right = [0.0; DEPTH];
        for i in 0..known {
            let (one, other) = (&self.changes[line(i)], &self.changes[line(i + 1)]);
            for j in 0..=i {
                let (a, b) = (&self.changes[line(j)], &self.changes[line(j + 1)]);
                let mut sum = 0.0;
                for k in 0..now.len() {
                    sum += (one[k] - other[k]) * (a[k] - b[k]);
                }
                (matrix[i][j], matrix[j][i]) = (sum, sum);
            }
            right[i] = (0..now.len()).map(|k| (one[k] - other[k]) * now[k]).sum();
        }
        let trace: f64 = (0..known).map(|i| matrix[i][i]).sum();
        for (i, row) in matrix.iter_mut().enumerate().take(known) {
            row[i] += RIDGE * trace + f64::MIN_POSITIVE;
        }
        if trace > 0.0 {
            cholesky(&mut matrix, &mut right, known);
        } else {
            right = [0.0; DEPTH];
        }
        for (k, impulse) in impulses.iter_mut().enumerate() {
            *impulse = self.reached[place][k];
            for (i, weight) in right.iter().enumerate().take(known) {
                let (one, other) = (&self.reached[line(i)][k], &self.reached[line(i + 1)][k]);
                for axis in 0..3 {
                    impulse[axis] -= weight * (one[axis] - other[axis]);
                }
            }
            if known > 0 {
                *impulse = island.links[k].admit(*impulse);
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let lines = self.changes.iter().map(|line| line.held());
        let reached = self.reached.iter().map(|line| line.held());
        lines.sum::<usize>()
            + reached.sum::<usize>()
            + self.swept.held()
            + self.velocities.held()
            + self.best.held()
    }
}

/// Solves a small symmetric system in place.
#[allow(clippy::needless_range_loop)]
fn cholesky(matrix: &mut [[f64; DEPTH]; DEPTH], right: &mut [f64; DEPTH], size: usize) {
    for i in 0..size {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            matrix[i][j] = match i == j {
                true => (matrix[i][i] - sum).max(f64::MIN_POSITIVE).sqrt(),
                false => (matrix[i][j] - sum) / matrix[j][j],
            };
        }
        let sum: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
}
