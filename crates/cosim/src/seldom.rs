//! Outputs that seldom change, such as matrices, are sent only when they have.
//!
//! Beside such an output a number is sent that changes with it. The receiver takes the values if it
//! does not know that number. Both forget what they know when their state is replaced.

use std::ops::Range;

use crate::exchange_buffer::ExchangeBuffer;
use crate::port::{OutputPort, Ports};
use crate::subsystem::Subsystem;

/// The number of something that was never sent or taken.
const NEVER: u64 = u64::MAX;

/// The outputs of a unit, by whether they seldom change.
pub(crate) struct SeldomOutputs {
    outputs: Vec<Seldom>,
    /// Places of all others.
    others: Vec<Range<usize>>,
}

struct Seldom {
    port: OutputPort,
    range: Range<usize>,
    /// Of the values that were evaluated last.
    version: u64,
    /// Of the values that are in each half of the exchange buffer.
    sent: [u64; 2],
}

impl SeldomOutputs {
    /// Of a subsystem with these ports, which says which they are.
    pub fn of(subsystem: &dyn Subsystem, ports: &Ports) -> Self {
        let all = (0..ports.outputs().len()).map(OutputPort);
        let (seldom, others): (Vec<_>, Vec<_>) =
            all.partition(|&port| subsystem.version(port).is_some());
        let outputs = seldom.into_iter().map(|port| Seldom {
            port,
            range: ports.output_range(port),
            version: NEVER,
            sent: [NEVER; 2],
        });
        Self {
            outputs: outputs.collect(),
            others: joined(others.into_iter().map(|port| ports.output_range(port))),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.outputs.len()
    }

    /// Which of them a port is.
    pub fn place(&self, port: OutputPort) -> Option<usize> {
        self.outputs.iter().position(|seldom| seldom.port == port)
    }

    /// Outputs were evaluated. Gives the first that is no finite number, of those that have changed.
    pub fn evaluated(&mut self, subsystem: &dyn Subsystem, outputs: &[f64]) -> Option<usize> {
        let broken = |range: &Range<usize>| {
            let mut places = range.clone();
            places.find(|&place| !outputs[place].is_finite())
        };
        let mut found = self.others.iter().find_map(broken);
        for seldom in &mut self.outputs {
            let version = subsystem.version(seldom.port).unwrap_or(NEVER);
            if version != seldom.version || version == NEVER {
                found = found.or_else(|| broken(&seldom.range));
                seldom.version = version;
            }
        }
        found
    }

    /// Writes all outputs to a half of the exchange buffer that starts at a place, those that seldom
    /// change if it does not have them; then their numbers, which stand at `versions`.
    pub fn publish(
        &mut self,
        outputs: &[f64],
        exchange: &ExchangeBuffer,
        start: usize,
        versions: usize,
        buffer: usize,
    ) {
        self.write_others(outputs, exchange, start);
        for (index, seldom) in self.outputs.iter_mut().enumerate() {
            if seldom.sent[buffer] != seldom.version || seldom.version == NEVER {
                let range = seldom.range.clone();
                exchange.write(start + range.start, &outputs[range]);
                seldom.sent[buffer] = seldom.version;
            }
            exchange.write_word(versions + index, seldom.version);
        }
    }

    /// Writes the outputs that change often.
    pub fn write_others(&self, outputs: &[f64], exchange: &ExchangeBuffer, start: usize) {
        for range in &self.others {
            exchange.write(start + range.start, &outputs[range.clone()]);
        }
    }

    /// The state was replaced: whatever was sent is not known any more.
    pub fn forget(&mut self) {
        for seldom in &mut self.outputs {
            seldom.version = NEVER;
            seldom.sent = [NEVER; 2];
        }
    }
}

/// Neighbouring ranges as one.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// The numbers that a receiver knows, by connection.
#[derive(Default)]
pub(crate) struct KnownVersions(Vec<u64>);

impl KnownVersions {
    /// A place for one more connection.
    pub fn add(&mut self) -> usize {
        self.0.push(NEVER);
        self.0.len() - 1
    }

    /// Whether this number is news to the receiver, which knows it from now on.
    pub fn is_news(&mut self, place: usize, version: u64) -> bool {
        let known = std::mem::replace(&mut self.0[place], version);
        known != version || version == NEVER
    }

    /// Most receivers know none: analyses, which replace states all the time, feel the call.
    pub fn forget(&mut self) {
        if !self.0.is_empty() {
            self.0.fill(NEVER);
        }
    }
}
