//! `oldham compare`: one model under several schemes, against a reference.

use std::cell::OnceCell;
use std::fmt;
use std::path::Path;

use oldham_study::{Alike, CompareOptions, CompareProgress, Comparison, Refined, compare};
use serde_json::json;

use crate::args::Compare;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Bar;
use crate::say;
use crate::table::{Table, number};
use crate::{interrupt, load, picture};

pub fn execute(arguments: &Compare) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let file = load::file(&arguments.model);
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-compare.svg"));
    picture::protect(&out, &[&arguments.model.model])?;
    let bar = OnceCell::new();
    let progress = |progress: CompareProgress<'_>| {
        let bar = bar.get_or_init(|| Bar::of_items(progress.variants as u64, arguments.json));
        bar.item(progress.done as u64, progress.what);
    };
    let options = CompareOptions {
        vary: &arguments.vary,
        draw: arguments.draw.draw(),
        reference: arguments.reference.as_deref(),
        signal: arguments.signal.as_deref(),
        cancel: Some(interrupt::watch()),
        progress: Some(&progress),
    };
    let comparison = compare(&file, &model, &options)?;
    drop(bar);
    comparison.figure().save(&out)?;
    if arguments.json {
        let answer = json!({
            "command": "compare",
            "model": comparison.model,
            "status": "fine",
            "reference": comparison.reference,
            "variants": comparison.variants,
            "left_out": comparison.left_out,
            "drawn": comparison.drawn,
            "picture": load::shown(&out),
        });
        say!("{answer:#}");
    } else {
        let comparison = &comparison;
        say!(
            "{}",
            Report {
                comparison,
                out: &out
            }
        );
    }
    Ok(())
}

/// What is said of a comparison.
struct Report<'a> {
    comparison: &'a Comparison,
    out: &'a Path,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: compared with {}\n",
            self.comparison.model, self.comparison.reference
        )?;
        let mut table = Table::new([
            "variant",
            "worst error",
            "of signal",
            "energy error",
            "spurious / J",
            "us per step",
            "",
        ]);
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".into(), number);
        for variant in &self.comparison.variants {
            let worst = variant.worst();
            table.row([
                variant.name.clone(),
                or_dash(worst.and_then(|signal| signal.error)),
                worst.map_or_else(|| "-".into(), |signal| signal.name.clone()),
                variant.energy_error().map_or_else(|| "-".into(), percent),
                or_dash(variant.outcome.summary.imbalance),
                number(variant.outcome.summary.step_us[0]),
                variant.status().into(),
            ]);
        }
        writeln!(f, "{table}")?;
        for variant in &self.comparison.variants {
            if let Err(fault) = &variant.outcome.end {
                writeln!(f, "{}\n", fold(&format!("{}: {fault}", variant.name), 2))?;
            }
        }
        for Alike { name, like } in &self.comparison.left_out {
            writeln!(f, "left out: {name}, the same as `{like}`")?;
        }
        let mut said = Vec::new();
        for about in self
            .comparison
            .variants
            .iter()
            .filter_map(|variant| variant.refined)
            .map(|refined| about(&self.comparison.reference, refined))
        {
            if !said.contains(&about) {
                writeln!(f, "{}", fold(&about, 2))?;
                said.push(about);
            }
        }
        if !(self.comparison.left_out.is_empty() && said.is_empty()) {
            writeln!(f)?;
        }
        write!(f, "picture: {}", self.out.display())
    }
}

/// What is said of a reference that was refined.
fn about(reference: &str, refined: Refined) -> String {
    let coupled = match reference {
        "converged" => "coupled implicitly",
        _ => "coupled as in the file",
    };
    format!(
        "the reference is {coupled}, with a macro step of {} s; its own error is about {}",
        number(refined.step),
        number(refined.error)
    )
}

fn percent(fraction: f64) -> String {
    if fraction.abs() < 1e-6 {
        format!("{:.1e} %", 100.0 * fraction)
    } else {
        format!("{} %", number(100.0 * fraction))
    }
}
