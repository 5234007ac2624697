//! What contacts leave of an interface's mobility.
//!
//! At an interface impulses Λ act on velocities w. As long as no contact opens, closes, sticks or slips, w⁺ is linear in
//! Λ: rows that hold as equations take part of what Λ would do, rows at a bound keep their impulses. That is the
//! reduced interface model of a nonsmooth system (Peiret et al. 2020, Eq. 36 and 42): with the active rows z, the tight
//! rows τ and the interface i,
//!
//! w⁺ = (H_ii − H_iz H_zz⁻¹ H_zi) Λ + b_i + H_iτ Λ_τ − H_iz H_zz⁻¹ (b_z + H_zτ Λ_τ).
//!
//! The effective mass is the inverse of the first matrix (Eq. 38). Compliances of regularised rows are on the diagonal
//! of H.

use crate::pivoting::Cholesky;
use crate::problem::Dense;
use crate::solver::RowState;

/// A row of which no more than this part is left by rows before it says the same as they do.
const REDUNDANT: f64 = 1e-10;

/// An interface beside the rows of a problem.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// What impulses of the rows do to its velocities: interface by rows.
    pub by_rows: &'a [f64],
    /// What its own impulses do to them, without any row: interface by interface.
    pub own: &'a [f64],
    /// Its velocities without any impulse.
    pub velocities: &'a [f64],
}

/// The interface with the rows eliminated.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// Change of its velocities per impulse: the inverse of the effective mass, row by row.
    pub mobility: Vec<f64>,
    /// Its velocities without impulses of its own.
    pub velocities: Vec<f64>,
    /// Active rows that do not depend on each other.
    active: Vec<usize>,
    factors: Cholesky,
    column: Vec<f64>,
}

impl Reduction {
    /// Eliminates the rows of a problem whose sets and impulses are known. Nothing is allocated once sizes have been seen.
    pub fn reduce(
        &mut self,
        problem: &Dense<'_>,
        sets: &[RowState],
        impulses: &[f64],
        interface: &Interface<'_>,
    ) {
        let rows = problem.rows.len();
        let count = interface.velocities.len();
        self.active.clear();
        let is_active = |row: &usize| sets[*row] == RowState::Active;
        self.active.extend((0..rows).filter(is_active));
        self.factors
            .factor_independent(problem.matrix, rows, &mut self.active, REDUNDANT);
        self.mobility.clear();
        self.mobility.extend_from_slice(interface.own);
        self.velocities.clear();
        self.velocities.extend_from_slice(interface.velocities);
        let tight = || (0..rows).filter(|row| !is_active(row));
        for (i, velocity) in self.velocities.iter_mut().enumerate() {
            let line = &interface.by_rows[i * rows..(i + 1) * rows];
            *velocity += tight().map(|row| line[row] * impulses[row]).sum::<f64>();
        }
        // What the active rows answer to the velocities that they would have without impulses of their own ...
        self.column.clear();
        for &row in &self.active {
            let line = &problem.matrix[row * rows..(row + 1) * rows];
            let by_tight: f64 = tight().map(|other| line[other] * impulses[other]).sum();
            self.column.push(problem.velocities[row] + by_tight);
        }
        self.factors.solve(&mut self.column);
        for (i, velocity) in self.velocities.iter_mut().enumerate() {
            let line = &interface.by_rows[i * rows..(i + 1) * rows];
            let answers = self.active.iter().zip(&self.column);
            *velocity -= answers.map(|(&row, x)| line[row] * x).sum::<f64>();
        }
        // ... and to each impulse of the interface.
        for j in 0..count {
            let source = &interface.by_rows[j * rows..(j + 1) * rows];
            self.column.clear();
            self.column
                .extend(self.active.iter().map(|&row| source[row]));
            self.factors.solve(&mut self.column);
            for i in 0..count {
                let line = &interface.by_rows[i * rows..(i + 1) * rows];
                let answers = self.active.iter().zip(&self.column);
                let taken: f64 = answers.map(|(&row, x)| line[row] * x).sum();
                self.mobility[i * count + j] -= taken;
            }
        }
    }
}
