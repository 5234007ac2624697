//! What stands in for a subsystem that panicked when it was added: a simulation with one is never built.

use crate::inputs::Inputs;
use crate::port::Ports;
use crate::predictor::Hold;
use crate::subsystem::{Reached, StepError, Subsystem};
use crate::unit::Unit;

struct Absent(Ports);

impl Subsystem for Absent {
    fn ports(&self) -> &Ports {
        &self.0
    }
    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }
    fn outputs(&mut self, _: f64, _: &[f64], _: &mut [f64]) -> Result<(), StepError> {
        Ok(())
    }
}

/// A unit without ports.
pub(super) fn absent(name: &str) -> Unit {
    let none = Ports::new();
    let hold = Box::new(Hold::new(0, &none));
    Unit::new(name, Box::new(Absent(none)), hold)
}
