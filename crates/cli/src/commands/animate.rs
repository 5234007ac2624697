//! `oldham animate`: the motion of mechanisms, as a picture that moves or as frames.

use std::path::{Path, PathBuf};

use oldham_cosim::{Column, End, InMemory, Run};
use oldham_model::{Model, Overrides};
use oldham_results::read;
use oldham_scene::{EXPOSURES, Film, Filming, History, film, save_film};
use serde_json::json;

use crate::args::Animate;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::say;
use crate::{interrupt, load, mechanisms, picture};

pub fn execute(arguments: &Animate) -> Result<(), Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.source, "-motion.svg"));
    picture::protect(&out, &[&arguments.source])?;
    let is_model = arguments
        .source
        .extension()
        .is_some_and(|end| end == "toml");
    let (model, history) = if is_model {
        let model = load::told(&arguments.source, &arguments.set)?;
        let history = solve(&model, arguments)?;
        (model, history)
    } else {
        recorded(&arguments.source)?
    };
    let filming = Filming {
        frames: arguments.frames,
        speed: arguments.speed,
        view: arguments.view.into(),
    };
    let film = film(model.name(), &mechanisms::of(&model)?, &history, &filming)?;
    let pictures = save(&film, &out, arguments.json)?;
    if arguments.json {
        let answer = json!({
            "command": "animate",
            "model": model.name(),
            "status": "finished",
            "frames": film.frames.len(),
            "pictures": pictures.iter().map(|path| load::shown(path)).collect::<Vec<_>>(),
        });
        say!("{answer:#}");
    } else {
        let count = film.frames.len();
        let what = match out.extension().and_then(|end| end.to_str()) {
            Some("png") => format!("one picture, overlay of {} instants", count.min(EXPOSURES)),
            _ => format!("{count} frames"),
        };
        say!("{} ({what})", out.display());
    }
    Ok(())
}

/// Saves a film; its frames are counted where there are many.
pub fn save(film: &Film, out: &Path, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut bar = None;
    let show = |frame: usize, name: &str| {
        let bar = bar.get_or_insert_with(|| Bar::of_items(film.frames.len() as u64, quiet));
        bar.item(frame as u64, name);
    };
    Ok(save_film(film, out, show)?)
}

/// A result file, and the model that it says it is of.
fn recorded(path: &Path) -> Result<(Model, History), Failure> {
    let table = read(path)?;
    let metadata = table.metadata();
    if metadata.model.is_empty() {
        return Err(Failure::NoModel {
            path: path.to_owned(),
        });
    }
    let set = metadata.entries.iter().filter_map(|(key, value)| {
        let key = key.strip_prefix("set.")?;
        Some((key.to_owned(), value.clone()))
    });
    let name = path.display().to_string();
    let model = Model::parse(&metadata.model, &name, &Overrides(set.collect()))?;
    Ok((model, History::from(&table)))
}

/// Solves the model, and keeps as much as the film needs.
fn solve(model: &Model, arguments: &Animate) -> Result<History, Failure> {
    mechanisms::of(model)?;
    let mut simulation = model.simulation()?;
    let chosen = model.recorded(simulation.columns())?;
    let name = |&i: &usize| -> &Column { &simulation.columns()[i] };
    let names = chosen.iter().map(|i| name(i).name.clone()).collect();
    let bar = Bar::new(model.steps(), arguments.json);
    let mut show = |progress| bar.show(progress);
    let mut rows = InMemory::default();
    let outcome = simulation.run(Run {
        threads: model.threads(),
        record_every: (model.steps() / arguments.frames.max(1) as u64).max(1),
        record_columns: Some(chosen.clone()),
        cancel: Some(interrupt::watch()),
        energy_bound: model.energy_bound(),
        progress: Some(&mut show),
        ..Run::new(model.steps(), &mut rows)
    });
    match outcome.end {
        Ok(End::Finished) => {}
        Ok(End::Cancelled) => return Err(Failure::Interrupted),
        Err(fault) => {
            let answer =
                json!({"command": "animate", "status": "failed", "fault": fault.to_string()});
            return Err(Failure::Run {
                fault,
                results: None,
                answer: Box::new(answer),
            });
        }
    }
    Ok(History {
        columns: (0..chosen.len()).map(|i| rows.column(i)).collect(),
        times: rows.times,
        names,
    })
}
