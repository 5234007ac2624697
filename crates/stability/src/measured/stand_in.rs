//! A measured model in the place of the part that it was measured of.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{Inputs, Ports, Reached, State, StepError, Subsystem, Visitor};

use super::driver::NODES;
use super::realisation::Realisation;
use super::responses::Responses;

/// A linear part about a moment: of changes of its inputs it makes changes of its outputs.
///
/// The model goes from period to period of the part; within one, outputs follow from the state at its start and from
/// what was received since.
pub(super) struct StandIn {
    ports: Ports,
    model: Realisation,
    feedthrough: DMatrix<f64>,
    places: Vec<usize>,
    nodes: usize,
    period: usize,
    /// Inputs and outputs at the moment.
    inputs: Vec<f64>,
    base: Vec<f64>,
    /// State at the start of the period, what was received in it, and changes of the outputs.
    x: DVector<f64>,
    received: DVector<f64>,
    outputs: DVector<f64>,
    /// Step within the period.
    phase: u64,
    values: Vec<f64>,
    /// What was received last: changes of all samples.
    last: Vec<f64>,
}

impl StandIn {
    pub fn new(ports: &Ports, measured: &Responses, model: Realisation) -> Self {
        let per_step = measured.places.len() * measured.nodes;
        Self {
            ports: ports.clone(),
            feedthrough: measured.feedthrough.clone(),
            places: measured.places.clone(),
            nodes: measured.nodes,
            period: measured.period,
            inputs: measured.inputs.clone(),
            base: measured.outputs.clone(),
            x: DVector::zeros(model.a.nrows()),
            received: DVector::zeros(per_step * measured.period),
            outputs: DVector::zeros(measured.outputs.len()),
            phase: 0,
            values: measured.inputs.clone(),
            last: vec![0.0; per_step],
            model,
        }
    }

    /// The changes of its inputs in the last step, sample after sample.
    pub fn last_changes(&self) -> &[f64] {
        &self.last
    }

    /// One step under changes of all samples.
    pub fn push(&mut self, changes: &[f64]) {
        let per_step = self.last.len();
        self.last.copy_from_slice(changes);
        let phase = self.phase as usize;
        let at = phase * per_step;
        self.received.as_mut_slice()[at..at + per_step].copy_from_slice(changes);
        let width = self.outputs.len();
        let c = self.model.c.rows(phase * width, width);
        let d = self
            .model
            .d
            .view((phase * width, 0), (width, at + per_step));
        self.outputs = c * &self.x + d * self.received.rows(0, at + per_step);
        if phase + 1 == self.period {
            self.x = &self.model.a * &self.x + &self.model.b * &self.received;
        }
        self.phase = (self.phase + 1) % self.period as u64;
    }

    /// Changes of the outputs behind the last step.
    pub fn changes(&self) -> &[f64] {
        self.outputs.as_slice()
    }

    /// Lets one output answer by so much more.
    pub fn amplify(&mut self, output: usize, factor: f64) {
        let width = self.outputs.len();
        for phase in 0..self.period {
            let row = phase * width + output;
            self.model.c.row_mut(row).scale_mut(factor);
            self.model.d.row_mut(row).scale_mut(factor);
        }
        self.feedthrough.row_mut(output).scale_mut(factor);
    }
}

impl Subsystem for StandIn {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut changes = std::mem::take(&mut self.last);
        for node in 0..self.nodes {
            inputs.at(from + NODES[node] * (to - from), &mut self.values);
            for (input, &place) in self.places.iter().enumerate() {
                let change = self.values[place] - self.inputs[place];
                changes[node * self.places.len() + input] = change;
            }
        }
        self.last = vec![0.0; changes.len()];
        self.push(&changes);
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        for (i, output) in outputs.iter_mut().enumerate() {
            let at_once =
                self.places.iter().enumerate().map(|(j, &place)| {
                    self.feedthrough[(i, j)] * (inputs[place] - self.inputs[place])
                });
            *output = self.base[i] + self.outputs[i] + at_once.sum::<f64>();
        }
        Ok(())
    }

    fn pattern(&self) -> u64 {
        self.period as u64
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for StandIn {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(self.x.as_mut_slice());
        visitor.vector(self.received.as_mut_slice());
        visitor.vector(self.outputs.as_mut_slice());
        visitor.count(&mut self.phase);
    }
}
