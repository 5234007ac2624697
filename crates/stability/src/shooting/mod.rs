//! Steady motions by shooting with the engine's own steps.
//!
//! After a period the state must be the one that it was: exactly, or but for a rigid motion (a car in a turn), spins of
//! what is round (its wheels) and drifts along directions in which nothing resists (an angle that is only
//! counted). Nothing is asked of a model but that its state can be saved, changed and restored: what is found
//! is a steady motion of the run itself, cut, iterated or sampled as it may be.

mod frame;
mod map;
mod multipliers;
mod newton;
mod quotient;
mod symmetry;
mod system;
mod tangent;

use std::time::Duration;

use oldham_cosim::{Cancel, Fault, Simulation, Snapshot};

pub use multipliers::{Multiplier, Multipliers};
pub use newton::TOLERANCE;

use crate::recurrence::AnalysisError;

/// A quantity that is to have a value, as its mean over a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// What it is called.
    pub name: String,
    /// Its place among the columns of the simulation.
    pub column: usize,
    /// The value.
    pub value: f64,
}

/// A parameter that is found with the motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Free {
    /// What it is called.
    pub name: String,
    /// Where the search begins.
    pub value: f64,
}

/// Makes a simulation that has not begun, for values of the free parameters and so many macro steps before the
/// instant at which the motion is wanted.
pub type Maker<'a> = Box<dyn FnMut(&[f64], u64) -> Result<Simulation, AnalysisError> + 'a>;

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShootingProgress {
    /// Steps of Newton's method.
    pub iterations: usize,
    /// What changes over a period that should not, relative to the state.
    pub residual: f64,
    /// Macro steps that were taken.
    pub steps: u64,
}

/// A search for a steady motion.
pub struct Shooting<'a> {
    /// Makes simulations.
    pub make: Maker<'a>,
    /// What is held.
    pub held: Vec<Held>,
    /// What is found besides.
    pub free: Vec<Free>,
    /// Macro steps of the period; without one, what should be constant is constant from step to step.
    pub period: Option<u64>,
    /// Whether it may drift along directions in which nothing resists. A motion whose own period is unknown may not:
    /// along itself nothing resists.
    pub drifting: bool,
    /// Macro steps that are run before the search begins, at least.
    pub settling: u64,
    /// Where the search begins instead: a state, and so many macro steps after the start.
    pub initial: Option<(Snapshot, u64)>,
    /// How long it may take.
    pub granted: Option<Duration>,
    /// Is told how far it is.
    pub progress: Box<dyn FnMut(ShootingProgress) + 'a>,
    /// Is handed what was reached, from which another search can go on.
    pub reached: Box<dyn FnMut(SteadyMotion) + 'a>,
    /// Ends it.
    pub cancel: Option<Cancel>,
}

/// How something moves that is carried along by a steady motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Going {
    /// Velocity in m/s of a body that is carried along, over the period.
    pub velocity: [f64; 3],
    /// Angular velocity of everything in rad/s.
    pub turning: [f64; 3],
    /// Fastest spin in rad/s of anything besides.
    pub spin: f64,
    /// Directions in which nothing resists, so that where the motion begins is open.
    pub drifts: usize,
}

/// A steady motion.
#[derive(Clone, Debug)]
pub struct SteadyMotion {
    /// The state at the instant at which it was wanted.
    pub state: Snapshot,
    /// Macro steps that the state is after the start of its simulation.
    pub filling: u64,
    /// Macro steps of the period.
    pub period: u64,
    /// Values of the free parameters.
    pub free: Vec<f64>,
    /// Values of what is held.
    pub held: Vec<f64>,
    /// The most that changes over a period and should not, relative to the state.
    pub residual: f64,
    /// Of which part that is.
    pub worst: String,
    /// The same over the next period.
    pub after: f64,
    /// How it goes on.
    pub going: Going,
    /// Steps of Newton's method.
    pub iterations: usize,
    /// Macro steps that were taken.
    pub steps: u64,
    /// Coordinates of the state.
    pub dimension: usize,
    /// What becomes of small differences.
    pub multipliers: Multipliers,
}

/// Why no steady motion was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShootingError {
    /// The model cannot be stepped, saved and changed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The model fails by itself.
    #[error(
        "the model fails before it comes to a steady motion: {0}; start nearer to the motion, or hold what runs away and free a parameter that acts on it"
    )]
    Fails(Fault),
    /// Parameters that nothing determines.
    #[error(
        "{count} of the free parameters ({names}) {verb} not determined: nothing that is held depends on {them}, or too little is held; hold as many quantities as parameters are free",
        verb = if *.count == 1 { "is" } else { "are" },
        them = if *.count == 1 { "it" } else { "them" }
    )]
    Open {
        /// How many.
        count: usize,
        /// All free parameters.
        names: String,
    },
    /// What is held cannot be so.
    #[error(
        "{names} cannot be held together with a steady motion near the start: what is missing does not become smaller, whatever is done to the state and to what is free (missing {missing}, and {residual:.1e} of the state still changes over a period); free a parameter that acts on it, or hold less"
    )]
    NotHeld {
        /// What is held.
        names: String,
        /// How much is missing of each.
        missing: String,
        /// What changes over a period.
        residual: f64,
    },
    /// There was no time to find one.
    #[error(
        "no steady motion was found within {seconds:.0} s; grant the search more time, take a longer step, or start nearer to it"
    )]
    TooLong {
        /// The time that was granted.
        seconds: f64,
    },
    /// What is steady now will not be so later.
    #[error(
        "what is the same after {span} is not the same after the next one: then {after:.1e} of the state changes, most of it in `{worst}`; loads or prescribed motions that change with time leave no steady motion: start before they do, hold them by parameters, or give their period"
    )]
    NotLasting {
        /// A step or a period.
        span: &'static str,
        /// What changes over the next one, relative to the state.
        after: f64,
        /// The part in which that is.
        worst: String,
    },
    /// Too much of the state remembers a period for longer than that.
    #[error(
        "no steady motion was found: more than {most} motions of the model last for longer than the period; damp what vibrates, or trim a coarser model"
    )]
    TooMany {
        /// Motions that were followed.
        most: usize,
    },
    /// Newton's method does not find one.
    #[error(
        "no steady motion was found near the start: after {iterations} Newton steps {residual:.1e} of the state still changes over a period, most of it in `{worst}`; start nearer to it, run longer before (`settling_time`), or give the period if it vibrates"
    )]
    NotFound {
        /// Steps of Newton's method.
        iterations: usize,
        /// What changes over a period, relative to the state.
        residual: f64,
        /// The part in which that is.
        worst: String,
    },
}

impl ShootingError {
    /// Whether it was ended, and what was reached is to be kept.
    pub fn is_unfinished(&self) -> bool {
        matches!(
            self,
            Self::TooLong { .. }
                | Self::Analysis(AnalysisError::Interrupted | AnalysisError::TooLong { .. })
        )
    }

    /// Whether another way of looking for it may find it.
    fn may_be_found_otherwise(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. } | Self::NotHeld { .. } | Self::Analysis(AnalysisError::Fault(_))
        )
    }
}
