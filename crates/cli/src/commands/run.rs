//! `oldham run`: solve a model, write results, tell what happened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use oldham_cosim::{
    Checkpoint, CheckpointError, Column, End, Fault, Outcome, PartSummary, Recorder,
    Run as EngineRun, Simulation, Summary,
};
use oldham_model::Model;
use oldham_results::writer::WriteError;
use oldham_results::{Metadata, ResultWriter};
use oldham_stability::AnalysisError;
use serde_json::{Value, json};

use crate::args::Run;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Bar;
use crate::table::number;
use crate::verdict::{Advice, Case};
use crate::{interrupt, load, mechanisms};
use crate::{say, tell};

/// How long the analysis before a run may keep its user waiting, and the search for remedies after
/// it.
const PATIENCE: Duration = Duration::from_secs(2);

pub fn execute(arguments: &Run) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, ".parquet"));
    check_targets(arguments, &out)?;
    let mut simulation = build(&model, arguments.monolithic)?;
    let columns = model.recorded(simulation.columns())?;
    let digest = digest(&model, arguments);
    if let Some(path) = &arguments.resume {
        resume(&mut simulation, &model, path, &digest)?;
    }
    if arguments.checkpoint_every.is_some() {
        // What keeps its state to itself is found before anything is started.
        simulation.checkpoint(&digest)?;
    }
    let advice = analyse(&model, arguments);
    let selected: Vec<Column> = columns
        .iter()
        .map(|&i| simulation.columns()[i].clone())
        .collect();
    let meta = metadata(&model, arguments);
    let mut writer =
        ResultWriter::create(&out, &selected, &meta, arguments.force).map_err(Failure::Write)?;
    let task = Task {
        model: &model,
        arguments,
        columns,
        out: &out,
        digest,
    };
    let partial = writer.partial_path().to_owned();
    let (outcome, unsaved) = task.solve(&mut simulation, &mut writer);
    let results = match (writer.finish(), &outcome.end) {
        (Ok(results), _) => results,
        // A run that failed, for want of space say, keeps what it has and tells its own cause.
        (Err(_), Err(_)) => partial,
        (Err(error), Ok(_)) => return Err(Failure::Finish(error)),
    };
    let run = Concluded {
        outcome,
        unsaved,
        results,
    };
    run.conclude(&model, arguments, advice.as_ref())
}

/// Whether the results and checkpoints can go where they should, before anything takes its time.
fn check_targets(arguments: &Run, out: &Path) -> Result<(), Failure> {
    ResultWriter::check(out, arguments.force).map_err(Failure::Write)?;
    let path = checkpoint_path(out);
    let there = std::fs::symlink_metadata(&path);
    match there {
        Ok(there) if arguments.checkpoint_every.is_some() => {
            let is_own = arguments.resume.as_deref() == Some(&path);
            if there.is_dir() {
                return Err(Failure::Write(WriteError::IsDirectory { path }));
            }
            if !there.is_file() {
                return Err(Failure::Write(WriteError::NotAFile { path }));
            }
            if !arguments.force && !is_own {
                return Err(Failure::Exists { path });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn checkpoint_path(out: &Path) -> PathBuf {
    load::with_suffix(out, ".checkpoint")
}

fn resume(
    simulation: &mut Simulation,
    model: &Model,
    path: &Path,
    digest: &str,
) -> Result<(), Failure> {
    simulation.restore(&Checkpoint::read(path)?, digest)?;
    let done = simulation.steps_done();
    if done >= model.steps() {
        return Err(Failure::NothingLeft {
            path: path.to_owned(),
            t: model.start() + done as f64 * model.step(),
            end: model.start() + model.duration(),
        });
    }
    Ok(())
}

fn build(model: &Model, monolithic: bool) -> Result<Simulation, Failure> {
    if monolithic {
        Ok(model.monolithic(None)?)
    } else {
        Ok(model.simulation()?)
    }
}

fn analyse(model: &Model, arguments: &Run) -> Option<Advice> {
    if arguments.no_analysis || arguments.monolithic || mechanisms::alone(model) {
        return None;
    }
    let (path, set) = (&arguments.model.model, &arguments.model.set);
    let advice = Advice::on(&Case::of(model, path, set), Some(PATIENCE));
    if !arguments.json {
        match (advice.warning(), &advice.verdict) {
            (Some(warning), _) => tell!("{}", fold(&format!("warning: {warning}"), 2)),
            (None, Err(AnalysisError::TooLong { .. })) => {
                tell!("{}", fold(&format!("note: {}", advice.finding()), 2));
            }
            (None, _) => {}
        }
    }
    Some(advice)
}

fn metadata(model: &Model, arguments: &Run) -> Metadata {
    let mut entries = vec![
        ("oldham".into(), env!("CARGO_PKG_VERSION").into()),
        ("step".into(), model.step().to_string()),
        (
            "scheme".into(),
            if arguments.monolithic {
                "monolithic"
            } else {
                "coupled"
            }
            .into(),
        ),
    ];
    let set = arguments.model.set.iter();
    entries.extend(set.map(|(key, value)| (format!("set.{key}"), value.clone())));
    Metadata {
        title: model.name().into(),
        model: model.source().file_text().into(),
        entries,
    }
}

/// What a checkpoint belongs to: the model's text and what it reads besides, its overrides, and
/// coupled or not.
fn digest(model: &Model, arguments: &Run) -> String {
    let mut text = model.source().file_text().to_owned() + &model.given_gains();
    for (key, value) in &arguments.model.set {
        // A longer run of the same model may continue from the same state.
        if key != "simulation.duration" {
            text += &format!("\n{key}={value}");
        }
    }
    text += if arguments.monolithic {
        "\nmonolithic"
    } else {
        ""
    };
    format!("{:016x}", fnv1a(text.as_bytes()))
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

struct Task<'a> {
    model: &'a Model,
    arguments: &'a Run,
    columns: Vec<usize>,
    out: &'a Path,
    digest: String,
}

impl Task<'_> {
    /// Runs to the end, in pieces between checkpoints; ends early if one cannot be written.
    fn solve(
        &self,
        simulation: &mut Simulation,
        recorder: &mut dyn Recorder,
    ) -> (Outcome, Option<CheckpointError>) {
        let total = self.model.steps();
        let cancel = interrupt::watch();
        let bar = Bar::new(total, self.arguments.json);
        let piece = self.steps_between_checkpoints();
        loop {
            let done = simulation.steps_done();
            let mut show = |mut progress: oldham_cosim::Progress| {
                progress.steps += done;
                bar.show(progress);
            };
            let outcome = simulation.run(EngineRun {
                steps: piece.min(total.saturating_sub(done)),
                threads: self.arguments.threads.unwrap_or(self.model.threads()),
                record_every: self.model.record_every(),
                record_columns: Some(self.columns.clone()),
                recorder: &mut *recorder,
                tap: None,
                pace: None,
                cancel: Some(cancel.clone()),
                energy_bound: self.model.energy_bound(),
                progress: Some(&mut show),
            });
            if outcome.end != Ok(End::Finished) {
                return (outcome, None);
            }
            if self.arguments.checkpoint_every.is_some() {
                let saved = simulation.checkpoint(&self.digest);
                let saved = saved.and_then(|state| state.write(&checkpoint_path(self.out)));
                if let Err(error) = saved {
                    return (outcome, Some(error));
                }
            }
            if simulation.steps_done() >= total {
                return (outcome, None);
            }
        }
    }

    fn steps_between_checkpoints(&self) -> u64 {
        let steps = |seconds: f64| (seconds / self.model.step()).round().max(1.0) as u64;
        self.arguments.checkpoint_every.map_or(u64::MAX, steps)
    }
}

/// A run that is over.
struct Concluded {
    outcome: Outcome,
    /// Why its state could not be saved, which ended it.
    unsaved: Option<CheckpointError>,
    results: PathBuf,
}

impl Concluded {
    fn conclude(
        mut self,
        model: &Model,
        arguments: &Run,
        advice: Option<&Advice>,
    ) -> Result<(), Failure> {
        let status = match (&self.outcome.end, &self.unsaved) {
            (Ok(End::Finished), None) => "finished",
            (Ok(End::Cancelled), _) => "interrupted",
            (Ok(End::Finished), Some(_)) | (Err(_), _) => "failed",
        };
        let summary = &mut self.outcome.summary;
        if !arguments.monolithic {
            summary.notes.extend_from_slice(model.notes());
        }
        let fault = self.outcome.end.as_ref().err().map(Fault::to_string);
        let unsaved = self.unsaved.as_ref().map(ToString::to_string);
        let answer = Box::new(json!({
            "command": "run",
            "model": model.name(),
            "status": status,
            "fault": fault.or(unsaved),
            "results": load::shown(&self.results),
            "stability": advice.map(Advice::as_json),
            "summary": summary,
        }));
        if !arguments.json {
            print_summary(model, summary, self.outcome.end.is_err());
            say!("  results    {}", self.results.display());
        }
        let t = self.outcome.summary.time;
        let results = Some(self.results);
        match (self.outcome.end, self.unsaved) {
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
                    print_json(&answer);
                }
                Ok(())
            }
        }
    }
}

fn print_json(answer: &Value) {
    say!("{answer:#}");
}

/// The summary for people. A failed step leaves no energy worth telling.
fn print_summary(model: &Model, summary: &Summary, failed: bool) {
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
    say!("  exchanged  {} values", summary.exchanges);
    if summary.iterations > 0 {
        say!(
            "  iterations {} per step, {} at most, {} steps accepted without convergence",
            number(summary.iterations as f64 / summary.steps.max(1) as f64),
            summary.most_iterations,
            summary.not_converged,
        );
    }
    for part in &summary.parts {
        let name = if part.name.is_empty() {
            "monolithic"
        } else {
            &part.name
        };
        say!(
            "  part       {name}: {} micro steps, {} Newton iterations, {} factorisations",
            part.micro_steps,
            part.iterations,
            part.factorisations
        );
        for told in unusual(part) {
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

/// What went on in a part that is worth a word.
fn unusual(part: &PartSummary) -> impl Iterator<Item = String> {
    let steps = |count: u64| match count {
        1 => "1 step".to_owned(),
        _ => format!("{count} steps"),
    };
    [
        (
            part.retries,
            "repeated with substeps, because the iteration failed; a smaller step would avoid that",
        ),
        (
            part.refinements,
            "corrected by further iterations, because the factors were too old for a single one",
        ),
        (
            part.stagnations,
            "ended by rounding errors before the tolerance was met",
        ),
        (
            part.unfitted,
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
