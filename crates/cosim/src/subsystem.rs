//! The subsystem: anything that advances in time and exchanges values at ports.

use std::any::Any;

use crate::inputs::Inputs;
use crate::port::{InputPort, OutputPort, Ports};
use crate::sequence::SequenceModel;
use crate::state::State;

/// A part of a co-simulation.
///
/// Order of calls: [`outputs`](Self::outputs) at the initial time, as often as the initial exchange
/// needs; then, for every macro step, [`advance`](Self::advance) and `outputs` at the time reached.
/// In an iterative schedule the state is restored between repeated advances. `outputs` may be
/// called any number of times and leaves the motion unchanged.
///
/// The three required methods make a subsystem; each optional one is an ability that some schedule
/// or analysis asks for, and is refused when the model is read if a part lacks it.
pub trait Subsystem: Any + Send {
    /// The ports, fixed for the life of the subsystem.
    fn ports(&self) -> &Ports;

    /// Advances the state from `from` to `to`, in as many micro steps as the subsystem likes, and
    /// says how far it came. `inputs` answers for any time within the step.
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError>;

    /// The outputs at the time reached, for a given input: direct feedthrough is explicit, and the
    /// schedule decides which input is used.
    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError>;

    /// Only some of the outputs at the time reached, the others left as they are: for those who ask
    /// often and need little.
    fn some_outputs(
        &mut self,
        _wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        self.outputs(t, inputs, outputs)
    }

    /// Whether it can [`correct`](Self::correct) a step.
    fn corrects(&self) -> bool {
        false
    }

    /// The schedule corrects every step: what need not be shown before may wait for that.
    fn expect_correction(&mut self) {}

    /// Takes the end of the last step back and finds it again with other inputs there, cheaply:
    /// the inputs differ from those of the advance by the error of a prediction.
    fn correct(&mut self, _t: f64, _inputs: &[f64]) -> Result<(), StepError> {
        unreachable!("only a subsystem that says so is asked to correct")
    }

    /// What it does to its inputs before they act, if it changes them.
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        None
    }

    /// From now on its equations are solved to this relative accuracy at least: implicit coupling
    /// compares outputs that differ by little.
    fn demand_accuracy(&mut self, _relative: f64) {}

    /// These inputs are given from outside of the model. Says whose work it counts as supplied by
    /// itself; the engine accounts for the others as far as they are conjugate to an output.
    fn supply(&mut self, _given: &[InputPort]) -> Vec<InputPort> {
        Vec::new()
    }

    /// The complete state as a value: rollback, checkpoint, stability analysis.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Whether all of its [`state`](Self::state) that can grow is shown as coordinates. Otherwise it
    /// can be saved and restored, but its coupling cannot be analysed.
    fn is_chartable(&self) -> bool {
        true
    }

    /// Own macro steps after which what it does repeats: more than one for what is sampled more
    /// slowly than it advances. An analysis takes as many at once.
    fn pattern(&self) -> u64 {
        1
    }

    /// An event is a discontinuity: discard the integrator's history.
    fn restart(&mut self) {}

    /// From now on nonlinear equations are solved until rounding stops the iteration, whatever
    /// that costs: analyses take differences of steps.
    fn sharpen(&mut self) {}

    /// The energy balance at the time reached, given the inputs there.
    fn energy(&mut self, _t: f64, _inputs: &[f64]) -> Option<Energy> {
        None
    }

    /// The linearisation at the present state: x' = A x + B u, y = C x + D u.
    fn linearise(&mut self, _t: f64, _inputs: &[f64]) -> Option<Linearisation> {
        None
    }

    /// Names of the states of [`Subsystem::linearise`], in their order, for people; none if they mean
    /// nothing by themselves.
    fn state_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The equations of its macro step as a linear system from sequence to sequence, about the
    /// present state; nothing where its step is not of that kind.
    fn sequence_model(&mut self, _t: f64, _inputs: &[f64]) -> Option<SequenceModel> {
        None
    }

    /// How the coordinates that are conjugate to force inputs answer to these forces, at the present
    /// state and with these inputs; false where it cannot tell. Nothing is allocated, and the next
    /// step is as if it had not been asked.
    fn interface(&mut self, _t: f64, _inputs: &[f64], _found: &mut EffectiveInterface) -> bool {
        false
    }

    /// About how much work an advance is, as the number of matrix entries that it touches: parts
    /// are assigned to threads by it.
    fn work(&self) -> f64 {
        1.0
    }

    /// Work done so far.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// A subsystem that changes what it receives before it acts. All its methods take the inputs as they
/// are received.
pub trait InputCorrection {
    /// A step begins at time t: what is sampled then and held over the step is found now, before
    /// the work of the inputs is accounted for.
    fn begin_step(&mut self, t: f64, inputs: &mut Inputs) -> Result<(), StepError>;

    /// Changes what is received at time t to what acts: work is done by that.
    fn correct_inputs(&mut self, t: f64, inputs: &mut [f64]);
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

/// Energy balance of a subsystem, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Energy of motion.
    pub kinetic: f64,
    /// Energy stored in springs and fields.
    pub potential: f64,
    /// Lost in dampers since the start.
    pub dissipated: f64,
    /// Work of external loads since the start. Work at driven inputs is added by the engine.
    pub supplied: f64,
}

impl Energy {
    /// Kinetic and potential.
    pub fn stored(&self) -> f64 {
        self.kinetic + self.potential
    }
}

impl std::ops::Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            kinetic: self.kinetic + other.kinetic,
            potential: self.potential + other.potential,
            dissipated: self.dissipated + other.dissipated,
            supplied: self.supplied + other.supplied,
        }
    }
}

/// Continuous-time linearisation; matrices are dense, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearisation {
    /// Number of states.
    pub states: usize,
    /// States by states.
    pub a: Vec<f64>,
    /// States by inputs.
    pub b: Vec<f64>,
    /// Outputs by states.
    pub c: Vec<f64>,
    /// Outputs by inputs.
    pub d: Vec<f64>,
}

/// A mechanism as its force inputs see it: when the forces change by `f`, the accelerations of the
/// coordinates on which they do work are `acceleration + mobility f`. Cross terms between several
/// interfaces are included; the mobility is the inverse of the effective mass.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveInterface {
    /// Components of the input vector that act as forces, in the order that the caller wants.
    pub inputs: Vec<usize>,
    /// Of the conjugate coordinates, with the present inputs.
    pub acceleration: Vec<f64>,
    /// Dense, row by row.
    pub mobility: Vec<f64>,
}

impl EffectiveInterface {
    /// With room for these components of the input vector.
    pub fn at(inputs: Vec<usize>) -> Self {
        let count = inputs.len();
        Self {
            inputs,
            acceleration: vec![0.0; count],
            mobility: vec![0.0; count * count],
        }
    }
}

/// Work done by a subsystem since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
}
