//! `oldham papers`: tables and figures of the papers, computed anew beside the printed values.

use oldham_papers::{Item, Report};

use crate::args::Papers;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::say;
use crate::table::{Table, number};

pub fn execute(arguments: &Papers) -> Result<(), Failure> {
    let items = oldham_papers::find(arguments.item.as_deref())?;
    if !arguments.json && items.len() > 1 {
        say!("{} items:", items.len());
        for item in &items {
            say!("  {:<22} {}", name_of(item), item.title);
        }
        say!();
    }
    let bar = Bar::of_items(items.len() as u64, arguments.json);
    let mut reports = Vec::new();
    for (position, item) in items.iter().enumerate() {
        bar.item(position as u64, &name_of(item));
        let report = item.compute_for(&arguments.out, arguments.seconds)?;
        if !arguments.json {
            bar.aside(|| print(&report));
        }
        reports.push(report);
    }
    drop(bar);
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

fn name_of(item: &Item) -> String {
    format!("{}/{}", item.paper, item.item)
}

fn print(report: &Report) {
    say!("{}/{}: {}\n", report.paper, report.item, report.title);
    let mut table = Table::new(["value", "printed", "computed", "unit", "note"]);
    for row in &report.rows {
        table.row([
            row.name.clone(),
            row.printed.map_or_else(|| "-".into(), number),
            long_number(row.computed),
            row.unit.into(),
            row.note.clone(),
        ]);
    }
    say!("{table}");
    for file in &report.files {
        say!("  {}", file.display());
    }
    say!();
}

/// Computed values keep the digits that distinguish schemes.
fn long_number(value: f64) -> String {
    let size = value.abs();
    if (0.1..10.0).contains(&size) {
        format!("{value:.9}")
    } else {
        number(value)
    }
}
