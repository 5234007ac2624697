//! Verdicts about states along a run, against what runs that differ by next to nothing do.
//!
//! Random nonlinear models: sampled controllers that saturate, laws that switch, large motion, stops, pendula, falling bodies. Two
//! runs from each state differ by 1e-9. Their difference is what the product of the linearised steps says,
//! and where it changes much, it does what the verdict on the state says. `OLDHAM_MODELS` says how many there are,
//! `OLDHAM_SEEDS` which, as in `20,41`.

use std::time::Duration;

use oldham_cosim::{Chart, Simulation, State, Visitor};
use oldham_stability::{AnalysisError, Decision, Spectrum, Way};
use oldham_study::{Case, ModelFile, NotJudged, PreparedRun, RunOptions, StateKind, Survey};

/// Steps over which differences are followed, and after which they are those of a motion.
const STEPS: usize = 200;
const SETTLED: usize = 50;
/// What two runs differ by, and what is no more than rounding.
const NUDGE: f64 = 1e-9;
const ROUNDING: f64 = 1e-14;
/// Sizes of the differences by which steps are linearised: smaller than the way to the next kink, mostly; and where
/// joints make much of rounding.
const FINE: f64 = 1e-8;
const COARSE: f64 = 1e-5;

/// A sequence without pattern (a linear congruence; the constants are Knuth's).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    Limited,
    Pendulum,
    Steeper,
    Compliant,
    Switched,
    DoublePendulum,
    Stop,
    Impulses,
    Hardening,
}

impl Family {
    const LUMPED: [Self; 5] = [
        Self::Limited,
        Self::Steeper,
        Self::Hardening,
        Self::Switched,
        Self::Stop,
    ];
    const MECHANISMS: [Self; 5] = [
        Self::Pendulum,
        Self::Compliant,
        Self::DoublePendulum,
        Self::Impulses,
        Self::Compliant,
    ];

    /// Every third model is a mechanism.
    fn of(seed: u64) -> Self {
        match seed % 3 {
            2 => Self::MECHANISMS[seed as usize / 3 % 5],
            _ => Self::LUMPED[seed as usize % 5],
        }
    }

    fn is_mechanism(self) -> bool {
        Self::MECHANISMS.contains(&self)
    }

    /// Whether a frozen state is soon another one: bodies that hit a floor, pendula that tumble.
    fn is_rough(self) -> bool {
        matches!(self, Self::Compliant | Self::DoublePendulum)
    }
}

/// A plant and a controller around it.
fn model(family: Family, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(77).wrapping_add(5));
    random.next();
    match family {
        Family::Pendulum => pendula(1, seed, random),
        Family::DoublePendulum => pendula(2, seed, random),
        Family::Compliant => dropped(false, seed, random),
        Family::Impulses => dropped(true, seed, random),
        _ => lumped(family, seed, random),
    }
}

/// A mass on a spring, with a law that bends.
fn lumped(family: Family, seed: u64, mut random: Random) -> String {
    let [m, k] = [random.between(0.5, 5.0), random.between(5.0, 200.0)];
    let c = random.between(0.01, 1.0);
    let (kp, kd) = (random.between(0.5, 50.0), random.between(0.2, 30.0));
    let limit = random.between(0.5, 20.0);
    let start = random.between(0.1, 1.0);
    let sample = [0.01, 0.02, 0.05][(3.0 * random.next()) as usize];
    let steep = random.between(1.5, 6.0);
    let integrator = ["lms2", "rk4", "exact"][(3.0 * random.next()) as usize];
    let smooth = ["lms2", "rk4"][(2.0 * random.next()) as usize];
    let (integrator, spring, value) = match family {
        // A force that is limited.
        Family::Limited => (
            integrator,
            format!("stiffness = {k}, damping = {c}"),
            format!("clamp(-{kp} * x - {kd} * v, -{limit}, {limit})"),
        ),
        // A spring that is steeper beyond a place; not the one where it rests, which has no linearisation.
        Family::Steeper => (
            smooth,
            format!("force = \"{k} * d + {steep} * {k} * max(0, d - 0.2 * {start}) + {c} * v\""),
            format!("-{kp} * x - 0.3 * {kd} * v"),
        ),
        // A spring that hardens: large motion.
        Family::Hardening => (
            smooth,
            format!("force = \"{k} * d + {k} * d^3 + {c} * v\""),
            format!("-{kp} * sin(x) - 0.5 * {kd} * v"),
        ),
        // A damper that switches its gain.
        Family::Switched => (
            integrator,
            format!("stiffness = {k}, damping = {c}"),
            format!(
                "if(x > 0.2 * {start}, -{kd} * v, -0.2 * {kd} * v) - {kp} * max(0, x - 0.1 * {start})"
            ),
        ),
        // A stop.
        _ => (
            smooth,
            format!("force = \"{k} * d + {c} * v + 20 * {k} * max(0, d - 0.3 * {start})\""),
            format!("-0.2 * {kd} * v"),
        ),
    };
    let kinks = if family == Family::Stop {
        "locate_kinks = false\n"
    } else {
        ""
    };
    let plant = format!(
        "[lumped.plant]\nintegrator = \"{integrator}\"\npredictor = \"zero-order\"\n{kinks}\
         masses.x = {{ mass = {m}, position = {start} }}\n\
         springs.s = {{ between = [\"ground\", \"x\"], {spring} }}\n\
         inputs.u = {{ force = \"x\" }}\n\
         outputs.x = {{ displacement = \"x\" }}\noutputs.v = {{ velocity = \"x\" }}\n"
    );
    controlled(seed, [6.0, 0.01], &plant, sample, &value, ["m", "N"])
}

/// Pendula that swing far, under a torque at the first joint that is limited.
fn pendula(links: usize, seed: u64, mut random: Random) -> String {
    let integrator = ["lms2", "generalised-alpha"][(2.0 * random.next()) as usize];
    let mut plant =
        format!("[multibody.plant]\nintegrator = \"{integrator}\"\ngravity = [0, 0, -9.81]\n");
    let (mut at, mut above) = ([0.0, 0.0], "ground".to_owned());
    for link in 0..links {
        let (length, mass) = (random.between(0.3, 1.0), random.between(0.5, 5.0));
        let rub = random.between(0.02, 0.5);
        let angle = random.between(0.3, 2.5);
        let (x, z) = (length * angle.sin(), -length * angle.cos());
        let inertia = mass * length * length / 12.0;
        let middle = [at[0] + 0.5 * x, at[1] + 0.5 * z];
        plant += &format!(
            "nodes.n{link} = {{ position = [{}, 0, {}] }}\n\
             bodies.b{link} = {{ node = \"n{link}\", mass = {mass}, inertia = [{inertia}, {inertia}, {inertia}] }}\n\
             joints.j{link} = {{ type = \"revolute\", between = [\"{above}\", \"n{link}\"], position = [{}, 0, {}], axis = [0, 1, 0] }}\n\
             torsion_springs.s{link} = {{ between = [\"{above}\", \"n{link}\"], axis = [0, 1, 0], stiffness = 0, damping = {rub} }}\n",
            middle[0], middle[1], at[0], at[1],
        );
        at = [at[0] + x, at[1] + z];
        above = format!("n{link}");
    }
    plant += "sensors.x = { coordinate = \"j0\" }\nsensors.v = { rate = \"j0\" }\n\
              inputs.u = { torque = \"j0\" }\n\
              outputs.x = { sensor = \"x\" }\noutputs.v = { sensor = \"v\" }\n";
    let (kp, kd) = (random.between(0.5, 20.0), random.between(0.1, 3.0));
    let limit = random.between(1.0, 20.0);
    let sample = [0.01, 0.02, 0.05][(3.0 * random.next()) as usize];
    let value = format!("clamp(-{kp} * x - {kd} * v, -{limit}, {limit})");
    controlled(seed, [3.0, 0.005], &plant, sample, &value, ["rad", "N.m"])
}

/// A body that falls on a floor and slides there, drawn by a force that is limited.
fn dropped(by_impulses: bool, seed: u64, mut random: Random) -> String {
    let height = random.between(0.12, 0.5);
    let (mass, speed) = (random.between(0.5, 5.0), random.between(0.1, 2.0));
    let friction = random.between(0.1, 0.8);
    let stiffness = random.between(1e3, 2e4);
    let (method, floor) = match by_impulses {
        true => (
            "impulses",
            format!(
                "contact = {{ friction = {friction}, bodies = [\"box\"] }}\n\
                 shapes.floor = {{ node = \"ground\", plane = [0, 0, 1] }}\n"
            ),
        ),
        false => (
            ["lms2", "generalised-alpha"][(2.0 * random.next()) as usize],
            format!(
                "compliant_contacts.floor = {{ nodes = [\"box\"], radius = 0.1, \
                 against = {{ node = \"ground\", plane = [0, 0, 1] }}, stiffness = {stiffness}, exponent = 1, damping = 0.2, friction = {friction} }}\n"
            ),
        ),
    };
    let plant = format!(
        "[multibody.plant]\nintegrator = \"{method}\"\ngravity = [0, 0, -9.81]\n\
         nodes.box = {{ position = [0, 0, {height}], velocity = [{speed}, 0, 0] }}\n\
         bodies.box = {{ node = \"box\", mass = {mass}, shape = {{ box = [0.2, 0.2, 0.2] }} }}\n{floor}\
         sensors.x = {{ displacement = \"box\", axis = [1, 0, 0] }}\n\
         sensors.v = {{ velocity = \"box\", axis = [1, 0, 0] }}\n\
         loads.pull = {{ on = \"box\", force = [{{ input = \"u\" }}, 0, 0] }}\n\
         inputs.u = {{ scalar = \"N\" }}\n\
         outputs.x = {{ sensor = \"x\" }}\noutputs.v = {{ sensor = \"v\" }}\n"
    );
    let (kp, kd) = (random.between(1.0, 50.0), random.between(0.5, 10.0));
    let limit = random.between(1.0, 20.0);
    let value = format!("clamp(-{kp} * x - {kd} * v, -{limit}, {limit})");
    controlled(seed, [1.2, 0.002], &plant, 0.02, &value, ["m", "N"])
}

/// A plant from its input `u` to its outputs `x` and `v`, and a controller around it.
fn controlled(
    seed: u64,
    [duration, step]: [f64; 2],
    plant: &str,
    sample: f64,
    value: &str,
    [way, load]: [&str; 2],
) -> String {
    format!(
        "[model]\nname = \"Random {seed}\"\n\
         [simulation]\nduration = {duration}\nstep = {step}\n\
         [schedule]\noutput_update = true\n{plant}\
         [control.c]\nsample = {sample}\ninputs = {{ x = \"{way}\", v = \"{way}/s\" }}\n\
         outputs.u = {{ value = \"{value}\", unit = \"{load}\" }}\n\
         [[connection]]\nfrom = \"plant.x\"\nto = \"c.x\"\n\
         [[connection]]\nfrom = \"plant.v\"\nto = \"c.v\"\n\
         [[connection]]\nfrom = \"c.u\"\nto = \"plant.u\"\n"
    )
}

/// The size of each coordinate.
struct Sizes(Vec<f64>);

impl Visitor for Sizes {
    fn vector(&mut self, values: &mut [f64]) {
        self.0
            .extend(values.iter().map(|value| value.abs().max(1e-2)));
    }
    fn rotation(&mut self, _: &mut [f64; 4]) {
        self.0.extend([1.0; 3]);
    }
    fn fixed(&mut self, _: &mut [f64]) {}
    fn count(&mut self, _: &mut u64) {}
    fn memory(&mut self, _: &mut Vec<u64>) {}
    fn replaces(&self) -> bool {
        false
    }
}

fn sizes_of(simulation: &mut Simulation) -> Vec<f64> {
    let mut sizes = Sizes(Vec::new());
    simulation.visit(&mut sizes);
    sizes.0
}

fn length(change: &[f64], sizes: &[f64]) -> f64 {
    let squares = change.iter().zip(sizes).map(|(x, s)| (x / s).powi(2));
    squares.sum::<f64>().sqrt()
}

/// What becomes of a difference by two runs, and by the product of the linearised steps: its length after it has
/// settled, and at the end. Coordinates are as large as they get on the way: one that is just passing zero is not small.
///
/// Reactions and accelerations of joints are known to rounding errors over the square of the step, which is more than a
/// nudge makes of them: coordinates count as large as rounding alone makes of them in a hundred nudges.
///
/// And whether something switches on the way: a contact, a limit.
fn grown(simulation: &mut Simulation, probe: f64) -> ([[f64; 2]; 2], bool) {
    let start = Chart::about(simulation);
    let mut sizes = sizes_of(simulation);
    let mut random = Random(9);
    let signs: Vec<f64> = sizes
        .iter()
        .map(|size| if random.next() < 0.5 { -size } else { *size })
        .collect();
    let mut states = vec![start.clone()];
    let regime = |simulation: &mut Simulation| simulation.switches().unwrap().regime();
    let first = regime(simulation);
    let mut switches = false;
    for _ in 0..STEPS {
        simulation.steps(1).unwrap();
        switches |= regime(simulation) != first;
        states.push(Chart::about(simulation));
        for (size, here) in sizes.iter_mut().zip(sizes_of(simulation)) {
            *size = size.max(here);
        }
    }
    let mut led = vec![0.0; sizes.len()];
    let mut run = |nudge: f64, look: &mut dyn FnMut(usize, &[f64])| {
        let small: Vec<f64> = signs.iter().map(|sign| nudge * sign).collect();
        start.apply(simulation, &small);
        for (step, state) in states.iter().enumerate().skip(1) {
            simulation.steps(1).unwrap();
            if step == SETTLED || step == STEPS {
                state.read(simulation, &mut led);
                look(step, &led);
            }
        }
    };
    run(ROUNDING, &mut |_, led| {
        for (size, rounding) in sizes.iter_mut().zip(led) {
            *size = size.max(100.0 * rounding.abs() / NUDGE);
        }
    });
    let mut found = [[0.0; 2]; 2];
    run(NUDGE, &mut |step, led| {
        found[0][usize::from(step == STEPS)] = length(led, &sizes) / NUDGE;
    });
    let mut vector = signs;
    for step in 0..STEPS {
        let size = probe / length(&vector, &sizes).max(1e-300);
        let mut ends = [(); 2].map(|()| vec![0.0; sizes.len()]);
        for (end, sign) in ends.iter_mut().zip([size, -size]) {
            let change: Vec<f64> = vector.iter().map(|x| sign * x).collect();
            states[step].apply(simulation, &change);
            simulation.steps(1).unwrap();
            states[step + 1].read(simulation, end);
        }
        let [up, down] = ends;
        vector = up
            .iter()
            .zip(down)
            .map(|(a, b)| (a - b) / (2.0 * size))
            .collect();
        if step + 1 == SETTLED || step + 1 == STEPS {
            found[1][usize::from(step + 1 == STEPS)] = length(&vector, &sizes);
        }
    }
    (found, switches)
}

#[test]
fn verdicts_along_runs_agree_with_runs_that_differ_by_next_to_nothing() {
    let models: u64 = std::env::var("OLDHAM_MODELS").map_or(15, |count| count.parse().unwrap());
    let seeds: Vec<u64> = match std::env::var("OLDHAM_SEEDS") {
        Ok(list) => list.split(',').map(|seed| seed.parse().unwrap()).collect(),
        Err(_) => (0..models).collect(),
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut decided, mut saturated, mut refused, mut lasting) = ([0, 0], 0, 0, 0);
    // States that were judged, and those of them without a decision: of what is smooth for a while, and of the others.
    let (mut judged, mut undecided) = ([0, 0], [0, 0]);
    for seed in seeds {
        let family = Family::of(seed);
        let path = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&path, model(family, seed)).unwrap();
        let file = ModelFile::new(&path);
        let model = file.read().unwrap();
        let case = Case::of(&model, &file);
        let survey = Survey::of(&case, Duration::from_secs(600), &mut |_| {});
        if family == Family::Impulses {
            // What opens and closes at once is not judged, and it is said which part that is.
            let reason = survey.err().expect("no verdict");
            assert!(
                matches!(&reason, AnalysisError::NoChart(part) if part == "plant"),
                "{reason}"
            );
            assert!(reason.to_string().contains("contacts and impulses"));
            refused += 1;
            continue;
        }
        let survey = survey.unwrap();
        if survey.states.len() == 1 {
            assert_eq!(survey.states[0].decision(), Some(Decision::Unstable));
        } else {
            assert!(survey.states.len() > 8 || survey.ended.is_some(), "{seed}");
        }
        for state in survey
            .states
            .iter()
            .filter(|state| state.kind == StateKind::Run)
        {
            let Some(decision) = state.decision() else {
                panic!("{seed}, t = {}: {:?}", state.time, state.reason());
            };
            let rough = usize::from(family.is_rough());
            judged[rough] += 1;
            undecided[rough] += usize::from(decision == Decision::Undecided);
            saturated += usize::from(!state.saturated.is_empty());
            let mut simulation = model.simulation().unwrap();
            simulation.sharpen().unwrap();
            let steps = (state.time / model.step()).round() as u64;
            simulation.steps(steps).unwrap();
            let probe = if family.is_mechanism() { COARSE } else { FINE };
            let ([runs, steps], switches) = grown(&mut simulation, probe);
            let at = format!(
                "{seed}, {family:?}, t = {}: {runs:?} {steps:?} {decision:?}",
                state.time
            );
            println!("{at} {:?}", state.reason());
            // Two hundred steps round by some 1e-12; lengths are in units of 1e-9. Of a mechanism every coordinate rounds by
            // a hundredth of that.
            let shown = if family.is_mechanism() { 0.3 } else { 0.05 };
            if runs[1] > shown {
                let ratio = runs[1] / steps[1];
                assert!((1.0 / 3.0..3.0).contains(&ratio), "{at}");
            }
            // What had decayed by then has not grown when rounding has.
            let factor = runs[1] / runs[0].max(if family.is_mechanism() { 0.1 } else { 1e-2 });
            // A verdict on a body that flies says nothing of how it lands.
            if !(family == Family::Compliant && switches) {
                match decision {
                    Decision::Stable => assert!(factor < 10.0, "{at}"),
                    Decision::Unstable => assert!(factor > 0.1, "{at}"),
                    Decision::Undecided => {}
                }
            }
            lasting += usize::from(family == Family::Compliant && !switches);
            decided[0] += usize::from(decision == Decision::Stable && factor < 0.1);
            decided[1] += usize::from(decision == Decision::Unstable && factor > 10.0);
        }
    }
    println!(
        "{undecided:?} of {judged:?} not decided, {refused} models not judged, {lasting} states of lasting contacts"
    );
    assert!(
        20 * undecided[0] <= judged[0],
        "{undecided:?} of {judged:?}"
    );
    // Where a body hits a floor or a pendulum tumbles, what is frozen is soon another state, and that is said.
    assert!(
        4 * undecided[1] <= 3 * judged[1],
        "{undecided:?} of {judged:?}"
    );
    // Both sorts were met, and states at a limit.
    assert!(decided[0] > 0 && saturated > 0, "{decided:?} {saturated}");
    assert!(lasting > 0 && refused > 0, "{lasting} {refused}");
}

/// States that a run has met are analysed within what is granted after it: few are kept, nothing is done without time, and each
/// that was not reached is there and says so.
#[test]
fn states_met_during_a_run_cost_what_is_granted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (
        folder.path().join("met.toml"),
        folder.path().join("met.parquet"),
    );
    std::fs::write(&path, model(Family::Hardening, 12)).unwrap();
    let file = ModelFile::new(&path);
    let model = file.read().unwrap();
    let case = Case::of(&model, &file);
    let options = RunOptions {
        force: true,
        ..RunOptions::default()
    };
    let met = || {
        let run = PreparedRun::new(&file, &model, &out, &options).unwrap();
        let report = run.keeping_states().solve(None, &mut |_| {}).unwrap();
        assert_eq!(report.status(), "finished");
        report.met
    };
    let kept = met();
    let count = kept.len();
    // As many however long the run is.
    assert!((8..=16).contains(&count), "{count}");
    let none = Survey::of_run(&case, kept, Duration::ZERO).unwrap();
    assert_eq!(none.states.len(), count);
    for state in &none.states {
        assert!(matches!(state.verdict, Err(NotJudged::NoTime)));
        assert_eq!(state.reason().unwrap(), "there was no time for it");
    }
    assert!(none.worst().is_none());
    let all = Survey::of_run(&case, met(), Duration::from_secs(600)).unwrap();
    assert_eq!(all.states.len(), count);
    assert!(all.states.iter().all(|state| state.decision().is_some()));
}

/// A car on its tyres may drift along and across the road and about its axles, and its wheels slow down at their own
/// rates. A matrix of its 1324 coordinates did not decide that, after eight thousand steps.
#[test]
fn a_car_at_speed_is_decided_by_few_products() {
    let text = include_str!("../../../examples/formula-student.toml");
    let model = ModelFile::of_text("car.toml", text).read().unwrap();
    let mut simulation = model.simulation().unwrap();
    simulation.steps(20).unwrap();
    let found = Spectrum::here(&mut simulation, None).unwrap();
    let way = found.way();
    assert!(
        matches!(way, Way::Krylov { products } if products < 450),
        "{way:?}"
    );
    assert_eq!(found.decision(), Decision::Stable);
    // Two runs that are slightly apart stay so, but for what drifts: heading times way.
    let start = Chart::about(&mut simulation);
    let sizes = sizes_of(&mut simulation);
    let mut random = Random(9);
    let change: Vec<f64> = (sizes.iter())
        .map(|size| 1e-9 * size * (random.next() - 0.5))
        .collect();
    let [early, late] = [100, 400].map(|steps| {
        start.base().restore(&mut simulation);
        simulation.steps(steps).unwrap();
        let there = Chart::about(&mut simulation);
        start.apply(&mut simulation, &change);
        simulation.steps(steps).unwrap();
        let mut apart = vec![0.0; change.len()];
        there.read(&mut simulation, &mut apart);
        length(&apart, &sizes)
    });
    assert!(early > 0.0 && late < 10.0 * early, "{early:e} {late:e}");
}

/// A crane whose drive is at its limit at the start: with too much damping its controller is unstable where it
/// is not at its limit, and the run goes from one limit to the other for ever.
#[test]
fn a_loop_that_is_open_at_a_limit_is_not_called_stable() {
    let text = |kd: f64| {
        format!(
            "[model]\nname = \"Limited\"\n[simulation]\nduration = 10\nstep = 0.01\n\
             [schedule]\noutput_update = true\n\
             [lumped.plant]\nintegrator = \"rk4\"\npredictor = \"zero-order\"\n\
             masses.x = {{ mass = 1 }}\ninputs.u = {{ force = \"x\" }}\n\
             outputs.x = {{ displacement = \"x\" }}\noutputs.v = {{ velocity = \"x\" }}\n\
             [control.c]\nsample = 0.05\ninputs = {{ x = \"m\", v = \"m/s\" }}\n\
             outputs.u = {{ value = \"clamp(4 * (1 - x) - {kd} * v, -0.5, 0.5)\", unit = \"N\" }}\n\
             [[connection]]\nfrom = \"plant.x\"\nto = \"c.x\"\n\
             [[connection]]\nfrom = \"plant.v\"\nto = \"c.v\"\n\
             [[connection]]\nfrom = \"c.u\"\nto = \"plant.u\"\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let survey = |kd: f64| {
        let path = folder.path().join("limited.toml");
        std::fs::write(&path, text(kd)).unwrap();
        let file = ModelFile::new(&path);
        let model = file.read().unwrap();
        let case = Case::of(&model, &file);
        Survey::of(&case, Duration::from_secs(60), &mut |_| {}).unwrap()
    };
    // Stable up to 2 m / T = 40, about, where it is not at its limit.
    let stable = survey(4.0);
    let start = stable.start().unwrap();
    assert_eq!(start.saturated, ["c.u"]);
    assert!(start.moves);
    let decision = stable.worst().unwrap().decision();
    assert_eq!((decision, stable.doubt()), (Some(Decision::Stable), None));
    let wild = survey(60.0);
    // At the start the loop is open, and the mass drifts: that says nothing of the loop.
    assert_ne!(wild.start().unwrap().decision(), Some(Decision::Unstable));
    let worst = wild.worst().unwrap();
    // A state that is not at a limit may be left before its growth shows: then nothing is decided.
    let is_called_stable = worst.decision() == Some(Decision::Stable) && wild.doubt().is_none();
    assert!(!is_called_stable, "{:?}", worst.reason());
}

/// A mass whose damper drives it, and a slow sampled controller that does next to nothing: the mode turns by 0.36 rad
/// in a period of ten steps, and is the model's own all the same. In closed form it grows at 0.05 1/s.
#[test]
fn growth_that_ten_steps_resolve_is_the_model_s_own() {
    let text = "[model]\nname = \"Driven\"\n[simulation]\nduration = 10\nstep = 0.005\n\
         [schedule]\noutput_update = true\n\
         [lumped.plant]\nintegrator = \"rk4\"\npredictor = \"zero-order\"\n\
         masses.x = { mass = 1, position = 0.1 }\n\
         springs.s = { between = [\"ground\", \"x\"], stiffness = 52.2, damping = -0.1 }\n\
         inputs.u = { force = \"x\" }\noutputs.v = { velocity = \"x\" }\n\
         [control.c]\nsample = 0.05\ninputs = { v = \"m/s\" }\n\
         outputs.u = { value = \"-1e-4 * v\", unit = \"N\" }\n\
         [[connection]]\nfrom = \"plant.v\"\nto = \"c.v\"\n\
         [[connection]]\nfrom = \"c.u\"\nto = \"plant.u\"\n";
    let file = ModelFile::of_text("driven.toml", text);
    let model = file.read().unwrap();
    let (spectrum, verdict) = Case::of(&model, &file).spectrum(None).unwrap();
    let [own] = spectrum.own_modes() else {
        panic!("{:?}", spectrum.own_modes());
    };
    let pole = spectrum.pole(own);
    assert!((pole.re - 0.05).abs() < 1e-4, "{pole}");
    assert!((pole.im - 52.2_f64.sqrt()).abs() < 1e-2, "{pole}");
    assert!(!verdict.is_unstable(), "{:?}", verdict.decision());
}

/// The benchmark bicycle (Meijaard et al. 2007) at 5 m/s is stable: capsize decays at 0.3229 1/s, weave at 0.7753 1/s. At
/// rest it would fall, at 3.13 and 5.53 1/s: an analysis that forgets what its speed does to its rolling wheels says that.
#[test]
fn a_bicycle_at_speed_is_not_one_at_rest() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let file = ModelFile::new(format!("{examples}/bicycle.toml"));
    let model = file.read().unwrap();
    let (spectrum, verdict) = Case::of(&model, &file).spectrum(None).unwrap();
    assert!(!verdict.is_unstable(), "{:?}", verdict.decision());
    let modes = spectrum.own_modes().iter().chain(spectrum.modes());
    let poles: Vec<_> = modes.map(|mode| spectrum.pole(mode)).collect();
    let fastest = poles.iter().map(|pole| pole.re).fold(f64::MIN, f64::max);
    assert!(fastest < 0.1, "{poles:?}");
    let near = |re: f64, im: f64| {
        let off = poles.iter().map(|pole| (pole.re - re).hypot(pole.im - im));
        off.fold(f64::INFINITY, f64::min)
    };
    assert!(near(-0.3229, 0.0) < 0.02, "{poles:?}");
    assert!(near(-0.7753, 4.4649) < 0.02, "{poles:?}");
}
