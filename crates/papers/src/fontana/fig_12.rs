//! Stability over time step and spectral radius at infinity.

use oldham_results::plot::{Figure, Scale};

use super::masses::POINTS;
use super::{proposed, with_jacobian};
use crate::item::{PaperError, Report};
use crate::map_study::{Axis, MapStudy, stable};

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let along = |i: usize| i as f64 / (POINTS - 1) as f64;
    let study = MapStudy {
        baseline: "Table 1",
        x: Axis {
            label: "h / s",
            values: (0..POINTS).map(|i| 1e-4 * 1e3_f64.powf(along(i))).collect(),
            scale: Scale::Log,
            baseline: 1e-3,
            // The duration must be a whole number of steps.
            settings: |step| {
                vec![
                    ("simulation.step", step.to_string()),
                    ("simulation.duration", (10.0 * step).to_string()),
                ]
            },
        },
        y: Axis {
            label: "spectral radius at infinity",
            // One has repeated roots on the unit circle.
            values: (0..POINTS).map(|i| 0.99 * along(i)).collect(),
            scale: Scale::Linear,
            baseline: 0.6,
            settings: |rho| vec![("rho", rho.to_string())],
        },
    };
    let mut panel = None;
    for scheme in [proposed(), with_jacobian()] {
        let radii = study.radii(&scheme);
        let base = panel.unwrap_or_else(|| study.panel(Some(&radii)));
        panel = Some(base.with_series(study.border(scheme.name, &scheme, &radii)));
        let name = format!("{}: stable points", scheme.name);
        let note = "of 625 points; the print is a picture";
        report.row(name, None, stable(&radii), "1", note);
    }
    let mut figure =
        Figure::new("Stability over step and spectral radius (shaded: proposed unstable)");
    figure.panels.extend(panel);
    report.picture(&figure)
}
