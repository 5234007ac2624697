//! `oldham run`: solve a model, write results, tell what happened.

use std::time::Duration;

use oldham_cosim::{Counters, End, Fault, Lateness, RankSummary, Summary};
use oldham_model::Model;
use oldham_mpi::{Launch, World};
use oldham_stability::{AnalysisError, Decision};
use oldham_study::{
    Advice, Case, Met, ModelFile, PreparedRun, RanksError, RunOptions, RunReport, StudyError,
    Survey, is_without_coupling,
};
use serde_json::json;

use crate::args::Run;
use crate::commands::{on_ranks, sweep};
use crate::failure::Failure;
use crate::fold::fold;
use crate::load::Begun;
use crate::progress::Bar;
use crate::table::{Table, number};
use crate::{interrupt, load, picture, verdict};
use crate::{say, tell};

/// How long the analysis before a run may keep its user waiting, and the search for remedies after
/// it.
const PATIENCE: Duration = Duration::from_secs(2);
/// The part of the time of a run that is spent on states that it has met.
const LOOKING_BACK: f64 = 0.05;

pub fn execute(arguments: &Run) -> Result<(), Failure> {
    let launch = Launch::of_this_process();
    if !arguments.vary.is_empty() {
        let is_one_of_many = launch.launcher.is_some() && launch.is_parallel();
        if is_one_of_many && arguments.shard.is_none() {
            return Err(StudyError::from(RanksError::Sweep).into());
        }
        return sweep::execute(arguments);
    }
    if let Some(world) = World::join(&launch)? {
        return on_ranks::execute(arguments, world);
    }
    let begun = Begun::with(
        &arguments.model.model,
        &arguments.model.changes.settings(),
        arguments.from.as_deref(),
    )?;
    let Begun { model, file, .. } = begun;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, ".parquet"));
    picture::protect(&out, &[&arguments.model.model])?;
    let options = options(arguments);
    let mut prepared = PreparedRun::new(&file, &model, &out, &options)?;
    let advice = {
        let _analysis = interrupt::Analysis::new();
        analyse(&file, &model, arguments)
    };
    // What grows from the start on is known.
    let looks = advice
        .as_ref()
        .is_some_and(|advice| advice.decision() == Some(Decision::Stable));
    if looks {
        prepared = prepared.keeping_states();
    }
    let bar = Bar::new(model.steps(), arguments.json);
    let cancel = Some(interrupt::watch());
    let mut report = prepared.solve(cancel, &mut |progress| bar.show(progress))?;
    drop(bar);
    let met = std::mem::take(&mut report.met);
    let states = look_back(&file, &model, met, report.outcome.summary.wall);
    conclude(report, &model, arguments, advice.as_ref(), states.as_ref())
}

/// What was asked for.
pub fn options(arguments: &Run) -> RunOptions {
    RunOptions {
        force: arguments.force,
        monolithic: arguments.monolithic,
        threads: arguments.threads,
        checkpoint_every: arguments.checkpoint_every,
        resume: arguments.resume.clone(),
        from: arguments.from.clone(),
        replay: arguments.replay.clone(),
        hasty: false,
        returns: false,
        real_time: arguments.pace.given(),
    }
}

/// Analyses states that were met on the way, in a small part of the time that the run took.
fn look_back(file: &ModelFile, model: &Model, met: Vec<Met>, wall: f64) -> Option<Survey> {
    if met.is_empty() {
        return None;
    }
    let granted = Duration::from_secs_f64(LOOKING_BACK * wall);
    Survey::of_run(&Case::of(model, file), met, granted).ok()
}

pub fn analyse(file: &ModelFile, model: &Model, arguments: &Run) -> Option<Advice> {
    if arguments.no_analysis || arguments.monolithic || is_without_coupling(model) {
        return None;
    }
    let advice = Advice::on(&Case::of(model, file), Some(PATIENCE));
    if !arguments.json {
        match (verdict::warning(&advice), &advice.verdict) {
            (Some(warning), _) => tell!("{}", fold(&format!("warning: {warning}"), 2)),
            (None, Err(AnalysisError::TooLong { .. })) => {
                let finding = verdict::finding(&advice);
                tell!("{}", fold(&format!("note: {finding}"), 2));
            }
            (None, _) => {}
        }
    }
    Some(advice)
}

pub fn conclude(
    report: RunReport,
    model: &Model,
    arguments: &Run,
    advice: Option<&Advice>,
    states: Option<&Survey>,
) -> Result<(), Failure> {
    let summary = &report.outcome.summary;
    let answer = Box::new(json!({
        "command": "run",
        "model": model.name(),
        "status": report.status(),
        "fault": report.fault(),
        "results": load::shown(&report.results),
        "stability": advice,
        "states": states.map(|survey| &survey.states),
        "summary": summary,
    }));
    if !arguments.json {
        print_summary(model, summary, report.outcome.end.is_err());
        say!("  results    {}", report.results.display());
        if let Some(warning) = states.and_then(verdict::warning_on_the_way) {
            tell!("{}", fold(&format!("warning: {warning}"), 2));
        }
        if let Err(fault) = &report.outcome.end
            && let Some(cause) = likely_cause(fault, model, arguments, advice)
        {
            tell!("{}", fold(&format!("note: {cause}"), 2));
        }
    }
    let t = summary.time;
    let results = Some(report.results);
    match (report.outcome.end, report.unsaved) {
        (Err(fault), _) => Err(Failure::Run {
            fault,
            results,
            answer,
        }),
        (Ok(_), Some(error)) => Err(Failure::NotSaved {
            t,
            error: Box::new(error),
            results,
            answer,
        }),
        (Ok(End::Cancelled), None) => Err(Failure::RunInterrupted { answer }),
        (Ok(End::Finished), None) => {
            if arguments.json {
                say!("{answer:#}");
            }
            Ok(())
        }
    }
}

/// Whether a coupling that runs away may be behind a fault: a part that fails names what it was at when the
/// others drove it there.
fn likely_cause(
    fault: &Fault,
    model: &Model,
    arguments: &Run,
    advice: Option<&Advice>,
) -> Option<String> {
    if !fault.is_of_a_part() || arguments.monolithic || is_without_coupling(model) {
        return None;
    }
    match advice.map(|advice| &advice.verdict) {
        Some(Ok(verdict)) => match verdict.decision() {
            Decision::Unstable => Some(format!(
                "the coupling is unstable (spectral radius {}): that is the likely cause of what follows",
                number(verdict.radius)
            )),
            _ => None,
        },
        _ => Some(format!(
            "an unstable coupling ends in this way, too: `oldham check {}` tells whether this one is",
            arguments.model.model.display()
        )),
    }
}

/// The summary for people. A failed step leaves no energy worth telling.
pub fn print_summary(model: &Model, summary: &Summary, failed: bool) {
    let [p50, p99, max] = summary.step_us.map(number);
    say!("{}", model.name());
    say!(
        "  steps      {} to t = {} s in {} s ({} x real time, {} thread{})",
        summary.steps,
        number(summary.time),
        number(summary.wall),
        number(summary.real_time_factor),
        summary.threads,
        if summary.threads == 1 { "" } else { "s" },
    );
    say!("  per step   {p50} us median, {p99} us 99th percentile, {max} us longest");
    if let Some([work, waiting, rest]) = summary.split_us.map(|split| split.map(number)) {
        say!(
            "  of which   {work} us computation, {waiting} us waiting at barriers, {rest} us communication and recording"
        );
    }
    if let Some(lateness) = &summary.lateness {
        print_lateness(lateness, summary);
    }
    say!("  exchanged  {} values", summary.exchanges);
    if summary.iterations > 0 {
        say!(
            "  iterations {} per step, {} at most, {} steps accepted without convergence",
            number(summary.iterations as f64 / summary.steps.max(1) as f64),
            summary.most_iterations,
            summary.not_converged,
        );
    }
    for rank in &summary.ranks {
        say_row("rank", &told_rank(rank));
    }
    for part in &summary.parts {
        let name = if part.name.is_empty() {
            "monolithic"
        } else {
            &part.name
        };
        say!(
            "  part       {name}: {} micro steps, {} Newton iterations, {} factorisations",
            part.counters.micro_steps,
            part.counters.iterations,
            part.counters.factorisations
        );
        for told in unusual(&part.counters) {
            say_row("", &format!("{name}: {told}"));
        }
    }
    if failed {
        return;
    }
    if let (Some(initial), Some(last)) = (summary.initial_energy, summary.final_energy) {
        say_row(
            "energy",
            &format!(
                "{} J at the start, {} J at the end; supplied {} J, dissipated {} J; spurious {} J",
                number(initial.stored),
                number(last.stored),
                number(last.supplied),
                number(last.dissipated),
                number(summary.imbalance.unwrap_or(0.0)),
            ),
        );
    }
    for interface in &summary.created {
        let estimate = match interface.uncertainty {
            Some(0.0) => String::new(),
            Some(joules) => format!(" \u{b1} {} J", number(joules)),
            None if interface.coarse => " (estimate: few micro steps per macro step)".into(),
            None => String::new(),
        };
        let (name, created) = (&interface.interface, number(interface.created));
        say_row(
            "interface",
            &format!("{name}: spurious energy {created} J{estimate}"),
        );
    }
    for note in &summary.notes {
        say_row("note", note);
    }
}

/// What a rank of MPI did.
fn told_rank(rank: &RankSummary) -> String {
    if rank.parts.is_empty() {
        return format!("{}: no part", rank.rank);
    }
    let times = [rank.work_us, rank.waiting_us, rank.exchange_us];
    let [work, waiting, exchange] = times.map(number);
    format!(
        "{}: {}; per step {work} us work, {waiting} us waiting, {exchange} us exchange",
        rank.rank,
        rank.parts.join(", ")
    )
}

/// How well the steps of a paced run kept their times.
fn print_lateness(lateness: &Lateness, summary: &Summary) {
    let p999 = number(summary.step_p999_us);
    say!("  tail       {p999} us 99.9th percentile of the time of a step");
    let [median, p999, longest] = lateness.late_us.map(number);
    say!("  began late {median} us median, {p999} us 99.9th percentile, {longest} us at most");
    let (missed, overruns) = (lateness.missed, lateness.overruns);
    let budget = number(lateness.budget_us);
    let mut told = format!(
        "{missed} of {} steps ended after their deadline; {overruns} took longer than {budget} us themselves",
        summary
            .step_histogram
            .iter()
            .map(|(_, count)| count)
            .sum::<u64>(),
    );
    if lateness.slipped > 0.0 {
        told += &format!("; the run has slipped by {} s", number(lateness.slipped));
    }
    if lateness.dropped_rows > 0 {
        told += &format!("; {} rows were left out", lateness.dropped_rows);
    }
    say_row("deadlines", &told);
    if missed == 0 {
        return;
    }
    let bins = lateness.histogram.iter().chain(&summary.step_histogram);
    let mut bins: Vec<f64> = bins.map(|(below, _)| *below).collect();
    bins.sort_by(f64::total_cmp);
    bins.dedup();
    let count = |histogram: &[(f64, u64)], bin: f64| {
        let found = histogram.iter().find(|(below, _)| *below == bin);
        found.map_or_else(String::new, |(_, count)| count.to_string())
    };
    let mut table = Table::new(["below", "steps that took it", "that began so late"]);
    for bin in bins {
        table.row([
            format!("{bin} us"),
            count(&summary.step_histogram, bin),
            count(&lateness.histogram, bin),
        ]);
    }
    say!("{table}");
}

/// What went on in a part that is worth a word.
fn unusual(done: &Counters) -> impl Iterator<Item = String> {
    let steps = |count: u64| match count {
        1 => "1 step".to_owned(),
        _ => format!("{count} steps"),
    };
    [
        (
            done.retries,
            "repeated with substeps, because the iteration failed; a smaller step would avoid that",
        ),
        (done.events, "divided where a force law or a load changes"),
        (
            done.refinements,
            "corrected by further iterations, because the factors were too old for a single one",
        ),
        (
            done.stagnations,
            "ended by rounding errors before the tolerance was met",
        ),
        (
            done.unfitted,
            "with a shell element too distorted for its own frame: check the mesh and the loads",
        ),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(move |(count, told)| format!("{} {told}", steps(count)))
}

fn say_row(label: &str, text: &str) {
    say!("{}", fold(&format!("  {label:<10} {text}"), 13));
}
