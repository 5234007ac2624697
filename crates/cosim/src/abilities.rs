//! What a subsystem may be able to do besides advancing: one small trait for each ability.

use crate::inputs::Inputs;
use crate::port::InputPort;
use crate::sequence::SequenceModel;
use crate::subsystem::StepError;
use crate::two_step::TwoStep;

/// A subsystem that knows its energy.
pub trait EnergyBalance {
    /// The energy balance at the time reached, given the inputs there.
    fn energy(&mut self, t: f64, inputs: &[f64]) -> Energy;

    /// These inputs are given from outside of the model. Says whose work it counts as supplied by
    /// itself; the engine accounts for the others as far as they are conjugate to an output.
    fn supply(&mut self, _given: &[InputPort]) -> Vec<InputPort> {
        Vec::new()
    }
}

/// A subsystem that can take the end of a step back.
pub trait StepCorrection {
    /// The schedule corrects every step: what need not be shown before may wait for that.
    fn expect_correction(&mut self) {}

    /// Takes the end of the last step back and finds it again with other inputs there, cheaply:
    /// the inputs differ from those of the advance by the error of a prediction.
    fn correct(&mut self, t: f64, inputs: &[f64]) -> Result<(), StepError>;
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

/// A subsystem whose work is done elsewhere, such as in a process of its own. All such parts of a thread begin together,
/// and are then waited for in their order: it makes no difference to what they do.
pub trait Remote {
    /// Begins the advance from `from` to `to`. The next call is [`advance`](crate::Subsystem::advance) over the same
    /// step, which waits for its end.
    fn begin(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<(), StepError>;
}

/// A subsystem that cannot save its state, but can be made anew: a fresh one is led to where this one is by what was done
/// to it.
pub trait Replay {
    /// From now on it has a [state](crate::Subsystem::state), to which it returns in this way: in as much time as it took to
    /// get there. Or why not, as the end of a sentence that begins with the part.
    fn by_replay(&mut self) -> Result<(), String>;
}

/// A subsystem that solves its equations by iteration.
pub trait Accuracy {
    /// From now on its equations are solved to this relative accuracy at least: implicit coupling
    /// compares outputs that differ by little.
    fn require_accuracy(&mut self, _relative: f64) {}

    /// From now on an analysis takes differences of its steps. Its equations are solved until rounding
    /// stops the iteration, whatever that costs; and what it remembers of the past is complete, as if
    /// it had run for long.
    fn sharpen(&mut self);
}

/// A subsystem that can be linearised about its present state.
pub trait Linearisable {
    /// The linearisation x' = A x + B u, y = C x + D u; nothing where there is none at this state,
    /// or where it would be too large.
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation>;

    /// Why the last [`linearise`](Self::linearise) gave nothing, as the end of a sentence that begins with the
    /// part.
    fn not_linear(&mut self) -> Option<String> {
        None
    }

    /// Names of the states of [`linearise`](Self::linearise), in their order, for people; none if
    /// they mean nothing by themselves.
    fn state_names(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The equations of its macro step, which takes so long, as a linear system from sequence to
    /// sequence; nothing where its step is not of that kind.
    fn sequence_model(&mut self, _t: f64, _step: f64, _inputs: &[f64]) -> Option<SequenceModel> {
        None
    }
}

/// A subsystem that can tell how its interfaces answer to forces and motions.
pub trait InterfaceResponse {
    /// How the coordinates that are conjugate to inputs answer to these, at the present
    /// state and with these inputs; false where it cannot tell. Nothing is allocated, and the next
    /// step is as if it had not been asked.
    fn interface(&mut self, t: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool;

    /// How the next step makes momentum of a force that is held over it: the formula by which velocities follow from
    /// accelerations. None where there is no such formula, or where a force found from it would ring.
    fn momentum_formula(&self) -> Option<TwoStep> {
        None
    }
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

    /// In the order of the fields.
    pub(crate) fn terms(self) -> [f64; 4] {
        let motion = [self.kinetic, self.potential];
        [motion[0], motion[1], self.dissipated, self.supplied]
    }

    /// From terms in that order.
    pub(crate) fn of_terms(terms: [f64; 4]) -> Self {
        let [kinetic, potential, dissipated, supplied] = terms;
        Self {
            kinetic,
            potential,
            dissipated,
            supplied,
        }
    }
}

impl std::ops::Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (own, other) = (self.terms(), other.terms());
        Self::of_terms(std::array::from_fn(|i| own[i] + other[i]))
    }
}

/// Linearisation x' = A x + B u, y = C x + D u in continuous time, or that of a part that samples: at its samples
/// y = C x + D u, which it holds, and then x becomes A x + B u. Matrices are dense, row by row.
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
    /// Time between samples in s; nothing for continuous time.
    pub sample: Option<f64>,
}

/// A mechanism as some of its inputs see it. They are forces, which it answers with the accelerations of the coordinates
/// on which they do work, or accelerations of coordinates whose motion it receives, which it answers with its forces on
/// the owners of these. When the inputs change by `u`, the answers are `answers + mobility u`.
///
/// Cross terms between several interfaces are included. Among forces the mobility is the inverse of the effective
/// mass; among motions it is the negative effective mass; the whole is symmetric.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveInterface {
    /// Components of the input vector, in the order that the caller wants.
    pub inputs: Vec<usize>,
    /// To the present inputs.
    pub answers: Vec<f64>,
    /// Dense, row by row.
    pub mobility: Vec<f64>,
}

impl EffectiveInterface {
    /// With room for these components of the input vector.
    pub fn at(inputs: Vec<usize>) -> Self {
        let count = inputs.len();
        Self {
            inputs,
            answers: vec![0.0; count],
            mobility: vec![0.0; count * count],
        }
    }
}
