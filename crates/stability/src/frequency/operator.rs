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

/// The delays that belong to a mode s of the continuous system: velocity over position is s. For
/// formulas that treat accelerations otherwise than velocities this is a guess.
pub(super) fn delays(operator: &Operator, s: C) -> Vec<C> {
    let [above, below] = &operator.velocity;
    let degree = above.len().max(below.len()) - 1;
    let coefficient = |i: usize| {
        let part = |list: &[f64]| list.get(i).copied().unwrap_or(0.0);
        C::new(part(above), 0.0) - s * part(below)
    };
    roots(&(0..=degree).map(coefficient).collect::<Vec<_>>())
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

/// The angular frequency times the step up to which the formula leaves an undamped mode within
/// this distance of the circle.
pub(super) fn lightly_damped(operator: &Operator, step: f64, distance: f64) -> f64 {
    const POINTS: usize = 400;
    const HIGHEST: f64 = 1e3;
    // Angles up to π per step, then far beyond: formulas without dissipation damp nothing.
    let frequency = |i: usize| {
        let share = (i + 1) as f64 / POINTS as f64;
        0.01 * (HIGHEST / 0.01_f64).powf(share)
    };
    let is_near = |omega: f64| {
        let all = delays(operator, C::new(0.0, omega / step));
        all.iter().any(|w| w.norm() - 1.0 < distance)
    };
    (0..POINTS)
        .map(frequency)
        .filter(|&omega| is_near(omega))
        .fold(0.01, f64::max)
}
