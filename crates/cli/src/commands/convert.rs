//! `oldham convert`: a model file of a robot or machine in another format.

use std::path::Path;

use oldham_import::{Counts, NoteKind, Options, Report};
use oldham_model::Problems;
use oldham_study::{ModelFile, StudyError};
use serde_json::{Value, json};

use crate::args::Convert;
use crate::failure::Failure;
use crate::fold::fold;
use crate::say;
use crate::{load, picture};

/// Notes of a kind that are printed; all are in the answer for machines.
const LISTED: usize = 12;
/// Problems of the model that are printed.
const PROBLEMS: usize = 3;

pub fn execute(arguments: &Convert) -> Result<(), Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.file, ".toml"));
    if !arguments.force {
        picture::protect(&out, &[&arguments.file])?;
        if out.exists() {
            return Err(StudyError::Exists { path: out }.into());
        }
    }
    if std::fs::canonicalize(&out)
        .is_ok_and(|out| std::fs::canonicalize(&arguments.file).is_ok_and(|file| file == out))
    {
        return Err(Failure::WouldReplace { path: out });
    }
    let options = Options {
        free: arguments.free,
        contacts: arguments.contacts,
        servos: arguments.servos,
        density: arguments.density,
        root: arguments.root.clone(),
        target: out.parent().unwrap_or(Path::new("")).to_owned(),
    };
    let converted = oldham_import::convert(&arguments.file, &options);
    let converted = converted.map_err(|error| Failure::Import {
        path: arguments.file.clone(),
        error,
    })?;
    oldham_scene::write(&out, converted.model.as_bytes())?;
    // The model format itself is the judge.
    let problems = ModelFile::new(&out).read().err();
    let answer = as_json(&converted.report, &out, problems.as_ref());
    if !arguments.json {
        print(&converted.report, &out, problems.as_ref());
    }
    match problems {
        Some(_) => Err(Failure::Unusable {
            path: out,
            answer: Box::new(answer),
        }),
        None => {
            if arguments.json {
                say!("{answer:#}");
            }
            Ok(())
        }
    }
}

fn as_json(report: &Report, out: &Path, problems: Option<&Problems>) -> Value {
    let problems: Vec<&str> = problems
        .iter()
        .flat_map(|problems| problems.iter())
        .map(|problem| problem.message.as_str())
        .collect();
    json!({
        "command": "convert",
        "status": if problems.is_empty() { "finished" } else { "failed" },
        "model": load::shown(out),
        "report": report,
        "problems": problems,
    })
}

fn print(report: &Report, out: &Path, problems: Option<&Problems>) {
    say!("{} ({})", report.name, report.format);
    let counts: Vec<String> = listed(&report.counts)
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| match (count, what.strip_suffix('y')) {
            (1, _) => format!("1 {what}"),
            (_, Some(stem)) => format!("{count} {stem}ies"),
            (_, None) => format!("{count} {what}s"),
        })
        .collect();
    say!("{}", fold(&format!("  {}", counts.join(", ")), 2));
    for kind in [NoteKind::Remark, NoteKind::Assumed, NoteKind::LeftOut] {
        let notes: Vec<_> = report
            .notes
            .iter()
            .filter(|note| note.kind == kind)
            .collect();
        for note in notes.iter().take(LISTED) {
            let line = note
                .line
                .map(|line| format!(" (line {line})"))
                .unwrap_or_default();
            say!(
                "{}",
                fold(&format!("{}: {}{line}", kind.word(), note.text), 2)
            );
        }
        if let Some(more @ 1..) = notes.len().checked_sub(LISTED) {
            say!("{}: {more} more; --json has all", kind.word());
        }
    }
    for problem in problems
        .iter()
        .flat_map(|problems| problems.iter())
        .take(PROBLEMS)
    {
        say!("{}", fold(&format!("problem: {}", problem.message), 2));
    }
    say!("model: {}", out.display());
}

fn listed(counts: &Counts) -> [(usize, &'static str); 11] {
    [
        (counts.nodes, "node"),
        (counts.bodies, "rigid body"),
        (counts.joints, "joint"),
        (counts.fixed_joints, "fixed connection"),
        (counts.transmissions, "transmission"),
        (counts.loops, "loop"),
        (counts.servos, "servo"),
        (counts.inputs, "input"),
        (counts.sensors, "sensor"),
        (counts.shapes, "contact shape"),
        (counts.visuals, "visual"),
    ]
}
