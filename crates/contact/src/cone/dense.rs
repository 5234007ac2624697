//! Sweeps over few rows with a full matrix.

use oldham_space::Vec3;

use super::{Blocks, Change, Verdict};
use crate::problem::{Dense, RowKind, natural_residual, project};
use crate::solver::RowState;

/// Rows in blocks: joints one by one, contacts with their friction.
#[derive(Clone, Debug, Default)]
pub struct DenseBlocks {
    blocks: Vec<Block>,
    impulses: Vec<f64>,
    velocities: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// Normal row first; a block of fewer rows repeats none.
    rows: [usize; 3],
    count: usize,
    is_joint: bool,
    friction: f64,
    diagonal: [f64; 2],
    /// The impulse after the sweep before.
    last: Vec3,
}

impl Block {
    /// Values of the block's rows, the normal one first.
    fn gather(&self, from: &[f64]) -> Vec3 {
        let mut values = Vec3::ZERO;
        for (value, &row) in values.0.iter_mut().zip(&self.rows[..self.count]) {
            *value = from[row];
        }
        values
    }

    /// Where impulses lead to, within what they may be.
    fn admit(&self, impulse: Vec3) -> Vec3 {
        let [normal, tangential] = self.diagonal;
        if self.is_joint {
            impulse
        } else {
            project(impulse, Vec3::X, self.friction, normal, tangential)
        }
    }
}

impl DenseBlocks {
    pub fn start(&mut self, problem: &Dense<'_>, impulses: &[f64]) {
        let n = problem.rows.len();
        let entry = |i: usize, j: usize| problem.matrix[i * n + j];
        self.impulses.clear();
        self.impulses.extend_from_slice(impulses);
        self.blocks.clear();
        for (row, kind) in problem.rows.iter().enumerate() {
            let mut block = Block {
                rows: [row; 3],
                count: 1,
                is_joint: matches!(kind, RowKind::Bilateral),
                friction: 0.0,
                diagonal: [entry(row, row); 2],
                last: Vec3::ZERO,
            };
            if matches!(kind, RowKind::Friction { .. }) {
                continue;
            }
            for (other, kind) in problem.rows.iter().enumerate() {
                if let RowKind::Friction {
                    normal,
                    coefficient,
                } = *kind
                    && normal == row
                    && block.count < 3
                {
                    block.rows[block.count] = other;
                    block.count += 1;
                    block.friction = coefficient;
                }
            }
            // Sums of magnitudes over the block majorise it.
            let sum = |i: usize| {
                let along = block.rows[..block.count].iter();
                along.map(|&j| entry(block.rows[i], j).abs()).sum::<f64>()
            };
            let tangential = (1..block.count).map(sum).fold(0.0, f64::max);
            let normal = sum(0);
            block.diagonal = [normal, if block.count > 1 { tangential } else { normal }];
            block.last = block.gather(impulses);
            if normal > 0.0 {
                self.blocks.push(block);
            }
        }
        self.velocities.clear();
        self.velocities
            .extend((0..n).map(|row| problem.velocity(row, impulses)));
    }

    pub fn finish(&self, impulses: &mut [f64], sets: &mut [RowState]) {
        impulses.copy_from_slice(&self.impulses);
        sets.fill(RowState::Open);
        for block in &self.blocks {
            let impulse = block.gather(&self.impulses);
            if block.is_joint || impulse[0] > 0.0 {
                sets[block.rows[0]] = RowState::Active;
                let slips =
                    impulse[1].hypot(impulse[2]) >= block.friction * impulse[0] * (1.0 - 1e-9);
                for k in 1..block.count {
                    sets[block.rows[k]] = match (slips, impulse[k] > 0.0) {
                        (false, _) => RowState::Active,
                        (true, true) => RowState::Upper,
                        (true, false) => RowState::Lower,
                    };
                }
            }
        }
    }

    fn change(&mut self, problem: &Dense<'_>, block: usize, change: Vec3) {
        let n = self.velocities.len();
        let Block { rows, count, .. } = self.blocks[block];
        for (k, &row) in rows[..count].iter().enumerate() {
            if change[k] != 0.0 {
                self.impulses[row] += change[k];
                let line = &problem.matrix[row * n..(row + 1) * n];
                for (u, h) in self.velocities.iter_mut().zip(line) {
                    *u += h * change[k];
                }
            }
        }
    }
}

/// One solution under way.
pub struct Sweeping<'a, 'b> {
    pub problem: &'a Dense<'b>,
    pub blocks: &'a mut DenseBlocks,
}

impl Blocks for Sweeping<'_, '_> {
    fn sweep(&mut self) -> Change {
        let mut total = Change::default();
        for i in 0..self.blocks.blocks.len() {
            let block = self.blocks.blocks[i];
            let velocity = block.gather(&self.blocks.velocities);
            let impulse = block.gather(&self.blocks.impulses);
            let [normal, tangential] = block.diagonal;
            let step = Vec3::new(
                velocity[0] / normal,
                velocity[1] / tangential,
                velocity[2] / tangential,
            );
            let found = block.admit(impulse - step);
            let change = found - impulse;
            self.blocks.change(self.problem, i, change);
            total.agreement += change.dot(found - block.last) * normal;
            total.largest = total.largest.max(change.norm() * normal.max(tangential));
        }
        total
    }

    fn advance(&mut self, weight: f64) {
        for i in 0..self.blocks.blocks.len() {
            let block = self.blocks.blocks[i];
            let impulse = block.gather(&self.blocks.impulses);
            let further = (impulse - block.last) * weight;
            self.blocks.blocks[i].last = impulse;
            let change = block.admit(impulse + further) - impulse;
            self.blocks.change(self.problem, i, change);
        }
    }

    fn judge(&mut self, tolerance: f64) -> Verdict {
        let n = self.problem.rows.len();
        let is_solved = self.blocks.blocks.iter().all(|block| {
            let velocity = block.gather(&self.blocks.velocities);
            let impulse = block.gather(&self.blocks.impulses);
            let rows = block.rows[..block.count].iter();
            let trace: f64 = rows.map(|&i| self.problem.matrix[i * n + i]).sum();
            let mean = trace / block.count as f64;
            let residual = if block.is_joint {
                velocity[0].abs()
            } else {
                natural_residual(impulse, velocity, Vec3::X, block.friction, mean)
            };
            residual <= tolerance
        });
        if is_solved {
            Verdict::Solved
        } else {
            Verdict::Unsolved
        }
    }
}
