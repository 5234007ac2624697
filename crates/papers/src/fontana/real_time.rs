//! The car in real time: steps of 0.3 ms by the clock on the wall, whole and cut, with nobody, with a
//! viewer who looks on and with one who has stopped taking anything; and with the scheduling class SCHED_FIFO, where
//! the system grants it: what is left of the lateness then is not the scheduler's.
//!
//! The paper aims at real time and prints no lateness; there is nothing to compare with but the
//! deadlines themselves.

use oldham_cosim::{Discard, Outcome, Pacing, Run, Simulation, Tap};
use oldham_model::Model;
use oldham_real_time::{Privileges, Wishes};
use oldham_results::plot::{Figure, Panel, Scale, Series};
use oldham_scene::{Showing, Staging};
use oldham_study::{ModelFile, StudyError, first_row};
use oldham_web::{Server, Spectator, Stage};

use std::sync::Arc;

use super::run::cores;
use crate::item::{PaperError, Report};

const CAR: &str = include_str!("../../../../examples/formula-student.toml");
/// Seconds of each run, if nobody says otherwise.
const SECONDS: f64 = 60.0;
/// Of the car, in s.
const STEP: f64 = 3e-4;
/// Of threads that come first, as `oldham run --fifo` has it.
const PRIORITY: u8 = 20;
/// Rows a second that viewers are shown.
const RATE: f64 = 60.0;

/// Steps and repetitions of the runs that show what cutting saves.
const UNPACED: u64 = 10_000;
const REPEATS: usize = 3;

/// Who looks on.
#[derive(Clone, Copy, PartialEq)]
enum Audience {
    Nobody,
    Viewer,
    Stalled,
    /// Nobody, and the threads come before all others.
    First,
}

impl Audience {
    const ALL: [Self; 4] = [Self::Nobody, Self::Viewer, Self::Stalled, Self::First];

    fn words(self) -> &'static str {
        match self {
            Self::Nobody => "no viewer",
            Self::Viewer => "a viewer",
            Self::Stalled => "a stalled viewer",
            Self::First => "SCHED_FIFO",
        }
    }

    fn wishes(self) -> Wishes {
        Wishes {
            fifo: (self == Self::First).then_some(PRIORITY),
            ..Wishes::default()
        }
    }
}

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let seconds = report.seconds().unwrap_or(SECONDS);
    let steps = (seconds / STEP).round().max(1.0);
    let model = ModelFile::of_text("formula-student.toml", CAR)
        .set("v0", 100.0 / 3.6)
        .set("t_step", 1.0)
        .set("simulation.duration", format!("{steps} * {STEP}"))
        .read()
        .map_err(StudyError::from)?;
    let mut panels = Vec::new();
    for is_cut in [false, true] {
        let kind = if is_cut { "cut" } else { "whole" };
        let mut alone = f64::NAN;
        let mut panel = Panel::new(format!("time of a step / us, {kind}"), "steps")
            .with_scales(Scale::Log, Scale::Log);
        for audience in Audience::ALL {
            let mut simulation = match is_cut {
                true => model.simulation()?,
                false => model.monolithic(None)?,
            };
            let initial = first_row(&mut simulation)?;
            let columns = simulation.columns();
            let shown = model.recorded(columns)?;
            let (film, taken) = Staging::of_run(&model, columns, &initial, &shown);
            let stage = Stage::new(Vec::new(), |_| {});
            let server = Server::start(([127, 0, 0, 1], 0).into(), &film, Some(stage.clone()))?;
            let viewer = match audience {
                Audience::Nobody | Audience::First => None,
                Audience::Viewer => Some(Spectator::taking(&server)?),
                Audience::Stalled => Some(Spectator::stalled(&server)?),
            };
            let privileges = Arc::new(Privileges::new(audience.wishes()));
            let outcome = run(simulation, &model, &taken, &stage, audience, &privileges);
            privileges.give_back();
            drop(server);
            viewer.map(Spectator::leave);
            let case = format!("{kind}, {}", audience.words());
            told(report, &case, &outcome, &privileges);
            let p99 = outcome.summary.step_us[1];
            match audience {
                Audience::Nobody => alone = p99,
                Audience::Viewer | Audience::First => {}
                Audience::Stalled => {
                    let note = "99th percentile of the time of a step over that without a viewer";
                    report.row(format!("{case}: times"), None, p99 / alone, "1", note);
                }
            }
            let histogram = &outcome.summary.step_histogram;
            panel = panel.with_series(Series::new(
                audience.words(),
                histogram.iter().map(|(below, _)| *below).collect(),
                histogram.iter().map(|(_, count)| *count as f64).collect(),
            ));
            outcome.end?;
        }
        panels.push(panel);
    }
    let saved = 100.0 * (1.0 - unpaced(&model, true)? / unpaced(&model, false)?);
    let note = format!(
        "median time of a step, cut against whole, without clock and viewer, best of {REPEATS}, {} threads; printed: nearly 50, a core for each part",
        a_core_each()
    );
    report
        .row("time that cutting saves", 50.0, saved, "%", &note)
        .by_the_clock();
    let figure = Figure::new("Times of the steps of the car in real time");
    report.picture(&panels.into_iter().fold(figure, Figure::with_panel))
}

/// Threads of the car in two parts.
fn a_core_each() -> usize {
    cores().clamp(1, 2)
}

/// The median time of a step in us, of the run that other programs disturbed least.
fn unpaced(model: &Model, is_cut: bool) -> Result<f64, PaperError> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let mut simulation = match is_cut {
            true => model.simulation()?,
            false => model.monolithic(None)?,
        };
        let outcome = simulation.run(Run {
            threads: a_core_each(),
            record_every: u64::MAX,
            record_columns: Some(Vec::new()),
            ..Run::new(model.steps().min(UNPACED), &mut Discard)
        });
        best = best.min(outcome.summary.step_us[0]);
        outcome.end?;
    }
    Ok(best)
}

fn run(
    mut simulation: Simulation,
    model: &Model,
    columns: &[usize],
    stage: &Stage,
    audience: Audience,
    privileges: &Arc<Privileges>,
) -> Outcome {
    let mut showing = Showing(stage.clone());
    // Whoever looks on needs a core: on two, the car runs on one.
    let threads = cores().saturating_sub(1).clamp(1, 2);
    let wanted = privileges.clone();
    simulation.run(Run {
        threads,
        record_every: u64::MAX,
        record_columns: Some(Vec::new()),
        tap: matches!(audience, Audience::Viewer | Audience::Stalled).then(|| Tap {
            every: (1.0 / RATE / model.step()).round().max(1.0) as u64,
            columns: Some(columns.to_vec()),
            recorder: &mut showing,
        }),
        pace: Some(Pacing {
            thread_start: Some(Arc::new(move |thread| wanted.take(thread))),
            ..Pacing::new(1.0)
        }),
        ..Run::new(model.steps(), &mut Discard)
    })
}

fn told(report: &mut Report, case: &str, outcome: &Outcome, privileges: &Privileges) {
    let summary = &outcome.summary;
    let Some(lateness) = &summary.lateness else {
        return;
    };
    let note = format!(
        "of {} steps of 0.3 ms, {} threads on {} cores; {} steps took longer themselves{}",
        summary.steps,
        summary.threads,
        cores(),
        lateness.overruns,
        privileges
            .told()
            .iter()
            .map(|told| format!("; {}: {}", told.what, told.outcome()))
            .collect::<String>()
    );
    report.row(
        format!("{case}: missed"),
        None,
        lateness.missed as f64,
        "1",
        &note,
    );
    let [median, p99, longest] = summary.step_us;
    let note = format!("time of a step; median {median:.1} us, 99 % below {p99:.1} us");
    report.row(
        format!("{case}: p99.9"),
        None,
        summary.step_p999_us,
        "us",
        &note,
    );
    report.row(format!("{case}: longest step"), None, longest, "us", "");
    let [median, p999, latest] = lateness.late_us;
    let note = format!("how late steps began; median {median:.2} us, 99.9 % below {p999:.1} us");
    report.row(
        format!("{case}: largest lateness"),
        None,
        latest,
        "us",
        &note,
    );
    let note = "by which the run fell behind the clock";
    report.row(format!("{case}: slip"), None, lateness.slipped, "s", note);
}
