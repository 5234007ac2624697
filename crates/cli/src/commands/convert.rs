//! `oldham convert`: a model file of a robot, machine or system in another format.

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
    if oldham_ssp::is_system(&arguments.file) {
        return system(arguments, &out);
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

/// A system of FMUs: the model file reads them from the package.
fn system(arguments: &Convert, out: &Path) -> Result<(), Failure> {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::canonicalize(folder),
        _ => std::fs::canonicalize("."),
    };
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| Failure::File {
            path: path.clone(),
            reason: error.to_string(),
        }
    };
    let from = folder(out).map_err(unreadable(out))?;
    let to = folder(&arguments.file).map_err(unreadable(&arguments.file))?;
    let converted = oldham_ssp::read(&arguments.file, &way(&from, &to))?;
    oldham_scene::write(out, converted.text.as_bytes())?;
    let problems = ModelFile::new(out).read().err();
    let list: Vec<&str> = problems
        .iter()
        .flat_map(|problems| problems.iter())
        .map(|problem| problem.message.as_str())
        .collect();
    let answer = json!({
        "command": "convert",
        "status": if list.is_empty() { "finished" } else { "failed" },
        "model": load::shown(out),
        "name": converted.name,
        "format": format!("SSP {}", converted.version),
        "fmus": converted.parts,
        "connections": converted.connections,
        "notes": converted.notes,
        "problems": list,
    });
    if !arguments.json {
        say!("{} (SSP {})", converted.name, converted.version);
        let (parts, wires) = (converted.parts, converted.connections);
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        say!(
            "  {parts} FMU{}, {wires} connection{}",
            plural(parts),
            plural(wires)
        );
        for note in converted.notes.iter().take(LISTED) {
            say!("{}", fold(&format!("note: {note}"), 2));
        }
        if let Some(more @ 1..) = converted.notes.len().checked_sub(LISTED) {
            say!("note: {more} more; --json has all");
        }
        for problem in list.iter().take(PROBLEMS) {
            say!("{}", fold(&format!("problem: {problem}"), 2));
        }
        say!("model: {}", out.display());
    }
    match problems {
        Some(_) => Err(Failure::Unusable {
            path: out.to_owned(),
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

/// The way from one folder to another, both from the root on; empty or with a stroke at its end.
fn way(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let both = from.iter().zip(&to);
    let common = both.take_while(|(from, to)| from == to).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = to[common..].iter();
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).map(|part| part + "/").collect()
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
