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

/// Squarings after which eigenvalues are separated, at least and at most: powers 64 to 256.
const SQUARINGS: std::ops::RangeInclusive<usize> = 6..=8;
/// Size of a column, relative to the largest, above which it belongs to the subspace ...
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

/// An orthonormal basis of the columns, if these fall into large and negligible ones: Gram and
/// Schmidt's, the largest column first.
fn basis_of(power: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = power.nrows();
    let mut rest = power.clone();
    let mut basis: Vec<DVector<f64>> = Vec::new();
    let mut first = 0.0;
    // More than half of all would not save anything.
    while basis.len() <= n / 2 {
        let sizes = rest.column_iter().map(|column| column.norm());
        let (place, size) = sizes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        if basis.is_empty() {
            first = size;
        }
        if size <= LOST * first {
            return Some(DMatrix::from_columns(&basis));
        }
        if size <= KEPT * first {
            return None;
        }
        let mut direction = rest.column(place) / size;
        for other in &basis {
            direction.axpy(-other.dot(&direction), other, 1.0);
        }
        direction.normalize_mut();
        for mut column in rest.column_iter_mut() {
            let share = direction.dot(&column);
            column.axpy(-share, &direction, 1.0);
        }
        basis.push(direction);
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
