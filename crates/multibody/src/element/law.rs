//! What springs, rods and bushings do along one direction.

use super::{At, Hysteresis, References};
use crate::drive::{Drive, interpolate};
use crate::kinks::mixed;
use std::fmt;
use std::sync::Arc;

/// Tension as a function of elongation and its rate.
#[derive(Clone, Debug)]
pub enum Law {
    /// stiffness · elongation + damping · rate.
    Linear {
        /// Stiffness.
        stiffness: f64,
        /// Damping.
        damping: f64,
    },
    /// Straight lines through (elongation, tension), and damping · rate.
    Table {
        /// Points, by rising elongation.
        points: Arc<[(f64, f64)]>,
        /// Damping.
        damping: f64,
    },
    /// A given tension: an actuator, an internal force.
    Prescribed(Drive),
    /// A push that a port receives: a factor times a component of the input vector. The engine
    /// accounts for its work, as for everything that comes through ports.
    Thrust {
        /// The component.
        input: usize,
        /// The factor: one for a force, an area for a pressure.
        factor: f64,
    },
    /// Generalised Maxwell solid: a spring, and beside it springs in series with dampers.
    Viscoelastic {
        /// Stiffness after long times.
        stiffness: f64,
        /// Stiffness and relaxation time of each branch.
        branches: Arc<[(f64, f64)]>,
    },
    /// A force that depends on the way by which it was reached.
    Hysteresis(Hysteresis),
    /// Any function of elongation, rate and time.
    Function(TensionFunction),
    /// A force law that knows its derivatives, such as a table.
    Given(Arc<dyn ForceLaw>),
    /// Another law, which only pulls: where the elongation is positive, and never pushing.
    Pulling(Box<Law>),
    /// Another law, which only pushes: where the elongation is negative, and never pulling.
    Pushing(Box<Law>),
    /// End stops: beyond them stiffness · penetration · (1 + damping · rate of penetration), after
    /// Hunt and Crossley, and never pulling.
    Stops {
        /// Where the stops are; infinite where there is none.
        lower: f64,
        /// The upper one.
        upper: f64,
        /// Stiffness.
        stiffness: f64,
        /// Damping, in s/m or s/rad.
        damping: f64,
    },
    /// A motor: pushes with a factor times a table of (rate, force).
    Motor {
        /// Points, by rising rate; constant beyond.
        points: Arc<[(f64, f64)]>,
        /// The factor, such as a throttle between -1 and 1.
        command: Drive,
    },
}

/// A force as a function of elongation and rate, with its derivatives.
pub trait ForceLaw: fmt::Debug + Send + Sync {
    /// Tension, and its derivatives by elongation and rate.
    fn force(&self, elongation: f64, rate: f64) -> [f64; 3];

    /// Work to stretch it slowly from zero.
    fn stored(&self, elongation: f64) -> f64;

    /// A number that changes where the force passes a kink or a jump.
    fn side(&self, _elongation: f64, _rate: f64) -> u64 {
        0
    }
}

/// Tension, and its derivatives by elongation and by rate.
type Differentiated = dyn Fn(f64, f64, f64) -> [f64; 3] + Send + Sync;
/// A number that changes at kinks and jumps.
type Side = dyn Fn(f64, f64, f64) -> u64 + Send + Sync;

/// Tension as a function of elongation, rate and time.
#[derive(Clone)]
pub struct TensionFunction {
    pub(super) tension: Arc<dyn Fn(f64, f64, f64) -> f64 + Send + Sync>,
    /// With exact derivatives, if they are known.
    differentiated: Option<Arc<Differentiated>>,
    /// Where it has kinks, if that is known.
    side: Option<Arc<Side>>,
}

impl fmt::Debug for TensionFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("function")
    }
}

/// Relative step of central differences: the cube root of the rounding error.
const DIFFERENCE: f64 = 6e-6;
/// Differences are relative to the argument, or to this if it is smaller.
const LEAST_ARGUMENT: f64 = 1e-3;

impl TensionFunction {
    /// Central differences; zero where the function gives NaN nearby.
    fn slope(at: f64, function: impl Fn(f64) -> f64) -> f64 {
        let step = DIFFERENCE * at.abs().max(LEAST_ARGUMENT);
        let (above, below) = (at + step, at - step);
        let slope = (function(above) - function(below)) / (above - below);
        if slope.is_finite() { slope } else { 0.0 }
    }

    /// Tension, and its derivatives by elongation and by rate; where an exact one is not finite, and
    /// where none is known, a difference.
    fn evaluate(&self, elongation: f64, rate: f64, time: f64) -> (f64, f64, f64) {
        let f = &self.tension;
        let differences = || {
            let by_length = Self::slope(elongation, |e| f(e, rate, time));
            let by_rate = Self::slope(rate, |v| f(elongation, v, time));
            (f(elongation, rate, time), by_length, by_rate)
        };
        let Some(differentiated) = &self.differentiated else {
            return differences();
        };
        let [tension, by_length, by_rate] = differentiated(elongation, rate, time);
        match by_length.is_finite() && by_rate.is_finite() {
            true => (tension, by_length, by_rate),
            false => differences(),
        }
    }
}

impl Law {
    /// Any function of elongation, rate and time. Its derivatives are differences; in the balance
    /// of energy it stores what a slow motion from zero would at time zero, the work of what time adds
    /// to it is supplied, and what the rate adds is lost.
    pub fn function(f: impl Fn(f64, f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::Function(TensionFunction {
            tension: Arc::new(f),
            differentiated: None,
            side: None,
        })
    }

    /// The same with its derivatives and its kinks: `differentiated` gives the tension and its derivatives by
    /// elongation and by rate, `side` a number that changes where the tension passes a kink or a jump.
    pub fn differentiable(
        tension: impl Fn(f64, f64, f64) -> f64 + Send + Sync + 'static,
        differentiated: impl Fn(f64, f64, f64) -> [f64; 3] + Send + Sync + 'static,
        side: impl Fn(f64, f64, f64) -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self::Function(TensionFunction {
            tension: Arc::new(tension),
            differentiated: Some(Arc::new(differentiated)),
            side: Some(Arc::new(side)),
        })
    }

    /// A given push: a motor whatever its speed.
    pub fn push(force: impl Into<Drive>) -> Self {
        Self::Motor {
            points: [(0.0, 1.0)].into(),
            command: force.into(),
        }
    }

    /// Shows the input that it follows, if it follows one.
    pub(crate) fn refer(&mut self, references: &mut dyn References) {
        match self {
            Self::Prescribed(drive) | Self::Motor { command: drive, .. } => drive.refer(references),
            Self::Pulling(law) | Self::Pushing(law) => law.refer(references),
            Self::Thrust { input, .. } => references.input(input),
            _ => {}
        }
    }

    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Viscoelastic { branches, .. } => 1 + branches.len(),
            Self::Hysteresis(_) => 2,
            _ => 0,
        }
    }

    /// Writes what it remembers of an accepted elongation.
    pub(super) fn remember(&self, elongation: f64, at: &At<'_>, memory: &mut [f64]) {
        match self {
            Self::Viscoelastic { branches, .. } => {
                let growth = elongation - at.memory[0];
                memory[0] = elongation;
                for (i, &branch) in branches.iter().enumerate() {
                    memory[1 + i] = Self::branch(branch, at.memory[1 + i], growth, at.elapsed).0;
                }
            }
            Self::Hysteresis(law) => {
                let (z, _) = law.advance(at.memory[1], elongation - at.memory[0]);
                memory.copy_from_slice(&[elongation, z]);
            }
            _ => {}
        }
    }

    /// Tension of a branch whose elongation has grown steadily, and its derivative by that. What is
    /// remembered are the elongation, then the tensions of the branches.
    fn branch((stiffness, time): (f64, f64), before: f64, growth: f64, elapsed: f64) -> (f64, f64) {
        if elapsed == 0.0 {
            return (before, 0.0);
        }
        let x = elapsed / time;
        let slope = stiffness * -(-x).exp_m1() / x;
        (before * (-x).exp() + slope * growth, slope)
    }

    /// The tension alone: for a given function much cheaper than with its derivatives.
    pub(crate) fn tension(&self, elongation: f64, rate: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Function(function) => (function.tension)(elongation, rate, at.time),
            Self::Pulling(law) if elongation > 0.0 => law.tension(elongation, rate, at).max(0.0),
            Self::Pushing(law) if elongation < 0.0 => law.tension(elongation, rate, at).min(0.0),
            Self::Pulling(_) | Self::Pushing(_) => 0.0,
            _ => self.evaluate(elongation, rate, at).0,
        }
    }

    /// Tension, and its derivatives by elongation and rate.
    pub(crate) fn evaluate(&self, elongation: f64, rate: f64, at: &At<'_>) -> (f64, f64, f64) {
        match self {
            Self::Prescribed(drive) => (drive.at(at), 0.0, 0.0),
            Self::Thrust { input, factor } => (-factor * at.inputs[*input], 0.0, 0.0),
            Self::Function(function) => function.evaluate(elongation, rate, at.time),
            Self::Viscoelastic {
                stiffness,
                branches,
            } => {
                let growth = elongation - at.memory[0];
                let (mut tension, mut by_length) = (stiffness * elongation, *stiffness);
                for (&branch, &before) in branches.iter().zip(&at.memory[1..]) {
                    let (force, slope) = Self::branch(branch, before, growth, at.elapsed);
                    tension += force;
                    by_length += slope;
                }
                (tension, by_length, 0.0)
            }
            Self::Hysteresis(law) => {
                let growth = elongation - at.memory[0];
                let mut reached = law.advance(at.memory[1], growth);
                // Before it grows, the direction is that of its rate.
                if growth == 0.0
                    && at.elapsed == 0.0
                    && let Some([slope, _]) = law.rate_slopes(reached.0, rate)
                {
                    reached.1 = slope;
                }
                let (tension, by_length) = law.tension(elongation, reached);
                (tension, by_length, 0.0)
            }
            Self::Given(law) => {
                let [tension, by_length, by_rate] = law.force(elongation, rate);
                (tension, by_length, by_rate)
            }
            Self::Pulling(law) => match law.evaluate(elongation, rate, at) {
                pulling if elongation > 0.0 && pulling.0 > 0.0 => pulling,
                _ => (0.0, 0.0, 0.0),
            },
            Self::Pushing(law) => match law.evaluate(elongation, rate, at) {
                pushing if elongation < 0.0 && pushing.0 < 0.0 => pushing,
                _ => (0.0, 0.0, 0.0),
            },
            Self::Stops {
                stiffness, damping, ..
            } => {
                let (depth, side) = self.penetration(elongation);
                let growth = 1.0 + damping * side * rate;
                if depth <= 0.0 || growth <= 0.0 {
                    return (0.0, 0.0, 0.0);
                }
                (
                    side * stiffness * depth * growth,
                    stiffness * growth,
                    stiffness * depth * damping,
                )
            }
            Self::Motor { points, command } => {
                let command = command.at(at);
                let by_rate = -command * slope(points, rate);
                (-command * interpolate(points, rate), 0.0, by_rate)
            }
            Self::Linear { stiffness, damping } => (
                stiffness * elongation + damping * rate,
                *stiffness,
                *damping,
            ),
            Self::Table { points, damping } => {
                let tension = interpolate(points, elongation) + damping * rate;
                (tension, slope(points, elongation), *damping)
            }
        }
    }

    /// A number that changes where the tension passes a kink or a jump.
    pub(crate) fn side(&self, elongation: f64, rate: f64, at: &At<'_>) -> u64 {
        match self {
            Self::Linear { .. } | Self::Thrust { .. } => 0,
            Self::Viscoelastic { .. } | Self::Hysteresis(_) => 0,
            Self::Table { points, .. } => interval(points, elongation),
            Self::Prescribed(drive) => drive.side(at),
            Self::Function(function) => {
                let side = function.side.as_ref();
                side.map_or(0, |side| side(elongation, rate, at.time))
            }
            Self::Given(law) => law.side(elongation, rate),
            Self::Pulling(law) | Self::Pushing(law) => {
                let acts = self.tension(elongation, rate, at) != 0.0;
                mixed(u64::from(acts), law.side(elongation, rate, at))
            }
            Self::Stops { .. } => match self.penetration(elongation) {
                (depth, side) if depth > 0.0 => {
                    let pushes = self.tension(elongation, rate, at) != 0.0;
                    mixed(u64::from(side > 0.0), 1 + u64::from(pushes))
                }
                _ => 0,
            },
            Self::Motor { points, command } => mixed(interval(points, rate), command.side(at)),
        }
    }

    /// How far it is beyond a stop, and which: 1 for the upper one, -1 for the lower.
    pub(super) fn penetration(&self, elongation: f64) -> (f64, f64) {
        match self {
            Self::Stops { lower, upper, .. } => match elongation > *upper {
                true => (elongation - upper, 1.0),
                false => (lower - elongation, -1.0),
            },
            _ => (0.0, 0.0),
        }
    }
}

/// Between which corners of a table.
pub(crate) fn interval(points: &[(f64, f64)], x: f64) -> u64 {
    points.partition_point(|&(p, _)| p <= x) as u64
}

fn slope(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|&(p, _)| p <= x);
    if after == 0 || after == points.len() {
        return 0.0;
    }
    let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
    (y1 - y0) / (x1 - x0)
}

/// Area under the table from its first point to x.
pub(super) fn area(points: &[(f64, f64)], x: f64) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    if x < first.0 {
        return first.1 * (x - first.0);
    }
    let mut sum = 0.0;
    for pair in points.windows(2) {
        let ((x0, y0), (x1, _)) = (pair[0], pair[1]);
        if x <= x0 {
            break;
        }
        let end = x.min(x1);
        sum += 0.5 * (y0 + interpolate(points, end)) * (end - x0);
    }
    sum + last.1 * (x - last.0).max(0.0)
}
