//! Files that are full, damaged, links, pipes, oddly named, or there already.

use std::fs;
use std::process::Command;

use crate::{CRANK, PAIR, TIGHT, code, command, example, folder, json, oldham_in, said, words};

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
    ];
    // One that fails as it goes on, and one that is over before anything is written.
    let [(filled, rows), (over, rows_of_over)] = [300, 100].map(|duration| {
        let duration = format!("simulation.duration={duration}");
        let output = oldham_in(folder.path(), &[&run[..], &[&duration]].concat());
        let rows = oldham_results::read(&disk.join("a.parquet.partial")).map(|table| table.rows());
        fs::remove_file(disk.join("a.parquet.partial")).unwrap();
        (output, rows)
    });
    let run = [&run[..], &["simulation.duration=100"]].concat();
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
    let text = words(&said(&over));
    assert_eq!(code(&over), 1, "{text}");
    assert!(
        text.contains("No space left") && text.contains("what was written before stays readable"),
        "{text}"
    );
    assert!(rows_of_over.unwrap() > 100);
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

/// What a command reads is never what it writes: models, tables of a road, values of a sweep, results.
#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = folder();
    let copy = |name: &str| {
        fs::copy(example(name), folder.path().join(name)).unwrap();
    };
    ["skyhook.toml", "road.csv", CRANK]
        .into_iter()
        .for_each(copy);
    fs::write(folder.path().join("v.csv"), "r\n0.1\n0.2\n").unwrap();
    let run = ["run", CRANK, "--no-analysis", "--out", "r.csv"];
    assert_eq!(code(&oldham_in(folder.path(), &run)), 0);
    let names = ["skyhook.toml", "road.csv", CRANK, "v.csv", "r.csv"];
    let now = || names.map(|name| fs::read(folder.path().join(name)).unwrap());
    let before = now();
    for arguments in [
        &["run", "skyhook.toml", "--force", "--out", "road.csv"][..],
        &["run", "skyhook.toml", "--force", "--out", "skyhook.toml"],
        &[
            "run",
            CRANK,
            "--force",
            "--vary",
            "r=@v.csv:r",
            "--out",
            "v.csv",
        ],
        &["plot", "r.csv", "-o", "r.csv"],
        &["animate", CRANK, "-o", CRANK],
        &["trim", CRANK, "-o", CRANK],
        &["linearise", CRANK, "-o", CRANK],
    ] {
        let output = oldham_in(folder.path(), arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        assert!(now() == before, "{arguments:?}");
    }
}

/// Reading a pipe without a writer, or a device, would never end.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_wherever_a_file_is_read() {
    let folder = folder();
    let here = |name: &str| folder.path().join(name);
    for name in ["p.toml", "p.csv", "p.parquet", "p.checkpoint", "p.json"] {
        let made = Command::new("mkfifo").arg(here(name)).status();
        assert!(made.unwrap().success());
    }
    fs::write(here("includes.toml"), "include = [\"p.toml\"]\n").unwrap();
    let road = fs::read_to_string(example("skyhook.toml")).unwrap();
    fs::write(here("road.toml"), road.replace("road.csv", "p.csv")).unwrap();
    let tight = example(TIGHT);
    for arguments in [
        &["run", "p.toml"][..],
        &["check", "/dev/zero"],
        &["check", "includes.toml"],
        &["check", "road.toml"],
        &["plot", "p.parquet"],
        &["plot", "p.csv"],
        &["view", "p.parquet"],
        &["animate", "p.parquet"],
        &[
            "run",
            &tight,
            "--resume",
            "p.checkpoint",
            "--out",
            "a.parquet",
        ],
        &["run", &tight, "--from", "p.json", "--out", "a.parquet"],
        &["run", &tight, "--vary", "m1=@p.csv:x", "--out", "a"],
        &["run", &tight, "--vary", "m1=@/dev/zero:x", "--out", "a"],
    ] {
        let output = oldham_in(folder.path(), arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        let said = words(&said(&output));
        assert!(
            said.contains("a pipe, a socket or a device"),
            "{arguments:?}: {said}"
        );
    }
}
