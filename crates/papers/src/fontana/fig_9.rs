//! Stability over the interface masses: the literature's scheme, the paper's, and the tangent.

use oldham_results::plot::Figure;
use oldham_stability::radius;

use super::masses::over_masses;
use super::{LITERATURE, LITERATURE_EXPLICIT, PROPOSED, proposed, with_jacobian};
use crate::item::{PaperError, Report, model, model_with};
use crate::map_study::{Scheme, stable};

pub(super) fn compute(report: &mut Report) -> Result<(), PaperError> {
    let study = over_masses();
    let schemes = [
        Scheme::new("literature", LITERATURE, &[]),
        Scheme::new("literature, semi-implicit Euler", LITERATURE_EXPLICIT, &[]),
        proposed(),
        with_jacobian(),
    ];
    let mut maps = Vec::new();
    for scheme in &schemes {
        let radii = study.radii(scheme);
        let mut at_baseline = model_with(scheme.text, &scheme.settings)?.simulation()?;
        let note = "h = 1 ms, rho = 0.6, Table 1; the print gives no number";
        let name = format!("{}: spectral radius", scheme.name);
        report.row(name, None, radius(&mut at_baseline), "1", note);
        let name = format!("{}: stable points", scheme.name);
        let note = "of 625 points; the print is a picture";
        report.row(name, None, stable(&radii), "1", note);
        maps.push(radii);
    }
    let mut monolithic = model(PROPOSED, &[])?.monolithic(None)?;
    let note = "the monolithic system with the same integrator";
    let radius = radius(&mut monolithic);
    report.row("monolithic: spectral radius", None, radius, "1", note);
    let monolithics = study.monolithic_radii(&proposed());
    let differences = maps[3].iter().zip(&monolithics).map(|(a, b)| (a - b).abs());
    report.row(
        "interface Jacobian: largest difference of radii from monolithic",
        None,
        differences.fold(0.0, f64::max),
        "1",
        "over all 625 points; not in the paper",
    );
    let title = "Stability over the interface masses (shaded: unstable)";
    let literature = study
        .panel(Some(&maps[0]))
        .with_series(study.border("border, literature", &schemes[0], &maps[0]))
        .with_series(study.border(
            "border, literature with semi-implicit Euler",
            &schemes[1],
            &maps[1],
        ));
    let proposed = study
        .panel(Some(&maps[2]))
        .with_series(study.border("border, proposed", &schemes[2], &maps[2]))
        .with_series(study.border("interface Jacobian", &schemes[3], &maps[3]));
    report.picture(
        &Figure::new(title)
            .with_panel(literature)
            .with_panel(proposed),
    )
}
