//! The eigenvalues of a macro step, by whichever way suits the size of the model.

mod frequencies;
mod matrix;
mod measured;
mod mode;
mod own;
mod products;

use std::time::Duration;

use nalgebra::{Complex, DVector};
use oldham_cosim::{Chart, Simulation, SubsystemId};

use crate::effort::Effort;
use crate::pattern::Pattern;
use crate::product::StepProduct;
use crate::quick::dominant_mode;
use crate::recurrence::{AnalysisError, Base, FILLING, TimeBudget, analyse_ahead, prepare};
use crate::turning::Turning;

use matrix::Care;

pub(crate) use matrix::VAGUE;
pub(crate) use mode::ROUNDING;
pub use mode::{Decision, EigenMode, THRESHOLD};
pub(crate) use own::{ALIKE, SAME_GROWTH};

/// Radii up to here count as stable in searches, which see radii of growth that is decided.
pub(crate) const STABLE: f64 = 1.0 + 1e-8;

/// What a change of an eigenvalue along the circle counts of one across it.
pub(crate) const SIDEWAYS: f64 = 0.1;

/// Coordinates up to which a matrix is made without a look at a few products first.
const QUICK: usize = 600;
/// The same where the recurrence is one of several steps, which a matrix takes for every coordinate.
const SEVERAL: usize = 200;
/// Times that one matrix takes, for all of them to take half of what there is.
const ALL_MATRICES: u32 = 6;
/// Growth in a step that a matrix of differences would not tell from drifts either.
const FINE: f64 = 1e-4;
/// Growth in a step that a few products show for certain.
const FAST: f64 = 0.05;

/// Distance from one of what may be a drift.
const DRIFT: f64 = 1e-3;

/// How eigenvalues were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All of them, from the matrix of the recurrence.
    Dense,
    /// Those near the unit circle and all that grow, from the determinant of the coupled step.
    Frequency {
        /// How often it was evaluated.
        evaluations: usize,
    },
    /// The dominant ones, from products of the recurrence with vectors.
    Krylov {
        /// How many products it took.
        products: usize,
    },
    /// From measured models of parts that cannot be looked into.
    Measured {
        /// How many steps these parts took.
        steps: u64,
    },
}

/// Eigenvalues of the macro step of a simulation.
pub struct Spectrum {
    modes: Vec<EigenMode>,
    reach: f64,
    way: Way,
    /// Simulated time that the recurrence covers, and that of a macro step.
    duration: f64,
    step: f64,
    source: Source,
    /// Growing modes that the model has without the coupling.
    own: Vec<EigenMode>,
    /// Growing eigenvalues that were counted and not looked for.
    unlisted: usize,
    /// The parts between which the dominant mode passes, if that is known.
    between: Option<(SubsystemId, SubsystemId)>,
    /// Whether something turns and the model is not the same in every position.
    varying: bool,
}

/// Something turns, and the model is not the same in every position: modes are known no better than that lets
/// them be. Whether it is so.
fn doubt_turning(modes: &mut [EigenMode], turning: Option<&Turning>) -> bool {
    let Some(turning) = turning.filter(|turning| turning.is_varying()) else {
        return false;
    };
    for mode in modes {
        let uncertainty = turning.uncertainty(mode.value.ln().norm());
        mode.error = mode.error.max(uncertainty * mode.value.norm());
    }
    true
}

/// What the eigenvalues came from.
struct Source {
    chart: Chart,
    /// A small change of the state along the dominant mode, if it is known.
    mode: Option<DVector<f64>>,
}

impl Spectrum {
    /// Linearises a simulation about a point a few steps after its present state, where it is
    /// left.
    pub fn of(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        Self::with(simulation, &TimeBudget::endless())
    }

    /// The same, or an error if it takes longer.
    pub fn within(simulation: &mut Simulation, granted: Duration) -> Result<Self, AnalysisError> {
        Self::with(simulation, &TimeBudget::new(Some(granted)))
    }

    /// The same about the present state itself, as it is met within a run: all histories are filled.
    pub fn here(
        simulation: &mut Simulation,
        granted: Option<Duration>,
    ) -> Result<Self, AnalysisError> {
        let budget = &TimeBudget::new(granted);
        if let Some(found) = Self::from_measurements(simulation, false, budget)? {
            return Ok(found);
        }
        prepare(simulation)?;
        let period = simulation.period();
        let base = Base::about(simulation, period);
        Self::about(simulation, base, budget)
    }

    /// About a point, by whichever way suits the model.
    fn about(
        simulation: &mut Simulation,
        base: Base,
        budget: &TimeBudget,
    ) -> Result<Self, AnalysisError> {
        if simulation.sequence_links().is_some() {
            match Self::from_frequencies(simulation, &base, budget) {
                Ok(Some(found)) => return Ok(found),
                Ok(None) | Err(AnalysisError::Fault(_)) => {}
                Err(error) => return Err(error),
            }
            base.chart.base().restore(simulation);
        }
        Self::by_steps(simulation, base, budget)
    }

    /// The dominant mode alone and what is decided by it, for searches that look at many simulations, with what is known
    /// of their coordinates.
    pub(crate) fn quick(
        simulation: &mut Simulation,
        pattern: &Pattern,
    ) -> Result<(EigenMode, Decision), AnalysisError> {
        let budget = &TimeBudget::endless();
        let decided = |found: Self| (found.dominant(), found.decision());
        if let Some(found) = Self::from_measurements(simulation, true, budget)? {
            return Ok(decided(found));
        }
        let analyse = |simulation: &mut Simulation, base: Base| {
            if let Some(found) = Self::from_lines(simulation, &base, budget)? {
                return Ok(decided(found));
            }
            // What may grow and is not known to is worth the whole analysis.
            if base.chart.dimension() > QUICK {
                let found = Self::from_products(simulation, base.clone(), Effort::QUICK, budget)?;
                return match found.decision() {
                    Decision::Undecided => Self::about(simulation, base, budget).map(decided),
                    _ => Ok(decided(found)),
                };
            }
            let found = match dominant_mode(simulation, &base, pattern, budget)? {
                Some(mode) => mode,
                None => {
                    Self::from_matrix(simulation, base.clone(), budget, Care::Quick)?.dominant()
                }
            };
            let reach = found.value.norm() + found.error;
            let decision = Decision::on(found.value.norm(), found.error, reach);
            // What grows next to one may be part of a drift that rounding has split.
            let is_drift = (found.value - 1.0).norm() < DRIFT && decision == Decision::Unstable;
            match decision == Decision::Undecided || is_drift {
                true => Self::from_matrix(simulation, base, budget, Care::Full).map(decided),
                false => Ok((found, decision)),
            }
        };
        analyse_ahead(simulation, &FILLING, analyse, |(mode, _)| mode.value.norm())
    }

    fn with(simulation: &mut Simulation, budget: &TimeBudget) -> Result<Self, AnalysisError> {
        if let Some(found) = Self::from_measurements(simulation, true, budget)? {
            return Ok(found);
        }
        if simulation.sequence_links().is_some()
            && let Some(found) = Self::by_frequencies(simulation, budget)?
        {
            return Ok(found);
        }
        let analyse =
            |simulation: &mut Simulation, base: Base| Self::by_steps(simulation, base, budget);
        analyse_ahead(simulation, &FILLING, analyse, Self::radius)
    }

    /// About a point, by steps of the simulation.
    fn by_steps(
        simulation: &mut Simulation,
        base: Base,
        budget: &TimeBudget,
    ) -> Result<Self, AnalysisError> {
        if let Some(found) = Self::from_lines(simulation, &base, budget)? {
            return Ok(found);
        }
        let dimension = base.chart.dimension();
        let mut first = None;
        if base.period > 1 && dimension > SEVERAL {
            // A period of many steps is a power already: what the steps damp is gone after it, and few
            // products say of all modes what a matrix would say.
            let one = StepProduct::duration(simulation, &base.chart, base.period)?;
            let effort = Effort::over(base.period).within(one, budget.left());
            let found = Self::from_products(simulation, base.clone(), effort, budget)?;
            if found.decision() != Decision::Undecided || found.is_for_a_turn_to_tell() {
                return Ok(found);
            }
            first = Some(found);
        } else if dimension > QUICK {
            // What grows fast shows at once.
            let found = Self::from_products(simulation, base.clone(), Effort::FIRST, budget)?;
            let dominant = found.dominant();
            let growth = dominant.value.norm() - 1.0;
            if growth > FAST && dominant.error < 0.1 * growth {
                return Ok(found);
            }
        }
        if dimension > QUICK
            && let Some(found) = Self::found_twice(simulation, base.clone(), budget)?
            && (found.decision() != Decision::Undecided
                || found.is_for_a_turn_to_tell()
                || found.reach <= 1.0 + FINE)
        {
            return Ok(found);
        }
        if base.is_small() {
            let product = StepProduct::duration(simulation, &base.chart, base.period)?;
            // Where something is known already, other states may need the time more.
            let share = if first.is_some() { ALL_MATRICES } else { 1 };
            let found = budget
                .allow(product * dimension as u32 * share)
                .and_then(|()| Self::from_matrix(simulation, base.clone(), budget, Care::Full));
            return match (found, first) {
                // What is known of it is more than nothing.
                (Err(AnalysisError::TooLong { .. }), Some(first)) => {
                    base.chart.base().restore(simulation);
                    Ok(first)
                }
                (found, _) => found,
            };
        }
        match first {
            Some(first) => Ok(first),
            None => Self::from_products(simulation, base, Effort::THOROUGH, budget),
        }
    }

    /// From the matrix of the recurrence, which is found by probing, whatever else would do.
    pub fn by_matrix(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let budget = TimeBudget::endless();
        let analyse = |simulation: &mut Simulation, base: Base| {
            Self::from_matrix(simulation, base, &budget, Care::Full)
        };
        analyse_ahead(simulation, &FILLING, analyse, Self::radius)
    }

    /// The same about the present state itself, where a simulation is left by an analysis.
    pub fn by_matrix_here(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        prepare(simulation)?;
        let period = simulation.period();
        let base = Base::about(simulation, period);
        Self::from_matrix(simulation, base, &TimeBudget::endless(), Care::Full)
    }

    /// From products alone, however small the model.
    pub fn by_products(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let budget = TimeBudget::endless();
        let analyse = |simulation: &mut Simulation, base: Base| {
            Self::from_products(simulation, base, Effort::THOROUGH, &budget)
        };
        analyse_ahead(simulation, &FILLING, analyse, Self::radius)
    }

    /// From two searches by products, however small the model; nothing where they do not find the same.
    pub fn by_two_searches(simulation: &mut Simulation) -> Result<Option<Self>, AnalysisError> {
        let budget = TimeBudget::endless();
        let analyse =
            |simulation: &mut Simulation, base: Base| Self::found_twice(simulation, base, &budget);
        let radius = |found: &Option<Self>| found.as_ref().map_or(1.0, Self::radius);
        analyse_ahead(simulation, &FILLING, analyse, radius)
    }

    /// The shape of the dominant mode as a change of the state, where it is known.
    pub(crate) fn shape(&self) -> Option<&[f64]> {
        self.source.mode.as_ref().map(|mode| mode.as_slice())
    }

    /// The modes, all of them or the dominant ones: first those that certainly grow, and of these
    /// as of the others the one with the largest radius.
    pub fn modes(&self) -> &[EigenMode] {
        &self.modes
    }

    /// Growing eigenvalues besides: where some grow by more than 5 % in a step, the slower ones are
    /// counted and not looked for.
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// How they were found.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Simulated time that the recurrence covers.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Growth rate in 1/s and angular frequency in rad/s of a mode.
    pub fn pole(&self, mode: &EigenMode) -> Complex<f64> {
        mode.value.ln() / self.duration
    }

    /// Coordinates of the recurrence.
    pub fn dimension(&self) -> usize {
        self.chart().dimension()
    }

    /// The dominant mode. Without any that the coupling could be blamed for it is one of the model's
    /// own, as one that does not grow; without these, all of the motion is forgotten within a step.
    pub fn dominant(&self) -> EigenMode {
        let own = self.own.first().map(|mode| EigenMode {
            value: mode.value / mode.value.norm().max(1.0),
            error: mode.error,
        });
        let first = self.modes.first().copied();
        first.or(own).unwrap_or(EigenMode::NONE)
    }

    /// The error of the first mode.
    fn dominant_error(&self) -> f64 {
        self.modes.first().map_or(0.0, |mode| mode.error)
    }

    /// The spectral radius.
    pub fn radius(&self) -> f64 {
        self.dominant().value.norm()
    }

    /// Whether what may grow here grows so slowly, and the model changes so much as it turns, that nothing more
    /// can be learnt from one position.
    fn is_for_a_turn_to_tell(&self) -> bool {
        self.varying && self.reach <= 1.0 + FAST
    }

    /// Whether something turns and the model is not the same in every position.
    pub fn is_varying(&self) -> bool {
        self.varying
    }

    /// A radius that no mode exceeds, also none that was not found. For a large model there is a
    /// chance of less than one in a thousand that a mode hides from the random vector of the
    /// search.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether a mode grows.
    pub fn decision(&self) -> Decision {
        Decision::on(self.radius(), self.dominant().error, self.reach)
    }

    /// The point about which the simulation was linearised.
    pub(crate) fn chart(&self) -> &Chart {
        &self.source.chart
    }

    /// The parts between which the dominant mode passes, if that is known.
    pub(crate) fn between(&self) -> Option<(SubsystemId, SubsystemId)> {
        self.between
    }

    /// A small change of the state along the dominant mode.
    pub(crate) fn along_dominant(&self) -> Option<&DVector<f64>> {
        self.source.mode.as_ref()
    }
}
