//! A step of an exported FMU beside the same step of the engine, and the size of the library in it.
//!
//! The host is C, so that nothing but the calls of FMI is between: its source comes with the program.

use std::path::Path;
use std::process::Command;

use oldham_fmu_export::{
    ExportOptions, Manifest, Role, Version, export, installed_with, read_runtime, unpack,
};
use oldham_model::{Model, Overrides};
use oldham_real_time::thread_cpu_seconds as cpu_seconds;

use super::fmu::compile;
use super::{Figure, best};
use crate::failure::Failure;

const HOST: &str = include_str!("../../../../../benches/fmu/exported.c");
const PART: &str = include_str!("../../../../../benches/fmu/part.toml");
const STEPS: u32 = 200_000;
/// How often both are measured.
const REPEATS: usize = 10;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let failed = |reason: String| Failure::Benchmark {
        name: "export",
        reason,
    };
    let program = std::env::current_exe().unwrap_or_default();
    let library = installed_with(&program).and_then(|path| read_runtime(&path));
    let library = library.map_err(Failure::NoRuntime)?;
    let none = Overrides::none();
    let model = Model::parse(PART, "part.toml", &none)?;
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let folder = folder.path();
    let options = ExportOptions {
        version: Version::Three,
        part: None,
        outputs: Vec::new(),
        parameters: Vec::new(),
        force: false,
    };
    let path = folder.join("part.fmu");
    let manifest = export(&model, &[], &options, &library, &path)?;
    let unpacked = folder.join("part");
    std::fs::create_dir(&unpacked).map_err(|error| failed(error.to_string()))?;
    unpack(&path, &unpacked).map_err(|error| failed(error.to_string()))?;
    std::fs::write(folder.join("exported.c"), HOST).map_err(|error| failed(error.to_string()))?;
    compile(folder, "exported.c", "exported", &["-ldl"]).map_err(failed)?;
    let native = best(|| native_step(&model))?;
    let mut hosted = f64::INFINITY;
    for _ in 0..REPEATS {
        let step = hosted_step(folder, &unpacked, &manifest).map_err(failed)?;
        hosted = hosted.min(step);
    }
    let note = format!(
        "CPU time of a step by the calls of FMI 3, {hosted:.3} us, beyond that of the engine, {native:.3} us"
    );
    let size = library.len() as f64 / 1e6;
    Ok(vec![
        Figure::new("fmu-step", hosted - native, "us", &note).required(0.5),
        Figure::new("runtime-size", size, "MB", "the library in an exported FMU").required(15.0),
    ])
}

/// Input, step and outputs as a program in Rust does them.
fn native_step(model: &Model) -> Result<f64, Failure> {
    let mut simulation = model.simulation()?;
    let dial = simulation.dial("push").expect("the part has this input");
    let shown = |name: &str| {
        let mut columns = simulation.columns().iter();
        columns.position(|column| column.name == name)
    };
    let places = ["right.x2.x", "right.x2.v", "right.x2.a"].map(shown);
    let mut seen = [0.0; 3];
    let start = cpu_seconds();
    for _ in 0..STEPS {
        dial.set(&[-seen[0]]);
        let done = simulation.steps(1);
        assert!(done.is_ok(), "the benchmark's model runs");
        for (value, place) in seen.iter_mut().zip(places) {
            *value = place
                .and_then(|place| simulation.value(place))
                .unwrap_or_default();
        }
    }
    Ok((cpu_seconds() - start) / f64::from(STEPS) * 1e6)
}

/// The same through the library.
fn hosted_step(folder: &Path, unpacked: &Path, manifest: &Manifest) -> Result<f64, String> {
    let references = |wanted: fn(&Role) -> bool| -> Vec<String> {
        let all = manifest.numbered();
        all.filter(|(_, variable)| wanted(&variable.role))
            .map(|(reference, _)| reference.to_string())
            .collect()
    };
    let output = Command::new(folder.join("exported"))
        .arg(unpacked.join("binaries/x86_64-linux/oldham_fmu.so"))
        .arg(unpacked.join("resources"))
        .args([&manifest.token, &manifest.step.to_string()])
        .arg(STEPS.to_string())
        .args(references(|role| matches!(role, Role::Input { .. })))
        .args(references(|role| *role == Role::Output))
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match (output.status.success(), text.trim().parse()) {
        (true, Ok(time)) => Ok(time),
        _ => Err(format!("the exported FMU fails: {}", output.status)),
    }
}
