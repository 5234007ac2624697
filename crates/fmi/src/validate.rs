//! Whether an FMU does what its description says: read, then tried.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use oldham_cosim::{Hold, Inputs, Snapshot, Subsystem};

use crate::description::{Causality, Description, Kind, Variability};
use crate::package::{Package, PackageError};
use crate::part::{FmuPart, Options, Where};
use crate::worker::are_known;

/// Steps that are tried, and their length where the FMU does not say one.
const STEPS: usize = 10;
const STEP: f64 = 1e-3;
/// How long a call may take in s.
const TIMEOUT: f64 = 20.0;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// What was looked at and is right.
    pub passed: Vec<String>,
    /// What is wrong.
    pub problems: Vec<String>,
    /// What could not be looked at, and why.
    pub left_out: Vec<String>,
}

/// Reads and tries an FMU: its description, its library, ten steps of its own, and whether it comes back to a saved state.
pub fn validate(path: &Path) -> Result<Validation, PackageError> {
    let package = Package::open(path)?;
    let description = package.description();
    let mut found = Validation::default();
    describe(description, &mut found);
    let place = match are_known() {
        true => Where::Away { timeout: TIMEOUT },
        false => Where::Here,
    };
    let options = Options {
        place,
        ..Options::default()
    };
    match FmuPart::new(&package, &options, 1) {
        Ok(part) => {
            found
                .passed
                .push("its library is loaded and makes an instance".into());
            if let Err(problem) = try_out(part, description, &mut found) {
                found.problems.push(problem);
            }
        }
        Err(problem) => found.problems.push(problem),
    }
    Ok(found)
}

/// What can be seen without running it.
fn describe(description: &Description, found: &mut Validation) {
    let before = found.problems.len();
    let mut names = HashSet::new();
    let mut references: HashMap<(u32, &str), &str> = HashMap::new();
    for variable in &description.variables {
        let name = variable.name.as_str();
        if !names.insert(name) {
            found
                .problems
                .push(format!("there are several variables `{name}`"));
        }
        // Variables of one kind may be one value under several names, but then not both an input.
        let of_kind = (variable.reference, variable.kind.word());
        if variable.causality == Causality::Input
            && let Some(other) = references.insert(of_kind, name)
        {
            found.problems.push(format!(
                "the inputs `{other}` and `{name}` have the same reference"
            ));
        }
        let needs_start = matches!(
            variable.causality,
            Causality::Input | Causality::Parameter | Causality::StructuralParameter
        );
        let has_start = variable.start.is_some() || variable.kind == Kind::Clock;
        if needs_start && !has_start {
            found
                .problems
                .push(format!("`{name}` needs a start value and has none"));
        }
        if variable.variability == Variability::Continuous && !variable.kind.is_real() {
            let kind = variable.kind.word();
            found
                .problems
                .push(format!("`{name}` is a {kind} and cannot be continuous"));
        }
        if let Kind::Enumeration(items) = &variable.kind
            && items.is_empty()
        {
            found
                .problems
                .push(format!("`{name}` is an enumeration without names"));
        }
    }
    for output in description.of(Causality::Output) {
        let is_told = description
            .feedthrough
            .iter()
            .any(|told| told.output == output.reference);
        if !is_told {
            let name = &output.name;
            found.problems.push(format!(
                "the output `{name}` is not in the model structure, so that every input is taken to act on it at once"
            ));
        }
    }
    if found.problems.len() == before {
        let count = description.variables.len();
        found
            .passed
            .push(format!("its description is sound: {count} variables"));
    }
}

/// Runs it.
fn try_out(
    mut part: FmuPart,
    description: &Description,
    found: &mut Validation,
) -> Result<(), String> {
    let failed = |error: oldham_cosim::StepError| error.to_string();
    let abilities = description.co_simulation.as_ref();
    let fixed = abilities.and_then(|can| can.fixed_step);
    let own = description.experiment.step.filter(|step| *step > 0.0);
    let step = fixed.or(own).unwrap_or(STEP);
    let start = description.experiment.start.unwrap_or(0.0);
    let time = |steps: usize| start + steps as f64 * step;
    let ports = part.ports().clone();
    let given = ports.initial_inputs().to_vec();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    let mut now = vec![0.0; ports.output_width()];
    part.outputs(start, &given, &mut now).map_err(failed)?;
    finite(&now, &ports, start)?;
    found.passed.push("it is initialised".into());
    let mut run = |part: &mut FmuPart, from: usize, until: usize| -> Result<Vec<f64>, String> {
        let mut rows = Vec::new();
        for k in from..until {
            let (t, end) = (time(k), time(k + 1));
            part.advance(t, end, &mut inputs).map_err(failed)?;
            part.outputs(end, &given, &mut now).map_err(failed)?;
            finite(&now, &ports, end)?;
            rows.extend_from_slice(&now);
        }
        Ok(rows)
    };
    run(&mut part, 0, STEPS)?;
    found
        .passed
        .push(format!("it takes {STEPS} steps of {step} s"));
    let exchange = description.model_exchange.as_ref();
    let state = abilities.map(|can| can.state);
    let [_, has_bytes] = state.or(exchange.map(|can| can.state)).unwrap_or_default();
    if part.state().is_none() {
        let word = "its state: it cannot save it";
        found.left_out.push(word.into());
        return Ok(());
    }
    let ways: &[bool] = if has_bytes { &[false, true] } else { &[false] };
    for &as_bytes in ways {
        let mut saved = Snapshot::default();
        let save = |saved: &mut Snapshot, part: &mut FmuPart| {
            if let Some(state) = part.state() {
                match as_bytes {
                    true => saved.keep(state),
                    false => saved.save(state),
                }
            }
        };
        save(&mut saved, &mut part);
        let first = run(&mut part, STEPS, 2 * STEPS)?;
        if let Some(state) = part.state() {
            saved.restore(state);
        }
        let again = run(&mut part, STEPS, 2 * STEPS)?;
        if let Some(state) = part.state() {
            saved.restore(state);
        }
        let way = if as_bytes { " as bytes" } else { "" };
        match first == again {
            true => found
                .passed
                .push(format!("it comes back to a state that is saved{way}")),
            false => found.problems.push(format!(
                "after it came back to a state that was saved{way}, it goes on otherwise than before: it saves only a part of \
                 its state, or depends on something else"
            )),
        }
    }
    if !has_bytes {
        found
            .left_out
            .push("its state as bytes: it cannot write it".into());
    }
    Ok(())
}

fn finite(values: &[f64], ports: &oldham_cosim::Ports, t: f64) -> Result<(), String> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(place) => {
            let name = ports.output_component_name(place);
            let value = values[place];
            Err(format!("its output `{name}` is {value} at t = {t} s"))
        }
    }
}
