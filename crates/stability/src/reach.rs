//! How large an eigenvalue can be that Arnoldi's iteration has not found.
//!
//! Let y be a left eigenvector of Λ of unit length, μ its eigenvalue, v₁, v₂, … the basis and
//! a(j) = y* v(j). From Λ V(m) = V(m+1) H follows
//!
//! ```text
//! μ a(j) = sum over i ≤ j + 1 of h(i, j) a(i)
//! ```
//!
//! so a(1) and μ give all others, and since the basis is orthonormal, Σ |a|² ≤ 1. A random start
//! v₁ of n coordinates has |a(1)| ≥ δ/√n, except with a probability below 0.8 δ. No μ for which
//! the others come out so large that Σ |a|² > n/δ² |a(1)|² is an eigenvalue then, however skew the
//! eigenvectors are. What remains possible are neighbourhoods of Ritz values and a disc that
//! shrinks with every product.

use std::f64::consts::PI;

use nalgebra::{Complex, DMatrix, DMatrixView};

/// δ: a start is as bad as this, or worse, once in a thousand times or less.
const BAD_LUCK: f64 = 1e-3;
/// Rays on which eigenvalues with nonnegative imaginary part are looked for.
const RAYS: usize = 180;
/// Factor between the circles on which they are, by what lies beyond the unit circle.
const CLOSER: f64 = 0.9;
/// What lies closer to the unit circle is not told from it.
const CLOSEST: f64 = 1e-9;

/// Where eigenvalues are possible.
pub(crate) struct Reach {
    hessenberg: DMatrix<f64>,
    largest: f64,
    rays: Vec<Complex<f64>>,
    ritz: Vec<Complex<f64>>,
    known: f64,
    /// Modes that are known, and around which none is looked for, and how far around.
    apart: (Vec<Complex<f64>>, f64),
}

impl Reach {
    /// From the Hessenberg matrix with the row beyond the basis, of a matrix with so many
    /// coordinates, and the Ritz values. All of a region that rays could miss is the neighbourhood
    /// of a Ritz value.
    pub fn new(
        extended: DMatrixView<'_, f64>,
        coordinates: usize,
        values: &[Complex<f64>],
    ) -> Self {
        let angles = (0..=RAYS).map(|ray| PI * ray as f64 / RAYS as f64);
        let outside = values.iter().filter(|value| value.norm() > 1.0);
        let angles = angles.chain(outside.map(|value| value.arg().abs()));
        Self {
            hessenberg: extended.into_owned(),
            largest: coordinates as f64 / BAD_LUCK.powi(2),
            rays: angles
                .map(|angle| Complex::from_polar(1.0, angle))
                .collect(),
            ritz: values.to_vec(),
            known: values.iter().map(|value| value.norm()).fold(0.0, f64::max),
            apart: (Vec::new(), 0.0),
        }
    }

    /// The same apart from the neighbourhoods of some modes, of which it is known otherwise where they are.
    pub fn apart_from(mut self, modes: Vec<Complex<f64>>, distance: f64) -> Self {
        let unknown = |value: &&Complex<f64>| !is_near(**value, &modes, distance);
        let ritz = self.ritz.iter().filter(unknown);
        self.known = ritz.map(|value| value.norm()).fold(0.0, f64::max);
        self.apart = (modes, distance);
        self
    }

    /// The same for a start that is some power of Λ times a random vector, and was so long: of what grows it has more.
    pub fn after_powers(mut self, length: f64) -> Self {
        self.largest *= length * length;
        self
    }

    /// The smallest radius outside the unit circle beyond which there are none.
    pub fn radius(&self) -> f64 {
        let innermost = ((self.known - 1.0) / CLOSER).max(CLOSEST);
        let mut free = self.hessenberg.norm().max(1.0);
        while free > innermost && self.is_free(1.0 + free * CLOSER) {
            free *= CLOSER;
        }
        1.0 + free.max(innermost)
    }

    /// Whether no eigenvalue is possible on a circle.
    fn is_free(&self, radius: f64) -> bool {
        let mut shares = Vec::with_capacity(self.hessenberg.nrows());
        let points = self.rays.iter().map(|ray| ray * radius);
        let (modes, distance) = &self.apart;
        let mut points = points.filter(|point| !is_near(*point, modes, *distance));
        points.all(|point| !self.is_possible(point, &mut shares))
    }

    fn is_possible(&self, value: Complex<f64>, shares: &mut Vec<Complex<f64>>) -> bool {
        shares.clear();
        shares.push(Complex::from(1.0));
        let mut sum = 1.0;
        for (j, column) in self.hessenberg.column_iter().enumerate() {
            let known = shares.iter().zip(column.iter());
            let rest = known.fold(value * shares[j], |rest, (share, &h)| rest - share * h);
            let share = rest / column[j + 1].max(f64::MIN_POSITIVE);
            sum += share.norm_sqr();
            if sum > self.largest {
                return false;
            }
            shares.push(share);
        }
        true
    }
}

/// Whether a value or its conjugate lies near some mode.
fn is_near(value: Complex<f64>, modes: &[Complex<f64>], distance: f64) -> bool {
    let upper = Complex::new(value.re, value.im.abs());
    modes.iter().any(|mode| (mode - upper).norm() < distance)
}
