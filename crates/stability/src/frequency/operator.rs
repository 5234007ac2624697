//! What an integration formula makes of positions, as functions of the delay w.

use faer::Mat;
use nalgebra::Complex;
use oldham_cosim::Operator;

type C = Complex<f64>;

/// What is left of a coefficient that is zero.
const ROUNDED: f64 = 1e-13;

/// 1, velocity over position and acceleration over position at w.
pub(super) fn levels(operator: &Operator, w: C) -> [C; 3] {
    let ratio = |[above, below]: &[Vec<f64>; 2]| polynomial(above, w) / polynomial(below, w);
    [
        C::new(1.0, 0.0),
        ratio(&operator.velocity),
        ratio(&operator.acceleration),
    ]
}

/// The value of a polynomial. A formula gives no rate to what is at rest: its polynomials have zeros at
/// w = 1, and would be rounding near there if they were not summed by powers of w - 1.
pub(super) fn polynomial(coefficients: &[f64], w: C) -> C {
    let size: f64 = coefficients.iter().map(|c| c.abs()).sum();
    let mut about_one = coefficients.to_vec();
    for first in 0..about_one.len() {
        for i in (first + 1..about_one.len()).rev() {
            about_one[i - 1] += about_one[i];
        }
    }
    let away = w - 1.0;
    let step = |sum: C, &coefficient: &f64| {
        let is_zero = coefficient.abs() < ROUNDED * size;
        sum * away + if is_zero { 0.0 } else { coefficient }
    };
    about_one.iter().rev().fold(C::default(), step)
}

/// The roots of a polynomial.
pub(super) fn roots(coefficients: &[C]) -> Vec<C> {
    let largest = coefficients.iter().map(|c| c.norm()).fold(0.0, f64::max);
    let is_there = |c: &C| c.norm() > 1e-14 * largest;
    let Some(degree) = coefficients.iter().rposition(is_there) else {
        return Vec::new();
    };
    match degree {
        0 => Vec::new(),
        1 => vec![-coefficients[0] / coefficients[1]],
        _ => {
            let leading = coefficients[degree];
            let companion = Mat::<C>::from_fn(degree, degree, |i, j| {
                if j + 1 == degree {
                    -coefficients[i] / leading
                } else if i == j + 1 {
                    C::new(1.0, 0.0)
                } else {
                    C::default()
                }
            });
            companion.eigenvalues().unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a distance d of w = 1 the acceleration is (d/h)², to the last digits: consistency says so.
    #[test]
    fn rates_near_rest_are_exact() {
        let rho = 0.6_f64;
        let square = (1.0 - rho) * (1.0 - rho);
        let beta = (3.0 * square + 4.0 * (2.0 * rho - 1.0)) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        let b = [
            delta + 0.5,
            0.5 * beta + 0.5 - 2.0 * delta,
            0.5 * beta + delta,
        ];
        let h = 1e-3;
        let operator = Operator::multistep([1.0 - beta, beta], b, h);
        for d in [1e-4, 1e-6, 1e-9] {
            let w = C::new(1.0 - d, 0.0);
            let [_, v, a] = levels(&operator, w);
            let d = (1.0 - w.re) / h;
            assert!((a / (v * v) - 1.0).norm() < 1e-14, "{d}: {a} {v}");
            assert!((v.re / d - 1.0).abs() < 2.0 * d * h, "{d}: {v}");
        }
    }
}
