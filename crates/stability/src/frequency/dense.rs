//! Small dense complex matrices: determinants as logarithms, and null vectors.

use nalgebra::Complex;

type C = Complex<f64>;

/// A square matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Square {
    pub size: usize,
    values: Vec<C>,
}

impl Square {
    pub fn zeros(size: usize) -> Self {
        Self {
            size,
            values: vec![C::default(); size * size],
        }
    }

    pub fn add(&mut self, row: usize, column: usize, value: C) {
        self.values[row * self.size + column] += value;
    }

    pub fn scale_row(&mut self, row: usize, factor: C) {
        let range = row * self.size..(row + 1) * self.size;
        self.values[range].iter_mut().for_each(|x| *x *= factor);
    }

    /// The logarithm of the determinant, its imaginary part up to multiples of 2π, by elimination
    /// with partial pivoting; what is left are the factors.
    pub fn log_determinant(&mut self) -> C {
        self.eliminate().0
    }

    fn eliminate(&mut self) -> (C, Vec<usize>) {
        let n = self.size;
        let mut log = C::default();
        let mut order: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let size = |row: usize| self.values[row * n + k].norm_sqr();
            let pivot = (k..n)
                .max_by(|&a, &b| size(a).total_cmp(&size(b)))
                .expect("not empty");
            if pivot != k {
                for j in 0..n {
                    self.values.swap(k * n + j, pivot * n + j);
                }
                order.swap(k, pivot);
                log.im += std::f64::consts::PI;
            }
            let diagonal = self.values[k * n + k];
            log += C::new(diagonal.norm().ln(), diagonal.arg());
            if diagonal == C::default() {
                continue;
            }
            let (above, below) = self.values.split_at_mut((k + 1) * n);
            let source = &above[k * n + k + 1..];
            for row in below.chunks_exact_mut(n) {
                let factor = row[k] / diagonal;
                row[k] = factor;
                if factor != C::default() {
                    for (x, y) in row[k + 1..].iter_mut().zip(source) {
                        *x -= factor * y;
                    }
                }
            }
        }
        (log, order)
    }

    /// The vector that the matrix nearly takes to zero, by inverse iteration; largest component 1.
    pub fn null_vector(mut self) -> Vec<C> {
        let n = self.size;
        let (_, order) = self.eliminate();
        let largest = self.values.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let floor = C::new(1e-15 * largest.max(f64::MIN_POSITIVE), 0.0);
        for k in 0..n {
            if self.values[k * n + k].norm() < floor.re {
                self.values[k * n + k] = floor;
            }
        }
        let mut x: Vec<C> = (0..n)
            .map(|i| C::new(1.0, 0.3 * (i as f64).sin()))
            .collect();
        for _ in 0..3 {
            let mut y: Vec<C> = order.iter().map(|&row| x[row]).collect();
            for i in 0..n {
                for j in 0..i {
                    let part = self.values[i * n + j] * y[j];
                    y[i] -= part;
                }
            }
            for i in (0..n).rev() {
                for j in i + 1..n {
                    let part = self.values[i * n + j] * y[j];
                    y[i] -= part;
                }
                y[i] /= self.values[i * n + i];
            }
            let size = y.iter().map(|v| v.norm()).fold(0.0, f64::max);
            x = y.into_iter().map(|v| v / size).collect();
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn determinants_and_null_vectors_of_a_known_matrix() {
        let mut m = Square::zeros(3);
        let rows = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [1.0, 3.0, 1.0]];
        for (i, row) in rows.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                m.add(i, j, C::new(value, 0.0));
            }
        }
        // The third row is the sum of the others: the null vector is (1, -1, 2).
        let null = m.clone().null_vector();
        assert!((null[0] / null[2] - 0.5).norm() < 1e-12);
        assert!((null[1] / null[2] + 0.5).norm() < 1e-12);
        m.add(2, 2, C::new(0.0, 1.0));
        // det = i (0·1 - 2·1).
        let log = m.log_determinant();
        assert!((log.exp() - C::new(0.0, -2.0)).norm() < 1e-12);
    }
}
