//! The dominant mode of one of many simulations that differ in their numbers: what maps and searches
//! ask for.
//!
//! Such models may well be linear: differences to one side of the base point, which take half the
//! steps, do where differences of another size agree with them. Only what differs between these models is
//! probed, several coordinates at once ([`Pattern`]). Where any of this does not hold there is no answer
//! here.

use std::time::Duration;

use nalgebra::{DMatrix, DVector};
use oldham_cosim::Simulation;

use crate::eigen::{Reduced, selected};
use crate::examination::{Examiner, QUICK_AGREEMENT};
use crate::pattern::Pattern;
use crate::probing::{
    DISAGREEMENT, Probing, SECOND, is_nothing, largest_rest, probe_sizes, reach_of,
};
use crate::random::Random;
use crate::recurrence::{AnalysisError, Base, TimeBudget, check_bounded};
use crate::spectrum::{EigenMode, VAGUE};

/// Seeds of the directions in which a matrix is compared with changes of another size, the second time with such as
/// balance it, where these are known: beside large displacements that of a damper would not show.
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
    let inner = pattern.inner();
    let balance = match pattern.balance() {
        Some(balance) => inner.iter().map(|&place| balance[place]).collect(),
        None => vec![1.0; inner.len()],
    };
    let reduced = Reduced::balanced_from(&selected(&matrix, inner), &balance);
    let reduced = reduced.ok_or(AnalysisError::NoEigenvalues)?.within(inner);
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
    let mut examiner = Examiner::new(simulation, base, &sizes, &reduced, None, budget)?;
    let mut mode = examiner.examine(value, QUICK_AGREEMENT)?;
    mode.beware_of_neighbours(0, &values);
    base.chart.base().restore(simulation);
    Ok((mode.error <= VAGUE).then_some(mode))
}

/// The matrix, if the model is linear and as the pattern says.
fn linear_matrix(
    simulation: &mut Simulation,
    base: &Base,
    pattern: &Pattern,
    sizes: &[f64],
    budget: &TimeBudget,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let mut probing = Probing::about(simulation, base, budget)?;
    let Some(matrix) = probe(&mut probing, pattern, sizes, budget)? else {
        return Ok(None);
    };
    let small: Vec<f64> = sizes.iter().map(|size| size * SECOND).collect();
    let mut off = |changes: &[f64], seed| disagreement(&mut probing, changes, sizes, &matrix, seed);
    let second = match pattern.balance() {
        Some(balance) => as_large(balance, sizes),
        None => small.clone(),
    };
    let off = off(&small, DIRECTIONS[0])?.max(off(&second, DIRECTIONS[1])?);
    Ok((off <= DISAGREEMENT).then_some(matrix))
}

/// Changes in these proportions, about as large as others in the mean of all that are not zero.
fn as_large(proportions: &[f64], others: &[f64]) -> Vec<f64> {
    let both = others.iter().zip(proportions);
    let ratios = both.filter(|(_, proportion)| **proportion > 0.0);
    let logarithms: Vec<f64> = ratios.map(|(other, own)| (other / own).ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64;
    proportions.iter().map(|own| mean.exp() * own).collect()
}

/// The matrix by differences to one side of the base point; nothing if a change reaches what it should
/// not.
fn probe(
    probing: &mut Probing<'_>,
    pattern: &Pattern,
    sizes: &[f64],
    budget: &TimeBudget,
) -> Result<Option<DMatrix<f64>>, AnalysisError> {
    let mut matrix = pattern.known().clone();
    let mut point = vec![0.0; sizes.len()];
    let mut led = vec![0.0; sizes.len()];
    for group in pattern.groups() {
        budget.allow(Duration::ZERO)?;
        for column in group {
            point[column.place] = sizes[column.place];
        }
        probing.follow(&point, &mut led)?;
        for column in group {
            for &row in &column.reached {
                let change = std::mem::take(&mut led[row]);
                if is_nothing(change, sizes[row]) {
                    continue;
                }
                let entry = change / sizes[column.place];
                matrix[(row, column.place)] = entry;
                for &(multiple, factor) in &column.multiples {
                    matrix[(row, multiple)] = factor * entry;
                }
            }
            point[column.place] = 0.0;
        }
        for &row in group.iter().flat_map(|column| &column.known) {
            led[row] = 0.0;
        }
        if led.iter().any(|change| *change != 0.0) {
            return Ok(None);
        }
    }
    Ok(Some(matrix))
}

/// By how much changes of all coordinates at once do not do what the matrix says; relative to the most that each
/// could do. To one side too: a law that is even shows. By amounts that differ: an entry that is not what the
/// pattern says, or that of a coordinate which was taken for another's in its group, shows too.
fn disagreement(
    probing: &mut Probing<'_>,
    changes: &[f64],
    sizes: &[f64],
    matrix: &DMatrix<f64>,
    seed: u64,
) -> Result<f64, AnalysisError> {
    let reach = reach_of(matrix, changes);
    let amounts = Random(seed).amounts(changes.len());
    let change = amounts.component_mul(&DVector::from_column_slice(changes));
    let mut led = vec![0.0; changes.len()];
    probing.follow(change.as_slice(), &mut led)?;
    for (led, size) in led.iter_mut().zip(sizes) {
        if is_nothing(*led, *size) {
            *led = 0.0;
        }
    }
    let expected = matrix * change;
    // Rounding counts: where it is all there is, the point is analysed without a pattern.
    let none = vec![0.0; led.len()];
    Ok(largest_rest(&led, expected.as_slice(), &reach, &none))
}
