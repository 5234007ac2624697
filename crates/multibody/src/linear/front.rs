//! Dense kernels on one front.
//!
//! The first `own` unknowns of a front of order `order` are eliminated, with row exchanges among
//! themselves only; the rest is left with the Schur complement. A front consists of three pieces,
//! each stored column by column: the panel of its own columns, with leading dimension `stride`;
//! the upper part, which is the own rows of the other columns; and the update, the other rows of
//! these, which is needed only until the parent has taken it. Rows beyond `order` are padding and
//! stay zero, so that the update may work on whole chunks of [`LANES`] rows.

use oldham_space::kernel::sub_mul;

/// Rows that the update treats at once.
pub const LANES: usize = 4;

/// Shape of a front.
#[derive(Clone, Copy, Debug)]
pub struct FrontShape {
    /// Unknowns eliminated here.
    pub own: usize,
    /// All unknowns.
    pub order: usize,
    /// Distance between columns.
    pub stride: usize,
}

impl FrontShape {
    /// A front with `own` unknowns to eliminate and `boundary` others.
    pub fn new(own: usize, boundary: usize) -> Self {
        Self {
            own,
            order: own + boundary,
            stride: own + boundary.next_multiple_of(LANES),
        }
    }

    /// Numbers in the panel.
    pub fn panel(&self) -> usize {
        self.stride * self.own
    }

    /// Unknowns that are not eliminated here.
    pub fn boundary(&self) -> usize {
        self.order - self.own
    }

    /// Numbers that stay stored: panel and upper part.
    pub fn factors(&self) -> usize {
        self.panel() + self.own * self.boundary()
    }

    /// Distance between columns of the update.
    pub fn update_stride(&self) -> usize {
        self.stride - self.own
    }

    /// Numbers in the update.
    pub fn update(&self) -> usize {
        self.update_stride() * self.boundary()
    }
}

/// The largest entry of each row, columns scaled. `a` are the panel and the upper part.
#[inline(always)]
pub fn row_maxima(a: &[f64], shape: FrontShape, scale: &[f64], most: &mut [f64]) {
    let most = &mut most[..shape.stride];
    most.fill(0.0);
    for (column, factor) in columns(a, shape).zip(scale) {
        for (most, entry) in most.iter_mut().zip(column) {
            let size = entry.abs() * factor;
            // Not `f64::max`, whose care for NaN costs a branch.
            *most = if size > *most { size } else { *most };
        }
    }
}

/// The sum of the squares of each row, columns scaled.
#[inline(always)]
pub fn row_squares(a: &[f64], shape: FrontShape, scale: &[f64], sums: &mut [f64]) {
    let sums = &mut sums[..shape.stride];
    sums.fill(0.0);
    for (column, factor) in columns(a, shape).zip(scale) {
        for (sum, entry) in sums.iter_mut().zip(column) {
            let scaled = entry * factor;
            *sum += scaled * scaled;
        }
    }
}

/// All columns, those of the panel whole, of the others the own rows.
#[inline(always)]
fn columns(a: &[f64], shape: FrontShape) -> impl Iterator<Item = &[f64]> {
    let (panel, upper) = a.split_at(shape.panel());
    panel
        .chunks_exact(shape.stride)
        .chain(upper.chunks_exact(shape.own))
}

/// Scales rows and columns alike, in the first `columns` columns.
#[inline(always)]
pub fn scale(a: &mut [f64], shape: FrontShape, columns: usize, scale: &[f64]) {
    let (panel, upper) = a.split_at_mut(shape.panel());
    let (own, boundary) = scale.split_at(shape.own);
    for (column, factor) in panel.chunks_exact_mut(shape.stride).zip(own) {
        for (entry, row) in column[..shape.order].iter_mut().zip(scale) {
            *entry *= factor * row;
        }
    }
    let worked = &boundary[..columns - shape.own];
    for (column, factor) in upper.chunks_exact_mut(shape.own).zip(worked) {
        for (entry, row) in column.iter_mut().zip(own) {
            *entry *= factor * row;
        }
    }
}

/// The weakest pivots that are used.
#[derive(Clone, Copy, Debug)]
pub struct Weakest {
    /// In the scaled matrix.
    absolute: f64,
    /// As a fraction of what is left of its column in other fronts.
    relative: f64,
}

impl Weakest {
    /// Where scaling with more care may still help.
    pub const QUICK: Self = Self {
        absolute: 1e-6,
        relative: 1e-3,
    };
    /// Where the unknown can still be eliminated later, together with more of its neighbours.
    pub const INNER: Self = Self {
        absolute: 1e-6,
        relative: 1e-6,
    };
    /// Where a weaker pivot means that the matrix is singular.
    pub const ROOT: Self = Self {
        absolute: 1e-13,
        relative: 0.0,
    };
}

/// Factors the own part and forms the Schur complement in the first `columns` columns. Pivots are
/// stored as reciprocals, row exchanges in `swaps`. Gives the index of the first bad pivot.
#[inline(always)]
pub fn eliminate<const FUSED: bool>(
    a: &mut [f64],
    update: &mut [f64],
    shape: FrontShape,
    columns: usize,
    swaps: &mut [usize],
    weakest: Weakest,
) -> Result<(), usize> {
    let FrontShape { own, order, stride } = shape;
    let (panel, upper) = a.split_at_mut(own * stride);
    for k in 0..own {
        let row = pivot_row(&panel[k * stride..][..order], k, own, weakest).ok_or(k)?;
        swaps[k] = row;
        if row != k {
            panel.chunks_exact_mut(stride).for_each(|c| c.swap(k, row));
        }
        let (left, right) = panel.split_at_mut((k + 1) * stride);
        let column = &mut left[k * stride..];
        let reciprocal = 1.0 / column[k];
        column[k] = reciprocal;
        column[k + 1..].iter_mut().for_each(|l| *l *= reciprocal);
        for other in right.chunks_exact_mut(stride) {
            let factor = other[k];
            subtract_column::<FUSED>(&mut other[k + 1..], &column[k + 1..], factor);
        }
    }
    if columns > own {
        let lower = update.chunks_exact_mut(shape.update_stride());
        for (upper, lower) in upper.chunks_exact_mut(own).zip(lower).take(columns - own) {
            update_column::<FUSED>(upper, lower, panel, shape, swaps);
        }
    }
    Ok(())
}

#[inline(always)]
fn pivot_row(column: &[f64], k: usize, own: usize, weakest: Weakest) -> Option<usize> {
    let (mut best, mut row) = (0.0, k);
    for (i, value) in column[k..own].iter().enumerate() {
        if value.abs() > best {
            (best, row) = (value.abs(), k + i);
        }
    }
    let below = column[own..].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    (best > weakest.absolute && best >= weakest.relative * below).then_some(row)
}

#[inline(always)]
fn subtract_column<const FUSED: bool>(target: &mut [f64], column: &[f64], factor: f64) {
    for (t, c) in target.iter_mut().zip(column) {
        *t = sub_mul::<FUSED>(*t, *c, factor);
    }
}

/// One column of U and of the Schur complement.
#[inline(always)]
fn update_column<const FUSED: bool>(
    upper: &mut [f64],
    lower: &mut [f64],
    panel: &[f64],
    shape: FrontShape,
    swaps: &[usize],
) {
    let FrontShape { own, stride, .. } = shape;
    for (k, &row) in swaps.iter().enumerate() {
        upper.swap(k, row);
    }
    for k in 0..own {
        let l = &panel[k * stride + k + 1..k * stride + own];
        let factor = upper[k];
        subtract_column::<FUSED>(&mut upper[k + 1..], l, factor);
    }
    for (index, chunk) in lower.chunks_exact_mut(LANES).enumerate() {
        let offset = own + index * LANES;
        let mut sum: [f64; LANES] = chunk.try_into().expect("a chunk");
        for (l, &u) in panel.chunks_exact(stride).zip(&*upper) {
            let l: &[f64; LANES] = l[offset..offset + LANES].try_into().expect("a chunk");
            for lane in 0..LANES {
                sum[lane] = sub_mul::<FUSED>(sum[lane], l[lane], u);
            }
        }
        chunk.copy_from_slice(&sum);
    }
}

/// Forward substitution: `x` holds the own right-hand side, then what is added to the boundary.
#[inline(always)]
pub fn forward<const FUSED: bool>(a: &[f64], shape: FrontShape, swaps: &[usize], x: &mut [f64]) {
    let FrontShape { own, stride, .. } = shape;
    for (k, &row) in swaps.iter().enumerate() {
        x.swap(k, row);
    }
    for (k, column) in a.chunks_exact(stride).take(own).enumerate() {
        let factor = x[k];
        subtract_column::<FUSED>(&mut x[k + 1..stride], &column[k + 1..], factor);
    }
}

/// Backward substitution: `x` holds the reduced own right-hand side, then the boundary's solution,
/// which is zero beyond the first `columns` columns.
#[inline(always)]
pub fn backward<const FUSED: bool>(a: &[f64], shape: FrontShape, columns: usize, x: &mut [f64]) {
    let FrontShape { own, stride, .. } = shape;
    let (own_x, boundary) = x.split_at_mut(own);
    let beyond = a[own * stride..].chunks_exact(own);
    for (column, &value) in beyond.zip(&boundary[..columns - own]) {
        subtract_column::<FUSED>(own_x, column, value);
    }
    for k in (0..own).rev() {
        let column = &a[k * stride..k * stride + k + 1];
        let value = own_x[k] * column[k];
        own_x[k] = value;
        subtract_column::<FUSED>(&mut own_x[..k], &column[..k], value);
    }
}
