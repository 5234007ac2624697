//! Gains on the paper's continuous model D(s): poles, latent roots, ranks.

use nalgebra::Complex;
use oldham_results::plot::Figure;
use oldham_stability::compensate::Conditions;
use oldham_stability::{CoupledModel, Extrapolator};

use super::continuous::Continuous;
use super::scatter::{Poles, panel};
use super::scenario::{Scenario, Way};
use super::structure::{self, Mode, Printed as PrintedMode, displacements};
use crate::item::{PaperError, Report};

/// Multiple of the exchange rate up to which latent roots are looked for.
const RATES: usize = 3;

type Printed<'a> = &'a [(f64, f64)];

fn rows(report: &mut Report, what: &str, poles: &Poles, printed: Printed<'_>, note: &str) {
    for (number, pole) in poles.iter().enumerate() {
        let name = |part| format!("{what}, pole {}, {part} part", number + 1);
        let printed = printed.get(number);
        report.row(name("real"), printed.map(|p| p.0), pole.re, "1/s", note);
        let imaginary = printed.map(|p| p.1);
        report.row(name("imaginary"), imaginary, pole.im, "rad/s", note);
    }
}

fn damping(pole: Complex<f64>) -> f64 {
    -pole.re / pole.norm()
}

const NOT_UNIQUE: &str = "gains are not unique: ours are the smallest ones; what the printed ones leave of n and where they put the poles is below";

fn gains_and_poles(report: &mut Report, scenario: &Scenario) -> Result<(), PaperError> {
    let printed = &scenario
        .printed
        .expect("the gains of these scenarios are printed")[..];
    let continuous = Continuous::of(scenario)?;
    let gains = continuous.gains();
    let candidates = continuous.rows.candidates();
    for ((row, candidate), (gain, printed)) in candidates.zip(gains.iter().zip(printed)) {
        let name = &continuous.rows.rows[row].name;
        let what = format!("{}: gain of {} at {name}", scenario.name, candidate.name);
        report.row(what, *printed, *gain, "SI", NOT_UNIQUE);
    }
    let left = continuous.conditions.residual(printed);
    let what = format!("{}: |L k - n| / |n| of the printed gains", scenario.name);
    report.row(what, None, left, "1", "they are printed to four digits");
    let with_ours = continuous.compensated(scenario, &gains)?;
    let what = format!("{}, our gains", scenario.name);
    let poles = continuous.primary(&with_ours);
    rows(
        report,
        &what,
        &poles,
        &[],
        "exact root of the compensated D(s) model",
    );
    let wanted = continuous.wanted();
    let miss = poles.iter().zip(&wanted).map(|(a, b)| (a - b).norm());
    let what = format!(
        "{}: largest distance of our poles from the monolithic ones",
        scenario.name
    );
    report.row(
        what,
        None,
        miss.fold(0.0, f64::max),
        "rad/s",
        "our gains put them there",
    );
    Ok(())
}

/// The modes of a model of the paper's D(s), by the poles of the monolithic system.
fn modes(
    model: &CoupledModel,
    poles: &Poles,
    hold: Option<Extrapolator>,
    scenario: &Scenario,
) -> Result<Vec<Mode>, PaperError> {
    let at = displacements(&scenario.simulation(Way::Plain)?);
    let mode = |&pole: &Complex<f64>| {
        let shape = model.mode(pole, hold, &at)?;
        Some(Mode { pole, shape })
    };
    Ok(poles.iter().filter_map(mode).collect())
}

const NOT_REPRODUCED: &str = "not reproduced: ours is the exact root of Eq. 2 with the printed data, and Padé approximants of any order have the same digits (table-1)";

pub(super) fn table_3(report: &mut Report) -> Result<(), PaperError> {
    let scenario = Scenario::undamped();
    let continuous = Continuous::of(&scenario)?;
    let mono = continuous.wanted();
    let plain = continuous.primary(&continuous.plain);
    let gains = scenario
        .printed
        .expect("the gains of this scenario are printed");
    let with_printed = continuous.compensated(&scenario, &gains)?;
    let compensated = continuous.primary(&with_printed);
    let exact = |sign: f64| {
        let shape = |a: f64, b: f64| [(Some(a), None), (Some(b), None)];
        let of = |frequency, shape| PrintedMode {
            pole: (0.0, frequency),
            frequency,
            damping: 0.0,
            shape,
        };
        [
            of(10.0, shape(-0.9950, -0.0995)),
            of(33.32, shape(-0.0995, sign * 0.9950)),
        ]
    };
    let coupled = [
        PrintedMode {
            pole: (-0.19, 9.51),
            frequency: 9.51,
            damping: 0.020,
            shape: [(Some(-0.9951), None), (Some(-0.09948), Some(-0.0013))],
        },
        PrintedMode {
            pole: (0.52, 33.27),
            frequency: 33.27,
            damping: -0.015,
            shape: [(Some(-0.9951), Some(0.0004)), (Some(0.9951), None)],
        },
    ];
    let hold = Some(continuous.hold);
    let sets = [
        (
            "monolithic",
            modes(&continuous.plain, &mono, None, &scenario)?,
            exact(1.0),
            "",
        ),
        (
            "co-simulated",
            modes(&continuous.plain, &plain, hold, &scenario)?,
            coupled,
            NOT_REPRODUCED,
        ),
        (
            "compensated by the printed gains",
            modes(&with_printed, &compensated, hold, &scenario)?,
            exact(1.0),
            "the printed gains have four digits",
        ),
    ];
    for (what, modes, printed, note) in sets {
        for (number, (mode, printed)) in modes.iter().zip(&printed).enumerate() {
            structure::rows(report, what, number + 1, mode, printed, note);
        }
    }
    let printed = [[-4.88, 0.020], [-0.14, -0.015]];
    for mode in 0..2 {
        let error = |pole: Complex<f64>| 100.0 * (pole.norm() / mono[mode].norm() - 1.0);
        let name = |what: &str| format!("mode {}, {what}", mode + 1);
        let [frequency, ratio] = printed[mode];
        report.row(
            name("frequency error without"),
            frequency,
            error(plain[mode]),
            "%",
            NOT_REPRODUCED,
        );
        let note = "of the printed gains, on D(s)";
        report.row(
            name("frequency error with"),
            0.0,
            error(compensated[mode]),
            "%",
            note,
        );
        report.row(
            name("damping error without"),
            ratio,
            damping(plain[mode]),
            "1",
            NOT_REPRODUCED,
        );
        report.row(
            name("damping error with"),
            0.0,
            damping(compensated[mode]),
            "1",
            note,
        );
    }
    gains_and_poles(report, &scenario)
}

pub(super) fn table_4(report: &mut Report) -> Result<(), PaperError> {
    for (scenario, ms) in [(Scenario::damped(), "1"), (Scenario::coarse(), "4")] {
        let continuous = Continuous::of(&scenario)?;
        let gains = scenario
            .printed
            .expect("the gains of these scenarios are printed");
        let with_printed = continuous.compensated(&scenario, &gains)?;
        let printed = [(-0.1, 10.0), (-0.1, 33.32)];
        let what = format!("monolithic, beside {ms} ms");
        rows(report, &what, &continuous.wanted(), &printed, "");
        let what = format!("compensated by the printed gains, {ms} ms");
        rows(
            report,
            &what,
            &continuous.primary(&with_printed),
            &printed,
            "",
        );
        gains_and_poles(report, &scenario)?;
    }
    Ok(())
}

/// Primary poles: monolithic, without and with compensation.
fn three_sets(scenario: &Scenario) -> Result<(Continuous, [Poles; 3]), PaperError> {
    let continuous = Continuous::of(scenario)?;
    let compensated = continuous.compensated(scenario, &continuous.gains())?;
    let sets = [
        continuous.wanted(),
        continuous.primary(&continuous.plain),
        continuous.primary(&compensated),
    ];
    Ok((continuous, sets))
}

const SETS: [&str; 3] = ["monolithic", "without compensation", "with compensation"];

fn distance(report: &mut Report, name: &str, from: &Poles, to: &Poles) {
    let distances = from.iter().zip(to).map(|(a, b)| (a - b).norm());
    let note = "the print is a picture";
    report.row(name, None, distances.fold(0.0, f64::max), "rad/s", note);
}

fn pole_figure(
    report: &mut Report,
    title: &str,
    scenarios: &[Scenario],
    shown: usize,
) -> Result<(), PaperError> {
    let mut figure = Figure::new(title);
    for scenario in scenarios {
        let (_, sets) = three_sets(scenario)?;
        let named: Vec<_> = SETS.into_iter().zip(&sets).take(shown).collect();
        figure = figure.with_panel(panel(&named));
        for (name, set) in named.iter().skip(1) {
            let what = format!(
                "{}: largest distance from the monolithic poles, {name}",
                scenario.name
            );
            distance(report, &what, set, &sets[0]);
        }
    }
    report.picture(&figure)
}

pub(super) fn fig_3(report: &mut Report) -> Result<(), PaperError> {
    let title = "Primary poles, undamped, Ts = 1 ms";
    pole_figure(report, title, &[Scenario::undamped()], 2)
}

pub(super) fn fig_7(report: &mut Report) -> Result<(), PaperError> {
    let title = "Primary poles, undamped, Ts = 1 ms, D(s) gains";
    pole_figure(report, title, &[Scenario::undamped()], 3)
}

pub(super) fn fig_9(report: &mut Report) -> Result<(), PaperError> {
    let title = "Primary poles, damped, Ts = 1 ms (above) and 4 ms (below), D(s) gains";
    pole_figure(report, title, &[Scenario::damped(), Scenario::coarse()], 3)
}

pub(super) fn fig_20(report: &mut Report) -> Result<(), PaperError> {
    let title = "Primary poles, four masses, Ts = 3 ms, D(s) gains";
    pole_figure(report, title, &[Scenario::four_mass()], 3)
}

pub(super) fn fig_8(report: &mut Report) -> Result<(), PaperError> {
    let scenario = Scenario::undamped();
    let continuous = Continuous::of(&scenario)?;
    let without = continuous.plain.latent(continuous.hold, RATES);
    let compensated = continuous.compensated(&scenario, &continuous.gains())?;
    let with = compensated.latent(continuous.hold, RATES);
    let note = "all latent roots lie to the left of the imaginary axis; the print is a picture";
    for (name, roots) in [("without", &without), ("with", &with)] {
        let rightmost = roots.first().map_or(f64::NAN, |root| root.re);
        let what = format!("real part of the rightmost latent root {name} compensation");
        report.row(what, None, rightmost, "1/s", note);
    }
    let sets = [(SETS[1], &without), (SETS[2], &with)];
    let figure = Figure::new("Latent roots, undamped, Ts = 1 ms, D(s) gains");
    report.picture(&figure.with_panel(panel(&sets)))
}

pub(super) fn ranks(report: &mut Report) -> Result<(), PaperError> {
    for scenario in [Scenario::undamped(), Scenario::damped(), Scenario::coarse()] {
        let continuous = Continuous::of(&scenario)?;
        let mut tell =
            |what: &str, printed: [f64; 2], ranks: oldham_stability::compensate::Ranks| {
                let name = |of: &str| format!("{}: {what}, rank of {of}", scenario.name);
                report.row(name("L"), printed[0], ranks.rank as f64, "1", "");
                report.row(name("[L n]"), printed[1], ranks.augmented as f64, "1", "");
            };
        let all = continuous.conditions.ranks(&continuous.everything());
        tell("all signals", [8.0, 8.0], all);
        let signals = ["left.x1", "right.x2"].map(str::to_owned);
        let without = continuous
            .conditions
            .ranks(&continuous.rows.choose(&signals));
        tell("without x2*", [7.0, 8.0], without);
        tell("rank-one control", [4.0, 5.0], rank_one(&continuous)?);
    }
    let continuous = Continuous::of(&Scenario::four_mass())?;
    let ranks = continuous.conditions.ranks(&continuous.everything());
    let note = "the print says that the condition is satisfied";
    report.row("four masses, rank of L", None, ranks.rank as f64, "1", note);
    report.row(
        "four masses, rank of [L n]",
        None,
        ranks.augmented as f64,
        "1",
        note,
    );
    let note = "relative to the largest, columns scaled: nearly singular";
    report.row(
        "four masses, smallest singular value",
        None,
        ranks.smallest,
        "1",
        note,
    );
    Ok(())
}

/// One force on both sides with opposite signs, sent with the coupling force (Eq. 34 and 35).
fn rank_one(continuous: &Continuous) -> Result<oldham_stability::compensate::Ranks, PaperError> {
    let mut rows = continuous.rows.clone();
    let fed_back = rows.rows[0].candidates.clone();
    let count = fed_back.len();
    rows.rows[2].candidates = fed_back;
    let sent = rows.unknowns() - count;
    let conditions = Conditions::continuous(
        &continuous.plain,
        continuous.hold,
        &rows,
        &continuous.targets,
    );
    let conditions = conditions.ok_or(PaperError::NoConditions)?;
    let unknowns: Vec<_> = (0..count)
        .map(|i| vec![(i, 1.0), (sent + i, -1.0)])
        .collect();
    Ok(conditions.combined(&unknowns).ranks(&vec![true; count]))
}

const FOUR_MASS_PRINTED: [(f64, f64); 4] = [
    (-0.002, 6.586),
    (-0.009, 13.120),
    (-0.017, 18.206),
    (-0.023, 21.479),
];

pub(super) fn table_7(report: &mut Report) -> Result<(), PaperError> {
    let (_, [mono, plain, compensated]) = three_sets(&Scenario::four_mass())?;
    rows(report, "monolithic", &mono, &FOUR_MASS_PRINTED, "");
    let printed = [
        (-0.011, 6.586),
        (0.031, 13.120),
        (0.017, 18.206),
        (0.063, 21.479),
    ];
    let what = "co-simulated, Ts = 3 ms";
    let note = "exact root; some last digits are cut off in the print, not rounded";
    rows(report, what, &plain, &printed, note);
    let note = "exact root; smallest gains on D(s), since the paper prints none for this system";
    rows(
        report,
        "compensated",
        &compensated,
        &FOUR_MASS_PRINTED,
        note,
    );
    Ok(())
}

pub(super) fn table_8(report: &mut Report) -> Result<(), PaperError> {
    let (_, sets) = three_sets(&Scenario::four_mass())?;
    let frequencies = [6.59, 13.1, 18.2, 21.5];
    let ratios = [
        [0.0003, 0.0007, 0.0009, 0.0011],
        [0.0017, -0.0024, -0.0009, -0.0029],
        [0.0003, 0.0007, 0.0009, 0.0011],
    ];
    for ((name, set), ratios) in SETS.into_iter().zip(&sets).zip(ratios) {
        for (mode, pole) in set.iter().enumerate() {
            let what = |of: &str| format!("{name}, mode {}, {of}", mode + 1);
            report.row(
                what("frequency"),
                frequencies[mode],
                pole.norm(),
                "rad/s",
                "",
            );
            report.row(what("damping"), ratios[mode], damping(*pole), "1", "");
        }
    }
    Ok(())
}
