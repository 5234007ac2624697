//! Constraints that no branch hangs on: rows on top of the freedoms.
//!
//! What closes loops, couples joints or moves them by inputs keeps its multipliers. With the gradients G of the rows by the
//! freedoms and what their multipliers do, F, a correction obeys
//!
//! T δ + F μ = r,   G δ = v,
//!
//! which is solved by the factors of T, without the rows, and those of the small dense matrix G T⁻¹ F.

use super::pattern::{BranchMatrix, Pattern};

/// A pivot below this fraction of the largest entry of its row says that rows depend on each other.
const DEPENDENT: f64 = 1e-13;

/// The rows, and factors for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    /// Multiplier of each.
    multipliers: Vec<usize>,
    freedoms: usize,
    /// Row by row, one number for each freedom.
    gradients: Vec<f64>,
    forces: Vec<f64>,
    /// What the freedoms do for a unit of each multiplier.
    yields: Vec<f64>,
    /// G T⁻¹ F, then its factors, with the rows that were exchanged.
    matrix: Vec<f64>,
    exchanged: Vec<usize>,
    /// What the rows miss, then the multipliers.
    values: Vec<f64>,
}

impl Loops {
    pub fn new(multipliers: Vec<usize>, freedoms: usize) -> Self {
        let rows = multipliers.len();
        Self {
            freedoms,
            gradients: vec![0.0; rows * freedoms],
            forces: vec![0.0; rows * freedoms],
            yields: vec![0.0; rows * freedoms],
            matrix: vec![0.0; rows * rows],
            exchanged: vec![0; rows],
            values: vec![0.0; rows],
            multipliers,
        }
    }

    pub fn clear(&mut self) {
        self.gradients.fill(0.0);
        self.forces.fill(0.0);
    }

    /// The row of a multiplier.
    pub fn row(&self, multiplier: usize) -> usize {
        let found = self.multipliers.binary_search(&multiplier);
        found.expect("a multiplier of a row")
    }

    pub fn add_gradient(&mut self, row: usize, freedom: usize, value: f64) {
        self.gradients[row * self.freedoms + freedom] += value;
    }

    pub fn add_force(&mut self, row: usize, freedom: usize, value: f64) {
        self.forces[row * self.freedoms + freedom] += value;
    }

    fn of(&self, values: &[f64], row: usize) -> std::ops::Range<usize> {
        debug_assert_eq!(values.len(), self.gradients.len());
        row * self.freedoms..(row + 1) * self.freedoms
    }

    /// Takes the factors of the freedoms. The multiplier of a row that depends on others, if there is one.
    pub fn factor(&mut self, factors: &BranchMatrix, pattern: &Pattern) -> Result<(), usize> {
        let rows = self.multipliers.len();
        self.yields.copy_from_slice(&self.forces);
        for values in self.yields.chunks_exact_mut(self.freedoms.max(1)) {
            factors.solve(pattern, values);
        }
        for row in 0..rows {
            let gradient = &self.gradients[self.of(&self.gradients, row)];
            for column in 0..rows {
                let answer = &self.yields[self.of(&self.yields, column)];
                let products = gradient.iter().zip(answer).map(|(a, b)| a * b);
                self.matrix[row * rows + column] = products.sum();
            }
        }
        let largest = |row: &[f64]| {
            row.iter()
                .fold(0.0_f64, |most, value| most.max(value.abs()))
        };
        for (row, value) in self.matrix.chunks_exact(rows.max(1)).zip(&mut self.values) {
            *value = largest(row);
        }
        for k in 0..rows {
            let size = |row: usize| self.matrix[row * rows + k].abs() / self.values[row];
            let pivot = (k..rows).fold(
                k,
                |best, row| if size(row) > size(best) { row } else { best },
            );
            let weak = size(pivot) <= DEPENDENT || !size(pivot).is_finite();
            if weak {
                return Err(self.multipliers[k]);
            }
            self.exchanged[k] = pivot;
            if pivot != k {
                self.values.swap(k, pivot);
                for column in 0..rows {
                    self.matrix.swap(k * rows + column, pivot * rows + column);
                }
            }
            let (above, below) = self.matrix.split_at_mut((k + 1) * rows);
            let line = &above[k * rows..];
            for row in below.chunks_exact_mut(rows) {
                row[k] /= line[k];
                let factor = row[k];
                for (x, y) in row[k + 1..].iter_mut().zip(&line[k + 1..]) {
                    *x -= factor * y;
                }
            }
        }
        Ok(())
    }

    /// Completes a solution of the freedoms alone. `asked` has what the rows ask for at the places of all multipliers; those
    /// of the rows take their place, and nothing is left of the others.
    pub fn complete(&mut self, freedoms: &mut [f64], asked: &mut [f64]) {
        let rows = self.multipliers.len();
        let gradients = self.gradients.chunks_exact(self.freedoms.max(1));
        for ((value, gradient), &multiplier) in
            self.values.iter_mut().zip(gradients).zip(&self.multipliers)
        {
            let products = gradient.iter().zip(&*freedoms).map(|(a, b)| a * b);
            *value = products.sum::<f64>() - asked[multiplier];
        }
        for k in 0..rows {
            self.values.swap(k, self.exchanged[k]);
        }
        for k in 0..rows {
            let (done, rest) = self.values.split_at_mut(k);
            let line = &self.matrix[k * rows..];
            let products = line.iter().zip(&*done).map(|(a, b)| a * b);
            rest[0] -= products.sum::<f64>();
        }
        for k in (0..rows).rev() {
            let (head, done) = self.values.split_at_mut(k + 1);
            let line = &self.matrix[k * rows..(k + 1) * rows];
            let products = line[k + 1..].iter().zip(&*done).map(|(a, b)| a * b);
            head[k] = (head[k] - products.sum::<f64>()) / line[k];
        }
        asked.fill(0.0);
        let yields = self.yields.chunks_exact(self.freedoms.max(1));
        for ((value, answer), &multiplier) in self.values.iter().zip(yields).zip(&self.multipliers)
        {
            asked[multiplier] = *value;
            for (freedom, answer) in freedoms.iter_mut().zip(answer) {
                *freedom -= value * answer;
            }
        }
    }

    /// Takes from forces on the freedoms what the rows do with these multipliers, and leaves in `asked` that the rows ask for
    /// no change beyond that of the freedoms so far.
    pub fn refine(
        &self,
        multipliers: &[f64],
        freedoms: &[f64],
        forces: &mut [f64],
        asked: &mut [f64],
    ) {
        asked.fill(0.0);
        for (row, &multiplier) in self.multipliers.iter().enumerate() {
            let gradient = &self.gradients[self.of(&self.gradients, row)];
            let products = gradient.iter().zip(freedoms).map(|(a, b)| a * b);
            asked[multiplier] = -products.sum::<f64>();
            let pushes = &self.forces[self.of(&self.forces, row)];
            for (force, push) in forces.iter_mut().zip(pushes) {
                *force -= push * multipliers[multiplier];
            }
        }
    }
}
