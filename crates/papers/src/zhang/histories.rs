//! The motion of the two-mass oscillator, its errors and what they cost.

use std::time::Instant;

use oldham_cosim::{InMemory, Run};
use oldham_results::plot::{Figure, Panel, Scale, Series, Style};

use super::{TWO_MASS, implicit, law};
use crate::item::{PaperError, Report, Settings, model_with};

const SQUARE: f64 = 5000.0;
const DURATION: f64 = 0.5;
const STEPS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];
/// Position and velocity of the smooth mass.
const SIGNALS: [&str; 2] = ["smooth.x1.x", "smooth.x1.v"];

/// What is computed, with its name in the paper.
fn schemes() -> [(&'static str, Settings); 5] {
    [
        ("original", vec![law("original")]),
        ("index-3", vec![law("index-3")]),
        ("index-2", vec![law("index-2")]),
        ("index-1", vec![law("index-1")]),
        ("implicit", implicit()),
    ]
}

/// The tolerance and the bound of the paper's implicit reference.
fn as_printed(mut settings: Settings) -> Settings {
    if settings.iter().any(|(key, _)| *key == "schedule.coupling") {
        settings.push(("schedule.implicit.relative", "1e-6".into()));
    }
    settings
}

struct History {
    times: Vec<f64>,
    /// Position and velocity.
    values: [Vec<f64>; 2],
    wall: f64,
    /// How often a part was advanced over a macro step, over the number of steps.
    advances_per_step: f64,
}

fn run(settings: &Settings, step: f64) -> Result<History, PaperError> {
    let mut settings = settings.clone();
    settings.push(("simulation.step", step.to_string()));
    let model = model_with(TWO_MASS, &settings)?;
    let mut simulation = model.simulation()?;
    let place = |signal: &str| {
        let mut columns = simulation.columns().iter();
        let place = columns.position(|column| column.name == signal);
        place.expect("the model has this signal")
    };
    let columns = SIGNALS.map(place).to_vec();
    let mut memory = InMemory::default();
    let steps = (DURATION / step).round();
    let start = Instant::now();
    let outcome = simulation.run(Run {
        threads: 1,
        record_columns: Some(columns),
        ..Run::new(steps as u64, &mut memory)
    });
    let wall = start.elapsed().as_secs_f64();
    outcome.end?;
    let advances = outcome.summary.parts[0].counters.micro_steps as f64;
    Ok(History {
        values: [memory.column(0), memory.column(1)],
        times: memory.times,
        wall,
        advances_per_step: advances / steps,
    })
}

/// Position and velocity of both masses together, exactly.
fn exact(t: f64) -> [f64; 2] {
    let frequency = (SQUARE / 2.0).sqrt();
    let (sin, cos) = (frequency * t).sin_cos();
    [0.1 / frequency * sin, 0.1 * cos]
}

/// Eq. 47, of position or velocity.
fn error(history: &History, order: usize) -> f64 {
    let exact = |t: &f64| exact(*t)[order];
    let (found, times) = (&history.values[order], &history.times);
    let differences = found.iter().zip(times).map(|(x, t)| (x - exact(t)).abs());
    let sizes = times.iter().map(|t| exact(t).abs());
    differences.sum::<f64>() / sizes.sum::<f64>()
}

pub(super) fn fig_8(report: &mut Report) -> Result<(), PaperError> {
    let mut figure = Figure::new("Position of the smooth mass, coupled and exact");
    for (name, settings) in &schemes()[..4] {
        let history = run(settings, 1e-3)?;
        let largest = history.values[0]
            .iter()
            .fold(0.0, |a: f64, x| a.max(x.abs()));
        let row = format!("{name}: largest position");
        let note = "within 0.5 s at dt = 1 ms; exact: 2 mm; the print is a picture";
        report.row(row, None, largest, "m", note);
        let exact = history.times.iter().map(|&t| exact(t)[0]).collect();
        let panel = Panel::new("time / s", format!("{name}: x / m"))
            .with_series(Series::new("exact", history.times.clone(), exact))
            .with_series(Series::new(*name, history.times, history.values[0].clone()));
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}

pub(super) fn fig_9(report: &mut Report) -> Result<(), PaperError> {
    let mut figure = Figure::new("Relative errors over 0.5 s (Eq. 47)");
    let labels = ["error of the position", "error of the velocity"];
    let mut panels =
        labels.map(|label| Panel::new("step / s", label).with_scales(Scale::Log, Scale::Log));
    for (name, settings) in &schemes()[1..] {
        let mut errors = [Vec::new(), Vec::new()];
        for step in STEPS {
            let history = run(&as_printed(settings.clone()), step)?;
            for (order, errors) in errors.iter_mut().enumerate() {
                errors.push(error(&history, order));
            }
        }
        for (quantity, errors) in ["x", "v"].into_iter().zip(&errors) {
            for (step, error) in STEPS.iter().zip(errors) {
                let row = format!("{name}: error of {quantity} at {step:e} s");
                report.row(row, None, *error, "1", "the print is a picture");
            }
            let order = (errors[2] / errors[3]).log10();
            let note = "from 0.1 ms to 0.01 ms; printed: approximately first order";
            report.row(
                format!("{name}: order of {quantity}"),
                None,
                order,
                "1",
                note,
            );
        }
        let [x, v] = errors;
        let [positions, velocities] = panels;
        let series = |errors| Series::new(*name, STEPS.to_vec(), errors).with_style(Style::Points);
        panels = [
            positions.with_series(series(x)),
            velocities.with_series(series(v)),
        ];
    }
    for panel in panels {
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}

pub(super) fn table_1(report: &mut Report) -> Result<(), PaperError> {
    let printed = [
        ("index-1", [0.11, 1.20, 11.81, 125.22]),
        ("index-2", [0.11, 1.22, 11.55, 121.56]),
        ("index-3", [0.10, 1.16, 11.52, 122.40]),
        ("implicit", [1.18, 13.39, 117.77, 1012.66]),
    ];
    for (name, times) in printed {
        let all = schemes();
        let (_, settings) = all.iter().find(|(known, _)| *known == name).expect("known");
        for (step, printed) in STEPS.into_iter().zip(times) {
            let history = run(&as_printed(settings.clone()), step)?;
            let row = format!("{name}: time at {step:e} s");
            let note = "0.5 s on one thread; printed: MBDyn and Chrono, duration not stated";
            report
                .row(row, printed, history.wall, "s", note)
                .by_the_clock();
            if step == 1e-3 {
                let row = format!("{name}: steps of the smooth side for each macro step");
                let note = "what makes implicit coupling dear";
                report.row(row, None, history.advances_per_step, "1", note);
            }
        }
    }
    Ok(())
}
