//! A linear part in the place of the one that it was found of.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{Inputs, Ports, Reached, State, StepError, Subsystem, Visitor};

use super::linear::LinearPart;
use super::script::SHARES;

/// Goes along with the motion of the reference, and answers to what is received otherwise than there.
pub(super) struct StandIn {
    ports: Ports,
    part: Arc<LinearPart>,
    /// Macro steps done.
    step: u64,
    x: DVector<f64>,
    /// Changes of the outputs behind the last step.
    y: DVector<f64>,
    values: Vec<f64>,
}

impl StandIn {
    pub fn new(ports: &Ports, part: Arc<LinearPart>) -> Self {
        Self {
            step: 0,
            x: DVector::zeros(part.a.nrows()),
            y: DVector::zeros(part.c.nrows()),
            values: ports.initial_inputs().to_vec(),
            ports: ports.clone(),
            part,
        }
    }
}

fn times(matrix: &DMatrix<f64>, vector: &DVector<f64>) -> DVector<f64> {
    match vector.is_empty() {
        true => DVector::zeros(matrix.nrows()),
        false => matrix * vector,
    }
}

impl Subsystem for StandIn {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let part = &self.part;
        let width = part.places.len();
        let received = part.received.get(self.step as usize).ok_or_else(over)?;
        let mut changes = DVector::zeros(SHARES.len() * width);
        for (node, share) in SHARES.iter().enumerate() {
            inputs.at(from + share * (to - from), &mut self.values);
            for (input, &place) in part.places.iter().enumerate() {
                let sample = node * width + input;
                changes[sample] = self.values[place] - received[sample];
            }
        }
        self.y = times(&part.c, &self.x) + times(&part.d, &changes);
        self.x = times(&part.a, &self.x) + times(&part.b, &changes);
        self.step += 1;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let (part, step) = (&self.part, self.step as usize);
        let (Some(sent), Some(usual)) = (part.sent.get(step), part.inputs.get(step)) else {
            return Err(over());
        };
        for (i, output) in outputs.iter_mut().enumerate() {
            *output = sent[i] + self.y[i];
            for (input, &place) in part.places.iter().enumerate() {
                *output += part.at_once[(i, input)] * (inputs[place] - usual[place]);
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

fn over() -> StepError {
    StepError::Foreign("it is not known beyond the motion of the reference".into())
}

impl State for StandIn {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.step);
        visitor.vector(self.x.as_mut_slice());
        visitor.vector(self.y.as_mut_slice());
    }
}
