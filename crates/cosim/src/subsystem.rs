//! The subsystem: anything that advances in time and exchanges values at ports.

use std::any::Any;

use serde::Serialize;

use crate::abilities::{
    Accuracy, EnergyBalance, InputCorrection, InterfaceResponse, Linearisable, Remote, Replay,
    StepCorrection,
};
use crate::contact_counters::ContactCounters;
use crate::inputs::Inputs;
use crate::port::{OutputPort, Ports};
use crate::state::State;
use crate::switches::Switches;

/// A part of a co-simulation.
///
/// Order of calls: [`outputs`](Self::outputs) at the initial time, as often as the initial exchange
/// needs; then, for every macro step, [`advance`](Self::advance) and `outputs` at the time reached.
/// In an iterative schedule the state is restored between repeated advances. `outputs` may be
/// called any number of times and leaves the motion unchanged.
///
/// The three required methods make a subsystem. What else it can do are abilities, each a small
/// trait of its own; a schedule or an analysis that needs one is refused where a part lacks it.
///
/// The defaults are right for a subsystem that stands by itself. What stands around another one
/// implements [`Decorator`](crate::Decorator) instead, which hands every method through.
pub trait Subsystem: Any + Send {
    /// The ports, fixed for the life of the subsystem.
    fn ports(&self) -> &Ports;

    /// Advances the state from `from` to `to`, in as many micro steps as the subsystem likes, and
    /// says how far it came. `inputs` answers for any time within the step.
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError>;

    /// The outputs at the time reached, for a given input: direct feedthrough is explicit, and the
    /// schedule decides which input is used.
    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError>;

    /// Only some of the outputs at the time reached, the others left as they are: what they would be if
    /// these inputs held. Whoever asks so may know only what others send for the end of the coming step, so
    /// that a part which has started does not start anew with it.
    fn some_outputs(
        &mut self,
        _wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        self.outputs(t, inputs, outputs)
    }

    /// A number that changes whenever the values of an output do, for an output that seldom changes,
    /// such as a matrix: it is sent only then. Nothing for all others. That a number belongs to a
    /// port is fixed for the life of the subsystem.
    fn version(&self, _output: OutputPort) -> Option<u64> {
        None
    }

    /// An event is a discontinuity: discard the integrator's history.
    fn restart(&mut self) {}

    /// About how much work an advance is, as the number of matrix entries that it touches: parts
    /// are assigned to threads by it.
    fn work(&self) -> f64 {
        1.0
    }

    /// Work done so far.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// Advances after which what it does repeats: more than one for what is sampled more slowly than
    /// it advances. An analysis takes as many at once.
    fn pattern(&self) -> u64 {
        1
    }

    /// Tells on which side of its kinks it is at the time reached with these inputs, and what of it is
    /// at a limit or sticks: analyses look at one state of each regime, and name it. The motion is
    /// left unchanged. What has no kinks tells nothing.
    fn switches(&mut self, _t: f64, _inputs: &[f64], _found: &mut Switches) {}

    /// The complete state as a value: rollback, checkpoint, stability analysis.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// It knows its energy.
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        None
    }

    /// It can take the end of a step back.
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        None
    }

    /// It changes its inputs before they act.
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        None
    }

    /// It iterates, to an accuracy that can be set.
    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        None
    }

    /// It can be linearised.
    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        None
    }

    /// Its work is done elsewhere.
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        None
    }

    /// It has no state, but can be made anew: for analyses.
    fn replay(&mut self) -> Option<&mut dyn Replay> {
        None
    }

    /// It can tell how its interfaces answer to forces.
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        None
    }
}

/// How far an advance came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// The time reached; the engine asks again for the rest.
    pub time: f64,
    /// There was a discontinuity: histories of this motion are discarded.
    pub event: bool,
}

impl Reached {
    /// The end of the step, without an event.
    pub fn end(time: f64) -> Self {
        Self { time, event: false }
    }
}

/// Why a subsystem could not do a step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A nonlinear iteration did not converge.
    #[error(
        "Newton did not converge in {iterations} iterations: residual {residual:.3e}, worst at `{worst}`"
    )]
    NotConverged {
        /// Iterations made.
        iterations: usize,
        /// Last residual.
        residual: f64,
        /// The unknown with the largest residual.
        worst: String,
    },
    /// A matrix that must be inverted is singular.
    #[error("the system matrix is singular at `{unknown}`")]
    Singular {
        /// The unknown at whose pivot it showed.
        unknown: String,
    },
    /// A law gave NaN or infinity.
    #[error("`{law}` gives {value} at {at}")]
    NotFinite {
        /// The force law or drive.
        law: String,
        /// What it gave.
        value: f64,
        /// Its arguments.
        at: String,
    },
    /// A foreign solver reported a failure.
    #[error("{0}")]
    Foreign(String),
}

/// Work done by a subsystem since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counters {
    /// Integrator steps.
    pub micro_steps: u64,
    /// Nonlinear iterations.
    pub iterations: u64,
    /// Matrix factorisations.
    pub factorisations: u64,
    /// Iterations that were ended by rounding errors before they met their tolerance.
    pub stagnations: u64,
    /// Corrections of a step for other inputs that had to be iterated, because a single one with
    /// the factors at hand would have left more than the tolerance.
    pub refinements: u64,
    /// Steps that failed and were taken again in shorter pieces.
    pub retries: u64,
    /// Instants within steps at which a law was found to change.
    pub events: u64,
    /// Steps in which the own frame of some element was not found to full precision.
    pub unfitted: u64,
    /// How its contacts were solved, where it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contacts: Option<ContactCounters>,
}

impl Counters {
    /// To be told to another process.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let Self {
            micro_steps,
            iterations,
            factorisations,
            stagnations,
            refinements,
            retries,
            events,
            unfitted,
            contacts,
        } = *self;
        let own = [
            micro_steps,
            iterations,
            factorisations,
            stagnations,
            refinements,
            retries,
            events,
            unfitted,
            u64::from(contacts.is_some()),
        ];
        own.into_iter().chain(contacts.unwrap_or_default().words())
    }

    /// As another process has told it.
    pub(crate) fn of_words(next: &mut impl FnMut() -> u64) -> Self {
        Self {
            micro_steps: next(),
            iterations: next(),
            factorisations: next(),
            stagnations: next(),
            refinements: next(),
            retries: next(),
            events: next(),
            unfitted: next(),
            contacts: {
                let has_contacts = next() == 1;
                let told = ContactCounters::of_words(next);
                has_contacts.then_some(told)
            },
        }
    }
}

impl std::ops::Add for Counters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            micro_steps: self.micro_steps + other.micro_steps,
            iterations: self.iterations + other.iterations,
            factorisations: self.factorisations + other.factorisations,
            stagnations: self.stagnations + other.stagnations,
            refinements: self.refinements + other.refinements,
            retries: self.retries + other.retries,
            events: self.events + other.events,
            unfitted: self.unfitted + other.unfitted,
            contacts: match (self.contacts, other.contacts) {
                (Some(one), Some(two)) => Some(one + two),
                (one, two) => one.or(two),
            },
        }
    }
}
