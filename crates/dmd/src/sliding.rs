//! The triangular factor of a sliding window, without ever removing a row.
//!
//! Removing a row from a factor (downdating) loses digits whenever the row carries most of some
//! direction, which is what happens in a window that slides out of a start or an impact. Here the
//! window is cut into blocks instead, as queues are aggregated from two stacks:
//!
//! ```text
//!   block A        block B           block C
//!   . . . x x x x  x x x x x x x x   x x x x
//!         suffix   \____ trunk ____________/
//! ```
//!
//! As C grows by one row, the suffix of A shrinks by one. All suffixes of A were computed while it
//! was in the place of B, one at each step, from its end backwards. The factor of the window is
//! that of the suffix stacked on that of the trunk (B and C). A step costs three row additions,
//! whatever the window, and every number in it comes from rotations of data.

use crate::factor::{Size, add_row};

/// Factor of the last `2 * block` rows.
#[derive(Clone, Debug)]
pub(crate) struct Sliding {
    size: Size,
    block: usize,
    /// Suffixes of A by their first row.
    oldest: Vec<f64>,
    /// Suffixes of B, as far as they are computed.
    middle: Vec<f64>,
    /// B and C.
    trunk: Vec<f64>,
    /// C alone: the start of the next trunk.
    shoot: Vec<f64>,
    /// Rows in C.
    filled: usize,
    /// Rows since the start.
    rows: u64,
    row: Vec<f64>,
    spare: Vec<f64>,
}

impl Sliding {
    /// A window of that many rows, rounded up to an even number.
    pub fn new(window: usize, size: Size) -> Self {
        let block = window.div_ceil(2);
        let factor = || vec![0.0; size.entries()];
        Self {
            size,
            block,
            oldest: vec![0.0; block * size.entries()],
            middle: vec![0.0; block * size.entries()],
            trunk: factor(),
            shoot: factor(),
            filled: 0,
            rows: 0,
            row: vec![0.0; size.width()],
            spare: vec![0.0; size.width()],
        }
    }

    /// Rows in a full window.
    pub fn window(&self) -> usize {
        2 * self.block
    }

    /// Rows added since the start.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows in the window.
    pub fn rows_in_window(&self) -> usize {
        self.rows.min(self.window() as u64) as usize
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.trunk.fill(0.0);
        self.shoot.fill(0.0);
        self.filled = 0;
        self.rows = 0;
    }

    /// Adds the next row. `source` gives any row of the window by its number since the start.
    pub fn add(&mut self, source: impl Fn(u64, &mut [f64])) {
        if self.filled == self.block {
            self.shift();
        }
        let number = self.rows;
        self.rows += 1;
        self.filled += 1;
        source(number, &mut self.row);
        self.spare.copy_from_slice(&self.row);
        add_row(&mut self.trunk, &mut self.row, self.size);
        add_row(&mut self.shoot, &mut self.spare, self.size);
        if self.rows > self.block as u64 {
            self.extend_suffix(source);
        }
    }

    /// Brings the window to the state after `rows` rows. Rows that left the window count for
    /// nothing; `source` may give anything for them.
    pub fn rebuild(&mut self, rows: u64, source: impl Fn(u64, &mut [f64])) {
        self.clear();
        let block = self.block as u64;
        // The first row of A, so that the blocks lie as they did.
        let first = (rows.saturating_sub(1) / block).saturating_sub(2) * block;
        for _ in first..rows {
            self.add(|number, row: &mut [f64]| source(first + number, row));
        }
        self.rows = rows;
    }

    /// The factors which, stacked, are the factor of the window.
    pub fn stack(&self) -> impl Iterator<Item = &[f64]> {
        let has_oldest = self.rows > 2 * self.block as u64 && self.filled < self.block;
        let suffix = has_oldest.then(|| {
            let start = self.filled * self.size.entries();
            &self.oldest[start..start + self.size.entries()]
        });
        suffix.into_iter().chain([self.trunk.as_slice()])
    }

    /// C is full: B becomes A, C becomes B.
    fn shift(&mut self) {
        std::mem::swap(&mut self.oldest, &mut self.middle);
        std::mem::swap(&mut self.trunk, &mut self.shoot);
        self.shoot.fill(0.0);
        self.filled = 0;
    }

    /// One more suffix of B, from the end.
    fn extend_suffix(&mut self, source: impl Fn(u64, &mut [f64])) {
        let entries = self.size.entries();
        let first = self.block - self.filled;
        let (head, tail) = self.middle.split_at_mut((first + 1) * entries);
        let suffix = &mut head[first * entries..];
        match tail.get(..entries) {
            Some(shorter) => suffix.copy_from_slice(shorter),
            None => suffix.fill(0.0),
        }
        source(self.rows - 2 * self.filled as u64, &mut self.row);
        add_row(suffix, &mut self.row, self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        columns: 3,
        sides: 1,
    };

    fn row(number: u64, out: &mut [f64]) {
        for (j, value) in out.iter_mut().enumerate() {
            // Sizes over ten orders of magnitude, the worst for downdating.
            let size = 10f64.powi(5 - (number % 11) as i32);
            *value = size * ((number as f64 + 1.0) * (j as f64 + 0.7)).sin();
        }
    }

    /// The inner products of the window's columns, by definition and from the factors.
    #[test]
    fn the_stack_is_the_factor_of_the_window_at_every_step() {
        for window in [4, 5, 10] {
            let mut sliding = Sliding::new(window, SIZE);
            for step in 0..50 {
                sliding.add(row);
                let first = (step + 1u64).saturating_sub(sliding.window() as u64);
                assert_eq!(sliding.rows_in_window() as u64, step + 1 - first);
                for (j, k) in [(0, 0), (0, 2), (1, 3), (2, 3)] {
                    let mut expected = [0.0; 3];
                    for number in first..=step {
                        let mut values = [0.0; 4];
                        row(number, &mut values);
                        expected[0] += values[j] * values[k];
                        expected[1] += values[j] * values[j];
                        expected[2] += values[k] * values[k];
                    }
                    let rows = sliding.stack().flat_map(|factor| factor.chunks_exact(4));
                    let found: f64 = rows.map(|row| row[j] * row[k]).sum();
                    let scale = (expected[1] * expected[2]).sqrt();
                    assert!(
                        (found - expected[0]).abs() < 1e-13 * scale,
                        "{window} {step}"
                    );
                }
            }
        }
    }

    #[test]
    fn rebuilding_gives_the_same_bits_without_the_rows_that_left() {
        for total in 1..40 {
            let mut lived = Sliding::new(10, SIZE);
            (0..total).for_each(|_| lived.add(row));
            let mut rebuilt = Sliding::new(10, SIZE);
            rebuilt.rebuild(total, |number, out: &mut [f64]| {
                if number + 10 < total {
                    out.fill(0.0);
                } else {
                    row(number, out);
                }
            });
            for step in 0..25 {
                let bits = |sliding: &Sliding| -> Vec<u64> {
                    let stack = sliding.stack().flatten();
                    stack.map(|value| value.to_bits()).collect()
                };
                assert_eq!(bits(&lived), bits(&rebuilt), "{total} and {step} more");
                lived.add(row);
                rebuilt.add(row);
            }
        }
    }
}
