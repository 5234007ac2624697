//! A small linear model from responses to impulses: the eigensystem realisation of Juang and Pappa (1985), with delays
//! that are unevenly spaced.
//!
//! A fast mode shows in the first steps of a record, a slow one in all of it. Delays at every step first, then further
//! and further apart, have both in a matrix of some hundred rows. Channels are scaled so that their *noise* is
//! alike: scaled by their signals, one that does not answer is blown up until its noise hides all others.

use faer::Mat;
use nalgebra::DMatrix;

/// A discrete linear model: x⁺ = A x + B u, y = C x + D u.
#[derive(Clone, Debug)]
pub(crate) struct Realisation {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,
}

/// How it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fineness {
    /// Delays of the Hankel matrix.
    pub delays: usize,
    /// How many times the noise a singular value must have.
    pub above_noise: f64,
}

/// Share of the largest singular value that is rounding.
const ROUNDING: f64 = 1e-12;
/// Share of a channel's signal that its noise is taken for at least.
const QUIET: f64 = 1e-13;

/// Responses to impulses, matrix by matrix, and errors of like size.
pub(crate) struct Record {
    /// From the step of the impulse on.
    pub responses: Vec<DMatrix<f64>>,
    /// Half the difference of what impulses of both signs give.
    pub errors: Vec<DMatrix<f64>>,
}

impl Record {
    /// The first of them.
    pub fn first(&self, count: usize) -> Self {
        Self {
            responses: self.responses[..count].to_vec(),
            errors: self.errors[..count].to_vec(),
        }
    }

    pub fn len(&self) -> usize {
        self.responses.len()
    }

    /// Scales of outputs and inputs in which the noise of all channels is alike.
    fn balance(&self) -> (Vec<f64>, Vec<f64>) {
        let signal = mean_square_root(&self.responses);
        let (rows, columns) = signal.shape();
        let loudest_row = |i: usize| signal.row(i).amax();
        let loudest_column = |j: usize| signal.column(j).amax();
        // What never answers, or is never answered, has no scale.
        let active_rows: Vec<usize> = (0..rows).filter(|&i| loudest_row(i) > 0.0).collect();
        let active_columns: Vec<usize> =
            (0..columns).filter(|&j| loudest_column(j) > 0.0).collect();
        let mut noise = mean_square_root(&self.errors);
        for &i in &active_rows {
            for &j in &active_columns {
                let due = (loudest_row(i) * loudest_column(j)).sqrt();
                let least = QUIET * signal[(i, j)].max(due);
                noise[(i, j)] = noise[(i, j)].max(least).ln();
            }
        }
        let (mut of_rows, mut of_columns) = (vec![0.0; rows], vec![0.0; columns]);
        for &i in &active_rows {
            let sum = active_columns.iter().map(|&j| noise[(i, j)]).sum::<f64>();
            of_rows[i] = -sum / active_columns.len() as f64;
        }
        for &j in &active_columns {
            let rest = active_rows.iter().map(|&i| noise[(i, j)] + of_rows[i]);
            of_columns[j] = -rest.sum::<f64>() / active_rows.len() as f64;
        }
        let scales = |logarithms: Vec<f64>| logarithms.into_iter().map(f64::exp).collect();
        (scales(of_rows), scales(of_columns))
    }

    /// The model of these responses; nothing if the decomposition fails.
    pub fn realise(&self, fineness: Fineness) -> Option<Realisation> {
        let (rows, columns) = self.responses[0].shape();
        let (of_rows, of_columns) = self.balance();
        let delays = delays((self.len() - 1) / 2, fineness.delays);
        let hankel = |record: &[DMatrix<f64>], later: usize| {
            Mat::from_fn(delays.len() * rows, delays.len() * columns, |i, j| {
                let at = 1 + later + delays[i / rows] + delays[j / columns];
                let (row, column) = (i % rows, j % columns);
                record[at][(row, column)] * of_rows[row] * of_columns[column]
            })
        };
        let svd = hankel(&self.responses, 0).thin_svd().ok()?;
        let singular: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let noise = hankel(&self.errors, 0).singular_values().ok()?;
        let least = fineness.above_noise * noise.first().copied().unwrap_or(0.0);
        let least = least.max(ROUNDING * singular.first().copied().unwrap_or(0.0));
        let rank = singular.iter().take_while(|s| **s > least).count();
        let root = |k: usize| singular[k].sqrt();
        let later = hankel(&self.responses, 1);
        let (left, right) = (svd.U(), svd.V());
        // Uᵀ H₁ V, between the roots of the singular values.
        let half = &later * right.subcols(0, rank);
        let inner = left.subcols(0, rank).transpose() * &half;
        Some(Realisation {
            a: DMatrix::from_fn(rank, rank, |i, j| inner[(i, j)] / (root(i) * root(j))),
            b: DMatrix::from_fn(rank, columns, |k, j| {
                root(k) * right[(j, k)] / of_columns[j]
            }),
            c: DMatrix::from_fn(rows, rank, |i, k| left[(i, k)] * root(k) / of_rows[i]),
            d: self.responses[0].clone(),
        })
    }

    /// The largest share by which a model misses a channel of the record, in terms of what it may: some times its noise,
    /// or a small part of the loudest answer of the same output.
    pub fn misfit(&self, model: &Realisation) -> f64 {
        /// Times the noise that a model may miss.
        const NOISE: f64 = 30.0;
        /// Part of an answer that a model may miss.
        const SHARE: f64 = 1e-4;
        let mut misses = Vec::with_capacity(self.len());
        let mut state = model.b.clone();
        for response in &self.responses[1..] {
            misses.push(response - &model.c * &state);
            state = &model.a * state;
        }
        let missed = mean_square_root(&misses);
        let noise = mean_square_root(&self.errors);
        let signal = mean_square_root(&self.responses);
        let mut worst = 0.0;
        // What never answers has nothing to be missed.
        for i in (0..missed.nrows()).filter(|&i| signal.row(i).amax() > 0.0) {
            for j in 0..missed.ncols() {
                let allowed = NOISE * noise[(i, j)] + SHARE * signal.row(i).amax();
                worst = f64::max(worst, missed[(i, j)] / allowed);
            }
        }
        worst
    }
}

/// Delays below a limit: every one at first, then further and further apart.
fn delays(most: usize, count: usize) -> Vec<usize> {
    let near = (count / 2).min(most);
    let mut delays: Vec<usize> = (0..near).collect();
    let far = count - count / 2;
    let (first, last) = ((count / 2).max(1) as f64, (most.max(2) - 1) as f64);
    for k in 0..far {
        let share = k as f64 / (far.max(2) - 1) as f64;
        delays.push((first * (last / first).powf(share)).round() as usize);
    }
    delays
        .iter_mut()
        .for_each(|d| *d = (*d).min(most.max(1) - 1));
    delays.sort_unstable();
    delays.dedup();
    delays
}

/// The root of the mean square of each entry.
fn mean_square_root(matrices: &[DMatrix<f64>]) -> DMatrix<f64> {
    let mut sum = DMatrix::zeros(matrices[0].nrows(), matrices[0].ncols());
    for matrix in matrices {
        sum += matrix.map(|x| x * x);
    }
    sum.map(|x: f64| (x / matrices.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_begin_dense_and_reach_far() {
        let found = delays(1000, 28);
        assert_eq!(found[..14], (0..14).collect::<Vec<_>>());
        assert_eq!(found.last(), Some(&999));
        assert!(found.len() <= 28);
        assert_eq!(delays(3, 28), [0, 1, 2]);
    }

    /// Two modes, one of which forgets within a few steps and one of which lasts for a thousand.
    #[test]
    fn a_realisation_has_the_poles_of_what_was_recorded() {
        let poles = [0.3, 0.999];
        let responses: Vec<_> = (0..512)
            .map(|k: i32| {
                let at = |pole: f64| if k == 0 { 0.0 } else { pole.powi(k - 1) };
                DMatrix::from_element(1, 1, 2.0 * at(poles[0]) + 0.1 * at(poles[1]))
            })
            .collect();
        let errors = vec![DMatrix::zeros(1, 1); responses.len()];
        let record = Record { responses, errors };
        let fineness = Fineness {
            delays: 28,
            above_noise: 3.0,
        };
        let model = record.realise(fineness).unwrap();
        assert_eq!(model.a.nrows(), 2);
        let mut found: Vec<f64> = model.a.complex_eigenvalues().iter().map(|z| z.re).collect();
        found.sort_by(f64::total_cmp);
        assert!((found[0] - poles[0]).abs() < 1e-10, "{found:?}");
        assert!((found[1] - poles[1]).abs() < 1e-10, "{found:?}");
        assert!(record.misfit(&model) < 1e-4);
    }
}
