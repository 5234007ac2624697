//! `oldham modes --over`: frequencies over a parameter, the Campbell diagram.

use oldham_multibody::{ModeKind, Modes as FoundModes};
use oldham_study::{CampbellPart, StudyError, TrimOptions, Variation, campbell, campbell_trimmed};
use serde_json::json;

use crate::args::Modes;
use crate::commands::modes::{about, frames_note, unsteady_note};
use crate::failure::Failure;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{interrupt, load, picture};

pub fn execute(arguments: &Modes, over: &Variation) -> Result<(), Failure> {
    let range = &over
        .axis(&arguments.draw.draw())
        .map_err(StudyError::from)?;
    let file = load::file(&arguments.model);
    let (count, near) = (arguments.count, arguments.near);
    let campbell = match about(arguments) {
        Some(about) => campbell(&file, range, about, count, near)?,
        None => {
            let _analysis = interrupt::Analysis::new();
            let _waiting = Waiting::new("looking for steady motions", arguments.json);
            campbell_trimmed(&file, range, &TrimOptions::default(), count, near)?
        }
    };
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-campbell.svg"));
    for target in [Some(&out), arguments.data.as_ref()].into_iter().flatten() {
        picture::protect(target, &[&arguments.model.model])?;
    }
    if !campbell.has_curves() {
        return Err(Failure::NothingToDraw { path: out });
    }
    campbell.figure().save(&out)?;
    let answer = json!({
        "command": "modes",
        "model": campbell.model,
        "status": "finished",
        "over": campbell.key,
        "parts": campbell.parts,
    });
    if let Some(data) = &arguments.data {
        oldham_scene::write(data, format!("{answer:#}\n").as_bytes())?;
    }
    if arguments.json {
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}: frequencies over {}", campbell.model, range.key);
    for part in &campbell.parts {
        print(part, &range.key);
        let notes = part.found.iter();
        let mut notes = notes.filter_map(|found| unsteady_note(found, arguments.at));
        if let Some(note) = notes.next() {
            say!("! {note}");
        }
    }
    say!("picture: {}", out.display());
    Ok(())
}

fn print(part: &CampbellPart, key: &str) {
    say!("\n{}: frequencies in Hz", part.part);
    let mut header = vec![key.to_owned()];
    header.extend((1..=part.curves.len()).map(|i| i.to_string()));
    let mut rows = Vec::new();
    for (index, &value) in part.values.iter().enumerate() {
        let mut row = vec![number(value)];
        row.extend(part.curves.iter().map(|curve| {
            let frequency = part.frequency(curve, index);
            let is_unstable =
                curve[index].is_some_and(|i| part.found[index].modes[i].kind == ModeKind::Growing);
            let mark = if is_unstable { "!" } else { "" };
            frequency.map_or("-".into(), |f| format!("{f:.4}{mark}"))
        }));
        rows.push(row);
    }
    say!("{}", Table::of(header, rows));
    let growing = |found: &FoundModes| found.modes.iter().any(|m| m.kind == ModeKind::Growing);
    if part.found.iter().any(growing) {
        say!("  ! grows");
    }
    if let Some(note) = part.found.last().and_then(frames_note) {
        say!("  at the last value {note}");
    }
}
