//! What people and programs read: whatever names contain, and wherever it goes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{CRANK, PAIR, code, command, example, folder, json, oldham, oldham_in, root, said};

#[cfg(unix)]
#[test]
fn standard_error_that_takes_nothing_changes_no_exit_code() {
    let folder = folder();
    let full = || {
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let broken = root().join("docs/src/code/broken.toml");
    let check = ["check", broken.to_str().unwrap()];
    let mut refused = command(folder.path(), &check);
    assert_eq!(refused.stderr(full()).status().unwrap().code(), Some(2));
    // The warning that this model is unstable cannot be told, and the run goes on to its end.
    let pair = example(PAIR);
    let run = [
        "run",
        &pair,
        "--set",
        "simulation.duration=0.05",
        "--out",
        "u.parquet",
    ];
    let status = command(folder.path(), &run)
        .stderr(full())
        .stdout(full())
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert!(folder.path().join("u.parquet").exists());
}

/// A model whose name commands the terminal, breaks lines and XML.
fn odd_model(folder: &Path, example_name: &str) -> PathBuf {
    let text = fs::read_to_string(example(example_name)).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let name = lines
        .iter()
        .position(|line| line.starts_with("name = "))
        .unwrap();
    lines[name] = r#"name = "a\u001b]0;PWNED\u0007\u001b[31m\u0001 <b>\n[x]\nk = 1""#;
    let path = folder.join("odd.toml");
    fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn is_clean(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    !text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
}

#[test]
fn nothing_in_a_file_commands_the_terminal() {
    let folder = folder();
    odd_model(folder.path(), PAIR);
    let short = ["--set", "simulation.duration=0.02"];
    fs::write(
        folder.path().join("raw.toml"),
        "[model]\nname = \"x\" \u{1b}]0;P\u{7}\u{1b}[31m z\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("raw.csv"),
        "time,\u{1b}[31mx\n0,\u{1b}[2Jy\n",
    )
    .unwrap();
    let calls: [&[&str]; 8] = [
        &["check", "odd.toml"],
        &["run", "odd.toml", short[0], short[1]],
        &["stability", "odd.toml"],
        &["poles", "odd.toml"],
        &["check", "raw.toml"],
        &["plot", "raw.csv"],
        &["run", "odd.toml", "--set", "zz\u{1b}[31m=1"],
        &["\u{1b}[31mfrobnicate"],
    ];
    for arguments in calls {
        let output = oldham_in(folder.path(), arguments);
        assert!(is_clean(&output.stdout), "{arguments:?}");
        assert!(is_clean(&output.stderr), "{arguments:?}");
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty());
    }
}

#[test]
fn odd_names_leave_pictures_and_gains_well_formed() {
    let folder = folder();
    odd_model(folder.path(), CRANK);
    let short = ["--set", "simulation.duration=0.02"];
    for arguments in [
        &["statics", "odd.toml"][..],
        &["animate", "odd.toml", short[0], short[1], "--frames", "2"],
    ] {
        let output = oldham_in(folder.path(), arguments);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    for picture in ["odd-statics.svg", "odd-motion.svg"] {
        let text = fs::read_to_string(folder.path().join(picture)).unwrap();
        assert!(
            is_clean(text.as_bytes()) && !text.contains("<b>"),
            "{picture}"
        );
    }
    let output = oldham_in(folder.path(), &["statics", "odd.toml", "-o", "odd.png"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    odd_model(folder.path(), "two-mass-compensated.toml");
    let output = oldham_in(
        folder.path(),
        &["compensate", "odd.toml", "-o", "gains.toml"],
    );
    assert_eq!(code(&output), 0, "{}", said(&output));
    let gains = fs::read_to_string(folder.path().join("gains.toml")).unwrap();
    assert!(
        !gains
            .lines()
            .any(|line| line.starts_with("[x]") || line.starts_with("k = ")),
        "{gains}"
    );
}

#[test]
fn wrong_arguments_are_answered_in_json_where_json_is_wanted() {
    for arguments in [
        &["run", "--json"][..],
        &["check", "m.toml", "--json", "--frobnicate"],
        &["plot", "a.csv", "--from", "x", "--json"],
    ] {
        let output = oldham(arguments);
        assert_eq!(code(&output), 2);
        assert!(output.stderr.is_empty(), "{}", said(&output));
        let answer = json(&output);
        assert_eq!(answer["status"], "bad input");
        assert!(!answer["error"].as_str().unwrap().is_empty());
    }
    assert!(json(&oldham(&["--version", "--json"]))["oldham"].is_string());
}

#[test]
fn a_still_picture_of_a_motion_is_not_called_frames() {
    let folder = folder();
    let crank = example(CRANK);
    let arguments = [
        "animate",
        &crank,
        "--set",
        "simulation.duration=0.05",
        "-o",
        "m.png",
    ];
    let output = oldham_in(folder.path(), &arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("overlay of 9 instants") && !text.contains("frames"),
        "{text}"
    );
}

/// With other computers admitted, the address that they open is printed; without, it is not.
#[test]
fn the_address_to_open_is_that_of_the_listener() {
    use std::io::BufRead;
    let folder = folder();
    let crank = example(CRANK);
    let run = ["run", &crank, "--no-analysis", "--out", "r.parquet"];
    assert_eq!(code(&oldham_in(folder.path(), &run)), 0);
    for (listen, elsewhere) in [("0.0.0.0", Some("http://ADDRESS:")), ("127.0.0.1", None)] {
        let view = [
            "view",
            "r.parquet",
            "--listen",
            listen,
            "--port",
            "0",
            "--json",
        ];
        let mut child = command(folder.path(), &view)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let answer = child.stdout.take().unwrap();
        // The whole answer, which ends with its closing brace or with its line.
        for part in std::io::BufReader::new(answer).lines() {
            line += &part.unwrap();
            if serde_json::from_str::<serde_json::Value>(&line).is_ok() {
                break;
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        let here = told["url"].as_str().unwrap();
        assert!(here.starts_with("http://127.0.0.1:"), "{told}");
        let port = here.split([':', '/']).nth(4).unwrap();
        match elsewhere {
            None => assert!(told["url_from_elsewhere"].is_null(), "{told}"),
            Some(begin) => {
                let there = told["url_from_elsewhere"].as_str().unwrap();
                assert!(
                    there.starts_with(&format!("{begin}{port}/?token=")),
                    "{told}"
                );
            }
        }
    }
}
