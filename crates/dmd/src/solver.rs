//! Least squares of smallest norm, with truncation of the numerical rank.

use crate::factor::Size;

/// A signal that varies by less than this fraction of its size is an offset with a small variation.
const OFFSET: f64 = 1e-3;
/// A variation below this fraction of the size is rounding.
const ROUNDING: f64 = 1e-12;

/// Solves from stacked triangular factors, by Householder reflections with column pivoting.
///
/// Columns are scaled to unit length first: rank and norm do not depend on units. The last column
/// is that of the constant, and joins only if the data columns leave it something to explain:
/// few pairs are not spent on it. That is different where a signal varies little about an offset,
/// as about an equilibrium: few pairs would then be explained by tiny differences with huge
/// coefficients. The constant comes first there, which leaves deviations from the mean, and those
/// are what is scaled.
#[derive(Clone, Debug)]
pub(crate) struct Solver {
    size: Size,
    truncation: f64,
    /// Stacked rows, column by column, the right-hand sides last.
    matrix: Vec<f64>,
    rows: usize,
    /// The column of the model that stands at each place.
    order: Vec<usize>,
    scales: Vec<f64>,
    /// Squared lengths of what is left of each column below the rows that are done.
    left: Vec<f64>,
    reflector: Vec<f64>,
    solution: Vec<f64>,
    /// Factors and first components of the reflections from the right.
    right: Vec<(f64, f64)>,
    reduced: Reduced,
}

/// Columns after the reduction.
#[derive(Clone, Copy, Debug, Default)]
struct Reduced {
    /// The first so many are triangular.
    rank: usize,
    /// The next, up to here, depend on them.
    used: usize,
    /// Leading columns whose coefficients may be of any size: the constant, if it came first.
    free: usize,
}

impl Solver {
    /// For up to two stacked factors.
    pub fn new(size: Size, truncation: f64) -> Self {
        let rows = 2 * size.columns;
        Self {
            size,
            truncation,
            matrix: vec![0.0; rows * size.width()],
            rows,
            order: vec![0; size.columns],
            scales: vec![0.0; size.columns],
            left: vec![0.0; size.columns],
            reflector: vec![0.0; rows],
            solution: vec![0.0; size.columns],
            right: vec![(0.0, 0.0); size.columns],
            reduced: Reduced::default(),
        }
    }

    /// Writes the coefficients, one row for each right-hand side; returns the rank.
    pub fn solve<'a>(
        &mut self,
        stack: impl Iterator<Item = &'a [f64]>,
        coefficients: &mut [f64],
    ) -> usize {
        self.load(stack);
        self.scale();
        let reduced = match self.varies_about_an_offset() {
            true => self.reduce_deviations(),
            false => self.reduce(),
        };
        self.reduced = reduced;
        self.clear_right(reduced);
        for side in 0..self.size.sides {
            let columns = self.size.columns;
            let out = &mut coefficients[side * columns..(side + 1) * columns];
            self.back_substitute(reduced, side);
            for (place, &column) in self.order.iter().enumerate() {
                out[column] = self.solution[place] * self.scales[column];
            }
        }
        reduced.rank
    }

    /// How far a vector that the coefficients act on lies outside of the data they were fitted to:
    /// the length of the combination of rows that makes it up, as far as they can.
    pub fn leverage(&mut self, signals: &[f64]) -> f64 {
        let capacity = 2 * self.size.columns;
        let Reduced { rank, used, free } = self.reduced;
        for (place, &column) in self.order.iter().enumerate() {
            self.solution[place] = signals[column] * self.scales[column];
        }
        for i in (free..rank).rev() {
            self.reflect_solution(i, rank, used);
        }
        let mut sum = 0.0;
        for i in 0..rank {
            let mut value = self.solution[i];
            for j in 0..i {
                value -= self.matrix[i * capacity + j] * self.solution[j];
            }
            value /= self.matrix[i * capacity + i];
            self.solution[i] = value;
            sum += value * value;
        }
        sum.sqrt()
    }

    fn load<'a>(&mut self, stack: impl Iterator<Item = &'a [f64]>) {
        let (columns, width) = (self.size.columns, self.size.width());
        let capacity = 2 * columns;
        self.rows = 0;
        for factor in stack {
            for (i, row) in factor.chunks_exact(width).enumerate() {
                let place = self.rows + i;
                for (j, &value) in row.iter().enumerate() {
                    self.matrix[j * capacity + place] = value;
                }
            }
            self.rows += columns;
        }
        for (place, column) in self.order.iter_mut().enumerate() {
            *column = place;
        }
    }

    fn column(&self, place: usize) -> &[f64] {
        let start = place * 2 * self.size.columns;
        &self.matrix[start..start + self.rows]
    }

    fn scale(&mut self) {
        let capacity = 2 * self.size.columns;
        for j in 0..self.size.columns {
            let square = dot(self.column(j), self.column(j));
            let scale = if square > 0.0 {
                square.sqrt().recip()
            } else {
                0.0
            };
            self.scales[j] = scale;
            self.left[j] = if scale > 0.0 { 1.0 } else { 0.0 };
            for value in &mut self.matrix[j * capacity..j * capacity + self.rows] {
                *value *= scale;
            }
        }
    }

    /// Whether some signal is nearly a multiple of the constant.
    fn varies_about_an_offset(&self) -> bool {
        let constant = self.column(self.size.columns - 1);
        let is_offset = |j: usize| {
            let along = dot(self.column(j), constant);
            self.left[j] > 0.0 && 1.0 - along * along < OFFSET * OFFSET
        };
        (0..self.size.columns - 1).any(is_offset)
    }

    /// The same as [`Solver::reduce`] for deviations from the mean: the constant first, then what
    /// it leaves of the others, scaled anew.
    fn reduce_deviations(&mut self) -> Reduced {
        let (columns, capacity) = (self.size.columns, 2 * self.size.columns);
        self.swap(0, columns - 1);
        self.reflect(0);
        for place in 1..columns {
            let length = self.left[place].sqrt();
            let scale = if length > ROUNDING {
                length.recip()
            } else {
                0.0
            };
            self.scales[self.order[place]] *= scale;
            self.left[place] = if scale > 0.0 { 1.0 } else { 0.0 };
            let column = &mut self.matrix[place * capacity..place * capacity + self.rows];
            column.iter_mut().for_each(|value| *value *= scale);
        }
        Reduced {
            rank: self.reduce_columns(1, columns),
            used: columns,
            free: 1,
        }
    }

    /// Brings the columns from `first` to `end` to triangular form, the longest remainder first;
    /// gives the first column that is left out.
    fn reduce_columns(&mut self, first: usize, end: usize) -> usize {
        let threshold = self.truncation * self.truncation;
        let mut rank = first;
        while rank < end {
            let lengths = self.left[rank..end].iter().enumerate();
            let (offset, &longest) = lengths
                .max_by(|a, b| a.1.total_cmp(b.1))
                .expect("columns are left");
            if longest <= threshold {
                break;
            }
            self.swap(rank, rank + offset);
            self.reflect(rank);
            rank += 1;
        }
        rank
    }

    /// Brings the columns to triangular form, the constant last.
    fn reduce(&mut self) -> Reduced {
        let constant = self.size.columns - 1;
        let threshold = self.truncation * self.truncation;
        let rank = self.reduce_columns(0, constant);
        if self.left[constant] <= threshold {
            // It shares nothing with the data: an offset that was not seen is not assumed.
            return Reduced {
                rank,
                used: constant,
                free: 0,
            };
        }
        self.swap(rank, constant);
        self.reflect(rank);
        Reduced {
            rank: rank + 1,
            used: constant + 1,
            free: 0,
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let capacity = 2 * self.size.columns;
        let (head, tail) = self.matrix.split_at_mut(b * capacity);
        head[a * capacity..(a + 1) * capacity].swap_with_slice(&mut tail[..capacity]);
        self.order.swap(a, b);
        self.left.swap(a, b);
    }

    /// Clears column k below the diagonal.
    fn reflect(&mut self, k: usize) {
        let (capacity, rows) = (2 * self.size.columns, self.rows);
        let norm = self.left[k].sqrt();
        let pivot = &mut self.matrix[k * capacity + k..k * capacity + rows];
        let target = -norm.copysign(pivot[0]);
        let vector = &mut self.reflector[..rows - k];
        vector.copy_from_slice(pivot);
        vector[0] -= target;
        pivot.fill(0.0);
        pivot[0] = target;
        let beta = -1.0 / (target * vector[0]);
        for place in k + 1..self.size.width() {
            let column = &mut self.matrix[place * capacity + k..place * capacity + rows];
            let factor = beta * dot(vector, column);
            for (value, v) in column.iter_mut().zip(&*vector) {
                *value -= factor * v;
            }
            if let Some(left) = self.left.get_mut(place) {
                *left = dot(&column[1..], &column[1..]);
            }
        }
    }

    /// Reflects from the right until the columns beyond the rank are zero: of all solutions, the
    /// one that then ignores them is the smallest.
    fn clear_right(&mut self, Reduced { rank, used, free }: Reduced) {
        let capacity = 2 * self.size.columns;
        self.right[..free].fill((0.0, 0.0));
        for i in (free..rank).rev() {
            let vector = |j: usize| j * capacity + i;
            let tail: f64 = (rank..used).map(|j| self.matrix[vector(j)].powi(2)).sum();
            if tail == 0.0 {
                self.right[i] = (0.0, 0.0);
                continue;
            }
            let pivot = self.matrix[vector(i)];
            let target = -(pivot * pivot + tail).sqrt().copysign(pivot);
            let head = pivot - target;
            let beta = -1.0 / (target * head);
            for row in 0..i {
                let at = |j: usize| j * capacity + row;
                let mut product = self.matrix[at(i)] * head;
                for j in rank..used {
                    product += self.matrix[at(j)] * self.matrix[vector(j)];
                }
                self.matrix[at(i)] -= beta * product * head;
                for j in rank..used {
                    self.matrix[at(j)] -= beta * product * self.matrix[vector(j)];
                }
            }
            self.matrix[vector(i)] = target;
            // The rest of the vector stays in its row.
            self.right[i] = (beta, head);
        }
    }

    fn back_substitute(&mut self, Reduced { rank, used, free }: Reduced, side: usize) {
        let capacity = 2 * self.size.columns;
        let right = (self.size.columns + side) * capacity;
        self.solution.fill(0.0);
        for i in (0..rank).rev() {
            let mut value = self.matrix[right + i];
            for j in i + 1..rank {
                value -= self.matrix[j * capacity + i] * self.solution[j];
            }
            self.solution[i] = value / self.matrix[i * capacity + i];
        }
        for i in free..rank {
            self.reflect_solution(i, rank, used);
        }
    }

    /// Applies the reflection from the right that belongs to a row.
    fn reflect_solution(&mut self, i: usize, rank: usize, used: usize) {
        let capacity = 2 * self.size.columns;
        let (beta, head) = self.right[i];
        if beta == 0.0 {
            return;
        }
        let mut product = self.solution[i] * head;
        for j in rank..used {
            product += self.solution[j] * self.matrix[j * capacity + i];
        }
        self.solution[i] -= beta * product * head;
        for j in rank..used {
            self.solution[j] -= beta * product * self.matrix[j * capacity + i];
        }
    }
}

/// In four independent sums, which the compiler can vectorise.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (heads, tails) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = heads
        .remainder()
        .iter()
        .zip(tails.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in heads.zip(tails) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::add_row;

    const TRUNCATION: f64 = 1e-10;

    /// Fits one right-hand side to rows of data columns; the constant is added here.
    fn fit(rows: &[Vec<f64>], side: &[f64]) -> (Vec<f64>, usize) {
        let columns = rows[0].len() + 1;
        let size = Size { columns, sides: 1 };
        let mut factors = [vec![0.0; size.entries()], vec![0.0; size.entries()]];
        for (i, (row, &y)) in rows.iter().zip(side).enumerate() {
            let mut row = [row.as_slice(), &[1.0, y]].concat();
            add_row(&mut factors[i % 2], &mut row, size);
        }
        let mut coefficients = vec![0.0; columns];
        let stack = factors.iter().map(Vec::as_slice);
        let rank = Solver::new(size, TRUNCATION).solve(stack, &mut coefficients);
        (coefficients, rank)
    }

    fn close(found: &[f64], expected: &[f64]) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{found:?} instead of {expected:?}");
        }
    }

    fn wave(i: usize, j: usize) -> f64 {
        ((i * 3 + 1) as f64 * (j as f64 + 0.6)).sin()
    }

    #[test]
    fn an_affine_law_is_recovered_whatever_the_units() {
        let units = [1e-6, 1.0, 1e7];
        let rows: Vec<Vec<f64>> = (0..9)
            .map(|i| (0..3).map(|j| wave(i, j) * units[j]).collect())
            .collect();
        let law = |row: &Vec<f64>| 2.0 * row[0] / 1e-6 - row[1] + 3.0 * row[2] / 1e7 + 0.5;
        let side: Vec<f64> = rows.iter().map(law).collect();
        let (found, rank) = fit(&rows, &side);
        assert_eq!(rank, 4);
        let scaled: Vec<f64> = (0..3).map(|j| found[j] * units[j]).collect();
        close(&scaled, &[2.0, -1.0, 3.0]);
        close(&found[3..], &[0.5]);
    }

    /// A column that repeats another shares its coefficient: the smallest solution. Opposite
    /// columns cancel nothing.
    #[test]
    fn of_all_solutions_the_smallest_is_taken() {
        let rows: Vec<Vec<f64>> = (0..9)
            .map(|i| vec![wave(i, 0), wave(i, 1), wave(i, 0), 0.0, -wave(i, 0)])
            .collect();
        let side: Vec<f64> = rows.iter().map(|row| 6.0 * row[0] - row[1]).collect();
        let (found, rank) = fit(&rows, &side);
        assert_eq!(rank, 3);
        close(&found, &[2.0, -1.0, 2.0, 0.0, -2.0, 0.0]);
    }

    /// One row tells nothing about slopes.
    #[test]
    fn a_single_pair_is_a_constant() {
        let (found, rank) = fit(&[vec![2.0, -4.0]], &[8.0]);
        assert_eq!(rank, 1);
        close(&found, &[0.0, 0.0, 8.0]);
    }

    /// About an offset, two pairs give the mean slope along what was seen, shared among signals that
    /// moved together, and nothing across it.
    #[test]
    fn about_an_offset_deviations_from_the_mean_are_shared() {
        let rows = [vec![5.0, -2e6], vec![5.0 + 1e-6, -2e6 + 3.0]];
        let (found, rank) = fit(&rows, &[1.0, 1.0 + 4e-6]);
        assert_eq!(rank, 2);
        assert!((found[0] - 2.0).abs() < 1e-6, "{found:?}");
        assert!((found[1] - 2e-6 / 3.0).abs() < 1e-12, "{found:?}");
        let middle = found[0] * (5.0 + 5e-7) + found[1] * (-2e6 + 1.5) + found[2];
        assert!((middle - 1.0 - 2e-6).abs() < 1e-9, "{middle}");
    }

    #[test]
    fn leverage_is_the_length_of_the_combination_of_rows() {
        for offset in [0.0, 1e5] {
            let rows: Vec<Vec<f64>> = (0..3)
                .map(|i| (0..4).map(|j| offset + wave(i, j)).collect())
                .collect();
            let size = Size {
                columns: 5,
                sides: 1,
            };
            let mut factor = vec![0.0; size.entries()];
            for row in &rows {
                let mut row = [row.as_slice(), &[1.0, 0.5]].concat();
                add_row(&mut factor, &mut row, size);
            }
            let mut solver = Solver::new(size, TRUNCATION);
            solver.solve([factor.as_slice()].into_iter(), &mut [0.0; 5]);
            // -2, 4 and -1 times the rows add up to a row with the constant 1.
            let mut signals = [0.0, 0.0, 0.0, 0.0, 1.0];
            for (row, weight) in rows.iter().zip([-2.0, 4.0, -1.0]) {
                for (value, part) in signals.iter_mut().zip(row) {
                    *value += weight * part;
                }
            }
            let found = solver.leverage(&signals);
            assert!((found - 21f64.sqrt()).abs() < 1e-4, "{offset}: {found}");
        }
    }

    #[test]
    fn constant_data_have_rank_one_and_nothing_has_rank_zero() {
        let rows = vec![vec![0.25, 0.0]; 6];
        let (found, rank) = fit(&rows, &[0.0; 6]);
        assert_eq!(rank, 1);
        close(&found, &[0.0; 3]);
        let size = Size {
            columns: 2,
            sides: 1,
        };
        let mut coefficients = [7.0; 2];
        let empty = vec![0.0; size.entries()];
        let stack = [empty.as_slice()].into_iter();
        let rank = Solver::new(size, TRUNCATION).solve(stack, &mut coefficients);
        assert_eq!((rank, coefficients), (0, [0.0; 2]));
    }
}
