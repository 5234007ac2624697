//! Which inputs are predicted, and which outputs are controls: their places in the vectors of a subsystem.

use std::ops::Range;

use oldham_cosim::Ports;

use crate::error::DmdError;
use crate::rounding::{copy_group, groups};
use crate::settings::{Controls, Received};

/// An input port that is predicted.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// Its place in the subsystem's input vector.
    pub target: Range<usize>,
    /// Its place among the received components.
    pub place: Range<usize>,
    /// Components that are compared with each other to tell rounding, within the port.
    pub groups: Vec<Range<usize>>,
    /// One if a sample arrived, else zero: nothing is said about ports that nothing feeds.
    pub fed: u64,
}

impl Port {
    /// Copies a sample to its place among the received components, without what is rounding.
    pub fn copy(&self, values: &[f64], received: &mut [f64]) {
        let place = &mut received[self.place.clone()];
        for group in &self.groups {
            copy_group(&values[group.clone()], &mut place[group.clone()]);
        }
    }
}

/// What a learning predictor receives and sees being sent.
pub(crate) struct Selection {
    /// The inputs that are predicted.
    pub ports: Vec<Port>,
    /// Where each input of the subsystem is among those.
    pub chosen: Vec<Option<usize>>,
    /// Places of the controls among the outputs.
    pub controls: Vec<usize>,
    /// The same by groups of components that are compared with each other.
    pub control_groups: Vec<Range<usize>>,
    /// Ports of the received components alone.
    pub received: Ports,
}

impl Selection {
    pub fn new(ports: &Ports, received: &Received, controls: &Controls) -> Result<Self, DmdError> {
        let controls = controls.ports(ports)?;
        let places = controls.iter().flat_map(|&port| ports.output_range(port));
        let control_groups = controls.iter().flat_map(|&port| {
            let start = ports.output_range(port).start;
            let groups = groups(&ports.outputs()[port.0].quantity).into_iter();
            groups.map(move |group| start + group.start..start + group.end)
        });
        let mut selection = Self {
            ports: Vec::new(),
            chosen: vec![None; ports.inputs().len()],
            controls: places.collect(),
            control_groups: control_groups.collect(),
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
                groups: groups(&port.quantity),
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
