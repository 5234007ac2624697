//! Verdicts about states along a run, against what runs that differ by next to nothing do.
//!
//! Random nonlinear models: sampled controllers that saturate, laws that switch, large motion, stops. Two
//! runs from each state differ by 1e-9. Their difference is what the product of the linearised steps says,
//! and where it changes much, it does what the verdict on the state says.

use std::time::Duration;

use oldham_cosim::{Chart, Simulation, State, Visitor};
use oldham_stability::{Decision, Spectrum, Way};
use oldham_study::{Case, ModelFile, StateKind, Survey};

/// Steps over which differences are followed, and after which they are those of a motion.
const STEPS: usize = 200;
const SETTLED: usize = 50;

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

/// A plant and a controller around it.
fn model(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(77).wrapping_add(5));
    random.next();
    let [m, k] = [random.between(0.5, 5.0), random.between(5.0, 200.0)];
    let c = random.between(0.01, 1.0);
    let (kp, kd) = (random.between(0.5, 50.0), random.between(0.2, 30.0));
    let limit = random.between(0.5, 20.0);
    let start = random.between(0.1, 1.0);
    let sample = [0.01, 0.02, 0.05][(3.0 * random.next()) as usize];
    let steep = random.between(1.5, 6.0);
    let integrator = ["lms2", "rk4", "exact"][(3.0 * random.next()) as usize];
    let smooth = ["lms2", "rk4"][(2.0 * random.next()) as usize];
    let (integrator, spring, value) = match seed % 5 {
        // A force that is limited.
        0 => (
            integrator,
            format!("stiffness = {k}, damping = {c}"),
            format!("clamp(-{kp} * x - {kd} * v, -{limit}, {limit})"),
        ),
        // A spring that is steeper beyond a place; not the one where it rests, which has no linearisation.
        1 => (
            smooth,
            format!("force = \"{k} * d + {steep} * {k} * max(0, d - 0.2 * {start}) + {c} * v\""),
            format!("-{kp} * x - 0.3 * {kd} * v"),
        ),
        // A spring that hardens: large motion.
        2 => (
            smooth,
            format!("force = \"{k} * d + {k} * d^3 + {c} * v\""),
            format!("-{kp} * sin(x) - 0.5 * {kd} * v"),
        ),
        // A damper that switches its gain.
        3 => (
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
    let kinks = if seed % 5 == 4 {
        "locate_kinks = false\n"
    } else {
        ""
    };
    format!(
        "[model]\nname = \"Random {seed}\"\n\
         [simulation]\nduration = 6\nstep = 0.01\n\
         [schedule]\noutput_update = true\n\
         [lumped.plant]\nintegrator = \"{integrator}\"\npredictor = \"zero-order\"\n{kinks}\
         masses.x = {{ mass = {m}, position = {start} }}\n\
         springs.s = {{ between = [\"ground\", \"x\"], {spring} }}\n\
         inputs.u = {{ force = \"x\" }}\n\
         outputs.x = {{ displacement = \"x\" }}\noutputs.v = {{ velocity = \"x\" }}\n\
         [control.c]\nsample = {sample}\ninputs = {{ x = \"m\", v = \"m/s\" }}\n\
         outputs.u = {{ value = \"{value}\", unit = \"N\" }}\n\
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
fn grown(simulation: &mut Simulation) -> [[f64; 2]; 2] {
    let start = Chart::about(simulation);
    let mut sizes = sizes_of(simulation);
    let mut random = Random(9);
    let signs: Vec<f64> = sizes
        .iter()
        .map(|size| if random.next() < 0.5 { -size } else { *size })
        .collect();
    let mut states = vec![start.clone()];
    for _ in 0..STEPS {
        simulation.steps(1).unwrap();
        states.push(Chart::about(simulation));
        for (size, here) in sizes.iter_mut().zip(sizes_of(simulation)) {
            *size = size.max(here);
        }
    }
    let mut led = vec![0.0; sizes.len()];
    let mut found = [[0.0; 2]; 2];
    let small: Vec<f64> = signs.iter().map(|sign| 1e-9 * sign).collect();
    start.apply(simulation, &small);
    for step in 1..=STEPS {
        simulation.steps(1).unwrap();
        if step == SETTLED || step == STEPS {
            states[step].read(simulation, &mut led);
            found[0][usize::from(step == STEPS)] = length(&led, &sizes) * 1e9;
        }
    }
    let mut vector = signs;
    for step in 0..STEPS {
        // Smaller than the way to the next kink, mostly.
        let size = 1e-8 / length(&vector, &sizes).max(1e-300);
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
    found
}

#[test]
fn verdicts_along_runs_agree_with_runs_that_differ_by_next_to_nothing() {
    let models: u64 = std::env::var("OLDHAM_MODELS").map_or(15, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (mut judged, mut undecided, mut decided, mut saturated) = (0, 0, [0, 0], 0);
    for seed in 0..models {
        let path = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&path, model(seed)).unwrap();
        let file = ModelFile::new(&path);
        let model = file.read().unwrap();
        let case = Case::of(&model, &file);
        let survey = Survey::of(&case, Duration::from_secs(60), &mut |_| {}).unwrap();
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
            judged += 1;
            undecided += usize::from(decision == Decision::Undecided);
            saturated += usize::from(!state.saturated.is_empty());
            let mut simulation = model.simulation().unwrap();
            simulation.sharpen().unwrap();
            let steps = (state.time / model.step()).round() as u64;
            simulation.steps(steps).unwrap();
            let [runs, steps] = grown(&mut simulation);
            let at = format!(
                "{seed}, t = {}: {runs:?} {steps:?} {decision:?}",
                state.time
            );
            // Two hundred steps round by some 1e-12; lengths are in units of 1e-9.
            if runs[1] > 0.05 {
                let ratio = runs[1] / steps[1];
                assert!((1.0 / 3.0..3.0).contains(&ratio), "{at}");
            }
            // What had decayed by then has not grown when rounding has.
            let factor = runs[1] / runs[0].max(1e-2);
            match decision {
                Decision::Stable => assert!(factor < 10.0, "{at}"),
                Decision::Unstable => assert!(factor > 0.1, "{at}"),
                Decision::Undecided => {}
            }
            decided[0] += usize::from(decision == Decision::Stable && factor < 0.1);
            decided[1] += usize::from(decision == Decision::Unstable && factor > 10.0);
        }
    }
    assert!(20 * undecided <= judged, "{undecided} of {judged}");
    // Both sorts were met, and states at a limit.
    assert!(decided[0] > 0 && saturated > 0, "{decided:?} {saturated}");
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
