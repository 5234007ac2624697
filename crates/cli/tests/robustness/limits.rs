//! Numbers, lengths and counts beyond anything sensible.

use std::fs;

use crate::{
    PAIR, TIGHT, code, command, example, folder, json, oldham, oldham_in, quarter_car, refuses,
    said, words,
};

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
            &["from 1 to 20"],
        ),
        (
            &[
                "check",
                &car,
                "--set",
                "lumped.wheel.micro_steps=4294967295",
            ],
            &["from 1 to 100000", "simulation.step"],
        ),
        (
            &["check", &car, "--set", "lumped.chassis.micro_step=1e-12"],
            &["between 1 and 100000"],
        ),
        (
            &["check", &pair, "--set", "lumped.left.every=1000000"],
            &["from 1 to 10000"],
        ),
        (
            &[
                "check",
                &tight,
                "--set",
                "schedule.implicit.max_iterations=4294967295",
            ],
            &["from 1 to 100000"],
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

/// A stack that no system can give: no thread can be started.
#[test]
fn threads_that_cannot_be_started_are_done_without_or_named() {
    let folder = folder();
    let without_threads = |arguments: &[&str]| {
        let mut command = command(folder.path(), arguments);
        command.env("RUST_MIN_STACK", (1_u64 << 46).to_string());
        let output = command.output().unwrap();
        assert!(
            !said(&output).contains("internal error"),
            "{}",
            said(&output)
        );
        output
    };
    let beam = example("cut-beam-three.toml");
    let short = ["--set", "simulation.duration=0.01", "--no-analysis"];
    let output = without_threads(&[&["run", &beam, "--threads", "3"], &short[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("3 threads could not be started"));
    let alone = ["run", &beam, "--threads", "1", "--out", "alone.parquet"];
    let map = ["stability", &example("interface-mass.toml"), "--json"];
    let map = [
        &map[..],
        &["--over", "m2=0.1:10:3", "--over", "m3=0.1:10:3"],
    ]
    .concat();
    for arguments in [[&alone, &short[..]].concat(), map] {
        let output = without_threads(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

/// A limit of the system on the size of files is the error of the write that reached it: told with its cause, and what was
/// written before stays readable.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_a_cause() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_oldham");
    let pair = example(PAIR);
    let line = format!(
        "ulimit -f 4000; exec '{program}' run '{pair}' --no-analysis --out a.parquet \
         --set schedule.output_update=true --set simulation.duration=1000"
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = words(&said(&output));
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("File too large"), "{text}");
    assert!(text.contains("a.parquet"), "{text}");
    let table = oldham_results::read(&folder.path().join("a.parquet.partial")).unwrap();
    assert!(table.rows() > 100, "{}", table.rows());
}

/// A part of a crane a thousand kilometres away: what it would fall to is not looked for without end.
#[test]
fn statics_of_an_absurd_model_end() {
    let folder = folder();
    let crane = fs::read_to_string(example("log-crane.toml")).unwrap();
    let absurd = crane.replace("\"yG + 0.15\"", "\"yG + 1e6\"");
    assert_ne!(absurd, crane);
    fs::write(folder.path().join("absurd.toml"), absurd).unwrap();
    let output = oldham_in(folder.path(), &["check", "absurd.toml"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(
        words(&said(&output)).contains("static"),
        "{}",
        said(&output)
    );
}
