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
/// the column; but for the imbalance of the energy, which is a small difference of large sums.
fn apart(ours: &History, theirs: &History) -> (f64, String) {
    let names: Vec<&str> = ours.names().collect();
    assert_eq!(names, theirs.names().collect::<Vec<_>>());
    let names = names.into_iter().filter(|name| *name != "energy.imbalance");
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

/// Names of the mechanisms of a file.
fn mechanisms(text: &str) -> Vec<&str> {
    let tables = text.lines().filter_map(|line| {
        let name = line.strip_prefix("[multibody.")?.strip_suffix(']')?;
        (!name.contains('.')).then_some(name)
    });
    tables.collect()
}

/// Mechanisms of the examples begin in joint coordinates, under their static loads too, or are refused when the file is read.
#[test]
fn every_example_begins_or_is_refused() {
    const STEPS: u64 = 20;
    let mut taken = Vec::new();
    for (name, text) in examples() {
        for mechanism in mechanisms(&text) {
            let key = format!("multibody.{mechanism}.coordinates");
            let set = Overrides(vec![(key, "joint".to_owned())]);
            let Ok(model) = Model::parse_with(&text, "test.toml", &set, shipped_kinds()) else {
                continue;
            };
            let mut simulation = model.simulation().expect("a simulation");
            let mut record = InMemory::default();
            let outcome = simulation.run(Run::new(STEPS.min(model.steps()), &mut record));
            assert!(outcome.end.is_ok(), "{name}: {:?}", outcome.end);
            taken.push(name.clone());
        }
    }
    for name in ["six-axis-arm", "humanoid", "four-bar", "excavator", "lorry"] {
        assert!(taken.iter().any(|it| it == name), "{name} among {taken:?}");
    }
}

#[test]
fn bits_are_the_same_on_any_number_of_threads_and_after_a_checkpoint() {
    for method in ["rk4", "lms2", "generalised-alpha", "impulses"] {
        let mut set = ARM.to_vec();
        set.push(("multibody.robot.integrator", method));
        let model = with(&example("six-axis-arm"), &set);
        assert_threads_keep_bits(&model);
        assert_checkpoint_keeps_bits(&model, &["robot"]);
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
    refused(rope, "[multibody.arm]", "do not cover `boom.element 0`");
}
