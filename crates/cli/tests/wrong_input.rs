//! What a user does wrong: what is said, and the exit code. 2 means that nothing was started.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const PAIR: &str = "two-mass-damped.toml";
const CRANK: &str = "slider-crank.toml";

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(name).to_string_lossy().into_owned()
}

fn oldham(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_oldham"))
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .unwrap()
}

/// Fails with this code, and says all of these things.
fn refuses(arguments: &[&str], code: i32, says: &[&str]) {
    let output = oldham(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    for words in says {
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let says = ["missing.toml", "cannot be read", "help:"];
    refuses(&["run", "missing.toml"], 2, &says);
    refuses(&["plot", "missing.parquet"], 2, &["missing.parquet"]);
}

#[test]
fn unknown_names_are_answered_with_known_ones() {
    let pair = example(PAIR);
    refuses(&["papers", "nobody"], 2, &["nobody", "fontana"]);
    refuses(&["papers", "fontana/fig-99"], 2, &["fontana/fig-9,"]);
    refuses(&["stability", &pair, "--over", "zz"], 2, &["zz", "k1, k2"]);
    refuses(&["compare", &pair, "--signal", "zz"], 2, &["left.x1.x"]);
    refuses(&["compare", &pair, "--reference", "zz"], 2, &["monolithic"]);
    refuses(&["check", &pair, "--set", "zz=1"], 2, &["k1, k2"]);
}

#[test]
fn a_wrong_ending_is_found_before_anything_runs() {
    let (pair, crank) = (example(PAIR), example(CRANK));
    refuses(&["compare", &pair, "-o", "a.pdf"], 2, &[".svg or .png"]);
    refuses(&["animate", &crank, "-o", "a.gif"], 2, &[".svg"]);
    refuses(&["run", &pair, "--out", "a.xlsx"], 2, &[".parquet"]);
}

#[test]
fn numbers_without_meaning_are_refused() {
    let (pair, crank) = (example(PAIR), example(CRANK));
    refuses(&["run", &pair, "--threads", "0"], 2, &["from 1 on"]);
    refuses(
        &["run", &pair, "--checkpoint-every", "-1"],
        2,
        &["positive"],
    );
    refuses(&["poles", &pair, "--latency", "-1"], 2, &["not negative"]);
    refuses(&["modes", &crank, "--count", "0"], 2, &["from 1 on"]);
    refuses(&["animate", &crank, "--frames", "1"], 2, &["2..=2000"]);
}

#[test]
fn what_has_no_degree_of_freedom_has_no_poles() {
    refuses(&["poles", &example(CRANK)], 2, &["no poles"]);
}

#[test]
fn a_picture_that_cannot_be_written_comes_late() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let inside = |name: &str| file.join(name).to_string_lossy().into_owned();
    let says = ["cannot write", "choose another --out"];
    refuses(
        &["compare", &example(PAIR), "-o", &inside("a.svg")],
        1,
        &says,
    );
}

/// Papers take minutes: that their pictures cannot be written is told first.
#[test]
fn a_folder_that_takes_no_pictures_of_papers_is_told_before_they_are_computed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let [there, below] = ["", "page"].map(|name| file.join(name).to_string_lossy().into_owned());
    let says = ["cannot write into", "another one"];
    refuses(&["papers", "tamellin/fig-3", "-o", &there], 2, &says);
    refuses(&["papers", "--report", &below], 2, &says);
}

#[test]
fn long_messages_are_folded() {
    let output = oldham(&["check", &example(PAIR)]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("unstable") && said.contains("stable with one of:\n    --set "));
    assert!(
        said.lines().all(|line| line.chars().count() <= 100),
        "{said}"
    );
}

#[test]
fn failures_are_json_where_it_is_asked_for() {
    let (pair, crank) = (example(PAIR), example(CRANK));
    let cases: [&[&str]; 5] = [
        &["run", "missing.toml"],
        &["poles", &crank],
        &["papers", "nobody"],
        &["stability", &pair, "--over", "zz"],
        &["statics", &pair],
    ];
    for arguments in cases {
        let output = oldham(&[arguments, &["--json"]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["status"], "bad input", "{arguments:?}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_shown_or_driven_is_refused() {
    let (pair, crank) = (example(PAIR), example(CRANK));
    refuses(&["view", &crank, "-o", "a.html"], 2, &["run it first"]);
    refuses(&["view", &crank, "-o", "a.gif"], 2, &[".html"]);
    refuses(&["view", "missing.parquet"], 2, &["missing.parquet"]);
    refuses(&["drive", &pair], 2, &["nothing to drive", "external"]);
    refuses(&["run", &pair, "--real-time", "0"], 2, &["positive number"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let cart = example("driven-cart.toml");
    refuses(&["view", &crank, "--port", &port], 2, &["in use", "--port"]);
    refuses(&["drive", &cart, "--port", &port], 2, &["in use", "--port"]);
}

/// `papers` alone lists, and computes nothing; a page of an item has its figure and what comes of it.
#[test]
fn papers_are_listed_computed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let oldham = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_oldham"));
        let output = command.current_dir(folder.path()).args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = oldham(&["papers"]);
    let lines = listed.lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!(lines, oldham_papers::items().len(), "{listed}");
    assert!(listed.contains("--all"), "{listed}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let items: serde_json::Value = serde_json::from_str(&oldham(&["papers", "--json"])).unwrap();
    assert_eq!(items.as_array().unwrap().len(), lines);

    oldham(&["papers", "tamellin/fig-12", "--report", "page"]);
    let page = std::fs::read_to_string(folder.path().join("page/index.html")).unwrap();
    assert!(
        page.contains("tamellin-fig-12.svg") && page.contains("agrees"),
        "{page}"
    );
    assert!(folder.path().join("page/tamellin-fig-12.svg").exists());
}

#[test]
fn a_robot_that_cannot_be_converted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (loops, out) = (path("loop.urdf"), path("loop.toml"));
    let joint = |name: &str| {
        format!(
            "<joint name=\"{name}\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>"
        )
    };
    let text = format!(
        "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/>{}\n{}</robot>",
        joint("one"),
        joint("two")
    );
    std::fs::write(&loops, text).unwrap();
    let says = ["loop.urdf line 2", "hangs on two joints"];
    refuses(&["convert", &loops, "-o", &out], 2, &says);
    assert!(!Path::new(&out).exists());
    refuses(&["convert", "nothing.urdf"], 2, &["cannot be read"]);
    let pair = example(PAIR);
    refuses(&["convert", &pair, "-o", &out], 2, &["is not XML"]);
    refuses(&["convert", &loops, "--density", "-1"], 2, &["density"]);
    // What is there is kept.
    let picker = example("parts/picker.urdf");
    std::fs::write(&out, "kept").unwrap();
    refuses(&["convert", &picker, "-o", &out], 2, &["exists"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "kept");
    let output = oldham(&["convert", &picker, "-o", &out, "--force", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"], "finished", "{answer}");
    assert_eq!(answer["report"]["counts"]["joints"], 5);
    assert!(
        answer["report"]["notes"][0]["line"].is_null()
            || answer["report"]["notes"][0]["line"].is_u64()
    );
}

#[test]
fn a_new_folder_starts_from_an_example_that_there_is() {
    refuses(
        &["new", "a", "--like", "nothing"],
        2,
        &["crane", "excavator"],
    );
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("mine").to_string_lossy().into_owned();
    let output = oldham(&["new", &made, "--like", "crane"]);
    assert!(output.status.success());
    let model = format!("{made}/mine.toml");
    assert!(oldham(&["check", &model]).status.success());
    refuses(&["new", &made, "--like", "crane"], 2, &["exists already"]);
}
