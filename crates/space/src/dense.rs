//! Small dense linear systems, in place.

/// Solves `matrix · x = right` by elimination with row exchange; the solution takes the place of `right`. False where the
/// matrix is singular.
pub fn solve_dense(matrix: &mut [f64], right: &mut [f64]) -> bool {
    let n = right.len();
    for k in 0..n {
        let size = |row: usize, matrix: &[f64]| matrix[row * n + k].abs();
        let pivot = (k..n).fold(k, |best, row| {
            match size(row, matrix) > size(best, matrix) {
                true => row,
                false => best,
            }
        });
        let largest = matrix[pivot * n + k];
        if largest == 0.0 || !largest.is_finite() {
            return false;
        }
        if pivot != k {
            for column in k..n {
                matrix.swap(k * n + column, pivot * n + column);
            }
            right.swap(k, pivot);
        }
        let (above, below) = matrix.split_at_mut((k + 1) * n);
        let line = &above[k * n..];
        let (known, rest) = right.split_at_mut(k + 1);
        for (row, value) in below.chunks_exact_mut(n).zip(rest) {
            let factor = row[k] / largest;
            if factor != 0.0 {
                for (x, y) in row[k + 1..].iter_mut().zip(&line[k + 1..]) {
                    *x -= factor * y;
                }
                *value -= factor * known[k];
            }
        }
    }
    for k in (0..n).rev() {
        let line = &matrix[k * n..(k + 1) * n];
        let sum: f64 = line[k + 1..]
            .iter()
            .zip(&right[k + 1..])
            .map(|(a, x)| a * x)
            .sum();
        right[k] = (right[k] - sum) / line[k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_needs_row_exchange_is_solved() {
        let mut matrix = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 2.0, 0.0, 3.0];
        let mut x = [7.0, 3.0, 11.0];
        assert!(solve_dense(&mut matrix, &mut x));
        for (found, expected) in x.into_iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
        assert!(!solve_dense(&mut [1.0, 2.0, 2.0, 4.0], &mut [1.0, 1.0]));
    }
}
