//! Sampled signals that depend on the very forces that are computed from them: accelerations do.

use crate::law::CompensatorRow;

/// How the signals of the sampled rows depend on the forces that are computed from them.
pub(crate) struct Loop {
    pub signals: usize,
    /// Signals by forces.
    pub response: Vec<f64>,
    /// Inverse of one minus gains times response, forces by forces.
    pub inverse: Vec<f64>,
    pub missing: Vec<f64>,
    /// Zero while nothing is known, then one.
    pub known: u64,
    /// Whether any signal depends on any force.
    pub is_closed: bool,
}

impl Loop {
    pub fn new(forces: usize, signals: usize) -> Self {
        let mut inverse = vec![0.0; forces * forces];
        inverse
            .iter_mut()
            .step_by(forces + 1)
            .for_each(|i| *i = 1.0);
        Self {
            signals,
            response: vec![0.0; signals * forces],
            inverse,
            missing: vec![0.0; forces],
            known: 0,
            is_closed: true,
        }
    }

    pub fn is_known(&self) -> bool {
        self.known == 1
    }

    pub fn close(&mut self, rows: &[CompensatorRow]) -> bool {
        self.known = 1;
        self.prepare(rows)
    }

    /// Makes the inverse from the response.
    pub fn prepare(&mut self, rows: &[CompensatorRow]) -> bool {
        let count = rows.len();
        self.is_closed = self.response.iter().any(|value| *value != 0.0);
        let mut matrix = vec![0.0; count * count];
        let mut signal = 0;
        for (index, row) in rows.iter().enumerate() {
            matrix[index * count + index] += 1.0;
            for (_, gain) in &row.terms {
                for force in 0..count {
                    matrix[index * count + force] -= gain * self.response[signal * count + force];
                }
                signal += 1;
            }
        }
        match invert(&mut matrix, count) {
            Some(inverse) => {
                self.inverse = inverse;
                true
            }
            None => false,
        }
    }
}

/// Gauss–Jordan elimination with partial pivoting; nothing for a singular matrix.
fn invert(matrix: &mut [f64], size: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; size * size];
    inverse.iter_mut().step_by(size + 1).for_each(|i| *i = 1.0);
    let largest = matrix
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    for column in 0..size {
        let candidates = column..size;
        let size_at = |row: usize| matrix[row * size + column].abs();
        let pivot = candidates.max_by(|&a, &b| size_at(a).total_cmp(&size_at(b)))?;
        if size_at(pivot) <= f64::EPSILON * largest {
            return None;
        }
        for place in 0..size {
            matrix.swap(pivot * size + place, column * size + place);
            inverse.swap(pivot * size + place, column * size + place);
        }
        let scale = matrix[column * size + column];
        for place in 0..size {
            matrix[column * size + place] /= scale;
            inverse[column * size + place] /= scale;
        }
        for row in (0..size).filter(|&row| row != column) {
            let factor = matrix[row * size + column];
            for place in 0..size {
                matrix[row * size + place] -= factor * matrix[column * size + place];
                inverse[row * size + place] -= factor * inverse[column * size + place];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        let matrix = [0.0, 2.0, 1.0, 1.0, -1.0, 0.5, 4.0, 0.0, 3.0];
        let inverse = invert(&mut matrix.clone(), 3).expect("regular");
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3)
                    .map(|k| inverse[row * 3 + k] * matrix[k * 3 + column])
                    .sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-14);
            }
        }
        assert!(invert(&mut [1.0, 2.0, 2.0, 4.0], 2).is_none());
    }
}
