//! The triangular factor of a growing matrix.

/// Below this a squared pivot would lose digits to underflow.
const NEGLIGIBLE: f64 = 1e-140;

/// Size of a factor: `columns` columns of the matrix, and those of the right-hand sides, which are
/// rotated along.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub columns: usize,
    pub sides: usize,
}

impl Size {
    /// Entries in a row.
    pub fn width(self) -> usize {
        self.columns + self.sides
    }

    /// Entries in a factor, stored row by row with its zeros.
    pub fn entries(self) -> usize {
        self.columns * self.width()
    }
}

/// Adds a row by Givens rotations; `row` is used up. What the row leaves in the right-hand sides
/// is its residual, and is dropped.
pub(crate) fn add_row(factor: &mut [f64], row: &mut [f64], size: Size) {
    for (j, pivots) in factor.chunks_exact_mut(size.width()).enumerate() {
        let (a, b) = (pivots[j], row[j]);
        if b == 0.0 {
            continue;
        }
        let r = (a * a + b * b).sqrt();
        if r < NEGLIGIBLE {
            continue;
        }
        let inverse = r.recip();
        let (c, s) = (a * inverse, b * inverse);
        pivots[j] = r;
        for (p, q) in pivots[j + 1..].iter_mut().zip(&mut row[j + 1..]) {
            (*p, *q) = (c * *p + s * *q, c * *q - s * *p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rotations keep inner products of columns: RᵀR = ZᵀZ and Rᵀc = Zᵀy.
    #[test]
    fn the_factor_keeps_the_inner_products() {
        let size = Size {
            columns: 3,
            sides: 2,
        };
        let rows: Vec<[f64; 5]> = (0..7)
            .map(|i| [0, 1, 2, 3, 4].map(|j| ((i * 5 + j) as f64 * 1.3).sin()))
            .collect();
        let mut factor = vec![0.0; size.entries()];
        for row in &rows {
            add_row(&mut factor, &mut row.clone(), size);
        }
        for j in 0..3 {
            for k in 0..5 {
                let expected: f64 = rows.iter().map(|row| row[j] * row[k]).sum();
                let found: f64 = factor.chunks_exact(5).map(|row| row[j] * row[k]).sum();
                assert!((found - expected).abs() < 1e-14, "{j} {k}");
            }
        }
    }
}
