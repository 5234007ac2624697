//! Random rotors with fixed seeds: the frequency domain against probing, and both against runs.
//!
//! `OLDHAM_MODELS` says how many there are, `OLDHAM_SEEDS` which, as in `17,30`.

use nalgebra::Complex;
use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_stability::{Decision, Spectrum, Verdict, Way};

use crate::models::{Bars, Rotor, read, two_short_blades};
use crate::runs::differences;

const DEFAULT_COUNT: u64 = 15;
/// Steps before a probed state, and before one of the frequency domain.
pub const FILLED: [u64; 2] = [6, 3];
/// Bisections that bring a model to within a few per cent of its limit.
const BISECTIONS: usize = 5;
/// Steps of runs that are compared.
const STEPS: u64 = 240;
/// Error of both ways about a steady rotation.
const SHARP: f64 = 1e-6;
/// Radius from which on the error may be larger: the state does not last.
const FAST: f64 = 1.05;
/// Digits of what is compared.
const ROUNDING: f64 = 1e-9;
/// Growth of a difference that is no matter of transients, in the second half of a run.
const CLEAR: f64 = 30.0;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.next() * choices.len() as f64) as usize]
    }
}

/// A rotor with one number that decides about stability.
enum Drawn {
    Flexible(Rotor),
    Rigid(Bars),
}

impl Drawn {
    fn new(random: &mut Random) -> Self {
        let spin = match random.next() < 0.15 {
            true => 0.0,
            false => random.between(1.0, 100.0),
        };
        let step = match spin > 0.0 {
            true => (random.between(0.01, 0.25) / spin).min(5e-3),
            false => random.between(2e-4, 5e-3),
        };
        let gravity = random.of(&[[0.0; 3], [0.0; 3], [0.0, 0.0, -9.81]]);
        let integrator = random.of(&["lms2", "lms2", "generalised-alpha"]);
        let rho = random.between(0.1, 0.9);
        let blades = random.of(&[2, 2, 3, 4, 5]);
        // Matrices of more flexible blades take minutes.
        if blades > 3 || random.next() < 0.2 {
            return Self::Rigid(Bars {
                bars: blades,
                radius: random.between(0.2, 2.0),
                offset: random.between(0.05, 0.5) * random.of(&[1.0, 1.0, -0.3]),
                stiffness: random.between(1e2, 1e4),
                damping: random.of(&[0.0, 0.1]),
                spin,
                step,
                rho,
                integrator,
                gravity,
            });
        }
        Self::Flexible(Rotor {
            blades,
            length: random.between(0.3, 2.0),
            elements: if blades == 2 { random.of(&[1, 2]) } else { 1 },
            thickness: random.between(0.005, 0.02),
            young: random.between(1e10, 2e11),
            density: random.between(1500.0, 8000.0),
            damping: random.between(1e-5, 1e-2),
            hub: random.between(0.5, 20.0),
            spin,
            step,
            rho,
            integrator,
            lumping: random.of(&["segments", "points"]),
            gravity,
            cut: random.of(&[
                None,
                Some("scheme = \"interface-mass\""),
                Some("scheme = \"force-displacement\""),
                Some("scheme = \"force-displacement\"\npredictor = \"hermite\""),
            ]),
            schedule: random.of(&["jacobi", "gauss-seidel"]),
            ..two_short_blades()
        })
    }

    fn text(&self) -> String {
        match self {
            Self::Flexible(rotor) => rotor.text(),
            Self::Rigid(bars) => bars.text(),
        }
    }

    /// Brings a cut rotor near its limit by its damping, if it has one.
    fn near_limit(mut self) -> Self {
        let Self::Flexible(rotor) = &mut self else {
            return self;
        };
        if rotor.cut.is_none() {
            return self;
        }
        let (mut low, mut high) = (1e-6, 1e-1);
        let mut is_unstable = |damping: f64| {
            rotor.damping = damping;
            let mut simulation = simulation(&read(&rotor.text()));
            let found = Spectrum::of(&mut simulation);
            found.is_ok_and(|found| found.decision() == Decision::Unstable)
        };
        let at_low = is_unstable(low);
        for _ in 0..BISECTIONS {
            let middle = f64::sqrt(low * high);
            match is_unstable(middle) == at_low {
                true => low = middle,
                false => high = middle,
            }
        }
        self
    }
}

fn simulation(model: &Model) -> Simulation {
    model.simulation().expect("a simulation")
}

/// The modes of a spectrum, the fastest growing first, with errors.
fn modes(spectrum: &Spectrum) -> Vec<(Complex<f64>, f64)> {
    let all = spectrum.own_modes().iter().chain(spectrum.modes());
    let mut all: Vec<_> = all.map(|mode| (mode.value, mode.error)).collect();
    all.sort_by(|a, b| b.0.norm().total_cmp(&a.0.norm()));
    all
}

#[test]
fn random_rotors_are_judged_alike_and_as_they_run() {
    let count = std::env::var("OLDHAM_MODELS").ok();
    let count = count
        .and_then(|text| text.parse().ok())
        .unwrap_or(DEFAULT_COUNT);
    let seeds: Vec<u64> = match std::env::var("OLDHAM_SEEDS") {
        Ok(list) => list
            .split(',')
            .map(|seed| seed.parse().expect("a seed"))
            .collect(),
        Err(_) => (0..count).collect(),
    };
    let count = seeds.len() as u64;
    let (mut undecided, mut by_frequencies) = (0, 0);
    let mut vague = Vec::new();
    let mut wrong = Vec::new();
    for seed in seeds {
        let mut random = Random(seed);
        let drawn = Drawn::new(&mut random);
        let drawn = match seed % 2 {
            0 => drawn,
            _ => drawn.near_limit(),
        };
        let text = drawn.text();
        let model = read(&text);
        let mut first = simulation(&model);
        // What grows tenfold in a step makes much of the tolerance of a run.
        first.sharpen().expect("sharp steps");
        if first.steps(FILLED[0] - FILLED[1]).is_err() {
            println!("{seed}: fails at once");
            continue;
        }
        let started = std::time::Instant::now();
        let mut spectrum =
            Spectrum::of(&mut first).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let took = started.elapsed();
        // About the very state; both from the start where it is lost within the step that is probed.
        let probed = Spectrum::by_matrix_here(&mut first).or_else(|_| {
            first = simulation(&model);
            spectrum = Spectrum::of(&mut first)?;
            Spectrum::by_matrix(&mut simulation(&model))
        });
        let probed = probed.unwrap_or_else(|error| panic!("{seed}: {error}"));
        let verdict = Verdict::of(&spectrum, &mut first)
            .unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let (here, there) = (modes(&spectrum), modes(&probed));
        let ((a, error), (b, other)) = (here[0], there[0]);
        println!(
            "{seed}: {:?} {:?} {a:.9} ± {error:.1e}, probed {b:.9} ± {other:.1e}, {took:.1?} and {:.1?}",
            spectrum.way(),
            verdict.decision(),
            started.elapsed() - took,
        );
        // The frequency domain does not list ones: nothing that it leaves out grows.
        let apart = (a.norm().max(1.0) - b.norm().max(1.0)).abs();
        let fast = a.norm().max(b.norm()) > FAST;
        for (way, stated) in [("frequency domain", error), ("probing", other)] {
            if stated > SHARP {
                let reason = match (fast, verdict.doubt()) {
                    (true, _) => {
                        "it grows by more than 5 % in a step, and carries the state away".into()
                    }
                    (false, Some(doubt)) => doubt,
                    (false, None) => {
                        wrong.push(format!("{seed}: {way} {a} ± {stated:e} without a reason"));
                        continue;
                    }
                };
                vague.push(format!("{seed}, {way}: ± {stated:.1e}, {reason}"));
            }
        }
        if apart > error + other + ROUNDING * b.norm() {
            wrong.push(format!("{seed}: {a} {b}\n{text}"));
        }
        undecided += u32::from(verdict.decision() == Decision::Undecided);
        by_frequencies += u32::from(matches!(spectrum.way(), Way::Frequency { .. }));
        let apart = differences(|| simulation(&model), FILLED[0], STEPS);
        let radius = a.norm();
        if apart.len() < STEPS as usize {
            assert!(
                radius > 1.05,
                "{seed}: fails after {}, {radius}\n{text}",
                apart.len()
            );
            continue;
        }
        let (early, late) = (apart[apart.len() / 2], apart[apart.len() - 1]);
        let expected = radius.ln() * 0.5 * STEPS as f64;
        let found = (late / early).ln();
        println!("     run: {found:.2} expected {expected:.2}");
        if expected > CLEAR.ln() && early < 1e-5 {
            assert!(found > 0.5 * expected, "{seed}: {found} {expected}\n{text}");
        }
        if radius < 1.0 + 1e-6 {
            assert!(found < CLEAR.ln(), "{seed}: {found} {expected}\n{text}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let rare = count as u32 / 10 + 1;
    assert!(undecided <= rare, "{undecided} of {count} are not decided");
    // About a steady rotation every error is stated to 1e-6. What grows by more than its state lasts, or turns otherwise than the
    // others, is known less well, and is named.
    println!(
        "{} of {} stated errors are above {SHARP:e}:",
        vague.len(),
        2 * count
    );
    for named in &vague {
        println!("     {named}");
    }
    assert!(
        vague.len() as f64 <= 1.0 + 0.15 * 2.0 * count as f64,
        "{vague:?}"
    );
    assert!(
        by_frequencies as f64 > 0.6 * count as f64,
        "{by_frequencies} of {count}"
    );
}
