//! Numbers of Fontana 2026, Sect. 3, through the command, against `papers/oracles/fontana_oscillators.py`: the
//! equations with the misprints of the paper corrected.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn stability(more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/interface-mass.toml");
    let output = Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder.path())
        .arg("stability")
        .arg(example)
        .args(more)
        .arg("--json")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn radius(answer: &Value) -> f64 {
    answer["modes"][0]["radius"].as_f64().unwrap()
}

#[test]
fn loose_and_monolithic_have_the_published_spectral_radii() {
    assert!((radius(&stability(&[])) - 0.998_736_772).abs() < 1e-9);
    assert!((radius(&stability(&["--monolithic"])) - 0.998_736_785).abs() < 1e-9);
}

#[test]
fn the_map_of_interface_masses_has_599_stable_points_of_625() {
    let answer = stability(&["--over", "m2", "--over", "m3"]);
    assert_eq!(answer["maps"][0]["stable"], 599);
    assert_eq!(answer["maps"][0]["points"], 625);
}

#[test]
fn the_border_depends_on_the_sum_of_the_interface_masses_alone() {
    for m3 in [1e-6, 0.005, 0.01, 0.02] {
        let set = format!("m3={m3}");
        let answer = stability(&["--set", &set, "--critical", "m2=1e-6:1"]);
        let sum = answer["critical"].as_f64().unwrap() + m3;
        assert!((sum - 0.024935).abs() < 2e-6, "{sum}");
    }
}

/// Eigenvalues of the monolithic system, from the pencil of the printed Table 1.
#[test]
fn the_twin_has_the_poles_of_table_1() {
    let answer = stability(&[
        "--monolithic",
        "--set",
        "simulation.step=1e-5",
        "--set",
        "simulation.duration=1e-3",
    ]);
    let expected = [(-1.2641, 15.850), (-5.9046, 33.853), (-11.165, 45.916)];
    for (growth, rate) in expected {
        let found = answer["modes"].as_array().unwrap().iter().any(|mode| {
            let (re, hz) = (
                mode["growth"].as_f64().unwrap(),
                mode["frequency"].as_f64().unwrap(),
            );
            (re / growth - 1.0).abs() < 2e-4
                && (hz * std::f64::consts::TAU / rate - 1.0).abs() < 2e-4
        });
        assert!(found, "{growth} {rate}: {answer}");
    }
}
