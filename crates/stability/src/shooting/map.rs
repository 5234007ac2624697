//! A period of a simulation as a map of its state, in axes that move along.

use std::time::Duration;

use nalgebra::DVector;
use oldham_cosim::{Cancel, Chart, Layout, Simulation, Snapshot, State, Visitor};

use super::frame::{Frame, Poses, RigidMotion};
use crate::probing::{PROBE, largest, probe_sizes};
use crate::random::Random;
use crate::recurrence::{AnalysisError, TimeBudget};

/// Products that are averaged for one balance, how often it is improved, how small their changes are, and how small a
/// coordinate may become, each as a share of its probe.
const SAMPLES: usize = 2;
const SWEEPS: usize = 3;
const FINE: f64 = 1e-2;
const SMALLEST: f64 = 1e-3;

/// Multiples of a direction that are tried.
const SHARES: [f64; 6] = [512.0, 64.0, 8.0, 1.0, 1.0 / 8.0, 1.0 / 64.0];

/// What may change over a period of what is followed no further, relative to the state, and how much more than at best.
const RELAXED: f64 = 1e-4;
const AWAY: f64 = 3.0;

/// Where a period leads.
pub(crate) struct Image {
    /// The change of each coordinate in axes that move along; that of multipliers is zero.
    pub change: DVector<f64>,
    /// What is held, as means over the period.
    pub held: DVector<f64>,
    /// The rigid motion.
    pub motion: RigidMotion,
}

/// A period of a simulation about a base point.
pub(crate) struct PeriodMap<'h> {
    pub simulation: Simulation,
    /// Macro steps of the period.
    pub period: u64,
    pub frame: Frame,
    /// Columns that are held.
    pub held: &'h [usize],
    /// Macro steps taken so far.
    pub taken: u64,
    pub budget: &'h TimeBudget,
    /// Ends the search.
    pub cancel: Cancel,
    /// Whether points of a search are taken for what they have become after a period.
    pub settles: bool,
}

impl PeriodMap<'_> {
    /// Where a change of the base point leads.
    pub fn image(&mut self, base: &Chart, change: &[f64]) -> Result<Image, AnalysisError> {
        if self.cancel.is_requested() {
            return Err(AnalysisError::Interrupted);
        }
        self.budget.allow(Duration::ZERO)?;
        base.apply(&mut self.simulation, change);
        let layout = Layout::of(&mut self.simulation);
        let before = Poses::of(&mut self.simulation);
        let held = self.advance()?;
        let after = Poses::of(&mut self.simulation);
        let motion = self.frame.between(&before, &after);
        motion.inverse().apply(&mut self.simulation);
        let mut led = DVector::zeros(base.dimension());
        base.read(&mut self.simulation, led.as_mut_slice());
        for ((led, change), needed) in led.iter_mut().zip(change).zip(layout.needed()) {
            *led = if needed { *led - change } else { 0.0 };
        }
        Ok(Image {
            change: led,
            held,
            motion,
        })
    }

    /// The point of a search that a change of the base point leads to, and where a period leads from there.
    pub fn point(&mut self, base: &Chart, change: &[f64]) -> Result<(Chart, Image), AnalysisError> {
        if self.settles {
            return self.settled(base, change);
        }
        let base = self.moved(base, change);
        let image = self.image(&base, &vec![0.0; base.dimension()])?;
        Ok((base, image))
    }

    /// Where a change of the base point is after a period, with the clock of the base point, and where the next period leads from there.
    /// What a period forgets is forgotten then: constraints that the change violates, and histories that do not belong to it.
    fn settled(&mut self, base: &Chart, change: &[f64]) -> Result<(Chart, Image), AnalysisError> {
        let led = self.image(base, change)?;
        let place: Vec<f64> = led
            .change
            .iter()
            .zip(change)
            .map(|(led, own)| led + own)
            .collect();
        let base = self.moved(base, &place);
        let image = self.image(&base, &vec![0.0; base.dimension()])?;
        Ok((base, image))
    }

    /// Follows the model as long as it comes nearer to a steady motion, with the clock of the base point.
    pub fn relaxed(&mut self, mut base: Chart, periods: usize) -> Result<Chart, AnalysisError> {
        let kinds = Kinds::of(&mut self.simulation);
        let still = vec![0.0; base.dimension()];
        let mut best: Option<(f64, Chart)> = None;
        for _ in 0..periods {
            let image = self.image(&base, &still);
            let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
            let image = match image {
                Err(AnalysisError::Fault(_)) if best.is_some() => break,
                image => image?,
            };
            let sizes = probe_sizes(&mut self.simulation, &base);
            let shares = image.change.iter().zip(&sizes).zip(&kinds);
            let shares = shares.filter(|(_, kind)| **kind != Kind::Consequence);
            let moving = shares.map(|((change, size), _)| (change * PROBE / size).abs());
            let moving = moving.fold(0.0, f64::max);
            if moving > AWAY * least {
                break;
            }
            if moving < least {
                best = Some((moving, base.clone()));
            }
            if moving < RELAXED {
                break;
            }
            base = self.moved(&base, image.change.as_slice());
        }
        let (_, best) = best.expect("the first is the best so far");
        Ok(best)
    }

    /// For each coordinate, whether the next step needs it.
    pub fn needed(&mut self) -> Vec<bool> {
        Layout::of(&mut self.simulation).needed().collect()
    }

    /// A period from the present state on; means of what is held.
    fn advance(&mut self) -> Result<DVector<f64>, AnalysisError> {
        let mut held = DVector::zeros(self.held.len());
        // Without anything to look at on the way the steps are taken at once.
        let at_once = if self.held.is_empty() { self.period } else { 1 };
        let looks = self.period / at_once;
        for _ in 0..looks {
            self.simulation.steps(at_once)?;
            for (mean, column) in held.iter_mut().zip(self.held) {
                *mean += self.simulation.value(*column).unwrap_or(f64::NAN) / looks as f64;
            }
        }
        self.taken += self.period;
        Ok(held)
    }

    /// By central differences: what a change of the base point does to the change over a period and to what is held.
    pub fn response(
        &mut self,
        base: &Chart,
        change: &DVector<f64>,
    ) -> Result<(DVector<f64>, DVector<f64>), AnalysisError> {
        let up = self.image(base, change.as_slice())?;
        let down = self.image(base, (-change).as_slice())?;
        Ok(((up.change - down.change) * 0.5, (up.held - down.held) * 0.5))
    }

    /// Sizes of small changes, of each coordinate in proportion to what it does when all others are as large as theirs;
    /// and the magnitudes of all.
    pub fn sizes(&mut self, base: &Chart) -> Result<Sizes, AnalysisError> {
        base.base().restore(&mut self.simulation);
        let probes = DVector::from_vec(probe_sizes(&mut self.simulation, base));
        let needed: Vec<bool> = Layout::of(&mut self.simulation).needed().collect();
        // Of what is nearly zero, such as an acceleration, the rounding is that of others.
        let unit = largest(&mut self.simulation).clamp(f64::MIN_POSITIVE, 1.0);
        let floors = &probes * SMALLEST;
        let mut sizes = probes.clone();
        let mut random = Random(1);
        for _ in 0..SWEEPS {
            let mut squares = DVector::zeros(sizes.len());
            for _ in 0..SAMPLES {
                let direction = random.signs(sizes.len()).component_mul(&sizes) * FINE;
                let (mut led, _) = self.response(base, &direction)?;
                led += &direction;
                let share = led.component_div(&sizes) / FINE;
                squares += share.component_mul(&share);
            }
            for ((size, square), floor) in sizes.iter_mut().zip(squares.iter()).zip(floors.iter()) {
                *size = (*size * (square / SAMPLES as f64).sqrt()).max(*floor);
            }
        }
        base.base().restore(&mut self.simulation);
        let kinds = Kinds::of(&mut self.simulation);
        let mut magnitudes = (&probes / PROBE).map(|own| own.max(unit));
        // A component of a velocity is small or large beside the velocities of the motion.
        for kind in [Kind::Velocity, Kind::Spin] {
            let of_kind = || (0..kinds.len()).filter(|&place| kinds[place] == kind);
            let largest = of_kind().map(|place| magnitudes[place]).fold(0.0, f64::max);
            of_kind().for_each(|place| magnitudes[place] = largest);
            if kind == Kind::Velocity {
                // A tyre remembers how fast it slides, which has the rounding of how fast it goes.
                let scalars = (0..kinds.len()).filter(|&place| kinds[place] == Kind::Scalar);
                scalars.for_each(|place| magnitudes[place] = magnitudes[place].max(largest));
            }
        }
        Ok(Sizes {
            probes,
            magnitudes,
            changes: sizes,
            needed,
            kinds,
        })
    }

    /// Which multiple of a direction shows best what a small change along it does: large ones show curvature, small
    /// ones rounding, and the best one agrees with its neighbour.
    pub fn best_share(
        &mut self,
        base: &Chart,
        sizes: &Sizes,
        direction: &DVector<f64>,
    ) -> Result<f64, AnalysisError> {
        let change = direction.component_mul(&sizes.changes);
        let mut before: Option<DVector<f64>> = None;
        let (mut best, mut least) = (1.0, f64::INFINITY);
        for share in SHARES {
            let led = match self.response(base, &(&change * share)) {
                Ok((led, _)) => led.component_div(&sizes.changes) / share,
                // What is too large for a part to follow says nothing.
                Err(AnalysisError::Fault(_)) => continue,
                Err(error) => return Err(error),
            };
            if let Some(before) = &before {
                let off = (&led - before).norm();
                if off < least {
                    (best, least) = (share, off);
                }
            }
            before = Some(led);
        }
        Ok(best)
    }

    /// The base point moved, and the state that belongs to it.
    pub fn moved(&mut self, base: &Chart, change: &[f64]) -> Chart {
        base.apply(&mut self.simulation, change);
        Chart::about(&mut self.simulation)
    }

    /// The same period of another simulation of the model.
    pub fn with(&self, simulation: Simulation) -> Self {
        Self {
            simulation,
            period: self.period,
            frame: self.frame.clone(),
            held: self.held,
            taken: 0,
            budget: self.budget,
            cancel: self.cancel.clone(),
            settles: self.settles,
        }
    }

    /// The state at the end of a period.
    pub fn next(&mut self, base: &Snapshot) -> Result<Chart, AnalysisError> {
        base.restore(&mut self.simulation);
        self.advance()?;
        Ok(Chart::about(&mut self.simulation))
    }
}

/// How large coordinates and their changes are.
pub(crate) struct Sizes {
    /// Small changes of single coordinates.
    pub probes: DVector<f64>,
    /// Changes that belong together: units of lengths.
    pub changes: DVector<f64>,
    /// How large the motion is: of velocities the largest one, of scalars they themselves or that, of other coordinates they themselves, or the largest of all, but no more than
    /// one: what is nearly zero counts as that.
    pub magnitudes: DVector<f64>,
    /// Whether the next step needs them.
    pub needed: Vec<bool>,
    /// What they are.
    pub kinds: Vec<Kind>,
}

/// What a coordinate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An angle of an orientation.
    Angle,
    /// An acceleration or a force: the next step finds it from the others.
    Consequence,
    /// A component of a velocity in space.
    Velocity,
    /// A component of an angular velocity in space.
    Spin,
    /// A component of a place.
    Place,
    /// Anything else, of an unknown unit.
    Scalar,
}

/// Components of the linear velocity that follows an orientation and, with them, of the angular one; what follows are accelerations and forces.
const LINEAR: usize = 3;
const VELOCITIES: usize = 6;

/// Tells coordinates apart.
#[derive(Default)]
pub(crate) struct Kinds {
    found: Vec<Kind>,
    /// Components of vectors since the last orientation.
    vectors: usize,
}

impl Kinds {
    pub fn of(simulation: &mut Simulation) -> Vec<Kind> {
        let mut kinds = Self::default();
        simulation.visit(&mut kinds);
        kinds.found
    }
}

impl Visitor for Kinds {
    fn replaces(&self) -> bool {
        false
    }
    fn vector(&mut self, values: &mut [f64]) {
        self.found.extend(values.iter().map(|_| Kind::Scalar));
    }
    fn point(&mut self, values: &mut [f64]) {
        self.found.extend(values.iter().map(|_| Kind::Place));
    }
    fn spatial(&mut self, values: &mut [f64]) {
        for _ in values {
            self.vectors += 1;
            self.found.push(if self.vectors <= LINEAR {
                Kind::Velocity
            } else if self.vectors <= VELOCITIES {
                Kind::Spin
            } else {
                Kind::Consequence
            });
        }
    }
    fn body_fixed(&mut self, values: &mut [f64]) {
        self.found.extend(values.iter().map(|_| Kind::Consequence));
    }
    fn rotation(&mut self, _: &mut [f64; 4]) {
        self.vectors = 0;
        self.found.extend([Kind::Angle; 3]);
    }
    fn quaternion(&mut self, values: &mut [f64]) {
        self.vectors = 0;
        self.vector(values);
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
}
