//! `oldham check`: what is in a model, and is its coupling stable?

use oldham_cosim::{Simulation, SubsystemId};
use oldham_model::{Mechanism, Model};
use oldham_study::{Advice, Case, is_without_coupling, shows_node};
use serde_json::{Value, json};

use crate::args::Check;
use crate::failure::Failure;
use crate::fold::fold;
use crate::load::Begun;
use crate::progress::Waiting;
use crate::say;
use crate::verdict::Granted;
use crate::{interrupt, verdict};

/// Why there is no analysis.
const ALONE: &str = "no coupling to analyse";

pub fn execute(arguments: &Check) -> Result<(), Failure> {
    let Some(path) = arguments.model.as_ref().filter(|_| !arguments.schema) else {
        say!("{:#}", oldham_study::shipped_kinds().schema());
        return Ok(());
    };
    let begun = Begun::with(
        path,
        &arguments.changes.settings(),
        arguments.from.as_deref(),
    )?;
    let Begun { model, file, start } = begun;
    let simulation = model.simulation()?;
    model.recorded(simulation.columns())?;
    if is_without_coupling(&model) {
        match arguments.json {
            true => say!("{:#}", as_json(&model, &simulation, None)),
            false => {
                print(&model, &simulation);
                say!("  {ALONE}");
            }
        }
        return Ok(());
    }
    if !arguments.json {
        print(&model, &simulation);
    }
    let case = Case::of(&model, &file).beginning_with(start.as_ref());
    let granted = Granted::new(arguments.seconds, arguments.remedies);
    let _analysis = interrupt::Analysis::new();
    let waiting = Waiting::new("analysing the coupling", arguments.json);
    let mut advice =
        Advice::along_run(&case, granted.time(), &mut |at| verdict::show(&waiting, at));
    drop(waiting);
    if !arguments.json {
        say!("{}", verdict::for_people(&advice));
    }
    let waiting = Waiting::new("looking at the energy of the exchange", arguments.json);
    advice.look_for_drift(&case, granted.for_remedies());
    drop(waiting);
    if let Some(drift) = advice.drift.as_ref().filter(|_| !arguments.json) {
        say!("{}", verdict::drift(drift));
    }
    let waiting = Waiting::new("looking for settings that help", arguments.json);
    let searched = advice.look_for_remedies(&case, Some(granted.for_remedies()));
    drop(waiting);
    if arguments.json {
        say!("{:#}", as_json(&model, &simulation, Some(&advice)));
    } else if searched.is_some() {
        say!("{}", verdict::remedies(&advice));
    }
    Ok(())
}

/// Each part with its ports as `name (quantity)`, without those that only record nodes.
fn parts(simulation: &Simulation) -> Vec<(String, Vec<String>, Vec<String>)> {
    let names: Vec<String> = simulation.names().map(Into::into).collect();
    let describe = |ports: &[oldham_cosim::Port]| {
        let port = |port: &oldham_cosim::Port| format!("{} ({})", port.name, port.quantity);
        let asked_for = |port: &&oldham_cosim::Port| !shows_node(&port.name);
        ports.iter().filter(asked_for).map(port).collect::<Vec<_>>()
    };
    let part = |(index, name): (usize, String)| {
        let ports = simulation.ports(SubsystemId(index));
        (name, describe(ports.inputs()), describe(ports.outputs()))
    };
    names.into_iter().enumerate().map(part).collect()
}

fn as_json(model: &Model, simulation: &Simulation, advice: Option<&Advice>) -> Value {
    let part =
        |(name, inputs, outputs)| json!({"name": name, "inputs": inputs, "outputs": outputs});
    json!({
        "command": "check",
        "model": model.name(),
        "status": "fine",
        "steps": model.steps(),
        "step": model.step(),
        "parts": parts(simulation).into_iter().map(part).collect::<Vec<_>>(),
        "interfaces": simulation.interfaces(),
        "notes": model.notes().iter().map(String::as_str).chain(model.former_words()).collect::<Vec<_>>(),
        "mechanisms": model.mechanisms().map(|it| mechanism(&it)).collect::<Vec<_>>(),
        "stability": advice.map_or(json!({"analysed": false, "reason": ALONE}), |advice| json!(advice)),
    })
}

fn mechanism(mechanism: &Mechanism<'_>) -> Value {
    let found = mechanism.degrees_of_freedom();
    json!({
        "name": mechanism.name(),
        "nodes": mechanism.sketch().nodes.len() - 1,
        "constraints": found.constraints,
        "redundant_constraints": found.redundant(),
        "degrees_of_freedom": found.count(),
    })
}

fn print(model: &Model, simulation: &Simulation) {
    say!("{}: no problems", model.name());
    say!("  {} macro steps of {} s", model.steps(), model.step());
    for (name, inputs, outputs) in parts(simulation) {
        say!("  {name}");
        inputs.iter().for_each(|port| say!("    in   {port}"));
        outputs.iter().for_each(|port| say!("    out  {port}"));
    }
    for interface in simulation.interfaces() {
        say!("  interface {interface}: power-conjugate ports, energy error is monitored");
    }
    for note in model.notes() {
        say!("{}", fold(&format!("  note: {note}"), 4));
    }
    for mechanism in model.mechanisms() {
        let nodes = mechanism.sketch().nodes.len() - 1;
        let found = mechanism.degrees_of_freedom();
        let degrees = match found.count() {
            1 => "1 degree of freedom".to_owned(),
            degrees => format!("{degrees} degrees of freedom"),
        };
        let redundant = match found.redundant() {
            0 => String::new(),
            count => format!(", {count} of {} constraints redundant", found.constraints),
        };
        say!(
            "  {}: {}, {degrees}{redundant}",
            mechanism.name(),
            match nodes {
                1 => "1 node".to_owned(),
                nodes => format!("{nodes} nodes"),
            }
        );
    }
}
