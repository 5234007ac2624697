//! The linear equations of Newton's method for a steady motion.
//!
//! A change u of the state and p of unknown parameters:
//!
//! (I − N Nᵀ)((M − I) u + P p) = −(I − N Nᵀ) f,   H u + H_p p = −h.
//!
//! The columns of N are the directions that a period does not change: what drifts along them is in a steady
//! motion all the same. They leave open where the motion begins, so that the smallest solution is taken.

use faer::Mat;
use nalgebra::{DMatrix, DVector};

use super::tangent::Tangent;

/// What a period changes of a direction along which there may be a drift.
const STEADY: f64 = 1e-6;
/// Singular values below this are none: differences of mechanisms make as much of nothing.
const NOTHING: f64 = 1e-6;
/// Share of the largest from which on a singular value of a period is of something that lasts.
const LASTING: f64 = 2e-2;

/// What unknown parameters do: to the change over a period, and to what is held. One a column.
pub(crate) struct Influence {
    pub change: DMatrix<f64>,
    pub held: DMatrix<f64>,
}

/// The equations, factored.
pub(crate) struct System {
    basis: DMatrix<f64>,
    /// Directions of drifts.
    drifts: DMatrix<f64>,
    /// Sizes of the columns of the parameters, which are scaled to one.
    influences: Vec<f64>,
    left: DMatrix<f64>,
    values: Vec<f64>,
    right: DMatrix<f64>,
    /// Unknowns that the equations leave open, where the motion begins included.
    open: usize,
    /// What the change over a period does to what is held over the next one.
    lag: DMatrix<f64>,
}

/// What the equations say.
pub(crate) struct Step {
    pub change: DVector<f64>,
    pub parameters: DVector<f64>,
    /// What they leave of the right-hand side.
    pub rest: f64,
}

impl System {
    /// About a point, from which the period counts. Nothing where a decomposition fails.
    pub fn new(tangent: &Tangent, influence: &Influence, drifting: bool) -> Option<Self> {
        let lag = DMatrix::zeros(tangent.held.nrows(), tangent.images.nrows());
        Self::with_lag(tangent, influence, drifting, lag)
    }

    /// About a point, after a period from which the next one counts. A change V y of the point and p of the parameters then leaves
    ///
    /// M (f + (M − I) V y + P p)
    ///
    /// of what changes. The period forgets what is beside V; of P, of which only M P is seen, counts what lasts.
    pub fn settled(tangent: &Tangent, influence: &Influence, drifting: bool) -> Option<Self> {
        let period = tangent.projected();
        let (left, values, right) = decomposed(&period)?;
        let largest = values.first().copied().unwrap_or_default();
        let mut shares = left.tr_mul(&tangent.basis.tr_mul(&influence.change));
        for (mut row, value) in shares.row_iter_mut().zip(&values) {
            row *= if *value > LASTING * largest {
                1.0 / value
            } else {
                0.0
            };
        }
        let influence = Influence {
            change: &tangent.basis * (right * shares),
            held: influence.held.clone(),
        };
        let lag = &tangent.held * tangent.basis.transpose();
        let tangent = Tangent {
            basis: tangent.basis.clone(),
            images: tangent.images.clone(),
            held: &tangent.held * period,
        };
        Self::with_lag(&tangent, &influence, drifting, lag)
    }

    fn with_lag(
        tangent: &Tangent,
        influence: &Influence,
        drifting: bool,
        lag: DMatrix<f64>,
    ) -> Option<Self> {
        let drifts = match drifting {
            true => drifts_of(tangent)?,
            false => DMatrix::zeros(tangent.images.nrows(), 0),
        };
        let [n, m] = [tangent.images.nrows(), tangent.images.ncols()];
        let [h, q] = [tangent.held.nrows(), influence.change.ncols()];
        let influences: Vec<f64> = (0..q)
            .map(|column| {
                let parts = [&influence.change, &influence.held];
                let squares = parts.map(|part| part.column(column).norm_squared());
                squares.iter().sum::<f64>().sqrt()
            })
            .collect();
        let mut matrix = DMatrix::zeros(n + h, m + q);
        matrix.view_mut((0, 0), (n, m)).copy_from(&tangent.images);
        matrix.view_mut((n, 0), (h, m)).copy_from(&tangent.held);
        for (column, size) in influences.iter().enumerate() {
            let scale = if *size > 0.0 { 1.0 / size } else { 0.0 };
            let scaled = influence.change.column(column) * scale;
            matrix.view_mut((0, m + column), (n, 1)).copy_from(&scaled);
            let scaled = influence.held.column(column) * scale;
            matrix.view_mut((n, m + column), (h, 1)).copy_from(&scaled);
        }
        let along = drifts.transpose() * matrix.rows(0, n);
        let mut still = matrix.rows_mut(0, n);
        still -= &drifts * along;
        let (left, values, right) = decomposed(&matrix)?;
        let rank = values.iter().filter(|value| **value > NOTHING).count();
        Some(Self {
            basis: tangent.basis.clone(),
            drifts,
            influences,
            open: m + q - rank,
            lag,
            left,
            values,
            right,
        })
    }

    /// How many directions there are along which it may drift.
    pub fn drifts(&self) -> usize {
        self.drifts.ncols()
    }

    /// Unknowns that are left open.
    pub fn open(&self) -> usize {
        self.open
    }

    /// What has changed over a period, but for drifts.
    pub fn without_drift(&self, change: &DVector<f64>) -> DVector<f64> {
        change - &self.drifts * (self.drifts.transpose() * change)
    }

    /// The smallest solution for what has changed over a period and what is missing of what is held.
    pub fn step(&self, change: &DVector<f64>, missing: &DVector<f64>) -> Step {
        let n = change.len();
        let mut rhs = DVector::zeros(n + missing.len());
        rhs.rows_mut(0, n).copy_from(&-self.without_drift(change));
        let missing = missing + &self.lag * change;
        rhs.rows_mut(n, missing.len()).copy_from(&-&missing);
        let mut shares = self.left.transpose() * &rhs;
        let mut met = shares.clone();
        for ((share, met), value) in shares.iter_mut().zip(met.iter_mut()).zip(&self.values) {
            let is_there = *value > NOTHING;
            *share = if is_there { *share / value } else { 0.0 };
            *met = if is_there { *met } else { 0.0 };
        }
        let solution = &self.right * shares;
        let rest = (rhs - &self.left * met).norm();
        let m = self.basis.ncols();
        let parameters = DVector::from_fn(self.influences.len(), |place, _| {
            let size = self.influences[place];
            if size > 0.0 {
                solution[m + place] / size
            } else {
                0.0
            }
        });
        Step {
            change: &self.basis * solution.rows(0, m),
            parameters,
            rest,
        }
    }
}

/// Orthonormal directions that a period does not change.
fn drifts_of(tangent: &Tangent) -> Option<DMatrix<f64>> {
    let (_, values, right) = decomposed(&tangent.images)?;
    let kept = values.iter().filter(|value| **value > STEADY).count();
    let still = right.columns_range(kept..);
    Some(&tangent.basis * still)
}

/// Left vectors, singular values and right vectors.
fn decomposed(matrix: &DMatrix<f64>) -> Option<(DMatrix<f64>, Vec<f64>, DMatrix<f64>)> {
    let [rows, columns] = [matrix.nrows(), matrix.ncols()];
    let svd = Mat::from_fn(rows, columns, |i, j| matrix[(i, j)])
        .thin_svd()
        .ok()?;
    let count = rows.min(columns);
    let values = svd.S().column_vector();
    Some((
        DMatrix::from_fn(rows, count, |i, j| svd.U()[(i, j)]),
        (0..count).map(|i| values[i]).collect(),
        DMatrix::from_fn(columns, count, |i, j| svd.V()[(i, j)]),
    ))
}
