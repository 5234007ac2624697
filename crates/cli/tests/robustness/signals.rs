//! Runs that are ended from outside, or meet another.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{LIMIT, PAIR, code, command, example, folder, oldham_in, said, wait, words};

fn start_long_run(folder: &Path, more: &[&str]) -> Child {
    let pair = example(PAIR);
    let mut arguments = vec![
        "run",
        &pair,
        "--no-analysis",
        "--out",
        "s.parquet",
        "--set",
        "schedule.output_update=true",
        "--set",
        "simulation.duration=1e6",
        "--set",
        "record.every=100",
    ];
    arguments.extend(more);
    let mut command = command(folder, &arguments);
    let out = fs::File::create(folder.join("stdout")).unwrap();
    command.stdout(out).stderr(Stdio::null()).spawn().unwrap()
}

#[cfg(unix)]
fn send(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("kill is there").success());
}

fn until_exists(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(
            start.elapsed() < LIMIT,
            "{} does not appear",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    // The watch for signals starts just after the stream.
    std::thread::sleep(Duration::from_millis(200));
}

#[cfg(unix)]
#[test]
fn interrupt_terminate_and_hangup_end_a_run_in_order() {
    // Under `nohup` a hangup is ignored, by these tests and by what they start.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let outlives_terminal = mask.is_some_and(|mask| mask & 1 == 1);
    for signal in ["INT", "TERM", "HUP"] {
        if signal == "HUP" && outlives_terminal {
            continue;
        }
        let folder = folder();
        let mut child = start_long_run(folder.path(), &["--json"]);
        until_exists(&folder.path().join("s.parquet.partial"));
        send(&child, signal);
        assert_eq!(wait(&mut child), 130, "{signal}");
        let text = fs::read_to_string(folder.path().join("stdout")).unwrap();
        let answer: Value = serde_json::from_str(&text).expect("one JSON document");
        assert_eq!(answer["status"], "interrupted");
        assert!(
            oldham_results::read(&folder.path().join("s.parquet"))
                .unwrap()
                .complete()
        );
    }
}

#[cfg(unix)]
#[test]
fn a_second_forced_run_leaves_the_first_alone() {
    let folder = folder();
    let mut first = start_long_run(folder.path(), &["--force"]);
    until_exists(&folder.path().join("s.parquet.partial"));
    let pair = example(PAIR);
    let second = [
        "run",
        &pair,
        "--no-analysis",
        "--force",
        "--out",
        "s.parquet",
    ];
    let output = oldham_in(folder.path(), &second);
    assert_eq!(code(&output), 2);
    assert!(
        words(&said(&output)).contains("another run is writing"),
        "{}",
        said(&output)
    );
    send(&first, "INT");
    assert_eq!(wait(&mut first), 130);
    assert!(
        oldham_results::read(&folder.path().join("s.parquet"))
            .unwrap()
            .complete()
    );
}

/// Whatever a command is doing when Ctrl-C comes, it ends soon and says so.
#[cfg(unix)]
#[test]
fn every_command_that_takes_long_ends_on_an_interrupt_with_a_message() {
    let [pair, car, map, beam] = [
        PAIR,
        "formula-student.toml",
        "interface-mass.toml",
        "ten-link-pendulum.toml",
    ]
    .map(example);
    let long = "simulation.duration=1e6";
    for arguments in [
        &["papers", "fontana/fig-11"][..],
        &["papers", "--report", "page"],
        &["bench", "stability"],
        &["check", &car],
        &["stability", &car, "--seconds", "100"],
        &[
            "stability",
            &map,
            "--over",
            "m2=0.1:1:300",
            "--over",
            "m3=0.1:1:300",
        ],
        &["compare", &beam, "--set", long],
        &["trim", &car],
        &[
            "run",
            &pair,
            "--vary",
            "m1=0.5:2:100000",
            "--no-analysis",
            "--set",
            long,
            "--out",
            "s",
        ],
    ] {
        let folder = folder();
        let errors = fs::File::create(folder.path().join("stderr")).unwrap();
        let mut command = command(folder.path(), arguments);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(700));
        assert!(
            child.try_wait().unwrap().is_none(),
            "{arguments:?} has ended by itself"
        );
        send(&child, "INT");
        assert_eq!(wait(&mut child), 130, "{arguments:?}");
        let said = fs::read_to_string(folder.path().join("stderr")).unwrap();
        let told = ["interrupted", "finishing the step"]
            .iter()
            .any(|words| said.contains(words));
        assert!(told, "{arguments:?}: {said}");
    }
}
