//! One page with every figure: printed beside computed, with the place in the paper, and what comes of each item.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use oldham_results::number;

use crate::item::{Agreement, PaperError, Report, ReportRow, Statement, Verdict};

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}\
    table{border-collapse:collapse;margin:.6em 0}td,th{padding:.15em .7em;text-align:left;vertical-align:top;\
    border-bottom:1px solid #ddd}td.p,td.n{white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}\
    img{max-width:100%}.agrees{color:#17602a}.differs{color:#9c2b12}.other{color:#555}h2{margin-top:2em}\
    summary{cursor:pointer}";

/// Its file in the folder of a report.
pub const NAME: &str = "index.html";

/// What of the items that were asked for is not on a page.
#[derive(Clone, Debug, Default)]
pub struct Lacking {
    /// Items that could not be computed, and why.
    pub failed: Vec<(String, String)>,
    /// How many items are still to come.
    pub to_come: usize,
}

/// Writes it into the folder that the pictures of these reports are in; a page that is there is replaced by a whole one.
pub fn write(reports: &[Report], lacking: &Lacking, folder: &Path) -> Result<PathBuf, PaperError> {
    let path = folder.join(NAME);
    std::fs::create_dir_all(folder)
        .and_then(|()| oldham_cosim::write_whole(&path, html(reports, lacking).as_bytes()))
        .map_err(|source| PaperError::Page {
            path: path.clone(),
            source,
        })?;
    Ok(path)
}

/// The page as text.
pub fn html(reports: &[Report], lacking: &Lacking) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>Papers, computed anew</title><style>{STYLE}</style></head><body>\n\
         <h1>Papers, computed anew</h1>\n"
    );
    not_here(&mut page, lacking);
    overview(&mut page, reports);
    for report in reports {
        item(&mut page, report);
    }
    page + "</body></html>\n"
}

/// Items that were asked for and are not on the page.
fn not_here(page: &mut String, lacking: &Lacking) {
    if lacking.to_come > 0 {
        put(
            page,
            format_args!(
                "<p class=differs>This page is not complete: {} of the items are still to come.</p>\n",
                lacking.to_come
            ),
        );
    }
    for (name, why) in &lacking.failed {
        put(
            page,
            format_args!(
                "<p class=differs><b>{name} could not be computed</b>: {}</p>\n",
                escaped(why)
            ),
        );
    }
}

/// Counts of verdicts by paper, then a line for each item.
fn overview(page: &mut String, reports: &[Report]) {
    let mut papers: Vec<&str> = reports.iter().map(|report| report.paper).collect();
    papers.dedup();
    *page += "<table><tr><th>paper</th><th>items</th><th>agree</th><th>differ, with the reason</th>\
              <th>times of another machine</th><th>our extensions</th></tr>\n";
    for paper in papers {
        let of_paper = || reports.iter().filter(|report| report.paper == paper);
        let count =
            |is: fn(&Verdict) -> bool| of_paper().filter(|report| is(&report.verdict)).count();
        put(
            page,
            format_args!(
                "<tr><td>{paper}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td>\
                 <td class=n>{}</td><td class=n>{}</td></tr>\n",
                of_paper().count(),
                count(|verdict| *verdict == Verdict::Agrees),
                count(|verdict| matches!(verdict, Verdict::Differs(_))),
                count(|verdict| *verdict == Verdict::Clock),
                count(|verdict| *verdict == Verdict::Extension),
            ),
        );
    }
    *page += "</table>\n<details><summary>All items</summary><table>\n";
    for report in reports {
        let (class, word) = word(&report.verdict);
        let name = format!("{}/{}", report.paper, report.item);
        put(
            page,
            format_args!(
                "<tr><td><a href=\"#{name}\">{name}</a></td><td>{}</td><td class={class}>{word}</td></tr>\n",
                escaped(report.title)
            ),
        );
    }
    *page += "</table></details>\n";
}

fn item(page: &mut String, report: &Report) {
    let name = format!("{}/{}", report.paper, report.item);
    let (class, word) = word(&report.verdict);
    put(
        page,
        format_args!("<h2 id=\"{name}\">{name}: {}</h2>\n", escaped(report.title)),
    );
    put(page, format_args!("<p class={class}><b>{word}</b>"));
    if let Verdict::Differs(reasons) = &report.verdict {
        put(page, format_args!(": {}", escaped(&reasons.join("; "))));
    }
    *page += "</p>\n";
    if !report.statements.is_empty() {
        *page += "<table><tr><th>what the paper says</th><th>place</th><th></th><th></th></tr>\n";
        report
            .statements
            .iter()
            .for_each(|one| statement(page, one));
        *page += "</table>\n";
    }
    let (printed, own): (Vec<_>, Vec<_>) =
        report.rows.iter().partition(|row| row.printed.is_some());
    rows(page, &printed);
    for file in &report.files {
        let file = file
            .file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default();
        put(
            page,
            format_args!("<p><img src=\"{file}\" alt=\"{name}\"></p>\n"),
        );
    }
    if !own.is_empty() {
        let summary = match own.len() {
            1 => "1 value that is not printed".to_owned(),
            count => format!("{count} values that are not printed"),
        };
        put(
            page,
            format_args!("<details><summary>{summary}</summary>\n"),
        );
        rows(page, &own);
        *page += "</details>\n";
    }
}

fn statement(page: &mut String, statement: &Statement) {
    let (class, word) = match statement.holds {
        true => ("agrees", "holds"),
        false => ("differs", "does not hold"),
    };
    put(
        page,
        format_args!(
            "<tr><td>{}</td><td class=p>{}</td><td class={class}>{word}</td><td>{}</td></tr>\n",
            escaped(statement.text),
            statement.place.unwrap_or(""),
            escaped(&statement.note)
        ),
    );
}

fn rows(page: &mut String, rows: &[&ReportRow]) {
    if rows.is_empty() {
        return;
    }
    *page += "<table><tr><th>value</th><th>place</th><th>printed</th><th>computed</th><th>unit</th><th></th>\
              <th>note</th></tr>\n";
    for row in rows {
        let (class, word) = match row.agreement {
            Some(Agreement::Agrees) => ("agrees", "agrees"),
            Some(Agreement::ByConstruction) => ("other", "by construction"),
            Some(Agreement::Differs) => ("differs", "differs"),
            Some(Agreement::Clock) => ("other", "clock"),
            None => ("other", ""),
        };
        let computed = row.computed.word().map_or_else(
            || shown(row.computed.number(), row.last_digit),
            str::to_owned,
        );
        put(
            page,
            format_args!(
                "<tr><td>{}</td><td class=p>{}</td><td class=n>{}</td><td class=n>{computed}</td><td>{}</td>\
                 <td class={class}>{word}</td><td>{}</td></tr>\n",
                escaped(&row.name),
                row.place.unwrap_or(""),
                row.printed
                    .map_or_else(String::new, |value| shown(value, row.last_digit)),
                row.unit,
                escaped(&row.note)
            ),
        );
    }
    *page += "</table>\n";
}

/// With four significant digits, or all that are printed.
fn shown(value: f64, last_digit: f64) -> String {
    let printed = -last_digit.log10().round();
    let size = value.abs();
    if !(1e-3..1e5).contains(&size) || !(1.0..12.0).contains(&printed) {
        return number(value);
    }
    let usual = 3.0 - size.log10().floor();
    let decimals = usual.max(printed) as usize;
    format!("{value:.decimals$}")
}

/// The class of a verdict and its words.
fn word(verdict: &Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Agrees => ("agrees", "agrees"),
        Verdict::Differs(_) => ("differs", "differs"),
        Verdict::Clock => ("other", "times of another machine: not compared"),
        Verdict::Unjudged => ("other", "nothing printed to compare with"),
        Verdict::Extension => ("other", "our extension"),
    }
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a text takes everything");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that is written before all items are done, or without one that failed, says so.
    #[test]
    fn what_is_not_on_the_page_is_said_there() {
        let lacking = Lacking {
            failed: vec![("fontana/real-time".into(), "no <port> is free".into())],
            to_come: 3,
        };
        let folder = tempfile::tempdir().unwrap();
        let path = write(&[], &lacking, folder.path()).unwrap();
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains("3 of the items are still to come"), "{page}");
        assert!(
            page.contains("fontana/real-time could not be computed</b>: no &lt;port&gt; is free")
        );
        write(&[], &Lacking::default(), folder.path()).unwrap();
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(
            !page.contains("still to come") && !page.contains("could not be"),
            "{page}"
        );
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "the page alone"
        );
    }

    #[test]
    fn printed_digits_are_all_shown() {
        assert_eq!(shown(-11.525, 1e-3), "-11.525");
        assert_eq!(shown(7.2565, 1e-4), "7.2565");
        assert_eq!(shown(2.0 / 3.0, 0.01), "0.6667");
        assert_eq!(shown(12.34567, 0.0), number(12.34567));
        assert_eq!(shown(0.0, 1e-3), "0");
    }
}
