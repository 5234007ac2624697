//! The dominant mode of one of many simulations that differ in their numbers: what maps and searches
//! ask for.
//!
//! Such models may well be linear: differences to one side of the base point, which take half the
//! steps, do where differences of another size agree with them. Only coordinates that take part in
//! modes are probed, several at once ([`Pattern`]). Where any of this does not hold there is no answer
//! here.

use std::time::Duration;

use nalgebra::{DMatrix, DVector};
use oldham_cosim::Simulation;

use crate::eigen::Reduced;
use crate::examination::{Examiner, QUICK_AGREEMENT};
use crate::pattern::{Pattern, Role};
use crate::probing::{
    DISAGREEMENT, Probing, SECOND, is_nothing, largest_rest, probe_sizes, reach_of,
};
use crate::random::Random;
use crate::recurrence::{AnalysisError, Base, TimeBudget, check_bounded};
use crate::spectrum::{EigenMode, VAGUE};

/// Seeds of the directions in which a matrix is compared with another size of changes.
const DIRECTIONS: [u64; 2] = [2, 3];

/// The mode with the largest eigenvalue about a point, where the simulation is left; nothing where the
/// model is not what the pattern says, is not linear, or where the mode is not certain. A mode
/// that decays is not examined.
pub(crate) fn dominant_mode(
    simulation: &mut Simulation,
    base: &Base,
    pattern: &Pattern,
    budget: &TimeBudget,
) -> Result<Option<EigenMode>, AnalysisError> {
    let pattern = &*pattern.for_dimension(base.chart.dimension());
    let sizes = probe_sizes(simulation, &base.chart);
    let matrix = match linear_matrix(simulation, base, pattern, &sizes, budget) {
        Ok(Some(matrix)) => matrix,
        Ok(None) | Err(AnalysisError::Fault(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    check_bounded(&matrix)?;
    let reduced = Reduced::balanced_from(&matrix, pattern.balance());
    let reduced = reduced.ok_or(AnalysisError::NoEigenvalues)?;
    let reduced = reduced.within(pattern.busy());
    let values = reduced.dominant_eigenvalues();
    let mut values = values.ok_or(AnalysisError::NoEigenvalues)?;
    values.retain(|value| value.im >= 0.0);
    base.chart.base().restore(simulation);
    let (value, rest) = (values.first().copied().unwrap_or_default(), pattern.rest());
    let largest = value.norm().max(rest.norm());
    if largest <= 1.0 {
        let is_own = value.norm() == largest;
        return Ok(Some(EigenMode::unexamined(if is_own {
            value
        } else {
            rest
        })));
    }
    if value.norm() <= rest.norm() {
        return Ok(None);
    }
    let mut examiner = Examiner::new(simulation, base, &sizes, &reduced)?;
    let mut mode = examiner.examine(value, QUICK_AGREEMENT)?;
    mode.beware_of_neighbours(0, &values);
    base.chart.base().restore(simulation);
    Ok((mode.error <= VAGUE).then_some(mode))
}

/// The matrix of the busy coordinates, if the model is linear and as the pattern says.
fn linear_matrix(
    simulation: &mut Simulation,
    base: &Base,
    pattern: &Pattern,
    sizes: &[f64],
    budget: &TimeBudget,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let mut probing = Probing::about(simulation, &base.chart, base.period, budget)?;
    let Some(matrix) = probe(&mut probing, pattern, sizes, budget)? else {
        return Ok(None);
    };
    let off = disagreement(&mut probing, pattern, sizes, &matrix)?;
    Ok((off <= DISAGREEMENT).then_some(matrix))
}

/// The matrix of the busy coordinates by differences to one side of the base point; nothing if a change
/// reaches what it should not.
fn probe(
    probing: &mut Probing<'_>,
    pattern: &Pattern,
    sizes: &[f64],
    budget: &TimeBudget,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let dimension = sizes.len();
    let mut matrix = pattern.known().clone();
    let mut point = vec![0.0; dimension];
    let mut led = vec![0.0; dimension];
    for group in pattern.groups() {
        budget.allow(Duration::ZERO)?;
        for column in group {
            point[column.place] = sizes[column.place];
        }
        probing.follow(&point, &mut led)?;
        for column in group {
            for &(row, place) in &column.reached {
                let change = std::mem::take(&mut led[place]);
                if is_nothing(change, sizes[place]) {
                    continue;
                }
                let entry = change / sizes[column.place];
                matrix[(row, column.column)] = entry;
                for &(multiple, factor) in &column.multiples {
                    matrix[(row, multiple)] = factor * entry;
                }
            }
            point[column.place] = 0.0;
        }
        for &(_, place) in group.iter().flat_map(|column| &column.known) {
            led[place] = 0.0;
        }
        let is_unexpected = |(&change, &role): (&f64, &Role)| change != 0.0 && role != Role::Unread;
        if led.iter().zip(pattern.roles()).any(is_unexpected) {
            return Ok(None);
        }
    }
    Ok(Some(matrix))
}

/// By how much changes of all coordinates at once, of another size, do not do to the busy ones
/// what the matrix says; relative to the most that each could do. To one side too: a law that is even
/// shows. By amounts that differ: an entry that is not what the pattern says, or that of a coordinate which
/// was taken for another's in its group, shows too.
fn disagreement(
    probing: &mut Probing<'_>,
    pattern: &Pattern,
    sizes: &[f64],
    matrix: &DMatrix<f64>,
) -> Result<f64, AnalysisError> {
    let busy = |values: &[f64]| pattern.busy().iter().map(|&place| values[place]).collect();
    let small: Vec<f64> = busy(sizes);
    let reach = reach_of(matrix, &small);
    let mut led = vec![0.0; sizes.len()];
    let mut most = 0.0;
    for seed in DIRECTIONS {
        let mut change = Random(seed).amounts(sizes.len());
        for ((change, size), role) in change.iter_mut().zip(sizes).zip(pattern.roles()) {
            *change *= match role {
                Role::Constant => 0.0,
                Role::Busy(_) | Role::Unread => size * SECOND,
            };
        }
        probing.follow(change.as_slice(), &mut led)?;
        let expected = matrix * DVector::from_vec(busy(change.as_slice()));
        let found: Vec<f64> = busy(&led);
        most = largest_rest(&found, expected.as_slice(), &reach).max(most);
    }
    Ok(most)
}
