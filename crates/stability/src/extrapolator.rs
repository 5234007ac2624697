//! Extrapolators in the Laplace domain: what a hold and latencies do to a signal.

use nalgebra::Complex;

/// A polynomial hold between exchanges that are `period` apart, with pure delays.
///
/// I. Tamellin, D. Richiedei, B. Rodriguez, F. Gonzalez, "Eigenstructure assignment and compensation
/// of explicit co-simulation problems", Mechanism and Machine Theory 176 (2022), Eq. 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extrapolator {
    /// 0, 1 or 2.
    pub order: usize,
    /// Time between two exchanges.
    pub period: f64,
    /// Time that sending and receiving take.
    pub latency: f64,
    /// Order of the Padé approximant that stands for the exponential; exact without.
    pub pade: Option<usize>,
}

impl Extrapolator {
    /// A hold without latency, exact.
    pub fn hold(order: usize, period: f64) -> Self {
        Self {
            order,
            period,
            latency: 0.0,
            pade: None,
        }
    }

    /// The transfer function.
    pub fn at(&self, s: Complex<f64>) -> Complex<f64> {
        let z = s * self.period;
        let hold = self.mean_delay(z);
        let shape = match self.order {
            0 => hold,
            1 => (z + 1.0) * hold.powi(2),
            _ => (z * z + z * 1.5 + 1.0) * hold.powi(3),
        };
        shape * self.exponential(s * self.latency)
    }

    /// (1 - exp(-z)) / z, by its series near zero.
    fn mean_delay(&self, z: Complex<f64>) -> Complex<f64> {
        if z.norm() < 1e-5 {
            return Complex::from(1.0) - z / 2.0 + z * z / 6.0;
        }
        (Complex::from(1.0) - self.exponential(z)) / z
    }

    /// exp(-z), or its diagonal Padé approximant (Eq. 16 and 17).
    fn exponential(&self, z: Complex<f64>) -> Complex<f64> {
        let Some(order) = self.pade else {
            return (-z).exp();
        };
        let (mut above, mut below) = (Complex::from(1.0), Complex::from(1.0));
        let mut term = Complex::from(1.0);
        for i in 1..=order {
            let factor = (order - i + 1) as f64 / ((2 * order - i + 1) as f64 * i as f64);
            term *= z * factor;
            above += if i % 2 == 0 { term } else { -term };
            below += term;
        }
        above / below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hold of order p reproduces polynomials of degree p: D(s) = 1 + O(s^(p+1)).
    #[test]
    fn a_hold_of_order_p_is_exact_to_that_order() {
        for order in 0..=2 {
            let error = |size: f64| {
                let s = Complex::new(0.3, 0.7) * size;
                (Extrapolator::hold(order, 1.0).at(s) - 1.0).norm()
            };
            let observed = (error(2e-2) / error(1e-2)).log2();
            assert!(
                (observed - (order + 1) as f64).abs() < 0.05,
                "{order}: {observed}"
            );
        }
    }

    #[test]
    fn a_pade_approximant_of_sixth_order_is_the_exponential_where_it_matters() {
        let exact = Extrapolator::hold(0, 1e-3);
        let pade = Extrapolator {
            pade: Some(6),
            ..exact
        };
        for s in [Complex::new(0.0, 33.0), Complex::new(-500.0, 2000.0)] {
            assert!((exact.at(s) - pade.at(s)).norm() < 1e-8);
        }
    }

    #[test]
    fn a_latency_is_a_delay() {
        let delayed = Extrapolator {
            latency: 0.01,
            ..Extrapolator::hold(0, 0.0)
        };
        let s = Complex::new(0.0, 10.0);
        assert!((delayed.at(s) - (-s * 0.01).exp()).norm() < 1e-15);
    }
}
