//! What the exchange does to the poles.

use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Series, Style};
use oldham_stability::{CoupledModel, Extrapolator};

use crate::item::{PaperError, Report, model};

const UNDAMPED: &str = include_str!("../../../../examples/two-mass-force-displacement.toml");
const DAMPED: &str = include_str!("../../../../examples/two-mass-damped.toml");

fn coupled(text: &str) -> Result<(Model, CoupledModel), PaperError> {
    let model = model(text, &[])?;
    let coupled = CoupledModel::of(&mut model.simulation()?)?;
    Ok((model, coupled))
}

type Printed<'a> = &'a [(f64, f64)];

/// Real and imaginary parts of all primary poles with a zero-order hold.
fn poles(
    report: &mut Report,
    coupled: &CoupledModel,
    period: Option<f64>,
    printed: Printed<'_>,
    note: &str,
) {
    for (number, start) in coupled.monolithic().into_iter().enumerate() {
        let pole = match period {
            None => Some(start),
            Some(period) => coupled.primary(start, Extrapolator::hold(0, period)),
        };
        let what = match period {
            None => "monolithic".to_owned(),
            Some(period) => format!("co-simulated, Ts = {} ms", 1e3 * period),
        };
        if let Some(pole) = pole {
            let name = |part| format!("{what}, pole {}, {part} part", number + 1);
            let printed = printed.get(number);
            report.row(name("real"), printed.map(|p| p.0), pole.re, "1/s", note);
            report.row(
                name("imaginary"),
                printed.map(|p| p.1),
                pole.im,
                "rad/s",
                note,
            );
        }
    }
}

pub(super) fn table_1(report: &mut Report) -> Result<(), PaperError> {
    let (_, coupled) = coupled(UNDAMPED)?;
    poles(report, &coupled, None, &[(0.0, 10.0), (0.0, 33.32)], "");
    let note =
        "exact root; the printed co-simulated poles were not reproduced by any reading tried";
    poles(
        report,
        &coupled,
        Some(1e-3),
        &[(-0.19, 9.51), (0.52, 33.27)],
        note,
    );
    Ok(())
}

pub(super) fn table_2(report: &mut Report) -> Result<(), PaperError> {
    let (_, coupled) = coupled(DAMPED)?;
    poles(report, &coupled, None, &[(-0.09, 10.0), (-0.11, 33.32)], "");
    poles(
        report,
        &coupled,
        Some(1e-3),
        &[(-0.11, 10.0), (-0.05, 33.32)],
        "exact root",
    );
    poles(
        report,
        &coupled,
        Some(4e-3),
        &[(-0.11, 10.0), (0.12, 33.31)],
        "exact root",
    );
    Ok(())
}

pub(super) fn fig_4(report: &mut Report) -> Result<(), PaperError> {
    let (model, coupled) = coupled(UNDAMPED)?;
    let roots = coupled.latent(Extrapolator::hold(0, model.step()), 3);
    let rightmost = roots.first().map_or(f64::NAN, |root| root.re);
    let note = "all latent roots lie to the left of the imaginary axis; the print is a picture";
    report.row(
        "real part of the rightmost latent root",
        None,
        rightmost,
        "1/s",
        note,
    );
    let (re, im) = roots.iter().map(|root| (root.re, root.im)).unzip();
    let panel = Panel::new("real part / (1/s)", "imaginary part / (rad/s)")
        .with_series(Series::new("latent roots", re, im).with_style(Style::Points));
    report.picture(&Figure::new("Latent roots, undamped, Ts = 1 ms").with_panel(panel))
}

pub(super) fn fig_5(report: &mut Report) -> Result<(), PaperError> {
    let (_, coupled) = coupled(DAMPED)?;
    let mut figure = Figure::new("Primary poles of the damped system, Ts from 0 to 5 ms");
    for (number, start) in coupled.monolithic().into_iter().enumerate() {
        let (mut re, mut im) = (vec![start.re], vec![start.im]);
        for period in (1..=50).map(|i| 1e-4 * f64::from(i)) {
            if let Some(pole) = coupled.primary(start, Extrapolator::hold(0, period)) {
                re.push(pole.re);
                im.push(pole.im);
            }
        }
        let last = re.last().copied().unwrap_or(f64::NAN);
        let note = "at Ts = 5 ms; the print is a picture";
        report.row(
            format!("pole {}, real part", number + 1),
            None,
            last,
            "1/s",
            note,
        );
        let label = format!("pole {}", number + 1);
        let series = Series::new(label, re, im).with_style(Style::LineAndPoints);
        let panel = Panel::new("real part / (1/s)", "imaginary part / (rad/s)");
        figure = figure.with_panel(panel.with_series(series));
    }
    report.picture(&figure)
}
