//! A flat system as the text of a model file.

use std::collections::HashSet;

use crate::flat::{Flat, free_name};
use crate::structure::Implementation;
use crate::values::Value;

/// What the file says of the whole.
pub struct Head<'h> {
    pub file: &'h str,
    pub name: &'h str,
    pub version: &'h str,
    pub text: &'h str,
    pub experiment: [Option<f64>; 2],
    pub seen_from: &'h str,
}

/// Macro steps, where no FMU says how long its steps are.
const STEPS: f64 = 1000.0;

/// A text in quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn written(value: &Value) -> String {
    let number = |number: &f64| format!("{number:?}");
    match value {
        Value::Numbers(numbers) => match numbers.as_slice() {
            [one] => number(one),
            all => format!(
                "[{}]",
                all.iter().map(number).collect::<Vec<_>>().join(", ")
            ),
        },
        Value::Flag(flag) => flag.to_string(),
        Value::Text(text) => quoted(text),
    }
}

/// A comment in lines of their own.
fn comment(text: &str) -> String {
    text.lines()
        .map(|line| format!("# {}\n", line.trim()))
        .collect()
}

/// The text of the model file.
pub fn model(head: &Head<'_>, flat: &Flat, notes: &[String]) -> String {
    let (file, version) = (head.file, head.version);
    let mut text = comment(&format!(
        "The system of {file} (SSP {version}). Its FMUs are read from there."
    ));
    for note in notes {
        text += &comment(&format!("Note: {note}."));
    }
    text += &format!("\n[model]\nname = {}\n", quoted(head.name));
    if !head.text.is_empty() {
        text += &format!("description = {}\n", quoted(head.text));
    }
    let mut taken = HashSet::from(["t".to_owned(), "pi".to_owned(), "e".to_owned()]);
    let names: Vec<String> = flat
        .externals
        .iter()
        .map(|external| free_name(&external.name, &mut taken))
        .collect();
    if !names.is_empty() {
        text += "\n# Inputs of the system.\n[parameters]\n";
        for (name, external) in names.iter().zip(&flat.externals) {
            text += &format!("{name} = {:?}\n", external.value);
        }
    }
    let [begin, end] = head.experiment;
    let begin = begin.unwrap_or(0.0);
    let duration = match end.map(|end| end - begin) {
        Some(duration) if duration > 0.0 => duration,
        _ => 1.0,
    };
    text += &format!(
        "\n[simulation]\nduration = {duration:?}\nstep = {:?}\n",
        step(flat, duration)
    );
    if begin != 0.0 {
        text += &format!("start = {begin:?}\n");
    }
    for (name, (part, output)) in &flat.outputs {
        text += &comment(&format!(
            "Output {name}: {}.{output}",
            flat.parts[*part].name
        ));
    }
    for part in &flat.parts {
        let path = format!("{}{}", head.seen_from, part.file);
        text += &format!("\n[fmu.{}]\nfile = {}\n", part.name, quoted(&path));
        if part.implementation == Implementation::ModelExchange
            && part.description.co_simulation.is_some()
        {
            text += "interface = \"model-exchange\"\n";
        }
        text += "terminals = false\n";
        if !part.given.is_empty() {
            text += &format!("[fmu.{}.parameters]\n", part.name);
            for (name, value) in &part.given {
                text += &format!("{} = {}\n", quoted(name), written(value));
            }
        }
    }
    for wire in &flat.wires {
        let [from, to] = [&wire.from, &wire.to]
            .map(|(part, name)| quoted(&format!("{}.{name}", flat.parts[*part].name)));
        text += &format!("\n[[connection]]\nfrom = {from}\nto = {to}\n");
        if wire.way.gain != 1.0 || wire.has_other_unit {
            text += &format!("gain = {:?}\n", wire.way.gain);
        }
        if wire.way.offset != 0.0 {
            text += &format!("offset = {:?}\n", wire.way.offset);
        }
    }
    if !names.is_empty() {
        text += "\n[excitation]\n";
    }
    for (name, external) in names.iter().zip(&flat.externals) {
        for (part, input, way) in &external.to {
            let port = quoted(&format!("{}.{input}", flat.parts[*part].name));
            let formula = match way.is_plain() {
                true => name.clone(),
                false => format!("{:?} * {name} + {:?}", way.gain, way.offset),
            };
            text += &format!("{port} = {}\n", quoted(&formula));
        }
    }
    text
}

/// The shortest step that an FMU speaks of.
fn step(flat: &Flat, duration: f64) -> f64 {
    let steps = flat.parts.iter().filter_map(|part| {
        let fixed = part.description.co_simulation.as_ref();
        let fixed = fixed.and_then(|abilities| abilities.fixed_step);
        fixed.or(part.description.experiment.step)
    });
    let shortest = steps
        .filter(|step| *step > 0.0 && *step <= duration)
        .fold(f64::INFINITY, f64::min);
    match shortest.is_finite() {
        true => shortest,
        false => duration / STEPS,
    }
}
