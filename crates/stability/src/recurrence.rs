//! The linear recurrence z(n+1) = Λ z(n) of a macro step.

use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix, DVector, Schur};
use oldham_cosim::{Chart, Fault, Simulation, State};

/// Steps before probing, so that integrator histories and predictors are past their start-up;
/// then fewer, for models so unstable that they would be carried away by then.
const WARM_UPS: [u64; 3] = [6, 3, 1];
/// Growth of the start's transients that leaves nothing of the start.
const CARRIED_AWAY: f64 = 1e4;
/// Above this the dense eigenvalue problem takes too long to be a check before a run.
const MAX_DIMENSION: usize = 600;
/// Size of a probe relative to the state: large against rounding, small against curvature.
const PROBE: f64 = 1e-4;
/// Where a part cannot follow a probe, because the coupling makes far more of it, finer ones are
/// tried.
const FINER: f64 = 1e-2;
const FINER_PROBES: usize = 2;

/// Relative sizes below which an entry beside the diagonal counts as none. Clusters of equal
/// eigenvalues can keep the first from ever being reached.
const DEFLATIONS: [f64; 3] = [f64::EPSILON, 16.0 * f64::EPSILON, 1024.0 * f64::EPSILON];

/// Entries of a recurrence must stay below this.
const LARGEST_ENTRY: f64 = 1e140;

/// Why a simulation could not be analysed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// A part keeps its state to itself.
    #[error("`{0}` cannot show its state, so its coupling cannot be analysed")]
    NoState(String),
    /// A predictor changes with what it learns.
    #[error(
        "`{0}` learns while it runs, which no linear recurrence describes; compare runs instead"
    )]
    Learns(String),
    /// A part gives no matrices.
    #[error("`{0}` gives no linearisation, so its poles cannot be computed")]
    NoLinearisation(String),
    /// The model is too large for a dense eigenvalue problem.
    #[error("the recurrence has {dimension} coordinates; the dense analysis takes {limit}")]
    TooLarge {
        /// Coordinates of the model.
        dimension: usize,
        /// Coordinates at most.
        limit: usize,
    },
    /// The model is so large that its dominant eigenvalues take longer than wanted.
    #[error(
        "the dominant modes would take about {seconds:.1} s to find; `oldham stability` looks for them"
    )]
    TooLong {
        /// Estimated time.
        seconds: f64,
    },
    /// The simulation failed while it was probed.
    #[error("probing failed: {0}")]
    Fault(#[from] Fault),
    /// A small change of the state grows beyond what can be computed with.
    #[error("a small change of the state grows beyond all bounds within one macro step")]
    Unbounded,
    /// The eigenvalue iteration did not converge.
    #[error("the eigenvalues of the recurrence did not converge")]
    NoEigenvalues,
}

/// The linearised macro step of a simulation.
pub struct Recurrence {
    matrix: DMatrix<f64>,
    duration: f64,
    chart: Chart,
    push_size: f64,
}

impl Recurrence {
    /// Probes one period of the schedule (one macro step, or as many as the slowest part spans).
    /// The simulation is left at the point about which it was linearised, and iterates tight steps
    /// to rounding from then on.
    pub fn of(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        Ok(probe_with(simulation, |_| Vec::new())?.0)
    }

    /// A size for pushes on inputs: large against rounding in the state.
    pub(crate) fn push_size(&self) -> f64 {
        self.push_size
    }

    /// Λ.
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.matrix
    }

    /// Simulated time that one application of Λ covers.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// The point about which the simulation was linearised.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// The eigenvalues, the largest first. Coordinates that nothing depends on, or that depend on
    /// nothing, have the eigenvalue zero and are left out.
    pub fn eigenvalues(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        eigenvalues(&self.matrix).ok_or(AnalysisError::NoEigenvalues)
    }

    /// A real vector in the plane of the dominant pair, by repeated squaring.
    pub(crate) fn growing_mode(&self) -> DVector<f64> {
        let mut power = self.matrix.clone();
        for _ in 0..24 {
            power = &power * &power;
            let size = power.amax();
            if size > 0.0 {
                power /= size;
            }
        }
        let start = DVector::from_fn(power.nrows(), |i, _| 1.0 + 0.37 * (i as f64 * 1.7).sin());
        let mode = power * start;
        let size = mode.amax();
        if size > 0.0 { mode / size } else { mode }
    }
}

/// The nonzero eigenvalues of a recurrence, the largest first.
pub(crate) fn eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let mut balanced = without_idle_coordinates(matrix);
    // Balancing would not end on what is no number.
    if !balanced.iter().all(|value| value.is_finite()) {
        return None;
    }
    // Positions, velocities and forces differ by many orders of magnitude.
    balance_parlett_reinsch(&mut balanced);
    schur_eigenvalues(&balanced)
}

/// All eigenvalues of a matrix, the largest first.
pub(crate) fn schur_eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let limit = 200 * matrix.nrows().max(1);
    let schur = DEFLATIONS
        .iter()
        .find_map(|&tolerance| Schur::try_new(matrix.clone(), tolerance, limit))?;
    let mut values: Vec<_> = schur.complex_eigenvalues().iter().copied().collect();
    values.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
    Some(values)
}

/// Where a simulation is linearised.
pub(crate) struct Base {
    pub chart: Chart,
    /// Macro steps after which the pattern of advances repeats.
    pub period: u64,
}

impl Base {
    /// Whether the dense analysis takes it.
    pub fn is_small(&self) -> bool {
        self.chart.dimension() <= MAX_DIMENSION
    }
}

/// Analyses a simulation a few steps after its present state: fewer if that fails, or if the
/// growth per period that is found would have carried it away.
pub(crate) fn analyse_ahead<T>(
    simulation: &mut Simulation,
    mut analyse: impl FnMut(&mut Simulation, Base) -> Result<T, AnalysisError>,
    growth: impl Fn(&T) -> f64,
) -> Result<T, AnalysisError> {
    if let Some(part) = simulation.part_without_state() {
        return Err(AnalysisError::NoState(part));
    }
    simulation.sharpen();
    simulation.keep_accounts(false);
    let start = Chart::about(simulation);
    let period = simulation.period();
    let mut look = |simulation: &mut Simulation, steps: u64| {
        simulation.steps(steps.next_multiple_of(period))?;
        let chart = Chart::about(simulation);
        analyse(simulation, Base { chart, period })
    };
    let [warm_ups @ .., last] = WARM_UPS;
    for steps in warm_ups {
        match look(simulation, steps) {
            Err(AnalysisError::Fault(_)) => {}
            Ok(found) if growth(&found).powi(steps as i32) > CARRIED_AWAY => {}
            outcome => return outcome,
        }
        start.base().restore(simulation);
    }
    look(simulation, last)
}

/// The recurrence, and the linear dependence of what is observed after a step on the state before
/// it. The simulation is left at the point about which it was linearised.
pub(crate) fn probe_with(
    simulation: &mut Simulation,
    observe: impl Fn(&Simulation) -> Vec<f64>,
) -> Result<(Recurrence, DMatrix<f64>), AnalysisError> {
    let look = |simulation: &mut Simulation, base: Base| {
        if !base.is_small() {
            return Err(AnalysisError::TooLarge {
                dimension: base.chart.dimension(),
                limit: MAX_DIMENSION,
            });
        }
        recurrence_about(simulation, base, &observe)
    };
    analyse_ahead(simulation, look, |_| 1.0)
}

/// The same about a point that is known already.
pub(crate) fn recurrence_about(
    simulation: &mut Simulation,
    base: Base,
    observe: impl Fn(&Simulation) -> Vec<f64>,
) -> Result<(Recurrence, DMatrix<f64>), AnalysisError> {
    let Base { chart, period } = base;
    let mut sizes = probe_sizes(simulation, &chart);
    let mut probed = probe(simulation, &chart, period, &sizes, &observe);
    for _ in 0..FINER_PROBES {
        if probed.is_ok() {
            break;
        }
        sizes.iter_mut().for_each(|size| *size *= FINER);
        probed = probe(simulation, &chart, period, &sizes, &observe);
    }
    let (matrix, seen) = probed?;
    // Squares of entries are formed when the matrix is balanced.
    if !matrix.iter().all(|entry| entry.abs() < LARGEST_ENTRY) {
        return Err(AnalysisError::Unbounded);
    }
    chart.base().restore(simulation);
    let recurrence = Recurrence {
        matrix,
        duration: period as f64 * simulation.schedule().step,
        chart,
        push_size: 10.0 * sizes.iter().copied().fold(PROBE, f64::max),
    };
    Ok((recurrence, seen))
}

/// Takes away coordinates with an empty row or column, again and again. What remains has the same
/// nonzero eigenvalues, and the cost of finding them grows with the cube of the size.
fn without_idle_coordinates(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut kept: Vec<usize> = (0..matrix.nrows()).collect();
    loop {
        let busy = |&i: &usize| {
            let feeds = kept.iter().any(|&j| matrix[(j, i)] != 0.0);
            let is_fed = kept.iter().any(|&j| matrix[(i, j)] != 0.0);
            feeds && is_fed
        };
        let remaining: Vec<usize> = kept.iter().copied().filter(|i| busy(i)).collect();
        if remaining.len() == kept.len() {
            return DMatrix::from_fn(kept.len(), kept.len(), |i, j| matrix[(kept[i], kept[j])]);
        }
        kept = remaining;
    }
}

/// Λ column by column, by central differences about the chart's base point, and the same for what
/// is observed.
fn probe(
    simulation: &mut Simulation,
    chart: &Chart,
    period: u64,
    sizes: &[f64],
    observe: &impl Fn(&Simulation) -> Vec<f64>,
) -> Result<(DMatrix<f64>, DMatrix<f64>), AnalysisError> {
    let dimension = chart.dimension();
    // Coordinates about the point that follows the base point.
    chart.base().restore(simulation);
    simulation.steps(period)?;
    let image = Chart::about(simulation);
    let sight = observe(simulation).len();
    let mut matrix = DMatrix::zeros(dimension, dimension);
    let mut seen = DMatrix::zeros(sight, dimension);
    let mut point = vec![0.0; dimension];
    let mut ends = [vec![0.0; dimension], vec![0.0; dimension]];
    for column in 0..dimension {
        let mut views = [Vec::new(), Vec::new()];
        for ((end, view), sign) in ends.iter_mut().zip(&mut views).zip([1.0, -1.0]) {
            point[column] = sign * sizes[column];
            chart.apply(simulation, &point);
            simulation.steps(period)?;
            image.read(simulation, end);
            *view = observe(simulation);
        }
        point[column] = 0.0;
        let distance = 2.0 * sizes[column];
        for row in 0..dimension {
            matrix[(row, column)] = (ends[0][row] - ends[1][row]) / distance;
        }
        for row in 0..sight {
            seen[(row, column)] = (views[0][row] - views[1][row]) / distance;
        }
    }
    Ok((matrix, seen))
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_coordinates_change_no_other_eigenvalue() {
        // 0 and 1 turn; 2 only listens to them, 3 only listens to 2, 4 only speaks to 0.
        let mut matrix = DMatrix::zeros(5, 5);
        matrix[(0, 1)] = -2.0;
        matrix[(1, 0)] = 2.0;
        matrix[(2, 0)] = 7.0;
        matrix[(3, 2)] = 5.0;
        matrix[(0, 4)] = 3.0;
        let reduced = without_idle_coordinates(&matrix);
        assert_eq!(
            reduced,
            DMatrix::from_row_slice(2, 2, &[0.0, -2.0, 2.0, 0.0])
        );
        assert!(without_idle_coordinates(&DMatrix::zeros(3, 3)).is_empty());
    }
}
