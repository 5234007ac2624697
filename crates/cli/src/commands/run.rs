//! `oldham run`: solve a model, write results, tell what happened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use oldham_cosim::{
    Checkpoint, Column, End, Fault, Outcome, PartSummary, Recorder, Run as EngineRun, Simulation,
    Summary,
};
use oldham_model::Model;
use oldham_results::{Metadata, ResultWriter};
use oldham_stability::AnalysisError;
use serde_json::{Value, json};

use crate::args::Run;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Bar;
use crate::say;
use crate::table::number;
use crate::verdict::{Advice, Case};
use crate::{interrupt, load, mechanisms};

/// How long the analysis before a run may keep its user waiting, and the search for remedies after
/// it.
const PATIENCE: Duration = Duration::from_secs(2);

pub fn execute(arguments: &Run) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let mut simulation = build(&model, arguments.monolithic)?;
    let columns = model.recorded(simulation.columns())?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, ".parquet"));
    let digest = digest(&model, arguments);
    if let Some(path) = &arguments.resume {
        simulation.restore(&Checkpoint::read(path)?, &digest)?;
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
    let outcome = task.solve(&mut simulation, &mut writer)?;
    let results = writer.finish().map_err(Failure::Finish)?;
    conclude(&model, arguments, outcome, results, advice.as_ref())
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
            (Some(warning), _) => eprintln!("{}", fold(&format!("warning: {warning}"), 2)),
            (None, Err(AnalysisError::TooLong { .. })) => {
                eprintln!("{}", fold(&format!("note: {}", advice.finding()), 2));
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

/// What a checkpoint belongs to: the model's text, its overrides, and coupled or not.
fn digest(model: &Model, arguments: &Run) -> String {
    let mut text = model.source().file_text().to_owned();
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
    /// Runs to the end, in pieces between checkpoints.
    fn solve(
        &self,
        simulation: &mut Simulation,
        recorder: &mut dyn Recorder,
    ) -> Result<Outcome, Failure> {
        let total = self.model.steps();
        let cancel = interrupt::watch();
        let bar = Bar::new(total, self.arguments.json);
        let piece = self.steps_between_checkpoints()?;
        let mut outcome = None;
        while outcome.is_none() || simulation.steps_done() < total {
            let done = simulation.steps_done();
            let mut show = |mut progress: oldham_cosim::Progress| {
                progress.steps += done;
                bar.show(progress);
            };
            let ended = simulation.run(EngineRun {
                steps: piece.min(total.saturating_sub(done)),
                threads: self.arguments.threads.unwrap_or(self.model.threads()),
                record_every: self.model.record_every(),
                record_columns: Some(self.columns.clone()),
                recorder: &mut *recorder,
                cancel: Some(cancel),
                energy_bound: self.model.energy_bound(),
                progress: Some(&mut show),
            });
            let finished = ended.end == Ok(End::Finished);
            outcome = Some(ended);
            if !finished {
                break;
            }
            if self.arguments.checkpoint_every.is_some() {
                let path = load::with_suffix(self.out, ".checkpoint");
                simulation.checkpoint(&self.digest)?.write(&path)?;
            }
        }
        Ok(outcome.expect("the loop runs at least once"))
    }

    fn steps_between_checkpoints(&self) -> Result<u64, Failure> {
        match self.arguments.checkpoint_every {
            None => Ok(u64::MAX),
            Some(seconds) if seconds > 0.0 => {
                Ok((seconds / self.model.step()).round().max(1.0) as u64)
            }
            Some(value) => Err(Failure::BadOption {
                option: "--checkpoint-every",
                wanted: "a positive time in seconds",
                value,
            }),
        }
    }
}

fn conclude(
    model: &Model,
    arguments: &Run,
    mut outcome: Outcome,
    results: PathBuf,
    advice: Option<&Advice>,
) -> Result<(), Failure> {
    let status = match &outcome.end {
        Ok(End::Finished) => "finished",
        Ok(End::Cancelled) => "interrupted",
        Err(_) => "failed",
    };
    if !arguments.monolithic {
        outcome.summary.notes.extend_from_slice(model.notes());
    }
    let answer = json!({
        "command": "run",
        "model": model.name(),
        "status": status,
        "fault": outcome.end.as_ref().err().map(Fault::to_string),
        "results": results,
        "stability": advice.map(Advice::as_json),
        "summary": outcome.summary,
    });
    if !arguments.json {
        print_summary(model, &outcome.summary, outcome.end.is_err());
        say!("  results    {}", results.display());
    }
    match outcome.end {
        Err(fault) => Err(Failure::Run {
            fault,
            results: Some(results),
            answer: Box::new(answer),
        }),
        Ok(end) => {
            if arguments.json {
                print_json(&answer);
            }
            match end {
                End::Finished => Ok(()),
                End::Cancelled => Err(Failure::Interrupted),
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
        say!("  of which   {work} us work, {waiting} us waiting, {rest} us exchange and recording");
    }
    say!("  exchanges  {} values delivered", summary.exchanges);
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
                "{} J at the start, {} J at the end; supplied {} J, dissipated {} J; {} J from nowhere",
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
        say_row("exchange", &format!("{name} created {created} J{estimate}"));
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
            "taken again in shorter pieces, because the iteration failed; a smaller step would avoid that",
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
