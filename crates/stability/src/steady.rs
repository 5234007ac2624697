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
use crate::spectrum::{EigenMode, ROUNDING, THRESHOLD};

/// What a matrix changes of a unit vector that counts as steady.
const STEADY: f64 = 1e-7;
/// Links of a chain at most.
const CHAIN: usize = 4;
/// Corrections of the space.
const CORRECTIONS: usize = 4;
/// How far its eigenvalues may be beyond one: less than what a verdict is about.
const AT_ONE: f64 = 0.4 * THRESHOLD;

/// A matrix, split.
pub(crate) struct Split {
    /// Directions that are steady, or become so when others are left out of account.
    pub steady: usize,
    /// By how much the largest of their eigenvalues is beyond one. Rounding spreads copies to all sides, and so makes it
    /// larger, not smaller.
    pub growth: f64,
    /// How far the farthest of them is from one.
    off: f64,
    /// All others, the largest first.
    pub others: Vec<Complex<f64>>,
}

impl Split {
    /// The cluster as one mode, if none of it is to be told from one.
    pub fn drift(&self) -> Option<EigenMode> {
        (self.off <= AT_ONE).then(|| drift(self.off))
    }

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
        if steady.is_empty() || complement.is_empty() {
            // Nothing to set apart.
            return Some(Self {
                steady: 0,
                growth: 0.0,
                off: 0.0,
                others: eigenvalues_of(matrix)?,
            });
        }
        let (inner, others) = uncoupled(matrix, &steady, &complement)?;
        let cluster = eigenvalues_of(&inner)?;
        let radii = cluster.iter().map(|value| value.norm());
        let distances = cluster.iter().map(|value| (value - 1.0).norm());
        Some(Self {
            steady: steady.ncols(),
            growth: radii.fold(1.0, f64::max) - 1.0,
            off: distances.fold(0.0, f64::max),
            others: eigenvalues_of(&others)?,
        })
    }
}

/// A cluster at one as a mode, which may grow by no more than this.
pub(crate) fn drift(growth: f64) -> EigenMode {
    EigenMode {
        value: Complex::from(1.0),
        error: ROUNDING + 2.0 * growth,
    }
}

/// The blocks of a matrix on a space that it hardly leaves and beside it, once the little by which it leaves it is taken into
/// account: modes that are slow themselves make much of it, and a chain the root of that. The space is S + P X with
/// A₂₁ + A₂₂ X = X (A₁₁ + A₁₂ X).
fn uncoupled(
    matrix: &DMatrix<f64>,
    inside: &DMatrix<f64>,
    beside: &DMatrix<f64>,
) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let block = |left: &DMatrix<f64>, right: &DMatrix<f64>| left.transpose() * matrix * right;
    let (a11, a12) = (block(inside, inside), block(inside, beside));
    let (a21, a22) = (block(beside, inside), block(beside, beside));
    let [k, n] = [inside.ncols(), beside.ncols()];
    let factors = (&a22 - DMatrix::identity(n, n)).lu();
    let mut x = DMatrix::zeros(n, k);
    for _ in 0..CORRECTIONS {
        let drift = &a11 + &a12 * &x - DMatrix::identity(k, k);
        x = factors.solve(&(&x * drift - &a21))?;
    }
    Some((a11 + &a12 * &x, a22 - x * a12))
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
        // Three links of a fiftieth: (0.02² · 1e-9)^(1/3), times what skewness makes of the noise.
        assert!(split.growth < 1e-3, "{:e}", split.growth);
        for value in values {
            let distances = split.others.iter().map(|other| (other - value).norm());
            let nearest = distances.fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-6, "{value}: {nearest:e}");
        }
    }

    /// A chain of two whose second link feeds back to the first by way of a slow mode: 10⁻⁸ · 0.03 / 10⁻³ and the
    /// coupling of the chain make a growth of 5·10⁻⁵ a step, though the matrix changes no vector of the chain by more than 10⁻⁸.
    #[test]
    fn growth_by_way_of_a_slow_mode_is_no_drift() {
        let mut matrix = DMatrix::<f64>::identity(3, 3);
        let (chain, little, slow, back) = (0.01, 1e-8, 1e-3, 0.03);
        matrix[(0, 1)] = chain;
        matrix[(2, 0)] = little;
        matrix[(2, 2)] = 1.0 - slow;
        matrix[(1, 2)] = back;
        let exact = eigenvalues_of(&matrix).unwrap();
        let growth = exact.iter().map(|value| value.norm()).fold(0.0, f64::max) - 1.0;
        assert!((4e-5..6e-5).contains(&growth), "{growth:e}");
        let split = Split::of(&matrix).unwrap();
        assert_eq!(split.steady, 2);
        assert!(split.drift().is_none());
        let off = (split.growth / growth - 1.0).abs();
        assert!(off < 0.2, "{:e}", split.growth);
    }
}
