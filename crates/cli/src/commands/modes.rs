//! `oldham modes`: natural vibrations of mechanisms.

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

use oldham_model::{About, Mechanism, Model, Pose, Vibration};
use oldham_multibody::{Quaternion, Vec3};
use serde_json::{Value, json};

use crate::args::{Configuration, Modes};
use crate::commands::animate;
use crate::drawing::{Film, Page, View, marks};
use crate::failure::Failure;
use crate::say;
use crate::table::{Table, number};
use crate::{load, mechanisms, picture};

/// Largest displacement of a drawn mode as a fraction of the mechanism's size.
const DRAWN: f64 = 0.15;

/// Its largest rotation in rad, where that would be more: what bends in many waves, or turns about
/// its own node.
const TURNED: f64 = 0.6;

/// Frames of a swing, and how long it takes in a film, in s: as drawn, whatever the frequency.
const FRAMES: usize = 48;
const SWING: f64 = 2.0;

/// The vibrations of a mechanism.
struct Found<'m> {
    mechanism: Mechanism<'m>,
    poses: Vec<Pose>,
    vibrations: Vec<Vibration>,
}

pub fn execute(arguments: &Modes) -> Result<(), Failure> {
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
    let model = load::model(&arguments.model)?;
    let about = match arguments.at {
        Configuration::Initial => About::Start,
        Configuration::Static => About::Equilibrium,
    };
    let mut all = Vec::new();
    for mechanism in mechanisms::of(&model)? {
        let found = mechanism.vibrations(about, arguments.count, arguments.near);
        let (poses, vibrations) = found.map_err(|error| mechanisms::failed(mechanism, error))?;
        all.push(Found {
            mechanism,
            poses,
            vibrations,
        });
    }
    let pages: Vec<Page> = all
        .iter()
        .flat_map(|found| found.pages(arguments))
        .collect();
    picture::save(&out, &Page::stack(&pages))?;
    let films = films(arguments, &all)?;
    let mut shapes = as_json(&model, arguments, &all);
    picture::write(&data, format!("{shapes:#}\n").as_bytes())?;
    if arguments.json {
        if arguments.animate.is_some() {
            shapes["films"] = films.iter().map(|film| load::shown(film)).collect();
        }
        say!("{shapes:#}");
    } else {
        say!("{}: natural vibrations", model.name());
        all.iter().for_each(Found::print);
        say!("mode shapes: {}", data.display());
        say!("picture: {}", out.display());
        if let Some(film) = films.first() {
            say!("{} films, such as {}", films.len(), film.display());
        }
    }
    Ok(())
}

/// Writes a film of each mode if they are asked for.
fn films(arguments: &Modes, all: &[Found<'_>]) -> Result<Vec<PathBuf>, Failure> {
    let Some(out) = &arguments.animate else {
        return Ok(Vec::new());
    };
    let mut written = Vec::new();
    for film in all.iter().flat_map(|found| found.films(arguments)) {
        let path = numbered(out, written.len() + 1);
        animate::save(&film, &path, arguments.json)?;
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

fn as_json(model: &Model, arguments: &Modes, all: &[Found<'_>]) -> Value {
    let about = match arguments.at {
        Configuration::Initial => "initial",
        Configuration::Static => "static",
    };
    json!({
        "command": "modes",
        "model": model.name(),
        "status": "finished",
        "about": about,
        "parts": all.iter().map(Found::as_json).collect::<Vec<_>>(),
    })
}

/// Growth rate of an unstable mode, if it is one.
fn growth(vibration: &Vibration) -> Option<f64> {
    (vibration.omega_squared < 0.0).then(|| (-vibration.omega_squared).sqrt())
}

impl Found<'_> {
    fn print(&self) {
        say!("\n{}", self.mechanism.name());
        if self.vibrations.is_empty() {
            say!("  no freedom to vibrate: all motions are prescribed");
            return;
        }
        let mut table = Table::new(["mode", "frequency / Hz", "period / s", "damping ratio", ""]);
        for (index, vibration) in self.vibrations.iter().enumerate() {
            let unstable = growth(vibration);
            let frequency = vibration.frequency();
            let digits = |value: f64| {
                if unstable.is_some() {
                    "-".into()
                } else {
                    format!("{value:.5}")
                }
            };
            table.row([
                (index + 1).to_string(),
                digits(frequency),
                digits(1.0 / frequency),
                vibration.damping.map_or("-".into(), number),
                unstable.map_or_else(String::new, |rate| {
                    format!("unstable: grows at {} 1/s", number(rate))
                }),
            ]);
        }
        say!("{table}");
    }

    fn as_json(&self) -> Value {
        let node = |(name, pose): (&String, &Pose)| json!({"node": name, "position": pose.position.0, "orientation": pose.orientation.0});
        let nodes = self
            .mechanism
            .sketch()
            .nodes
            .iter()
            .zip(&self.poses)
            .skip(1);
        let mode = |vibration: &Vibration| {
            let shape = vibration.shape.iter().skip(1);
            let shape = shape.map(|(displacement, rotation)| {
                json!({"displacement": displacement.0, "rotation": rotation.0})
            });
            let stable = vibration.omega_squared > 0.0;
            json!({
                "frequency": stable.then(|| vibration.frequency()),
                "growth": growth(vibration),
                "damping": vibration.damping,
                "shape": shape.collect::<Vec<_>>(),
            })
        };
        json!({
            "part": self.mechanism.name(),
            "nodes": nodes.map(node).collect::<Vec<_>>(),
            "modes": self.vibrations.iter().map(mode).collect::<Vec<_>>(),
        })
    }

    /// One page a mode.
    fn pages(&self, arguments: &Modes) -> Vec<Page> {
        let page = |(index, vibration): (usize, &Vibration)| {
            let view = self.view(vibration, arguments);
            let sketch = self.mechanism.sketch();
            Page::new(self.title(index), view)
                .layer(marks(sketch, &self.poses, &view), 0.25)
                .layer(marks(sketch, &self.swung(vibration, 1.0), &view), 1.0)
        };
        self.vibrations.iter().enumerate().map(page).collect()
    }

    fn title(&self, index: usize) -> String {
        let vibration = &self.vibrations[index];
        let what = match growth(vibration) {
            Some(rate) => format!("unstable, {} 1/s", number(rate)),
            None => format!("{:.4} Hz", vibration.frequency()),
        };
        format!("{}, mode {}: {what}", self.mechanism.name(), index + 1)
    }

    /// One film a mode: one swing to and fro; times are those of the mechanism.
    fn films(&self, arguments: &Modes) -> Vec<Film> {
        let film = |(index, vibration): (usize, &Vibration)| {
            let view = self.view(vibration, arguments);
            let phases = (0..=FRAMES).map(|frame| frame as f64 / FRAMES as f64);
            let frame = |phase: f64| {
                let poses = self.swung(vibration, (TAU * phase).sin());
                marks(self.mechanism.sketch(), &poses, &view)
            };
            let period = match growth(vibration) {
                Some(_) => 0.0,
                None => 1.0 / vibration.frequency(),
            };
            Film {
                view,
                title: self.title(index),
                frames: phases.clone().map(frame).collect(),
                times: phases.map(|phase| phase * period).collect(),
                duration: SWING,
            }
        };
        self.vibrations.iter().enumerate().map(film).collect()
    }

    /// From where a mode shows best.
    fn view(&self, vibration: &Vibration, arguments: &Modes) -> View {
        let swung = [1.0, -1.0].map(|side| self.swung(vibration, side));
        let all = self.poses.iter().chain(swung.iter().flatten());
        View::of(arguments.view, all.map(|pose| pose.position))
    }

    /// The nodes displaced along a mode; a fraction of one so far that it shows.
    fn swung(&self, vibration: &Vibration, fraction: f64) -> Vec<Pose> {
        let origin = self
            .poses
            .get(1)
            .map(|pose| pose.position)
            .unwrap_or_default();
        let size = self
            .poses
            .iter()
            .map(|pose| (pose.position - origin).norm());
        let size = size.fold(0.0, f64::max);
        let turn = TURNED / (DRAWN * size).max(f64::MIN_POSITIVE);
        let reach = vibration
            .shape
            .iter()
            .map(|(d, r)| d.norm().max(r.norm() / turn));
        let reach = reach.fold(f64::MIN_POSITIVE, f64::max);
        let factor = fraction * DRAWN * size / reach;
        let swing = |(pose, (displacement, rotation)): (&Pose, &(Vec3, Vec3))| Pose {
            position: pose.position + *displacement * factor,
            orientation: Quaternion::exp(*rotation * factor).times(pose.orientation),
        };
        self.poses.iter().zip(&vibration.shape).map(swing).collect()
    }
}
