//! Inputs that jump: their senders hold a value from one sample to the next.
//!
//! A sample acts from its own instant on: an advance that begins before it, as that of a part which is after the sender
//! in the order of a macro step, goes on with the value before. What acted is remembered, so that a part whose formula
//! looks back can tell by how much its loads have jumped; see [`Inputs::undo_jump`](crate::Inputs::undo_jump).

use std::ops::Range;

use crate::port::{InputPort, Ports};
use crate::state::Visitor;

/// The held inputs of one subsystem.
#[derive(Debug)]
pub(crate) struct HeldInputs {
    inputs: Vec<HeldInput>,
    /// The time up to which the subsystem has advanced.
    reached: f64,
}

#[derive(Debug)]
struct HeldInput {
    port: InputPort,
    range: Range<usize>,
    is_coordinate: bool,
    /// The newest sample, the newest that was taken when the subsystem had got no further than now, and what acted over
    /// the last advance.
    newest: Vec<f64>,
    due: Vec<f64>,
    acted: Vec<f64>,
    /// Whether an advance is under way that began before the newest sample.
    is_early: bool,
}

impl HeldInput {
    /// What acts now.
    fn acting(&self) -> &[f64] {
        match self.is_early {
            true => &self.due,
            false => &self.newest,
        }
    }

    /// What acts now has acted.
    fn pass_jump(&mut self) {
        let acting = match self.is_early {
            true => &self.due,
            false => &self.newest,
        };
        self.acted.copy_from_slice(acting);
    }
}

impl Default for HeldInputs {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            reached: f64::NEG_INFINITY,
        }
    }
}

impl HeldInputs {
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    pub fn add(&mut self, ports: &Ports, port: InputPort) {
        let range = ports.input_range(port);
        let initial = ports.initial_inputs()[range.clone()].to_vec();
        self.inputs.push(HeldInput {
            port,
            range,
            is_coordinate: ports.inputs()[port.0].quantity.is_coordinate(),
            newest: initial.clone(),
            due: initial.clone(),
            acted: initial,
            is_early: false,
        });
    }

    /// Takes a sample of time t, if the port is held; the one before it was taken at `before`.
    pub fn receive(&mut self, port: InputPort, before: f64, t: f64, values: &[f64]) -> bool {
        let mut inputs = self.inputs.iter_mut();
        let Some(input) = inputs.find(|input| input.port == port) else {
            return false;
        };
        if before <= self.reached && t > self.reached {
            input.due.copy_from_slice(&input.newest);
        }
        input.newest.copy_from_slice(values);
        true
    }

    /// An advance begins: samples that were taken later do not act yet. The times are those of the newest samples of
    /// all ports.
    pub fn begin(&mut self, taken: &[f64], from: f64) {
        for input in &mut self.inputs {
            input.is_early = taken[input.port.0] > from;
            if !input.is_early {
                input.due.copy_from_slice(&input.newest);
            }
        }
    }

    /// The subsystem has got this far.
    pub fn reach(&mut self, t: f64) {
        self.reached = t;
        for input in &mut self.inputs {
            input.is_early = false;
        }
    }

    /// Puts what acts now among the inputs.
    pub fn put(&self, inputs: &mut [f64]) {
        for input in &self.inputs {
            inputs[input.range.clone()].copy_from_slice(input.acting());
        }
    }

    /// Takes the jumps back.
    pub fn undo_jump(&self, inputs: &mut [f64]) -> bool {
        let mut has_jumped = false;
        for input in &self.inputs {
            has_jumped |= undo(&input.range, input.acting(), &input.acted, inputs);
        }
        has_jumped
    }

    pub fn have_jumped(&self) -> bool {
        self.inputs
            .iter()
            .any(|input| input.acting() != input.acted)
    }

    /// What acts now has acted.
    pub fn pass_jump(&mut self) {
        self.inputs.iter_mut().for_each(HeldInput::pass_jump);
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(std::slice::from_mut(&mut self.reached));
        for input in &mut self.inputs {
            for values in [&mut input.newest, &mut input.due, &mut input.acted] {
                match input.is_coordinate {
                    true => visitor.vector(values),
                    false => visitor.fixed(values),
                }
            }
        }
    }
}

/// Takes a jump of these inputs back, and says whether there is one. What was added to the inputs on their way, as by
/// a compensator, stays there.
pub(crate) fn undo(
    range: &Range<usize>,
    newest: &[f64],
    acted: &[f64],
    inputs: &mut [f64],
) -> bool {
    if newest == acted || range.end > inputs.len() {
        return false;
    }
    let values = newest.iter().zip(acted);
    for (input, (newest, acted)) in inputs[range.clone()].iter_mut().zip(values) {
        *input += acted - newest;
    }
    true
}
