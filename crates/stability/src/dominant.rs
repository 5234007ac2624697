//! The largest eigenvalues of a small matrix, without the others.
//!
//! Maps and searches ask for the spectral radius of thousands of matrices. Most eigenvalues of a
//! macro step belong to histories and to what an integrator damps out at once: they are far inside
//! the circle of the largest. Powers of the matrix by repeated squaring lose them below rounding;
//! the columns that are left span a subspace with the eigenvectors of the others, on which the matrix
//! is a small one. The weaker a direction is left, the less accurate it is, and the less the mode
//! of the largest eigenvalue has of it. That this one is an eigenvector is checked; where it is not,
//! there is no answer here, and all eigenvalues are to be computed.

use nalgebra::{Complex, DMatrix};

use crate::eigen::{eigenvalues_of, right_eigenvector};
use crate::random::Random;

/// Squarings after which eigenvalues are separated, at least and at most: powers 128 to
/// 1024.
const SQUARINGS: std::ops::RangeInclusive<usize> = 7..=10;
/// Size of a column, relative to the largest, below which it is lost.
const LOST: f64 = 1e-12;
/// Sums of columns that are looked at first, and the seed of their signs.
const FEW: usize = 12;
const SKETCH: u64 = 11;
/// How far the mode of the largest eigenvalue may be from one, relative to the matrix.
const RESIDUAL: f64 = 1e-12;

/// The largest eigenvalue, and after it what the others on its subspace are about; nothing where it
/// could not be told from them.
pub(crate) fn dominant_eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let n = matrix.nrows();
    let mut power = matrix.clone();
    let mut next = matrix.clone();
    let sketch = Random(SKETCH).signs(n * FEW.min(n)).data.into();
    let sketch = DMatrix::from_vec(n, FEW.min(n), sketch);
    for count in 0..=*SQUARINGS.end() {
        if count > 0 {
            power.mul_to(&power, &mut next);
            std::mem::swap(&mut power, &mut next);
        }
        if !normalise(power.as_mut_slice()) {
            return None;
        }
        if SQUARINGS.contains(&count) {
            // A few sums of all columns span what is left, unless that is more.
            let basis = basis_of(&power * &sketch).or_else(|| match FEW < n / 2 {
                true => basis_of(power.clone()),
                false => None,
            });
            if let Some(basis) = basis {
                return eigenvalues_on(matrix, &basis);
            }
        }
    }
    None
}

/// An orthonormal basis of the columns, if few of them are not negligible: Gram and Schmidt's, the
/// largest column first.
pub(crate) fn basis_of(mut rest: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let (n, most) = rest.shape();
    let columns = rest.as_mut_slice();
    let mut squares: Vec<f64> = columns.chunks_exact(n).map(|c| dot(c, c)).collect();
    let mut basis: Vec<f64> = Vec::new();
    let mut first = 0.0;
    // As many as there are may not be all, and more than half would not save anything.
    for rank in 0..most.min(n / 2 + 1) {
        let sizes = squares.iter().enumerate();
        let (place, square) = sizes.max_by(|a, b| a.1.total_cmp(b.1))?;
        let size = square.sqrt();
        if rank == 0 {
            first = size;
        }
        if size <= LOST * first {
            return Some(DMatrix::from_column_slice(n, rank, &basis));
        }
        basis.extend_from_slice(&columns[place * n..(place + 1) * n]);
        let (others, direction) = basis.split_at_mut(rank * n);
        scale(direction, 1.0 / size);
        for other in others.chunks_exact(n) {
            take_away(direction, other);
        }
        scale(direction, 1.0 / dot(direction, direction).sqrt());
        for (column, square) in columns.chunks_exact_mut(n).zip(&mut squares) {
            take_away(column, direction);
            *square = dot(column, column);
        }
    }
    None
}

/// Lanes of a sum: one after the other would wait for each addition.
const LANES: usize = 8;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest = rest.map(|(a, b)| a * b).sum::<f64>();
    for (a, b) in a.zip(b) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Takes the share of a unit vector away from a column.
fn take_away(column: &mut [f64], direction: &[f64]) {
    let share = dot(column, direction);
    for (entry, along) in column.iter_mut().zip(direction) {
        *entry -= share * along;
    }
}

fn scale(values: &mut [f64], by: f64) {
    values.iter_mut().for_each(|value| *value *= by);
}

/// Makes the sum of all squares one; false if there is none.
fn normalise(entries: &mut [f64]) -> bool {
    let square = dot(entries, entries);
    scale(entries, 1.0 / square.sqrt());
    square.is_finite() && square > 0.0
}

/// The eigenvalues of the matrix on the subspace of a basis, if the mode of the largest is in it.
fn eigenvalues_on(matrix: &DMatrix<f64>, basis: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let image = matrix * basis;
    let small = basis.tr_mul(&image);
    let values = eigenvalues_of(&small)?;
    let shares = right_eigenvector(&small, *values.first()?)?;
    let outside = image - basis * &small;
    let parts = [shares.map(|share| share.re), shares.map(|share| share.im)];
    let residual = parts.map(|part| (&outside * part).amax());
    let is_mode = residual
        .into_iter()
        .all(|part| part <= RESIDUAL * matrix.amax());
    is_mode.then_some(values)
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
    fn close_followers_do_not_change_the_largest() {
        for inner in [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99] {
            let found = dominant_eigenvalues(&recurrence(inner)).unwrap();
            let off = (found[0].norm() - 0.999).abs();
            assert!(off < 1e-11, "{inner}: {found:?}");
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
