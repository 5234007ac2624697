//! FMUs that are made of small C sources: alone and coupled, against the same recurrences by hand, bit for bit.

mod support;

use std::path::Path;

use oldham_cosim::{Discard, Run, Snapshot};
use oldham_fmi::{Causality, Kind, Package, Version};
use oldham_stability::{AnalysisError, Spectrum, Unmeasurable, Way, analyse};
use support::{fmu, fmu_of, plain, read, run, run_on};
use tempfile::TempDir;

const ALONE: &str = r#"
model.name = "One FMU"
simulation = { duration = 1, step = 0.01 }
parameters.m = 2
[fmu.body]
file = "mass2.fmu"
parameters = { mass = "m", damping = 0.5, stiffness = 40, position = 0.03 }
[excitation]
"body.force" = "3 * t"
"#;

#[test]
fn a_description_says_what_there_is() {
    let folder = TempDir::new().unwrap();
    let package = Package::open(&plain(folder.path(), "mass2")).unwrap();
    let description = package.description();
    assert_eq!(description.version, Version::Two);
    assert_eq!(description.of(Causality::Input).count(), 1);
    let position = description.variable("position").unwrap();
    assert_eq!(position.conversion.unit.0, "m");
    assert_eq!(position.conversion.factor, 1e-3);
    let mood = &description.variable("mood").unwrap().kind;
    let Kind::Enumeration(items) = mood else {
        panic!("{mood:?}");
    };
    assert_eq!(items[2], ("bad".to_owned(), 2));
}

#[test]
fn one_fmu_takes_the_steps_of_its_recurrence() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let model = read(folder.path(), ALONE).unwrap();
    let found = run(&mut model.simulation().unwrap(), 100, "body.velocity");
    // The FMU takes its start value in mm for one in m: what it gets is what its description asks for.
    let (mut x, mut v) = (0.03 / 1e-3, 0.0);
    for (k, found) in found.iter().enumerate() {
        assert_eq!(*found, v, "step {k}");
        let (from, to) = (k as f64 * 0.01, (k + 1) as f64 * 0.01);
        let h = to - from;
        v += h * (3.0 * from - 0.5 * v - 40.0 * x) / 2.0;
        x += h * v;
    }
}

#[test]
fn problems_are_told_where_they_are() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let problem = |from: &str, to: &str| {
        let text = ALONE.replace(from, to);
        assert_ne!(text, ALONE);
        read(folder.path(), &text).unwrap_err()
    };
    let wrong = problem("mass2.fmu", "none.fmu");
    assert!(wrong.contains("`none.fmu` cannot be read"), "{wrong}");
    let wrong = problem("mass2.fmu", "model.toml");
    assert!(wrong.contains("is not an FMU"), "{wrong}");
    let wrong = problem("damping =", "dampin =");
    assert!(wrong.contains("did you mean `damping`?"), "{wrong}");
    let wrong = problem("damping = 0.5", "pass = 1");
    assert!(wrong.contains("follows from others"), "{wrong}");
    let wrong = problem("damping = 0.5", "mood = \"sad\"");
    assert!(
        wrong.contains("possible are \"good\", \"fair\", \"bad\""),
        "{wrong}"
    );
    let wrong = problem("body.force", "body.farce");
    assert!(wrong.contains("force"), "{wrong}");
    let lacking = TempDir::new().unwrap();
    fmu(lacking.path(), "mass2", &["-DNO_STATE"], |text| text);
    let wrong = read(lacking.path(), ALONE).unwrap_err();
    assert!(wrong.contains("no function `fmi2GetFMUstate`"), "{wrong}");
}

#[test]
fn two_fmus_exchange_as_a_loop_of_calls_does() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let text = r#"
model.name = "Two FMUs"
simulation = { duration = 1, step = 0.01 }
fmu.one = { file = "mass2.fmu", parameters = { mass = 2, stiffness = 40, velocity = 0.3 } }
fmu.two = { file = "mass2.fmu", parameters = { mass = 1, damping = 0.2 } }
[[connection]]
from = "one.velocity"
to = "two.force"
gain = 1.5
[[connection]]
from = "two.velocity"
to = "one.force"
gain = -0.7
"#;
    let model = read(folder.path(), text).unwrap();
    for threads in [1, 2] {
        let mut simulation = model.simulation().unwrap();
        let found = run_on(&mut simulation, 100, "two.velocity", threads);
        let (mut one, mut two) = ([0.0, 0.3], [0.0, 0.0]);
        for (k, found) in found.iter().enumerate() {
            assert_eq!(*found, two[1], "step {k}");
            let (from, to) = (k as f64 * 0.01, (k + 1) as f64 * 0.01);
            let h = to - from;
            let forces = [-0.7 * two[1], 1.5 * one[1]];
            one[1] += h * (forces[0] - 0.0 * one[1] - 40.0 * one[0]) / 2.0;
            one[0] += h * one[1];
            two[1] += h * (forces[1] - 0.2 * two[1] - 0.0 * two[0]) / 1.0;
            two[0] += h * two[1];
        }
    }
}

#[test]
fn arrays_flags_and_counts_of_fmi_3() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "gains3");
    let text = r#"
model.name = "Gains"
simulation = { duration = 1, step = 0.1 }
[fmu.g]
file = "gains3.fmu"
parameters = { gain = 2.5, on = true }
[excitation]
"g.x" = ["t", 1, 3]
"#;
    let model = read(folder.path(), text).unwrap();
    assert!(
        model
            .notes()
            .iter()
            .any(|note| note.contains("`tick` has no port: it is a clock"))
    );
    let mut simulation = model.simulation().unwrap();
    let counts = run(&mut simulation, 10, "g.count");
    let expected: Vec<f64> = (0..=10).map(f64::from).collect();
    assert_eq!(counts, expected);
    let third = run(&mut model.simulation().unwrap(), 2, "g.y.3");
    assert_eq!(third, [7.5; 3]);
}

#[test]
fn steps_that_are_discarded_are_halved_and_errors_say_why() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let halved = ALONE.replace("stiffness = 40", "stiffness = 40, longest = 0.003");
    let model = read(folder.path(), &halved).unwrap();
    let found = run(&mut model.simulation().unwrap(), 1, "body.velocity");
    let (mut x, mut v) = (30.0, 0.0);
    for _ in 0..4 {
        v += 0.0025 * (-0.5 * v - 40.0 * x) / 2.0;
        x += 0.0025 * v;
    }
    assert!((found[1] - v).abs() < 1e-12 * v.abs(), "{} {v}", found[1]);
    let bad = ALONE.replace("stiffness = 40", "mood = \"bad\"");
    let model = read(folder.path(), &bad).unwrap();
    let outcome = model.simulation().unwrap().run(Run::new(10, &mut Discard));
    let error = outcome.end.unwrap_err().to_string();
    assert!(error.contains("`body`"), "{error}");
    assert!(error.contains("the mass is in a bad mood"), "{error}");
}

#[test]
fn a_state_is_saved_and_restored() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let model = read(folder.path(), ALONE).unwrap();
    let mut simulation = model.simulation().unwrap();
    simulation.steps(20).unwrap();
    let mut saved = Snapshot::default();
    saved.save(&mut simulation);
    let first = run(&mut simulation, 30, "body.velocity");
    saved.restore(&mut simulation);
    assert_eq!(run(&mut simulation, 30, "body.velocity"), first);
}

/// The example: in steady state the table swings as the impedances say, and the hold adds an error of first order.
/// Implicit coupling, by saved states, halves that: what is left is what the FMU holds within its own step.
#[test]
fn a_shaker_swings_as_its_impedances_say() {
    let folder = TempDir::new().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fmu");
    fmu_of(&examples, folder.path(), "voice-coil", &[], |text| text);
    let text = std::fs::read_to_string(examples.join("shaker.toml")).unwrap();
    let amplitude = |step: f64, schedule: &str| {
        let text = text.replace("step = 1e-4", &format!("step = {step}\n{schedule}"));
        let model = read(folder.path(), &text).unwrap();
        let found = run(&mut model.simulation().unwrap(), model.steps(), "table.x");
        let late = &found[found.len() * 8 / 10..];
        late.iter().fold(0.0_f64, |most, x| most.max(*x))
    };
    let w = std::f64::consts::TAU * 30.0;
    let (resistance, inductance, constant) = (4.0, 2e-3, 12.0);
    let (mass, damping, stiffness) = (0.5, 6.0, 8000.0);
    // (R + jwL)(s - m w^2 + jwc) + jw k^2
    let [a, b] = [stiffness - mass * w * w, w * damping];
    let re: f64 = resistance * a - w * inductance * b;
    let im: f64 = resistance * b + w * inductance * a + w * constant * constant;
    let exact = 20.0 * constant / re.hypot(im);
    let off = |step: f64| amplitude(step, "") / exact - 1.0;
    let (coarse, fine) = (off(1e-4), off(5e-5));
    assert!((coarse / fine - 2.0).abs() < 0.1, "{coarse} {fine}");
    assert!(fine.abs() < 5e-3, "{fine}");
    let implicit = amplitude(1e-4, "[schedule]\ncoupling = \"implicit\"\n") / exact - 1.0;
    assert!((coarse / implicit - 2.0).abs() < 0.1, "{implicit} {coarse}");
}

/// Two masses that drive each other by their velocities, with a gain.
fn driving_each_other(gain: f64) -> String {
    format!(
        r#"
model.name = "Two FMUs"
simulation = {{ duration = 1, step = 0.01 }}
fmu.one = {{ file = "mass2.fmu", parameters = {{ mass = 2, stiffness = 40, damping = 0.5, velocity = 0.3 }} }}
fmu.two = {{ file = "mass2.fmu", parameters = {{ mass = 1, stiffness = 90, damping = 0.2 }} }}
[[connection]]
from = "one.velocity"
to = "two.force"
gain = {gain}
[[connection]]
from = "two.velocity"
to = "one.force"
gain = -0.7
"#
    )
}

/// The spectral radius of a step of both, written down: semi-implicit Euler under forces of the step's start.
fn radius_by_hand(gain: f64) -> f64 {
    let h = 0.01;
    let step = |[x1, v1, x2, v2]: [f64; 4]| {
        let w1 = v1 + h * (-0.7 * v2 - 0.5 * v1 - 40.0 * x1) / 2.0;
        let w2 = v2 + h * (gain * v1 - 0.2 * v2 - 90.0 * x2);
        [x1 + h * w1, w1, x2 + h * w2, w2]
    };
    let unit = |k: usize| [0, 1, 2, 3].map(|i| f64::from(u8::from(i == k)));
    let columns = [0, 1, 2, 3].map(|k| step(unit(k)));
    let matrix = nalgebra::Matrix4::from_fn(|i, k| columns[k][i]);
    let values = matrix.complex_eigenvalues();
    values.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

#[test]
fn coupled_fmus_have_the_radius_of_their_recurrence() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let mut decisions = Vec::new();
    for gain in [0.1, 1.5, -30.0, 300.0, -300.0] {
        let model = read(folder.path(), &driving_each_other(gain)).unwrap();
        let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
        let expected = radius_by_hand(gain);
        assert!(matches!(verdict.way, Way::Measured { .. }));
        assert!(verdict.error < 1e-8, "{gain}: {}", verdict.error);
        let off = (verdict.radius - expected).abs();
        assert!(
            off <= verdict.error,
            "{gain}: {} {expected}",
            verdict.radius
        );
        assert_eq!(verdict.is_unstable(), expected > 1.0, "{gain}");
        assert_eq!(verdict.is_stable(), expected < 1.0, "{gain}");
        decisions.push(verdict.is_stable());
    }
    assert!(decisions.contains(&true) && decisions.contains(&false));
}

/// The state is where it was: the run that follows is the one without an analysis.
#[test]
fn an_fmu_that_was_measured_goes_on_as_if_it_had_not_been() {
    let folder = TempDir::new().unwrap();
    plain(folder.path(), "mass2");
    let model = read(folder.path(), &driving_each_other(1.5)).unwrap();
    let mut untouched = model.simulation().unwrap();
    untouched.steps(60).unwrap();
    let mut measured = model.simulation().unwrap();
    measured.steps(10).unwrap();
    Spectrum::here(&mut measured, None).unwrap();
    measured.steps(50).unwrap();
    let [a, b] = [&mut untouched, &mut measured].map(|simulation| {
        let mut state = Snapshot::default();
        state.keep(simulation);
        state
    });
    assert_eq!(a, b);
}

/// An FMU that forgets its velocity when its state is restored answers differently each time.
#[test]
fn an_fmu_that_saves_half_of_its_state_is_found_out() {
    let folder = TempDir::new().unwrap();
    fmu(folder.path(), "mass2", &["-DHALF_STATE"], |text| text);
    let model = read(folder.path(), &driving_each_other(1.5)).unwrap();
    let found = analyse(&mut model.simulation().unwrap());
    let Err(AnalysisError::Unmeasurable { reason, .. }) = found else {
        panic!("{found:?}");
    };
    assert_ne!(reason, Unmeasurable::Orientation);
}

/// What the description promises of states, taken back: what pythonfmu makes is like this.
fn without_state(text: String) -> String {
    let plain = text.replace(
        "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"",
        "",
    );
    assert_ne!(plain, text);
    plain
}

/// Fresh instances that are led to the same state give the verdict that saved states give, at the start of a run and
/// later.
#[test]
fn fmus_without_state_are_judged_by_fresh_instances() {
    let [with, without] = [(); 2].map(|()| TempDir::new().unwrap());
    plain(with.path(), "mass2");
    fmu(without.path(), "mass2", &["-DNO_STATE"], without_state);
    let mut decisions = Vec::new();
    for gain in [1.5, 300.0] {
        for steps in [0, 40] {
            let text = driving_each_other(gain);
            let [saved, led] = [&with, &without].map(|folder| {
                let mut simulation = read(folder.path(), &text).unwrap().simulation().unwrap();
                simulation.steps(steps).unwrap();
                analyse(&mut simulation).unwrap()
            });
            let expected = radius_by_hand(gain);
            let off = (led.radius - expected).abs();
            assert!(off <= led.error, "{gain}: {} {expected}", led.radius);
            assert!(led.error < 1e-8, "{gain}: {}", led.error);
            assert_eq!(led.is_stable(), saved.is_stable());
            // They do the same calls from the same states.
            assert_eq!(led.radius, saved.radius, "{gain}, {steps}");
            decisions.push(led.is_stable());
        }
    }
    assert!(decisions.contains(&true) && decisions.contains(&false));
}

/// What was led to its state again goes on as if nothing had been asked.
#[test]
fn an_fmu_without_state_that_was_measured_goes_on() {
    let folder = TempDir::new().unwrap();
    fmu(folder.path(), "mass2", &["-DNO_STATE"], without_state);
    let model = read(folder.path(), &driving_each_other(1.5)).unwrap();
    let mut untouched = model.simulation().unwrap();
    untouched.steps(10).unwrap();
    let mut measured = model.simulation().unwrap();
    measured.steps(10).unwrap();
    Spectrum::here(&mut measured, None).unwrap();
    let [a, b] = [untouched, measured].map(|mut it| run(&mut it, 50, "two.velocity"));
    assert_eq!(a, b);
}

#[test]
fn fresh_instances_that_differ_decide_nothing() {
    let folder = TempDir::new().unwrap();
    fmu(
        folder.path(),
        "mass2",
        &["-DNO_STATE", "-DMOODY"],
        without_state,
    );
    let model = read(folder.path(), &driving_each_other(1.5)).unwrap();
    let found = analyse(&mut model.simulation().unwrap());
    let Err(AnalysisError::Unmeasurable { reason, part }) = found else {
        panic!("{found:?}");
    };
    assert_eq!((&part[..], reason), ("one", Unmeasurable::FreshOnesDiffer));
}

/// A state that is far away is not led to; and tight coupling needs one that is saved.
#[test]
fn what_has_come_too_far_is_not_led_there() {
    let folder = TempDir::new().unwrap();
    fmu(folder.path(), "mass2", &["-DNO_STATE"], without_state);
    let text = driving_each_other(1.5);
    let mut simulation = read(folder.path(), &text).unwrap().simulation().unwrap();
    simulation.steps(5000).unwrap();
    let found = analyse(&mut simulation).unwrap_err().to_string();
    assert!(
        found.contains("`one` cannot save its state, and has come further"),
        "{found}"
    );
}
