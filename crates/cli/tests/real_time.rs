//! Runs by the clock on the wall, as a user meets them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .output()
        .expect("oldham starts")
}

/// The cart, so many of its steps of 1 ms.
fn cart(folder: &Path, steps: u32, more: &[&str]) -> Output {
    let path = example("driven-cart.toml");
    let duration = format!("simulation.duration={}", f64::from(steps) * 1e-3);
    let mut arguments = vec!["run", path.to_str().unwrap(), "--no-analysis", "--force"];
    arguments.extend(["--set", &duration]);
    arguments.extend(more);
    oldham(folder, &arguments)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("an answer in JSON")
}

fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A budget of 10 ns is never kept: every step misses it.
#[test]
fn steps_that_end_too_late_are_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let output = cart(
        folder.path(),
        50,
        &["--real-time", "1", "--budget", "1e-8", "--json"],
    );
    assert_eq!(output.status.code(), Some(0));
    let lateness = &json(&output)["summary"]["lateness"];
    assert_eq!(lateness["missed"], 50);
    assert_eq!(lateness["overruns"], 50);
    let counted = lateness["histogram"].as_array().unwrap().iter();
    let counted: u64 = counted.map(|bin| bin[1].as_u64().unwrap()).sum();
    assert_eq!(counted, 50);
    let told = cart(folder.path(), 50, &["--budget", "1e-8"]);
    let told = words(&told.stdout);
    assert!(
        told.contains("50 of 50 steps ended after their deadline"),
        "{told}"
    );
    assert!(told.contains("99.9th percentile"), "{told}");
}

#[test]
fn a_run_that_is_to_stop_fails_with_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--budget", "1e-8", "--on-miss", "stop", "--out", "run.csv"];
    let output = cart(folder.path(), 1000, &more);
    assert_eq!(output.status.code(), Some(1));
    let told = words(&output.stderr);
    assert!(
        told.contains("deadline") && told.contains("--on-miss slip"),
        "{told}"
    );
    let rows = std::fs::read_to_string(folder.path().join("run.csv")).unwrap();
    assert!((2..10).contains(&rows.lines().count()), "{rows}");
}

#[test]
fn a_budget_beyond_the_next_step_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = cart(folder.path(), 10, &["--budget", "0.01"]);
    assert_eq!(output.status.code(), Some(2));
    let told = words(&output.stderr);
    assert!(
        told.contains("0.001 s") && told.contains("--budget"),
        "{told}"
    );
    for wrong in [
        ["--budget", "0"],
        ["--real-time", "-1"],
        ["--fifo", "100"],
        ["--on-miss", "panic"],
    ] {
        let output = cart(folder.path(), 10, &wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// Whether the system permits it or not, the run goes on, has the same bits and says what came of it.
#[test]
fn what_is_asked_of_the_system_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let wishes = [
        "--fifo",
        "5",
        "--lock-memory",
        "--cores",
        "0",
        "--json",
        "--out",
        "asked.csv",
    ];
    let output = cart(folder.path(), 50, &wishes);
    assert_eq!(output.status.code(), Some(0));
    let answer = json(&output);
    let notes: Vec<&str> = answer["summary"]["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for what in [
        "SCHED_FIFO, priority 5",
        "memory locked",
        "thread 0 on core 0",
    ] {
        let note = notes.iter().find(|note| note.starts_with(what));
        let note = note.unwrap_or_else(|| panic!("{what} is not in {notes:?}"));
        assert!(note.contains("granted"), "{note}");
    }
    cart(folder.path(), 50, &["--out", "plain.csv"]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("asked.csv") == read("plain.csv"));
    let output = cart(folder.path(), 10, &["--cores", "100000", "--json"]);
    let notes = json(&output)["summary"]["notes"].to_string();
    assert!(notes.contains("core 100000: not granted"), "{notes}");
}

#[test]
fn a_motion_is_drawn_in_characters() {
    let folder = tempfile::tempdir().unwrap();
    let path = example("slider-crank.toml");
    let path = path.to_str().unwrap();
    let run = [
        "run",
        path,
        "--set",
        "simulation.duration=0.2",
        "--out",
        "crank.parquet",
    ];
    assert_eq!(oldham(folder.path(), &run).status.code(), Some(0));
    let drawn = |arguments: &[&str]| {
        let output = oldham(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let dots = |text: &str| {
        text.chars()
            .filter(|c| ('\u{2801}'..='\u{28ff}').contains(c))
            .count()
    };
    let first = drawn(&["view", "crank.parquet", "--text", "--at", "0"]);
    let later = drawn(&["view", "crank.parquet", "--text", "--at", "0.1"]);
    assert!(dots(&first) > 20, "{first}");
    assert_ne!(first, later);
    let five = drawn(&["view", "crank.parquet", "--text"]);
    assert_eq!(five.matches("t = ").count(), 5);
    let live = drawn(&["view", path, "--text", "--set", "simulation.duration=0.2"]);
    assert!(live.matches("t = ").count() >= 3, "{live}");
}

#[test]
fn a_port_in_use_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let path = example("driven-cart.toml");
    let output = oldham(
        folder.path(),
        &["drive", path.to_str().unwrap(), "--port", &port],
    );
    assert_eq!(output.status.code(), Some(2));
    let told = words(&output.stderr);
    assert!(told.contains(&port) && told.contains("--port"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
