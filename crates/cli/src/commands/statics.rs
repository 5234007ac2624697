//! `oldham statics`: where mechanisms come to rest under their loads.

use oldham_model::{Mechanism, Model, Pose};
use oldham_scene::{Page, statics_page};
use serde_json::{Value, json};

use crate::args::Statics;
use crate::failure::Failure;
use crate::picture;
use crate::say;
use crate::table::{Table, number};
use crate::{load, mechanisms};

/// A mechanism at rest.
struct Rest<'m> {
    mechanism: Mechanism<'m>,
    given: Vec<Pose>,
    poses: Vec<Pose>,
}

pub fn execute(arguments: &Statics) -> Result<(), Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-statics.svg"));
    picture::protect(&out, &[&arguments.model.model])?;
    let model = load::model(&arguments.model)?;
    let mut rests = Vec::new();
    for mechanism in mechanisms::of(&model)? {
        let poses = mechanism.equilibrium(arguments.time, arguments.steps);
        rests.push(Rest {
            mechanism,
            given: mechanism.given(),
            poses: poses.map_err(|error| mechanisms::failed(mechanism, error))?,
        });
    }
    let pages: Vec<Page> = rests
        .iter()
        .map(|rest| rest.page(&model, arguments))
        .collect();
    oldham_scene::save(&out, &Page::stack(&pages))?;
    if arguments.json {
        let parts: Vec<Value> = rests.iter().map(Rest::as_json).collect();
        let answer = json!({
            "command": "statics",
            "model": model.name(),
            "status": "finished",
            "parts": parts,
            "picture": load::shown(&out),
        });
        say!("{answer:#}");
    } else {
        say!("{}: static equilibrium", model.name());
        rests.iter().for_each(Rest::print);
        say!("picture: {}", out.display());
    }
    Ok(())
}

/// To the micrometre, without the sign of a rounded zero.
fn coordinate(value: f64) -> String {
    format!("{:.6}", (value * 1e6).round() / 1e6 + 0.0)
}

impl Rest<'_> {
    fn page(&self, model: &Model, arguments: &Statics) -> Page {
        let title = format!(
            "{}: {} in static equilibrium",
            model.name(),
            self.mechanism.name()
        );
        let (mechanism, view) = (self.mechanism, arguments.view.into());
        statics_page(title, mechanism, &self.given, &self.poses, view)
    }

    /// Name, pose and displacement of each node.
    fn nodes(&self) -> impl Iterator<Item = (&str, &Pose, f64)> {
        let names = self.mechanism.sketch().nodes.iter().map(String::as_str);
        let poses = self.poses.iter().zip(&self.given);
        let moved = poses.map(|(pose, given)| (pose, (pose.position - given.position).norm()));
        let nodes = names.zip(moved).skip(1);
        nodes.map(|(name, (pose, distance))| (name, pose, distance))
    }

    fn print(&self) {
        let mut table = Table::new(["node", "x / m", "y / m", "z / m", "moved / m"]);
        for (name, pose, moved) in self.nodes() {
            let [x, y, z] = pose.position.0.map(coordinate);
            let name = format!("{}.{name}", self.mechanism.name());
            table.row([name, x, y, z, number(moved)]);
        }
        say!("\n{table}");
    }

    fn as_json(&self) -> Value {
        let node = |(name, pose, moved): (&str, &Pose, f64)| {
            json!({
                "node": name,
                "position": pose.position.0,
                "orientation": pose.orientation.0,
                "moved": moved,
            })
        };
        json!({
            "part": self.mechanism.name(),
            "nodes": self.nodes().map(node).collect::<Vec<_>>(),
        })
    }
}
