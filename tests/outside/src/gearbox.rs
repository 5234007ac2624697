//! Two kinds of subsystems whose ports carry whole numbers, flags and arrays: a gearbox, and who shifts it.

use oldham_cosim::{Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Unit, Visitor};
use oldham_model::{At, Context, ForeignPart, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Speeds of the shafts at the gearbox.
const SHAFTS: usize = 3;

/// Shifts from gear to gear at given times, and opens the clutch at the last one.
#[derive(Deserialize, JsonSchema)]
pub struct Shifting {
    /// The times in s at which the next gear is engaged; at the last one the clutch opens.
    times: At<Vec<f64>>,
}

pub fn shifter(settings: Shifting, context: &mut Context<'_>) -> Option<impl ForeignPart + use<>> {
    let At { value: times, span } = settings.times;
    if times.len() > SHAFTS {
        let problem = Problem::new(span, format!("there are {SHAFTS} gears"));
        context.report(problem.help("leave some times out"));
        return None;
    }
    Some(move |_: usize| Ok(Box::new(Shifter::new(times.clone())) as Box<dyn Subsystem>))
}

struct Shifter {
    ports: Ports,
    times: Vec<f64>,
}

impl Shifter {
    fn new(times: Vec<f64>) -> Self {
        let mut ports = Ports::new();
        ports.add_output("gear", Quantity::Whole);
        ports.add_output("closed", Quantity::Flag);
        Self { ports, times }
    }
}

impl Subsystem for Shifter {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, _: f64, to: f64, _: &mut Inputs) -> Result<Reached, StepError> {
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        let shifts = self.times.iter().filter(|&&time| time <= t + 1e-9).count();
        outputs[0] = (1 + shifts.min(SHAFTS - 1)) as f64;
        outputs[1] = f64::from(shifts < self.times.len());
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Shifter {
    fn visit(&mut self, _: &mut dyn Visitor) {}
}

/// Turns at the speed of one of its shafts, as long as the clutch is closed.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

pub fn gearbox(_: Nothing, _: &mut Context<'_>) -> Option<impl ForeignPart + use<>> {
    Some(|micro_steps: usize| Ok(Box::new(Gearbox::new(micro_steps)) as Box<dyn Subsystem>))
}

struct Gearbox {
    ports: Ports,
    micro_steps: usize,
    angle: f64,
    received: [f64; 2 + SHAFTS],
}

impl Gearbox {
    fn new(micro_steps: usize) -> Self {
        let mut ports = Ports::new();
        ports.add_input("gear", Quantity::Whole);
        ports.add_input("closed", Quantity::Flag);
        ports.add_input("speeds", Quantity::Array(Unit::RADIAN_PER_SECOND, SHAFTS));
        ports.add_output("angle", Quantity::Scalar(Unit::RADIAN));
        ports.add_output("seen", Quantity::Array(Unit::RADIAN_PER_SECOND, SHAFTS));
        Self {
            ports,
            micro_steps,
            angle: 0.0,
            received: [0.0; 2 + SHAFTS],
        }
    }
}

impl Subsystem for Gearbox {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let step = (to - from) / self.micro_steps as f64;
        for index in 0..self.micro_steps {
            inputs.at(from + (index as f64 + 0.5) * step, &mut self.received);
            let [gear, closed, speeds @ ..] = self.received;
            if closed == 1.0 {
                // A gear that is no whole number is no gear.
                let shaft = (gear.fract() == 0.0).then_some(gear as usize - 1);
                let speed = shaft.and_then(|shaft| speeds.get(shaft));
                let speed = speed.ok_or_else(|| StepError::Foreign(format!("no gear {gear}")))?;
                self.angle += step * speed;
            }
        }
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, _: f64, _: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        outputs[0] = self.angle;
        outputs[1..].copy_from_slice(&self.received[2..]);
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}

impl State for Gearbox {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(std::slice::from_mut(&mut self.angle));
        visitor.fixed(&mut self.received);
    }
}
