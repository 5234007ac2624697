//! What an integration formula makes of positions, as functions of the delay w.

use faer::Mat;
use nalgebra::Complex;
use oldham_cosim::Operator;

type C = Complex<f64>;

/// 1, velocity over position and acceleration over position at w.
pub(super) fn levels(operator: &Operator, w: C) -> [C; 3] {
    let ratio = |[above, below]: &[Vec<f64>; 2]| polynomial(above, w) / polynomial(below, w);
    [
        C::new(1.0, 0.0),
        ratio(&operator.velocity),
        ratio(&operator.acceleration),
    ]
}

/// The value of a polynomial.
pub(super) fn polynomial(coefficients: &[f64], w: C) -> C {
    let step = |sum: C, &coefficient: &f64| sum * w + coefficient;
    coefficients.iter().rev().fold(C::default(), step)
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
