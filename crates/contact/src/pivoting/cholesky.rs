//! Dense Cholesky factors of some rows and columns of a matrix.

/// The lower factor, row by row.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    lower: Vec<f64>,
    size: usize,
    /// From one row to the next.
    stride: usize,
}

impl Cholesky {
    /// Factors the rows and columns listed, with their diagonal enlarged by a relative amount. A
    /// row that rounding left without a pivot gets that amount.
    pub fn factor(&mut self, matrix: &[f64], order: usize, rows: &[usize], enlarged: f64) {
        let m = rows.len();
        (self.size, self.stride) = (m, m);
        self.lower.resize(m * m, 0.0);
        let largest = rows
            .iter()
            .fold(0.0_f64, |most, &i| most.max(matrix[i * order + i]));
        let least = (enlarged * largest).max(f64::MIN_POSITIVE);
        for i in 0..m {
            let source = &matrix[rows[i] * order..(rows[i] + 1) * order];
            let (above, current) = self.lower.split_at_mut(i * m);
            let line = &mut current[..=i];
            for (j, &column) in rows[..i].iter().enumerate() {
                let other = &above[j * m..=j * m + j];
                let sum = source[column] - dot(&line[..j], &other[..j]);
                line[j] = sum * other[j];
            }
            let diagonal = source[rows[i]];
            let pivot = diagonal - dot(&line[..i], &line[..i]) + enlarged * diagonal;
            // The inverse of the diagonal is stored.
            line[i] = 1.0 / pivot.max(least).sqrt();
        }
    }

    /// Factors the rows and columns listed, and strikes off the list what depends on rows before it: where no more than
    /// this part of the diagonal is left as a pivot.
    pub fn factor_independent(
        &mut self,
        matrix: &[f64],
        order: usize,
        rows: &mut Vec<usize>,
        least: f64,
    ) {
        let m = rows.len();
        self.lower.resize(m * m, 0.0);
        let mut kept = 0;
        for candidate in 0..m {
            let row = rows[candidate];
            let source = &matrix[row * order..(row + 1) * order];
            let (above, current) = self.lower.split_at_mut(kept * m);
            let line = &mut current[..=kept];
            for (j, &column) in rows[..kept].iter().enumerate() {
                let other = &above[j * m..=j * m + j];
                line[j] = (source[column] - dot(&line[..j], &other[..j])) * other[j];
            }
            let pivot = source[row] - dot(&line[..kept], &line[..kept]);
            if pivot > least * source[row] {
                line[kept] = 1.0 / pivot.sqrt();
                rows[kept] = row;
                kept += 1;
            }
        }
        rows.truncate(kept);
        (self.size, self.stride) = (kept, m);
    }

    /// Solves in place.
    pub fn solve(&self, right: &mut [f64]) {
        let (size, m) = (self.size, self.stride);
        for i in 0..size {
            let line = &self.lower[i * m..=i * m + i];
            right[i] = (right[i] - dot(&line[..i], &right[..i])) * line[i];
        }
        for i in (0..size).rev() {
            let line = &self.lower[i * m..=i * m + i];
            let value = right[i] * line[i];
            right[i] = value;
            for (x, l) in right[..i].iter_mut().zip(line) {
                *x -= l * value;
            }
        }
    }
}

/// Scalar product in eight sums side by side, which the compiler keeps in vector registers.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (chunks, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in chunks.iter().zip(others) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    let tail: f64 = rest.iter().zip(other_rest).map(|(x, y)| x * y).sum();
    let [s, t] = [0, 4].map(|k| (sums[k] + sums[k + 1]) + (sums[k + 2] + sums[k + 3]));
    s + t + tail
}
