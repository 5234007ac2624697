//! Every printed value stands in `papers/sources.csv`, and every difference has a reason.
//!
//! Items that take long are left out, but for `OLDHAM_PAPERS=all`.

use oldham_papers::{Agreement, Item, Verdict, items, page, sources};

/// Seconds that an item may take by default, as estimated.
const QUICK: f64 = 1.0;

fn looked_at() -> Vec<Item> {
    let all = std::env::var("OLDHAM_PAPERS").is_ok_and(|which| which == "all");
    let items = items().into_iter();
    items.filter(|item| all || item.seconds() < QUICK).collect()
}

#[test]
fn printed_values_have_sources_and_differences_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let items = looked_at();
    assert!(items.len() > 30, "{} items are quick", items.len());
    let mut wrong = Vec::new();
    let mut reports = Vec::new();
    for item in items {
        let report = item.compute_for(folder.path(), Some(0.5)).unwrap();
        wrong.extend(report.wrong_sources());
        for row in &report.rows {
            if row.agreement == Some(Agreement::Differs) && row.note.is_empty() {
                wrong.push(format!(
                    "{}: `{}` differs for no reason",
                    item.name(),
                    row.name
                ));
            }
        }
        for statement in report
            .statements
            .iter()
            .filter(|statement| statement.note.is_empty())
        {
            wrong.push(format!("{}: `{}` has no note", item.name(), statement.text));
        }
        if report.verdict == Verdict::Unjudged {
            wrong.push(format!("{}: nothing is compared", item.name()));
        }
        reports.push(report);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The page has every item, with the place of what is printed.
    let written = page::write(&reports, &page::Lacking::default(), folder.path()).unwrap();
    let text = std::fs::read_to_string(written).unwrap();
    for report in &reports {
        assert!(text.contains(&format!("id=\"{}/{}\"", report.paper, report.item)));
    }
    assert!(text.contains("<td class=p>Table 7</td>") && text.contains("times of another machine"));
    assert!(
        !text.contains("NaN"),
        "the page shows a number that is none"
    );
}

/// The committed answer of the search through the texts is about the list as it is, and found all of it.
#[test]
fn all_sources_were_found_in_the_texts() {
    let found = include_str!("../../../papers/sources-found.txt");
    for source in sources() {
        let value = if source.value.is_empty() {
            "-"
        } else {
            source.value
        };
        let line = format!(
            "{}: {}: {value} at line {}: ",
            source.item, source.row, source.line
        );
        assert!(found.contains(&line), "{line}");
    }
    assert_eq!(found.lines().count(), sources().len() + 1);
    assert!(
        found.ends_with(" 0 not found\n"),
        "{:?}",
        found.lines().last()
    );
}

/// Infinity, failure and absence are words in JSON.
#[test]
fn what_is_no_number_is_a_word() {
    use oldham_papers::Computed;
    let words = [
        (Computed::Number(f64::INFINITY), "\"inf\""),
        (Computed::Failed, "\"failed\""),
        (Computed::from(f64::NAN), "\"absent\""),
        (Computed::Number(0.5), "0.5"),
    ];
    for (computed, word) in words {
        assert_eq!(serde_json::to_string(&computed).unwrap(), word);
    }
}
