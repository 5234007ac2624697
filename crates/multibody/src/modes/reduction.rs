//! Constraints taken away: the motion in a basis of what they allow.

use super::pencil::Pencil;
use crate::linearised::first_order::FirstOrder;
use crate::linearised::rows::DenseRows;
use crate::linearised::states::PlacedStates;
use crate::linearised::{Entry, LinearisedMatrices};
use faer::{Mat, c64};
use std::ops::Range;

/// Largest number of unknowns for dense bases.
const LARGEST: usize = 500;
/// Singular values below this fraction of the largest belong to redundant constraints.
const REDUNDANT: f64 = 1e-10;

/// The reduced pencil, and the basis.
pub(super) struct Reduced {
    pub pencil: Pencil,
    basis: Mat<f64>,
    /// Speeds that are free.
    pub degrees_of_freedom: usize,
    /// Which of the reduced unknowns are states of elements.
    pub states: Range<usize>,
}

/// Whether a model of so many unknowns is reduced.
pub(super) fn is_small(unknowns: usize) -> bool {
    unknowns <= LARGEST
}

/// As equations of first order; nothing where constraints and reactions do not fit each other.
pub(super) fn first_order(
    matrices: &LinearisedMatrices,
    rows: &DenseRows,
    states: &PlacedStates,
) -> Option<Reduced> {
    let equations = FirstOrder::new(matrices, rows, states)?;
    let z = &equations.poses;
    let [nz, ns, nu] = equations.sizes();
    Some(Reduced {
        basis: Mat::from_fn(z.nrows(), z.ncols(), |i, j| z[(i, j)]),
        pencil: Pencil::of_first_order(&equations),
        degrees_of_freedom: nu,
        states: nz..nz + ns,
    })
}

impl Reduced {
    /// The motion of all nodes.
    pub fn expand(&self, z: &[c64]) -> Vec<c64> {
        // Of equations of first order the coordinates come first.
        let row = |i: usize| {
            z.iter()
                .take(self.basis.ncols())
                .enumerate()
                .map(|(j, z)| z * self.basis[(i, j)])
                .sum()
        };
        (0..self.basis.nrows()).map(row).collect()
    }
}

/// Reduces a pencil whose unknowns are six per node, then multipliers, unless it is large.
pub(super) fn reduce(pencil: &Pencil, nodes: usize) -> Option<Reduced> {
    if pencil.size > LARGEST {
        return None;
    }
    let n = 6 * nodes;
    let m = pencil.size - n;
    let mut rows = Mat::<f64>::zeros(m, n);
    let mut columns = Mat::<f64>::zeros(m, n);
    for &(i, j, value) in &pencil.stiffness {
        if i >= n && j < n {
            rows[(i - n, j)] += value;
        } else if i < n && j >= n {
            columns[(j - n, i)] += value;
        }
    }
    let right = null_space(&rows)?;
    let left = match rows == columns {
        true => right.clone(),
        false => null_space(&columns)?,
    };
    if left.ncols() != right.ncols() {
        return None;
    }
    let reduced = |entries: &[Entry]| -> Vec<Entry> {
        let mut full = Mat::<f64>::zeros(n, n);
        for &(i, j, value) in entries.iter().filter(|(i, j, _)| *i < n && *j < n) {
            full[(i, j)] += value;
        }
        let small = left.transpose() * (&full * &right);
        let places = (0..small.ncols()).flat_map(|j| (0..small.nrows()).map(move |i| (i, j)));
        let entry = |(i, j): (usize, usize)| (i, j, small[(i, j)]);
        places
            .map(entry)
            .filter(|(_, _, value)| *value != 0.0)
            .collect()
    };
    Some(Reduced {
        pencil: Pencil {
            size: right.ncols(),
            moving: right.ncols(),
            mass: reduced(&pencil.mass),
            damping: reduced(&pencil.damping),
            stiffness: reduced(&pencil.stiffness),
            differences: [0, 1].map(|i| reduced(&pencil.differences[i])),
        },
        degrees_of_freedom: right.ncols(),
        basis: right,
        states: 0..0,
    })
}

/// An orthonormal basis of what all rows vanish on; redundant rows do no harm.
fn null_space(rows: &Mat<f64>) -> Option<Mat<f64>> {
    let (m, n) = (rows.nrows(), rows.ncols());
    if m == 0 {
        return Some(Mat::identity(n, n));
    }
    let mut square = Mat::<f64>::zeros(n.max(m), n);
    square.as_mut().subrows_mut(0, m).copy_from(rows);
    let svd = square.svd().ok()?;
    let values: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let largest = values.iter().fold(0.0_f64, |a, &b| a.max(b));
    let rank = values.iter().filter(|&&v| v > REDUNDANT * largest).count();
    Some(svd.V().subcols(rank, n - rank).to_owned())
}
