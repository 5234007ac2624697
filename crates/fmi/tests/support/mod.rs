//! FMUs from C sources, models with them, and what runs give.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use oldham_cosim::{Run, Simulation};
use oldham_model::{Extensions, Model, Overrides};

/// Compiles a source of these tests and packs it with the description of the same name, changed as is wanted.
pub fn fmu(
    folder: &Path,
    source: &str,
    flags: &[&str],
    change: impl Fn(String) -> String,
) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    fmu_of(&sources, folder, source, flags, change)
}

pub fn fmu_of(
    sources: &Path,
    folder: &Path,
    source: &str,
    flags: &[&str],
    change: impl Fn(String) -> String,
) -> PathBuf {
    let text = std::fs::read_to_string(sources.join(format!("{source}.xml"))).unwrap();
    let source_file = sources.join(format!("{source}.c"));
    pack(folder, source, &source_file, flags, &change(text))
}

/// Compiles a source and packs it with a description under a name.
pub fn pack(folder: &Path, name: &str, source: &Path, flags: &[&str], text: &str) -> PathBuf {
    let library = folder.join(format!("{name}.so"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-ffp-contract=off", "-o"])
        .arg(&library)
        .args(flags)
        .arg(source)
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let identifier = text.split("modelIdentifier=\"").nth(1).unwrap();
    let identifier = identifier.split('"').next().unwrap();
    let path = folder.join(format!("{name}.fmu"));
    oldham_fmi::pack(&path, text, identifier, &std::fs::read(&library).unwrap()).unwrap();
    path
}

pub fn plain(folder: &Path, source: &str) -> PathBuf {
    fmu(folder, source, &[], |text| text)
}

pub fn read(folder: &Path, text: &str) -> Result<Model, String> {
    let mut kinds = Extensions::new();
    oldham_fmi::register(&mut kinds);
    oldham_hydraulics::register(&mut kinds);
    let path = folder.join("model.toml");
    std::fs::write(&path, text).unwrap();
    Model::read_with(&path, &Overrides::none(), &kinds).map_err(|problems| problems.to_string())
}

/// Values of a signal, step by step, the start among them.
pub fn run(simulation: &mut Simulation, steps: u64, signal: &str) -> Vec<f64> {
    run_on(simulation, steps, signal, 1)
}

pub fn run_on(simulation: &mut Simulation, steps: u64, signal: &str, threads: usize) -> Vec<f64> {
    let place = simulation
        .columns()
        .iter()
        .position(|column| column.name == signal)
        .unwrap_or_else(|| panic!("no {signal}"));
    let mut values = Vec::new();
    struct Kept<'k>(&'k mut Vec<f64>, usize);
    impl oldham_cosim::Recorder for Kept<'_> {
        fn record(&mut self, _t: f64, row: &[f64]) -> std::io::Result<()> {
            self.0.push(row[self.1]);
            Ok(())
        }
    }
    let mut kept = Kept(&mut values, place);
    let outcome = simulation.run(Run {
        record_every: 1,
        threads,
        ..Run::new(steps, &mut kept)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
    values
}
