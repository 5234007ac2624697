//! What becomes of small differences over a period of a steady motion: Floquet's multipliers.
//!
//! They are eigenvalues of the derivative of the run's own period. Of small models its matrix is made twice, by
//! differences of two sizes; of large ones what lasts for more than a period is found from two sets of random starts. How far the results lie
//! apart is the error. Motions that leave the model as it is are set aside before.

use nalgebra::{Complex, DMatrix};
use oldham_cosim::Chart;

use super::map::{PeriodMap, Sizes};
use super::quotient::Quotient;
use super::tangent::{DIFFERENCE, Tangent, is_small};
use crate::random::Random;
use crate::recurrence::AnalysisError;
use crate::spectrum::{Decision, ROUNDING, THRESHOLD};
use crate::steady::Split;

/// Sizes of the differences that give two matrices.
const SHARES: [f64; 2] = [1.0, 0.5];
/// Directions that may last, random ones that they are found from, and periods after which these count.
const VECTORS: usize = 160;
const STARTS: usize = 3;
const FILTERED: usize = 2;
const SEEDS: [u64; 2] = [0, 5];
/// Two results may agree by chance, by which they do not differ by more than this.
const CAUTION: f64 = 10.0;
const CHANCE: f64 = 0.1;
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
        let is_small = !map.settles || is_small(&sizes.needed, map.period);
        let quotient = &Quotient::of(map, base, sizes)?;
        let mut found = Vec::with_capacity(2);
        for (share, seed) in SHARES.into_iter().zip(SEEDS) {
            let matrix = match is_small {
                true => whole(map, base, sizes, share * DIFFERENCE, quotient)?,
                false => projected(map, base, sizes, (seed, share), quotient)?,
            };
            let Some(matrix) = matrix else {
                return Ok(Self::unknown(
                    map,
                    "too many motions last for longer than the period",
                ));
            };
            let Some(split) = Split::of(&matrix) else {
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
                error: (CAUTION * moved).min(moved + CHANCE) + ROUNDING,
            })
        });
        let mut values: Vec<Multiplier> = values.collect();
        values.sort_by(|a, b| b.value.norm().total_cmp(&a.value.norm()));
        Ok(Self {
            values,
            drifts: first.steady + quotient.count(),
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
    quotient: &Quotient,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let tangent = Tangent::whole(map, base, sizes, share, quotient)?;
    Ok(Some(tangent.projected()))
}

/// The matrix in the space of what lasts of random directions.
fn projected(
    map: &mut PeriodMap<'_>,
    base: &Chart,
    sizes: &Sizes,
    (seed, share): (u64, f64),
    quotient: &Quotient,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let mut starts = Vec::with_capacity(STARTS);
    let mut size = 1.0;
    for place in 0..STARTS {
        let mut start = Random(seed + place as u64).direction(sizes.needed.len());
        for _ in 0..FILTERED {
            // What suits one random direction suits the others.
            if place == 0 {
                size = map.best_share(base, sizes, &start)?;
            }
            let change = start.component_mul(&sizes.changes) * size;
            let (led, _) = map.response(base, &change)?;
            let mut image = led.component_div(&sizes.changes) / size + start;
            for (image, needed) in image.iter_mut().zip(&sizes.needed) {
                *image = if *needed { *image } else { 0.0 };
            }
            let image = quotient.without(image);
            let length = image.norm();
            if !(length.is_finite() && length > 0.0) {
                return Ok(None);
            }
            start = image / length;
        }
        starts.push(start);
    }
    let lasting = Tangent::lasting(map, base, sizes, starts, share, VECTORS, quotient)?;
    Ok(lasting.map(|tangent| tangent.projected()))
}
