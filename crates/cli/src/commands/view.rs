//! `oldham view`: a motion in the browser.

mod text;

use std::path::Path;

use oldham_model::Model;
use oldham_results::{Table, read};
use oldham_scene::{Showing, Staging, write};
use oldham_study::{ModelFile, Onlooker, Pause, run_live};
use oldham_web::{Film, Stage};
use serde_json::json;

use crate::args::View3d;
use crate::failure::Failure;
use crate::live::{self, LiveScene};
use crate::load::Begun;
use crate::say;
use crate::{interrupt, load, picture};

pub fn execute(arguments: &View3d) -> Result<(), Failure> {
    let source = &arguments.source;
    let is_model = source.extension().is_some_and(|end| end == "toml");
    if arguments.from.is_some() && !is_model {
        return Err(Failure::FromOfResult);
    }
    if arguments.text {
        return match is_model {
            true => text::look_on(arguments),
            false => text::show(&recorded(arguments)?, arguments),
        };
    }
    match (&arguments.out, is_model) {
        (Some(_), true) => Err(Failure::NotRecorded {
            path: source.clone(),
        }),
        (Some(out), false) => save(arguments, out),
        (None, true) => look_on(arguments),
        (None, false) => {
            let film = recorded(arguments)?;
            let _server = live::serve("view", &arguments.serving, &film, None, arguments.json)?;
            live::wait_for_the_user();
            Ok(())
        }
    }
}

/// One page that plays without a server.
fn save(arguments: &View3d, out: &Path) -> Result<(), Failure> {
    picture::protect(out, &[&arguments.source])?;
    let film = recorded(arguments)?;
    let page = film.to_html();
    write(out, page.as_bytes())?;
    if arguments.json {
        let answer = json!({
            "command": "view",
            "model": film.scene.title,
            "status": "finished",
            "page": load::shown(out),
            "rows": film.times.len(),
            "bytes": page.len(),
        });
        say!("{answer:#}");
    } else {
        let rows = film.times.len();
        let size = page.len() as f64 / 1e6;
        say!("{} ({rows} rows, {size:.1} MB)", out.display());
    }
    Ok(())
}

/// A result file as a film of the model that it says it is of.
fn recorded(arguments: &View3d) -> Result<Film, Failure> {
    let path = &arguments.source;
    let table = read(path)?;
    let file = ModelFile::of_result(&table, path).ok_or_else(|| Failure::NoModel {
        path: path.to_owned(),
    })?;
    Ok(film(
        &file.with(&arguments.set).read()?,
        &table,
        arguments.frames,
    ))
}

fn film(model: &Model, table: &Table, frames: usize) -> Film {
    let staging = Staging::of(model, table.columns());
    staging.film(table.time(), |place| table.at(place), frames)
}

/// Runs a model before whoever looks on; nothing is kept.
fn look_on(arguments: &View3d) -> Result<(), Failure> {
    let begun = Begun::with(&arguments.source, &arguments.set, arguments.from.as_deref())?;
    let mut simulation = begun.simulation()?;
    let model = begun.model;
    let real_time = arguments.pace.or_real();
    real_time.check(&model)?;
    let scene = LiveScene::of(&model)?;
    let pause = Pause::default();
    let stage = Stage::new(Vec::new(), |_| {});
    let serving = Some(stage.clone());
    let _server = live::serve(
        "view",
        &arguments.serving,
        &scene.film,
        serving,
        arguments.json,
    )?;
    if !live::wait_until(|| stage.viewers() > 0) {
        return Ok(());
    }
    let onlooker = Onlooker {
        every: live::steps_between_rows(&model, real_time.factor),
        columns: scene.columns,
        recorder: &mut Showing(stage.clone()),
        pause,
    };
    let cancel = Some(interrupt::watch());
    let mut progress = |here| live::tell_progress(&stage, here, false, false);
    let outcome = run_live(
        &model,
        &mut simulation,
        &real_time,
        onlooker,
        cancel,
        &mut progress,
    );
    stage.tell(live::status_at_end(&outcome, None, false));
    if let Err(fault) = outcome.end {
        // Those who look on can still see how it came to that.
        live::wait_until(|| stage.viewers() == 0);
        let answer = json!({"command": "view", "status": "failed", "fault": fault.to_string()});
        return Err(Failure::Run {
            fault,
            results: None,
            answer: Box::new(answer),
        });
    }
    live::wait_for_the_user();
    Ok(())
}
