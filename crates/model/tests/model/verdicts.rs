//! What the analysis says against what a run does, on random models with fixed seeds.
//!
//! Every model is run without a kick at its start, with a small one and with twice that. The
//! differences of all recorded outputs grow or decay with the dominant mode, in proportion to the
//! kick; their rate is measured over the second half of the run and compared with the radius that
//! was predicted. Half of the models are within 10 % of their limit of stability. `OLDHAM_MODELS`
//! says how many models there are.

use oldham_cosim::{Simulation, SubsystemId};
use oldham_model::{Model, Overrides};
use oldham_stability::{Decision, Verdict, analyse, is_stable, radius};

const DEFAULT_COUNT: u64 = 60;
/// Growth of differences after which a run has shown enough, and is still linear.
const SEEN: f64 = 1e5;
/// The smaller of the two kicks.
const KICKS: f64 = 0.01;
/// Bisections that find a limit to a few parts in a thousand.
const BISECTIONS: usize = 7;
/// How often a model is drawn again that has no limit.
const REDRAWN: usize = 8;
/// What beats and transients add to the logarithm of a growth factor: a slow bending wave that has
/// just arrived grows like the fifth power of time, by 2⁵ from the first half of a run to the
/// second.
const RIPPLE: f64 = 3.5;

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

/// A family of models with one parameter `p` that decides about stability.
struct Family {
    name: &'static str,
    text: fn(&mut Random) -> String,
    /// Where `p` is looked for.
    range: [f64; 2],
    /// Macro steps that a run may take.
    steps: u64,
}

const FAMILIES: [Family; 6] = [
    Family {
        name: "lumped chain",
        text: |random| chain(random, Mixing::Alike),
        range: [0.02, 2.0],
        steps: 12_000,
    },
    Family {
        name: "mixed integrators",
        text: |random| chain(random, Mixing::Integrators),
        range: [0.02, 2.0],
        steps: 12_000,
    },
    Family {
        name: "multirate",
        text: |random| chain(random, Mixing::Rates),
        range: [0.02, 2.0],
        steps: 12_000,
    },
    Family {
        name: "cut beam",
        text: beam,
        range: [1e-4, 3e-2],
        steps: 1_500,
    },
    Family {
        name: "cut shell",
        text: shell,
        range: [1e-4, 3e-2],
        steps: 600,
    },
    Family {
        name: "cut closed loop",
        text: closed_loop,
        range: [1e3, 1e7],
        steps: 1_500,
    },
];

#[derive(PartialEq)]
enum Mixing {
    Alike,
    Integrators,
    Rates,
}

const INTEGRATORS: [&str; 4] = [
    "integrator = \"semi-implicit-euler\"",
    "integrator = \"lms2\"\nrho = 0.6",
    "integrator = \"backward-euler\"",
    "integrator = \"rk4\"",
];
const PREDICTORS: [&str; 3] = ["zero-order", "first-order", "second-order"];

/// Masses in a row, one part each: the coupling springs belong to their right-hand part. `p` is the
/// macro step in terms of the slowest time constant of a coupling.
fn chain(random: &mut Random, mixing: Mixing) -> String {
    let parts = 2 + (random.next() * 2.0) as usize;
    let stiffness: Vec<f64> = (0..parts).map(|_| random.between(100.0, 5000.0)).collect();
    let masses: Vec<f64> = (0..parts).map(|_| random.between(0.3, 3.0)).collect();
    let fastest = stiffness
        .iter()
        .fold(0.0, |most: f64, k| most.max(*k))
        .sqrt();
    let common = random.of(&INTEGRATORS);
    let mut text = format!(
        "[model]\nname = \"chain\"\n[parameters]\np = 0.1\nkick = 0.0\nh = \"p / {fastest:.6}\"\n\
         [simulation]\nstep = \"h\"\nduration = \"100 * h\"\nenergy_bound = 0\n"
    );
    let mut connections = String::new();
    for i in 0..parts {
        let integrator = match mixing {
            Mixing::Integrators => INTEGRATORS[(i + parts) % 4],
            _ => common,
        };
        let (mass, k) = (masses[i], stiffness[i]);
        let damping = random.between(1e-3, 1.0) * (k * mass).sqrt() * 0.3;
        let micro = 1 + (random.next() * 2.0) as usize;
        let predictor = random.of(&PREDICTORS);
        let start = if i == 0 { "\"kick\"" } else { "0.0" };
        text += &format!(
            "[lumped.p{i}]\n{integrator}\nmicro_steps = {micro}\npredictor = \"{predictor}\"\n\
             masses.x = {{ mass = {mass:.6}, velocity = {start} }}\n\
             springs.wall = {{ between = [\"ground\", \"x\"], stiffness = {:.6}, damping = {damping:.6} }}\n\
             outputs.x = {{ motion = \"x\" }}\n",
            0.3 * k
        );
        if i > 0 {
            text += &format!(
                "springs.c = {{ between = [\"far\", \"x\"], stiffness = {k:.6}, damping = {:.6} }}\n\
                 inputs.far = {{ motion = \"far\" }}\noutputs.f = {{ force = \"far\" }}\n",
                0.3 * damping
            );
            connections += &format!(
                "[[connection]]\nfrom = \"p{}.x\"\nto = \"p{i}.far\"\n\
                 [[connection]]\nfrom = \"p{i}.f\"\nto = \"p{}.push\"\n",
                i - 1,
                i - 1
            );
        }
        if i + 1 < parts {
            text += "inputs.push = { force = \"x\" }\n";
        }
    }
    text += &connections;
    let names: Vec<String> = (0..parts).map(|i| format!("\"p{i}\"")).collect();
    text += &match mixing {
        Mixing::Rates => {
            let ratio = 2 + (random.next() * 3.0) as usize;
            let others = names[..parts - 1].join(", ");
            format!(
                "[schedule]\nkind = \"stages\"\n\
                 stages = [[{others}], {{ ratio = {ratio}, stages = [[{}]] }}]\n",
                names[parts - 1]
            )
        }
        _ => {
            let kind = random.of(&["jacobi", "gauss-seidel"]);
            format!("[schedule]\nkind = \"{kind}\"\n")
        }
    };
    text
}

/// A force that is gone after some steps.
const KICK: &str = "\"kick * exp(-(t / (5 * h))^2)\"";

/// A hinged beam of two to four elements, cut in the middle; `p` is its damping.
fn beam(random: &mut Random) -> String {
    let elements = random.of(&[2, 4]);
    let (middle, last) = (elements, 2 * elements);
    let scheme = random.of(&["interface-mass", "interface-mass", "force-displacement"]);
    let (bending, shear) = (random.between(1e3, 1e4), random.between(3e5, 1e6));
    let step = random.between(5e-5, 2e-4);
    format!(
        "[model]\nname = \"beam\"\n[parameters]\np = 1e-3\nkick = 0.0\nh = {step:.6e}\n\
         [simulation]\nstep = \"h\"\nduration = \"100 * h\"\nenergy_bound = 0\n\
         [multibody.beam]\nrho = 0.6\n\
         [multibody.beam.cut]\nat = [\"girder.{middle}\"]\nscheme = \"{scheme}\"\n\
         parts = {{ left = \"girder.0\", right = \"girder.{last}\" }}\n\
         [multibody.beam.sections.girder]\naxial = 1e6\nshear = [{shear:.3}, {shear:.3}]\n\
         torsion = 1e3\nbending = [{bending:.3}, 1e4]\nmass = 5.0\ninertia = [0.1, 0.05, 0.05]\n\
         damping = \"p\"\n\
         [multibody.beam.beams.girder]\nfrom = [0, 0, 0]\nto = [{:.3}, 0, 0]\n\
         elements = {elements}\nsection = \"girder\"\nup = [0, 1, 0]\n\
         [multibody.beam.joints]\n\
         left = {{ type = \"fixed\", between = [\"ground\", \"girder.0\"] }}\n\
         right = {{ type = \"revolute\", between = [\"ground\", \"girder.{last}\"], axis = [0, 1, 0] }}\n\
         [multibody.beam.loads]\nkick = {{ on = \"girder.1\", force = [{KICK}, {KICK}, {KICK}] }}\n\
         [multibody.beam.outputs]\nmiddle = {{ motion = \"girder.{middle}\" }}\n",
        random.between(4.0, 24.0),
    )
}

/// A clamped strip, cut across; `p` is its damping.
fn shell(random: &mut Random) -> String {
    let step = random.between(5e-5, 3e-4);
    let thickness = random.between(1e-3, 4e-3);
    format!(
        "[model]\nname = \"shell\"\n[parameters]\np = 1e-3\nkick = 0.0\nh = {step:.6e}\n\
         [simulation]\nstep = \"h\"\nduration = \"100 * h\"\nenergy_bound = 0\n\
         [multibody.plate]\nrho = 0.6\n\
         [multibody.plate.cut]\nat = [\"sheet.1.*\"]\nscheme = \"interface-mass\"\n\
         parts = {{ left = \"sheet.0.0\", right = \"sheet.2.0\" }}\n\
         [multibody.plate.shells.sheet]\nrectangle = [[0, 0, 0], [0.25, 0, 0], [0, 0.1, 0]]\n\
         elements = [2, 1]\nthickness = {thickness:.6}\nyoung = 6.825e7\npoisson = 0.3\n\
         density = 1000\ndamping = \"p\"\nclamp = [\"u0\", \"u1\"]\n\
         [multibody.plate.loads]\n\
         kick = {{ on = \"sheet.1.0\", force = [0, 0, {KICK}] }}\n\
         [multibody.plate.outputs]\nmiddle = {{ motion = \"sheet.1.0\" }}\n"
    )
}

/// Two hinged bars that hold each other by bushings in the middle, where they are cut; `p` is the
/// stiffness of the bushings.
fn closed_loop(random: &mut Random) -> String {
    let step = random.between(2e-4, 2e-3);
    let (mass, damping) = (random.between(0.1, 1.0), random.between(0.5, 20.0));
    let bushing = |ends: &str| {
        format!(
            "{{ between = {ends}, stiffness = [\"p\", \"p\", \"p\"], \
             damping = [{damping:.4}, {damping:.4}, {damping:.4}], \
             rotational_stiffness = [10, 10, 10], rotational_damping = [0.01, 0.01, 0.01] }}"
        )
    };
    format!(
        "[model]\nname = \"loop\"\n[parameters]\np = 1e4\nkick = 0.0\nh = {step:.6e}\n\
         [simulation]\nstep = \"h\"\nduration = \"100 * h\"\nenergy_bound = 0\n\
         [multibody.p]\nrho = 0.6\n\
         [multibody.p.cut]\nat = [\"mid\"]\nscheme = \"interface-mass\"\n\
         parts = {{ left = \"a\", right = \"b\" }}\n\
         [multibody.p.nodes]\na = {{ position = [0.25, 0, 0] }}\n\
         mid = {{ position = [0.5, 0, 0.1] }}\nb = {{ position = [0.75, 0, 0] }}\n\
         [multibody.p.bodies]\n\
         a = {{ node = \"a\", mass = 1.0, inertia = [0.01, 0.02, 0.02] }}\n\
         mid = {{ node = \"mid\", mass = {mass:.4}, inertia = [0.002, 0.002, 0.002] }}\n\
         b = {{ node = \"b\", mass = 1.0, inertia = [0.01, 0.02, 0.02] }}\n\
         [multibody.p.joints]\n\
         left = {{ type = \"revolute\", between = [\"ground\", \"a\"], position = [0, 0, 0], axis = [0, 1, 0] }}\n\
         right = {{ type = \"revolute\", between = [\"ground\", \"b\"], position = [1, 0, 0], axis = [0, 1, 0] }}\n\
         [multibody.p.bushings]\nu = {}\nl = {}\n\
         [multibody.p.loads]\nkick = {{ on = \"mid\", force = [{KICK}, {KICK}, {KICK}] }}\n\
         [multibody.p.outputs]\nmid = {{ motion = \"mid\" }}\n",
        bushing("[\"a\", \"mid\"]"),
        bushing("[\"mid\", \"b\"]"),
    )
}

fn build(text: &str, p: f64, kick: f64) -> Option<Simulation> {
    let set = vec![
        ("p".into(), p.to_string()),
        ("kick".into(), kick.to_string()),
    ];
    let model = Model::parse(text, "random.toml", &Overrides(set));
    let model = model.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    model.simulation().ok()
}

/// The limit of stability in a range, if its ends differ.
fn limit(text: &str, [low, high]: [f64; 2]) -> Option<f64> {
    let stable = |p: f64| {
        let value = build(text, p, 0.0).map_or(f64::NAN, |mut s| radius(&mut s));
        (!value.is_nan()).then(|| is_stable(value))
    };
    let (mut low, mut high) = (low, high);
    let at_low = stable(low)?;
    if stable(high)? == at_low {
        return None;
    }
    for _ in 0..BISECTIONS {
        let middle = (low * high).sqrt();
        match stable(middle)? == at_low {
            true => low = middle,
            false => high = middle,
        }
    }
    Some((low * high).sqrt())
}

fn outputs(simulation: &Simulation) -> Vec<f64> {
    let parts = simulation.names().count();
    (0..parts)
        .flat_map(|part| simulation.outputs(SubsystemId(part)).to_vec())
        .collect()
}

/// The logarithm of the growth in an application of the recurrence, of the fastest component over
/// the second half of a run, and how far that is known; nothing if nothing moves.
fn measured(text: &str, p: f64, verdict: &Verdict, most: u64) -> Option<(f64, f64)> {
    let mut runs = Vec::new();
    for kick in [0.0, KICKS, 2.0 * KICKS] {
        runs.push(build(text, p, kick)?);
    }
    let period = runs[0].period();
    let rate = verdict.radius.max(1e-300).ln();
    let most = most / period;
    let periods = match verdict.decision() {
        Decision::Unstable => ((SEEN.ln() / rate).ceil() as u64).clamp(24, most),
        _ => most,
    };
    let quarter = periods / 4;
    // Largest difference of each component in each quarter, and how much it is not proportional to
    // the kick.
    let parts = outputs(&runs[0]).len();
    let mut windows = vec![vec![[0.0_f64; 2]; parts]; 4];
    for n in 1..=4 * quarter {
        for run in &mut runs {
            // A run that grows without bounds ends with a fault: it has shown enough.
            if run.steps(period).is_err() {
                return Some((f64::INFINITY, 0.0));
            }
        }
        let window = &mut windows[((n - 1) / quarter) as usize];
        let values: Vec<Vec<f64>> = runs.iter().map(outputs).collect();
        for (place, seen) in window.iter_mut().enumerate() {
            let [quiet, once, twice] = [0, 1, 2].map(|run| values[run][place]);
            seen[0] = seen[0].max((once - quiet).abs());
            seen[1] = seen[1].max((twice - 2.0 * once + quiet).abs());
        }
    }
    // What is not proportional to the kick is rounding, or the solver's tolerance.
    let ratios = windows[1]
        .iter()
        .zip(&windows[3])
        .filter_map(|(early, late)| {
            let is_motion = early[1] < 0.05 * early[0];
            is_motion.then(|| (late[0] / early[0]).ln())
        });
    let growth = ratios.reduce(f64::max);
    let span = 2.0 * quarter as f64;
    growth.map(|growth| (growth / span, RIPPLE / span))
}

#[test]
fn no_verdict_contradicts_the_run() {
    let count = std::env::var("OLDHAM_MODELS");
    let count = count.map_or(DEFAULT_COUNT, |text| {
        text.parse().expect("a number of models")
    });
    let mut decisions = [0; 3];
    let mut wrong = Vec::new();
    let mut near = 0;
    for seed in 0..count {
        let family = &FAMILIES[(seed % FAMILIES.len() as u64) as usize];
        let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) + 17);
        let is_near = (seed / FAMILIES.len() as u64).is_multiple_of(2);
        let draw = |random: &mut Random| {
            let text = (family.text)(random);
            let anywhere = random.between(family.range[0], family.range[1]);
            let limit = is_near.then(|| limit(&text, family.range)).flatten();
            (text, anywhere, limit)
        };
        // Some models are stable everywhere: another one is near its limit.
        let mut drawn = draw(&mut random);
        for _ in 0..REDRAWN {
            if !is_near || drawn.2.is_some() {
                break;
            }
            drawn = draw(&mut random);
        }
        let (text, anywhere, limit) = drawn;
        let p = match limit {
            Some(limit) => {
                near += 1;
                limit * (0.9 + 0.2 * random.next())
            }
            None => anywhere,
        };
        let Some(mut simulation) = build(&text, p, 0.0) else {
            continue;
        };
        let verdict = match analyse(&mut simulation) {
            Ok(verdict) => verdict,
            Err(error) => {
                wrong.push(format!("{seed} {}: p = {p:e}: {error}", family.name));
                continue;
            }
        };
        let decision = verdict.decision();
        decisions[decision as usize] += 1;
        let Some((growth, vague)) = measured(&text, p, &verdict, family.steps) else {
            wrong.push(format!(
                "{seed} {}: p = {p:e}: nothing moves, {verdict:?}",
                family.name
            ));
            continue;
        };
        let predicted = verdict.radius.ln();
        let allowed = vague + verdict.error / verdict.radius;
        let is_wrong = match decision {
            Decision::Unstable => {
                // A fault is growth; otherwise the rate is the one that was predicted.
                let most = verdict.reach.ln().max(predicted) + allowed;
                growth < predicted - allowed || (growth.is_finite() && growth > most)
            }
            Decision::Stable => growth > 1e-6 + vague,
            Decision::Undecided => growth > verdict.reach.ln() + vague,
        };
        if is_wrong {
            wrong.push(format!(
                "{seed} {}: p = {p:e}, limit {limit:?}: {decision:?} {} ± {:.1e}, reach {}; run {growth:.3e} ± {vague:.1e}, predicted {predicted:.3e}",
                family.name, verdict.radius, verdict.error, verdict.reach
            ));
        }
    }
    println!("stable, unstable, not decided: {decisions:?}; {near} near their limit");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(decisions[0] > 0 && decisions[1] > 0, "{decisions:?}");
    // What is not decided helps nobody.
    assert!(20 * decisions[2] <= count as usize, "{decisions:?}");
    assert!(
        5 * near >= 2 * count as usize,
        "only {near} near their limit"
    );
}
