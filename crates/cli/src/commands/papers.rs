//! `oldham papers`: tables and figures of the papers, computed anew beside the printed values.

use std::path::Path;

use oldham_papers::page::{Lacking, NAME as PAGE};
use oldham_papers::{Agreement, Computed, Item, Report, Series, Step, Verdict};
use serde_json::{Value, json};

use crate::args::Papers;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Bar;
use crate::table::{Table, number};
use crate::{say, tell};

pub fn execute(arguments: &Papers) -> Result<(), Failure> {
    let items = oldham_papers::find(arguments.item.as_deref())?;
    if arguments.item.is_none() && !arguments.all && arguments.report.is_none() {
        list(&items, arguments.json);
        return Ok(());
    }
    let folder = arguments.report.as_ref().unwrap_or(&arguments.out);
    oldham_papers::check_folder(folder)?;
    let (reports, lacking) = compute(&items, arguments, folder)?;
    if arguments.report.is_some() && !arguments.json {
        say!("  {}", folder.join(PAGE).display());
    }
    if !lacking.failed.is_empty() {
        let names: Vec<_> = lacking.failed.iter().map(|(name, _)| &**name).collect();
        return Err(Failure::Papers {
            names: names.join(", "),
            total: items.len(),
            answer: answer(&items, &reports, &lacking)?.into(),
        });
    }
    if arguments.json {
        let text = match reports.as_slice() {
            [only] => serde_json::to_string_pretty(only),
            several => serde_json::to_string_pretty(several),
        };
        let text = text.map_err(|error| Failure::Internal(error.to_string()))?;
        say!("{text}");
    }
    Ok(())
}

/// The reports in order; an item that failed has its name and the error.
fn answer(items: &[Item], reports: &[Report], lacking: &Lacking) -> Result<Value, Failure> {
    let mut reports = reports.iter();
    let answers = items.iter().map(|item| {
        let name = item.name();
        match lacking.failed.iter().find(|(failed, _)| *failed == name) {
            Some((_, error)) => {
                Ok(json!({"paper": item.paper, "item": item.item, "title": item.title, "error": error}))
            }
            None => serde_json::to_value(reports.next()),
        }
    });
    let answers: Result<Vec<_>, _> = answers.collect();
    answers
        .map(Value::Array)
        .map_err(|error| Failure::Internal(error.to_string()))
}

/// A line for each item; nothing is computed.
fn list(items: &[Item], json: bool) {
    if json {
        let item = |item: &Item| json!({"item": item.name(), "title": item.title, "extension": item.is_extension});
        say!("{:#}", json!(items.iter().map(item).collect::<Vec<_>>()));
        return;
    }
    for item in items {
        say!("  {:<22} {}", item.name(), item.title);
    }
    let minutes = items.iter().map(Item::seconds).sum::<f64>() / 60.0;
    say!();
    say!(
        "{} items. `oldham papers KEY/ITEM` computes one, `oldham papers --all` all of them, which",
        items.len()
    );
    say!("takes about {minutes:.0} minutes on two cores.");
}

fn compute(
    items: &[Item],
    arguments: &Papers,
    folder: &Path,
) -> Result<(Vec<Report>, Lacking), Failure> {
    let is_silent = arguments.json || arguments.report.is_some();
    let seconds = |item: &Item| item.seconds_with(arguments.seconds);
    let bar = Bar::of_seconds(items.iter().map(seconds).sum(), arguments.json);
    let series = Series {
        items,
        folder,
        seconds: arguments.seconds,
        page: arguments.report.is_some(),
    };
    let computed = series.compute(|step| match step {
        Step::Begins(place, item) => {
            let name = format!("{}/{} {}", place + 1, items.len(), item.name());
            let done: f64 = items[..place].iter().map(seconds).sum();
            bar.item(done as u64, &name);
        }
        Step::Done(report) if !is_silent => bar.aside(|| print(report)),
        Step::Done(_) => {}
        Step::Failed(item, error) => bar.aside(|| {
            let error = format!("error: {}: {error}", item.name());
            tell!("{}", fold(&error, 2));
        }),
    });
    Ok(computed?)
}

fn print(report: &Report) {
    say!("{}/{}: {}\n", report.paper, report.item, report.title);
    let mut table = Table::new(["value", "printed", "computed", "unit", "note"]);
    for row in &report.rows {
        table.row([
            row.name.clone(),
            row.printed.map_or_else(|| "-".into(), number),
            shown(row.computed),
            row.unit.into(),
            match row.agreement {
                Some(Agreement::ByConstruction) => format!("by construction; {}", row.note),
                _ => row.note.clone(),
            },
        ]);
    }
    say!("{table}");
    for statement in &report.statements {
        let holds = if statement.holds {
            "holds"
        } else {
            "does not hold"
        };
        let place = statement.place.unwrap_or("the paper");
        say!(
            "{}",
            fold(
                &format!("  {place}: {}: {holds}; {}", statement.text, statement.note),
                4
            )
        );
    }
    say!("{}", fold(&format!("  {}", verdict(&report.verdict)), 4));
    for file in &report.files {
        say!("  {}", file.display());
    }
    say!();
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Agrees => "agrees with the paper".into(),
        Verdict::Differs(reasons) => format!("differs: {}", reasons.join("; ")),
        Verdict::Clock => "times of another machine: not compared".into(),
        Verdict::Unjudged => "nothing is printed that could be compared".into(),
        Verdict::Extension => "our extension: not in the paper".into(),
    }
}

/// Computed values keep the digits that distinguish schemes.
fn shown(computed: Computed) -> String {
    if let Some(word) = computed.word() {
        return word.into();
    }
    let value = computed.number();
    let size = value.abs();
    if (0.1..10.0).contains(&size) {
        format!("{value:.9}")
    } else {
        number(value)
    }
}
