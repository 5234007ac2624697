//! What a subsystem is handed while it advances: its inputs at any time within the step.

use std::any::Any;
use std::ops::Range;

use crate::cancel::Cancel;
use crate::dial::ExternalInput;
use crate::held::HeldInputs;
use crate::port::{InputPort, Ports};
use crate::predictor::Predictor;
use crate::sequence::{LEVELS, TurnedTap, impulse_response, turned_response};
use crate::state::{State, Visitor};

/// Which inputs the stages within a step of a method see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageInputs {
    /// Those at the start of the step.
    Held,
    /// Those at the time of the stage.
    Interpolated,
}

/// A given function of time that drives an input which no connection feeds.
pub trait Source: Send {
    /// The components of the port at time t.
    fn value(&mut self, t: f64, out: &mut [f64]);

    /// Where the function was given, for messages.
    fn origin(&self) -> Option<&str> {
        None
    }

    /// State of its own, if it has any.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }
}

/// Stands between the inputs of a subsystem and a part inside of it that asks for them.
pub trait InputLayer: Any + Send {
    /// What the part inside sees at time t, when it would send `now`.
    fn answer(&mut self, outer: &mut Inputs, t: f64, now: Option<&[f64]>, inputs: &mut [f64]);

    /// Whether the answer depends on the motion of the part inside at the moment it asks.
    fn follows_own_motion(&self) -> bool;
}

/// The inputs of one subsystem: connected ones from the predictor, the others from a source or at
/// their initial value.
pub struct Inputs {
    predictor: Box<dyn Predictor>,
    /// Values of inputs that have neither a sample yet nor a source: place and value.
    given: Vec<(usize, f64)>,
    ports: Vec<Range<usize>>,
    sources: Vec<(Range<usize>, Box<dyn Source>)>,
    external: Vec<(Range<usize>, ExternalInput)>,
    /// Those that are held by their senders: no predictor sees them.
    held: HeldInputs,
    /// When the newest sample of each port was sent.
    sampled: Vec<f64>,
    cancel: Option<Cancel>,
    layer: Option<Box<dyn InputLayer>>,
    /// Whether the predictor answers for all inputs: nothing else needs to be looked at.
    are_predicted: bool,
}

impl Inputs {
    /// Inputs at their initial values, with this predictor for what will be received.
    pub fn new(ports: &Ports, predictor: Box<dyn Predictor>) -> Self {
        let initial = ports.initial_inputs().iter().copied();
        let range = |index| ports.input_range(InputPort(index));
        Self {
            predictor,
            given: initial.enumerate().collect(),
            ports: (0..ports.inputs().len()).map(range).collect(),
            sources: Vec::new(),
            external: Vec::new(),
            held: HeldInputs::default(),
            sampled: vec![f64::NEG_INFINITY; ports.inputs().len()],
            cancel: None,
            layer: None,
            are_predicted: false,
        }
    }

    /// What the inputs come from has changed.
    #[inline(never)]
    fn find_predicted(&mut self) {
        let are_driven = !(self.sources.is_empty() && self.external.is_empty());
        let is_plain = !are_driven && self.held.is_empty() && self.layer.is_none();
        self.are_predicted = self.given.is_empty() && is_plain;
    }

    /// Drives an unconnected input.
    pub fn drive(&mut self, ports: &Ports, port: InputPort, source: Box<dyn Source>) {
        self.sources.push((ports.input_range(port), source));
        self.find_predicted();
    }

    /// Lets an unconnected input follow a dial.
    pub(crate) fn follow_dial(&mut self, ports: &Ports, port: InputPort, input: ExternalInput) {
        self.external.push((ports.input_range(port), input));
        self.find_predicted();
    }

    /// This input is held by its sender, from sample to sample, whatever the predictor.
    pub fn hold(&mut self, ports: &Ports, port: InputPort) {
        self.held.add(ports, port);
        self.find_predicted();
    }

    /// Whether any input is held by its sender.
    pub(crate) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes the jumps that held inputs have made since the last advance back from inputs that were asked for, and says
    /// whether there are any. The loads with and without them differ by what a formula with a history has to be told:
    /// its past belongs to the old values. A part asks once, as its advance begins.
    pub fn undo_jump(&self, inputs: &mut [f64]) -> bool {
        let mut has_jumped = !self.held.is_empty() && self.held.undo_jump(inputs);
        for (range, input) in &self.external {
            has_jumped |= input.undo_jump(range, inputs);
        }
        has_jumped
    }

    /// Whether any held input has jumped since the last advance.
    #[inline]
    pub fn have_jumped(&self) -> bool {
        !self.are_predicted && self.any_has_jumped()
    }

    #[inline(never)]
    fn any_has_jumped(&self) -> bool {
        let mut external = self.external.iter();
        self.held.have_jumped() || external.any(|(_, input)| input.has_jumped())
    }

    /// The jumps of held inputs are behind: for those who advance a subsystem by themselves.
    pub fn pass_jump(&mut self) {
        self.held.pass_jump();
        for (_, input) in &mut self.external {
            input.pass_jump();
        }
    }

    /// An advance begins: of held inputs the samples that were taken later do not act yet.
    pub(crate) fn begin_advance(&mut self, from: f64) {
        self.held.begin(&self.sampled, from);
    }

    /// The subsystem has got this far.
    pub(crate) fn reach(&mut self, t: f64) {
        self.held.reach(t);
    }

    /// The inputs that are set from outside.
    pub(crate) fn external(&self) -> impl Iterator<Item = &ExternalInput> {
        self.external.iter().map(|(_, input)| input)
    }

    pub(crate) fn external_mut(&mut self, name: &str) -> Option<&mut ExternalInput> {
        let mut inputs = self.external.iter_mut().map(|(_, input)| input);
        inputs.find(|input| input.name == name)
    }

    /// Macro step n begins at time t: what is set from outside holds for all of it.
    pub(crate) fn sample(&mut self, n: u64, t: f64) {
        for (_, input) in &mut self.external {
            input.sample(n, t);
        }
    }

    #[inline(never)]
    fn read_external(&mut self, t: f64, inputs: &mut [f64]) {
        for (range, input) in &mut self.external {
            input.value(t, &mut inputs[range.clone()]);
        }
    }

    /// When the newest value of a port was sent; minus infinity before the first. A part that
    /// extrapolates by itself starts anew when this changes.
    pub fn sampled_at(&self, port: InputPort) -> f64 {
        self.sampled[port.0]
    }

    /// Whether the run should end: asked by parts that wait for somebody else within a step.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(Cancel::is_requested)
    }

    pub(crate) fn cancel_by(&mut self, cancel: Option<Cancel>) {
        self.cancel = cancel;
    }

    /// All inputs at time t.
    #[inline]
    pub fn at(&mut self, t: f64, inputs: &mut [f64]) {
        match self.are_predicted {
            true => self.predictor.predict(t, None, inputs),
            false => self.assemble(t, inputs),
        }
    }

    /// All inputs at time t, from wherever each comes.
    #[inline(never)]
    fn assemble(&mut self, t: f64, inputs: &mut [f64]) {
        match self.layer {
            None => self.evaluate(t, None, inputs),
            Some(_) => self.ask_layer(t, None, inputs),
        }
    }

    /// All inputs at time t, when the subsystem would send `now`.
    pub fn at_with(&mut self, t: f64, now: &[f64], inputs: &mut [f64]) {
        match self.layer {
            None => self.evaluate(t, Some(now), inputs),
            Some(_) => self.ask_layer(t, Some(now), inputs),
        }
    }

    #[inline(never)]
    fn ask_layer(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        if let Some(mut layer) = self.layer.take() {
            layer.answer(self, t, now, inputs);
            self.layer = Some(layer);
        }
    }

    /// From now on this layer answers, until it is [taken back](Self::take_back): for a subsystem
    /// that lets a part inside of it advance with other inputs than its own.
    pub fn lend(&mut self, layer: Box<dyn InputLayer>) {
        self.layer = Some(layer);
        self.find_predicted();
    }

    /// The layer that was lent.
    pub fn take_back<L: InputLayer>(&mut self) -> Option<Box<L>> {
        let layer: Box<dyn Any> = self.layer.take()?;
        self.find_predicted();
        layer.downcast().ok()
    }

    fn evaluate(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        for &(place, value) in &self.given {
            inputs[place] = value;
        }
        self.predictor.predict(t, now, inputs);
        self.held.put(inputs);
        for (range, source) in &mut self.sources {
            source.value(t, &mut inputs[range.clone()]);
        }
        if !self.external.is_empty() {
            self.read_external(t, inputs);
        }
    }

    /// The first given function of time that is NaN at time t: its place among the inputs, its
    /// value, and where it was given.
    pub(crate) fn broken_source(&mut self, t: f64) -> Option<(usize, f64, Option<Box<str>>)> {
        let external = self.external.iter_mut();
        let external = external.map(|(range, input)| (range, input as &mut dyn Source));
        let sources = self.sources.iter_mut();
        let sources = sources.map(|(range, source)| (range, &mut **source as &mut dyn Source));
        for (range, source) in sources.chain(external) {
            let mut values = vec![0.0; range.len()];
            source.value(t, &mut values);
            let broken = values.iter().position(|value| !value.is_finite());
            if let Some(place) = broken {
                let origin = source.origin().map(Into::into);
                return Some((range.start + place, values[place], origin));
            }
        }
        None
    }

    /// Whether the inputs depend on the subsystem's own motion at the moment it asks: a subsystem
    /// that can tell what it would send then asks by [`Inputs::at_with`].
    #[inline]
    pub fn follow_own_motion(&self) -> bool {
        let layer = self.layer.as_ref();
        layer.is_some_and(|layer| layer.follows_own_motion())
    }

    /// A sample arrived at a port: for those who advance a subsystem by themselves.
    pub fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        if !self.given.is_empty() {
            let range = &self.ports[port.0];
            self.given.retain(|(place, _)| !range.contains(place));
            self.find_predicted();
        }
        let before = std::mem::replace(&mut self.sampled[port.0], t);
        if !self.held.receive(port, before, t, values) {
            self.predictor.receive(port, t, values);
        }
    }

    pub(crate) fn sent(&mut self, t: f64, outputs: &[f64]) {
        self.predictor.sent(t, outputs);
    }

    /// What the predictor makes of a unit sample; see [`impulse_response`].
    pub(crate) fn impulse_response(
        &mut self,
        ports: &Ports,
        port: InputPort,
        step: f64,
        is_fresh: bool,
    ) -> Option<Vec<[[f64; LEVELS]; LEVELS]>> {
        impulse_response(&mut *self.predictor, ports, port, step, is_fresh)
    }

    /// What the predictor makes of a small change of a steady turn; see [`turned_response`].
    pub(crate) fn turned_response(
        &mut self,
        ports: &Ports,
        port: InputPort,
        step: f64,
        is_fresh: bool,
        turn: [f64; 3],
    ) -> Option<Vec<TurnedTap>> {
        turned_response(&mut *self.predictor, ports, port, step, is_fresh, turn)
    }

    pub(crate) fn note(&self) -> Option<String> {
        self.predictor.note()
    }

    /// An event: parts find their accelerations anew.
    pub(crate) fn reset(&mut self) {
        self.predictor.reset();
        self.pass_jump();
    }
}

impl State for Inputs {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.predictor.visit(visitor);
        visitor.fixed(&mut self.sampled);
        self.held.visit(visitor);
        for (_, source) in &mut self.sources {
            if let Some(state) = source.state() {
                state.visit(visitor);
            }
        }
        for (_, input) in &mut self.external {
            input.visit(visitor);
        }
    }
}
