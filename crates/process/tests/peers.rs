//! Programs in Python and C as parts: the motion of a native part, and what happens when they fail.

use std::fmt::Write;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
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

/// A port of this computer that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Over TCP the motion has the bits that it has over a socket of Unix, whoever calls; and one who calls a second time, while
/// the first is served, is turned away and changes nothing.
#[test]
fn tcp_goes_both_ways_and_serves_one() {
    let folder = TempDir::new().unwrap();
    let python = script(folder.path(), "weight.py", PYTHON);
    let (expected, _) = solved(folder.path(), &model(&process(&python, ""), ""));
    let port = free_port();
    let to = format!("tcp:127.0.0.1:{port}");
    let part = process(&python, "").replace("unix:weight.sock", &to);
    let (found, _) = solved(folder.path(), &model(&part, ""));
    assert_eq!(found, expected);
    // Now the program waits to be called, and somebody else comes second.
    let waits = PYTHON.replace(
        "serve(Weight())",
        "import oldham_peer, socket\n\
         place = socket.create_server(('127.0.0.1', PORT))\n\
         oldham_peer.connect = lambda _: place.accept()[0]\n\
         serve(Weight())",
    );
    let port = free_port();
    let waits = waits.replace("PORT", &port.to_string());
    let python = script(folder.path(), "waits.py", &waits);
    let part = process(&python, "listen = false\n")
        .replace("unix:weight.sock", &format!("tcp:127.0.0.1:{port}"));
    let (found, _) = solved(folder.path(), &model(&part, ""));
    assert_eq!(found, expected);
    let port = free_port();
    let part = process(&script(folder.path(), "weight.py", PYTHON), "")
        .replace("unix:weight.sock", &format!("tcp:127.0.0.1:{port}"));
    let read = read(folder.path(), &model(&part, "")).unwrap();
    let mut simulation = read.simulation().unwrap();
    simulation.steps(10).unwrap();
    let second = TcpStream::connect(("127.0.0.1", port));
    let is_turned_away = second.map_or(true, |mut stream| {
        let patience = Some(Duration::from_secs(5));
        stream.set_read_timeout(patience).unwrap();
        matches!(stream.read(&mut [0; 8]), Ok(0) | Err(_))
    });
    assert!(is_turned_away);
    simulation.steps(990).unwrap();
}

/// The convention of other multibody programs: position and orientation vector of a node as it is predicted, six numbers,
/// out; force and moment, six numbers, in; the start included. The other side counts what comes.
#[test]
fn six_channels_of_a_node_go_out_as_raw_doubles() {
    let folder = TempDir::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut blocks: Vec<[f64; 6]> = Vec::new();
        let mut block = [0; 48];
        while stream.read_exact(&mut block).is_ok() {
            let number = |k: usize| f64::from_le_bytes(block[8 * k..8 * k + 8].try_into().unwrap());
            let came: [f64; 6] = std::array::from_fn(number);
            // A spring along z and one about it.
            let answer = [0.0, 0.0, -40.0 * came[2], 0.0, 0.0, -3.0 * came[5]];
            let bytes: Vec<u8> = answer.iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
            stream.write_all(&bytes).unwrap();
            blocks.push(came);
        }
        blocks
    });
    let text = format!(
        r#"
model.name = "A body on foreign springs"
simulation = {{ duration = 1, step = 1e-3 }}
[multibody.body]
gravity = [0, 0, 0]
nodes.a = {{ position = [0, 0, 0.1], velocity = [0, 0, 0.5], angular_velocity = [0, 0, 2] }}
bodies.b = {{ node = "a", mass = 2, inertia = [0.3, 0.3, 0.4] }}
inputs.pull = {{ wrench = "a" }}
outputs.a = {{ motion = "a" }}
[process.springs]
address = "tcp:127.0.0.1:{port}"
listen = false
protocol = "raw"
timeout = 20
send = ["at.position", "at.rotation_vector"]
inputs.at = "motion"
outputs.on = "wrench"
conjugate = [["at", "on"]]
[[connection]]
from = "body.a"
to = "springs.at"
[[connection]]
from = "springs.on"
to = "body.pull"
"#
    );
    let model = read(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = model.simulation().unwrap_or_else(|error| panic!("{error}"));
    simulation.steps(1000).unwrap();
    drop(simulation);
    let blocks = peer.join().unwrap();
    assert_eq!(blocks.len(), 1001);
    // Both swing as springs let them, with an error of first order from the exchange. The first block is asked for before the
    // body has told where it is.
    for (k, block) in blocks.iter().enumerate().skip(1) {
        let t = k as f64 * 1e-3;
        let w = 20.0_f64.sqrt();
        let z = 0.1 * (w * t).cos() + 0.5 / w * (w * t).sin();
        let w = 7.5_f64.sqrt();
        let angle = 2.0 / w * (w * t).sin();
        assert!((block[2] - z).abs() < 5e-3, "{t}: {} {z}", block[2]);
        assert!((block[5] - angle).abs() < 2e-2, "{t}: {} {angle}", block[5]);
    }
}

/// Kills at random times: the run ends soon, with the signal as the first cause, and nothing is left behind. More of them:
/// OLDHAM_KILLS.
#[test]
fn programs_that_are_killed_at_any_time_are_named() {
    let kills = std::env::var("OLDHAM_KILLS").ok();
    let kills = kills.and_then(|kills| kills.parse().ok()).unwrap_or(3);
    let folder = TempDir::new().unwrap();
    let source = C.replace("x = 0; v = 1;", "x = 0; v = 1; note();").replace(
        "void part_start",
        "#include <stdio.h>\n#include <unistd.h>\n\
         static void note(void) {\n    FILE *f = fopen(\"pid.new\", \"w\");\n    fprintf(f, \"%d\", (int)getpid());\n    \
         fclose(f);\n    rename(\"pid.new\", \"pid\");\n}\nvoid part_start",
    );
    std::fs::write(folder.path().join("weight.c"), source).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let status = Command::new(compiler)
        .current_dir(folder.path())
        .args(["-O1", "-o", "weight", "weight.c", "-I"])
        .arg(clients())
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let text = model(&process("[\"./weight\"]", ""), "");
    let pid_file = folder.path().join("pid");
    let mut moment = 0x2545_f491_4f6c_dd1d_u64;
    for kill in 0..kills {
        // A sequence of pauses of up to 200 ms (xorshift).
        moment ^= moment << 13;
        moment ^= moment >> 7;
        moment ^= moment << 17;
        let pause = Duration::from_micros(moment % 200_000);
        let _ = std::fs::remove_file(&pid_file);
        let read = read(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = read.simulation().unwrap();
        let pid = std::fs::read_to_string(&pid_file).unwrap();
        let (tell, told) = mpsc::channel();
        let killer = {
            let pid = pid.clone();
            std::thread::spawn(move || {
                std::thread::sleep(pause);
                tell.send(Instant::now()).unwrap();
                let killed = Command::new("kill").args(["-9", &pid]).status().unwrap();
                assert!(killed.success());
            })
        };
        let outcome = simulation.run(Run::new(1_000_000_000, &mut Discard));
        let ended = Instant::now();
        let message = outcome.end.unwrap_err().to_string();
        killer.join().unwrap();
        let late = ended.saturating_duration_since(told.recv().unwrap());
        assert!(late < Duration::from_secs(3), "{kill}: {late:?}");
        for part in ["weight", "signal 9"] {
            assert!(message.contains(part), "{kill}: no {part} in: {message}");
        }
        drop(simulation);
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "{kill}");
    }
}

/// A program that does not read any more, and a frame that does not fit between the two: the time limit holds there, too;
/// and one that has died meanwhile is told as that.
#[test]
fn a_program_that_stops_reading_is_given_up() {
    let folder = TempDir::new().unwrap();
    let part = |command: &str, wide: usize| {
        let send: String = vec!["\"many\""; wide].join(", ");
        format!(
            "model.name = \"Many numbers\"\nsimulation = {{ duration = 1, step = 1e-3 }}\n\
             [process.weight]\ncommand = {command}\ntimeout = 5\nprotocol = \"raw\"\nsend = [{send}]\n\
             inputs.many = \"motion\"\noutputs.force = \"N\"\n[multibody.body]\n\
             nodes.a = {{ position = [0, 0, 0] }}\nbodies.b = {{ node = \"a\", mass = 2, inertia = [1, 1, 1] }}\n\
             outputs.a = {{ motion = \"a\" }}\n[[connection]]\nfrom = \"body.a\"\nto = \"weight.many\"\n"
        )
    };
    let deaf = "import os, socket, sys, time\n\
                s = socket.socket(socket.AF_UNIX); s.connect(os.environ['OLDHAM_SOCKET'].split(':', 1)[1])\n";
    for (then, words) in [
        ("time.sleep(30)", "did not read within 5 s"),
        (
            "s = (s, os.fork())\nif s[1]: os._exit(7)\ntime.sleep(8)",
            "exit status 7",
        ),
    ] {
        let command = script(folder.path(), "deaf.py", &format!("{deaf}{then}\n"));
        // 5,000 motions of 19 numbers: 760 kB, more than a socket holds.
        let text = part(&command, 5000);
        let started = Instant::now();
        let message = match read(folder.path(), &text) {
            Err(error) => error,
            Ok(model) => match model.simulation() {
                Err(error) => error.to_string(),
                Ok(mut simulation) => simulation.steps(1).unwrap_err().to_string(),
            },
        };
        assert!(message.contains(words), "{message}");
        assert!(started.elapsed() < Duration::from_secs(20));
    }
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
