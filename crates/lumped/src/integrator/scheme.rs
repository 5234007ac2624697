//! Implicit formulas that give a new value from old values and rates and the new rate.
//!
//! Every formula reads `y = known + h b0 y'` for positions and velocities alike, where `known`
//! collects what is already there.
//!
//! Reference of the two-step method with tunable dissipation: P. Masarati, M. Lanz,
//! P. Mantegazza, "Multistep integration of ordinary, stiff and differential-algebraic problems for
//! multibody dynamics applications", XVI Congresso Nazionale AIDAA, Palermo, 2001.

/// Weights of a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheme {
    /// Of the values one and two steps back.
    pub values: [f64; 2],
    /// Of the rates now, one and two steps back, times the step size.
    pub rates: [f64; 3],
}

impl Scheme {
    /// First order: only the new rate counts.
    pub(crate) const BACKWARD_EULER: Self = Self {
        values: [1.0, 0.0],
        rates: [1.0, 0.0, 0.0],
    };

    /// Second order, one step: starts the two-step method.
    pub(crate) const CRANK_NICOLSON: Self = Self {
        values: [1.0, 0.0],
        rates: [0.5, 0.5, 0.0],
    };

    /// Second order, two steps, with spectral radius `rho` at infinite frequency.
    pub(crate) fn lms2(rho: f64) -> Self {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Order conditions: constants, straight lines and parabolas are reproduced.
    #[test]
    fn the_two_step_method_is_of_second_order_for_every_dissipation() {
        for rho in [0.0, 0.3, 0.6, 1.0] {
            let Scheme {
                values: [a1, a2],
                rates: [b0, b1, b2],
            } = Scheme::lms2(rho);
            assert!((a1 + a2 - 1.0).abs() < 1e-15);
            // y = t at t = 1, 0, -1; then y = t^2.
            assert!((-a2 + b0 + b1 + b2 - 1.0).abs() < 1e-15);
            assert!((a2 + 2.0 * b0 - 2.0 * b2 - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn without_dissipation_it_is_two_crank_nicolson_steps_and_with_all_of_it_bdf2() {
        let trapezium = Scheme::lms2(1.0);
        assert_eq!(trapezium.values, [0.0, 1.0]);
        assert_eq!(trapezium.rates, [0.5, 1.0, 0.5]);
        let bdf = Scheme::lms2(0.0);
        for (weight, expected) in bdf.rates.into_iter().zip([2.0 / 3.0, 0.0, 0.0]) {
            assert!((weight - expected).abs() < 1e-15);
        }
        assert!((bdf.values[0] - 4.0 / 3.0).abs() < 1e-15);
    }
}
