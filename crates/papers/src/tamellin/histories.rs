//! Time histories, energies and errors. Runs last 10 s, which the paper does not say; compensated
//! ones use gains for the co-simulation as it runs.

use oldham_results::metrics::nrms;
use oldham_results::plot::{Figure, Panel, Series, Style};

use super::scenario::{History, Scenario, Way};
use crate::item::{PaperError, Report};

const NOTE: &str =
    "over 10 s (the duration is not printed); gains for the co-simulation as it runs";

/// The ways in the order in which they are drawn.
const DRAWN: [Way; 3] = [Way::Plain, Way::Compensated, Way::Exact];

fn runs(scenario: &Scenario) -> Result<Vec<(Way, History)>, PaperError> {
    DRAWN
        .into_iter()
        .map(|way| Ok((way, scenario.run(way)?)))
        .collect()
}

/// A signal of all runs; what diverges is cut at a few times the reference.
fn signal(
    label: &str,
    runs: &[(Way, History)],
    pick: fn(&History) -> &Vec<f64>,
    from: f64,
) -> Panel {
    let mut panel = Panel::new("time / s", label);
    for (way, history) in runs {
        let kept = history
            .time
            .iter()
            .zip(pick(history))
            .filter(|(t, _)| **t >= from);
        let (time, values) = kept.map(|(t, v)| (*t, *v)).unzip();
        let style = match way {
            Way::Exact => Style::Reference,
            _ => Style::Line,
        };
        panel = panel.with_series(Series::new(way.name(), time, values).with_style(style));
    }
    let reference = runs.iter().filter(|(way, _)| *way == Way::Exact);
    let largest = reference
        .flat_map(|(_, history)| pick(history))
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let drawn = panel.series.iter().flat_map(|series| &series.y);
    let extreme = drawn.fold(0.0_f64, |most, value| most.max(value.abs()));
    if extreme > 3.0 * largest {
        let low = panel
            .series
            .iter()
            .flat_map(|s| &s.y)
            .any(|v| *v < -0.1 * largest);
        return panel.with_y_limit(if low { -2.5 * largest } else { 0.0 }, 2.5 * largest);
    }
    panel
}

fn motion_figure(report: &mut Report, scenario: &Scenario) -> Result<(), PaperError> {
    let runs = runs(scenario)?;
    let title = format!("Coupling displacement and force: {}", scenario.name);
    let last = runs
        .first()
        .and_then(|(_, h)| h.time.last())
        .copied()
        .unwrap_or(0.0);
    let [displacement, force] = ["displacement / m", "force / N"];
    let figure = Figure::new(title)
        .with_panel(signal(displacement, &runs, |h| &h.displacement, 0.0))
        .with_panel(signal(force, &runs, |h| &h.force, 0.0))
        .with_panel(signal(
            displacement,
            &runs,
            |h| &h.displacement,
            0.95 * last,
        ))
        .with_panel(signal(force, &runs, |h| &h.force, 0.95 * last));
    errors(report, scenario, &[None; 8])?;
    report.picture(&figure)
}

fn energy_figure(
    report: &mut Report,
    title: &str,
    scenarios: &[Scenario],
) -> Result<(), PaperError> {
    let mut figure = Figure::new(title);
    for scenario in scenarios {
        let runs = runs(scenario)?;
        figure = figure.with_panel(signal("energy / J", &runs, |h| &h.energy, 0.0));
        let (_, reference) = runs.last().expect("the reference is run last");
        for (way, history) in &runs[..2] {
            let error = nrms(&history.energy, &reference.energy).unwrap_or(f64::NAN);
            let what = format!("{}, {}: error of the energy", scenario.name, way.name());
            report.row(what, None, error, "NRMS", NOTE);
        }
    }
    report.picture(&figure)
}

pub(super) fn fig_11(report: &mut Report) -> Result<(), PaperError> {
    motion_figure(report, &Scenario::undamped())
}

pub(super) fn fig_12(report: &mut Report) -> Result<(), PaperError> {
    energy_figure(
        report,
        "Energy, undamped, Ts = 1 ms",
        &[Scenario::undamped()],
    )
}

pub(super) fn fig_14(report: &mut Report) -> Result<(), PaperError> {
    motion_figure(report, &Scenario::damped())
}

pub(super) fn fig_15(report: &mut Report) -> Result<(), PaperError> {
    let scenarios = [Scenario::damped(), Scenario::coarse()];
    energy_figure(
        report,
        "Energy, damped, Ts = 1 ms (above) and 4 ms (below)",
        &scenarios,
    )
}

pub(super) fn fig_16(report: &mut Report) -> Result<(), PaperError> {
    motion_figure(report, &Scenario::coarse())
}

fn swept() -> [Scenario; 3] {
    [Scenario::undamped(), Scenario::damped(), Scenario::coarse()].map(Scenario::swept)
}

pub(super) fn fig_17(report: &mut Report) -> Result<(), PaperError> {
    let title = "Energy under a chirp: undamped 1 ms, damped 1 ms, damped 4 ms";
    energy_figure(report, title, &swept())
}

pub(super) fn fig_21(report: &mut Report) -> Result<(), PaperError> {
    energy_figure(
        report,
        "Energy, four masses, Ts = 3 ms",
        &[Scenario::four_mass()],
    )
}

pub(super) fn fig_22(report: &mut Report) -> Result<(), PaperError> {
    motion_figure(report, &Scenario::four_mass())
}

/// Errors of displacement and force: monolithic, without and with compensation; printed values in
/// the same order, displacement first.
fn errors(
    report: &mut Report,
    scenario: &Scenario,
    printed: &[Option<f64>],
) -> Result<(), PaperError> {
    let reference = scenario.run(Way::Exact)?;
    for (index, way) in [Way::Monolithic, Way::Plain, Way::Compensated]
        .into_iter()
        .enumerate()
    {
        let run = scenario.run(way)?;
        let x = nrms(&run.displacement, &reference.displacement).unwrap_or(f64::NAN);
        let f = nrms(&run.force, &reference.force).unwrap_or(f64::NAN);
        for (offset, (what, error)) in [("displacement", x), ("force", f)].into_iter().enumerate() {
            let name = format!("{}, {}, {what}", scenario.name, way.name());
            let printed = printed.get(2 * index + offset).copied().flatten();
            report.row(name, printed, error, "NRMS", NOTE);
        }
    }
    Ok(())
}

fn error_table(
    report: &mut Report,
    scenarios: &[Scenario],
    printed: &[[f64; 6]],
) -> Result<(), PaperError> {
    for (scenario, printed) in scenarios.iter().zip(printed) {
        errors(report, scenario, &printed.map(Some))?;
    }
    Ok(())
}

pub(super) fn table_5(report: &mut Report) -> Result<(), PaperError> {
    let scenarios = [Scenario::undamped(), Scenario::damped(), Scenario::coarse()];
    let printed = [
        [0.027, 0.004, 5.159, 1.614, 0.047, 0.038],
        [0.010, 0.010, 0.582, 0.171, 0.003, 0.001],
        [0.031, 0.005, 4.909, 1.939, 0.032, 0.016],
    ];
    error_table(report, &scenarios, &printed)
}

pub(super) fn table_6(report: &mut Report) -> Result<(), PaperError> {
    let printed = [
        [0.024, 0.021, 0.262, 0.239, 0.150, 0.138],
        [0.040, 0.042, 0.155, 0.122, 0.099, 0.084],
        [0.097, 0.095, 0.232, 0.182, 0.007, 0.008],
    ];
    error_table(report, &swept(), &printed)
}

pub(super) fn table_9(report: &mut Report) -> Result<(), PaperError> {
    let printed = [[0.024, 0.053, 1.906, 0.230, 0.136, 0.046]];
    error_table(report, &[Scenario::four_mass()], &printed)
}
