//! Sweeps: all combinations, each run as by itself, and nothing lost when the sweep is killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn example(name: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(name)
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command.current_dir(folder).args(arguments);
    command.stdin(Stdio::null()).env("NO_COLOR", "1");
    command
}

fn oldham(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("oldham starts")
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{error}"))
}

/// The rows of an index by the names of its columns.
fn index(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(folder.join("index.csv")).expect("an index");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        let cells = line.split(',').map(str::to_owned);
        header
            .iter()
            .map(|name| (*name).to_owned())
            .zip(cells)
            .collect()
    };
    lines.map(row).collect()
}

/// 10 × 10 runs, of which each takes long enough for the sweep to be killed on the way.
const HUNDRED: [&str; 9] = [
    "--vary",
    "kc=50:500:10:log",
    "--vary",
    "m1=1:10:10",
    "--merit",
    "rms(left.x1.a)",
    "--set",
    "simulation.duration=20",
    "--json",
];

fn hundred<'a>(model: &'a str, out: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["run", model, "--out", out];
    arguments.extend(HUNDRED);
    arguments
}

/// How many runs the journal of a sweep counts as over.
fn recorded(folder: &Path) -> usize {
    let journal = std::fs::read_to_string(folder.join("sweep.jsonl")).unwrap_or_default();
    journal.matches("\n").count().saturating_sub(1)
}

#[test]
fn a_hundred_runs_are_killed_and_resumed_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let whole = json(&oldham(folder.path(), &hundred(model, "whole")));
    assert_eq!(whole["status"], "finished");
    assert_eq!(
        (&whole["sweep"]["total"], &whole["sweep"]["kept"]),
        (&100.into(), &0.into())
    );

    let kills = std::env::var("OLDHAM_KILLS")
        .ok()
        .and_then(|count| count.parse().ok());
    let broken = folder.path().join("broken");
    let mut last = 0;
    for kill in 1..=kills.unwrap_or(3) {
        let mut sweep = command(folder.path(), &hundred(model, "broken"));
        let mut sweep = sweep
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let enough = (last + 5).min(100);
        while recorded(&broken) < enough && start.elapsed() < Duration::from_secs(60) {
            if sweep.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = sweep.kill();
        sweep.wait().unwrap();
        last = recorded(&broken);
        assert!(last >= enough, "kill {kill}: {last} runs");
    }
    // A torn line, as a crash of the machine would leave it, and a result that was damaged.
    let journal = broken.join("sweep.jsonl");
    let mut text = std::fs::read_to_string(&journal).unwrap();
    let first: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    text += "{\"run\":99,\"settings\":[[\"kc\"";
    std::fs::write(&journal, text).unwrap();
    let damaged = broken.join(first["results"].as_str().unwrap());
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();

    let resumed = json(&oldham(folder.path(), &hundred(model, "broken")));
    assert_eq!(resumed["status"], "finished");
    assert_eq!(resumed["sweep"]["finished"], 100);
    assert_eq!(
        resumed["sweep"]["kept"],
        last - 1,
        "all but the damaged one are kept"
    );
    assert_eq!(index(&broken), index(&folder.path().join("whole")));
    for run in 1..=100 {
        let name = format!("run-{run:03}.parquet");
        let read = |sweep: &str| {
            let table = oldham_results::read(&folder.path().join(sweep).join(&name)).unwrap();
            let names: Vec<String> = table.names().map(str::to_owned).collect();
            let columns = (0..names.len()).map(|place| table.at(place).to_vec());
            (names, columns.collect::<Vec<_>>())
        };
        assert_eq!(read("whole"), read("broken"), "{name}");
    }
    // Once more there is nothing to do.
    let again = json(&oldham(folder.path(), &hundred(model, "broken")));
    assert_eq!(again["sweep"]["kept"], 100);
    // Another sweep does not go into the same folder.
    let other = ["run", model, "--vary", "kc=1,2", "--out", "broken"];
    let refused = oldham(folder.path(), &other);
    let said = String::from_utf8_lossy(&refused.stderr).replace("\n  ", " ");
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("another sweep") && said.contains("--force"),
        "{said}"
    );
}

/// A run of a sweep has the bits of the same run by itself.
#[test]
fn a_run_of_a_sweep_is_the_run_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let sweep = [
        "run",
        model,
        "--vary",
        "kc=100,200",
        "--vary",
        "schedule.output_update=false",
        "--json",
    ];
    let answer = json(&oldham(folder.path(), &sweep));
    assert_eq!(answer["sweep"]["finished"], 2, "{answer:#}");
    let alone = [
        "run",
        model,
        "--set",
        "kc=200",
        "--set",
        "schedule.output_update=false",
        "--no-analysis",
    ];
    assert!(oldham(folder.path(), &alone).status.success());
    let read = |path: &str| {
        let table = oldham_results::read(&folder.path().join(path)).unwrap();
        (0..table.names().count())
            .map(|place| table.at(place).to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        read("two-mass-tight-sweep/run-2.parquet"),
        read("two-mass-tight.parquet")
    );
    // The result knows what it is of.
    let replayed = ["animate", "two-mass-tight-sweep/run-2.parquet"];
    let said = oldham(folder.path(), &replayed).stderr;
    assert!(
        String::from_utf8_lossy(&said).contains("multibody"),
        "it was read, and has no mechanism"
    );
}

#[test]
fn a_failing_run_is_named_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-force-displacement.toml");
    let model = model.to_str().unwrap();
    // A negative mass is refused; a coarse step lets the energy pass its bound.
    let sweep = [
        "run",
        model,
        "--vary",
        "m1=1,-1,2",
        "--vary",
        "simulation.step=1e-3,0.1",
        "--out",
        "s",
    ];
    let output = oldham(folder.path(), &sweep);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("did not finish") && said.contains("index.csv"),
        "{said}"
    );
    let rows = index(&folder.path().join("s"));
    assert_eq!(rows.len(), 6);
    let status = |row: usize| rows[row]["status"].as_str();
    assert_eq!((status(2), status(3)), ("refused", "refused"));
    assert_eq!(status(1), "failed", "{rows:?}");
    assert!(rows[2]["message"].contains("must be positive"), "{rows:?}");
}

#[test]
fn random_values_are_the_same_for_the_same_seed() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let values = |seed: &str, out: &str| {
        let arguments = [
            "run",
            model,
            "--vary",
            "kc=normal(100, 5)",
            "--samples",
            "4",
            "--seed",
            seed,
            "--out",
            out,
            "--set",
            "simulation.duration=0.1",
        ];
        let output = oldham(folder.path(), &arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let rows = index(&folder.path().join(out)).into_iter();
        rows.map(|row| row["kc"].clone()).collect::<Vec<_>>()
    };
    let first = values("7", "a");
    assert_eq!(first, values("7", "b"));
    assert_ne!(first, values("8", "c"));
    assert!(
        first
            .iter()
            .all(|kc| (70.0..130.0).contains(&kc.parse::<f64>().unwrap()))
    );
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["--vary", "kcc=1,2"],
            &["--vary:1:1", "did you mean `kc`?"],
        ),
        (&["--vary", "kc=2:1:4"], &["LOW must be below HIGH"]),
        (&["--vary", "kc"], &["write kc=LOW:HIGH:POINTS"]),
        (
            &["--vary", "kc=1:1000000:100000", "--vary", "m1=1:9:9"],
            &["combinations", "100000"],
        ),
        (
            &["--vary", "kc=1,2", "--merit", "rms(left.x1.q)"],
            &["recorded signal", "left.x1."],
        ),
        (
            &["--vary", "kc=1,2", "--merit", "average(left.x1.x)"],
            &["figure of merit", "rms"],
        ),
        (
            &["--vary", "kc=@none.csv:k"],
            &["none.csv", "cannot be read"],
        ),
    ];
    for (more, says) in cases {
        let output = oldham(folder.path(), &[&["run", model][..], more].concat());
        let said = String::from_utf8_lossy(&output.stderr).replace("\n  ", " ");
        assert_eq!(output.status.code(), Some(2), "{more:?}: {said}");
        for words in says {
            assert!(said.contains(words), "{more:?}: {said}");
        }
    }
}

/// What a full disk or another program prevented is done again, and then nothing tells of it.
#[test]
fn disturbed_runs_are_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let sweep = |out: &str| {
        let arguments = ["run", model, "--vary", "m1=0.5:2:7", "--no-analysis"];
        let merit = ["--merit", "rms(left.x1.x)", "--json", "--out", out];
        oldham(folder.path(), &[&arguments[..], &merit].concat())
    };
    assert_eq!(sweep("quiet").status.code(), Some(0));
    // A folder in the place of a result file: nothing can be written there.
    std::fs::create_dir_all(folder.path().join("rough/run-3.parquet")).unwrap();
    let disturbed = sweep("rough");
    assert_eq!(disturbed.status.code(), Some(1));
    let answer = json(&disturbed);
    assert_eq!(answer["sweep"]["disturbed"], 1, "{answer:#}");
    assert_eq!(answer["sweep"]["runs"][2]["status"], "disturbed");
    std::fs::remove_dir(folder.path().join("rough/run-3.parquet")).unwrap();
    let resumed = sweep("rough");
    assert_eq!(resumed.status.code(), Some(0));
    assert_eq!(json(&resumed)["sweep"]["kept"], 6);
    // A third time everything is there, and every digit of the index is that of the quiet sweep.
    assert_eq!(json(&sweep("rough"))["sweep"]["kept"], 7);
    let index = |out: &str| std::fs::read(folder.path().join(out).join("index.csv")).unwrap();
    assert_eq!(index("rough"), index("quiet"));
}

#[test]
fn a_line_of_the_journal_that_is_not_text_is_left_out() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let arguments = ["run", model.to_str().unwrap(), "--vary", "m1=1,2", "--json"];
    let arguments = [&arguments[..], &["--no-analysis", "--out", "s"]].concat();
    assert_eq!(oldham(folder.path(), &arguments).status.code(), Some(0));
    let journal = folder.path().join("s/sweep.jsonl");
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(journal)
        .unwrap();
    file.write_all(b"\xff\xfe\n").unwrap();
    let again = oldham(folder.path(), &arguments);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(json(&again)["sweep"]["kept"], 2);
}

/// A second sweep in the folder of one that is at work would take its runs for failures.
#[test]
fn a_second_sweep_in_the_same_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let arguments = hundred(model.to_str().unwrap(), "s");
    let mut first = command(folder.path(), &arguments);
    let mut first = first
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = folder.path().join("s");
    let started = Instant::now();
    while recorded(&out) == 0 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let second = oldham(folder.path(), &arguments);
    let message = String::from_utf8_lossy(&second.stdout).into_owned();
    let is_over = first.try_wait().unwrap().is_some();
    let _ = first.kill();
    let _ = first.wait();
    assert!(!is_over, "the first sweep ended too soon for this test");
    assert_eq!(second.status.code(), Some(2), "{message}");
    assert!(message.contains("another sweep is writing"), "{message}");
}

/// 300 runs on a disk that is full at first, with a second sweep beside them, killed ten times: in the end all of them are
/// right, and the index is that of an undisturbed sweep in every bit. Minutes long, and needs the right to mount a disk.
#[test]
#[ignore = "minutes long; `make soak` runs it"]
fn three_hundred_runs_survive_a_full_disk_a_second_sweep_and_ten_kills() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-force-displacement.toml");
    let model = model.to_str().unwrap();
    let arguments = |out| {
        let vary = ["--vary", "m1=0.5:2:300", "--merit", "rms(left.x1.a)"];
        let set = ["--set", "schedule.output_update=true"];
        let duration = ["--set", "simulation.duration=10"];
        let rest = ["--no-analysis", "--json", "--out", out];
        [&["run", model][..], &vary, &set, &duration, &rest].concat()
    };
    let quiet = oldham(folder.path(), &arguments("quiet"));
    assert_eq!(json(&quiet)["sweep"]["finished"], 300);

    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]);
        mount
            .arg(&disk)
            .status()
            .is_ok_and(|status| status.success())
    };
    assert!(
        mount("size=6m"),
        "this test mounts a small disk, which needs the right to"
    );
    let unmount = Unmount(disk.clone());
    let full = oldham(folder.path(), &arguments("disk/s"));
    assert_ne!(full.status.code(), Some(0), "a disk of 6 MB takes 300 runs");
    assert!(mount("remount,size=2g"));

    let rough = disk.join("s");
    for kill in 0..10 {
        let spawn = || {
            let mut sweep = command(folder.path(), &arguments("disk/s"));
            let sweep = sweep.stdout(Stdio::null()).stderr(Stdio::null());
            sweep.spawn().unwrap()
        };
        let mut sweep = spawn();
        let before = recorded(&rough);
        let start = Instant::now();
        while recorded(&rough) < before + 5 && start.elapsed() < Duration::from_secs(60) {
            if sweep.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // A second one in the same folder is refused, or takes over where the first was killed.
        let mut second = spawn();
        std::thread::sleep(Duration::from_millis(10 * kill));
        let _ = sweep.kill();
        sweep.wait().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let _ = second.kill();
        second.wait().unwrap();
    }
    let last = json(&oldham(folder.path(), &arguments("disk/s")));
    assert_eq!(last["sweep"]["finished"], 300, "{}", last["sweep"]["kept"]);
    let index = |out: &str| std::fs::read(folder.path().join(out).join("index.csv")).unwrap();
    assert_eq!(index("disk/s"), index("quiet"));
    for run in 1..=300 {
        let values = |out: &str| {
            let path = folder
                .path()
                .join(out)
                .join(format!("run-{run:03}.parquet"));
            let table = oldham_results::read(&path).unwrap();
            let bits = |place: usize| table.at(place).iter().map(|x| x.to_bits()).collect();
            (0..table.names().count())
                .map(bits)
                .collect::<Vec<Vec<u64>>>()
        };
        assert_eq!(values("disk/s"), values("quiet"), "run {run}");
    }
    drop(unmount);
}

/// Takes a disk away again, however a test ends.
struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Shards of one sweep in one folder: some are killed, one is started twice, two overlap. Every run is done once, and the
/// joined index is that of one machine.
#[test]
fn shards_do_every_run_once() {
    let runs: usize = match std::env::var("OLDHAM_SHARDED") {
        Ok(count) => count.parse().unwrap(),
        Err(_) => 200,
    };
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let vary = format!("kc=50:500:{runs}:log");
    let arguments = |more: &[&str]| {
        let mut arguments = vec!["run", model, "--vary", &vary, "--merit", "rms(left.x1.a)"];
        arguments.push("--json");
        arguments.extend(more);
        command(folder.path(), &arguments)
    };
    let quiet = |more: &[&str]| {
        let mut command = arguments(more);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let whole = json(&arguments(&["--out", "whole"]).output().unwrap());
    assert_eq!(whole["status"], "finished");

    // Two shards are killed on the way, the first is started twice.
    let names = ["1/4", "2/4", "3/4", "4/4"];
    let mut shards =
        names.map(|shard| quiet(&["--out", "shared", "--threads", "1", "--shard", shard]));
    let journal = |shard: &str| {
        let name = format!("shared/sweep-{}.jsonl", shard.replace('/', "-of-"));
        std::fs::read_to_string(folder.path().join(name)).unwrap_or_default()
    };
    let start = Instant::now();
    while journal("2/4").lines().count() < 4 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    shards[1].kill().unwrap();
    shards[2].kill().unwrap();
    let mut twice = quiet(&["--out", "shared", "--threads", "1", "--shard", "1/4"]);
    // One that overlaps with two others.
    let half = json(
        &arguments(&["--out", "shared", "--shard", "2/2"])
            .output()
            .unwrap(),
    );
    assert_ne!(half["status"], "failed", "{half:#}");
    for shard in shards.iter_mut().chain([&mut twice]) {
        shard.wait().unwrap();
    }
    let missing = arguments(&["--join", "shared"]).output().unwrap();
    let answer = json(&missing);
    if answer["status"] == "incomplete" {
        assert_eq!(missing.status.code(), Some(1));
        let left = answer["sweep"]["missing"].as_array().unwrap();
        assert!(
            left.iter().all(|run| run.as_u64().unwrap() % 4 == 3),
            "{left:?}"
        );
    }
    let rest = json(
        &arguments(&["--out", "shared", "--shard", "3/4"])
            .output()
            .unwrap(),
    );
    assert_eq!(rest["status"], "finished");
    let joined = json(&arguments(&["--join", "shared"]).output().unwrap());
    assert_eq!(joined["status"], "finished", "{joined:#}");
    let index = |name: &str| std::fs::read(folder.path().join(name).join("index.csv")).unwrap();
    assert!(index("whole") == index("shared"), "the indices differ");

    // Nothing is lost, nothing was done twice.
    let mut done: Vec<u64> = Vec::new();
    for shard in ["1/4", "2/4", "3/4", "4/4", "2/2"] {
        for line in journal(shard).lines().skip(1) {
            let line: Value = serde_json::from_str(line).unwrap();
            done.push(line["run"].as_u64().unwrap());
        }
    }
    done.sort_unstable();
    assert_eq!(done, (1..=runs as u64).collect::<Vec<_>>());
}

#[test]
fn shards_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = example("two-mass-tight.toml");
    let model = model.to_str().unwrap();
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", model];
        arguments.extend(more);
        let output = oldham(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr).replace("\n  ", " ");
        (output.status.code(), said)
    };
    for shard in ["0/4", "5/4", "x"] {
        let (code, said) = run(&["--vary", "kc=1,2", "--shard", shard]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("K from 1 to N"), "{said}");
    }
    let (code, said) = run(&["--shard", "1/2"]);
    assert!(code == Some(2) && said.contains("--vary"), "{said}");
    // Shards of different sweeps in one folder.
    let (code, said) = run(&["--vary", "kc=100,200", "--out", "s", "--shard", "1/2"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&["--vary", "kc=100,300", "--out", "s", "--shard", "2/2"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("another sweep"), "{said}");
    let (code, said) = run(&["--vary", "kc=100,200", "--join", "s"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("1 of 2 runs are missing: 2"), "{said}");
    // The sweep without shards does what is missing.
    let (code, said) = run(&["--vary", "kc=100,200", "--out", "s"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&["--vary", "kc=100,200", "--join", "s"]);
    assert_eq!(code, Some(0), "{said}");
}
