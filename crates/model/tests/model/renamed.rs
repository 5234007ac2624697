//! Old spellings of keys and values: read as the new ones, and told once.

use oldham_model::{Model, Overrides, Problems, reference_markdown, schema};

use crate::common::{coupled, read};

/// A model with all old words of mechanisms.
const MECHANISMS: &str = r#"
    [model]
    name = "Old words of mechanisms"
    [simulation]
    duration = 0.1
    step = 1e-2
    [multibody.held]
    gravity = [0, 0, -9.81]
    settle = true
    nodes.weight = { position = [0, 0, -1] }
    bodies.weight = { node = "weight", mass = 1, inertia = [1, 1, 1] }
    joints.guide = { type = "prismatic", between = ["ground", "weight"] }
    springs.rope = { between = ["ground", "weight"], stiffness = 1000, branches = [[500, 0.1]] }
    [multibody.free]
    nodes.a = { position = [1, 0, 0] }
    nodes.b = { position = [2, 0, 0] }
    nodes.c = {}
    nodes.d = {}
    bodies.a = { node = "a", mass = 1, inertia = [1, 1, 1] }
    bodies.b = { node = "b", mass = 1, inertia = [1, 1, 1] }
    bodies.c = { node = "c", mass = 1, inertia = [1, 1, 1] }
    bodies.d = { node = "d", mass = 1, inertia = [1, 1, 1] }
    joints.weld = { type = "clamp", between = ["ground", "a"] }
    joints.rod = { type = "distance", between = ["a", "b"] }
    joints.line = { type = "in-line", between = ["ground", "c"] }
    joints.plane = { type = "in-plane", between = ["ground", "d"] }
    measures.z = { displacement = "c", axis = [0, 0, 1] }
    loads.control = { on = "c", force = [0, 0, "1 - 10 * z"] }
    inputs.u = { scalar = "N" }
    loads.push = { on = "d", force = [{ input = "u" }, 0, 0] }
    [drive]
    "free.u" = "sin(t)"
"#;

/// A model with the old words of schedules.
const COUPLED: &str = r#"
    [model]
    name = "Old words of schedules"
    [simulation]
    duration = 0.1
    step = 1e-2
    [lumped.left]
    integrator = "lms2"
    masses.x1 = { mass = 1, velocity = 1 }
    springs.wall = { between = ["ground", "x1"], stiffness = 10 }
    springs.coupling = { between = ["x1", "far"], stiffness = 100 }
    inputs.far = { traced = "far" }
    outputs.fc = { force = "far" }
    outputs.x1 = { motion = "x1" }
    [lumped.right]
    integrator = "lms2"
    masses.x2 = { mass = 1 }
    springs.wall = { between = ["ground", "x2"], stiffness = 10 }
    inputs.push = { force = "x2" }
    outputs.x2 = { motion = "x2" }
    [[connection]]
    from = "left.fc"
    to = "right.push"
    [[connection]]
    from = "right.x2"
    to = "left.far"
    [schedule]
    coupling = "loose"
    refresh = true
    tight.relative = 1e-8
"#;

/// The old words of compensators, added to the example with one.
const GAINS: &str = r#"gains = { correct = { "x1.v" = 0.01 }, push = { "x2.v" = 0.01 }, send = { "x1.v" = 0.01 } }"#;

/// Old and new, as they stand in these models.
const WORDS: [(&str, &str); 16] = [
    ("drive]", "excitation]"),
    ("measures", "sensors"),
    ("settle", "static_equilibrium"),
    ("branches", "maxwell"),
    ("\"clamp\"", "\"fixed\""),
    ("\"distance\"", "\"rod\""),
    ("\"in-line\"", "\"point-on-line\""),
    ("\"in-plane\"", "\"point-on-plane\""),
    ("traced", "position_driven"),
    ("refresh", "output_update"),
    ("tight", "implicit"),
    ("\"loose\"", "\"explicit\""),
    ("correct = {", "force_side = {"),
    ("push = { \"x2.v\"", "motion_side = { \"x2.v\""),
    ("send =", "sent_force ="),
    ("\"tight\"", "\"implicit\""),
];

fn in_new_words(text: &str) -> String {
    let rename = |text: String, (before, now): (&str, &str)| text.replace(before, now);
    WORDS.into_iter().fold(text.to_owned(), rename)
}

fn compensated() -> String {
    let text = crate::common::example("two-mass-compensated");
    text.replace("[schedule]", &format!("{GAINS}\n[schedule]"))
}

fn with(text: &str, set: &[(&str, &str)]) -> Result<Model, Problems> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let set = set.iter().map(owned).collect();
    Model::parse(text, "test.toml", &Overrides(set))
}

#[test]
fn old_words_mean_the_same_as_the_new_ones_and_are_told() {
    let tight = COUPLED
        .replace("loose", "tight")
        .replace("refresh = true", "");
    let mut told = String::new();
    for old in [MECHANISMS, COUPLED, &compensated(), &tight] {
        let new = in_new_words(old);
        let [old, new] = [old, &new].map(|text| read(text).expect("a model"));
        let rows = |model: &Model| coupled(model).record.rows.concat();
        assert!(rows(&old) == rows(&new), "{}", old.name());
        assert_eq!(new.former_words(), None);
        let note = old.former_words().expect("old words");
        assert!(
            !note.contains('\n') && note.contains("now called"),
            "{note}"
        );
        told += note;
    }
    for (before, now) in WORDS {
        let bare = |word: &str| {
            let end = word.find([' ', ']']).unwrap_or(word.len());
            word[..end].trim_matches('"').to_owned()
        };
        for word in [bare(before), bare(now)] {
            assert!(told.contains(&format!("`{word}`")), "{word}: {told}");
        }
    }
    let one = read(&in_new_words(MECHANISMS).replace("sensors", "measures")).unwrap();
    let note = "`measures` is now called `sensors`; the old word is still read";
    assert_eq!(one.former_words(), Some(note));
}

/// What is called otherwise now must be in the models above.
#[test]
fn no_old_word_is_forgotten_here() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut count = 0;
    let mut folders = vec![source.join("format"), source.join("kinds")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the format") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).expect("a source file");
            count += text.matches("\"x-formerly\" = ").count();
            let joints = text.lines().filter(|line| line.contains("own_joint("));
            count += joints.filter(|line| line.contains("Some(")).count();
        }
    }
    assert_eq!(count, WORDS.len());
}

#[test]
fn overrides_may_use_old_words() {
    let new = in_new_words(COUPLED);
    let loose = with(&new, &[("schedule.output_update", "false")]).unwrap();
    for text in [COUPLED, &new] {
        let model = with(text, &[("schedule.refresh", "false")]).unwrap();
        assert!(model.is_solved_like(&loose));
        assert!(model.former_words().unwrap().contains("`refresh`"));
    }
    let tight = [
        ("schedule.output_update", "false"),
        ("schedule.coupling", "implicit"),
        ("schedule.implicit.ports.\"left.fc\"", "1e-3"),
    ];
    let old_tight = [
        ("schedule.refresh", "false"),
        ("schedule.coupling", "tight"),
        ("schedule.tight.ports.\"left.fc\"", "1e-3"),
    ];
    let [tight, old_tight] = [tight, old_tight].map(|set| with(&new, &set).unwrap());
    assert!(tight.is_solved_like(&old_tight));
    let mechanisms = in_new_words(MECHANISMS);
    let driven = [("drive", "{ \"free.u\" = 2 }")];
    assert!(with(&mechanisms, &driven).is_ok());
    let joint = r#"{ type = "clamp", between = ["ground", "d"] }"#;
    assert!(with(&mechanisms, &[("multibody.free.joints.plane", joint)]).is_ok());
}

#[test]
fn a_key_in_both_spellings_is_a_problem() {
    let text = COUPLED.replace("refresh = true", "refresh = true\noutput_update = true");
    let problems = read(&text).expect_err("twice").to_string();
    assert!(
        problems.contains("`refresh` is the former name of `output_update`"),
        "{problems}"
    );
}

#[test]
fn problems_below_old_words_keep_their_places() {
    let text = MECHANISMS.replace("displacement = \"c\"", "displacement = \"nobody\"");
    let problems = read(&text).expect_err("no such node");
    let problem = problems.iter().next().expect("a problem");
    let place = problems.locate(problem);
    let line = text
        .lines()
        .position(|line| line.contains("nobody"))
        .unwrap()
        + 1;
    assert_eq!(place.line, line);
    assert_eq!(&text[problem.span.clone()], "\"nobody\"");
}

#[test]
fn schema_and_reference_have_the_new_words_only() {
    let schema = schema().to_string();
    assert!(!schema.contains("formerly"));
    let reference = reference_markdown();
    let old = [
        "drive", "measures", "settle", "branches", "traced", "refresh",
    ];
    for key in old {
        assert!(!schema.contains(&format!("\"{key}\":")), "{key}");
        assert!(!reference.contains(&format!("`{key}`")), "{key}");
    }
    for value in [
        "\"clamp\"",
        "\"distance\"",
        "\"in-line\"",
        "\"tight\"",
        "\"loose\"",
    ] {
        assert!(!reference.contains(&format!("`{value}`")), "{value}");
    }
}
