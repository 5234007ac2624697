//! Factorisations of many complex matrices with the same sparse pattern.
//!
//! Unknowns are ordered once so that the matrix is a narrow band (reverse Cuthill–McKee), rows and
//! columns are scaled once to about one; then each factorisation is an elimination inside the band,
//! as wide at each column as the pattern is up to there.

use nalgebra::Complex;

use super::elimination::{Eliminated, Entries, PANEL, eliminate};

/// Sweeps of scaling; more change nothing.
const SCALINGS: usize = 4;

/// The common pattern.
#[derive(Default)]
pub(super) struct BandFamily {
    pub size: usize,
    /// Place of each unknown in the order of elimination.
    place: Vec<usize>,
    pub lower: usize,
    pub upper: usize,
    /// The last row of each column, and the last column of each row, or of one before it.
    pub bottom: Vec<usize>,
    pub reach: Vec<usize>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
}

/// The factors of one matrix.
pub(super) struct BandFactors<'a> {
    family: &'a BandFamily,
    factors: Eliminated,
}

/// Several vectors side by side: all components of a row stand together.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub width: usize,
    pub re: Vec<f64>,
    pub im: Vec<f64>,
}

impl Columns {
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self {
            width,
            re: vec![0.0; rows * width],
            im: vec![0.0; rows * width],
        }
    }

    pub fn get(&self, row: usize, column: usize) -> Complex<f64> {
        let at = row * self.width + column;
        Complex::new(self.re[at], self.im[at])
    }

    pub fn add(&mut self, row: usize, column: usize, value: Complex<f64>) {
        let at = row * self.width + column;
        self.re[at] += value.re;
        self.im[at] += value.im;
    }

    /// Divides by the largest component.
    pub fn normalise(&mut self) {
        let squares = self.re.iter().zip(&self.im).map(|(x, y)| x * x + y * y);
        let largest = squares.fold(0.0, f64::max).sqrt();
        for x in self.re.iter_mut().chain(&mut self.im) {
            *x /= largest;
        }
    }
}

impl BandFamily {
    /// Of rows, columns and typical sizes of the entries, which may come several times.
    pub fn new(size: usize, mut pattern: Vec<(usize, usize, f64)>) -> Self {
        pattern.sort_by_key(|&(row, column, _)| (row, column));
        pattern.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 = kept.2.max(next.2);
            }
            is_same
        });
        let place = narrow_order(size, &pattern);
        let (mut lower, mut upper) = (0, 0);
        let mut bottom: Vec<usize> = (0..size).collect();
        let mut reach = bottom.clone();
        for &(row, column, _) in &pattern {
            let (i, j) = (place[row], place[column]);
            lower = lower.max(i.saturating_sub(j));
            upper = upper.max(j.saturating_sub(i));
            bottom[j] = bottom[j].max(i);
            reach[i] = reach[i].max(j);
        }
        for i in 1..size {
            bottom[i] = bottom[i].max(bottom[i - 1]);
            reach[i] = reach[i].max(reach[i - 1]);
        }
        let (row_scale, column_scale) = scales(size, &pattern);
        Self {
            size,
            lower,
            upper,
            bottom,
            reach,
            place,
            row_scale,
            column_scale,
        }
    }

    /// Where an entry of the pattern is in the order of elimination, row and column, and its scale.
    pub fn slot(&self, row: usize, column: usize) -> (usize, usize, f64) {
        let scale = self.row_scale[row] * self.column_scale[column];
        (self.place[row], self.place[column], scale)
    }

    /// The size of an unknown that is as large as others.
    pub fn unit(&self, unknown: usize) -> f64 {
        self.column_scale[unknown]
    }

    /// The logarithm of the determinant up to a constant, its imaginary part up to multiples of 2π.
    pub fn log_determinant(&self, entries: impl Entries) -> Complex<f64> {
        eliminate(self, entries, false).log_determinant
    }

    pub fn factor(&self, entries: impl Entries) -> BandFactors<'_> {
        let factors = eliminate(self, entries, true);
        BandFactors {
            family: self,
            factors,
        }
    }
}

impl BandFactors<'_> {
    /// Solves for all columns; rows are those of the unscaled, unordered unknowns.
    pub fn solve(&self, columns: &mut Columns) {
        let family = self.family;
        let (n, width) = (family.size, columns.width);
        let mut x = Columns::zeros(n, width);
        for row in 0..n {
            let (from, to) = (row * width, family.place[row] * width);
            for k in 0..width {
                x.re[to + k] = columns.re[from + k] * family.row_scale[row];
                x.im[to + k] = columns.im[from + k] * family.row_scale[row];
            }
        }
        let eliminate = |x: &mut Columns, target: usize, source: usize, factor: (f64, f64)| {
            if factor == (0.0, 0.0) {
                return;
            }
            let (low, high) = (target.min(source), target.max(source));
            let (first, second) = x.re.split_at_mut(high * width);
            let (first_im, second_im) = x.im.split_at_mut(high * width);
            let near = (
                &mut first[low * width..(low + 1) * width],
                &mut first_im[low * width..(low + 1) * width],
            );
            let far = (&mut second[..width], &mut second_im[..width]);
            let (to, from) = match target < source {
                true => (near, far),
                false => (far, near),
            };
            subtract(to, (from.0, from.1), factor);
        };
        let Eliminated {
            columns: factors,
            pivots,
            reach,
            ..
        } = &self.factors;
        for first in (0..n).step_by(PANEL) {
            let end = (first + PANEL).min(n);
            for (j, &pivot) in (first..end).zip(&pivots[first..end]) {
                for k in 0..width {
                    x.re.swap(j * width + k, pivot * width + k);
                    x.im.swap(j * width + k, pivot * width + k);
                }
            }
            for j in first..end {
                for i in j + 1..=family.bottom[end - 1] {
                    eliminate(&mut x, i, j, factors.get(i, j));
                }
            }
        }
        for j in (0..n).rev() {
            for c in j + 1..=reach[j] {
                eliminate(&mut x, j, c, factors.get(j, c));
            }
            let (re, im) = factors.get(j, j);
            for k in j * width..(j + 1) * width {
                let value = Complex::new(x.re[k], x.im[k]) / Complex::new(re, im);
                (x.re[k], x.im[k]) = (value.re, value.im);
            }
        }
        for row in 0..n {
            let (to, from) = (row * width, family.place[row] * width);
            for k in 0..width {
                columns.re[to + k] = x.re[from + k] * family.column_scale[row];
                columns.im[to + k] = x.im[from + k] * family.column_scale[row];
            }
        }
    }
}

/// target -= source · factor.
fn subtract(target: (&mut [f64], &mut [f64]), source: (&[f64], &[f64]), factor: (f64, f64)) {
    let (fr, fi) = factor;
    let targets = target.0.iter_mut().zip(target.1.iter_mut());
    for ((re, im), (&x, &y)) in targets.zip(source.0.iter().zip(source.1)) {
        *re -= x * fr - y * fi;
        *im -= x * fi + y * fr;
    }
}

/// Row and column factors that bring the largest entry of each near one.
fn scales(size: usize, entries: &[(usize, usize, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut rows, mut columns) = (vec![1.0; size], vec![1.0; size]);
    for _ in 0..SCALINGS {
        let (mut by_row, mut by_column) = (vec![0.0_f64; size], vec![0.0_f64; size]);
        for (row, column, size) in entries {
            let value = size * rows[*row] * columns[*column];
            by_row[*row] = by_row[*row].max(value);
            by_column[*column] = by_column[*column].max(value);
        }
        for i in 0..size {
            if by_row[i] > 0.0 {
                rows[i] /= by_row[i].sqrt();
            }
            if by_column[i] > 0.0 {
                columns[i] /= by_column[i].sqrt();
            }
        }
    }
    (rows, columns)
}

/// Reverse Cuthill–McKee: for each unknown its place, so that connected ones are near each other.
fn narrow_order(size: usize, entries: &[(usize, usize, f64)]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); size];
    for &(row, column, _) in entries {
        if row != column {
            neighbours[row].push(column);
            neighbours[column].push(row);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    let levels = |start: usize, seen: &mut Vec<bool>| -> Vec<usize> {
        let mut order = vec![start];
        seen[start] = true;
        let mut next = 0;
        while next < order.len() {
            let mut fresh: Vec<usize> = neighbours[order[next]]
                .iter()
                .copied()
                .filter(|&other| !seen[other])
                .collect();
            fresh.sort_by_key(|&other| degree[other]);
            fresh.iter().for_each(|&other| seen[other] = true);
            order.extend(fresh);
            next += 1;
        }
        order
    };
    let mut order = Vec::with_capacity(size);
    let mut done = vec![false; size];
    for unknown in 0..size {
        if done[unknown] {
            continue;
        }
        // From the far end of the far end: a long thin structure begins at a tip.
        let mut start = unknown;
        for _ in 0..3 {
            let mut seen = done.clone();
            start = *levels(start, &mut seen).last().expect("it has its start");
        }
        order.extend(levels(start, &mut done));
    }
    let mut place = vec![0; size];
    for (index, &unknown) in order.iter().rev().enumerate() {
        place[unknown] = index;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// A matrix by its columns.
    struct Listed(Vec<Vec<(usize, Complex<f64>)>>);

    impl Entries for &Listed {
        fn add_column(&mut self, column: usize, add: impl FnMut(usize, Complex<f64>)) {
            let entries = self.0[column].iter().copied();
            let mut add = add;
            entries.for_each(|(row, value)| add(row, value));
        }
    }

    /// Against dense factorisations, with zeros on the diagonal as constraints have them.
    #[test]
    fn solutions_and_determinants_are_those_of_dense_matrices() {
        let n = 23_usize;
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut places = Vec::new();
        for i in 0..n {
            for j in 0..n {
                // Numbered so that the band has to be found.
                let (p, q) = ((i * 5) % n, (j * 5) % n);
                if p.abs_diff(q) <= 2 && (p != q || p % 7 != 3) {
                    places.push((i, j, 1e3_f64.powf(random())));
                }
            }
        }
        let family = BandFamily::new(n, places.clone());
        assert!(family.lower <= 6, "{}", family.lower);
        let mut logs = Vec::new();
        for _ in 0..3 {
            let mut dense = DMatrix::<Complex<f64>>::zeros(n, n);
            let mut listed = Listed(vec![Vec::new(); n]);
            for &(i, j, size) in &places {
                let value = Complex::new(random(), random()) * size;
                dense[(i, j)] += value;
                let (row, column, scale) = family.slot(i, j);
                listed.0[column].push((row, value * scale));
            }
            let factors = family.factor(&listed);
            let b = DVector::from_fn(n, |_, _| Complex::new(random(), random()));
            let mut columns = Columns::zeros(n, 2);
            (0..n).for_each(|i| columns.add(i, 1, b[i]));
            factors.solve(&mut columns);
            let x = DVector::from_fn(n, |i, _| columns.get(i, 1));
            assert!((&dense * x - &b).norm() < 1e-9 * b.norm());
            assert!((0..n).all(|i| columns.get(i, 0) == Complex::default()));
            logs.push((family.log_determinant(&listed), dense.determinant()));
        }
        // They agree up to the constant of the scaling.
        for pair in logs.windows(2) {
            let ratio = (pair[1].0 - pair[0].0).exp();
            let exact = pair[1].1 / pair[0].1;
            assert!((ratio / exact - 1.0).norm() < 1e-9, "{ratio} {exact}");
        }
    }
}
