//! Two-mass systems with random values from the ranges of Sect. 5.4.

use oldham_results::metrics::nrms;
use oldham_results::plot::{Figure, Panel, Scale, Series, Style};
use oldham_stability::{is_stable, radius};

use super::scenario::{Scenario, Way};
use crate::item::{PaperError, Report};

/// Systems in all; the paper has 100, which are the ones that are drawn.
const SYSTEMS: usize = 500;
const DRAWN: usize = 100;

/// A small generator (splitmix) that gives the same numbers everywhere.
pub(super) struct Random(pub u64);

impl Random {
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        low + (high - low) * (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A system of the paper's ranges, exchanged every 5 ms.
pub(super) fn pair(random: &mut Random) -> Scenario {
    let [m1, m2] = [(); 2].map(|()| random.between(1.0, 10.0));
    let [k1, k2, kc] = [(); 3].map(|()| random.between(1.0, 1000.0));
    let [xi1, xi2] = [(); 2].map(|()| random.between(0.001, 0.1));
    let c1 = xi1 * 2.0 * (m1 * k1).sqrt();
    let c2 = xi2 * 2.0 * (m2 * k2).sqrt();
    let cc = random.between(0.0, c1);
    let values = [
        ("m1", m1),
        ("m2", m2),
        ("k1", k1),
        ("k2", k2),
        ("kc", kc),
        ("c1", c1),
        ("c2", c2),
        ("cc", cc),
        ("simulation.step", 5e-3),
    ];
    Scenario::coarse().with(&values)
}

/// Errors of the energy and stability of one system.
struct Outcome {
    plain: f64,
    compensated: f64,
    stable: [bool; 2],
}

fn outcome(scenario: &Scenario) -> Result<Outcome, PaperError> {
    let reference = scenario.run(Way::Exact)?.energy;
    let error = |way| -> Result<f64, PaperError> {
        Ok(nrms(&scenario.run(way)?.energy, &reference).unwrap_or(f64::NAN))
    };
    let stable =
        |way| -> Result<bool, PaperError> { Ok(is_stable(radius(&mut scenario.simulation(way)?))) };
    Ok(Outcome {
        plain: error(Way::Plain)?,
        compensated: error(Way::Compensated)?,
        stable: [stable(Way::Plain)?, stable(Way::Compensated)?],
    })
}

pub(super) fn fig_18(report: &mut Report) -> Result<(), PaperError> {
    let mut random = Random(2022);
    let systems: Vec<Scenario> = (0..SYSTEMS).map(|_| pair(&mut random)).collect();
    let outcomes = systems.iter().map(outcome).collect::<Result<Vec<_>, _>>()?;
    let count = |of: fn(&Outcome) -> bool, among: usize| {
        outcomes[..among].iter().filter(|o| of(o)).count() as f64
    };
    let unstable: [fn(&Outcome) -> bool; 2] = [|o| !o.stable[0], |o| !o.stable[1]];
    let note = "other random systems than the paper's; expected 10.7 +- 3.1 of 100";
    report.row(
        "unstable without compensation, first 100",
        13.0,
        count(unstable[0], DRAWN),
        "systems",
        note,
    );
    report.row(
        "unstable with compensation, first 100",
        0.0,
        count(unstable[1], DRAWN),
        "systems",
        "",
    );
    report.row(
        "unstable without compensation, of 500",
        None,
        count(unstable[0], SYSTEMS),
        "systems",
        "",
    );
    report.row(
        "unstable with compensation, of 500",
        None,
        count(unstable[1], SYSTEMS),
        "systems",
        "",
    );
    let closer = count(|o| o.compensated < o.plain, SYSTEMS);
    let note = "energy NRMS over 10 s against the analytical solution";
    report.row(
        "closer with compensation, of 500",
        None,
        closer,
        "systems",
        note,
    );
    let mean = |of: fn(&Outcome) -> f64| {
        let logarithms = outcomes[..DRAWN].iter().map(|o| of(o).ln());
        (logarithms.sum::<f64>() / DRAWN as f64).exp()
    };
    let note = "geometric mean over the first 100; the print is a picture";
    report.row(
        "error without compensation",
        None,
        mean(|o| o.plain),
        "NRMS",
        note,
    );
    report.row(
        "error with compensation",
        None,
        mean(|o| o.compensated),
        "NRMS",
        note,
    );
    let exceptions = outcomes
        .iter()
        .enumerate()
        .filter(|(_, o)| o.compensated >= o.plain);
    for (index, outcome) in exceptions {
        let what = format!("exception: system {}, without compensation", index + 1);
        report.row(what, None, outcome.plain, "NRMS", EXCEPTION);
        let what = format!("exception: system {}, with compensation", index + 1);
        report.row(what, None, outcome.compensated, "NRMS", EXCEPTION);
    }
    picture(report, &outcomes[..DRAWN])
}

const EXCEPTION: &str = "the coupling spring is soft beside the others and the motion well damped: what the coupling does is less than the integrator's own ripple in the energy, which is the same for both";

fn picture(report: &mut Report, outcomes: &[Outcome]) -> Result<(), PaperError> {
    let number = |index: usize| (index + 1) as f64;
    let points = |of: fn(&Outcome) -> f64| {
        let places = (0..outcomes.len()).map(number).collect();
        (places, outcomes.iter().map(of).collect())
    };
    let (x, y) = points(|o| o.plain);
    let plain = Series::new("without compensation", x, y).with_style(Style::Points);
    let (x, y) = points(|o| o.compensated);
    let compensated = Series::new("with compensation", x, y).with_style(Style::Points);
    let unstable = outcomes.iter().enumerate().filter(|(_, o)| !o.stable[0]);
    let (x, y) = unstable.map(|(index, o)| (number(index), o.plain)).unzip();
    let marked = Series::new("unstable without compensation", x, y).with_style(Style::Points);
    let panel = Panel::new("system", "error of the energy (NRMS)")
        .with_scales(Scale::Linear, Scale::Log)
        .with_series(plain)
        .with_series(compensated)
        .with_series(marked);
    report.picture(&Figure::new("100 random two-mass systems, Ts = 5 ms").with_panel(panel))
}
