//! `oldham trim`: the steady motion of a model.

use std::path::Path;
use std::time::Duration;

use oldham_study::{
    Continuation, Draw, StudyError, Trim, TrimOptions, TrimmedFile, Unfinished, Variation,
    continuation, trim_from,
};
use serde_json::json;

use crate::args;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Waiting;
use crate::table::{Table, number};
use crate::{interrupt, load, picture};
use crate::{say, tell};

/// Multipliers that are shown.
const SHOWN: usize = 6;

pub fn execute(arguments: &args::Trim) -> Result<(), Failure> {
    if let Some(over) = &arguments.over {
        return follow(arguments, over);
    }
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, ".trim"));
    picture::protect(&out, &[&arguments.model.model])?;
    let model = load::model(&arguments.model)?;
    let file = load::file(&arguments.model);
    let options = options(arguments);
    options.check(&file, &model)?;
    let reached = TrimmedFile::read_unfinished(&out, &file);
    if !arguments.force && out.exists() && reached.is_none() {
        return Err(StudyError::Exists { path: out }.into());
    }
    if reached.is_some() {
        tell!(
            "note: going on from what an earlier search has reached ({})",
            out.display()
        );
    }
    let found = {
        let waiting = Waiting::new("looking for the steady motion", arguments.json);
        trim_from(&file, &model, &options, reached.as_ref(), |at| {
            waiting.at(format!(
                "looking for the steady motion: step {}, {:.1e} of the state changes over a period",
                at.iterations, at.residual
            ));
        })
    };
    let found = match found {
        Err(StudyError::Unfinished(ended)) => return Err(unfinished(*ended, &out)),
        found => found?,
    };
    found.write(&out)?;
    if arguments.json {
        let answer = json!({
            "command": "trim",
            "status": "finished",
            "trim": found.trim,
            "file": load::shown(&out),
        });
        say!("{answer:#}");
    } else {
        print(&found.trim);
        say!("  state      {}", out.display());
    }
    Ok(())
}

fn options(arguments: &args::Trim) -> TrimOptions {
    TrimOptions {
        hold: arguments.hold.clone(),
        free: arguments.free.clone(),
        period: arguments.period,
        finds_period: arguments.find_period,
        settle: arguments.settling_time,
        granted: Some(Duration::from_secs_f64(arguments.seconds)),
        cancel: Some(interrupt::watch_search().clone()),
        monolithic: arguments.monolithic,
    }
}

/// What was reached is kept.
fn unfinished(ended: Unfinished, out: &Path) -> Failure {
    let kept = match &ended.reached {
        Some(reached) => reached.write(out).map(|()| Some(reached.trim.residual)),
        None => Ok(None),
    };
    match kept {
        Ok(Some(residual)) => tell!(
            "the search is interrupted or out of time; what was reached is kept in {}: {residual:.1e} of the state still changes over a period; the same command goes on from there",
            out.display()
        ),
        Ok(None) if ended.was_interrupted() => {
            tell!("interrupted before a step of the search was finished: nothing is kept");
        }
        Ok(None) => tell!("no step of the search was finished: nothing is kept"),
        Err(error) => return error.into(),
    }
    match ended.was_interrupted() {
        true => Failure::Interrupted,
        false => StudyError::from(ended.why).into(),
    }
}

/// Steady motions over a range of a parameter.
fn follow(arguments: &args::Trim, over: &Variation) -> Result<(), Failure> {
    let range = over.axis(&Draw::default()).map_err(StudyError::from)?;
    let folder = arguments.out.clone();
    let folder = folder.unwrap_or_else(|| load::beside(&arguments.model.model, "-trim"));
    std::fs::create_dir_all(&folder).map_err(|error| Failure::File {
        path: folder.clone(),
        reason: error.to_string(),
    })?;
    let file = load::file(&arguments.model);
    let found = {
        let waiting = Waiting::new("looking for steady motions", arguments.json);
        let found = continuation(&file, &range, &options(arguments), &folder, |value, _| {
            waiting.at(format!(
                "looking for the steady motion at {} = {}",
                range.key,
                number(value)
            ));
        });
        match found {
            Err(StudyError::Unfinished(ended)) if ended.was_interrupted() => {
                tell!(
                    "what was found is kept in {}: the same command goes on from there",
                    folder.display()
                );
                return Err(Failure::Interrupted);
            }
            found => found?,
        }
    };
    if arguments.json {
        let answer = json!({
            "command": "trim",
            "status": "finished",
            "continuation": found,
            "folder": load::shown(&folder),
        });
        say!("{answer:#}");
        return Ok(());
    }
    print_followed(&found);
    say!("  states     {}", folder.display());
    Ok(())
}

fn print_followed(found: &Continuation) {
    let first = found.motions.iter().find_map(|motion| motion.trim.as_ref());
    let names = first.map_or_else(Vec::new, |trim| {
        let names = trim.found.iter().map(|quantity| quantity.name.clone());
        names.collect()
    });
    let mut header = vec![found.key.clone()];
    header.extend(names.iter().cloned());
    header.extend(
        [
            "residual",
            "verdict",
            "largest",
            "growth / 1/s",
            "frequency / Hz",
        ]
        .map(String::from),
    );
    let rows = found.motions.iter().map(|motion| {
        let mut row = vec![number(motion.value)];
        let Some(trim) = &motion.trim else {
            row.extend(names.iter().map(|_| "-".to_owned()));
            row.extend(["-", "not found", "-", "-", "-"].map(String::from));
            return row;
        };
        row.extend(trim.found.iter().map(|quantity| exact(quantity.value)));
        row.extend([format!("{:.1e}", trim.residual), trim.verdict.clone()]);
        match trim.multipliers.first() {
            Some(one) => row.extend([
                format!("{:.6}", one.radius),
                number(one.growth),
                number(one.frequency),
            ]),
            None => row.extend(["-", "-", "-"].map(String::from)),
        }
        row
    });
    let title = first.map_or("", |trim| trim.model.as_str());
    say!("{title}: steady motions over {}", found.key);
    say!("{}", Table::of(header, rows.collect()));
    for point in &found.branch_points {
        let text = format!(
            "branches   at {} = {} ± {:.0e}: {}",
            found.key,
            number(point.value),
            point.error,
            point.kind.describe()
        );
        say!("  {}", fold(&text, 13));
    }
    for motion in &found.motions {
        if let Some(failure) = &motion.failure {
            let text = format!(
                "not found  at {} = {}: {failure}",
                found.key,
                number(motion.value)
            );
            say!("  {}", fold(&text, 13));
        }
    }
}

fn print(trim: &Trim) {
    match trim.is_periodic {
        true => say!(
            "{}: motion with a period of {} s, {} steps of {} s",
            trim.model,
            number(trim.duration),
            trim.steps,
            number(trim.step)
        ),
        false => say!("{}: steady motion", trim.model),
    }
    say!(
        "  residual   {:.1e} of the state over {}, {:.1e} over the next; {} Newton steps, {} macro steps",
        trim.residual,
        span(trim),
        trim.after,
        trim.iterations,
        trim.macro_steps
    );
    let mut table = Table::new(["quantity", "value", ""]);
    for held in &trim.held {
        table.row([held.name.clone(), exact(held.value), "held".into()]);
    }
    for found in &trim.found {
        table.row([found.name.clone(), exact(found.value), "found".into()]);
    }
    if !(trim.held.is_empty() && trim.found.is_empty()) {
        say!("{table}");
    }
    print_going(trim);
    print_multipliers(trim);
}

/// Over what states are compared.
fn span(trim: &Trim) -> String {
    match trim.is_periodic {
        true => "a period".into(),
        false => format!("{} steps", trim.steps),
    }
}

/// With as many digits as are known.
fn exact(value: f64) -> String {
    let text = format!("{value:.9}");
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e6).contains(&size) => format!("{value:.9e}"),
        _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

fn print_going(trim: &Trim) {
    const NOTHING: f64 = 1e-9;
    let length = |vector: [f64; 3]| vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    let told = |vector: [f64; 3]| vector.map(number).join(", ");
    if length(trim.velocity) > NOTHING {
        say!(
            "  goes on    with ({}) m/s, carried along",
            told(trim.velocity)
        );
    }
    if length(trim.turning) > NOTHING {
        say!("  turns      with ({}) rad/s", told(trim.turning));
    }
    if trim.spin > NOTHING {
        say!(
            "  spins      up to {} rad/s, about axes of its own",
            number(trim.spin)
        );
    }
}

fn print_multipliers(trim: &Trim) {
    let verdict = match (&trim.unknown, trim.verdict.as_str()) {
        (Some(why), _) => format!("not decided: {why}"),
        (None, "not decided") => "not decided: what may grow is known no better".into(),
        (None, verdict) => verdict.to_owned(),
    };
    say!("  {}", fold(&format!("verdict    {verdict}"), 13));
    if let Some(growing) = trim.growing {
        say!(
            "  {}",
            fold(&format!("grows      {}", growing.describe()), 13)
        );
    }
    let mut table = Table::new([
        "multiplier",
        "radius",
        "error",
        "growth / 1/s",
        "frequency / Hz",
    ]);
    for factor in trim.multipliers.iter().take(SHOWN) {
        let [re, im] = factor.multiplier;
        let value = match im == 0.0 {
            true => format!("{re:.6}"),
            false => format!("{re:.6} ± {:.6}i", im.abs()),
        };
        table.row([
            value,
            format!("{:.8}", factor.radius),
            format!("{:.1e}", factor.error),
            number(factor.growth),
            number(factor.frequency),
        ]);
    }
    if !trim.multipliers.is_empty() {
        let over = span(trim);
        say!("\n  what a small difference is multiplied by over {over}\n{table}");
    }
}
