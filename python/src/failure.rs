//! Failures, as the package tells them.

use oldham_cosim::Fault;
use oldham_model::Problems;
use oldham_study::StudyError;
use serde_json::{Value, json};

use crate::border::failed;

/// Names that are told where one is unknown.
const SHOWN: usize = 10;

/// All problems of a model, each with its place.
pub fn of_model(problems: &Problems) -> Value {
    let told = problems.iter().map(|problem| {
        let place = problems.locate(problem);
        json!({
            "file": place.name,
            "line": place.line,
            "column": place.column,
            "message": problem.message,
            "label": problem.label,
            "help": problem.help,
        })
    });
    json!({
        "kind": "model",
        "problems": told.collect::<Vec<_>>(),
        "unlisted": problems.unlisted(),
    })
}

/// What stopped a run.
pub fn of_run(fault: &Fault) -> Value {
    let (subsystem, time) = place(fault);
    json!({"kind": "run", "text": fault.to_string(), "subsystem": subsystem, "time": time})
}

/// What failed, and when.
fn place(fault: &Fault) -> (Option<&str>, Option<f64>) {
    match fault {
        Fault::Step { subsystem, t, .. }
        | Fault::Panic { subsystem, t, .. }
        | Fault::NoProgress { subsystem, t }
        | Fault::NotFinite { subsystem, t, .. }
        | Fault::Driven { subsystem, t, .. }
        | Fault::EnergyNotFinite { subsystem, t, .. } => (Some(subsystem), Some(*t)),
        Fault::CoordinatorPanic { t, .. }
        | Fault::Deadline { t, .. }
        | Fault::NotConverged { t, .. }
        | Fault::EnergyBound { t, .. }
        | Fault::Recording { t, .. } => (None, Some(*t)),
        Fault::Threads { .. } | Fault::OnRank { .. } => (None, None),
    }
}

/// A study that gives nothing.
pub fn of_study(error: &StudyError) -> Value {
    match error {
        StudyError::Model(problems) => of_model(problems),
        StudyError::Run(fault) => of_run(fault),
        StudyError::Checkpoint(_) => failed("state", error.to_string()),
        StudyError::Unknown { known, .. } if !known.is_empty() => {
            let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
            let rest = match known.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            failed(
                "study",
                format!("{error}; there are {}{rest}", shown.join(", ")),
            )
        }
        _ => failed("study", error.to_string()),
    }
}
