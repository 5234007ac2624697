//! Contacts that cannot be: each is refused with place and remedy, ends the run with the names of who it was, or runs right. Never NaN.

use crate::common::{coupled, read, stopped_by};

const SCENE: &str = r#"
[model]
name = "Scene"

[simulation]
step = 1e-3
duration = 0.2

[multibody.scene]
integrator = "impulses"
gravity = [0, 0, -9.81]

[multibody.scene.contact]
friction = 0.5
bodies = ["crate"]

[multibody.scene.nodes]
crate = { position = [0, 0, 0.1] }

[multibody.scene.bodies]
crate = { node = "crate", mass = 2, shape = { box = [0.2, 0.2, 0.2] } }

[multibody.scene.shapes]
floor = { node = "ground", plane = [0, 0, 1] }
"#;

/// The scene with something else in place of some text, once each.
fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(SCENE.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    })
}

/// The scene with a joint of the crate.
fn guided(joint: &str, changes: &[(&str, &str)]) -> String {
    format!(
        "{}\n[multibody.scene.joints]\nguide = {{ type = \"prismatic\", between = [\"ground\", \"crate\"], {joint} }}\n",
        changed(changes)
    )
}

/// What is written instead of what (`«` stands where the problem is reported), the message and the remedy, which may be part of the message.
const REFUSED: [[&str; 4]; 15] = [
    [
        "friction = 0.5",
        "friction = «-0.5",
        "must not be negative",
        "give 0 or a number above",
    ],
    [
        "plane = [0, 0, 1]",
        "plane = [0, 0, 1], friction = «-0.1",
        "must not be negative",
        "give 0 or a number above",
    ],
    [
        "friction = 0.5",
        "friction = 0.5\nrolling = «-1e-3",
        "must not be negative",
        "give 0 or a number above",
    ],
    [
        "friction = 0.5",
        "friction = «nan",
        "a finite number is needed",
        "",
    ],
    [
        "friction = 0.5",
        "friction = 0.5\nrestitution = «1.2",
        "must lie between 0 and 1",
        "with 1 no energy is lost",
    ],
    [
        "plane = [0, 0, 1]",
        "plane = [0, 0, 1], restitution = «-0.2",
        "must lie between 0 and 1",
        "with 0 nothing rebounds",
    ],
    [
        "mass = 2",
        "mass = «0",
        "must be positive: it is a mass",
        "give it a small mass",
    ],
    [
        "mass = 2",
        "mass = «-2",
        "must be positive: it is a mass",
        "give it a small mass",
    ],
    [
        "mass = 2",
        "density = «0",
        "must be positive",
        "give a number above 0",
    ],
    [
        "crate = { position",
        "«crate = { position",
        "the shapes of `crate` need mass and inertia",
        "give it a body",
    ],
    [
        "position = [0, 0, 0.1]",
        "position = [0, 0, -0.9]",
        "`crate` and the ground overlap by 1.000e0 m at the start",
        "move them apart, or let `overlap = \"resolve\"` do it",
    ],
    [
        "box = [0.2, 0.2, 0.2]",
        "mesh = «[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]",
        "the points lie in one plane",
        "at least four that do not",
    ],
    [
        "box = [0.2, 0.2, 0.2]",
        "box = [0.2, 0.2, «-0.2]",
        "must be positive",
        "give a number above 0",
    ],
    [
        "plane = [0, 0, 1]",
        "plane = «[0, 0, 0]",
        "a direction must have a length",
        "",
    ],
    [
        "plane = [0, 0, 1]",
        "plane = [0, 0, 1], stiffness = «-10",
        "must be positive",
        "give a number above 0",
    ],
];

#[test]
fn numbers_that_no_contact_has_are_refused_with_place_and_remedy() {
    for [instead_of, write, message, remedy] in REFUSED {
        let mut marked = changed(&[(instead_of, write)]);
        if message.contains("mass and inertia") {
            marked = marked.replace("mass = 2", "mass = 1e-300");
        }
        // The header of the section stands for what lies within it.
        let place = marked.find('«').unwrap_or_else(|| {
            let header = marked.find("[multibody.scene.contact]");
            header.expect("a section of contacts")
        });
        let problems = read(&marked.replace('«', "")).expect_err("a broken scene");
        let found = problems.iter().any(|problem| {
            let line = marked[..place].matches('\n').count() + 1;
            let said = format!(
                "{} {}",
                problem.message,
                problem.help.as_deref().unwrap_or_default()
            );
            problems.locate(problem).line == line && said.contains(message) && said.contains(remedy)
        });
        assert!(found, "{write}: {message} / {remedy}:\n{problems}");
    }
}

/// Joints that hold a body where it overlaps, and guides that exclude each other.
#[test]
fn guides_that_leave_no_way_are_refused_before_the_run() {
    let deep = [
        ("position = [0, 0, 0.1]", "position = [0, 0, -0.9]"),
        ("friction = 0.5", "friction = 0.5\noverlap = \"resolve\""),
    ];
    let level = read(&guided("axis = [1, 0, 0]", &deep)).expect_err("a level guide");
    let said = level.to_string();
    assert!(
        said.contains("`crate` and the ground overlap by 1.000e0 m"),
        "{said}"
    );
    assert!(said.contains("place them apart"), "{said}");
    let crossed = guided("axis = [0, 0, 1]", &[])
        + "other = { type = \"prismatic\", between = [\"ground\", \"crate\"], axis = [1, 0, 0] }\n";
    let said = read(&crossed).expect_err("two guides").to_string();
    assert!(
        said.contains("redundant or contradict each other: `guide`, `other`"),
        "{said}"
    );
    assert!(said.contains("free some of their directions"), "{said}");
}

/// A drive that presses a body into the ground, straight down, at an angle, or along the ground into a ramp: no impulse helps, and the run ends
/// with both names as soon as they are deep in each other.
#[test]
fn driven_guides_without_room_end_the_run_with_names() {
    let ramp = (
        "floor =",
        "ramp = { node = \"ground\", plane = [-0.6, 0, 0.8], position = [0.3, 0, 0] }\nfloor =",
    );
    let cases = [
        guided("axis = [0, 0, 1], slide = \"-t\"", &[]),
        guided("axis = [0.6, 0, 0.8], slide = \"-t\"", &[]),
        guided("axis = [1, 0, 0], slide = \"2*t\"", &[ramp]),
    ];
    for text in cases {
        let message = stopped_by(&text).expect("there is no solution");
        assert!(
            message.contains("`crate` and the ground are") && message.contains("no room"),
            "{message}"
        );
    }
}

/// The last entry of a column.
fn last(text: &str, column: &str) -> f64 {
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    *coupled(&model).column(column).last().unwrap()
}

/// Scenes that look wrong and are right.
#[test]
fn wedges_stops_and_deep_starts_run_right() {
    // On a guide into a ramp: a plastic stop, all of m v²/2 = 4 J is gone.
    let fast = (
        "position = [0, 0, 0.1]",
        "position = [0, 0, 0.1], velocity = [2, 0, 0]",
    );
    let ramp = (
        "floor =",
        "ramp = { node = \"ground\", plane = [-0.6, 0, 0.8], position = [0.3, 0, 0] }\nfloor =",
    );
    let text = guided("axis = [1, 0, 0]", &[fast, ramp]);
    let lost = last(&text, "energy.dissipated");
    assert!((lost - 4.0).abs() < 1e-9, "{lost}");
    // The front edge is where the ramp begins.
    let way = last(&text, "scene.nodes.crate.px");
    assert!((way - 0.2).abs() < 1e-6, "{way}");

    // In a groove, below and beyond the angle of friction: it rests, and both walls carry the weight.
    for friction in ["friction = 0", "friction = 0.1", "friction = 2"] {
        let text = changed(&[
            ("friction = 0.5", friction),
            (
                "position = [0, 0, 0.1]",
                "position = [0, 0, 0.23333333333333334]",
            ),
            (
                "floor = { node = \"ground\", plane = [0, 0, 1] }",
                "left = { node = \"ground\", plane = [0.8, 0, 0.6] }\nright = { node = \"ground\", plane = [-0.8, 0, 0.6] }",
            ),
        ]);
        let height = last(&text, "scene.nodes.crate.pz");
        assert!((height - 0.7 / 3.0).abs() < 1e-7, "{friction}: {height}");
        let carried = last(&text, "scene.contacts.crate.fz");
        assert!((carried - 19.62).abs() < 1e-4, "{friction}: {carried}");
    }

    // A metre deep: free or on an upright guide it is put onto the floor, and stays there.
    let deep = [
        ("position = [0, 0, 0.1]", "position = [0, 0, -0.9]"),
        ("friction = 0.5", "friction = 0.5\noverlap = \"resolve\""),
    ];
    for text in [changed(&deep), guided("axis = [0, 0, 1]", &deep)] {
        let height = last(&text, "scene.nodes.crate.pz");
        assert!((height - 0.1).abs() < 1e-6, "{height}");
    }
}

/// Two solids in the same place are put beside each other, apart by their size, along some axis; their common centre stays.
#[test]
fn solids_in_one_place_are_put_apart() {
    for shape in ["box = [2, 2, 2]", "sphere = 1"] {
        let body = |name: &str| {
            format!("{name} = {{ node = \"{name}\", mass = 2, shape = {{ {shape} }} }}")
        };
        let text = changed(&[
            (
                "crate = { position = [0, 0, 0.1] }",
                "crate = { position = [0, 0, 9] }\nother = { position = [0, 0, 9] }",
            ),
            (
                "crate = { node = \"crate\", mass = 2, shape = { box = [0.2, 0.2, 0.2] } }",
                &format!("{}\n{}", body("crate"), body("other")),
            ),
            (
                "bodies = [\"crate\"]",
                "bodies = [\"crate\", \"other\"]\noverlap = \"resolve\"",
            ),
        ]);
        let run = coupled(&read(&text).unwrap());
        let at = |name: &str| {
            ["px", "py", "pz"].map(|axis| run.column(&format!("scene.nodes.{name}.{axis}"))[0])
        };
        let (one, other) = (at("crate"), at("other"));
        let apart: f64 = (0..3).map(|k| (one[k] - other[k]).powi(2)).sum();
        assert!((apart.sqrt() - 2.0).abs() < 1e-5, "{shape}: {apart}");
        let middle = [0, 1, 2].map(|k| 0.5 * (one[k] + other[k]));
        assert!(middle[0].hypot(middle[1]) < 1e-9 && (middle[2] - 9.0).abs() < 1e-9);
    }
}

/// A mesh is the hull of its points: their order, which tells some formats what is inside, means nothing, and no face can be missing. A body that
/// lacks a corner is the smaller hull.
#[test]
fn meshes_are_never_open_or_inside_out() {
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2 & 1].map(|bit| 0.2 * bit as f64 - 0.1);
    let mesh = |order: &[usize]| {
        let points: Vec<[f64; 3]> = order.iter().map(|&k| corner(k)).collect();
        changed(&[(
            "mass = 2, shape = { box = [0.2, 0.2, 0.2] }",
            &format!("density = 250, shape = {{ mesh = {points:?} }}"),
        )])
    };
    let forward = [0, 1, 2, 3, 4, 5, 6, 7];
    let backward = [7, 6, 5, 4, 3, 2, 1, 0];
    let twice = [0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0];
    for order in [&forward[..], &backward, &twice] {
        let carried = last(&mesh(order), "scene.contacts.crate.fz");
        assert!((carried - 19.62).abs() < 1e-6, "{order:?}: {carried}");
    }
    // A corner of a cube is a sixth of it: the hull of the other seven lacks that.
    let carried = last(&mesh(&forward[..7]), "scene.contacts.crate.fz");
    assert!((carried - 19.62 * 5.0 / 6.0).abs() < 1e-6, "{carried}");
}

/// An arm with a beam, cut at its tip, whose hand is moved by impulses, and a crate that nothing holds.
const ARM: &str = r#"
[model]
name = "Arm"
[simulation]
step = 1e-3
duration = 0.1
[multibody.bot]
gravity = [0, 0, -9.81]
[multibody.bot.nodes]
hand = { position = [1.1, 0, 1] }
crate = { position = [1.1, 0, 0.1] }
[multibody.bot.bodies]
tip = { node = "arm.2", mass = 0.5, shape = { sphere = 0.05 } }
hand = { node = "hand", mass = 1, shape = { sphere = 0.05 } }
crate = { node = "crate", mass = 2, shape = { box = [0.2, 0.2, 0.2] } }
[multibody.bot.sections.arm]
circle = 0.05
young = 7e10
poisson = 0.3
density = 2700
[multibody.bot.beams]
arm = { from = [0, 0, 1], to = [1, 0, 1], elements = 1, section = "arm", up = [0, 0, 1] }
[multibody.bot.joints]
wall = { type = "fixed", between = ["ground", "arm.0"] }
wrist = { type = "revolute", between = ["arm.2", "hand"], position = [1, 0, 1], axis = [0, 1, 0] }
[multibody.bot.contact]
friction = 0.5
bodies = ["hand", "crate"]
[multibody.bot.shapes]
floor = { node = "ground", plane = [0, 0, 1] }
[multibody.bot.cut]
at = ["arm.2"]
parts = { arm = "arm.0", gripper = "hand" }
methods.gripper.integrator = "impulses"
"#;

/// "In `bot`: contacts are solved by impulses alone" named neither part nor body: what nothing holds is a part of its own, with the
/// method of the mechanism.
#[test]
fn a_free_body_in_contact_is_named_when_its_part_lacks_impulses() {
    let model = read(ARM).expect("it can be read");
    let problems = model.simulation().err().expect("a part cannot be made");
    let said: Vec<_> = problems.iter().map(|problem| &problem.message).collect();
    let [said] = said.as_slice() else {
        panic!("{said:?}");
    };
    for part in [
        "in `bot`",
        "here of `crate`",
        "the part with `crate`",
        "impulses alone",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // What it proposes helps.
    let mended = ARM.replace(
        "gripper = \"hand\" }",
        "gripper = \"hand\", crate = \"crate\" }",
    );
    let mended = format!("{mended}methods.crate.integrator = \"impulses\"\n");
    assert_eq!(stopped_by(&mended), None);
}
