//! What small changes of a state do to a period, along as many directions as are worth it.
//!
//! Of small models along every coordinate. Of large ones in the space of what lasts: what has changed over the period, what the
//! unknown parameters do, and what a period makes of these again and again. Most of a large state is forgotten
//! within a period, so that some ten directions hold all that lasts; the others need no derivative, for they forget themselves.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::Chart;

use super::map::{PeriodMap, Sizes};
use super::quotient::Quotient;
use crate::recurrence::AnalysisError;

/// Size of differences relative to the probes of the stability analysis: constraints bend, and velocities have that
/// divided by the step.
pub(crate) const DIFFERENCE: f64 = 0.1;
/// Steps of a simulation that differences along all coordinates may take, and coordinates that are few anyway.
const AFFORDABLE: u64 = 20_000;
const FEW: usize = 60;
/// What a period leaves of a unit direction beside all others, below which it is forgotten: normalised, it would be mostly noise.
const FORGOTTEN: f64 = 1e-2;
/// Share of a start that lies beside all others, below which it is nothing new.
const NOTHING_NEW: f64 = 1e-3;

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
pub(crate) fn is_small(needed: &[bool], period: u64) -> bool {
    let count = needed.iter().filter(|needed| **needed).count();
    count <= FEW || 2 * count as u64 * period <= AFFORDABLE
}

impl Tangent {
    /// Along every coordinate that the next step needs, by changes of this share of the probes.
    pub fn whole(
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
        share: f64,
        quotient: &Quotient,
    ) -> Result<Self, AnalysisError> {
        let places: Vec<usize> = (0..sizes.needed.len())
            .filter(|&place| sizes.needed[place])
            .collect();
        let mut found = Self::empty(sizes.needed.len(), places.len(), map.held.len());
        for (column, &place) in places.iter().enumerate() {
            found.basis[(place, column)] = 1.0;
            let direction = found.basis.column(column).into_owned();
            let unit = share * sizes.probes[place] / sizes.changes[place];
            found.fill(column, map, base, sizes, &direction, unit, quotient)?;
        }
        Ok(found)
    }

    /// In the space of what lasts for more than a period of these vectors and of what becomes of them: a Krylov space without the directions that
    /// a period forgets. Differences are this share of the best ones. Nothing where it has more than so many directions.
    pub fn lasting(
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
        starts: Vec<DVector<f64>>,
        share: f64,
        most: usize,
        quotient: &Quotient,
    ) -> Result<Option<Self>, AnalysisError> {
        let n = sizes.needed.len();
        let mut space: Vec<DVector<f64>> = Vec::new();
        for start in starts {
            let length = start.norm();
            let start = quotient.without(start);
            add(&mut space, start, NOTHING_NEW * length);
        }
        let share = match space.first() {
            Some(first) => share * map.best_share(base, sizes, first)?,
            None => share,
        };
        let mut found = Self::empty(n, 0, map.held.len());
        let mut next = 0;
        while next < space.len() {
            if next == most {
                return Ok(None);
            }
            found.basis = found.basis.insert_column(next, 0.0);
            found.images = found.images.insert_column(next, 0.0);
            found.held = found.held.insert_column(next, 0.0);
            let direction = space[next].clone();
            found.basis.set_column(next, &direction);
            found.fill(next, map, base, sizes, &direction, share, quotient)?;
            let image = found.images.column(next) + &direction;
            add(&mut space, image, FORGOTTEN);
            next += 1;
        }
        Ok(Some(found))
    }

    /// The period on the space, as a matrix.
    pub fn projected(&self) -> DMatrix<f64> {
        self.basis.tr_mul(&(&self.images + &self.basis))
    }

    fn empty(rows: usize, columns: usize, held: usize) -> Self {
        Self {
            basis: DMatrix::zeros(rows, columns),
            images: DMatrix::zeros(rows, columns),
            held: DMatrix::zeros(held, columns),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a column and all that it is made of"
    )]
    fn fill(
        &mut self,
        column: usize,
        map: &mut PeriodMap<'_>,
        base: &Chart,
        sizes: &Sizes,
        direction: &DVector<f64>,
        share: f64,
        quotient: &Quotient,
    ) -> Result<(), AnalysisError> {
        let change = direction.component_mul(&sizes.changes) * share;
        let (led, held) = map.response(base, &change)?;
        let change = led.component_div(&sizes.changes) / share;
        let image = match quotient.count() {
            // Not by way of the direction: what hardly changes would be rounded as the direction is.
            0 => change,
            _ => quotient.without(change + direction) - direction,
        };
        self.images.set_column(column, &image);
        self.held.set_column(column, &(held / share));
        Ok(())
    }
}

/// Adds what is new in a vector to an orthonormal space, if it is longer than this.
fn add(space: &mut Vec<DVector<f64>>, mut vector: DVector<f64>, least: f64) {
    if !vector.norm().is_finite() {
        return;
    }
    for _ in 0..2 {
        for known in space.iter() {
            let share = known.dot(&vector);
            vector.axpy(-share, known, 1.0);
        }
    }
    let left = vector.norm();
    if left > least {
        space.push(vector / left);
    }
}
