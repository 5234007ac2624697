//! `oldham partition`: how mechanisms are cut, what that leaves to each part, and which cut is best.

mod found;

use std::time::Duration;

use oldham_model::Model;
use oldham_scene::{Page, partition_page};
use oldham_study::{
    Advice, Case, CostLedger, CostTable, CutMechanism, CutSearch, ModelFile, find_cut, ledger_path,
    measure_costs, mechanism_named, partitions, write_cut,
};
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
    let file = load::file(&arguments.model);
    let model = load::model(&arguments.model)?;
    let costs = match arguments.measure || arguments.parts.is_some() {
        true => costs(arguments, &file, &model)?,
        false => None,
    };
    let Some(parts) = arguments.parts else {
        return show(arguments, &file, &model, costs.as_ref(), None);
    };
    let waiting = Waiting::new("searching", arguments.json);
    let name = arguments.mechanism.as_deref();
    let progress = &mut |what: &str| waiting.at(what.to_owned());
    let search = find_cut(&file, &model, name, parts, costs.as_ref(), progress)?;
    drop(waiting);
    let best = &search.cuts[0];
    let cut_file = file.with(&[best.cut.setting()]);
    let cut_model = cut_file.read()?;
    let measured = costs.filter(|_| arguments.measure);
    show(
        arguments,
        &cut_file,
        &cut_model,
        measured.as_ref(),
        Some(&search),
    )?;
    if arguments.write {
        let path = &arguments.model.model;
        write_cut(path, &file, &search, best)?;
        keep_costs(arguments, &file, &search)?;
        if !arguments.json {
            say!("written to {}", path.display());
        }
    }
    Ok(())
}

/// What the mechanism costs: as measured now, or as it was measured before; nothing if it never was.
fn costs(
    arguments: &Arguments,
    file: &ModelFile,
    model: &Model,
) -> Result<Option<CostTable>, Failure> {
    let name = mechanism_named(model, arguments.mechanism.as_deref())?.name();
    let path = ledger_path(&arguments.model.model);
    let mut ledger = CostLedger::read(&path);
    if !arguments.measure {
        return Ok(ledger.get(file, model, name).cloned());
    }
    let waiting = Waiting::new("measuring", arguments.json);
    let progress = &mut |what: &str| waiting.at(what.to_owned());
    let costs = measure_costs(file, model, Some(name), progress)?;
    drop(waiting);
    ledger.put(file, model, name, costs.clone());
    ledger.write(&path)?;
    Ok(Some(costs))
}

/// The file that is cut now is another one: what was measured holds for it as well.
fn keep_costs(arguments: &Arguments, file: &ModelFile, search: &CutSearch) -> Result<(), Failure> {
    if !search.costs.measured {
        return Ok(());
    }
    let path = ledger_path(&arguments.model.model);
    let mut ledger = CostLedger::read(&path);
    let (model, costs) = (file.read()?, search.costs.clone());
    ledger.put(file, &model, &search.mechanism, costs);
    Ok(ledger.write(&path)?)
}

/// The mechanisms as they are cut, with what was found before.
fn show(
    arguments: &Arguments,
    file: &ModelFile,
    model: &Model,
    costs: Option<&CostTable>,
    search: Option<&CutSearch>,
) -> Result<(), Failure> {
    let (cuts, whole) = partitions(model)?;
    let out = match cuts.is_empty() {
        true => None,
        false => Some(draw(model, arguments, &cuts)?),
    };
    let waiting = Waiting::new("analysing the coupling", arguments.json);
    let case = Case::of(model, file);
    let advice = (!cuts.is_empty()).then(|| Advice::on(&case, Some(PATIENCE)));
    drop(waiting);
    if arguments.json {
        let mut answer = json!({
            "command": "partition",
            "model": model.name(),
            "status": "fine",
            "cut": cuts,
            "uncut": whole,
            "whole": whole,
            "stability": advice,
            "picture": out.as_deref().map(load::shown),
        });
        if let Some(costs) = costs {
            answer["costs"] = json!(costs);
            let path = ledger_path(&arguments.model.model);
            answer["costs_file"] = json!(load::shown(&path));
        }
        if let Some(search) = search {
            answer["search"] = json!(search);
        }
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}", model.name());
    if let Some(costs) = costs {
        found::print_costs(costs);
        let path = ledger_path(&arguments.model.model);
        say!("  kept in {}\n", path.display());
    }
    if let Some(search) = search {
        found::print_search(search);
        say!("");
    }
    cuts.iter().for_each(print);
    for name in whole {
        say!(
            "  {name} is not cut; [multibody.{name}.cut] with `at = [\"<node>\"]` cuts it, --parts finds the best cut"
        );
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
