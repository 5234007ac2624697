//! Gaussian elimination of a complex band matrix, with partial pivoting.
//!
//! Only columns within reach of the present pivot take part: each is assembled when the elimination
//! comes to it, in a window that stays in the cache. A few columns are eliminated together, the
//! panel; then each column to its right is loaded and stored once for all pivots of the panel. Real
//! and imaginary parts are kept apart, and columns are swept in whole vectors: what these hold
//! beyond a column is changed by zero.

use nalgebra::Complex;

use super::band::BandFamily;

type C = Complex<f64>;

/// Columns of a panel: their factors fit into the registers of every machine.
pub(super) const PANEL: usize = 4;

/// Numbers of a vector, at most.
const WIDEST: usize = 8;

/// One matrix, whose columns are asked for once, in order.
pub(super) trait Entries {
    /// Adds what is in a column, at rows and with scales as [`BandFamily::slot`] gives them.
    fn add_column(&mut self, column: usize, add: impl FnMut(usize, C));
}

/// What an elimination leaves.
pub(super) struct Eliminated {
    pub columns: Window,
    /// The row that came to each place.
    pub pivots: Vec<usize>,
    /// The last column that each pivot row reaches.
    pub reach: Vec<usize>,
    /// The logarithm of the determinant, its imaginary part up to multiples of 2π.
    pub log_determinant: C,
}

/// Columns of the band, all of them or the last few.
pub(super) struct Window {
    re: Vec<f64>,
    im: Vec<f64>,
    stride: usize,
    diagonal: usize,
    /// How many columns there are places for, in a ring.
    places: usize,
    /// A column of those in use, and its place.
    origin: (usize, usize),
}

impl Window {
    fn new(family: &BandFamily, keeps_all: bool) -> Self {
        // What pivoting brings, and what a panel is wider than one column.
        let diagonal = family.lower + family.upper + PANEL - 1;
        let stride = diagonal + 1 + family.lower + PANEL - 1;
        let places = match keeps_all {
            true => family.size,
            false => family.lower + family.upper + PANEL,
        };
        // The last vector of the last column reaches beyond it.
        let length = places * stride + WIDEST;
        Self {
            re: vec![0.0; length],
            im: vec![0.0; length],
            stride,
            diagonal,
            places,
            origin: (0, 0),
        }
    }

    /// Where a column begins.
    #[inline(always)]
    fn start(&self, column: usize) -> usize {
        let (origin, place) = self.origin;
        let place = place + column - origin;
        let turned = if place < self.places { 0 } else { self.places };
        (place - turned) * self.stride
    }

    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> usize {
        self.start(column) + self.diagonal + row - column
    }

    /// Columns before this one are no longer needed, unless there is place for all.
    #[inline(always)]
    fn advance(&mut self, column: usize) {
        self.origin = (column, self.start(column) / self.stride);
    }

    pub fn get(&self, row: usize, column: usize) -> (f64, f64) {
        let at = self.at(row, column);
        (self.re[at], self.im[at])
    }

    /// A new column in the place of one that is no longer needed.
    #[inline(always)]
    fn assemble(&mut self, column: usize, entries: &mut impl Entries) {
        let start = self.start(column);
        let Self {
            re,
            im,
            stride,
            diagonal,
            ..
        } = self;
        let (re, im) = (
            &mut re[start..start + *stride],
            &mut im[start..start + *stride],
        );
        re.fill(0.0);
        im.fill(0.0);
        entries.add_column(column, |row, value| {
            let at = *diagonal + row - column;
            re[at] += value.re;
            im[at] += value.im;
        });
    }
}

/// Eliminates with the widest vectors of the machine. All columns are kept, or none.
pub(super) fn eliminate(family: &BandFamily, entries: impl Entries, keeps_all: bool) -> Eliminated {
    pulp::Arch::new().dispatch(Elimination {
        family,
        entries,
        keeps_all,
    })
}

struct Elimination<'f, E> {
    family: &'f BandFamily,
    entries: E,
    keeps_all: bool,
}

impl<E: Entries> pulp::WithSimd for Elimination<'_, E> {
    type Output = Eliminated;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> Eliminated {
        let Self {
            family,
            mut entries,
            keeps_all,
        } = self;
        let size = family.size;
        let mut window = Window::new(family, keeps_all);
        let mut panel = Panel::new::<S>(family.lower);
        let mut determinant = LogProduct::default();
        let mut pivots = Vec::new();
        let mut reach = Vec::new();
        let (mut assembled, mut last) = (0, 0);
        for first in (0..size).step_by(PANEL) {
            let end = (first + PANEL).min(size);
            let bottom = family.bottom[end - 1];
            window.advance(first);
            while assembled <= family.reach[bottom] {
                window.assemble(assembled, &mut entries);
                assembled += 1;
            }
            panel.load(&window, first, end, bottom);
            for place in 0..end - first {
                let diagonal = panel.eliminate(simd, place, family.bottom[first + place] - first);
                let pivot = panel.pivots[place];
                determinant.multiply(if pivot == place { diagonal } else { -diagonal });
                last = last.max(family.reach[first + pivot]);
                if keeps_all {
                    pivots.push(first + pivot);
                    reach.push(last);
                }
            }
            if keeps_all {
                panel.store(&mut window, first, end);
            }
            panel.update(simd, &mut window, first, end..last + 1);
        }
        window.origin = (0, 0);
        Eliminated {
            columns: window,
            pivots,
            reach,
            log_determinant: determinant.log(),
        }
    }
}

/// Columns that are eliminated together, from their first diagonal down.
struct Panel {
    /// Real and imaginary parts of each column, followed by zeros.
    values: Vec<f64>,
    /// The same below the first rows, a vector of each in turn, as the columns at the right need them.
    packed: Vec<f64>,
    height: usize,
    /// Rows that are used.
    rows: usize,
    /// The row that came to each place.
    pivots: [usize; PANEL],
}

impl Panel {
    fn new<S: pulp::Simd>(lower: usize) -> Self {
        let height = lower + PANEL + 2 * S::F64_LANES;
        Self {
            values: vec![0.0; 2 * PANEL * height],
            packed: vec![0.0; 2 * PANEL * height],
            height,
            rows: 0,
            pivots: [0; PANEL],
        }
    }

    #[inline(always)]
    fn load(&mut self, window: &Window, first: usize, end: usize, bottom: usize) {
        self.rows = bottom + 1 - first;
        let columns = self.values.chunks_exact_mut(2 * self.height);
        for (column, values) in (first..end).zip(columns) {
            let from = window.at(first, column);
            let (re, im) = values.split_at_mut(self.height);
            for (to, from) in [(re, &window.re[from..]), (im, &window.im[from..])] {
                to[..self.rows].copy_from_slice(&from[..self.rows]);
                to[self.rows..].fill(0.0);
            }
        }
    }

    fn store(&self, window: &mut Window, first: usize, end: usize) {
        let columns = self.values.chunks_exact(2 * self.height);
        for (column, values) in (first..end).zip(columns) {
            let to = window.at(first, column);
            let (re, im) = values.split_at(self.height);
            window.re[to..to + self.rows].copy_from_slice(&re[..self.rows]);
            window.im[to..to + self.rows].copy_from_slice(&im[..self.rows]);
        }
    }

    /// Eliminates one column, in which the pivot is looked for down to a row: the pivot.
    #[inline(always)]
    fn eliminate<S: pulp::Simd>(&mut self, simd: S, column: usize, bottom: usize) -> C {
        let height = self.height;
        let (before, rest) = self.values.split_at_mut(2 * column * height);
        let (re, im) = rest[..2 * height].split_at_mut(height);
        for place in 0..column {
            re.swap(place, self.pivots[place]);
            im.swap(place, self.pivots[place]);
        }
        for (place, source) in before.chunks_exact(2 * height).enumerate() {
            let factor = (re[place], im[place]);
            let below =
                place + 1..place + 1 + (self.rows - place - 1).next_multiple_of(S::F64_LANES);
            let (source_re, source_im) = source.split_at(height);
            let source = (
                vectors::<S>(&source_re[below.clone()]),
                vectors::<S>(&source_im[below.clone()]),
            );
            let target = (
                vectors_mut::<S>(&mut re[below.clone()]),
                vectors_mut::<S>(&mut im[below]),
            );
            subtract(simd, target, source, factor);
        }
        let pivot = column + largest(&re[column..=bottom], &im[column..=bottom]);
        self.pivots[column] = pivot;
        re.swap(column, pivot);
        im.swap(column, pivot);
        for values in before.chunks_exact_mut(height) {
            values.swap(column, pivot);
        }
        // An exact zero makes everything infinite: the caller sees that it met a zero.
        let value = C::new(re[column], im[column]);
        let inverse = value.inv();
        let below = column + 1..self.rows;
        for (x, y) in re[below.clone()].iter_mut().zip(&mut im[below]) {
            (*x, *y) = (
                *x * inverse.re - *y * inverse.im,
                *x * inverse.im + *y * inverse.re,
            );
        }
        value
    }

    /// What the panel does to columns at its right.
    #[inline(always)]
    fn update<S: pulp::Simd>(
        &mut self,
        simd: S,
        window: &mut Window,
        first: usize,
        columns: std::ops::Range<usize>,
    ) {
        if columns.is_empty() {
            return;
        }
        let below = (self.rows - PANEL).next_multiple_of(S::F64_LANES);
        self.pack::<S>(below);
        let (packed, _) = S::as_simd_f64s(&self.packed);
        let (packed, _) = packed[..below / S::F64_LANES * 2 * PANEL].as_chunks::<{ 2 * PANEL }>();
        let mut corner_re = [[0.0; PANEL]; PANEL];
        let mut corner_im = [[0.0; PANEL]; PANEL];
        for k in 0..PANEL {
            for row in 0..PANEL {
                corner_re[row][k] = self.values[2 * k * self.height + row];
                corner_im[row][k] = self.values[(2 * k + 1) * self.height + row];
            }
        }
        for column in columns {
            let start = window.at(first, column);
            let re = &mut window.re[start..start + PANEL + below];
            let im = &mut window.im[start..start + PANEL + below];
            for (place, &pivot) in self.pivots.iter().enumerate() {
                re.swap(place, pivot);
                im.swap(place, pivot);
            }
            let (re, below_re) = re.split_at_mut(PANEL);
            let (im, below_im) = im.split_at_mut(PANEL);
            let mut fr = [0.0; PANEL];
            let mut fi = [0.0; PANEL];
            for k in 0..PANEL {
                let (mut x, mut y) = (re[k], im[k]);
                for m in 0..k {
                    let (lr, li) = (corner_re[k][m], corner_im[k][m]);
                    x -= lr * fr[m];
                    y -= lr * fi[m];
                    x += li * fi[m];
                    y -= li * fr[m];
                }
                (fr[k], fi[k]) = (x, y);
                (re[k], im[k]) = (x, y);
            }
            if fr == [0.0; PANEL] && fi == [0.0; PANEL] {
                continue;
            }
            let below = (vectors_mut::<S>(below_re), vectors_mut::<S>(below_im));
            subtract_panel(simd, below, packed, fr, fi);
        }
    }

    #[inline(always)]
    fn pack<S: pulp::Simd>(&mut self, below: usize) {
        for k in 0..2 * PANEL {
            let from = &self.values[k * self.height + PANEL..][..below];
            let to = self.packed.chunks_exact_mut(2 * PANEL * S::F64_LANES);
            for (from, to) in from.chunks_exact(S::F64_LANES).zip(to) {
                to[k * S::F64_LANES..(k + 1) * S::F64_LANES].copy_from_slice(from);
            }
        }
    }
}

/// target -= columns of the panel · factors, by real and imaginary parts.
#[inline(always)]
fn subtract_panel<S: pulp::Simd>(
    simd: S,
    target: (&mut [S::f64s], &mut [S::f64s]),
    packed: &[[S::f64s; 2 * PANEL]],
    fr: [f64; PANEL],
    fi: [f64; PANEL],
) {
    let mut factors = [simd.splat_f64s(0.0); 2 * PANEL];
    for k in 0..PANEL {
        factors[2 * k] = simd.splat_f64s(fr[k]);
        factors[2 * k + 1] = simd.splat_f64s(fi[k]);
    }
    for ((re, im), sources) in target.0.iter_mut().zip(target.1).zip(packed) {
        let (mut x, mut y) = (*re, *im);
        for k in 0..PANEL {
            let (lr, li, fr, fi) = (
                sources[2 * k],
                sources[2 * k + 1],
                factors[2 * k],
                factors[2 * k + 1],
            );
            x = simd.negate_mul_add_e_f64s(lr, fr, x);
            y = simd.negate_mul_add_e_f64s(lr, fi, y);
            x = simd.mul_add_e_f64s(li, fi, x);
            y = simd.negate_mul_add_e_f64s(li, fr, y);
        }
        (*re, *im) = (x, y);
    }
}

#[inline(always)]
fn vectors<S: pulp::Simd>(values: &[f64]) -> &[S::f64s] {
    S::as_simd_f64s(values).0
}

#[inline(always)]
fn vectors_mut<S: pulp::Simd>(values: &mut [f64]) -> &mut [S::f64s] {
    S::as_mut_simd_f64s(values).0
}

/// target -= source · factor.
#[inline(always)]
fn subtract<S: pulp::Simd>(
    simd: S,
    target: (&mut [S::f64s], &mut [S::f64s]),
    source: (&[S::f64s], &[S::f64s]),
    factor: (f64, f64),
) {
    let (fr, fi) = (simd.splat_f64s(factor.0), simd.splat_f64s(factor.1));
    let targets = target.0.iter_mut().zip(target.1);
    for ((re, im), (&x, &y)) in targets.zip(source.0.iter().zip(source.1)) {
        *re = simd.mul_add_e_f64s(y, fi, simd.negate_mul_add_e_f64s(x, fr, *re));
        *im = simd.negate_mul_add_e_f64s(y, fr, simd.negate_mul_add_e_f64s(x, fi, *im));
    }
}

/// Place of the largest of complex numbers.
#[inline(always)]
fn largest(re: &[f64], im: &[f64]) -> usize {
    let (mut largest, mut place) = (-1.0, 0);
    for (i, (x, y)) in re.iter().zip(im).enumerate() {
        let size = x * x + y * y;
        if size > largest {
            (largest, place) = (size, i);
        }
    }
    place
}

/// The logarithm of a product of very many numbers.
#[derive(Default)]
struct LogProduct {
    sum: C,
    product: Option<C>,
}

impl LogProduct {
    #[inline(always)]
    fn multiply(&mut self, factor: C) {
        let product = self.product.map_or(factor, |product| product * factor);
        self.product = match (1e-100..1e100).contains(&product.norm_sqr()) {
            true => Some(product),
            false => {
                self.sum += product.ln();
                None
            }
        };
    }

    fn log(&self) -> C {
        self.sum + self.product.map_or(C::default(), |product| product.ln())
    }
}
