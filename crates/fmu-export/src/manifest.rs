//! What an FMU shows of its model: read by the library inside it.

use serde::{Deserialize, Serialize};

/// The name of the manifest among the resources.
pub const MANIFEST: &str = "oldham.json";

/// The value reference of time. That of a variable is its place in the manifest plus one.
pub const TIME: u32 = 0;

/// A version of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// FMI 2.0.
    Two,
    /// FMI 3.0.
    Three,
}

/// What an FMU shows of its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The program that wrote it.
    pub program: String,
    /// Title of the model.
    pub name: String,
    /// The model file among the resources.
    pub model: String,
    /// What goes over it.
    pub settings: Vec<(String, String)>,
    /// The part of it that the FMU is, if it is not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The word by which description and library know each other.
    pub token: String,
    /// Where the model begins, in s.
    pub start: f64,
    /// Its macro step in s.
    pub step: f64,
    /// Its variables, by value reference.
    pub variables: Vec<Variable>,
}

/// A number that the FMU shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its SI unit.
    pub unit: String,
    /// Its value at the start.
    pub start: f64,
    /// Columns with its derivatives, the first one first, as far as the motion has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derivatives: Vec<String>,
    /// What it is.
    pub role: Role,
}

/// What a variable is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A component of an external input.
    Input {
        /// The input.
        dial: String,
        /// Which of its numbers.
        component: usize,
    },
    /// A recorded column.
    Output,
    /// A parameter of the model.
    Parameter,
}

impl Manifest {
    /// What the inputs of a dial start with.
    pub fn start_of(&self, wanted: &str) -> Vec<f64> {
        let inputs = self.variables.iter().filter(
            |variable| matches!(&variable.role, Role::Input { dial, .. } if dial == wanted),
        );
        inputs.map(|variable| variable.start).collect()
    }

    /// The variable of a reference.
    pub fn variable(&self, reference: u32) -> Option<&Variable> {
        let place = usize::try_from(reference).ok()?.checked_sub(1)?;
        self.variables.get(place)
    }

    /// The highest derivative that any output has.
    pub fn most_derivatives(&self) -> usize {
        let orders = self.variables.iter().map(|one| one.derivatives.len());
        orders.max().unwrap_or_default()
    }

    /// Variables with their references.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &Variable)> {
        (TIME + 1..).zip(&self.variables)
    }
}
