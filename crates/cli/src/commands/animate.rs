//! `oldham animate`: the motion of mechanisms, as a picture that moves or as frames.

use std::path::{Path, PathBuf};

use oldham_model::Model;
use oldham_results::read;
use oldham_scene::{
    Animation, AnimationSettings, History, OVERLAID_FRAMES, animation, save_animation,
};
use oldham_study::{ModelFile, StudyError, mechanisms, solve_in_memory};
use serde_json::json;

use crate::args::Animate;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::say;
use crate::{interrupt, load, picture};

pub fn execute(arguments: &Animate) -> Result<(), Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.source, "-motion.svg"));
    picture::protect(&out, &[&arguments.source])?;
    let is_model = arguments
        .source
        .extension()
        .is_some_and(|end| end == "toml");
    let (model, history) = if is_model {
        let model = load::told(&arguments.source, &arguments.changes.settings())?;
        let history = solve(&model, arguments)?;
        (model, history)
    } else {
        recorded(&arguments.source)?
    };
    let settings = AnimationSettings {
        frames: arguments.frames,
        speed: arguments.speed,
        view: arguments.view.into(),
    };
    let animation = animation(model.name(), &mechanisms(&model)?, &history, &settings)?;
    let pictures = save(&animation, &out, arguments.json)?;
    if arguments.json {
        let answer = json!({
            "command": "animate",
            "model": model.name(),
            "status": "finished",
            "frames": animation.frames.len(),
            "pictures": pictures.iter().map(|path| load::shown(path)).collect::<Vec<_>>(),
        });
        say!("{answer:#}");
    } else {
        let count = animation.frames.len();
        let what = match out.extension().and_then(|end| end.to_str()) {
            Some("png") => format!(
                "one picture, overlay of {} instants",
                count.min(OVERLAID_FRAMES)
            ),
            _ => format!("{count} frames"),
        };
        say!("{} ({what})", out.display());
    }
    Ok(())
}

/// Saves an animation; its frames are counted where there are many.
pub fn save(animation: &Animation, out: &Path, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut bar = None;
    let show = |frame: usize, name: &str| {
        let bar = bar.get_or_insert_with(|| Bar::of_items(animation.frames.len() as u64, quiet));
        bar.item(frame as u64, name);
    };
    Ok(save_animation(animation, out, show)?)
}

/// A result file, and the model that it says it is of.
fn recorded(path: &Path) -> Result<(Model, History), Failure> {
    let table = read(path)?;
    let file = ModelFile::of_result(&table, path).ok_or_else(|| Failure::NoModel {
        path: path.to_owned(),
    })?;
    Ok((file.read()?, History::from(&table)))
}

/// Solves the model, and keeps as much as the animation needs.
fn solve(model: &Model, arguments: &Animate) -> Result<History, Failure> {
    mechanisms(model)?;
    let bar = Bar::new(model.steps(), arguments.json);
    let every = model.steps() / arguments.frames.max(1) as u64;
    let cancel = Some(interrupt::watch());
    let solved = solve_in_memory(model, every, cancel, &mut |progress| bar.show(progress));
    let recorded = solved.map_err(|error| match error {
        StudyError::Run(fault) => Failure::Run {
            answer: Box::new(
                json!({"command": "animate", "status": "failed", "fault": fault.to_string()}),
            ),
            fault,
            results: None,
        },
        other => other.into(),
    })?;
    Ok(History {
        times: recorded.times,
        names: recorded.names,
        columns: recorded.columns,
    })
}
