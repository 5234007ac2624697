//! FMUs in processes of their own: the same bits, and what happens when they crash, hang and lie.

mod support;

use std::fmt::Write;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

use oldham_cosim::{CheckpointError, Discard, Fault, Run, Snapshot};
use oldham_fmi::{serve, workers_are};
use oldham_stability::analyse;
use support::{fmu, pack, plain, read, run, run_on};
use tempfile::TempDir;

/// Told to a worker, which is this very program: it then runs the next test alone.
const HOST: &str = "OLDHAM_TEST_HOST";

/// Where workers begin.
#[test]
fn worker() {
    if let Ok(host) = std::env::var(HOST) {
        serve(host.parse().unwrap()).unwrap();
    }
}

/// From now on FMUs have workers. A small program hands the number of the host on by the environment, since arguments of a
/// test are names of tests.
fn with_workers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let test = std::env::current_exe().unwrap();
        let script = format!(
            "{HOST}=$1 exec {:?} --exact worker --nocapture --test-threads=1",
            test
        );
        workers_are("/bin/sh", &["-c", &script, "worker"]);
    });
}

const ALONE: &str = r#"
model.name = "One FMU"
simulation = { duration = 1, step = 0.01 }
[fmu.body]
file = "mass2.fmu"
parameters = { mass = 2, damping = 0.5, stiffness = 40, position = 0.03 }
[excitation]
"body.force" = "3 * t"
"#;

fn faulty(folder: &Path, fault: u32) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let text = std::fs::read_to_string(sources.join("mass2.xml")).unwrap();
    let flag = format!("-DFAULT={fault}");
    pack(folder, "mass2", &sources.join("faulty2.c"), &[&flag], &text);
}

/// Processes of workers that this one has started and that are still there, zombies among them.
fn children() -> usize {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let is_child = |entry: &std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let mut fields = fields.split_whitespace();
        fields.nth(1) == Some(&own)
    };
    all.filter(is_child).count()
}

fn two(process: &str) -> String {
    let mut text =
        String::from("model.name = \"Two FMUs\"\nsimulation = { duration = 1, step = 0.01 }\n");
    for (name, rest) in [
        ("one", "mass = 2, stiffness = 40, velocity = 0.3"),
        ("two", "mass = 1, damping = 0.2"),
    ] {
        writeln!(
            text,
            "fmu.{name} = {{ file = \"mass2.fmu\", parameters = {{ {rest} }}, process = \"{process}\" }}"
        )
        .unwrap();
    }
    for (from, to, gain) in [("one", "two", 1.5), ("two", "one", -0.7)] {
        writeln!(
            text,
            "[[connection]]\nfrom = \"{from}.velocity\"\nto = \"{to}.force\"\ngain = {gain}"
        )
        .unwrap();
    }
    text
}

#[test]
fn workers_give_the_same_bits_as_libraries_that_are_here() {
    with_workers();
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    for schedule in [
        "",
        "[schedule]\ncoupling = \"implicit\"\n",
        "[schedule]\nkind = \"gauss-seidel\"\norder = [\"one\", \"two\"]\n",
    ] {
        let both = ["shared", "own"].map(|process| {
            let text = two(process) + schedule;
            let model = read(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
            [1, 2].map(|threads| {
                let mut simulation = model.simulation().unwrap();
                run_on(&mut simulation, 100, "two.velocity", threads)
            })
        });
        let [[here, also], [away, alike]] = both;
        assert!(here.iter().any(|v| v.abs() > 1e-3));
        assert_eq!(here, also);
        assert_eq!(here, away, "{schedule}");
        assert_eq!(here, alike);
    }
}

/// One FMU of either kind, one instance a process.
#[test]
fn what_may_be_made_once_in_a_process_is_made_in_several() {
    with_workers();
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let model = read(folder.path(), &two("own")).unwrap();
    let expected = run(&mut model.simulation().unwrap(), 50, "two.velocity");
    let folder = TempDir::new().unwrap();
    faulty(folder.path(), 10);
    let model = read(folder.path(), &two("own")).unwrap();
    assert_eq!(
        run(&mut model.simulation().unwrap(), 50, "two.velocity"),
        expected
    );
    let shared = read(folder.path(), &two("shared")).unwrap();
    let error = shared.simulation().err().unwrap().to_string();
    assert!(error.contains("could not be instantiated"), "{error}");
}

#[test]
fn states_go_to_a_worker_and_back() {
    with_workers();
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let model = read(folder.path(), &two("own")).unwrap();
    let mut simulation = model.simulation().unwrap();
    simulation.steps(20).unwrap();
    let mut saved = Snapshot::default();
    saved.save(&mut simulation);
    let checkpoint = simulation.checkpoint("model").unwrap();
    let first = run(&mut simulation, 30, "two.velocity");
    saved.restore(&mut simulation);
    assert_eq!(run(&mut simulation, 30, "two.velocity"), first);
    let mut other = model.simulation().unwrap();
    other.restore(&checkpoint, "model").unwrap();
    assert_eq!(run(&mut other, 30, "two.velocity"), first);
}

/// It can go back without bytes: it iterates and is analysed, but cannot be written.
#[test]
fn who_has_no_bytes_iterates_and_is_analysed_but_is_not_written() {
    with_workers();
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let implicit = |process: &str| two(process) + "[schedule]\ncoupling = \"implicit\"\n";
    let model = read(folder.path(), &implicit("shared")).unwrap();
    let expected = run(&mut model.simulation().unwrap(), 100, "two.velocity");
    let lacking = TempDir::new().unwrap();
    fmu(lacking.path(), "mass2", &[], |text| {
        let changed = text.replace("canSerializeFMUstate=\"true\"", "");
        assert_ne!(changed, text);
        changed
    });
    for process in ["shared", "own"] {
        let model = read(lacking.path(), &implicit(process)).unwrap();
        let mut simulation = model.simulation().unwrap();
        assert_eq!(run(&mut simulation, 100, "two.velocity"), expected);
        let error = simulation.checkpoint("model").unwrap_err();
        assert!(
            matches!(&error, CheckpointError::NoBytes(part) if part == "one"),
            "{error}"
        );
        let verdict = analyse(
            &mut read(lacking.path(), &two(process))
                .unwrap()
                .simulation()
                .unwrap(),
        );
        assert!(verdict.unwrap().error < 1e-8);
    }
}

/// Without states, workers make their instances anew: the verdict has the bits of that with states.
#[test]
fn fresh_instances_in_workers_give_the_same_verdict() {
    with_workers();
    let [saves, lacks] = [(); 2].map(|()| TempDir::new().unwrap());
    plain(saves.path(), "mass2");
    fmu(lacks.path(), "mass2", &["-DNO_STATE"], |text| {
        text.replace(
            "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"",
            "",
        )
    });
    let [with, without] = [saves, lacks].map(|folder| {
        let model = read(folder.path(), &two("own")).unwrap();
        analyse(&mut model.simulation().unwrap()).unwrap()
    });
    assert_eq!(with.radius, without.radius);
    assert!(without.error < 1e-8, "{}", without.error);
}

/// What a run ends with, and how long it took.
fn fails(folder: &Path, text: &str) -> (String, Duration) {
    let started = Instant::now();
    let model = match read(folder, text) {
        Ok(model) => model,
        Err(error) => return (error, started.elapsed()),
    };
    let error = match model.simulation() {
        Err(error) => error.to_string(),
        Ok(mut simulation) => {
            let outcome = simulation.run(Run::new(100, &mut Discard));
            let fault = outcome.end.unwrap_err();
            assert!(!matches!(fault, Fault::Panic { .. }), "{fault}");
            fault.to_string()
        }
    };
    (error, started.elapsed())
}

#[test]
fn a_crash_is_an_error_that_says_where() {
    with_workers();
    let cases: [(u32, &[&str]); 4] = [
        (
            1,
            &[
                "signal 11 (segmentation fault)",
                "in fmi2DoStep",
                "0.25",
                "about to write to nowhere",
            ],
        ),
        (
            2,
            &[
                "signal 6 (abort)",
                "in fmi2DoStep",
                "0.25",
                "mass: assertion failed",
            ],
        ),
        (
            3,
            &[
                "ended by itself with exit status 0",
                "in fmi2DoStep",
                "0.25",
            ],
        ),
        (6, &["signal 11", "in fmi2Instantiate"]),
    ];
    for (fault, parts) in cases {
        let folder = TempDir::new().unwrap();
        faulty(folder.path(), fault);
        let (error, _) = fails(folder.path(), ALONE);
        assert!(error.contains("`body`") || fault == 6, "{error}");
        for part in parts {
            assert!(error.contains(part), "{fault}: no {part} in {error}");
        }
    }
}

#[test]
fn who_does_not_return_is_ended() {
    with_workers();
    for (fault, call) in [(4, "in fmi2DoStep"), (5, "in a call of fmi2Get")] {
        let folder = TempDir::new().unwrap();
        faulty(folder.path(), fault);
        let text = ALONE.replace("[excitation]", "timeout = 0.5\n[excitation]");
        let (error, took) = fails(folder.path(), &text);
        assert!(error.contains("did not return within 0.5 s"), "{error}");
        assert!(error.contains(call) && error.contains("0.25"), "{error}");
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn numbers_that_are_none_stop_at_their_port() {
    with_workers();
    let folder = TempDir::new().unwrap();
    faulty(folder.path(), 7);
    let (error, _) = fails(folder.path(), ALONE);
    assert!(
        error.contains("position") && error.contains("NaN"),
        "{error}"
    );
}

/// A run that is done is not undone by a crash at the end of the instance, and its worker is gone.
#[test]
fn a_crash_at_the_end_does_no_harm() {
    with_workers();
    let folder = TempDir::new().unwrap();
    faulty(folder.path(), 8);
    let model = read(folder.path(), ALONE).unwrap();
    let mut simulation = model.simulation().unwrap();
    assert_eq!(run(&mut simulation, 100, "body.velocity").len(), 101);
    drop(simulation);
}

/// What answers differently each time is not analysed as if it did not.
#[test]
fn who_answers_differently_each_time_is_found_out() {
    with_workers();
    let folder = TempDir::new().unwrap();
    faulty(folder.path(), 9);
    let model = read(folder.path(), &two("own")).unwrap();
    let found = analyse(&mut model.simulation().unwrap());
    let decided = found
        .as_ref()
        .is_ok_and(|verdict| verdict.is_stable() || verdict.is_unstable());
    assert!(!decided, "{found:?}");
}

/// Workers of this program that have loaded a library of this name.
fn workers_with(library: &str) -> Vec<u32> {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let found = all.filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace();
        let is_own = fields.nth(1) == Some(&own);
        let maps = std::fs::read_to_string(entry.path().join("maps")).ok()?;
        (is_own && maps.contains(library)).then_some(id)
    });
    found.collect()
}

/// Killed at any time: the run ends soon, says so, and leaves no process. Long version: OLDHAM_KILLS=100.
#[test]
fn a_worker_that_is_killed_is_the_first_cause() {
    with_workers();
    let folder = TempDir::new().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let text = std::fs::read_to_string(sources.join("mass2.xml")).unwrap();
    let text = text.replace("modelIdentifier=\"mass\"", "modelIdentifier=\"killed\"");
    pack(folder.path(), "mass2", &sources.join("mass2.c"), &[], &text);
    let model = read(folder.path(), &two("own")).unwrap();
    let kills: u64 = std::env::var("OLDHAM_KILLS").map_or(4, |text| text.parse().unwrap());
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for kill in 0..kills {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let pause = Duration::from_micros((seed >> 33) % 50_000);
        let mut simulation = model.simulation().unwrap();
        simulation.steps(1).unwrap();
        let runs = std::thread::spawn(move || {
            let outcome = simulation.run(Run::new(100_000_000, &mut Discard));
            outcome.end.unwrap_err().to_string()
        });
        std::thread::sleep(pause);
        let victims = workers_with("killed.so");
        let victim = victims[(seed >> 20) as usize % victims.len()];
        let killed = Instant::now();
        let status = std::process::Command::new("kill")
            .args(["-9", &victim.to_string()])
            .status();
        assert!(status.unwrap().success());
        let message = runs.join().unwrap();
        assert!(
            killed.elapsed() < Duration::from_secs(5),
            "{kill}: {:?}",
            killed.elapsed()
        );
        assert!(message.contains("signal 9 (killed)"), "{kill}: {message}");
        assert!(
            message.contains("`one`") || message.contains("`two`"),
            "{message}"
        );
        assert!(!workers_with("killed.so").contains(&victim));
    }
    drop(model);
    let until = Instant::now() + Duration::from_secs(5);
    while !workers_with("killed.so").is_empty() {
        assert!(Instant::now() < until, "workers are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Workers and descriptors do not pile up, whatever is built and thrown away.
#[test]
fn nothing_is_left_of_many_instances() {
    with_workers();
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let model = read(folder.path(), &two("own")).unwrap();
    let mut counts = Vec::new();
    // Pages in use: field two of this file.
    let memory = || -> f64 {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let cycles: usize = std::env::var("OLDHAM_CYCLES").map_or(60, |text| text.parse().unwrap());
    let mut early = 0.0;
    for cycle in 0..cycles {
        if cycle == cycles / 4 {
            early = memory();
        }
        let mut simulation = model.simulation().unwrap();
        simulation.steps(2).unwrap();
        drop(simulation);
        counts.push((children(), open()));
    }
    let cores = std::thread::available_parallelism().unwrap().get();
    // Other tests of this program have workers, too, at the same time.
    let others = 24;
    assert!(
        counts.iter().all(|(there, _)| *there <= cores + 4 + others),
        "{counts:?}"
    );
    let most = counts.iter().map(|(_, open)| *open).max().unwrap();
    assert!(most < 300, "{counts:?}");
    // Other tests of this program would count as growth; the long version runs alone.
    if cycles > 1000 {
        let late = memory();
        assert!(late < 1.01 * early, "{early} pages, then {late}");
    }
}
