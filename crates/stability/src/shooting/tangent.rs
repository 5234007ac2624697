//! What small changes of a state do to a period, along as many directions as are worth it.
//!
//! Of small models along every coordinate. Of large ones in a Krylov space: what has changed over the period, what the
//! unknown parameters do, and what a period makes of these again and again. Most of a large state is forgotten
//! within a step, so that some hundred directions hold all that lasts.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::Chart;

use super::map::{PeriodMap, Sizes};
use crate::recurrence::AnalysisError;

/// Size of differences relative to the probes of the stability analysis: constraints bend, and velocities have that
/// divided by the step.
pub(crate) const DIFFERENCE: f64 = 0.1;
/// Steps of a simulation that differences along all coordinates may take, and coordinates that are few anyway.
const AFFORDABLE: u64 = 20_000;
const FEW: usize = 60;
/// Directions of a Krylov space at most, and from one look to the next.
const MOST: usize = 400;
const LOOK: usize = 20;
/// A product that lies in the space of the others up to this share of itself adds nothing.
const NOTHING_NEW: f64 = 1e-8;

/// Directions and what a period does to them, in units of small changes.
pub(crate) struct Tangent {
    /// Orthonormal directions, one a column.
    pub basis: DMatrix<f64>,
    /// What each adds to the change over a period.
    pub images: DMatrix<f64>,
    /// What each adds to what is held.
    pub held: DMatrix<f64>,
}

/// Whether differences along all coordinates are affordable.
pub(crate) fn is_small(sizes: &Sizes, period: u64) -> bool {
    let count = sizes.needed.iter().filter(|needed| **needed).count();
    count <= FEW || 2 * count as u64 * period <= AFFORDABLE
}

impl Tangent {
    /// Along every coordinate that the next step needs, by changes of this share of the probes.
    pub fn whole(
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
        share: f64,
    ) -> Result<Self, AnalysisError> {
        let places: Vec<usize> = (0..sizes.needed.len())
            .filter(|&place| sizes.needed[place])
            .collect();
        let mut found = Self::empty(sizes.needed.len(), places.len(), map.held.len());
        for (column, &place) in places.iter().enumerate() {
            found.basis[(place, column)] = 1.0;
            let direction = found.basis.column(column).into_owned();
            let unit = share * sizes.probes[place] / sizes.changes[place];
            found.fill(column, map, base, sizes, &direction, unit)?;
        }
        Ok(found)
    }

    /// In a Krylov space that begins with these vectors, until it is enough.
    pub fn krylov(
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
        starts: Vec<DVector<f64>>,
        mut is_enough: impl FnMut(&Self) -> bool,
    ) -> Result<Self, AnalysisError> {
        let n = sizes.needed.len();
        let mut space: Vec<DVector<f64>> = Vec::new();
        starts.into_iter().for_each(|start| add(&mut space, start));
        let mut found = Self::empty(n, 0, map.held.len());
        let share = match space.first() {
            Some(first) => map.best_share(base, sizes, first)?,
            None => 1.0,
        };
        let mut next = 0;
        while next < space.len() {
            found.basis = found.basis.insert_column(next, 0.0);
            found.images = found.images.insert_column(next, 0.0);
            found.held = found.held.insert_column(next, 0.0);
            let direction = space[next].clone();
            found.basis.set_column(next, &direction);
            found.fill(next, map, base, sizes, &direction, share)?;
            if space.len() < MOST {
                let image = found.images.column(next) + &direction;
                add(&mut space, image);
            }
            next += 1;
            if next.is_multiple_of(LOOK) && is_enough(&found) {
                break;
            }
        }
        Ok(found)
    }

    fn empty(rows: usize, columns: usize, held: usize) -> Self {
        Self {
            basis: DMatrix::zeros(rows, columns),
            images: DMatrix::zeros(rows, columns),
            held: DMatrix::zeros(held, columns),
        }
    }

    fn fill(
        &mut self,
        column: usize,
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
        direction: &DVector<f64>,
        share: f64,
    ) -> Result<(), AnalysisError> {
        let change = direction.component_mul(&sizes.changes) * share;
        let (led, held) = map.response(base, &change)?;
        let image = led.component_div(&sizes.changes) / share;
        self.images.set_column(column, &image);
        self.held.set_column(column, &(held / share));
        Ok(())
    }
}

/// Adds what is new in a vector to an orthonormal space.
fn add(space: &mut Vec<DVector<f64>>, mut vector: DVector<f64>) {
    let length = vector.norm();
    if !(length.is_finite() && length > 0.0) {
        return;
    }
    for _ in 0..2 {
        for known in space.iter() {
            let share = known.dot(&vector);
            vector.axpy(-share, known, 1.0);
        }
    }
    let left = vector.norm();
    if left > NOTHING_NEW * length {
        space.push(vector / left);
    }
}
