//! A predictor that is an object in Python.

use std::sync::Arc;

use oldham_cosim::{Hold, InputPort, Ports, Predictor, State, Visitor};

use crate::callbacks::{Array, Method, Object, Solver};

/// A predictor in Python. Samples are collected here; the object sees all inputs at once: `receive` with the
/// newest values at a time, `predict` for another time.
pub struct PythonPredictor {
    object: Arc<Object>,
    width: usize,
    /// The newest samples.
    newest: Hold,
    /// Nothing where the object has failed to start.
    solver: Option<Solver>,
    /// Time of samples that the object has not seen yet.
    pending: [f64; 1],
    is_pending: u64,
}

impl PythonPredictor {
    pub fn new(object: &Arc<Object>, ports: &Ports) -> Self {
        let width = ports.input_width();
        Self {
            object: object.clone(),
            width,
            newest: Hold::new(0, ports),
            solver: started(object, width),
            pending: [0.0],
            is_pending: 0,
        }
    }

    /// Shows the samples of one time to the object; nothing if it failed.
    fn show(&mut self) -> Option<()> {
        if std::mem::take(&mut self.is_pending) == 0 {
            return Some(());
        }
        let [t] = self.pending;
        let solver = self.solver.as_mut()?;
        self.newest.predict(t, None, solver.array(Array::Received));
        solver.call(Method::Receive, t, 0.0).ok()
    }
}

fn started(object: &Arc<Object>, width: usize) -> Option<Solver> {
    Solver::new(object, width).ok().map(|(solver, _)| solver)
}

impl Predictor for PythonPredictor {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        if self.is_pending == 1 && self.pending[0] != t && self.show().is_none() {
            self.solver = None;
        }
        self.newest.receive(port, t, values);
        self.pending = [t];
        self.is_pending = 1;
    }

    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        self.newest.predict(t, now, inputs);
        let predicted = self.show().and_then(|()| {
            let solver = self.solver.as_mut()?;
            solver.call(Method::Predict, t, 0.0).ok()?;
            inputs.copy_from_slice(solver.array(Array::Given));
            Some(())
        });
        if predicted.is_none() {
            // A predictor cannot fail: what it predicts stops the run at the part that receives it.
            inputs.fill(f64::NAN);
        }
    }

    fn reset(&mut self) {
        self.newest.reset();
        self.solver = started(&self.object, self.width);
        self.is_pending = 1;
    }
}

impl State for PythonPredictor {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.newest.visit(visitor);
        if let Some(solver) = &mut self.solver {
            solver.visit(visitor);
        }
        visitor.fixed(&mut self.pending);
        visitor.count(&mut self.is_pending);
    }
}
