//! Two-mass systems with random values from the ranges of Sect. 5.4.

use oldham_results::metrics::nrms;
use oldham_results::plot::{Figure, Panel, Scale, Series, Style};
use oldham_stability::{is_stable, radius};

use super::continuous::Continuous;
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
    let mut scenario = Scenario::coarse().with(&values);
    // Those of the print belong to other values.
    scenario.printed = None;
    scenario
}

/// Errors of the energy and stability of one system: without compensation, with the smallest gains on D(s), with ours.
struct Outcome {
    errors: [f64; 3],
    stable: [bool; 3],
}

const WAYS: [Way; 3] = [Way::Plain, Way::Continuous, Way::Compensated];

fn outcome(scenario: &Scenario) -> Result<Outcome, PaperError> {
    let reference = scenario.run(Way::Exact)?.energy;
    let mut outcome = Outcome {
        errors: [f64::NAN; 3],
        stable: [false; 3],
    };
    for (place, way) in WAYS.into_iter().enumerate() {
        outcome.errors[place] = nrms(&scenario.run(way)?.energy, &reference).unwrap_or(f64::NAN);
        outcome.stable[place] = is_stable(radius(&mut scenario.simulation(way)?));
    }
    Ok(outcome)
}

/// Samples of k_r that are tried for each system.
const SAMPLES: usize = 200;
/// How far gains are moved along the free directions, in powers of ten of the size of the smallest gains. The paper does not
/// say.
const REACH: [f64; 2] = [-2.0, 2.0];

/// The paper's search: k_r at random until the rest of the motion is stable. Says after how many samples the run is.
fn search(scenario: &Scenario, random: &mut Random) -> Result<Option<usize>, PaperError> {
    let continuous = Continuous::of(scenario)?;
    let smallest = continuous.gains();
    let size = continuous.size(&smallest);
    for sample in 0..=SAMPLES {
        let reach = size * 10_f64.powf(random.between(REACH[0], REACH[1]));
        let gains = match sample {
            0 => smallest.clone(),
            _ => continuous.moved(&smallest, || reach * random.between(-1.0, 1.0)),
        };
        let simulation = scenario.with_gains(continuous.table(&gains));
        if simulation.is_ok_and(|mut simulation| is_stable(radius(&mut simulation))) {
            return Ok(Some(sample));
        }
    }
    Ok(None)
}

pub(super) fn fig_18(report: &mut Report) -> Result<(), PaperError> {
    let mut random = Random(2022);
    let systems: Vec<Scenario> = (0..SYSTEMS).map(|_| pair(&mut random)).collect();
    let outcomes = systems.iter().map(outcome).collect::<Result<Vec<_>, _>>()?;
    let count = |of: &dyn Fn(&Outcome) -> bool, among: usize| {
        outcomes[..among].iter().filter(|o| of(o)).count() as f64
    };
    let note = "other random systems than the paper's: 10.7 +- 3.1 of 100 are expected";
    let plain = count(&|o| !o.stable[0], DRAWN);
    report.row(
        "unstable without compensation, first 100",
        13.0,
        plain,
        "systems",
        note,
    );
    let d_s = count(&|o| !o.stable[1], DRAWN);
    let note = "the paper's gains without its search over k_r: the smallest ones";
    report.row(
        "unstable with D(s) gains, first 100",
        None,
        d_s,
        "systems",
        note,
    );
    let mut random = Random(27);
    let (mut left, mut latent) = (0, 0);
    for (system, outcome) in systems[..DRAWN].iter().zip(&outcomes) {
        if outcome.stable[1] {
            continue;
        }
        left += usize::from(search(system, &mut random)?.is_none());
        let continuous = Continuous::of(system)?;
        let compensated = continuous.compensated(system, &continuous.gains())?;
        let roots = compensated.latent(continuous.hold, 1);
        latent += usize::from(roots.first().is_none_or(|root| root.re < 0.0));
    }
    let note = "D(s) gains as the paper has them, k_r at random until the run itself is stable, 200 samples of up to a hundred times the smallest gains each; how the paper samples is not printed";
    report.row(
        "unstable with D(s) gains and the search over k_r, first 100",
        0.0,
        left as f64,
        "systems",
        note,
    );
    let note = "of those that the smallest D(s) gains leave unstable: the latent roots, by which the paper chooses k_r, do not tell";
    report.row(
        "unstable, though all latent roots of D(s) are stable",
        None,
        latent as f64,
        "systems",
        note,
    );
    let ours = count(&|o| !o.stable[2], DRAWN);
    let note = "ours: gains for the co-simulation as it runs; not in the paper";
    report.row(
        "unstable with our gains, in z, first 100",
        None,
        ours,
        "systems",
        note,
    );
    for (place, way) in WAYS.into_iter().enumerate() {
        let name = format!("unstable {}, of 500", way.name());
        report.row(
            name,
            None,
            count(&|o| !o.stable[place], SYSTEMS),
            "systems",
            "",
        );
    }
    for (place, way) in WAYS.into_iter().enumerate().skip(1) {
        let closer = count(&|o| o.errors[place] < o.errors[0], SYSTEMS);
        let note =
            "than without compensation: energy NRMS over 10 s against the analytical solution";
        report.row(
            format!("closer {}, of 500", way.name()),
            None,
            closer,
            "systems",
            note,
        );
    }
    for (place, way) in WAYS.into_iter().enumerate() {
        let logarithms = outcomes[..DRAWN].iter().map(|o| o.errors[place].ln());
        let mean = (logarithms.sum::<f64>() / DRAWN as f64).exp();
        let note = "geometric mean over the first 100; the print is a picture";
        report.row(format!("error {}", way.name()), None, mean, "NRMS", note);
    }
    let better = report.value("error with D(s) gains") < report.value("error without compensation");
    report.statement(
        "compensation makes the error of the energy smaller on average",
        better,
        "geometric means with the smallest D(s) gains",
    );
    let exceptions = outcomes.iter().enumerate();
    for (index, outcome) in exceptions.filter(|(_, o)| o.errors[2] >= o.errors[0]) {
        for (place, way) in WAYS.into_iter().enumerate().step_by(2) {
            let what = format!("exception: system {}, {}", index + 1, way.name());
            report.row(what, None, outcome.errors[place], "NRMS", EXCEPTION);
        }
    }
    picture(report, &outcomes[..DRAWN])
}

const EXCEPTION: &str = "the coupling spring is soft beside the others and the motion well damped: what the coupling does is less than the integrator's own ripple in the energy, which is the same for both";

fn picture(report: &mut Report, outcomes: &[Outcome]) -> Result<(), PaperError> {
    let number = |index: usize| (index + 1) as f64;
    let mut panel =
        Panel::new("system", "error of the energy (NRMS)").with_scales(Scale::Linear, Scale::Log);
    for (place, way) in WAYS.into_iter().enumerate() {
        let x = (0..outcomes.len()).map(number).collect();
        let y = outcomes.iter().map(|o| o.errors[place]).collect();
        panel = panel.with_series(Series::new(way.name(), x, y).with_style(Style::Points));
    }
    let unstable = outcomes.iter().enumerate().filter(|(_, o)| !o.stable[0]);
    let (x, y) = unstable
        .map(|(index, o)| (number(index), o.errors[0]))
        .unzip();
    let marked = Series::new("unstable without compensation", x, y).with_style(Style::Points);
    let panel = panel.with_series(marked);
    report.picture(&Figure::new("100 random two-mass systems, Ts = 5 ms").with_panel(panel))
}
