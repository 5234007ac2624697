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

/// Nothing was printed of a machine whose oil does not hold it.
#[test]
fn statics_of_a_mechanism_are_told_before_the_network_that_lets_it_sink() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(example("hydraulic-lift")).unwrap();
    let open = text
        .replace("pressure = \"static\"", "pressure = 4e6")
        .replace(
            "\"oil.down.opening\" = ",
            "\"oil.down.opening\" = \"0.5\" #",
        );
    std::fs::write(folder.path().join("sinking.toml"), open).unwrap();
    let output = oldham(folder.path(), &["statics", "sinking.toml"]);
    let [told, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(told.contains("lift.platform   7848  N"), "{told}");
    assert!(error.contains("`oil` does not hold the machine"), "{error}");
}

#[test]
fn modes_gives_frequencies_and_writes_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("fontana-beam");
    let arguments = ["modes", &beam, "--at", "static", "--count", "3", "--json"];
    let films = ["--animate", "swing.svg"];
    let found = answer(folder.path(), &[&arguments[..], &films].concat());
    assert_eq!(found["animations"].as_array().unwrap().len(), 3);
    let film = String::from_utf8(read(folder.path(), "swing-2.svg")).unwrap();
    assert!(film.contains("<animate attributeName=\"d\"") && film.contains("mode 2"));
    let modes = found["parts"][0]["modes"].as_array().unwrap();
    assert_eq!(modes.len(), 3);
    assert!(modes[1]["damping"].as_f64().unwrap() > 0.05);
    // The second mode is the first in the plane; without damping its period is 1.01463 s.
    let undamped = ["--set", "multibody.beam.sections.girder.damping=0"];
    let undamped = answer(folder.path(), &[&arguments[..], &undamped].concat());
    let frequency = undamped["parts"][0]["modes"][1]["frequency"].as_f64();
    let frequency = frequency.unwrap();
    assert!((1.0 / frequency - 1.01463).abs() < 2e-4, "{frequency}");
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
fn a_mechanism_alone_has_no_coupling_to_analyse_and_is_monolithic() {
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

/// Writes a model file and gives its path.
fn written(folder: &Path, text: &str) -> String {
    let path = folder.join("model.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn kinds(found: &Value) -> Vec<&str> {
    let modes = found["parts"][0]["modes"].as_array().unwrap();
    modes
        .iter()
        .map(|mode| mode["kind"].as_str().unwrap())
        .collect()
}

/// A straight beam on two hinges was called unstable at 9.977 1/s when it had two elements.
#[test]
fn an_unloaded_beam_of_two_elements_is_not_unstable() {
    let folder = tempfile::tempdir().unwrap();
    let model = written(
        folder.path(),
        r#"
        model.name = "beam"
        simulation = { duration = 1.0, step = 1e-3 }
        [multibody.beam.sections.girder]
        axial = 1e6
        shear = [0.6e6, 0.6e6]
        torsion = 1e3
        bending = [2e3, 1e4]
        mass = 5.0
        inertia = [0.1, 0.05, 0.05]
        [multibody.beam.beams.girder]
        from = [0, 0, 0]
        to = [24, 0, 0]
        elements = 2
        section = "girder"
        up = [0, 1, 0]
        [multibody.beam.joints]
        left = { type = "revolute", between = ["ground", "girder.0"], axis = [0, 1, 0] }
        right = { type = "revolute", between = ["ground", "girder.4"], axis = [0, 1, 0] }
        "#,
    );
    for count in ["1", "6", "20"] {
        let found = answer(
            folder.path(),
            &["modes", &model, "--count", count, "--json"],
        );
        assert!(kinds(&found).iter().all(|kind| *kind == "oscillating"));
        let modes = found["parts"][0]["modes"].as_array().unwrap();
        assert!(modes.iter().all(|mode| mode["damping"] == 0.0), "{modes:?}");
    }
}

/// A rod of one element that hangs from a hinge was refused: its mass matrix was called singular.
#[test]
fn a_hanging_rod_of_one_element_has_modes() {
    let folder = tempfile::tempdir().unwrap();
    let model = written(
        folder.path(),
        r#"
        model.name = "rod"
        simulation = { duration = 1.0, step = 1e-3 }
        [multibody.r]
        gravity = [0, 0, -9.81]
        sections.s = { circle = 0.005, young = 2.1e11, density = 7800 }
        beams.rod = { from = [0, 0, 0], to = [0, 0, -1], elements = 1, section = "s", up = [0, 1, 0] }
        joints.hinge = { type = "revolute", between = ["ground", "rod.0"], axis = [0, 1, 0] }
        "#,
    );
    let found = answer(
        folder.path(),
        &["modes", &model, "--at", "static", "--json"],
    );
    assert_eq!(found["parts"][0]["modes"].as_array().unwrap().len(), 6);
    assert!(kinds(&found).iter().all(|kind| *kind == "oscillating"));
    assert_eq!(found["parts"][0]["steady"], true);
}

/// Without a degree of freedom there is nothing to draw: the message was one about SVG sizes.
#[test]
fn a_driven_mechanism_has_no_mode_to_draw() {
    let folder = tempfile::tempdir().unwrap();
    let crank = example("slider-crank");
    let output = oldham(folder.path(), &["modes", &crank, "--out", "x.png"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    assert!(message.contains("no degree of freedom"), "{message}");
    let found = answer(folder.path(), &["modes", &crank, "--json"]);
    assert_eq!(kinds(&found).len(), 0);
}

/// Feedback did not count: the pole that its cart keeps upright was said to fall.
#[test]
fn a_balanced_pendulum_is_stable_and_a_falling_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let balanced = example("balanced-pendulum");
    let tilt = ["--set", "tilt=0"];
    let arguments = [&["modes", &balanced, "--json"][..], &tilt].concat();
    let found = answer(folder.path(), &arguments);
    assert!(!kinds(&found).contains(&"growing"), "{found}");
    let loose = [
        "--set", "kx=0", "--set", "kv=0", "--set", "ka=0", "--set", "kw=0",
    ];
    let found = answer(folder.path(), &[&arguments[..], &loose].concat());
    assert!(kinds(&found).contains(&"growing"), "{found}");
    // Out of equilibrium the answer says so.
    let output = oldham(folder.path(), &["modes", &balanced]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("no equilibrium"), "{text}");
}

/// The spin of a rotor did not count: flapping was at 4.944 Hz for any of them.
#[test]
fn frequencies_of_a_rotor_rise_over_its_spin() {
    let folder = tempfile::tempdir().unwrap();
    let rotor = example("rotor");
    let range = ["--over", "spin=0:100:3", "--out", "campbell.png", "--json"];
    let found = answer(folder.path(), &[&["modes", &rotor][..], &range].concat());
    assert!(is_png(&read(folder.path(), "campbell.png")));
    let points = found["parts"][0]["points"].as_array().unwrap();
    let frequency = |point: usize, mode: usize| {
        let value = &points[point]["modes"][mode]["damped_frequency"];
        value.as_f64().unwrap_or_else(|| panic!("{point} {mode}"))
    };
    // The first is the rotation of the hub; then four blades flap.
    assert_eq!(points[2]["modes"][0]["kind"], "rigid-body");
    for blade in 1..=4 {
        let [rest, slow, fast] = [0, 1, 2].map(|point| frequency(point, blade));
        assert!(rest < slow && slow < fast);
        // Southwell: at least that of a chain, which flaps once per turn.
        assert!(fast > 100.0 / std::f64::consts::TAU, "{fast}");
    }
    assert_eq!(points[2]["frames"].as_array().unwrap().len(), 1);
}
