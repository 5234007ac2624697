//! Interface masses against stiffness and damping, explicit and implicit.
//!
//! An implicit step that converges is the step of the monolithic system, so implicit coupling is
//! stable wherever its iteration converges. The plain iteration needs interface masses above the
//! mass that the sides' dampers and springs amount to within a step; the tangent needs none.

use oldham_results::plot::Figure;

use super::masses::{decades, smallest_mass};
use super::{PROPOSED, proposed, with_jacobian};
use crate::item::{PaperError, Report, Settings, model_with};
use crate::map_study::{Axis, MapStudy, Scheme, stable};

/// Iterations after which a step of the map counts as diverging ...
const FEW: &str = "200";
/// ... and of the border: convergence becomes arbitrarily slow there.
const MANY: &str = "20000";

/// Implicit coupling by plain iteration.
fn tight(iterations: &str) -> Settings {
    vec![
        ("schedule.coupling", "implicit".into()),
        ("schedule.implicit.acceleration", "fixed".into()),
        ("schedule.implicit.max_iterations", iterations.into()),
    ]
}

fn schemes() -> [Scheme; 3] {
    [
        Scheme {
            name: "explicit",
            ..proposed()
        },
        Scheme {
            name: "implicit, plain iteration",
            text: PROPOSED,
            settings: tight(FEW),
        },
        with_jacobian(),
    ]
}

/// Both interface masses by one factor.
fn masses(factor: f64) -> Settings {
    vec![
        ("m2", (2.0 * factor).to_string()),
        ("m3", factor.to_string()),
    ]
}

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let others: [(&str, Axis); 2] = [
        (
            "stiffness",
            decades("k / (N/m)", 1e3, |k| vec![("k", k.to_string())]),
        ),
        (
            "damping",
            decades("c / (N.s/m)", 10.0, |c| vec![("c", c.to_string())]),
        ),
    ];
    let mut figure = Figure::new(
        "Stability over interface masses, stiffness, damping (shaded: explicit unstable)",
    );
    for (what, other) in others {
        let study = MapStudy {
            baseline: "Table 1",
            x: decades("factor on m2 and m3", 1.0, masses),
            y: other,
        };
        let mut panel = None;
        for scheme in schemes() {
            let radii = study.radii(&scheme);
            let base = panel.unwrap_or_else(|| study.panel(Some(&radii)));
            panel = Some(base.with_series(study.border(scheme.name, &scheme, &radii)));
            let name = format!("masses and {what}, {}: stable points", scheme.name);
            let note = "of 625 points; the print is a picture";
            report.row(name, None, stable(&radii), "1", note);
        }
        figure.panels.extend(panel);
    }
    borders(report)?;
    report.picture(&figure)
}

/// The smallest interface masses of Table 1's springs and dampers.
fn borders(report: &mut Report) -> Result<(), PaperError> {
    let loose = smallest_mass([1e-3, 1.0], |masses| {
        let radius = oldham_stability::radius(&mut model_with(PROPOSED, masses)?.simulation()?);
        Ok(oldham_stability::is_stable(radius))
    })?;
    let note = "m2 + m3, whatever the split; the print gives no number";
    report.row("explicit: smallest interface mass", None, loose, "kg", note);
    let converging = smallest_mass([1e-3, 1.0], |masses| {
        let mut set = tight(MANY);
        set.extend(masses.iter().cloned());
        Ok(model_with(PROPOSED, &set)?.simulation()?.steps(2).is_ok())
    })?;
    let name = "implicit, plain iteration: smallest interface mass";
    let note = "below, the iteration diverges; from above, it needs ever more iterations";
    report.row(name, None, converging, "kg", note);
    Ok(())
}
