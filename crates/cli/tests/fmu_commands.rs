//! `oldham fmu`, and models with FMUs, as people use them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

/// The FMU of the example, compiled with these flags.
fn coil(folder: &Path, change: impl Fn(String) -> String) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fmu");
    let source = std::fs::read_to_string(examples.join("voice-coil.c")).unwrap();
    std::fs::write(folder.join("coil.c"), change(source)).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .current_dir(folder)
        .args(["-shared", "-fPIC", "-O1", "-o", "coil.so", "coil.c", "-lm"])
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let library = std::fs::read(folder.join("coil.so")).unwrap();
    let text = std::fs::read_to_string(examples.join("voice-coil.xml")).unwrap();
    oldham_fmi::pack(&folder.join("coil.fmu"), &text, "voice_coil", &library).unwrap();
}

#[test]
fn an_fmu_is_validated_and_run_by_itself() {
    let folder = TempDir::new().unwrap();
    coil(folder.path(), |source| source);
    let output = oldham(folder.path(), &["fmu", "validate", "coil.fmu", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["problems"], serde_json::json!([]));
    let words = [
        "fmu",
        "run",
        "coil.fmu",
        "--input",
        "voltage=20",
        "--set",
        "inductance=1e-3",
        "--duration",
        "0.1",
        "--step",
        "1e-4",
        "--out",
        "coil.csv",
        "--plot",
        "coil.svg",
    ];
    let output = oldham(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(folder.path().join("coil.svg").exists());
    // After a hundred time constants the current is that of the resistance, 20 V over 4 Ohm.
    let table = std::fs::read_to_string(folder.path().join("coil.csv")).unwrap();
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = head
        .iter()
        .position(|name| name.contains("fmu.current"))
        .unwrap();
    let last = table.lines().last().unwrap().split(',').nth(place).unwrap();
    let current: f64 = last.parse().unwrap();
    assert!((current - 5.0).abs() < 1e-9, "{current}");
}

/// Exit status 1, with what happened, and what was recorded up to there.
#[test]
fn a_crash_of_an_fmu_is_a_run_that_failed() {
    let folder = TempDir::new().unwrap();
    coil(folder.path(), |source| {
        let step = "fmi2DoStep(";
        let changed = source.replace(step, "plain_step(");
        assert_ne!(changed, source);
        changed
            + "\n#include <stdlib.h>\nint fmi2DoStep(void *h, double t, double step, int keeps) {\n\
               if (t > 0.05) abort();\n    return plain_step(h, t, step, keeps);\n}\n"
    });
    let words = [
        "fmu",
        "run",
        "coil.fmu",
        "--duration",
        "0.1",
        "--out",
        "coil.parquet",
        "--json",
    ];
    let output = oldham(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("signal 6 (abort) in fmi2DoStep"), "{text}");
    let output = oldham(folder.path(), &["fmu", "validate", "none.fmu"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The last value of a column of a table.
fn last(folder: &Path, table: &str, column: &str) -> f64 {
    let table = std::fs::read_to_string(folder.join(table)).unwrap();
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let mut head = lines.next().unwrap().split(',');
    let place = head.position(|name| name.contains(column));
    let place = place.unwrap_or_else(|| panic!("no {column}"));
    let value = table.lines().last().unwrap().split(',').nth(place).unwrap();
    value.parse().unwrap()
}

/// The system of the example, unpacked: a coil that steps itself and a table that is integrated here.
fn shaker(folder: &Path) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fmu");
    let resources = folder.join("resources");
    std::fs::create_dir(&resources).unwrap();
    coil(folder, |source| source);
    std::fs::rename(folder.join("coil.fmu"), resources.join("voice-coil.fmu")).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(folder.join("table.so"))
        .arg(examples.join("table.c"))
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let library = std::fs::read(folder.join("table.so")).unwrap();
    let text = std::fs::read_to_string(examples.join("table.xml")).unwrap();
    oldham_fmi::pack(&resources.join("table.fmu"), &text, "table", &library).unwrap();
    let system = examples.join("shaker-system");
    for name in ["SystemStructure.ssd", "resources/shaker.ssv"] {
        std::fs::copy(system.join(name), folder.join(name)).unwrap();
    }
}

/// Spring and coil are in balance at 12 N/A 20 V / 4 Ohm / (8000 N/m).
#[test]
fn a_system_is_checked_run_and_converted() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    shaker(folder);
    let words = [
        "run",
        "SystemStructure.ssd",
        "--set",
        "voltage=20",
        "--out",
        "shaker.csv",
    ];
    let output = oldham(folder, &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let at_rest = last(folder, "shaker.csv", "table.displacement");
    assert!((at_rest - 7.5e-3).abs() < 1e-9, "{at_rest}");
    let output = oldham(folder, &["check", "SystemStructure.ssd", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("stable"), "{text}");

    std::fs::create_dir(folder.join("models")).unwrap();
    let words = [
        "convert",
        "SystemStructure.ssd",
        "-o",
        "models/shaker.toml",
        "--json",
    ];
    let output = oldham(folder, &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&answer["fmus"], &answer["connections"]),
        (&2.into(), &2.into())
    );
    let words = [
        "run",
        "models/shaker.toml",
        "--set",
        "voltage=20",
        "--out",
        "again.csv",
    ];
    assert_eq!(oldham(folder, &words).status.code(), Some(0));
    assert_eq!(last(folder, "again.csv", "table.displacement"), at_rest);

    // Two problems, each at its line, and nothing was started.
    let text = std::fs::read_to_string(folder.join("SystemStructure.ssd")).unwrap();
    let text = text.replace(
        r#"endElement="table" endConnector="force""#,
        r#"endElement="table" endConnector="push""#,
    );
    let text = text.replace("resources/voice-coil.fmu", "resources/other.fmu");
    std::fs::write(folder.join("SystemStructure.ssd"), text).unwrap();
    let output = oldham(folder, &["check", "SystemStructure.ssd"]);
    assert_eq!(output.status.code(), Some(2));
    let [errors, told] = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    let text = format!("{errors}{told}");
    assert!(text.contains("no connector `table.push`"), "{text}");
    assert!(
        text.contains("`resources/other.fmu` cannot be read"),
        "{text}"
    );
}

/// x'' = (F - 8000 x - 6 x') / 0.5: poles at -6 ± 126.35 i, 1/8000 m/N at rest.
#[test]
fn an_fmu_is_probed() {
    let folder = TempDir::new().unwrap();
    shaker(folder.path());
    let words = [
        "fmu",
        "probe",
        "resources/table.fmu",
        "--step",
        "1e-3",
        "--json",
    ];
    let output = oldham(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let poles = answer["poles"].as_array().unwrap();
    assert_eq!(poles.len(), 2);
    for pole in poles {
        let [re, im] = [0, 1].map(|k| pole[k].as_f64().unwrap());
        assert!((re + 6.0).abs() < 1e-3, "{re}");
        assert!(
            (im.abs() - (16000.0_f64 - 36.0).sqrt()).abs() < 1e-3,
            "{im}"
        );
    }
    let gain = answer["gains"][0][0].as_f64().unwrap();
    assert!((gain * 8000.0 - 1.0).abs() < 1e-5, "{gain}");
}
