//! `oldham partition`: how mechanisms are cut, and what that leaves to each part.

use std::time::Duration;

use oldham_model::Model;
use oldham_scene::{Page, partition_page};
use oldham_study::{Advice, Case, CutMechanism, partitions};
use serde_json::json;

use crate::args::Partition as Arguments;
use crate::failure::Failure;
use crate::picture;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{load, verdict};

/// How long the analysis of a cut may take, as before a run.
const PATIENCE: Duration = Duration::from_secs(2);

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let (cuts, whole) = partitions(&model)?;
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
            "cut": cuts,
            "uncut": whole,
            "whole": whole,
            "stability": advice,
            "picture": out.as_deref().map(load::shown),
        });
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}", model.name());
    cuts.iter().for_each(print);
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
    let page = |cut: &CutMechanism<'_>| {
        let title = format!("{}: partition of {}", model.name(), cut.mechanism.name());
        partition_page(title, &cut.partition, &cut.poses, arguments.view.into())
    };
    let pages: Vec<Page> = cuts.iter().map(page).collect();
    oldham_scene::save(&out, &Page::stack(&pages))?;
    Ok(out)
}

fn print(cut: &CutMechanism<'_>) {
    let partition = &cut.partition;
    say!("  {}: {}", cut.mechanism.name(), partition.scheme);
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
            format!("{}.{}", cut.mechanism.name(), piece.name),
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
            cut.node(interface.node).to_owned(),
            cut.subdomain(interface.owner).to_owned(),
            cut.followers(interface).join(", "),
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
