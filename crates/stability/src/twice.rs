//! The modes of a large model, found twice.
//!
//! Arnoldi's iteration knows the outer modes after some two hundred products, long before a matrix of a thousand coordinates
//! is probed. Its usual errors, the norm of the noise times a condition, are a thousand times too large here: the
//! coordinates with most of the noise (reactions, accelerations) have hardly a part in any mode. So the modes are found a second
//! time, from another start and with differences of another size, and how far they moved is their error.

use nalgebra::Complex;

use crate::effort::Observation;
use crate::krylov::Arnoldi;
use crate::product::StepProduct;
use crate::reach::Reach;
use crate::recurrence::AnalysisError;
use crate::spectrum::{EigenMode, ROUNDING};
use crate::steady::{Split, drift};

/// Vectors of a basis.
pub(crate) const VECTORS: usize = 200;
/// Products before the first of them: what dies at once (constraints that are violated, histories) is gone.
const FILTERED: usize = 6;
/// Products of both searches.
pub(crate) const PRODUCTS: usize = 2 * (VECTORS + FILTERED);
/// Seeds of the starts, and sizes of the differences relative to the best for one random vector. What is filtered moves
/// like the model and may be larger.
const SEARCHES: [(u64, f64); 2] = [(0, 1.0), (5, 4.0)];
/// Modes that both have found lie within this distance.
const SAME: f64 = 1e-3;
/// Modes that are told are outside of this circle.
const INNER: f64 = 0.95;
/// Around a mode that is known no other one is looked for.
const NEIGHBOURHOOD: f64 = 0.02;
/// Two results may agree by chance.
const CAUTION: f64 = 10.0;

/// What one search has found.
struct Search {
    arnoldi: Arnoldi,
    split: Split,
    /// Size of the filtered start.
    length: f64,
}

impl Search {
    fn of(
        product: &mut StepProduct<'_>,
        seed: u64,
        size: f64,
    ) -> Result<Option<Self>, AnalysisError> {
        let mut start = product.start_of(seed);
        let mut length = 1.0;
        for _ in 0..FILTERED {
            let image = product.times(&start)?;
            let norm = image.norm();
            if !(norm.is_finite() && norm > 0.0) {
                return Ok(None);
            }
            length *= norm;
            start = image / norm;
        }
        product.choose_difference(&start)?;
        let vectors = VECTORS.min(start.len());
        let mut arnoldi = Arnoldi::new(start, vectors);
        for _ in 0..vectors {
            let image = product.times_by(arnoldi.last(), size)?;
            if !arnoldi.extend(image, 0.0) {
                break;
            }
        }
        let split = Split::of(&arnoldi.projected());
        Ok(split.map(|split| Self {
            arnoldi,
            split,
            length,
        }))
    }

    /// The distance of the eigenvalue that is nearest to a value.
    fn distance(&self, value: Complex<f64>) -> f64 {
        let distances = self.split.others.iter().map(|other| (other - value).norm());
        distances.fold(f64::INFINITY, f64::min)
    }
}

/// The modes near and beyond the unit circle with their errors; nothing where two searches do not find the same.
pub(crate) fn modes_found_twice(
    product: &mut StepProduct<'_>,
) -> Result<Option<Observation>, AnalysisError> {
    let [first, second] = SEARCHES;
    let Some(first) = Search::of(product, first.0, first.1)? else {
        return Ok(None);
    };
    let Some(second) = Search::of(product, second.0, second.1)? else {
        return Ok(None);
    };
    if first.split.steady != second.split.steady {
        return Ok(None);
    }
    let mut modes = Vec::new();
    if first.split.steady > 0 {
        // True growth is in both; what rounding adds to it is not the same.
        let growth = first.split.growth.min(second.split.growth);
        modes.push(drift(growth));
    }
    let others = &second.split.others;
    for (place, &value) in others.iter().enumerate() {
        let moved = first.distance(value);
        if value.im >= 0.0 && value.norm() > INNER && moved < SAME {
            let mut mode = EigenMode {
                value,
                error: ROUNDING + CAUTION * moved,
            };
            if value.norm() + mode.error > 1.0 {
                mode.beware_of_neighbours(place, others);
            }
            modes.push(mode);
        }
    }
    if modes.is_empty() {
        return Ok(None);
    }
    let reach = second.reach(&modes);
    modes.sort_by(|a, b| {
        let order = b.is_growing().cmp(&a.is_growing());
        order.then(b.value.norm().total_cmp(&a.value.norm()))
    });
    let Some(shape) = second.arnoldi.shape(modes[0].value) else {
        return Ok(None);
    };
    Ok(Some(Observation {
        modes,
        reach,
        shape,
        products: PRODUCTS,
    }))
}

impl Search {
    /// A radius that no mode exceeds: those that are known with their errors, and all others.
    fn reach(&self, modes: &[EigenMode]) -> f64 {
        let known: Vec<Complex<f64>> = modes.iter().map(|mode| mode.value).collect();
        let coordinates = self.arnoldi.last().len();
        let reach = Reach::new(self.arnoldi.extended(), coordinates, &self.split.others)
            .after_powers(self.length)
            .apart_from(known, NEIGHBOURHOOD);
        let far = modes.iter().map(|mode| mode.value.norm() + mode.error);
        far.fold(reach.radius(), f64::max)
    }
}
