//! `oldham plot`: results as a picture, one panel for each unit.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use oldham_results::plot::{Figure, Panel, Series};
use oldham_results::reader::ReadError;
use oldham_results::{Changing, Table, is_derived, read, read_some};
use oldham_study::shows_node;
use serde_json::json;

use crate::args::Plot;
use crate::failure::Failure;
use crate::{load, picture};
use crate::{say, tell};

/// Curves that a picture shows at most.
const MOST_SIGNALS: usize = 1000;

pub fn execute(arguments: &Plot) -> Result<(), Failure> {
    let (out, signals) = draw(arguments)?;
    if arguments.json {
        say!(
            "{:#}",
            json!({"command": "plot", "picture": load::shown(&out), "signals": signals})
        );
    } else {
        say!("{}", out.display());
    }
    Ok(())
}

/// Draws the picture; where it is, and which signals are on it.
pub fn draw(arguments: &Plot) -> Result<(PathBuf, Vec<String>), Failure> {
    let tables = tables(arguments)?;
    for (path, table) in arguments.results.iter().zip(&tables) {
        if !table.complete() && !arguments.json {
            tell!(
                "note: {} is from a run that did not end in order",
                path.display()
            );
        }
    }
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.results[0], ".svg"));
    let inputs: Vec<&Path> = arguments.results.iter().map(PathBuf::as_path).collect();
    picture::protect(&out, &inputs)?;
    check_window(arguments, &tables)?;
    let signals = chosen(arguments, &tables)?;
    if signals.len() > MOST_SIGNALS {
        return Err(Failure::TooManySignals {
            count: signals.len(),
            limit: MOST_SIGNALS,
        });
    }
    figure(arguments, &tables, &signals).save(&out)?;
    let signals = signals.into_iter().map(|signal| signal.name).collect();
    Ok((out, signals))
}

/// The results, with what is asked for of them; all of it if a name is not among them, so that the message knows the
/// others.
fn tables(arguments: &Plot) -> Result<Vec<Table>, ReadError> {
    let is_wanted = |name: &str| {
        let wanted = arguments.signals.iter();
        let mut wanted = wanted.filter_map(|signal| name.strip_prefix(signal.as_str()));
        arguments.signals.is_empty() || wanted.any(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let results = arguments.results.iter();
    let tables: Vec<Table> = results
        .map(|path| read_some(path, &is_wanted))
        .collect::<Result<_, _>>()?;
    let is_there = |signal: &String| {
        let component = format!("{signal}.");
        let mut names = tables.iter().flat_map(Table::names);
        names.any(|name| name == signal || name.starts_with(&component))
    };
    match arguments.signals.iter().all(is_there) {
        true => Ok(tables),
        false => arguments.results.iter().map(|path| read(path)).collect(),
    }
}

/// Something of the results lies between the times that were asked for.
fn check_window(arguments: &Plot, tables: &[Table]) -> Result<(), Failure> {
    let (from, to) = (arguments.from, arguments.to);
    if from.is_none() && to.is_none() {
        return Ok(());
    }
    let times = || tables.iter().flat_map(Table::time).copied();
    let first = times().fold(f64::INFINITY, f64::min);
    let last = times().fold(f64::NEG_INFINITY, f64::max);
    let (from, to) = (from.unwrap_or(first), to.unwrap_or(last));
    match times().any(|t| (from..=to).contains(&t)) {
        true => Ok(()),
        false => Err(Failure::EmptyWindow {
            from,
            to,
            first,
            last,
        }),
    }
}

struct Signal {
    name: String,
    unit: String,
}

/// The signals to draw: as asked, or what matters of the outputs: displacements, positions, forces,
/// pressures and energies that change. Energy balances of the exchange, and the poses of nodes that are
/// recorded for animations, are drawn only when asked for.
fn chosen(arguments: &Plot, tables: &[Table]) -> Result<Vec<Signal>, Failure> {
    let mut all: Vec<Signal> = Vec::new();
    let mut known = HashSet::from(["time"]);
    for column in tables.iter().flat_map(Table::columns) {
        if known.insert(&column.name) {
            all.push(Signal {
                name: column.name.clone(),
                unit: column.unit.to_string(),
            });
        }
    }
    if arguments.signals.is_empty() {
        all.retain(|signal| {
            let port = signal.name.split_once('.').map_or("", |(_, port)| port);
            !signal.name.starts_with("exchange.") && !shows_node(port)
        });
        let changing = Changing::new(tables);
        let matters = |signal: &Signal| !is_derived(&signal.name) && changing.is(&signal.name);
        if all.iter().any(matters) {
            all.retain(matters);
        }
        return Ok(all);
    }
    let mut wanted = Vec::new();
    for name in &arguments.signals {
        let before = wanted.len();
        let component = format!("{name}.");
        let belongs =
            |signal: &&Signal| signal.name == *name || signal.name.starts_with(&component);
        wanted.extend(all.iter().filter(belongs).map(|signal| Signal {
            name: signal.name.clone(),
            unit: signal.unit.clone(),
        }));
        if wanted.len() == before {
            let names = all.iter().map(|signal| signal.name.as_str());
            return Err(Failure::unknown("signal", name, names));
        }
    }
    Ok(wanted)
}

fn figure(arguments: &Plot, tables: &[Table], signals: &[Signal]) -> Figure {
    let mut figure = Figure::new(tables[0].metadata().title.clone());
    let mut units: Vec<&str> = Vec::new();
    for signal in signals {
        if !units.contains(&signal.unit.as_str()) {
            units.push(&signal.unit);
        }
    }
    for unit in units {
        let of_unit: Vec<_> = signals
            .iter()
            .filter(|signal| signal.unit == unit)
            .collect();
        let mut panel = Panel::new("time / s", axis_label(&of_unit, unit));
        for (path, table) in arguments.results.iter().zip(tables) {
            for signal in &of_unit {
                if let Some(values) = table.column(&signal.name) {
                    let label = label(signal, path, tables.len() > 1);
                    let (x, y) = window(table.time(), values, arguments.from, arguments.to);
                    panel = panel.with_series(Series::new(label, x, y));
                }
            }
        }
        figure = figure.with_panel(panel);
    }
    figure
}

fn axis_label(signals: &[&Signal], unit: &str) -> String {
    match signals {
        [only] => format!("{} / {unit}", only.name),
        _ => format!("{} / {unit}", quantity(unit)),
    }
}

fn quantity(unit: &str) -> &'static str {
    match unit {
        "m" => "displacement",
        "m/s" => "velocity",
        "m/s2" => "acceleration",
        "N" => "force",
        "N.m" => "moment",
        "rad" => "angle",
        "rad/s" => "rate",
        "rad/s2" => "angular acceleration",
        "J" => "energy",
        _ => "value",
    }
}

fn label(signal: &Signal, path: &Path, several: bool) -> String {
    if several {
        let file: PathBuf = path.file_stem().unwrap_or_default().into();
        format!("{}, {}", signal.name, file.display())
    } else {
        signal.name.clone()
    }
}

fn window(
    time: &[f64],
    values: &[f64],
    from: Option<f64>,
    to: Option<f64>,
) -> (Vec<f64>, Vec<f64>) {
    let (from, to) = (from.unwrap_or(f64::MIN), to.unwrap_or(f64::MAX));
    let pairs = time
        .iter()
        .zip(values)
        .filter(|(t, _)| (from..=to).contains(*t));
    pairs.map(|(&t, &value)| (t, value)).unzip()
}
