//! Cuts of mechanisms in which elements follow what is measured.

use oldham_model::{Model, Overrides};

use crate::common::{History, coupled, example};

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
            "the sensor at `right`",
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
