//! A mechanism that shows how its interface answers to forces.

use oldham_cosim::{
    Counters, EffectiveInterface, Energy, InputPort, Inputs, Linearisation, OutputPort, Ports,
    Reached, SequenceModel, State, StepError, Subsystem,
};

use crate::quantity;

/// A subsystem with one more output after its own. It may be shown again, to another fast subsystem.
pub struct Shown {
    inner: Box<dyn Subsystem>,
    ports: Ports,
    found: EffectiveInterface,
    shown: OutputPort,
}

impl Shown {
    /// Shows the coordinates on which the forces at these inputs do work, in this order, at a port of
    /// this name. A wrench works on six.
    pub fn new(inner: Box<dyn Subsystem>, name: &str, forces: &[InputPort]) -> Self {
        let mut ports = inner.ports().clone();
        let inputs: Vec<usize> = forces
            .iter()
            .flat_map(|&port| ports.input_range(port))
            .collect();
        let shown = ports.add_output(name, quantity(inputs.len()));
        Self {
            inner,
            ports,
            found: EffectiveInterface::at(inputs),
            shown,
        }
    }

    /// Writes accelerations, forces and mobility, a row for each coordinate.
    fn show(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        if !self.inner.interface(t, inputs, &mut self.found) {
            let message = "it cannot tell how its interface answers to forces: nothing there can move, or its joints are redundant";
            return Err(StepError::Foreign(message.into()));
        }
        let EffectiveInterface {
            inputs: components,
            acceleration,
            mobility,
        } = &self.found;
        let count = components.len();
        let rows = outputs[self.ports.output_range(self.shown)].chunks_exact_mut(count + 2);
        for (row, values) in rows.enumerate() {
            values[0] = acceleration[row];
            values[1] = inputs[components[row]];
            values[2..].copy_from_slice(&mobility[count * row..count * (row + 1)]);
        }
        Ok(())
    }

    /// Where it is shown.
    pub fn port(&self) -> OutputPort {
        self.shown
    }

    fn own_width(&self) -> usize {
        self.ports.output_range(self.shown).start
    }
}

impl Subsystem for Shown {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.inner.advance(from, to, inputs)
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let own = self.own_width();
        self.inner.outputs(t, inputs, &mut outputs[..own])?;
        self.show(t, inputs, outputs)
    }

    fn some_outputs(
        &mut self,
        wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        if wanted.contains(&self.shown) {
            return self.outputs(t, inputs, outputs);
        }
        let own = self.own_width();
        self.inner
            .some_outputs(wanted, t, inputs, &mut outputs[..own])
    }

    fn expect_correction(&mut self) {
        self.inner.expect_correction();
    }

    fn demand_accuracy(&mut self, relative: f64) {
        self.inner.demand_accuracy(relative);
    }

    fn corrects(&self) -> bool {
        self.inner.corrects()
    }

    fn correct(&mut self, t: f64, inputs: &[f64]) -> Result<(), StepError> {
        self.inner.correct(t, inputs)
    }

    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        self.inner.supply(given)
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner.state()
    }

    fn is_chartable(&self) -> bool {
        self.inner.is_chartable()
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn sharpen(&mut self) {
        self.inner.sharpen();
    }

    fn energy(&mut self, t: f64, inputs: &[f64]) -> Option<Energy> {
        self.inner.energy(t, inputs)
    }

    /// What it shows is no part of a linear system: it is a matrix.
    fn linearise(&mut self, _t: f64, _inputs: &[f64]) -> Option<Linearisation> {
        None
    }

    fn sequence_model(&mut self, _t: f64, _inputs: &[f64]) -> Option<SequenceModel> {
        None
    }

    fn interface(&mut self, t: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool {
        self.inner.interface(t, inputs, found)
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}
