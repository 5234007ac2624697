//! What helps a run whose exchange makes much of what goes through it: the same run with other settings.

use std::time::{Duration, Instant};

use oldham_cosim::{Cancel, Discard, End, Run, Summary};
use oldham_model::Model;

use crate::{ModelFile, Settings};

/// Time that all trials take at most, whatever the run took.
const LONGEST: Duration = Duration::from_secs(10);
/// Time that they are granted in any case.
const SHORTEST: Duration = Duration::from_secs(2);
/// The same in terms of the run: what helps often takes longer than what does not.
const PATIENCE: f64 = 3.0;

/// A sentence on what helps, if something does: it was tried over the whole run, at which no interface
/// was doubtful any more. No longer than three times what the run took, and ten seconds at most.
pub(crate) fn remedy(
    file: &ModelFile,
    model: &Model,
    summary: &Summary,
    cancel: Option<&Cancel>,
) -> Option<String> {
    let granted = Duration::from_secs_f64(PATIENCE * summary.wall).clamp(SHORTEST, LONGEST);
    remedy_within(granted, file, model, summary, cancel)
}

fn remedy_within(
    granted: Duration,
    file: &ModelFile,
    model: &Model,
    summary: &Summary,
    cancel: Option<&Cancel>,
) -> Option<String> {
    let share = summary.doubtful_share()?;
    let started = Instant::now();
    candidates(model).into_iter().find_map(|changes| {
        let better = file.with(&changes).read().ok()?;
        let left = granted.saturating_sub(started.elapsed());
        let tried = try_out(&better, left, cancel)?;
        let worst = tried.largest_share()?;
        let is_quiet = tried.doubtful_share().is_none() && worst < 0.5 * share;
        is_quiet.then(|| {
            let settings = changes.iter().map(|(key, value)| format!("{key}={value}"));
            let settings = settings.collect::<Vec<_>>().join(" ");
            format!(
                "with `{settings}` the exchange makes {:.1} % of what goes through it at most: the same run was tried",
                100.0 * worst
            )
        })
    })
}

/// What often helps: first that parts which choose their predictors know how the mechanism answers.
fn candidates(model: &Model) -> Vec<Settings> {
    let knowing = model
        .own_predictors()
        .map(|key| (key, "interface-model".to_owned()));
    let one = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    vec![
        knowing.collect(),
        one("schedule.output_update", "true"),
        one("schedule.kind", "gauss-seidel"),
    ]
    .into_iter()
    .filter(|changes: &Settings| !changes.is_empty())
    .collect()
}

/// The whole run without results, if it gets to its end in time.
fn try_out(model: &Model, granted: Duration, cancel: Option<&Cancel>) -> Option<Summary> {
    let mut simulation = model.simulation().ok()?;
    let (started, ends) = (Instant::now(), Cancel::default());
    let mut watch = |_| {
        if started.elapsed() > granted || cancel.is_some_and(Cancel::is_requested) {
            ends.request();
        }
    };
    let outcome = simulation.run(Run {
        record_columns: Some(Vec::new()),
        cancel: Some(ends.clone()),
        energy_bound: model.energy_bound(),
        progress: Some(&mut watch),
        ..Run::new(model.steps(), &mut Discard)
    });
    (outcome.end == Ok(End::Finished)).then_some(outcome.summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loader arm whose bucket cylinder has 5 MPa of ripple that the exchange makes. What is proposed is followed.
    #[test]
    fn what_helps_a_doubtful_interface_is_tried_and_proposed() {
        let loader = "/../model/tests/model/loader.toml";
        let file = ModelFile::new(format!("{}{loader}", env!("CARGO_MANIFEST_DIR")));
        let model = file.read().expect("a model");
        let ample = Duration::from_secs(600);
        let summary = try_out(&model, ample, None).expect("a run");
        assert!(summary.doubtful_share().is_some());
        let said = remedy_within(ample, &file, &model, &summary, None).expect("a remedy");
        assert!(said.contains("the same run was tried"), "{said}");
        let proposed = said.split('`').nth(1).expect("settings");
        let better = proposed.split(' ').fold(file.clone(), |file, setting| {
            let (key, value) = setting.split_once('=').expect("a setting");
            file.set(key, value)
        });
        let better = try_out(&better.read().expect("a model"), ample, None).expect("a run");
        assert_eq!(better.doubtful_share(), None, "{said}");
        assert_eq!(
            remedy_within(Duration::ZERO, &file, &model, &summary, None),
            None
        );
    }
}
