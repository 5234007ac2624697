//! Driving with a wheel that is plugged into this computer, as a user meets it: here with recordings.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const CALIBRATION: &str = "device = \"recorded\"\n\
    inputs.\"driver.push\" = { axis = \"ABS_X\", rest = 32000, high = 64000, low = 0, dead = 0.0 }\n\
    buttons = { end = 297 }\n";

fn cart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/driven-cart.toml")
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .env("XDG_CONFIG_HOME", folder.join("settings"))
        .output()
        .expect("oldham starts")
}

/// A record as Linux writes it: milliseconds, kind, code, value.
fn record((time, kind, code, value): (usize, u16, u16, i32)) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((time / 1000).to_ne_bytes());
    bytes.extend((time % 1000 * 1000).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(code.to_ne_bytes());
    bytes.extend(value.to_ne_bytes());
    bytes
}

fn folder(events: &[(usize, u16, u16, i32)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = events.iter().copied().flat_map(record).collect();
    std::fs::write(folder.path().join("turns.events"), bytes).unwrap();
    std::fs::write(folder.path().join("wheel.toml"), CALIBRATION).unwrap();
    folder
}

fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Columns of a CSV file by name, without comments and units.
fn column(path: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head = lines.next().unwrap();
    let place = head.split(',').position(|column| column.starts_with(name));
    let place = place.unwrap_or_else(|| panic!("{name} in {head}"));
    lines
        .map(|line| line.split(',').nth(place).unwrap().parse().unwrap())
        .collect()
}

/// A button begins the drive, the wheel is turned to its right end and half to the left, another button
/// ends it. The push goes where its range says, and the drive has the same bits when it is replayed.
#[test]
fn a_recorded_wheel_drives_and_its_drive_replays() {
    let folder = folder(&[
        (1000, 1, 288, 1),
        (1000, 0, 0, 0),
        (1150, 3, 0, 64_000),
        (1150, 0, 0, 0),
        (1300, 3, 0, 16_000),
        (1300, 0, 0, 0),
        (1600, 1, 297, 1),
        (1600, 0, 0, 0),
    ]);
    let model = cart();
    let model = model.to_str().unwrap();
    let wheel = ["--wheel", "turns.events", "--calibration", "wheel.toml"];
    let mut arguments = vec![
        "drive",
        model,
        "--set",
        "simulation.duration=60",
        "--out",
        "drive.csv",
        "--once",
        "--json",
    ];
    arguments.extend(wheel);
    let output = oldham(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let last = String::from_utf8_lossy(&output.stdout);
    let answer: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    let steps = answer["summary"]["steps"].as_u64().unwrap();
    assert!(steps < 60_000, "a button ended it after {steps} steps");
    let path = folder.path().join("drive.csv");
    let push = column(&path, "driver.push");
    // From 1.5, its initial value, to 20 and half of the way to -20.
    let mut distinct = push.clone();
    distinct.dedup();
    assert_eq!(distinct[..3], [1.5, 20.0, 1.5 - 0.5 * 21.5]);
    let cart = column(&path, "cart.cart.v");
    assert!(cart.iter().any(|&v| v > 0.5), "it was pushed forwards");

    let length = format!("simulation.duration={}", steps as f64 * 1e-3);
    let again = [
        "run",
        model,
        "--no-analysis",
        "--set",
        "record.every=1",
        "--set",
        &length,
    ];
    let again = [&again[..], &["--replay", "drive.csv", "--out", "again.csv"]].concat();
    assert_eq!(oldham(folder.path(), &again).status.code(), Some(0));
    let again = folder.path().join("again.csv");
    for name in ["cart.cart.x", "cart.load.v", "driver.push"] {
        assert_eq!(
            column(&again, name),
            column(&path, name)[..=steps as usize],
            "{name}"
        );
    }
}

/// When the recording is over, that is said, and the push is as at first until the run ends.
#[test]
fn a_recording_that_ends_lets_go() {
    let folder = folder(&[(0, 1, 288, 1), (100, 3, 0, 64_000), (200, 0, 0, 0)]);
    let model = cart();
    let mut arguments = vec![
        "drive",
        model.to_str().unwrap(),
        "--set",
        "simulation.duration=1",
        "--out",
        "drive.csv",
    ];
    arguments.extend([
        "--once",
        "--wheel",
        "turns.events",
        "--calibration",
        "wheel.toml",
    ]);
    let output = oldham(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = words(&output.stderr);
    assert!(told.contains("the recording is over"), "{told}");
    assert!(words(&output.stdout).contains("turns.events sets driver.push by ABS_X"));
    let push = column(&folder.path().join("drive.csv"), "driver.push");
    assert!(push.contains(&20.0));
    assert_eq!(push.last(), Some(&1.5));
}

#[test]
fn what_cannot_drive_is_refused_with_what_to_do() {
    let folder = folder(&[(0, 1, 288, 1)]);
    let model = cart();
    std::fs::write(
        folder.path().join("other.toml"),
        CALIBRATION.replace("driver.push", "rudder"),
    )
    .unwrap();
    std::fs::write(folder.path().join("torn.events"), [0; 100]).unwrap();
    let cases: [(&[&str], &str); 6] = [
        (
            &["--wheel", "event99"],
            "there is no event99; `oldham wheel` lists",
        ),
        (&["--wheel", "turns.events"], "--calibration FILE"),
        (
            &["--wheel", "torn.events"],
            "100 bytes are no whole number of records of 24",
        ),
        (
            &["--wheel", "turns.events", "--calibration", "other.toml"],
            "which has: driver.push",
        ),
        (
            &["--wheel", "turns.events", "--calibration", "none.toml"],
            "none.toml cannot be used",
        ),
        (&["--calibration", "wheel.toml"], "--wheel"),
    ];
    for (wrong, told) in cases {
        let mut arguments = vec!["drive", model.to_str().unwrap()];
        arguments.extend(wrong);
        let output = oldham(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {output:?}");
        let error = words(&output.stderr);
        assert!(error.contains(told), "{wrong:?}: {error}");
    }
    let made = std::fs::read_dir(folder.path()).unwrap().flatten();
    let results = made.filter(|entry| entry.file_name().to_string_lossy().contains("drive"));
    assert_eq!(results.count(), 0, "nothing was started");
}

#[test]
fn wheels_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let output = oldham(folder.path(), &["wheel", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["devices"].is_array());
    let output = oldham(folder.path(), &["wheel", "/dev/null"]);
    assert_eq!(output.status.code(), Some(2));
}
