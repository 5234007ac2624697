//! What compensation costs: wall time of repeated runs without and with it.

use std::time::Instant;

use oldham_cosim::{Discard, Run};
use oldham_results::plot::{Figure, Panel, Series};

use super::scenario::{Scenario, Way};
use crate::item::{PaperError, Report};

/// Repeated runs; the paper has 1000.
const RUNS: usize = 200;

pub(super) fn fig_13(report: &mut Report) -> Result<(), PaperError> {
    overhead(
        report,
        &Scenario::undamped(),
        [1.60, 1.92, 20.0],
        [0.03, 0.03],
    )
}

pub(super) fn fig_23(report: &mut Report) -> Result<(), PaperError> {
    overhead(
        report,
        &Scenario::four_mass(),
        [0.35, 0.41, 17.0],
        [0.03, 0.04],
    )
}

/// Mean and standard deviation of the time of a run, in seconds.
fn timed(scenario: &Scenario, way: Way) -> Result<(f64, f64), PaperError> {
    let steps = scenario.model(way)?.steps();
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let mut simulation = scenario.simulation(way)?;
        let mut nothing = Discard;
        let start = Instant::now();
        simulation
            .run(Run {
                record_every: u64::MAX,
                ..Run::new(steps, &mut nothing)
            })
            .end?;
        times.push(start.elapsed().as_secs_f64());
    }
    // Other load only ever adds time: the slowest tenth is left out.
    times.sort_by(f64::total_cmp);
    times.truncate(RUNS - RUNS / 10);
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / count;
    Ok((mean, variance.sqrt()))
}

fn overhead(
    report: &mut Report,
    scenario: &Scenario,
    printed: [f64; 3],
    deviations: [f64; 2],
) -> Result<(), PaperError> {
    let note = "200 runs of 10 s without the slowest tenth, which other load made slow; design apart; the print is of a program in MATLAB, 1000 runs";
    let mut panel = Panel::new("time of a run / ms", "density / (1/ms)");
    let mut means = [0.0; 2];
    for (index, way) in [Way::Plain, Way::Compensated].into_iter().enumerate() {
        let (mean, deviation) = timed(scenario, way)?;
        means[index] = mean;
        report
            .row(
                format!("mean time {}", way.name()),
                printed[index],
                mean,
                "s",
                note,
            )
            .by_the_clock();
        report
            .row(
                format!("standard deviation {}", way.name()),
                deviations[index],
                deviation,
                "s",
                note,
            )
            .by_the_clock();
        let (mean, deviation) = (1e3 * mean, 1e3 * deviation);
        let places = (0..=80).map(|i| mean + deviation * (f64::from(i) / 10.0 - 4.0));
        // A wide distribution would reach below nothing, where no run is.
        let places = places.filter(|&time| time >= 0.0);
        let density = |x: f64| {
            let distance = (x - mean) / deviation;
            (-0.5 * distance * distance).exp() / (deviation * std::f64::consts::TAU.sqrt())
        };
        let (x, y) = places.map(|x| (x, density(x))).unzip();
        panel = panel.with_series(Series::new(way.name(), x, y));
    }
    let share = 100.0 * (means[1] / means[0] - 1.0);
    let note = "of masses and springs that cost almost nothing themselves; `oldham bench compensation` measures it beside a real subsystem";
    report
        .row("added by compensation", printed[2], share, "%", note)
        .by_the_clock();
    let title = format!(
        "Normal distributions of the time of {RUNS} runs: {}",
        scenario.name
    );
    report.picture(&Figure::new(title).with_panel(panel))
}
