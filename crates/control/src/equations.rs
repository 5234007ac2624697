//! A controller made ready to be evaluated: names are places, signals in an order in which each
//! finds what it needs.

use std::collections::HashMap;

use oldham_cosim::Switches;
use oldham_expression::Expression;

use crate::controller::Controller;
use crate::error::ControlError;

/// The place of time among all values.
pub(crate) const TIME: usize = 0;

/// An expression whose variables are places among all values.
#[derive(Clone, Debug)]
pub(crate) struct Equation {
    expression: Expression,
    places: Vec<usize>,
}

impl Equation {
    pub fn eval(&self, values: &[f64]) -> f64 {
        self.expression.eval_by(|index| values[self.places[index]])
    }

    /// How fast it changes when the values do.
    fn rate(&self, values: &[f64], rates: &[f64]) -> f64 {
        let moving = |index: usize| {
            let place = self.places[index];
            (values[place], rates[place])
        };
        self.expression.along_by(moving).first
    }

    /// On which side of its kinks it is; nothing if it has none.
    fn sides(&self, values: &[f64]) -> Option<u64> {
        let own = || -> Vec<f64> { self.places.iter().map(|&place| values[place]).collect() };
        (!self.expression.is_smooth()).then(|| self.expression.sides(&own()))
    }

    /// Whether nothing that it is made of changes it.
    fn is_saturated(&self, values: &[f64]) -> bool {
        let mut rates = vec![0.0; values.len()];
        let mut is_made_of_any = false;
        for place in self.used().filter(|place| *place != TIME) {
            is_made_of_any = true;
            rates[place] = 1.0;
            if self.rate(values, &rates) != 0.0 {
                return false;
            }
            rates[place] = 0.0;
        }
        is_made_of_any
    }

    fn used(&self) -> impl Iterator<Item = usize> {
        let names = self.expression.variables().zip(&self.places);
        let used = names.filter(|(name, _)| self.expression.uses(name));
        used.map(|(_, place)| *place)
    }
}

/// All equations; values are time, inputs, states, delayed signals, signals.
#[derive(Clone, Debug)]
pub(crate) struct Equations {
    pub inputs: usize,
    pub states: usize,
    pub delays: usize,
    /// Rates or next values of the states.
    pub changes: Vec<Equation>,
    /// With their places, each after those that it needs.
    signals: Vec<(usize, Equation)>,
    /// What is delayed.
    pub delayed: Vec<Equation>,
    pub outputs: Vec<Equation>,
    /// Names of all values.
    pub names: Vec<String>,
    output_names: Vec<String>,
}

impl Equations {
    pub fn new(controller: &Controller) -> Result<Self, ControlError> {
        let inputs = controller.inputs.iter().map(|(name, _)| name);
        let states = controller.states.iter().map(|state| &state.name);
        let delays = controller.delays.iter().map(|delay| &delay.name);
        let signals = controller.signals.iter().map(|(name, _)| name);
        let mut names = vec!["t".to_owned()];
        names.extend(inputs.chain(states).chain(delays).chain(signals).cloned());
        let mut places = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            if places.insert(name.as_str(), place).is_some() {
                return Err(ControlError::DuplicateName(name.clone()));
            }
        }
        let bind = |of: &str, expression: &Expression| bound(of, expression, &places);
        let changes = controller.states.iter();
        let changes = changes.map(|state| bind(&state.name, &state.change));
        let delayed = controller.delays.iter();
        let delayed = delayed.map(|delay| bind(&delay.name, &delay.input));
        let outputs = controller.outputs.iter();
        let outputs = outputs.map(|(name, _, value)| bind(name, value));
        let signals = controller.signals.iter();
        let signals = signals.map(|(name, value)| bind(name, value));
        let signals: Vec<Equation> = signals.collect::<Result<_, _>>()?;
        let first = names.len() - signals.len();
        let equations = Self {
            inputs: controller.inputs.len(),
            states: controller.states.len(),
            delays: controller.delays.len(),
            changes: changes.collect::<Result<_, _>>()?,
            delayed: delayed.collect::<Result<_, _>>()?,
            outputs: outputs.collect::<Result<_, _>>()?,
            signals: sorted(signals, first, &names)?,
            names,
            output_names: controller
                .outputs
                .iter()
                .map(|(name, ..)| name.clone())
                .collect(),
        };
        Ok(equations)
    }

    /// Where the inputs stand among the values.
    pub fn input_places(&self) -> std::ops::Range<usize> {
        TIME + 1..TIME + 1 + self.inputs
    }

    /// Where the states stand among the values.
    pub fn state_places(&self) -> std::ops::Range<usize> {
        let start = TIME + 1 + self.inputs;
        start..start + self.states
    }

    /// Where the delayed signals stand among the values.
    pub fn delay_places(&self) -> std::ops::Range<usize> {
        let start = self.state_places().end;
        start..start + self.delays
    }

    /// Finds all signals; what stands before them is known.
    pub fn evaluate_signals(&self, values: &mut [f64]) {
        for (place, equation) in &self.signals {
            values[*place] = equation.eval(values);
        }
    }

    /// Finds how fast all signals change; what stands before them is known.
    fn signal_rates(&self, values: &[f64], rates: &mut [f64]) {
        for (place, equation) in &self.signals {
            rates[*place] = equation.rate(values, rates);
        }
    }

    /// The derivatives of some equations by the values at `by`, column by column, for the present
    /// values with their signals.
    pub fn jacobian<'e>(
        &self,
        of: impl Iterator<Item = &'e Equation> + Clone,
        by: std::ops::Range<usize>,
        values: &[f64],
    ) -> Vec<f64> {
        let mut columns = Vec::new();
        for place in by {
            let mut rates = vec![0.0; values.len()];
            rates[place] = 1.0;
            self.signal_rates(values, &mut rates);
            columns.extend(of.clone().map(|equation| equation.rate(values, &rates)));
        }
        columns
    }

    /// Tells on which sides of their kinks the equations are. One at a limit answers to nothing that it
    /// is made of.
    pub fn switches(&self, values: &[f64], found: &mut Switches) {
        let outputs = self.outputs.iter().zip(&self.output_names);
        let outputs = outputs.map(|(equation, name)| (equation, name.as_str()));
        let signals = self.signals.iter();
        let signals = signals.map(|(place, equation)| (equation, self.names[*place].as_str()));
        for (equation, name) in signals.chain(outputs) {
            if let Some(sides) = equation.sides(values) {
                found.side(sides);
                if equation.is_saturated(values) {
                    found.saturates(&name.replace('ʹ', "."));
                }
            }
        }
        let sides = self
            .changes
            .iter()
            .filter_map(|change| change.sides(values));
        sides.for_each(|sides| found.side(sides));
    }

    /// Whether rates and signals are affine in inputs and states, and nothing is delayed.
    pub fn are_affine(&self) -> bool {
        let signals = self.signals.iter().map(|(_, equation)| equation);
        let mut all = self.changes.iter().chain(signals);
        self.delays == 0 && all.all(|equation| equation.expression.is_affine(&["t"]))
    }

    /// The inputs on which an output depends at the same instant.
    pub fn direct_inputs(&self, output: usize) -> Vec<usize> {
        let mut needed = vec![false; self.names.len()];
        self.outputs[output]
            .used()
            .for_each(|place| needed[place] = true);
        // Backwards, each signal after all that need it.
        for (place, equation) in self.signals.iter().rev() {
            if needed[*place] {
                equation.used().for_each(|used| needed[used] = true);
            }
        }
        let inputs = self.input_places();
        let direct = inputs.clone().filter(|place| needed[*place]);
        direct.map(|place| place - inputs.start).collect()
    }
}

fn bound(
    of: &str,
    expression: &Expression,
    places: &HashMap<&str, usize>,
) -> Result<Equation, ControlError> {
    let place = |name: &str| match places.get(name) {
        Some(place) => Ok(*place),
        // A name that may be used and is not.
        None if !expression.uses(name) => Ok(TIME),
        None => Err(ControlError::UnknownName {
            of: of.to_owned(),
            name: name.to_owned(),
        }),
    };
    Ok(Equation {
        places: expression
            .variables()
            .map(place)
            .collect::<Result<_, _>>()?,
        expression: expression.clone(),
    })
}

/// The signals, each after those that it needs.
fn sorted(
    signals: Vec<Equation>,
    first: usize,
    names: &[String],
) -> Result<Vec<(usize, Equation)>, ControlError> {
    let mut left: Vec<(usize, Equation)> = (first..).zip(signals).collect();
    let mut done = Vec::new();
    while !left.is_empty() {
        let open: Vec<usize> = left.iter().map(|(place, _)| *place).collect();
        let needs_open = |equation: &Equation| equation.used().find(|place| open.contains(place));
        let (waiting, ready): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|(_, equation)| needs_open(equation).is_some());
        if ready.is_empty() {
            // Everybody waits for somebody: going from one to the next must close a loop.
            let mut way = vec![waiting[0].0];
            loop {
                let last = way[way.len() - 1];
                let (_, equation) = waiting
                    .iter()
                    .find(|(place, _)| *place == last)
                    .expect("it waits too");
                let next = needs_open(equation).expect("it waits for somebody");
                if let Some(start) = way.iter().position(|&place| place == next) {
                    way.push(next);
                    let loop_names = way[start..].iter().map(|&place| names[place].clone());
                    return Err(ControlError::AlgebraicLoop(loop_names.collect()));
                }
                way.push(next);
            }
        }
        done.extend(ready);
        left = waiting;
    }
    Ok(done)
}
