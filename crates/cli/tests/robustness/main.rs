//! Whatever a file, an argument or the system says: no panic, no hang, no unbounded memory, and a
//! message that names the cause.

#[cfg(target_os = "linux")]
mod amplification;
mod files;
mod limits;
mod signals;
mod terminal;

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
