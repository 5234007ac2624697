//! A mechanism that shows how its interface answers to forces.

use oldham_cosim::{
    Accuracy, Counters, EffectiveInterface, EnergyBalance, InputPort, Inputs, InterfaceResponse,
    OutputPort, Ports, Quantity, Reached, State, StepCorrection, StepError, Subsystem, Switches,
};

use crate::meeting::accelerations;
use crate::{momentum, quantity};

/// A subsystem with one more output after its own. It may be shown again, to another fast subsystem.
pub struct Shown {
    inner: Box<dyn Subsystem>,
    ports: Ports,
    found: EffectiveInterface,
    shown: OutputPort,
}

impl Shown {
    /// Shows the coordinates on which the forces at these inputs do work, or whose motions they receive, in this order, at a
    /// port of this name. A wrench works on six, and a pose has six.
    pub fn new(inner: Box<dyn Subsystem>, name: &str, received: &[InputPort]) -> Self {
        let mut ports = inner.ports().clone();
        let causes = |&port: &InputPort| {
            let range = ports.input_range(port);
            match ports.inputs()[port.0].quantity {
                ref motion @ (Quantity::Translation | Quantity::Rotation | Quantity::Motion) => {
                    accelerations(motion, range)
                }
                _ => range,
            }
        };
        let inputs: Vec<usize> = received.iter().flat_map(causes).collect();
        let shown = ports.add_output(name, quantity(inputs.len()));
        Self {
            inner,
            ports,
            found: EffectiveInterface::at(inputs),
            shown,
        }
    }

    /// Writes answers, what acted and mobility, a row for each coordinate.
    fn show(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let response = self.inner.interface_response();
        let formula = response
            .as_ref()
            .and_then(|response| response.momentum_formula());
        if !response.is_some_and(|response| response.interface(t, inputs, &mut self.found)) {
            let message = "it cannot tell how its interface answers: nothing there can move, or its joints are redundant";
            return Err(StepError::Foreign(message.into()));
        }
        let EffectiveInterface {
            inputs: components,
            answers,
            mobility,
        } = &self.found;
        let count = components.len();
        let rows = outputs[self.ports.output_range(self.shown)].chunks_exact_mut(count + 2);
        for (row, values) in rows.enumerate() {
            if row == count {
                momentum::show(formula, values);
                continue;
            }
            values[0] = answers[row];
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

    fn version(&self, output: OutputPort) -> Option<u64> {
        (output != self.shown).then(|| self.inner.version(output))?
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn work(&self) -> f64 {
        self.inner.work()
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn pattern(&self) -> u64 {
        self.inner.pattern()
    }

    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        self.inner.switches(t, inputs, found);
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner.state()
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        self.inner.energy_balance()
    }

    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        self.inner.step_correction()
    }

    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        self.inner.accuracy()
    }

    // What it shows is a matrix, and no part of a linear system: it is not linearisable.

    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        self.inner.interface_response()
    }
}
