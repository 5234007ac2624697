//! A kind of subsystem: a position servo.

use oldham_cosim::{Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Unit, Visitor};
use oldham_model::{Context, ForeignPart};
use schemars::JsonSchema;
use serde::Deserialize;

// ANCHOR: subsystem
/// A position servo: it follows a commanded position with a lag, T x' = u - x.
#[derive(Deserialize, JsonSchema)]
pub struct Settings {
    /// The time constant T in s.
    #[schemars(extend("exclusiveMinimum" = 0))]
    lag: f64,
    /// The position in m at the start.
    #[serde(default)]
    start: f64,
}

pub fn make(settings: Settings, _: &mut Context<'_>) -> Option<impl ForeignPart + use<>> {
    Some(move |micro_steps: usize| {
        let servo = Servo::new(settings.lag, settings.start, micro_steps);
        Ok(Box::new(servo) as Box<dyn Subsystem>)
    })
}
// ANCHOR_END: subsystem

struct Servo {
    ports: Ports,
    lag: f64,
    micro_steps: usize,
    position: f64,
    command: [f64; 1],
}

impl Servo {
    fn new(lag: f64, position: f64, micro_steps: usize) -> Self {
        let mut ports = Ports::new();
        ports.add_input("command", Quantity::Scalar(Unit::METRE));
        ports.add_output("position", Quantity::Scalar(Unit::METRE));
        Self {
            ports,
            lag,
            micro_steps,
            position,
            command: [0.0],
        }
    }
}

impl Subsystem for Servo {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let step = (to - from) / self.micro_steps as f64;
        for index in 0..self.micro_steps {
            inputs.at(from + (index as f64 + 0.5) * step, &mut self.command);
            let [target] = self.command;
            self.position = target + (self.position - target) * (-step / self.lag).exp();
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _t: f64, _inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs[0] = self.position;
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Servo {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(std::slice::from_mut(&mut self.position));
    }
}
