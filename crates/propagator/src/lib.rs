//! The exact solution of z' = A z + B u over a step, under inputs that are cubic in time within it.
//!
//! A cubic obeys a chain of trivial differential equations, so that one exponential of the augmented
//! matrix gives the propagator of the states and the response to each derivative of the inputs
//! (C. Van Loan, "Computing integrals involving the matrix exponential", IEEE Transactions on
//! Automatic Control 23, 1978). It allocates: it is for set-up and for changes of the step size.

use nalgebra::{DMatrix, Matrix4};

/// Places within the step at which the inputs are read, as fractions of it.
pub const PLACES: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// One step of a linear system.
pub struct Propagator {
    /// From the states before to the states after.
    pub of_state: DMatrix<f64>,
    /// From the inputs at each of the [`PLACES`] to the states after.
    pub of_input: [DMatrix<f64>; 4],
}

impl Propagator {
    /// Of the matrices A and B, both multiplied by the size of the step.
    pub fn new(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Self {
        let (n, m) = b.shape();
        let width = n + PLACES.len() * m;
        // States, the inputs and their derivatives by the fraction of the step.
        let mut matrix = DMatrix::zeros(width, width);
        matrix.view_mut((0, 0), (n, n)).copy_from(a);
        matrix.view_mut((0, n), (n, m)).copy_from(b);
        for at in n..width - m {
            matrix[(at, at + m)] = 1.0;
        }
        let exponential = matrix.exp();
        let block = |column, width| exponential.view((0, column), (n, width)).into_owned();
        let derivatives = [0, 1, 2, 3].map(|k| block(n + k * m, m));
        let weights = derivatives_from_values();
        Self {
            of_state: block(0, n),
            of_input: [0, 1, 2, 3].map(|place| {
                let mut sum = DMatrix::zeros(n, m);
                for (k, response) in derivatives.iter().enumerate() {
                    sum += response * weights[(k, place)];
                }
                sum
            }),
        }
    }
}

/// From the values of a cubic at the four places to its derivatives at the start of the step.
fn derivatives_from_values() -> Matrix4<f64> {
    let factorials = [1.0, 1.0, 2.0, 6.0];
    // Row: place; column: derivative at the start.
    let taylor = Matrix4::from_fn(|place, k| PLACES[place].powi(k as i32) / factorials[k]);
    let inverse = taylor.try_inverse();
    inverse.expect("four different places determine a cubic")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = -x + u with u = 6 t^3: x = x0 exp(-t) + 6 (t^3 - 3 t^2 + 6 t - 6 + 6 exp(-t)).
    #[test]
    fn a_cubic_input_is_followed_exactly() {
        let h: f64 = 0.7;
        let scaled = |value: f64| DMatrix::from_element(1, 1, value * h);
        let step = Propagator::new(&scaled(-1.0), &scaled(1.0));
        let before = 2.0;
        let inputs = PLACES.map(|place| 6.0 * (place * h).powi(3));
        let driven = step.of_input.iter().zip(inputs);
        let after = step.of_state[0] * before + driven.map(|(w, u)| w[0] * u).sum::<f64>();
        let decay = (-h).exp();
        let forced = 6.0 * (h.powi(3) - 3.0 * h.powi(2) + 6.0 * h - 6.0 + 6.0 * decay);
        assert!((after - before * decay - forced).abs() < 1e-14);
    }
}
