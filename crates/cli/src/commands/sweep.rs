//! `oldham run --vary`: one run for each combination of values, and a table of them all.

use std::io::IsTerminal;
use std::time::Instant;

use oldham_study::{Sweep, SweepOptions, SweepProgress, SweepReport, SweepRun, SweepStatus};
use serde_json::json;

use crate::args::Run;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Bar;
use crate::table::{Table, number};
use crate::{interrupt, load};
use crate::{say, tell};

/// Rows of the table that are shown; all are in the index.
const ROWS: usize = 12;

/// Runs that did not finish and are told one by one.
const TOLD: usize = 5;

/// Lines that tell how far a sweep is where there is no terminal for a bar.
const LINES: usize = 20;

pub fn execute(arguments: &Run) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let file = load::file(&arguments.model);
    let out = arguments.join.clone().or(arguments.out.clone());
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-sweep"));
    let options = SweepOptions {
        draw: arguments.draw.draw(),
        merits: arguments.merit.clone(),
        monolithic: arguments.monolithic,
        threads: arguments.threads,
        force: arguments.force,
        shard: arguments.shard,
    };
    let started = Instant::now();
    let sweep = Sweep::new(&file, &arguments.vary, &out, &options)?;
    let threads = sweep.threads();
    let report = match arguments.join {
        Some(_) => sweep.join()?,
        None => {
            let display = Display::new(sweep.runs(), arguments.json);
            sweep.solve(Some(interrupt::watch()), &|progress| display.show(progress))?
        }
    };
    let unfinished = report.unfinished().count();
    let is_incomplete = arguments.join.is_some() && !report.missing.is_empty();
    let status = match (report.is_interrupted, unfinished) {
        (true, _) => "interrupted",
        (false, _) if is_incomplete => "incomplete",
        (false, 0) => "finished",
        (false, _) => "failed",
    };
    let answer = Box::new(json!({
        "command": "run",
        "model": model.name(),
        "status": status,
        "threads": threads,
        "sweep": report,
    }));
    if !arguments.json {
        print(model.name(), &report, arguments, threads, started);
    }
    if report.is_interrupted {
        return Err(Failure::RunInterrupted { answer });
    }
    if is_incomplete {
        return Err(Failure::Missing {
            count: report.missing.len(),
            total: report.total,
            missing: numbers(&report.missing),
            folder: out,
            answer,
        });
    }
    if unfinished > 0 {
        let journal = arguments.shard.map(|shard| out.join(shard.journal()));
        return Err(Failure::Sweep {
            unfinished,
            total: report.total,
            index: journal.unwrap_or(report.index),
            answer,
        });
    }
    if arguments.json {
        say!("{answer:#}");
    }
    Ok(())
}

/// How far a sweep is: a bar on a terminal, some lines elsewhere.
struct Display {
    bar: Option<Bar>,
    lines: bool,
}

impl Display {
    fn new(runs: usize, hidden: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self {
            bar: (is_terminal && !hidden).then(|| Bar::of_items(runs as u64, false)),
            lines: !is_terminal && !hidden,
        }
    }

    fn show(&self, progress: SweepProgress<'_>) {
        let SweepProgress {
            done, total, kept, ..
        } = progress;
        if let Some(bar) = &self.bar {
            bar.item(
                done as u64,
                &progress.last.map(described).unwrap_or_default(),
            );
            return;
        }
        let every = total.div_ceil(LINES).max(1);
        let is_due = done == total || done.is_multiple_of(every);
        if self.lines && progress.last.is_none() && kept > 0 {
            tell!("{kept} of {total} runs are there already");
        } else if self.lines && progress.last.is_some() && is_due {
            tell!("{done} of {total} runs");
        }
    }
}

fn described(run: &SweepRun) -> String {
    let settings = run
        .settings
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    settings.collect::<Vec<_>>().join(" ")
}

fn print(model: &str, report: &SweepReport, arguments: &Run, threads: usize, started: Instant) {
    let wall = number(started.elapsed().as_secs_f64());
    say!("{model}");
    let mut counts = match arguments.shard {
        Some(shard) => format!(
            "shard {shard}, {} of {} runs: ",
            report.total, report.combinations
        ),
        None => format!("{} runs: ", report.total),
    };
    let finished = report.count(SweepStatus::Finished);
    counts += &format!("{finished} finished");
    let others = [
        SweepStatus::Failed,
        SweepStatus::Refused,
        SweepStatus::Disturbed,
    ];
    for status in others {
        match report.count(status) {
            0 => {}
            count => counts += &format!(", {count} {}", status.word()),
        }
    }
    match report.missing.len() {
        0 => {}
        count if report.is_interrupted => counts += &format!(", {count} not done"),
        count if arguments.join.is_some() => counts += &format!(", {count} missing"),
        count => counts += &format!(", {count} with another shard"),
    }
    if arguments.join.is_some() {
        say!("  {counts}\n");
    } else {
        if report.kept > 0 {
            counts += &format!("; {} of them were there already", report.kept);
        }
        let s = if threads == 1 { "" } else { "s" };
        say!("  {counts}; {wall} s on {threads} thread{s}\n");
    }
    say!("{}", table(report));
    for run in report.unfinished().take(TOLD) {
        let message = run.message.as_deref().unwrap_or_default();
        let (number, status) = (run.run, run.status.word());
        let what = described(run);
        say!(
            "{}",
            fold(&format!("run {number} ({what}) {status}: {message}"), 2)
        );
    }
    match arguments.shard {
        Some(_) => {
            say!("when all shards are done: the same command with --join FOLDER makes the index")
        }
        None => say!("index: {}", report.index.display()),
    }
}

/// Numbers in rising order as a reader writes them: 3, 7 to 19, 23; many are cut.
fn numbers(all: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &number in all {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let shown = spans
        .iter()
        .take(ROWS)
        .map(|&(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if spans.len() > ROWS {
        text += ", ...";
    }
    text
}

/// The first runs, with what was varied and the figures of merit.
fn table(report: &SweepReport) -> Table {
    let mut header = vec!["run".to_owned()];
    header.extend(report.keys.iter().cloned());
    header.extend(["status", "energy / J", "spurious / J"].map(str::to_owned));
    header.extend(report.merits.iter().map(ToString::to_string));
    let or_dash = |value: Option<f64>| value.map_or_else(|| "-".into(), number);
    let row = |run: &SweepRun| {
        let mut row = vec![run.run.to_string()];
        row.extend(run.settings.iter().map(|(_, value)| shown(value)));
        row.extend([
            run.status.word().to_owned(),
            or_dash(run.energy),
            or_dash(run.spurious),
        ]);
        let merits = 0..report.merits.len();
        row.extend(merits.map(|place| or_dash(run.merits.get(place).copied().flatten())));
        row
    };
    let mut rows: Vec<Vec<String>> = report.runs.iter().take(ROWS).map(row).collect();
    if report.runs.len() > ROWS {
        let mut more = vec![String::new(); header.len()];
        more[0] = "...".into();
        rows.push(more);
    }
    Table::of(header, rows)
}

/// A value as a table shows it: numbers of many digits are cut.
fn shown(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(parsed) if value.len() > 8 => number(parsed),
        _ => value.to_owned(),
    }
}
