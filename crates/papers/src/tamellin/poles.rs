//! What the exchange does to the poles.

use nalgebra::Complex;
use oldham_cosim::SubsystemId;
use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Series, Style};
use oldham_stability::{CoupledModel, Extrapolator};

use super::structure::{self, Mode, Printed, displacements};
use crate::item::{PaperError, Report, model};

const UNDAMPED: &str = include_str!("../../../../examples/two-mass-force-displacement.toml");
const DISPLACEMENTS: &str =
    include_str!("../../../../examples/two-mass-displacement-displacement.toml");
const DAMPED: &str = include_str!("../../../../examples/two-mass-damped.toml");

fn coupled(text: &str) -> Result<(Model, CoupledModel), PaperError> {
    let model = model(text, &[])?;
    let coupled = CoupledModel::of(&mut model.simulation()?)?;
    Ok((model, coupled))
}

/// The modes with a zero-order hold, or of the monolithic system.
fn modes(coupled: &CoupledModel, period: Option<f64>, at: &[(SubsystemId, usize)]) -> Vec<Mode> {
    let hold = period.map(|period| Extrapolator::hold(0, period));
    let start = coupled.monolithic().into_iter();
    let mode = |start| {
        let pole = hold.map_or(Some(start), |hold| coupled.primary(start, hold))?;
        let shape = coupled.mode(pole, hold, at)?;
        Some(Mode { pole, shape })
    };
    start.filter_map(mode).collect()
}

/// How far the roots with Padé approximants of order 2 to 10 in place of the exponential are from the exact ones.
fn pade(coupled: &CoupledModel, period: f64) -> f64 {
    let hold = Extrapolator::hold(0, period);
    let mut most: f64 = 0.0;
    for start in coupled.monolithic() {
        let exact = coupled.primary(start, hold);
        for order in (2..=10).step_by(2) {
            let approximate = Extrapolator {
                pade: Some(order),
                ..hold
            };
            let found = coupled.primary(start, approximate).zip(exact);
            most = most.max(found.map_or(f64::NAN, |(a, b)| (a - b).norm()));
        }
    }
    most
}

const NOT_REPRODUCED: &str = "not reproduced: ours is the exact root of Eq. 2 with the printed data, and Padé approximants of any order have the same digits";

fn pade_row(report: &mut Report, coupled: &CoupledModel, period: f64) {
    let name = format!(
        "Ts = {} ms: largest distance of roots with Padé approximants from the exact ones",
        1e3 * period
    );
    let note = "orders 2 to 10; the paper takes the 6th";
    report.row(name, None, pade(coupled, period), "rad/s", note);
}

pub(super) fn table_1(report: &mut Report) -> Result<(), PaperError> {
    let (model, coupled) = coupled(UNDAMPED)?;
    let at = displacements(&model.simulation()?);
    for (number, (mode, printed)) in modes(&coupled, None, &at)
        .iter()
        .zip(&monolithic())
        .enumerate()
    {
        structure::rows(report, "monolithic", number + 1, mode, printed, "");
    }
    let printed = [
        Printed {
            pole: (-0.19, 9.51),
            frequency: 9.51,
            damping: 0.020,
            shape: [(None, Some(-0.9950)), (Some(0.0013), Some(-0.0994))],
        },
        Printed {
            pole: (0.52, 33.27),
            frequency: 33.27,
            damping: -0.015,
            shape: [(None, Some(-0.0995)), (Some(-0.004), Some(0.9950))],
        },
    ];
    let what = "co-simulated, Ts = 1 ms";
    for (number, (mode, printed)) in modes(&coupled, Some(1e-3), &at)
        .iter()
        .zip(&printed)
        .enumerate()
    {
        structure::rows(report, what, number + 1, mode, printed, NOT_REPRODUCED);
    }
    pade_row(report, &coupled, 1e-3);
    let unstable = report.value("co-simulated, Ts = 1 ms, pole 2, real part") > 0.0;
    report.statement(
        "the second pole pair of the co-simulation is unstable",
        unstable,
        "real part of pole 2",
    );
    displacements_both_ways(report, &coupled)
}

/// The same masses where each side owns the coupling spring and receives the displacement of the other.
fn displacements_both_ways(report: &mut Report, force: &CoupledModel) -> Result<(), PaperError> {
    let (_, both) = coupled(DISPLACEMENTS)?;
    let hold = Extrapolator::hold(0, 1e-3);
    let moved = |coupled: &CoupledModel| {
        let start = coupled.monolithic().into_iter();
        let each = start.map(|pole| coupled.primary(pole, hold).map(|found| found - pole));
        each.collect::<Option<Vec<_>>>().unwrap_or_default()
    };
    let (force, both) = (moved(force), moved(&both));
    let note = "held signals, Ts = 1 ms; the paper says so without numbers";
    let name = "displacement-displacement coupling";
    let growth = |by: &[Complex<f64>]| by.iter().map(|by| by.re).fold(f64::NAN, f64::max);
    let distance = |by: &[Complex<f64>]| by.iter().map(|by| by.norm()).fold(f64::NAN, f64::max);
    let row = format!("{name}: largest real part of a pole");
    report.row(row, None, growth(&both), "1/s", note);
    let row = format!("{name}: largest distance of a pole from the monolithic one");
    report.row(row, None, distance(&both), "rad/s", note);
    report.statement(
        "force-displacement coupling is less stable and less accurate than displacement-displacement coupling",
        growth(&both) < growth(&force) && distance(&both) < distance(&force),
        format!(
            "the fastest growth is {:.4} against {:.4} 1/s, poles move by {:.4} against {:.4} rad/s; as it runs, displacement-displacement coupling has the monolithic poles",
            growth(&force),
            growth(&both),
            distance(&force),
            distance(&both)
        ),
    );
    Ok(())
}

fn monolithic() -> [Printed; 2] {
    [
        Printed {
            pole: (0.0, 10.0),
            frequency: 10.0,
            damping: 0.0,
            shape: [(None, Some(-0.9950)), (None, Some(-0.0995))],
        },
        Printed {
            pole: (0.0, 33.32),
            frequency: 33.32,
            damping: 0.0,
            shape: [(None, Some(-0.0995)), (None, Some(0.9950))],
        },
    ]
}

pub(super) fn table_2(report: &mut Report) -> Result<(), PaperError> {
    let (model, coupled) = coupled(DAMPED)?;
    let at = displacements(&model.simulation()?);
    let first = [(Some(-0.097), Some(0.990)), (Some(-0.011), Some(0.099))];
    let of = |pole, frequency, damping, shape| Printed {
        pole,
        frequency,
        damping,
        shape,
    };
    let second = |re, im| [(Some(0.0001), Some(-0.0995)), (Some(re), Some(im))];
    let mono = [
        of((-0.09, 10.0), 10.0, 0.009, first),
        of((-0.11, 33.32), 33.32, 0.0033, second(0.0312, 0.9945)),
    ];
    let fine = [
        of((-0.11, 10.0), 10.001, 0.011, first),
        of((-0.05, 33.32), 33.32, 0.0015, second(-0.0026, 0.9945)),
    ];
    let coarse = [
        of(
            (-0.11, 10.0),
            10.001,
            0.011,
            [first[0], (Some(-0.015), Some(0.098))],
        ),
        of((0.12, 33.31), 33.31, -0.0036, second(-0.014, 0.9950)),
    ];
    let note = "the sign or size of a small part of a shape is not reproduced: exact eigenvector of the printed data";
    let sets = [
        (None, "monolithic", mono, note),
        (Some(1e-3), "co-simulated, Ts = 1 ms", fine, NOT_REPRODUCED),
        (
            Some(4e-3),
            "co-simulated, Ts = 4 ms",
            coarse,
            NOT_REPRODUCED,
        ),
    ];
    for (period, what, printed, note) in sets {
        for (number, (mode, printed)) in modes(&coupled, period, &at)
            .iter()
            .zip(&printed)
            .enumerate()
        {
            structure::rows(report, what, number + 1, mode, printed, note);
        }
        if let Some(period) = period {
            pade_row(report, &coupled, period);
        }
    }
    let real = |ms: &str| report.value(&format!("co-simulated, Ts = {ms} ms, pole 2, real part"));
    let changes = real("1") < 0.0 && real("4") > 0.0;
    report.statement(
        "at 1 ms the damped co-simulation is stable, at 4 ms its second pole pair is not",
        changes,
        "signs of the real part of pole 2",
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
