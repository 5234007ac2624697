//! `oldham modes`: natural vibrations of mechanisms.

use std::path::{Path, PathBuf};

use oldham_model::{About, Model};
use oldham_multibody::{Mode, ModeKind, Modes as FoundModes};
use oldham_scene::{Page, mode_animations, mode_grid, mode_pages};
use oldham_study::{TrimOptions, Vibrations, contact_note, trim, vibrations, vibrations_from};
use serde_json::{Value, json};

use crate::args::{Configuration, Modes};
use crate::commands::{animate, campbell, lumped_modes};
use crate::failure::Failure;
use crate::load::Begun;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{interrupt, load, picture};

/// The configuration that was asked for; nothing for that of a steady motion.
pub fn about(arguments: &Modes) -> Option<About> {
    match arguments.at {
        Configuration::Initial => Some(About::Start),
        Configuration::Static => Some(About::Equilibrium),
        Configuration::Trimmed => None,
    }
}

/// The model in the state that is asked for: one from a file, or the steady motion, which is looked for first.
fn begun(arguments: &Modes) -> Result<Begun, Failure> {
    let mut begun = Begun::with(
        &arguments.model.model,
        &arguments.model.changes.settings(),
        arguments.from.as_deref(),
    )?;
    if about(arguments).is_none() && arguments.over.is_none() {
        let _analysis = interrupt::Analysis::new();
        let _waiting = Waiting::new("looking for the steady motion", arguments.json);
        let start = trim(&begun.file, &begun.model, &TrimOptions::default(), |_| {})?;
        begun.file = start.applied(&begun.file);
        begun.model = begun.file.read()?;
        begun.start = Some(start);
    }
    Ok(begun)
}

pub fn execute(arguments: &Modes) -> Result<(), Failure> {
    let Begun { model, start, .. } = begun(arguments)?;
    let is_lumped = model.mechanisms().next().is_none();
    if is_lumped {
        lumped_modes::refuse_options(arguments, &model)?;
    }
    if let Some(range) = &arguments.over {
        return campbell::execute(arguments, range);
    }
    if is_lumped {
        return lumped_modes::execute(arguments, &model, start.as_ref());
    }
    let beside = |suffix: &str| load::beside(&arguments.model.model, suffix);
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| beside("-modes.svg"));
    let data = arguments
        .data
        .clone()
        .unwrap_or_else(|| beside("-modes.json"));
    for target in [Some(&out), Some(&data), arguments.animate.as_ref()]
        .into_iter()
        .flatten()
    {
        picture::protect(target, &[&arguments.model.model])?;
    }
    let all = match (&start, about(arguments)) {
        (None, Some(about)) => vibrations(&model, about, arguments.count, arguments.near)?,
        (Some(start), _) => vibrations_from(start, &model, arguments.count, arguments.near)?,
        (None, None) => unreachable!("the steady motion was found"),
    };
    let view = arguments.view.into();
    let pages: Vec<Page> = all
        .iter()
        .flat_map(|found| mode_pages(found.mechanism, &found.poses, &found.found, view))
        .collect();
    if pages.is_empty() && arguments.out.is_some() {
        return Err(Failure::NothingToDraw { path: out });
    }
    if !pages.is_empty() {
        oldham_scene::save(&out, &mode_grid(&pages))?;
    }
    let animations = animations(arguments, &all)?;
    let mut shapes = as_json(&model, arguments, &all);
    oldham_scene::write(&data, format!("{shapes:#}\n").as_bytes())?;
    if arguments.json {
        if arguments.animate.is_some() {
            shapes["animations"] = animations
                .iter()
                .map(|animation| load::shown(animation))
                .collect();
        }
        say!("{shapes:#}");
    } else {
        say!("{}: natural vibrations", model.name());
        all.iter().for_each(print);
        for found in &all {
            let unsteady = unsteady_note(&found.found, configuration(arguments));
            let unsteady = unsteady.map(str::to_owned);
            let notes = unsteady.into_iter().chain(contact_note(found.mechanism));
            notes.for_each(|note| say!("! {note}"));
        }
        say!("mode shapes: {}", data.display());
        if !pages.is_empty() {
            say!("picture: {}", out.display());
        }
        if let Some(animation) = animations.first() {
            say!(
                "{} animations, such as {}",
                animations.len(),
                animation.display()
            );
        }
    }
    Ok(())
}

/// Writes an animation of each mode if they are asked for.
fn animations(arguments: &Modes, all: &[Vibrations<'_>]) -> Result<Vec<PathBuf>, Failure> {
    let Some(out) = &arguments.animate else {
        return Ok(Vec::new());
    };
    let mut written = Vec::new();
    let view = arguments.view.into();
    let animations =
        |found: &Vibrations<'_>| mode_animations(found.mechanism, &found.poses, &found.found, view);
    for animation in all.iter().flat_map(animations) {
        let path = numbered(out, written.len() + 1);
        animate::save(&animation, &path, arguments.json)?;
        written.push(path);
    }
    Ok(written)
}

/// The path with a number before the end of its name.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(end) => format!("{stem}-{number}.{}", end.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

/// A state from a file is one that was trimmed.
fn configuration(arguments: &Modes) -> Configuration {
    match arguments.from {
        Some(_) => Configuration::Trimmed,
        None => arguments.at,
    }
}

fn as_json(model: &Model, arguments: &Modes, all: &[Vibrations<'_>]) -> Value {
    let about = match configuration(arguments) {
        Configuration::Initial => "initial",
        Configuration::Static => "static",
        Configuration::Trimmed => "trimmed",
    };
    json!({
        "command": "modes",
        "model": model.name(),
        "status": "finished",
        "about": about,
        "parts": all,
        "notes": all.iter().filter_map(|found| contact_note(found.mechanism)).collect::<Vec<_>>(),
    })
}

/// What a mode does, in a word, where its frequency does not say it.
fn remark(mode: &Mode) -> String {
    match mode.kind {
        ModeKind::Rigid => "rigid-body motion".into(),
        ModeKind::Held => "stays where it is put, held by friction or hysteresis".into(),
        ModeKind::Oscillating => String::new(),
        ModeKind::Decaying => format!("decays at {} 1/s without oscillating", number(-mode.growth)),
        ModeKind::Growing => format!("unstable: grows at {} 1/s", number(mode.growth)),
    }
}

/// In which axes frequencies are counted, where it is not the absolute frame.
pub fn frames_note(found: &FoundModes) -> Option<String> {
    let (spin, _) = found.frames.iter().max_by_key(|(_, nodes)| *nodes)?;
    let others = match found.frames.len() {
        1 => String::new(),
        more => format!(" (and {} others)", more - 1),
    };
    let [x, y, z] = spin
        .0
        .map(|w| number(if w.abs() < 1e-9 * spin.norm() { 0.0 } else { w }));
    let seen = "about steady rotation, as seen in the frame that rotates with";
    Some(format!("{seen} ({x}, {y}, {z}) rad/s{others}"))
}

/// That the modes are not about an equilibrium, where they are not.
pub fn unsteady_note(found: &FoundModes, at: Configuration) -> Option<&'static str> {
    match (found.is_steady || found.modes.is_empty(), at) {
        (true, _) => None,
        (false, _) if found.turns_unsteadily => Some(
            "something that is not round turns here, and not in a steady rotation (weight across its axis, or a \
             torque that nothing balances): these are modes of the motion frozen as it is, without what \
             centrifugal forces do to it in a steady rotation. Without weight (set gravity to zero) or, if a torque \
             alone is not balanced, with `--at trimmed` they are those of the steady rotation; across its weight a rotor \
             only repeats itself, and `oldham trim` with `--period` gives its vibrations as multipliers",
        ),
        (false, Configuration::Initial) => Some(
            "the start is no equilibrium: these are modes of the motion frozen at the start; \
             --at static finds those about static equilibrium",
        ),
        (false, Configuration::Static) => Some("this is no equilibrium: loads change with time"),
        (false, Configuration::Trimmed) => Some(
            "the mechanism alone does not stay in the trimmed state: what other subsystems send counts as it is before the first \
             exchange, and a periodic motion is frozen at an instant; its vibrations are the multipliers that \
             `oldham trim` tells",
        ),
    }
}

fn print(vibrations: &Vibrations<'_>) {
    say!("\n{}", vibrations.mechanism.name());
    if vibrations.found.modes.is_empty() {
        say!("  no degree of freedom: all motions are prescribed");
        return;
    }
    say!("{}", table(&vibrations.found, None));
    if let Some(note) = frames_note(&vibrations.found) {
        say!("  {note}");
    }
}

/// Frequencies and damping; what a mode does where they do not say it, and its shape where that is
/// told in words.
pub fn table(found: &FoundModes, shape: Option<&dyn Fn(&Mode) -> String>) -> Table {
    let mut header = vec!["mode", "frequency / Hz", "damped / Hz", "damping ratio"];
    let has_remarks = found.modes.iter().any(|mode| !remark(mode).is_empty());
    header.extend(has_remarks.then_some(""));
    header.extend(shape.map(|_| "shape"));
    let row = |(index, mode): (usize, &Mode)| {
        let oscillates = mode.omega > 0.0 || matches!(mode.kind, ModeKind::Rigid | ModeKind::Held);
        let digits = |value: f64| match oscillates {
            true => format!("{value:.5}"),
            false => "-".into(),
        };
        let ratio = match mode.kind {
            ModeKind::Rigid | ModeKind::Held => "-".into(),
            _ if !oscillates => "-".into(),
            _ => number(mode.damping()),
        };
        let mut row = vec![
            (index + 1).to_string(),
            digits(mode.frequency()),
            digits(mode.damped_frequency()),
            ratio,
        ];
        row.extend(has_remarks.then(|| remark(mode)));
        row.extend(shape.map(|shape| shape(mode)));
        row
    };
    let rows = found.modes.iter().enumerate().map(row).collect();
    Table::of(header.into_iter().map(Into::into).collect(), rows)
}
