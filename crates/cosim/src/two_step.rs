//! The two-step method LMS2, with which parts are integrated and motions predicted.
//!
//! P. Masarati, M. Lanz, P. Mantegazza, "Multistep integration of ordinary, stiff and
//! differential-algebraic problems for multibody dynamics applications", XVI Congresso Nazionale
//! AIDAA, Palermo, 2001; A. Fontana et al., Multibody System Dynamics, 2026, Eq. 11 to 13.

/// Spectral radius from which on rates that are found from values do not settle soon.
const SETTLING: f64 = 0.9;

/// Weights of `y = a1 y1 + a2 y2 + h (b0 y' + b1 y1' + b2 y2')`, from values and rates one and two
/// steps back and the new rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStep {
    /// a1 and a2.
    pub values: [f64; 2],
    /// b0, b1 and b2.
    pub rates: [f64; 3],
}

impl TwoStep {
    /// First order: only the new rate counts.
    pub const BACKWARD_EULER: Self = Self {
        values: [1.0, 0.0],
        rates: [1.0, 0.0, 0.0],
    };

    /// Second order, one step: starts the two-step method.
    pub const CRANK_NICOLSON: Self = Self {
        values: [1.0, 0.0],
        rates: [0.5, 0.5, 0.0],
    };

    /// Of second order, with the spectral radius `rho` at infinite frequency.
    pub fn lms2(rho: f64) -> Self {
        let square = (1.0 - rho).powi(2);
        let beta = (3.0 * square + 4.0 * (2.0 * rho - 1.0)) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        Self {
            values: [1.0 - beta, beta],
            rates: [
                delta + 0.5,
                beta / 2.0 + 0.5 - 2.0 * delta,
                beta / 2.0 + delta,
            ],
        }
    }

    /// The method, if rates that are found from given values settle again: what they overshoot by becomes less by ρ∞ in a
    /// step.
    pub fn settling(self) -> Option<Self> {
        let [b0, _, b2] = self.rates;
        (b2 < SETTLING * SETTLING * b0).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Order conditions: constants, straight lines and parabolas are reproduced.
    #[test]
    fn the_two_step_method_is_of_second_order_for_every_dissipation() {
        for rho in [0.0, 0.3, 0.6, 1.0] {
            let TwoStep {
                values: [a1, a2],
                rates: [b0, b1, b2],
            } = TwoStep::lms2(rho);
            assert!((a1 + a2 - 1.0).abs() < 1e-15);
            // y = t at t = 1, 0, -1; then y = t^2.
            assert!((-a2 + b0 + b1 + b2 - 1.0).abs() < 1e-15);
            assert!((a2 + 2.0 * b0 - 2.0 * b2 - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn without_dissipation_it_is_two_crank_nicolson_steps_and_with_all_of_it_bdf2() {
        let trapezium = TwoStep::lms2(1.0);
        assert_eq!(trapezium.values, [0.0, 1.0]);
        assert_eq!(trapezium.rates, [0.5, 1.0, 0.5]);
        let bdf = TwoStep::lms2(0.0);
        for (weight, expected) in bdf.rates.into_iter().zip([2.0 / 3.0, 0.0, 0.0]) {
            assert!((weight - expected).abs() < 1e-15);
        }
        assert!((bdf.values[0] - 4.0 / 3.0).abs() < 1e-15);
    }
}
