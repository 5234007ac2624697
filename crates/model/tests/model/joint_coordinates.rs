//! Joint coordinates in model files: the results of absolute ones, the same bits however they are run, and what is refused
//! at its place.

use oldham_cosim::{InMemory, Run};
use oldham_model::{Model, Overrides};

use crate::common::{
    History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, examples,
    read, shipped_kinds,
};
use crate::large::with;

/// The largest difference of two runs over all columns and all rows that both have, as a fraction of the largest value of
/// the column.
fn apart(ours: &History, theirs: &History) -> (f64, String) {
    let names: Vec<&str> = ours.names().collect();
    assert_eq!(names, theirs.names().collect::<Vec<_>>());
    let mut worst = (0.0, String::new());
    for name in names {
        let [ours, theirs] = [ours.column(name), theirs.column(name)];
        assert_eq!(ours.len(), theirs.len(), "{name}");
        let largest = theirs.iter().fold(1e-3_f64, |most, x| most.max(x.abs()));
        let pairs = ours.iter().zip(&theirs);
        let difference = pairs.fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()));
        assert!(difference.is_finite(), "{name}");
        if difference / largest > worst.0 {
            worst = (difference / largest, name.to_owned());
        }
    }
    worst
}

/// Both runs of a mechanism of an example with this step.
fn difference(file: &str, mechanism: &str, set: &[(&str, &str)], step: &str) -> (f64, String) {
    let coordinates = format!("multibody.{mechanism}.coordinates");
    let [ours, theirs] = ["joint", "absolute"].map(|word| {
        let mut set = set.to_vec();
        set.extend([(&coordinates[..], word), ("simulation.step", step)]);
        coupled(&with(&example(file), &set))
    });
    apart(&ours, &theirs)
}

/// The robot begins at once: where its targets begin to move the fourth order would end.
const ARM: [(&str, &str); 2] = [("begin", "0"), ("simulation.duration", "0.2")];

/// Sensors, torques, ports and energies, all of them.
#[test]
fn a_robot_has_the_same_results_to_the_order_of_the_method() {
    for (method, order) in [("lms2", 2.0), ("generalised-alpha", 2.0), ("rk4", 4.0)] {
        let mut set = ARM.to_vec();
        set.extend([
            ("multibody.robot.integrator", method),
            ("multibody.robot.tolerance", "1e-10"),
        ]);
        let [coarse, fine] =
            ["2e-3", "1e-3"].map(|step| difference("six-axis-arm", "robot", &set, step));
        let found = (coarse.0 / fine.0).log2();
        println!("{method}: {coarse:?} {fine:?}");
        assert!(
            found > order - 0.4 || fine.0 < 1e-9,
            "{method}: order {found}, {coarse:?}, {fine:?}"
        );
        assert!(fine.0 < 2e-3, "{method}: {fine:?}");
    }
}

/// Steps with impulses obey the same equations in both.
#[test]
fn a_robot_moves_by_impulses_as_in_absolute_coordinates() {
    let mut set = ARM.to_vec();
    set.push(("multibody.robot.integrator", "impulses"));
    let found = difference("six-axis-arm", "robot", &set, "1e-3");
    println!("{found:?}");
    assert!(found.0 < 1e-6, "{found:?}");
}

/// Loops are closed by constraints on top of the angles; a motor drives the crank.
#[test]
fn linkages_have_the_same_results_to_the_order_of_the_method() {
    for (file, mechanism) in [("four-bar", "linkage"), ("slider-crank", "machine")] {
        for method in ["lms2", "generalised-alpha"] {
            let integrator = format!("multibody.{mechanism}.integrator");
            let tolerance = format!("multibody.{mechanism}.tolerance");
            let set = [
                (&integrator[..], method),
                (&tolerance[..], "1e-10"),
                ("simulation.duration", "0.2"),
            ];
            let [coarse, fine] =
                ["2e-3", "1e-3"].map(|step| difference(file, mechanism, &set, step));
            println!("{file}, {method}: {coarse:?} {fine:?}");
            let found = (coarse.0 / fine.0).log2();
            assert!(
                found > 1.6 || fine.0 < 1e-8,
                "{file}, {method}: order {found}, {coarse:?}, {fine:?}"
            );
            assert!(fine.0 < 2e-3, "{file}, {method}: {fine:?}");
        }
    }
}

/// Names of the mechanisms of a file.
fn mechanisms(text: &str) -> Vec<&str> {
    let tables = text.lines().filter_map(|line| {
        let name = line.strip_prefix("[multibody.")?.strip_suffix(']')?;
        (!name.contains('.')).then_some(name)
    });
    tables.collect()
}

/// The first steps of every mechanism of the examples that joint coordinates cover are those of absolute ones.
#[test]
fn every_example_that_can_begins_the_same_in_both() {
    const STEPS: u64 = 20;
    let (mut taken, mut wrong) = (Vec::new(), Vec::new());
    for (name, text) in examples() {
        for mechanism in mechanisms(&text) {
            let run = |coordinates: &str| {
                let key = format!("multibody.{mechanism}.coordinates");
                let set = Overrides(vec![(key, coordinates.to_owned())]);
                let model = Model::parse_with(&text, "test.toml", &set, shipped_kinds()).ok()?;
                let mut simulation = model.simulation().expect("a simulation");
                let mut record = InMemory::default();
                let outcome = simulation.run(Run::new(STEPS.min(model.steps()), &mut record));
                outcome.end.expect("a few steps");
                Some(History::new(&simulation, record))
            };
            let Some(ours) = run("joint") else {
                continue;
            };
            let theirs = run("absolute").expect("absolute coordinates cover everything");
            let found = apart(&ours, &theirs);
            println!("{name}, {mechanism}: {found:?}");
            taken.push(name.clone());
            if found.0 > 1e-2 {
                wrong.push((name.clone(), found));
            }
        }
    }
    for name in ["six-axis-arm", "humanoid", "four-bar", "excavator", "lorry"] {
        assert!(taken.iter().any(|it| it == name), "{name} among {taken:?}");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Two mechanisms that exchange forces and motions.
fn two_parts(method: &str) -> Model {
    let set = ["single", "chain"].map(|part| {
        [("integrator", method), ("coordinates", "joint")]
            .map(|(key, word)| (format!("multibody.{part}.{key}"), word))
    });
    let set = set.iter().flatten().map(|(key, word)| (&key[..], *word));
    let mut set: Vec<(&str, &str)> = set.collect();
    set.push(("simulation.duration", "0.2"));
    with(&example("ten-link-pendulum"), &set)
}

#[test]
fn bits_are_the_same_on_any_number_of_threads_and_after_a_checkpoint() {
    for method in ["rk4", "lms2", "generalised-alpha"] {
        let model = two_parts(method);
        assert_threads_keep_bits(&model);
        assert_checkpoint_keeps_bits(&model, &["single", "chain"]);
    }
    for method in ["rk4", "lms2", "generalised-alpha", "impulses"] {
        let mut set = ARM.to_vec();
        set.push(("multibody.robot.integrator", method));
        assert_checkpoint_keeps_bits(&with(&example("six-axis-arm"), &set), &["robot"]);
    }
    let set = [("multibody.linkage.coordinates", "joint")];
    assert_checkpoint_keeps_bits(&with(&example("four-bar"), &set), &["linkage"]);
}

const ARM_OF_TWO: &str = r#"[model]
name = "Arm"
[simulation]
duration = 0.1
step = 1e-3
[multibody.arm]
integrator = "rk4"
coordinates = "joint"
gravity = [0, 0, -9.81]
nodes.a = { position = [0.5, 0, 0] }
nodes.b = { position = [1.5, 0, 0] }
bodies.a = { node = "a", mass = 2, inertia = [0.1, 0.2, 0.2] }
bodies.b = { node = "b", mass = 2, inertia = [0.1, 0.2, 0.2] }
joints.hip = { type = "revolute", between = ["ground", "a"], position = [0, 0, 0], axis = [0, 1, 0] }
joints.knee = { type = "revolute", between = ["a", "b"], position = [1, 0, 0], axis = [0, 1, 0] }
"#;

/// With what is added one problem says this, on the line of `place`.
#[track_caller]
fn refused(more: &str, place: &str, message: &str) {
    let text = format!("{ARM_OF_TWO}{more}\n");
    let before = text.split(place).next().expect("a start");
    let line = before.matches('\n').count() + 1;
    let Err(problems) = read(&text) else {
        panic!("no problem found in `{more}`");
    };
    let found = problems
        .iter()
        .any(|problem| problems.locate(problem).line == line && problem.message.contains(message));
    assert!(found, "expected {line} `{message}`, found\n{problems}");
}

const CLOSING: &str = r#"joints.closing = { type = "point-on-plane", between = ["ground", "b"], position = [2, 0, 0], axis = [0, 0, 1] }"#;
const STAY: &str = r#"joints.stay = { type = "rod", between = ["ground", "b"], points = [[0, 0, 1], [1.5, 0, 0]] }"#;
const TIP: &str = r#"nodes.tip = { position = [2, 0, 0] }
joints.wrist = { type = "revolute", between = ["b", "tip"], position = [2, 0, 0], axis = [0, 1, 0] }"#;

#[test]
fn what_joint_coordinates_do_not_cover_is_refused_at_its_place() {
    refused(
        "cut = { at = [\"b\"] }",
        "coordinates",
        "`coordinates = \"joint\"` conflicts with `cut`",
    );
    refused(CLOSING, "joints.closing", "`closing` closes a loop");
    let rubs = "joints.wheel = { type = \"revolute\", between = [\"b\", \"c\"], axis = [0, 1, 0], friction = { coulomb = 0.2, stiffness = 1e3, radius = 0.05 } }\nnodes.c = { position = [2.5, 0, 0] }\nbodies.c = { node = \"c\", mass = 1, inertia = [0.1, 0.1, 0.1] }";
    refused(rubs, "joints.wheel", "`wheel`");
    refused(STAY, "joints.stay", "do not cover `stay`");
    refused(TIP, "joints.wrist", "`wrist` allows moves no mass");
    let point = format!("{TIP}\nbodies.tip = {{ node = \"tip\", mass = 1 }}");
    refused(&point, "joints.wrist", "`wrist` allows moves no mass");
    let rope = r#"nodes.c = { position = [2.5, 0, 0] }
bodies.c = { node = "c", mass = 1, inertia = [0.1, 0.1, 0.1] }
joints.wheel = { type = "revolute", between = ["b", "c"], axis = [0, 1, 0] }
sections.s = { rectangle = [0.02, 0.02], young = 2e11, density = 7800 }
beams.boom = { from = "b", to = [1.5, 0, 1], elements = 1, section = "s", up = [0, 1, 0] }"#;
    refused(rope, "beams.boom", "do not cover `boom");
}

/// Implicit integrators close the same loops, and take gears and joints with friction as constraints.
#[test]
fn implicit_integrators_take_constraints_on_top() {
    const SENSORS: &str =
        "sensors.hip = { coordinate = \"hip\" }\nsensors.knee = { coordinate = \"knee\" }\n";
    const GEAR: &str = "transmissions.gear = { joints = [\"hip\", \"knee\"], ratios = [1, 2] }";
    const RUBS: &str = "knee = { friction = { coulomb = 0.2, stiffness = 1e3, radius = 0.05 }, ";
    for (more, knee) in [
        (CLOSING, "knee = { "),
        (STAY, "knee = { "),
        (GEAR, "knee = { "),
        ("", RUBS),
    ] {
        let [ours, theirs] = ["joint", "absolute"].map(|coordinates| {
            let text = format!("{ARM_OF_TWO}{SENSORS}{more}\n")
                .replace("rk4", "lms2")
                .replace(
                    "coordinates = \"joint\"",
                    &format!("coordinates = \"{coordinates}\""),
                )
                .replace("joints.knee = { ", &format!("joints.{knee}"));
            let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
            coupled(&model)
        });
        let found = apart(&ours, &theirs);
        println!("{more}{knee}: {found:?}");
        assert!(found.0 < 1e-4, "{more}{knee}: {found:?}");
        let knee = ours.column("arm.sensors.knee");
        assert!(
            more != GEAR || knee.iter().any(|angle| angle.abs() > 1e-3),
            "it moves"
        );
    }
}
