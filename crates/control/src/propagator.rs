//! The exact solution of z' = A z + B u + c under inputs that are cubic in time within a step.
//!
//! A cubic obeys a chain of trivial differential equations, so that one exponential of the
//! augmented matrix gives the propagator of the states and the response to each derivative of the
//! inputs (C. Van Loan, IEEE Transactions on Automatic Control 23, 1978).

use nalgebra::{DMatrix, Matrix4};

/// Places within the step at which the inputs are read.
pub(crate) const PLACES: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

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
pub(crate) struct Propagator {
    pub size: f64,
    /// Row by row, for each state: weights of the states, then of the inputs at each place.
    rows: Vec<f64>,
    constant: Vec<f64>,
}

impl Propagator {
    pub fn new(system: &LinearSystem, size: f64) -> Self {
        let (n, m) = (system.a.nrows(), system.b.ncols());
        // States, the constant, the inputs and their derivatives by the fraction of the step.
        let (one, first) = (n, n + 1);
        let width = n + 1 + PLACES.len() * m;
        let mut matrix = DMatrix::zeros(width, width);
        let mut put = |column: usize, block: &DMatrix<f64>| {
            let mut place = matrix.view_mut((0, column), (n, block.ncols()));
            place.copy_from(&(block * size));
        };
        put(0, &system.a);
        put(one, &system.constant);
        put(first, &system.b);
        for at in first..width - m {
            matrix[(at, at + m)] = 1.0;
        }
        let exponential = matrix.exp();
        let weights = derivatives_from_values();
        let mut rows = Vec::with_capacity(n * (n + PLACES.len() * m));
        for row in 0..n {
            rows.extend((0..n).map(|column| exponential[(row, column)]));
            for place in 0..PLACES.len() {
                rows.extend((0..m).map(|input| {
                    let derivatives = 0..PLACES.len();
                    let response = |k: usize| exponential[(row, first + k * m + input)];
                    derivatives
                        .map(|k| response(k) * weights[(k, place)])
                        .sum::<f64>()
                }));
            }
        }
        Self {
            size,
            rows,
            constant: (0..n).map(|row| exponential[(row, one)]).collect(),
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

/// From the values of a cubic at the four places to its derivatives at the start.
fn derivatives_from_values() -> Matrix4<f64> {
    let factorials = [1.0, 1.0, 2.0, 6.0];
    let taylor = Matrix4::from_fn(|place, k| PLACES[place].powi(k as i32) / factorials[k]);
    let inverse = taylor.try_inverse();
    inverse.expect("four different places determine a cubic")
}
