//! Dominant eigenvalues of a matrix that is known only by its products with vectors.
//!
//! Arnoldi's iteration: an orthonormal basis of v, Λv, Λ²v, … in which Λ is a small Hessenberg
//! matrix. Its eigenvalues (Ritz values) approach the outer eigenvalues of Λ first, which are those
//! that decide about stability. The error of a Ritz value is, to first order, its residual and the
//! noise of the products, times its condition number.
//!
//! Saad, Numerical Methods for Large Eigenvalue Problems, 2nd ed. (2011), Sect. 3.2 and 6.2.

use nalgebra::{Complex, DMatrix, DVector, Dyn, LU};

use crate::recurrence::schur_eigenvalues;

/// Vectors at the first look at the dominant Ritz value; there are twice as many at each further
/// one.
const FIRST_LOOK: usize = 10;
/// Ritz values that are told, of those with nonnegative imaginary part.
const WANTED: usize = 12;
/// Relative error beyond which a Ritz value says nothing.
const VAGUE: f64 = 0.1;
/// Relative error at which the dominant Ritz value is good enough.
const SETTLED: f64 = 1e-9;
/// A product that lies in the space of the others up to this share of itself adds nothing.
const NOTHING_NEW: f64 = 1e-13;
/// Shift of inverse iteration off the eigenvalue, relative to the matrix: its systems stay
/// solvable.
const SHIFT: f64 = 1e-14;

/// Products are linear to first order only, and so are bounds: both count this many times.
const CAUTION: f64 = 10.0;

/// An approximate eigenvalue.
#[derive(Clone, Debug)]
pub(crate) struct Ritz {
    pub value: Complex<f64>,
    /// How far the eigenvalue may be, to first order and with caution.
    pub error: f64,
    /// The part of the error that more vectors would make smaller.
    unfinished: f64,
    /// The eigenvector in the basis.
    vector: DVector<Complex<f64>>,
}

/// What the iteration found.
pub(crate) struct Found {
    /// The outermost approximate eigenvalues with nonnegative imaginary part; vague ones are left
    /// out, except for the first.
    pub values: Vec<Ritz>,
    /// A real vector in the plane of the first one's eigenvectors, of unit length.
    pub mode: DVector<f64>,
    /// Products that were taken.
    pub products: usize,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Vectors of the basis at most.
    pub vectors: usize,
    /// Norm of the error of a product with a unit vector.
    pub noise: f64,
    /// Eigenvalues that are certainly larger than this come before those that only may be.
    pub limit: f64,
}

/// Iterates until the dominant eigenvalue is as good as the noise of the products allows, or the
/// basis is full. Nothing if the small eigenvalue problem fails.
pub(crate) fn dominant<E>(
    start: DVector<f64>,
    goal: Goal,
    mut multiply: impl FnMut(&DVector<f64>) -> Result<DVector<f64>, E>,
) -> Result<Option<Found>, E> {
    let full = goal.vectors.min(start.len());
    let mut arnoldi = Arnoldi::new(start, full);
    let mut next_look = FIRST_LOOK;
    loop {
        let image = multiply(arnoldi.last())?;
        let is_invariant = !arnoldi.extend(image, goal.noise);
        if is_invariant || arnoldi.size == full {
            return Ok(arnoldi.conclude(goal));
        }
        if arnoldi.size == next_look {
            next_look *= 2;
            if arnoldi.is_settled(goal.noise) {
                return Ok(arnoldi.conclude(goal));
            }
        }
    }
}

/// Λ V(m) = V(m+1) H, with orthonormal V and H of upper Hessenberg form.
struct Arnoldi {
    basis: Vec<DVector<f64>>,
    hessenberg: DMatrix<f64>,
    size: usize,
}

impl Arnoldi {
    fn new(start: DVector<f64>, limit: usize) -> Self {
        Self {
            basis: vec![start.normalize()],
            hessenberg: DMatrix::zeros(limit + 1, limit),
            size: 0,
        }
    }

    fn last(&self) -> &DVector<f64> {
        self.basis.last().expect("a basis starts with a vector")
    }

    /// Takes the product with the last vector; false if the space is invariant.
    fn extend(&mut self, mut image: DVector<f64>, noise: f64) -> bool {
        let column = self.size;
        let length = image.norm();
        // Twice is enough (Kahan): the first pass leaves rounding of what it took away.
        for _ in 0..2 {
            for (row, vector) in self.basis.iter().enumerate() {
                let share = vector.dot(&image);
                image.axpy(-share, vector, 1.0);
                self.hessenberg[(row, column)] += share;
            }
        }
        let rest = image.norm();
        self.size += 1;
        self.hessenberg[(column + 1, column)] = rest;
        if rest <= noise.max(NOTHING_NEW * length) {
            return false;
        }
        self.basis.push(image / rest);
        true
    }

    fn projected(&self) -> DMatrix<f64> {
        self.hessenberg
            .view((0, 0), (self.size, self.size))
            .into_owned()
    }

    /// Whether more vectors would not make the dominant Ritz value any better.
    fn is_settled(&self, noise: f64) -> bool {
        let matrix = self.projected();
        let Some(value) = outermost(&matrix).and_then(|values| values.first().copied()) else {
            return false;
        };
        self.ritz(&matrix, value, noise).is_some_and(|ritz| {
            let finished = (ritz.error - ritz.unfinished).max(SETTLED * value.norm());
            ritz.unfinished <= finished
        })
    }

    fn ritz(&self, matrix: &DMatrix<f64>, value: Complex<f64>, noise: f64) -> Option<Ritz> {
        let right = eigenvector(matrix, value)?;
        let left = eigenvector(&matrix.transpose(), value.conj())?;
        let condition = 1.0 / left.dotc(&right).norm();
        let beyond = self.hessenberg[(self.size, self.size - 1)];
        let unfinished = CAUTION * condition * beyond * right[self.size - 1].norm();
        Some(Ritz {
            value,
            error: unfinished + CAUTION * condition * noise,
            unfinished,
            vector: right,
        })
    }

    fn conclude(self, Goal { noise, limit, .. }: Goal) -> Option<Found> {
        let matrix = self.projected();
        let mut values: Vec<Ritz> = outermost(&matrix)?
            .into_iter()
            .take(WANTED)
            .filter_map(|value| self.ritz(&matrix, value, noise))
            .collect();
        values.sort_by_key(|ritz| ritz.value.norm() - ritz.error <= limit);
        let mut is_first = true;
        values.retain(|ritz| {
            std::mem::take(&mut is_first) || ritz.error <= VAGUE * ritz.value.norm()
        });
        let mut mode = DVector::zeros(self.basis[0].len());
        for (share, vector) in values.first()?.vector.iter().zip(&self.basis) {
            mode.axpy(share.re, vector, 1.0);
        }
        Some(Found {
            values,
            mode: mode.normalize(),
            products: self.size,
        })
    }
}

/// Eigenvalues with nonnegative imaginary part, the largest first.
fn outermost(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let mut values = schur_eigenvalues(matrix)?;
    values.retain(|value| value.im >= 0.0);
    Some(values)
}

/// The unit eigenvector of an eigenvalue, by inverse iteration.
fn eigenvector(matrix: &DMatrix<f64>, value: Complex<f64>) -> Option<DVector<Complex<f64>>> {
    let shift = value + Complex::from(SHIFT * matrix.norm().max(f64::MIN_POSITIVE));
    let mut shifted = matrix.map(Complex::from);
    for i in 0..shifted.nrows() {
        shifted[(i, i)] -= shift;
    }
    let factors: LU<Complex<f64>, Dyn, Dyn> = shifted.lu();
    let start = DVector::from_element(matrix.nrows(), Complex::from(1.0));
    let once = factors.solve(&start)?.normalize();
    let twice = factors.solve(&once)?.normalize();
    twice
        .iter()
        .all(|share| share.re.is_finite())
        .then_some(twice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn found(matrix: &DMatrix<f64>) -> Found {
        let n = matrix.nrows();
        let start = DVector::from_fn(n, |i, _| 1.0 + (1.3 * i as f64).sin());
        let goal = Goal {
            vectors: 120,
            noise: 0.0,
            limit: 1.0,
        };
        let found = dominant(start, goal, |v| Ok::<_, Infallible>(matrix * v));
        found.unwrap().unwrap()
    }

    /// Rotations by growing angles with shrinking radii, seen in skew coordinates.
    fn spirals(pairs: usize) -> DMatrix<f64> {
        let n = 2 * pairs;
        let mut matrix = DMatrix::zeros(n, n);
        for pair in 0..pairs {
            let value = spiral(pair);
            let block = [[value.re, -value.im], [value.im, value.re]];
            for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                matrix[(2 * pair + row, 2 * pair + column)] = block[row][column];
            }
        }
        let skew = DMatrix::from_fn(n, n, |i, j| match j {
            _ if i == j => 1.0,
            _ if j == i + 1 => 0.4,
            _ => 0.0,
        });
        let straight = skew.clone().try_inverse().unwrap();
        skew * matrix * straight
    }

    fn spiral(pair: usize) -> Complex<f64> {
        Complex::from_polar(1.2 * 0.97_f64.powi(pair as i32), 0.1 + 0.02 * pair as f64)
    }

    #[test]
    fn dominant_eigenvalues_of_a_large_matrix_are_found_within_their_bounds() {
        let found = found(&spirals(150));
        assert!(found.products < 120, "{}", found.products);
        let first = &found.values[0];
        assert!((first.value - spiral(0)).norm() < 1e-8, "{}", first.value);
        for (pair, ritz) in found.values.iter().enumerate().take(4) {
            let off = (ritz.value - spiral(pair)).norm();
            assert!(off <= ritz.error + 1e-12, "{off:e} {:e}", ritz.error);
        }
    }

    #[test]
    fn the_mode_stays_in_its_plane() {
        let matrix = spirals(60);
        let found = found(&matrix);
        let value = found.values[0].value;
        let mode = &found.mode;
        // In an invariant plane: z'' = 2 Re(λ) z' - |λ|² z.
        let once = &matrix * mode;
        let twice = &matrix * &once;
        let rest = twice - once * (2.0 * value.re) + mode * value.norm_sqr();
        assert!(rest.norm() < 1e-6, "{:e}", rest.norm());
    }

    #[test]
    fn a_small_invariant_space_ends_the_iteration() {
        let matrix = DMatrix::from_diagonal(&DVector::from_fn(50, |i, _| [0.5, -2.0, 0.25][i % 3]));
        let found = found(&matrix);
        assert_eq!(found.products, 3);
        assert!((found.values[0].value.re + 2.0).abs() < 1e-13);
    }
}
