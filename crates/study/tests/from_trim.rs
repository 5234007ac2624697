//! What begins with a trimmed state: linear models, verdicts; and searches that are ended and go on.

use oldham_cosim::Cancel;
use oldham_study::{
    Advice, Case, Draw, ModelFile, Range, StudyError, TrimOptions, TrimmedFile, Variation,
    continuation, linearise_from, trim, trim_from,
};
use std::f64::consts::TAU;
use std::time::Duration;

fn found(file: &ModelFile) -> TrimmedFile {
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let found = trim(file, &model, &TrimOptions::default(), |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn range(text: &str) -> Range {
    let variation = text.parse::<Variation>().unwrap();
    variation.axis(&Draw::default()).unwrap()
}

/// Drag in proportion to the square of the speed.
const FALL: &str = r#"
[model]
name = "Fall"
[parameters]
weight = 15
[simulation]
duration = 1
step = 1e-3
[lumped.body]
integrator = "rk4"
[lumped.body.masses]
x = { mass = 2, velocity = 3 }
[lumped.body.springs]
air = { between = ["ground", "x"], force = "0.8 * v * abs(v)" }
[lumped.body.loads]
weight = { on = "x", force = "weight" }
[lumped.body.outputs]
x = { motion = "x" }
[trim]
free = ["weight"]
hold = { "body.x.v" = 5 }
"#;

/// The pole of a falling body at its final speed is −2 c v / m.
#[test]
fn a_model_is_linearised_about_its_trimmed_state() {
    let file = ModelFile::of_text("test", FALL);
    let trimmed = found(&file);
    let model = trimmed.applied(&file).read().unwrap();
    let linear = linearise_from(&trimmed, &model).unwrap();
    let poles = linear.space.poles.iter();
    let off = poles.map(|pole| (pole.re + 4.0).abs() + pole.im.abs());
    assert!(
        off.fold(f64::INFINITY, f64::min) < 1e-5,
        "{:?}",
        linear.space.poles
    );
}

/// Two masses that are coupled, about a rest that is an equilibrium under a load only.
const PAIR: &str = r#"
[model]
name = "Pair"
[simulation]
duration = 2
step = 1e-3
[lumped.left]
integrator = "lms2"
[lumped.left.masses]
x = { mass = 1, position = 0.7 }
[lumped.left.springs]
wall = { between = ["ground", "x"], force = "40 * d + 900 * d^3 + 4 * v - 30" }
[lumped.left.inputs]
f = { force = "x" }
[lumped.left.outputs]
x = { motion = "x" }
[lumped.right]
integrator = "lms2"
[lumped.right.masses]
y = { mass = 0.2, position = 0.7 }
[lumped.right.springs]
link = { between = ["end", "y"], stiffness = 5, damping = 0.5 }
[lumped.right.inputs]
end = { motion = "end" }
[lumped.right.outputs]
f = { force = "end" }
[[connection]]
from = "left.x"
to = "right.end"
[[connection]]
from = "right.f"
to = "left.f"
"#;

fn pair() -> ModelFile {
    ModelFile::of_text("pair", PAIR)
}

/// The stiffness that a small motion meets is that at the trimmed place: 40 + 2700 d².
#[test]
fn a_verdict_is_about_the_trimmed_state() {
    let file = pair();
    let trimmed = found(&file);
    let applied = trimmed.applied(&file);
    let model = applied.read().unwrap();
    let case = Case::of(&model, &applied).beginning_with(Some(&trimmed));
    let advice = Advice::along_run(&case, Duration::from_secs(20), &mut |_| {});
    let survey = advice.survey.as_ref().expect("it was looked at");
    let start = survey.start().expect("the start");
    assert!(!start.moves, "it rests where it begins");
    assert_eq!(trimmed.trim.verdict, "stable");
    // 40 d + 900 d³ = 30 has the root 0.2760.
    let place = 0.276_0_f64;
    let stiffness = 40.0 + 2700.0 * place * place;
    let frequency = stiffness.sqrt() / TAU;
    let near = trimmed.trim.multipliers.iter();
    let near =
        near.map(|one| (one.growth.hypot(TAU * one.frequency) / TAU / frequency - 1.0).abs());
    assert!(
        near.fold(f64::INFINITY, f64::min) < 0.12,
        "{:?}",
        trimmed.trim.multipliers
    );
}

/// What was reached when a search was ended is where the next one goes on, and both come to the same.
#[test]
fn a_search_that_is_ended_goes_on() {
    let file = pair();
    let model = file.read().unwrap();
    let whole = found(&file);
    let cancel = Cancel::default();
    let options = TrimOptions {
        cancel: Some(cancel.clone()),
        ..TrimOptions::default()
    };
    let ended = trim(&file, &model, &options, |at| {
        if at.iterations == 1 {
            cancel.request();
        }
    });
    let Err(StudyError::Unfinished(ended)) = ended else {
        panic!("it was ended");
    };
    assert!(ended.was_interrupted());
    let reached = ended.reached.expect("one step was taken");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pair.trim");
    reached.write(&path).unwrap();
    assert!(matches!(
        TrimmedFile::read(&path),
        Err(StudyError::NotFinished { .. })
    ));
    let reached = TrimmedFile::read_unfinished(&path, &file).expect("it is of this model");
    assert!(
        TrimmedFile::read_unfinished(&path, &file.clone().set("simulation.step", 2e-3)).is_none()
    );
    let again = trim_from(
        &file,
        &model,
        &TrimOptions::default(),
        Some(&reached),
        |_| {},
    )
    .unwrap();
    assert!(again.trim.residual < 1e-9);
    assert!(
        again.trim.iterations <= whole.trim.iterations,
        "{:?}",
        again.trim
    );
    let [one, other] = [&again, &whole].map(|of| of.trim.multipliers[0]);
    assert!((one.radius - other.radius).abs() < one.error + other.error);
}

/// Threads change nothing.
#[test]
fn a_steady_motion_is_the_same_for_any_number_of_threads() {
    let one = found(&pair());
    let mut two = found(&pair().set("simulation.threads", 2));
    two.trim.settings = one.trim.settings.clone();
    assert_eq!(one.trim, two.trim);
}

/// A single value is no range; a name that is none is told before anything is searched.
#[test]
fn a_continuation_needs_a_range() {
    let folder = tempfile::tempdir().unwrap();
    let options = TrimOptions::default();
    let file = ModelFile::of_text("test", FALL);
    let refused = |text: &str, options: &TrimOptions| {
        continuation(&file, &range(text), options, folder.path(), |_, _| {})
    };
    let error = refused("weight=3", &options).unwrap_err();
    assert!(matches!(error, StudyError::OneValue { .. }), "{error}");
    let options = TrimOptions {
        free: vec!["nothing".into()],
        ..TrimOptions::default()
    };
    let error = refused("weight=3:5:3", &options).unwrap_err().to_string();
    assert!(error.contains("no parameter `nothing`"), "{error}");
}
