//! Newton's method for a steady motion, with damping.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{Chart, Simulation};

use super::frame::Poses;
use super::map::{Image, Kind, PeriodMap, Sizes};
use super::multipliers::Multipliers;
use super::quotient::Quotient;
use super::symmetry::frame_of;
use super::system::{Influence, System};
use super::tangent::{DIFFERENCE, Tangent, is_small};
use super::{Going, Held, Shooting, ShootingError, ShootingProgress, SteadyMotion};
use crate::probing::PROBE;
use crate::recurrence::{AnalysisError, TimeBudget, prepare};

/// What may change over a period of a steady motion, relative to the state.
pub const TOLERANCE: f64 = 1e-9;
/// What rounding lets change: nothing better is looked for.
const ROUNDING: f64 = 1e-13;
/// Periods of the schedule before a search: histories are filled then. Where it fails, the model is run further.
const FILLING: [u64; 4] = [6, 60, 600, 3000];
/// Periods of the schedule over which what should be constant is compared: in a single step a slow motion changes by
/// the square of the little that it turns in it, which is lost in rounding.
const STRIDE: u64 = 32;
/// The same where a point is what it has become after a stride: the longer, the less is left that lasts.
const STRIDES: [u64; 3] = [64, 256, 1024];
/// Strides or periods over which a model is followed before the search, while it comes nearer.
const RELAXING: usize = 16;
/// Directions that may last for longer than a stride, and than a period that is given.
const LASTING_MOST: usize = 60;
const LASTING_AT_ALL: usize = 240;
/// Linearisations, and steps with one of them, at most.
const LINEARISATIONS: usize = 20;
const CHORDS: usize = 8;
/// What a step with an old linearisation must reach for another one to be tried.
const QUICK: f64 = 0.2;
/// The same, and steps at most, where a linearisation takes as long as some ten steps.
const WORTH_IT: f64 = 0.6;
const SETTLED_CHORDS: usize = 24;
/// How often a step is halved.
const HALVINGS: usize = 10;
/// The most that anything is turned in a step, in radians: chords of larger turns tear mechanisms apart.
const FARTHEST: f64 = 0.1;
/// What must be left of a residual to be called less.
const LESS: f64 = 0.999;
/// What must be left of a residual after a linearisation to call it standing, and for how many of them.
const STANDING: f64 = 0.5;
const PATIENCE: usize = 3;
/// Share of the right-hand side that no change of anything takes away, from which on what is held cannot be.
const STUBBORN: f64 = 0.1;

/// What may change over the next period of what was found, relative to the state, and to what changed over the first one.
const LASTING: f64 = 1e-7;
const MUCH: f64 = 1e4;

/// How far from a steady motion a state is.
struct Point {
    base: Chart,
    free: Vec<f64>,
    image: Image,
}

/// Why an attempt ends.
enum Stop {
    Failed(ShootingError),
    /// Too much lasts for longer than a stride; where it came.
    TooMany(Box<Point>),
}

impl<E: Into<ShootingError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Shooting<'_> {
    /// Looks for it.
    pub fn solve(mut self) -> Result<SteadyMotion, ShootingError> {
        let budget = TimeBudget::new(self.granted);
        let values: Vec<f64> = self.free.iter().map(|free| free.value).collect();
        let pattern = (self.make)(&values, 0)?.period();
        let mut first_failure = None;
        if let Some((_, filling)) = self.initial {
            match self.attempts(filling, pattern, &budget) {
                Err(ShootingError::NotFound { .. }) => self.initial = None,
                other => return other,
            }
        }
        let mut before = 0;
        for filling in FILLING {
            // Prescribed motions that repeat themselves are then where they are at the start.
            let whole = self.period.unwrap_or(pattern).next_multiple_of(pattern);
            let filling = (filling * pattern).max(self.settling);
            let filling = filling.next_multiple_of(whole);
            if filling == before {
                continue;
            }
            before = filling;
            match self.attempts(filling, pattern, &budget) {
                Err(error @ (ShootingError::NotFound { .. } | ShootingError::NotHeld { .. })) => {
                    first_failure.get_or_insert(error);
                }
                Err(ShootingError::Analysis(AnalysisError::Fault(fault))) => {
                    // A model that fails by itself will not do otherwise later.
                    return Err(first_failure.unwrap_or(ShootingError::Fails(fault)));
                }
                Err(ShootingError::Analysis(AnalysisError::TooLong { seconds })) => {
                    return Err(first_failure.unwrap_or(ShootingError::TooLong { seconds }));
                }
                Err(ended @ ShootingError::Analysis(AnalysisError::Interrupted)) => {
                    return Err(ended);
                }
                Err(error) => return Err(first_failure.unwrap_or(error)),
                Ok(found) => return Ok(found),
            }
        }
        Err(first_failure.expect("one attempt at least"))
    }

    /// A simulation that is ready for differences.
    fn ready(&mut self, free: &[f64], filling: u64) -> Result<Simulation, AnalysisError> {
        let mut simulation = (self.make)(free, filling)?;
        prepare(&mut simulation)?;
        Ok(simulation)
    }

    /// With differences along all coordinates if they are few, and then with what lasts.
    fn attempts(
        &mut self,
        filling: u64,
        pattern: u64,
        budget: &TimeBudget,
    ) -> Result<SteadyMotion, ShootingError> {
        let columns: Vec<usize> = self.held.iter().map(|held| held.column).collect();
        let free: Vec<f64> = self.free.iter().map(|free| free.value).collect();
        let mut simulation = self.ready(&free, filling)?;
        match &self.initial {
            Some((state, _)) => state.restore(&mut simulation),
            None => simulation.steps(filling).map_err(AnalysisError::from)?,
        }
        let frame = frame_of(&mut simulation, pattern);
        let base = Chart::about(&mut simulation);
        let mut map = PeriodMap {
            simulation,
            period: 0,
            frame,
            held: &columns,
            taken: filling,
            budget,
            cancel: self.cancel.clone().unwrap_or_default(),
            settles: false,
        };
        let given = self.period.map(|period| period.next_multiple_of(pattern));
        let mut failure = None;
        let is_few = is_small(&map.needed(), given.unwrap_or(STRIDE * pattern));
        if is_few {
            map.period = given.unwrap_or(STRIDE * pattern);
            let start = (base.clone(), free.clone());
            match self.attempt(&mut map, start, filling) {
                Err(Stop::Failed(error)) if error.may_be_found_otherwise() => failure = Some(error),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::TooMany(_)) => unreachable!("all directions are taken"),
                Ok(found) => return Ok(found),
            }
        }
        map.settles = true;
        map.period = given.unwrap_or(STRIDES[1] * pattern);
        let base = map.relaxed(base, RELAXING)?;
        base.base().restore(&mut map.simulation);
        map.frame = frame_of(&mut map.simulation, pattern);
        let strides = match given {
            Some(period) => vec![period],
            None => STRIDES.map(|stride| stride * pattern).to_vec(),
        };
        let mut start = (base, free);
        for stride in strides {
            map.period = stride;
            match self.attempt(&mut map, start, filling) {
                Ok(found) => return Ok(found),
                Err(Stop::TooMany(point)) => start = (point.base, point.free),
                Err(Stop::Failed(ended)) if ended.is_unfinished() => return Err(ended),
                Err(Stop::Failed(error)) => return Err(failure.unwrap_or(error)),
            }
        }
        Err(failure.unwrap_or(ShootingError::TooMany {
            most: LASTING_AT_ALL,
        }))
    }

    fn attempt(
        &mut self,
        map: &mut PeriodMap<'_>,
        (base, free): (Chart, Vec<f64>),
        filling: u64,
    ) -> Result<SteadyMotion, Stop> {
        self.back(map, &free, filling)?;
        let (base, image) = map.point(&base, &vec![0.0; base.dimension()])?;
        let mut point = Point { base, free, image };
        let (chords, quick) = match map.settles {
            true => (SETTLED_CHORDS, WORTH_IT),
            false => (CHORDS, QUICK),
        };
        let mut iterations = 0;
        let mut residual = f64::INFINITY;
        let mut found = None;
        let mut stands_since = 0;
        for _ in 0..LINEARISATIONS {
            let sizes = map.sizes(&point.base)?;
            let Some((system, rest)) = self.linearised(map, &point, &sizes, filling)? else {
                return Err(Stop::TooMany(Box::new(point)));
            };
            let before = self.residual(&point, &sizes, &system);
            residual = before;
            let mut taken = 0;
            for _ in 0..chords {
                let scaled = self.measure(&point, &sizes, &system);
                self.tell(iterations, residual, map);
                if residual < ROUNDING || map.settles && residual < TOLERANCE {
                    break;
                }
                let Some((next, size)) =
                    self.damped(map, &point, &sizes, &system, scaled, filling)?
                else {
                    break;
                };
                point = next;
                taken += 1;
                iterations += 1;
                residual = self.residual(&point, &sizes, &system);
                self.keep(map, &point, residual, [filling, iterations as u64]);
                if size > quick * scaled {
                    break;
                }
            }
            let stands = taken == 0
                || residual > LESS * before
                || residual < ROUNDING
                || map.settles && residual < TOLERANCE;
            if stands && residual <= TOLERANCE {
                found = Some((sizes, system));
                break;
            }
            let stands_now = map.settles && residual > STANDING * before;
            stands_since = if stands_now { stands_since + 1 } else { 0 };
            if taken == 0 || stands_since == PATIENCE {
                let failure = self.failure(map, &point, &sizes, &system, rest, iterations);
                return Err(failure.into());
            }
            found = Some((sizes, system));
        }
        let (sizes, system) = found.expect("one linearisation at least");
        if residual > TOLERANCE {
            return Err(ShootingError::NotFound {
                iterations,
                residual,
                worst: worst(map, &shares(&point, &sizes, &system)),
            }
            .into());
        }
        self.determined(map, &point, &sizes, &system, filling)?;
        Ok(self.concluded(map, point, &sizes, &system, [filling, iterations as u64])?)
    }

    fn tell(&mut self, iterations: usize, residual: f64, map: &PeriodMap<'_>) {
        (self.progress)(ShootingProgress {
            iterations,
            residual,
            steps: map.taken,
        });
    }

    /// Hands on what was reached.
    fn keep(
        &mut self,
        map: &PeriodMap<'_>,
        point: &Point,
        residual: f64,
        [filling, iterations]: [u64; 2],
    ) {
        (self.reached)(SteadyMotion {
            state: point.base.base().clone(),
            filling,
            period: map.period,
            free: point.free.clone(),
            held: point.image.held.as_slice().to_vec(),
            residual,
            worst: String::new(),
            after: residual,
            going: Going::default(),
            iterations: iterations as usize,
            steps: map.taken,
            dimension: point.base.dimension(),
            multipliers: Multipliers {
                unknown: Some("the search is not finished".into()),
                ..Multipliers::default()
            },
        });
    }

    /// What is missing of what is held, in units of small changes.
    fn missing(&self, point: &Point) -> DVector<f64> {
        let missing = self.held.iter().zip(point.image.held.iter());
        let missing = missing.map(|(held, value)| (value - held.value) / scale_of(held));
        DVector::from_vec(missing.collect())
    }

    /// The change over a period in units of small changes, but for drifts, and what is missing.
    fn measure(&self, point: &Point, sizes: &Sizes, system: &System) -> f64 {
        let change = point.image.change.component_div(&sizes.changes);
        let missing = self.missing(point).norm();
        system.without_drift(&change).norm().hypot(missing)
    }

    /// The most that changes, relative to the state.
    fn residual(&self, point: &Point, sizes: &Sizes, system: &System) -> f64 {
        let shares = shares(point, sizes, system);
        let missing = self.missing(point) * PROBE;
        shares.amax().max(missing.amax())
    }

    /// The equations about a point, and the share of what is wrong that they cannot take away. Nothing where too much lasts for
    /// longer than a stride.
    fn linearised(
        &mut self,
        map: &mut PeriodMap<'_>,
        point: &Point,
        sizes: &Sizes,
        filling: u64,
    ) -> Result<Option<(System, f64)>, ShootingError> {
        let influence = self.influence(map, point, sizes, filling)?;
        let change = point.image.change.component_div(&sizes.changes);
        let missing = self.missing(point);
        let tangent = match map.settles {
            false => Some(Tangent::whole(
                map,
                &point.base,
                sizes,
                DIFFERENCE,
                &Quotient::default(),
            )?),
            true => {
                let starts = std::iter::once(change.clone())
                    .chain(influence.change.column_iter().map(|c| c.into_owned()))
                    .collect();
                let most = match self.period.is_some() || map.period >= STRIDES[STRIDES.len() - 1] {
                    true => LASTING_AT_ALL,
                    false => LASTING_MOST,
                };
                Tangent::lasting(
                    map,
                    &point.base,
                    sizes,
                    starts,
                    1.0,
                    most,
                    &Quotient::default(),
                )?
            }
        };
        let Some(mut tangent) = tangent else {
            return Ok(None);
        };
        for (mut row, held) in tangent.held.row_iter_mut().zip(&self.held) {
            row /= scale_of(held);
        }
        let system = match map.settles {
            true => System::settled(&tangent, &influence, self.drifting),
            false => System::new(&tangent, &influence, self.drifting),
        };
        let system = system.ok_or(AnalysisError::NoEigenvalues)?;
        let size = system.without_drift(&change).norm().hypot(missing.norm());
        let rest = system.step(&change, &missing).rest / size.max(f64::MIN_POSITIVE);
        Ok(Some((system, rest)))
    }

    /// What the free parameters do, by differences of simulations that are made anew.
    fn influence(
        &mut self,
        map: &mut PeriodMap<'_>,
        point: &Point,
        sizes: &Sizes,
        filling: u64,
    ) -> Result<Influence, ShootingError> {
        let (n, q) = (point.base.dimension(), self.free.len());
        let mut influence = Influence {
            change: DMatrix::zeros(n, q),
            held: DMatrix::zeros(self.held.len(), q),
        };
        let still = vec![0.0; n];
        for column in 0..q {
            let size = self.parameter_size(column, point);
            let mut ends = Vec::with_capacity(2);
            for sign in [1.0, -1.0] {
                let mut free = point.free.clone();
                free[column] += sign * size;
                let mut other = map.with(self.ready(&free, filling)?);
                ends.push(other.point(&point.base, &still)?.1);
                map.taken += other.taken;
            }
            let [up, down] = [&ends[0], &ends[1]];
            let change = (&up.change - &down.change) * 0.5;
            influence
                .change
                .set_column(column, &change.component_div(&sizes.changes));
            for (row, held) in self.held.iter().enumerate() {
                let change = 0.5 * (up.held[row] - down.held[row]);
                influence.held[(row, column)] = change / scale_of(held);
            }
        }
        Ok(influence)
    }

    /// A small change of a parameter.
    fn parameter_size(&self, column: usize, point: &Point) -> f64 {
        let largest = point.free[column].abs().max(self.free[column].value.abs());
        PROBE * if largest > 0.0 { largest } else { 1.0 }
    }

    /// The point after a step as long as makes things better, and how far from a steady motion it is; nothing where
    /// none does.
    fn damped(
        &mut self,
        map: &mut PeriodMap<'_>,
        point: &Point,
        sizes: &Sizes,
        system: &System,
        scaled: f64,
        filling: u64,
    ) -> Result<Option<(Point, f64)>, ShootingError> {
        let change = point.image.change.component_div(&sizes.changes);
        let step = system.step(&change, &self.missing(point));
        let angles = step
            .change
            .iter()
            .zip(sizes.changes.iter())
            .zip(&sizes.kinds);
        let turn = angles
            .filter(|(_, kind)| **kind == Kind::Angle)
            .map(|((change, size), _)| (change * size).abs())
            .fold(0.0, f64::max);
        let mut share = (FARTHEST / turn).min(1.0);
        for _ in 0..HALVINGS {
            let change = step.change.component_mul(&sizes.changes) * share;
            let free: Vec<f64> = (0..point.free.len())
                .map(|column| {
                    let size = self.parameter_size(column, point);
                    point.free[column] + share * size * step.parameters[column]
                })
                .collect();
            match self.moved(map, point, &change, free, filling) {
                Ok(next) => {
                    let size = self.measure(&next, sizes, system);
                    if size < LESS * scaled {
                        return Ok(Some((next, size)));
                    }
                }
                // A state that a part cannot follow, or a value that a model does not take, is too far.
                Err(AnalysisError::Fault(_) | AnalysisError::NotBuilt(_)) => {}
                Err(error) => return Err(error.into()),
            }
            share *= 0.5;
        }
        self.back(map, &point.free, filling)?;
        Ok(None)
    }

    /// Another point, and where a period leads from there.
    fn moved(
        &mut self,
        map: &mut PeriodMap<'_>,
        point: &Point,
        change: &DVector<f64>,
        free: Vec<f64>,
        filling: u64,
    ) -> Result<Point, AnalysisError> {
        if !free.is_empty() {
            map.simulation = self.ready(&free, filling)?;
        }
        let (base, image) = map.point(&point.base, change.as_slice())?;
        Ok(Point { base, free, image })
    }

    /// The simulation has these parameters again.
    fn back(
        &mut self,
        map: &mut PeriodMap<'_>,
        free: &[f64],
        filling: u64,
    ) -> Result<(), AnalysisError> {
        if !free.is_empty() {
            map.simulation = self.ready(free, filling)?;
        }
        Ok(())
    }

    /// An error if parameters are left open that the same equations without them do not leave open.
    fn determined(
        &mut self,
        map: &mut PeriodMap<'_>,
        point: &Point,
        sizes: &Sizes,
        system: &System,
        filling: u64,
    ) -> Result<(), ShootingError> {
        if self.free.is_empty() {
            return Ok(());
        }
        let free = std::mem::take(&mut self.free);
        let without = self.linearised(map, point, sizes, filling);
        self.free = free;
        let Some((without, _)) = without? else {
            return Ok(());
        };
        let count = system.open().saturating_sub(without.open());
        match count {
            0 => Ok(()),
            _ => Err(ShootingError::Open {
                count,
                names: names(self.free.iter().map(|free| &free.name)),
            }),
        }
    }

    /// Why there is no way on.
    fn failure(
        &self,
        map: &mut PeriodMap<'_>,
        point: &Point,
        sizes: &Sizes,
        system: &System,
        rest: f64,
        iterations: usize,
    ) -> ShootingError {
        let shares = shares(point, sizes, system);
        let residual = shares.amax();
        if !self.held.is_empty()
            && rest > STUBBORN
            && self.missing(point).amax() * PROBE > TOLERANCE
        {
            let missing = self.held.iter().zip(point.image.held.iter());
            let missing = missing.map(|(held, value)| format!("{:.3e}", held.value - value));
            return ShootingError::NotHeld {
                names: names(self.held.iter().map(|held| &held.name)),
                missing: missing.collect::<Vec<_>>().join(", "),
                residual,
            };
        }
        ShootingError::NotFound {
            iterations,
            residual,
            worst: worst(map, &shares),
        }
    }

    fn concluded(
        &mut self,
        map: &mut PeriodMap<'_>,
        point: Point,
        sizes: &Sizes,
        system: &System,
        [filling, iterations]: [u64; 2],
    ) -> Result<SteadyMotion, ShootingError> {
        let shares = shares(&point, sizes, system);
        let residual = self.residual(&point, sizes, system);
        let worst = worst(map, &shares);
        let duration = map.period as f64 * map.simulation.schedule().step;
        let motion = &point.image.motion;
        point.base.base().restore(&mut map.simulation);
        let poses = Poses::of(&mut map.simulation);
        let place = map.frame.place(&poses).unwrap_or_default();
        // Over a period a wheel may turn many times.
        let pattern = map.simulation.period();
        map.simulation.steps(pattern).map_err(AnalysisError::from)?;
        let soon = Poses::of(&mut map.simulation);
        let spun = map.frame.between(&poses, &soon).spun();
        let going = Going {
            velocity: motion.rate_of(place).map(|rate| rate / duration),
            turning: motion.turned().map(|turned| turned / duration),
            spin: spun / (pattern as f64 * map.simulation.schedule().step),
            drifts: system.drifts(),
        };
        let next = map.next(point.base.base())?;
        let image = map.image(&next, &vec![0.0; next.dimension()])?;
        let (held, free) = (point.image.held.as_slice().to_vec(), point.free.clone());
        let later = Point {
            base: next,
            free: point.free,
            image,
        };
        let after = self.residual(&later, sizes, system);
        if after > LASTING.max(MUCH * residual) {
            let span = if self.period.is_some() {
                "a period"
            } else {
                "some steps"
            };
            let worst = self::worst(map, &self::shares(&later, sizes, system));
            return Err(ShootingError::NotLasting { span, after, worst });
        }
        let multipliers = Multipliers::of(map, &point.base, sizes)?;
        Ok(SteadyMotion {
            state: point.base.base().clone(),
            filling,
            period: map.period,
            free,
            held,
            residual,
            worst,
            after,
            going,
            iterations: iterations as usize,
            steps: map.taken,
            dimension: point.base.dimension(),
            multipliers,
        })
    }
}

/// A small change of what is held.
fn scale_of(held: &Held) -> f64 {
    PROBE
        * if held.value == 0.0 {
            1.0
        } else {
            held.value.abs()
        }
}

/// What changes of each coordinate over a period, but for drifts, relative to the state.
fn shares(point: &Point, sizes: &Sizes, system: &System) -> DVector<f64> {
    let change = point.image.change.component_div(&sizes.changes);
    let mut shares = system
        .without_drift(&change)
        .component_mul(&sizes.changes)
        .component_div(&sizes.magnitudes);
    // Accelerations and forces follow from the motion, and have its rounding divided by the step.
    for (share, kind) in shares.iter_mut().zip(&sizes.kinds) {
        if *kind == Kind::Consequence {
            *share = 0.0;
        }
    }
    shares
}

/// The part that the largest of these belongs to.
fn worst(map: &mut PeriodMap<'_>, shares: &DVector<f64>) -> String {
    let place = shares.iamax();
    let mut end = 0;
    let counts = map.simulation.coordinate_counts();
    let owner = counts.into_iter().find(|(_, count)| {
        end += count;
        place < end
    });
    owner.map_or_else(String::new, |(name, _)| name)
}

fn names<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
