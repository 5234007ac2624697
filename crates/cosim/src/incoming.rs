//! Connections as their receivers see them, sorted by when their senders send.

use std::ops::Range;

use crate::port::InputPort;
use crate::scale::Scale;
use crate::schedule::SubsystemId;

/// A connection, seen from its receiver.
#[derive(Clone)]
pub(crate) struct IncomingConnection {
    pub sender: SubsystemId,
    /// The sender releases its outputs every so many macro steps.
    pub every: u64,
    pub port: InputPort,
    /// Place of the value in the receiver's input vector.
    pub input: Range<usize>,
    /// Place of the value among the sender's outputs in the exchange buffer (first of the two
    /// buffers).
    pub sent: usize,
    /// Place of the iterate of an implicit step in the exchange buffer.
    pub iterate: usize,
    /// Place of the sender's event flag in the exchange buffer (first of the two buffers).
    pub event: usize,
    /// For what seldom changes: place of its number in the exchange buffer (first of the two
    /// buffers), and where the receiver keeps it.
    pub version: Option<(usize, usize)>,
    /// What is done to the value on its way, if anything.
    pub scale: Option<Scale>,
}

/// Which senders have sent.
#[derive(Clone, Copy)]
pub(crate) enum Delivery {
    /// All of them.
    All,
    /// Those whose outputs are evaluated again.
    OutputUpdate,
    /// The members of this phase.
    Phase(usize),
}

/// The connections that lead to a unit, sorted once by when their senders send.
#[derive(Default)]
pub(crate) struct IncomingConnections {
    pub all: Vec<IncomingConnection>,
    updated: Vec<IncomingConnection>,
    by_phase: Vec<Vec<IncomingConnection>>,
}

impl IncomingConnections {
    /// `sends` tells for each phase which subsystems send in it, `updates` which of them send
    /// again.
    pub fn new(all: Vec<IncomingConnection>, sends: &[Vec<bool>], updates: &[bool]) -> Self {
        let of = |sends: &[bool]| -> Vec<IncomingConnection> {
            let incoming = all
                .iter()
                .filter(|incoming_connection| sends[incoming_connection.sender.0]);
            incoming.cloned().collect()
        };
        Self {
            updated: of(updates),
            by_phase: sends.iter().map(|sends| of(sends)).collect(),
            all,
        }
    }

    pub fn of(&self, delivery: Delivery) -> &[IncomingConnection] {
        match delivery {
            Delivery::Phase(phase) => &self.by_phase[phase],
            Delivery::OutputUpdate => &self.updated,
            Delivery::All => &self.all,
        }
    }

    pub fn all(&self) -> &[IncomingConnection] {
        &self.all
    }
}

impl IncomingConnection {
    /// Whether the sender releases its outputs when so many macro steps are done.
    pub fn is_due(&self, steps_done: u64) -> bool {
        self.every == 1 || steps_done.is_multiple_of(self.every)
    }

    /// Does to a value what the connection does on its way.
    pub fn scale(&self, values: &mut [f64]) {
        if let Some(scale) = self.scale {
            scale.apply(values);
        }
    }
}
