//! An FMU as a subsystem.

use std::sync::Arc;

use oldham_cosim::{Inputs, Ports, Quantity, Reached, State, StepError, Subsystem, Visitor};

use crate::channel::Batch;
use crate::description::{Causality, Description, Kind, Variability, Variable};
use crate::library::{Instance, Stepped};
use crate::package::Package;

/// How often a step that an FMU discards is halved.
const HALVINGS: u32 = 10;
/// How far a ratio of steps may be from a whole number.
const WHOLE: f64 = 1e-6;

/// The value of a parameter, or the start value of another variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number, in SI.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Text, or the name of an enumeration.
    Text(String),
}

/// An instance of an FMU that takes part in a co-simulation.
///
/// Inputs are held within a step of the FMU: its value at the start. Outputs that depend on inputs at once are asked
/// for with the inputs that the schedule gives.
pub struct FmuPart {
    ports: Ports,
    instance: Instance,
    inputs: Vec<Batch>,
    outputs: Vec<Batch>,
    micro_steps: usize,
    tolerance: Option<f64>,
    fixed_step: Option<f64>,
    may_be_halved: bool,
    has_state: bool,
    /// Whether some output depends on an input at once.
    feeds_through: bool,
    phase: Phase,
    given: Vec<f64>,
    /// Why its state could not be saved or restored: told at the next call.
    failure: Option<String>,
    bytes: Vec<u8>,
    words: Vec<u64>,
    steps: u64,
}

/// How far an instance has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Made,
    Initialising,
    Running,
}

impl Phase {
    fn number(self) -> u64 {
        match self {
            Self::Made => 0,
            Self::Initialising => 1,
            Self::Running => 2,
        }
    }

    fn of(number: u64) -> Self {
        match number {
            0 => Self::Made,
            1 => Self::Initialising,
            _ => Self::Running,
        }
    }
}

/// The quantity of a port, or why a variable has none.
fn quantity(variable: &Variable) -> Result<Quantity, &'static str> {
    let unit = || variable.conversion.unit.clone();
    let is_real = matches!(variable.kind, Kind::Float64 | Kind::Float32);
    match (variable.width(), variable.dimensions.len()) {
        (None, _) => Err("its length is a structural parameter"),
        (Some(_), 2..) => Err("it is an array of several dimensions"),
        (Some(n), 1) if is_real => Ok(Quantity::Array(unit(), n)),
        (Some(_), 1) => Err("it is an array of other numbers than reals"),
        _ => match variable.kind {
            Kind::Float64 | Kind::Float32 => Ok(Quantity::Scalar(unit())),
            Kind::Whole(..) | Kind::Enumeration(_) => Ok(Quantity::Whole),
            Kind::Boolean => Ok(Quantity::Flag),
            Kind::String => Err("it is a string"),
            Kind::Binary => Err("it is binary"),
            Kind::Clock => Err("it is a clock"),
        },
    }
}

/// The ports of an FMU, its variables in their order, and what has no port.
pub(crate) struct Plan<'d> {
    pub ports: Ports,
    pub inputs: Vec<&'d Variable>,
    pub outputs: Vec<&'d Variable>,
    pub left_out: Vec<String>,
}

impl<'d> Plan<'d> {
    pub fn of(description: &'d Description, settings: &[(String, Setting)]) -> Self {
        let mut plan = Self {
            ports: Ports::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            left_out: Vec::new(),
        };
        // What is given in the model needs no port.
        let is_given =
            |variable: &Variable| settings.iter().any(|(name, _)| *name == variable.name);
        for variable in description.of(Causality::Input) {
            match quantity(variable) {
                _ if is_given(variable) => {}
                Ok(quantity) => {
                    let initial = initial(variable, quantity.width());
                    let name = variable.name.as_str();
                    plan.ports.add_input_with(name, quantity, initial);
                    plan.inputs.push(variable);
                }
                Err(reason) => plan.leave_out(variable, reason),
            }
        }
        for variable in description.of(Causality::Output) {
            match quantity(variable) {
                Ok(quantity) => {
                    let port = plan.ports.add_output(variable.name.as_str(), quantity);
                    if variable.variability == Variability::Discrete {
                        plan.ports.declare_held(port);
                    }
                    plan.outputs.push(variable);
                }
                Err(reason) => plan.leave_out(variable, reason),
            }
        }
        plan.feed_through(description);
        plan
    }

    fn leave_out(&mut self, variable: &Variable, reason: &str) {
        let name = &variable.name;
        self.left_out
            .push(format!("`{name}` has no port: {reason}"));
    }

    /// Declares which outputs depend on which inputs at once.
    fn feed_through(&mut self, description: &Description) {
        let places = |variables: &[&Variable]| {
            let mut at = 0;
            let mut places = Vec::new();
            for variable in variables {
                let width = variable.width().unwrap_or(1);
                places.push((variable.reference, at..at + width));
                at += width;
            }
            places
        };
        let inputs = places(&self.inputs);
        for (reference, outputs) in places(&self.outputs) {
            let told = description
                .feedthrough
                .iter()
                .find(|feedthrough| feedthrough.output == reference);
            let on = told.and_then(|told| told.on.as_ref());
            let acts = |input: u32| on.is_none_or(|on| on.contains(&input));
            for (_, places) in inputs.iter().filter(|(input, _)| acts(*input)) {
                for output in outputs.clone() {
                    for input in places.clone() {
                        self.ports.feed_through(output, input);
                    }
                }
            }
        }
    }
}

/// The value of an input until it receives one.
fn initial(variable: &Variable, width: usize) -> Vec<f64> {
    let text = variable.start.as_deref().unwrap_or_default();
    let parsed = text.split_whitespace().map(|word| match word {
        "true" => 1.0,
        "false" => 0.0,
        word => word.parse().unwrap_or(0.0),
    });
    let mut values: Vec<f64> = parsed
        .map(|value| variable.conversion.to_si(value))
        .collect();
    let last = values.last().copied();
    values.resize(width, last.unwrap_or(variable.conversion.to_si(0.0)));
    values
}

/// A setting as a number in SI, where it fits the variable.
fn number(variable: &Variable, setting: &Setting) -> Option<f64> {
    match (&variable.kind, setting) {
        (Kind::Boolean, Setting::Flag(flag)) => Some(f64::from(u8::from(*flag))),
        (Kind::Enumeration(items), Setting::Text(text)) => {
            let item = items.iter().find(|(name, _)| name == text)?;
            Some(item.1 as f64)
        }
        (Kind::Float64 | Kind::Float32, Setting::Number(value)) => Some(*value),
        (Kind::Whole(..) | Kind::Enumeration(_), Setting::Number(value))
            if value.fract() == 0.0 =>
        {
            Some(*value)
        }
        _ => None,
    }
}

/// Whether a setting fits a variable; the error says what does.
pub(crate) fn fits(variable: &Variable, setting: &Setting) -> Result<(), String> {
    let is_open = match variable.causality {
        Causality::Parameter | Causality::Input => true,
        Causality::Output | Causality::Local => {
            variable.start.is_some() && variable.variability != Variability::Constant
        }
        _ => false,
    };
    if !is_open {
        return Err("its value follows from others and cannot be given".into());
    }
    if variable.kind == Kind::String && matches!(setting, Setting::Text(_)) {
        return Ok(());
    }
    match number(variable, setting) {
        Some(_) => Ok(()),
        None => Err(match &variable.kind {
            Kind::Enumeration(items) => {
                let names: Vec<String> = items
                    .iter()
                    .map(|(name, _)| format!("\"{name}\""))
                    .collect();
                format!("it is an enumeration: possible are {}", names.join(", "))
            }
            Kind::Boolean => "it is a Boolean: possible are true and false".into(),
            kind => format!("it is a {}", kind.word()),
        }),
    }
}

impl FmuPart {
    /// A new instance with these parameters and start values, which takes so many steps within a macro step.
    pub fn new(
        package: &Arc<Package>,
        settings: &[(String, Setting)],
        tolerance: Option<f64>,
        micro_steps: usize,
    ) -> Result<Self, String> {
        let description = package.description();
        let plan = Plan::of(description, settings);
        let instance = Instance::new(package, &description.name)?;
        for (name, setting) in settings {
            let variable = description
                .variable(name)
                .ok_or_else(|| format!("it has no variable `{name}`"))?;
            fits(variable, setting).map_err(|error| format!("`{name}`: {error}"))?;
            match (setting, number(variable, setting)) {
                (_, Some(value)) => {
                    let value = variable.conversion.from_si(value);
                    let values = vec![value; variable.width().unwrap_or(1)];
                    instance.set(&variable.kind, &[variable.reference], &values)?;
                }
                (Setting::Text(text), None) => instance.set_text(variable.reference, text)?,
                _ => {}
            }
        }
        let abilities = description.co_simulation.as_ref().expect("checked before");
        Ok(Self {
            inputs: Batch::of(&plan.inputs),
            outputs: Batch::of(&plan.outputs),
            feeds_through: plan.ports.has_feedthrough(),
            given: plan.ports.initial_inputs().to_vec(),
            ports: plan.ports,
            instance,
            micro_steps: micro_steps.max(1),
            tolerance,
            fixed_step: abilities.fixed_step,
            may_be_halved: abilities.has_variable_step,
            has_state: abilities.has_state && abilities.has_state_bytes,
            phase: Phase::Made,
            failure: None,
            bytes: Vec::new(),
            words: Vec::new(),
            steps: 0,
        })
    }

    fn check(&mut self) -> Result<(), StepError> {
        match self.failure.take() {
            Some(failure) => Err(StepError::Foreign(failure)),
            None => Ok(()),
        }
    }

    fn begin(&mut self, t: f64) -> Result<(), String> {
        if self.phase == Phase::Made {
            self.instance.begin(self.tolerance, t)?;
            self.phase = Phase::Initialising;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), String> {
        for batch in &mut self.inputs {
            batch.write(&self.instance, &self.given)?;
        }
        Ok(())
    }

    /// One step of the FMU, halved where it discards it.
    fn leap(&mut self, from: f64, to: f64, halvings: u32) -> Result<(), String> {
        if let Some(fixed) = self.fixed_step {
            let ratio = (to - from) / fixed;
            if (ratio - ratio.round()).abs() > WHOLE * ratio.max(1.0) || ratio < 1.0 - WHOLE {
                return Err(format!(
                    "its own step of {fixed} s does not divide the step of {} s; choose a macro step or micro steps \
                     that are multiples of it",
                    to - from
                ));
            }
        }
        self.steps += 1;
        match self.instance.step(from, to - from)? {
            Stepped::Done => Ok(()),
            Stepped::Ended => Err(format!(
                "it asks for the end of the simulation at t = {from} s"
            )),
            Stepped::Discarded if self.may_be_halved && halvings < HALVINGS => {
                let middle = 0.5 * (from + to);
                self.leap(from, middle, halvings + 1)?;
                self.leap(middle, to, halvings + 1)
            }
            Stepped::Discarded => Err(format!(
                "it discards a step of {} s at t = {from} s",
                to - from
            )),
        }
    }
}

impl Subsystem for FmuPart {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        self.check()?;
        let mut advance = || {
            self.begin(from)?;
            if self.phase == Phase::Initialising {
                inputs.at(from, &mut self.given);
                self.write()?;
                self.instance.start()?;
                self.phase = Phase::Running;
            }
            let at = |k: usize| from + (to - from) * k as f64 / self.micro_steps as f64;
            let ends: Vec<(f64, f64)> = (0..self.micro_steps).map(|k| (at(k), at(k + 1))).collect();
            for (from, to) in ends {
                inputs.at(from, &mut self.given);
                self.write()?;
                self.leap(from, to, 0)?;
            }
            Ok(())
        };
        advance().map_err(StepError::Foreign)?;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.check()?;
        let mut read = || {
            self.begin(t)?;
            if self.feeds_through || self.phase == Phase::Initialising {
                self.given.copy_from_slice(inputs);
                self.write()?;
            }
            for batch in &mut self.outputs {
                batch.read(&self.instance, outputs)?;
            }
            Ok(())
        };
        read().map_err(StepError::Foreign)
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        match self.has_state {
            true => Some(self),
            false => None,
        }
    }

    fn counters(&self) -> oldham_cosim::Counters {
        oldham_cosim::Counters {
            micro_steps: self.steps,
            ..Default::default()
        }
    }
}

impl State for FmuPart {
    /// Bytes as words, the first one how many there are.
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        let before = self.phase;
        let mut phase = before.number();
        visitor.count(&mut phase);
        if before != Phase::Made
            && let Err(failure) = self.instance.save(&mut self.bytes)
        {
            self.failure = Some(failure);
            self.bytes.clear();
        }
        self.words.clear();
        self.words.push(self.bytes.len() as u64);
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        self.words.extend(self.bytes.chunks(8).map(word));
        let mut words = std::mem::take(&mut self.words);
        visitor.memory(&mut words);
        if visitor.replaces() {
            let count = words.first().map_or(0, |count| *count as usize);
            let bytes = words.iter().skip(1).flat_map(|word| word.to_le_bytes());
            let bytes: Vec<u8> = bytes.take(count).collect();
            self.phase = Phase::of(phase);
            let restored = match (before, self.phase) {
                (_, Phase::Made) if before != Phase::Made => {
                    Err("it cannot go back to before its initialisation".to_owned())
                }
                (_, Phase::Made) => Ok(()),
                (Phase::Made, _) => self
                    .instance
                    .begin(self.tolerance, 0.0)
                    .and_then(|()| self.instance.restore(&bytes)),
                _ if bytes == self.bytes => Ok(()),
                _ => self.instance.restore(&bytes),
            };
            if let Err(failure) = restored {
                self.failure = Some(failure);
            }
        }
        self.words = words;
    }
}
