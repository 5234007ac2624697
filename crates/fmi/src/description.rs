//! What an FMU says of itself.

use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::units::Conversion;

/// The version of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// FMI 2.0 and its maintenance releases.
    Two,
    /// FMI 3.0 and its maintenance releases.
    Three,
}

/// What an FMU says of itself, as far as a co-simulation needs it.
#[derive(Clone, Debug)]
pub struct Description {
    /// The version of the interface.
    pub version: Version,
    /// The version as it is written.
    pub version_text: String,
    /// The name of the model.
    pub name: String,
    /// What the model is about.
    pub text: String,
    /// The program that made it.
    pub tool: String,
    /// The word by which the library knows its description.
    pub token: String,
    /// What it can do in a co-simulation, if it is made for one.
    pub co_simulation: Option<CoSimulation>,
    /// What it can do when it is integrated from outside, if it is made for that.
    pub model_exchange: Option<ModelExchange>,
    /// Until when, and in which steps, it is meant to be run.
    pub experiment: Experiment,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// For every output, in the order of the variables, the inputs on which it depends at once.
    pub feedthrough: Vec<Feedthrough>,
    /// Variables that belong together: terminals of a known kind.
    pub terminals: Vec<Bundle>,
    /// What was found and is not used.
    pub notes: Vec<String>,
}

/// How an FMU is meant to be run, as far as it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// When it begins, in s.
    pub start: Option<f64>,
    /// When it ends, in s.
    pub stop: Option<f64>,
    /// The step in s.
    pub step: Option<f64>,
}

/// On which variables an output depends at once.
#[derive(Clone, Debug)]
pub struct Feedthrough {
    /// The reference of the output.
    pub output: u32,
    /// References of what it depends on; nothing where the FMU does not tell.
    pub on: Option<Vec<u32>>,
}

/// Abilities in a co-simulation.
#[derive(Clone, Debug, Default)]
pub struct CoSimulation {
    /// The name of the library.
    pub identifier: String,
    /// Whether communication steps may differ.
    pub has_variable_step: bool,
    /// The only length of communication steps that it can do, if there is one.
    pub fixed_step: Option<f64>,
    /// Whether its state can be saved and restored, and whether a saved state can be written as bytes.
    pub state: [bool; 2],
    /// Whether inputs may have derivatives by time.
    pub interpolates_inputs: bool,
    /// Whether it stops at its events and handles them when it is asked to (FMI 3).
    pub has_event_mode: bool,
    /// Whether a step may end before its end (FMI 3).
    pub returns_early: bool,
    /// Whether inputs may be set within a step (FMI 3).
    pub has_intermediate_update: bool,
    /// Whether a process may have a single instance.
    pub is_single: bool,
    /// Whether it needs a program beside it.
    pub needs_tool: bool,
}

/// Abilities when it is integrated from outside.
#[derive(Clone, Debug, Default)]
pub struct ModelExchange {
    /// The name of the library.
    pub identifier: String,
    /// Whether its state can be saved and restored, and whether a saved state can be written as bytes.
    pub state: [bool; 2],
    /// Whether a process may have a single instance.
    pub is_single: bool,
    /// Whether it must be told that a step of the integrator is complete.
    pub wants_steps: bool,
    /// References of its continuous states and of their derivatives, as many of each.
    pub derivatives: Vec<u32>,
    /// How many functions change their sign at events; nothing where the library must be asked.
    pub event_indicators: Option<usize>,
}

/// What an FMU is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interface {
    /// It steps itself.
    CoSimulation,
    /// It says its derivatives and is integrated by others.
    ModelExchange,
}

/// One variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The number by which the library knows it.
    pub reference: u32,
    /// What it is for.
    pub causality: Causality,
    /// When it may change.
    pub variability: Variability,
    /// What it holds.
    pub kind: Kind,
    /// How many numbers it has; nothing for a single one.
    pub dimensions: Vec<Dimension>,
    /// Its value at the start, as it is written.
    pub start: Option<String>,
    /// Its unit as the FMU calls it.
    pub unit: Option<String>,
    /// From that to SI.
    pub conversion: Conversion,
    /// What it is.
    pub text: String,
}

impl Variable {
    /// How many numbers it has, where that is fixed.
    pub fn width(&self) -> Option<usize> {
        let fixed = self.dimensions.iter().map(|dimension| match dimension {
            Dimension::Fixed(n) => Some(*n),
            Dimension::Variable(_) => None,
        });
        fixed.product()
    }
}

/// The length of an array along one of its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Always the same.
    Fixed(usize),
    /// The value of a structural parameter.
    Variable(u32),
}

/// What a variable is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Given before the start.
    Parameter,
    /// Given before ports are known.
    StructuralParameter,
    /// Follows from parameters.
    CalculatedParameter,
    /// Received.
    Input,
    /// Sent.
    Output,
    /// Internal to the FMU.
    Local,
    /// Time.
    Independent,
}

/// When a variable may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variability {
    /// Never.
    Constant,
    /// Not after the initialisation.
    Fixed,
    /// At events from outside.
    Tunable,
    /// At events.
    Discrete,
    /// At any time.
    Continuous,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    /// A real number of 64 bits.
    Float64,
    /// A real number of 32 bits.
    Float32,
    /// A whole number: its bits, and whether it has a sign.
    Whole(u8, bool),
    /// True or false.
    Boolean,
    /// One of these names with their values.
    Enumeration(Vec<(String, i64)>),
    /// Text.
    String,
    /// Bytes.
    Binary,
    /// A clock.
    Clock,
}

impl Kind {
    /// Whether it is a real number.
    pub fn is_real(&self) -> bool {
        matches!(self, Self::Float64 | Self::Float32)
    }

    /// What it is called in messages.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Float64 => "real",
            Self::Float32 => "real of 32 bits",
            Self::Whole(..) => "whole number",
            Self::Boolean => "Boolean",
            Self::Enumeration(_) => "enumeration",
            Self::String => "string",
            Self::Binary => "binary",
            Self::Clock => "clock",
        }
    }
}

impl Description {
    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The same with structural parameters put in: arrays have the lengths that follow.
    pub fn with_structure(&self, given: impl Fn(&Variable) -> Option<f64>) -> Self {
        let mut description = self.clone();
        let length = |reference: u32| {
            let mut all = self.variables.iter();
            let variable = all.find(|variable| variable.reference == reference)?;
            let start = || variable.start.as_deref()?.trim().parse().ok();
            let length: f64 = given(variable).or_else(start)?;
            (length >= 0.0 && length.fract() == 0.0).then_some(length as usize)
        };
        for dimension in description
            .variables
            .iter_mut()
            .flat_map(|v| &mut v.dimensions)
        {
            if let Dimension::Variable(reference) = *dimension
                && let Some(length) = length(reference)
            {
                *dimension = Dimension::Fixed(length);
            }
        }
        description
    }

    /// Variables of a causality.
    pub fn of(&self, causality: Causality) -> impl Iterator<Item = &Variable> {
        let variables = self.variables.iter();
        variables.filter(move |variable| variable.causality == causality)
    }
}
