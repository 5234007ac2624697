//! Inputs that jump: their senders hold a value from one sample to the next.
//!
//! A sample acts from the advance that follows it. What acted before is remembered, so that a part whose formula
//! looks back can tell by how much its loads have jumped; see [`Inputs::undo_jump`](crate::Inputs::undo_jump).

use std::ops::Range;

use crate::port::{InputPort, Ports};
use crate::state::Visitor;

/// The held inputs of one subsystem.
#[derive(Debug, Default)]
pub(crate) struct HeldInputs(Vec<HeldInput>);

#[derive(Debug)]
struct HeldInput {
    port: InputPort,
    range: Range<usize>,
    is_coordinate: bool,
    /// The newest sample, and what acted over the last advance.
    newest: Vec<f64>,
    acted: Vec<f64>,
}

impl HeldInputs {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, ports: &Ports, port: InputPort) {
        let range = ports.input_range(port);
        let initial = ports.initial_inputs()[range.clone()].to_vec();
        self.0.push(HeldInput {
            port,
            range,
            is_coordinate: ports.inputs()[port.0].quantity.is_coordinate(),
            newest: initial.clone(),
            acted: initial,
        });
    }

    /// Takes a sample, if the port is held.
    pub fn receive(&mut self, port: InputPort, values: &[f64]) -> bool {
        let mut inputs = self.0.iter_mut();
        let held = inputs.find(|input| input.port == port);
        held.map(|input| input.newest.copy_from_slice(values))
            .is_some()
    }

    /// Puts the newest samples among the inputs.
    pub fn put(&self, inputs: &mut [f64]) {
        for input in &self.0 {
            inputs[input.range.clone()].copy_from_slice(&input.newest);
        }
    }

    /// Takes the jumps back.
    pub fn undo_jump(&self, inputs: &mut [f64]) -> bool {
        let mut has_jumped = false;
        for input in &self.0 {
            let (newest, acted) = (&input.newest, &input.acted);
            has_jumped |= undo(&input.range, newest, acted, inputs);
        }
        has_jumped
    }

    pub fn have_jumped(&self) -> bool {
        self.0.iter().any(|input| input.newest != input.acted)
    }

    /// The newest samples have acted.
    pub fn pass_jump(&mut self) {
        for input in &mut self.0 {
            input.acted.copy_from_slice(&input.newest);
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        for input in &mut self.0 {
            for values in [&mut input.newest, &mut input.acted] {
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
