//! Stable or not, and which interface is to blame.

use std::f64::consts::TAU;
use std::time::Duration;

use nalgebra::DVector;
use oldham_cosim::{Chart, Simulation};

use crate::recurrence::{AnalysisError, TimeBudget};
use crate::spectrum::{Decision, Spectrum, Way};

/// Macro steps at most over which a mode is followed to find its interface.
const LONGEST_LOOK: u64 = 2000;
/// Steps between two looks at the clock.
const AT_ONCE: usize = 20;
/// Growth after which a mode has been followed long enough, and may still be taken as small.
const GROWTH_SEEN: f64 = 1e3;

/// Sizes of a mode, in terms of the probes, that are tried until the energy that it creates stands
/// out from rounding.
const FACTORS: [f64; 4] = [1.0, 1e2, 1e4, 1e6];
const CLEAR: f64 = 1e-6;
/// Turns in a step below which a mode is a slow motion.
const SLOW: f64 = 1e-3;

/// What the recurrence says about a simulation.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Largest magnitude of an eigenvalue, per application of the recurrence.
    pub radius: f64,
    /// How far that may be off.
    pub error: f64,
    /// A radius that no mode exceeds, also none that was not found.
    pub reach: f64,
    /// How it was found.
    pub way: Way,
    /// Growth rate of the fastest growing mode, 1/s; negative when it decays.
    pub growth: f64,
    /// Its frequency in hertz.
    pub frequency: f64,
    /// Simulated time that one application of the recurrence covers.
    pub step: f64,
    /// Coordinates of the recurrence.
    pub dimension: usize,
    /// The interface at which the exchange feeds the growing mode, when it is unstable.
    pub interface: Option<String>,
    /// Growth in 1/s and frequency in hertz of a mode that the model has without the coupling, and
    /// that is no matter of it: the fastest of those that were set aside.
    pub own: Option<[f64; 2]>,
    /// Whether something turns and the model is not the same in every position, so that the modes of
    /// one position do not tell what a turn does.
    pub varying: bool,
}

impl Verdict {
    /// What the spectrum of a simulation says.
    pub fn of(spectrum: &Spectrum, simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        Self::within(spectrum, simulation, None)
    }

    /// The same; without the interface of a mode if that takes longer than is granted.
    pub fn within(
        spectrum: &Spectrum,
        simulation: &mut Simulation,
        granted: Option<Duration>,
    ) -> Result<Self, AnalysisError> {
        let dominant = spectrum.dominant();
        let radius = spectrum.radius();
        let mut verdict = Self {
            radius,
            error: dominant.error,
            reach: spectrum.reach(),
            way: spectrum.way(),
            growth: radius.max(f64::MIN_POSITIVE).ln() / spectrum.duration(),
            frequency: dominant.value.arg().abs() / TAU / spectrum.duration(),
            step: spectrum.duration(),
            dimension: spectrum.dimension(),
            interface: None,
            varying: spectrum.is_varying(),
            own: spectrum
                .own_modes()
                .iter()
                .find(|mode| mode.is_growing())
                .map(|mode| {
                    let pole = spectrum.pole(mode);
                    [pole.re, pole.im.abs() / TAU]
                }),
        };
        if verdict.is_unstable() {
            let budget = TimeBudget::new(granted);
            verdict.interface = match blame(simulation, spectrum, &budget) {
                Err(AnalysisError::TooLong { .. }) => {
                    spectrum.chart().base().restore(simulation);
                    None
                }
                // So unstable that the mode cannot be followed: that it grows is known all the same.
                Err(AnalysisError::Fault(_)) => None,
                found => found?,
            };
        }
        Ok(verdict)
    }

    /// Whether a mode grows, as far as that could be found out.
    pub fn decision(&self) -> Decision {
        Decision::on(self.radius, self.error, self.reach)
    }

    /// Why it is not decided, if it is not.
    pub fn doubt(&self) -> Option<String> {
        if self.decision() != Decision::Undecided {
            return None;
        }
        let most = self.reach - 1.0;
        let is_hidden = self.reach > self.radius + self.error;
        if self.varying {
            return Some(format!(
                "parts turn, and the model is not the same in every position (weight or a support across the axis, or parts that turn otherwise than the others, as far from a steady rotation): what grows or decays in one position, the mode at {:.3} Hz with its {:.3} 1/s among them, does not tell what a whole turn does; compare runs instead",
                self.frequency, self.growth
            ));
        }
        Some(match self.way {
            Way::Measured { .. } if !self.error.is_finite() => format!(
                "records of the black boxes of up to 2048 steps do not agree on the mode at {:.3} Hz: it is too near its limit for their noise, too slow, or their answers are not those of linear parts",
                self.frequency
            ),
            Way::Krylov { .. } if is_hidden => format!(
                "the model is too large for all of its modes to be found; one that was not may grow by up to {most:.1e} in a step"
            ),
            _ if self.frequency * self.step < SLOW => format!(
                "a slow motion ({:.3} Hz) cannot be told from growth by up to {most:.1e} in a step: to small differences of the state it is a drift",
                self.frequency
            ),
            _ => format!(
                "the radius of the mode at {:.3} Hz is known to {:.1e} only, which is too little to tell whether it grows",
                self.frequency, self.error
            ),
        })
    }

    /// Whether no mode grows by more than [`THRESHOLD`](crate::THRESHOLD) in a step.
    pub fn is_stable(&self) -> bool {
        self.decision() == Decision::Stable
    }

    /// Whether a mode grows.
    pub fn is_unstable(&self) -> bool {
        self.decision() == Decision::Unstable
    }
}

/// Analyses a simulation about its start (a few steps after, when all histories are filled).
pub fn analyse(simulation: &mut Simulation) -> Result<Verdict, AnalysisError> {
    let spectrum = Spectrum::of(simulation)?;
    Verdict::of(&spectrum, simulation)
}

/// The same verdict, or an error if it takes longer.
pub fn analyse_within(
    simulation: &mut Simulation,
    granted: Duration,
) -> Result<Verdict, AnalysisError> {
    let spectrum = Spectrum::within(simulation, granted)?;
    Verdict::of(&spectrum, simulation)
}

/// The interface whose exchange creates most energy while the mode goes through one period.
///
/// Created energy is quadratic in the motion, so its second difference about the base point is
/// the part that belongs to the mode alone.
fn blame(
    simulation: &mut Simulation,
    spectrum: &Spectrum,
    budget: &TimeBudget,
) -> Result<Option<String>, AnalysisError> {
    let names: Vec<String> = simulation.interfaces().iter().map(|&n| n.into()).collect();
    if names.len() < 2 {
        return Ok(names.into_iter().next());
    }
    let Some(mode) = spectrum.along_dominant().cloned() else {
        let between = spectrum.between();
        let name = between.and_then(|(a, b)| simulation.interface_between(a, b));
        return Ok(name.map(Into::into));
    };
    let dominant = spectrum.dominant().value;
    let period = TAU / dominant.arg().abs().max(1e-6);
    let until_large = GROWTH_SEEN.ln() / dominant.norm().ln();
    let readouts = period.min(until_large).ceil() as u64;
    let steps = readouts.clamp(1, LONGEST_LOOK) * simulation.period();
    let chart = spectrum.chart();
    let mut probe = |factor: f64| -> Result<Vec<f64>, AnalysisError> {
        created_from(simulation, chart, &(&mode * factor), steps, budget)
    };
    let base = probe(0.0)?;
    let mut quadratic = vec![0.0; names.len()];
    for factor in FACTORS {
        let (plus, minus) = match (probe(factor), probe(-factor)) {
            (Ok(plus), Ok(minus)) => (plus, minus),
            (Err(error @ AnalysisError::TooLong { .. }), _)
            | (_, Err(error @ AnalysisError::TooLong { .. })) => return Err(error),
            _ => break,
        };
        let mut is_clear = false;
        for i in 0..names.len() {
            quadratic[i] = plus[i] - 2.0 * base[i] + minus[i];
            let all = plus[i].abs() + 2.0 * base[i].abs() + minus[i].abs();
            is_clear |= quadratic[i] > CLEAR * all;
        }
        if is_clear {
            break;
        }
    }
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
    budget: &TimeBudget,
) -> Result<Vec<f64>, AnalysisError> {
    chart.apply(simulation, point.as_slice());
    simulation.track_work(true);
    let before = simulation.created();
    let mut outcome = Ok(());
    for first in (0..steps).step_by(AT_ONCE) {
        outcome = budget.allow(Duration::ZERO).and_then(|()| {
            let some = (steps - first).min(AT_ONCE as u64);
            Ok(simulation.steps(some)?)
        });
        if outcome.is_err() {
            break;
        }
    }
    let after = simulation.created();
    simulation.track_work(false);
    outcome?;
    chart.base().restore(simulation);
    Ok(after.iter().zip(before).map(|(a, b)| a - b).collect())
}
