//! Eigenvalues of dense matrices, and the eigenvectors that tell how sensitive they are.
//!
//! Small matrices, of which maps need thousands, are left to nalgebra; larger ones, and those on
//! which its iteration does not end (many equal eigenvalues), to faer.

use faer::linalg::solvers::{PartialPivLu, SolveCore};
use faer::{Conj, Mat, c64};
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix, DVector, Schur};

use crate::dominant::dominant_eigenvalues;
use crate::subspace::{LARGE, Subspaces};

/// Rows up to which nalgebra's Schur form is the faster one.
const SMALL: usize = 100;
/// Iterations for each row after which the Schur form is given up.
const PATIENCE: usize = 60;
/// What a pivot is at least, relative to the largest, to count for the rank.
const NO_RANK: f64 = 1e-13;
/// Compressions at most: each ends a chain of histories by one step.
const COMPRESSIONS: usize = 3;
/// Imaginary parts, relative to the largest eigenvalue, that are rounding.
const ROUNDING: f64 = 1e-14;
/// Distance, relative to the largest eigenvalue, within which two eigenvalues are conjugates.
const PAIR: f64 = 1e-6;
/// Shift of inverse iteration off the eigenvalue, relative to the matrix: its systems stay
/// solvable.
const SHIFT: f64 = 1e-14;

/// An odd number without pattern.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// All eigenvalues of a matrix, the largest first.
pub(crate) fn eigenvalues_of(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    if !matrix.iter().all(|value| value.is_finite()) {
        return None;
    }
    if matrix.is_empty() {
        return Some(Vec::new());
    }
    let small = (matrix.nrows() <= SMALL)
        .then(|| {
            let limit = PATIENCE * matrix.nrows().max(1);
            Schur::try_new(matrix.clone(), f64::EPSILON, limit)
        })
        .flatten();
    let mut values: Vec<Complex<f64>> = match small {
        Some(schur) => schur.complex_eigenvalues().iter().copied().collect(),
        None => eigenvalues_by_faer(matrix.nrows(), |i, j| matrix[(i, j)])?,
    };
    if !values.iter().all(|value| value.norm().is_finite()) {
        return None;
    }
    values.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
    Some(values)
}

/// All eigenvalues of a real matrix of any size. As a complex one: reordering the pairs of the real
/// Schur form (faer 0.24, aggressive early deflation) does not end on some matrices with many
/// nearly equal eigenvalues.
pub(crate) fn eigenvalues_by_faer(
    n: usize,
    entry: impl Fn(usize, usize) -> f64,
) -> Option<Vec<Complex<f64>>> {
    let matrix = Mat::<c64>::from_fn(n, n, |i, j| c64::new(entry(i, j), 0.0));
    let values = matrix.eigenvalues().ok()?;
    // Rounding has no regard for conjugates: each is made of the one in the upper half plane, or of
    // the one in the lower half plane that has none above.
    let largest = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
    let (mut real, mut above, mut below) = (Vec::new(), Vec::new(), Vec::new());
    for value in values {
        match value.im {
            im if im.abs() <= ROUNDING * largest => real.push(Complex::new(value.re, 0.0)),
            im if im > 0.0 => above.push(value),
            _ => below.push(value.conj()),
        }
    }
    let mut alone = above.clone();
    for value in below {
        let distance = |other: &Complex<f64>| (other - value).norm();
        let nearest =
            (0..alone.len()).min_by(|&i, &j| distance(&alone[i]).total_cmp(&distance(&alone[j])));
        match nearest {
            Some(place) if distance(&alone[place]) < PAIR * largest => {
                alone.swap_remove(place);
            }
            _ => above.push(value),
        }
    }
    let pairs = above.into_iter().flat_map(|value| [value, value.conj()]);
    Some(real.into_iter().chain(pairs).collect())
}

/// A matrix without the coordinates that nothing depends on, that depend on nothing or that copy
/// others, in coordinates of balanced size: its eigenvalues are the nonzero ones of the whole.
pub(crate) struct Reduced {
    /// The coordinates that are left.
    pub kept: Vec<usize>,
    /// Coordinates that always are what another is, a sample that several parts hold say, with it.
    pub copies: Vec<(usize, usize)>,
    /// Size of each of them: a balanced coordinate times its size is the coordinate.
    pub sizes: DVector<f64>,
    pub matrix: DMatrix<f64>,
}

impl Reduced {
    /// Nothing if the matrix has entries that are NaN.
    pub fn new(matrix: &DMatrix<f64>) -> Option<Self> {
        Self::balanced_from(matrix, &vec![1.0; matrix.nrows()])
    }

    /// The same, balanced from sizes on that are powers of two and may do already.
    pub fn balanced_from(matrix: &DMatrix<f64>, start: &[f64]) -> Option<Self> {
        let busy = busy_coordinates(matrix);
        let mut whole = selected(matrix, &busy);
        let (mut kept, mut copies, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (copy, original) in originals(&whole).into_iter().enumerate() {
            if copy == original {
                kept.push(busy[copy]);
                places.push(copy);
            } else {
                copies.push((busy[copy], busy[original]));
                let column = whole.column(copy).into_owned();
                whole.column_mut(original).axpy(1.0, &column, 1.0);
            }
        }
        let mut reduced = match copies.is_empty() {
            true => whole,
            false => selected(&whole, &places),
        };
        let start = DVector::from_iterator(kept.len(), kept.iter().map(|&place| start[place]));
        for (mut column, size) in reduced.column_iter_mut().zip(&start) {
            for (entry, own) in column.iter_mut().zip(&start) {
                *entry *= size / own;
            }
        }
        // Balancing would not end on NaN.
        if !reduced.as_slice().iter().all(|value| value.is_finite()) {
            return None;
        }
        // Positions, velocities and forces differ by many orders of magnitude.
        let sizes = balance_parlett_reinsch(&mut reduced).component_mul(&start);
        Some(Self {
            kept,
            copies,
            sizes,
            matrix: reduced,
        })
    }

    /// The same as a part of a larger state, of which the matrix has only these coordinates.
    pub fn within(mut self, places: &[usize]) -> Self {
        self.kept.iter_mut().for_each(|kept| *kept = places[*kept]);
        for (copy, original) in &mut self.copies {
            (*copy, *original) = (places[*copy], places[*original]);
        }
        self
    }

    /// The largest ones at least, the largest first, by the quickest way.
    pub fn dominant_eigenvalues(&self) -> Option<Vec<Complex<f64>>> {
        let separated = (self.matrix.nrows() <= SMALL).then(|| dominant_eigenvalues(&self.matrix));
        separated.flatten().or_else(|| self.eigenvalues())
    }

    /// Right and left modes near or beyond the unit circle, where the matrix is large and these are few.
    pub fn subspaces(&self) -> Option<Subspaces> {
        let is_large = self.matrix.nrows() >= LARGE;
        is_large.then(|| Subspaces::of(&self.matrix)).flatten()
    }

    pub fn eigenvalues(&self) -> Option<Vec<Complex<f64>>> {
        match self.matrix.nrows() <= SMALL {
            true => eigenvalues_of(&of_full_rank(&self.matrix)),
            false => eigenvalues_of(&self.matrix),
        }
    }
}

/// A smaller matrix with the same nonzero eigenvalues: half of a state are histories that follow
/// from the other half. With A = Q₁ R₁ of rank r these are the eigenvalues of the r by r matrix
/// R₁ Q₁; the cost of finding them grows with the cube of r.
fn of_full_rank(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut reduced = matrix.clone();
    for _ in 0..COMPRESSIONS {
        let n = reduced.nrows();
        let factors = reduced.clone().col_piv_qr();
        let mut r = factors.r();
        let largest = r
            .diagonal()
            .iter()
            .fold(0.0_f64, |most, x| most.max(x.abs()));
        let counts = |x: &&f64| x.abs() > NO_RANK * largest;
        let rank = r.diagonal().iter().take_while(counts).count();
        if rank == n {
            break;
        }
        factors.p().inv_permute_columns(&mut r);
        let q = factors.q();
        reduced = r.rows(0, rank) * q.columns(0, rank);
    }
    reduced
}

/// The columns of a square matrix as slices, which are quicker to walk along than views.
fn columns_of(matrix: &DMatrix<f64>) -> impl Iterator<Item = &[f64]> {
    matrix.as_slice().chunks_exact(matrix.nrows().max(1))
}

/// These rows and columns.
pub(crate) fn selected(matrix: &DMatrix<f64>, places: &[usize]) -> DMatrix<f64> {
    if places.len() == matrix.nrows() {
        return matrix.clone();
    }
    let mut entries = Vec::with_capacity(places.len() * places.len());
    for &j in places {
        let column = &matrix.as_slice()[j * matrix.nrows()..];
        entries.extend(places.iter().map(|&i| column[i]));
    }
    DMatrix::from_vec(places.len(), places.len(), entries)
}

/// Leaves out coordinates with an empty row or column, again and again. The rest has the same
/// nonzero eigenvalues, and the cost of finding them grows with the cube of the size.
pub(crate) fn busy_coordinates(matrix: &DMatrix<f64>) -> Vec<usize> {
    let n = matrix.nrows();
    // How many coordinates each depends on, and how many depend on it.
    let (mut sources, mut listeners) = (vec![0; n], vec![0; n]);
    for (column, listeners) in columns_of(matrix).zip(&mut listeners) {
        for (source, entry) in sources.iter_mut().zip(column) {
            let is_there = usize::from(*entry != 0.0);
            *source += is_there;
            *listeners += is_there;
        }
    }
    let mut is_kept = vec![true; n];
    let mut idle: Vec<usize> = (0..n)
        .filter(|&i| sources[i] == 0 || listeners[i] == 0)
        .collect();
    while let Some(i) = idle.pop() {
        if !std::mem::replace(&mut is_kept[i], false) {
            continue;
        }
        let column = &matrix.as_slice()[i * n..(i + 1) * n];
        let row = matrix.as_slice()[i..].iter().step_by(n);
        for (j, (reached, heard)) in column.iter().zip(row).enumerate() {
            if !is_kept[j] {
                continue;
            }
            sources[j] -= usize::from(*reached != 0.0);
            listeners[j] -= usize::from(*heard != 0.0);
            if sources[j] == 0 || listeners[j] == 0 {
                idle.push(j);
            }
        }
    }
    (0..n).filter(|&i| is_kept[i]).collect()
}

/// For each coordinate the first one whose row is the same, itself if there is none before: what
/// follows from a step is the same for both, whatever the state was.
fn originals(matrix: &DMatrix<f64>) -> Vec<usize> {
    let n = matrix.nrows();
    // Rows with the same sum of mixed bits are worth a look.
    let mut sums = vec![0_u64; n];
    for column in columns_of(matrix) {
        for (sum, entry) in sums.iter_mut().zip(column) {
            *sum = (sum.rotate_left(5) ^ entry.to_bits()).wrapping_mul(MIXER);
        }
    }
    let is_same = |a: usize, b: usize| {
        let bits = |row: usize| matrix.row(row).into_iter().map(|entry| entry.to_bits());
        sums[a] == sums[b] && bits(a).eq(bits(b))
    };
    let first = |row: usize| (0..row).find(|&before| is_same(before, row));
    (0..n).map(|row| first(row).unwrap_or(row)).collect()
}

/// The right and left eigenvectors of an eigenvalue, of unit length.
pub(crate) struct Eigenvectors {
    pub right: DVector<Complex<f64>>,
    pub left: DVector<Complex<f64>>,
}

impl Eigenvectors {
    /// By inverse iteration; nothing where that breaks down.
    pub fn of(matrix: &DMatrix<f64>, value: Complex<f64>) -> Option<Self> {
        let factors = Shifted::new(matrix, value);
        Some(Self {
            right: factors.inverse_iteration(Conj::No)?,
            left: factors.inverse_iteration(Conj::Yes)?,
        })
    }

    /// By how much more than the matrix the eigenvalue can change, to first order.
    pub fn condition(&self) -> f64 {
        1.0 / self.left.dotc(&self.right).norm().max(f64::MIN_POSITIVE)
    }
}

/// The right eigenvector of an eigenvalue alone.
pub(crate) fn right_eigenvector(
    matrix: &DMatrix<f64>,
    value: Complex<f64>,
) -> Option<DVector<Complex<f64>>> {
    Shifted::new(matrix, value).inverse_iteration(Conj::No)
}

/// The factors of a matrix that an eigenvalue makes singular, but for a slight shift.
struct Shifted {
    factors: PartialPivLu<c64>,
    size: usize,
}

impl Shifted {
    fn new(matrix: &DMatrix<f64>, value: Complex<f64>) -> Self {
        let shift = value + Complex::from(SHIFT * matrix.norm().max(f64::MIN_POSITIVE));
        let size = matrix.nrows();
        let shifted = Mat::from_fn(size, size, |i, j| {
            let entry = c64::new(matrix[(i, j)], 0.0);
            if i == j { entry - shift } else { entry }
        });
        Self {
            factors: shifted.partial_piv_lu(),
            size,
        }
    }

    /// A vector that the inverse, or that of the adjoint, makes much larger.
    fn inverse_iteration(&self, adjoint: Conj) -> Option<DVector<Complex<f64>>> {
        let start = |i: usize| {
            Complex::new(
                1.0 + 0.3 * (1.7 * i as f64).sin(),
                0.2 * (2.9 * i as f64).cos(),
            )
        };
        let mut vector = Mat::from_fn(self.size, 1, |i, _| start(i));
        for _ in 0..3 {
            let image = vector.as_mut();
            match adjoint {
                Conj::Yes => self
                    .factors
                    .solve_transpose_in_place_with_conj(Conj::Yes, image),
                Conj::No => self.factors.solve_in_place_with_conj(Conj::No, image),
            }
            let length = vector.norm_l2();
            if !(length.is_finite() && length > 0.0) {
                return None;
            }
            vector *= faer::Scale(c64::new(1.0 / length, 0.0));
        }
        Some(DVector::from_fn(self.size, |i, _| vector[(i, 0)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_coordinates_change_no_other_eigenvalue() {
        // 0 and 1 turn; 2 only listens to them, 3 only listens to 2, 4 only speaks to 0.
        let mut matrix = DMatrix::zeros(5, 5);
        matrix[(0, 1)] = -2.0;
        matrix[(1, 0)] = 2.0;
        matrix[(2, 0)] = 7.0;
        matrix[(3, 2)] = 5.0;
        matrix[(0, 4)] = 3.0;
        assert_eq!(busy_coordinates(&matrix), [0, 1]);
        assert!(busy_coordinates(&DMatrix::zeros(3, 3)).is_empty());
    }

    /// Two parts hold the same sample of a rotation, and both act on it.
    #[test]
    fn copies_are_one_coordinate() {
        let mut matrix = DMatrix::zeros(4, 4);
        for (row, entries) in [[0.5, -0.6, 0.1, 0.2], [0.7, 0.4, 0.0, 0.1]]
            .iter()
            .enumerate()
        {
            (0..4).for_each(|j| matrix[(row, j)] = entries[j]);
        }
        matrix[(2, 0)] = 1.0;
        matrix[(3, 0)] = 1.0;
        let reduced = Reduced::new(&matrix).unwrap();
        assert_eq!(
            (reduced.kept.len(), &reduced.copies[..]),
            (3, &[(3, 2)][..])
        );
        let whole = eigenvalues_of(&matrix).unwrap();
        for value in reduced.eigenvalues().unwrap() {
            let off = whole.iter().map(|v| (v - value).norm()).fold(9.0, f64::min);
            assert!(off < 1e-12, "{value}: {off:e}");
        }
    }

    /// A chain of histories behind a rotation: only the rotation is left.
    #[test]
    fn histories_are_left_out_and_eigenvalues_stay() {
        let mut matrix = DMatrix::zeros(8, 8);
        matrix[(0, 0)] = 0.8;
        matrix[(0, 1)] = -0.7;
        matrix[(1, 0)] = 0.6;
        matrix[(1, 1)] = 0.3;
        for i in 2..8 {
            matrix[(i, i - 2)] = 1.0;
        }
        // The oldest histories feed back a little of what the newest ones do.
        matrix[(0, 2)] = 0.1;
        let whole = eigenvalues_of(&matrix).unwrap();
        let small = of_full_rank(&matrix);
        assert!(small.nrows() < 6, "{}", small.nrows());
        let found = eigenvalues_of(&small).unwrap();
        for value in whole.iter().filter(|value| value.norm() > 1e-3) {
            let off = found.iter().map(|v| (v - value).norm()).fold(9.0, f64::min);
            assert!(off < 1e-12, "{value}: {off:e}");
        }
    }

    /// Companion matrices of (z - 0.9)(z² - 2 r cos(a) z + r²)…: the roots are known.
    #[test]
    fn small_and_large_matrices_have_their_eigenvalues() {
        for pairs in [10, 80] {
            let n = 2 * pairs;
            let pair = |k: usize| (1.0 - 0.9 * k as f64 / pairs as f64, 0.3 + 0.03 * k as f64);
            let mut matrix = DMatrix::zeros(n, n);
            for k in 0..pairs {
                let (radius, angle) = pair(k);
                let (re, im) = (radius * angle.cos(), radius * angle.sin());
                let block = [[re, -im], [im, re]];
                for (i, row) in block.iter().enumerate() {
                    for (j, value) in row.iter().enumerate() {
                        matrix[(2 * k + i, 2 * k + j)] = *value;
                    }
                }
                if k > 0 {
                    matrix[(2 * k, 2 * k - 1)] = 0.02;
                }
            }
            let values = eigenvalues_of(&matrix).unwrap();
            for (k, chunk) in values.chunks(2).enumerate() {
                let (radius, angle) = pair(k);
                let exact = Complex::from_polar(radius, angle);
                let off = chunk.iter().map(|v| (v - exact).norm()).fold(9.0, f64::min);
                assert!(off < 1e-9, "{n}: {off:e}");
            }
            let exact = Complex::from_polar(1.0, 0.3);
            let vectors = Eigenvectors::of(&matrix, exact).unwrap();
            let rest = matrix.map(Complex::from) * &vectors.right - &vectors.right * exact;
            assert!(rest.norm() < 1e-9, "{:e}", rest.norm());
            let adjoint = matrix.transpose().map(Complex::from);
            let rest = adjoint * &vectors.left - &vectors.left * exact.conj();
            assert!(rest.norm() < 1e-9, "{:e}", rest.norm());
        }
    }

    /// Where nalgebra's iteration does not end, and where all eigenvalues are one.
    #[test]
    fn equal_eigenvalues_are_found() {
        let n = 12;
        let matrix = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j || j == i + 1)));
        let values = eigenvalues_of(&matrix).unwrap();
        // A Jordan block of order n: rounding moves its eigenvalues by eps^(1/n).
        assert!(values.iter().all(|v| (v - Complex::from(1.0)).norm() < 0.1));
    }
}
