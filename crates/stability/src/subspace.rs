//! The modes of a large matrix that do not decay fast, without the others.
//!
//! Most coordinates of a macro step are histories, or belong to what an integrator damps out at once. A high power of the
//! matrix, by repeated squaring, has lost them; what it makes of random vectors spans the modes that are left, and what
//! its transpose makes of them their left modes. On these two subspaces the matrix is a small one. That its modes are
//! those of the large matrix is checked for all that are handed out; where one is not, there is no answer here.

use nalgebra::{Complex, DMatrix, DVector};

use crate::dominant::basis_of;
use crate::eigen::{Eigenvectors, eigenvalues_of, right_eigenvector};
use crate::random::Random;

/// Rows from which on a matrix is large.
pub(crate) const LARGE: usize = 300;
/// Squarings at least and at most: powers 128 to 512.
const SQUARINGS: std::ops::RangeInclusive<usize> = 7..=9;
/// Random vectors, at most a third of the rows, and the seed of their signs.
const WIDE: usize = 240;
const SEED: u64 = 17;
/// Modes that decay faster in a step, relative to the dominant one or to a steady state, are not handed out; and of those
/// that do not decay that fast either all must be found.
const NEAR: f64 = 0.95;
const NEAREST: f64 = 0.99;
/// The fastest growth in a step beside which a power of the matrix keeps the modes that are steady.
const FASTEST: f64 = 1.05;
/// How far a mode of the small matrix may be from one of the large, relative to it.
const RESIDUAL: f64 = 1e-11;

/// Right and left modes on subspaces.
pub(crate) struct Subspaces {
    /// Eigenvalues near or beyond the unit circle, the largest first.
    pub values: Vec<Complex<f64>>,
    right: Subspace,
    left: Subspace,
}

/// An orthonormal basis, and the matrix on it.
struct Subspace {
    basis: DMatrix<f64>,
    small: DMatrix<f64>,
}

impl Subspaces {
    pub fn of(matrix: &DMatrix<f64>) -> Option<Self> {
        let n = matrix.nrows();
        let wide = WIDE.min(n / 3);
        let signs = Random(SEED).signs(n * wide).data.into();
        let sketch = DMatrix::<f64>::from_vec(n, wide, signs);
        let mut power = matrix.clone();
        let mut next = matrix.clone();
        for count in 1..=*SQUARINGS.end() {
            power.mul_to(&power, &mut next);
            std::mem::swap(&mut power, &mut next);
            let size = power.norm();
            if !(size.is_finite() && size > 0.0) {
                return None;
            }
            power /= size;
            if !SQUARINGS.contains(&count) {
                continue;
            }
            if let (Some(right), Some(left)) =
                (basis_of(&power * &sketch), basis_of(power.tr_mul(&sketch)))
            {
                return Self::on(matrix, right, left);
            }
        }
        None
    }

    fn on(matrix: &DMatrix<f64>, right: DMatrix<f64>, left: DMatrix<f64>) -> Option<Self> {
        // Once more, so that what the power has made small is as accurate as the rest.
        let right = (matrix * right).qr().q();
        let left = matrix.tr_mul(&left).qr().q();
        let right = Subspace {
            small: right.tr_mul(&(matrix * &right)),
            basis: right,
        };
        let left = Subspace {
            small: left.tr_mul(&matrix.tr_mul(&left)),
            basis: left,
        };
        let mut values = eigenvalues_of(&right.small)?;
        let largest = values.first()?.norm();
        if largest > FASTEST {
            return None;
        }
        let largest = largest.min(1.0);
        let size = matrix.norm();
        let is_mode = |value: &Complex<f64>| {
            let Some(mode) = right.mode(*value) else {
                return false;
            };
            let parts = [mode.map(|z| z.re), mode.map(|z| z.im)];
            let [re, im] = parts.map(|part| matrix * part);
            let image = re.zip_map(&im, Complex::new);
            (image - mode * *value).norm() <= RESIDUAL * size
        };
        values.retain(|value| value.norm() >= NEAR * largest);
        let (modes, others): (Vec<_>, Vec<_>) = values.into_iter().partition(is_mode);
        let is_whole = others.iter().all(|value| value.norm() < NEAREST * largest);
        is_whole.then_some(Self {
            values: modes,
            right,
            left,
        })
    }

    /// The eigenvectors of one of the eigenvalues.
    pub fn vectors(&self, value: Complex<f64>) -> Option<Eigenvectors> {
        Some(Eigenvectors {
            right: self.right.mode(value)?,
            left: self.left.mode(value.conj())?,
        })
    }
}

impl Subspace {
    fn mode(&self, value: Complex<f64>) -> Option<DVector<Complex<f64>>> {
        let shares = right_eigenvector(&self.small, value)?;
        let parts = [shares.map(|z| z.re), shares.map(|z| z.im)];
        let [re, im] = parts.map(|part| &self.basis * part);
        Some(re.zip_map(&im, Complex::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs near the circle among many that decay, mixed by a matrix without structure.
    #[test]
    fn modes_near_the_circle_are_found_with_both_vectors() {
        let n = 360;
        let near = [(1.02, 0.4), (1.0, 0.01), (0.999, 0.1), (0.97, 2.0)];
        let mut blocks = DMatrix::<f64>::zeros(n, n);
        for k in 0..n / 2 {
            let (radius, angle) = match near.get(k) {
                Some(&pair) => pair,
                None => (0.7 * (k as f64 / n as f64), 0.017 * k as f64),
            };
            let value = Complex::from_polar(radius, angle);
            let rows = [[value.re, -value.im], [value.im, value.re]];
            for (i, row) in rows.iter().enumerate() {
                for (j, entry) in row.iter().enumerate() {
                    blocks[(2 * k + i, 2 * k + j)] = *entry;
                }
            }
        }
        let noise: Vec<f64> = Random(5).signs(n * n).iter().copied().collect();
        let mixed = DMatrix::from_fn(n, n, |i, j| {
            f64::from(u8::from(i == j)) + 0.02 * noise[i * n + j] * ((i * 7 + j) as f64).sin()
        });
        let inverse = mixed.clone().try_inverse().unwrap();
        let matrix = mixed * blocks * inverse;
        let found = Subspaces::of(&matrix).unwrap();
        assert_eq!(found.values.len(), 2 * near.len());
        for (pair, (radius, angle)) in found.values.chunks(2).zip(near) {
            let exact = Complex::from_polar(radius, angle);
            let off = |z: &Complex<f64>| (z - exact).norm().min((z - exact.conj()).norm());
            assert!(pair.iter().all(|z| off(z) < 1e-11), "{pair:?} {exact}");
            let vectors = found.vectors(exact).unwrap();
            let rest = matrix.map(Complex::from) * &vectors.right - &vectors.right * exact;
            assert!(rest.norm() < 1e-9, "{:e}", rest.norm());
            let adjoint = matrix.transpose().map(Complex::from);
            let rest = adjoint * &vectors.left - &vectors.left * exact.conj();
            assert!(rest.norm() < 1e-9, "{:e}", rest.norm());
        }
    }
}
