//! `oldham partition`: how mechanisms are cut, and what that leaves to each part.

use std::time::Duration;

use oldham_model::{InterfaceNode, Mechanism, Model, PartitionReport, Pose};
use oldham_multibody::NodeId;
use oldham_scene::{Page, partition_page};
use oldham_study::{Advice, Case, mechanisms};
use serde_json::{Value, json};

use crate::args::Partition as Arguments;
use crate::failure::Failure;
use crate::picture;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{load, verdict};

/// How long the analysis of a cut may take, as before a run.
const PATIENCE: Duration = Duration::from_secs(2);

/// A mechanism that is cut.
struct CutMechanism<'m> {
    mechanism: Mechanism<'m>,
    partition: PartitionReport,
    poses: Vec<Pose>,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let (mut cuts, mut whole) = (Vec::new(), Vec::new());
    for mechanism in mechanisms(&model)? {
        match mechanism.partition() {
            Some(partition) => cuts.push(CutMechanism {
                mechanism,
                partition,
                poses: mechanism.given(),
            }),
            None => whole.push(mechanism.name()),
        }
    }
    let out = match cuts.is_empty() {
        true => None,
        false => Some(draw(&model, arguments, &cuts)?),
    };
    let waiting = Waiting::new("analysing the coupling", arguments.json);
    let file = load::file(&arguments.model);
    let case = Case::of(&model, &file);
    let advice = (!cuts.is_empty()).then(|| Advice::on(&case, Some(PATIENCE)));
    drop(waiting);
    if arguments.json {
        let answer = json!({
            "command": "partition",
            "model": model.name(),
            "status": "fine",
            "cut": cuts.iter().map(CutMechanism::as_json).collect::<Vec<_>>(),
            "uncut": whole,
            "whole": whole,
            "stability": advice,
            "picture": out.as_deref().map(load::shown),
        });
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}", model.name());
    cuts.iter().for_each(CutMechanism::print);
    for name in whole {
        say!("  {name} is not cut; [multibody.{name}.cut] with `at = [\"<node>\"]` cuts it");
    }
    if let Some(advice) = advice {
        say!("{}", verdict::for_people(&advice));
    }
    if let Some(out) = out {
        say!("picture: {}", out.display());
    }
    Ok(())
}

fn draw(
    model: &Model,
    arguments: &Arguments,
    cuts: &[CutMechanism<'_>],
) -> Result<std::path::PathBuf, Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-partition.svg"));
    picture::protect(&out, &[&arguments.model.model])?;
    let pages: Vec<Page> = cuts.iter().map(|cut| cut.page(model, arguments)).collect();
    oldham_scene::save(&out, &Page::stack(&pages))?;
    Ok(out)
}

impl CutMechanism<'_> {
    fn name(&self, piece: usize) -> &str {
        &self.partition.pieces[piece].name
    }

    fn followers(&self, interface: &InterfaceNode) -> Vec<&str> {
        let followers = interface.followers.iter();
        followers.map(|&follower| self.name(follower)).collect()
    }

    fn node(&self, node: NodeId) -> &str {
        &self.mechanism.sketch().nodes[node.index()]
    }

    fn print(&self) {
        let partition = &self.partition;
        say!("  {}: {}", self.mechanism.name(), partition.scheme);
        let mut pieces = Table::new([
            "subsystem",
            "nodes",
            "interface copies",
            "elements",
            "unknowns",
            "mass / kg",
            "load",
        ]);
        for (index, piece) in partition.pieces.iter().enumerate() {
            let size = &piece.size;
            pieces.row([
                format!("{}.{}", self.mechanism.name(), piece.name),
                size.nodes.to_string(),
                size.copies.to_string(),
                size.elements.to_string(),
                size.unknowns.to_string(),
                number(size.mass),
                format!("{:.1} %", 100.0 * partition.share(index)),
            ]);
        }
        say!("\n{pieces}");
        let mut interfaces = Table::new([
            "interface",
            "owner",
            "slaved to",
            "mass / kg",
            "inertia / kg.m2",
        ]);
        for interface in &partition.interfaces {
            interfaces.row([
                self.node(interface.node).to_owned(),
                self.name(interface.owner).to_owned(),
                self.followers(interface).join(", "),
                number(interface.mass),
                interface.inertia.map(number).join(", "),
            ]);
        }
        say!("{interfaces}");
        say!(
            "  by the estimated computational load, at most {:.2} times faster than in sequence\n",
            partition.speed_up()
        );
    }

    fn as_json(&self) -> Value {
        let partition = &self.partition;
        let piece = |(index, piece): (usize, &oldham_model::SubdomainReport)| {
            json!({
                "name": piece.name,
                "coupling": piece.is_coupling,
                "nodes": piece.size.nodes,
                "interface_copies": piece.size.copies,
                "copies": piece.size.copies,
                "elements": piece.size.elements,
                "unknowns": piece.size.unknowns,
                "mass": piece.size.mass,
                "load": partition.share(index),
                "work": partition.share(index),
            })
        };
        let interface = |interface: &InterfaceNode| {
            json!({
                "node": self.node(interface.node),
                "owner": self.name(interface.owner),
                "slaved": self.followers(interface),
                "followers": self.followers(interface),
                "mass": interface.mass,
                "inertia": interface.inertia,
            })
        };
        json!({
            "part": self.mechanism.name(),
            "scheme": partition.scheme,
            "subsystems": partition.pieces.iter().enumerate().map(piece).collect::<Vec<_>>(),
            "interfaces": partition.interfaces.iter().map(interface).collect::<Vec<_>>(),
            "speed_up": partition.speed_up(),
        })
    }

    fn page(&self, model: &Model, arguments: &Arguments) -> Page {
        let title = format!("{}: partition of {}", model.name(), self.mechanism.name());
        partition_page(title, &self.partition, &self.poses, arguments.view.into())
    }
}
