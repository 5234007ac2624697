//! A predictor: motions along a line are continued by their own velocity and acceleration.

use oldham_cosim::{Hold, InputPort, Ports, Predictor, Quantity, State, Visitor};
use oldham_model::Context;
use schemars::JsonSchema;
use serde::Deserialize;

// ANCHOR: predictor
/// Received motions along a line are continued by their velocity and acceleration; what else is
/// received is held.
#[derive(Deserialize, JsonSchema)]
pub struct Settings {
    /// Whether the acceleration is used.
    #[schemars(extend("default" = true))]
    acceleration: Option<bool>,
}

pub fn make(
    settings: Settings,
    _: &mut Context<'_>,
) -> Option<impl Fn(&Ports) -> Box<dyn Predictor> + use<>> {
    let uses_acceleration = settings.acceleration.unwrap_or(true);
    Some(move |ports: &Ports| Box::new(Taylor::new(ports, uses_acceleration)) as _)
}
// ANCHOR_END: predictor

/// Holds the newest sample, and knows its time.
struct Taylor {
    hold: Hold,
    uses_acceleration: bool,
    /// First components of motions along a line, by port.
    motions: Vec<(InputPort, usize)>,
    times: Vec<f64>,
    has_samples: u64,
}

impl Taylor {
    fn new(ports: &Ports, uses_acceleration: bool) -> Self {
        let all = ports.inputs().iter().enumerate();
        let along = all.filter(|(_, port)| port.quantity == Quantity::Translation);
        let motions: Vec<_> = along
            .map(|(index, _)| (InputPort(index), ports.input_range(InputPort(index)).start))
            .collect();
        Self {
            hold: Hold::new(0, ports),
            uses_acceleration,
            times: vec![0.0; motions.len()],
            motions,
            has_samples: 0,
        }
    }
}

impl Predictor for Taylor {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        self.hold.receive(port, t, values);
        if let Some(place) = self.motions.iter().position(|(motion, _)| *motion == port) {
            self.times[place] = t;
            self.has_samples = 1;
        }
    }

    fn predict(&mut self, t: f64, now: Option<&[f64]>, inputs: &mut [f64]) {
        self.hold.predict(t, now, inputs);
        if self.has_samples == 0 {
            return;
        }
        for (&(_, first), sampled) in self.motions.iter().zip(&self.times) {
            let ahead = t - sampled;
            let a = if self.uses_acceleration {
                inputs[first + 2]
            } else {
                0.0
            };
            inputs[first] += ahead * (inputs[first + 1] + 0.5 * ahead * a);
            inputs[first + 1] += ahead * a;
        }
    }

    fn reset(&mut self) {
        self.hold.reset();
    }
}

impl State for Taylor {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.hold.visit(visitor);
        visitor.fixed(&mut self.times);
        visitor.count(&mut self.has_samples);
    }
}
