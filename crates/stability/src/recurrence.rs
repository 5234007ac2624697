//! The linear recurrence z(n+1) = Λ z(n) of a macro step.

use std::time::{Duration, Instant};

use nalgebra::{Complex, DMatrix};
use oldham_cosim::{Chart, Fault, Simulation};

use crate::eigen::Reduced;
use crate::measured::Unmeasurable;
use crate::probing::{
    DISAGREEMENT, PROBE, Probed, Probing, SECOND, keep_visible, largest, probe_sizes,
};
use crate::turning::Turning;

/// Periods of the schedule before probing, so that all parts move, and growth of the state in them
/// that leaves nothing of the start: models so unstable are looked at earlier. The histories of
/// integrators and predictors have three samples at most: what is seen before is the start-up.
pub(crate) const FILLING: [(u64, f64); 2] = [(6, 1e4), (3, 1e9)];
/// Coordinates up to which a matrix of the recurrence is made.
const MAX_DIMENSION: usize = 2500;
/// How often a rotor is followed over how many periods while it comes nearer to its steady rotation, and
/// what counts as that, relative to the state.
const SETTLING: usize = 3;
const SETTLING_STEPS: u64 = 96;
const STEADY: f64 = 1e-10;
/// Where a part cannot follow a probe, because the coupling makes far more of it, finer ones are
/// tried.
const FINER: f64 = 1e-2;
const FINER_PROBES: usize = 2;
/// A larger one is no rounding: a law bends within the probe.
const BENDING: f64 = 1e-4;
/// Sizes at most that are tried then.
const BETTER_SIZES: usize = 3;
/// Size of the probes of a second matrix.
const ANOTHER: f64 = 0.3;

/// Entries of a recurrence must stay below this.
const LARGEST_ENTRY: f64 = 1e140;

/// Why a simulation could not be analysed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// A part keeps its state to itself.
    #[error("`{0}` cannot show its state, so its coupling cannot be analysed")]
    NoState(String),
    /// A part that keeps its state to itself cannot be led to it again either.
    #[error("`{part}` {reason}")]
    NotLed {
        /// The part.
        part: String,
        /// Why, as the end of a sentence that begins with it.
        reason: String,
    },
    /// A part can be saved and restored, but its state has no coordinates.
    #[error(
        "`{0}` has no linear recurrence: contacts and impulses come and go, and foreign code cannot be varied; compare runs at two steps instead, as by `oldham compare --vary simulation.step=1e-3,5e-4`"
    )]
    NoChart(String),
    /// A predictor changes with what it learns.
    #[error(
        "`{0}` learns while it runs, which no linear recurrence describes; compare runs instead"
    )]
    Learns(String),
    /// There is no simulation.
    #[error("{0}")]
    NotBuilt(String),
    /// A part gives no matrices.
    #[error(
        "there is no linear model, because `{part}` {reason}; compare runs at two steps instead"
    )]
    NoLinearisation {
        /// The part.
        part: String,
        /// Why, as the end of a sentence that begins with it.
        reason: String,
    },
    /// A part samples, where continuous time is needed.
    #[error(
        "`{0}` samples: there is a linear model from sample to sample (`oldham linearise`), and none in continuous time"
    )]
    Sampled(String),
    /// Parts sample with periods that do not fit together.
    #[error(
        "parts sample with periods that have no common multiple within 10000 of their common parts: there is no linear model from sample to sample"
    )]
    SamplesApart,
    /// The model is too large for a dense eigenvalue problem.
    #[error(
        "the macro step has {dimension} states, more than the {limit} of which all poles can be computed; `oldham check` tells whether the largest grow, and `oldham modes` gives the modes of a mechanism"
    )]
    TooLarge {
        /// Coordinates of the model.
        dimension: usize,
        /// Coordinates at most.
        limit: usize,
    },
    /// The analysis takes longer than wanted.
    #[error(
        "it takes more than {seconds:.0} s; `oldham check` and `stability` take as long as `--seconds` grants them"
    )]
    TooLong {
        /// The time that was granted.
        seconds: f64,
    },
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// Modes of a long delay could not be told apart.
    #[error(
        "a delay of {steps} macro steps beside {others} other states has too many modes next to each other; compare runs, or take a longer step"
    )]
    LongDelay {
        /// Macro steps of the delay.
        steps: u64,
        /// States that are no part of a delay line.
        others: usize,
    },
    /// The simulation failed while it was probed.
    #[error(
        "the model fails within the steps of the analysis, as it does where the coupling makes far more of every change: {0}"
    )]
    Fault(#[from] Fault),
    /// A small change of the state grows beyond what can be computed with.
    #[error("a small change of the state grows beyond all bounds within one macro step")]
    Unbounded,
    /// Outputs determine each other at once, and not uniquely.
    #[error(
        "outputs determine each other in a loop that has no unique solution, so there is no linear system; look at the connections between parts that answer at once"
    )]
    AlgebraicLoop,
    /// A part that cannot be looked into does not answer as a linear one does.
    #[error("`{part}` cannot be measured: {reason}")]
    Unmeasurable {
        /// The part.
        part: String,
        /// Why.
        reason: Unmeasurable,
    },
    /// The eigenvalue iteration did not converge.
    #[error("the eigenvalues of the recurrence did not converge")]
    NoEigenvalues,
}

/// The linearised macro step of a simulation.
pub struct Recurrence {
    matrix: DMatrix<f64>,
    duration: f64,
    push_size: f64,
    sizes: Vec<f64>,
    base: Base,
}

impl Recurrence {
    /// Probes one period of the schedule (one macro step, or as many as the slowest part spans).
    /// The simulation is left at the point about which it was linearised, and iterates implicit
    /// steps to rounding from then on.
    pub fn of(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        Ok(probe_with(simulation, |_| Vec::new())?.0)
    }

    /// What was probed about a point, where the simulation is left.
    fn from(
        simulation: &mut Simulation,
        base: Base,
        probed: Probed,
    ) -> Result<(Self, DMatrix<f64>), AnalysisError> {
        check_bounded(&probed.matrix)?;
        base.chart.base().restore(simulation);
        let recurrence = Self {
            matrix: probed.matrix,
            duration: base.period as f64 * simulation.schedule().step,
            push_size: 10.0 * probed.sizes.iter().copied().fold(PROBE, f64::max),
            sizes: probed.sizes,
            base,
        };
        Ok((recurrence, probed.seen))
    }

    /// A size for pushes on inputs: large against rounding in the state.
    pub(crate) fn push_size(&self) -> f64 {
        self.push_size
    }

    /// Sizes of the differences that gave the matrix.
    pub(crate) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Where it was probed, and over how many macro steps.
    pub(crate) fn base(&self) -> &Base {
        &self.base
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
        &self.base.chart
    }

    /// Eigenvalues, the dominant ones at least, of the matrix that differences of another size give; nothing if it has none.
    pub(crate) fn again(
        &self,
        simulation: &mut Simulation,
        budget: &TimeBudget,
    ) -> Result<Option<Vec<Complex<f64>>>, AnalysisError> {
        let sizes: Vec<f64> = self.sizes.iter().map(|size| size * ANOTHER).collect();
        let probed = Probing::about(simulation, &self.base, budget)
            .and_then(|mut probing| probing.matrices(&sizes, &|_: &Simulation| Vec::new()));
        match probed {
            Ok(probed) => Ok(dominant_among(&probed.matrix)),
            Err(AnalysisError::Fault(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The point alone.
    pub(crate) fn into_chart(self) -> Chart {
        self.base.chart
    }

    /// The eigenvalues, the largest first. Coordinates that nothing depends on, or that depend on
    /// nothing, have the eigenvalue zero and are left out.
    pub fn eigenvalues(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        eigenvalues(&self.matrix).ok_or(AnalysisError::NoEigenvalues)
    }
}

/// The nonzero eigenvalues of a recurrence, the largest first.
pub(crate) fn eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    Reduced::new(matrix)?.eigenvalues()
}

/// The same; of a large recurrence those near or beyond the unit circle alone, if that is quicker.
fn dominant_among(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let reduced = Reduced::new(matrix)?;
    let near = reduced.subspaces().map(|subspaces| subspaces.values);
    near.or_else(|| reduced.eigenvalues())
}

/// An error if entries are so large, or NaN, that they cannot be computed with: squares of them are
/// formed when a matrix is balanced.
pub(crate) fn check_bounded(matrix: &DMatrix<f64>) -> Result<(), AnalysisError> {
    let mut entries = matrix.as_slice().iter();
    match entries.all(|entry| entry.abs() < LARGEST_ENTRY) {
        true => Ok(()),
        false => Err(AnalysisError::Unbounded),
    }
}

/// How long an analysis may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeBudget {
    granted: Option<Duration>,
    started: Instant,
}

impl TimeBudget {
    /// Starts to count; without a limit if there is none.
    pub fn new(granted: Option<Duration>) -> Self {
        Self {
            granted,
            started: Instant::now(),
        }
    }

    /// As long as it takes.
    pub fn endless() -> Self {
        Self::new(None)
    }

    /// The time that is left; none if there is no limit.
    pub fn left(&self) -> Option<Duration> {
        let granted = self.granted?;
        Some(granted.saturating_sub(self.started.elapsed()))
    }

    /// The error when the time is over.
    pub fn over(&self) -> AnalysisError {
        AnalysisError::TooLong {
            seconds: self.granted.unwrap_or_default().as_secs_f64(),
        }
    }

    /// An error once the time is over, or if what is ahead will not fit into it.
    pub fn allow(&self, ahead: Duration) -> Result<(), AnalysisError> {
        match self.granted {
            Some(granted) if self.started.elapsed() + ahead > granted => {
                Err(AnalysisError::TooLong {
                    seconds: granted.as_secs_f64(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Where a simulation is linearised.
#[derive(Clone)]
pub(crate) struct Base {
    pub chart: Chart,
    /// Macro steps after which the pattern of advances repeats.
    pub period: u64,
    /// What turns from step to step.
    pub turning: Option<Turning>,
}

impl Base {
    /// About the present state.
    pub fn about(simulation: &mut Simulation, period: u64) -> Self {
        let chart = Chart::about(simulation);
        let turning = Turning::about(simulation, &chart, period);
        Self {
            chart,
            period,
            turning,
        }
    }

    /// The same somewhat later, where a rotor has come nearer to its steady rotation: what is given as the motion of
    /// its start is not quite that of the formula.
    fn settled(self, simulation: &mut Simulation) -> Self {
        let mut best = self;
        let unsteadiness = |base: &Self, simulation: &mut Simulation| match &base.turning {
            Some(turning) if !turning.is_varying() => {
                turning.unsteadiness(simulation, &base.chart, base.period)
            }
            _ => f64::INFINITY,
        };
        let mut off = unsteadiness(&best, simulation);
        if !off.is_finite() {
            best.chart.base().restore(simulation);
            return best;
        }
        for round in 0..SETTLING {
            best.chart.base().restore(simulation);
            if off < STEADY || simulation.steps(SETTLING_STEPS * best.period).is_err() {
                break;
            }
            let later = Self::about(simulation, best.period);
            let still_off = unsteadiness(&later, simulation);
            // What rings from the start is over after the first time, also where the rotor vibrates.
            let most = if round == 0 { 2.0 } else { 0.5 };
            if still_off > most * off {
                break;
            }
            (best, off) = (later, still_off);
        }
        best.chart.base().restore(simulation);
        best
    }

    /// Where the next period leads, the present state of a simulation.
    pub fn image(&self, simulation: &mut Simulation) -> Image<'_> {
        Image {
            chart: Chart::about(simulation),
            turning: self.turning.as_ref(),
        }
    }

    /// Whether the dense analysis takes it.
    pub fn is_small(&self) -> bool {
        self.chart.dimension() <= MAX_DIMENSION
    }
}

/// The point that follows a base point, as it is seen from there.
pub(crate) struct Image<'b> {
    chart: Chart,
    turning: Option<&'b Turning>,
}

impl Image<'_> {
    /// The coordinates of the present state, in the axes of the base point.
    pub fn read(&self, simulation: &mut Simulation, coordinates: &mut [f64]) {
        self.chart.read(simulation, coordinates);
        if let Some(turning) = self.turning {
            turning.back(coordinates);
        }
    }
}

/// Makes a simulation ready for differences of its steps; an error where there is nothing to take them of.
pub(crate) fn prepare(simulation: &mut Simulation) -> Result<(), AnalysisError> {
    if let Some(part) = simulation.part_without_state()? {
        return Err(AnalysisError::NoState(part));
    }
    if let Some(part) = simulation.part_without_chart()? {
        return Err(AnalysisError::NoChart(part));
    }
    simulation.sharpen()?;
    simulation.track_work(false);
    Ok(())
}

/// Analyses a simulation when its histories are filled, a few steps after its present state; of
/// models that do not get that far, what can be seen of the first period.
pub(crate) fn analyse_ahead<T>(
    simulation: &mut Simulation,
    filling: &[(u64, f64)],
    mut analyse: impl FnMut(&mut Simulation, Base) -> Result<T, AnalysisError>,
    growth: impl Fn(&T) -> f64,
) -> Result<T, AnalysisError> {
    prepare(simulation)?;
    let start = Chart::about(simulation);
    let period = simulation.period();
    let started = largest(simulation);
    let mut probe = |simulation: &mut Simulation, periods: u64, most: f64| {
        let mut before = started;
        for n in 0..periods {
            simulation.steps(period)?;
            let size = largest(simulation);
            if n == 0 {
                before = before.max(size);
            } else if size > most * before {
                return Ok(None);
            }
        }
        let base = Base::about(simulation, period).settled(simulation);
        let found = analyse(simulation, base)?;
        let is_near = growth(&found).powi(periods as i32) <= most;
        Ok(is_near.then_some(found))
    };
    for &(periods, most) in filling {
        match probe(simulation, periods, most) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) | Err(AnalysisError::Fault(_)) => start.base().restore(simulation),
            Err(error) => return Err(error),
        }
    }
    simulation.steps(period)?;
    let base = Base::about(simulation, period);
    analyse(simulation, base)
}

/// The recurrence, and the linear dependence of what is observed after a step on the state before
/// it. The simulation is left at the point about which it was linearised.
pub(crate) fn probe_with(
    simulation: &mut Simulation,
    observe: impl Fn(&Simulation) -> Vec<f64>,
) -> Result<(Recurrence, DMatrix<f64>), AnalysisError> {
    let analyse = |simulation: &mut Simulation, base: Base| {
        if !base.is_small() {
            return Err(AnalysisError::TooLarge {
                dimension: base.chart.dimension(),
                limit: MAX_DIMENSION,
            });
        }
        recurrence_about(simulation, base, &observe, &TimeBudget::endless())
    };
    analyse_ahead(simulation, &FILLING, analyse, |_| 1.0)
}

/// The same about a point that is known already.
pub(crate) fn recurrence_about(
    simulation: &mut Simulation,
    base: Base,
    observe: impl Fn(&Simulation) -> Vec<f64>,
    budget: &TimeBudget,
) -> Result<(Recurrence, DMatrix<f64>), AnalysisError> {
    let sizes = probe_sizes(simulation, &base.chart);
    let mut probing = Probing::about(simulation, &base, budget)?;
    let mut probed = probing.matrices(&sizes, &observe);
    let mut scale = 1.0;
    for _ in 0..FINER_PROBES {
        match probed {
            Err(AnalysisError::Fault(_)) => {}
            _ => break,
        }
        scale *= FINER;
        let finer: Vec<f64> = sizes.iter().map(|size| size * scale).collect();
        probed = probing.matrices(&finer, &observe);
    }
    let mut probed = probed?;
    let mut disagreement = probing.disagreement(&probed)?;
    if disagreement > DISAGREEMENT
        && let Some(mut better) = probing.better_sizes(&probed.sizes)?
    {
        for _ in 0..BETTER_SIZES {
            let again = probing.matrices(&better, &observe);
            let again = again.and_then(|again| Ok((probing.disagreement(&again)?, again)));
            match again {
                Ok((less, again)) if less < disagreement => {
                    (disagreement, probed) = (less, again);
                }
                // Sizes that a part cannot follow are none.
                Ok(_) | Err(AnalysisError::Fault(_)) => {}
                Err(error) => return Err(error),
            }
            if disagreement < BENDING {
                break;
            }
            // Single coordinates may reach a kink that all together do not.
            better.iter_mut().for_each(|size| *size *= SECOND);
            keep_visible(&mut better, &sizes);
        }
    }
    Recurrence::from(simulation, base, probed)
}

/// The recurrence by differences that are chosen by what each coordinate does; nothing where a part
/// cannot follow them.
pub(crate) fn other_recurrence(
    simulation: &mut Simulation,
    base: Base,
    sizes: &[f64],
    budget: &TimeBudget,
) -> Result<Option<Recurrence>, AnalysisError> {
    let mut probing = Probing::about(simulation, &base, budget)?;
    let Some(better) = probing.better_sizes(sizes)? else {
        return Ok(None);
    };
    match probing.matrices(&better, &|_: &Simulation| Vec::new()) {
        Ok(probed) => Ok(Some(Recurrence::from(simulation, base, probed)?.0)),
        Err(AnalysisError::Fault(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
