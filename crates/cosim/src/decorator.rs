//! Subsystems around subsystems: what a decorator does not say itself, the inner subsystem says.
//!
//! A method that a decorator forgets is an answer all the same: a lost [`pattern`](Subsystem::pattern) says that
//! nothing is sampled. So a decorator of one subsystem implements [`Decorator`], which hands everything through but
//! [`remote`](Decorator::remote), and says only what it does differently. What stands around several subsystems implements [`Subsystem`] with the lint
//! `clippy::missing_trait_methods` denied, and puts their answers together with [`Together`]. Both fail to build with
//! a method of the trait for which nothing was decided.

use std::any::Any;

use crate::abilities::{
    Accuracy, EnergyBalance, InputCorrection, InterfaceResponse, Linearisable, Remote, Replay,
    StepCorrection,
};
use crate::inputs::Inputs;
use crate::port::{OutputPort, Ports};
use crate::schedule::least_common_multiple;
use crate::state::State;
use crate::subsystem::{Counters, Reached, StepError, Subsystem};
use crate::switches::Switches;

/// A subsystem around another one. Every method is that of the inner subsystem unless the decorator has its own.
///
/// A decorator with more inputs than the inner subsystem has its own version of every ability that takes inputs, and
/// of `advance`, `outputs` and `some_outputs`; one with more outputs of what takes outputs and ports.
pub trait Decorator: Any + Send {
    /// The inner subsystem.
    fn inner(&self) -> &dyn Subsystem;

    /// The same, to change it.
    fn inner_mut(&mut self) -> &mut dyn Subsystem;

    /// As [`Subsystem::ports`].
    fn ports(&self) -> &Ports {
        self.inner().ports()
    }

    /// As [`Subsystem::advance`].
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.inner_mut().advance(from, to, inputs)
    }

    /// As [`Subsystem::outputs`].
    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.inner_mut().outputs(t, inputs, outputs)
    }

    /// As [`Subsystem::some_outputs`].
    fn some_outputs(
        &mut self,
        wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        self.inner_mut().some_outputs(wanted, t, inputs, outputs)
    }

    /// As [`Subsystem::version`].
    fn version(&self, output: OutputPort) -> Option<u64> {
        self.inner().version(output)
    }

    /// As [`Subsystem::restart`].
    fn restart(&mut self) {
        self.inner_mut().restart();
    }

    /// As [`Subsystem::work`].
    fn work(&self) -> f64 {
        self.inner().work()
    }

    /// As [`Subsystem::counters`].
    fn counters(&self) -> Counters {
        self.inner().counters()
    }

    /// As [`Subsystem::pattern`].
    fn pattern(&self) -> u64 {
        self.inner().pattern()
    }

    /// As [`Subsystem::switches`].
    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        self.inner_mut().switches(t, inputs, found);
    }

    /// As [`Subsystem::state`].
    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner_mut().state()
    }

    /// As [`Subsystem::energy_balance`].
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        self.inner_mut().energy_balance()
    }

    /// As [`Subsystem::step_correction`].
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        self.inner_mut().step_correction()
    }

    /// As [`Subsystem::input_correction`].
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        self.inner_mut().input_correction()
    }

    /// As [`Subsystem::accuracy`].
    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        self.inner_mut().accuracy()
    }

    /// As [`Subsystem::linearisable`].
    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        self.inner_mut().linearisable()
    }

    /// As [`Subsystem::remote`]; nothing unless the decorator says so, since what stands between the inner subsystem and its
    /// inputs must also stand there when it begins.
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        None
    }

    /// As [`Subsystem::replay`].
    fn replay(&mut self) -> Option<&mut dyn Replay> {
        self.inner_mut().replay()
    }

    /// As [`Subsystem::interface_response`].
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        self.inner_mut().interface_response()
    }
}

#[deny(clippy::missing_trait_methods)]
impl<D: Decorator> Subsystem for D {
    fn ports(&self) -> &Ports {
        Decorator::ports(self)
    }
    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        Decorator::advance(self, from, to, inputs)
    }
    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        Decorator::outputs(self, t, inputs, outputs)
    }
    fn some_outputs(
        &mut self,
        wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        Decorator::some_outputs(self, wanted, t, inputs, outputs)
    }
    fn version(&self, output: OutputPort) -> Option<u64> {
        Decorator::version(self, output)
    }
    fn restart(&mut self) {
        Decorator::restart(self);
    }
    fn work(&self) -> f64 {
        Decorator::work(self)
    }
    fn counters(&self) -> Counters {
        Decorator::counters(self)
    }
    fn pattern(&self) -> u64 {
        Decorator::pattern(self)
    }
    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        Decorator::switches(self, t, inputs, found);
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Decorator::state(self)
    }
    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Decorator::energy_balance(self)
    }
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        Decorator::step_correction(self)
    }
    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        Decorator::input_correction(self)
    }
    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        Decorator::accuracy(self)
    }
    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        Decorator::linearisable(self)
    }
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        Decorator::remote(self)
    }
    fn replay(&mut self) -> Option<&mut dyn Replay> {
        Decorator::replay(self)
    }
    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        Decorator::interface_response(self)
    }
}

/// What several subsystems that advance together, in so many steps of their own for one of all, say as one.
pub struct Together<I> {
    parts: I,
    steps: u64,
}

impl<'a, I: Iterator<Item = &'a dyn Subsystem>> Together<I> {
    /// These subsystems.
    pub fn new(parts: I, steps: u64) -> Self {
        Self { parts, steps }
    }

    /// The fewest steps of all after which what each of them does repeats.
    pub fn pattern(self) -> u64 {
        let steps = self.steps.max(1);
        let own = self
            .parts
            .map(|part| least_common_multiple(part.pattern().max(1), steps) / steps);
        own.fold(1, least_common_multiple)
    }

    /// The work of all their steps.
    pub fn work(self) -> f64 {
        let steps = self.steps as f64;
        steps * self.parts.map(|part| part.work()).sum::<f64>()
    }

    /// What all have done.
    pub fn counters(self) -> Counters {
        let own = self.parts.map(|part| part.counters());
        own.fold(Counters::default(), |sum, one| sum + one)
    }
}
