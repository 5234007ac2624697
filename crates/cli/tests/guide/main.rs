//! The guide tells the truth: every console block of its pages is run, and what the program says is
//! compared with what the page says.
//!
//! Each page is run in its order in a fresh folder with the examples and the guide's own models in it.
//! Times and other figures of the machine are masked, other numbers must agree as printed. A line `...`
//! stands for left-out output; a command without any output has all of it left out, and must succeed.
//! An output of nothing but `...` is filled in when pages are brought up to date. A block with `append=FILE` behind its
//! language is what a reader adds to that file.
//!
//! After a change of what the program says, bring the pages up to date with
//!
//! ```text
//! OLDHAM_UPDATE_GUIDE=1 cargo test -p oldham --test guide
//! ```
//!
//! and look at the difference. `OLDHAM_BIN=target/release/oldham` takes another binary, for times of a
//! release build; `OLDHAM_GUIDE=stability` only pages whose path contains that word.

mod links;
mod listing;
mod matching;
mod page;
mod vocabulary;

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use page::{Page, Session};

/// Commands that are not run, each with the reason. Keep it short: what is not run is not checked.
const NOT_RUN: [(&str, &str); 6] = [
    ("oldham bench", "measures the machine, for minutes"),
    (
        "oldham run examples/three-part-chain.toml --set schedule.kind=jacobi --threads 3",
        THREADS,
    ),
    ("oldham run examples/cut-beam.toml --threads 2", THREADS),
    ("oldham view cut-beam.parquet", SERVES),
    ("oldham view examples/", SERVES),
    ("oldham drive", SERVES),
];

/// Such commands are run by the test that opens a browser.
const SERVES: &str = "serves a browser until it is ended";

/// Threads meet in every step, which takes long where other pages are run beside them.
const THREADS: &str = "needs cores of its own";

/// Files that a page's commands may use.
const FOLDERS: [&str; 2] = ["examples", "docs/src/code"];

#[test]
fn console_outputs_of_the_guide_are_those_of_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let wanted = env::var("OLDHAM_GUIDE").unwrap_or_default();
    let mut paths = vec![root.join("README.md")];
    collect(&root.join("docs/src"), &mut paths);
    paths.retain(|path| path.to_string_lossy().contains(&wanted));
    paths.sort();
    let mut pages: Vec<Page> = paths.iter().map(|path| Page::read(path)).collect();
    pages.retain(|page| !page.sessions.is_empty());
    // Long pages first, so that no thread is left alone with one of them.
    pages.sort_by_key(|page| std::cmp::Reverse(page.sessions.len()));
    let commands: usize = pages.iter().map(|page| page.sessions.len()).sum();
    assert!(
        !wanted.is_empty() || commands > 100,
        "only {commands} commands were found"
    );

    let update = env::var_os("OLDHAM_UPDATE_GUIDE").is_some();
    let queue = Mutex::new(VecDeque::from(pages));
    let complaints = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(2, Into::into);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(mut page) = queue.lock().unwrap().pop_front() else {
                        return;
                    };
                    let found = try_page(&root, &mut page, update);
                    complaints.lock().unwrap().extend(found);
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(
        complaints.is_empty(),
        "{}\n{} of the guide's {commands} commands answer otherwise than printed; if that is right, run\n  \
         OLDHAM_UPDATE_GUIDE=1 cargo test -p oldham --test guide",
        complaints.join("\n"),
        complaints.len(),
    );
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|end| end == "md") {
            paths.push(path);
        }
    }
}

/// Runs a page's commands in a fresh folder; complaints, or with `update` a page that is right.
fn try_page(root: &Path, page: &mut Page, update: bool) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    for folder in FOLDERS {
        copy(&root.join(folder), &scratch.path().join(folder));
    }
    // Where the guide puts completions of the shell.
    fs::create_dir_all(
        scratch
            .path()
            .join(".local/share/bash-completion/completions"),
    )
    .unwrap();
    let mut complaints = Vec::new();
    let mut changed = Vec::new();
    for (index, session) in page.sessions.iter().enumerate() {
        if let Some((_, reason)) = NOT_RUN
            .iter()
            .find(|(start, _)| session.command.starts_with(start))
        {
            println!("not run: {} ({reason})", session.command);
            continue;
        }
        let (output, succeeded, took) = run(scratch.path(), &session.command);
        println!(
            "{:6.2} s  {}: {}",
            took.as_secs_f64(),
            page.name(root),
            session.command
        );
        let right = match session.output.is_empty() {
            true => succeeded,
            false => matching::matches(&session.output, &output),
        };
        if !right && update && !session.output.is_empty() {
            changed.push((index, matching::renewed(&session.output, &output)));
        } else if !right {
            complaints.push(complaint(page, root, session, &output));
        }
    }
    if !changed.is_empty() {
        page.rewrite(&changed);
    }
    complaints
}

fn complaint(page: &Page, root: &Path, session: &Session, output: &[String]) -> String {
    let place = format!("{}:{}", page.name(root), session.line);
    let printed = session.output.join("\n  | ");
    let said = output.join("\n  | ");
    let differs = matching::first_difference(&session.output, output);
    format!(
        "{place}: $ {}\n printed\n  | {printed}\n said\n  | {said}\n {differs}\n",
        session.command
    )
}

/// What a command prints, both streams together, and whether it succeeded.
fn run(folder: &Path, command: &str) -> (Vec<String>, bool, Duration) {
    let binary = env::var_os("OLDHAM_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_oldham")),
        |path| fs::canonicalize(path).expect("OLDHAM_BIN is a file"),
    );
    let binaries = binary.parent().unwrap();
    let path = format!(
        "{}:{}",
        binaries.display(),
        env::var("PATH").unwrap_or_default()
    );
    let started = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env_remove("OLDHAM_UPDATE_GUIDE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(|line| line.trim_end().to_owned());
    (lines.collect(), output.status.success(), started.elapsed())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
