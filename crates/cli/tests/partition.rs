//! `oldham partition`, and commands on cut mechanisms.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
        .with_extension("toml")
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_partition_tells_parts_sizes_and_interfaces() {
    let folder = tempfile::tempdir().unwrap();
    let shell = example("cut-shell");
    let shell = shell.to_str().unwrap();
    let answer = json(&oldham(
        folder.path(),
        &["partition", shell, "--json", "-o", "cut.png"],
    ));
    let cut = &answer["cut"][0];
    let names: Vec<&str> = cut["subsystems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["left", "right", "coupling"]);
    assert_eq!(cut["interfaces"].as_array().unwrap().len(), 3);
    // One metre by 0.2 m of 1 kg/m²; an eighth of the length belongs to the middle line.
    let line: f64 = cut["interfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|interface| interface["mass"].as_f64().unwrap())
        .sum();
    assert!((line - 0.2 / 8.0).abs() < 1e-12);
    let picture = std::fs::read(folder.path().join("cut.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}

#[test]
fn a_cut_can_be_tried_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("fontana-beam");
    let beam = beam.to_str().unwrap();
    let whole = json(&oldham(folder.path(), &["partition", beam, "--json"]));
    assert_eq!(whole["uncut"][0], "beam");
    let set = |node: &str| format!("multibody.beam.cut.at=[\"{node}\"]");
    let good = set("girder.12");
    let cut = json(&oldham(
        folder.path(),
        &["partition", beam, "--json", "--set", &good],
    ));
    assert_eq!(cut["cut"][0]["subsystems"].as_array().unwrap().len(), 3);
    let bad = set("girder.11");
    let refused = oldham(folder.path(), &["partition", beam, "--set", &bad]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).replace('\n', " ");
    assert!(said.contains("a cut at `girder.10`"), "{said}");
}

#[test]
fn cut_and_whole_are_compared_from_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("cut-beam");
    let answer = json(&oldham(
        folder.path(),
        &[
            "compare",
            beam.to_str().unwrap(),
            "--set",
            "simulation.duration=0.01",
            "--vary",
            "multibody.beam.cut.scheme=interface-tangent,interface-mass",
            "--json",
        ],
    ));
    let variants = answer["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 2);
    for variant in variants {
        let signals = variant["signals"].as_array().unwrap();
        let middle = signals.iter().find(|s| s["name"] == "beam.middle.x");
        let error = middle.unwrap()["nrms"].as_f64().unwrap();
        assert!(error < 1e-5, "{}: {error:e}", variant["name"]);
    }
}

#[test]
fn an_unstable_cut_is_reported_before_the_run_with_its_interface() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("cut-beam");
    let plain = "multibody.beam.cut.scheme=interface-mass";
    let model = beam.to_str().unwrap();
    let command = ["run", model, "--set", plain, "--set", "D=0.05"];
    let said = String::from_utf8(oldham(folder.path(), &command).stderr).unwrap();
    assert!(said.contains("unstable at the interface"), "{said}");
    assert!(said.contains("girder.12"), "{said}");
}

/// A remedy is analysed and run before it is named: `check` takes the time for it.
#[test]
fn a_check_names_the_remedy_of_an_unstable_cut() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(example("cut-beam")).unwrap();
    let text = text
        .replace("girder.24", "girder.4")
        .replace("girder.12", "girder.2")
        .replace("elements = 12", "elements = 2");
    let model = folder.path().join("beam.toml");
    std::fs::write(&model, text).unwrap();
    let plain = "multibody.beam.cut.scheme=interface-mass";
    let model = model.to_str().unwrap();
    let command = ["check", model, "--set", plain, "--set", "D=0.05", "--json"];
    let stability = &json(&oldham(folder.path(), &command))["stability"];
    assert_eq!(stability["decision"], "unstable");
    let remedies = stability["remedies"].as_array().unwrap();
    let remedy = "multibody.beam.cut.scheme=interface-tangent";
    assert!(remedies.iter().any(|found| found == remedy), "{stability}");
}

#[test]
fn stability_of_a_large_cut_says_how_it_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("cut-beam");
    let command = ["stability", beam.to_str().unwrap(), "--json"];
    let answer = json(&oldham(folder.path(), &command));
    let verdict = &answer["verdict"];
    assert_ne!(verdict["stable"], false);
    assert!(verdict["method"].is_string());
    assert!(verdict["error"].as_f64().unwrap() > 0.0);
    assert!(!answer["modes"].as_array().unwrap().is_empty());
}

/// A copy of an example in a folder of its own.
fn copied(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name).with_extension("toml");
    std::fs::copy(example(name), &path).unwrap();
    path
}

#[test]
fn the_best_cut_is_found_and_written_at_the_end_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(folder.path(), "fontana-beam");
    let model = path.to_str().unwrap();
    // Lines of Windows, and none at the end.
    let before = std::fs::read_to_string(&path)
        .unwrap()
        .trim_end()
        .replace('\n', "\r\n");
    std::fs::write(&path, &before).unwrap();
    let arguments = ["partition", model, "--parts", "2", "--write", "--json"];
    let answer = json(&oldham(folder.path(), &arguments));
    let best = &answer["search"]["cuts"][0];
    assert_eq!(best["cut"]["at"][0], "girder.12");
    assert_eq!(best["stability"], "stable");
    assert!(best["measured"].as_f64().unwrap() > 0.0);
    assert_eq!(answer["search"]["costs"]["measured"], false);
    let after = std::fs::read_to_string(&path).unwrap();
    let section = after.strip_prefix(&before).expect("what was there stays");
    assert!(
        section.contains("\r\n# Found by `oldham partition --parts 2`"),
        "{section}"
    );
    assert!(section.contains("[multibody.beam.cut]\r\n"), "{section}");
    assert!(!section.replace("\r\n", "").contains('\n'));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        2,
        "the picture and the model"
    );
    let cut = json(&oldham(folder.path(), &["partition", model, "--json"]));
    assert_eq!(cut["cut"][0]["subsystems"].as_array().unwrap().len(), 3);
    // Once more, and it is cut already.
    let again = oldham(folder.path(), &["partition", model, "--parts", "2"]);
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn measured_costs_are_kept_beside_the_model_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(folder.path(), "fontana-beam");
    let model = path.to_str().unwrap();
    let measured = json(&oldham(
        folder.path(),
        &["partition", model, "--measure", "--json"],
    ));
    let costs = &measured["costs"];
    assert_eq!(costs["measured"], true);
    let positive = |key: &str| costs[key].as_f64().unwrap() > 0.0;
    assert!(
        ["whole", "node", "part", "interface"]
            .into_iter()
            .all(positive),
        "{costs}"
    );
    assert_eq!(
        costs["kinds"].as_array().unwrap().len(),
        2,
        "beams and hinges: {costs}"
    );
    // Elements and nodes make up the whole.
    let each = |kind: &Value| kind["cost"].as_f64().unwrap() * kind["count"].as_f64().unwrap();
    let elements: f64 = costs["kinds"].as_array().unwrap().iter().map(each).sum();
    let sum = elements + 25.0 * costs["node"].as_f64().unwrap();
    assert!(
        (sum / costs["whole"].as_f64().unwrap() - 1.0).abs() < 0.02,
        "{costs}"
    );
    assert_eq!(costs["fit"]["cuts"], 3);
    assert!(folder.path().join("fontana-beam.costs.json").is_file());
    // The same table, and so the same answer, until it is measured anew.
    let arguments = ["partition", model, "--parts", "2", "--write", "--json"];
    let found = json(&oldham(folder.path(), &arguments));
    assert_eq!(&found["search"]["costs"], costs);
    // What was measured before holds for the file that is cut now.
    let arguments = [
        "partition",
        model,
        "--set",
        "multibody.beam.cut=",
        "--parts",
        "2",
        "--json",
    ];
    let again = json(&oldham(folder.path(), &arguments));
    assert_eq!(&again["search"]["costs"], costs);
}

#[test]
fn a_search_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let beam = example("fontana-beam");
    let beam = beam.to_str().unwrap();
    let refused = |arguments: &[&str]| {
        let output = oldham(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).replace('\n', " ")
    };
    assert!(refused(&["partition", beam, "--parts", "1"]).contains("2..=64"));
    assert!(refused(&["partition", beam, "--write"]).contains("--parts"));
    let unknown = refused(&["partition", beam, "--parts", "2", "--mechanism", "bean"]);
    assert!(
        unknown.contains("`beam`") || unknown.contains("beam"),
        "{unknown}"
    );
    let many = refused(&["partition", beam, "--parts", "30"]);
    assert!(
        many.contains("parts are the most that were found"),
        "{many}"
    );
}
