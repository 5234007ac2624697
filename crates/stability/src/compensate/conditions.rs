//! The linear conditions L k = n for the gains, their ranks and their solutions.

use nalgebra::{Complex, DMatrix, DVector};

use crate::compensate::response::{Continuous, Matrix, Plant};
use crate::compensate::rows::Architecture;
use crate::compensate::targets::Target;
use crate::extrapolator::Extrapolator;
use crate::poles::CoupledModel;

/// Singular values below this part of the largest one do not count towards a rank: the probed
/// recurrence is known to about this.
const RANK_TOLERANCE: f64 = 1e-10;

/// L k = n in real numbers, with columns scaled so that all gains are of the size of a stiffness.
pub struct Conditions {
    l: DMatrix<f64>,
    n: DVector<f64>,
    /// A gain is the scaled unknown times this.
    scale: Vec<f64>,
}

/// How many conditions there are, and how many of them can be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranks {
    /// Real equations.
    pub equations: usize,
    /// Gains.
    pub unknowns: usize,
    /// Rank of L.
    pub rank: usize,
    /// Rank of L with n as a further column: the poles are assignable if it is the same (Tamellin
    /// 2022, Eq. 33).
    pub augmented: usize,
    /// The smallest singular value of the scaled L that counts, against the largest.
    pub smallest: f64,
    /// What the best gains leave of n, relative to it.
    pub residual: f64,
}

impl Ranks {
    /// Whether all wanted eigenpairs can be had.
    pub fn is_assignable(&self) -> bool {
        self.rank == self.augmented
    }
}

impl Conditions {
    /// The conditions that all targets are modes. With p = -K (readings), a push of an amendment is
    /// expressed by the pushes on the corrected forces that would move the model alike.
    pub(crate) fn new(plant: &dyn Plant, rows: &Architecture, targets: &[Target]) -> Option<Self> {
        let size = reference_frequency(targets);
        let scale: Vec<f64> = rows
            .candidates()
            .map(|(_, candidate)| size.powi(-candidate.derivative))
            .collect();
        let (mut lines, mut right) = (Vec::new(), Vec::new());
        for target in targets {
            let (l, n) = complex_conditions(plant, rows, target)?;
            let take = |part: fn(&Complex<f64>) -> f64| {
                let line = |(row, n): (usize, &Complex<f64>)| {
                    let values = l.row(row).iter().map(part).collect::<Vec<_>>();
                    let scaled = values.iter().zip(&scale).map(|(v, s)| v * s);
                    (scaled.collect::<Vec<_>>(), part(n))
                };
                n.iter().enumerate().map(line).collect::<Vec<_>>()
            };
            let mut both = take(|value| value.re);
            if target.pole.im != 0.0 {
                both.extend(take(|value| value.im));
            }
            for (line, value) in both {
                lines.push(line);
                right.push(value);
            }
        }
        let l = DMatrix::from_fn(lines.len(), scale.len(), |i, j| lines[i][j]);
        let n = DVector::from_vec(right);
        let is_finite = l.iter().chain(n.iter()).all(|value| value.is_finite());
        is_finite.then_some(Self { l, n, scale })
    }

    /// The conditions on a continuous model with an extrapolator on every exchanged signal.
    pub fn continuous(
        model: &CoupledModel,
        extrapolator: Extrapolator,
        rows: &Architecture,
        targets: &[Target],
    ) -> Option<Self> {
        let plant = Continuous {
            model,
            rows,
            extrapolator,
        };
        Self::new(&plant, rows, targets)
    }

    /// The same conditions for fewer unknowns, each of which stands for several gains with given
    /// factors: a force that acts on both sides, say.
    pub fn combined(&self, unknowns: &[Vec<(usize, f64)>]) -> Self {
        let mut l = DMatrix::zeros(self.l.nrows(), unknowns.len());
        for (column, parts) in unknowns.iter().enumerate() {
            for &(old, factor) in parts {
                let unscaled = self.l.column(old) * (factor / self.scale[old]);
                let sum = l.column(column) + unscaled;
                l.set_column(column, &sum);
            }
        }
        let sizes = l.column_iter().map(|column| column.norm());
        let scale: Vec<f64> = sizes
            .map(|size| if size > 0.0 { 1.0 / size } else { 1.0 })
            .collect();
        for (column, scale) in scale.iter().enumerate() {
            let scaled = l.column(column) * *scale;
            l.set_column(column, &scaled);
        }
        let n = self.n.clone();
        Self { l, n, scale }
    }

    /// The smallest gains that meet the conditions, with the chosen candidates only.
    pub fn smallest_gains(&self, chosen: &[bool], truncation: f64) -> Vec<f64> {
        self.solve(chosen, truncation).gains
    }

    /// Directions in which the chosen gains may be changed while the conditions stay met: k = k₀ + V k_r (Tamellin 2022,
    /// Eq. 27). All gains of a direction together are of the size of one stiffness.
    pub fn free_directions(&self, chosen: &[bool], truncation: f64) -> Vec<Vec<f64>> {
        self.solve(chosen, truncation).free
    }

    /// What gains leave of n, relative to it.
    pub fn residual(&self, gains: &[f64]) -> f64 {
        let scaled = gains
            .iter()
            .zip(&self.scale)
            .map(|(gain, scale)| gain / scale);
        let scaled = DVector::from_iterator(gains.len(), scaled);
        (&self.l * scaled - &self.n).norm() / self.n.norm().max(f64::MIN_POSITIVE)
    }

    fn chosen(&self, chosen: &[bool]) -> DMatrix<f64> {
        let kept: Vec<usize> = (0..chosen.len()).filter(|&i| chosen[i]).collect();
        self.l.select_columns(&kept)
    }

    /// Ranks when only some gains may differ from zero.
    pub fn ranks(&self, chosen: &[bool]) -> Ranks {
        let l = self.chosen(chosen);
        let unknowns = l.ncols();
        let values = singular_values(&l);
        let largest = values.first().copied().unwrap_or(0.0);
        let rank = values
            .iter()
            .filter(|v| **v > RANK_TOLERANCE * largest)
            .count();
        // n is made as large as L, so that it counts alike.
        let size = self.n.norm().max(f64::MIN_POSITIVE);
        let mut wide = l.insert_column(unknowns, 0.0);
        wide.set_column(unknowns, &(&self.n * (largest / size)));
        let with_n = singular_values(&wide);
        let bound = RANK_TOLERANCE * with_n.first().copied().unwrap_or(0.0);
        let solution = self.solve(chosen, RANK_TOLERANCE);
        Ranks {
            equations: self.l.nrows(),
            unknowns,
            rank,
            augmented: with_n.iter().filter(|v| **v > bound).count(),
            smallest: values
                .get(rank.wrapping_sub(1))
                .map_or(0.0, |v| v / largest),
            residual: solution.residual,
        }
    }

    /// The smallest gains that meet the conditions as far as singular values above the tolerance
    /// (relative to the largest) go, and the directions in which gains may be changed freely.
    pub(crate) fn solve(&self, chosen: &[bool], tolerance: f64) -> Solution {
        let l = self.chosen(chosen);
        let unknowns = l.ncols();
        // Made square, so that the decomposition has all directions.
        let height = l.nrows().max(unknowns);
        let padded = l.resize(height, unknowns, 0.0);
        let right = self.n.clone().resize_vertically(height, 0.0);
        let svd = padded.svd(true, true);
        let (u, v_t) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
        let largest = svd.singular_values.max();
        let mut scaled = DVector::zeros(unknowns);
        let mut free = Vec::new();
        let mut rank = 0;
        for (index, &value) in svd.singular_values.iter().enumerate() {
            let direction = v_t.row(index).transpose();
            if value > tolerance * largest {
                scaled += &direction * (u.column(index).dot(&right) / value);
                rank += 1;
            } else {
                free.push(direction);
            }
        }
        let size = self.n.norm().max(f64::MIN_POSITIVE);
        let residual = (self.chosen(chosen) * &scaled - &self.n).norm() / size;
        Solution {
            gains: self.unscaled(chosen, &scaled),
            size: scaled.norm(),
            free: free.iter().map(|v| self.unscaled(chosen, v)).collect(),
            rank,
            residual,
        }
    }

    /// Gains for all candidates, those that are not chosen zero.
    fn unscaled(&self, chosen: &[bool], scaled: &DVector<f64>) -> Vec<f64> {
        let mut values = scaled.iter();
        let gain = |(&chosen, scale): (&bool, &f64)| match chosen {
            true => values.next().expect("one for each") * scale,
            false => 0.0,
        };
        chosen.iter().zip(&self.scale).map(gain).collect()
    }
}

/// Gains that meet the conditions.
pub(crate) struct Solution {
    pub gains: Vec<f64>,
    /// Size of the scaled gains.
    pub size: f64,
    /// Directions that leave the conditions as they are; each of unit size when scaled.
    pub free: Vec<Vec<f64>>,
    pub rank: usize,
    pub residual: f64,
}

fn singular_values(matrix: &DMatrix<f64>) -> Vec<f64> {
    let values = matrix.clone().svd(false, false).singular_values;
    let mut values: Vec<f64> = values.iter().copied().collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The geometric mean of the targets' frequencies: makes gains of different derivatives comparable.
fn reference_frequency(targets: &[Target]) -> f64 {
    let sizes = targets.iter().map(|target| target.pole.norm());
    let logarithms: Vec<f64> = sizes.filter(|size| *size > 0.0).map(f64::ln).collect();
    if logarithms.is_empty() {
        return 1.0;
    }
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

/// One complex equation for every corrected force.
fn complex_conditions(
    plant: &dyn Plant,
    rows: &Architecture,
    target: &Target,
) -> Option<(Matrix, Matrix)> {
    let response = plant.at(target.pole)?;
    let forces = rows.forces;
    let by_force = response.displacements.columns(0, forces).into_owned().lu();
    let shape = Matrix::from_column_slice(forces, 1, &target.shape);
    let needed = by_force.solve(&shape)?;
    let alike = by_force.solve(&response.displacements)?;
    let readings = response.readings.columns(0, forces) * &needed;
    let mut l = Matrix::zeros(forces, rows.unknowns());
    for (column, (row, _)) in rows.candidates().enumerate() {
        for force in 0..forces {
            l[(force, column)] = alike[(force, row)] * readings[column];
        }
    }
    Some((l, -needed))
}
