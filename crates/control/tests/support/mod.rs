//! A controller alone, driven by functions of time.

use oldham_control::{Control, Controller, Timing};
use oldham_cosim::{Hold, InputPort, Inputs, Source, Subsystem};
use oldham_expression::Expression;

pub fn parse(text: &str, names: &[&str]) -> Expression {
    Expression::parse(text, names).expect(text)
}

struct Function<F>(F);

impl<F: Fn(f64) -> f64 + Send> Source for Function<F> {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        out[0] = (self.0)(t);
    }
}

/// A controller with its only input driven.
pub struct Driven {
    pub control: Control,
    pub inputs: Inputs,
    step: f64,
    steps: u32,
}

impl Driven {
    pub fn new(
        controller: &Controller,
        step: f64,
        input: impl Fn(f64) -> f64 + Send + 'static,
    ) -> Self {
        let control = Control::new(controller, Timing { start: 0.0, step }).unwrap();
        let ports = control.ports().clone();
        let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
        if !ports.inputs().is_empty() {
            inputs.drive(&ports, InputPort(0), Box::new(Function(input)));
        }
        Self {
            control,
            inputs,
            step,
            steps: 0,
        }
    }

    pub fn time(&self) -> f64 {
        f64::from(self.steps) * self.step
    }

    /// Advances by one macro step and gives the outputs at its end.
    pub fn step(&mut self) -> Vec<f64> {
        let from = self.time();
        self.steps += 1;
        let to = self.time();
        self.control.advance(from, to, &mut self.inputs).unwrap();
        self.outputs()
    }

    pub fn outputs(&mut self) -> Vec<f64> {
        let ports = self.control.ports();
        let mut inputs = vec![0.0; ports.input_width()];
        let mut outputs = vec![0.0; ports.output_width()];
        let t = self.time();
        self.inputs.at(t, &mut inputs);
        self.control.outputs(t, &inputs, &mut outputs).unwrap();
        outputs
    }
}
