//! Hydraulic circuits and predictors with settings, from model files.

use oldham_cosim::{Discard, Run};

use crate::common::{coupled, example, read};

fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = example("hydraulic-manipulator");
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    text
}

fn problems(changes: &[(&str, &str)]) -> String {
    let problems = read(&changed(changes)).expect_err("a model with problems");
    problems.to_string()
}

const DRIVE: &str = "amplitude * sin(2 * pi * frequency * t) * max(0, min(1, min(t, 10 - t)))";

/// The load in the file is that of the mechanism: nothing moves, whatever the predictor.
#[test]
fn with_the_spool_in_neutral_the_arm_stays_where_it_is() {
    for predictor in [
        "\"dmd\"",
        "\"zero-order\"",
        "{ kind = \"dmd\", window = 10 }",
        "{ kind = \"plain-dmd\", window = 10 }",
    ] {
        let model = changed(&[
            (DRIVE, "0"),
            ("predictor = \"dmd\"", &format!("predictor = {predictor}")),
        ]);
        let run = coupled(&read(&model).unwrap());
        let length = run.column("arm.lift.length");
        let pressure = run.column("oil.lift.p1");
        let force = run.column("oil.lift.force");
        for ((length, pressure), force) in length.iter().zip(&pressure).zip(&force) {
            assert!((length - 0.5).abs() < 1e-7, "{predictor}: {length}");
            assert!(
                (pressure - 3.170_85e6).abs() < 20.0,
                "{predictor}: {pressure}"
            );
            assert!((force - 8829.0).abs() < 0.1, "{predictor}: {force}");
        }
    }
}

/// A valve that stays fully open drives the piston into its end stop: the run goes on, and ends near
/// the end of the stroke.
#[test]
fn an_actuator_at_the_end_of_its_stroke_is_held_by_the_stop() {
    let text = changed(&[
        (DRIVE, "-0.04 * min(t, 1)"),
        ("step = 0.012", "step = 1e-3"),
        ("duration = 9.996", "duration = 4.0"),
        ("predictor = \"dmd\"", "predictor = \"first-order\""),
    ]);
    let run = coupled(&read(&text).unwrap());
    let length = run.column("arm.lift.length");
    let end = 0.5 + 0.221;
    let furthest = length.iter().copied().fold(0.0, f64::max);
    assert!(furthest > end - 1e-3 && furthest < end + 0.01, "{furthest}");
}

#[test]
fn mistakes_in_a_circuit_are_told_with_their_places() {
    let text = problems(&[
        ("stroke = 0.442", "stroke = -1"),
        ("load = \"load\"", "load = \"load\"\nspool = 0.5"),
        ("discharge = 0.67", "dischrage = 0.67"),
    ]);
    for expected in [
        "`load` and `spool` say the same thing",
        "unknown key `dischrage`",
        "did you mean `discharge`",
    ] {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    let text = problems(&[("stroke = 0.442", "stroke = -1")]);
    assert!(
        text.contains("the stroke of `lift` must be positive"),
        "{text}"
    );
    // That its ports are not known then is not told.
    assert!(!text.contains("has no output"), "{text}");
    let text = problems(&[("load = \"load\"\nvalve", "load = 1e6\nvalve")]);
    assert!(text.contains("cannot hold a load of 1000000 N"), "{text}");
    let text = problems(&[("tank = 1e5", "tank = 9e6")]);
    assert!(text.contains("pressures must rise"), "{text}");
}

#[test]
fn mistakes_at_an_actuator_of_a_mechanism_are_told() {
    let text = problems(&[("thrust = \"lift\"", "thrust = \"lfit\"")]);
    assert!(text.contains("there is no actuator `lfit`"), "{text}");
    assert!(text.contains("did you mean `lift`"), "{text}");
    let text = problems(&[("thrust = \"lift\"", "pressure = \"lift\"")]);
    assert!(text.contains("needs the `area`"), "{text}");
    let text = problems(&[("thrust = \"lift\"", "thrust = \"lift\", area = 1")]);
    assert!(text.contains("only a pressure acts on an area"), "{text}");
}

#[test]
fn settings_of_a_predictor_are_checked() {
    let with = |predictor: &str| {
        let predictor = format!("predictor = {predictor}");
        changed(&[("predictor = \"dmd\"", &predictor)])
    };
    let told = |predictor: &str, expected: &str| {
        let text = read(&with(predictor)).expect_err("a problem").to_string();
        assert!(text.contains(expected), "{predictor}:\n{text}");
    };
    told("{ kind = \"dmd\", window = 3 }", "give 4 at least");
    told(
        "{ kind = \"dmd\", window = 6, delays = 1 }",
        "give 7 at least",
    );
    told(
        "{ kind = \"hermite\", window = 10 }",
        "belongs to the predictors `dmd` and `plain-dmd`",
    );
    told("{ kind = \"plain-dmd\", window = 2 }", "give 3 at least");
    told(
        "{ kind = \"plain-dmd\", delays = 1 }",
        "belongs to the predictor `dmd`",
    );
    told(
        "{ kind = \"dmd\", recursive = true }",
        "belongs to the predictor `plain-dmd`",
    );
    told("{ kind = \"dmd\", delays = 1 }", "give a `window` too");
    told(
        "{ kind = \"dmd\", window = 10, delays = -1 }",
        "from 0 to 100",
    );
    told("{ window = 10 }", "`kind` is missing");
    told("\"dmdd\"", "did you mean `dmd`");
    for good in [
        "{ kind = \"dmd\", window = 10, delays = 0 }",
        "\"plain-dmd\"",
        "{ kind = \"plain-dmd\", window = 3, recursive = true }",
        "{ kind = \"first-order\" }",
    ] {
        assert!(read(&with(good)).is_ok(), "{good}");
    }
}

/// Sixty exchanged numbers need more than a hundred exchanges: held instead, and said so.
#[test]
fn a_part_that_cannot_learn_says_that_it_holds() {
    let mut text = String::from(
        "[model]\nname = \"Wide\"\n[simulation]\nduration = 0.01\nstep = 1e-3\n[schedule]\npredictor = \"dmd\"\n",
    );
    let (mut left, mut right, mut wires) = (String::new(), String::new(), String::new());
    let (mut inputs, mut outputs) = (String::new(), String::new());
    for i in 0..40 {
        left += &format!("x{i} = {{ mass = 1, position = {i} }}\n");
        right += &format!("y{i} = {{ mass = 1 }}\n");
        outputs += &format!("x{i} = {{ motion = \"x{i}\" }}\n");
        inputs += &format!("far{i} = {{ motion = \"far{i}\" }}\n");
        wires += &format!("[[connection]]\nfrom = \"left.x{i}\"\nto = \"right.far{i}\"\n");
    }
    text += &format!(
        "[lumped.left]\nintegrator = \"semi-implicit-euler\"\n[lumped.left.masses]\n{left}[lumped.left.outputs]\n{outputs}\
         [lumped.right]\nintegrator = \"semi-implicit-euler\"\n[lumped.right.masses]\n{right}[lumped.right.inputs]\n{inputs}{wires}"
    );
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let [note] = model.notes() else {
        panic!("one remark: {:?}", model.notes());
    };
    assert!(note.contains("`right` holds its inputs"), "{note}");
    assert!(
        note.contains("a window of 121 communication points"),
        "{note}"
    );
    assert!(model.simulation().is_ok());
}

/// What the predictor did is in the summary of the run.
#[test]
fn a_run_tells_how_often_the_predictor_held() {
    let model = read(&example("hydraulic-manipulator")).unwrap();
    let mut simulation = model.simulation().unwrap();
    let outcome = simulation.run(Run::new(100, &mut Discard));
    let [note] = outcome.summary.notes.as_slice() else {
        panic!("one remark: {:?}", outcome.summary.notes);
    };
    assert!(
        note.starts_with("`oil` predicts with what it learned: window"),
        "{note}"
    );
    assert!(note.contains("steps held instead"), "{note}");
}

/// An arm of two links on two cylinders, whose valves open one after the other.
const ARM: &str = r#"
[model]
name = "arm on two cylinders"
[parameters]
a1 = "pi / 6"
a2 = "-pi / 4"
bx = "3 * cos(a1)"
bz = "1 + 3 * sin(a1)"
[simulation]
duration = 3.5
step = 2e-3
[schedule]
coupling = "implicit"
[multibody.arm]
gravity = [0, 0, -9.81]
frames.boom = { position = [0, 0, 1], orientation = { axis = [0, 1, 0], angle = "-a1" } }
frames.stick = { position = ["bx", 0, "bz"], orientation = { axis = [0, 1, 0], angle = "-a2" } }
nodes.boom = { in = "boom", position = [1.5, 0, 0] }
nodes.stick = { in = "stick", position = [1, 0, 0] }
bodies.boom = { node = "boom", mass = 800, shape = { box = [3, 0.3, 0.3] } }
bodies.stick = { node = "stick", mass = 350, shape = { box = [2, 0.2, 0.2] } }
bodies.bucket = { node = "stick", mass = 400, centre = [1, 0, 0], shape = { sphere = 0.3 } }
joints.foot = { type = "revolute", between = ["ground", "boom"], in = "boom", position = [0, 0, 0], axis = [0, 1, 0] }
joints.elbow = { type = "revolute", between = ["boom", "stick"], in = "stick", position = [0, 0, 0], axis = [0, 1, 0] }
actuators.boom = { between = ["ground", "boom"], points = [[0.6, 0, 0.6], ["1.4 * cos(a1)", 0, "1 + 1.4 * sin(a1)"]] }
actuators.stick = { between = ["boom", "stick"], points = [["1.2 * cos(a1) - 0.5 * sin(a1)", 0, "1 + 1.2 * sin(a1) + 0.5 * cos(a1)"], ["bx - 0.5 * cos(a2)", 0, "bz - 0.5 * sin(a2)"]] }
inputs.boom = { thrust = "boom" }
inputs.stick = { thrust = "stick" }
[hydraulics.oil]
fluid = { density = 860, a = 7e-10 }
pump = 2e7
tank = 1e5
micro_steps = 10
actuators.boom = { areas = [0.0105, 0.0157], stroke = 0.9, centre = 1.3, friction = 2e4, load = 51874, valve = { area = 6e-5, discharge = 0.65 } }
actuators.stick = { areas = [0.004, 0.006], stroke = 1.0, centre = 1.7, friction = 1e4, load = -16563, valve = { area = 3e-5, discharge = 0.65 } }
[drive]
"oil.boom.spool" = "-0.25 * (step(t - 0.5) - step(t - 2))"
"oil.stick.spool" = "0.25 * (step(t - 2.5) - step(t - 4))"
[[connection]]
from = "oil.boom.force"
to = "arm.boom"
[[connection]]
from = "arm.boom.length"
to = "oil.boom.length"
[[connection]]
from = "arm.boom.rate"
to = "oil.boom.rate"
[[connection]]
from = "oil.stick.force"
to = "arm.stick"
[[connection]]
from = "arm.stick.length"
to = "oil.stick.length"
[[connection]]
from = "arm.stick.rate"
to = "oil.stick.rate"
"#;

/// The iteration between the parts once asked for more digits than the arm's own Newton gave, and
/// stopped in the middle of a smooth motion.
#[test]
fn a_machine_is_coupled_implicitly_without_a_word_on_tolerances() {
    for step in ["2e-3", "5e-4"] {
        let model =
            read(&ARM.replace("2e-3", step)).unwrap_or_else(|problems| panic!("{problems}"));
        let mut simulation = model.simulation().unwrap();
        let outcome = simulation.run(Run::new(model.steps(), &mut Discard));
        assert!(outcome.end.is_ok(), "{step}: {:?}", outcome.end);
    }
}
