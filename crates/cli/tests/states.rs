//! Verdicts along a run, as the commands tell them: the states, the time that is granted, and signals.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
        .with_extension("toml")
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command.args(arguments);
    command
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("it starts")
}

/// A cart on a sampled drive with a limit, which it reaches at the start. By hand it is stable up to
/// about kd = 2 m / T = 40 where the drive is not at its limit.
const CART: &str = r#"
[model]
name = "Cart with a limited drive"
[parameters]
kd = 4
[simulation]
duration = 10
step = 0.01
[schedule]
output_update = true
[lumped.plant]
integrator = "rk4"
predictor = "zero-order"
masses.x = { mass = 1 }
inputs.u = { force = "x" }
outputs.x = { displacement = "x" }
outputs.v = { velocity = "x" }
[control.c]
sample = 0.05
inputs = { x = "m", v = "m/s" }
outputs.u = { value = "clamp(4 * (1 - x) - kd * v, -0.5, 0.5)", unit = "N" }
[[connection]]
from = "plant.x"
to = "c.x"
[[connection]]
from = "plant.v"
to = "c.v"
[[connection]]
from = "c.u"
to = "plant.u"
"#;

fn cart() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cart.toml");
    std::fs::write(&path, CART).unwrap();
    (folder, path.display().to_string())
}

#[test]
fn all_states_are_told_with_their_verdicts() {
    let (folder, path) = cart();
    let output = oldham(folder.path(), &["check", &path, "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stability = &answer["stability"];
    assert_eq!(stability["decision"], "stable", "{stability}");
    let states = stability["looked_at"].as_array().unwrap();
    assert!(states.len() >= 9, "{stability}");
    for state in states {
        assert!(
            state["time"].is_number() && state["kind"].is_string(),
            "{state}"
        );
        assert_eq!(state["analysed"], true, "{state}");
        assert!(state["spectral_radius"].is_number() && state["error"].is_number());
    }
    let start = states
        .iter()
        .find(|state| state["kind"] == "start")
        .unwrap();
    let notes = start["notes"].to_string();
    assert!(notes.contains("c.u") && notes.contains("limit"), "{start}");
    assert!(notes.contains("off equilibrium"), "{start}");
    let said = oldham(folder.path(), &["check", &path]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`c.u` is at a limit at"), "{said}");
    assert!(said.contains("at the start"), "{said}");
    assert!(said.contains("the loop is open there"), "{said}");
}

/// With much more damping it is stable only where the loop is open.
#[test]
fn an_open_loop_is_not_called_stable() {
    let (folder, path) = cart();
    for command in ["check", "stability"] {
        let arguments = [command, &path, "--set", "kd=60", "--json"];
        let output = oldham(folder.path(), &arguments);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let stability = match command {
            "check" => &answer["stability"],
            _ => &answer["verdict"],
        };
        assert_ne!(stability["decision"], "stable", "{stability}");
        assert_ne!(stability["stable"], true, "{stability}");
    }
}

#[test]
fn an_analysis_without_time_is_refused() {
    let (folder, path) = cart();
    for command in ["check", "stability"] {
        for seconds in ["0", "-1", "nan", "inf", "soon"] {
            let output = oldham(folder.path(), &[command, &path, "--seconds", seconds]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("positive number of seconds"), "{said}");
        }
    }
}

/// Next to no time: what was not reached is named, and nothing is claimed.
#[test]
fn what_was_not_reached_is_named() {
    let (folder, path) = cart();
    let output = oldham(
        folder.path(),
        &["check", &path, "--seconds", "1e-6", "--json"],
    );
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stability = &answer["stability"];
    assert_eq!(stability["analysed"], false, "{stability}");
    assert!(stability["reason"].as_str().unwrap().contains("--seconds"));
}

#[test]
fn a_range_without_a_border_is_said_to_have_none() {
    let (folder, path) = cart();
    let set = [
        "--set",
        "control.c.outputs.u.value=\"4 * (1 - x) - kd * v\"",
    ];
    for (range, word) in [
        ("kd=2:20", "stable everywhere"),
        ("kd=60:90", "unstable everywhere"),
    ] {
        let mut arguments = vec!["stability", &path, "--critical", range];
        arguments.extend(set);
        let output = oldham(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            said.contains(word)
                && said.contains("at the start")
                && said.contains("give a wider range"),
            "{said}"
        );
    }
}

#[test]
fn a_single_value_is_no_range() {
    let (folder, path) = cart();
    let output = oldham(folder.path(), &["stability", &path, "--critical", "kd=20"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("write kd=LOW:HIGH"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_an_analysis_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let car = example("formula-student");
    let mut child = command(folder.path(), &["check", "--seconds", "1000", "--json"])
        .arg(&car)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let asked = Instant::now();
    let status = child.wait().unwrap();
    assert!(
        asked.elapsed() < Duration::from_secs(60),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!(status.code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("interrupted"), "{said}");
}
