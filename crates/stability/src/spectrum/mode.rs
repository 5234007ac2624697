//! A mode with its error, and what may be decided by it.

use nalgebra::Complex;

/// Growth by this factor within a macro step counts as none where it is not certain: a model is
/// called stable if no mode can grow faster.
pub const THRESHOLD: f64 = 1e-6;
/// Growth that is certain is at least so large; what is less is the rounding of unit eigenvalues.
pub(crate) const ROUNDING: f64 = 1e-10;

/// Errors within which another eigenvalue may be part of the same multiple one; or growths, where
/// these are as slight as rounding makes them of a multiple eigenvalue 1.
const NEIGHBOURS: f64 = 10.0;
/// Share of the distance to the nearest other by which a measurement moves an eigenvalue that stands alone.
const MOVED: f64 = 0.1;
/// Growth in a step that may be what rounding makes of a threefold eigenvalue: the cube root of it.
const SPLIT: f64 = 1e-5;

/// Whether a mode grows, as far as that could be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No mode grows by more than [`THRESHOLD`] in a step.
    Stable,
    /// A mode grows: by more than the error of its radius.
    Unstable,
    /// Neither is certain.
    Undecided,
}

impl Decision {
    /// What a radius with its error says, and a radius that no mode exceeds.
    pub(crate) fn on(radius: f64, error: f64, reach: f64) -> Self {
        if radius - error.max(ROUNDING) > 1.0 {
            Self::Unstable
        } else if reach <= 1.0 + THRESHOLD {
            Self::Stable
        } else {
            Self::Undecided
        }
    }
}

/// A mode of the recurrence, or a conjugate pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenMode {
    /// Its eigenvalue, with nonnegative imaginary part.
    pub value: Complex<f64>,
    /// How far that may be off.
    pub error: f64,
}

impl EigenMode {
    /// Where all of the motion is forgotten within a step.
    pub(crate) const NONE: Self = Self::unexamined(Complex::new(0.0, 0.0));

    /// A mode of which no more than its eigenvalue is known.
    pub(crate) const fn unexamined(value: Complex<f64>) -> Self {
        Self {
            value,
            error: ROUNDING,
        }
    }

    /// Whether it grows for certain.
    pub fn is_growing(&self) -> bool {
        self.value.norm() - self.error.max(ROUNDING) > 1.0
    }

    /// Rounding splits a multiple eigenvalue, and no part of it is known better than they lie apart.
    pub(crate) fn beware_of_neighbours(&mut self, place: usize, values: &[Complex<f64>]) {
        let others = values
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        let distances = others.map(|(_, value)| (value - self.value).norm());
        let nearest = distances.fold(f64::INFINITY, f64::min);
        // What a measurement along its own vectors moves by much of that is not alone.
        let moved = (self.value - values[place]).norm();
        if moved > MOVED * nearest {
            self.error = self.error.max(nearest);
        }
        let growth = (self.value.norm() - 1.0).abs();
        let is_slight = growth < THRESHOLD && nearest <= NEIGHBOURS * growth;
        if is_slight || nearest <= NEIGHBOURS * self.error {
            self.error = self.error.max(nearest);
        }
        // The three parts of a threefold one lie √3 times as far from each other as from where it was.
        if growth < SPLIT && nearest <= 2.0 * growth {
            self.error = self.error.max(2.0 * nearest);
        }
    }
}
