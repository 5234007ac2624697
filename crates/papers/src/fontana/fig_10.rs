//! How the border of stability over the interface masses moves with stiffness and damping.

use oldham_results::plot::Figure;

use super::PROPOSED;
use super::masses::over_masses;
use crate::item::{PaperError, Report, model};
use crate::map_study::{Scheme, stable};

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let study = over_masses();
    let mut figure = Figure::new("Border of stability (unstable below and to the left)");
    for (what, key, baseline) in [("stiffness", "k", 1e3), ("damping", "c", 10.0)] {
        let mut panel = study.panel(None);
        for factor in [0.1, 1.0, 10.0] {
            let value = (factor * baseline).to_string();
            let scheme = Scheme::new("proposed", PROPOSED, &[(key, &value)]);
            let radii = study.radii(&scheme);
            let label = format!("{what} x {factor}");
            panel = panel.with_series(study.border(&label, &scheme, &radii));
            let name = format!("{label}: stable points");
            let note = "of 625 points, proposed scheme; the print is a picture";
            report.row(name, None, stable(&radii), "1", note);
        }
        figure = figure.with_panel(panel);
    }
    equation_7(report)?;
    report.picture(&figure)
}

/// Two masses side by side, each on a spring and a damper: one takes the force, the other follows its motion (Fig. 7(a) of the
/// literature's scheme).
const SIDE_BY_SIDE: &str = r#"
[model]
name = "Two masses side by side"
[parameters]
m2 = 1
c2 = 10
k2 = 1e3
[simulation]
duration = 0.01
step = 1e-3
energy_bound = 0
[lumped.first]
integrator = "lms2"
rho = 0.6
masses.x = { mass = 1, position = 0.01 }
springs.wall = { between = ["ground", "x"], stiffness = 1e3, damping = 10 }
inputs.f = { force = "x" }
outputs.x = { motion = "x" }
[lumped.second]
integrator = "lms2"
rho = 0.6
springs.wall = { between = ["ground", "y"], stiffness = "k2", damping = "c2" }
matrices.follower = { nodes = ["y"], mass = [["m2"]] }
inputs.y = { position_driven = "y" }
outputs.f = { force = "y" }
[[connection]]
from = "first.x"
to = "second.y"
[[connection]]
from = "second.f"
to = "first.f"
[schedule]
kind = "gauss-seidel"
order = ["second", "first"]
coupling = "implicit"
implicit.acceleration = "fixed"
implicit.max_iterations = 20000
"#;

/// The inequality as an equation: the mass that follows at the border.
fn border_by_formula(c2: f64, k2: f64) -> f64 {
    const H: f64 = 1e-3;
    let square = (1.0_f64 - 0.6).powi(2);
    let hb = H * (0.5 + square / (2.0 * (4.0 - square)));
    1.0 + hb * (10.0 - c2) + hb * hb * (1e3 - k2)
}

/// The largest mass with which the iteration converges.
fn border_by_iteration(c2: f64, k2: f64) -> Result<f64, PaperError> {
    let (mut below, mut above) = (0.01, 10.0);
    while above / below > 1.0 + 1e-4 {
        let middle = f64::sqrt(below * above);
        let set = [("m2", middle), ("c2", c2), ("k2", k2)];
        match model(SIDE_BY_SIDE, &set)?.simulation()?.steps(3).is_ok() {
            true => below = middle,
            false => above = middle,
        }
    }
    Ok(below)
}

/// What may follow the motion of an interface by the literature's scheme, by the inequality and by the iteration itself.
fn equation_7(report: &mut Report) -> Result<(), PaperError> {
    let mut worst: f64 = 0.0;
    for (what, c2, k2) in [
        ("alike", 10.0, 1e3),
        ("damping x 100", 1e3, 1e3),
        ("stiffness x 1000", 10.0, 1e6),
    ] {
        let (formula, found) = (border_by_formula(c2, k2), border_by_iteration(c2, k2)?);
        let name = format!("Eq. 7, {what}: largest mass that follows");
        let note = format!(
            "of 1 kg that takes the force, by the iteration at h = 1 ms; the inequality gives {formula:.4} kg"
        );
        report.row(name, None, found, "kg", &note);
        worst = worst.max((found / formula - 1.0).abs());
    }
    report.statement(
        "masses, dampers and springs weigh m, h b0 c and (h b0)² k in what may follow: Eq. 7",
        worst < 0.02,
        format!(
            "the iteration converges up to {:.1} % below the inequality; nearer to it, it would take more than 20,000 steps",
            100.0 * worst
        ),
    );
    Ok(())
}
