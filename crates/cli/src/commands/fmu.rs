//! `oldham fmu`: what an FMU says of itself, whether that is so, and what it does by itself.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Parser;
use nalgebra::{Complex, DMatrix};
use oldham_cosim::SubsystemId;
use oldham_fmi::{Causality, Description, Package, PackageError, Variable, Version, validate};
use oldham_stability::probe;
use oldham_study::{ModelFile, StudyError};
use serde_json::{Value, json};

use crate::args::{Arguments, Fmu, FmuAction, FmuProbe, FmuRun};
use crate::commands::fmu_export;
use crate::failure::Failure;
use crate::fold::fold;
use crate::say;
use crate::table::{Table, number};

pub fn execute(arguments: &Fmu) -> Result<(), Failure> {
    match &arguments.action {
        FmuAction::Info { file, json } => info(file, *json),
        FmuAction::Validate { file, json } => try_out(file, *json),
        FmuAction::Run(arguments) => run(arguments),
        FmuAction::Probe(arguments) => measure(arguments),
        FmuAction::Export(arguments) => fmu_export::execute(arguments),
    }
}

fn refused(path: &Path) -> impl Fn(PackageError) -> Failure {
    move |error| Failure::Fmu {
        path: path.to_owned(),
        error,
    }
}

fn try_out(path: &Path, json: bool) -> Result<(), Failure> {
    let found = validate(path).map_err(refused(path))?;
    let status = match found.problems.is_empty() {
        true => "finished",
        false => "failed",
    };
    let answer = json!({
        "command": "fmu",
        "status": status,
        "passed": found.passed,
        "problems": found.problems,
        "left_out": found.left_out,
    });
    if !json {
        for passed in &found.passed {
            say!("{}", fold(&format!("  right: {passed}"), 4));
        }
        for left_out in &found.left_out {
            say!("{}", fold(&format!("  not looked at: {left_out}"), 4));
        }
        for problem in &found.problems {
            say!("{}", fold(&format!("  wrong: {problem}"), 4));
        }
    }
    if !found.problems.is_empty() {
        return Err(Failure::WrongFmu {
            path: path.to_owned(),
            answer: Box::new(answer),
        });
    }
    match json {
        true => say!("{answer:#}"),
        false => say!("{} does what it says", path.display()),
    }
    Ok(())
}

/// Steps where the FMU does not say any.
const STEPS: f64 = 1000.0;

/// Runs a model with the FMU and nothing else.
fn run(arguments: &FmuRun) -> Result<(), Failure> {
    let path = &arguments.file;
    let described = Package::describe(path).map_err(refused(path))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
    let text = model(arguments, &described, &whole);
    let failed = |file: &Path| {
        let file = file.to_owned();
        move |error: std::io::Error| Failure::File {
            path: file.clone(),
            reason: error.to_string(),
        }
    };
    let folder = tempfile::tempdir().map_err(failed(path))?;
    let file = folder.path().join(format!("{stem}.toml"));
    std::fs::write(&file, text).map_err(failed(&file))?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from(format!("{stem}.parquet")));
    let mut words = vec!["oldham".into(), "run".into(), file.into_os_string()];
    words.extend(["--out".into(), out.clone().into_os_string()]);
    let flags = [("--force", arguments.force), ("--json", arguments.json)];
    let given = flags.into_iter().filter(|(_, is_given)| *is_given);
    words.extend(given.map(|(flag, _)| flag.into()));
    super::execute(command(words)?)?;
    if let Some(picture) = &arguments.plot {
        let drawn: Vec<std::ffi::OsString> = vec![
            "oldham".into(),
            "plot".into(),
            out.into_os_string(),
            "--out".into(),
            picture.clone().into_os_string(),
        ];
        let crate::args::Command::Plot(plot) = command(drawn)? else {
            return Ok(());
        };
        super::plot::draw(&plot)?;
        if !arguments.json {
            say!("{}", picture.display());
        }
    }
    Ok(())
}

/// Measures the FMU in a model with nothing else.
fn measure(arguments: &FmuProbe) -> Result<(), Failure> {
    let path = &arguments.file;
    let described = Package::describe(path).map_err(refused(path))?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
    let alone = FmuRun {
        file: path.clone(),
        duration: None,
        step: arguments.step,
        set: arguments.set.clone(),
        inputs: arguments.inputs.clone(),
        out: None,
        plot: None,
        force: false,
        json: arguments.json,
    };
    let text = model(&alone, &described, &whole);
    let model = ModelFile::of_text("the FMU by itself", text).read()?;
    let mut simulation = model.simulation()?;
    // The first advance ends the initialisation.
    simulation.steps(1).map_err(StudyError::Run)?;
    let found = probe(&mut simulation, SubsystemId(0), arguments.steps as usize)?;
    let poles = found.poles();
    if arguments.json {
        let complex = |z: &Complex<f64>| json!([z.re, z.im]);
        let rows = |matrix: &DMatrix<f64>| -> Vec<Vec<f64>> {
            matrix
                .row_iter()
                .map(|row| row.iter().copied().collect())
                .collect()
        };
        let answer = json!({
            "command": "fmu",
            "status": "finished",
            "inputs": found.inputs,
            "outputs": found.outputs,
            "step": found.step,
            "period": found.period,
            "sees_inputs_within_step": found.sees_within,
            "eigenvalues": found.eigenvalues.iter().map(complex).collect::<Vec<_>>(),
            "poles": poles.iter().map(complex).collect::<Vec<_>>(),
            "gains": found.gains.as_ref().map(rows),
            "at_once": rows(&found.at_once),
            "noise": found.noise,
            "misfit": found.misfit,
            "fmu_steps": found.steps,
        });
        say!("{answer:#}");
        return Ok(());
    }
    say!(
        "{} at steps of {} s, measured in {} of them",
        described.name,
        found.step,
        found.steps
    );
    if found.period > 1 {
        say!("  it does the same again after {} steps", found.period);
    }
    if found.sees_within {
        say!("  it sees how its inputs go on within a step");
    }
    say!("  noise and curvature: {:.0e} of its answers", found.noise);
    if found.misfit > 1.0 {
        let text =
            "its answers are not those of a linear model of moderate size: the poles are doubtful";
        say!("{}", fold(&format!("  note: {text}"), 4));
    }
    let mut table = Table::new(["pole [1/s]", "frequency [Hz]", "damping", "|z|"]);
    for (pole, z) in poles.iter().zip(&found.eigenvalues) {
        // Of a pair the one above.
        if pole.im < 0.0 {
            continue;
        }
        let (size, turns) = (pole.norm(), pole.im > 0.0);
        let text = match turns {
            true => format!("{} ± {}i", number(pole.re), number(pole.im)),
            false => number(pole.re),
        };
        let frequency = match turns {
            true => number(pole.im / std::f64::consts::TAU),
            false => String::new(),
        };
        table.row([
            text,
            frequency,
            number(-pole.re / size),
            format!("{:.9}", z.norm()),
        ]);
    }
    say!("{table}");
    let mut table = Table::new(["output", "input", "static gain", "at once"]);
    for (i, output) in found.outputs.iter().enumerate() {
        for (j, input) in found.inputs.iter().enumerate() {
            let gain = found.gains.as_ref().map(|gains| number(gains[(i, j)]));
            let gain = gain.unwrap_or_else(|| "none".into());
            table.row([
                output.clone(),
                input.clone(),
                gain,
                number(found.at_once[(i, j)]),
            ]);
        }
    }
    say!("{table}");
    Ok(())
}

fn command(words: Vec<std::ffi::OsString>) -> Result<crate::args::Command, Failure> {
    let parsed = Arguments::try_parse_from(words);
    let parsed = parsed.map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(parsed.command)
}

/// A model of the FMU alone: inputs that are not driven keep their start values.
fn model(arguments: &FmuRun, described: &Description, path: &Path) -> String {
    let experiment = &described.experiment;
    let start = experiment.start.unwrap_or(0.0);
    let stop = experiment.stop.map(|stop| stop - start);
    let duration = arguments.duration.or(stop).unwrap_or(1.0);
    let own = described.co_simulation.as_ref();
    let own = own.and_then(|can| can.fixed_step).or(experiment.step);
    let step = arguments.step.or(own).unwrap_or(duration / STEPS);
    // Whole steps, at least one.
    let duration = step * (duration / step).round().max(1.0);
    let quoted = |text: &str| toml_string(text);
    let mut text = format!(
        "[model]\nname = {}\n[simulation]\nstart = {start}\nduration = {duration}\nstep = {step}\n[fmu.fmu]\nfile = {}\nterminals = false\n",
        quoted(&described.name),
        quoted(&path.display().to_string())
    );
    let _ = writeln!(text, "[fmu.fmu.parameters]");
    for (name, value) in &arguments.set {
        let is_plain = value.parse::<f64>().is_ok() || value == "true" || value == "false";
        let value = match is_plain {
            true => value.clone(),
            false => quoted(value),
        };
        let _ = writeln!(text, "{} = {value}", quoted(name));
    }
    let _ = writeln!(text, "[excitation]");
    for input in described.of(Causality::Input) {
        let given = arguments.inputs.iter();
        let given = given.rev().find(|(name, _)| *name == input.name);
        let is_set = arguments.set.iter().any(|(name, _)| *name == input.name);
        if let Some((name, expression)) = given {
            let _ = writeln!(
                text,
                "{} = {}",
                quoted(&format!("fmu.{name}")),
                quoted(expression)
            );
        } else if !is_set && let Some(value) = start_value(input) {
            let name = quoted(&format!("fmu.{}", input.name));
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    for (name, expression) in &arguments.inputs {
        if described.variable(name).is_none() {
            // The message of the model knows the nearest name.
            let name = quoted(&format!("fmu.{name}"));
            let _ = writeln!(text, "{name} = {}", quoted(expression));
        }
    }
    text
}

/// What an input keeps, in SI: a number, or a list.
fn start_value(input: &Variable) -> Option<String> {
    let text = input.start.as_deref().unwrap_or("0");
    let number = |word: &str| {
        let value: f64 = match word {
            "true" => 1.0,
            "false" => 0.0,
            word => word.parse().ok()?,
        };
        Some(format!("{:?}", input.conversion.to_si(value)))
    };
    let mut values = text
        .split_whitespace()
        .map(number)
        .collect::<Option<Vec<_>>>()?;
    if input.dimensions.is_empty() {
        return values.into_iter().next();
    }
    let last = values.last()?.clone();
    values.resize(input.width()?, last);
    Some(format!("[{}]", values.join(", ")))
}

/// A text as TOML writes it.
fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn info(path: &Path, json: bool) -> Result<(), Failure> {
    let described = Package::describe(path).map_err(refused(path))?;
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
    let ports = whole_ports(&described);
    if !ports.is_empty() {
        let mut table = Table::new(["whole port", "is", "carries"]);
        for (name, causality, quantity) in ports {
            table.row([name, word(causality).into(), quantity]);
        }
        say!("{table}");
    }
    for note in &described.notes {
        say!("{}", fold(&format!("note: {note}"), 2));
    }
    Ok(())
}

/// Ports of several variables that the FMU itself says belong together.
fn whole_ports(described: &Description) -> Vec<(String, Causality, String)> {
    let terminals = described.terminals.iter();
    let ports = terminals.flat_map(|terminal| terminal.ports(described));
    ports
        .map(|(name, is_input, quantity)| {
            let causality = match is_input {
                true => Causality::Input,
                false => Causality::Output,
            };
            (name, causality, quantity.to_string())
        })
        .collect()
}

/// What it can do, in lines.
fn abilities(described: &Description) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(can) = &described.model_exchange {
        let (library, states) = (&can.identifier, can.derivatives.len());
        lines.push(match states {
            1 => format!("model exchange, library `{library}`: 1 state"),
            _ => format!("model exchange, library `{library}`: {states} states"),
        });
        if described.co_simulation.is_none() {
            lines.push(states_of(can.state).into());
        }
    }
    let Some(can) = &described.co_simulation else {
        if lines.is_empty() {
            lines.push(
                "made neither for co-simulation nor for model exchange: it cannot be used".into(),
            );
        }
        return lines;
    };
    lines.insert(0, format!("co-simulation, library `{}`", can.identifier));
    lines.push(states_of(can.state).into());
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

/// What it can do with its state.
fn states_of(state: [bool; 2]) -> &'static str {
    match state {
        [true, true] => "its state can be saved: implicit coupling and checkpoints are possible",
        [true, false] => {
            "its state can be saved, but not as bytes: implicit coupling is possible, checkpoints are not"
        }
        _ => "its state cannot be saved: explicit coupling only, and no checkpoints",
    }
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
            "state": can.state[0],
            "state_as_bytes": can.state[1],
            "single_instance": can.is_single,
        })
    });
    let exchange = described.model_exchange.as_ref().map(|can| {
        json!({
            "library": can.identifier,
            "states": can.derivatives.len(),
            "state": can.state[0],
            "state_as_bytes": can.state[1],
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
        "model_exchange": exchange,
        "variables": described.variables.iter().map(variable).collect::<Vec<_>>(),
        "ports": whole_ports(described).into_iter().map(|(name, causality, quantity)| {
            json!({ "name": name, "causality": word(causality), "quantity": quantity })
        }).collect::<Vec<_>>(),
        "notes": described.notes,
    })
}
