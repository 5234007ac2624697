//! Faults and bad input, provoked through the command as a user would meet them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use oldham_results::read;
use serde_json::Value;

const MODEL: &str = "two-mass-force-displacement.toml";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("oldham starts")
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null());
    command.env("NO_COLOR", "1");
    command
}

fn run_model(folder: &Path, more: &[&str]) -> Output {
    let path = example(MODEL);
    let mut arguments = vec!["run", path.to_str().unwrap(), "--no-analysis"];
    arguments.extend(more);
    oldham(folder, &arguments)
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

/// What was said, with its lines unfolded.
fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).replace("\n  ", " ")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// A model that takes long: it would run for minutes.
fn start_long_run(folder: &Path) -> Child {
    let path = example(MODEL);
    let arguments = [
        "run",
        path.to_str().unwrap(),
        "--no-analysis",
        "--out",
        "long.parquet",
        "--set",
        "simulation.duration=100000",
        "--set",
        "simulation.energy_bound=0",
        "--set",
        "schedule.output_update=true",
    ];
    let mut command = command(folder, &arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("oldham starts")
}

fn wait_at_most(child: &mut Child, limit: Duration) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child can be asked") {
            return status;
        }
        assert!(start.elapsed() < limit, "it hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status();
    assert!(sent.expect("kill is there").success());
}

/// Row 5: killed at many different times, what was flushed is readable, and no more than about a
/// second is lost. `make soak` asks for more kills.
#[test]
fn results_survive_a_kill_at_any_time() {
    let folder = folder();
    let asked = std::env::var("OLDHAM_KILLS").ok();
    let kills: u64 = asked.and_then(|count| count.parse().ok()).unwrap_or(20);
    for round in 0..kills {
        let _ = std::fs::remove_file(folder.path().join("long.parquet.partial"));
        let mut child = start_long_run(folder.path());
        let age = Duration::from_millis(30 + 137 * round % 1700);
        std::thread::sleep(age);
        signal(&child, "KILL");
        child.wait().unwrap();
        let partial = folder.path().join("long.parquet.partial");
        if !partial.exists() {
            assert!(
                age < Duration::from_millis(1000),
                "nothing on disk after {age:?}"
            );
            continue;
        }
        let Ok(table) = read(&partial) else {
            assert!(
                age < Duration::from_millis(1000),
                "unreadable after {age:?}"
            );
            continue;
        };
        assert!(!table.complete());
        let times = table.time();
        for (row, t) in times.iter().enumerate() {
            assert!(
                (t - row as f64 * 1e-3).abs() < 1e-9 * t.max(1.0),
                "row {row} is whole"
            );
        }
        if age > Duration::from_millis(1500) {
            assert!(
                !times.is_empty(),
                "a second of results is on disk after {age:?}"
            );
        }
    }
}

/// Row 25: Ctrl-C ends within a step; results are complete and the exit code says so.
#[test]
fn an_interrupted_run_has_complete_results() {
    let folder = folder();
    for wait in [400, 700, 1000] {
        let mut child = start_long_run(folder.path());
        std::thread::sleep(Duration::from_millis(wait));
        signal(&child, "INT");
        let status = wait_at_most(&mut child, Duration::from_secs(60));
        assert_eq!(status.code(), Some(130));
        let path = folder.path().join("long.parquet");
        let table = read(&path).expect("the file is whole");
        assert!(table.complete() && table.rows() > 1);
        assert!(!folder.path().join("long.parquet.partial").exists());
        std::fs::remove_file(path).unwrap();
    }
}

/// Row 7.
#[test]
fn nothing_is_overwritten_without_being_told() {
    let folder = folder();
    assert_eq!(code(&run_model(folder.path(), &["--out", "a.parquet"])), 0);
    let before = std::fs::read(folder.path().join("a.parquet")).unwrap();
    let refused = run_model(folder.path(), &["--out", "a.parquet"]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    assert_eq!(
        std::fs::read(folder.path().join("a.parquet")).unwrap(),
        before
    );
    assert_eq!(
        code(&run_model(
            folder.path(),
            &["--out", "a.parquet", "--force"]
        )),
        0
    );
}

/// Row 7: a folder that cannot be made, and an unknown kind of file.
#[test]
fn a_place_that_takes_no_results_is_told_before_the_run() {
    let folder = folder();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let cases = [
        ("file/inside.parquet", "file"),
        ("/proc/nowhere/a.parquet", "/proc/nowhere"),
        ("a.txt", ".parquet"),
    ];
    for (out, named) in cases {
        let refused = run_model(folder.path(), &["--out", out]);
        assert_eq!(code(&refused), 2, "{out}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(named), "{}", stderr(&refused));
    }
}

/// Row 7: a small file system fills up in mid-run (needs the right to mount one).
#[test]
fn a_full_disk_ends_the_run_and_keeps_what_was_written() {
    let folder = folder();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
        .arg(&disk)
        .output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("no right to mount a small disk here");
        return;
    }
    let output = run_model(
        folder.path(),
        &[
            "--out",
            "disk/a.parquet",
            "--set",
            "simulation.duration=1000",
            "--set",
            "schedule.output_update=true",
        ],
    );
    let listing: Vec<_> = std::fs::read_dir(&disk)
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .collect();
    let table = read(&disk.join("a.parquet.partial"));
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(unmounted.unwrap().success());
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("a.parquet"), "{}", stderr(&output));
    assert!(
        !listing.iter().any(|path| path.ends_with("a.parquet")),
        "{listing:?}"
    );
    assert!(table.expect("the partial file is readable").rows() > 1000);
}

fn model_with(folder: &Path, change: impl Fn(String) -> String) -> PathBuf {
    let text = std::fs::read_to_string(example(MODEL)).unwrap();
    let path = folder.join("model.toml");
    std::fs::write(&path, change(text)).unwrap();
    path
}

/// Rows 9 and 10: everything at once, each with its place and a suggestion.
#[test]
fn all_problems_of_a_file_are_reported_at_once() {
    let folder = folder();
    let path = model_with(folder.path(), |text| {
        text.replace("mass = \"m1\"", "mass = -1.0")
            .replace("stiffness = \"k2\"", "stifness = \"k2\"")
            .replace("to = \"left.far\"", "to = \"left.fra\"")
            .replace("step = 1e-3", "step = 0.0")
    });
    let output = oldham(folder.path(), &["run", path.to_str().unwrap(), "--json"]);
    assert_eq!(code(&output), 2);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let problems = answer["problems"].as_array().unwrap();
    let text = answer.to_string();
    assert!(problems.len() >= 2, "{text}");
    for problem in problems {
        assert!(problem["line"].as_u64().unwrap() > 1 && problem["column"].as_u64().unwrap() > 0);
    }
    assert!(text.contains("did you mean `stiffness`"), "{text}");
    assert!(
        !folder.path().join("model.parquet").exists(),
        "nothing was started"
    );
    let human = oldham(folder.path(), &["check", path.to_str().unwrap()]);
    assert_eq!(code(&human), 2);
    assert!(stderr(&human).contains("model.toml:"), "{}", stderr(&human));
    assert!(stderr(&human).contains("nothing was started"));
}

/// Row 9, one at a time through overrides: the message points at the override.
#[test]
fn bad_values_are_refused_before_anything_runs() {
    let folder = folder();
    let cases = [
        ("simulation.step=-1e-3", "step"),
        ("simulation.step=nan", "step"),
        ("simulation.step=20", "duration"),
        ("simulation.duration=inf", "duration"),
        ("lumped.left.micro_steps=0", "micro_steps"),
        ("lumped.left.micro_step=3e-4", "micro_step"),
        ("m1=0", "mass"),
        ("m1=nan", "m1"),
        ("schedule.predictor=frist-order", "first-order"),
        ("kk=1", "k"),
        ("schedule.implicit.on_limit=acept", "accept"),
    ];
    for (set, expected) in cases {
        let output = run_model(folder.path(), &["--set", set]);
        assert_eq!(code(&output), 2, "{set}: {}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains(expected), "{set}: {text}");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing was written"
    );
}

/// Row 10: connections between things that do not fit.
#[test]
fn wrong_connections_are_refused_with_both_quantities() {
    let folder = folder();
    let path = model_with(folder.path(), |text| {
        text.replace("from = \"left.fc\"", "from = \"left.x1\"")
    });
    let output = oldham(folder.path(), &["check", path.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("motion") && text.contains('N'), "{text}");
    // N to N.m: the same model about an axis on one side only.
    let path = model_with(folder.path(), |text| {
        text.replace(
            "[lumped.right]",
            "[lumped.right]\ncoordinates = \"rotation\"",
        )
    });
    let output = oldham(folder.path(), &["check", path.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("N.m"), "{}", stderr(&output));
}

/// Row 11.
#[test]
fn monstrous_files_are_refused_without_harm() {
    let folder = folder();
    let nested = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dotted = format!("{} = 1", vec!["a"; 100_000].join("."));
    let parentheses = model_text_with_parameter(&format!(
        "\"{}1{}\"",
        "(".repeat(100_000),
        ")".repeat(100_000)
    ));
    for text in [nested, dotted, parentheses] {
        let path = folder.path().join("monster.toml");
        std::fs::write(&path, text).unwrap();
        let output = oldham(folder.path(), &["check", path.to_str().unwrap()]);
        assert_eq!(
            code(&output),
            2,
            "{}",
            &stderr(&output)[..300.min(stderr(&output).len())]
        );
    }
    let huge = folder.path().join("huge.toml");
    std::fs::File::create(&huge)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    let output = oldham(folder.path(), &["check", huge.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("MiB"), "{}", stderr(&output));
}

fn model_text_with_parameter(value: &str) -> String {
    let text = std::fs::read_to_string(example(MODEL)).unwrap();
    text.replace("[parameters]", &format!("[parameters]\nmonster = {value}"))
}

/// Row 6: a law that gives NaN names part and time; the first half is kept.
#[test]
fn a_law_that_gives_no_number_is_named_and_the_first_half_kept() {
    let folder = folder();
    let path = model_with(folder.path(), |text| {
        text.replace(
            "[lumped.right.inputs]",
            "[lumped.right.loads]\nbroken = { on = \"x2\", force = \"sqrt(0.5 - t)\" }\n[lumped.right.inputs]",
        )
    });
    let output = oldham(
        folder.path(),
        &["run", path.to_str().unwrap(), "--no-analysis", "--json"],
    );
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let fault = answer["fault"].as_str().unwrap();
    assert!(
        fault.contains("right") && fault.contains("t = 0.5"),
        "{fault}"
    );
    let table = read(&folder.path().join("model.parquet")).unwrap();
    assert!((table.time().last().unwrap() - 0.5).abs() < 2e-3);
}

/// Row 6: an iteration that cannot converge names part, time, residual and the worst unknown.
#[test]
fn a_diverging_newton_iteration_names_the_worst_unknown() {
    let folder = folder();
    let path = model_with(folder.path(), |text| {
        let dry = "stick = { between = [\"x2\", \"ground\"], force = \"5e6 * sgn(v)\" }";
        text.replace("\"semi-implicit-euler\"", "\"lms2\"").replace(
            "[lumped.right.springs]",
            &format!("[lumped.right.springs]\n{dry}"),
        )
    });
    let output = oldham(
        folder.path(),
        &["run", path.to_str().unwrap(), "--no-analysis"],
    );
    assert_eq!(code(&output), 1);
    let text = stderr(&output);
    for part in [
        "`right`",
        "t = ",
        "residual",
        "worst at `x2`",
        "model.parquet",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Row 12: warned before, stopped during; the interface and a remedy are named.
#[test]
fn an_unstable_coupling_is_warned_of_and_stopped() {
    let folder = folder();
    let path = example(MODEL);
    let arguments = [
        "run",
        path.to_str().unwrap(),
        "--set",
        "simulation.step=1e-2",
        "--set",
        "simulation.duration=100",
    ];
    let output = oldham(folder.path(), &arguments);
    assert_eq!(code(&output), 1);
    let text = stderr(&output);
    assert!(
        text.contains("warning: the coupling is unstable at the interface `left.fc<->right.x2`"),
        "{text}"
    );
    assert!(text.contains("schedule.output_update=true"), "{text}");
    assert!(text.contains("error: stopped at t ="), "{text}");
    let remedied = [
        &arguments[..],
        &["--set", "schedule.output_update=true", "--force"],
    ]
    .concat();
    let output = oldham(folder.path(), &remedied);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(!stderr(&output).contains("warning"), "{}", stderr(&output));
}

/// Row 13.
#[test]
fn an_iteration_that_does_not_converge_follows_the_policy() {
    let folder = folder();
    let path = example("two-mass-tight.toml");
    let base = [
        "run",
        path.to_str().unwrap(),
        "--no-analysis",
        "--json",
        "--force",
        "--set",
        "schedule.implicit.max_iterations=1",
    ];
    let failed = oldham(folder.path(), &base);
    assert_eq!(code(&failed), 1);
    let answer: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert!(
        answer["fault"]
            .as_str()
            .unwrap()
            .contains("did not converge")
    );
    let accepted = oldham(
        folder.path(),
        &[&base[..], &["--set", "schedule.implicit.on_limit=accept"]].concat(),
    );
    assert_eq!(code(&accepted), 0);
    let answer: Value = serde_json::from_slice(&accepted.stdout).unwrap();
    assert_eq!(
        answer["summary"]["not_converged"],
        answer["summary"]["steps"]
    );
}

/// Row 16, through files: a run cut at a checkpoint continues to the same bits.
#[test]
fn a_resumed_run_ends_in_the_same_bits() {
    for (file, step) in [
        (MODEL, 1.0),
        ("two-mass-tight.toml", 1.0),
        ("multirate-pair.toml", 1.0),
    ] {
        let folder = folder();
        let path = example(file);
        let path = path.to_str().unwrap();
        let whole = ["run", path, "--no-analysis", "--out", "whole.parquet"];
        assert_eq!(code(&oldham(folder.path(), &whole)), 0);
        let part = [
            "run",
            path,
            "--no-analysis",
            "--out",
            "part.parquet",
            "--checkpoint-every",
            "1",
            "--set",
            "simulation.duration=3",
        ];
        assert_eq!(code(&oldham(folder.path(), &part)), 0);
        let rest = [
            "run",
            path,
            "--no-analysis",
            "--out",
            "rest.parquet",
            "--resume",
            "part.parquet.checkpoint",
        ];
        let output = oldham(folder.path(), &rest);
        assert_eq!(code(&output), 0, "{file} {step}: {}", stderr(&output));
        let [whole, rest] =
            ["whole.parquet", "rest.parquet"].map(|name| read(&folder.path().join(name)).unwrap());
        let skip = whole.rows() - rest.rows();
        assert!(rest.rows() > 10 && skip > 10);
        for column in whole.columns() {
            let (a, b) = (
                whole.column(&column.name).unwrap(),
                rest.column(&column.name).unwrap(),
            );
            let same = a[skip..]
                .iter()
                .zip(b)
                .all(|(x, y)| x.to_bits() == y.to_bits());
            assert!(same, "{file}: {}", column.name);
        }
    }
}

/// Row 17.
#[test]
fn any_number_of_threads_writes_the_same_numbers() {
    let folder = folder();
    let path = example("three-part-chain.toml");
    let mut first: Option<Vec<u8>> = None;
    for threads in ["1", "2", "4", "8"] {
        for _ in 0..10 {
            let output = oldham(
                folder.path(),
                &[
                    "run",
                    path.to_str().unwrap(),
                    "--no-analysis",
                    "--threads",
                    threads,
                    "--out",
                    "a.csv",
                    "--force",
                    "--set",
                    "simulation.duration=0.5",
                ],
            );
            assert_eq!(code(&output), 0, "{}", stderr(&output));
            let bytes = std::fs::read(folder.path().join("a.csv")).unwrap();
            assert!(
                first.get_or_insert_with(|| bytes.clone()) == &bytes,
                "{threads} threads"
            );
        }
    }
}

/// Every command answers machines in JSON and says 2 to bad input.
#[test]
fn every_command_speaks_json() {
    let folder = folder();
    let path = example(MODEL);
    let path = path.to_str().unwrap();
    let short = ["--set", "simulation.duration=0.1", "--json"];
    let commands: [Vec<&str>; 8] = [
        vec!["poles", path, "--out", "q.svg", "--json"],
        vec!["stability", path, "--json"],
        vec![
            "stability",
            path,
            "--over",
            "kc=1:1000:3",
            "--over",
            "m1=1:2:2",
            "--out",
            "m.svg",
            "--json",
        ],
        [&["check", path], &short[..]].concat(),
        [&["run", path, "--out", "r.parquet"], &short[..]].concat(),
        [&["compare", path, "--out", "c.svg"], &short[..]].concat(),
        vec!["plot", "r.parquet", "--out", "p.png", "--json"],
        vec!["completions", "bash", "--json"],
    ];
    for arguments in commands {
        let output = oldham(folder.path(), &arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        let answer: Result<Value, _> = serde_json::from_slice(&output.stdout);
        assert!(answer.is_ok(), "{arguments:?}");
    }
    for arguments in [
        vec!["plot", "nothing.parquet", "--json"],
        vec!["plot", "r.parquet", "--signals", "left.x3", "--json"],
        vec!["run", "nothing.toml", "--json"],
        vec!["stability", path, "--over", "kd", "--json"],
        vec![
            "compare",
            path,
            "--signal",
            "left.x3.x",
            "--out",
            "c.svg",
            "--json",
        ],
    ] {
        let output = oldham(folder.path(), &arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["status"], "bad input");
    }
}

#[test]
fn an_unknown_command_is_bad_input() {
    let folder = folder();
    assert_eq!(code(&oldham(folder.path(), &["runn"])), 2);
    let mut help = String::new();
    let mut child = command(folder.path(), &["--help"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut help)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(help.contains("oldham compare"), "{help}");
}
