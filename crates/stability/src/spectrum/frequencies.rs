//! Modes from determinants: in the frequency domain, and of models with long delays.

use nalgebra::Complex;
use oldham_cosim::{Chart, Simulation};

use super::{EigenMode, FAST, Source, Spectrum, THRESHOLD, Way};
use crate::frequency::{FrequencyAnalysis, FrequencyVerdict, NoVerdict, Rotation};
use crate::lines::{FEWEST, Lines};
use crate::recurrence::{AnalysisError, Base, TimeBudget, analyse_ahead};

/// Threads of an analysis in the frequency domain, at most.
const MOST_THREADS: usize = 4;

/// Relative error of a mode that grows fast from which on it is looked for with coefficients of an earlier time.
const VAGUE: f64 = 1e-7;

/// Periods before the frequency domain is looked at, and growth of the state in them that carries it
/// away: then the first step has to do.
const FREQUENCY_FILLING: [(u64, f64); 1] = [(3, 10.0)];

impl Spectrum {
    /// In the frequency domain as soon as all histories are filled: it needs no transients to have
    /// died out. Where the macro step is not of that kind the simulation is as it was.
    pub(super) fn by_frequencies(
        simulation: &mut Simulation,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        let start = Chart::about(simulation);
        let analyse = |simulation: &mut Simulation, base: Base| {
            Self::from_frequencies(simulation, &base, budget)
        };
        let found = match analyse_ahead(simulation, &FREQUENCY_FILLING, analyse, |_| 1.0) {
            Err(AnalysisError::Fault(_)) => {
                start.base().restore(simulation);
                Self::before_any_step(simulation, budget)?
            }
            outcome => outcome?,
        };
        if found.is_none() {
            start.base().restore(simulation);
        }
        Ok(found)
    }

    /// In the frequency domain, of a model that cannot take its first steps: a coupling that makes
    /// orders of magnitude of a change in a step carries it away at once. The matrices of the start
    /// lack the loads of the run, so that only fast growth is certain.
    fn before_any_step(
        simulation: &mut Simulation,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        let period = simulation.period();
        let base = Base::about(simulation, period);
        let found = Self::from_frequencies(simulation, &base, budget)?;
        Ok(found.filter(|found| found.radius() - found.dominant_error() > 1.0 + FAST))
    }

    /// In the frequency domain, where the macro step is of that kind.
    pub(super) fn from_frequencies(
        simulation: &mut Simulation,
        base: &Base,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        let Some(rotation) = rotation_of(base) else {
            return Ok(None);
        };
        let analysis = with_next_step(simulation, base, rotation);
        let Some(analysis) = analysis else {
            return Ok(None);
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let found = match analysis.verdict(threads.min(MOST_THREADS), budget) {
            Ok(found) => found,
            Err(NoVerdict::TooLong) => return Err(budget.over()),
            // What the frequency domain cannot tell may be small enough for a matrix.
            Err(_) => return Ok(None),
        };
        let mode = |&(value, error): &(Complex<f64>, f64)| EigenMode { value, error };
        let all: Vec<EigenMode> = found.modes.iter().map(mode).collect();
        let is_own = |place: usize| found.physical.get(place) == Some(&true);
        let (own, mut modes) = (all.iter().enumerate()).fold(
            (Vec::new(), Vec::new()),
            |(mut own, mut coupled), (place, &mode)| {
                let of = if is_own(place) {
                    &mut own
                } else {
                    &mut coupled
                };
                of.push(mode);
                (own, coupled)
            },
        );
        modes.sort_by(|a, b| {
            let order = b.is_growing().cmp(&a.is_growing());
            order.then(b.value.norm().total_cmp(&a.value.norm()))
        });
        let far = |mode: &EigenMode| mode.value.norm() + mode.error;
        Ok(Some(Self {
            reach: modes.iter().map(far).fold(1.0 + THRESHOLD, f64::max),
            modes,
            way: Way::Frequency {
                evaluations: found.evaluations,
            },
            varying: false,
            duration: simulation.schedule().step,
            step: simulation.schedule().step,
            source: Source {
                chart: base.chart.clone(),
                mode: None,
            },
            own,
            unlisted: found.unlisted,
            between: found.connection,
        }))
    }

    /// From the determinant of a model with long delays; nothing if it has none.
    pub(super) fn from_lines(
        simulation: &mut Simulation,
        base: &Base,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        if base.chart.dimension() < FEWEST || base.turning.is_some() {
            return Ok(None);
        }
        let Some(found) = Lines::analyse(simulation, base, budget)? else {
            return Ok(None);
        };
        let error = found.error;
        let modes: Vec<EigenMode> = found
            .values
            .iter()
            .map(|&value| EigenMode { value, error })
            .collect();
        Ok(Some(Self {
            varying: false,
            reach: modes[0].value.norm() + error,
            modes,
            way: Way::Frequency {
                evaluations: found.evaluations,
            },
            duration: base.period as f64 * simulation.schedule().step,
            step: simulation.schedule().step,
            source: Source {
                chart: base.chart.clone(),
                mode: None,
            },
            own: Vec::new(),
            unlisted: 0,
            between: None,
        }))
    }
}

/// Coefficients that turn stand still in axes that all of the model turns with, or if what spins is round; nothing where
/// neither is so.
fn rotation_of(base: &Base) -> Option<Rotation> {
    match &base.turning {
        None => Some(Rotation::None),
        Some(turning) if turning.is_of_spins() => Some(Rotation::OfEach),
        Some(turning) => turning.of_all().map(Rotation::OfAll),
    }
}

/// The analysis about a point, where the simulation is left, with that of the next step: a rotor may be near its steady rotation
/// only, and what grows fast carries the state away. The coefficients of a rotor are those of the end of the step that
/// probing looks at, for which the step solves; besides, those of its start, with the end for comparison.
fn with_next_step(
    simulation: &mut Simulation,
    base: &Base,
    rotation: Rotation,
) -> Option<Analyses> {
    let of = FrequencyAnalysis::of_rotating;
    let here = of(simulation, rotation)?;
    let there = match simulation.steps(base.period) {
        Ok(()) => of(simulation, rotation),
        Err(_) => None,
    };
    let analyses = match (there, rotation) {
        // Of a model that cannot take its first step.
        (None, _) => Analyses::one(here),
        (Some(there), Rotation::OfAll(_)) => {
            let later = rotation_of(&Base::about(simulation, base.period));
            let next = later
                .filter(|later| matches!(later, Rotation::OfAll(_)))
                .filter(|_| simulation.steps(base.period).is_ok())
                .and_then(|later| of(simulation, later));
            match next {
                Some(next) => Analyses {
                    first: there.clone().beside(next),
                    earlier: Some(here.beside(there)),
                },
                // What the next step does not survive, the last one has moved less.
                None => Analyses {
                    first: there.clone().beside(here.clone()),
                    earlier: Some(here.beside(there)),
                },
            }
        }
        (Some(there), _) => Analyses::one(here.beside(there)),
    };
    base.chart.base().restore(simulation);
    Some(analyses)
}

/// What a point is analysed by.
struct Analyses {
    first: FrequencyAnalysis,
    /// By coefficients of an earlier time, where what grows has carried the state less far.
    earlier: Option<FrequencyAnalysis>,
}

impl Analyses {
    fn one(first: FrequencyAnalysis) -> Self {
        Self {
            first,
            earlier: None,
        }
    }

    /// The verdict, by whichever knows the mode better that grows fastest.
    fn verdict(&self, threads: usize, budget: &TimeBudget) -> Result<FrequencyVerdict, NoVerdict> {
        let found = self.first.verdict(threads, budget.left())?;
        let fastest = |found: &FrequencyVerdict| found.modes.first().copied();
        let Some(earlier) = &self.earlier else {
            return Ok(found);
        };
        match fastest(&found) {
            Some((value, error)) if value.norm() > 1.0 + FAST && error > VAGUE * value.norm() => {}
            _ => return Ok(found),
        }
        let other = match earlier.verdict(threads, budget.left()) {
            Err(NoVerdict::TooLong) => return Err(NoVerdict::TooLong),
            other => other.ok(),
        };
        let error = |found: &FrequencyVerdict| fastest(found).map_or(f64::INFINITY, |mode| mode.1);
        Ok(match other {
            Some(other) if error(&other) < error(&found) => other,
            _ => found,
        })
    }
}
