//! The compensate command and compensated models, from file to answer.

use std::process::{Command, Output};

use serde_json::Value;

fn oldham(arguments: &[&str], folder: &std::path::Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command.args(arguments).current_dir(folder);
    command.output().expect("oldham can be started")
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("an answer in JSON")
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

const PAIR: &str = "two-mass-compensated.toml";

#[test]
fn exported_gains_run_like_designed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let model = example(PAIR);
    let output = oldham(
        &["compensate", &model, "--json", "--out", "gains.toml"],
        folder.path(),
    );
    assert!(output.status.success());
    let answer_of = answer(&output);
    let z = &answer_of["approaches"][0];
    assert_eq!(
        (&z["rank"], &z["rank_augmented"]),
        (&Value::from(8), &Value::from(8))
    );
    assert!(z["radius_without"].as_f64().unwrap() > 1.0003);
    // exp(-0.0901 * 4e-3): the slowest pole of the monolithic system.
    assert!((z["radius_with"].as_f64().unwrap() - 0.999_639_66).abs() < 1e-7);

    std::fs::copy(&model, folder.path().join("model.toml")).unwrap();
    let rows = |set: &[&str]| -> Vec<String> {
        let mut arguments = vec!["run", "model.toml", "--force", "--no-analysis"];
        arguments.extend(["--out", "run.csv"]);
        arguments.extend(set);
        assert!(oldham(&arguments, folder.path()).status.success());
        let text = std::fs::read_to_string(folder.path().join("run.csv")).unwrap();
        let data = text.lines().filter(|line| !line.starts_with('#'));
        data.map(Into::into).collect()
    };
    let designed = rows(&[]);
    assert!(designed.len() > 2500, "a header and every step");
    let exported = rows(&["--set", "compensator.coupling.gains_from=gains.toml"]);
    assert_eq!(designed, exported);
}

#[test]
fn an_interface_without_a_force_input_is_told_so_and_offered_the_other_way() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-force-displacement.toml");
    let output = oldham(&["compensate", &model, "--json"], folder.path());
    assert!(
        output.status.success(),
        "structural compensation is offered"
    );
    let answer = answer(&output);
    let reason = answer["approaches"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("`left`, the force side, offers no free force input"),
        "{reason}"
    );
    assert_eq!(answer["approaches"][2]["offered"], true);
    let output = oldham(&["compensate", &model, "--by", "z"], folder.path());
    assert_eq!(output.status.code(), Some(2));
}

/// One failed with "became NaN", the other complained of compensators that its file does not have.
#[test]
fn why_a_stable_model_has_no_compensation_is_told() {
    for name in ["interface-tangent.toml", "two-mass-tight.toml"] {
        let folder = tempfile::tempdir().unwrap();
        let output = oldham(&["compensate", &example(name), "--json"], folder.path());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        for wrong in ["NaN", "cannot be built", "probing failed"] {
            assert!(!said.contains(wrong), "{name}: {said}");
        }
        let answer = answer(&output);
        for approach in answer["approaches"].as_array().unwrap() {
            let reason = approach["reason"].as_str().unwrap_or_default();
            assert!(
                approach["offered"] == true || !reason.is_empty(),
                "{name}: {approach}"
            );
            assert!(!reason.contains("NaN"), "{name}: {reason}");
        }
    }
}

#[test]
fn signals_that_do_not_suffice_stop_a_run_before_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let set = "compensator.coupling.signals=[\"left.x1\",\"right.x2\"]";
    let output = oldham(
        &["run", &example(PAIR), "--set", set, "--json"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(2));
    let message = answer(&output)["problems"][0]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(message.contains("missing is `left.far`"), "{message}");
}
