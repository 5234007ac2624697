//! The integrators: each brings the own nodes of a [`Plant`] one micro step further.

mod differentiated;
mod exact;
mod explicit;
mod follow;
mod implicit;
mod newton;
mod schur;
mod shift;

use oldham_cosim::Inputs;
use oldham_cosim::Visitor;
use oldham_cosim::{Counters, StepError, TwoStep};

use crate::plant::Plant;
use crate::spec::Integrator;
use exact::Exact;
use explicit::RungeKutta;
use follow::Followers;
use implicit::Implicit;

/// One micro step, from `from` to `to`. The step size is given apart, because the difference of
/// two rounded times would differ from step to step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub from: f64,
    pub to: f64,
    pub size: f64,
}

/// An integrator with its memory.
#[derive(Clone, Debug)]
pub(crate) enum Method {
    SemiImplicitEuler(Followers),
    RungeKutta(RungeKutta),
    Implicit(Box<Implicit>),
    Exact(Box<Exact>),
}

impl Method {
    pub(crate) fn new(integrator: Integrator, plant: &Plant) -> Self {
        match integrator {
            Integrator::SemiImplicitEuler => Self::SemiImplicitEuler(Followers::new(plant)),
            Integrator::Rk4 { inputs } => Self::RungeKutta(RungeKutta::new(inputs, plant.own())),
            Integrator::BackwardEuler => Self::Implicit(Box::new(Implicit::backward_euler(plant))),
            Integrator::Lms2 { rho } => Self::Implicit(Box::new(Implicit::lms2(rho, plant))),
            Integrator::Exact => Self::Exact(Box::new(Exact::new(plant))),
        }
    }

    /// Held loads on own nodes have jumped at the start of the coming step: these are the changes.
    pub(crate) fn expect_jump(&mut self, loads: &[f64]) {
        if let Self::Implicit(method) = self {
            method.expect_jump(loads);
        }
    }

    /// One step of a plant that has already received its inputs at the start of the step.
    pub(crate) fn step(
        &mut self,
        plant: &mut Plant,
        step: Step,
        inputs: &mut Inputs,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        counters.micro_steps += 1;
        match self {
            Self::SemiImplicitEuler(followers) => {
                explicit::semi_implicit_euler(plant, step, inputs, followers)
            }
            Self::RungeKutta(method) => method.step(plant, step, inputs),
            Self::Implicit(method) => method.step(plant, step, inputs, counters),
            Self::Exact(method) => method.step(plant, step, inputs, counters),
        }
    }

    /// Before the first step: makes the present motion consistent with the inputs.
    pub(crate) fn start(
        &mut self,
        plant: &mut Plant,
        t: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        match self {
            Self::Implicit(method) => method.start(plant, t, counters),
            Self::SemiImplicitEuler(followers) => followers.start(plant, t),
            _ => Ok(()),
        }
    }

    /// How so many steps make momentum of a force that is held over them.
    pub(crate) fn momentum_formula(&self, steps: usize) -> Option<TwoStep> {
        match self {
            Self::Implicit(method) => method.momentum_formula(steps),
            _ => Some(TwoStep::BACKWARD_EULER),
        }
    }

    /// Whether a step can be corrected.
    pub(crate) fn corrects(&self) -> bool {
        matches!(self, Self::Implicit(_))
    }

    /// Finds the end of the last step again, with the inputs that act now.
    pub(crate) fn correct(
        &mut self,
        plant: &mut Plant,
        t: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        match self {
            Self::Implicit(method) => method.correct(plant, t, counters),
            _ => unreachable!("only implicit methods correct"),
        }
    }

    /// Changes with the tangent that is sent, if one is.
    pub(crate) fn tangent_version(&self) -> Option<u64> {
        match self {
            Self::Implicit(method) => method.tangent_version(),
            _ => None,
        }
    }

    /// The tangent that is sent, row by row.
    pub(crate) fn tangent(&self) -> &[f64] {
        match self {
            Self::Implicit(method) => method.tangent(),
            _ => &[],
        }
    }

    /// The force on a boundary node, where it is that of the last step.
    pub(crate) fn force_on_boundary(&self, boundary: usize) -> Option<f64> {
        match self {
            Self::SemiImplicitEuler(followers) => followers.reaction(boundary),
            _ => None,
        }
    }

    /// From now on steps are solved until rounding stops the iteration.
    pub(crate) fn sharpen(&mut self) {
        if let Self::Implicit(method) = self {
            method.sharpen();
        }
    }

    /// Forgets everything before the present state.
    pub(crate) fn restart(&mut self) {
        if let Self::Implicit(method) = self {
            method.restart();
        }
    }

    /// After the memory was changed from outside, the plant must follow.
    pub(crate) fn settle(&self, plant: &mut Plant) {
        match self {
            Self::Implicit(method) => method.settle(plant),
            Self::SemiImplicitEuler(followers) => followers.place(plant),
            Self::RungeKutta(_) | Self::Exact(_) => {}
        }
    }

    /// What the next step takes from the ones before, besides the present state.
    pub(crate) fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self {
            Self::Implicit(method) => method.visit(visitor),
            Self::SemiImplicitEuler(followers) => followers.visit(visitor),
            Self::RungeKutta(_) | Self::Exact(_) => {}
        }
    }
}
