//! What becomes of small differences over a period of a steady motion: Floquet's multipliers.
//!
//! They are eigenvalues of the derivative of the run's own period. Of small models its matrix is made twice, by
//! differences of two sizes; of large ones two Krylov spaces are made from two random starts. How far the results lie
//! apart is the error.

use nalgebra::{Complex, DMatrix, DVector};
use oldham_cosim::Chart;

use super::map::{PeriodMap, Sizes};
use super::tangent::{DIFFERENCE, Tangent, is_small};
use crate::krylov::Arnoldi;
use crate::random::Random;
use crate::recurrence::AnalysisError;
use crate::spectrum::{Decision, ROUNDING, THRESHOLD};
use crate::steady::Split;

/// Sizes of the differences that give two matrices.
const SHARES: [f64; 2] = [1.0, 0.5];
/// Vectors of a Krylov space, and products before its first one.
const VECTORS: usize = 160;
const FILTERED: usize = 4;
const SEEDS: [u64; 2] = [0, 5];
/// Two results may agree by chance.
const CAUTION: f64 = 10.0;
/// Those that are told are no smaller than this.
const SMALLEST: f64 = 1e-6;
/// Distance within which the results of two Krylov spaces are the same.
const SAME: f64 = 1e-3;

/// What a small difference is multiplied by over a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiplier {
    /// With nonnegative imaginary part, of a conjugate pair.
    pub value: Complex<f64>,
    /// How far that may be off.
    pub error: f64,
}

/// The multipliers of a steady motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multipliers {
    /// The largest first; without those of drifts.
    pub values: Vec<Multiplier>,
    /// Multipliers at one that belong to drifts.
    pub drifts: usize,
    /// Seconds of a period.
    pub duration: f64,
    /// Why nothing is known of them, if so.
    pub unknown: Option<String>,
}

impl Multipliers {
    /// Whether a difference grows.
    pub fn decision(&self) -> Decision {
        if self.unknown.is_some() {
            return Decision::Undecided;
        }
        let grows = |one: &Multiplier| one.value.norm() - one.error.max(ROUNDING) > 1.0;
        let decays = |one: &Multiplier| one.value.norm() + one.error <= 1.0 + THRESHOLD;
        if self.values.iter().any(grows) {
            Decision::Unstable
        } else if self.values.iter().all(decays) {
            Decision::Stable
        } else {
            Decision::Undecided
        }
    }

    /// Growth rate in 1/s and angular frequency in rad/s, but for a whole number of turns a period.
    pub fn pole(&self, one: &Multiplier) -> Complex<f64> {
        one.value.ln() / self.duration
    }

    /// About a state that is the same after a period.
    pub(crate) fn of(
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
    ) -> Result<Self, AnalysisError> {
        let is_small = is_small(sizes, map.period);
        let mut found = Vec::with_capacity(2);
        for (share, seed) in SHARES.into_iter().zip(SEEDS) {
            let matrix = match is_small {
                true => whole(map, base, sizes, share * DIFFERENCE)?,
                false => projected(map, base, sizes, seed, share)?,
            };
            let Some(split) = matrix.as_ref().and_then(Split::of) else {
                return Ok(Self::unknown(map, "the eigenvalues did not converge"));
            };
            found.push(split);
        }
        let [first, second] = [&found[0], &found[1]];
        if first.steady != second.steady {
            return Ok(Self::unknown(
                map,
                "drifts cannot be told from slow motions",
            ));
        }
        let values = first.others.iter().filter(|value| value.im >= 0.0);
        let values = values.filter(|value| value.norm() > SMALLEST);
        let values = values.filter_map(|&value| {
            let distances = second.others.iter().map(|other| (other - value).norm());
            let moved = distances.fold(f64::INFINITY, f64::min);
            // What has not converged in a Krylov space is not told, unless it may grow.
            let is_told = is_small || moved < SAME || value.norm() > 1.0 - SAME;
            is_told.then_some(Multiplier {
                value,
                error: CAUTION * moved + ROUNDING,
            })
        });
        let mut values: Vec<Multiplier> = values.collect();
        values.sort_by(|a, b| b.value.norm().total_cmp(&a.value.norm()));
        Ok(Self {
            values,
            drifts: first.steady,
            duration: map.period as f64 * map.simulation.schedule().step,
            unknown: None,
        })
    }

    fn unknown(map: &PeriodMap<'_>, why: &str) -> Self {
        Self {
            duration: map.period as f64 * map.simulation.schedule().step,
            unknown: Some(why.into()),
            ..Self::default()
        }
    }
}

/// The matrix of all coordinates that the next step needs.
fn whole(
    map: &mut PeriodMap<'_>,
    base: &Chart,
    sizes: &Sizes,
    share: f64,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let tangent = Tangent::whole(map, base, sizes, share)?;
    let matrix = tangent.basis.transpose() * (&tangent.images + &tangent.basis);
    Ok(Some(matrix))
}

/// The matrix in a Krylov space.
fn projected(
    map: &mut PeriodMap<'_>,
    base: &Chart,
    sizes: &Sizes,
    seed: u64,
    share: f64,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let mut start = Random(seed).direction(sizes.needed.len());
    let share = share * map.best_share(base, sizes, &start)?;
    let mut times = |vector: &DVector<f64>| -> Result<DVector<f64>, AnalysisError> {
        let (led, _) = map.response(base, &(vector.component_mul(&sizes.changes) * share))?;
        let mut image = led.component_div(&sizes.changes) / share + vector;
        for (image, needed) in image.iter_mut().zip(&sizes.needed) {
            *image = if *needed { *image } else { 0.0 };
        }
        Ok(image)
    };
    for _ in 0..FILTERED {
        let image = times(&start)?;
        let length = image.norm();
        if !(length.is_finite() && length > 0.0) {
            return Ok(None);
        }
        start = image / length;
    }
    let vectors = VECTORS.min(start.len());
    let mut arnoldi = Arnoldi::new(start, vectors);
    for _ in 0..vectors {
        let image = times(arnoldi.last())?;
        if !arnoldi.extend(image, 0.0) {
            break;
        }
    }
    Ok(Some(arnoldi.projected()))
}
