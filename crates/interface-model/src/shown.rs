//! A mechanism that shows how its interface answers to forces.

use oldham_cosim::{
    Decorator, EffectiveInterface, InputPort, Linearisable, Linearisation, OutputPort, Ports,
    Quantity, SequenceModel, StepError, Subsystem,
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

/// What it shows besides is its own; all else is that of the inner subsystem.
impl Decorator for Shown {
    fn inner(&self) -> &dyn Subsystem {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Subsystem {
        &mut *self.inner
    }

    fn ports(&self) -> &Ports {
        &self.ports
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
            return Decorator::outputs(self, t, inputs, outputs);
        }
        let own = self.own_width();
        self.inner
            .some_outputs(wanted, t, inputs, &mut outputs[..own])
    }

    fn version(&self, output: OutputPort) -> Option<u64> {
        (output != self.shown).then(|| self.inner.version(output))?
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        let can = self.inner.linearisable().is_some();
        can.then_some(self as &mut dyn Linearisable)
    }
}

/// That of the inner subsystem. What is shown is a matrix from which motions are predicted between communication
/// points; a linear system has none, so that its rows are zero.
#[deny(clippy::missing_trait_methods)]
impl Linearisable for Shown {
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        let mut found = self.inner.linearisable()?.linearise(t, inputs)?;
        let shown = self.ports.output_range(self.shown).len();
        found.c.extend(vec![0.0; shown * found.states]);
        found.d.extend(vec![0.0; shown * self.ports.input_width()]);
        Some(found)
    }

    fn not_linear(&mut self) -> Option<String> {
        self.inner.linearisable()?.not_linear()
    }

    fn state_names(&mut self) -> Vec<String> {
        let inner = self.inner.linearisable();
        inner.map_or_else(Vec::new, |inner| inner.state_names())
    }

    fn sequence_model(&mut self, t: f64, step: f64, inputs: &[f64]) -> Option<SequenceModel> {
        let inner = self.inner.linearisable()?;
        inner.sequence_model(t, step, inputs)
    }
}
