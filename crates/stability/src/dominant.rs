//! The largest eigenvalues of a small matrix, without the others.
//!
//! Maps and searches ask for the spectral radius of thousands of matrices. Most eigenvalues of a
//! macro step belong to histories and to what an integrator damps out at once: they are far inside
//! the circle of the largest. Powers of the matrix by repeated squaring lose them below rounding;
//! the columns that are left span the invariant subspace of the others, on which the matrix is a
//! small one. Whether the subspace is invariant is checked: where eigenvalues are not separated so
//! clearly there is no answer here, and all of them are to be computed.

use nalgebra::{Complex, DMatrix, DVector};

use crate::eigen::eigenvalues_of;
use crate::random::Random;

/// Squarings after which eigenvalues are separated, at least and at most: powers 64 to 256.
const SQUARINGS: std::ops::RangeInclusive<usize> = 6..=8;
/// The random combinations of columns are always the same, and so many in a row that show nothing
/// new are enough.
const SEED: u64 = 1;
const ENOUGH: usize = 2;
/// Size of what is new in a combination, relative to the first, above which it belongs to the
/// subspace ...
const KEPT: f64 = 1e-6;
/// ... and below which it is lost. In between, there is no gap.
const LOST: f64 = 1e-12;
/// How far the subspace may be from invariant, relative to the matrix.
const INVARIANT: f64 = 1e-12;

/// The largest eigenvalues, with everything that is not far below them; nothing where they are not
/// separated from the others. The largest is first.
pub(crate) fn dominant_eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let mut power = matrix.clone();
    let mut next = matrix.clone();
    for count in 1..=*SQUARINGS.end() {
        power.mul_to(&power, &mut next);
        std::mem::swap(&mut power, &mut next);
        let largest = power.amax();
        if !(largest.is_finite() && largest > 0.0) {
            return None;
        }
        power /= largest;
        if SQUARINGS.contains(&count)
            && let Some(basis) = basis_of(&power)
        {
            return eigenvalues_on(matrix, &basis);
        }
    }
    None
}

/// An orthonormal basis of the columns, if these fall into large and negligible ones: of random
/// combinations of them, one at a time, until nothing new comes.
fn basis_of(power: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = power.nrows();
    let mut random = Random(SEED);
    let mut basis = DMatrix::zeros(n, n / 2 + 1);
    let mut shares = DVector::zeros(n / 2 + 1);
    let (mut count, mut first, mut empty) = (0, 0.0, 0);
    // More than half of all would not save anything.
    while count <= n / 2 {
        let mut direction = power * random.signs(n);
        let size = direction.norm();
        let known = basis.columns(0, count);
        // Once more, for what rounding left of them.
        for _ in 0..2 {
            let mut shares = shares.rows_mut(0, count);
            shares.gemv_tr(1.0, &known, &direction, 0.0);
            direction.gemv(-1.0, &known, &shares, 1.0);
        }
        if count == 0 {
            first = size;
        }
        let new = direction.norm();
        if new <= LOST * first {
            empty += 1;
            if empty == ENOUGH {
                return Some(basis.columns(0, count).into_owned());
            }
            continue;
        }
        if new <= KEPT * first || empty > 0 {
            return None;
        }
        basis.set_column(count, &(direction / new));
        count += 1;
    }
    None
}

/// The eigenvalues of the matrix on the subspace of a basis, if it is invariant.
fn eigenvalues_on(matrix: &DMatrix<f64>, basis: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let image = matrix * basis;
    let small = basis.tr_mul(&image);
    let outside = image - basis * &small;
    if outside.amax() > INVARIANT * matrix.amax() {
        return None;
    }
    eigenvalues_of(&small)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two decaying pairs near the unit circle and histories that are far inside.
    fn recurrence(inner: f64) -> DMatrix<f64> {
        let pairs = [
            (0.999, 0.1),
            (0.95, 0.7),
            (inner, 1.3),
            (0.3, 2.0),
            (0.2, 0.4),
        ];
        let n = 2 * pairs.len() + 4;
        let mut blocks = DMatrix::zeros(n, n);
        for (k, (radius, angle)) in pairs.into_iter().enumerate() {
            let value = Complex::from_polar(radius, angle);
            let rows = [[value.re, -value.im], [value.im, value.re]];
            for (i, row) in rows.iter().enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    blocks[(2 * k + i, 2 * k + j)] = *entry;
                }
            }
        }
        // A chain of histories: nilpotent.
        for i in n - 3..n {
            blocks[(i, i - 1)] = 1.0;
        }
        let mixed = DMatrix::from_fn(n, n, |i, j| {
            f64::from(u8::from(i == j)) + 0.3 * ((1 + i * 3 + j * 5) as f64).sin()
        });
        let inverse = mixed.clone().try_inverse().unwrap();
        mixed * blocks * inverse
    }

    #[test]
    fn eigenvalues_that_are_separated_are_found_alone() {
        let found = dominant_eigenvalues(&recurrence(0.4)).unwrap();
        assert_eq!(found.len(), 4);
        for (value, radius) in found.iter().zip([0.999, 0.999, 0.95, 0.95]) {
            assert!((value.norm() - radius).abs() < 1e-12, "{value}");
        }
    }

    #[test]
    fn a_close_follower_is_found_too_or_nothing() {
        for inner in [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9] {
            if let Some(found) = dominant_eigenvalues(&recurrence(inner)) {
                assert!(
                    (found[0].norm() - 0.999).abs() < 1e-11,
                    "{inner}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_largest_eigenvalue_gives_nothing() {
        let nilpotent = DMatrix::from_fn(5, 5, |i, j| f64::from(u8::from(j == i + 1)));
        assert!(dominant_eigenvalues(&nilpotent).is_none());
        assert!(dominant_eigenvalues(&DMatrix::from_element(3, 3, f64::NAN)).is_none());
        assert!(dominant_eigenvalues(&DMatrix::zeros(0, 0)).is_none());
    }
}
