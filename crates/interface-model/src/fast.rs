//! A fast subsystem in the loop of an interface model.

use std::ops::Range;

use oldham_cosim::{
    EffectiveInterface, Energy, Hold, InputPort, Inputs, Linearisation, Ports, State, StepError,
    Subsystem, Switches, Visitor,
};

use crate::meeting::{Coordinate, Meeting};

/// A fast subsystem, and where it meets the mechanism.
pub struct FastSubsystem {
    /// Its name; where several share a model, their ports begin with it.
    pub name: String,
    /// Takes one step whenever it advances.
    pub subsystem: Box<dyn Subsystem>,
    /// Where it meets the mechanism.
    pub coordinates: Vec<Coordinate>,
    /// Steps in a macro step, at least.
    pub steps: usize,
}

/// The same within the loop.
pub(crate) struct Fast {
    pub inner: Box<dyn Subsystem>,
    pub meetings: Vec<Meeting>,
    /// Its ports, and its components, among those of all fast subsystems.
    pub input_ports: Range<usize>,
    pub output_ports: Range<usize>,
    pub inputs: Range<usize>,
    pub outputs: Range<usize>,
    /// What the names of its ports begin with.
    pub prefix: String,
    /// What it sends, as the model knows it.
    pub sent: Vec<f64>,
    /// What it sees at the start and at the end of a step of its own, and where that start is.
    start: Vec<f64>,
    end: Vec<f64>,
    begun: f64,
    /// What it receives within a step.
    seen: Inputs,
    in_space: InSpace,
}

/// Accelerations in space of nodes that are moved. What a mechanism sends of them belongs to its last step; how they follow from
/// the wrenches there it tells as any mechanism does.
struct InSpace {
    found: EffectiveInterface,
    /// Among the outputs.
    accelerations: Vec<usize>,
}

impl InSpace {
    fn new(meetings: &[Meeting]) -> Self {
        let moved = meetings.iter().filter_map(|meeting| match meeting {
            Meeting::Moved(moved) if moved.is_in_space() => Some(moved),
            _ => None,
        });
        let forces = moved.clone().flat_map(|moved| moved.forces.clone());
        Self {
            found: EffectiveInterface::at(forces.collect()),
            accelerations: moved
                .flat_map(|moved| moved.accelerations.clone())
                .collect(),
        }
    }

    /// Puts the accelerations under these inputs among what is sent.
    fn accelerate(&mut self, inner: &mut dyn Subsystem, t: f64, inputs: &[f64], sent: &mut [f64]) {
        if self.accelerations.is_empty() {
            return;
        }
        let response = inner.interface_response();
        if response.is_some_and(|response| response.interface(t, inputs, &mut self.found)) {
            for (&place, &value) in self.accelerations.iter().zip(&self.found.answers) {
                sent[place] = value;
            }
        }
    }
}

impl Fast {
    /// Behind the ports that there are already.
    pub fn new(one: FastSubsystem, ports: &mut Ports, prefix: &str) -> Self {
        let own = one.subsystem.ports();
        let before = (
            [ports.inputs().len(), ports.outputs().len()],
            [ports.input_width(), ports.output_width()],
        );
        ports.append(prefix, own);
        let after = (
            [ports.inputs().len(), ports.outputs().len()],
            [ports.input_width(), ports.output_width()],
        );
        let meetings = one.coordinates.iter();
        let meetings: Vec<Meeting> = meetings.map(|each| Meeting::new(*each, own)).collect();
        Self {
            in_space: InSpace::new(&meetings),
            meetings,
            input_ports: before.0[0]..after.0[0],
            output_ports: before.0[1]..after.0[1],
            inputs: before.1[0]..after.1[0],
            outputs: before.1[1]..after.1[1],
            prefix: prefix.to_owned(),
            sent: vec![0.0; own.output_width()],
            start: vec![0.0; own.input_width()],
            end: vec![0.0; own.input_width()],
            begun: 0.0,
            seen: Inputs::new(own, Box::new(Hold::new(1, own))),
            inner: one.subsystem,
        }
    }

    /// Starts anew from what the mechanism sent.
    pub fn start(&mut self, t: f64, inputs: &[f64]) {
        self.start.copy_from_slice(&inputs[self.inputs.clone()]);
        let meetings = self.meetings.iter_mut();
        meetings.for_each(|meeting| meeting.start(&self.start));
        self.begun = t;
    }

    /// Whether the inputs are those from which it started.
    pub fn is_as_received(&self, inputs: &[f64]) -> bool {
        let own = &inputs[self.inputs.clone()];
        let mut meetings = self.meetings.iter();
        meetings.all(|meeting| meeting.is_as_received(own))
    }

    /// Takes these inputs for those at the present instant; the model knows more of them where it is ahead.
    pub fn look(&mut self, inputs: &[f64], model_is_ahead: bool) {
        self.start.copy_from_slice(&inputs[self.inputs.clone()]);
        if model_is_ahead {
            self.know();
        }
    }

    /// What it tells of its kinks with these inputs.
    pub fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        self.inner.switches(t, &inputs[self.inputs.clone()], found);
    }

    /// Takes the forces that it sees for those on what it moves.
    pub fn believe(&mut self) {
        for meeting in &mut self.meetings {
            if let Meeting::Moved(moved) = meeting {
                let seen = &self.start[moved.forces.clone()];
                moved.resistance.copy_from_slice(seen);
            }
        }
    }

    /// Sees at the start of its step what the model has found.
    pub fn know(&mut self) {
        let meetings = self.meetings.iter();
        meetings.for_each(|meeting| meeting.show(&mut self.start));
    }

    /// Its part of the inputs becomes what the model has found.
    pub fn correct(&self, inputs: &mut [f64]) {
        let own = &mut inputs[self.inputs.clone()];
        self.meetings.iter().for_each(|meeting| meeting.show(own));
    }

    /// Its part of the inputs becomes what acts on it.
    pub fn correct_inputs(&mut self, t: f64, inputs: &mut [f64]) {
        if let Some(correction) = self.inner.input_correction() {
            correction.correct_inputs(t, &mut inputs[self.inputs.clone()]);
        }
    }

    /// Its own linear system, with its part of these inputs.
    pub fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        let inner = self.inner.linearisable()?;
        inner.linearise(t, &inputs[self.inputs.clone()])
    }

    /// Whether it moves the mechanism.
    pub fn moves(&self) -> bool {
        let mut meetings = self.meetings.iter();
        meetings.any(|meeting| matches!(meeting, Meeting::Moved(_)))
    }

    /// Its energy with what it sees now.
    pub fn energy(&mut self, t: f64) -> Energy {
        let balance = self.inner.energy_balance();
        balance.map_or_else(Energy::default, |balance| balance.energy(t, &self.start))
    }

    /// What it sends at the start of its step.
    pub fn evaluate(&mut self, t: f64) -> Result<(), StepError> {
        self.inner.outputs(t, &self.start, &mut self.sent)?;
        self.in_space
            .accelerate(&mut *self.inner, t, &self.start, &mut self.sent);
        Ok(())
    }

    /// What it sends at the end of its step.
    pub fn evaluate_end(&mut self, t: f64) -> Result<(), StepError> {
        self.inner.outputs(t, &self.end, &mut self.sent)
    }

    /// What it sends now, among the outputs of all; gives its own.
    pub fn outputs<'o>(
        &mut self,
        t: f64,
        outputs: &'o mut [f64],
    ) -> Result<&'o mut [f64], StepError> {
        let own = &mut outputs[self.outputs.clone()];
        self.inner.outputs(t, &self.start, own)?;
        self.in_space
            .accelerate(&mut *self.inner, t, &self.start, own);
        Ok(own)
    }

    /// Takes a step to where it sees these inputs, and what the model has found. Says whether there was an event.
    pub fn advance(&mut self, to: f64, inputs: &[f64]) -> Result<bool, StepError> {
        self.end.copy_from_slice(&inputs[self.inputs.clone()]);
        let meetings = self.meetings.iter();
        meetings.for_each(|meeting| meeting.show_end(&mut self.end));
        for index in 0..self.inner.ports().inputs().len() {
            let port = InputPort(index);
            let range = self.inner.ports().input_range(port);
            self.seen
                .receive(port, self.begun, &self.start[range.clone()]);
            self.seen.receive(port, to, &self.end[range]);
        }
        if let Some(correction) = self.inner.input_correction() {
            correction.begin_step(self.begun, &mut self.seen)?;
        }
        let stepped = self.inner.advance(self.begun, to, &mut self.seen)?;
        if stepped.time < to {
            let message = "a subsystem that is fed by an interface model must take whole steps";
            return Err(StepError::Foreign(message.into()));
        }
        Ok(stepped.event)
    }

    /// The end of its step is the start of the next one, in which it sees what the model has found.
    pub fn finish(&mut self, t: f64) {
        std::mem::swap(&mut self.start, &mut self.end);
        self.meetings.iter_mut().for_each(Meeting::remember);
        self.know();
        self.begun = t;
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        if let Some(inner) = self.inner.state() {
            inner.visit(visitor);
        }
        let meetings = self.meetings.iter_mut();
        meetings.for_each(|meeting| meeting.visit(visitor));
        self.seen.visit(visitor);
    }
}
