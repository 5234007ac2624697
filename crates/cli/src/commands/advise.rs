//! `oldham advise`: which coupling suits a model.

use std::time::Duration;

use oldham_stability::Decision;
use oldham_study::{
    AdvisorOptions, Assessed, Cost, Recommendation, Settings, Written, advise, write_settings,
};
use serde_json::json;

use crate::args::Advise;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Waiting;
use crate::table::number;
use crate::{interrupt, load, say};

/// An error below this is rounding.
const ROUNDING: f64 = 1e-9;
/// Reasons and settings of a kind that are listed at most.
const LISTED: usize = 3;

pub fn execute(arguments: &Advise) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let file = load::file(&arguments.model);
    interrupt::begin();
    let waiting = Waiting::new("looking for the coupling that suits", arguments.json);
    let progress = |what: &str| waiting.at(format!("trying {what}"));
    let options = AdvisorOptions {
        granted: Duration::from_secs_f64(arguments.seconds),
        progress: Some(&progress),
        ..AdvisorOptions::default()
    };
    let advice = advise(&file, &model, &options)?;
    drop(waiting);
    let change = advice.first().filter(|_| !advice.is_fine());
    let written = match change.filter(|_| arguments.write) {
        Some(first) => write_settings(&file, &first.settings).map(Some),
        None => Ok(None),
    };
    if arguments.json {
        let answer = json!({
            "command": "advise",
            "status": "fine",
            "advice": &advice,
            "written": written?,
        });
        say!("{answer:#}");
        return Ok(());
    }
    let lines = written.as_ref().ok().and_then(Option::as_ref);
    say!("{}", text(&advice, arguments.write, lines));
    // What was found is worth telling also where it cannot be written.
    written?;
    Ok(())
}

/// The answer for people.
fn text(advice: &Recommendation, is_to_write: bool, written: Option<&Written>) -> String {
    let mut lines = vec![head(advice)];
    let present = &advice.present;
    lines.push(format!("as it is: {}", what_is_wrong(present)));
    match advice.first() {
        None if advice.is_cut_short => lines.push(
            "no setting was found in the time whose stability is proved: grant more by --seconds".into(),
        ),
        None => lines.push(
            "no setting was found whose stability is proved: look at the masses, stiffnesses and dampers at the interface"
                .into(),
        ),
        Some(_) if advice.is_fine() => {
            lines.push("nothing to set: no other setting is better at equal cost".into());
        }
        Some(first) => lines.push(format!(
            "set: {}\n  {}",
            arguments(&first.settings),
            what_it_does(first)
        )),
    }
    if let Some(second) = advice.choices.get(1) {
        lines.push(format!(
            "second choice: {}\n  {}",
            arguments(&second.settings),
            what_it_does(second)
        ));
    }
    lines.push(how_sure(advice));
    lines.extend(unsound(advice));
    if let Some(reason) = &advice.not_predicted {
        lines.push(format!("not predicted, only run: {reason}"));
    }
    if !advice.left_out.is_empty() {
        lines.push(cannot_be_built(advice));
    }
    lines.push(format!("not tried: {}", advice.not_tried.join("; ")));
    if let Some(written) = written {
        let lines_of_file = written.lines.join("\n    ");
        lines.push(format!(
            "written to {}:\n    {lines_of_file}",
            written.path.display()
        ));
    } else if is_to_write {
        lines.push("nothing was written".into());
    }
    let (head, rest) = lines.split_first().expect("it has a head");
    let rest = rest
        .iter()
        .flat_map(|line| line.lines().map(|line| fold(&format!("  {line}"), 6)));
    [head.clone()]
        .into_iter()
        .chain(rest)
        .collect::<Vec<_>>()
        .join("\n")
}

fn head(advice: &Recommendation) -> String {
    let run = advice.run().count();
    let looked_at = advice.choices.len() + advice.unsound.len() + advice.others.len();
    let reference = match advice.reference_error {
        Some(error) => format!(
            "{} reference, whose own error is about {}",
            advice.reference,
            number(error)
        ),
        None => format!("{} reference", advice.reference),
    };
    let text = format!(
        "{}: {looked_at} settings, {run} of them run for {} of {} macro steps, against the {reference}",
        advice.model, advice.steps, advice.of_steps,
    );
    fold(&text, 2)
}

/// An error in words.
fn error(error: f64) -> String {
    match error < ROUNDING {
        true => "off by no more than rounding".into(),
        false => format!("{} % off", number(100.0 * error)),
    }
}

fn what_is_wrong(present: &Assessed) -> String {
    let mut said = Vec::new();
    if let Some(run) = &present.run {
        match (run.error, &run.fault) {
            (Some(found), _) if found < ROUNDING => said.push(error(found)),
            (Some(found), _) => said.push(format!("`{}` is {}", run.signal, error(found))),
            (None, Some(fault)) => said.push(format!("the run stops: {fault}")),
            (None, None) => {}
        }
        if let Some((interface, made)) = &run.interface
            && *made != 0.0
        {
            let share = run
                .share
                .map(|share| format!(", {} % of what goes through it", number(100.0 * share)));
            said.push(format!(
                "the exchange at `{interface}` makes {} J{}",
                number(*made),
                share.unwrap_or_default()
            ));
        }
    }
    said.push(stability(present));
    said.join("; ")
}

fn stability(one: &Assessed) -> String {
    let growing = one
        .mode
        .as_ref()
        .filter(|_| one.stability == Some(Decision::Unstable));
    match (one.stability, growing) {
        (Some(Decision::Stable), _) => "stable".into(),
        (_, Some((growth, frequency, interface))) => {
            let at = interface.as_ref().map(|name| format!(" at `{name}`"));
            format!(
                "unstable{}: a mode at {} Hz grows at {} 1/s",
                at.unwrap_or_default(),
                number(*frequency),
                number(*growth)
            )
        }
        (Some(Decision::Unstable), None) => "unstable".into(),
        (Some(Decision::Undecided) | None, _) => "whether it is stable is not decided".into(),
    }
}

fn what_it_does(one: &Assessed) -> String {
    let found = one.error().map(error).unwrap_or_default();
    let cost = one.cost.map(cost).unwrap_or_default();
    format!("{found}, {}; {cost}", stability(one))
}

/// Counts, which are the same on every machine.
fn cost(cost: Cost) -> String {
    let times = |count: f64, of: &str, many: &str| match count {
        1.0 => format!("one {of}"),
        whole if whole.fract() == 0.0 => format!("{whole} {many}"),
        count => format!("{count:.1} {many}"),
    };
    let steps = match cost.steps {
        1.0 => String::new(),
        steps => format!(", {steps} times as many steps"),
    };
    format!(
        "costs {} of every part and {} in a macro step{steps}",
        times(cost.advances, "advance", "advances"),
        times(cost.exchanges, "exchange", "exchanges"),
    )
}

fn how_sure(advice: &Recommendation) -> String {
    let off: Vec<f64> = advice
        .run()
        .filter(|one| one.error().is_some_and(|error| error >= ROUNDING))
        .filter_map(Assessed::misprediction)
        .collect();
    let worst = off.iter().copied().fold(1.0, f64::max);
    let bent: Vec<&str> = advice.not_linear().map(|one| one.name.as_str()).collect();
    let mut text = match off.len() {
        0 => "how sure: the runs are all there is, no prediction stands beside them".to_owned(),
        count => format!(
            "how sure: {count} runs have errors within a factor of {} of the predicted ones",
            number(worst.max(1.01))
        ),
    };
    if !bent.is_empty() {
        let named = bent[..bent.len().min(LISTED)].join("; ");
        text +=
            &format!("; the model is not linear there, and the order is that of the runs: {named}");
    }
    text
}

/// What was run and is not advised.
fn unsound(advice: &Recommendation) -> Option<String> {
    let named = advice
        .unsound
        .iter()
        .filter(|one| one.name != advice.present.name);
    let named: Vec<String> = named
        .map(
            |one| match one.run.as_ref().and_then(|run| run.fault.as_ref()) {
                Some(_) => format!("{} (the run stops)", one.name),
                None => format!("{} ({})", one.name, stability(one)),
            },
        )
        .collect();
    let more = named.len().saturating_sub(LISTED);
    let more = match more {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let shown = named[..named.len().min(LISTED)].join("; ");
    (!named.is_empty()).then(|| format!("run and not advised: {shown}{more}"))
}

fn cannot_be_built(advice: &Recommendation) -> String {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for one in &advice.left_out {
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((&one.reason, 1)),
        }
    }
    let said = reasons
        .iter()
        .take(LISTED)
        .map(|(reason, count)| format!("{count} because {reason}"));
    format!("cannot be built: {}", said.collect::<Vec<_>>().join("; "))
}

fn arguments(settings: &Settings) -> String {
    match settings.is_empty() {
        true => "the model as it is".into(),
        false => settings
            .iter()
            .map(|(key, value)| match value.is_empty() {
                true => format!("{key} (taken away)"),
                false => format!("{key} = {value}"),
            })
            .collect::<Vec<_>>()
            .join(", "),
    }
}
