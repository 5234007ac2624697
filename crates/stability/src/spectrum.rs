//! The eigenvalues of a macro step, by whichever way suits the size of the model.

use std::time::Duration;

use nalgebra::{Complex, DVector};
use oldham_cosim::{Chart, Simulation, SubsystemId};

use crate::effort::{Effort, Observation};
use crate::eigen::Reduced;
use crate::examination::{AGREEMENT, Examiner, QUICK_AGREEMENT};
use crate::frequency::{FrequencyAnalysis, NoVerdict, Rotation};
use crate::lines::{FEWEST, Lines};
use crate::pattern::Pattern;
use crate::probing::probe_sizes;
use crate::product::StepProduct;
use crate::quick::dominant_mode;
use crate::recurrence::{
    AnalysisError, Base, FILLING, Recurrence, TimeBudget, analyse_ahead, other_recurrence, prepare,
    recurrence_about,
};
use crate::steady::Split;
use crate::turning::Turning;
use crate::twice::{self, modes_found_twice};

/// Growth by this factor within a macro step counts as none where it is not certain: a model is
/// called stable if no mode can grow faster.
pub const THRESHOLD: f64 = 1e-6;
/// Growth that is certain is at least so large; what is less is the rounding of unit eigenvalues.
pub(crate) const ROUNDING: f64 = 1e-10;
/// Radii up to here count as stable in searches, which see radii of certain growth only.
pub(crate) const STABLE: f64 = 1.0 + 1e-8;

/// Growth and turn of a mode in a step that the step resolves.
const RESOLVED: f64 = 0.3;
/// The same of a drift.
const SLOW: f64 = 1e-2;
/// Relative difference of poles up to which they belong to the same motion.
pub(crate) const ALIKE: f64 = 0.1;

/// Relative difference of their growth.
pub(crate) const SAME_GROWTH: f64 = 0.2;
/// The same for a pole and what it tends to as the step shrinks: what the coupling adds to a growth of
/// the model's own is less than that.
const SAME_LIMIT: f64 = 0.5;

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

/// Error of the dominant eigenvalue beyond which probes of other sizes are tried.
const SHARP: f64 = 1e-7;
/// Error beyond which an eigenvalue is looked at as one of several.
pub(crate) const VAGUE: f64 = 1e-5;
/// Errors within which another eigenvalue may be part of the same multiple one; or growths, where
/// these are as slight as rounding makes them of a multiple eigenvalue 1.
const NEIGHBOURS: f64 = 10.0;
/// Growth in a step that may be what rounding makes of a threefold eigenvalue: the cube root of it.
const SPLIT: f64 = 1e-5;
/// Distance from one within which eigenvalues may be copies of it.
const CLUSTER: f64 = 1e-2;
/// Two matrices may agree by chance.
const CAUTION: f64 = 10.0;

/// Modes of which the error is measured, and how close to the unit circle they are.
const EXAMINED: usize = 12;
const CLOSE: f64 = 1e-3;

/// Threads of an analysis in the frequency domain, at most.
const MOST_THREADS: usize = 4;

/// Periods before the frequency domain is looked at, and growth of the state in them that carries it
/// away: then the first step has to do.
const FREQUENCY_FILLING: [(u64, f64); 1] = [(3, 10.0)];

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
}

/// Whether a mode grows, as far as that could be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No mode grows by more than [`THRESHOLD`] in a step.
    Stable,
    /// A mode grows: by more than the error of its radius.
    Unstable,
    /// Neither is certain.
    Undecided,
}

impl Decision {
    /// What a radius with its error says, and a radius that no mode exceeds.
    pub(crate) fn on(radius: f64, error: f64, reach: f64) -> Self {
        if radius - error.max(ROUNDING) > 1.0 {
            Self::Unstable
        } else if reach <= 1.0 + THRESHOLD {
            Self::Stable
        } else {
            Self::Undecided
        }
    }
}

/// A mode of the recurrence, or a conjugate pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenMode {
    /// Its eigenvalue, with nonnegative imaginary part.
    pub value: Complex<f64>,
    /// How far that may be off.
    pub error: f64,
}

impl EigenMode {
    /// Where all of the motion is forgotten within a step.
    pub(crate) const NONE: Self = Self::unexamined(Complex::new(0.0, 0.0));

    /// A mode of which no more than its eigenvalue is known.
    pub(crate) const fn unexamined(value: Complex<f64>) -> Self {
        Self {
            value,
            error: ROUNDING,
        }
    }

    /// Whether it grows for certain.
    pub fn is_growing(&self) -> bool {
        self.value.norm() - self.error.max(ROUNDING) > 1.0
    }
}

impl EigenMode {
    /// Rounding splits a multiple eigenvalue, and no part of it is known better than they lie apart.
    pub(crate) fn beware_of_neighbours(&mut self, place: usize, values: &[Complex<f64>]) {
        let others = values
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        let distances = others.map(|(_, value)| (value - self.value).norm());
        let nearest = distances.fold(f64::INFINITY, f64::min);
        let growth = (self.value.norm() - 1.0).abs();
        let is_slight = growth < THRESHOLD && nearest <= NEIGHBOURS * growth;
        if is_slight || nearest <= NEIGHBOURS * self.error {
            self.error = self.error.max(nearest);
        }
        // The three parts of a threefold one lie √3 times as far from each other as from where it was.
        if growth < SPLIT && nearest <= 2.0 * growth {
            self.error = self.error.max(2.0 * nearest);
        }
    }
}

/// Errors to first order say nothing of multiple eigenvalues. How far these move is seen when the
/// matrix is made again with other sizes.
fn compare_with_second_matrix(
    simulation: &mut Simulation,
    recurrence: &Recurrence,
    modes: &mut [EigenMode],
    budget: &TimeBudget,
) -> Result<(), AnalysisError> {
    let Some(second) = recurrence.again(simulation, budget)? else {
        return Ok(());
    };
    for mode in modes.iter_mut().filter(|mode| mode.error > VAGUE) {
        let distances = second.iter().map(|value| (value - mode.value).norm());
        let moved = distances.fold(f64::INFINITY, f64::min);
        mode.error = mode.error.min(CAUTION * moved + ROUNDING);
    }
    Ok(())
}

/// With how much care modes are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Care {
    /// The first modes are measured with changes of other sizes.
    Full,
    /// For searches that look at many simulations: only whether the dominant mode grows.
    Quick,
}

impl Care {
    fn is_quick(self) -> bool {
        self == Self::Quick
    }

    /// Modes that are examined at most.
    fn examined(self) -> usize {
        if self.is_quick() { 1 } else { EXAMINED }
    }
}

/// Eigenvalues of the macro step of a simulation.
pub struct Spectrum {
    modes: Vec<EigenMode>,
    reach: f64,
    way: Way,
    duration: f64,
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

/// Takes eigenvalues at one that belong together out of all, as one mode: copies in a chain move by the root of the
/// noise, and what is measured along one of them says nothing of that. Nothing where there are not several.
fn set_drifts_apart(reduced: &Reduced, values: &mut Vec<Complex<f64>>) -> Option<EigenMode> {
    let near = |value: &&Complex<f64>| (*value - 1.0).norm() < CLUSTER;
    if values.iter().filter(near).count() < 2 || reduced.matrix.nrows() > QUICK {
        return None;
    }
    let split = Split::of(&reduced.matrix).filter(|split| split.steady > 1)?;
    let drift = split.drift()?;
    let smallest = values.iter().map(|value| value.norm()).fold(1.0, f64::min);
    *values = split.others;
    // Where only the outer ones were wanted.
    values.retain(|value| value.norm() >= smallest);
    Some(drift)
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
        prepare(simulation)?;
        let period = simulation.period();
        let base = Base::about(simulation, period);
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

    /// The dominant mode alone, for searches that look at many simulations, with what is known of
    /// their coordinates.
    pub(crate) fn quick(
        simulation: &mut Simulation,
        pattern: &Pattern,
    ) -> Result<EigenMode, AnalysisError> {
        let budget = &TimeBudget::endless();
        let analyse = |simulation: &mut Simulation, base: Base| {
            if let Some(found) = Self::from_lines(simulation, &base, budget)? {
                return Ok(found.dominant());
            }
            if base.chart.dimension() > QUICK {
                let found = Self::from_products(simulation, base, Effort::QUICK, budget)?;
                return Ok(found.dominant());
            }
            let found = match dominant_mode(simulation, &base, pattern, budget)? {
                Some(mode) => mode,
                None => {
                    Self::from_matrix(simulation, base.clone(), budget, Care::Quick)?.dominant()
                }
            };
            // What may grow and is not known to is worth the whole analysis.
            let is_open = !found.is_growing() && found.value.norm() + found.error > 1.0 + THRESHOLD;
            match is_open {
                true => Ok(Self::from_matrix(simulation, base, budget, Care::Full)?.dominant()),
                false => Ok(found),
            }
        };
        analyse_ahead(simulation, &FILLING, analyse, |mode| mode.value.norm())
    }

    fn with(simulation: &mut Simulation, budget: &TimeBudget) -> Result<Self, AnalysisError> {
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

    fn from_matrix(
        simulation: &mut Simulation,
        base: Base,
        budget: &TimeBudget,
        care: Care,
    ) -> Result<Self, AnalysisError> {
        let (recurrence, _) = recurrence_about(simulation, base.clone(), |_| Vec::new(), budget)?;
        let sizes = recurrence.sizes().to_vec();
        let found = Self::from_recurrence(simulation, recurrence, budget, care)?;
        if care.is_quick() || found.dominant_error() <= SHARP {
            return Ok(found);
        }
        // Changes of other sizes may tell more.
        let Some(recurrence) = other_recurrence(simulation, base, &sizes, budget)? else {
            return Ok(found);
        };
        let other = Self::from_recurrence(simulation, recurrence, budget, care)?;
        let is_sharper = other.dominant_error() < found.dominant_error();
        Ok(if is_sharper { other } else { found })
    }

    /// The error of the first mode.
    fn dominant_error(&self) -> f64 {
        self.modes.first().map_or(0.0, |mode| mode.error)
    }

    /// The modes of a recurrence with their errors.
    fn from_recurrence(
        simulation: &mut Simulation,
        recurrence: Recurrence,
        budget: &TimeBudget,
        care: Care,
    ) -> Result<Self, AnalysisError> {
        let (is_quick, examined) = (care.is_quick(), care.examined());
        let reduced = Reduced::new(recurrence.matrix()).ok_or(AnalysisError::NoEigenvalues)?;
        let subspaces = reduced.subspaces();
        let values = match &subspaces {
            Some(subspaces) => Some(subspaces.values.clone()),
            None if is_quick => reduced.dominant_eigenvalues(),
            None => reduced.eigenvalues(),
        };
        let mut values = values.ok_or(AnalysisError::NoEigenvalues)?;
        let drift = match is_quick {
            true => None,
            false => set_drifts_apart(&reduced, &mut values),
        };
        values.retain(|value| value.im >= 0.0);
        let mut modes: Vec<EigenMode> = values.iter().copied().map(EigenMode::unexamined).collect();
        let mut mode = DVector::zeros(recurrence.matrix().nrows());
        // Searches ask only whether there is growth; what decays needs no error then.
        let is_wanted = |&place: &usize| match is_quick {
            true => place == 0 && values[0].norm() > 1.0,
            false => place == 0 || (place < examined && values[place].norm() > 1.0 - CLOSE),
        };
        let wanted: Vec<usize> = (0..values.len()).filter(is_wanted).collect();
        if !wanted.is_empty() {
            let (base, sizes) = (recurrence.base(), recurrence.sizes());
            let mut examiner = Examiner::new(
                simulation,
                base,
                sizes,
                &reduced,
                subspaces.as_ref(),
                budget,
            )?;
            let enough = if is_quick { QUICK_AGREEMENT } else { AGREEMENT };
            for place in wanted {
                budget.allow(Duration::ZERO)?;
                modes[place] = examiner.examine(values[place], enough)?;
                modes[place].beware_of_neighbours(place, &values);
            }
            // The others are known as well as those that were examined.
            let known = modes.iter().take(examined).map(|mode| mode.error);
            let error = known.filter(|e| e.is_finite()).fold(ROUNDING, f64::max);
            for mode in modes.iter_mut().skip(examined) {
                mode.error = error;
            }
            let along = (!is_quick).then(|| examiner.along(values[0], recurrence.matrix()));
            if let Some(along) = along.flatten() {
                mode = along;
            }
        }
        if modes.iter().any(|mode| mode.error > VAGUE) {
            compare_with_second_matrix(simulation, &recurrence, &mut modes, budget)?;
            for (place, mode) in modes.iter_mut().enumerate().take(examined) {
                mode.beware_of_neighbours(place, &values);
            }
        }
        modes.extend(drift);
        let varying = doubt_turning(&mut modes, recurrence.base().turning.as_ref());
        modes.sort_by(|a, b| {
            let order = b.is_growing().cmp(&a.is_growing());
            order.then(b.value.norm().total_cmp(&a.value.norm()))
        });
        let far = |mode: &EigenMode| mode.value.norm() + mode.error;
        let reach = modes.iter().map(far).fold(0.0, f64::max);
        recurrence.chart().base().restore(simulation);
        let duration = recurrence.duration();
        Ok(Self {
            reach,
            modes,
            way: Way::Dense,
            varying,
            duration,
            source: Source {
                chart: recurrence.into_chart(),
                mode: Some(mode),
            },
            own: Vec::new(),
            unlisted: 0,
            between: None,
        })
    }

    /// In the frequency domain as soon as all histories are filled: it needs no transients to have
    /// died out. Where the macro step is not of that kind the simulation is as it was.
    fn by_frequencies(
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
    fn from_frequencies(
        simulation: &mut Simulation,
        base: &Base,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        // Coefficients that turn stand still in axes that all of the model turns with, or if what spins is round.
        let rotation = match &base.turning {
            None => Rotation::None,
            Some(turning) if turning.is_of_spins() => Rotation::OfEach,
            Some(turning) => match turning.of_all() {
                Some(turn) => Rotation::OfAll(turn),
                None => return Ok(None),
            },
        };
        let Some(analysis) = FrequencyAnalysis::of_rotating(simulation, rotation) else {
            return Ok(None);
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let found = match analysis.verdict(threads.min(MOST_THREADS), budget.left()) {
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
    fn from_lines(
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
            source: Source {
                chart: base.chart.clone(),
                mode: None,
            },
            own: Vec::new(),
            unlisted: 0,
            between: None,
        }))
    }

    fn from_products(
        simulation: &mut Simulation,
        base: Base,
        effort: Effort,
        budget: &TimeBudget,
    ) -> Result<Self, AnalysisError> {
        let search = |product: &mut StepProduct<'_>| effort.analyse(product).map(Some);
        let found = Self::by_search(simulation, base, effort.products(), budget, search)?;
        found.ok_or(AnalysisError::NoEigenvalues)
    }

    /// From products, with errors by a second search; nothing where that finds something else, or there is no time for it.
    fn found_twice(
        simulation: &mut Simulation,
        base: Base,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        match Self::by_search(simulation, base, twice::PRODUCTS, budget, modes_found_twice) {
            Err(AnalysisError::Fault(_) | AnalysisError::TooLong { .. }) => Ok(None),
            found => found,
        }
    }

    /// From as many products as a search takes.
    fn by_search(
        simulation: &mut Simulation,
        base: Base,
        products: usize,
        budget: &TimeBudget,
        search: impl FnOnce(&mut StepProduct<'_>) -> Result<Option<Observation>, AnalysisError>,
    ) -> Result<Option<Self>, AnalysisError> {
        let duration = base.period as f64 * simulation.schedule().step;
        let one = StepProduct::duration(simulation, &base.chart, base.period)?;
        budget.allow(one * products as u32)?;
        let probes = probe_sizes(simulation, &base.chart);
        let mut product = StepProduct::new(simulation, &base, probes, budget)?;
        let Some(found) = search(&mut product)? else {
            return Ok(None);
        };
        let mode = product.change(&found.shape);
        let Base { chart, turning, .. } = base;
        chart.base().restore(simulation);
        let mut modes = found.modes;
        let varying = doubt_turning(&mut modes, turning.as_ref());
        let far = modes.iter().map(|mode| mode.value.norm() + mode.error);
        Ok(Some(Self {
            reach: match varying {
                true => far.fold(found.reach, f64::max),
                false => found.reach,
            },
            varying,
            modes,
            way: Way::Krylov {
                products: found.products,
            },
            duration,
            source: Source {
                chart,
                mode: Some(mode),
            },
            own: Vec::new(),
            unlisted: 0,
            between: None,
        }))
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

    /// The spectral radius.
    pub fn radius(&self) -> f64 {
        self.dominant().value.norm()
    }

    /// Whether some modes grow or may grow so slowly that the step resolves them: they could be
    /// motions that the model has without the coupling.
    pub fn may_grow_by_itself(&self) -> bool {
        self.modes.iter().any(|mode| self.is_slow_growth(mode))
    }

    fn is_slow_growth(&self, mode: &EigenMode) -> bool {
        let turn = (self.pole(mode) * self.duration).norm();
        let drifts = mode.value.norm() + mode.error > 1.0 + THRESHOLD && turn < SLOW;
        drifts || (mode.is_growing() && turn < RESOLVED)
    }

    /// Sets modes aside that another simulation of the same motion has too, one without the
    /// coupling or with a shorter step: that they grow, or that it is not known whether they do, is
    /// no matter of the coupling.
    pub fn set_aside(&mut self, reference: &Self) {
        // With a shorter step what the exchange makes grow grows less, the shorter the step is: so
        // the limit of no step at all is compared.
        let ratio = self.duration / reference.duration;
        let (alike, same, beyond) = match ratio > 1.5 {
            true => (SAME_LIMIT, SAME_LIMIT, ratio / (ratio - 1.0)),
            false => (ALIKE, SAME_GROWTH, 1.0),
        };
        let has = |mode: &EigenMode| {
            let pole = self.pole(mode);
            let near = |other: &EigenMode| {
                let errors = mode.error / self.duration + other.error / reference.duration;
                let errors = errors * beyond;
                let off = (reference.pole(other) - pole) * beyond;
                // A mode that the exchange makes grow is there without it, too, and does not grow.
                off.norm() <= alike * pole.norm() + errors
                    && off.re.abs() <= same * pole.re.abs() + errors
            };
            // What grows in a reference without coupling is its own there, too.
            let mut there = reference.modes.iter().chain(&reference.own);
            self.is_slow_growth(mode) && there.any(near)
        };
        let (own, coupled): (Vec<EigenMode>, Vec<EigenMode>) =
            self.modes.iter().partition(|m| has(m));
        if own.is_empty() {
            return;
        }
        let is_other = coupled.first().map(|m| m.value) != self.modes.first().map(|m| m.value);
        if is_other {
            self.source.mode = None;
        }
        if let Way::Frequency { .. } = self.way {
            let far = |mode: &EigenMode| mode.value.norm() + mode.error;
            self.reach = coupled.iter().map(far).fold(1.0 + THRESHOLD, f64::max);
        }
        if self.way == Way::Dense {
            let far = |mode: &EigenMode| mode.value.norm() + mode.error;
            self.reach = coupled.iter().map(far).fold(0.0, f64::max);
        }
        self.modes = coupled;
        self.own.extend(own);
        self.own
            .sort_by(|a, b| b.value.norm().total_cmp(&a.value.norm()));
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

    /// Growing modes that were set aside.
    pub fn own_modes(&self) -> &[EigenMode] {
        &self.own
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
