//! How long it takes to find the steady motion of a car and of a wind turbine, with its multipliers.

use std::time::Duration;

use oldham_study::{ModelFile, TrimOptions, TrimmedFile, trim};

use super::{Figure, cpu_seconds};
use crate::failure::Failure;

const TURBINE: &str = include_str!("../../../../../examples/wind-turbine.toml");
const CAR: &str = include_str!("../../../../../examples/formula-student.toml");
/// Time that a search is granted.
const GRANTED: Duration = Duration::from_secs(120);
/// Speed of the turbine in rad/s, and the steps and samples of a turn.
const SPEED: f64 = 4.5;
const STEPS: f64 = 350.0;
const SAMPLES: f64 = 70.0;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let car = ModelFile::of_text("formula-student.toml", CAR)
        .set("v0", 100.0 / 3.6)
        .set("acceleration", 0.0);
    let turn = std::f64::consts::TAU / SPEED;
    let turbine = ModelFile::of_text("wind-turbine.toml", TURBINE)
        .set("simulation.step", turn / STEPS)
        .set("simulation.duration", turn)
        .set("sample", turn / SAMPLES);
    Ok(vec![
        figure("car", &car, None, 5.0)?,
        figure("turbine", &turbine, Some(turn), 20.0)?,
    ])
}

/// What is not found is not met, however long that took.
fn figure(
    name: &'static str,
    file: &ModelFile,
    period: Option<f64>,
    most: f64,
) -> Result<Figure, Failure> {
    let options = TrimOptions {
        period,
        granted: Some(GRANTED),
        ..TrimOptions::default()
    };
    let started = cpu_seconds();
    let found = trim(file, &file.read()?, &options, |_| {});
    let taken = cpu_seconds() - started;
    let note = match &found {
        Ok(TrimmedFile { trim, .. }) => format!(
            "CPU time of a trim, {} coordinates, {} macro steps: {}, residual {:.1e}",
            trim.coordinates, trim.macro_steps, trim.verdict, trim.residual
        ),
        Err(error) => format!("not found: {error}"),
    };
    let mut figure = Figure::new(name, taken, "s", &note).required(most);
    if found.is_err() {
        figure.met = Some(false);
    }
    Ok(figure)
}
