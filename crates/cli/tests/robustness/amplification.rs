//! Small inputs that ask for very much: time and memory stay bounded, and the answer is not the text of a panic.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::{code, example, folder, oldham_in, said, words};

/// Far above what these need, far below what they took before there was a limit.
const SECONDS: u32 = 20;
const KILOBYTES: u32 = 4_000_000;

/// The system ends the program that takes more time of a processor, or gives it no more memory.
fn oldham_within_limits(folder: &Path, arguments: &[&str]) -> Output {
    let line = format!("ulimit -t {SECONDS}; ulimit -v {KILOBYTES}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_oldham")])
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = said(&output);
    assert!(
        output.status.code().is_some(),
        "{arguments:?} is beyond a limit: {text}"
    );
    for panic in ["panicked", "internal error"] {
        assert!(!text.contains(panic), "{arguments:?}: {text}");
    }
    output
}

/// Thirty templates, each of which uses the next one. The outermost receives `value`, and `each` is what a
/// level does with it.
fn nested_templates(parameters: &str, each: &str, last: &str, value: &str) -> String {
    let mut text =
        String::from("model.name = \"b\"\nsimulation = { duration = 0.01, step = 1e-3 }\n");
    for level in 0..30 {
        let body = each.replace("NEXT", &format!("t{}", level + 1));
        text += &format!("[template.t{level}]\n{parameters}\n{body}\n");
    }
    text + &format!("[template.t30{last}\n[use.outermost]\ntemplate = \"t0\"\n{value}\n")
}

#[test]
fn templates_that_double_thirty_times_are_refused() {
    let folder = folder();
    let v = "parameters = [\"v\"]";
    let told = "]\nparameters = [\"v\"]\nmodel.description = \"{v}\"";
    let part = ".lumped.\"{name}\"]\nintegrator = \"exact\"\nmasses.m = { mass = 1 }";
    let twice = "use.a = { template = \"NEXT\" }\nuse.b = { template = \"NEXT\" }";
    let text = "use.a = { template = \"NEXT\", v = \"{v}{v}\" }";
    let list = "use.a = { template = \"NEXT\", v = [\"{v}\", \"{v}\"] }";
    let value = "v = \"laughs\"";
    for (kind, model, limit) in [
        (
            "tree",
            nested_templates("", twice, part, ""),
            "1000000 things",
        ),
        (
            "text",
            nested_templates(v, text, told, value),
            "64 MiB of text",
        ),
        (
            "list",
            nested_templates(v, list, told, value),
            "1000000 things",
        ),
    ] {
        assert!(model.len() < 4000, "{kind}: a small file");
        let name = format!("{kind}.toml");
        fs::write(folder.path().join(&name), model).unwrap();
        for verb in ["check", "run"] {
            let output = oldham_within_limits(folder.path(), &[verb, &name]);
            let text = words(&said(&output));
            assert_eq!(code(&output), 2, "{kind}: {text}");
            let limit = format!("templates and repetitions make more than {limit}");
            assert!(text.contains(&limit), "{kind}: {text}");
            assert!(text.contains(&name), "{kind}: {text}");
            assert!(said(&output).len() < 2000, "{kind}: a short message");
        }
    }
}

/// Particles of a nanometre in a can of millimetres: a search among cells of their size would never end.
#[test]
fn tiny_particles_in_a_large_can_are_placed_and_moved() {
    let folder = folder();
    let damper = example("particle-damper.toml");
    let tiny = ["--set", "multibody.damper.particles.lead.radius=1e-9"];
    let check = [&["check", &damper][..], &tiny].concat();
    let output = oldham_within_limits(folder.path(), &check);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let short = ["--no-analysis", "--out", "tiny.parquet", "--set"];
    let run = [
        &["run", &damper][..],
        &tiny,
        &short,
        &["simulation.duration=1e-3"],
    ]
    .concat();
    let output = oldham_within_limits(folder.path(), &run);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let table = oldham_results::read(&folder.path().join("tiny.parquet")).unwrap();
    assert!(table.complete() && table.rows() > 1, "{}", table.rows());
    for column in 0..table.names().count() {
        assert!(table.at(column).iter().all(|x| x.is_finite()));
    }
}

/// Beams with a damping of 1e9 s, whose fastest modes decay by as much in no time: there is a verdict or the reason why
/// there is none, and the search for one ends.
#[test]
fn the_analysis_of_absurdly_damped_beams_ends() {
    let folder = folder();
    let pendulum = fs::read_to_string(example("cut-double-pendulum.toml")).unwrap();
    let place = pendulum.find("\ndamping = ").expect("beams with damping") + 1;
    let line = place + pendulum[place..].find('\n').unwrap();
    let damped = format!("{}damping = 1e9{}", &pendulum[..place], &pendulum[line..]);
    let pivot = damped.replacen("axis = [0, 1, 0]", "axis = [0, 1e-3, 0]", 1);
    assert_ne!(pivot, damped);
    fs::write(folder.path().join("damped.toml"), pivot).unwrap();
    let output = oldham_in(folder.path(), &["check", "damped.toml", "--seconds", "5"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = words(&String::from_utf8_lossy(&output.stdout));
    let answers = [
        "spectral radius",
        "stable is not decided, because",
        "stability not analysed",
    ];
    assert!(answers.iter().any(|answer| text.contains(answer)), "{text}");
}

/// Steps and lengths with which the matrices of a mechanism change their layout within the analysis.
#[test]
fn mechanisms_far_from_anything_sensible_are_analysed_without_a_panic() {
    let folder = folder();
    let winch = example("winch.toml");
    let arm = example("two-cylinder-arm.toml");
    let far = "multibody.arm.bodies.tip.centre=[0,0,1000]";
    for (model, change) in [
        (&winch, "simulation.step=1"),
        (&winch, "simulation.step=0.5"),
        (&arm, far),
    ] {
        let check = ["check", model, "--seconds", "3", "--set", change];
        let output = oldham_in(folder.path(), &check);
        assert_eq!(code(&output), 0, "{change}: {}", said(&output));
        let text = words(&String::from_utf8_lossy(&output.stdout)) + &said(&output);
        assert!(text.contains("stab"), "{change}: {text}");
        for panic in ["panicked", "internal error"] {
            assert!(!text.contains(panic), "{change}: {text}");
        }
    }
}

/// What is wrong with a model is listed with its places, however it is wrong.
#[test]
fn names_and_coefficients_that_used_to_panic_are_problems_with_a_place() {
    let folder = folder();
    let head = "[model]\nname = \"p\"\n[simulation]\nduration = 0.01\nstep = 1e-3\n";
    let twice = "[lumped.a]\nintegrator = \"exact\"\nmasses.m = { mass = 1 }\n[control.a]\nsample = \"1 ms\"\n\
                 [schedule]\norder = [\"a\"]\n";
    let overflow = "[control.c]\nsample = \"1 ms\"\ninputs = { u = \"m\" }\n[control.c.blocks]\nvalve = { kind = \
                    \"transfer-function\", input = \"u\", numerator = [1], denominator = [0.008, 1e308] }\n\
                    [control.c.outputs]\ny = { value = \"valve\", unit = \"N\" }\n[excitation]\n\"c.u\" = 1\n";
    for (body, says) in [
        (twice, ["two subsystems called `a`", "p.toml:9:10"]),
        (
            overflow,
            ["a coefficient of `valve` must be finite", "p.toml:10:1"],
        ),
    ] {
        fs::write(folder.path().join("p.toml"), head.to_owned() + body).unwrap();
        let output = oldham_within_limits(folder.path(), &["run", "p.toml"]);
        let text = words(&said(&output));
        assert_eq!(code(&output), 2, "{text}");
        for part in says {
            assert!(text.contains(part), "no `{part}`: {text}");
        }
    }
}

/// A link is what it leads to: a device without end is not read.
#[test]
fn links_to_endless_devices_are_refused() {
    let folder = folder();
    for name in ["z.csv", "z.toml", "z.parquet"] {
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(name)).unwrap();
    }
    let crank = example(crate::CRANK);
    for arguments in [
        &["plot", "z.csv", "-o", "z.svg"][..],
        &["plot", "z.parquet"],
        &["check", "z.toml"],
        &[
            "run",
            &crank,
            "--no-analysis",
            "--vary",
            "r=@z.csv:x",
            "--out",
            "s",
        ],
    ] {
        let output = oldham_within_limits(folder.path(), arguments);
        let text = words(&said(&output));
        assert_eq!(code(&output), 2, "{arguments:?}: {text}");
        assert!(text.contains("a pipe, a socket or a device"), "{text}");
    }
}
