//! The quadratic eigenproblem (s² M + s D + K) x = 0, and solutions with its matrix at one s.

use super::motion::Equations;
use crate::linearised::first_order::FirstOrder;
use crate::linearised::{Entry, LinearisedMatrices};
use faer::linalg::solvers::{PartialPivLu, SolveCore};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, Mat, MatMut, c64};
use nalgebra::DMatrix;

/// Up to this size matrices are factored as dense ones.
const DENSE: usize = 500;

/// Relative rounding error of the entries, with some reserve.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Relative error of entries that come from differences.
const DIFFERENCE: f64 = 1e-10;

/// Mass, damping, stiffness; entries at one place add up. Constraints are rows and columns of the
/// stiffness.
#[derive(Clone, Debug, Default)]
pub(super) struct Pencil {
    pub size: usize,
    /// Unknowns that move; multipliers follow.
    pub moving: usize,
    pub mass: Vec<Entry>,
    pub damping: Vec<Entry>,
    pub stiffness: Vec<Entry>,
    /// Entries of damping and stiffness that come from differences: they are in these too.
    pub differences: [Vec<Entry>; 2],
}

/// Factors of s² M + s D + K.
pub(super) enum Factors {
    Dense(PartialPivLu<c64>),
    Sparse(Box<faer::sparse::linalg::solvers::Lu<usize, c64>>),
}

impl Pencil {
    /// Of nodes and multipliers.
    pub fn new(matrices: LinearisedMatrices) -> Self {
        let LinearisedMatrices {
            unknowns,
            nodes,
            mass,
            mut damping,
            mut stiffness,
            constraint_rows,
            force_columns,
            left_out,
        } = matrices;
        let differences = [
            left_out.damping.clone(),
            [left_out.stiffness.clone(), left_out.force_columns.clone()].concat(),
        ];
        damping.extend(left_out.damping);
        stiffness.extend(left_out.stiffness);
        stiffness.extend(constraint_rows);
        stiffness.extend(force_columns);
        stiffness.extend(left_out.force_columns);
        Self {
            size: unknowns,
            moving: 6 * nodes,
            mass,
            damping,
            stiffness,
            differences,
        }
    }

    /// Of nodes, states of elements, and multipliers, with constraints on velocities.
    pub fn of(equations: Equations) -> Self {
        let Equations {
            mut matrices,
            rows,
            states,
        } = equations;
        let (n, count) = (6 * matrices.nodes, states.count());
        matrices.constraint_rows = rows.gradients;
        let is_fast = |entry: &Entry| rows.on_velocities[entry.0];
        let (slips, places) = matrices.constraint_rows.into_iter().partition(is_fast);
        matrices.constraint_rows = places;
        let below = |entries: Vec<Entry>| -> Vec<Entry> {
            let entries = entries.into_iter();
            entries.map(|(i, j, v)| (n + count + i, j, v)).collect()
        };
        let beside = |entries: Vec<Entry>| -> Vec<Entry> {
            let entries = entries.into_iter();
            entries.map(|(i, j, v)| (i, j + count, v)).collect()
        };
        matrices.constraint_rows = below(matrices.constraint_rows);
        matrices.force_columns = beside(matrices.force_columns);
        matrices.left_out.force_columns = beside(matrices.left_out.force_columns);
        let mut pencil = Self::new(matrices);
        pencil.size += count;
        pencil.moving += count;
        pencil.damping.extend(below(slips));
        pencil.stiffness.extend(below(rows.by_pose));
        pencil.damping.extend((n..n + count).map(|i| (i, i, 1.0)));
        let own = |entries: Vec<Entry>, first: usize| {
            let entries = entries.into_iter();
            entries.map(move |(i, j, v)| (n + i, first + j, -v))
        };
        pencil.stiffness.extend(own(states.by_states, n));
        pencil.stiffness.extend(own(states.by_pose, 0));
        pencil.damping.extend(own(states.by_velocity, 0));
        let forces = states.forces.into_iter();
        pencil
            .stiffness
            .extend(forces.map(|(i, j, v)| (i, n + j, v)));
        pencil
    }

    /// Of coordinates, states of elements, and speeds: an equation of first order.
    pub fn of_first_order(equations: &FirstOrder) -> Self {
        let [nz, ns, nu] = equations.sizes();
        let mut pencil = Self {
            size: nz + ns + nu,
            moving: nz + ns + nu,
            ..Self::default()
        };
        let starts = [0, nz, nz + ns];
        let mut add = |row: usize, column: usize, matrix: &DMatrix<f64>, is_rate: bool| {
            let to = match is_rate {
                true => &mut pencil.damping,
                false => &mut pencil.stiffness,
            };
            for j in 0..matrix.ncols() {
                for i in 0..matrix.nrows() {
                    let value = matrix[(i, j)];
                    if value != 0.0 {
                        to.push((starts[row] + i, starts[column] + j, value));
                    }
                }
            }
        };
        add(0, 0, &DMatrix::identity(nz, nz), true);
        add(1, 1, &DMatrix::identity(ns, ns), true);
        add(2, 2, &equations.inertia(), true);
        let [places, states] = equations.rates();
        for (row, by) in [places, states, equations.forces()].iter().enumerate() {
            for (column, matrix) in by.iter().enumerate() {
                add(row, column, &-matrix, false);
            }
        }
        pencil
    }

    /// Factors the matrix at `s`, if it is regular.
    pub fn factor(&self, s: c64) -> Option<Factors> {
        let weighted = [
            (&self.mass, s * s),
            (&self.damping, s),
            (&self.stiffness, c64::new(1.0, 0.0)),
        ];
        if self.size <= DENSE {
            let mut matrix = Mat::<c64>::zeros(self.size, self.size);
            for (entries, weight) in weighted {
                for &(i, j, value) in entries {
                    matrix[(i, j)] += weight * value;
                }
            }
            return Some(Factors::Dense(PartialPivLu::new(matrix.as_ref())));
        }
        let mut triplets = Vec::new();
        for (entries, weight) in weighted {
            let triplet = |&(i, j, value): &Entry| Triplet::new(i, j, weight * value);
            triplets.extend(entries.iter().map(triplet));
        }
        let matrix =
            SparseColMat::<usize, c64>::try_new_from_triplets(self.size, self.size, &triplets)
                .ok()?;
        Some(Factors::Sparse(Box::new(matrix.as_ref().sp_lu().ok()?)))
    }

    /// About the highest frequency in rad/s: of one unknown at a time, all others held. Zero where
    /// only constraints resist.
    pub fn fastest(&self) -> f64 {
        let mut diagonals = vec![[0.0; 2]; self.moving];
        for (part, entries) in [&self.mass, &self.stiffness].into_iter().enumerate() {
            for &(i, j, value) in entries {
                if i == j && i < self.moving {
                    diagonals[i][part] += value;
                }
            }
        }
        let with_mass = diagonals.into_iter().filter(|[mass, _]| *mass > 0.0);
        let squares = with_mass.map(|[mass, stiffness]| stiffness / mass);
        squares.fold(0.0, f64::max).sqrt()
    }

    /// Bound of the rounding error of yᴴ (s² M + s D + K) x.
    pub fn rounding(&self, s: c64, y: &[c64], x: &[c64]) -> f64 {
        let size = s.norm();
        let sum = |entries: &[Entry]| -> f64 {
            let each = entries.iter();
            each.map(|&(i, j, v)| y[i].norm() * v.abs() * x[j].norm())
                .sum()
        };
        let [damping, stiffness] = &self.differences;
        ROUNDING
            * (size * size * sum(&self.mass) + size * sum(&self.damping) + sum(&self.stiffness))
            + DIFFERENCE * (size * sum(damping) + sum(stiffness))
    }

    /// s² M x + s D x + K x.
    pub fn residual(&self, s: c64, x: &[c64]) -> Vec<c64> {
        let mut sum = vec![c64::new(0.0, 0.0); self.size];
        add_product(&self.mass, s * s, x, &mut sum);
        add_product(&self.damping, s, x, &mut sum);
        add_product(&self.stiffness, c64::new(1.0, 0.0), x, &mut sum);
        sum
    }

    /// (2 s M + D) x.
    pub fn slope(&self, s: c64, x: &[c64]) -> Vec<c64> {
        let mut sum = vec![c64::new(0.0, 0.0); self.size];
        add_product(&self.mass, s * 2.0, x, &mut sum);
        add_product(&self.damping, c64::new(1.0, 0.0), x, &mut sum);
        sum
    }

    pub fn mass_times(&self, x: &[c64]) -> Vec<c64> {
        let mut sum = vec![c64::new(0.0, 0.0); self.size];
        add_product(&self.mass, c64::new(1.0, 0.0), x, &mut sum);
        sum
    }
}

/// Adds `weight` times matrix times vector.
pub(super) fn add_product(entries: &[Entry], weight: c64, x: &[c64], sum: &mut [c64]) {
    for &(i, j, value) in entries {
        sum[i] += weight * x[j] * value;
    }
}

impl Factors {
    /// Replaces a right-hand side by the solution.
    pub fn solve(&self, x: &mut [c64]) {
        let rows = x.len();
        let column = MatMut::from_column_major_slice_mut(x, rows, 1);
        match self {
            Self::Dense(lu) => lu.solve_in_place_with_conj(Conj::No, column),
            Self::Sparse(lu) => lu.solve_in_place_with_conj(Conj::No, column),
        }
    }

    /// The same with the conjugate transpose.
    pub fn solve_adjoint(&self, x: &mut [c64]) {
        let rows = x.len();
        let column = MatMut::from_column_major_slice_mut(x, rows, 1);
        match self {
            Self::Dense(lu) => lu.solve_transpose_in_place_with_conj(Conj::Yes, column),
            Self::Sparse(lu) => lu.solve_transpose_in_place_with_conj(Conj::Yes, column),
        }
    }
}

/// yᴴ x.
pub(super) fn dot(y: &[c64], x: &[c64]) -> c64 {
    y.iter().zip(x).map(|(y, x)| y.conj() * x).sum()
}

pub(super) fn norm(x: &[c64]) -> f64 {
    x.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense and sparse factors solve the same system, and its adjoint.
    #[test]
    fn factors_solve_the_matrix_and_its_adjoint() {
        let n = DENSE + 20;
        let mut pencil = Pencil {
            size: n,
            moving: n,
            ..Pencil::default()
        };
        for i in 0..n {
            pencil.mass.push((i, i, 1.0 + 0.01 * i as f64));
            pencil.stiffness.push((i, i, 5.0));
            pencil.stiffness.push((i, (i + 1) % n, 1.5));
            pencil.damping.push(((i + 2) % n, i, 0.3));
        }
        let s = c64::new(0.3, 1.7);
        let x: Vec<c64> = (0..n).map(|i| c64::new(i as f64, 1.0)).collect();
        let mut y = pencil.residual(s, &x);
        let factors = pencil.factor(s).unwrap();
        factors.solve(&mut y);
        let off = |a: &[c64]| {
            a.iter()
                .zip(&x)
                .map(|(a, b)| (a - b).norm())
                .fold(0.0, f64::max)
        };
        assert!(off(&y) < 1e-9, "{}", off(&y));
        // yᴴ P x = (Pᴴ y)ᴴ x with y = P⁻ᴴ x gives |x|².
        let mut left = x.clone();
        factors.solve_adjoint(&mut left);
        let found = dot(&left, &pencil.residual(s, &x));
        let expected = norm(&x).powi(2);
        assert!((found - expected).norm() < 1e-9 * expected, "{found}");
    }
}
