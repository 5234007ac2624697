//! `oldham compare`: what it compares with, what it calls the worst, and what it refuses.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The answer to a comparison of an example.
fn compared(name: &str, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let model = example(name);
    let output = oldham(
        folder.path(),
        &[&["compare", &model, "--json"], more].concat(),
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The message with which a comparison is refused.
fn refused(folder: &Path, name: &str, more: &[&str]) -> String {
    let model = example(name);
    let output = oldham(folder, &[&["compare", &model], more].concat());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    // Folded lines are joined again.
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn errors(answer: &Value, variant: usize) -> impl Iterator<Item = (&str, f64)> {
    let signals = answer["variants"][variant]["signals"].as_array().unwrap();
    signals
        .iter()
        .filter_map(|signal| Some((signal["name"].as_str().unwrap(), signal["error"].as_f64()?)))
}

/// The converged reference is the solution: errors against it are those against the matrix
/// exponential.
#[test]
fn a_converged_reference_is_the_exact_solution() {
    let short = [
        "--set",
        "simulation.duration=0.5",
        "--vary",
        "schedule.output_update=false",
    ];
    let against = |reference: &str| {
        let more = [&short[..], &["--reference", reference]].concat();
        compared("two-mass-force-displacement", &more)
    };
    let (converged, exact) = (against("converged"), against("exact"));
    let own = converged["variants"][0]["refined"]["error"]
        .as_f64()
        .unwrap();
    assert!(own <= 2e-4, "{own}");
    assert!(
        converged["variants"][0]["refined"]["step"]
            .as_f64()
            .unwrap()
            < 1e-3
    );
    let mut compared = 0;
    for ((name, error), (other, expected)) in errors(&converged, 0).zip(errors(&exact, 0)) {
        assert_eq!(name, other);
        assert!(
            (error - expected).abs() < 5e-4,
            "{name}: {error} instead of {expected}"
        );
        compared += 1;
    }
    assert_eq!(compared, 7);
}

#[test]
fn a_mechanism_with_something_else_is_compared_with_a_converged_reference() {
    let more = ["--set", "simulation.duration=0.1"];
    let answer = compared("beam-absorber", &more);
    assert_eq!(answer["reference"], "converged");
    let mut variants = answer["variants"].as_array().unwrap().iter();
    let tight = variants
        .find(|variant| variant["name"] == "implicit")
        .unwrap();
    let file = &answer["variants"][0];
    assert_eq!(tight["status"], "ran");
    assert!(file["error"].as_f64().unwrap() < 0.1, "{}", file["error"]);
    assert!(file["refined"]["error"].as_f64().unwrap() <= 2e-4);
}

/// A machine of 480 kg on a table of 20 kg: implicit coupling takes the first coarse steps and fails at
/// all finer ones. There was no reference.
#[test]
fn where_implicit_coupling_comes_to_no_end_the_coupling_of_the_file_is_refined() {
    let answer = compared("carried-machine", &["--set", "simulation.duration=0.05"]);
    assert_eq!(answer["reference"], "converged, coupled as in the file");
    let refined = &answer["variants"][0]["refined"];
    assert!(refined["step"].as_f64().unwrap() < 1e-3, "{refined}");
    assert!(refined["error"].as_f64().unwrap() <= 2e-4, "{refined}");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, more: &[&str]| refused(folder.path(), name, more);
    // With a step at which any run would take minutes.
    let fine = ["--set", "simulation.step=2e-8"];
    let monolithic = [&fine[..], &["--reference", "monolithic"]].concat();
    let message = refused("beam-absorber", &monolithic);
    assert!(message.contains("converged reference"), "{message}");
    let message = refused("balanced-pendulum", &["--set", "simulation.step=1e-8"]);
    assert!(
        message.contains("has no coupling") && message.contains("--vary"),
        "{message}"
    );
    let message = refused("balanced-pendulum", &["--reference", "monolithic"]);
    assert!(message.contains("has no coupling"), "{message}");
    let message = refused(
        "two-mass-force-displacement",
        &["--signal", "exchange.left.fc<->right.x2"],
    );
    assert!(message.contains("there is no signal"), "{message}");
}

#[test]
fn countless_variants_are_refused_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<String> = (1..=300).map(|k| k.to_string()).collect();
    let vary = ["kc", "k1", "k2"].map(|key| format!("{key}={}", values.join(",")));
    let more: Vec<&str> = vary.iter().flat_map(|vary| ["--vary", vary]).collect();
    let message = refused(folder.path(), "two-mass-force-displacement", &more);
    assert!(message.contains("27000000 combinations"), "{message}");
}

#[test]
fn a_file_that_is_no_reference_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "other.csv",
        "time [s],somebody.else [m]\n0.0,1.0\n10.0,2.0\n",
    );
    write(
        "nan.csv",
        "time [s],left.fc [N]\n0.0,1.0\nNaN,1.5\n10.0,2.0\n",
    );
    write("short.csv", "time [s],left.fc [N]\n0.0,1.0\n5.0,2.0\n");
    let refused = |file: &str| {
        refused(
            folder.path(),
            "two-mass-force-displacement",
            &["--reference", file],
        )
    };
    assert!(refused("other.csv").contains("no signal in common"));
    assert!(refused("nan.csv").contains("times must be finite numbers"));
    assert!(refused("short.csv").contains("from 0 s to 5 s"));
}

#[test]
fn accounts_of_the_exchange_are_no_signals() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-force-displacement");
    let run = ["run", &model, "--no-analysis", "--out", "r.parquet"];
    assert!(oldham(folder.path(), &run).status.success());
    let compare = ["compare", &model, "--reference", "r.parquet", "--json"];
    let more = ["--vary", "schedule.output_update=false,true"];
    let output = oldham(folder.path(), &[&compare[..], &more].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = errors(&answer, 1).map(|(name, _)| name).collect();
    assert!(names.contains(&"left.fc"), "{names:?}");
    assert!(
        names.iter().all(|name| !name.starts_with("exchange.")),
        "{names:?}"
    );
    // The first variant is the run that made the reference.
    assert_eq!(answer["variants"][0]["error"], 0.0);
}

#[test]
fn variants_that_are_the_same_are_solved_once() {
    let answer = compared("three-part-chain", &["--set", "simulation.duration=0.1"]);
    let left_out: Vec<&Value> = answer["left_out"].as_array().unwrap().iter().collect();
    let names: Vec<&str> = left_out
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["gauss-seidel", "first-order"]);
    assert!(
        left_out
            .iter()
            .all(|one| one["same_as"] == "as in the file")
    );
    assert_eq!(answer["variants"].as_array().unwrap().len(), 4);
}

/// The moments at the cut of this plane beam are 1e-7 N.m of rounding, and wrong by as much.
#[test]
fn rounding_is_not_the_worst_signal() {
    let answer = compared("cut-beam", &["--set", "simulation.duration=0.02"]);
    let variants = answer["variants"].as_array().unwrap().iter();
    for variant in variants.filter(|variant| variant["error"].as_f64().unwrap() > 1e-6) {
        let worst = variant["worst"].as_str().unwrap();
        let is_noise = [
            ".mx", ".my", ".mz", ".py", ".fy", ".q0", ".q1", ".q2", ".q3",
        ];
        assert!(!is_noise.iter().any(|end| worst.ends_with(end)), "{worst}");
    }
    let drawn = answer["drawn"].as_str().unwrap();
    assert!(
        drawn.ends_with(".x") || drawn.ends_with("z") || drawn.ends_with(".px"),
        "{drawn}"
    );
}

/// A million steps took 942 MB when all rows were kept.
#[cfg(target_os = "linux")]
#[test]
fn a_million_steps_need_no_more_memory_than_a_thousand() {
    let folder = tempfile::tempdir().unwrap();
    let command = format!(
        "ulimit -v 250000; exec '{}' compare '{}' --set simulation.duration=1000 \
         --set simulation.energy_bound=0 --vary schedule.output_update=true",
        env!("CARGO_BIN_EXE_oldham"),
        example("two-mass-force-displacement"),
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
