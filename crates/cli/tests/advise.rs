//! `oldham advise` as programs and files see it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Two masses whose coupling gains energy, with comments. The step resolves both modes.
const MODEL: &str = "two-mass-force-displacement";
/// So many macro steps of the model are looked at.
const SHORT: &str = "simulation.duration=0.2";

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let path = examples.join(name).with_extension("toml");
    path.to_str().unwrap().to_owned()
}

fn oldham(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .args(arguments)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|text| text.as_str().unwrap()).collect()
}

/// What a program reads: what is wrong, what to set, what that costs, how sure it is.
#[test]
fn programs_get_every_figure_of_the_answer() {
    let answer = json(&oldham(&[
        "advise",
        &example(MODEL),
        "--json",
        "--set",
        SHORT,
    ]));
    assert_eq!(answer["command"], "advise");
    assert_eq!(answer["status"], "fine");
    assert_eq!(answer["written"], Value::Null);
    let advice = &answer["advice"];
    assert_eq!(advice["steps"], 200);
    assert_eq!(advice["of_steps"], 200);
    assert_eq!(advice["reference"], "monolithic");
    assert_eq!(advice["is_cut_short"], false);

    let present = &advice["present"];
    assert_eq!(present["decision"], "unstable");
    assert!(present["mode"]["growth"].as_f64().unwrap() > 0.0);
    // The faster mode of [[110, -100], [-100, 1100]]: 605 + 505 = 1110 1/s².
    let frequency = present["mode"]["frequency"].as_f64().unwrap();
    let exact = 1110_f64.sqrt() / std::f64::consts::TAU;
    assert!((frequency / exact - 1.0).abs() < 1e-3, "{frequency}");
    let interface = &present["run"]["interface"];
    assert_eq!(interface[0], "left.fc<->right.x2");
    assert!(interface[1].as_f64().unwrap() > 0.0, "energy is made");
    assert_eq!(present["cost"]["relative"], 1.0);

    let first = &advice["choices"][0];
    assert_eq!(texts(&first["set"]), ["schedule.output_update=true"]);
    assert_eq!(first["decision"], "stable");
    assert_eq!(first["cost"]["exchanges"], 2.0);
    let error = |one: &Value| one["run"]["error"].as_f64().unwrap();
    assert!(error(first) < 1e-9, "{first}");
    for choice in advice["choices"].as_array().unwrap() {
        assert_eq!(choice["decision"], "stable", "{choice}");
        assert!(error(choice) < error(present), "{choice}");
    }
    for left_out in advice["left_out"].as_array().unwrap() {
        assert!(!left_out["reason"].as_str().unwrap().is_empty());
    }
}

/// What is set is what it told, and the file that it leaves runs as it said.
#[test]
fn what_is_written_keeps_the_rest_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    let before = std::fs::read_to_string(example(MODEL)).unwrap();
    std::fs::write(&path, &before).unwrap();
    let model = path.to_str().unwrap();
    let answer = json(&oldham(&[
        "advise", model, "--json", "--write", "--set", SHORT,
    ]));
    let new = texts(&answer["written"]["lines"]);
    assert_eq!(new, ["output_update = true"]);
    let after = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = after.lines().filter(|line| !new.contains(line)).collect();
    assert_eq!(kept, before.lines().collect::<Vec<_>>());
    // The settings of the command line are no part of it.
    assert!(!after.contains("0.2"), "{after}");

    let again = json(&oldham(&["advise", model, "--json", "--set", SHORT]));
    let present = &again["advice"]["present"];
    assert_eq!(present["decision"], "stable");
    assert_eq!(again["advice"]["choices"][0]["name"], present["name"]);
    // Nothing is better, so that nothing is written.
    let nothing = json(&oldham(&[
        "advise", model, "--json", "--write", "--set", SHORT,
    ]));
    assert_eq!(nothing["written"], Value::Null);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
}

#[test]
fn without_time_it_names_what_was_not_tried() {
    let arguments = ["advise", &example(MODEL), "--seconds", "0.001"];
    let answer = json(&oldham(&[&arguments[..], &["--json"]].concat()));
    let advice = &answer["advice"];
    assert_eq!(advice["is_cut_short"], true);
    assert_eq!(advice["choices"].as_array().unwrap().len(), 0);
    assert_eq!(advice["not_predicted"], "there was no time for it");
    let not_tried = texts(&advice["not_tried"]);
    let counted = not_tried.iter().find_map(|what| {
        let (count, rest) = what.split_once(' ')?;
        (rest == "settings that could not be predicted and were not run")
            .then(|| count.parse::<usize>().unwrap())
    });
    // One of all that can be built was run: the model as it is.
    let whole = json(&oldham(&[
        "advise",
        &example(MODEL),
        "--json",
        "--set",
        SHORT,
    ]));
    let listed = |key: &str| whole["advice"][key].as_array().unwrap().len();
    let all = listed("choices") + listed("unsound") + listed("others");
    assert_eq!(counted, Some(all - 1), "{not_tried:?}");

    let told = oldham(&arguments);
    assert!(told.status.success());
    let told = String::from_utf8_lossy(&told.stdout).replace("\n      ", " ");
    assert!(told.contains("grant more by --seconds"), "{told}");
    assert!(
        told.contains("shorter macro steps, for lack of time"),
        "{told}"
    );
}

#[test]
fn a_model_without_coupling_is_bad_input() {
    let model = example("bouncing-mass");
    let refused = oldham(&["advise", &model]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("no coupling"), "{said}");

    let refused = oldham(&["advise", &model, "--json"]);
    assert_eq!(refused.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(answer["status"], "bad input");
}
