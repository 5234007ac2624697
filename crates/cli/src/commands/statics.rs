//! `oldham statics`: static equilibrium of mechanisms under their loads.

use oldham_model::{Model, RestingPart};
use oldham_scene::{Page, statics_page};
use oldham_study::{
    Equilibrium, all_rest, resting_actuators, resting_parts, statics, statics_notes,
};
use serde_json::json;

use crate::args::Statics;
use crate::failure::Failure;
use crate::fold::fold;
use crate::load;
use crate::picture;
use crate::say;
use crate::table::{Table, number};

pub fn execute(arguments: &Statics) -> Result<(), Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-statics.svg"));
    picture::protect(&out, &[&arguments.model.model])?;
    let model = load::model(&arguments.model)?;
    let rests = statics(&model, arguments.time, arguments.steps)?;
    let carrying = resting_parts(&model, arguments.time, &rests);
    let pages: Vec<Page> = rests
        .iter()
        .map(|rest| page(rest, &model, arguments))
        .collect();
    oldham_scene::save(&out, &Page::stack(&pages))?;
    if arguments.json {
        all_rest(&carrying)?;
        let answer = json!({
            "command": "statics",
            "model": model.name(),
            "status": "finished",
            "parts": rests,
            "hydraulics": resting_actuators(&model),
            "carried_by": carrying,
            "notes": statics_notes(&model),
            "picture": load::shown(&out),
        });
        say!("{answer:#}");
    } else {
        say!("{}: static equilibrium", model.name());
        rests.iter().for_each(print);
        print_actuators(&model);
        print_carrying(&carrying);
        for note in statics_notes(&model) {
            say!("{}", fold(&format!("! {note}"), 2));
        }
        say!("picture: {}", out.display());
        all_rest(&carrying)?;
    }
    Ok(())
}

/// To the micrometre, without the sign of a rounded zero.
fn coordinate(value: f64) -> String {
    format!("{:.6}", (value * 1e6).round() / 1e6 + 0.0)
}

fn page(rest: &Equilibrium<'_>, model: &Model, arguments: &Statics) -> Page {
    let mechanism = rest.mechanism;
    let title = format!(
        "{}: {} in static equilibrium",
        model.name(),
        mechanism.name()
    );
    let view = arguments.view.into();
    statics_page(title, mechanism, &rest.given, &rest.rest.poses, view)
}

fn print(rest: &Equilibrium<'_>) {
    let mut table = Table::new(["node", "x / m", "y / m", "z / m", "moved / m"]);
    for node in rest.nodes() {
        let [x, y, z] = node.position.map(coordinate);
        let name = format!("{}.{}", rest.mechanism.name(), node.node);
        table.row([name, x, y, z, number(node.moved)]);
    }
    say!("\n{table}");
    let part = rest.mechanism.name();
    let mut reactions = Table::new([
        "joint", "Fx / N", "Fy / N", "Fz / N", "Mx / N.m", "My / N.m", "Mz / N.m",
    ]);
    let largest = largest(rest);
    for reaction in rest.reactions() {
        let [fx, fy, fz] = reaction.force.map(|value| load(value, largest));
        let [mx, my, mz] = reaction.moment.map(|value| load(value, largest));
        let joint = format!("{part}.{}", reaction.joint);
        reactions.row([joint, fx, fy, fz, mx, my, mz]);
    }
    if rest.reactions().next().is_some() {
        say!("reactions on the second node, in the axes of the joint\n{reactions}");
    }
    let mut loads = Table::new(["static load of", "push", ""]);
    for found in rest.loads() {
        let name = format!("{part}.{}", found.actuator);
        let remark = if found.found { "" } else { ", as given" };
        loads.row([name, number(found.load), format!("{}{remark}", found.unit)]);
    }
    if rest.loads().next().is_some() {
        say!("{loads}");
    }
}

fn print_actuators(model: &Model) {
    let actuators = resting_actuators(model);
    if actuators.is_empty() {
        return;
    }
    let mut table = Table::new([
        "hydraulic actuator",
        "push / N",
        "neutral spool",
        "p1 / Pa",
        "p2 / Pa",
    ]);
    for actuator in actuators {
        let [p1, p2] = actuator.pressures.map(number);
        let spool = format!("{:.6}", actuator.spool);
        table.row([actuator.name, number(actuator.force), spool, p1, p2]);
    }
    say!("{table}");
}

/// Parts that carry mechanisms, with what they start with where that is given.
fn print_carrying(parts: &[RestingPart]) {
    let mut table = Table::new(["at rest", "", "starts with"]);
    let at_rest = parts.iter().filter(|part| part.values.is_ok());
    for part in at_rest.clone() {
        for value in part.values.iter().flatten() {
            let name = format!("{}.{} / {}", part.name, value.name, value.unit);
            let start = value.given.map_or_else(|| "the same".into(), number);
            table.row([name, number(value.found), start]);
        }
    }
    if at_rest.count() > 0 {
        say!("{table}");
    }
}

/// The largest component of all reactions.
fn largest(rest: &Equilibrium<'_>) -> f64 {
    let components = rest.reactions().flat_map(|it| [it.force, it.moment]);
    let components = components.flatten().map(f64::abs);
    components.fold(0.0, f64::max)
}

/// Without what is rounding beside the largest load.
fn load(value: f64, largest: f64) -> String {
    const ROUNDING: f64 = 1e-9;
    match value.abs() > ROUNDING * largest {
        true => number(value),
        false => "0".to_owned(),
    }
}
