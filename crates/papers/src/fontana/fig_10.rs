//! How the border of stability over the interface masses moves with stiffness and damping.

use oldham_results::plot::Figure;

use super::PROPOSED;
use super::masses::over_masses;
use crate::item::{PaperError, Report};
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
    report.picture(&figure)
}
