//! Undamped eigenmodes about the present configuration.
//!
//! Subspace iteration on the shifted problem (K + σ M) x = (ω² + σ) M x, constraints included, so
//! that only the block factorisation is needed and large models stay cheap.

use crate::assembly::Everywhere;
use crate::element::Weights;
use crate::error::SolveError;
use crate::linear::Given;
use crate::math::Vec3;
use crate::system::System;
use nalgebra::{DMatrix, SymmetricEigen};

/// Relative change of the eigenvalues at which the iteration stops.
const CONVERGED: f64 = 1e-12;
const MAX_ITERATIONS: usize = 300;

/// A mode of vibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// ω², negative for an unstable configuration.
    pub omega_squared: f64,
    /// Displacement and rotation of every node, the ground first, scaled to unit modal mass.
    pub shape: Vec<(Vec3, Vec3)>,
}

impl Mode {
    /// Period of vibration.
    pub fn period(&self) -> f64 {
        std::f64::consts::TAU / self.omega_squared.sqrt()
    }

    /// Frequency in hertz.
    pub fn frequency(&self) -> f64 {
        self.omega_squared.sqrt() / std::f64::consts::TAU
    }
}

impl System {
    /// The lowest `count` modes about the present configuration at rest, in ascending order.
    /// `shift` is a σ = ω² somewhere in the range of interest; it must be positive if the model
    /// can move as a rigid body.
    pub fn modes(
        &mut self,
        count: usize,
        shift: f64,
        inputs: &[f64],
    ) -> Result<Vec<Mode>, SolveError> {
        let freedoms = 6 * self.assembly.nodes();
        let vectors = (2 * count)
            .max(count + 8)
            .min(freedoms - self.assembly.constraints);
        self.factor_shifted(shift, inputs)?;
        let mut basis = start_vectors(freedoms, vectors);
        let mut values = vec![f64::INFINITY; vectors];
        for _ in 0..MAX_ITERATIONS {
            let loads = self.mass_times(&basis);
            let images = self.solve_columns(&loads);
            let a = images.tr_mul(&loads);
            let m = images.tr_mul(&self.mass_times(&images));
            let (found, ritz) = ritz(&a, &m).ok_or(SolveError::Massless)?;
            basis = &images * ritz;
            let change = |(new, old): (&f64, &f64)| (new - old).abs() <= CONVERGED * new.abs();
            let done = found.iter().zip(&values).take(count).all(change);
            values = found;
            if done {
                break;
            }
        }
        let mode = |i: usize| {
            let column = basis.column(i);
            let part = |k: usize| Vec3::new(column[k], column[k + 1], column[k + 2]);
            let nodes = (0..freedoms / 6).map(|k| (part(6 * k), part(6 * k + 3)));
            Mode {
                omega_squared: values[i] - shift,
                shape: std::iter::once((Vec3::ZERO, Vec3::ZERO))
                    .chain(nodes)
                    .collect(),
            }
        };
        Ok((0..count.min(vectors)).map(mode).collect())
    }

    pub(crate) fn factor_shifted(&mut self, shift: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let weights = Weights {
            mass: shift,
            damping: 0.0,
            stiffness: 1.0,
        };
        for motion in &mut self.motions {
            *motion = motion.moving(Vec3::ZERO, Vec3::ZERO);
        }
        self.work.factored.values.clear();
        let at = Everywhere::new(
            self.state.time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        );
        let factored = self
            .assembly
            .factor(&mut self.lu, &at, weights, Given::Change);
        self.return_to_records();
        factored.map_err(|pivot| self.singular(self.state.time, pivot.unknown))
    }

    pub(crate) fn mass_times(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let weights = Weights {
            mass: 1.0,
            damping: 0.0,
            stiffness: 0.0,
        };
        let mut product = DMatrix::zeros(x.nrows(), x.ncols());
        for (i, inertia) in self.assembly.inertia.iter().skip(1).enumerate() {
            let motion = self.motions[i + 1].moving(Vec3::ZERO, Vec3::ZERO);
            let blocks = inertia.jacobian(&motion, Vec3::ZERO, weights, Default::default());
            for j in 0..x.ncols() {
                let part = |k: usize| Vec3::new(x[(k, j)], x[(k + 1, j)], x[(k + 2, j)]);
                let (d, r) = (part(6 * i), part(6 * i + 3));
                let force = blocks[0] * d + blocks[1] * r;
                let moment = blocks[2] * d + blocks[3] * r;
                for k in 0..3 {
                    product[(6 * i + k, j)] = force[k];
                    product[(6 * i + 3 + k, j)] = moment[k];
                }
            }
        }
        product
    }

    pub(crate) fn solve_columns(&mut self, loads: &DMatrix<f64>) -> DMatrix<f64> {
        let freedoms = loads.nrows();
        let mut solution = loads.clone();
        let mut x = vec![0.0; self.assembly.unknowns()];
        for mut column in solution.column_iter_mut() {
            x.fill(0.0);
            x[..freedoms].copy_from_slice(column.as_slice());
            self.lu.solve(&mut x);
            column.copy_from_slice(&x[..freedoms]);
        }
        solution
    }
}

/// Solves a z = μ m z; eigenvalues ascend.
fn ritz(a: &DMatrix<f64>, m: &DMatrix<f64>) -> Option<(Vec<f64>, DMatrix<f64>)> {
    let symmetric = |x: &DMatrix<f64>| (x + x.transpose()) * 0.5;
    let lower = symmetric(m).cholesky()?.unpack();
    let half = lower.solve_lower_triangular(&symmetric(a))?;
    let standard = lower.solve_lower_triangular(&half.transpose())?;
    let eigen = SymmetricEigen::new(symmetric(&standard));
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
    let sorted = DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| {
        eigen.eigenvectors[(i, order[j])]
    });
    let vectors = lower.tr_solve_lower_triangular(&sorted)?;
    Some((
        order.iter().map(|&i| eigen.eigenvalues[i]).collect(),
        vectors,
    ))
}

/// Repeatable vectors without any symmetry.
fn start_vectors(rows: usize, columns: usize) -> DMatrix<f64> {
    let mut seed = 1_u64;
    DMatrix::from_fn(rows, columns, |_, _| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}
