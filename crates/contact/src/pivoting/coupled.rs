//! Impulses for known sets, with friction that follows its normal impulse exactly.
//!
//! Where the sets are right, this ends the iteration of the bounds in one step.

use crate::problem::{Dense, RowKind};
use crate::solver::RowState;

/// The proximal term, relative to the diagonal.
const PROXIMAL: f64 = 1e-10;

/// A dense system with partial pivoting.
#[derive(Clone, Debug, Default)]
pub struct Coupled {
    active: Vec<usize>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    order: Vec<usize>,
}

impl Coupled {
    /// Writes impulses whose active rows have no velocity and whose slipping rows have the friction of their normals.
    /// Returns whether they are finite and press.
    pub fn solve(&mut self, problem: &Dense<'_>, sets: &[RowState], impulses: &mut [f64]) -> bool {
        let n = problem.rows.len();
        self.active.clear();
        self.active
            .extend((0..n).filter(|&row| sets[row] == RowState::Active));
        let m = self.active.len();
        self.matrix.clear();
        self.right.clear();
        for &row in &self.active {
            let line = &problem.matrix[row * n..(row + 1) * n];
            let mut own = -problem.velocities[row];
            for &column in &self.active {
                let mut entry = line[column];
                if problem.rows[column] == RowKind::Unilateral {
                    let slips = (0..n).filter_map(|s| Some((s, slip(problem, sets, s, column)?)));
                    entry += slips.map(|(s, ratio)| line[s] * ratio).sum::<f64>();
                }
                if column == row {
                    let near = PROXIMAL * line[row];
                    entry += near;
                    own += near * impulses[row];
                }
                self.matrix.push(entry);
            }
            self.right.push(own);
        }
        if !self.eliminate(m) {
            return false;
        }
        for (&row, value) in self.active.iter().zip(&self.right) {
            impulses[row] = *value;
        }
        for row in 0..n {
            if let RowKind::Friction { normal, .. } = problem.rows[row]
                && let Some(ratio) = slip(problem, sets, row, normal)
            {
                impulses[row] = ratio * impulses[normal];
            }
        }
        let presses = |row: usize| problem.rows[row] != RowKind::Unilateral || impulses[row] >= 0.0;
        (0..n).all(|row| impulses[row].is_finite() && presses(row))
    }

    /// Gaussian elimination with partial pivoting; the solution is in `right`.
    fn eliminate(&mut self, m: usize) -> bool {
        let (matrix, right) = (&mut self.matrix, &mut self.right);
        self.order.clear();
        self.order.extend(0..m);
        let order = &mut self.order;
        for k in 0..m {
            let best = (k..m)
                .max_by(|&a, &b| {
                    matrix[order[a] * m + k]
                        .abs()
                        .total_cmp(&matrix[order[b] * m + k].abs())
                })
                .expect("k is below m");
            order.swap(k, best);
            let pivot = matrix[order[k] * m + k];
            if pivot == 0.0 || !pivot.is_finite() {
                return false;
            }
            for i in k + 1..m {
                let (row, above) = (order[i] * m, order[k] * m);
                let factor = matrix[row + k] / pivot;
                if factor != 0.0 {
                    for j in k..m {
                        matrix[row + j] -= factor * matrix[above + j];
                    }
                    right[order[i]] -= factor * right[order[k]];
                }
            }
        }
        for k in (0..m).rev() {
            let line = &matrix[order[k] * m..(order[k] + 1) * m];
            let known: f64 = (k + 1..m).map(|j| line[j] * right[order[j]]).sum();
            right[order[k]] = (right[order[k]] - known) / line[k];
        }
        // From the order of the pivots to that of the rows.
        self.matrix.clear();
        self.matrix.extend(order.iter().map(|&row| right[row]));
        right.copy_from_slice(&self.matrix);
        true
    }
}

/// The ratio of a slipping row's impulse to that of a normal, if it slips on that one.
fn slip(problem: &Dense<'_>, sets: &[RowState], row: usize, on: usize) -> Option<f64> {
    match (problem.rows[row], sets[row]) {
        (
            RowKind::Friction {
                normal,
                coefficient,
            },
            RowState::Upper,
        ) if normal == on => Some(coefficient),
        (
            RowKind::Friction {
                normal,
                coefficient,
            },
            RowState::Lower,
        ) if normal == on => Some(-coefficient),
        _ => None,
    }
}
