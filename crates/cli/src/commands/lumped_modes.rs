//! `oldham modes` of a model without mechanisms: the modes of its masses as one system.

use oldham_model::Model;
use oldham_multibody::Mode;
use oldham_results::plot::{Figure, Panel, Series};
use oldham_study::{MassModes, TrimmedFile, linearise, linearise_from};
use serde_json::json;

use crate::args::{Configuration, Modes};
use crate::commands::modes::table;
use crate::failure::Failure;
use crate::say;
use crate::table::number;
use crate::{load, picture};

/// Masses of a mode that are listed; all are in the file.
const LISTED: usize = 6;

/// Refuses what only mechanisms have.
pub fn refuse_options(arguments: &Modes, model: &Model) -> Result<(), Failure> {
    let asked = [
        (arguments.animate.is_some(), "--animate"),
        (arguments.at == Configuration::Static, "--at static"),
    ];
    match asked.iter().find(|(asked, _)| *asked) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::ForMechanisms {
            option,
            model: model.name().into(),
        }),
    }
}

pub fn execute(
    arguments: &Modes,
    model: &Model,
    start: Option<&TrimmedFile>,
) -> Result<(), Failure> {
    let beside = |suffix: &str| load::beside(&arguments.model.model, suffix);
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| beside("-modes.svg"));
    let data = arguments
        .data
        .clone()
        .unwrap_or_else(|| beside("-modes.json"));
    for target in [&out, &data] {
        picture::protect(target, &[&arguments.model.model])?;
    }
    let linear = match start {
        Some(start) => linearise_from(start, model)?,
        None => linearise(model, None)?,
    };
    let modes = linear.modes(arguments.count, arguments.near);
    figure(model.name(), &modes).save(&out)?;
    let answer = json!({
        "command": "modes",
        "model": model.name(),
        "status": "finished",
        "about": if start.is_some() { "trimmed" } else { "initial" },
        "modes": modes,
    });
    oldham_scene::write(&data, format!("{answer:#}\n").as_bytes())?;
    if arguments.json {
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}: natural vibrations\n", model.name());
    say!("{}", table(&modes.found, Some(&|mode| shape(&modes, mode))));
    say!("mode shapes: {}", data.display());
    say!("picture: {}", out.display());
    Ok(())
}

/// How far the masses move: in phase or against it, where a mode of a damped model is not simply either.
fn shape(modes: &MassModes, mode: &Mode) -> String {
    let listed = modes.shape(mode).take(LISTED).map(|(mass, value)| {
        let sign = if value.re < 0.0 { -1.0 } else { 1.0 };
        format!("{mass} {}", number(sign * value.norm()))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    match modes.masses.len() > LISTED {
        true => listed + ", ...",
        false => listed,
    }
}

/// How far each mass moves in each mode.
fn figure(model: &str, modes: &MassModes) -> Figure {
    let named = modes
        .masses
        .iter()
        .enumerate()
        .map(|(i, name)| format!("{} {name}", i + 1));
    let label = match modes.masses.len() {
        ..=LISTED => format!("mass ({})", named.collect::<Vec<_>>().join(", ")),
        _ => "mass, in the order of the file".into(),
    };
    let mut panel = Panel::new(label, "relative displacement").with_guide("", 0.0);
    for (index, mode) in modes.found.modes.iter().enumerate() {
        let places = (1..=modes.masses.len()).map(|place| place as f64).collect();
        let values = modes.shape(mode).map(|(_, value)| value.re).collect();
        let label = format!("{}: {} Hz", index + 1, number(mode.frequency()));
        panel = panel.with_series(Series::new(label, places, values));
    }
    Figure::new(format!("{model}: mode shapes")).with_panel(panel)
}
