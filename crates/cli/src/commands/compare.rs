//! `oldham compare`: one model under several schemes, against a reference.

use std::collections::HashMap;
use std::path::Path;

use oldham_cosim::{End, InMemory, Outcome, Run, Simulation};
use oldham_lumped::Integrator;
use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Series, Style};
use oldham_results::{metrics, read, resample};
use serde_json::{Value, json};

use crate::args::Compare;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Bar;
use crate::say;
use crate::table::{Table, number};
use crate::{interrupt, load};

/// The schemes that are tried when none is asked for.
const SCHEMES: [(&str, &[(&str, &str)]); 6] = [
    ("as in the file", &[]),
    ("gauss-seidel", &[("schedule.kind", "gauss-seidel")]),
    ("first-order", &[("schedule.predictor", "first-order")]),
    ("second-order", &[("schedule.predictor", "second-order")]),
    ("refreshed outputs", &[("schedule.refresh", "true")]),
    (
        "tight",
        &[
            ("schedule.coupling", "tight"),
            ("schedule.predictor", "first-order"),
        ],
    ),
];

/// The schemes of cuts.
const CUT_SCHEMES: [&str; 3] = ["interface-tangent", "interface-mass", "force-displacement"];

type Settings = Vec<(String, String)>;

/// The usual schemes. Of a mechanism that is cut, and exchanges nothing else, those of its cut; of a
/// model with compensators also what they do, and the others without them.
fn schemes(model: &Model) -> Vec<(String, Settings)> {
    if model.is_cut() && model.subsystems().len() == 1 {
        return cut_schemes(model);
    }
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let usual = SCHEMES
        .iter()
        .map(|(name, changes)| ((*name).to_owned(), changes.iter().map(owned).collect()));
    if model.compensators().len() == 0 {
        return usual.collect();
    }
    let all = |method: &str| -> Settings {
        let names = model.compensators();
        names
            .map(|name| (format!("compensator.{name}.method"), method.to_owned()))
            .collect()
    };
    let mut schemes = vec![
        ("as in the file".to_owned(), Settings::new()),
        ("uncompensated".to_owned(), all("none")),
        ("assignment".to_owned(), all("assignment")),
        ("structural".to_owned(), all("structural")),
    ];
    let learned = [("schedule.predictor".to_owned(), "dmd".to_owned())];
    schemes.push((
        "learned (dmd)".to_owned(),
        [&all("none")[..], &learned].concat(),
    ));
    let others = usual.filter(|(_, changes): &(_, Settings)| !changes.is_empty());
    schemes.extend(others.map(|(name, changes)| (name, [all("none"), changes].concat())));
    schemes
}

fn cut_schemes(model: &Model) -> Vec<(String, Settings)> {
    let all = |scheme: &str| -> Settings {
        let names = model.cut_mechanisms();
        names
            .map(|name| (format!("multibody.{name}.cut.scheme"), scheme.to_owned()))
            .collect()
    };
    let file = ("as in the file".to_owned(), Settings::new());
    let others = CUT_SCHEMES.map(|scheme| (scheme.to_owned(), all(scheme)));
    [file].into_iter().chain(others).collect()
}

pub fn execute(arguments: &Compare) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let variants = variants(&model, arguments)?;
    let bar = Bar::of_items(variants.len() as u64, arguments.json);
    let mut tried = Vec::new();
    for (position, (name, settings)) in variants.iter().enumerate() {
        bar.item(position as u64, name);
        let model = load::with_overrides(&arguments.model.model, settings)?;
        tried.push(attempt(name, settings, &model, arguments)?);
    }
    drop(bar);
    let signal = drawn_signal(arguments, &tried)?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-compare.svg"));
    draw(&model, &tried, &signal, &out)?;
    if arguments.json {
        say!("{:#}", as_json(&model, arguments, &tried, &out));
    } else {
        print(&model, arguments, &tried);
        say!("picture: {}", out.display());
    }
    Ok(())
}

/// All combinations of the varied settings, or the usual schemes.
fn variants(model: &Model, arguments: &Compare) -> Result<Vec<(String, Settings)>, Failure> {
    let base = &arguments.model.set;
    let with = |changes: &[(String, String)]| {
        // A later setting of the same key wins.
        let kept = base
            .iter()
            .filter(|(key, _)| !changes.iter().any(|(k, _)| k == key));
        kept.chain(changes).cloned().collect::<Settings>()
    };
    if arguments.vary.is_empty() {
        let mut usual = Vec::new();
        for (name, changes) in schemes(model) {
            let settings = with(&changes);
            // A scheme that does not go with this model (a loop of feedthrough, say) is left out.
            let usable = load::with_overrides(&arguments.model.model, &settings)
                .is_ok_and(|model| model.simulation().is_ok());
            if usable || changes.is_empty() {
                usual.push((name, settings));
            }
        }
        return Ok(usual);
    }
    let mut combinations: Vec<Settings> = vec![Vec::new()];
    for (key, values) in &arguments.vary {
        let extended = combinations.iter().flat_map(|done| {
            values.iter().map(|value| {
                let mut more = done.clone();
                more.push((key.clone(), value.clone()));
                more
            })
        });
        combinations = extended.collect();
    }
    let named = |changes: Settings| {
        let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
        let parts = changes.iter().map(|(key, value)| {
            let alike = changes.iter().filter(|(other, _)| last(other) == last(key));
            let short = last(key).filter(|_| alike.count() == 1);
            format!("{}={value}", short.as_deref().unwrap_or(key))
        });
        (parts.collect::<Vec<_>>().join(" "), with(&changes))
    };
    Ok(combinations.into_iter().map(named).collect())
}

/// A variant that was run, beside its reference.
struct Tried {
    name: String,
    settings: Settings,
    time: Vec<f64>,
    signals: Vec<Signal>,
    energy: Option<(Vec<f64>, Vec<f64>)>,
    outcome: Outcome,
}

struct Signal {
    name: String,
    unit: String,
    values: Vec<f64>,
    reference: Vec<f64>,
    /// Normalised root mean square error (Tamellin 2022, Eq. 42), where it is defined.
    error: Option<f64>,
}

impl Tried {
    fn worst(&self) -> Option<&Signal> {
        let defined = self.signals.iter().filter(|signal| signal.error.is_some());
        defined.max_by(|a, b| a.error.unwrap_or(0.0).total_cmp(&b.error.unwrap_or(0.0)))
    }

    /// Difference of the final energies, relative to the reference's largest.
    fn energy_error(&self) -> Option<f64> {
        let (energy, reference) = self.energy.as_ref()?;
        let largest = reference.iter().fold(0.0_f64, |most, e| most.max(e.abs()));
        let difference = energy.last()? - reference.get(energy.len() - 1)?;
        (largest > 0.0).then(|| difference / largest)
    }

    fn status(&self) -> &'static str {
        match self.outcome.end {
            Ok(_) => "ran",
            Err(_) => "stopped",
        }
    }
}

fn attempt(
    name: &str,
    settings: &Settings,
    model: &Model,
    arguments: &Compare,
) -> Result<Tried, Failure> {
    let (coupled, recorded, outcome) = solve(model.simulation()?, model)?;
    let reference = Reference::of(model, &arguments.reference)?;
    let mut signals = Vec::new();
    let mut energy = None;
    for (index, column) in coupled.columns().iter().enumerate() {
        let values = recorded.column(index);
        let Some(expected) = reference.column(&column.name, &recorded.times)? else {
            continue;
        };
        if column.name == "energy.total" {
            energy = Some((values, expected));
        } else if !column.name.starts_with("energy.") {
            signals.push(Signal {
                name: column.name.clone(),
                unit: column.unit.to_string(),
                error: metrics::nrms(&values, &expected).ok(),
                values,
                reference: expected,
            });
        }
    }
    overlook_rounding(&mut signals);
    Ok(Tried {
        name: name.into(),
        settings: settings.clone(),
        time: recorded.times,
        signals,
        energy,
        outcome,
    })
}

/// A signal that varies less than this beside others of its unit shows little but rounding, such as
/// the acceleration of a node that is held.
const QUIET: f64 = 1e-6;

/// An arm in m, shorter than any of interest: moments that vary less than forces at a `QUIET` part of
/// it are rounding too, where all moments are.
const SHORT_ARM: f64 = 1e-4;

/// Signals that show nothing but rounding have no error worth telling.
fn overlook_rounding(signals: &mut [Signal]) {
    let mut widest: HashMap<String, f64> = HashMap::new();
    for signal in &*signals {
        let width = widest.entry(signal.unit.clone()).or_default();
        *width = width.max(span(&signal.reference));
    }
    if let Some(&force) = widest.get("N") {
        let moment = widest.entry("N.m".into()).or_default();
        *moment = moment.max(SHORT_ARM * force);
    }
    for signal in signals {
        if span(&signal.reference) < QUIET * widest[&signal.unit] {
            signal.error = None;
        }
    }
}

/// The distance between the largest and the smallest value.
fn span(values: &[f64]) -> f64 {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
            (low.min(v), high.max(v))
        });
    (high - low).max(0.0)
}

fn solve(
    mut simulation: Simulation,
    model: &Model,
) -> Result<(Simulation, InMemory, Outcome), Failure> {
    let mut recorded = InMemory::default();
    let outcome = simulation.run(Run {
        threads: model.threads(),
        record_every: model.record_every(),
        energy_bound: model.energy_bound(),
        cancel: Some(interrupt::watch()),
        ..Run::new(model.steps(), &mut recorded)
    });
    if outcome.end == Ok(End::Cancelled) {
        return Err(Failure::Interrupted);
    }
    Ok((simulation, recorded, outcome))
}

/// What a variant is compared with.
enum Reference {
    Twin(Box<Simulation>, InMemory),
    File(oldham_results::Table),
}

impl Reference {
    fn of(model: &Model, what: &str) -> Result<Self, Failure> {
        let integrator = match what {
            "monolithic" => None,
            "exact" => Some(Integrator::Exact),
            path if Path::new(path).exists() => {
                return Ok(Self::File(read(Path::new(path))?));
            }
            other => return Err(Failure::NoReference { name: other.into() }),
        };
        let (twin, recorded, outcome) = solve(model.monolithic(integrator)?, model)?;
        match outcome.end {
            Ok(_) => Ok(Self::Twin(Box::new(twin), recorded)),
            Err(fault) => Err(Failure::Run {
                answer: Box::new(json!({"status": "failed", "error": fault.to_string()})),
                fault,
                results: None,
            }),
        }
    }

    /// A column of the reference at the given times, if it has it.
    fn column(&self, name: &str, times: &[f64]) -> Result<Option<Vec<f64>>, Failure> {
        let (reference_times, values) = match self {
            Self::Twin(twin, recorded) => {
                let Some(index) = twin.columns().iter().position(|c| c.name == name) else {
                    return Ok(None);
                };
                (recorded.times.as_slice(), recorded.column(index))
            }
            Self::File(table) => match table.column(name) {
                Some(values) => (table.time(), values.to_vec()),
                None => return Ok(None),
            },
        };
        Ok(resample(reference_times, &values, times).ok())
    }
}

fn drawn_signal(arguments: &Compare, tried: &[Tried]) -> Result<String, Failure> {
    let signals = tried.first().map_or(&[][..], |first| &first.signals);
    let names = || signals.iter().map(|signal| signal.name.as_str());
    let Some(wanted) = &arguments.signal else {
        // The one that shows the differences best; displacements before their derivatives.
        let worst = tried.iter().flat_map(|variant| &variant.signals);
        let error = |signal: &Signal| {
            let derived = signal.unit.ends_with("/s") || signal.unit.ends_with("/s2");
            (!derived, signal.error.unwrap_or(0.0))
        };
        let worst = worst.max_by(|a, b| {
            let (a, b) = (error(a), error(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        return Ok(worst.map(|signal| signal.name.clone()).unwrap_or_default());
    };
    if names().any(|name| name == wanted) {
        return Ok(wanted.clone());
    }
    Err(Failure::unknown("signal", wanted, names()))
}

fn print(model: &Model, arguments: &Compare, tried: &[Tried]) {
    say!("{}: compared with {}\n", model.name(), arguments.reference);
    let mut table = Table::new([
        "variant",
        "worst NRMS",
        "of signal",
        "energy error",
        "from nowhere / J",
        "us per step",
        "",
    ]);
    let or_dash = |value: Option<f64>| value.map_or_else(|| "-".into(), number);
    for variant in tried {
        let worst = variant.worst();
        table.row([
            variant.name.clone(),
            or_dash(worst.and_then(|signal| signal.error)),
            worst.map_or_else(|| "-".into(), |signal| signal.name.clone()),
            variant.energy_error().map_or_else(|| "-".into(), percent),
            or_dash(variant.outcome.summary.imbalance),
            number(variant.outcome.summary.step_us[0]),
            variant.status().into(),
        ]);
    }
    say!("{table}");
    for variant in tried {
        if let Err(fault) = &variant.outcome.end {
            say!("{}\n", fold(&format!("{}: {fault}", variant.name), 2));
        }
    }
}

fn percent(fraction: f64) -> String {
    if fraction.abs() < 1e-6 {
        format!("{:.1e} %", 100.0 * fraction)
    } else {
        format!("{} %", number(100.0 * fraction))
    }
}

fn as_json(model: &Model, arguments: &Compare, tried: &[Tried], out: &Path) -> Value {
    let signal = |signal: &Signal| json!({"name": signal.name, "nrms": signal.error});
    let variant = |variant: &Tried| {
        let settings = variant.settings.iter();
        json!({
            "name": variant.name,
            "set": settings.map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>(),
            "status": variant.status(),
            "fault": variant.outcome.end.as_ref().err().map(ToString::to_string),
            "signals": variant.signals.iter().map(signal).collect::<Vec<_>>(),
            "energy_error": variant.energy_error(),
            "summary": variant.outcome.summary,
        })
    };
    json!({
        "command": "compare",
        "model": model.name(),
        "reference": arguments.reference,
        "variants": tried.iter().map(variant).collect::<Vec<_>>(),
        "picture": out,
    })
}

/// Energy above, one signal below; the reference is dotted.
fn draw(model: &Model, tried: &[Tried], signal: &str, out: &Path) -> Result<(), Failure> {
    let mut figure = Figure::new(model.name());
    let energies: Vec<_> = tried
        .iter()
        .filter_map(|variant| Some((variant, variant.energy.as_ref()?)))
        .collect();
    if let Some((first, (_, reference))) = energies.first() {
        let mut panel = Panel::new("time / s", "stored energy / J");
        for (variant, (energy, _)) in &energies {
            panel = panel.with_series(series(&variant.name, &variant.time, energy));
        }
        panel = panel.with_series(reference_series(&first.time, reference));
        panel = limited(panel, reference);
        figure = figure.with_panel(panel);
    }
    let chosen = |variant: &Tried| variant.signals.iter().position(|s| s.name == signal);
    if let Some((variant, index)) = tried.first().and_then(|v| Some((v, chosen(v)?))) {
        let drawn = &variant.signals[index];
        let mut panel = Panel::new("time / s", format!("{} / {}", drawn.name, drawn.unit));
        for variant in tried {
            if let Some(index) = chosen(variant) {
                let values = &variant.signals[index].values;
                panel = panel.with_series(series(&variant.name, &variant.time, values));
            }
        }
        panel = panel.with_series(reference_series(&variant.time, &drawn.reference));
        panel = limited(panel, &drawn.reference);
        figure = figure.with_panel(panel);
    }
    Ok(figure.save(out)?)
}

fn series(name: &str, time: &[f64], values: &[f64]) -> Series {
    Series::new(name, time.to_vec(), values.to_vec())
}

fn reference_series(time: &[f64], values: &[f64]) -> Series {
    series("reference", time, values).with_style(Style::Reference)
}

/// A diverging variant must not flatten the others: the panel shows a few times the reference.
fn limited(panel: Panel, reference: &[f64]) -> Panel {
    let low = reference.iter().copied().fold(f64::INFINITY, f64::min);
    let high = reference.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let size = low.abs().max(high.abs());
    let drawn = panel.series.iter().flat_map(|series| &series.y);
    let extreme = drawn.fold(0.0_f64, |most, y| {
        if y.is_finite() {
            most.max(y.abs())
        } else {
            most
        }
    });
    if size > 0.0 && extreme > 4.0 * size {
        let floor = if low < 0.0 { -3.0 * size } else { 0.0 };
        return panel.with_y_limit(floor, 3.0 * size);
    }
    panel
}
