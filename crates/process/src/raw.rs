//! Raw doubles: one block each way per exchange, and nothing else.
//!
//! Other multibody programs have such streams: what they call drives reads a block, what they call output writes one, at the
//! start and in each of their steps. Both sides know what the numbers are by configuration alone.

use oldham_cosim::{MOTION_QUATERNION, Ports, Quantity};
use oldham_space::{Quaternion, V3};

use crate::conversation::Conversation;
use crate::stream::{Contact, Stream};

/// Numbers of the inputs that are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Channel {
    /// So many from a place on.
    Plain(usize, usize),
    /// The rotation vector of the quaternion at a place.
    RotationVector(usize),
}

/// Parts of motions that may be named, with their places.
const PARTS: [(&str, usize, usize); 6] = [
    ("position", 0, 3),
    ("orientation", 3, 4),
    ("velocity", 7, 3),
    ("angular_velocity", 10, 3),
    ("acceleration", 13, 3),
    ("angular_acceleration", 16, 3),
];

/// What is sent: ports, and parts of them, by their names; all inputs if there are none.
pub(crate) fn channels(names: &[String], ports: &Ports) -> Result<Vec<Channel>, (usize, String)> {
    if names.is_empty() {
        return Ok(vec![Channel::Plain(0, ports.input_width())]);
    }
    let mut found = Vec::new();
    for (index, written) in names.iter().enumerate() {
        let wrong = |message: String| (index, message);
        let (name, part) = match written.split_once('.') {
            Some((name, part)) => (name, Some(part)),
            None => (written.as_str(), None),
        };
        let Some(port) = ports.input(name) else {
            return Err(wrong(format!("there is no input `{name}`")));
        };
        let range = ports.input_range(port);
        let quantity = &ports.inputs()[port.0].quantity;
        found.push(match part {
            None => Channel::Plain(range.start, range.len()),
            Some("rotation_vector") if *quantity == Quantity::Motion => {
                Channel::RotationVector(range.start + MOTION_QUATERNION.start)
            }
            Some(part) => {
                let of_motion = || {
                    let known = PARTS.iter().find(|(name, ..)| *name == part)?;
                    (*quantity == Quantity::Motion).then_some((known.1, known.2))
                };
                let component = || {
                    let mut places = 0..quantity.width();
                    let place = places.find(|&k| quantity.component_name(k) == part)?;
                    Some((place, 1))
                };
                let Some((place, count)) = of_motion().or_else(component) else {
                    return Err(wrong(format!("`{name}` has no part `{part}`")));
                };
                Channel::Plain(range.start + place, count)
            }
        });
    }
    Ok(found)
}

/// A program that speaks in raw doubles.
pub(crate) struct Raw {
    stream: Stream,
    channels: Vec<Channel>,
    buffer: Vec<u8>,
    /// What it answered at the start.
    first: Option<Vec<f64>>,
    has_stepped: bool,
}

impl Raw {
    /// Meets a program.
    pub fn open(contact: &Contact, channels: &[Channel]) -> Result<Self, String> {
        Ok(Self {
            stream: Stream::open(contact)?,
            channels: channels.to_vec(),
            buffer: Vec::new(),
            first: None,
            has_stepped: false,
        })
    }

    fn send(&mut self, inputs: &[f64]) -> Result<(), String> {
        self.buffer.clear();
        for channel in &self.channels {
            match *channel {
                Channel::Plain(place, count) => {
                    let values = inputs[place..place + count].iter();
                    self.buffer.extend(values.flat_map(|v| v.to_le_bytes()));
                }
                Channel::RotationVector(place) => {
                    let q = &inputs[place..place + 4];
                    let V3(turn) = Quaternion([q[0], q[1], q[2], q[3]]).log();
                    self.buffer
                        .extend(turn.iter().flat_map(|v| v.to_le_bytes()));
                }
            }
        }
        let buffer = std::mem::take(&mut self.buffer);
        let sent = self.stream.send(&buffer);
        self.buffer = buffer;
        sent
    }

    fn receive(
        &mut self,
        outputs: &mut [f64],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let mut bytes = std::mem::take(&mut self.buffer);
        bytes.resize(outputs.len() * 8, 0);
        let received = self.stream.receive(&mut bytes, is_cancelled);
        for (output, bytes) in outputs.iter_mut().zip(bytes.chunks_exact(8)) {
            *output = f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        self.buffer = bytes;
        received
    }
}

impl Conversation for Raw {
    /// One exchange, whatever is asked again: the other side counts them.
    fn start(&mut self, _: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), String> {
        if let Some(first) = &self.first {
            outputs.copy_from_slice(first);
            return Ok(());
        }
        self.send(inputs)?;
        self.receive(outputs, &|| false)?;
        self.first = Some(outputs.to_vec());
        Ok(())
    }

    fn begin(&mut self, _: f64, _: f64, [_, inputs]: [&[f64]; 2]) -> Result<(), String> {
        self.has_stepped = true;
        self.send(inputs)
    }

    fn finish(
        &mut self,
        outputs: &mut [f64],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        self.receive(outputs, is_cancelled)
    }

    fn outputs(&mut self, _: f64, _: &[f64], _: &mut [f64]) -> Result<(), String> {
        Err("raw doubles cannot ask for outputs again".into())
    }

    fn keeps_states(&self) -> bool {
        false
    }

    fn keep(&mut self, _: u64) -> Result<(), String> {
        Err("it has no states to go back to".into())
    }

    fn return_to(&mut self, _: u64) -> Result<(), String> {
        Err("it has no states to go back to".into())
    }

    fn may_be_used_again(&self) -> bool {
        !self.has_stepped
    }
}
