//! The cluster of eigenvalues at one, taken out of a matrix.
//!
//! Where something may drift (a vehicle along and across its road, wheels about their axles, whatever no spring holds) the
//! eigenvalue one has as many copies, some of them in chains: a heading that is off carries the place away. Rounding
//! moves such a multiple eigenvalue by its root, and in all directions, so that none of its copies is known. The space that they
//! span together is well known all the same: the matrix hardly changes what lies in it. In an orthonormal basis that begins with
//! it the matrix is block triangular, and what the other eigenvalues are is no longer confused by it.

use faer::Mat;
use nalgebra::{Complex, DMatrix};

use crate::eigen::eigenvalues_of;

/// What a matrix changes of a unit vector that counts as steady.
const STEADY: f64 = 1e-7;
/// Links of a chain at most.
const CHAIN: usize = 4;

/// A matrix, split.
pub(crate) struct Split {
    /// Directions that are steady, or become so when others are left out of account.
    pub steady: usize,
    /// How far the eigenvalues of these are from one.
    pub off: f64,
    /// All others, the largest first.
    pub others: Vec<Complex<f64>>,
}

impl Split {
    /// Nothing where an eigenvalue problem has no solution.
    pub fn of(matrix: &DMatrix<f64>) -> Option<Self> {
        let n = matrix.nrows();
        let mut steady = DMatrix::zeros(n, 0);
        let mut complement = DMatrix::<f64>::identity(n, n);
        let mut rest = matrix.clone();
        for _ in 0..CHAIN {
            let Some((kept, dropped)) = split_off(&rest)? else {
                break;
            };
            let found: DMatrix<f64> = &complement * dropped;
            let before = steady.ncols();
            steady = steady.insert_columns(before, found.ncols(), 0.0);
            steady.columns_mut(before, found.ncols()).copy_from(&found);
            complement *= &kept;
            rest = kept.transpose() * rest * kept;
        }
        let inner = steady.transpose() * matrix * &steady;
        let distances = eigenvalues_of(&inner)?
            .into_iter()
            .map(|value| (value - 1.0).norm());
        Some(Self {
            steady: steady.ncols(),
            off: distances.fold(0.0, f64::max),
            others: eigenvalues_of(&rest)?,
        })
    }
}

/// Orthonormal bases of what a matrix changes and of what it does not; nothing where it changes all.
fn split_off(matrix: &DMatrix<f64>) -> Option<Option<(DMatrix<f64>, DMatrix<f64>)>> {
    let n = matrix.nrows();
    let change = Mat::from_fn(n, n, |i, j| matrix[(i, j)] - if i == j { 1.0 } else { 0.0 });
    let svd = change.svd().ok()?;
    let sizes = svd.S().column_vector();
    let kept = (0..n).filter(|&i| sizes[i] > STEADY).count();
    if kept == n {
        return Some(None);
    }
    let basis =
        |from: usize, count: usize| DMatrix::from_fn(n, count, |i, j| svd.V()[(i, from + j)]);
    Some(Some((basis(0, kept), basis(kept, n - kept))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Ones in chains of one, two and three links beside a decaying and a growing pair, in skew coordinates and
    /// with noise: three copies of one chain move by the cube root of the noise, the others by less than a thousand
    /// times the noise.
    #[test]
    fn chains_of_ones_do_not_blur_the_others() {
        let pairs = [(0.9999, 0.003), (1.0001, 0.02), (0.7, 0.5)];
        let chains = [1, 2, 3];
        let n = 6 + 2 * pairs.len();
        let mut matrix = DMatrix::<f64>::identity(n, n);
        let mut row = 0;
        for links in chains {
            for link in 1..links {
                matrix[(row + link - 1, row + link)] = 0.02;
            }
            row += links;
        }
        let values = pairs.map(|(radius, angle)| Complex::from_polar(radius, angle));
        for value in values {
            let block = [value.re, value.im, -value.im, value.re];
            let block = DMatrix::from_column_slice(2, 2, &block);
            matrix.view_mut((row, row), (2, 2)).copy_from(&block);
            row += 2;
        }
        let mut random = Random(3);
        let skew = DMatrix::from_fn(n, n, |i, j| {
            let amount = random.amounts(1)[0];
            if i == j { 1.0 } else { 0.2 * amount }
        });
        let noise = DMatrix::from_fn(n, n, |_, _| 1e-9 * random.amounts(1)[0]);
        let matrix = &skew * matrix * skew.clone().try_inverse().unwrap() + noise;
        let split = Split::of(&matrix).unwrap();
        assert_eq!(split.steady, 6);
        assert_eq!(split.others.len(), 2 * pairs.len());
        assert!(split.off < 1e-3, "{:e}", split.off);
        for value in values {
            let distances = split.others.iter().map(|other| (other - value).norm());
            let nearest = distances.fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-6, "{value}: {nearest:e}");
        }
    }
}
