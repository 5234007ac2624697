//! Models that use kinds of another crate: closed forms, checkpoints, stability, cuts, errors.

use oldham_cosim::{InMemory, Run, Simulation, Subsystem};
use oldham_model::{Context, Extensions, Model, Overrides, Site, Template};
use oldham_multibody::Load;
use oldham_outside_test::extensions;
use schemars::JsonSchema;
use serde::Deserialize;

const HEAD: &str = r#"
model.name = "Kinds of another crate"
parameters = { g = 9.81, c = 0.5, T = 0.5 }
simulation = { duration = 1.0, step = 1e-3 }
"#;

/// Slows down by drag alone: v = v₀ / (1 + c v₀ t / m).
const DRAG: &str = r#"
[multibody.glider]
tolerance = 1e-10
nodes.g = { velocity = [4, 0, 0] }
bodies.g = { node = "g", mass = 2.0, inertia = [1, 1, 1] }
elements.air = { type = "drag", on = "g", coefficient = "c" }
outputs.x = { translation = "g", axis = [1, 0, 0] }
outputs.air = { reaction = "air" }
"#;

/// A bead near the bottom of a parabola z = a x²: x = x₀ cos(√(2 g a) t).
const WIRE: &str = r#"
[multibody.bead]
gravity = [0, 0, "-g"]
tolerance = 1e-10
nodes.b = { position = [1e-3, 0, 2e-6] }
bodies.b = { node = "b", mass = 1.5, inertia = [1, 1, 1] }
joints.wire = { type = "wire", bead = "b", bend = 2.0 }
outputs.x = { translation = "b", axis = [1, 0, 0] }
outputs.wire = { reaction = "wire" }
"#;

/// A force that follows a measured distance, as a spring of 40 N/m: x = 1 + 0.1 cos(√(k/m) t).
const GAP: &str = r#"
[multibody.follower]
tolerance = 1e-10
nodes.f = { position = [1.1, 0, 0] }
bodies.f = { node = "f", mass = 0.4, inertia = [1, 1, 1] }
sensors.far = { type = "gap", between = ["ground", "f"] }
loads.pull = { on = "f", force = ["-40 * (far - 1)", 0, 0] }
outputs.x = { translation = "f", axis = [1, 0, 0] }
"#;

/// Two servos in a row answer a unit step with 1 - (1 + t/T) exp(-t/T).
const SERVOS: &str = r#"
[servo.first]
lag = "T"
[servo.second]
lag = "T"
micro_steps = 4
predictor = "first-order"
[excitation]
"first.command" = 1.0
[[connection]]
from = "first.position"
to = "second.command"
"#;

/// A base that falls freely, x = 2 t², and a mass on a spring below it, which then moves as
/// 2 t² - (4/ω²) (1 - cos ω t), ω² = 100.
const BASE: &str = r#"
[lumped.base]
integrator = "exact"
masses.b = { mass = 1.0 }
loads.l = { on = "b", force = 4.0 }
outputs.b = { motion = "b" }
[lumped.load]
integrator = "rk4"
micro_steps = 4
predictor = "taylor"
masses.m = { mass = 0.5 }
springs.s = { between = ["far", "m"], stiffness = 50.0 }
inputs.far = { motion = "far" }
outputs.m = { motion = "m" }
[[connection]]
from = "base.b"
to = "load.far"
"#;

fn read(text: &str) -> Result<Model, String> {
    with(text, &[])
}

fn with(text: &str, set: &[(&str, &str)]) -> Result<Model, String> {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    let overrides = Overrides(set.collect());
    let model = Model::parse_with(text, "test.toml", &overrides, &extensions());
    model.map_err(|problems| problems.to_string())
}

fn sound(text: &str) -> Model {
    read(&format!("{HEAD}{text}")).unwrap_or_else(|problems| panic!("{problems}"))
}

fn rows(simulation: &mut Simulation, steps: u64) -> Vec<Vec<f64>> {
    let mut record = InMemory::default();
    let outcome = simulation.run(Run::new(steps, &mut record));
    outcome.end.expect("a finished run");
    record.rows
}

/// The largest difference of a column from a function of time.
fn error_of(model: &Model, name: &str, exact: impl Fn(f64) -> f64) -> f64 {
    let mut simulation = model.simulation().expect("a simulation");
    let mut columns = simulation.columns().iter();
    let column = columns.position(|column| column.name == name);
    let column = column.unwrap_or_else(|| panic!("no `{name}`"));
    let rows = rows(&mut simulation, model.steps());
    let errors = rows.iter().enumerate().map(|(step, row)| {
        let t = step as f64 * model.step();
        (row[column] - exact(t)).abs()
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn an_element_slows_a_body_down_as_its_closed_form_says() {
    let (m, c, v) = (2.0, 0.5, 4.0);
    let model = sound(DRAG);
    let position = error_of(&model, "glider.x.x", |t| m / c * (1.0 + c * v * t / m).ln());
    let velocity = error_of(&model, "glider.x.v", |t| v / (1.0 + c * v * t / m));
    assert!(position < 1e-5, "{position}");
    assert!(velocity < 1e-5, "{velocity}");
    let force = |t: f64| -c * (v / (1.0 + c * v * t / m)).powi(2);
    let reaction = error_of(&model, "glider.air.fx", force);
    assert!(reaction < 1e-4, "its reaction: {reaction}");
}

/// What it dissipates is what the body loses.
#[test]
fn the_energy_of_an_element_is_accounted_for() {
    let model = sound(DRAG);
    let kinetic = |t: f64| (4.0 / (1.0 + t)).powi(2);
    let lost = error_of(&model, "energy.dissipated", |t| 16.0 - kinetic(t));
    assert!(lost < 1e-3, "{lost}");
}

#[test]
fn a_joint_guides_a_bead_as_its_closed_form_says() {
    let model = sound(WIRE);
    let omega = (2.0 * 9.81 * 2.0_f64).sqrt();
    let error = error_of(&model, "bead.x.x", |t| 1e-3 * (omega * t).cos());
    assert!(error < 1e-3 * 1e-3, "{error}");
    let weight = error_of(&model, "bead.wire.fz", |_| 1.5 * 9.81);
    assert!(weight < 1e-2, "the wire carries the bead: {weight}");
}

#[test]
fn a_sensor_drives_a_force_as_its_closed_form_says() {
    let model = sound(GAP);
    let error = error_of(&model, "follower.x.x", |t| 1.0 + 0.1 * (10.0 * t).cos());
    assert!(error < 1e-4, "{error}");
}

#[test]
fn subsystems_are_coupled_and_converge_to_their_closed_form() {
    let exact = |t: f64| 1.0 - (1.0 + t / 0.5) * (-t / 0.5).exp();
    let error = |step: &str| {
        let text = format!("{HEAD}{SERVOS}");
        let model = with(&text, &[("simulation.step", step)]).expect("a model");
        error_of(&model, "second.position", exact)
    };
    let ratio = error("0.01") / error("0.005");
    assert!((3.5..4.5).contains(&ratio), "second order: {ratio}");
    assert!(error("1e-3") < 1e-5);
}

#[test]
fn a_predictor_continues_a_motion_exactly() {
    let exact = |t: f64| 2.0 * t * t - 0.04 * (1.0 - (10.0 * t).cos());
    let error = |predictor: &str| {
        let text = format!("{HEAD}{BASE}").replace("\"taylor\"", predictor);
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        error_of(&model, "load.m.x", exact)
    };
    let taylor = error("\"taylor\"");
    assert!(taylor < 1e-9, "{taylor}");
    let linear = error("{ kind = \"taylor\", acceleration = false }");
    let held = error("\"zero-order\"");
    assert!(taylor < linear && linear < held, "{taylor} {linear} {held}");
}

fn all_together() -> String {
    // TOML wants the lists of connections in one place each, which they are.
    [HEAD, DRAG, WIRE, GAP, SERVOS, BASE].concat()
}

#[test]
fn a_checkpoint_keeps_all_bits() {
    let model = read(&all_together()).unwrap_or_else(|problems| panic!("{problems}"));
    let build = || model.simulation().expect("a simulation");
    let whole = rows(&mut build(), 100);
    let mut first = build();
    rows(&mut first, 37);
    let checkpoint = first.checkpoint("model").expect("a checkpoint");
    let mut continued = build();
    continued.restore(&checkpoint, "model").expect("a restart");
    assert_eq!(rows(&mut continued, 63), whole[38..]);
}

#[test]
fn threads_keep_all_bits() {
    let model = read(&all_together()).expect("a model");
    let run = |threads: usize| {
        let mut record = InMemory::default();
        let outcome = model.simulation().expect("a simulation").run(Run {
            threads,
            ..Run::new(50, &mut record)
        });
        outcome.end.expect("a finished run");
        record.rows
    };
    assert_eq!(run(1), run(3));
}

/// A servo that is fed back: T x' = -k x. Held over steps of h its factor is
/// exp(-h/T) - k (1 - exp(-h/T)).
#[test]
fn the_stability_of_a_foreign_subsystem_is_analysed() {
    let text = format!(
        r#"{HEAD}
        [servo.one]
        lag = "T"
        start = 1.0
        [servo.two]
        lag = "T"
        [[connection]]
        from = "one.position"
        to = "two.command"
        [[connection]]
        from = "two.position"
        to = "one.command"
        "#
    );
    let model = with(&text, &[("simulation.step", "0.1"), ("T", "0.2")]).expect("a model");
    let mut simulation = model.simulation().expect("a simulation");
    let radius = oldham_stability::radius(&mut simulation);
    // Of [[e, 1 - e], [1 - e, e]].
    assert!((radius - 1.0).abs() < 1e-6, "{radius}");
}

#[test]
fn other_parameters_make_other_models() {
    let template = {
        let folder = std::env::temp_dir().join(format!("oldham-outside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("drag.toml");
        std::fs::write(&path, format!("{HEAD}{DRAG}")).expect("a file");
        let read = Template::read_with(&path, &Overrides::none(), &extensions());
        std::fs::remove_dir_all(&folder).expect("removed");
        read.expect("a template")
    };
    let [thin, thick] = [0.5, 2.0].map(|c| template.with(&[("c", c)]).expect("a model"));
    assert!(!thin.is_solved_like(&thick));
    let error = error_of(&thick, "glider.x.v", |t| 4.0 / (1.0 + 4.0 * t));
    assert!(error < 1e-4, "{error}");
}

/// A cut between a force and what it follows is refused with the reason.
#[test]
fn a_cut_between_a_sensor_and_its_load_is_refused() {
    let text = format!(
        r#"{HEAD}
        [multibody.m]
        nodes.a = {{ position = [1, 0, 0] }}
        nodes.b = {{ position = [2, 0, 0] }}
        nodes.c = {{ position = [3, 0, 0] }}
        bodies.a = {{ node = "a", mass = 1.0, inertia = [1, 1, 1] }}
        bodies.b = {{ node = "b", mass = 1.0, inertia = [1, 1, 1] }}
        bodies.c = {{ node = "c", mass = 1.0, inertia = [1, 1, 1] }}
        bushings.ab = {{ between = ["a", "b"], stiffness = [1e3, 1e3, 1e3], rotational_stiffness = [9, 9, 9] }}
        bushings.bc = {{ between = ["b", "c"], stiffness = [1e3, 1e3, 1e3], rotational_stiffness = [9, 9, 9] }}
        sensors.far = {{ type = "gap", between = ["ground", "c"] }}
        loads.pull = {{ on = "a", force = ["-(far - 3)", 0, 0] }}
        elements.air = {{ type = "drag", on = "c", coefficient = 1.0 }}
        cut.at = ["b"]
        "#
    );
    let refusal = read(&text).unwrap_err();
    assert!(
        refusal.contains("pull") && refusal.contains("`c`"),
        "{refusal}"
    );
    let near = text.replace("[\"ground\", \"c\"]", "[\"ground\", \"a\"]");
    let model = read(&near).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(model.is_cut());
    rows(&mut model.simulation().expect("a simulation"), 10);
    let at_element = near.replace("cut.at = [\"b\"]", "cut.at = [\"air\"]");
    let refusal = read(&at_element).unwrap_err();
    assert!(refusal.contains("`air`"), "{refusal}");
}

/// Each mistake, and what the message says about it.
#[test]
fn mistakes_are_told_with_place_and_help() {
    let text = all_together();
    for (instead_of, write, expected) in [
        (
            "coefficient =",
            "coeficient =",
            "unknown key `coeficient` in `multibody.glider.elements.air`",
        ),
        (
            "coefficient =",
            "coeficient =",
            "did you mean `coefficient`?",
        ),
        (
            "coefficient = \"c\"",
            "coefficient = \"-c\"",
            "the number must not be negative",
        ),
        (
            "coefficient = \"c\"",
            "coefficient = \"cc\"",
            "did you mean `c`?",
        ),
        (", coefficient = \"c\"", "", "`coefficient` is missing"),
        (
            "on = \"g\", coefficient",
            "on = \"gg\", coefficient",
            "did you mean `g`?",
        ),
        ("type = \"drag\"", "type = \"darg\"", "did you mean `drag`?"),
        ("type = \"wire\"", "type = \"wier\"", "did you mean `wire`?"),
        (
            "type = \"wire\"",
            "type = \"revolut\"",
            "did you mean `revolute`?",
        ),
        ("bend = 2.0", "bend = 0", "a straight wire is no parabola"),
        ("bend = 2.0", "bend = 0", "use the joint `point-on-line`"),
        ("type = \"gap\"", "type = \"gab\"", "did you mean `gap`?"),
        (
            "between = [\"ground\", \"f\"]",
            "between = [\"ground\", \"q\"]",
            "there is no node `q`",
        ),
        (
            "[servo.first]\nlag = \"T\"",
            "[servo.first]\nlag = 0",
            "the number must be positive",
        ),
        (
            "[servo.first]\nlag = \"T\"",
            "[servo.first]\nlagg = 1",
            "did you mean `lag`?",
        ),
        ("[servo.first]", "[serve.first]", "did you mean `servo`?"),
        (
            "first.position",
            "first.positoin",
            "did you mean `position`?",
        ),
        (
            "micro_steps = 4\npredictor = \"first-order\"",
            "micro_step = 3e-4",
            "no whole number of micro steps",
        ),
        (
            "predictor = \"taylor\"",
            "predictor = \"tailor\"",
            "did you mean `taylor`?",
        ),
        (
            "predictor = \"taylor\"",
            "predictor = { kind = \"taylor\", accelerate = true }",
            "did you mean `acceleration`?",
        ),
        (
            "predictor = \"taylor\"",
            "predictor = { kind = \"tailor\" }",
            "did you mean `taylor`?",
        ),
    ] {
        assert!(text.contains(instead_of), "{instead_of}");
        let wrong = text.replacen(instead_of, write, 1);
        let problems = read(&wrong).expect_err(write);
        assert!(problems.contains(expected), "{write}: {problems}");
        assert!(problems.starts_with("test.toml:"), "{problems}");
    }
}

#[test]
fn settings_can_be_overridden() {
    let text = format!("{HEAD}{DRAG}");
    let model = with(
        &text,
        &[("multibody.glider.elements.air.coefficient", "2 * c")],
    );
    let error = error_of(&model.expect("a model"), "glider.x.v", |t| {
        4.0 / (1.0 + 2.0 * t)
    });
    assert!(error < 1e-4, "{error}");
}

#[test]
fn without_the_extensions_a_model_is_refused() {
    let text = format!("{HEAD}{DRAG}");
    let problems = Model::parse(&text, "test.toml", &Overrides::none()).expect_err("refused");
    assert!(
        problems.to_string().contains("unknown key `elements`"),
        "{problems}"
    );
}

#[test]
fn schema_and_reference_know_all_kinds() {
    let extensions = extensions();
    let schema = extensions.schema().to_string();
    let page = extensions.reference_markdown();
    for word in [
        "drag",
        "wire",
        "gap",
        "servo",
        "taylor",
        "Force per square of the speed",
    ] {
        assert!(schema.contains(word), "{word}");
        assert!(page.contains(word), "{word}");
    }
    assert!(page.contains("`[multibody.<name>.joints.<name>]` with `type = \"wire\"`"));
    assert!(page.contains("## `[servo.<name>]`"));
}

/// A kind without settings.
#[derive(Deserialize, JsonSchema)]
struct Bare {}

/// What comes from outside does not take the program down: its panic is a problem at its place.
#[test]
fn a_panic_in_a_constructor_is_a_problem_of_the_model() {
    let mut extensions = Extensions::new();
    extensions.element("rotten", |_: Bare, _: &mut Site<'_>| -> Option<Load> {
        panic!("out of luck")
    });
    extensions.subsystem("spoilt", |_: Bare, _: &mut Context<'_>| {
        Some(|_: usize| -> Result<Box<dyn Subsystem>, String> { panic!("out of luck") })
    });
    let element = "[multibody.m]\nelements.r = { type = \"rotten\" }\n";
    let part = "[spoilt.s]\n";
    for (text, kind, line) in [(element, "rotten", 6), (part, "spoilt", 5)] {
        let text = format!("{HEAD}{text}");
        let read = Model::parse_with(&text, "m.toml", &Overrides::none(), &extensions);
        let told = read.expect_err("a problem").to_string();
        let expected = format!("the program of `{kind}` panicked: out of luck");
        assert!(told.contains(&expected), "{told}");
        assert!(told.starts_with(&format!("m.toml:{line}:")), "{told}");
    }
}
