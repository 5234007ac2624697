//! A compensator at work: it stands between what a subsystem receives and what it uses.

use std::ops::Range;

use oldham_cosim::{InputLayer, InputPort, Inputs, OutputPort, Ports, Predictor, State, Visitor};

use crate::feedback::Loop;
use crate::kinematic::Kinematic;
use crate::law::{Compensation, CompensatorRow, Signal};

/// Forces that change by less than this part of their terms have converged.
const SETTLED: f64 = 1e-13;

/// The rows of a compensation, with what they add now.
pub(crate) struct Compensator {
    sampled: Vec<CompensatorRow>,
    running: Vec<CompensatorRow>,
    amended: Vec<CompensatorRow>,
    /// What the sampled rows add now.
    pub forces: Vec<f64>,
    /// Own outputs as last evaluated, continued where the subsystem does not tell its motion.
    seen: Kinematic,
    /// Own outputs at the time for which inputs are asked.
    own: Vec<f64>,
    /// Own outputs that running rows read, with their places.
    followed: Vec<(InputPort, Range<usize>)>,
    /// Number of inputs of the subsystem inside; what is heard of others stands behind them.
    inputs: usize,
    /// All inputs while the subsystem inside asks for its own.
    answered: Vec<f64>,
    /// Values of all signals of sampled rows, then of amendments, as last used.
    pub readings: Vec<f64>,
    feedback: Loop,
}

impl Compensator {
    /// For a subsystem with these ports, and so many components that are heard of others.
    pub fn new(law: Compensation, ports: &Ports, heard: usize) -> Self {
        let terms = |rows: &[CompensatorRow]| rows.iter().map(|row| row.terms.len()).sum::<usize>();
        let (sampled, amended) = (terms(&law.sampled), terms(&law.amended));
        Self {
            forces: vec![0.0; law.sampled.len()],
            seen: Kinematic::new(0.0, &mirrored(ports)),
            own: vec![0.0; ports.output_width()],
            followed: followed(&law.running, ports),
            inputs: ports.input_width(),
            answered: vec![0.0; ports.input_width() + heard],
            readings: vec![0.0; sampled + amended],
            feedback: Loop::new(law.sampled.len(), sampled),
            sampled: law.sampled,
            running: law.running,
            amended: law.amended,
        }
    }

    /// Adds the corrections for time t to predicted inputs.
    pub fn correct(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        for (row, force) in self.sampled.iter().zip(&self.forces) {
            inputs[row.target] += force;
        }
        if self.running.is_empty() {
            return;
        }
        let own = match now {
            Some(now) => now,
            None if self.followed.is_empty() => &self.own,
            None => {
                self.seen.predict(t, None, &mut self.own);
                &self.own
            }
        };
        for row in &self.running {
            let value = |signal| read(signal, own, inputs, self.inputs);
            let terms = row.terms.iter();
            let sum: f64 = terms.map(|&(signal, gain)| gain * value(signal)).sum();
            inputs[row.target] += row.offset + sum;
        }
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

    /// Hands over what each amendment adds to a component of outputs that were just evaluated with
    /// these inputs.
    pub fn amend(&mut self, inputs: &[f64], outputs: &[f64], mut add: impl FnMut(usize, f64)) {
        let start = self.feedback.signals;
        let mut readings = self.readings[start..].iter_mut();
        for row in &self.amended {
            let mut amendment = row.offset;
            for (&(signal, gain), reading) in row.terms.iter().zip(&mut readings) {
                *reading = read(signal, outputs, inputs, self.inputs);
                amendment += gain * *reading;
            }
            add(row.target, amendment);
        }
    }

    /// Pushes with a row besides what its gains make: sampled rows first, then amendments.
    pub fn push(&mut self, row: usize, offset: f64) {
        let mut rows = self.sampled.iter_mut().chain(&mut self.amended);
        rows.nth(row).expect("the compensator has this row").offset = offset;
    }

    pub fn feedback_is_known(&self) -> bool {
        self.feedback.is_known()
    }

    /// Reads the signals of the sampled rows.
    pub fn sample(&mut self, inputs: &[f64], outputs: &[f64]) -> &[f64] {
        let signals = self.sampled.iter().flat_map(|row| &row.terms);
        for (reading, &(signal, _)) in self.readings.iter_mut().zip(signals) {
            *reading = read(signal, outputs, inputs, self.inputs);
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
        self.feedback.close(&self.sampled)
    }

    /// Moves the forces to where they follow from the sampled signals, those that change with them
    /// included. Returns whether they have converged.
    pub fn settle(&mut self) -> bool {
        let count = self.forces.len();
        let (mut at, mut scale) = (0, 0.0);
        for (index, row) in self.sampled.iter().enumerate() {
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

impl InputLayer for Compensator {
    fn answer(&mut self, outer: &mut Inputs, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        let mut answered = std::mem::take(&mut self.answered);
        match now {
            Some(now) => outer.at_with(t, now, &mut answered),
            None => outer.at(t, &mut answered),
        }
        self.correct(t, now, &mut answered);
        inputs.copy_from_slice(&answered[..self.inputs]);
        self.answered = answered;
    }

    fn follows_own_motion(&self) -> bool {
        !self.followed.is_empty()
    }
}

impl State for Compensator {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.forces);
        // The subsystem's own motion as it was last evaluated. Where that depends on inputs which
        // the compensator corrects by it, this is a recurrence of its own, and may grow.
        self.seen.visit(visitor);
        // What was learned once must be the same bits in a continued run.
        visitor.count(&mut self.feedback.known);
        visitor.fixed(&mut self.feedback.response);
        if self.feedback.is_known() {
            self.feedback.prepare(&self.sampled);
        }
    }
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

/// A signal, where remote outputs stand among all inputs from a place on.
fn read(signal: Signal, own: &[f64], inputs: &[f64], remote: usize) -> f64 {
    match signal {
        Signal::Own(component) => own[component],
        Signal::Received(component) => inputs[component],
        Signal::RemoteSignal(component) => inputs[remote + component],
    }
}
