//! Which inputs are predicted, and which outputs are controls: their places in the vectors of a subsystem.

use std::ops::Range;

use oldham_cosim::Ports;

use crate::error::DmdError;
use crate::settings::{Controls, Received};

/// An input port that is predicted.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// Its place in the subsystem's input vector.
    pub target: Range<usize>,
    /// Its place among the received components.
    pub place: Range<usize>,
    /// One if a sample arrived, else zero: nothing is said about ports that nothing feeds.
    pub fed: u64,
}

/// What a learning predictor receives and sees being sent.
pub(crate) struct Selection {
    /// The inputs that are predicted.
    pub ports: Vec<Port>,
    /// Where each input of the subsystem is among those.
    pub chosen: Vec<Option<usize>>,
    /// Places of the controls among the outputs.
    pub controls: Vec<usize>,
    /// Ports of the received components alone.
    pub received: Ports,
}

impl Selection {
    pub fn new(ports: &Ports, received: &Received, controls: &Controls) -> Result<Self, DmdError> {
        let controls = controls.places(ports)?;
        let mut selection = Self {
            ports: Vec::new(),
            chosen: vec![None; ports.inputs().len()],
            controls,
            received: Ports::new(),
        };
        for (index, input) in received.inputs(ports)?.into_iter().enumerate() {
            selection.chosen[input.0] = Some(index);
            let port = &ports.inputs()[input.0];
            let place = selection
                .received
                .add_input(port.name.as_str(), port.quantity.clone());
            selection.ports.push(Port {
                target: ports.input_range(input),
                place: selection.received.input_range(place),
                fed: 0,
            });
        }
        match selection.received.input_width() {
            0 => Err(DmdError::NothingReceived),
            _ => Ok(selection),
        }
    }
}

pub(crate) fn are_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}
