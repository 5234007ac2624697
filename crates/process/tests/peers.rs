//! Programs in Python and C as parts: the motion of a native part, and what happens when they fail.

use std::fmt::Write;
use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use oldham_cosim::{Discard, InMemory, Run};
use oldham_model::{Extensions, Model, Overrides};
use tempfile::TempDir;

fn read(folder: &Path, text: &str) -> Result<Model, String> {
    let mut kinds = Extensions::new();
    oldham_process::register(&mut kinds);
    let path = folder.join("model.toml");
    std::fs::write(&path, text).unwrap();
    Model::read_with(&path, &Overrides::none(), &kinds).map_err(|problems| problems.to_string())
}

fn clients() -> String {
    format!("{}/../../clients", env!("CARGO_MANIFEST_DIR"))
}

/// A mass on a spring to a point that moves, semi-implicit Euler, with what the point feels.
const PYTHON: &str = r#"
import sys
sys.path.insert(0, CLIENTS)
from oldham_peer import serve

class Weight:
    k, c, m = 2e3, 20.0, 10.0
    def __init__(self): self.x, self.v = 0.0, 1.0
    def force(self, inputs): return self.k * (self.x - inputs[0]) + self.c * (self.v - inputs[1])
    def start(self, t, inputs):
        self.__init__()
        return [self.force(inputs)]
    def step(self, t, end, before, after):
        self.v += (end - t) * -self.force(before) / self.m
        self.x += (end - t) * self.v
        return [self.force(after)]
    def outputs(self, t, inputs): return [self.force(inputs)]
    def save(self): return self.x, self.v
    def restore(self, saved): self.x, self.v = saved

serve(Weight())
"#;

const C: &str = r#"
#include "oldham_peer.h"
static double x = 0, v = 1;
static double force(const double *in) { return 2e3 * (x - in[0]) + 20 * (v - in[1]); }
void part_start(double t, const double *in, double *out) { x = 0; v = 1; out[0] = force(in); }
void part_step(double t, double end, const double *before, const double *after, double *out) {
    v += (end - t) * -force(before) / 10;
    x += (end - t) * v;
    out[0] = force(after);
}
int main(void) { return oldham_serve(1); }
"#;

const NATIVE: &str = r#"
[lumped.weight]
integrator = "semi-implicit-euler"
masses.weight = { mass = 10, velocity = 1 }
springs.link = { between = ["weight", "point"], stiffness = 2e3, damping = 20 }
inputs.hub = { motion = "point" }
outputs.force = { force = "point" }
"#;

/// A table on springs that carries a weight.
fn model(part: &str, schedule: &str) -> String {
    let mut text = String::from(
        "model.name = \"A weight\"\nsimulation = { duration = 1, step = 1e-3 }\n\
         [lumped.table]\nintegrator = \"rk4\"\nmasses.x = { mass = 50 }\n\
         springs.s = { between = [\"ground\", \"x\"], stiffness = 8e3, damping = 60 }\n\
         inputs.force = { force = \"x\" }\noutputs.x = { motion = \"x\" }\n",
    );
    let _ = write!(
        text,
        "{part}\n[[connection]]\nfrom = \"table.x\"\nto = \"weight.hub\"\n\
         [[connection]]\nfrom = \"weight.force\"\nto = \"table.force\"\n[schedule]\npredictor = \"zero-order\"\n{schedule}"
    );
    text
}

fn process(command: &str, more: &str) -> String {
    format!(
        "[process.weight]\naddress = \"unix:weight.sock\"\ncommand = {command}\ntimeout = 20\n\
         inputs.hub = \"translation\"\noutputs.force = \"N\"\nconjugate = [[\"hub\", \"force\"]]\n{more}"
    )
}

fn script(folder: &Path, name: &str, text: &str) -> String {
    let text = text.replace("CLIENTS", &format!("{:?}", clients()));
    std::fs::write(folder.join(name), text).unwrap();
    format!("[\"python3\", \"{name}\"]")
}

/// What is recorded of the table, and the energy that the exchange has created.
fn solved(folder: &Path, text: &str) -> (Vec<f64>, Vec<f64>) {
    let model = read(folder, text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = model.simulation().unwrap_or_else(|error| panic!("{error}"));
    let mut columns = simulation.columns().iter();
    let place = columns
        .position(|column| column.name == "table.x.x")
        .unwrap();
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        record_every: 1,
        ..Run::new(1000, &mut rows)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
    (rows.column(place), simulation.created())
}

#[test]
fn programs_move_as_the_native_part_does() {
    let folder = TempDir::new().unwrap();
    let python = script(folder.path(), "weight.py", PYTHON);
    std::fs::write(folder.path().join("weight.c"), C).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .current_dir(folder.path())
        .args(["-O1", "-ffp-contract=off", "-o", "weight", "weight.c", "-I"])
        .arg(clients())
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let shared = C.replace("oldham_peer.h", "oldham_shared.h");
    std::fs::write(folder.path().join("shared.c"), shared).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .current_dir(folder.path())
        .args(["-O1", "-ffp-contract=off", "-o", "shared", "shared.c", "-I"])
        .arg(clients())
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let (native, created) = solved(folder.path(), &model(NATIVE, ""));
    assert_eq!(created.len(), 1);
    let over = process("[\"./shared\"]", "").replace("unix:weight.sock", "shm");
    for (part, tells_starts) in [
        (process(&python, "feedthrough = true\n"), true),
        (process("[\"./weight\"]", ""), false),
        (over, false),
    ] {
        let (found, also) = solved(folder.path(), &model(&part, ""));
        let size = native.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(size > 1e-3);
        for (k, (a, b)) in native.iter().zip(&found).enumerate() {
            assert!((a - b).abs() <= 1e-12 * size, "row {k}: {a} {b}");
        }
        // Without feedthrough the force at the start of a step is that of the end of the last one.
        let is_same = (created[0] - also[0]).abs() <= 1e-9 * created[0].abs();
        assert_eq!(is_same, tells_starts, "{created:?} {also:?}");
    }
}

/// What ends in the middle of a run over shared memory is named, and soon.
#[test]
fn a_program_that_shares_memory_is_looked_after() {
    let folder = TempDir::new().unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    for (fault, words) in [
        ("abort();", "ended by signal 6"),
        ("exit(3);", "exit status 3"),
        (
            "for (volatile int on = 1; on;);",
            "did not answer within 0.5 s",
        ),
    ] {
        let source = C.replace("oldham_peer.h", "oldham_shared.h");
        let source = source.replace(
            "x += (end",
            &format!("if (t > 0.1) {{ {fault} }}\n    x += (end"),
        );
        std::fs::write(folder.path().join("shared.c"), source).unwrap();
        let status = Command::new(&compiler)
            .current_dir(folder.path())
            .args(["-O1", "-o", "shared", "shared.c", "-I"])
            .arg(clients())
            .status()
            .unwrap();
        assert!(status.success());
        let part = process("[\"./shared\"]", "").replace("unix:weight.sock", "shm");
        let part = part.replace("timeout = 20", "timeout = 0.5");
        let read = read(folder.path(), &model(&part, "")).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = read.simulation().unwrap();
        let started = Instant::now();
        let outcome = simulation.run(Run::new(1000, &mut Discard));
        let message = outcome.end.unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    // Without a program to start, or with raw doubles, there is nothing to share.
    for (old, new, words) in [
        ("command = [\"./shared\"]", "", "needs a `command`"),
        (
            "timeout = 20",
            "protocol = \"raw\"",
            "conflicts with raw doubles",
        ),
    ] {
        let part = process("[\"./shared\"]", "").replace("unix:weight.sock", "shm");
        let message = read(folder.path(), &model(&part.replace(old, new), "")).unwrap_err();
        assert!(
            message.contains(words) && message.contains("model.toml:"),
            "{message}"
        );
    }
}

/// The problem of Fontana 2026, Fig. 7, with beams at its sides: the coupling subsystem is a script of the examples, and
/// a native one with the same integrator.
#[test]
fn a_coupling_subsystem_in_a_script_moves_as_the_native_one() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/process");
    let text = std::fs::read_to_string(examples.join("mixed-beam.toml")).unwrap();
    let start = text.find("[process.joint]").unwrap();
    let length = text[start..].find("\n\n").unwrap();
    let native = "[lumped.joint]\nintegrator = \"rk4\"\ninputs_within_step = \"interpolated\"\nmasses.x = { mass = \"m\" }\n\
                  inputs.left = { force = \"x\" }\ninputs.right = { force = \"x\" }\ninputs.weight = { force = \"x\" }\n\
                  outputs.x = { motion = \"x\" }";
    let mut whole = text.clone();
    whole.replace_range(start..start + length, native);
    let folder = TempDir::new().unwrap();
    for name in ["mixed-beam.py", "../../clients/oldham_peer.py"] {
        let name = Path::new(name);
        std::fs::copy(
            examples.join(name),
            folder.path().join(name.file_name().unwrap()),
        )
        .unwrap();
    }
    let found = [&text, &whole].map(|text| {
        let model = read(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = model.simulation().unwrap_or_else(|error| panic!("{error}"));
        let columns: Vec<String> = simulation
            .columns()
            .iter()
            .map(|c| c.name.clone())
            .collect();
        let mut rows = InMemory::default();
        let outcome = simulation.run(Run {
            record_every: 1,
            ..Run::new(400, &mut rows)
        });
        assert!(outcome.end.is_ok(), "{:?}", outcome.end);
        ["joint.x.x", "left.quarter.x", "right.quarter.x"].map(|name| {
            let place = columns.iter().position(|column| column == name);
            rows.column(place.unwrap_or_else(|| panic!("no {name} in {columns:?}")))
        })
    });
    for (script, native) in found[0].iter().zip(&found[1]) {
        let size = native.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(size > 1e-3);
        for (k, (a, b)) in script.iter().zip(native).enumerate() {
            assert!((a - b).abs() <= 1e-12 * size, "row {k}: {a} {b}");
        }
    }
}

/// It can go back, and so be coupled tightly; but there is nothing to write to disk.
#[test]
fn a_program_that_keeps_its_states_is_coupled_implicitly() {
    let folder = TempDir::new().unwrap();
    let python = script(folder.path(), "weight.py", PYTHON);
    let tight = "coupling = \"implicit\"\n";
    let (native, _) = solved(folder.path(), &model(NATIVE, tight));
    let part =
        process(&python, "feedthrough = true\n").replace("address = \"unix:weight.sock\"\n", "");
    let (found, _) = solved(folder.path(), &model(&part, tight));
    let size = native.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (a, b) in native.iter().zip(&found) {
        assert!((a - b).abs() <= 1e-9 * size, "{a} {b}");
    }
    let model = read(folder.path(), &model(&part, "")).unwrap();
    let error = model.simulation().unwrap().checkpoint("").unwrap_err();
    assert!(
        error.to_string().contains("`weight` can go back"),
        "{error}"
    );
}

/// Raw doubles: what goes out and comes back is counted by the other side, the start included.
#[test]
fn raw_doubles_are_exchanged_at_the_start_and_in_every_step() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("weight.sock");
    let peer = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(20);
        let mut stream = loop {
            match UnixStream::connect(&path) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (mut x, mut v, mut exchanges) = (0.0, 1.0, 0_u32);
        let mut block = [0; 16];
        while stream.read_exact(&mut block).is_ok() {
            let number = |k: usize| f64::from_le_bytes(block[8 * k..8 * k + 8].try_into().unwrap());
            // The table's velocity, then its displacement, as the model sends them.
            let (rate, at) = (number(0), number(1));
            if exchanges > 0 {
                v -= 1e-3 * (2e3 * (x - at) + 20.0 * (v - rate)) / 10.0;
                x += 1e-3 * v;
            }
            exchanges += 1;
            let force: f64 = 2e3 * (x - at) + 20.0 * (v - rate);
            stream.write_all(&force.to_le_bytes()).unwrap();
        }
        exchanges
    });
    let part = "[process.weight]\naddress = \"unix:weight.sock\"\nprotocol = \"raw\"\ntimeout = 20\n\
                send = [\"hub.v\", \"hub.x\"]\ninputs.hub = \"translation\"\noutputs.force = \"N\"\n";
    let (found, _) = solved(folder.path(), &model(part, ""));
    assert!(found.iter().any(|x| x.abs() > 1e-3));
    assert_eq!(peer.join().unwrap(), 1001);
}

/// What a model with this script fails with.
fn fails(text: &str, more: &str) -> String {
    let folder = TempDir::new().unwrap();
    let command = script(folder.path(), "weight.py", text);
    let part = process(&command, more).replace("timeout = 20", "timeout = 8");
    let started = Instant::now();
    // A program that cannot be met is told where the model names it.
    let model = match read(folder.path(), &model(&part, "")) {
        Ok(model) => model,
        Err(error) => return error,
    };
    let error = match model.simulation() {
        Err(error) => error.to_string(),
        Ok(mut simulation) => {
            let outcome = simulation.run(Run::new(1000, &mut Discard));
            outcome.end.unwrap_err().to_string()
        }
    };
    assert!(started.elapsed() < Duration::from_secs(40));
    error
}

#[test]
fn peers_that_fail_are_named_with_the_first_cause() {
    let step = "    def step(self, t, end, before, after):\n";
    let with = |line: &str| {
        let text = PYTHON.replace(step, &format!("{step}        if t > 0.1: {line}\n"));
        assert_ne!(text, PYTHON);
        text
    };
    let cases: [(&str, &[&str]); 7] = [
        (
            "raise ValueError('no such weight')",
            &["it reports: ValueError: no such weight", "0.10"],
        ),
        (
            "print('bye', flush=True); import os; os._exit(3)",
            &["exit status 3", "said last: bye"],
        ),
        (
            "import os; os.kill(os.getpid(), 11)",
            &["signal 11 (segmentation fault)"],
        ),
        (
            "import time; time.sleep(100)",
            &["did not answer within 8 s"],
        ),
        (
            "return [1.0, 2.0]",
            &["1 outputs are expected of it", "16 bytes"],
        ),
        ("return [float('nan')]", &["NaN", "force"]),
        (
            "import socket; [o.send(b'garbage!garbage!') for o in __import__('gc').get_objects() if isinstance(o, socket.socket)]",
            &["none of the protocol"],
        ),
    ];
    for (line, parts) in cases {
        let error = fails(&with(line), "");
        for part in parts.iter().chain(&["weight"]) {
            assert!(error.contains(part), "{line}: no {part} in: {error}");
        }
    }
    let error = fails("import sys; sys.exit('cannot begin')", "");
    assert!(
        error.contains("exit status 1") && error.contains("cannot begin"),
        "{error}"
    );
    let error = fails("import time; time.sleep(100)", "");
    assert!(
        error.contains("was not met") && error.contains("within 8 s"),
        "{error}"
    );
}

#[test]
fn wrong_sections_are_told_where_they_are() {
    let folder = TempDir::new().unwrap();
    let right = process("[\"true\"]", "");
    let problem = |from: &str, to: &str| {
        let changed = right.replace(from, to);
        assert_ne!(changed, right);
        read(folder.path(), &model(&changed, "")).unwrap_err()
    };
    let wrong = problem("unix:weight.sock", "weight.sock");
    assert!(wrong.contains("not the address of a socket"), "{wrong}");
    let wrong = problem("[\"true\"]", "[]");
    assert!(wrong.contains("needs a program"), "{wrong}");
    let wrong = problem("[\"hub\", \"force\"]", "[\"hub\", \"farce\"]");
    assert!(
        wrong.contains("no input `hub` with an output `farce`"),
        "{wrong}"
    );
    let wrong = problem("timeout = 20", "protocol = \"raw\"\nsend = [\"hub.y\"]");
    assert!(wrong.contains("`hub` has no part `y`"), "{wrong}");
}
