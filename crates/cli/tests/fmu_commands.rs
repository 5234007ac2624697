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
