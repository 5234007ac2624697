//! Beams and plates as model files describe them, against closed forms.

use oldham_model::{Model, Overrides};

use crate::common::{History, example, read};

fn with(text: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    Model::parse(text, "test.toml", &Overrides(set.collect())).unwrap_or_else(|p| panic!("{p}"))
}

/// Where a node is in static equilibrium.
fn at_rest(model: &Model, node: &str) -> [f64; 3] {
    let mechanism = model.mechanisms().next().expect("a mechanism");
    let rest = mechanism
        .equilibrium(None, 4)
        .unwrap_or_else(|e| panic!("{e}"));
    let names = &mechanism.sketch().nodes;
    let place = names.iter().position(|name| name == node).expect("a node");
    rest.poses[place].position.0
}

const SECTION: &str = r#"
[multibody.m.sections.s]
axial = 1e8
shear = [1e8, 1e8]
torsion = 150
bending = [200, 250]
mass = 1
inertia = [2e-3, 1e-3, 1e-3]
"#;

const HEAD: &str = "[model]\nname = \"test\"\n[simulation]\nduration = 1\nstep = 1e-3\n";

/// A quarter of a circle of radius one, clamped at one end: F R³ π / (4 EI) at the other, whatever
/// axes the nodes at its ends have.
#[test]
fn an_arch_on_given_nodes_was_first_order_wrong() {
    let deflection = |axes: &str, per_element: usize, elements: usize| {
        let text = format!(
            r#"{HEAD}[multibody.m]
{SECTION}
[multibody.m.nodes]
tip = {{ position = [0, 0, 1], orientation = {{ axis = [1, 2, 3], angle = "{axes}" }} }}
root = {{ position = [1, 0, 0] }}
[multibody.m.beams.arc]
curve = ["cos(pi / 2 * s)", 0, "sin(pi / 2 * s)"]
from = "root"
to = "tip"
elements = {elements}
nodes_per_element = {per_element}
section = "s"
up = [0, 1, 0]
[multibody.m.joints]
wall = {{ type = "fixed", between = ["ground", "root"] }}
[multibody.m.loads]
tip = {{ on = "tip", force = [0, 0, 0.001] }}
"#
        );
        at_rest(&read(&text).unwrap(), "tip")[2] - 1.0
    };
    let exact = 0.001 * std::f64::consts::FRAC_PI_4 / 200.0;
    for axes in ["0", "pi", "1.3"] {
        let fine = deflection(axes, 3, 8);
        assert!((fine / exact - 1.0).abs() < 1e-5, "{axes}: {fine:e}");
        let coarse = deflection(axes, 3, 4);
        let order = ((coarse - exact) / (fine - exact)).abs().log2();
        assert!(
            order > 1.9 || (coarse / exact - 1.0).abs() < 1e-6,
            "{order}"
        );
        let two = deflection(axes, 2, 32);
        assert!((two / exact - 1.0).abs() < 2e-3, "{axes}: {two:e}");
    }
}

/// A clamped beam that points against its nodes' first axes: q L⁴ / (8 EI) + q L² / (2 GA).
#[test]
fn a_beam_a_half_turn_from_its_nodes_was_refused() {
    for (to, up) in [
        ("[-1, 0, 0]", "[0, 1, 0]"),
        ("[-1, 0, 0]", "[0, -1, 0]"),
        ("[1, 0, 0]", "[0, -1, 0]"),
    ] {
        let text = format!(
            r#"{HEAD}[multibody.m]
gravity = [0, 0, -1e-3]
{SECTION}
[multibody.m.nodes]
a = {{}}
b = {{ position = {to} }}
[multibody.m.beams]
rod = {{ from = "a", to = "b", elements = 8, section = "s", up = {up} }}
[multibody.m.joints]
clamp = {{ type = "fixed", between = ["ground", "a"] }}
"#
        );
        let exact = -1e-3 * (1.0 / (8.0 * 200.0) + 0.5 / 1e8);
        let found = at_rest(&read(&text).unwrap(), "b")[2];
        assert!((found / exact - 1.0).abs() < 2e-3, "{found:e} {exact:e}");
    }
}

/// The blades of the rotor on the hub itself, instead of on clamps: the same motion.
#[test]
fn blades_on_the_hub_itself_were_refused() {
    let clamped = example("rotor");
    let joined = clamped
        .replace("from = [0, 0, 0]", "from = \"hub\"")
        .lines()
        .filter(|line| !line.contains("\"fixed\""))
        .collect::<Vec<_>>()
        .join("\n");
    let set = [("simulation.duration", "0.05")];
    let tip = |text: &str| {
        let model = with(text, &set);
        let history = History::of(&model, model.monolithic(None).unwrap());
        let column = history.column("rotor.tip.pz");
        column[column.len() - 1]
    };
    let (clamped, joined) = (tip(&clamped), tip(&joined));
    assert!(clamped.abs() > 1e-4);
    assert!(
        (joined - clamped).abs() < 1e-6 * clamped.abs(),
        "{joined} {clamped}"
    );
}

/// A stiff rod of 1 m on a hinge: ω² = m g L²/2 / (m L³/3 + j L). Released at a small angle, it hangs
/// down after a quarter of the period.
#[test]
fn a_stiff_rod_swung_too_slowly() {
    let quarter = |elements: usize, lumping: &str| {
        let text = format!(
            r#"{HEAD}[multibody.m]
gravity = [0, 0, -9.81]
[multibody.m.sections.s]
axial = 1e8
shear = [1e8, 1e8]
torsion = 1e6
bending = [1e6, 1e6]
mass = 1
inertia = [2e-3, 1e-3, 1e-3]
[multibody.m.beams]
rod = {{ from = [0, 0, 0], to = [0.001, 0, -1], elements = {elements}, section = "s", up = [0, 1, 0]{lumping} }}
[multibody.m.joints]
hinge = {{ type = "revolute", between = ["ground", "rod.0"], axis = [0, 1, 0] }}
"#
        );
        let model = with(&text, &[("simulation.duration", "0.45")]);
        let history = History::of(&model, model.simulation().unwrap());
        let x = history.column(&format!("m.nodes.rod.{}.px", 2 * elements));
        let after = x.iter().position(|&x| x < 0.0).expect("a passage");
        (after as f64 - x[after] / (x[after] - x[after - 1])) * 1e-3
    };
    let omega = (9.81_f64 * 0.5 / (1.0 / 3.0 + 1e-3)).sqrt();
    assert!((omega / std::f64::consts::TAU - 0.60961).abs() < 1e-5);
    for elements in [1, 2, 4] {
        let found = std::f64::consts::FRAC_PI_2 / quarter(elements, "") / omega;
        assert!((found - 1.0).abs() < 1e-4, "{elements}: {found}");
    }
    let points = 0.25 / quarter(4, ", lumping = \"points\"");
    assert!((points - 0.60724).abs() < 1e-4, "{points}");
}

/// A plate under a load for which the first step of the run is far too long: that is no mistake in
/// the model, and statics needs no step at all.
#[test]
fn reading_a_model_solved_its_first_step_and_blamed_the_model() {
    let text = r#"
[model]
name = "plate"
[simulation]
duration = 0.5
step = 0.1
[multibody.p.shells.sheet]
rectangle = [[0, -0.125, 0], [0.5, 0, 0], [0, 0.25, 0]]
elements = [8, 4]
thickness = 2e-3
young = 5e9
density = 1200
clamp = ["u0"]
[multibody.p.loads]
a = { on = "sheet.8.0", force = [0, 0, 40] }
b = { on = "sheet.8.4", force = [0, 0, 40] }
"#;
    let model = read(text).unwrap_or_else(|p| panic!("{p}"));
    let found = model.mechanisms().next().unwrap().degrees_of_freedom();
    assert_eq!((found.count(), found.redundant()), (6 * 5 * 8, 0));
}

/// Hanging on a hinge: straight down, q L / 2 EA longer.
#[test]
fn weight_alone_held_a_rod_but_statics_said_that_nothing_does() {
    let hanging = |section: &str, elements: usize| {
        let text = format!(
            r#"{HEAD}[multibody.m]
gravity = [0, 0, -9.81]
[multibody.m.sections]
s = {section}
[multibody.m.beams]
rope = {{ from = [0, 0, 0], to = [0, 0, -1], elements = {elements}, section = "s", up = [0, 1, 0] }}
[multibody.m.joints]
hook = {{ type = "revolute", between = ["ground", "rope.0"], axis = [0, 1, 0] }}
"#
        );
        at_rest(&read(&text).unwrap(), &format!("rope.{}", 2 * elements))
    };
    let stiff = "{ axial = 1e8, shear = [1e8, 1e8], torsion = 1e6, bending = [1e6, 1e6], mass = 1, inertia = [2e-3, 1e-3, 1e-3] }";
    for elements in [1, 4] {
        let [x, _, z] = hanging(stiff, elements);
        assert!(x.abs() < 1e-9, "{x}");
        assert!(((-z - 1.0) / (0.5 * 9.81 / 1e8) - 1.0).abs() < 1e-3, "{z}");
    }
}

/// All mass in bodies of their own: a massless cantilever with a mass at its tip has
/// ω² = 3 EI / (m L³), nearly: shear and stretch are stiff.
#[test]
fn a_massless_section_carries_bodies() {
    let text = format!(
        r#"{HEAD}[multibody.m]
{}
[multibody.m.beams]
rod = {{ from = [0, 0, 0], to = [1, 0, 0], elements = 4, section = "s", up = [0, 1, 0] }}
[multibody.m.bodies]
tip = {{ node = "rod.8", mass = 2, inertia = [1e-9, 1e-9, 1e-9] }}
[multibody.m.joints]
wall = {{ type = "fixed", between = ["ground", "rod.0"] }}
[multibody.m.loads]
tip = {{ on = "rod.8", force = [0, 0, 0.01] }}
[multibody.m.outputs]
tip = {{ translation = "rod.8", axis = [0, 0, 1] }}
"#,
        SECTION
            .replace("mass = 1", "mass = 0")
            .replace("inertia = [2e-3, 1e-3, 1e-3]", "")
    );
    let model = read(&text).unwrap_or_else(|p| panic!("{p}"));
    let history = History::of(&model, model.simulation().unwrap());
    let x = history.column("m.tip.x");
    let (stiffness, mass) = (3.0 * 200.0, 2.0_f64);
    let omega = (stiffness / mass).sqrt();
    for (step, x) in x.iter().enumerate() {
        let t = step as f64 * 1e-3;
        let exact = 0.01 / stiffness * (1.0 - (omega * t).cos());
        assert!(
            (x - exact).abs() < 2e-3 * 0.01 / stiffness,
            "{t}: {x} {exact}"
        );
    }
}

/// Bricard's linkage: six links along edges of a cube, six hinges, each normal to both of its
/// links. It moves, with one redundant constraint.
fn bricard(last: &str, settings: &str) -> String {
    let corners = [
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
        [0, 1, 1],
        [0, 0, 1],
        [1, 0, 1],
    ];
    let axes = ["[1, 0, 0]", "[0, 0, 1]", "[0, 1, 0]"];
    let mut text = format!("{HEAD}[multibody.m]\ngravity = [0, 0, -9.81]\n{settings}\n");
    for i in 0..5 {
        let middle: Vec<f64> = (0..3)
            .map(|k| 0.5 * f64::from(corners[i][k] + corners[i + 1][k]))
            .collect();
        text += &format!(
            "[multibody.m.nodes.n{i}]\nposition = {middle:?}\n[multibody.m.bodies.b{i}]\nnode = \"n{i}\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n"
        );
    }
    for i in 0..6 {
        let before = if i == 0 {
            "ground".to_owned()
        } else {
            format!("n{}", i - 1)
        };
        let behind = if i == 5 {
            "ground".to_owned()
        } else {
            format!("n{i}")
        };
        let kind = if i == 5 { last } else { "revolute" };
        text += &format!(
            "[multibody.m.joints.j{i}]\ntype = \"{kind}\"\nbetween = [\"{before}\", \"{behind}\"]\nposition = {:?}\naxis = {}\n",
            corners[i],
            axes[i % 3]
        );
    }
    text + "[multibody.m.outputs]\nlink = { motion = \"n2\" }\n"
}

#[test]
fn help_on_redundant_joints_freed_too_much() {
    let problems = read(&bricard("revolute", "")).unwrap_err().to_string();
    let words = problems.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1 of 30 constraints"), "{words}");
    assert!(words.contains("cylindrical instead of revolute"), "{words}");
    assert!(
        words.contains("(1 before, 1 degree of freedom after)"),
        "{words}"
    );
    assert!(!words.contains("spherical"), "{words}");
}

/// With a cylindrical joint as the help says, and with all six hinges on request: the same motion.
#[test]
fn redundant_joints_are_solved_on_request() {
    let link = |text: &str| {
        let model = read(text).unwrap_or_else(|p| panic!("{p}"));
        let found = model.mechanisms().next().unwrap().degrees_of_freedom();
        assert_eq!(found.count(), 1);
        let history = History::of(&model, model.simulation().unwrap());
        ["x", "y", "z"].map(|axis| {
            let column = history.column(&format!("m.link.p{axis}"));
            column[column.len() - 1]
        })
    };
    let helped = link(&bricard("cylindrical", "tolerance = 1e-9"));
    let settings = "tolerance = 1e-9\nredundant = \"least-norm\"";
    let shared = link(&bricard("revolute", settings));
    assert!((helped[1] - 1.0).abs() > 0.1, "{helped:?}");
    for (a, b) in helped.into_iter().zip(shared) {
        assert!((a - b).abs() < 1e-6, "{helped:?} {shared:?}");
    }
}

/// One part and the rest of nothing.
#[test]
fn a_cut_at_the_last_node_of_a_beam_passed() {
    let text = example("cut-beam")
        .replace("at = [\"girder.12\"]", "at = [\"girder.24\"]")
        .replace("parts = {", "# parts = {");
    let problems = read(&text).unwrap_err().to_string();
    assert!(problems.contains("girder.24"), "{problems}");
}
