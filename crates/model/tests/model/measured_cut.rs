//! Cuts of mechanisms in which elements follow what is measured.

use oldham_model::{Model, Overrides};

use crate::common::{History, coupled, example, read};

/// Of the right part, of the interface, and of nodes of both.
const FEEDBACK: &str = r#"
    [multibody.beam.springs]
    stay = { between = ["ground", "girder.22"], length = 22, stiffness = 2e3, damping = 10 }
    [multibody.beam.sensors]
    sag = { displacement = "girder.18", axis = [0, 0, 1] }
    speed = { velocity = "girder.18", axis = [0, 0, 1] }
    middle = { velocity = "girder.12", axis = [0, 0, 1] }
    hinge = { force = "right", axis = [0, 0, 1] }
    pull = { tension = "stay" }
    turn = { rate = "right" }
    [multibody.beam.loads]
    brake = { on = "girder.20", force = [0, 0, "-100 * sag - 20 * speed + 0.05 * hinge"] }
    mixed = { on = "girder.16", force = [0, 0, "-20 * middle"], moment = [0, "0.1 * pull - turn", 0] }
    drag = { on = "girder.12", force = [0, 0, "-20 * middle"] }
"#;

fn text(name: &str, more: &str) -> String {
    let outputs = "[multibody.beam.outputs]";
    example(name).replace(outputs, &format!("{more}\n{outputs}"))
}

fn with(text: &str, set: &[(&str, &str)]) -> Result<Model, String> {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    let parsed = Model::parse(text, "test.toml", &Overrides(set.collect()));
    parsed.map_err(|problems| problems.to_string())
}

/// The largest differences of the middle and of a node far from it.
fn difference(model: &Model) -> f64 {
    let whole = History::of(model, model.monolithic(None).expect("one piece"));
    let pieces = coupled(model);
    let columns = ["beam.middle.x", "beam.nodes.girder.18.pz"].map(|column| {
        let (a, b) = (pieces.column(column), whole.column(column));
        let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    });
    columns.into_iter().fold(0.0, f64::max)
}

/// Feedback inside of a piece leaves the order of the plain schemes as it is. Tangents do not know
/// of it: their single correction leaves an error that a second one takes away.
#[test]
fn the_pieces_follow_what_they_measure_as_the_whole_does() {
    let text = text("cut-beam", FEEDBACK);
    let at = |scheme: &str, more: &[(&str, &str)]| {
        ["1e-4", "5e-5"].map(|step| {
            let set = [
                ("multibody.beam.cut.scheme", scheme),
                ("simulation.step", step),
                ("simulation.duration", "0.1"),
                ("multibody.beam.tolerance", "1e-10"),
                ("D", "5e-4"),
            ];
            let model = with(&text, &[&set, more].concat());
            difference(&model.unwrap_or_else(|said| panic!("{said}")))
        })
    };
    for (scheme, expected) in [("interface-mass", 3.0), ("force-displacement", 2.0)] {
        let found = at(scheme, &[]);
        let order = (found[0] / found[1]).log2();
        assert!((order - expected).abs() < 0.5, "{scheme}: {found:?}");
    }
    // The tangent does not know of the feedback: parts iterate where one correction would leave
    // more than the tolerance.
    let twice = [("multibody.beam.cut.corrections", "2")];
    for more in [&twice[..0], &twice[..]] {
        let found = at("interface-tangent", more);
        assert!(found.iter().all(|&error| error < 1e-11), "{found:?}");
    }
}

/// The feedback of the test above is not negligible.
#[test]
fn feedback_moves_the_beam() {
    let middle = |more: &str| {
        let text = text("cut-beam", more);
        let model = with(&text, &[("simulation.duration", "0.1")]).unwrap();
        *coupled(&model).column("beam.middle.x").last().unwrap()
    };
    let [with, without] = [FEEDBACK, ""].map(middle);
    assert!((with - without).abs() > 1e-4, "{with} {without}");
}

const MEASURES: &str = r#"
    [multibody.beam.sensors]
    right = { displacement = "girder.18", axis = [0, 0, 1] }
    left = { displacement = "girder.6", axis = [0, 0, 1] }
    hinge = { force = "right", axis = [0, 0, 1] }
"#;

fn refusal(name: &str, load: &str, set: &[(&str, &str)]) -> Option<String> {
    let more = format!("{MEASURES}\n[multibody.beam.loads]\npush = {load}");
    with(&text(name, &more), set).err()
}

#[test]
fn feedback_across_a_cut_is_refused_with_the_nearest_cut_that_would_work() {
    let plain = [("multibody.beam.cut.scheme", "interface-mass")];
    let cases = [
        (
            r#"{ on = "girder.6", force = [0, 0, "-right"] }"#,
            "`push` depends on the sensor at `girder.18`, but the cut puts the one into the part of `girder.0` and the other into the part of `girder.24`",
            "a cut at `girder.18` instead would work",
        ),
        (
            r#"{ on = "girder.12", force = [0, 0, "-right"] }"#,
            "the one into the coupling at `girder.12` and the other into the part of `girder.24`",
            "a cut at `girder.10` instead would work",
        ),
        (
            r#"{ on = "girder.6", force = [0, 0, "-hinge"] }"#,
            "the sensor at `right`, but the cut puts the one into the part of `girder.0` and the other into the part of `girder.24` (sensor `hinge`)",
            "instead would work",
        ),
    ];
    for (load, message, help) in cases {
        let said = refusal("cut-beam", load, &plain).expect(load);
        assert!(said.contains(message), "{load}: {said}");
        assert!(said.contains(help), "{load}: {said}");
    }
}

/// What counts is where things are in the end: couplings may be one, or part of a part.
#[test]
fn the_scheme_decides_what_is_in_one_piece() {
    let schemes = ["interface-tangent", "interface-mass", "force-displacement"];
    let refused = |name: &str, load: &str| {
        schemes.map(|scheme| {
            let set = [("multibody.beam.cut.scheme", scheme)];
            refusal(name, load, &set).is_some()
        })
    };
    let of_the_first_part = r#"{ on = "girder.12", force = [0, 0, "-left"] }"#;
    assert_eq!(refused("cut-beam", of_the_first_part), [true, true, false]);
    let across_couplings = r#"{ on = "girder.16", force = [0, 0, "-next"] }
    [multibody.beam.sensors.next]
    displacement = "girder.8"
    axis = [0, 0, 1]"#;
    assert_eq!(
        refused("cut-beam-three", across_couplings),
        [false, true, false]
    );
}

/// Six axes with feedback by loads that read sensors, and a forearm that gives: kd h / J is up to 28. The cut arm ended
/// with "the system matrix is singular at `elbow`".
const ROBOT: &str = r#"
    [model]
    name = "Robot with feedback"
    [simulation]
    duration = 0.3
    step = 5e-4
    [multibody.bot]
    gravity = [0, 0, -9.81]
    nodes.column = { position = [0, 0, 0.4] }
    nodes.upper = { position = [0, 0, 0.9] }
    nodes.elbow = { position = [0, 0, 1.2] }
    nodes.wrist1 = { position = [0.8, 0, 1.2] }
    nodes.wrist2 = { position = [0.8, 0, 1.15] }
    nodes.hand = { position = [0.8, 0, 1.0] }
    bodies.column = { node = "column", mass = 20, shape = { box = [0.2, 0.2, 0.4] } }
    bodies.upper = { node = "upper", mass = 10, shape = { box = [0.12, 0.12, 0.6] } }
    bodies.elbow = { node = "elbow", mass = 3, shape = { box = [0.12, 0.12, 0.12] } }
    bodies.wrist1 = { node = "wrist1", mass = 0.5, shape = { box = [0.06, 0.06, 0.06] } }
    bodies.wrist2 = { node = "wrist2", mass = 0.5, shape = { box = [0.05, 0.05, 0.1] } }
    bodies.hand = { node = "hand", mass = 2, shape = { box = [0.2, 0.06, 0.04] } }
    bodies.tip = { node = "fore.8", mass = 0.5, shape = { box = [0.05, 0.05, 0.05] } }
    sections.arm = { tube = [0.025, 0.023], young = 7e10, density = 2700, damping = 1e-4 }
    beams.fore = { from = "elbow", to = [0.8, 0, 1.2], elements = 4, section = "arm", up = [0, 0, 1] }
    joints.yaw = { type = "revolute", between = ["ground", "column"], position = [0, 0, 0.2], axis = [0, 0, 1] }
    joints.shoulder = { type = "revolute", between = ["column", "upper"], position = [0, 0, 0.6], axis = [0, 1, 0] }
    joints.bend = { type = "revolute", between = ["upper", "elbow"], position = [0, 0, 1.2], axis = [0, 1, 0] }
    joints.roll = { type = "revolute", between = ["fore.8", "wrist1"], position = [0.8, 0, 1.2], axis = [1, 0, 0] }
    joints.pitch = { type = "revolute", between = ["wrist1", "wrist2"], position = [0.8, 0, 1.2], axis = [0, 1, 0] }
    joints.tool = { type = "revolute", between = ["wrist2", "hand"], position = [0.8, 0, 1.1], axis = [0, 0, 1] }
    sensors.yaw_q = { coordinate = "yaw" }
    sensors.yaw_w = { rate = "yaw" }
    sensors.shoulder_q = { coordinate = "shoulder" }
    sensors.shoulder_w = { rate = "shoulder" }
    sensors.bend_q = { coordinate = "bend" }
    sensors.bend_w = { rate = "bend" }
    sensors.roll_q = { coordinate = "roll" }
    sensors.roll_w = { rate = "roll" }
    sensors.pitch_q = { coordinate = "pitch" }
    sensors.pitch_w = { rate = "pitch" }
    sensors.tool_q = { coordinate = "tool" }
    sensors.tool_w = { rate = "tool" }
    loads.m1 = { on = "column", follower = true, moment = [0, 0, "-2e4 * yaw_q - 400 * yaw_w"] }
    loads.m2 = { on = "upper", reaction_on = "column", follower = true, moment = [0, "2e4 * (-0.5 * t - shoulder_q) - 800 * shoulder_w", 0] }
    loads.m3 = { on = "elbow", reaction_on = "upper", follower = true, moment = [0, "-2e4 * bend_q - 400 * bend_w", 0] }
    loads.m4 = { on = "wrist1", reaction_on = "fore.8", follower = true, moment = ["-500 * roll_q - 10 * roll_w", 0, 0] }
    loads.m5 = { on = "wrist2", reaction_on = "wrist1", follower = true, moment = [0, "500 * (0.5 * t - pitch_q) - 10 * pitch_w", 0] }
    loads.m6 = { on = "hand", reaction_on = "wrist2", follower = true, moment = [0, 0, "-200 * tool_q - 5 * tool_w"] }
    cut = { at = ["fore.8"], parts = { arm = "upper", hand = "hand" } }
"#;

#[test]
fn an_arm_with_feedback_runs_cut_as_it_does_whole() {
    let whole = {
        let model = read(ROBOT).unwrap_or_else(|problems| panic!("{problems}"));
        History::of(&model, model.monolithic(None).expect("one piece"))
    };
    for at in ["fore.8", "fore.4", "wrist1"] {
        let text = ROBOT.replace(r#"at = ["fore.8"]"#, &format!("at = [\"{at}\"]"));
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let parts = coupled(&model);
        for sensor in ["shoulder_q", "bend_q", "roll_q", "pitch_q", "tool_q"] {
            let name = format!("bot.sensors.{sensor}");
            let pairs = parts.column(&name).into_iter().zip(whole.column(&name));
            let apart = pairs.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(apart < 1e-7, "{at} {sensor}: {apart:e}");
        }
    }
    let moved = *whole.column("bot.sensors.shoulder_q").last().unwrap();
    assert!((moved + 0.15).abs() < 0.03, "{moved}");
}

/// A load in one part that reads a joint of the other: the message named the counter of its turns, and no way out.
#[test]
fn feedback_across_the_arm_names_the_sensor() {
    let text = ROBOT.replace(
        r#"loads.m6 = { on = "hand", reaction_on = "wrist2","#,
        r#"loads.m6 = { on = "upper","#,
    );
    let said = read(&text).expect_err("a refusal").to_string();
    assert!(
        said.contains("`m6` depends on the sensor at `tool`"),
        "{said}"
    );
    assert!(said.contains("(sensor `tool_q`)"), "{said}");
    assert!(said.contains("let an output send the sensor"), "{said}");
}
