//! `oldham modes` of a model without mechanisms: the modes of its lumped subsystems as one system.

use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Series};
use oldham_study::{LinearMode, linearise};
use serde_json::json;

use crate::args::{Configuration, Modes};
use crate::failure::Failure;
use crate::load;
use crate::say;
use crate::table::{Table, number};

/// Masses of a mode that are listed; all are in the file.
const LISTED: usize = 6;

pub fn execute(arguments: &Modes, model: &Model) -> Result<(), Failure> {
    let asked = [
        (arguments.animate.is_some(), "--animate"),
        (arguments.over.is_some(), "--over"),
        (arguments.at == Configuration::Static, "--at static"),
    ];
    if let Some((_, option)) = asked.iter().find(|(asked, _)| *asked) {
        let model = model.name().into();
        return Err(Failure::ForMechanisms { option, model });
    }
    let linear = linearise(model, None)?;
    let modes = match arguments.near {
        None => linear.modes(arguments.count),
        Some(near) => nearest(linear.modes(usize::MAX), near, arguments.count),
    };
    let beside = |suffix: &str| load::beside(&arguments.model.model, suffix);
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| beside("-modes.svg"));
    let data = arguments
        .data
        .clone()
        .unwrap_or_else(|| beside("-modes.json"));
    figure(model.name(), &modes).save(&out)?;
    let answer = json!({
        "command": "modes",
        "model": model.name(),
        "status": "finished",
        "about": "initial",
        "modes": modes,
    });
    oldham_scene::write(&data, format!("{answer:#}\n").as_bytes())?;
    if arguments.json {
        say!("{answer:#}");
        return Ok(());
    }
    say!("{}: natural vibrations\n", model.name());
    say!("{}", table(&modes));
    say!("mode shapes: {}", data.display());
    say!("picture: {}", out.display());
    Ok(())
}

/// The modes nearest to a frequency, by frequency.
fn nearest(mut modes: Vec<LinearMode>, near: f64, count: usize) -> Vec<LinearMode> {
    let distance = |mode: &LinearMode| (mode.frequency() - near).abs();
    modes.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    modes.truncate(count);
    modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
    modes
}

fn table(modes: &[LinearMode]) -> Table {
    let mut table = Table::new([
        "mode",
        "frequency / Hz",
        "damped / Hz",
        "damping ratio",
        "shape",
    ]);
    for (index, mode) in modes.iter().enumerate() {
        let shape = mode.shape.iter().take(LISTED);
        let shape = shape.map(|(mass, value)| {
            // In phase or against it, where a mode of a damped model is not simply either.
            let sign = if value.re < 0.0 { -1.0 } else { 1.0 };
            format!("{mass} {}", number(sign * value.norm()))
        });
        let mut shape = shape.collect::<Vec<_>>().join(", ");
        if mode.shape.len() > LISTED {
            shape += ", ...";
        }
        let is_aperiodic = mode.pole.im == 0.0 && !mode.is_rigid;
        let digits = |value: f64| match is_aperiodic {
            true => "-".to_owned(),
            false => format!("{value:.5}"),
        };
        let ratio = match (mode.is_rigid, is_aperiodic) {
            (true, _) => "rigid-body motion".into(),
            (_, true) if mode.pole.re > 0.0 => format!("grows at {} 1/s", number(mode.pole.re)),
            (_, true) => format!("decays at {} 1/s", number(-mode.pole.re)),
            _ => number(mode.damping()),
        };
        table.row([
            (index + 1).to_string(),
            digits(mode.frequency()),
            digits(mode.damped_frequency()),
            ratio,
            shape,
        ]);
    }
    table
}

/// How far each mass moves in each mode.
fn figure(model: &str, modes: &[LinearMode]) -> Figure {
    let names = modes
        .first()
        .map(|mode| mode.shape.iter().map(|(mass, _)| mass.as_str()));
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let named = names
        .iter()
        .enumerate()
        .map(|(i, name)| format!("{} {name}", i + 1));
    let label = match names.len() {
        ..=LISTED => format!("mass ({})", named.collect::<Vec<_>>().join(", ")),
        _ => "mass, in the order of the file".into(),
    };
    let mut panel = Panel::new(label, "relative displacement").with_guide("", 0.0);
    for (index, mode) in modes.iter().enumerate() {
        let places = (1..=mode.shape.len()).map(|place| place as f64).collect();
        let values = mode.shape.iter().map(|(_, value)| value.re).collect();
        let label = format!("{}: {} Hz", index + 1, number(mode.frequency()));
        panel = panel.with_series(Series::new(label, places, values));
    }
    Figure::new(format!("{model}: mode shapes")).with_panel(panel)
}
