//! Stable or not, and which interface is to blame.

use nalgebra::{Complex, DVector};
use oldham_cosim::{Chart, Fault, Simulation};

use crate::recurrence::{AnalysisError, Recurrence};

/// Spectral radii up to here count as stable: rounding moves unit eigenvalues by this much.
pub(crate) const STABLE: f64 = 1.0 + 1e-8;
/// Macro steps at most over which a mode is followed to find its interface.
const LONGEST_LOOK: u64 = 2000;

/// What the recurrence says about a simulation.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Largest magnitude of an eigenvalue, per application of the recurrence.
    pub radius: f64,
    /// Growth rate of the fastest growing mode, 1/s; negative when it decays.
    pub growth: f64,
    /// Its frequency in hertz.
    pub frequency: f64,
    /// Coordinates of the recurrence.
    pub dimension: usize,
    /// The interface at which the exchange feeds the growing mode, when it is unstable.
    pub interface: Option<String>,
}

impl Verdict {
    /// Whether no mode grows.
    pub fn is_stable(&self) -> bool {
        self.radius <= STABLE
    }
}

/// Analyses a simulation about its start (a few steps after, when all histories are filled).
pub fn analyse(simulation: &mut Simulation) -> Result<Verdict, AnalysisError> {
    let recurrence = Recurrence::of(simulation)?;
    let eigenvalues = recurrence.eigenvalues()?;
    let dominant = eigenvalues.first().copied().unwrap_or_default();
    let radius = dominant.norm();
    let mut verdict = Verdict {
        radius,
        growth: radius.max(f64::MIN_POSITIVE).ln() / recurrence.duration(),
        frequency: dominant.arg().abs() / std::f64::consts::TAU / recurrence.duration(),
        dimension: recurrence.matrix().nrows(),
        interface: None,
    };
    if !verdict.is_stable() {
        verdict.interface = blame(simulation, &recurrence, dominant)?;
    }
    Ok(verdict)
}

/// The interface whose exchange creates most energy while the mode goes through one period.
///
/// Created energy is quadratic in the motion, so its second difference about the base point is
/// the part that belongs to the mode alone.
fn blame(
    simulation: &mut Simulation,
    recurrence: &Recurrence,
    dominant: Complex<f64>,
) -> Result<Option<String>, AnalysisError> {
    let names: Vec<String> = simulation.interfaces().iter().map(|&n| n.into()).collect();
    if names.len() < 2 {
        return Ok(names.into_iter().next());
    }
    let mode = growing_mode(recurrence);
    let period = std::f64::consts::TAU / dominant.arg().abs().max(1e-6);
    let steps = (period.ceil() as u64).clamp(1, LONGEST_LOOK) * simulation.period();
    let chart = recurrence.chart();
    let mut look = |factor: f64| -> Result<Vec<f64>, Fault> {
        created_from(simulation, chart, &(&mode * factor), steps)
    };
    let (plus, base, minus) = (look(1.0)?, look(0.0)?, look(-1.0)?);
    let quadratic = (0..names.len()).map(|i| plus[i] - 2.0 * base[i] + minus[i]);
    let largest = names
        .into_iter()
        .zip(quadratic)
        .max_by(|a, b| a.1.total_cmp(&b.1));
    Ok(largest.map(|(name, _)| name))
}

fn created_from(
    simulation: &mut Simulation,
    chart: &Chart,
    point: &DVector<f64>,
    steps: u64,
) -> Result<Vec<f64>, Fault> {
    chart.apply(simulation, point.as_slice());
    let before = simulation.created();
    simulation.steps(steps)?;
    let after = simulation.created();
    chart.base().restore(simulation);
    Ok(after.iter().zip(before).map(|(a, b)| a - b).collect())
}

/// A real vector in the plane of the dominant pair, by repeated squaring of the recurrence.
fn growing_mode(recurrence: &Recurrence) -> DVector<f64> {
    let mut power = recurrence.matrix().clone();
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
