//! `oldham linearise`: the matrices of a model, and its frequency response.

use oldham_study::{LinearFormat, LinearModel, StudyError, linearise, linearise_from};
use serde_json::json;

use crate::args::Linearise;
use crate::failure::Failure;
use crate::load::Begun;
use crate::say;
use crate::table::{Table, number};
use crate::{load, picture};

/// Poles, inputs and outputs that are listed; all are in the file.
const LISTED: usize = 12;

/// Share of the largest pole below which a number is zero.
const ROUNDING: f64 = 1e-12;

pub fn execute(arguments: &Linearise) -> Result<(), Failure> {
    let beside = |suffix: &str| load::beside(&arguments.model.model, suffix);
    let data = arguments
        .data
        .clone()
        .unwrap_or_else(|| beside("-linear.json"));
    let format = LinearFormat::of(&data).unwrap_or(LinearFormat::Json);
    let is_drawn = arguments.bode || arguments.out.is_some();
    let out = arguments.out.clone().unwrap_or_else(|| beside("-bode.svg"));
    for target in [&data, &out] {
        picture::protect(target, &[&arguments.model.model])?;
    }
    let begun = Begun::with(
        &arguments.model.model,
        &arguments.model.changes.settings(),
        arguments.about.as_deref(),
    )?;
    let linear = match &begun.start {
        Some(start) => linearise_from(start, &begun.model)?,
        None => linearise(&begun.model, arguments.time)?,
    };
    let bode = match is_drawn {
        true => {
            let axis = arguments.frequencies.as_ref();
            let axis = axis
                .map(|variation| variation.axis(&Default::default()))
                .transpose();
            let axis = axis.map_err(StudyError::from)?;
            Some(linear.bode(&arguments.from, &arguments.to, axis.as_ref())?)
        }
        false => None,
    };
    if let Some(bode) = &bode {
        bode.figure().save(&out)?;
    }
    let mut answer = json!({"command": "linearise", "status": "finished", "linear": linear});
    if let Some(bode) = &bode {
        answer["bode"] = json!(bode);
        answer["picture"] = json!(load::shown(&out));
    }
    oldham_scene::write(&data, &linear.file(format))?;
    if arguments.json {
        answer["data"] = json!(load::shown(&data));
        say!("{answer:#}");
        return Ok(());
    }
    print(&linear);
    say!("matrices: {}", data.display());
    if bode.is_some() {
        say!("picture: {}", out.display());
    }
    Ok(())
}

fn print(linear: &LinearModel) {
    let space = &linear.space;
    let (states, inputs, outputs) = (space.states.len(), space.inputs.len(), space.outputs.len());
    let (name, time) = (&linear.model, number(linear.time));
    let sampled = match space.sample {
        Some(period) => format!(" from sample to sample, every {} s", number(period)),
        None => String::new(),
    };
    say!(
        "{name}: linear about t = {time} s{sampled}, {states} states, {inputs} inputs, {outputs} outputs\n"
    );
    let mut header = vec![
        "pole",
        "real / (1/s)",
        "imaginary / (rad/s)",
        "frequency / Hz",
        "damping",
    ];
    if space.sample.is_some() {
        header.push("z");
    }
    let mut rows = Vec::new();
    let largest = space
        .poles
        .iter()
        .map(|pole| pole.norm())
        .filter(|size| size.is_finite())
        .fold(0.0, f64::max);
    for (index, pole) in space.poles.iter().take(LISTED).enumerate() {
        // A pole at zero is not told in rounding errors.
        let shown = |value: f64| match value.abs() <= ROUNDING * largest {
            true => "0".into(),
            false => number(value),
        };
        let damping = match pole.norm() <= ROUNDING * largest {
            true => "-".into(),
            false => number(oldham_study::damping(*pole)),
        };
        let hertz = pole.norm() / std::f64::consts::TAU;
        let mut row = vec![
            (index + 1).to_string(),
            shown(pole.re),
            shown(pole.im),
            shown(hertz),
            damping,
        ];
        if let Some(z) = space.multipliers.get(index) {
            let turned = match z.im == 0.0 {
                true => String::new(),
                false => format!(" + {}i", number(z.im)),
            };
            row.push(format!("{}{turned}", number(z.re)));
        }
        rows.push(row);
    }
    let header = header.into_iter().map(str::to_owned).collect();
    say!("{}", Table::of(header, rows));
    let listed = |names: Vec<&str>| {
        let shown = names[..names.len().min(LISTED)].join(", ");
        match names.len().checked_sub(LISTED) {
            Some(more @ 1..) => format!("{shown} and {more} more"),
            _ if names.is_empty() => "none: connections feed all inputs".into(),
            _ => shown,
        }
    };
    let states = space.states.iter().map(String::as_str).collect();
    for (what, names) in [
        ("states", states),
        ("inputs", linear.sources()),
        ("outputs", linear.targets()),
    ] {
        say!(
            "{}",
            crate::fold::fold(&format!("{what:<8} {}", listed(names)), 9)
        );
    }
}
