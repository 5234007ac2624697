//! What springs, rods and bushings do along one direction.

use super::{At, References};
use crate::drive::{Drive, interpolate};
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
    /// Any function of elongation, rate and time.
    Function(TensionFunction),
}

/// Tension, and its derivatives by elongation and by rate.
type Differentiated = dyn Fn(f64, f64, f64) -> [f64; 3] + Send + Sync;

/// Tension as a function of elongation, rate and time.
#[derive(Clone)]
pub struct TensionFunction {
    tension: Arc<dyn Fn(f64, f64, f64) -> f64 + Send + Sync>,
    /// With exact derivatives, if they are known.
    differentiated: Option<Arc<Differentiated>>,
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

/// Positive nodes and weights of the Gauss–Legendre rule of eight points on (-1, 1).
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

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

    /// Work to stretch it slowly from zero.
    fn potential(&self, elongation: f64, time: f64) -> f64 {
        // With u² for the fraction of the way, roots at the origin stay smooth.
        let at = |u: f64| (self.tension)(elongation * u * u, 0.0, time) * 2.0 * elongation * u;
        let pair = |&(node, weight): &(f64, f64)| {
            let half = 0.5 * node;
            0.5 * weight * (at(0.5 - half) + at(0.5 + half))
        };
        GAUSS.iter().map(pair).sum()
    }
}

impl Law {
    /// Any function of elongation, rate and time. Its derivatives are differences; in the balance
    /// of energy it stores what a slow motion from zero would, and what the rate adds is lost.
    pub fn function(f: impl Fn(f64, f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::Function(TensionFunction {
            tension: Arc::new(f),
            differentiated: None,
        })
    }

    /// The same with its derivatives: `differentiated` gives the tension and its derivatives by
    /// elongation and by rate.
    pub fn differentiable(
        tension: impl Fn(f64, f64, f64) -> f64 + Send + Sync + 'static,
        differentiated: impl Fn(f64, f64, f64) -> [f64; 3] + Send + Sync + 'static,
    ) -> Self {
        Self::Function(TensionFunction {
            tension: Arc::new(tension),
            differentiated: Some(Arc::new(differentiated)),
        })
    }

    /// Shows the input that it follows, if it follows one.
    pub(super) fn refer(&mut self, references: &mut dyn References) {
        match self {
            Self::Prescribed(drive) => drive.refer(references),
            Self::Thrust { input, .. } => references.input(input),
            _ => {}
        }
    }

    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Viscoelastic { branches, .. } => 1 + branches.len(),
            _ => 0,
        }
    }

    /// Tension of a branch whose elongation has grown steadily, and its derivative by that. What is
    /// remembered are the elongation, then the tensions of the branches.
    pub(super) fn branch(
        (stiffness, time): (f64, f64),
        before: f64,
        growth: f64,
        elapsed: f64,
    ) -> (f64, f64) {
        if elapsed == 0.0 {
            return (before, 0.0);
        }
        let x = elapsed / time;
        let slope = stiffness * -(-x).exp_m1() / x;
        (before * (-x).exp() + slope * growth, slope)
    }

    /// Tension, and its derivatives by elongation and rate.
    pub(super) fn evaluate(&self, elongation: f64, rate: f64, at: &At<'_>) -> (f64, f64, f64) {
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

    pub(super) fn stored(&self, elongation: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Linear { stiffness, .. } | Self::Viscoelastic { stiffness, .. } => {
                0.5 * stiffness * elongation * elongation
            }
            Self::Table { points, .. } => area(points, elongation) - area(points, 0.0),
            Self::Function(function) => function.potential(elongation, at.time),
            Self::Prescribed(_) | Self::Thrust { .. } => 0.0,
        }
    }

    /// Power lost, but that in viscoelastic branches.
    pub(super) fn dissipated(&self, elongation: f64, rate: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Linear { damping, .. } | Self::Table { damping, .. } => damping * rate * rate,
            Self::Function(TensionFunction { tension: f, .. }) => {
                (f(elongation, rate, at.time) - f(elongation, 0.0, at.time)) * rate
            }
            Self::Prescribed(_) | Self::Thrust { .. } | Self::Viscoelastic { .. } => 0.0,
        }
    }
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
fn area(points: &[(f64, f64)], x: f64) -> f64 {
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
