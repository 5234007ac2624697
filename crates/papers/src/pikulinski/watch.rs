//! Predictors that the paper compares with, and one to look through.

use std::sync::{Arc, Mutex};

use oldham_cosim::{Hold, InputPort, Ports, Predictor, State, Visitor};

/// Holds until a time, then lets another one answer which has listened since the start.
pub(super) struct LateStart {
    hold: Hold,
    later: Box<dyn Predictor>,
    from: f64,
}

impl LateStart {
    pub fn new(ports: &Ports, later: Box<dyn Predictor>, from: f64) -> Self {
        let hold = Hold::new(0, ports);
        Self { hold, later, from }
    }
}

impl State for LateStart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.hold.visit(visitor);
        self.later.visit(visitor);
    }
}

impl Predictor for LateStart {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        self.hold.receive(port, t, values);
        self.later.receive(port, t, values);
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        self.later.sent(t, outputs);
    }

    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        // It learns when it is asked.
        self.later.predict(t, now, inputs);
        if t < self.from {
            self.hold.predict(t, now, inputs);
        }
    }

    fn reset(&mut self) {
        self.hold.reset();
        self.later.reset();
    }
}

/// Times and values of an input.
pub(super) type Log = Arc<Mutex<Vec<(f64, f64)>>>;

/// Notes what another predictor answers for the first input.
pub(super) struct Watched {
    inner: Box<dyn Predictor>,
    log: Log,
}

impl Watched {
    pub fn new(inner: Box<dyn Predictor>) -> (Self, Log) {
        let log = Log::default();
        let watched = Self {
            inner,
            log: log.clone(),
        };
        (watched, log)
    }
}

impl State for Watched {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.inner.visit(visitor);
    }
}

impl Predictor for Watched {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        self.inner.receive(port, t, values);
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        self.inner.sent(t, outputs);
    }

    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        self.inner.predict(t, now, inputs);
        if let Ok(mut log) = self.log.lock() {
            log.push((t, inputs[0]));
        }
    }

    fn reset(&mut self) {
        self.inner.reset();
    }
}
