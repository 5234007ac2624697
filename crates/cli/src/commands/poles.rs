//! `oldham poles`: what the exchange does to the poles of a coupled linear system.

use nalgebra::Complex;
use oldham_results::plot::{Figure, Panel, Series, Style};
use oldham_stability::{CoupledModel, Extrapolator, Recurrence};
use serde_json::{Value, json};

use crate::args::Poles;
use crate::failure::Failure;
use crate::progress::Waiting;
use crate::say;
use crate::table::{Table, number};
use crate::{load, picture};

/// Macro steps along which the poles are followed for the picture.
const SWEEP: usize = 40;
/// How far beyond its value the macro step grows there.
const BEYOND: f64 = 1.25;
/// Poles that are followed at most: each takes many determinants of the whole system.
const MOST_POLES: usize = 60;
/// Multiple of the exchange rate up to which latent roots are looked for.
const RATES: usize = 2;

/// What becomes of one pole.
struct Pole {
    monolithic: Complex<f64>,
    /// With the exchange as a continuous extrapolator.
    coupled: Option<Complex<f64>>,
    /// Of the discrete scheme as it is run.
    run: Option<Complex<f64>>,
}

pub fn execute(arguments: &Poles) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-poles.svg"));
    picture::protect(&out, &[&arguments.model.model])?;
    let _waiting = Waiting::new("tracking the poles", arguments.json);
    let coupled = CoupledModel::of(&mut model.simulation()?)?;
    let count = coupled.monolithic().len();
    if count > MOST_POLES {
        return Err(Failure::TooManyPoles {
            count,
            limit: MOST_POLES,
        });
    }
    let extrapolator = Extrapolator {
        order: arguments.order,
        period: model.step(),
        latency: arguments.latency,
        pade: arguments.pade,
    };
    let discrete = discrete_poles(&mut model.simulation()?)?;
    let poles: Vec<Pole> = coupled
        .monolithic()
        .into_iter()
        .map(|monolithic| Pole {
            coupled: coupled.primary(monolithic, extrapolator),
            run: nearest(&discrete, monolithic),
            monolithic,
        })
        .collect();
    if poles.is_empty() {
        return Err(Failure::NoPoles {
            model: model.name().into(),
        });
    }
    let latent = coupled.latent(extrapolator, RATES);
    let figure = draw(model.name(), &coupled, extrapolator);
    figure.save(&out)?;
    if arguments.json {
        let poles: Vec<_> = poles.iter().map(as_json).collect();
        let latent: Vec<_> = latent.iter().map(|root| [root.re, root.im]).collect();
        say!(
            "{:#}",
            json!({"command": "poles", "model": model.name(), "step": model.step(),
            "poles": poles, "latent": latent, "picture": load::shown(&out)})
        );
    } else {
        print(model.name(), model.step(), &poles, &latent);
        say!("picture: {}", out.display());
    }
    Ok(())
}

/// Poles of the scheme as it is run, mapped to the s-plane.
fn discrete_poles(simulation: &mut oldham_cosim::Simulation) -> Result<Vec<Complex<f64>>, Failure> {
    let recurrence = Recurrence::of(simulation)?;
    let eigenvalues = recurrence.eigenvalues()?;
    let poles = eigenvalues.iter().filter(|value| value.norm() > 1e-12);
    Ok(poles
        .map(|value| value.ln() / recurrence.duration())
        .collect())
}

fn nearest(poles: &[Complex<f64>], to: Complex<f64>) -> Option<Complex<f64>> {
    let distance = |pole: &&Complex<f64>| (*pole - to).norm();
    poles
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .copied()
}

fn damping(pole: Complex<f64>) -> f64 {
    -pole.re / pole.norm().max(f64::MIN_POSITIVE)
}

fn as_json(pole: &Pole) -> Value {
    let one = |pole: Complex<f64>| json!({"re": pole.re, "im": pole.im, "frequency": pole.norm(), "damping": damping(pole)});
    json!({
        "monolithic": one(pole.monolithic),
        "coupled": pole.coupled.map(one),
        "run": pole.run.map(one),
    })
}

fn print(name: &str, step: f64, poles: &[Pole], latent: &[Complex<f64>]) {
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
            "  {} latent roots up to {RATES} times the communication rate, the rightmost at {}",
            latent.len(),
            text(Some(*rightmost))
        );
    }
}

/// Where the poles go while the macro step grows to its value and a quarter more.
fn draw(name: &str, coupled: &CoupledModel, extrapolator: Extrapolator) -> Figure {
    let mut panel = Panel::new("real part / (1/s)", "imaginary part / (rad/s)");
    let (mut here_re, mut here_im) = (Vec::new(), Vec::new());
    let beyond = Extrapolator {
        period: BEYOND * extrapolator.period,
        latency: BEYOND * extrapolator.latency,
        ..extrapolator
    };
    for (index, start) in coupled.monolithic().into_iter().enumerate() {
        let path = coupled.path(start, beyond, SWEEP);
        let (re, im) = path.iter().map(|pole| (pole.re, pole.im)).unzip();
        panel = panel.with_series(Series::new(format!("mode {}", index + 1), re, im));
        if let Some(pole) = coupled.primary(start, extrapolator) {
            here_re.push(pole.re);
            here_im.push(pole.im);
        }
    }
    let here = Series::new("at this step", here_re, here_im);
    panel = panel.with_series(here.with_style(Style::Points));
    Figure::new(format!("{name}: primary poles while the macro step grows")).with_panel(panel)
}
