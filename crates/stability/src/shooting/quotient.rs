//! Small changes but for those that are known to last: displacements, rotations and spins that leave a model as it is.
//!
//! A state that is moved so goes on moved so: such a direction has a multiplier that is exactly one. Among found ones, several
//! copies of one are known to the root of their rounding, which leaves no verdict. What acts on the quotient has all the others.

use nalgebra::DVector;
use oldham_cosim::Chart;

use super::map::{PeriodMap, Sizes};
use crate::recurrence::AnalysisError;

/// Sizes of the motions in m and rad.
const SIZE: f64 = 1e-4;
/// What a period may change of one, as a share of itself.
const SAME: f64 = 1e-5;
/// Share of a direction beside those before it, below which it is the same.
const NOTHING_NEW: f64 = 1e-4;

/// Orthonormal directions along which nothing changes, in units of small changes.
#[derive(Default)]
pub(crate) struct Quotient {
    kept: Vec<DVector<f64>>,
}

impl Quotient {
    /// About a state that goes on as the frame of the map says.
    pub fn of(map: &mut PeriodMap<'_>, base: &Chart, sizes: &Sizes) -> Result<Self, AnalysisError> {
        let mut found = Self::default();
        let [up, down] = [SIZE, -SIZE].map(|size| map.frame.generators(size));
        for (up, down) in up.iter().zip(&down) {
            let [high, low] = [up, down].map(|motion| {
                base.base().restore(&mut map.simulation);
                motion.apply(&mut map.simulation);
                let mut place = DVector::zeros(base.dimension());
                base.read(&mut map.simulation, place.as_mut_slice());
                place
            });
            let mut change = (high - low) * 0.5;
            for (change, needed) in change.iter_mut().zip(&sizes.needed) {
                *change = if *needed { *change } else { 0.0 };
            }
            let (led, _) = map.response(base, &change)?;
            let direction = change.component_div(&sizes.changes);
            let off = led.component_div(&sizes.changes).norm();
            if off > SAME * direction.norm() {
                continue;
            }
            let length = direction.norm();
            let left = found.without(direction);
            if left.norm() > NOTHING_NEW * length && left.norm().is_finite() {
                let size = left.norm();
                found.kept.push(left / size);
            }
        }
        Ok(found)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.kept.len()
    }

    /// What a vector is beside them.
    pub fn without(&self, mut vector: DVector<f64>) -> DVector<f64> {
        for _ in 0..2 {
            for known in &self.kept {
                let share = known.dot(&vector);
                vector.axpy(-share, known, 1.0);
            }
        }
        vector
    }
}
