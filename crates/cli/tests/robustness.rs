//! Whatever a file, an argument or the system says: no panic, no hang, no unbounded memory, and a
//! message that names the cause.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PAIR: &str = "two-mass-force-displacement.toml";
const TIGHT: &str = "two-mass-tight.toml";
const CRANK: &str = "slider-crank.toml";

/// Longer than anything here takes on a loaded machine, shorter than what never ends.
const LIMIT: Duration = Duration::from_secs(60);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> String {
    let path = root().join("examples").join(name);
    path.to_string_lossy().into_owned()
}

fn quarter_car() -> String {
    let path = root().join("docs/src/code/quarter-car.toml");
    path.to_string_lossy().into_owned()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command.current_dir(folder).args(arguments);
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn wait(child: &mut Child) -> i32 {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child can be asked") {
            return status.code().expect("it was not killed");
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs to the end, within [`LIMIT`]; output goes through files, which take any amount.
fn oldham_in(folder: &Path, arguments: &[&str]) -> Output {
    let (out, err) = (folder.join(".out"), folder.join(".err"));
    let file = |path: &Path| fs::File::create(path).unwrap();
    let mut command = command(folder, arguments);
    let mut child = command
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .unwrap();
    let code = wait(&mut child);
    let output = Output {
        status: child.wait().unwrap(),
        stdout: fs::read(&out).unwrap(),
        stderr: fs::read(&err).unwrap(),
    };
    assert!(code != 101, "{arguments:?} panicked: {}", said(&output));
    output
}

fn oldham(arguments: &[&str]) -> Output {
    oldham_in(folder().path(), arguments)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// The words of a message, however its lines are folded and framed.
fn words(text: &str) -> String {
    let is_frame = |word: &&str| !matches!(*word, "|" | "│" | "×" | "x" | ":" | "·");
    let words = text.split_whitespace().filter(is_frame);
    words.collect::<Vec<_>>().join(" ")
}

fn refuses(arguments: &[&str], says: &[&str]) {
    let output = oldham(arguments);
    let text = words(&said(&output));
    assert_eq!(code(&output), 2, "{arguments:?}: {text}");
    for part in says {
        assert!(
            text.contains(part),
            "{arguments:?} does not say `{part}`: {text}"
        );
    }
}

#[test]
fn settings_that_would_never_end_or_mean_nothing_are_refused() {
    let (pair, car) = (example(PAIR), quarter_car());
    let (beam, plate) = (example("cut-beam.toml"), example("clamped-plate.toml"));
    let tight = example(TIGHT);
    let cases: [(&[&str], &[&str]); 15] = [
        (
            &[
                "check",
                &beam,
                "--set",
                "multibody.beam.cut.corrections=4294967295",
            ],
            &["at most 20"],
        ),
        (
            &[
                "check",
                &car,
                "--set",
                "lumped.wheel.micro_steps=4294967295",
            ],
            &["at most 100000", "simulation.step"],
        ),
        (
            &["check", &car, "--set", "lumped.chassis.micro_step=1e-12"],
            &["at most 100000"],
        ),
        (
            &["check", &pair, "--set", "lumped.left.every=1000000"],
            &["at most 10000"],
        ),
        (
            &[
                "check",
                &tight,
                "--set",
                "schedule.implicit.max_iterations=4294967295",
            ],
            &["at most 100000"],
        ),
        (&["statics", &plate, "--steps", "1000000000"], &["10000"]),
        (&["statics", &plate, "--time", "nan"], &["finite"]),
        (
            &["check", &pair, "--set", "simulation.start=1e300"],
            &["1e300", "apart"],
        ),
        (
            &[
                "run",
                &pair,
                "--set",
                "lumped.left.every=2000",
                "--set",
                "simulation.duration=0.1",
            ],
            &["ends after 0.1 s", "lower `every`"],
        ),
        (
            &["stability", &pair, "--over", "m2", "--scheme", "foo"],
            &["`foo` is none", "schedule.output_update=true"],
        ),
        (
            &[
                "stability",
                &pair,
                "--over",
                "m1",
                "--over",
                "m2",
                "--over",
                "kc",
            ],
            &["not 3 times"],
        ),
        (
            &[
                "check",
                &pair,
                "--set",
                "schedule.order=[\"right\", \"left\"]",
            ],
            &["would be ignored", "gauss-seidel"],
        ),
        (
            &["check", &pair, "--set", "record.signals=[\"left.y\"]"],
            &["no signal `left.y`"],
        ),
        (
            &["check", &pair, "--set", "simulation.step=1e300"],
            &["1e300"],
        ),
        (
            &["poles", &pair, "-o", "/nowhere/at/all.pdf"],
            &[".svg or .png"],
        ),
    ];
    for (arguments, says) in cases {
        refuses(arguments, says);
        let output = oldham(arguments);
        assert!(said(&output).len() < 4000, "{arguments:?}: a short message");
    }
}

#[test]
fn a_problem_far_to_the_right_is_shown() {
    let folder = folder();
    let path = folder.path().join("wide.toml");
    let model = fs::read_to_string(example(PAIR)).unwrap();
    let far = format!("{}velocty = 100.0", " ".repeat(70_000));
    fs::write(&path, model.replacen("velocity = 100.0", &far, 1)).unwrap();
    let output = oldham_in(folder.path(), &["check", "wide.toml"]);
    assert_eq!(code(&output), 2);
    let text = words(&said(&output));
    assert!(text.contains("wide.toml:31:70021"), "{text}");
    assert!(said(&output).len() < 2000, "long lines are cut");
    // One expression of a megabyte.
    let long = format!("velocity = \"{}+\"", "1+".repeat(500_000));
    let changed = model.replacen("velocity = 100.0", &long, 1);
    assert_ne!(changed, model);
    fs::write(&path, changed).unwrap();
    let output = oldham_in(folder.path(), &["check", "wide.toml"]);
    assert_eq!(code(&output), 2);
    assert!(
        said(&output).len() < 20_000,
        "{} bytes",
        said(&output).len()
    );
}

#[test]
fn a_joint_very_far_away_is_no_panic_of_the_cut() {
    let folder = folder();
    let text = r#"
        [model]
        name = "far"
        [simulation]
        duration = 1e-2
        step = 1e-3
        [multibody.m.nodes]
        n0 = { position = [1, 0, 0] }
        n1 = { position = [2, 0, 0] }
        n3 = { position = [4, 0, 0] }
        [multibody.m.bodies]
        b0 = { node = "n0", mass = 1, inertia = [1, 1, 1] }
        b3 = { node = "n3", mass = 1, inertia = [1, 1, 1] }
        [multibody.m.joints]
        j1 = { type = "prismatic", between = ["n0", "n1"], position = [100, 1e-3, 1e9] }
        [multibody.m.cut]
        at = ["n3"]
    "#;
    fs::write(folder.path().join("far.toml"), text).unwrap();
    let output = oldham_in(folder.path(), &["check", "far.toml"]);
    assert!(code(&output) <= 2, "{}", said(&output));
    assert!(
        !said(&output).contains("internal error"),
        "{}",
        said(&output)
    );
}

/// Three parts without any stiffness between some of them: many equal eigenvalues, on which an
/// iteration without limit never ends.
#[test]
fn poles_of_a_defective_system_end() {
    let folder = folder();
    let part = |name: &str, integrator: &str, inner: &str| {
        format!(
            "[lumped.{name}]\nintegrator = \"{integrator}\"\n{inner}\n\
             [lumped.{name}.inputs]\nfar = {{ motion = \"far\" }}\npush = {{ force = \"x0\" }}\n\
             [lumped.{name}.outputs]\nx0 = {{ motion = \"x0\" }}\nfc = {{ force = \"far\" }}\n"
        )
    };
    let a = "[lumped.a.masses]\nx0 = { mass = 0.1, position = 2, velocity = 0.5 }";
    let b = "[lumped.b.masses]\nx0 = { mass = 1e-3, position = -1, velocity = 1e-16 }\n\
             x1 = { mass = 3, position = 1, velocity = 1e-3 }\n[lumped.b.springs]\n\
             s0 = { between = [\"far\", \"x1\"], stiffness = 1e-9 }\n\
             s1 = { between = [\"x1\", \"ground\"], stiffness = 1e3, damping = 0.1 }";
    let c = "[lumped.c.masses]\nx0 = { mass = 10, position = 10, velocity = 1e-16 }\n\
             x1 = { mass = 0.5, position = -1, velocity = 1e3 }\n\
             x2 = { mass = 10, position = 2, velocity = 2 }\n[lumped.c.springs]\n\
             s0 = { between = [\"x0\", \"x2\"], stiffness = 0.1 }";
    let ring = [("a", "b"), ("b", "c"), ("c", "a")];
    let wires = ring.map(|(from, to)| {
        format!(
            "[[connection]]\nfrom = \"{from}.x0\"\nto = \"{to}.far\"\n\
             [[connection]]\nfrom = \"{to}.fc\"\nto = \"{from}.push\"\n"
        )
    });
    let text = "[model]\nname = \"ring\"\n[simulation]\nduration = \"12*0.1\"\nstep = 0.1\n"
        .to_owned()
        + &part("a", "semi-implicit-euler", a)
        + &part("b", "rk4", b)
        + &part("c", "exact", c)
        + &wires.concat();
    fs::write(folder.path().join("ring.toml"), text).unwrap();
    let output = oldham_in(folder.path(), &["poles", "ring.toml", "--json"]);
    assert!(code(&output) <= 2);
    json(&output);
}

#[test]
fn an_undefined_drive_is_named_where_it_stands() {
    let folder = folder();
    let car = quarter_car();
    let line = 1 + fs::read_to_string(&car)
        .unwrap()
        .lines()
        .position(|line| line.starts_with("\"wheel.road\""))
        .unwrap();
    // From the start: found before the run, at the line of the drive.
    let output = oldham_in(folder.path(), &["check", &car, "--set", "wave=0"]);
    let text = words(&said(&output));
    assert_eq!(code(&output), 2, "{text}");
    assert!(
        text.contains(&format!("quarter-car.toml:{line}:")),
        "{text}"
    );
    assert!(text.contains("`wheel.road"), "{text}");
    // Later: the run stops, and the message names the input and the place.
    let fades = "excitation.\"wheel.road\"=sqrt(0.01-t)";
    let run = ["run", &car, "--no-analysis", "--set", fades];
    let output = oldham_in(folder.path(), &run);
    let text = words(&said(&output));
    assert_eq!(code(&output), 1, "{text}");
    assert!(
        text.contains("`wheel.road") && text.contains("--set:1:"),
        "{text}"
    );
    assert!(!text.contains("hub"), "{text}");
}

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

#[test]
fn a_checkpoint_that_cannot_be_written_is_told_as_what_it_is() {
    let folder = folder();
    let tight = example(TIGHT);
    let run = [
        "run",
        &tight,
        "--no-analysis",
        "--out",
        "q.parquet",
        "--checkpoint-every",
        "1",
    ];
    fs::create_dir(folder.path().join("q.parquet.checkpoint")).unwrap();
    let refused = oldham_in(folder.path(), &run);
    assert_eq!(code(&refused), 2, "found before the run");
    assert!(
        said(&refused).contains("q.parquet.checkpoint"),
        "{}",
        said(&refused)
    );
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert!(
        !left
            .iter()
            .any(|entry| entry.path().ends_with("q.parquet.partial")),
        "{left:?}"
    );
    fs::remove_dir(folder.path().join("q.parquet.checkpoint")).unwrap();
    assert_eq!(code(&oldham_in(folder.path(), &run)), 0);
    // A checkpoint of another run is not replaced without being told.
    fs::remove_file(folder.path().join("q.parquet")).unwrap();
    let refused = oldham_in(folder.path(), &run);
    assert_eq!(code(&refused), 2);
    assert!(said(&refused).contains("--force"), "{}", said(&refused));
}

/// A disk that is full at the start leaves nothing behind, one that fills up tells so (needs the
/// right to mount one).
#[test]
fn a_full_disk_is_named_as_the_cause() {
    let folder = folder();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(&disk)
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("no right to mount a small disk here");
        return;
    }
    let pair = example(PAIR);
    let run = [
        "run",
        &pair,
        "--no-analysis",
        "--out",
        "disk/a.parquet",
        "--set",
        "schedule.output_update=true",
        "--set",
        "simulation.duration=100",
    ];
    let filled = oldham_in(folder.path(), &run);
    let rows = oldham_results::read(&disk.join("a.parquet.partial")).map(|table| table.rows());
    fs::remove_file(disk.join("a.parquet.partial")).unwrap();
    // As much as there is space for: the last write fails.
    while fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(disk.join("ballast"))
        .and_then(|mut file| std::io::Write::write_all(&mut file, &[0; 4096]))
        .is_ok()
    {}
    let started = oldham_in(folder.path(), &run);
    let left = disk.join("a.parquet.partial").exists();
    assert!(
        Command::new("umount")
            .arg(&disk)
            .status()
            .unwrap()
            .success()
    );
    let text = words(&said(&filled));
    assert_eq!(code(&filled), 1, "{text}");
    assert!(
        text.contains("No space left") && text.contains("at t = "),
        "{text}"
    );
    assert!(rows.unwrap() > 100);
    let text = words(&said(&started));
    assert_eq!(code(&started), 2, "{text}");
    assert!(text.contains("No space left") && !left, "{text}");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_unicode_are_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let name = |end: &str| [b"m\xff".as_slice(), end.as_bytes()].concat();
    fs::copy(
        example(TIGHT),
        folder.path().join(OsStr::from_bytes(&name(".toml"))),
    )
    .unwrap();
    fs::copy(
        example(CRANK),
        folder.path().join(OsStr::from_bytes(b"c\xff.toml")),
    )
    .unwrap();
    let call = |verb: &str, file: &[u8], more: &[&str]| {
        let mut command = command(folder.path(), &[verb]);
        let output = command
            .arg(OsStr::from_bytes(file))
            .args(more)
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{verb}: {}", said(&output));
        output
    };
    let short = ["--set", "simulation.duration=0.02"];
    call(
        "run",
        &name(".toml"),
        &["--no-analysis", "--set", "simulation.duration=0.02"],
    );
    json(&call("plot", &name(".parquet"), &["--json"]));
    json(&call("poles", &name(".toml"), &["--json"]));
    json(&call("statics", b"c\xff.toml", &["--json"]));
    json(&call("partition", b"c\xff.toml", &["--json"]));
    json(&call(
        "animate",
        b"c\xff.toml",
        &["--json", short[0], short[1], "--frames", "2"],
    ));
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

#[cfg(unix)]
#[test]
fn links_and_pipes_are_neither_followed_nor_waited_for() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let tight = example(TIGHT);
    for name in ["r.parquet.tmp", "r.parquet.checkpoint.new", "p.svg"] {
        symlink(&victim, folder.path().join(name)).unwrap();
    }
    let run = [
        "run",
        &tight,
        "--no-analysis",
        "--out",
        "r.parquet",
        "--checkpoint-every",
        "5",
    ];
    assert_eq!(code(&oldham_in(folder.path(), &run)), 0);
    assert!(!folder.path().join("r.parquet").is_symlink());
    assert_eq!(
        code(&oldham_in(
            folder.path(),
            &["plot", "r.parquet", "-o", "p.svg"]
        )),
        0
    );
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    let pipe = |name: &str| {
        let made = Command::new("mkfifo")
            .arg(folder.path().join(name))
            .status();
        assert!(made.unwrap().success());
    };
    pipe("f.parquet.partial");
    pipe("f.svg");
    pipe("gains.toml");
    let forced = [
        "run",
        &tight,
        "--no-analysis",
        "--force",
        "--out",
        "f.parquet",
    ];
    assert_eq!(code(&oldham_in(folder.path(), &forced)), 2);
    let plot = oldham_in(folder.path(), &["plot", "r.parquet", "-o", "f.svg"]);
    assert_eq!(code(&plot), 1, "{}", said(&plot));
    let model = fs::read_to_string(example("two-mass-compensated.toml")).unwrap();
    let model = model.replace(
        "[compensator.coupling]",
        "[compensator.coupling]\ngains_from = \"gains.toml\"",
    );
    fs::write(folder.path().join("m.toml"), model).unwrap();
    let check = oldham_in(folder.path(), &["check", "m.toml"]);
    assert_eq!(code(&check), 2, "{}", said(&check));
    fs::remove_file(folder.path().join("gains.toml")).unwrap();
    fs::write(
        folder.path().join("gains.toml"),
        "[coupling.force_side]\n\"x1.v\" = nan\n",
    )
    .unwrap();
    let check = oldham_in(folder.path(), &["check", "m.toml"]);
    assert_eq!(code(&check), 2);
    assert!(
        words(&said(&check)).contains("`x1.v` of `force_side` is NaN"),
        "{}",
        said(&check)
    );
}

#[test]
fn a_run_is_continued_only_where_it_makes_sense() {
    let folder = folder();
    let model = fs::read_to_string(example("two-mass-compensated.toml")).unwrap();
    let model = model.replace(
        "[compensator.coupling]",
        "[compensator.coupling]\ngains_from = \"g.toml\"",
    );
    fs::write(folder.path().join("m.toml"), model).unwrap();
    let gains = |value: &str| {
        let text = format!("[coupling.force_side]\n\"x1.v\" = {value}\n");
        fs::write(folder.path().join("g.toml"), text).unwrap();
    };
    gains("0.001");
    let run = |more: &[&str]| {
        let all = [&["run", "m.toml", "--no-analysis", "--force"], more].concat();
        oldham_in(folder.path(), &all)
    };
    let saved = run(&[
        "--set",
        "simulation.duration=0.2",
        "--checkpoint-every",
        "0.1",
        "--out",
        "c.parquet",
    ]);
    assert_eq!(code(&saved), 0, "{}", said(&saved));
    let resume = |duration: &str| {
        let set = format!("simulation.duration={duration}");
        run(&[
            "--set",
            &set,
            "--resume",
            "c.parquet.checkpoint",
            "--out",
            "d.parquet",
        ])
    };
    assert_eq!(code(&resume("0.3")), 0);
    let beyond = resume("0.1");
    assert_eq!(code(&beyond), 2);
    assert!(
        words(&said(&beyond)).contains("nothing is left to do"),
        "{}",
        said(&beyond)
    );
    gains("0.5");
    let other = resume("0.3");
    assert_eq!(code(&other), 2);
    assert!(
        words(&said(&other)).contains("another model"),
        "{}",
        said(&other)
    );
}

#[test]
fn no_command_writes_over_a_model() {
    let folder = folder();
    let copy = |name: &str, as_name: &str| {
        fs::copy(example(name), folder.path().join(as_name)).unwrap();
        fs::read(folder.path().join(as_name)).unwrap()
    };
    let pair = copy("two-mass-compensated.toml", "pair.toml");
    let crank = copy(CRANK, "crank.toml");
    let other = copy(TIGHT, "other.svg");
    for arguments in [
        &["compensate", "pair.toml", "-o", "pair.toml"][..],
        &["compensate", "pair.toml", "-o", "crank.toml"],
        &["modes", "crank.toml", "--data", "crank.toml"],
        &["statics", "crank.toml", "-o", "other.svg"],
    ] {
        let output = oldham_in(folder.path(), arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        assert!(
            words(&said(&output)).contains("not overwritten"),
            "{}",
            said(&output)
        );
    }
    let now = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(now("pair.toml") == pair && now("crank.toml") == crank && now("other.svg") == other);
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
fn a_window_without_results_is_refused() {
    let folder = folder();
    fs::write(
        folder.path().join("r.csv"),
        "time [s],x [m]\n0,1\n1,2\n2,3\n",
    )
    .unwrap();
    for window in [["--from", "2", "--to", "1"], ["--from", "8", "--to", "9"]] {
        let output = oldham_in(folder.path(), &[&["plot", "r.csv"][..], &window].concat());
        assert_eq!(code(&output), 2);
        assert!(
            words(&said(&output)).contains("from 0 s to 2 s"),
            "{}",
            said(&output)
        );
    }
    assert!(!folder.path().join("r.svg").exists());
}

#[test]
fn very_many_columns_are_neither_drawn_nor_searched_for_ever() {
    let folder = folder();
    let names: Vec<String> = (0..60_000).map(|i| format!("p.x{i}")).collect();
    let zeros = vec!["0"; names.len()].join(",");
    let text = format!("time,{}\n0,{zeros}\n1,{zeros}\n", names.join(","));
    fs::write(folder.path().join("w.csv"), text).unwrap();
    let all = oldham_in(folder.path(), &["plot", "w.csv"]);
    assert_eq!(code(&all), 2);
    assert!(words(&said(&all)).contains("--signals"), "{}", said(&all));
    let one = oldham_in(folder.path(), &["plot", "w.csv", "--signals", "p.x59999"]);
    assert_eq!(code(&one), 0, "{}", said(&one));
}

#[test]
fn a_damaged_stream_is_refused_without_the_text_of_a_panic() {
    use oldham_cosim::{Column, Recorder, Unit};
    let folder = folder();
    let column = Column {
        name: "x".into(),
        unit: Unit::METRE,
    };
    let meta = oldham_results::Metadata::default();
    let path = folder.path().join("a.parquet");
    let mut writer = oldham_results::ResultWriter::create(&path, &[column], &meta, false).unwrap();
    for row in 0..50 {
        writer.record(f64::from(row), &[1.0]).unwrap();
    }
    drop(writer);
    let path = folder.path().join("a.parquet.partial");
    let good = fs::read(&path).unwrap();
    // The header is a message of its own; then comes that of the rows, with lengths and offsets.
    let rows = 8 + u32::from_le_bytes(good[4..8].try_into().unwrap()) as usize;
    for (place, byte) in (rows + 16..rows + 48).flat_map(|place| [(place, 0), (place, 1)]) {
        let mut bytes = good.clone();
        bytes[place] = byte;
        fs::write(&path, bytes).unwrap();
        let output = oldham_in(folder.path(), &["plot", "a.parquet.partial"]);
        assert!(!said(&output).contains("panicked"), "{}", said(&output));
    }
}

#[test]
fn an_existing_result_is_found_before_the_coupling_is_analysed() {
    let folder = folder();
    fs::write(
        folder.path().join("two-mass-force-displacement.parquet"),
        "",
    )
    .unwrap();
    let output = oldham_in(folder.path(), &["run", &example(PAIR)]);
    assert_eq!(code(&output), 2);
    assert!(!said(&output).contains("unstable"), "{}", said(&output));
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
