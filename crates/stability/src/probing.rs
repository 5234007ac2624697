//! Differences of a macro step about a base point.

use std::time::Duration;

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{Chart, Simulation, State};

use crate::product::StepProduct;
use crate::random::Random;
use crate::recurrence::{AnalysisError, Base, Image, TimeBudget};

/// Seeds of the directions in which a matrix is compared with another size of changes.
const DIRECTIONS: [u64; 4] = [2, 3, 5, 7];
/// Size of a probe relative to the state: large against rounding, small against curvature.
pub(crate) const PROBE: f64 = 1e-4;
/// Size of the probe, relative to that of the matrix, with which the matrix is checked.
pub(crate) const SECOND: f64 = 1.0 / 64.0;
/// What a change does to a coordinate, relative to its own probe, below which it is nothing.
const NOTHING: f64 = 1e-30;
/// Roundings of a coordinate in a step and its difference, about.
const ROUNDINGS: f64 = 32.0;
/// Relative disagreement of two sizes beyond which better sizes are looked for.
pub(crate) const DISAGREEMENT: f64 = 1e-7;
/// Share of the first sizes that better ones have at least. Smaller ones vanish in the last digits of the state, or are answered by
/// no iteration: then they agree with each other perfectly, and say nothing.
const FINEST: f64 = 1e-6;

/// Differences about a base point.
pub(crate) struct Probing<'a> {
    simulation: &'a mut Simulation,
    base: &'a Base,
    /// The point that follows the base point.
    image: Image<'a>,
    budget: &'a TimeBudget,
}

/// What differences of some sizes gave.
pub(crate) struct Probed {
    pub matrix: DMatrix<f64>,
    pub seen: DMatrix<f64>,
    pub sizes: Vec<f64>,
}

impl<'a> Probing<'a> {
    pub fn about(
        simulation: &'a mut Simulation,
        base: &'a Base,
        budget: &'a TimeBudget,
    ) -> Result<Self, AnalysisError> {
        base.chart.base().restore(simulation);
        simulation.steps(base.period)?;
        Ok(Self {
            image: base.image(simulation),
            simulation,
            base,
            budget,
        })
    }

    /// Where a change of the base point leads, as a change of its image.
    pub fn follow(&mut self, change: &[f64], led: &mut [f64]) -> Result<(), AnalysisError> {
        self.budget.allow(Duration::ZERO)?;
        self.base.chart.apply(self.simulation, change);
        self.simulation.steps(self.base.period)?;
        self.image.read(self.simulation, led);
        Ok(())
    }

    /// What follows from a change, by a central difference.
    pub fn response(&mut self, change: &[f64]) -> Result<Vec<f64>, AnalysisError> {
        let [mut up, mut down] = [(); 2].map(|()| vec![0.0; change.len()]);
        self.follow(change, &mut up)?;
        let opposite: Vec<f64> = change.iter().map(|value| -value).collect();
        self.follow(&opposite, &mut down)?;
        Ok(up
            .iter()
            .zip(&down)
            .map(|(up, down)| 0.5 * (up - down))
            .collect())
    }

    /// Λ column by column, by central differences about the base point, and the same for what is
    /// observed.
    pub fn matrices(
        &mut self,
        sizes: &[f64],
        observe: &impl Fn(&Simulation) -> Vec<f64>,
    ) -> Result<Probed, AnalysisError> {
        let dimension = self.base.chart.dimension();
        let observed = observe(self.simulation).len();
        let mut matrix = DMatrix::zeros(dimension, dimension);
        let mut seen = DMatrix::zeros(observed, dimension);
        let mut point = vec![0.0; dimension];
        let mut ends = [vec![0.0; dimension], vec![0.0; dimension]];
        for column in 0..dimension {
            let mut views = [Vec::new(), Vec::new()];
            for ((end, view), sign) in ends.iter_mut().zip(&mut views).zip([1.0, -1.0]) {
                point[column] = sign * sizes[column];
                self.follow(&point, end)?;
                if observed > 0 {
                    *view = observe(self.simulation);
                }
            }
            point[column] = 0.0;
            let distance = 2.0 * sizes[column];
            for (row, entry) in matrix.column_mut(column).iter_mut().enumerate() {
                let change = ends[0][row] - ends[1][row];
                if !is_nothing(change, sizes[row]) {
                    *entry = change / distance;
                }
            }
            for row in 0..observed {
                seen[(row, column)] = (views[0][row] - views[1][row]) / distance;
            }
        }
        Ok(Probed {
            matrix,
            seen,
            sizes: sizes.to_vec(),
        })
    }

    /// By how much changes of all coordinates at once, of another size, do not do what the
    /// matrix says; relative to the most that each coordinate could do.
    pub fn disagreement(&mut self, probed: &Probed) -> Result<f64, AnalysisError> {
        let n = self.base.chart.dimension();
        let sizes = DVector::from_column_slice(&probed.sizes);
        let small: Vec<f64> = probed.sizes.iter().map(|size| SECOND * size).collect();
        let reach = reach_of(&probed.matrix, &small);
        let mut most = 0.0;
        let [mut up, mut down] = [(); 2].map(|()| DVector::zeros(n));
        // One direction may leave a law alone whose two ends move alike.
        for seed in DIRECTIONS {
            let mut change = Random(seed).signs(n).component_mul(&sizes) * SECOND;
            let expected = &probed.matrix * &change;
            self.follow(change.as_slice(), up.as_mut_slice())?;
            change.neg_mut();
            self.follow(change.as_slice(), down.as_mut_slice())?;
            let found = (&up - &down) * 0.5;
            let rounding: Vec<f64> = probed.sizes.iter().map(|size| rounding_of(*size)).collect();
            let expected = expected.as_slice();
            most = largest_rest(found.as_slice(), expected, &reach, &rounding).max(most);
        }
        Ok(most)
    }

    /// Sizes by what each coordinate does when all others are as large as theirs, and as small or
    /// large altogether as makes two neighbouring sizes agree best. Nothing where the simulation
    /// cannot follow.
    pub fn better_sizes(&mut self, sizes: &[f64]) -> Result<Option<Vec<f64>>, AnalysisError> {
        let product = StepProduct::new(self.simulation, self.base, sizes.to_vec(), self.budget);
        match product {
            Ok(product) => {
                let mut better = product.differences();
                keep_visible(&mut better, sizes);
                Ok(Some(better))
            }
            Err(AnalysisError::Fault(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Makes sizes no smaller than what can be seen of a state for which these were the first ones.
pub(crate) fn keep_visible(sizes: &mut [f64], first: &[f64]) {
    for (size, first) in sizes.iter_mut().zip(first) {
        *size = size.max(FINEST * first);
    }
}

/// Whether a change of a coordinate with a probe of this size is a product of rounding errors: balancing would
/// make it as large as all others.
pub(crate) fn is_nothing(change: f64, size: f64) -> bool {
    change.abs() < NOTHING * size
}

/// What each coordinate could do at most, whatever the signs of changes that are so small.
pub(crate) fn reach_of(matrix: &DMatrix<f64>, sizes: &[f64]) -> Vec<f64> {
    let n = matrix.nrows();
    let mut reach = vec![0.0; n];
    let columns = matrix.as_slice().chunks_exact(n.max(1));
    for (column, size) in columns.zip(sizes) {
        for (reach, entry) in reach.iter_mut().zip(column) {
            *reach += size * entry.abs();
        }
    }
    reach
}

/// What rounding makes of a coordinate that is probed with this size: it is at most so large that the probe is its
/// share [`PROBE`].
pub(crate) fn rounding_of(size: f64) -> f64 {
    ROUNDINGS * f64::EPSILON * size / PROBE
}

/// The largest part of what was found that was not expected, relative to the most that could be; but for rounding, which
/// is infinitely more than a coordinate does that does nothing.
pub(crate) fn largest_rest(
    found: &[f64],
    expected: &[f64],
    reach: &[f64],
    rounding: &[f64],
) -> f64 {
    let pairs = found.iter().zip(expected).zip(reach).zip(rounding);
    let relative = pairs.map(|(((found, expected), reach), rounding)| {
        let rest = (found - expected).abs();
        if rest <= *rounding {
            0.0
        } else {
            rest / reach.max(f64::MIN_POSITIVE)
        }
    });
    relative.fold(0.0, f64::max)
}

/// The largest of all coordinates.
pub(crate) fn largest(simulation: &mut Simulation) -> f64 {
    let mut magnitudes = Magnitudes(Vec::new());
    simulation.visit(&mut magnitudes);
    magnitudes.0.into_iter().fold(0.0, f64::max)
}

/// A step for every coordinate: a fraction of its own magnitude, or of the largest one where it
/// happens to be near zero.
pub(crate) fn probe_sizes(simulation: &mut Simulation, chart: &Chart) -> Vec<f64> {
    let mut magnitudes = Magnitudes(Vec::with_capacity(chart.dimension()));
    simulation.visit(&mut magnitudes);
    let largest = magnitudes.0.iter().copied().fold(0.0, f64::max);
    let floor = if largest > 0.0 { 1e-3 * largest } else { 1.0 };
    let size = |magnitude: f64| PROBE * magnitude.max(floor.min(1.0));
    magnitudes.0.into_iter().map(size).collect()
}

struct Magnitudes(Vec<f64>);

impl oldham_cosim::Visitor for Magnitudes {
    fn vector(&mut self, values: &mut [f64]) {
        self.0.extend(values.iter().map(|value| value.abs()));
    }
    fn rotation(&mut self, _: &mut [f64; 4]) {
        self.0.extend([1.0; 3]);
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
}
