//! `oldham fmu`: what an FMU says of itself.

use std::path::Path;

use oldham_fmi::{Causality, Description, Package, Variable, Version};
use serde_json::{Value, json};

use crate::args::{Fmu, FmuAction};
use crate::commands::fmu_export;
use crate::failure::Failure;
use crate::fold::fold;
use crate::say;
use crate::table::Table;

pub fn execute(arguments: &Fmu) -> Result<(), Failure> {
    match &arguments.action {
        FmuAction::Info { file, json } => info(file, *json),
        FmuAction::Export(arguments) => fmu_export::execute(arguments),
    }
}

fn info(path: &Path, json: bool) -> Result<(), Failure> {
    let described = Package::describe(path).map_err(|error| Failure::Fmu {
        path: path.to_owned(),
        error,
    })?;
    if json {
        say!("{:#}", as_json(&described));
        return Ok(());
    }
    say!("{} (FMI {})", described.name, described.version_text);
    if !described.text.is_empty() {
        say!("{}", fold(&described.text, 2));
    }
    if !described.tool.is_empty() {
        say!("  made by {}", described.tool);
    }
    for line in abilities(&described) {
        say!("  {line}");
    }
    let shown = [
        Causality::Input,
        Causality::Output,
        Causality::StructuralParameter,
        Causality::Parameter,
    ];
    let mut table = Table::new(["variable", "is", "kind", "unit", "start", "what"]);
    for causality in shown {
        for variable in described.of(causality) {
            table.row([
                variable.name.clone(),
                word(causality).into(),
                kind(variable),
                variable.unit.clone().unwrap_or_default(),
                variable.start.clone().unwrap_or_default(),
                variable.text.clone(),
            ]);
        }
    }
    say!("{table}");
    for note in &described.notes {
        say!("{}", fold(&format!("note: {note}"), 2));
    }
    Ok(())
}

/// What it can do, in lines.
fn abilities(described: &Description) -> Vec<String> {
    let Some(can) = &described.co_simulation else {
        return vec!["not made for co-simulation, and so of no use here".into()];
    };
    let mut lines = vec![format!("co-simulation, library `{}`", can.identifier)];
    lines.push(
        match (can.has_state, can.has_state_bytes) {
            (true, true) => {
                "its state can be saved: implicit coupling and checkpoints are possible"
            }
            (true, false) => "its state can be saved, but not as bytes: explicit coupling only",
            _ => "its state cannot be saved: explicit coupling only, and no checkpoints",
        }
        .into(),
    );
    match can.fixed_step {
        Some(step) => lines.push(format!("steps of {step} s only, and multiples of it")),
        None if !can.has_variable_step => lines.push("all steps must be alike".into()),
        None => {}
    }
    if can.is_single {
        lines.push("one instance in a process only".into());
    }
    if can.needs_tool {
        lines.push("needs the program that made it".into());
    }
    lines
}

fn word(causality: Causality) -> &'static str {
    match causality {
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::StructuralParameter => "structural parameter",
        Causality::Parameter => "parameter",
        Causality::CalculatedParameter => "calculated parameter",
        Causality::Local => "local",
        Causality::Independent => "time",
    }
}

fn kind(variable: &Variable) -> String {
    let word = variable.kind.word();
    match (variable.dimensions.is_empty(), variable.width()) {
        (true, _) => word.into(),
        (false, Some(width)) => format!("{word}, {width} of them"),
        (false, None) => format!("{word}, an array"),
    }
}

fn as_json(described: &Description) -> Value {
    let variable = |variable: &Variable| {
        json!({
            "name": variable.name,
            "causality": word(variable.causality),
            "kind": variable.kind.word(),
            "width": variable.width(),
            "unit": variable.unit,
            "si_unit": variable.conversion.unit.0,
            "start": variable.start,
            "description": variable.text,
        })
    };
    let abilities = described.co_simulation.as_ref().map(|can| {
        json!({
            "library": can.identifier,
            "variable_step": can.has_variable_step,
            "fixed_step": can.fixed_step,
            "state": can.has_state,
            "state_as_bytes": can.has_state_bytes,
            "single_instance": can.is_single,
        })
    });
    json!({
        "command": "fmu",
        "status": "finished",
        "name": described.name,
        "fmi": match described.version {
            Version::Two => 2,
            Version::Three => 3,
        },
        "version": described.version_text,
        "tool": described.tool,
        "co_simulation": abilities,
        "variables": described.variables.iter().map(variable).collect::<Vec<_>>(),
        "notes": described.notes,
    })
}
