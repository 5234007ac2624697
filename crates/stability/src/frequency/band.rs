//! Factorisations of α M + β D + K for many complex α and β, M, D and K being sparse.
//!
//! Unknowns are ordered once so that the matrix is a narrow band (reverse Cuthill–McKee), rows and
//! columns are scaled once to about one; then each factorisation is Gaussian elimination with
//! partial pivoting inside the band. Real and imaginary parts are kept apart, so that the inner
//! loops are plain vector operations.

use nalgebra::Complex;
use oldham_cosim::Entry;

/// Sweeps of scaling; more change nothing.
const SCALINGS: usize = 4;

/// The matrices of a part on a common band.
pub(super) struct BandFamily {
    size: usize,
    /// Place of each unknown in the order of elimination.
    place: Vec<usize>,
    lower: usize,
    upper: usize,
    entries: Vec<Placed>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
}

/// An entry of the three matrices, scaled, with its place in the band.
struct Placed {
    at: usize,
    mass: f64,
    damping: f64,
    stiffness: f64,
}

/// The factors of one matrix.
pub(super) struct BandFactors<'a> {
    family: &'a BandFamily,
    re: Vec<f64>,
    im: Vec<f64>,
    /// The row that came to each place.
    pivots: Vec<usize>,
    /// The last column that each pivot row reaches.
    reach: Vec<usize>,
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
}

impl BandFamily {
    /// `rates` are typical sizes of the factors of mass and damping, for the scaling.
    pub fn new(size: usize, [mass, damping, stiffness]: [&[Entry]; 3], rates: [f64; 2]) -> Self {
        let mut all: Vec<(usize, usize, [f64; 3])> = Vec::new();
        for (kind, entries) in [mass, damping, stiffness].into_iter().enumerate() {
            all.extend(entries.iter().map(|&(row, column, value)| {
                let mut values = [0.0; 3];
                values[kind] = value;
                (row, column, values)
            }));
        }
        all.sort_by_key(|&(row, column, _)| (row, column));
        all.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                (0..3).for_each(|i| kept.2[i] += next.2[i]);
            }
            is_same
        });
        all.retain(|(_, _, values)| values.iter().any(|&value| value != 0.0));
        let place = narrow_order(size, &all);
        let (mut lower, mut upper) = (0, 0);
        for &(row, column, _) in &all {
            let (i, j) = (place[row], place[column]);
            lower = lower.max(i.saturating_sub(j));
            upper = upper.max(j.saturating_sub(i));
        }
        let magnitude = |values: &[f64; 3]| {
            values[0].abs() * rates[0] + values[1].abs() * rates[1] + values[2].abs()
        };
        let (row_scale, column_scale) = scales(size, &all, magnitude);
        let stride = 2 * lower + upper + 1;
        let entries = all.iter().map(|&(row, column, values)| {
            let scale = row_scale[row] * column_scale[column];
            let (i, j) = (place[row], place[column]);
            Placed {
                at: j * stride + lower + upper + i - j,
                mass: values[0] * scale,
                damping: values[1] * scale,
                stiffness: values[2] * scale,
            }
        });
        Self {
            size,
            lower,
            upper,
            entries: entries.collect(),
            place,
            row_scale,
            column_scale,
        }
    }

    /// About how many multiplications a factorisation takes.
    pub fn work(&self) -> f64 {
        self.size as f64 * self.lower as f64 * (self.lower + self.upper) as f64
    }

    /// About how many multiplications a solution for one vector takes.
    pub fn solve_work(&self) -> f64 {
        self.size as f64 * (2 * self.lower + self.upper) as f64
    }

    /// Factors α M + β D + K.
    pub fn factor(&self, mass: Complex<f64>, damping: Complex<f64>) -> BandFactors<'_> {
        let (n, kl) = (self.size, self.lower);
        let stride = 2 * kl + self.upper + 1;
        let diagonal = kl + self.upper;
        let (mut re, mut im) = (vec![0.0; n * stride], vec![0.0; n * stride]);
        for entry in &self.entries {
            re[entry.at] = mass.re * entry.mass + damping.re * entry.damping + entry.stiffness;
            im[entry.at] = mass.im * entry.mass + damping.im * entry.damping;
        }
        let mut pivots = vec![0; n];
        let mut reach = vec![0; n];
        let mut last = 0;
        for j in 0..n {
            let below = kl.min(n - 1 - j);
            let top = j * stride + diagonal;
            let mut pivot = 0;
            let mut largest = -1.0;
            for i in 0..=below {
                let size = re[top + i] * re[top + i] + im[top + i] * im[top + i];
                if size > largest {
                    (largest, pivot) = (size, i);
                }
            }
            pivots[j] = j + pivot;
            last = last.max((j + pivot + self.upper).min(n - 1));
            reach[j] = last;
            if pivot != 0 {
                for c in j..=last {
                    let at = c * stride + diagonal + j - c;
                    re.swap(at, at + pivot);
                    im.swap(at, at + pivot);
                }
            }
            // An exact zero makes everything infinite: the caller sees that it met a pole.
            let (pr, pi) = (re[top], im[top]);
            let square = pr * pr + pi * pi;
            let (ir, ii) = (pr / square, -pi / square);
            for i in 1..=below {
                let (x, y) = (re[top + i], im[top + i]);
                re[top + i] = x * ir - y * ii;
                im[top + i] = x * ii + y * ir;
            }
            if below == 0 {
                continue;
            }
            for c in j + 1..=last {
                let at = c * stride + diagonal + j - c;
                let (ur, ui) = (re[at], im[at]);
                if ur == 0.0 && ui == 0.0 {
                    continue;
                }
                let (left, right) = re.split_at_mut(at + 1);
                let (left_im, right_im) = im.split_at_mut(at + 1);
                let factors = &left[top + 1..top + 1 + below];
                let factors_im = &left_im[top + 1..top + 1 + below];
                subtract(
                    (&mut right[..below], &mut right_im[..below]),
                    (factors, factors_im),
                    (ur, ui),
                );
            }
        }
        BandFactors {
            family: self,
            re,
            im,
            pivots,
            reach,
        }
    }
}

/// target -= source · factor.
#[inline(always)]
fn subtract(target: (&mut [f64], &mut [f64]), source: (&[f64], &[f64]), factor: (f64, f64)) {
    let (fr, fi) = factor;
    let targets = target.0.iter_mut().zip(target.1.iter_mut());
    for ((re, im), (&x, &y)) in targets.zip(source.0.iter().zip(source.1)) {
        *re -= x * fr - y * fi;
        *im -= x * fi + y * fr;
    }
}

impl BandFactors<'_> {
    /// Solves for all columns; rows are those of the unscaled, unordered unknowns.
    pub fn solve(&self, columns: &mut Columns) {
        let family = self.family;
        let (n, kl, width) = (family.size, family.lower, columns.width);
        let stride = 2 * kl + family.upper + 1;
        let diagonal = kl + family.upper;
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
        for j in 0..n {
            let pivot = self.pivots[j];
            if pivot != j {
                for k in 0..width {
                    x.re.swap(j * width + k, pivot * width + k);
                    x.im.swap(j * width + k, pivot * width + k);
                }
            }
            let top = j * stride + diagonal;
            for i in 1..=kl.min(n - 1 - j) {
                eliminate(&mut x, j + i, j, (self.re[top + i], self.im[top + i]));
            }
        }
        for j in (0..n).rev() {
            for c in j + 1..=self.reach[j] {
                let at = c * stride + diagonal + j - c;
                eliminate(&mut x, j, c, (self.re[at], self.im[at]));
            }
            let at = j * stride + diagonal;
            let pivot = Complex::new(self.re[at], self.im[at]);
            for k in j * width..(j + 1) * width {
                let value = Complex::new(x.re[k], x.im[k]) / pivot;
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

/// Row and column factors that bring the largest entry of each near one.
fn scales(
    size: usize,
    entries: &[(usize, usize, [f64; 3])],
    magnitude: impl Fn(&[f64; 3]) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut rows, mut columns) = (vec![1.0; size], vec![1.0; size]);
    for _ in 0..SCALINGS {
        let (mut by_row, mut by_column) = (vec![0.0_f64; size], vec![0.0_f64; size]);
        for (row, column, values) in entries {
            let value = magnitude(values) * rows[*row] * columns[*column];
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
fn narrow_order(size: usize, entries: &[(usize, usize, [f64; 3])]) -> Vec<usize> {
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

    /// Against a dense factorisation, with a zero on the diagonal as constraints have it.
    #[test]
    fn solutions_are_those_of_a_dense_matrix() {
        let n = 23_usize;
        let mut entries: [Vec<Entry>; 3] = Default::default();
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for i in 0..n {
            for j in 0..n {
                // Numbered so that the band has to be found.
                let (p, q) = ((i * 5) % n, (j * 5) % n);
                if p.abs_diff(q) > 2 || (p == q && p % 7 == 3) {
                    continue;
                }
                for list in &mut entries {
                    list.push((i, j, random() * 1e3_f64.powf(random())));
                }
            }
        }
        let [m, d, k] = &entries;
        let family = BandFamily::new(n, [m, d, k], [1.0, 1.0]);
        assert!(family.lower <= 6, "{}", family.lower);
        let (alpha, beta) = (Complex::new(0.3, -2.0), Complex::new(-1.0, 0.5));
        let mut dense = DMatrix::<Complex<f64>>::zeros(n, n);
        for (list, factor) in entries.iter().zip([alpha, beta, Complex::new(1.0, 0.0)]) {
            for &(i, j, value) in list {
                dense[(i, j)] += factor * value;
            }
        }
        let mut columns = Columns::zeros(n, 2);
        let b = DVector::from_fn(n, |_, _| Complex::new(random(), random()));
        for i in 0..n {
            columns.add(i, 1, b[i]);
        }
        family.factor(alpha, beta).solve(&mut columns);
        let x = DVector::from_fn(n, |i, _| columns.get(i, 1));
        assert!((dense * x - &b).norm() < 1e-10 * b.norm());
        assert!((0..n).all(|i| columns.get(i, 0) == Complex::default()));
    }
}
