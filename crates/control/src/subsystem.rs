//! The controller as the engine drives it.

use nalgebra::DMatrix;
use oldham_cosim::{
    Accuracy, Counters, Energy, EnergyBalance, Inputs, Linearisable, Linearisation, Ports,
    Quantity, Reached, State, StepError, Subsystem, Switches, Visitor,
};

use crate::adaptive::Adaptive;
use crate::controller::{Controller, Timing};
use crate::equations::{Equations, TIME};
use crate::error::ControlError;
use crate::history::History;
use crate::propagator::{LinearStep, LinearSystem, PLACES};

/// A sample lies on a communication point if it misses it by at most this part of a step.
const NEAR: f64 = 1e-6;

/// What times differ by, each relative to itself, where they are the same.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A controller that is being simulated. Nothing is allocated after its first step.
#[derive(Clone, Debug)]
pub struct Control {
    ports: Ports,
    equations: Equations,
    timing: Timing,
    states: Vec<f64>,
    histories: Vec<History>,
    method: Method,
    /// Time, inputs, states, delayed signals, signals.
    values: Vec<f64>,
    counters: Counters,
}

/// How the states go on.
#[derive(Clone, Debug)]
enum Method {
    /// By the matrix exponential.
    Exact {
        system: LinearSystem,
        propagator: LinearStep,
        inputs: Vec<f64>,
        next: Vec<f64>,
    },
    /// With error control.
    Adaptive(Adaptive),
    /// From sample to sample; outputs are held.
    Sampled {
        period: f64,
        held: Vec<f64>,
        next: Vec<f64>,
        seen: Seen,
    },
}

/// The inputs with which outputs were evaluated last, and when. A sample is that of its instant: inputs may have gone on
/// to the end of the step by the time at which the controller advances.
#[derive(Clone, Debug)]
struct Seen {
    time: f64,
    inputs: Vec<f64>,
}

impl Control {
    /// Makes a controller ready for this macro step.
    pub fn new(controller: &Controller, timing: Timing) -> Result<Self, ControlError> {
        let equations = Equations::new(controller)?;
        let states: Vec<f64> = controller
            .states
            .iter()
            .map(|state| state.initial)
            .collect();
        let histories = controller.delays.iter().map(|delay| {
            if delay.time < timing.step * (1.0 - NEAR) {
                return Err(ControlError::ShortDelay {
                    name: delay.name.clone(),
                    delay: delay.time,
                    step: timing.step,
                });
            }
            Ok(History::new(
                delay.time,
                delay.initial,
                timing.step,
                timing.start,
            ))
        });
        let histories = histories.collect::<Result<_, _>>()?;
        let mut values = vec![0.0; equations.names.len()];
        values[equations.state_places()].copy_from_slice(&states);
        let method = match controller.sample {
            Some(period) => {
                check_period(period, timing.step)?;
                Method::Sampled {
                    period,
                    held: vec![0.0; equations.outputs.len()],
                    next: states.clone(),
                    seen: Seen {
                        time: f64::NEG_INFINITY,
                        inputs: vec![0.0; equations.inputs],
                    },
                }
            }
            None if equations.are_affine() => {
                let system = linear_system(&equations);
                Method::Exact {
                    propagator: LinearStep::new(&system, timing.step),
                    system,
                    inputs: vec![0.0; PLACES.len() * equations.inputs],
                    next: states.clone(),
                }
            }
            None => Method::Adaptive(Adaptive::new(states.len())),
        };
        Ok(Self {
            ports: ports(controller, &equations),
            equations,
            timing,
            states,
            histories,
            method,
            values,
            counters: Counters::default(),
        })
    }

    /// Whether a sample is taken at this time.
    fn is_sample(&self, t: f64, period: f64) -> bool {
        let samples = (t - self.timing.start) / period;
        let rounding = ROUNDING * t.abs().max(self.timing.start.abs());
        (samples - samples.round()).abs() * period < NEAR * self.timing.step + rounding
    }

    /// Finds all values at a time, from inputs and states that are there already.
    fn evaluate(&mut self, t: f64) {
        self.values[TIME] = t;
        let delayed = self.equations.delay_places();
        for (value, history) in self.values[delayed].iter_mut().zip(&self.histories) {
            *value = history.before(t);
        }
        self.equations.evaluate_signals(&mut self.values);
    }

    fn put_states(&mut self) {
        let places = self.equations.state_places();
        self.values[places].copy_from_slice(&self.states);
    }

    /// Notes what is delayed, as it is at the start of a step.
    fn take_history(&mut self, t: f64) {
        if self.histories.is_empty() {
            return;
        }
        self.evaluate(t);
        for (history, delayed) in self.histories.iter_mut().zip(&self.equations.delayed) {
            history.take(t, delayed.eval(&self.values));
        }
    }

    /// Reports the first state that is NaN or infinite.
    fn check_states(&self, t: f64) -> Result<(), StepError> {
        let Some(place) = self.states.iter().position(|state| !state.is_finite()) else {
            return Ok(());
        };
        let name = &self.equations.names[self.equations.state_places().start + place];
        Err(StepError::NotFinite {
            law: name.replace('ʹ', "."),
            value: self.states[place],
            at: format!("t = {t}"),
        })
    }
}

impl Subsystem for Control {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let input_places = self.equations.input_places();
        match &self.method {
            Method::Sampled { seen, .. } if (seen.time - from).abs() < NEAR * self.timing.step => {
                self.values[input_places.clone()].copy_from_slice(&seen.inputs);
            }
            _ => inputs.at(from, &mut self.values[input_places.clone()]),
        }
        self.put_states();
        self.take_history(from);
        match &mut self.method {
            Method::Exact {
                system,
                propagator,
                inputs: at_places,
                next,
            } => {
                // Steps differ from each other by rounding of their times only, which grows with time.
                let rounding = ROUNDING * from.abs().max(to.abs());
                if (to - from - propagator.size).abs() > 1e-9 * propagator.size + rounding {
                    *propagator = LinearStep::new(system, to - from);
                    self.counters.factorisations += 1;
                }
                if self.equations.inputs > 0 {
                    let each = at_places.chunks_exact_mut(self.equations.inputs);
                    for (values, place) in each.zip(PLACES) {
                        inputs.at(from + place * (to - from), values);
                    }
                }
                propagator.advance(&self.states, at_places, next);
                self.states.copy_from_slice(next);
                self.counters.micro_steps += 1;
            }
            Method::Adaptive(adaptive) => {
                let (equations, histories) = (&self.equations, &self.histories);
                let values = &mut self.values;
                let rates = |t: f64, states: &[f64], rates: &mut [f64]| -> Result<(), StepError> {
                    values[TIME] = t;
                    inputs.at(t, &mut values[input_places.clone()]);
                    values[equations.state_places()].copy_from_slice(states);
                    let delayed = equations.delay_places();
                    for (value, history) in values[delayed].iter_mut().zip(histories) {
                        *value = history.before(t);
                    }
                    equations.evaluate_signals(values);
                    for (rate, change) in rates.iter_mut().zip(&equations.changes) {
                        *rate = change.eval(values);
                    }
                    Ok(())
                };
                if !self.states.is_empty() {
                    let steps = &mut self.counters.micro_steps;
                    adaptive.advance(from, to, &mut self.states, steps, rates)?;
                }
            }
            Method::Sampled { period, .. } => {
                let period = *period;
                if self.is_sample(from, period) {
                    self.evaluate(from);
                    self.take_sample();
                }
            }
        }
        self.check_states(to)?;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        if let Method::Sampled { seen, .. } = &mut self.method {
            seen.time = t;
            seen.inputs.copy_from_slice(inputs);
        }
        if let Method::Sampled { period, held, .. } = &self.method
            && !self.is_sample(t, *period)
        {
            outputs.copy_from_slice(held);
            return Ok(());
        }
        let places = self.equations.input_places();
        self.values[places].copy_from_slice(inputs);
        self.put_states();
        self.evaluate(t);
        for (output, equation) in outputs.iter_mut().zip(&self.equations.outputs) {
            *output = equation.eval(&self.values);
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn pattern(&self) -> u64 {
        match &self.method {
            Method::Sampled { period, .. } => (period / self.timing.step).round() as u64,
            _ => 1,
        }
    }

    fn switches(&mut self, t: f64, inputs: &[f64], found: &mut Switches) {
        let places = self.equations.input_places();
        self.values[places].copy_from_slice(inputs);
        self.put_states();
        self.evaluate(t);
        self.equations.switches(&self.values, found);
    }

    fn work(&self) -> f64 {
        self.equations.names.len() as f64
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }

    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        Some(self)
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        Some(self)
    }
}

impl EnergyBalance for Control {
    /// A controller stores no energy; what its outputs do to others is supplied there.
    fn energy(&mut self, _t: f64, _inputs: &[f64]) -> Energy {
        Energy::default()
    }
}

impl Accuracy for Control {
    /// Delays have a complete past from then on: an analysis asks about modes that have been there for long.
    fn sharpen(&mut self) {
        self.histories.iter_mut().for_each(History::analyse);
        if let Method::Adaptive(adaptive) = &mut self.method {
            adaptive.sharpen();
        }
    }
}

impl Linearisable for Control {
    fn linearise(&mut self, t: f64, inputs: &[f64]) -> Option<Linearisation> {
        if !self.histories.is_empty() {
            return None;
        }
        let places = self.equations.input_places();
        self.values[places.clone()].copy_from_slice(inputs);
        self.put_states();
        self.evaluate(t);
        let (equations, values) = (&self.equations, &self.values);
        let (n, m, p) = (equations.states, equations.inputs, equations.outputs.len());
        let of = |rows: usize, columns: usize, columns_first: Vec<f64>| {
            let entry = |row: usize, column: usize| columns_first[column * rows + row];
            let rows = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            rows.map(|(row, column)| entry(row, column)).collect()
        };
        let changes = || equations.changes.iter();
        let outputs = || equations.outputs.iter();
        let states = equations.state_places();
        Some(Linearisation {
            states: n,
            a: of(n, n, equations.jacobian(changes(), states.clone(), values)),
            b: of(n, m, equations.jacobian(changes(), places.clone(), values)),
            c: of(p, n, equations.jacobian(outputs(), states, values)),
            d: of(p, m, equations.jacobian(outputs(), places, values)),
            sample: match self.method {
                Method::Sampled { period, .. } => Some(period),
                _ => None,
            },
        })
    }

    fn not_linear(&mut self) -> Option<String> {
        let has_delays = !self.histories.is_empty();
        has_delays.then(|| "has a delay, which no finite number of states describes".into())
    }
}

impl Control {
    /// Holds the outputs of this sample and takes the states to the next one.
    fn take_sample(&mut self) {
        let Method::Sampled { held, next, .. } = &mut self.method else {
            return;
        };
        for (output, equation) in held.iter_mut().zip(&self.equations.outputs) {
            *output = equation.eval(&self.values);
        }
        for (state, change) in next.iter_mut().zip(&self.equations.changes) {
            *state = change.eval(&self.values);
        }
        self.states.copy_from_slice(next);
        self.counters.micro_steps += 1;
    }
}

impl State for Control {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.states);
        for history in &mut self.histories {
            history.visit(visitor);
        }
        match &mut self.method {
            Method::Exact { .. } => {}
            Method::Adaptive(adaptive) => visitor.fixed(std::slice::from_mut(&mut adaptive.step)),
            Method::Sampled { held, seen, .. } => {
                visitor.vector(held);
                visitor.fixed(std::slice::from_mut(&mut seen.time));
                visitor.vector(&mut seen.inputs);
            }
        }
    }
}

fn check_period(period: f64, step: f64) -> Result<(), ControlError> {
    let steps = period / step;
    if steps.round() >= 1.0 && (steps - steps.round()).abs() < NEAR {
        return Ok(());
    }
    Err(ControlError::SamplesBetweenSteps {
        period,
        step,
        suggestion: period / steps.ceil().max(1.0),
    })
}

fn ports(controller: &Controller, equations: &Equations) -> Ports {
    let mut ports = Ports::new();
    for (name, unit) in &controller.inputs {
        ports.add_input(name, Quantity::Scalar(unit.clone()));
    }
    for (index, (name, unit, _)) in controller.outputs.iter().enumerate() {
        let output = ports.add_output(name, Quantity::Scalar(unit.clone()));
        if controller.sample.is_some() {
            ports.declare_held(output);
        }
        for input in equations.direct_inputs(index) {
            ports.feed_through(index, input);
        }
    }
    ports
}

/// The system of affine equations: their derivatives are the same everywhere.
fn linear_system(equations: &Equations) -> LinearSystem {
    let (n, m) = (equations.states, equations.inputs);
    let mut values = vec![0.0; equations.names.len()];
    equations.evaluate_signals(&mut values);
    let changes = || equations.changes.iter();
    let a = equations.jacobian(changes(), equations.state_places(), &values);
    let b = equations.jacobian(changes(), equations.input_places(), &values);
    let constant: Vec<f64> = changes().map(|change| change.eval(&values)).collect();
    LinearSystem {
        a: DMatrix::from_column_slice(n, n, &a),
        b: DMatrix::from_column_slice(n, m, &b),
        constant: DMatrix::from_column_slice(n, 1, &constant),
    }
}
