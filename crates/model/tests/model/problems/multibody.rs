//! Mistakes in mechanisms.

use super::problems;
use crate::common::read;

const GOOD: &str = r#"[model]
name = "Arm"

[parameters]
l = 0.5

[simulation]
duration = 1.0
step = 1e-2

[multibody.arm]
gravity = [0, 0, -9.81]

[multibody.arm.frames]
base = { position = [0, 0, 1] }
tool = { in = "base", orientation = { axis = [0, 0, 1], angle = 0.3 } }

[multibody.arm.nodes]
upper = { in = "base", position = ["l", 0, 0] }
lower = { in = "base", position = ["3 * l", 0, 0] }

[multibody.arm.bodies]
upper = { node = "upper", mass = 2, inertia = [0.1, 0.2, 0.2] }
lower = { node = "lower", density = 800, shape = { box = [1, 0.1, 0.1] } }

[multibody.arm.joints]
shoulder = { type = "revolute", between = ["ground", "upper"], position = [0, 0, 1], axis = [0, 1, 0] }
elbow = { type = "spherical", between = ["upper", "lower"], position = [1, 0, 1] }

[multibody.arm.springs]
cable = { between = ["ground", "lower"], stiffness = 100 }

[multibody.arm.sections]
steel = { rectangle = [0.02, 0.02], young = 2e11, density = 7800 }

[multibody.arm.beams]
boom = { from = "lower", to = [3, 0, 1], elements = 2, section = "steel", up = [0, 0, 1] }

[multibody.arm.shells]
sail = { rectangle = [[0, 0, 5], [1, 0, 0], [0, 1, 0]], elements = [2, 2], thickness = 0.01, young = 1e9, density = 1000, clamp = ["u0"] }

[multibody.arm.sensors]
bend = { coordinate = "shoulder" }
pull = { force = "elbow", axis = [0, 0, 1] }

[multibody.arm.loads]
hold = { on = "upper", reaction_on = "lower", follower = true, moment = [0, "-3 * bend - 0.1 * pull", 0] }
push = { on = "lower", force = [0, 0, { ramp = [0, 1, 0, 5] }] }

[multibody.arm.outputs]
tip = { motion = "boom.4" }
elbow = { reaction = "elbow" }
height = { displacement = "lower", axis = [0, 0, 1] }
"#;

/// One replacement makes one problem, where `«` stands.
#[track_caller]
fn check(instead_of: &str, write: &str, message: &str, help: &str) {
    assert_eq!(GOOD.matches(instead_of).count(), 1, "{instead_of}");
    let marked = GOOD.replace(instead_of, write);
    let before = marked.split('«').next().expect("a start");
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    let problems = problems(&marked.replace('«', ""));
    let found = problems.iter().any(|problem| {
        let place = problems.locate(problem);
        let helped = problem.help.as_deref().unwrap_or_default().contains(help);
        (place.line, place.column) == (line, column) && problem.message.contains(message) && helped
    });
    assert!(
        found && problems.iter().len() == 1,
        "expected {line}:{column} `{message}` / `{help}`, found\n{problems}"
    );
}

#[test]
fn the_good_mechanism_is_good() {
    if let Err(problems) = read(GOOD) {
        panic!("{problems}");
    }
}

#[test]
fn names() {
    check(
        "node = \"upper\"",
        "node = «\"uper\"",
        "there is no node `uper`",
        "did you mean `upper`?",
    );
    check(
        "node = \"upper\"",
        "node = «\"ground\"",
        "the ground does not move",
        "",
    );
    check(
        "motion = \"boom.4\"",
        "motion = «\"boom.5\"",
        "there is no node `boom.5`",
        "did you mean `boom",
    );
    check(
        "in = \"base\", orientation",
        "in = «\"bse\", orientation",
        "there is no frame `bse`",
        "did you mean `base`?",
    );
    check(
        "section = \"steel\"",
        "section = «\"stel\"",
        "there is no section `stel`",
        "did you mean `steel`?",
    );
    check(
        "reaction = \"elbow\"",
        "reaction = «\"elbw\"",
        "no element `elbw`",
        "did you mean `elbow`?",
    );
    check(
        "cable = {",
        "«elbow = {",
        "two elements of this subsystem are called `elbow`",
        "",
    );
    check(
        "type = \"spherical\"",
        "type = «\"sperical\"",
        "cannot be `sperical`",
        "did you mean `spherical`?",
    );
    check(
        "[\"upper\", \"lower\"]",
        "«[\"upper\", \"upper\"]",
        "two different nodes",
        "",
    );
    check(
        "[\"upper\", \"lower\"]",
        "«[\"upper\"]",
        "two nodes are needed, not 1",
        "",
    );
}

#[test]
fn frames_in_a_circle() {
    check(
        "base = { position",
        "«base = { in = \"tool\", position",
        "the frame `base` is given in itself",
        "",
    );
}

#[test]
fn vectors_and_numbers() {
    check(
        "gravity = [0, 0, -9.81]",
        "gravity = «[0, -9.81]",
        "3 numbers are needed",
        "",
    );
    check(
        "axis = [0, 1, 0]",
        "axis = «[0, 0, 0]",
        "a direction must have a length",
        "",
    );
    check(
        "{ axis = [0, 0, 1], angle",
        "«{ angle",
        "an axis needs an angle",
        "",
    );
    check(
        "{ axis = [0, 0, 1], angle = 0.3",
        "«{ axis = [0, 0, 1], angle = 0.3, euler = [0, 0, 0]",
        "given in 2 ways",
        "`euler`",
    );
    check(
        "mass = 2,",
        "mass = «0,",
        "must be positive: it is a mass",
        "",
    );
    check(
        "mass = 2, inertia = [0.1, 0.2, 0.2]",
        "mass = 2, inertia = «[0.1, 0.2, 0.5]",
        "no body has such an inertia",
        "",
    );
    check(
        "upper = { node = \"upper\", mass = 2, ",
        "upper = «{ node = \"upper\", ",
        "the body `upper` has no mass",
        "give `mass`",
    );
    check(
        "box = [1, 0.1, 0.1]",
        "box = [1, «-0.1, 0.1]",
        "must be positive",
        "",
    );
    check(
        "density = 800",
        "mass = 1, density = «800",
        "say the same thing",
        "",
    );
    check(
        "ramp = [0, 1, 0, 5]",
        "ramp = «[1, 1, 0, 5]",
        "the end must be later",
        "",
    );
    check(
        "{ ramp = [0, 1, 0, 5] }",
        "{ input = «\"f\" }",
        "no scalar input `f`",
        "scalar",
    );
    check(
        "{ between = [\"ground\", \"lower\"], stiffness = 100",
        "«{ between = [\"ground\", \"lower\"]",
        "has no stiffness or damping",
        "`stiffness`",
    );
    check(
        "elements = 2,",
        "elements = «20000,",
        "at most 10000 elements",
        "",
    );
    check(
        "up = [0, 0, 1]",
        "up = «[1, 0, 0]",
        "`up` points along the beam",
        "",
    );
    check(
        "to = [3, 0, 1]",
        "to = «[1.5, 0, 1]",
        "the beam has no length",
        "",
    );
    check(
        "{ rectangle = [0.02, 0.02], young = 2e11, ",
        "«{ rectangle = [0.02, 0.02], ",
        "a profile needs a material",
        "`young`",
    );
    check(
        "height = { displacement = \"lower\", axis = [0, 0, 1] }",
        "height = «{ displacement = \"lower\" }",
        "needs the `axis`",
        "axis = [1, 0, 0]",
    );
}

/// What the equations tell.
#[test]
fn mechanics() {
    check(
        "[multibody.arm.nodes]",
        "[multibody.arm.nodes]\n«lost = { }",
        "the node `lost` has no mass and nothing holds it",
        "give it a body",
    );
    check(
        "inertia = [0.1, 0.2, 0.2] }\nlower = { node = \"lower\", density = 800, shape = { box = [1, 0.1, 0.1] } }",
        "inertia = [0.1, 0.2, 0.2] }\nlower = { node = \"lower\", mass = 1 }\n[multibody.arm.nodes.«ball]\n[multibody.arm.bodies.ball]\nnode = \"ball\"\nmass = 1",
        "nothing resists some motion of `ball`",
        "inertia",
    );
    check(
        "elbow = { type = \"spherical\"",
        "«again = { type = \"point-on-line\", between = [\"ground\", \"upper\"], position = [0, 0, 1], axis = [0, 1, 0] }\nelbow = { type = \"spherical\"",
        "redundant or contradict each other: `shoulder`, `again`",
        "",
    );
}

#[test]
fn measures_and_laws() {
    check(
        "coordinate = \"shoulder\"",
        "coordinate = «\"sholder\"",
        "there is no joint `sholder`",
        "did you mean `shoulder`?",
    );
    check(
        "coordinate = \"shoulder\"",
        "coordinate = «\"elbow\"",
        "no single coordinate",
        "`revolute`",
    );
    check(
        "force = \"elbow\", axis = [0, 0, 1] }",
        "tension = «\"elbow\" }",
        "is not a spring",
        "",
    );
    check(
        "bend = { coordinate = \"shoulder\" }",
        "bend = «{ coordinate = \"shoulder\", rate = \"shoulder\" }",
        "measures 2 things",
        "one of",
    );
    check(
        "bend = { coordinate = \"shoulder\" }",
        "bend = «{ velocity = \"upper\" }",
        "needs the `axis`",
        "",
    );
    check(
        "\"-3 * bend - 0.1 * pull\"",
        "\"-3 * «bnd - 0.1 * pull\"",
        "bnd",
        "",
    );
    check(
        "stiffness = 100 }",
        "force = \"100 * d\", stiffness = «100 }",
        "`force` says it already",
        "elongation",
    );
    check("stiffness = 100 }", "force = \"100 * «x\" }", "x", "");
}

#[test]
fn rates_of_total_joints() {
    let elbow =
        "elbow = { type = \"spherical\", between = [\"upper\", \"lower\"], position = [1, 0, 1] }";
    let total = |more: &str| {
        format!(
            "elbow = {{ type = \"total\", between = [\"upper\", \"lower\"], displacement = [\"locked\", \"locked\", \"free\"], {more} }}"
        )
    };
    check(
        elbow,
        &total("displacement_rate = [0, 0, «0]"),
        "the rate of a free component",
        "\"free\"",
    );
    check(
        elbow,
        &total("displacement_rate = «[0, 0]"),
        "three components",
        "",
    );
    check(
        "position = [1, 0, 1] }",
        "position = [1, 0, 1], rotation_rate = «[0, 0, 0] }",
        "`rotation_rate` has no meaning",
        "",
    );
}
