//! What a compensator does, as rows of gains.

use oldham_cosim::{OutputPort, Ports, Predictor, SubsystemId};

/// Where a compensator reads; components are places in the flat vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A component of the subsystem's own outputs.
    Own(usize),
    /// A component of what it receives.
    Received(usize),
    /// A component of all [`Compensation::remote`] outputs, one behind the other.
    RemoteSignal(usize),
}

/// One component that is corrected, and what is added to it.
#[derive(Clone, Debug, PartialEq)]
pub struct CompensatorRow {
    /// Place in the input vector, or in the output vector of an amendment.
    pub target: usize,
    /// Signals and their gains.
    pub terms: Vec<(Signal, f64)>,
    /// A constant that is added besides: analyses push the simulation with it.
    pub offset: f64,
}

impl CompensatorRow {
    /// A row without offset.
    pub fn new(target: usize, terms: Vec<(Signal, f64)>) -> Self {
        Self {
            target,
            terms,
            offset: 0.0,
        }
    }
}

/// What a subsystem's inputs and outputs are corrected by.
#[derive(Default)]
pub struct Compensation {
    /// Added to inputs; evaluated when an advance starts and held while it lasts.
    pub sampled: Vec<CompensatorRow>,
    /// Added to inputs; evaluated whenever the subsystem asks for its inputs, with its own motion
    /// of that moment where it says so.
    pub running: Vec<CompensatorRow>,
    /// Added to outputs as they are sent, not as they are recorded.
    pub amended: Vec<CompensatorRow>,
    /// Outputs of other subsystems that are received besides the connected ones.
    pub remote: Vec<RemoteSignal>,
}

impl Compensation {
    /// Takes over the rows of another compensation of the same subsystem; its remote outputs follow
    /// behind the own ones.
    pub fn merge(&mut self, other: Self) {
        let shift = self.remote_width();
        let moved = |mut row: CompensatorRow| {
            for (signal, _) in &mut row.terms {
                if let Signal::RemoteSignal(component) = signal {
                    *component += shift;
                }
            }
            row
        };
        self.sampled.extend(other.sampled);
        self.running.extend(other.running.into_iter().map(moved));
        self.amended.extend(other.amended);
        self.remote.extend(other.remote);
    }

    /// One compensation for each subsystem, from any number.
    pub fn joined(laws: Vec<(SubsystemId, Self)>) -> Vec<(SubsystemId, Self)> {
        let mut joined: Vec<(SubsystemId, Self)> = Vec::new();
        for (part, law) in laws {
            match joined.iter_mut().find(|(known, _)| *known == part) {
                Some((_, known)) => known.merge(law),
                None => joined.push((part, law)),
            }
        }
        joined
    }

    pub(crate) fn remote_width(&self) -> usize {
        self.remote
            .iter()
            .map(|remote| remote.ports.input_width())
            .sum()
    }
}

/// Outputs of other subsystems that a compensator listens to.
pub struct RemoteSignal {
    /// Whose outputs, in the order of the ports.
    pub senders: Vec<(SubsystemId, OutputPort)>,
    /// An input for each of them.
    pub ports: Ports,
    /// Predicts them between exchanges.
    pub predictor: Box<dyn Predictor>,
}
