//! Two FMUs with three signals: a macro step beside the bare calls, and the verdict on their coupling.
//!
//! Their C source comes with the program and is compiled where it is measured.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use oldham_cosim::Discard;
use oldham_model::Model;
use oldham_stability::{Decision, Way, analyse};
use oldham_study::ModelFile;

use super::{Figure, best, cpu_per_step, wall_per_step};
use crate::failure::Failure;

const SOURCE: &str = include_str!("../../../../../benches/fmu/chain.c");
const BARE: &str = include_str!("../../../../../benches/fmu/bare.c");
const MODEL: &str = include_str!("../../../../../benches/fmu/model.toml");
/// Steps of the bare calls.
const STEPS: &str = "2000000";
/// How often verdict and bare calls are measured.
const REPEATS: usize = 5;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let failed = |reason: String| Failure::Benchmark {
        name: "fmu",
        reason,
    };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let folder = folder.path();
    make(folder).map_err(failed)?;
    let with = |processes: [&str; 2]| -> Result<Model, Failure> {
        let mut text = MODEL.to_owned();
        for (name, process) in ["chain", "grip"].iter().zip(processes) {
            let plain = format!("file = \"{name}.fmu\"");
            text = text.replace(&plain, &format!("{plain}, process = \"{process}\""));
        }
        let path = folder.join("model.toml");
        std::fs::write(&path, text).map_err(|error| failed(error.to_string()))?;
        Ok(ModelFile::new(path).read()?)
    };
    let model = with(["shared", "shared"])?;
    let step = best(|| Ok(cpu_per_step(&mut model.simulation()?, 1, &mut Discard)))?;
    let one = with(["shared", "own"])?;
    let one = best(|| Ok(wall_per_step(&mut one.simulation()?, 1)))?;
    let both = with(["own", "own"])?;
    let both = best(|| Ok(wall_per_step(&mut both.simulation()?, 1)))?;
    let bare = bare(folder).map_err(failed)?;
    let mut seconds = f64::INFINITY;
    let mut note = String::new();
    for _ in 0..REPEATS {
        let mut simulation = model.simulation()?;
        let started = Instant::now();
        let verdict = analyse(&mut simulation)?;
        seconds = seconds.min(started.elapsed().as_secs_f64());
        let decision = match verdict.decision() {
            Decision::Stable => "stable",
            Decision::Unstable => "unstable",
            Decision::Undecided => "not decided",
        };
        let steps = match verdict.way {
            Way::Measured { steps } => steps,
            _ => 0,
        };
        note = format!(
            "wall time for two FMUs of six states, {steps} steps of them: {decision}, radius {:.9}",
            verdict.radius
        );
    }
    let calls = "CPU time of the same calls from C, without Oldham";
    Ok(vec![
        Figure::new("in-process", step, "us", "CPU time per macro step").required(0.45),
        Figure::new("bare", bare, "us", calls),
        Figure::new(
            "one-worker",
            one,
            "us",
            "wall time per macro step, one FMU in a process of its own",
        )
        .required(1.8),
        Figure::new(
            "two-workers",
            both,
            "us",
            "wall time per macro step, both in processes of their own",
        )
        .required(8.0),
        Figure::new("verdict", seconds, "s", &note).required(0.5),
    ])
}

/// The two FMUs, the bare calls and the model.
fn make(folder: &Path) -> Result<(), String> {
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).map_err(|error| format!("`{name}`: {error}"))
    };
    write("chain.c", SOURCE)?;
    write("bare.c", BARE)?;
    compile(folder, "chain.c", "chain.so", &["-shared", "-fPIC"])?;
    compile(
        folder,
        "chain.c",
        "grip.so",
        &["-shared", "-fPIC", "-DGRIP"],
    )?;
    compile(folder, "bare.c", "bare", &["-ldl"])?;
    let chain = [
        ("force", "input", "N", ""),
        ("position", "output", "m", ""),
        ("velocity", "output", "m/s", ""),
    ];
    let grip = [
        ("position", "input", "m", ""),
        ("velocity", "input", "m/s", ""),
        ("force", "output", "N", "1 2"),
    ];
    for (name, variables) in [("chain", chain), ("grip", grip)] {
        let library = std::fs::read(folder.join(format!("{name}.so")));
        let library = library.map_err(|error| error.to_string())?;
        let path = folder.join(format!("{name}.fmu"));
        oldham_fmi::pack(&path, &description(name, &variables), name, &library)?;
    }
    Ok(())
}

pub(super) fn compile(
    folder: &Path,
    source: &str,
    output: &str,
    flags: &[&str],
) -> Result<(), String> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(&compiler)
        .current_dir(folder)
        .args(["-O2", "-o", output, source])
        .args(flags)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{compiler}` fails on `{source}`: {status}")),
        Err(error) => Err(format!(
            "it needs a C compiler, and `{compiler}` does not start: {error}; name one by the variable `CC`"
        )),
    }
}

/// The description of an FMU with these variables: name, causality, unit, and the variables that an output depends on at once.
fn description(name: &str, variables: &[(&str, &str, &str, &str)]) -> String {
    let mut text = format!(
        r#"<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{{{name}}}">
<CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true" canSerializeFMUstate="true"/>
<UnitDefinitions><Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit><Unit name="m"><BaseUnit m="1"/></Unit><Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit></UnitDefinitions>
<ModelVariables>"#
    );
    let mut outputs = String::new();
    for (index, (name, causality, unit, at_once)) in variables.iter().enumerate() {
        let start = if *causality == "input" {
            r#" start="0""#
        } else {
            ""
        };
        text += &format!(
            r#"<ScalarVariable name="{name}" valueReference="{index}" causality="{causality}" variability="continuous"><Real unit="{unit}"{start}/></ScalarVariable>"#
        );
        if *causality == "output" {
            let place = index + 1;
            outputs += &format!(r#"<Unknown index="{place}" dependencies="{at_once}"/>"#);
        }
    }
    text + &format!(
        "</ModelVariables><ModelStructure><Outputs>{outputs}</Outputs></ModelStructure></fmiModelDescription>"
    )
}

/// CPU time of the calls of a macro step, in microseconds.
fn bare(folder: &Path) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let output = Command::new(folder.join("bare"))
            .args([folder.join("chain.so"), folder.join("grip.so")])
            .arg(STEPS)
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let time: f64 = text
            .trim()
            .parse()
            .map_err(|_| format!("the bare calls fail: {}", output.status))?;
        best = best.min(time);
    }
    Ok(best)
}
