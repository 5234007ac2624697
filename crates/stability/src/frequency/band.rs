//! Factorisations of many complex matrices with the same sparse pattern.
//!
//! Unknowns are ordered once so that the matrix is a narrow band (reverse Cuthill–McKee), rows and
//! columns are scaled once to about one; then each factorisation is Gaussian elimination with
//! partial pivoting inside the band, as wide at each column as the pattern is up to there. Real and
//! imaginary parts are kept apart, so that the inner loops are plain vector operations.

use nalgebra::Complex;

/// Sweeps of scaling; more change nothing.
const SCALINGS: usize = 4;

/// The common pattern.
#[derive(Default)]
pub(super) struct BandFamily {
    size: usize,
    /// Place of each unknown in the order of elimination.
    place: Vec<usize>,
    lower: usize,
    upper: usize,
    /// The last row of each column, and the last column of each row, or of one before it.
    bottom: Vec<usize>,
    reach: Vec<usize>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
}

/// One matrix.
pub(super) struct BandMatrix<'a> {
    family: &'a BandFamily,
    re: Vec<f64>,
    im: Vec<f64>,
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

    fn stride(&self) -> usize {
        2 * self.lower + self.upper + 1
    }

    fn diagonal(&self) -> usize {
        self.lower + self.upper
    }

    /// Where an entry of the pattern is in the band, and its scale.
    pub fn slot(&self, row: usize, column: usize) -> (usize, f64) {
        let (i, j) = (self.place[row], self.place[column]);
        let at = j * self.stride() + self.diagonal() + i - j;
        (at, self.row_scale[row] * self.column_scale[column])
    }

    pub fn zeros(&self) -> BandMatrix<'_> {
        let length = self.size * self.stride();
        BandMatrix {
            family: self,
            re: vec![0.0; length],
            im: vec![0.0; length],
        }
    }
}

impl<'a> BandMatrix<'a> {
    /// Adds to a place that [`BandFamily::slot`] has given, something that is scaled already.
    #[inline]
    pub fn add_at(&mut self, at: usize, value: Complex<f64>) {
        self.re[at] += value.re;
        self.im[at] += value.im;
    }

    pub fn add(&mut self, row: usize, column: usize, value: Complex<f64>) {
        let (at, scale) = self.family.slot(row, column);
        self.add_at(at, value * scale);
    }

    /// Multiplies all entries.
    pub fn multiply(&mut self, factor: Complex<f64>) {
        for (re, im) in self.re.iter_mut().zip(&mut self.im) {
            let product = Complex::new(*re, *im) * factor;
            (*re, *im) = (product.re, product.im);
        }
    }

    pub fn factor(mut self) -> BandFactors<'a> {
        let (pivots, reach) = eliminate(&mut self);
        BandFactors {
            family: self.family,
            re: self.re,
            im: self.im,
            pivots,
            reach,
        }
    }
}

/// Eliminates with the best instruction set of the machine: pivots, and how far their rows reach.
fn eliminate(matrix: &mut BandMatrix<'_>) -> (Vec<usize>, Vec<usize>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(level) = pulp::x86::V3::try_new() {
        return level.vectorize(Elimination::<true>(matrix));
    }
    pulp::Arch::new().dispatch(Elimination::<false>(matrix))
}

/// The elimination, compiled for each instruction set; `FUSED` says whether a fused multiply-add is one
/// instruction.
struct Elimination<'m, 'a, const FUSED: bool>(&'m mut BandMatrix<'a>);

impl<const FUSED: bool> pulp::NullaryFnOnce for Elimination<'_, '_, FUSED> {
    type Output = (Vec<usize>, Vec<usize>);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let BandMatrix { family, re, im } = self.0;
        let (n, stride, diagonal) = (family.size, family.stride(), family.diagonal());
        let mut pivots = vec![0; n];
        let mut reach = vec![0; n];
        let mut last = 0;
        for j in 0..n {
            let below = family.bottom[j] - j;
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
            last = last.max(family.reach[j + pivot]);
            reach[j] = last;
            if pivot != 0 {
                for c in j..=last {
                    let at = c * stride + diagonal + j - c;
                    re.swap(at, at + pivot);
                    im.swap(at, at + pivot);
                }
            }
            // An exact zero makes everything infinite: the caller sees that it met a zero.
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
                subtract::<FUSED>(
                    (&mut right[..below], &mut right_im[..below]),
                    (factors, factors_im),
                    (ur, ui),
                );
            }
        }
        (pivots, reach)
    }
}

/// target -= source · factor.
#[inline(always)]
fn subtract<const FUSED: bool>(
    target: (&mut [f64], &mut [f64]),
    source: (&[f64], &[f64]),
    factor: (f64, f64),
) {
    let (fr, fi) = factor;
    let targets = target.0.iter_mut().zip(target.1.iter_mut());
    for ((re, im), (&x, &y)) in targets.zip(source.0.iter().zip(source.1)) {
        if FUSED {
            *re = y.mul_add(fi, x.mul_add(-fr, *re));
            *im = y.mul_add(-fr, x.mul_add(-fi, *im));
        } else {
            *re -= x * fr - y * fi;
            *im -= x * fi + y * fr;
        }
    }
}

impl BandFactors<'_> {
    /// The logarithm of the determinant up to a constant, its imaginary part up to multiples of 2π.
    pub fn log_determinant(&self) -> Complex<f64> {
        let family = self.family;
        let (stride, diagonal) = (family.stride(), family.diagonal());
        let mut sum = Complex::new(0.0, 0.0);
        let mut product = Complex::new(1.0, 0.0);
        for j in 0..family.size {
            let at = j * stride + diagonal;
            let pivot = Complex::new(self.re[at], self.im[at]);
            product *= if self.pivots[j] == j { pivot } else { -pivot };
            let size = product.norm_sqr();
            if !(1e-100..1e100).contains(&size) {
                sum += product.ln();
                product = Complex::new(1.0, 0.0);
            }
        }
        sum + product.ln()
    }

    /// Solves for all columns; rows are those of the unscaled, unordered unknowns.
    pub fn solve(&self, columns: &mut Columns) {
        let family = self.family;
        let (n, width) = (family.size, columns.width);
        let (stride, diagonal) = (family.stride(), family.diagonal());
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
            subtract::<false>(to, (from.0, from.1), factor);
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
            for i in 1..=family.bottom[j] - j {
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
            let mut band = family.zeros();
            for &(i, j, size) in &places {
                let value = Complex::new(random(), random()) * size;
                dense[(i, j)] += value;
                band.add(i, j, value);
            }
            let factors = band.factor();
            let b = DVector::from_fn(n, |_, _| Complex::new(random(), random()));
            let mut columns = Columns::zeros(n, 2);
            (0..n).for_each(|i| columns.add(i, 1, b[i]));
            factors.solve(&mut columns);
            let x = DVector::from_fn(n, |i, _| columns.get(i, 1));
            assert!((&dense * x - &b).norm() < 1e-9 * b.norm());
            assert!((0..n).all(|i| columns.get(i, 0) == Complex::default()));
            logs.push((factors.log_determinant(), dense.determinant()));
        }
        // They agree up to the constant of the scaling.
        for pair in logs.windows(2) {
            let ratio = (pair[1].0 - pair[0].0).exp();
            let exact = pair[1].1 / pair[0].1;
            assert!((ratio / exact - 1.0).norm() < 1e-9, "{ratio} {exact}");
        }
    }
}
