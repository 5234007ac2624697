//! Stability of coupled linear parts of any size, in the frequency domain of the discrete system.
//!
//! A mode of the coupled step grows where the determinant of the whole system, a function of the
//! delay w = 1/z, is zero inside the unit circle ([`coupled`]). The zeros are counted by the argument
//! principle ([`roots`]), and those near the circle are found ([`muller`]) and divided out ([`rest`]);
//! the innermost ones, which grow fastest, on smaller circles ([`search`]).
//! One evaluation is one banded factorisation ([`band`], [`elimination`]). The matrices are those that the parts
//! assemble in a run, at the state of the run; the filters between them are read off the running
//! predictors.

mod band;
mod coupled;
mod elimination;
mod muller;
mod operator;
mod rest;
mod roots;
mod search;
mod turned;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use nalgebra::Complex;
use oldham_cosim::{SequenceLink, Simulation, SubsystemId};

use crate::spectrum::{ALIKE, SAME_GROWTH, SIDEWAYS};
use crate::spread::spread;
use crate::turn_and_speed::TurnAndSpeed;

use coupled::{Coupled, Exchange};
use rest::{Rest, Zero};
use roots::{Found, Function, Unresolved};

type C = Complex<f64>;

/// Growth per macro step below which a coupling counts as stable.
pub(crate) const THRESHOLD: f64 = 1e-6;

/// Growth that is rounding.
const ROUNDING: f64 = 1e-10;

/// Zeros nearer than this may be one that rounding has split.
const SPLIT: f64 = 2e-7;

/// Zeros that are found again with other rounding, how far aside that begins at least, and how far
/// they may be off for each distance between the two.
const EXAMINED: usize = 12;
const NARROWEST: f64 = 1e-9;
const CAUTION: f64 = 3.0;
/// The same for the distance to the next step, which is a measure to first order.
const UNSTEADY: f64 = 1.5;
/// How far aside of a guess the search for a zero begins, in terms of its distance from one.
const ASIDE: f64 = 0.1;
/// Radius about one within which nothing but angle and speed may be, in terms of their distance from it.
const ABOUT: f64 = 2.0;

/// The circle inside of which a mode grows so fast that it decides alone, by 5 % in a step.
const FAST: f64 = 0.95;

/// Modes of the monolithic step near one of the coupled step that are looked at for its partner.
const PARTNERS: usize = 3;
/// Square of the cosine between shapes that are the same.
const SAME_SHAPE: f64 = 0.8;

/// What the frequency domain says about a coupled step.
#[derive(Clone, Debug)]
pub struct FrequencyVerdict {
    /// Eigenvalues z per macro step near or outside the unit circle, with nonnegative imaginary
    /// part, the largest first, each with its error. Where some grow fast, the fastest alone.
    pub modes: Vec<(C, f64)>,
    /// Number of modes that grow by more than the threshold; where some grow fast, of those alone.
    pub growing: usize,
    /// How many of these eigenvalues are not among the modes: they were counted, not looked for.
    pub unlisted: usize,
    /// For the first modes, those that certainly grow: whether the monolithic step has the same; then it is
    /// physics, not the coupling.
    pub physical: Vec<bool>,
    /// Index of the connection that carries most of the dominant mode, if one grows.
    pub connection: Option<(SubsystemId, SubsystemId)>,
    /// Determinants evaluated.
    pub evaluations: usize,
    /// Unknowns of all parts together.
    pub unknowns: usize,
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoVerdict {
    /// The determinant has a feature that could not be resolved.
    #[error("the determinant of the coupled step could not be followed near {0:.6} rad per step")]
    Rough(f64),
    /// The count is NaN.
    #[error("the modes that grow could not be counted")]
    Count,
    /// Modes grow, but none of them was found.
    #[error("modes grow, but it could not be found which")]
    Lost,
    /// Out of time.
    #[error("the analysis takes longer than it was given")]
    TooLong,
}

/// What rotates steadily, and how its coefficients stand still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rotation {
    /// Nothing.
    None,
    /// Everything, by a rotation vector in a step: in axes that turn along.
    OfAll([f64; 3]),
    /// Round parts, each about its own axis: in axes that stand still.
    OfEach,
}

/// The coupled step in the frequency domain. Nothing where the macro step is not of that kind:
/// several rates, implicit coupling, parts that are not linear multistep integrations of matrices.
#[derive(Clone)]
pub struct FrequencyAnalysis {
    coupled: Arc<Coupled>,
    /// That of the next step, or of the last one, where the coefficients of a step are not quite those of the next.
    neighbour: Option<Arc<Coupled>>,
}

impl FrequencyAnalysis {
    /// About the present state of a simulation, whose histories must be filled.
    pub fn of(simulation: &mut Simulation) -> Option<Self> {
        Self::of_rotating(simulation, Rotation::None)
    }

    /// The same where something rotates steadily.
    pub fn of_rotating(simulation: &mut Simulation, rotation: Rotation) -> Option<Self> {
        let turn = match rotation {
            Rotation::OfAll(turn) => Some(turn),
            Rotation::None | Rotation::OfEach => None,
        };
        let links = simulation.turning_sequence_links(turn)?;
        let step = simulation.schedule().step;
        let count = simulation.names().count();
        let models: Option<Vec<_>> = (0..count)
            .map(|unit| simulation.sequence_model(SubsystemId(unit)).ok()?)
            .collect();
        let coupled = Coupled::new(models?, links, step, rotation)?;
        Some(Self {
            coupled: Arc::new(coupled),
            neighbour: None,
        })
    }

    /// With a neighbouring step, the next one where there is one: zeros are known no better than they are the same there.
    pub fn beside(mut self, neighbour: Self) -> Self {
        self.neighbour = Some(neighbour.coupled);
        self
    }

    /// Looks for modes that grow, on this many threads and for this long. Far inside the circle the
    /// determinant is smooth, however many modes are hardly damped: modes that grow fast are looked
    /// for there first, and decide alone.
    pub fn verdict(
        &self,
        threads: usize,
        time_limit: Option<Duration>,
    ) -> Result<FrequencyVerdict, NoVerdict> {
        let started = Instant::now();
        let goes_on = || time_limit.is_none_or(|time_limit| started.elapsed() < time_limit);
        let log = |w: C| self.coupled.log_determinant(w, Exchange::AsRun);
        let function = Function {
            log: &log,
            evaluations: AtomicUsize::new(0),
            threads,
        };
        let fast = match function.fastest(FAST, &goes_on) {
            Err(Unresolved::TooLong) => return Err(NoVerdict::TooLong),
            fast => fast.ok().filter(|fast| {
                let innermost = fast.zeros.first();
                innermost.is_some_and(|zero| !self.grows_alone(zero))
            }),
        };
        let (radius, found) = match fast {
            Some(fast) => (FAST, fast),
            None => {
                let radius = 1.0 - THRESHOLD;
                let found = function.innermost_first(radius, &goes_on);
                (radius, found.map_err(no_verdict)?)
            }
        };
        let Found {
            mut zeros,
            mut inside,
        } = found;
        if zeros.is_empty() && inside == 0 {
            zeros.extend(self.outward(&function, &goes_on));
        }
        let apart = match self.coupled.turns_as_a_whole() {
            true => set_apart(&function, &mut zeros, &mut inside, radius),
            false => None,
        };
        widen_clusters(&mut zeros);
        let otherwise = |w: C| self.coupled.log_determinant_rounded_otherwise(w);
        let rounding = moved(&otherwise, &zeros, threads);
        // What is near rest does not change by itself from step to step, unless something carries it away.
        let lasts = |zero: &Zero| !self.coupled.turns_as_a_whole() && zero.at.norm() > FAST;
        let neighbour = self.neighbour.as_ref();
        let neighbour = neighbour.filter(|_| !zeros.iter().all(lasts));
        let unsteady = neighbour.map(|neighbour| {
            let log = |w: C| neighbour.log_determinant(w, Exchange::AsRun);
            moved(&log, &zeros, threads)
        });
        for (place, zero) in zeros.iter_mut().enumerate() {
            // How far these are off is known already.
            if apart.is_some_and(|apart| apart.contains(&zero.at)) {
                continue;
            }
            let of = |moved: &[f64]| moved.get(place).copied().unwrap_or(0.0);
            let unsteady = unsteady.as_deref().filter(|_| !lasts(zero));
            let rounding = (CAUTION * of(&rounding)).max(zero.error);
            zero.error = rounding + UNSTEADY * unsteady.map_or(0.0, of);
        }
        let growing: Vec<&Zero> = zeros
            .iter()
            .filter(|zero| zero.at.norm() < radius)
            .collect();
        let listed: usize = growing.iter().map(|zero| zero.multiplicity()).sum();
        if inside > 0 && growing.is_empty() {
            return Err(NoVerdict::Lost);
        }
        let certain = zeros
            .iter()
            .take_while(|zero| zero.at.norm() + zero.error.max(ROUNDING) < 1.0)
            .count();
        Ok(FrequencyVerdict {
            modes: zeros
                .iter()
                .map(|zero| eigenvalue(zero.at, zero.error))
                .collect(),
            growing: inside,
            unlisted: inside.saturating_sub(listed),
            physical: spread(&zeros[..certain], threads, |zero| self.grows_alone(zero)),
            connection: growing.first().and_then(|zero| self.busiest(zero.at)),
            evaluations: function.evaluations.into_inner(),
            unknowns: self.coupled.unknowns(),
        })
    }

    /// Zeros beyond the circle where none is near it: the dominant mode decays fast.
    fn outward(&self, function: &Function<'_>, goes_on: &dyn Fn() -> bool) -> Vec<Zero> {
        for radius in [1.02, 1.05, 1.1, 1.2, 1.4, 1.8, 2.5, 4.0] {
            match function.zeros_within(radius, goes_on) {
                Ok(found) if found.zeros.is_empty() => {}
                Ok(found) => return found.zeros,
                Err(_) => return Vec::new(),
            }
        }
        Vec::new()
    }

    /// Whether the monolithic step has this growing mode, too: it is looked for there, and must be found with
    /// the same growth, frequency and shape.
    fn grows_alone(&self, zero: &Zero) -> bool {
        let log = |w: C| self.coupled.log_determinant(w, Exchange::Monolithic);
        let function = Function {
            log: &log,
            evaluations: AtomicUsize::new(0),
            threads: 1,
        };
        let spread = 1e-4 * (1.0 - zero.at.norm()).max(1e-4);
        let points = [zero.at * (1.0 + spread), zero.at * (1.0 - spread), zero.at];
        let values = points.map(log);
        let mut others = Rest::default();
        for _ in 0..PARTNERS {
            let Some(alone) = function.muller(points, values, &others) else {
                return false;
            };
            if is_alike(&alone, zero) {
                return self.looks_alike(&alone, zero);
            }
            others.zeros.push(alone);
        }
        false
    }

    /// Whether a mode of the monolithic step moves as one of the coupled step does.
    fn looks_alike(&self, alone: &Zero, coupled: &Zero) -> bool {
        let [alone, coupled] = [(alone, Exchange::Monolithic), (coupled, Exchange::AsRun)]
            .map(|(zero, exchange)| self.coupled.shape(zero.at, exchange));
        let both = alone.iter().zip(&coupled);
        let product: C = both.map(|(a, b)| a.conj() * b).sum();
        let square = |shape: &[C]| shape.iter().map(C::norm_sqr).sum::<f64>();
        product.norm_sqr() > SAME_SHAPE * square(&alone) * square(&coupled)
    }

    fn busiest(&self, w: C) -> Option<(SubsystemId, SubsystemId)> {
        let traffic = self.coupled.traffic(w);
        let links = self.coupled.links().zip(traffic);
        let busiest = links.max_by(|(one, a), (other, b)| {
            let of_motion = |link: &SequenceLink| link.taps.iter().any(|tap| tap[0][1] != 0.0);
            let order = of_motion(one).cmp(&of_motion(other));
            order.then(a.total_cmp(b))
        });
        busiest.map(|(link, _)| (link.from.0, link.to.0))
    }
}

/// Sets angle and speed of a rotor apart, among the zeros and among those inside the radius: where they are then.
fn set_apart(
    function: &Function<'_>,
    zeros: &mut Vec<Zero>,
    inside: &mut usize,
    radius: f64,
) -> Option<[C; 2]> {
    let values: Vec<C> = zeros.iter().map(|zero| zero.at).collect();
    // What decays is not looked for otherwise.
    let ask = |guess: C| {
        let rest = Rest {
            zeros: zeros.clone(),
        };
        let aside = ASIDE * (guess - 1.0);
        let points = [guess + aside, guess - aside, guess];
        let found = function.approach(points, points.map(|w| function.at(w)), &rest)?;
        (found.at.im.abs() < NARROWEST).then_some(found.at)
    };
    let both = TurnAndSpeed::among(&values, ask)?;
    // A mode that grows and its mirror look alike, beside angle and speed that are at one and not listed.
    let about = function.count_about(C::from(1.0), ABOUT * both.apart, &Rest::default());
    if about.round() != 2.0 {
        return None;
    }
    let within = |zero: &Zero| zero.at.norm() < radius;
    let found: Vec<Zero> = both.places.iter().map(|&place| zeros[place]).collect();
    let met = found.iter().filter(|zero| within(zero));
    *inside -= met.map(Zero::multiplicity).sum::<usize>().min(*inside);
    zeros.retain(|zero| !found.contains(zero));
    let errors: f64 = found.iter().map(|zero| zero.error).sum();
    let speed = Zero {
        at: both.speed,
        error: both.off + errors,
    };
    let angle = Zero {
        at: C::from(1.0),
        error: ROUNDING,
    };
    zeros.push(angle);
    // That of the speed where it grows by more than it may be off.
    if speed.at.norm() + speed.error < 1.0 {
        *inside += usize::from(within(&speed));
        zeros.push(speed);
    }
    zeros.sort_by(|a, b| a.at.norm().total_cmp(&b.at.norm()));
    Some([angle.at, speed.at])
}

/// How far the innermost zeros move when a determinant is replaced by another one that should have the same: what rounds
/// otherwise, or is that of the next step. Several free motions at one place are moved far. Nothing where one is not
/// found again.
fn moved(log: &(dyn Fn(C) -> C + Sync), zeros: &[Zero], threads: usize) -> Vec<f64> {
    let function = Function {
        log,
        evaluations: AtomicUsize::new(0),
        threads: 1,
    };
    let examined: Vec<usize> = (0..zeros.len().min(EXAMINED)).collect();
    spread(&examined, threads, |&place| {
        let zero = zeros[place];
        let mut others = zeros.to_vec();
        others.swap_remove(place);
        let rest = Rest { zeros: others };
        let aside = C::from((10.0 * zero.error).max(NARROWEST));
        let points = [zero.at + aside, zero.at - aside, zero.at];
        let again = function.approach(points, points.map(log), &rest)?;
        // A mode without damping changes its frequency before its radius.
        let moved = SIDEWAYS * (again.at - zero.at).norm();
        let grown = (again.at.norm() - zero.at.norm()).abs();
        Some(grown.max(moved))
    })
    .into_iter()
    .map(|moved| moved.unwrap_or(0.0))
    .collect()
}

/// Whether two modes have the same growth and the same frequency.
fn is_alike(alone: &Zero, coupled: &Zero) -> bool {
    let [own, pole] = [alone, coupled].map(|zero| -zero.at.ln());
    let errors = alone.error / alone.at.norm() + coupled.error / coupled.at.norm();
    (own - pole).norm() <= ALIKE * pole.norm() + errors
        && (own.re - pole.re).abs() <= SAME_GROWTH * pole.re.abs() + errors
}

fn no_verdict(unresolved: Unresolved) -> NoVerdict {
    match unresolved {
        Unresolved::At(angle) => NoVerdict::Rough(angle),
        Unresolved::Phase(_) => NoVerdict::Count,
        Unresolved::TooLong => NoVerdict::TooLong,
    }
}

/// Rounding splits a double zero, that of a free motion say, by about the root of the rounding: as far
/// as two zeros are apart that may be one, each may be off.
fn widen_clusters(zeros: &mut [Zero]) {
    let places: Vec<C> = zeros.iter().map(|zero| zero.at).collect();
    for (index, zero) in zeros.iter_mut().enumerate() {
        let others = places
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != index);
        let pair = (zero.at.im > 0.0).then_some(2.0 * zero.at.im);
        let apart = others
            .map(|(_, other)| (other - zero.at).norm())
            .chain(pair)
            .filter(|apart| *apart < SPLIT)
            .fold(0.0, f64::max);
        zero.error = zero.error.max(apart);
    }
}

/// The eigenvalue per step that belongs to a zero, with its error.
fn eigenvalue(at: C, error: f64) -> (C, f64) {
    let z = at.inv();
    (C::new(z.re, z.im.abs()), error * z.norm_sqr())
}
