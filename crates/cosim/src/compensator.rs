//! Compensators: linear feedback that undoes what a delayed exchange does to a coupled motion.
//!
//! A compensator stands between what a subsystem receives and what it uses. Its rows add forces to
//! inputs and amend outputs as they are sent; what a row adds is a sum of gains times signals.
//! Where a signal depends on the very force that is computed from it (accelerations do), the loop
//! is solved: see [`Loop`].

use std::ops::Range;

use crate::kinematic::Kinematic;
use crate::port::{InputPort, OutputPort, Ports};
use crate::predictor::Predictor;
use crate::schedule::SubsystemId;
use crate::state::{State, Visitor};

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

    fn remote_width(&self) -> usize {
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

/// A compensation at work.
pub(crate) struct Compensator {
    pub law: Compensation,
    /// What the sampled rows add now.
    forces: Vec<f64>,
    /// What the amendments add to the outputs that were last evaluated.
    amendments: Vec<f64>,
    /// Own outputs as last evaluated, continued where the subsystem does not tell its motion.
    seen: Kinematic,
    /// Own outputs at the time for which inputs are asked.
    own: Vec<f64>,
    /// Own outputs that sampled or running rows read.
    wanted: Vec<OutputPort>,
    /// Own outputs that running rows read, with their places.
    followed: Vec<(InputPort, Range<usize>)>,
    /// Predicted outputs of others.
    far: Vec<f64>,
    /// Values of all signals of sampled rows, then of amendments, as last used.
    readings: Vec<f64>,
    feedback: Loop,
}

impl Compensator {
    pub fn new(law: Compensation, ports: &Ports) -> Self {
        let terms = |rows: &[CompensatorRow]| rows.iter().map(|row| row.terms.len()).sum::<usize>();
        let (sampled, amended) = (terms(&law.sampled), terms(&law.amended));
        Self {
            forces: vec![0.0; law.sampled.len()],
            amendments: vec![0.0; law.amended.len()],
            seen: Kinematic::new(0.0, &mirrored(ports)),
            own: vec![0.0; ports.output_width()],
            wanted: wanted(&law, ports),
            followed: followed(&law.running, ports),
            far: vec![0.0; law.remote_width()],
            readings: vec![0.0; sampled + amended],
            feedback: Loop::new(law.sampled.len(), sampled),
            law,
        }
    }

    /// Adds the corrections for time t to predicted inputs.
    pub fn correct(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        for (row, force) in self.law.sampled.iter().zip(&self.forces) {
            inputs[row.target] += force;
        }
        if self.law.running.is_empty() {
            return;
        }
        let mut start = 0;
        for remote in &mut self.law.remote {
            let width = remote.ports.input_width();
            let far = &mut self.far[start..start + width];
            remote.predictor.predict(t, None, far);
            start += width;
        }
        let own = match now {
            Some(now) => now,
            None if self.followed.is_empty() => &self.own,
            None => {
                self.seen.predict(t, None, &mut self.own);
                &self.own
            }
        };
        for row in &self.law.running {
            let value = |signal| read(signal, own, inputs, &self.far);
            let terms = row.terms.iter();
            let sum: f64 = terms.map(|&(signal, gain)| gain * value(signal)).sum();
            inputs[row.target] += row.offset + sum;
        }
    }

    /// Whether inputs depend on the subsystem's own motion at the moment they are asked for.
    pub fn follows_own_motion(&self) -> bool {
        !self.followed.is_empty()
    }

    /// The outputs that are needed to sample.
    pub fn wanted(&self) -> &[OutputPort] {
        &self.wanted
    }

    pub fn has_sampled(&self) -> bool {
        !self.forces.is_empty()
    }

    /// Own outputs were evaluated.
    pub fn observe(&mut self, t: f64, outputs: &[f64]) {
        for (port, range) in &self.followed {
            self.seen.receive(*port, t, &outputs[range.clone()]);
        }
    }

    /// Evaluates the amendments of outputs that were just evaluated with these inputs.
    pub fn amend(&mut self, inputs: &[f64], outputs: &[f64]) {
        let start = self.feedback.signals;
        let mut readings = self.readings[start..].iter_mut();
        for (row, amendment) in self.law.amended.iter().zip(&mut self.amendments) {
            *amendment = row.offset;
            for (&(signal, gain), reading) in row.terms.iter().zip(&mut readings) {
                *reading = read(signal, outputs, inputs, &self.far);
                *amendment += gain * *reading;
            }
        }
    }

    /// Output components and what is added to them as they are sent.
    pub fn amendments(&self) -> impl Iterator<Item = (usize, f64)> {
        let rows = self.law.amended.iter();
        let targets = rows.map(|row| row.target);
        targets.zip(self.amendments.iter().copied())
    }

    /// A sample of a remote output arrived; ports of all remotes are counted on.
    pub fn receive(&mut self, InputPort(mut port): InputPort, t: f64, values: &[f64]) {
        for remote in &mut self.law.remote {
            match port.checked_sub(remote.senders.len()) {
                None => return remote.predictor.receive(InputPort(port), t, values),
                Some(later) => port = later,
            }
        }
    }

    pub fn reset(&mut self) {
        for remote in &mut self.law.remote {
            remote.predictor.reset();
        }
    }

    /// The values of all signals as last used: sampled rows, then amendments, term by term.
    pub fn readings(&self) -> &[f64] {
        &self.readings
    }

    /// The held forces, for learning how the signals depend on them.
    pub fn forces_mut(&mut self) -> &mut [f64] {
        &mut self.forces
    }

    pub fn feedback_is_known(&self) -> bool {
        self.feedback.is_known()
    }

    /// Reads the signals of the sampled rows.
    pub fn sample(&mut self, inputs: &[f64], outputs: &[f64]) -> &[f64] {
        let signals = self.law.sampled.iter().flat_map(|row| &row.terms);
        for (reading, &(signal, _)) in self.readings.iter_mut().zip(signals) {
            *reading = read(signal, outputs, inputs, &self.far);
        }
        &self.readings[..self.feedback.signals]
    }

    /// The signals changed by so much when one force grew by `size`.
    pub fn learn(&mut self, force: usize, size: f64, before: &[f64]) {
        let after = &self.readings[..self.feedback.signals];
        for (signal, (after, before)) in after.iter().zip(before).enumerate() {
            let place = signal * self.forces.len() + force;
            self.feedback.response[place] = (after - before) / size;
        }
    }

    /// All forces were learned: prepares the solution of the loop. Fails where it is singular.
    pub fn close_loop(&mut self) -> bool {
        self.feedback.close(&self.law.sampled)
    }

    /// Moves the forces to where they follow from the sampled signals, those that change with them
    /// included. Returns whether they have converged.
    pub fn settle(&mut self) -> bool {
        let count = self.forces.len();
        let (mut at, mut scale) = (0, 0.0);
        for (index, row) in self.law.sampled.iter().enumerate() {
            let mut wanted = row.offset;
            for &(_, gain) in &row.terms {
                let part = gain * self.readings[at];
                wanted += part;
                scale += part.abs();
                at += 1;
            }
            scale += row.offset.abs();
            self.feedback.missing[index] = wanted - self.forces[index];
        }
        let mut change = 0.0;
        for index in 0..count {
            let row = &self.feedback.inverse[index * count..][..count];
            let products = row.iter().zip(&self.feedback.missing);
            let step: f64 = products.map(|(a, b)| a * b).sum();
            self.forces[index] += step;
            change += step.abs();
        }
        !self.feedback.is_closed || change <= SETTLED * scale
    }
}

/// Forces that change by less than this part of their terms have converged.
const SETTLED: f64 = 1e-13;

/// The outputs that sampled and running rows read.
fn wanted(law: &Compensation, ports: &Ports) -> Vec<OutputPort> {
    let rows = [&law.sampled[..], &law.running].concat();
    let read = followed(&rows, ports);
    read.iter().map(|(port, _)| OutputPort(port.0)).collect()
}

/// The outputs that rows read, numbered as inputs of the same quantities.
fn followed(rows: &[CompensatorRow], ports: &Ports) -> Vec<(InputPort, Range<usize>)> {
    let terms = rows.iter().flat_map(|row| &row.terms);
    let signals: Vec<Signal> = terms.map(|(signal, _)| *signal).collect();
    let place = |index: usize| (InputPort(index), ports.output_range(OutputPort(index)));
    let is_read = |(_, range): &(InputPort, Range<usize>)| {
        let mut places = range.clone();
        places.any(|component| signals.contains(&Signal::Own(component)))
    };
    (0..ports.outputs().len())
        .map(place)
        .filter(is_read)
        .collect()
}

/// Inputs of the same quantities as all outputs.
fn mirrored(ports: &Ports) -> Ports {
    let mut inputs = Ports::new();
    for port in ports.outputs() {
        inputs.add_input(port.name.as_str(), port.quantity.clone());
    }
    inputs
}

fn read(signal: Signal, own: &[f64], received: &[f64], far: &[f64]) -> f64 {
    match signal {
        Signal::Own(component) => own[component],
        Signal::Received(component) => received[component],
        Signal::RemoteSignal(component) => far[component],
    }
}

/// How the signals of the sampled rows depend on the forces that are computed from them.
struct Loop {
    signals: usize,
    /// Signals by forces.
    response: Vec<f64>,
    /// Inverse of one minus gains times response, forces by forces.
    inverse: Vec<f64>,
    missing: Vec<f64>,
    /// Zero while nothing is known, then one.
    known: u64,
    /// Whether any signal depends on any force.
    is_closed: bool,
}

impl Loop {
    fn new(forces: usize, signals: usize) -> Self {
        let mut inverse = vec![0.0; forces * forces];
        inverse
            .iter_mut()
            .step_by(forces + 1)
            .for_each(|i| *i = 1.0);
        Self {
            signals,
            response: vec![0.0; signals * forces],
            inverse,
            missing: vec![0.0; forces],
            known: 0,
            is_closed: true,
        }
    }

    fn is_known(&self) -> bool {
        self.known == 1
    }

    fn close(&mut self, rows: &[CompensatorRow]) -> bool {
        self.known = 1;
        self.prepare(rows)
    }

    /// Makes the inverse from the response.
    fn prepare(&mut self, rows: &[CompensatorRow]) -> bool {
        let count = rows.len();
        self.is_closed = self.response.iter().any(|value| *value != 0.0);
        let mut matrix = vec![0.0; count * count];
        let mut signal = 0;
        for (index, row) in rows.iter().enumerate() {
            matrix[index * count + index] += 1.0;
            for (_, gain) in &row.terms {
                for force in 0..count {
                    matrix[index * count + force] -= gain * self.response[signal * count + force];
                }
                signal += 1;
            }
        }
        match invert(&mut matrix, count) {
            Some(inverse) => {
                self.inverse = inverse;
                true
            }
            None => false,
        }
    }
}

/// Gauss–Jordan elimination with partial pivoting; nothing for a singular matrix.
fn invert(matrix: &mut [f64], size: usize) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; size * size];
    inverse.iter_mut().step_by(size + 1).for_each(|i| *i = 1.0);
    let largest = matrix
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    for column in 0..size {
        let candidates = column..size;
        let size_at = |row: usize| matrix[row * size + column].abs();
        let pivot = candidates.max_by(|&a, &b| size_at(a).total_cmp(&size_at(b)))?;
        if size_at(pivot) <= f64::EPSILON * largest {
            return None;
        }
        for place in 0..size {
            matrix.swap(pivot * size + place, column * size + place);
            inverse.swap(pivot * size + place, column * size + place);
        }
        let scale = matrix[column * size + column];
        for place in 0..size {
            matrix[column * size + place] /= scale;
            inverse[column * size + place] /= scale;
        }
        for row in (0..size).filter(|&row| row != column) {
            let factor = matrix[row * size + column];
            for place in 0..size {
                matrix[row * size + place] -= factor * matrix[column * size + place];
                inverse[row * size + place] -= factor * inverse[column * size + place];
            }
        }
    }
    Some(inverse)
}

impl State for Compensator {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.forces);
        visitor.vector(&mut self.amendments);
        // The subsystem's own motion as it was last evaluated. Where that depends on inputs which
        // the compensator corrects by it, this is a recurrence of its own, and may grow.
        self.seen.visit(visitor);
        for remote in &mut self.law.remote {
            remote.predictor.visit(visitor);
        }
        // What was learned once must be the same bits in a continued run.
        visitor.count(&mut self.feedback.known);
        visitor.fixed(&mut self.feedback.response);
        if self.feedback.is_known() {
            self.feedback.prepare(&self.law.sampled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one() {
        let matrix = [0.0, 2.0, 1.0, 1.0, -1.0, 0.5, 4.0, 0.0, 3.0];
        let inverse = invert(&mut matrix.clone(), 3).expect("regular");
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3)
                    .map(|k| inverse[row * 3 + k] * matrix[k * 3 + column])
                    .sum();
                assert!((product - f64::from(u8::from(row == column))).abs() < 1e-14);
            }
        }
        assert!(invert(&mut [1.0, 2.0, 2.0, 4.0], 2).is_none());
    }
}
