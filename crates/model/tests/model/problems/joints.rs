//! Mistakes in sensors, ports, joints and force elements of mechanisms.

use super::problems;
use crate::common::read;

const GOOD: &str = r#"[model]
name = "Arm"
[simulation]
duration = 1.0
step = 1e-2
[multibody.arm]
nodes.a = { position = [0, 0, 0] }
nodes.b = { position = [1, 0, 0] }
nodes.c = { position = [2, 0, 0] }
bodies.a = { node = "a", mass = 2, inertia = [0.1, 0.2, 0.2] }
bodies.b = { node = "b", mass = 2, inertia = [0.1, 0.2, 0.2] }
bodies.c = { node = "c", mass = 2, inertia = [0.1, 0.2, 0.2] }
joints.hinge = { type = "revolute", between = ["ground", "a"] }
joints.rail = { type = "prismatic", between = ["a", "b"] }
sections.s = { rectangle = [0.02, 0.02], young = 2e11, density = 7800 }
beams.boom = { from = "c", to = [3, 0, 1], elements = 2, section = "s", up = [0, 1, 0] }
springs.spring = { between = ["ground", "b"], stiffness = 100 }
sensors.angle = { coordinate = "hinge" }
sensors.acc = { acceleration = "b", axis = [1, 0, 0] }
sensors.gap = { distance = ["a", "b"] }
sensors.bend = { beam = "boom", at = [0.5], load = "bending-y" }
motors.motor = { joint = "hinge", characteristic = [[0, 5], [10, 0]] }
actuators.jack = { between = ["ground", "b"] }
cables.rope = { through = ["a", "ground", "c"], points = [[0, 0, 0], [1, 0, 1], [2, 0, 0]], stiffness = 100 }
loads.push = { on = "b", force = ["-angle", 0, 0] }
inputs.shaft = { torque = "hinge" }
outputs.turn = { rotation = "hinge" }
outputs.gap = { sensor = "gap" }
[excitation]
"arm.shaft" = 0.0
# again
"#;

/// One replacement makes one problem, where `«` stands.
#[track_caller]
fn check(instead_of: &str, write: &str, message: &str, help: &str) {
    assert_eq!(GOOD.matches(instead_of).count(), 1, "{instead_of}");
    let marked = GOOD.replace(instead_of, write);
    let before = marked.split('«').next().expect("a start");
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    let feed = match write.contains("inputs.again") {
        true => "\"arm.again\" = { x = 0, v = 0, a = 0 }",
        false => "",
    };
    let problems = problems(&marked.replace('«', "").replace("# again", feed));
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
fn a_name_in_two_tables_is_told_with_both_places() {
    check(
        "loads.push",
        "loads.«hinge",
        "two elements of this subsystem are called `hinge`",
        "the other one is in line 13 of test.toml; joints, springs, loads and all other elements share their names",
    );
}

#[test]
fn sensors() {
    check(
        r#"distance = ["a", "b"]"#,
        r#"distance = ["a", «"bb"]"#,
        "there is no node `bb`",
        "did you mean",
    );
    check(
        r#"coordinate = "hinge""#,
        r#"coordinate = «"hinges""#,
        "there is no joint `hinges`",
        "did you mean `hinge`?",
    );
    check(
        r#"sensor = "gap""#,
        r#"sensor = «"gab""#,
        "there is no sensor `gab`",
        "did you mean `gap`?",
    );
    check(
        r#"force = ["-angle", 0, 0]"#,
        r#"force = [«"-acc", 0, 0]"#,
        "`acc` measures an acceleration",
        "send it by an output",
    );
    check(
        r#"beam = "boom""#,
        r#"beam = «"bom""#,
        "there is no beam `bom`",
        "did you mean `boom`?",
    );
    check(
        "at = [0.5]",
        "at = «[1.5]",
        "places are from 0 to 1",
        "half way along the beam",
    );
    check(
        r#"load = "bending-y""#,
        r#"load = «"n11""#,
        "no section of a beam feels this",
        "a beam has `axial`",
    );
    check(
        r#"distance = ["a", "b"]"#,
        r#"distance = ["a", "b"], axis = «[1, 0, 0]"#,
        "`axis` has no meaning for what this sensor measures",
        "",
    );
    check(
        r#"sensors.gap = { distance = ["a", "b"] }"#,
        r#"sensors.gap = «{ distance = ["a", "b"], rate = "hinge" }"#,
        "`gap` measures 2 things",
        "one of `displacement`",
    );
    check(
        r#"acceleration = "b", axis = [1, 0, 0]"#,
        r#"tension = «"rail""#,
        "`rail` is not a spring along a line",
        "`force` and `moment`",
    );
}

/// What has no kind, or one that is not known, is looked at all the same.
#[test]
fn tables_without_a_kind() {
    let last = "outputs.gap = { sensor = \"gap\" }\n";
    let with = |line: &str| GOOD.replace(last, &format!("{last}{line}\n"));
    let told = |line: &str| {
        let problems = read(&with(line)).expect_err("a broken model");
        let each = problems.iter().map(|problem| {
            let help = problem.help.as_deref().unwrap_or_default();
            format!("{} / {help}", problem.message)
        });
        each.collect::<Vec<_>>()
    };
    let lost = told(r#"joints.lost = { between = ["ground", "c"], radios = 1 }"#);
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(
        lost[0].contains("`type` is missing from") && lost[0].contains("\"fixed\", \"revolute\"")
    );
    assert!(lost[1].contains("unknown key `radios`") && lost[1].contains("did you mean `radius`?"));
    let odd = told(r#"joints.odd = { type = "sphericl", between = ["ground", "c"], lenght = 1 }"#);
    assert_eq!(odd.len(), 2, "{odd:?}");
    assert!(
        odd[0].contains("cannot be `sphericl`") && odd[0].contains("did you mean `spherical`?")
    );
    assert!(odd[1].contains("did you mean `length`?"));
    let none = told(r#"sensors.none = { axis = [1, 0, 0] }"#);
    assert_eq!(none.len(), 1, "{none:?}");
    assert!(none[0].contains("`none` measures 0 things") && none[0].contains("`shell`"));
    // Something else is wrong besides.
    let both = told(r#"joints.b = { type = "spherical", between = ["ground", "cc"], radius = 1 }"#);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(
        both[0].contains("no node `cc`") && both[1].contains("no meaning for this type of joint")
    );
}

#[test]
fn prescribed_motions_and_stops() {
    let hinge = r#"between = ["ground", "a"] }"#;
    check(
        hinge,
        r#"between = ["ground", "a"], angle = 0.1, angle_rate = «"t" }"#,
        "`angle` prescribes the motion already",
        "keep one of `angle` and `angle_rate`",
    );
    check(
        hinge,
        r#"between = ["ground", "a"], angle_stops = «{ lower = 1, upper = -1, stiffness = 10 } }"#,
        "the lower stop must be below the upper one",
        "exchange `lower` and `upper`",
    );
    check(
        hinge,
        r#"between = ["ground", "a"], angle_stops = «{ stiffness = 10 } }"#,
        "the stops are nowhere",
        "give `lower`, `upper` or both",
    );
    check(
        hinge,
        r#"between = ["ground", "a"], angle_rate = 1, angle_stops = «{ upper = 1, stiffness = 10 } }"#,
        "the angle is prescribed: stops have nothing to act on",
        "",
    );
    check(
        hinge,
        r#"between = ["ground", "a"], slide = «1 }"#,
        "`slide` has no meaning for this type of joint",
        "",
    );
    check(
        r#"between = ["a", "b"] }
sections"#,
        r#"between = ["a", "b"], slide = 0.1, friction = «{ coulomb = 0.1, stiffness = 100 } }
sections"#,
        "the slide is prescribed: friction has nothing to act on",
        "",
    );
}

#[test]
fn ports() {
    check(
        r#"torque = "hinge""#,
        r#"torque = «"rail""#,
        "the joint `rail` does not turn about an axis",
        "`revolute` and `cylindrical` joints do",
    );
    check(
        r#"rotation = "hinge""#,
        r#"sliding = «"hinge""#,
        "the joint `hinge` does not slide along an axis",
        "`prismatic`",
    );
    let twice = r#"inputs.shaft = { torque = "hinge" }
joints.other = { type = "revolute", between = ["ground", "c"], angle = 0 }
inputs.again = { rotation = «"other" }"#;
    check(
        r#"inputs.shaft = { torque = "hinge" }"#,
        twice,
        "the angle of `other` is prescribed already",
        "receive a `torque` instead",
    );
}

#[test]
fn force_elements() {
    check(
        "characteristic = [[0, 5], [10, 0]]",
        "characteristic = [[10, 5], «[0, 0]]",
        "the first numbers of the pairs must rise",
        "",
    );
    check(
        "stiffness = 100 }\nsensors",
        "map = { d = [0, «0], v = [0, 1], force = [[0, 0], [1, 1]] } }\nsensors",
        "the numbers must rise",
        "",
    );
    check(
        "stiffness = 100 }\nsensors",
        "map = { d = [0, 1], v = [0, 1], force = [[0, 0], «[1]] } }\nsensors",
        "each list needs a force for each rate in `v`",
        "",
    );
    check(
        "stiffness = 100 }\nsensors",
        "stiffness = 100, acts = \"in-tension\", maxwell = «[[10, 1]] }\nsensors",
        "a spring that remembers acts both ways",
        "leave one of the two out",
    );
    check(
        r#"through = ["a", "ground", "c"], points = [[0, 0, 0], [1, 0, 1], [2, 0, 0]]"#,
        r#"through = «["a"]"#,
        "a cable runs through 2 to 8 points",
        "join several cables",
    );
    check(
        "points = [[0, 0, 0], [1, 0, 1], [2, 0, 0]]",
        "points = «[[0, 0, 0], [1, 0, 1]]",
        "a cable needs a point on each node",
        "",
    );
    check(
        r#"joint = "hinge", char"#,
        r#"joint = «"hing", char"#,
        "there is no joint `hing`",
        "did you mean `hinge`?",
    );
}

#[test]
fn curves_links_and_matrices() {
    let more = |line: &str| format!("outputs.gap = {{ sensor = \"gap\" }}\n{line}");
    let last = "outputs.gap = { sensor = \"gap\" }\n";
    check(
        last,
        &more("joints.cam = { type = «\"point-on-curve\", between = [\"a\", \"c\"] }\n"),
        "a point on a curve needs the `curve`",
        "such as curve",
    );
    check(
        last,
        &more(
            "joints.cam = { type = \"point-on-curve\", between = [\"a\", \"c\"], curve = «[\"s\"] }\n",
        ),
        "two expressions of `s` are needed, not 1",
        "",
    );
    check(
        last,
        &more("rigid_links.link = { master = \"c\", nodes = [«\"c\"] }\n"),
        "the master node cannot follow itself",
        "",
    );
    check(
        last,
        &more("bushings.b = { between = [\"a\", \"c\"], stiffness_matrix = «[[1, 2]] }\n"),
        "six rows are needed, not 1",
        "",
    );
    check(
        last,
        &more(
            "bushings.b = { between = [\"a\", \"c\"], stiffness_matrix = [[1, 0, 0, 0, 0, 0], «[2, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]] }\n",
        ),
        "the matrix must be symmetric",
        "",
    );
    check(
        last,
        &more(
            "transmissions.t = { joints = [\"hinge\", \"rail\"], ratios = [1, -1], backlash = «0.1 }\n",
        ),
        "a rigid transmission does not give",
        "give its `stiffness`",
    );
}

#[test]
fn wheels_pulleys_and_play() {
    let more = |line: &str| format!("outputs.gap = {{ sensor = \"gap\" }}\n{line}");
    let last = "outputs.gap = { sensor = \"gap\" }\n";
    check(
        last,
        &more(
            "joints.w = { type = \"rolling\", between = «[\"ground\", \"c\"], axis = [0, 1, 0] }\n",
        ),
        "a wheel needs its `radius`",
        "the axle as `axis`",
    );
    check(
        last,
        &more("joints.w = { type = \"rolling\", between = «[\"ground\", \"c\"], radius = 0.3 }\n"),
        "the axle is normal to the plane",
        "`normal`",
    );
    check(
        last,
        &more(
            "joints.w = { type = \"spherical\", between = [\"ground\", \"c\"], radius = «0.3 }\n",
        ),
        "`radius` has no meaning for this type of joint",
        "",
    );
    let rope = "stiffness = 100 }\nsensors";
    let with = |keys: &str| format!("stiffness = 100 }}\n{keys}\nsensors");
    let cable = |keys: &str| {
        with(&format!(
            "cables.other = {{ through = [\"a\", \"ground\", \"c\"], points = [[0, 0, 0], [1, 0, 1], [2, 0, 0]], axis = [0, 1, 0], stiffness = 1, {keys} }}"
        ))
    };
    check(
        rope,
        &cable("radii = «[0.1, 0.1]"),
        "a number is needed for each point between the ends of the cable",
        "leave out the two ends",
    );
    check(
        rope,
        &cable("friction = «[-0.1]"),
        "friction must not be negative",
        "give 0 where it runs freely",
    );
    check(
        rope,
        &cable("radii = «[5]"),
        "two pulleys are inside one another, or an end in a pulley",
        "set them further apart",
    );
    check(
        last,
        &more("clearances.p = { between = [\"a\", \"c\"], gap = «0, stiffness = 1e5 }\n"),
        "must be positive",
        "",
    );
}
