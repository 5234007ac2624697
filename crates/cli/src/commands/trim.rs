//! `oldham trim`: the steady motion of a model.

use std::time::Duration;

use oldham_study::{StudyError, Trim, TrimOptions, trim};
use serde_json::json;

use crate::args;
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{interrupt, load, picture};

/// Multipliers that are shown.
const SHOWN: usize = 6;

pub fn execute(arguments: &args::Trim) -> Result<(), Failure> {
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, ".trim"));
    picture::protect(&out, &[&arguments.model.model])?;
    if !arguments.force && out.exists() {
        return Err(StudyError::Exists { path: out }.into());
    }
    let model = load::model(&arguments.model)?;
    let file = load::file(&arguments.model);
    let options = TrimOptions {
        hold: arguments.hold.clone(),
        free: arguments.free.clone(),
        period: arguments.period,
        finds_period: arguments.find_period,
        settle: arguments.settling_time,
        granted: Some(Duration::from_secs_f64(arguments.seconds)),
    };
    let found = {
        let _analysis = interrupt::Analysis::new();
        let waiting = Waiting::new("looking for the steady motion", arguments.json);
        trim(&file, &model, &options, |at| {
            waiting.at(format!(
                "looking for the steady motion: step {}, {:.1e} of the state changes over a period",
                at.iterations, at.residual
            ));
        })?
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
