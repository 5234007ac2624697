//! Maps of stability over the frequency of the smooth side and its spectral radius at infinity.

use oldham_results::plot::{Figure, Scale};
use oldham_stability::radius;

use super::{TWO_MASS, implicit, law, weights};
use crate::item::{PaperError, Report, Settings, model_with};
use crate::map_study::{Axis, MapStudy, Scheme, stable};

const STEP: f64 = 1e-3;

/// The paper's four laws.
const LAWS: [&str; 4] = ["original", "index-3", "index-2", "index-1"];

/// Who advances first.
const ORDERS: [(&str, &str); 3] = [
    ("nonsmooth side first", r#"[["nonsmooth"], ["smooth"]]"#),
    ("smooth side first", r#"[["smooth"], ["nonsmooth"]]"#),
    ("both at once (Jacobi)", r#"[["nonsmooth", "smooth"]]"#),
];

const NOTE: &str = "fraction of 40 x 41 points; the print is a picture";

fn study() -> MapStudy {
    MapStudy {
        baseline: "Fig. 8",
        x: Axis {
            label: "frequency of the smooth side times step",
            values: (1..=40).map(|i| 0.05 * f64::from(i)).collect(),
            scale: Scale::Linear,
            baseline: 5000_f64.sqrt() * STEP,
            settings: |phase| vec![("square", (phase / STEP).powi(2).to_string())],
        },
        y: Axis {
            label: "spectral radius at infinity",
            values: (0..=40).map(|i| 0.025 * f64::from(i)).collect(),
            scale: Scale::Linear,
            baseline: 0.56,
            settings: |rho| vec![("rho", rho.to_string())],
        },
    }
}

fn scheme(name: &'static str, settings: Settings) -> Scheme {
    Scheme {
        name,
        text: TWO_MASS,
        settings,
    }
}

/// Adds the fraction of stable points of a scheme, and a panel to the figure.
fn add(
    report: &mut Report,
    figure: Figure,
    scheme: &Scheme,
    label: &str,
) -> Result<Figure, PaperError> {
    let study = study();
    let radii = study.radii(scheme);
    let fraction = stable(&radii) / radii.len() as f64;
    report.row(format!("{label}: stable points"), None, fraction, "1", NOTE);
    let mut panel = study.panel(Some(&radii));
    panel.y_label = format!("{label}: {}", panel.y_label);
    Ok(figure.with_panel(panel))
}

/// The radius at the point of Fig. 8.
fn radius_of(settings: &Settings) -> Result<f64, PaperError> {
    Ok(radius(&mut model_with(TWO_MASS, settings)?.simulation()?))
}

pub(super) fn fig_5(report: &mut Report) -> Result<(), PaperError> {
    let printed = [1.11, 0.999, 0.999, 0.999];
    for (word, printed) in LAWS.into_iter().zip(printed) {
        let name = format!("{word}: spectral radius");
        let note = "dt = 1 ms, rho = 0.56, square of the frequency 5000 1/s2";
        report.row(name, printed, radius_of(&vec![law(word)])?, "1", note);
    }
    let mut figure = Figure::new("Stability with original and modified inputs (shaded: unstable)");
    for word in LAWS {
        figure = add(report, figure, &scheme(word, vec![law(word)]), word)?;
    }
    for (order, stages) in &ORDERS[1..] {
        for word in LAWS {
            let settings = vec![law(word), ("schedule.stages", (*stages).into())];
            let name = format!("{order}, {word}: spectral radius");
            let note = "the paper has the nonsmooth side first; here the reaction is held";
            report.row(name, None, radius_of(&settings)?, "1", note);
            let fraction = fraction(&scheme(word, settings));
            let name = format!("{order}, {word}: stable points");
            report.row(name, None, fraction, "1", note);
        }
    }
    report.picture(&figure)
}

fn fraction(scheme: &Scheme) -> f64 {
    let radii = study().radii(scheme);
    stable(&radii) / radii.len() as f64
}

pub(super) fn fig_6(report: &mut Report) -> Result<(), PaperError> {
    let mut figure = Figure::new("Stability with other weights (shaded: unstable)");
    for factor in [0.2, 20.0, 200.0] {
        let label = format!("weights {factor}, {factor}, 1");
        let settings = vec![weights([factor, factor, 1.0])];
        figure = add(report, figure, &scheme("weights", settings), &label)?;
    }
    figure = add(report, figure, &scheme("implicit", implicit()), "implicit")?;
    report.picture(&figure)
}

pub(super) fn fig_7(report: &mut Report) -> Result<(), PaperError> {
    let mut figure = Figure::new("Stability at other mass ratios (shaded: unstable)");
    for ratio in [0.5, 2.0] {
        for word in ["original", "index-1"] {
            let label = format!("m2 / m1 = {ratio}, {word}");
            let settings = vec![law(word), ("m2", ratio.to_string())];
            figure = add(report, figure, &scheme(word, settings), &label)?;
        }
    }
    for word in ["original", "index-2", "index-1"] {
        let (order, stages) = ORDERS[1];
        let settings = vec![
            law(word),
            ("m2", 2.0.to_string()),
            ("schedule.stages", stages.into()),
        ];
        let name = format!("m2 / m1 = 2, {order}, {word}: stable points");
        report.row(name, None, fraction(&scheme(word, settings)), "1", NOTE);
    }
    report.picture(&figure)
}
