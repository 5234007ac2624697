//! `oldham animate`: the motion of mechanisms, as a picture that moves or as frames.

use std::path::{Path, PathBuf};

use oldham_cosim::{Column, End, InMemory, Run};
use oldham_model::{Mechanism, Model, Overrides, Pose};
use oldham_multibody::{Quaternion, Vec3};
use oldham_results::read;
use serde_json::json;

use crate::args::Animate;
use crate::drawing::{Film, Mark, View, marks};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::say;
use crate::{interrupt, load, mechanisms, picture};

/// Exposures of a picture that shows a whole motion.
const EXPOSURES: usize = 9;

/// Columns over time, from a file or from a run.
struct History {
    times: Vec<f64>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

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
    let film = film(&model, &history, arguments)?;
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

/// One moving picture, one picture of several exposures, or a folder of frames.
pub fn save(film: &Film, out: &Path, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    let extension = out.extension().and_then(|end| end.to_str());
    match extension {
        Some("svg") => picture::write(out, film.to_svg().as_bytes())?,
        Some("png") => picture::save_png(out, &film.exposures(EXPOSURES).to_svg())?,
        _ => return frames(film, out, quiet),
    }
    Ok(vec![out.to_owned()])
}

fn frames(film: &Film, folder: &Path, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    let bar = Bar::of_items(film.frames.len() as u64, quiet);
    let mut pictures = Vec::new();
    for index in 0..film.frames.len() {
        let name = format!("frame-{index:04}.png");
        bar.item(index as u64, &name);
        let path = folder.join(name);
        picture::save_png(&path, &film.still(index))?;
        pictures.push(path);
    }
    Ok(pictures)
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
    let names: Vec<String> = table.names().map(Into::into).collect();
    let columns = names.iter().filter_map(|name| table.column(name));
    let history = History {
        times: table.time().to_vec(),
        columns: columns.map(<[f64]>::to_vec).collect(),
        names,
    };
    Ok((model, history))
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
        cancel: Some(interrupt::watch().clone()),
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

fn film(model: &Model, history: &History, arguments: &Animate) -> Result<Film, Failure> {
    let mechanisms = mechanisms::of(model)?;
    let tracks: Vec<Track<'_>> = mechanisms
        .into_iter()
        .map(|mechanism| Track::find(mechanism, history))
        .collect::<Result<_, _>>()?;
    let rows = chosen_rows(history.times.len(), arguments.frames);
    let everywhere = rows
        .iter()
        .flat_map(|&row| tracks.iter().flat_map(move |track| track.poses(row)))
        .map(|pose| pose.position);
    let view = View::of(arguments.view, everywhere);
    let frame = |&row: &usize| -> Vec<Mark> {
        let of_track = |track: &Track<'_>| {
            let mut poses = vec![Pose::ABSOLUTE];
            poses.extend(track.poses(row));
            marks(track.mechanism.sketch(), &poses, &view)
        };
        tracks.iter().flat_map(of_track).collect()
    };
    let times: Vec<f64> = rows.iter().map(|&row| history.times[row]).collect();
    let shown = times
        .last()
        .zip(times.first())
        .map_or(0.0, |(last, first)| last - first);
    Ok(Film {
        view,
        title: model.name().into(),
        frames: rows.iter().map(frame).collect(),
        times,
        duration: shown / arguments.speed,
    })
}

/// At most so many rows, at equal distances, the last among them.
fn chosen_rows(rows: usize, frames: usize) -> Vec<usize> {
    let count = frames.clamp(2, 2000).min(rows.max(1));
    let last = rows.saturating_sub(1);
    let place = |i: usize| i * last / (count - 1).max(1);
    (0..count).map(place).collect()
}

/// The columns of a mechanism's nodes.
struct Track<'h> {
    mechanism: Mechanism<'h>,
    /// Position and quaternion of each node but the ground.
    nodes: Vec<[&'h [f64]; 7]>,
}

impl<'h> Track<'h> {
    fn find(mechanism: Mechanism<'h>, history: &'h History) -> Result<Self, Failure> {
        let column = |node: &str, component: &str| {
            let name = format!("{}.nodes.{node}.{component}", mechanism.name());
            let place = history.names.iter().position(|other| *other == name);
            match place {
                Some(place) => Ok(history.columns[place].as_slice()),
                None => Err(Failure::NoPoses { column: name }),
            }
        };
        let mut nodes = Vec::new();
        for node in mechanism.sketch().nodes.iter().skip(1) {
            let at = |component| column(node, component);
            nodes.push([
                at("px")?,
                at("py")?,
                at("pz")?,
                at("q0")?,
                at("q1")?,
                at("q2")?,
                at("q3")?,
            ]);
        }
        Ok(Self { mechanism, nodes })
    }

    fn poses(&self, row: usize) -> impl Iterator<Item = Pose> {
        self.nodes.iter().map(move |columns| {
            let [x, y, z, q0, q1, q2, q3] = columns.map(|column| column[row]);
            Pose {
                position: Vec3::new(x, y, z),
                orientation: Quaternion([q0, q1, q2, q3]),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_reach_from_the_first_row_to_the_last() {
        assert_eq!(chosen_rows(101, 5), [0, 25, 50, 75, 100]);
        assert_eq!(chosen_rows(3, 100), [0, 1, 2]);
        assert_eq!(chosen_rows(1, 100), [0]);
    }
}
