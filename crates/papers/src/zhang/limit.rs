//! How heavy the nonsmooth side may be for index-1 inputs: zero-stability of two masses that are joined rigidly, without any spring.
//!
//! With x the motion of the smooth side, D x = h ẋ is its two-step method, D(z) = (z² − a₁ z − a₂)/(b₀ z² + b₁ z + b₂). Eq. 33–35 predict
//! h ẋ⁰ = −12 (1 − 1/z) x + (8 + 5/z) D x, x⁰ = (a₁ + a₂/z) x + (b₁ + b₂/z) D x + b₀ h ẋ⁰ and h² ẍ⁰ = D² x. Eq. 26 with (2, 2, 1) makes of them the velocity
//! w/h of the other side, (z − 1/5 + 2/5 z/(z − 1)) w = (2 x⁰ + 2 h ẋ⁰ + h² ẍ⁰)/5, and its reaction drives the smooth side: z D² x = −r (z − 1) w for a
//! ratio r = m₂/m₁ of the masses. Stability is lost where a root comes to z = −1. There D = 4 (1 + ρ∞)/(1 − ρ∞), and with Eq. 7
//!
//! r = 5 D² / (2 (D² + 10 D − 70 − 4 β − 48 δ)), β = (4 ρ∞² − (1 − ρ∞)²)/(4 − (1 − ρ∞)²), δ = (1 − ρ∞)²/(8 − 2 (1 − ρ∞)²).
//!
//! Below ρ∞ = 0.25 and above 0.7 a pair of complex roots leaves the circle earlier. So the heaviest nonsmooth side, 2.96 times the smooth one, is borne at ρ∞ = 0.25; at
//! 0.56, the value of the paper's two masses, 1.86 times.

use oldham_stability::radius;

use super::{TWO_MASS, law};
use crate::item::{PaperError, model_with};

/// The mass ratio at which a root is at −1, for a spectral radius at infinity.
pub(super) fn closed_form(rho: f64) -> f64 {
    let square = (1.0 - rho).powi(2);
    let beta = (4.0 * rho * rho - square) / (4.0 - square);
    let delta = square / (8.0 - 2.0 * square);
    let d = 4.0 * (1.0 + rho) / (1.0 - rho);
    2.5 * d * d / (d * d + 10.0 * d - 70.0 - 4.0 * beta - 48.0 * delta)
}

/// The same by the spectral radius of the run, on a spring so soft that 20 steps turn its phase by one.
pub(super) fn by_bisection(rho: f64) -> Result<f64, PaperError> {
    let square = (0.05_f64 / 1e-3).powi(2);
    let is_stable = |ratio: f64| -> Result<bool, PaperError> {
        let settings = vec![
            law("index-1"),
            ("rho", rho.to_string()),
            ("square", square.to_string()),
            ("m2", ratio.to_string()),
        ];
        Ok(radius(&mut model_with(TWO_MASS, &settings)?.simulation()?) <= 1.0 + 1e-8)
    };
    let (mut low, mut high) = (0.1, 8.0);
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        match is_stable(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recurrence that is run loses its stability where the closed form says; elsewhere earlier.
    #[test]
    fn the_run_bears_the_mass_ratio_of_the_closed_form() {
        for rho in [0.26, 0.3, 0.4, 0.56, 0.65] {
            let (found, expected) = (by_bisection(rho).unwrap(), closed_form(rho));
            assert!(
                (found / expected - 1.0).abs() < 5e-3,
                "{rho}: {found} {expected}"
            );
        }
        for rho in [0.15, 0.2, 0.8] {
            let (found, expected) = (by_bisection(rho).unwrap(), closed_form(rho));
            assert!(found < 0.8 * expected, "{rho}: {found} {expected}");
        }
    }
}
