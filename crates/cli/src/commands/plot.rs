//! `oldham plot`: results as a picture, one panel for each unit.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use oldham_model::unit_ratio;
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
    check_units(arguments, &signals)?;
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
        let shown = Shown::of(unit, &arguments.units);
        let mut panel = Panel::new("time / s", axis_label(&of_unit, unit, shown.name));
        for (path, table) in arguments.results.iter().zip(tables) {
            for signal in &of_unit {
                if let Some(values) = table.column(&signal.name) {
                    let label = label(signal, path, tables.len() > 1);
                    let (x, mut y) = window(table.time(), values, arguments.from, arguments.to);
                    if shown.per_unit != 1.0 {
                        y.iter_mut().for_each(|value| *value *= shown.per_unit);
                    }
                    panel = panel.with_series(Series::new(label, x, y));
                }
            }
        }
        figure = figure.with_panel(panel);
    }
    figure
}

/// A unit to draw in instead of that of a signal, and how many there are of it in that.
struct Shown<'u> {
    name: &'u str,
    per_unit: f64,
}

impl<'u> Shown<'u> {
    /// The first of the units that were asked for which measures the same; for pressures bar, since Pa has too many digits.
    fn of(unit: &'u str, wanted: &'u [String]) -> Self {
        let usual = (unit == "Pa").then_some("bar");
        let mut candidates = wanted.iter().map(String::as_str).chain(usual);
        let found = candidates.find_map(|name| Some((name, unit_ratio(unit, name)?)));
        let (name, per_unit) = found.unwrap_or((unit, 1.0));
        Self { name, per_unit }
    }
}

/// Every unit that is asked for measures something that is drawn.
fn check_units(arguments: &Plot, signals: &[Signal]) -> Result<(), Failure> {
    for wanted in &arguments.units {
        let mut units = signals.iter().map(|signal| signal.unit.as_str());
        if !units.any(|unit| unit_ratio(unit, wanted).is_some()) {
            let units = signals.iter().map(|signal| signal.unit.clone());
            return Err(Failure::UnfitUnit {
                unit: wanted.clone(),
                units: units.collect::<BTreeSet<_>>().into_iter().collect(),
            });
        }
    }
    Ok(())
}

fn axis_label(signals: &[&Signal], unit: &str, shown: &str) -> String {
    match signals {
        [only] => format!("{} / {shown}", only.name),
        _ => format!("{} / {shown}", quantity(unit)),
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
        "rad/s" => "angular velocity",
        "rad/s2" => "angular acceleration",
        "J" => "energy",
        "W" => "power",
        "Pa" => "pressure",
        "m3" => "volume",
        "m3/s" => "flow",
        "kg" => "mass",
        "s" => "time",
        "Hz" => "frequency",
        "N/m" => "line load",
        "V" => "voltage",
        "A" => "current",
        "K" => "temperature",
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
