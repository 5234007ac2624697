//! Statics, modes and animations from the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// The answer of a command that must succeed.
#[track_caller]
fn answer(folder: &Path, arguments: &[&str]) -> Value {
    let output = oldham(folder, arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    serde_json::from_str(&text).expect("an answer in JSON")
}

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path: PathBuf = folder.join(name).with_extension("toml");
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n")
}

#[test]
fn statics_tells_where_all_nodes_are_and_draws_them() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("fontana-beam");
    let found = answer(folder.path(), &["statics", &beam, "--json"]);
    let nodes = found["parts"][0]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 25);
    let sag = nodes[12]["position"][2].as_f64().unwrap();
    // -0.914636 m is the limit of fine meshes.
    assert!((sag + 0.914636).abs() < 2e-4, "{sag}");
    assert!(read(folder.path(), "fontana-beam-statics.svg").starts_with(b"<svg"));

    let output = oldham(folder.path(), &["statics", &beam, "-o", "sag.png"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("beam.girder.12"), "{text}");
    assert!(is_png(&read(folder.path(), "sag.png")));
}

#[test]
fn modes_gives_frequencies_and_writes_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("fontana-beam");
    let arguments = ["modes", &beam, "--at", "static", "--count", "3", "--json"];
    let films = ["--animate", "swing.svg"];
    let found = answer(folder.path(), &[&arguments[..], &films].concat());
    assert_eq!(found["films"].as_array().unwrap().len(), 3);
    let film = String::from_utf8(read(folder.path(), "swing-2.svg")).unwrap();
    assert!(film.contains("<animate attributeName=\"d\"") && film.contains("mode 2"));
    let modes = found["parts"][0]["modes"].as_array().unwrap();
    assert_eq!(modes.len(), 3);
    // The second mode is the first in the plane; its period is 1.01463 s.
    let frequency = modes[1]["frequency"].as_f64().unwrap();
    assert!((1.0 / frequency - 1.01463).abs() < 2e-4, "{frequency}");
    assert!(modes[1]["damping"].as_f64().unwrap() > 0.05);
    let shapes: Value =
        serde_json::from_slice(&read(folder.path(), "fontana-beam-modes.json")).unwrap();
    assert_eq!(
        shapes["parts"][0]["modes"][0]["shape"]
            .as_array()
            .unwrap()
            .len(),
        25
    );
    assert!(read(folder.path(), "fontana-beam-modes.svg").starts_with(b"<svg"));
}

#[test]
fn a_result_becomes_a_moving_picture_or_frames() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let crank = example("slider-crank");
    answer(
        at,
        &["run", &crank, "--set", "simulation.duration=0.2", "--json"],
    );
    let found = answer(at, &["animate", "slider-crank.parquet", "--json"]);
    assert_eq!(found["frames"], 120);
    let svg = String::from_utf8(read(at, "slider-crank-motion.svg")).unwrap();
    assert!(svg.contains("<animate attributeName=\"d\""));
    assert!(svg.contains("0 s to 0.2 s"));

    answer(
        at,
        &[
            "animate",
            "slider-crank.parquet",
            "-o",
            "frames",
            "--frames",
            "3",
            "--json",
        ],
    );
    for index in 0..3 {
        assert!(is_png(&read(at, &format!("frames/frame-000{index}.png"))));
    }
    answer(
        at,
        &[
            "animate", &crank, "-o", "all.png", "--frames", "20", "--json",
        ],
    );
    assert!(is_png(&read(at, "all.png")));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let stone = "[model]\nname = \"Stone\"\n[simulation]\nduration = 1\nstep = 1e-3\n[multibody.fall]\ngravity = [0, 0, -9.81]\n[multibody.fall.nodes]\nstone = {}\n[multibody.fall.bodies]\nstone = { node = \"stone\", mass = 1, inertia = [1, 1, 1] }\n";
    std::fs::write(at.join("stone.toml"), stone).unwrap();
    let crank = example("slider-crank");
    let duration = ["--set", "simulation.duration=0.01"];
    for (arguments, expected) in [
        (
            vec!["statics".to_owned(), example("two-mass-tight")],
            "no multibody subsystem",
        ),
        (
            vec!["statics".to_owned(), "stone.toml".to_owned()],
            "nothing holds `stone`",
        ),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = oldham(at, &arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && text.contains(expected),
            "{text}"
        );
    }
    let run = |more: &[&str]| oldham(at, &[&["run", &crank], &duration[..], more].concat());
    assert!(
        run(&["--set", "record.nodes=false", "-o", "bare.parquet"])
            .status
            .success()
    );
    assert!(run(&["-o", "plain.csv"]).status.success());
    for (file, expected) in [
        ("bare.parquet", "record.nodes"),
        ("plain.csv", "which model"),
    ] {
        let output = oldham(at, &["animate", file]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_mechanism_alone_has_no_coupling_to_analyse_and_is_its_own_twin() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let pendulum = example("double-pendulum");
    let found = answer(at, &["check", &pendulum, "--json"]);
    assert_eq!(found["stability"]["analysed"], false);
    let outputs = found["parts"][0]["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 3, "{outputs:?}");
    let short = "simulation.duration=0.1";
    let found = answer(
        at,
        &["run", &pendulum, "--monolithic", "--set", short, "--json"],
    );
    assert_eq!(found["status"], "finished");
}
