//! LU factorisation with row exchanges, in place, in memory that is allocated once.
//!
//! Storage is dense; the loops stay within the band, so that a chain of nodes costs what a band
//! matrix costs. Row exchanges widen the upper band by the lower one (Golub and Van Loan, Matrix
//! Computations, section 4.3).

/// A square matrix and, after [`Lu::factorise`], its factors.
#[derive(Clone, Debug)]
pub(crate) struct Lu {
    size: usize,
    /// Subdiagonals with entries.
    lower: usize,
    /// Superdiagonals with entries, room for row exchanges included.
    upper: usize,
    entries: Vec<f64>,
    exchanges: Vec<usize>,
}

/// No pivot was found in this column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZeroPivot(pub usize);

impl Lu {
    /// Room for a matrix of this size whose entries lie at the places of `pattern`.
    pub(crate) fn with_pattern(size: usize, pattern: impl Iterator<Item = (usize, usize)>) -> Self {
        let (mut lower, mut upper) = (0, 0);
        for (row, column) in pattern {
            lower = lower.max(row.saturating_sub(column));
            upper = upper.max(column.saturating_sub(row));
        }
        Self {
            size,
            lower,
            upper: (lower + upper).min(size.saturating_sub(1)),
            entries: vec![0.0; size * size],
            exchanges: vec![0; size],
        }
    }

    /// Sets all entries to zero.
    pub(crate) fn clear(&mut self) {
        for k in 0..self.size {
            let row = k * self.size;
            let (start, end) = (k.saturating_sub(self.lower), self.beyond(k));
            self.entries[row + start..row + end].fill(0.0);
        }
    }

    /// Adds to an entry.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] += value;
    }

    /// Replaces the matrix by its factors.
    pub(crate) fn factorise(&mut self) -> Result<(), ZeroPivot> {
        for k in 0..self.size {
            let pivot_row = self.pivot_row(k);
            let pivot = self.entries[pivot_row * self.size + k];
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(ZeroPivot(k));
            }
            self.exchanges[k] = pivot_row;
            self.exchange(k, pivot_row);
            for row in k + 1..self.below(k) {
                self.eliminate(row, k);
            }
        }
        Ok(())
    }

    fn pivot_row(&self, k: usize) -> usize {
        let magnitude = |row: usize| self.entries[row * self.size + k].abs();
        (k..self.below(k)).fold(k, |best, row| {
            if magnitude(row) > magnitude(best) {
                row
            } else {
                best
            }
        })
    }

    fn exchange(&mut self, k: usize, other: usize) {
        if other != k {
            for column in k..self.beyond(k) {
                self.entries
                    .swap(k * self.size + column, other * self.size + column);
            }
        }
    }

    fn eliminate(&mut self, row: usize, k: usize) {
        let end = self.beyond(k);
        let (above, below) = self.entries.split_at_mut(row * self.size);
        let pivot_row = &above[k * self.size..][k..end];
        let this_row = &mut below[k..end];
        let factor = this_row[0] / pivot_row[0];
        this_row[0] = factor;
        if factor != 0.0 {
            for (entry, pivot) in this_row[1..].iter_mut().zip(&pivot_row[1..]) {
                *entry -= factor * pivot;
            }
        }
    }

    /// Solves with the factors, in place.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        for k in 0..self.size {
            right.swap(k, self.exchanges[k]);
            let (solved, rest) = right[k..self.below(k)].split_at_mut(1);
            for (index, value) in rest.iter_mut().enumerate() {
                *value -= self.entries[(k + 1 + index) * self.size + k] * solved[0];
            }
        }
        for k in (0..self.size).rev() {
            let row = &self.entries[k * self.size..][k..self.beyond(k)];
            let (done, sum) = (&right[k + 1..], &row[1..]);
            let known: f64 = sum.iter().zip(done).map(|(u, x)| u * x).sum();
            right[k] = (right[k] - known) / row[0];
        }
    }

    /// First row below the band in column k.
    fn below(&self, k: usize) -> usize {
        (k + self.lower + 1).min(self.size)
    }

    /// First column beyond the band in row k.
    fn beyond(&self, k: usize) -> usize {
        (k + self.upper + 1).min(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residual(size: usize, places: &[(usize, usize, f64)]) -> f64 {
        let pattern = places.iter().map(|&(row, column, _)| (row, column));
        let mut lu = Lu::with_pattern(size, pattern);
        places.iter().for_each(|&(i, j, value)| lu.add(i, j, value));
        lu.factorise().unwrap();
        let right: Vec<f64> = (0..size).map(|i| 1.0 + i as f64).collect();
        let mut solution = right.clone();
        lu.solve(&mut solution);
        let mut left = vec![0.0; size];
        places
            .iter()
            .for_each(|&(i, j, value)| left[i] += value * solution[j]);
        let errors = left.iter().zip(&right).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn a_full_matrix_that_needs_exchanges_is_solved() {
        let size = 7;
        let places: Vec<_> = (0..size * size)
            .map(|at| (at / size, at % size))
            .map(|(i, j)| (i, j, ((i * 5 + j * 3) % 7) as f64 - f64::from(i == j)))
            .collect();
        assert!(residual(size, &places) < 1e-10);
    }

    /// Zeros on the diagonal force an exchange in nearly every column.
    #[test]
    fn a_band_matrix_that_needs_exchanges_is_solved() {
        let size = 40;
        let mut places = Vec::new();
        for i in 0..size {
            places.push((i, i, if i % 2 == 0 { 0.0 } else { 0.1 }));
            if i + 1 < size {
                places.push((i, i + 1, 2.0));
                places.push((i + 1, i, 3.0));
            }
            if i + 2 < size {
                places.push((i + 2, i, 0.5));
            }
        }
        assert!(residual(size, &places) < 1e-9);
    }

    #[test]
    fn a_singular_matrix_is_found_out_at_its_column() {
        let mut lu = Lu::with_pattern(2, [(0, 1), (1, 0)].into_iter());
        lu.add(0, 0, 1.0);
        assert_eq!(lu.factorise(), Err(ZeroPivot(1)));
    }
}
