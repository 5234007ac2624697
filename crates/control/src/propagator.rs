//! Exact steps of z' = A z + B u + c.

use nalgebra::DMatrix;
use oldham_propagator::Propagator;

pub(crate) use oldham_propagator::PLACES;

/// A linear system in continuous time.
#[derive(Clone, Debug)]
pub(crate) struct LinearSystem {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    /// What acts without inputs and states.
    pub constant: DMatrix<f64>,
}

/// One step of a linear system.
#[derive(Clone, Debug)]
pub(crate) struct LinearStep {
    pub size: f64,
    /// Row by row, for each state: weights of the states, then of the inputs at each place.
    rows: Vec<f64>,
    constant: Vec<f64>,
}

impl LinearStep {
    pub fn new(system: &LinearSystem, size: f64) -> Self {
        let (n, m) = system.b.shape();
        // The constant is one more state, which stays one.
        let mut a = DMatrix::zeros(n + 1, n + 1);
        a.view_mut((0, 0), (n, n)).copy_from(&(&system.a * size));
        let constant = &system.constant * size;
        a.view_mut((0, n), (n, 1)).copy_from(&constant);
        let mut b = DMatrix::zeros(n + 1, m);
        b.view_mut((0, 0), (n, m)).copy_from(&(&system.b * size));
        let Propagator { of_state, of_input } = Propagator::new(&a, &b);
        let mut rows = Vec::with_capacity(n * (n + PLACES.len() * m));
        for row in 0..n {
            rows.extend((0..n).map(|column| of_state[(row, column)]));
            for of_place in &of_input {
                rows.extend((0..m).map(|input| of_place[(row, input)]));
            }
        }
        Self {
            size,
            rows,
            constant: (0..n).map(|row| of_state[(row, n)]).collect(),
        }
    }

    /// The states after the step, from the states before and the inputs at each place, one after
    /// the other.
    pub fn advance(&self, before: &[f64], inputs: &[f64], after: &mut [f64]) {
        let width = before.len() + inputs.len();
        if before.is_empty() {
            return;
        }
        for ((row, constant), state) in self
            .rows
            .chunks_exact(width)
            .zip(&self.constant)
            .zip(after.iter_mut())
        {
            let known = before.iter().chain(inputs);
            *state = constant + row.iter().zip(known).map(|(w, x)| w * x).sum::<f64>();
        }
    }
}

/// The next state of z' = A z + B u for an input that is held: the matrices of z⁺ and of u.
pub(crate) fn held(a: &DMatrix<f64>, b: &DMatrix<f64>, period: f64) -> [DMatrix<f64>; 2] {
    let (n, m) = (a.nrows(), b.ncols());
    let mut matrix = DMatrix::zeros(n + m, n + m);
    matrix.view_mut((0, 0), (n, n)).copy_from(&(a * period));
    matrix.view_mut((0, n), (n, m)).copy_from(&(b * period));
    let exponential = matrix.exp();
    [
        exponential.view((0, 0), (n, n)).into_owned(),
        exponential.view((0, n), (n, m)).into_owned(),
    ]
}
