//! The description of a controller, as plain data.

use oldham_cosim::Unit;
use oldham_expression::Expression;

/// A controller: inputs, states, signals, delays and outputs, each with a name. An expression may
/// use the time `t` and the names of inputs, states, signals and delays, in any order.
#[derive(Clone, Debug, Default)]
pub struct Controller {
    pub(crate) inputs: Vec<(String, Unit)>,
    pub(crate) states: Vec<State>,
    pub(crate) signals: Vec<(String, Expression)>,
    pub(crate) delays: Vec<Delay>,
    pub(crate) outputs: Vec<(String, Unit, Expression)>,
    /// The sample period in s, if it is sampled.
    pub(crate) sample: Option<f64>,
}

/// Something that is remembered.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub name: String,
    pub initial: f64,
    /// The rate; of a sampled controller, the next value.
    pub change: Expression,
}

/// Something as it was some time ago.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    pub name: String,
    pub input: Expression,
    pub time: f64,
    /// What it was before the start.
    pub initial: f64,
}

/// When a controller advances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Initial time in s.
    pub start: f64,
    /// Macro step of the controller in s.
    pub step: f64,
}

impl Controller {
    /// A controller that is sampled with this period in s: what it computes at a sample is held until
    /// the next one.
    pub fn sampled(period: f64) -> Self {
        Self {
            sample: Some(period),
            ..Self::default()
        }
    }

    /// The sample period in s, if it is sampled.
    pub fn sample(&self) -> Option<f64> {
        self.sample
    }

    /// A number that it receives.
    pub fn input(&mut self, name: &str, unit: Unit) {
        self.inputs.push((name.to_owned(), unit));
    }

    /// A state by its rate; of a sampled controller, by its next value.
    pub fn state(&mut self, name: &str, initial: f64, change: Expression) {
        self.states.push(State {
            name: name.to_owned(),
            initial,
            change,
        });
    }

    /// A number that follows from others at the same instant.
    pub fn signal(&mut self, name: &str, value: Expression) {
        self.signals.push((name.to_owned(), value));
    }

    /// Something as it was `time` seconds ago, and `initial` before the start.
    pub fn delay(&mut self, name: &str, input: Expression, time: f64, initial: f64) {
        self.delays.push(Delay {
            name: name.to_owned(),
            input,
            time,
            initial,
        });
    }

    /// A number that it sends.
    pub fn output(&mut self, name: &str, unit: Unit, value: Expression) {
        self.outputs.push((name.to_owned(), unit, value));
    }
}
