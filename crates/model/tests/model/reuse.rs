//! Include, sets, templates and repetitions: a model written with them is the model written out.

use std::fs;

use oldham_model::{Extensions, Model, Overrides, Problems, Source, Template};

use crate::common::{CUT_CANTILEVER, coupled, example, read};

fn overrides(pairs: &[(&str, &str)]) -> Overrides {
    let pairs = pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    Overrides(pairs.collect())
}

fn set(text: &str, pairs: &[(&str, &str)]) -> Result<Model, Problems> {
    Model::parse(text, "test.toml", &overrides(pairs))
}

/// A row of masses between springs; the body of `[lumped.row]` is given.
fn row(body: &str) -> String {
    format!(
        "[model]\nname = \"row\"\n[parameters]\nm = 2.0\nk = 100.0\nn = 3\n[simulation]\n\
         duration = 0.1\nstep = 0.01\n[lumped.row]\nintegrator = \"exact\"\n{body}"
    )
}

const WRITTEN_OUT: &str = "\
masses.x1 = { mass = \"m\", position = 0.1 }
masses.x2 = { mass = \"m\", position = 0.2 }
masses.x3 = { mass = \"m\", position = 0.3 }
springs.s1 = { between = [\"ground\", \"x1\"], stiffness = \"k\" }
springs.s2 = { between = [\"x1\", \"x2\"], stiffness = \"2 * k\" }
springs.s3 = { between = [\"x2\", \"x3\"], stiffness = \"3 * k\" }
outputs.x1 = { motion = \"x1\" }
outputs.x2 = { motion = \"x2\" }
outputs.x3 = { motion = \"x3\" }
";

const REPEATED: &str = "\
masses.\"x{i}\" = { repeat.i = \"n\", mass = \"m\", position = \"{i} / 10\" }
springs.s1 = { between = [\"ground\", \"x1\"], stiffness = \"k\" }
springs.\"s{i}\" = { repeat.i = \"2:n\", between = [\"x{i - 1}\", \"x{i}\"], stiffness = \"{i} * k\" }
outputs.\"x{i}\" = { repeat = { i = \"n\" }, motion = \"x{i}\" }
";

#[test]
fn what_is_repeated_is_what_would_be_written_out() {
    let written = read(&row(WRITTEN_OUT)).unwrap();
    let repeated = read(&row(REPEATED)).unwrap();
    assert!(repeated.is_solved_like(&written));
    let column = |model: &Model| coupled(model).column("row.x3.x");
    assert_eq!(column(&repeated), column(&written));
}

#[test]
fn the_number_of_things_is_a_parameter_like_others() {
    let ten = set(&row(REPEATED), &[("n", "10")]).unwrap();
    let history = coupled(&ten);
    assert_eq!(history.column("row.x10.x")[0], 1.0);
    // In the order of counting, not of the alphabet.
    let simulation = ten.simulation().unwrap();
    let names: Vec<&str> = simulation
        .columns()
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    assert!(place("row.x9.x") < place("row.x10.x"));
    // What depends on it cannot be had without reading again.
    let template = Template::parse(&row(REPEATED), "test.toml", &Overrides::none()).unwrap();
    assert!(template.has_parameter("k") && !template.has_parameter("n"));
}

#[test]
fn overrides_reach_what_was_written_out() {
    let changes = [
        ("lumped.row.masses.x2.mass", "7"),
        ("lumped.row.springs.s3.stiffness", "k"),
    ];
    let repeated = set(&row(REPEATED), &changes).unwrap();
    let text = row(WRITTEN_OUT)
        .replace("x2 = { mass = \"m\"", "x2 = { mass = 7")
        .replace("\"3 * k\"", "\"k\"");
    assert!(repeated.is_solved_like(&read(&text).unwrap()));
}

/// Two carriages of a train: each a subsystem with a wire to the next.
const TRAIN: &str = r#"
[model]
name = "train"
[parameters]
k = 100.0
[simulation]
duration = 0.1
step = 0.01

[template.carriage]
parameters = ["mass", { stiffness = "2 * k", start = 0 }]

[template.carriage.lumped."{name}"]
integrator = "exact"
masses.x = { mass = "{mass}", position = "{start}" }
springs.pull = { between = ["ground", "x"], stiffness = "3 * {stiffness}" }
inputs.push = { force = "x" }
outputs.x = { motion = "x" }

[use.first]
template = "carriage"
mass = 4
start = 0.5
[use.second]
template = "carriage"
mass = 5
stiffness = "k + 1"

[lumped.second]
micro_steps = 3

[excitation]
"first.push" = 0
"second.push" = 0
"#;

const TRAIN_WRITTEN_OUT: &str = r#"
[model]
name = "train"
[parameters]
k = 100.0
[simulation]
duration = 0.1
step = 0.01
[lumped.first]
integrator = "exact"
masses.x = { mass = 4, position = 0.5 }
springs.pull = { between = ["ground", "x"], stiffness = "3 * (2 * k)" }
inputs.push = { force = "x" }
outputs.x = { motion = "x" }
[lumped.second]
integrator = "exact"
micro_steps = 3
masses.x = { mass = 5, position = 0 }
springs.pull = { between = ["ground", "x"], stiffness = "3 * (k + 1)" }
inputs.push = { force = "x" }
outputs.x = { motion = "x" }
[excitation]
"first.push" = 0
"second.push" = 0
"#;

#[test]
fn templates_are_written_out_with_what_they_are_given() {
    let written = read(TRAIN_WRITTEN_OUT).unwrap();
    assert!(read(TRAIN).unwrap().is_solved_like(&written));
    let heavy = set(TRAIN, &[("use.first.mass", "40")]).unwrap();
    let text = TRAIN_WRITTEN_OUT.replace("mass = 4,", "mass = 40,");
    assert!(heavy.is_solved_like(&read(&text).unwrap()));
}

/// Sub-assemblies of a mechanism: the same leg twice, in one subsystem, with tables of values.
#[test]
fn templates_are_used_inside_of_mechanisms() {
    let head = r#"
[model]
name = "legs"
[simulation]
duration = 0.01
step = 0.001
[multibody.frame]
gravity = [0, -9.81, 0]
"#;
    let written = r#"
nodes.left-foot = { position = [-1, 0, 0] }
nodes.right-foot = { position = [1, 0, 0] }
bodies.left-foot = { node = "left-foot", mass = 2, inertia = [1, 1, 1] }
bodies.right-foot = { node = "right-foot", mass = 3, inertia = [1, 1, 1] }
joints.left-hip = { type = "revolute", between = ["ground", "left-foot"], position = [0, 0, 0] }
joints.right-hip = { type = "revolute", between = ["ground", "right-foot"], position = [0, 0, 0] }
"#;
    let template = r#"
use."{leg.side}" = { repeat.leg = [{ side = "left", x = -1, m = 2 }, { side = "right", x = 1, m = 3 }], template = "leg", x = "{leg.x}", mass = "{leg.m}" }
[template.leg]
parameters = ["x", "mass"]
nodes."{name}-foot" = { position = ["{x}", 0, 0] }
bodies."{name}-foot" = { node = "{name}-foot", mass = "{mass}", inertia = [1, 1, 1] }
joints."{name}-hip" = { type = "revolute", between = ["ground", "{name}-foot"], position = [0, 0, 0] }
"#;
    let written = read(&format!("{head}{written}")).unwrap();
    let used = read(&format!("{head}{template}")).unwrap();
    assert!(used.is_solved_like(&written));
}

#[test]
fn sets_are_overrides_with_a_name() {
    let sets = "[set.heavy]\nm = 9\nlumped.row.masses.x2.position = 0\n[set.fine]\n\
                simulation.step = 0.001\n";
    let text = format!("{}{sets}", row(WRITTEN_OUT));
    let plain = read(&text).unwrap();
    assert_eq!((plain.parameter("m"), plain.steps()), (Some(2.0), 10));
    let heavy = set(&text, &[("with", "heavy")]).unwrap();
    let changes = [("m", "9"), ("lumped.row.masses.x2.position", "0")];
    assert!(heavy.is_solved_like(&set(&text, &changes).unwrap()));
    let both = set(&text, &[("with", "[\"heavy\", \"fine\"]")]).unwrap();
    assert_eq!((both.parameter("m"), both.steps()), (Some(9.0), 100));
    // A setting of the command line goes over a set, and the file may choose too.
    let over = set(&text, &[("with", "heavy"), ("m", "11")]).unwrap();
    assert_eq!(over.parameter("m"), Some(11.0));
    let chosen = read(&format!("with = \"fine\"\n{text}")).unwrap();
    assert_eq!(chosen.steps(), 100);
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn included_files_are_joined_and_the_including_file_decides() {
    let body = format!("[lumped.row]\nintegrator = \"exact\"\n{WRITTEN_OUT}");
    let head = "include = [\"parts/numbers.toml\", \"parts/row.toml\"]\n[model]\nname = \"row\"\n\
                [parameters]\nm = 2.0\n[simulation]\nduration = 0.1\nstep = 0.01\n";
    let numbers = "[parameters]\nm = 77\nk = 100.0\nn = 3\n";
    let row_file = format!("include = \"../more/wires.toml\"\n{body}");
    let folder = folder(&[
        ("model.toml", head),
        ("parts/numbers.toml", numbers),
        ("parts/row.toml", &row_file),
        (
            "more/wires.toml",
            "include = '../parts/numbers.toml'\n[record]\nevery = 2\n",
        ),
    ]);
    let path = folder.path().join("model.toml");
    let model = Model::read(&path, &Overrides::none()).unwrap();
    let written = read(&format!("{}[record]\nevery = 2\n", row(WRITTEN_OUT))).unwrap();
    assert!(model.is_solved_like(&written));
    assert_eq!(model.record_every(), 2);
    // Carried by its texts alone, it is the same model.
    let mut carried = Source::new("result.parquet", model.source().file_text());
    for (path, text) in model.source().included() {
        carried = carried.including(path, text);
    }
    fs::remove_file(folder.path().join("parts/row.toml")).unwrap();
    let again = Model::of(carried, &Overrides::none(), &Extensions::new()).unwrap();
    assert!(again.is_solved_like(&model));
}

fn first(read: Result<Model, Problems>) -> String {
    read.expect_err("a problem").to_string().replace('\\', "/")
}

#[test]
fn places_of_problems_lie_in_the_right_file() {
    let head =
        "include = \"part.toml\"\n[model]\nname = \"m\"\n[simulation]\nduration = 1\nstep = 0.1\n";
    let part = "# a part\n[lumped.a]\nmasses.x = { mass = \"mm\" }\n";
    let folder = folder(&[("m.toml", head), ("part.toml", part)]);
    let told = first(Model::read(
        &folder.path().join("m.toml"),
        &Overrides::none(),
    ));
    assert!(told.contains("part.toml:3:"), "{told}");
    fs::write(folder.path().join("part.toml"), "[lumped.a\n").unwrap();
    let told = first(Model::read(
        &folder.path().join("m.toml"),
        &Overrides::none(),
    ));
    assert!(told.contains("part.toml:1:"), "{told}");
}

#[test]
fn include_loops_and_missing_files_are_refused_with_the_way_there() {
    let files = [
        ("a.toml", "include = 'b.toml'\n[model]\nname = 'a'\n"),
        ("b.toml", "include = ['sub/c.toml']\n"),
        ("sub/c.toml", "\ninclude = ['../b.toml']\n"),
        ("self.toml", "include = 'self.toml'"),
        ("lost.toml", "include = 'bb.toml'"),
        ("odd.toml", "include = 7"),
        ("clash.toml", "include = ['x.toml', 'y.toml']\n"),
        ("x.toml", "[parameters]\nk = 1\n"),
        ("y.toml", "[parameters]\nk = 2\n"),
    ];
    let folder = folder(&files);
    let read = |name: &str| first(Model::read(&folder.path().join(name), &Overrides::none()));
    let told = read("a.toml");
    let there = |name: &str| folder.path().join(name).display().to_string();
    let chain = format!(
        "{} → {} → {}",
        there("b.toml"),
        there("sub/c.toml"),
        there("b.toml")
    );
    assert!(told.contains(&chain), "{told}");
    assert!(
        told.contains("c.toml:2:12") && told.contains("help: take this path away"),
        "{told}"
    );
    assert!(
        read("self.toml").contains("in a loop"),
        "{}",
        read("self.toml")
    );
    let told = read("lost.toml");
    assert!(
        told.contains("lost.toml:1:11") && told.contains("did you mean `b.toml`?"),
        "{told}"
    );
    assert!(read("odd.toml").contains("`include` is the path of a file"));
    let told = read("clash.toml");
    assert!(
        told.contains("y.toml:2:1: two included files give `parameters.k`"),
        "{told}"
    );
    assert!(
        told.contains("x.toml:2:1") && told.contains("which decides"),
        "{told}"
    );
}

/// Mistakes in templates, repetitions and sets: what, where, what to do.
#[test]
fn mistakes_of_reuse_are_named_with_their_places() {
    let train = |from: &str, to: &str| {
        assert!(TRAIN.contains(from), "{from}");
        first(read(&TRAIN.replacen(from, to, 1)))
    };
    let rows = |from: &str, to: &str| {
        assert!(REPEATED.contains(from), "{from}");
        first(read(&row(&REPEATED.replacen(from, to, 1))))
    };
    let cases = [
        (
            train("mass = 4\n", ""),
            [
                "test.toml:20:6: `mass` is missing from `use.first`",
                "give it here",
            ],
        ),
        (
            train("mass = 5", "mass = 5\nmas = 3"),
            ["has no parameter `mas`", "did you mean `mass`?"],
        ),
        (
            train("template = \"carriage\"", "template = \"cariage\""),
            ["there is no template `cariage`", "did you mean `carriage`?"],
        ),
        (
            train("template = \"carriage\"\nmass = 4", "mass = 4"),
            [
                "`template` is missing from `use.first`",
                "which template is used: carriage",
            ],
        ),
        (
            train("\"{mass}\"", "\"{mas}\""),
            ["nothing called `mas` to put in", "did you mean `mass`?"],
        ),
        (
            train("lumped.\"{name}\"", "lumped.both"),
            [
                "`use.second` gives `lumped.both.",
                "put {name} into its name",
            ],
        ),
        (
            train("[\"mass\", {", "[7, {"),
            [
                "a parameter of a template is a name",
                "such as parameters =",
            ],
        ),
        (
            train(
                "[use.second]",
                "[template.carriage.use.again]\ntemplate = \"carriage\"\nmass = 1\n[use.second]",
            ),
            ["in a loop: carriage → carriage", "cannot contain itself"],
        ),
        (
            rows("masses.\"x{i}\"", "masses.x"),
            ["`x` is there already", "put what is repeated into the key"],
        ),
        (
            rows("repeat.i = \"n\"", "repeat.i = \"nn\""),
            ["`nn` is not a number", "a count is a whole number"],
        ),
        (
            rows("repeat.i = \"n\"", "repeat.i = \"n / 2\""),
            ["a whole number is needed, `n / 2` is 1.5", "floor"],
        ),
        (
            rows("repeat.i = \"n\"", "repeat.i = true"),
            ["cannot be repeated over", "give a count such as 10"],
        ),
        (
            rows("\"2:n\"", "\"1:2:3:4\""),
            ["`1:2:3:4` is no range", "first:last"],
        ),
        (
            rows("repeat.i = \"n\"", "repeat.i = 1000000000"),
            ["more than 1000000 things", "repeat less"],
        ),
        (
            first(set(&row(WRITTEN_OUT), &[("with", "heavy")])),
            ["--set:1:6: there is no set `heavy`", "[set.heavy]"],
        ),
        (
            first(set(
                &format!("{}[set.heavy]\nm = 1\n", row(WRITTEN_OUT)),
                &[("with", "havy")],
            )),
            ["there is no set `havy`", "did you mean `heavy`?"],
        ),
        (
            first(set(
                &format!("{}[set.heavy]\nmm = 1\n", row(WRITTEN_OUT)),
                &[("with", "heavy")],
            )),
            ["test.toml:22:1", "did you mean `m`?"],
        ),
        (
            first(set(&row(WRITTEN_OUT), &[("include", "a.toml")])),
            ["cannot be overridden", "write a file that includes"],
        ),
        (
            first(read(
                &row(WRITTEN_OUT).replace("[model]", "inculde = 'a'\n[model]"),
            )),
            ["unknown key `inculde`", "did you mean `include`?"],
        ),
        (
            first(read(
                &row(WRITTEN_OUT).replace("[model]", "include = 'a.toml'\n[model]"),
            )),
            ["`a.toml` is not there to be included", "given with it"],
        ),
    ];
    for (told, wanted) in cases {
        for text in wanted {
            assert!(told.contains(text), "`{text}` in:\n{told}");
        }
    }
}

/// A billion laughs: templates that use each other ten times, ten levels deep.
#[test]
fn what_would_fill_the_memory_is_refused() {
    let mut text = row(WRITTEN_OUT);
    for level in 0..10 {
        text += &format!(
            "[template.t{level}.lumped.\"{{name}}-{level}\"]\n[template.t{level}.use.\"{{name}}-{{i}}\"]\n\
             repeat.i = 10\ntemplate = \"t{}\"\n",
            level + 1
        );
    }
    text += "[template.t10.lumped.\"{name}\"]\n[use.all]\ntemplate = \"t0\"\n";
    let told = first(read(&text));
    assert!(told.contains("more than 1000000 things"), "{told}");
}

/// The shipped chain, written with repetitions, against the same lines written one by one.
#[test]
fn the_ten_links_are_ten_links() {
    let text = example("ten-link-pendulum");
    let from = text.find("nodes.\"bob{i}\"").unwrap();
    let to = text.find("# In return for the force").unwrap();
    let mut nodes = String::from("[multibody.chain.nodes]\n");
    let mut bodies = String::from("[multibody.chain.bodies]\n");
    let mut joints = String::from("[multibody.chain.joints]\n");
    for i in 1..=10 {
        let above = match i {
            1 => "ground".to_owned(),
            _ => format!("bob{}", i - 1),
        };
        nodes += &format!(
            "bob{i} = {{ position = [\"l1 + {} * l\", 0, 0] }}\n",
            10 - i
        );
        bodies += &format!(
            "bob{i} = {{ node = \"bob{i}\", mass = \"m\", inertia = [\"J\", \"J\", \"J\"] }}\n"
        );
        joints += &format!(
            "pin{i} = {{ type = \"revolute\", between = [\"{above}\", \"bob{i}\"], \
             position = [\"l1 + {} * l\", 0, 0] }}\n",
            11 - i
        );
    }
    let written = [&text[..from], &nodes, &bodies, &joints, &text[to..]].concat();
    assert!(
        read(&text)
            .unwrap()
            .is_solved_like(&read(&written).unwrap())
    );
}

/// Names in a table that the file does not have could not be given by any set.
#[test]
fn a_set_may_add_a_table_with_names_of_its_own() {
    let (whole, cut) = CUT_CANTILEVER.split_once("[multibody.b.cut]").unwrap();
    let parts = "parts = { root = 'a.0', tip = 'a.8' }\n";
    let chosen = format!("with = 'halves'\n{whole}[set.halves.multibody.b.cut]{cut}{parts}");
    let written = format!("{whole}[multibody.b.cut]{cut}{parts}");
    let (chosen, written) = (read(&chosen).unwrap(), read(&written).unwrap());
    assert!(chosen.is_solved_like(&written));
    // In tables that it has they are misspelt.
    let misspelt =
        format!("with = 'x'\n{whole}[set.x.multibody.b.joints.rooot]\ntype = 'spherical'\n");
    let told = first(read(&misspelt));
    assert!(told.contains("nothing called `rooot`"), "{told}");
    assert!(told.contains("`root`"), "{told}");
}

/// Templates of a few lines that would double thirty times: trees, texts and lists.
#[test]
fn templates_that_double_end_at_the_limit() {
    let level = |number: usize, body: &str| {
        let body = body.replace("NEXT", &format!("t{}", number + 1));
        format!("[template.t{number}]\n{body}\n")
    };
    let bodies = [
        (
            "use.a={template=\"NEXT\"}\nuse.b={template=\"NEXT\"}",
            "things",
        ),
        (
            "parameters=[\"v\"]\nuse.a={template=\"NEXT\", v=\"{v}{v}\"}",
            "MiB of text",
        ),
        (
            "parameters=[\"v\"]\nuse.a={template=\"NEXT\", v=[\"{v}\",\"{v}\"]}",
            "things",
        ),
    ];
    for (body, limit) in bodies {
        let value = if body.contains("parameters") {
            ", v=\"abcd\""
        } else {
            ""
        };
        let levels: String = (0..30).map(|number| level(number, body)).collect();
        let last = match value {
            "" => "[template.t30.lumped.\"{name}\"]\nmasses.m={mass=1}\n".to_owned(),
            _ => "[template.t30]\nparameters=[\"v\"]\nmodel.description=\"{v}\"\n".to_owned(),
        };
        let text = format!(
            "model.name=\"b\"\nsimulation={{duration=0.01, step=1e-3}}\n{levels}{last}[use]\nx={{template=\"t0\"{value}}}\n"
        );
        let told = read(&text).unwrap_err().to_string();
        assert!(
            told.contains("templates and repetitions make more than"),
            "{told}"
        );
        assert!(told.contains(limit), "{told}");
    }
}
