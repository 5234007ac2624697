//! `oldham compensate`: feedback that undoes what the exchange does to the poles.

use std::path::Path;

use oldham_model::{Approach, CompensationError, Model, Offer};
use oldham_stability::compensate::{Architecture, CouplingLaw, Design};
use oldham_study::{
    Advice, Case, TriedApproach, compensate, damping, gains_file, law_origin, refuse_learner,
};
use serde_json::{Value, json};

use crate::args::{Compensate, CompensateBy};
use crate::failure::Failure;
use crate::fold::fold;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{load, picture, verdict};

pub fn execute(arguments: &Compensate) -> Result<(), Failure> {
    if let Some(path) = &arguments.out {
        picture::protect(path, &[&arguments.model.model])?;
    }
    let model = load::model(&arguments.model)?;
    refuse_learner(&model)?;
    let waiting = Waiting::new("designing compensators", arguments.json);
    let wanted = arguments.by.map(|by| match by {
        CompensateBy::Z => Approach::Sampled,
        CompensateBy::S => Approach::Continuous,
        CompensateBy::Structural => Approach::Structural,
    });
    let tried = compensate(&model, wanted);
    let file = load::file(&arguments.model);
    let case = Case::of(&model, &file);
    let verdict = case.spectrum(None).map(|(_, verdict)| verdict);
    let advice = Advice::without_remedies(&case, verdict);
    drop(waiting);
    if !arguments.json {
        say!("{}: as in the file", model.name());
        say!("{}\n", verdict::for_people(&advice));
    }
    if tried.iter().all(|tried| tried.outcome.is_err()) {
        if !arguments.json {
            print(&model, &tried);
        }
        return Err(Failure::Uncompensated {
            model: model.name().into(),
            answer: Box::new(as_json(&model, &tried, None, &advice)),
        });
    }
    if let Some(path) = &arguments.out {
        write(path, &model, &tried)?;
    }
    if arguments.json {
        let out = arguments.out.as_deref();
        say!("{:#}", as_json(&model, &tried, out, &advice));
    } else {
        print(&model, &tried);
        if let Some(path) = &arguments.out {
            say!("gains: {}", path.display());
        }
    }
    Ok(())
}

fn name(approach: Approach) -> &'static str {
    match approach {
        Approach::Sampled => "assignment, as it runs (z)",
        Approach::Continuous => "assignment, continuous (s)",
        Approach::Structural => "structural",
    }
}

/// Writes the gains of the first assignment that worked.
fn write(path: &Path, model: &Model, tried: &[TriedApproach]) -> Result<(), Failure> {
    let text = gains_file(model, tried)?;
    oldham_cosim::write_whole(path, text.as_bytes()).map_err(|error| Failure::File {
        path: path.into(),
        reason: error.to_string(),
    })
}

fn print(model: &Model, tried: &[TriedApproach]) {
    say!(
        "{}: compensation of a macro step of {} s\n",
        model.name(),
        model.step()
    );
    let mut table = Table::new([
        "approach",
        "radius without",
        "with",
        "error without",
        "with",
        "verdict",
    ]);
    for one in tried {
        let radius = |index: usize| match &one.outcome {
            Ok((_, Offer::Assigned { design, .. })) => format!("{:.9}", design.radius[index]),
            Ok((_, Offer::Structural { radius, .. })) => format!("{:.9}", radius[index]),
            Err(_) => "-".into(),
        };
        let errors = match &one.outcome {
            Ok((_, Offer::Assigned { errors, .. } | Offer::Structural { errors, .. })) => *errors,
            Err(CompensationError::Worse { errors }) => Some(*errors),
            Err(_) => None,
        };
        let error = |index: usize| errors.map_or("-".into(), |errors| number(errors[index]));
        let verdict = if one.outcome.is_ok() {
            "stable"
        } else {
            "not offered"
        };
        table.row([
            name(one.approach).into(),
            radius(0),
            radius(1),
            error(0),
            error(1),
            verdict.into(),
        ]);
    }
    say!("{table}");
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for one in tried {
        if let Err(error) = &one.outcome {
            let reason = error.to_string();
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, approaches)) => approaches.push(name(one.approach)),
                None => reasons.push((reason, vec![name(one.approach)])),
            }
        }
    }
    for (reason, approaches) in reasons {
        let reason = fold(&format!("  {reason}"), 2);
        say!("{}:\n{reason}\n", approaches.join("; "));
    }
    let offered = tried
        .iter()
        .find_map(|tried| Some((tried.approach, tried.outcome.as_ref().ok()?)));
    match offered {
        Some((approach, (_, Offer::Assigned { rows, design, .. }))) => {
            print_assigned(approach, rows, design);
        }
        Some((_, (_, Offer::Structural { laws, .. }))) => print_laws(laws),
        None => {}
    }
}

fn print_assigned(approach: Approach, rows: &Architecture, design: &Design) {
    let ranks = &design.ranks;
    say!("{}\n", name(approach));
    say!(
        "  rank L = {}, rank [L n] = {}: {} conditions for {} gains can be met",
        ranks.rank,
        ranks.augmented,
        ranks.equations,
        ranks.unknowns
    );
    say!(
        "  smallest singular value {}, truncated at {}, {} trials in the null space\n",
        number(ranks.smallest),
        number(design.truncation),
        design.trials
    );
    let mut table = Table::new([
        "mode", "wanted", "damping", "without", "damping", "with", "damping",
    ]);
    for (index, mode) in design.modes.iter().enumerate() {
        let poles = [mode.target, mode.without, mode.with];
        let [wanted, without, with] = poles.map(|p| format!("{:.5} + {:.4}j", p.re, p.im));
        let [a, b, c] = poles.map(|p| number(damping(p)));
        table.row([(index + 1).to_string(), wanted, a, without, b, with, c]);
    }
    say!("{table}");
    let mut table = Table::new(["row", "signal", "gain"]);
    for ((row, candidate), gain) in rows.candidates().zip(&design.gains) {
        let row = &rows.rows[row];
        table.row([row.name.clone(), candidate.name.clone(), number(*gain)]);
    }
    say!("{table}");
    say!("  the feedback is u = -K y: minus gain times signal");
}

fn print_laws(laws: &[CouplingLaw]) {
    say!("structural: the motion side evaluates\n");
    let mut table = Table::new(["signal", "force per unit"]);
    for law in laws {
        for (candidate, gain) in law.own.iter().chain(&law.received) {
            table.row([candidate.name.clone(), number(*gain)]);
        }
    }
    say!("{table}");
    for law in laws {
        say!(
            "  {}; the residual is {} of the force",
            law_origin(law),
            number(law.residual)
        );
    }
}

fn as_json(model: &Model, tried: &[TriedApproach], out: Option<&Path>, advice: &Advice) -> Value {
    json!({
        "command": "compensate",
        "model": model.name(),
        "step": model.step(),
        "stability": advice,
        "approaches": tried,
        "gains": out.map(load::shown),
    })
}
