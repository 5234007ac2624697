//! Dominant eigenvalues of a matrix that is known only by its products with vectors.
//!
//! Arnoldi's iteration: an orthonormal basis of v, Λv, Λ²v, … in which Λ is a small Hessenberg
//! matrix. Its eigenvalues (Ritz values) approach the outer eigenvalues of Λ first, which are those
//! that decide about stability. The error of a Ritz value is, to first order, its residual and the
//! noise of the products, times its condition number.
//!
//! Saad, Numerical Methods for Large Eigenvalue Problems, 2nd ed. (2011), Sect. 3.2 and 6.2.

use nalgebra::{Complex, DMatrix, DMatrixView, DVector};

use crate::eigen::{Eigenvectors, eigenvalues_of, right_eigenvector};
use crate::reach::Reach;

/// Vectors from one look at the Ritz values to the next.
const LOOK: usize = 10;
/// Ritz values that are told, of those with nonnegative imaginary part.
const WANTED: usize = 12;
/// Relative error at which the dominant Ritz value is good enough.
const SETTLED: f64 = 1e-9;
/// A product that lies in the space of the others up to this share of itself adds nothing.
const NOTHING_NEW: f64 = 1e-13;

/// Products are linear to first order only, and so are bounds: both count this many times.
const CAUTION: f64 = 10.0;

/// Products over which a growing mode is followed.
const FOLLOWED: usize = 4;

/// An approximate eigenvalue.
#[derive(Clone, Debug)]
pub(crate) struct Ritz {
    pub value: Complex<f64>,
    /// How far the eigenvalue may be, to first order and with caution.
    pub error: f64,
    /// The part of the error that more vectors would make smaller, and the part that they would
    /// not; without caution.
    unfinished: f64,
    noise: f64,
    /// The eigenvector in the basis.
    vector: DVector<Complex<f64>>,
}

impl Ritz {
    /// Whether more vectors would not make it any better.
    fn is_finished(&self) -> bool {
        self.unfinished <= self.noise.max(SETTLED * self.value.norm())
    }

    /// Whether the eigenvalue is larger than a limit for certain.
    pub fn exceeds(&self, limit: f64) -> bool {
        self.value.norm() - self.error > limit
    }
}

/// What the iteration found.
pub(crate) struct RitzPairs {
    /// The outermost approximate eigenvalues with nonnegative imaginary part; vague ones are left
    /// out, except for the first.
    pub values: Vec<Ritz>,
    /// No eigenvalue is larger than this, but for bad luck with the start.
    pub reach: f64,
    arnoldi: Arnoldi,
}

impl RitzPairs {
    /// Real and imaginary part of a unit eigenvector.
    pub fn shape(&self, ritz: &Ritz) -> [DVector<f64>; 2] {
        let basis = &self.arnoldi.basis;
        let mut parts = [(); 2].map(|()| DVector::zeros(basis[0].len()));
        for (share, vector) in ritz.vector.iter().zip(basis) {
            parts[0].axpy(share.re, vector, 1.0);
            parts[1].axpy(share.im, vector, 1.0);
        }
        parts
    }

    /// Follows every eigenvector beyond a limit over some products, and does not believe those
    /// that do not keep their growth: slow motions, x growing with constant v, look like growing
    /// modes for a while. Says how many products that took.
    pub fn confirm<E>(
        &mut self,
        limit: f64,
        mut multiply: impl FnMut(&DVector<f64>) -> Result<DVector<f64>, E>,
    ) -> Result<usize, E> {
        let mut products = 0;
        for index in 0..self.values.len() {
            if !self.values[index].exceeds(limit) {
                continue;
            }
            let [mut re, mut im] = self.shape(&self.values[index]);
            let mut value = self.values[index].value;
            for _ in 0..FOLLOWED {
                let (image_re, image_im) = (multiply(&re)?, multiply(&im)?);
                value = Complex::new(
                    re.dot(&image_re) + im.dot(&image_im),
                    re.dot(&image_im) - im.dot(&image_re),
                );
                let length = image_re.norm().hypot(image_im.norm());
                (re, im) = (image_re / length, image_im / length);
                products += 2;
            }
            let ritz = &mut self.values[index];
            ritz.error = ritz.error.max(CAUTION * (ritz.value - value).norm());
        }
        self.values.sort_by_key(|ritz| !ritz.exceeds(limit));
        Ok(products)
    }

    /// Products that were taken.
    pub fn products(&self) -> usize {
        self.arnoldi.size
    }
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
    /// Relative error beyond which a Ritz value says nothing.
    pub vague: f64,
    /// That no eigenvalue is larger than this, if anything, is all that need be known.
    pub enough: Option<f64>,
}

/// Iterates until an eigenvalue beyond the limit is as good as the noise of the products allows,
/// no eigenvalue can be beyond it, or the basis is full. Nothing if the small eigenvalue problem
/// fails. The start must be random, without a preferred direction.
pub(crate) fn dominant<E>(
    start: DVector<f64>,
    goal: Goal,
    mut multiply: impl FnMut(&DVector<f64>) -> Result<DVector<f64>, E>,
) -> Result<Option<RitzPairs>, E> {
    let full = goal.vectors.min(start.len());
    let mut arnoldi = Arnoldi::new(start, full);
    loop {
        let image = multiply(arnoldi.last())?;
        let is_invariant = !arnoldi.extend(image, goal.noise);
        if is_invariant || arnoldi.size == full {
            return Ok(arnoldi.conclude(goal));
        }
        if arnoldi.size.is_multiple_of(LOOK) && arnoldi.is_settled(goal) {
            return Ok(arnoldi.conclude(goal));
        }
    }
}

/// Λ V(m) = V(m+1) H, with orthonormal V and H of upper Hessenberg form.
pub(crate) struct Arnoldi {
    basis: Vec<DVector<f64>>,
    hessenberg: DMatrix<f64>,
    size: usize,
}

impl Arnoldi {
    /// Begins with a vector, for so many at most.
    pub fn new(start: DVector<f64>, limit: usize) -> Self {
        Self {
            basis: vec![start.normalize()],
            hessenberg: DMatrix::zeros(limit + 1, limit),
            size: 0,
        }
    }

    /// The last vector, the product with which is wanted.
    pub fn last(&self) -> &DVector<f64> {
        self.basis.last().expect("a basis starts with a vector")
    }

    /// Takes the product with the last vector; false if the space is invariant.
    pub fn extend(&mut self, mut image: DVector<f64>, noise: f64) -> bool {
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

    /// Λ on the basis.
    pub fn projected(&self) -> DMatrix<f64> {
        self.hessenberg
            .view((0, 0), (self.size, self.size))
            .into_owned()
    }

    /// The same with the row beyond the basis.
    pub fn extended(&self) -> DMatrixView<'_, f64> {
        self.hessenberg.view((0, 0), (self.size + 1, self.size))
    }

    /// A real vector in the plane of a mode, of unit length.
    pub fn shape(&self, value: Complex<f64>) -> Option<DVector<f64>> {
        let right = right_eigenvector(&self.projected(), value)?;
        let mut shape = DVector::zeros(self.basis[0].len());
        for (share, vector) in right.iter().zip(&self.basis) {
            shape.axpy(share.re, vector, 1.0);
        }
        shape.try_normalize(0.0)
    }

    /// Whether more vectors would say nothing new about the limit.
    fn is_settled(&self, goal: Goal) -> bool {
        let matrix = self.projected();
        let Some(all) = outermost(&matrix) else {
            return false;
        };
        let dominant = self.ritz(&matrix, all[0], goal.noise);
        if let Some(ritz) = dominant
            && ritz.exceeds(goal.limit)
        {
            return ritz.is_finished();
        }
        goal.enough.is_some_and(|enough| {
            let values = self.first(&matrix, &all, goal.noise);
            self.reach(&all, &values) <= enough
        })
    }

    /// The first of all Ritz values, with their errors.
    fn first(&self, matrix: &DMatrix<f64>, all: &[Complex<f64>], noise: f64) -> Vec<Ritz> {
        let values = all.iter().take(WANTED);
        values
            .filter_map(|&value| self.ritz(matrix, value, noise))
            .collect()
    }

    /// How large eigenvalues can be; those that are found as far as noise may have moved them.
    fn reach(&self, all: &[Complex<f64>], first: &[Ritz]) -> f64 {
        let found = first.iter().filter(|ritz| ritz.is_finished());
        let found = found.map(|ritz| ritz.value.norm() + ritz.noise);
        let reach = Reach::new(self.extended(), self.basis[0].len(), all);
        found.fold(reach.radius(), f64::max)
    }

    fn ritz(&self, matrix: &DMatrix<f64>, value: Complex<f64>, noise: f64) -> Option<Ritz> {
        let vectors = Eigenvectors::of(matrix, value)?;
        let condition = vectors.condition();
        let right = vectors.right;
        let beyond = self.hessenberg[(self.size, self.size - 1)];
        let unfinished = condition * beyond * right[self.size - 1].norm();
        let noise = condition * noise;
        Some(Ritz {
            value,
            error: CAUTION * (unfinished + noise),
            unfinished,
            noise,
            vector: right,
        })
    }

    fn conclude(self, goal: Goal) -> Option<RitzPairs> {
        let matrix = self.projected();
        let all = outermost(&matrix)?;
        let mut values = self.first(&matrix, &all, goal.noise);
        let reach = self.reach(&all, &values);
        values.sort_by_key(|ritz| !ritz.exceeds(goal.limit));
        let mut is_first = true;
        values.retain(|ritz| {
            std::mem::take(&mut is_first) || ritz.error <= goal.vague * ritz.value.norm()
        });
        values.first()?;
        Some(RitzPairs {
            values,
            reach,
            arnoldi: self,
        })
    }
}

/// Eigenvalues with nonnegative imaginary part, the largest first.
fn outermost(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let mut values = eigenvalues_of(matrix)?;
    values.retain(|value| value.im >= 0.0);
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::convert::Infallible;

    fn found(matrix: &DMatrix<f64>) -> RitzPairs {
        found_from(Random(0), matrix)
    }

    fn found_from(mut random: Random, matrix: &DMatrix<f64>) -> RitzPairs {
        let start = random.direction(matrix.nrows());
        let goal = Goal {
            vectors: 120,
            noise: 0.0,
            limit: 1.0,
            vague: 0.1,
            enough: Some(1.0),
        };
        let found = dominant(start, goal, |v| Ok::<_, Infallible>(matrix * v));
        found.unwrap().unwrap()
    }

    /// Rotations by growing angles with shrinking radii, seen in skew coordinates.
    fn spirals(pairs: usize) -> DMatrix<f64> {
        skewed((0..pairs).map(spiral))
    }

    /// A matrix with these eigenvalues and their conjugates, seen in skew coordinates.
    fn skewed(values: impl ExactSizeIterator<Item = Complex<f64>>) -> DMatrix<f64> {
        let n = 2 * values.len();
        let mut matrix = DMatrix::zeros(n, n);
        for (pair, value) in values.enumerate() {
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
        assert!(found.products() < 120, "{}", found.products());
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
        let [mode, _] = &found.shape(&found.values[0]);
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
        assert_eq!(found.products(), 3);
        assert!((found.values[0].value.re + 2.0).abs() < 1e-13);
    }

    /// 150 pairs on the unit circle, far more than 120 vectors could tell apart, and one beyond it.
    #[test]
    fn no_eigenvalue_is_beyond_the_reach() {
        let crowd = |radius: f64| {
            let pair = move |k: usize| match k {
                75 => Complex::from_polar(radius, 0.02 * 75.0),
                _ => Complex::from_polar(1.0, 0.02 * k as f64),
            };
            skewed((0..150).map(pair))
        };
        for radius in [1.0, 1.01, 1.1] {
            let matrix = crowd(radius);
            for seed in 0..2 {
                let reach = found_from(Random(seed), &matrix).reach;
                assert!(reach >= radius, "{radius}: {reach}");
                // (√300 / 1e-3)^(1/120) = 1.085 is as much as 120 products can exclude.
                assert!(reach < 1.12 * radius, "{radius}: {reach}");
            }
        }
    }

    #[test]
    fn all_vectors_prove_that_nothing_grows() {
        let found = found(&skewed(
            (0..50).map(|k| Complex::from_polar(0.999, 0.06 * k as f64)),
        ));
        assert!(found.reach < 1.0 + 1e-8, "{:e}", found.reach - 1.0);
    }
}
