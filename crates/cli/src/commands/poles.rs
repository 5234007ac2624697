//! `oldham poles`: what the exchange does to the poles of a coupled linear system.

use nalgebra::Complex;
use oldham_study::{CoupledPole, HeldSignals, LATENT_RATES, ModeShape, damping, poles};
use serde_json::json;

use crate::args::Poles;
use crate::failure::Failure;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{load, picture};

pub fn execute(arguments: &Poles) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-poles.svg"));
    picture::protect(&out, &[&arguments.model.model])?;
    let _waiting = Waiting::new("tracking the poles", arguments.json);
    let held = HeldSignals {
        order: arguments.order,
        latency: arguments.latency,
        pade: arguments.pade,
    };
    let found = poles(&model, held)?;
    found.figure().save(&out)?;
    if arguments.json {
        let latent: Vec<_> = found.latent.iter().map(|root| [root.re, root.im]).collect();
        say!(
            "{:#}",
            json!({"command": "poles", "model": found.model, "step": found.step,
            "sample_time": found.sample_time, "poles": found.poles, "latent": latent,
            "displacements": found.displacements, "shapes": found.shapes, "picture": load::shown(&out)})
        );
    } else {
        print(&found.model, found.step, &found.poles, &found.latent);
        if arguments.shapes {
            print_shapes(&found.poles, &found.displacements, &found.shapes);
        }
        if let Some(period) = found.sample_time {
            let z = |pole: &CoupledPole| {
                pole.multiplier
                    .map(|z| format!("{:.6} + {:.6}j", z.re, z.im))
            };
            let all: Vec<String> = found.poles.iter().filter_map(z).collect();
            say!(
                "  parts sample: the monolithic poles are those from sample to sample, every {} s, in the z-plane at {}",
                number(period),
                all.join(", ")
            );
        }
        say!("picture: {}", out.display());
    }
    Ok(())
}

/// Natural frequencies of the modes, and their shapes over the displacements, the largest of them one.
fn print_shapes(poles: &[CoupledPole], displacements: &[String], shapes: &[ModeShape]) {
    let mut table = Table::new(["mode", "", "monolithic", "held signals"]);
    let frequency = |pole: Option<Complex<f64>>| match pole {
        Some(pole) => format!("{:.4} rad/s", pole.norm()),
        None => "-".into(),
    };
    let text = |shape: &Option<Vec<Complex<f64>>>, place: usize| match shape {
        Some(shape) => format!("{:.5} {:+.5}j", shape[place].re, shape[place].im),
        None => "-".into(),
    };
    for (mode, (shape, pole)) in shapes.iter().zip(poles).enumerate() {
        table.row([
            (mode + 1).to_string(),
            "natural frequency".into(),
            frequency(Some(pole.monolithic)),
            frequency(pole.coupled),
        ]);
        for (place, name) in displacements.iter().enumerate() {
            table.row([
                (mode + 1).to_string(),
                name.clone(),
                text(&shape.monolithic, place),
                text(&shape.coupled, place),
            ]);
        }
    }
    say!("{table}");
}

fn print(name: &str, step: f64, poles: &[CoupledPole], latent: &[Complex<f64>]) {
    say!("{name}: poles with a macro step of {step} s\n");
    let mut table = Table::new([
        "mode",
        "monolithic",
        "damping",
        "held signals",
        "damping",
        "as run",
        "damping",
    ]);
    let text = |pole: Option<Complex<f64>>| match pole {
        Some(pole) => format!("{:.5} + {:.4}j", pole.re, pole.im),
        None => "-".into(),
    };
    let ratio =
        |pole: Option<Complex<f64>>| pole.map_or_else(|| "-".into(), |p| number(damping(p)));
    for (index, pole) in poles.iter().enumerate() {
        table.row([
            (index + 1).to_string(),
            text(Some(pole.monolithic)),
            ratio(Some(pole.monolithic)),
            text(pole.coupled),
            ratio(pole.coupled),
            text(pole.run),
            ratio(pole.run),
        ]);
    }
    say!("{table}");
    if let Some(rightmost) = latent.first() {
        say!(
            "  {} latent roots up to {LATENT_RATES} times the communication rate, the rightmost at {}",
            latent.len(),
            text(Some(*rightmost))
        );
    }
}
