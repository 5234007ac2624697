//! What is said of a model by different commands, and what they advise: the same, tried before it is
//! named.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
        .with_extension("toml")
}

/// Time for analyses in seconds, so that no verdict depends on what else the machine does.
const AMPLE: &str = "40";

/// A command on a model with settings, each after its own `--set`.
fn oldham(folder: &Path, verb: &str, model: &Path, set: &[&str], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command.arg(verb).arg(model).args(more);
    if ["check", "stability"].contains(&verb) {
        command.args(["--seconds", AMPLE]);
    }
    for setting in set {
        command.args(["--set", setting]);
    }
    command.output().expect("it starts")
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {said}"))
}

fn check(model: &Path, set: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    json(&oldham(folder.path(), "check", model, set, &["--json"]))["stability"].take()
}

fn remedies(stability: &Value) -> Vec<String> {
    let all = stability["remedies"].as_array().expect("a list");
    let text = |remedy: &Value| remedy.as_str().expect("a text").to_owned();
    all.iter().map(text).collect()
}

const PAIR: &str = "two-mass-force-displacement";

/// Settings under which the pair grows, by as little as 5.5e-8 in a step and by much more.
const GROWING: [&[&str]; 5] = [
    &[
        "schedule.coupling=implicit",
        "schedule.predictor=zero-order",
    ],
    &[
        "schedule.kind=gauss-seidel",
        "schedule.predictor=zero-order",
    ],
    &[
        "schedule.kind=gauss-seidel",
        "schedule.predictor=first-order",
    ],
    &["schedule.kind=jacobi", "schedule.predictor=first-order"],
    &["schedule.kind=jacobi", "schedule.predictor=zero-order"],
];

/// `schedule.kind=gauss-seidel` was advised for a model that was solved by Gauss–Seidel.
#[test]
fn what_is_in_force_is_no_remedy() {
    let mut named = 0;
    for set in GROWING {
        let stability = check(&example(PAIR), set);
        assert_eq!(stability["decision"], "unstable", "{set:?}: {stability}");
        let all = remedies(&stability);
        for (place, remedy) in all.iter().enumerate() {
            named += 1;
            assert!(!all[..place].contains(remedy), "{set:?}: {remedy} twice");
            let mut settings = remedy.split(" --set ");
            assert!(
                settings.all(|setting| !set.contains(&setting)),
                "{set:?} has {remedy} already"
            );
        }
    }
    assert!(named >= 4, "{named}");
}

/// Some remedies stopped in the first step. What is named here was analysed, and runs.
#[test]
fn every_remedy_that_is_named_makes_the_model_stable_and_run() {
    for set in GROWING {
        for remedy in remedies(&check(&example(PAIR), set)) {
            let folder = tempfile::tempdir().unwrap();
            let with: Vec<&str> = set.iter().copied().chain(remedy.split(" --set ")).collect();
            assert_eq!(
                check(&example(PAIR), &with)["decision"],
                "stable",
                "{with:?}"
            );
            let run = oldham(folder.path(), "run", &example(PAIR), &with, &["--json"]);
            assert_eq!(json(&run)["status"], "finished", "{with:?}");
        }
    }
}

/// The same for a mechanism that is cut.
#[test]
fn remedies_of_a_cut_mechanism_make_it_stable_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("beam.toml");
    let text = BEAM.replace("force-displacement", "interface-mass");
    std::fs::write(&model, text.replace("kind = \"gauss-seidel\"", "")).unwrap();
    let set = ["D=0.05"];
    let stability = check(&model, &set);
    assert_eq!(stability["decision"], "unstable", "{stability}");
    let all = remedies(&stability);
    assert!(!all.is_empty(), "{stability}");
    for remedy in all {
        let with: Vec<&str> = set.iter().copied().chain(remedy.split(" --set ")).collect();
        let after = check(&model, &with);
        assert_eq!(after["decision"], "stable", "{with:?}: {after}");
        let run = oldham(folder.path(), "run", &model, &with, &["--json", "--force"]);
        assert_eq!(json(&run)["status"], "finished", "{with:?}");
    }
}

/// An element that folds, or a matrix that is singular, is what a part meets when the coupling drives it away.
#[test]
fn a_part_that_an_unstable_coupling_drives_away_is_not_blamed_alone() {
    let folder = tempfile::tempdir().unwrap();
    let set = ["D=0.05", "multibody.beam.cut.scheme=interface-mass"];
    let said = |more: &[&str]| {
        let call = oldham(folder.path(), "run", &example("cut-beam"), &set, more);
        assert_eq!(call.status.code(), Some(1));
        let said = String::from_utf8_lossy(&call.stderr).into_owned();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = said(&["--force"]);
    assert!(told.contains("that is the likely cause"), "{told}");
    let told = said(&["--force", "--no-analysis"]);
    assert!(told.contains("tells whether this one is"), "{told}");
}

/// Implicit coupling helps, but not with one iteration in a step.
#[test]
fn a_remedy_is_tried_with_the_settings_of_the_model() {
    let set = GROWING[1];
    let tight = |stability: &Value| {
        let all = remedies(stability);
        all.iter()
            .any(|remedy| remedy.contains("coupling=implicit"))
    };
    assert!(tight(&check(&example(PAIR), set)));
    let few = [set, &["schedule.implicit.max_iterations=1"]].concat();
    assert!(!tight(&check(&example(PAIR), &few)));
}

/// A beam of two parts, solved by Gauss–Seidel with force and displacement; hardly damped.
const BEAM: &str = r#"
[model]
name = "Beam in two parts"
[parameters]
D = 1e-6
[simulation]
duration = 0.05
step = 1e-4
[multibody.beam]
gravity = [0, 0, -9.81]
[multibody.beam.cut]
at = ["girder.4"]
parts = { left = "girder.0", right = "girder.8" }
scheme = "force-displacement"
[multibody.beam.sections.girder]
axial = 1e6
shear = [0.6e6, 0.6e6]
torsion = 1e3
bending = [2e3, 1e4]
mass = 5.0
inertia = [0.1, 0.05, 0.05]
damping = "D"
[multibody.beam.beams.girder]
from = [0, 0, 0]
to = [8, 0, 0]
elements = 4
section = "girder"
up = [0, 1, 0]
[multibody.beam.joints]
left = { type = "revolute", between = ["ground", "girder.0"], axis = [0, 1, 0] }
right = { type = "revolute", between = ["ground", "girder.8"], axis = [0, 1, 0] }
[multibody.beam.outputs]
middle = { translation = "girder.4", axis = [0, 0, 1] }
[schedule]
kind = "gauss-seidel"
"#;

/// `stability` called it unstable, and advised Gauss–Seidel; `check` called it stable.
#[test]
fn stability_and_check_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("beam.toml");
    std::fs::write(&model, BEAM).unwrap();
    for damping in ["D=1e-6", "D=1e-3"] {
        let checked = check(&model, &[damping]);
        let call = oldham(folder.path(), "stability", &model, &[damping], &["--json"]);
        let verdict = &json(&call)["verdict"];
        assert_eq!(checked["decision"], "stable", "{damping}: {checked}");
        for key in ["decision", "spectral_radius"] {
            assert_eq!(checked[key], verdict[key], "{damping}: {key}");
        }
    }
}

/// A map called a lift stable of which a closer look says that it grows by 4.7 % in a step. The motion leaves that state
/// before the growth shows, so that nothing is decided about the run.
#[test]
fn maps_take_a_closer_look_where_growth_is_not_certain() {
    let folder = tempfile::tempdir().unwrap();
    let lift = example("hydraulic-lift");
    let numbers = ["mass=100", "area=3.0714285714e-3"];
    let alone = oldham(folder.path(), "stability", &lift, &numbers, &["--json"]);
    let verdict = &json(&alone)["verdict"];
    assert_eq!(verdict["decision"], "not decided", "{verdict}");
    let axes = ["--json", "--over", numbers[0], "--over", numbers[1]];
    let map = json(&oldham(folder.path(), "stability", &lift, &[], &axes));
    let found = map["maps"][0]["radius"][0].as_f64().unwrap();
    let radius = verdict["spectral_radius"].as_f64().unwrap();
    assert!((found - radius).abs() < 1e-6, "{found}, alone {radius}");
}

/// Only multiples of the micro step are possible macro steps: the search said that it could look at none
/// of the others.
#[test]
fn critical_steps_are_looked_for_among_those_that_micro_steps_divide() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(example("two-mass-force-displacement")).unwrap();
    let text = text.replacen("[lumped.left]\n", "[lumped.left]\nmicro_step = 1e-3\n", 1);
    let model = folder.path().join("pair.toml");
    std::fs::write(
        &model,
        text.replace(
            "kind = \"jacobi\"",
            "kind = \"jacobi\"\noutput_update = true",
        ),
    )
    .unwrap();
    let range = ["--json", "--critical", "simulation.step=1e-3:0.2"];
    let found = json(&oldham(folder.path(), "stability", &model, &[], &range));
    let borders = &found["borders"][0];
    assert_eq!(
        borders["not_analysed"].as_array().unwrap().len(),
        0,
        "{found}"
    );
    let critical = found["critical"].as_f64().expect("a step");
    let steps = critical / 1e-3;
    assert!((steps - steps.round()).abs() < 1e-6, "{critical}");
    for (count, decision) in [(steps.round(), "stable"), (steps.round() + 1.0, "unstable")] {
        let step = format!("simulation.step={:e}", count * 1e-3);
        let duration = format!("simulation.duration={:e}", count * 1e-1);
        let checked = check(&model, &[&step, &duration]);
        assert_eq!(checked["decision"], decision, "{step}: {checked}");
    }
}

/// A model without any exchange has no interface to look at; and what it does by itself is not
/// called a fault of the coupling. It was, for the chain and for a leaking valve.
#[test]
fn physical_drift_is_not_called_a_fault_of_the_coupling() {
    let folder = tempfile::tempdir().unwrap();
    let output = oldham(
        folder.path(),
        "stability",
        &example("hanging-chain"),
        &[],
        &[],
    );
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("the monolithic model is stable"), "{said}");
    assert!(
        !said.contains("coupling") && !said.contains("interface"),
        "{said}"
    );
    // The arm sinks by itself: the valve leaks.
    let hold = [
        "hydraulics.oil.predictor=zero-order",
        "simulation.step=0.006",
        "simulation.duration=0.6",
    ];
    let arm = check(&example("hydraulic-manipulator"), &hold);
    assert_eq!(arm["decision"], "stable", "{arm}");
    let growth = arm["own_growth"]["growth"].as_f64().expect("its own");
    assert!((0.2..0.3).contains(&growth), "{arm}");
    assert!(remedies(&arm).is_empty(), "{arm}");
    // Half of this step is no multiple of the micro step, and the exchange changes the growth.
    for (predictor, step) in [("zero-order", 0.005), ("interface-model", 0.01)] {
        let predictor = format!("hydraulics.oil.predictor={predictor}");
        let step = format!("simulation.step={step}");
        let arm = check(&example("two-cylinder-arm"), &[&predictor, &step]);
        assert_eq!(arm["decision"], "stable", "{arm}");
        let growth = arm["own_growth"]["growth"].as_f64().expect("its own");
        assert!((0.03..0.07).contains(&growth), "{arm}");
    }
}

/// `run` said that nothing helps, neither a shorter step, where `check` named one.
#[test]
fn a_run_does_not_deny_the_remedy_that_a_check_names() {
    let model = example("hydraulic-manipulator");
    let hold = [
        "hydraulics.oil.predictor=zero-order",
        "simulation.step=0.02",
        "simulation.duration=0.2",
    ];
    let folder = tempfile::tempdir().unwrap();
    let call = oldham(folder.path(), "run", &model, &hold, &[]);
    let run = String::from_utf8_lossy(&call.stderr).into_owned();
    let call = oldham(folder.path(), "check", &model, &hold, &[]);
    let check = String::from_utf8_lossy(&call.stdout).into_owned();
    for said in [&run, &check] {
        assert!(!said.contains("none of the usual settings"), "{said}");
    }
    // A run does not wait for long: it may leave the verdict or the remedy to `check`.
    assert!(
        run.contains("stable with") || run.contains("`oldham check`"),
        "{run}"
    );
    assert!(check.contains("the coupling is unstable"), "{check}");
    // It does not send to itself.
    assert!(!check.contains("`oldham check`"), "{check}");
    assert!(
        check.contains("stable with") || check.contains("not all were tried"),
        "{check}"
    );
}
