//! The particle damper with interface Jacobians in place of a law, which the paper does not have. Where index-1 inputs bear the can at few spectral radii only
//! (`limit`), Jacobians bear it at all.

use oldham_cosim::{InMemory, Run};
use oldham_results::plot::{Figure, Panel, Series};

use super::rig::{History, Model, Variant};
use crate::item::{PaperError, Report, model_with};

/// The spectral radius at infinity of the paper's two masses, at which index-1 inputs do not bear the can, and that of the model, at which they do.
const RADII: [&str; 2] = ["0.56", "0.25"];
/// How long the runs without particles are, in s.
const SMOOTH: f64 = 0.2;
/// Errors are taken so far apart, in s: a multiple of what is recorded at every step.
const APART: f64 = 5e-3;
/// Of the reference.
const FINE: f64 = 2e-5;

/// Without particles, at a step and a spectral radius.
fn smooth(step: f64, rho: &str, has_jacobians: bool) -> Variant {
    let variant = Variant::new(Model::Rig, false)
        .with("parameters.rho", rho)
        .with_step(step);
    match has_jacobians {
        true => variant.with_jacobians(),
        false => variant,
    }
}

/// Displacements of the can every 5 ms: one mechanism, not cut, by the two-step method.
fn reference(duration: f64) -> Result<Vec<f64>, PaperError> {
    let variant = smooth(FINE, RADII[0], false);
    let text = without_contact(&variant.text());
    let model = model_with(&text, &variant.settings())?;
    let mut simulation = model.monolithic(None)?;
    let mut columns = simulation.columns().iter();
    let place = columns.position(|column| column.name == "rig.nodes.can.py");
    let mut memory = InMemory::default();
    let outcome = simulation.run(Run {
        threads: 1,
        record_columns: Some(vec![place.expect("the can moves")]),
        record_every: (APART / FINE).round() as u64,
        ..Run::new((duration / FINE).round() as u64, &mut memory)
    });
    outcome.end?;
    let heights = memory.column(0);
    Ok(heights.iter().map(|y| y - heights[0]).collect())
}

/// The model without the tables of contact.
fn without_contact(text: &str) -> String {
    let mut left = text.to_owned();
    for table in ["[multibody.rig.contact]", "[multibody.rig.shapes.inside]"] {
        let (before, after) = left.split_once(table).expect("the model has this table");
        let (_, after) = after.split_once("\n\n").expect("a table after that");
        left = format!("{before}{after}");
    }
    left
}

/// The largest difference over the largest displacement; infinite where the run failed.
fn error(run: &History, reference: &[f64]) -> f64 {
    if run.failed.is_some() {
        return f64::INFINITY;
    }
    let size = reference.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    let mut largest = 0.0_f64;
    for (time, y) in run.times.iter().zip(&run.can[0]) {
        let place = time / APART;
        let row = place.round();
        if (place - row).abs() < 1e-6
            && let Some(exact) = reference.get(row as usize)
        {
            largest = largest.max((y - exact).abs());
        }
    }
    largest / size
}

pub(super) fn beyond(report: &mut Report) -> Result<(), PaperError> {
    let exact = reference(SMOOTH)?;
    let note = "without particles, over 0.2 s, the can behind the interface; against one mechanism in steps of 0.02 ms; infinite where the run fails";
    for step in [1e-4, 2e-4, 5e-4, 1e-3] {
        for (name, has_jacobians) in [("index-1", false), ("interface Jacobians", true)] {
            for rho in RADII {
                let run = smooth(step, rho, has_jacobians).run(SMOOTH)?;
                let row = format!("{name}, spectral radius {rho}: error at {step:.0e} s");
                report.row(row, None, error(&run, &exact), "1", note);
            }
        }
    }
    shaken(report, 2.0)
}

/// With particles.
fn shaken(report: &mut Report, duration: f64) -> Result<(), PaperError> {
    let joined = Variant::new(Model::Rig, true).with_jacobians();
    let free = joined.clone().with("parameters.rho", RADII[0]);
    let [joined, free] = [joined.run(duration)?, free.run(duration)?];
    let law = Variant::new(Model::Rig, true).run(duration)?;
    let mut panel = Panel::new("time / s", "displacement of the can / m");
    for (name, run, note) in [
        (
            "interface Jacobians, spectral radius 0.56",
            &free,
            "147 particles; index-1 inputs fail here (fig-17)",
        ),
        (
            "interface Jacobians, spectral radius 0.25",
            &joined,
            "147 particles",
        ),
        ("index-1, spectral radius 0.25", &law, "147 particles"),
    ] {
        let amplitude = run.amplitude(duration, 10.0, false);
        let row = format!("{name}: amplitude of the last ten cycles");
        report.row(row, None, amplitude, "m", note);
        let row = format!("{name}: work taken by impacts and friction");
        report.row(row, None, run.dissipated(), "J", note);
        let row = format!("{name}: steps of the nonsmooth part for each macro step");
        report.row(row, None, run.calls, "1", note);
        let series = Series::new(name, run.times.clone(), run.can[0].clone());
        panel = panel.with_series(series);
    }
    let figure = Figure::new("The damper with interface Jacobians").with_panel(panel);
    report.picture(&figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where index-1 inputs fail at the paper's step, interface Jacobians follow the monolithic mechanism, with an error of first order; also
    /// at ten times the step.
    #[test]
    fn interface_jacobians_bear_the_can_that_index_1_does_not() {
        let duration = 0.05;
        let exact = reference(duration).unwrap();
        let of = |step: f64, has_jacobians: bool| {
            let run = smooth(step, RADII[0], has_jacobians).run(duration);
            error(&run.unwrap(), &exact)
        };
        assert_eq!(of(1e-4, false), f64::INFINITY);
        let (fine, coarse) = (of(1e-4, true), of(1e-3, true));
        assert!(fine < 0.03, "{fine}");
        assert!(coarse < 0.3 && coarse > 5.0 * fine, "{coarse} {fine}");
    }

    /// With particles as well: bounded, and they take energy.
    #[test]
    fn interface_jacobians_carry_the_particles() {
        let joined = Variant::new(Model::Rig, true).with_jacobians();
        let run = joined.run(0.3).unwrap();
        assert!(
            run.failed.is_none() && run.dissipated() > 5e-4,
            "{}",
            run.dissipated()
        );
        assert_eq!(run.calls, 2.0);
        assert!(run.amplitude(0.3, 2.0, false) < 5e-3);
    }
}
