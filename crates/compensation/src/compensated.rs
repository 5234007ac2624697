//! A subsystem with a compensator around it.

use std::ops::Range;

use oldham_cosim::{
    Builder, Decorator, EffectiveInterface, Energy, EnergyBalance, InputCorrection, InputLayer,
    InputPort, Inputs, InterfaceResponse, Linearisable, Linearisation, OutputPort, Ports,
    Predictor, Reached, SequenceModel, State, StepCorrection, StepError, Subsystem, SubsystemId,
    Switches, TwoStep, Visitor,
};

use crate::compensator::Compensator;
use crate::law::{Compensation, RemoteSignal};
use crate::predictor::Listening;

/// Passes after which the loop of sampled signals is learned anew, and then taken as it is.
const PASSES: usize = 8;

/// A subsystem whose inputs are corrected and whose outputs are amended as they are sent.
///
/// Behind its own inputs it has those that the compensator hears of others; behind its own outputs
/// those that are sent instead of amended ones.
pub struct Compensated {
    inner: Box<dyn Subsystem>,
    ports: Ports,
    /// Lent to the inputs while the inner subsystem advances.
    compensator: Option<Box<Compensator>>,
    /// Amended outputs, and what is sent instead.
    sent: Vec<(Range<usize>, Range<usize>)>,
    /// All inputs as received, and as they act.
    received: Vec<f64>,
    acting: Vec<f64>,
    /// Own outputs as last evaluated.
    outputs: Vec<f64>,
    /// When they were evaluated, if what is received does not change them.
    known_at: Option<f64>,
    /// The inner subsystem has taken a step since it was started: outputs without feedthrough are what that has left.
    has_moved: bool,
    /// A step has begun, and its forces were found with these outputs.
    is_begun: bool,
}

impl Compensated {
    /// Adds a compensated subsystem to a simulation, with the predictor for its own inputs.
    pub fn add_to(
        builder: &mut Builder,
        name: &str,
        inner: Box<dyn Subsystem>,
        predictor: Box<dyn Predictor>,
        mut law: Compensation,
    ) -> SubsystemId {
        let remote = std::mem::take(&mut law.remote);
        let senders = remote.iter().flat_map(|remote| &remote.senders);
        let senders: Vec<_> = senders.copied().collect();
        let own = inner.ports().clone();
        let part = Self::new(inner, law, &remote);
        let predictor = Listening::new(predictor, &own, remote);
        let id = builder.add(name, Box::new(part), Box::new(predictor));
        for (index, sender) in senders.into_iter().enumerate() {
            builder.connect(sender, (id, InputPort(own.inputs().len() + index)));
        }
        id
    }

    fn new(inner: Box<dyn Subsystem>, law: Compensation, remote: &[RemoteSignal]) -> Self {
        let own = inner.ports();
        let mut ports = own.clone();
        for heard in remote.iter().flat_map(|remote| remote.ports.inputs()) {
            let name = format!("{} as heard", heard.name);
            ports.add_input(name, heard.quantity.clone());
        }
        let mut sent: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for row in &law.amended {
            if sent.iter().any(|(own, _)| own.contains(&row.target)) {
                continue;
            }
            let all = (0..own.outputs().len()).map(OutputPort);
            let mut amended = all.filter(|port| own.output_range(*port).contains(&row.target));
            let amended = amended.next().expect("rows amend outputs");
            let instead = ports.add_sent(amended);
            let places = (own.output_range(amended), ports.output_range(instead));
            for (from, to) in places.0.clone().zip(places.1.clone()) {
                for &input in own.direct_inputs(from) {
                    ports.feed_through(to, input);
                }
            }
            sent.push(places);
        }
        let heard = ports.input_width() - own.input_width();
        Self {
            compensator: Some(Box::new(Compensator::new(law, own, heard))),
            sent,
            received: vec![0.0; ports.input_width()],
            acting: vec![0.0; ports.input_width()],
            outputs: vec![0.0; own.output_width()],
            known_at: None,
            has_moved: false,
            is_begun: false,
            ports,
            inner,
        }
    }

    /// Pushes with a row of the compensator, besides what its gains make: sampled rows first, then
    /// amendments. For analyses.
    pub fn push(&mut self, row: usize, offset: f64) {
        self.compensator().push(row, offset);
    }

    /// The values of all signals as last used: those of sampled rows, then those of amendments,
    /// term by term.
    pub fn readings(&self) -> &[f64] {
        let compensator = self.compensator.as_ref();
        compensator.map_or(&[], |compensator| &compensator.readings)
    }

    fn compensator(&mut self) -> &mut Compensator {
        let compensator = self.compensator.as_mut();
        compensator.expect("it is lent only while the subsystem advances")
    }

    /// The inner subsystem does something with inputs that are corrected.
    fn lending<T>(
        &mut self,
        inputs: &mut Inputs,
        work: impl FnOnce(&mut dyn Subsystem, &mut Inputs) -> T,
    ) -> T {
        if let Some(compensator) = self.compensator.take() {
            inputs.lend(compensator);
        }
        let done = work(&mut *self.inner, inputs);
        self.compensator = inputs.take_back();
        done
    }

    /// What is received becomes what acts.
    fn correct(&mut self, t: f64) {
        let mut acting = std::mem::take(&mut self.acting);
        acting.copy_from_slice(&self.received);
        self.compensator().correct(t, None, &mut acting);
        self.acting = acting;
    }

    /// This is received at time t, and acts corrected.
    fn receive(&mut self, t: f64, received: &[f64]) {
        self.received.copy_from_slice(received);
        self.correct(t);
    }

    /// Evaluates its own outputs; once more where they depend on inputs that are corrected by them.
    fn look(&mut self, t: f64) -> Result<(), StepError> {
        self.evaluate(t)?;
        let Some(compensator) = &mut self.compensator else {
            return Ok(());
        };
        if !compensator.follows_own_motion() {
            return Ok(());
        }
        compensator.observe(t, &self.outputs);
        if self.inner.ports().has_feedthrough() {
            return self.evaluate(t);
        }
        self.correct(t);
        Ok(())
    }

    fn evaluate(&mut self, t: f64) -> Result<(), StepError> {
        self.correct(t);
        if self.known_at == Some(t) {
            return Ok(());
        }
        let ports = self.inner.ports();
        let lasts = self.has_moved && !ports.has_feedthrough();
        let own = &self.acting[..ports.input_width()];
        self.inner.outputs(t, own, &mut self.outputs)?;
        self.known_at = lasts.then_some(t);
        Ok(())
    }

    /// The inner subsystem is no longer where its outputs were evaluated; at a start they answer what is received.
    fn forget(&mut self, has_moved: bool) {
        (self.known_at, self.has_moved) = (None, has_moved);
    }

    /// Samples the signals and finds the forces that are held over the step.
    fn sample(&mut self, t: f64) -> Result<(), StepError> {
        self.look(t)?;
        if !self.compensator().feedback_is_known() {
            self.learn_loop(t)?;
        }
        if !self.solve_loop(t)? {
            // The response changed with the configuration.
            self.learn_loop(t)?;
            self.solve_loop(t)?;
        }
        Ok(())
    }

    fn read_signals(&mut self) -> &mut Compensator {
        let compensator = self.compensator.as_mut();
        let compensator = compensator.expect("it is lent only while the subsystem advances");
        compensator.sample(&self.acting, &self.outputs);
        compensator
    }

    fn solve_loop(&mut self, t: f64) -> Result<bool, StepError> {
        for _ in 0..PASSES {
            if self.read_signals().settle() {
                return Ok(true);
            }
            self.look(t)?;
        }
        Ok(false)
    }

    /// Pushes with every force a little and looks at the signals.
    fn learn_loop(&mut self, t: f64) -> Result<(), StepError> {
        let before = self.read_signals().readings.clone();
        for force in 0..self.compensator().forces.len() {
            let held = self.compensator().forces[force];
            let size = held.abs().max(1.0);
            self.compensator().forces[force] = held + size;
            self.look(t)?;
            let compensator = self.read_signals();
            compensator.learn(force, size, &before);
            compensator.forces[force] = held;
        }
        self.look(t)?;
        if self.compensator().close_loop() {
            return Ok(());
        }
        let unknown = "the compensator's forces, which its acceleration gains cancel".into();
        Err(StepError::Singular { unknown })
    }
}

#[deny(clippy::missing_trait_methods)]
impl InputCorrection for Compensated {
    fn begin_step(&mut self, t: f64, inputs: &mut Inputs) -> Result<(), StepError> {
        if self.compensator().has_sampled() {
            inputs.at(t, &mut self.received);
            self.sample(t)?;
            self.is_begun = true;
        }
        self.lending(inputs, |inner, inputs| match inner.input_correction() {
            Some(correction) => correction.begin_step(t, inputs),
            None => Ok(()),
        })
    }

    /// The inner subsystem changes what the compensator makes of what is received.
    fn correct_inputs(&mut self, t: f64, inputs: &mut [f64]) {
        self.compensator().correct(t, None, inputs);
        let own = self.inner.ports().input_width();
        if let Some(correction) = self.inner.input_correction() {
            correction.correct_inputs(t, &mut inputs[..own]);
        }
    }
}

/// It has more inputs and outputs than the inner subsystem, so that it has its own version of all that takes them.
impl Decorator for Compensated {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.is_begun = false;
        self.forget(true);
        self.lending(inputs, |inner, inputs| inner.advance(from, to, inputs))
    }

    fn restart(&mut self) {
        self.forget(false);
        self.inner.restart();
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        if !self.is_begun {
            self.received.copy_from_slice(inputs);
            self.look(t)?;
        }
        outputs[..self.outputs.len()].copy_from_slice(&self.outputs);
        for (own, instead) in &self.sent {
            outputs.copy_within(own.clone(), instead.start);
        }
        if let Some(compensator) = &mut self.compensator {
            let sent = &self.sent;
            compensator.amend(&self.acting, &self.outputs, |component, amendment| {
                let mut places = sent.iter();
                if let Some((own, instead)) = places.find(|(own, _)| own.contains(&component)) {
                    outputs[instead.start + component - own.start] += amendment;
                }
            });
        }
        Ok(())
    }

    /// Amendments and forces follow from all outputs, so that all are found.
    fn some_outputs(
        &mut self,
        _wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        Decorator::outputs(self, t, inputs, outputs)
    }

    fn version(&self, output: OutputPort) -> Option<u64> {
        let is_own = output.0 < self.inner.ports().outputs().len();
        is_own.then(|| self.inner.version(output))?
    }

    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        self.receive(t, inputs);
        let own = self.inner.ports().input_width();
        self.inner.switches(t, &self.acting[..own], found);
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        let can = self.inner.state().is_some();
        can.then_some(self as &mut dyn State)
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        let can = self.inner.energy_balance().is_some();
        can.then_some(self as &mut dyn EnergyBalance)
    }

    fn input_correction(&mut self) -> Option<&mut dyn InputCorrection> {
        Some(self)
    }

    /// The forces of its sampled rows belong to the step that was made: it does not take its end back.
    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        None
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        let can = self.inner.linearisable().is_some();
        can.then_some(self as &mut dyn Linearisable)
    }

    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        let can = self.inner.interface_response().is_some();
        can.then_some(self as &mut dyn InterfaceResponse)
    }
}

/// Under the inputs that act.
#[deny(clippy::missing_trait_methods)]
impl InterfaceResponse for Compensated {
    fn interface(&mut self, t: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool {
        self.receive(t, inputs);
        let own = &self.acting[..self.inner.ports().input_width()];
        let response = self.inner.interface_response();
        response.is_some_and(|response| response.interface(t, own, found))
    }

    fn momentum_formula(&self) -> Option<TwoStep> {
        // What the compensator adds in a step is no part of the inner formula.
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl EnergyBalance for Compensated {
    fn energy(&mut self, t: f64, inputs: &[f64]) -> Energy {
        self.receive(t, inputs);
        let own = &self.acting[..self.inner.ports().input_width()];
        let balance = self.inner.energy_balance();
        balance.map_or_else(Energy::default, |balance| balance.energy(t, own))
    }

    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        let balance = self.inner.energy_balance();
        balance.map_or_else(Vec::new, |balance| balance.supply(given))
    }
}

#[deny(clippy::missing_trait_methods)]
impl Linearisable for Compensated {
    /// Without the compensator, which undoes a delay that a linearisation does not have.
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        self.receive(t, inputs);
        let (wide, own) = (self.ports.input_width(), self.inner.ports().input_width());
        let inner = self.inner.linearisable()?;
        let inner = inner.linearise(t, &self.acting[..own])?;
        let states = inner.states;
        let widened = |matrix: &[f64], rows: usize| -> Vec<f64> {
            let entry = |place: usize| match place % wide {
                column if column < own => matrix[place / wide * own + column],
                _ => 0.0,
            };
            (0..rows * wide).map(entry).collect()
        };
        let mut c = inner.c.clone();
        let mut d = widened(&inner.d, self.outputs.len());
        for (own, _) in &self.sent {
            c.extend_from_within(own.start * states..own.end * states);
            d.extend_from_within(own.start * wide..own.end * wide);
        }
        Some(Linearisation {
            b: widened(&inner.b, states),
            c,
            d,
            ..inner
        })
    }

    fn not_linear(&mut self) -> Option<String> {
        self.inner.linearisable()?.not_linear()
    }

    fn state_names(&mut self) -> Vec<String> {
        let inner = self.inner.linearisable();
        inner.map_or_else(Vec::new, |inner| inner.state_names())
    }

    /// What it amends and adds is no part of the inner step.
    fn sequence_model(&mut self, _t: f64, _step: f64, _inputs: &[f64]) -> Option<SequenceModel> {
        None
    }
}

#[deny(clippy::missing_trait_methods)]
impl State for Compensated {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.is_begun = false;
        if visitor.replaces() {
            self.forget(false);
        }
        if let Some(inner) = self.inner.state() {
            inner.visit(visitor);
        }
        self.compensator().visit(visitor);
    }

    fn is_chartable(&mut self) -> bool {
        let inner = self.inner.state();
        inner.is_none_or(|inner| inner.is_chartable())
    }
}
