//! The predictor of a subsystem that hears more than its own inputs.

use oldham_cosim::{InputPort, Ports, Predictor, State, Visitor};

use crate::law::RemoteSignal;

/// Predicts the inputs of a subsystem as before, and what is heard of others behind them.
pub(crate) struct Listening {
    own: Box<dyn Predictor>,
    /// Ports and components of the subsystem itself.
    inputs: (usize, usize),
    outputs: usize,
    remote: Vec<RemoteSignal>,
}

impl Listening {
    /// For a subsystem with these ports of its own.
    pub fn new(own: Box<dyn Predictor>, ports: &Ports, remote: Vec<RemoteSignal>) -> Self {
        Self {
            own,
            inputs: (ports.inputs().len(), ports.input_width()),
            outputs: ports.output_width(),
            remote,
        }
    }
}

impl Predictor for Listening {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        let Some(mut heard) = port.0.checked_sub(self.inputs.0) else {
            return self.own.receive(port, t, values);
        };
        for remote in &mut self.remote {
            match heard.checked_sub(remote.senders.len()) {
                None => return remote.predictor.receive(InputPort(heard), t, values),
                Some(later) => heard = later,
            }
        }
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        self.own.sent(t, &outputs[..self.outputs]);
    }

    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        let (own, mut heard) = inputs.split_at_mut(self.inputs.1);
        self.own.predict(t, now, own);
        for remote in &mut self.remote {
            let (values, later) = heard.split_at_mut(remote.ports.input_width());
            remote.predictor.predict(t, None, values);
            heard = later;
        }
    }

    fn reset(&mut self) {
        self.own.reset();
        for remote in &mut self.remote {
            remote.predictor.reset();
        }
    }

    fn note(&self) -> Option<String> {
        self.own.note()
    }
}

impl State for Listening {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.own.visit(visitor);
        for remote in &mut self.remote {
            remote.predictor.visit(visitor);
        }
    }
}
