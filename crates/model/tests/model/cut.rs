//! Mechanisms in pieces, against themselves in one piece.

use oldham_cosim::{InMemory, Run, Simulation};
use oldham_model::{Model, Overrides};

use crate::common::{
    CUT_CANTILEVER, History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled,
    example, read,
};

/// An example with some of its values replaced.
fn with(name: &str, set: &[(&str, &str)]) -> Model {
    parsed(&example(name), set)
}

fn parsed(text: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    let overrides = Overrides(set.collect());
    Model::parse(text, "test.toml", &overrides).unwrap_or_else(|p| panic!("{p}"))
}

fn whole(model: &Model) -> History {
    History::of(model, model.monolithic(None).expect("one piece"))
}

/// The largest difference of a column between pieces and whole.
fn difference(model: &Model, column: &str) -> f64 {
    let [pieces, whole] = [coupled(model), whole(model)].map(|run| run.column(column));
    assert!(whole.iter().any(|value| value.abs() > 1e-6), "it moves");
    let differences = pieces.iter().zip(&whole).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// With tangents the pieces make the step of the whole, up to a Newton iteration that the whole
/// makes and they do not.
#[test]
fn the_pieces_move_as_the_whole() {
    let cases = [
        ("cut-beam", "0.02", "beam.middle.x", 1e-10),
        ("cut-beam-three", "0.02", "beam.middle.x", 1e-9),
        ("cut-shell", "0.1", "plate.middle.x", 1e-6),
        ("cut-double-pendulum", "0.2", "pendulum.tip.pz", 1e-5),
        ("rotor", "0.1", "rotor.tip.pz", 1e-6),
        ("cut-chain", "0.1", "chain.bottom.x", 1e-5),
    ];
    for (name, duration, column, tolerance) in cases {
        let model = with(name, &[("simulation.duration", duration)]);
        let found = difference(&model, column);
        assert!(found < tolerance, "{name}: {found:e}");
    }
}

/// The shell's nodes have the inertia of rigid patches, which is enough for the plain scheme at the
/// steps of the paper; its error shrinks with the third power of the step.
#[test]
fn the_shell_can_be_cut_by_the_plain_scheme() {
    let at = |step: &str| {
        let model = with(
            "cut-shell",
            &[
                ("simulation.duration", "0.1"),
                ("simulation.step", step),
                ("multibody.plate.shells.sheet.damping", "0"),
                ("multibody.plate.tolerance", "1e-9"),
                ("multibody.plate.cut.scheme", "interface-mass"),
            ],
        );
        difference(&model, "plate.middle.x")
    };
    let (coarse, fine) = (at("1e-4"), at("5e-5"));
    assert!(fine < 1e-6, "{fine:e}");
    let order = (coarse / fine).log2();
    assert!(order > 2.5, "{order} from {coarse:e} and {fine:e}");
}

/// A part is a Newton iteration away from the whole after its first correction; each further one
/// brings it closer.
#[test]
fn further_corrections_bring_nonlinear_mechanisms_closer_to_the_whole() {
    for (name, mechanism, column) in [
        ("cut-chain", "chain", "chain.bottom.x"),
        ("cut-double-pendulum", "pendulum", "pendulum.tip.pz"),
    ] {
        let key = format!("multibody.{mechanism}.cut.corrections");
        let found = ["1", "2", "3"].map(|count| {
            let model = with(name, &[("simulation.step", "1e-3"), (&key, count)]);
            difference(&model, column)
        });
        let [one, two, three] = found;
        assert!(two < 0.1 * one, "{name}: {found:?}");
        assert!(three < two, "{name}: {found:?}");
    }
}

#[test]
fn corrections_need_a_scheme_that_corrects() {
    let text = example("cut-beam").replace(
        "at = [\"girder.12\"]",
        "at = [\"girder.12\"]\nscheme = \"interface-mass\"\ncorrections = 2",
    );
    let problems = read(&text).unwrap_err().to_string();
    assert!(problems.contains("interface-tangent"), "{problems}");
}

/// The rotor with some of its blades.
fn rotor(blades: &[&str]) -> String {
    let missing = ["east", "north", "west", "south"]
        .into_iter()
        .filter(|blade| !blades.contains(blade));
    let gone: Vec<String> = missing
        .flat_map(|blade| [format!("{blade} = "), format!("blade-{blade} = ")])
        .collect();
    let members = blades.iter().map(|b| format!("{b} = \"blade-{b}.8\""));
    let parts = format!("parts = {{ {} }}", members.collect::<Vec<_>>().join(", "));
    let text = example("rotor");
    let lines = text.lines().filter(|line| {
        let starts = |start: &String| line.starts_with(start.as_str());
        !gone.iter().any(starts)
    });
    let lines = lines.map(|line| match line.starts_with("parts = ") {
        true => parts.as_str(),
        false => line,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    text.replace("duration = 0.5", "duration = 0.05")
}

#[test]
fn a_rotor_is_cut_from_one_two_or_four_blades() {
    for blades in [
        &["east"][..],
        &["east", "west"],
        &["east", "north", "west", "south"],
    ] {
        let model = read(&rotor(blades)).unwrap_or_else(|p| panic!("{p}"));
        let simulation = model.simulation().unwrap();
        assert_eq!(simulation.names().count(), blades.len() + 1);
        let found = difference(&model, "rotor.tip.pz");
        assert!(found < 1e-8, "{blades:?}: {found:e}");
    }
}

/// The literature's scheme: the first part has the interface, and the schedule says who goes first.
#[test]
fn force_and_displacement_need_no_coupling() {
    let scheme = ("multibody.beam.cut.scheme", "force-displacement");
    for (kind, stages) in [("jacobi", 1), ("gauss-seidel", 2)] {
        let model = with("cut-beam", &[scheme, ("schedule.kind", kind)]);
        let simulation = model.simulation().unwrap();
        let names: Vec<&str> = simulation.names().collect();
        assert_eq!(names, ["beam.left", "beam.right"]);
        assert_eq!(simulation.schedule().stages.len(), stages);
        assert_eq!(simulation.interfaces().len(), 1);
    }
}

/// The plain scheme errs by the third power of the step, as the cubic predictor does.
#[test]
fn without_tangents_the_difference_has_the_order_of_the_predictor() {
    for damping in ["0", "1e-3"] {
        let at = |step: &str| {
            let model = with(
                "cut-beam",
                &[
                    ("simulation.duration", "0.1"),
                    ("simulation.step", step),
                    ("multibody.beam.cut.scheme", "interface-mass"),
                    ("multibody.beam.tolerance", "1e-10"),
                    ("D", damping),
                ],
            );
            difference(&model, "beam.middle.x")
        };
        let order = (at("1e-4") / at("5e-5")).log2();
        assert!((2.5..3.5).contains(&order), "{damping}: {order}");
    }
}

/// Papers read the damping factor 0.05 as seconds; then the mass of the interface is too small.
#[test]
fn stiff_damping_breaks_the_plain_scheme_and_not_the_tangents() {
    let set = [("simulation.duration", "0.02"), ("D", "0.05")];
    let model = with("cut-beam", &set);
    assert!(difference(&model, "beam.middle.x") < 1e-9);
    let plain = ("multibody.beam.cut.scheme", "interface-mass");
    let model = with("cut-beam", &[set[0], set[1], plain]);
    let mut simulation = model.simulation().unwrap();
    let outcome = simulation.run(Run {
        energy_bound: Some(100.0),
        ..Run::new(model.steps(), &mut InMemory::default())
    });
    assert!(outcome.end.is_err());
}

#[test]
fn results_keep_the_names_of_the_whole() {
    for name in ["cut-beam", "cut-shell", "cut-double-pendulum", "rotor"] {
        for scheme in ["interface-tangent", "interface-mass", "force-displacement"] {
            let part = name_of_mechanism(name);
            let key = format!("multibody.{part}.cut.scheme");
            let model = with(name, &[(&key, scheme)]);
            let [pieces, whole] =
                [model.simulation().unwrap(), model.monolithic(None).unwrap()].map(columns);
            let missing: Vec<_> = whole.iter().filter(|c| !pieces.contains(c)).collect();
            assert!(missing.is_empty(), "{name}, {scheme}: {missing:?}");
        }
    }
}

fn name_of_mechanism(example: &str) -> &str {
    match example {
        "cut-beam" => "beam",
        "cut-shell" => "plate",
        "cut-double-pendulum" => "pendulum",
        other => other,
    }
}

fn columns(simulation: Simulation) -> Vec<String> {
    let columns = simulation.columns().iter();
    columns.map(|column| column.name.clone()).collect()
}

/// Neither gravity nor stored energy is counted twice where a node has copies.
#[test]
fn the_energy_of_an_interface_is_counted_once() {
    for scheme in ["interface-tangent", "interface-mass", "force-displacement"] {
        let settled = [
            ("multibody.beam.static_equilibrium", "true"),
            ("multibody.beam.cut.scheme", scheme),
        ];
        let model = with("cut-beam", &settled);
        let [pieces, whole] = [model.simulation().unwrap(), model.monolithic(None).unwrap()]
            .map(|mut simulation| simulation.energy().expect("an energy"));
        let stored = |energy: &oldham_cosim::Energy| energy.kinetic + energy.potential;
        assert!(stored(&whole).abs() > 1.0);
        let ratio = stored(&pieces) / stored(&whole);
        assert!((ratio - 1.0).abs() < 1e-9, "{scheme}: {ratio}");
    }
}

/// From equilibrium nothing moves, in pieces as little as in one.
#[test]
fn pieces_start_in_the_equilibrium_of_the_whole() {
    let settled = [
        ("multibody.beam.static_equilibrium", "true"),
        ("simulation.duration", "0.02"),
    ];
    let model = with("cut-beam-three", &settled);
    let height = coupled(&model).column("beam.middle.x");
    assert!((height[0] + 0.9146).abs() < 1e-3, "{}", height[0]);
    let moved = height.iter().map(|z| (z - height[0]).abs());
    assert!(moved.fold(0.0, f64::max) < 1e-6);
}

#[test]
fn threads_do_not_change_a_bit() {
    let model = with("rotor", &[("simulation.duration", "0.02")]);
    assert_threads_keep_bits(&model);
}

#[test]
fn a_checkpoint_continues_with_the_same_bits() {
    let model = with("cut-beam-three", &[("simulation.duration", "0.01")]);
    let parts = ["beam.left", "beam.middle", "beam.right", "beam.coupling"];
    assert_checkpoint_keeps_bits(&model, &parts);
}

/// The coupling may be integrated otherwise; the first-order method then sets the error.
#[test]
fn couplings_may_have_a_method_of_their_own() {
    let at = |step: &str| {
        let model = with(
            "cut-beam",
            &[
                ("simulation.duration", "0.1"),
                ("simulation.step", step),
                ("D", "0"),
                ("multibody.beam.cut.coupling.integrator", "backward-euler"),
            ],
        );
        difference(&model, "beam.middle.x")
    };
    let order = (at("2e-4") / at("1e-4")).log2();
    assert!((0.7..1.4).contains(&order), "{order}");
}

/// A part may be integrated otherwise; its method then sets the error.
#[test]
fn parts_may_have_methods_of_their_own() {
    for (method, expected) in [("backward-euler", 1.0), ("generalised-alpha", 2.0)] {
        let table = "[multibody.beam.cut]";
        let own = format!("{table}\nmethods.right = {{ integrator = \"{method}\" }}");
        let text = example("cut-beam").replacen(table, &own, 1);
        let at = |step: &str| {
            let duration = ("simulation.duration", "0.1");
            let model = parsed(&text, &[duration, ("simulation.step", step), ("D", "0")]);
            difference(&model, "beam.middle.x")
        };
        let order = (at("1e-4") / at("5e-5")).log2();
        assert!((order - expected).abs() < 0.4, "{method}: {order}");
    }
}

const BESIDE_OTHERS: &str = r#"
    [model]
    name = "Beam and oscillator"
    [simulation]
    duration = 0.1
    step = 1e-4
    [schedule]
    predictor = "first-order"
    [lumped.oscillator]
    integrator = "lms2"
    masses.x = { mass = 5.0 }
    springs.wall = { between = ["ground", "x"], stiffness = 2e3 }
    loads.push = { on = "x", force = "4e4 * sin(20 * t)" }
    outputs.pull = { displacement = "x" }
    [multibody.beam]
    rho = 0.6
    [multibody.beam.cut]
    at = ["girder.4"]
    parts = { left = "girder.0", right = "girder.8" }
    [multibody.beam.sections.girder]
    axial = 1e6
    shear = [0.6e6, 0.6e6]
    torsion = 1e3
    bending = [2e3, 1e4]
    mass = 5.0
    inertia = [0.1, 0.05, 0.05]
    [multibody.beam.beams.girder]
    from = [0, 0, 0]
    to = [8, 0, 0]
    elements = 4
    section = "girder"
    up = [0, 1, 0]
    [multibody.beam.joints]
    left = { type = "revolute", between = ["ground", "girder.0"], axis = [0, 1, 0] }
    right = { type = "revolute", between = ["ground", "girder.8"], axis = [0, 1, 0] }
    [multibody.beam.inputs]
    pull = { scalar = "m" }
    grip = { scalar = "N" }
    [multibody.beam.loads]
    grip = { on = "girder.2", force = [0, 0, { input = "grip" }] }
    near = { on = "girder.4", force = [0, 0, { input = "pull" }] }
    far = { on = "girder.6", force = [0, 0, { input = "pull" }] }
    [multibody.beam.outputs]
    middle = { translation = "girder.4", axis = [0, 0, 1] }
    quarter = { translation = "girder.6", axis = [0, 0, 1] }
    [excitation]
    "beam.grip" = "30 * sin(40 * t)"
    [[connection]]
    from = "oscillator.pull"
    to = "beam.pull"
"#;

/// An input that several pieces use reaches all of them, whatever else they receive. The coupling
/// advances after the oscillator and need not guess what it sends.
#[test]
fn a_cut_mechanism_beside_others_differs_from_the_uncut_by_the_cut_alone() {
    let model = read(BESIDE_OTHERS).unwrap_or_else(|p| panic!("{p}"));
    for column in ["beam.middle.x", "beam.quarter.x"] {
        let found = difference(&model, column);
        assert!(found < 1e-7, "{column}: {found:e}");
    }
}

/// What is said about a cut of a beam with a ring of beads beside it.
fn refusal(cut: &str) -> String {
    let text = format!(
        r#"
        [model]
        name = "M"
        [simulation]
        duration = 1.0
        step = 1e-3
        [multibody.m]
        [multibody.m.cut]
        {cut}
        [multibody.m.sections.s]
        axial = 1e6
        shear = [1e6, 1e6]
        torsion = 1e3
        bending = [1e3, 1e3]
        mass = 5.0
        inertia = [0.1, 0.05, 0.05]
        [multibody.m.beams.girder]
        from = [0, 0, 0]
        to = [8, 0, 0]
        elements = 4
        section = "s"
        up = [0, 1, 0]
        [multibody.m.nodes]
        a = {{ position = [0, 0, 1] }}
        b = {{ position = [1, 0, 1] }}
        bare = {{ position = [1, 0, 2] }}
        [multibody.m.bodies]
        a = {{ node = "a", mass = 1, inertia = [1, 1, 1] }}
        b = {{ node = "b", mass = 1, inertia = [1, 1, 1] }}
        [multibody.m.joints]
        hinge = {{ type = "revolute", between = ["ground", "girder.0"] }}
        weld = {{ type = "fixed", between = ["girder.8", "a"] }}
        [multibody.m.bushings]
        ab = {{ between = ["a", "b"], stiffness = [1, 1, 1], rotational_stiffness = [1, 1, 1] }}
        tie = {{ between = ["b", "bare"], stiffness = [1, 1, 1], rotational_stiffness = [1, 1, 1] }}
        [multibody.m.loads]
        push = {{ on = "a", force = [1, 0, 0] }}
        "#
    );
    read(&text).expect_err(cut).to_string()
}

#[test]
fn refused_cuts_say_why_and_what_would_work() {
    let cases = [
        (
            "at = [\"girder.3\"]",
            "would go through that element",
            "`girder.2` instead",
        ),
        ("at = [\"bare\"]", "`bare` has no mass", "a cut at `a`"),
        (
            "at = [\"girder\"]",
            "`girder` has many nodes",
            "such as `girder.2`",
        ),
        (
            "at = [\"push\"]",
            "`push` is a load",
            "the node on which it acts",
        ),
        ("at = [\"ground\"]", "the ground does not move", ""),
        (
            "at = [\"girdr.4\"]",
            "no node, joint or spring `girdr.4`",
            "did you mean `girder.4`?",
        ),
        (
            "at = [\"girder.*.*\"]",
            "no node, joint or spring",
            "did you mean `girder.0`?",
        ),
        ("at = []", "nothing is cut", "name nodes or joints"),
        ("at = [\"b\"]", "has no mass at all", ""),
        (
            "at = [\"girder.4\"]\nparts = { coupling = \"girder.0\" }",
            "no part can be called `coupling`",
            "",
        ),
        (
            "at = [\"girder.4\"]\nparts = { left = \"girder.0\", right = \"girder.2\" }",
            "does not separate them",
            "",
        ),
        (
            "at = [\"girder.4\"]\nparts = { left = \"girder.4\" }",
            "cannot stand for a part",
            "",
        ),
        (
            "at = [\"girder.4\"]\nscheme = \"interface-tangent\"\ncoupling = { integrator = \"backward-euler\" }",
            "with parts that have different integrators",
            "`interface-mass` works",
        ),
        (
            "at = [\"girder.4\"]\nscheme = \"interface-tangent\"\nmethods = { 1 = { integrator = \"backward-euler\" } }",
            "with parts that have different integrators",
            "`interface-mass` works",
        ),
        (
            "at = [\"girder.4\"]\nparts = { left = \"girder.0\" }\nmethods = { lef = { micro_steps = 2 } }",
            "there is no part `lef`",
            "left",
        ),
        (
            "at = [\"girder.4\"]\nmethods = { coupling = { micro_steps = 2 } }",
            "there is no part `coupling`",
            "says `coupling`",
        ),
        (
            "at = [\"girder.4\"]\nscheme = \"interface-tangent\"\ncoupling = { micro_steps = 2 }",
            "several micro steps",
            "`interface-mass` works",
        ),
    ];
    for (cut, message, help) in cases {
        let said = refusal(cut);
        assert!(said.contains(message), "{cut}: {said}");
        assert!(said.contains(help), "{cut}: {said}");
    }
}

/// The energy of what falls from rest stays zero up to small errors, which must not count as
/// growth.
#[test]
fn what_falls_from_rest_is_not_stopped() {
    let model = with("cut-beam", &[("D", "0"), ("simulation.duration", "0.6")]);
    let mut memory = InMemory::default();
    let outcome = model.monolithic(None).unwrap().run(Run {
        record_every: u64::MAX,
        energy_bound: model.energy_bound(),
        ..Run::new(model.steps(), &mut memory)
    });
    assert!(outcome.end.is_ok(), "{:?}", outcome.end);
}

/// A beam that is clamped, and starts with a velocity that the clamp does not have. The mechanism in one piece divides its
/// steps; parts that exchange interface Jacobians cannot, and had said "gives NaN" or "the system matrix is singular".
#[test]
fn a_part_that_cannot_divide_its_first_step_says_what_helps() {
    let text = CUT_CANTILEVER
        .replace("duration = 1.0", "duration = 0.02")
        .replace("up = [0, 1, 0]", "up = [0, 1, 0]\nvelocity = [0, 0, 20]")
        .replace("young = 2.1e11", "young = 2e9\ndamping = 1e-4");
    let with_step = |step: &str| {
        let model = parsed(&text, &[("simulation.step", step)]);
        [
            model.simulation().expect("parts"),
            model.monolithic(None).expect("one piece"),
        ]
        .map(|mut simulation| {
            simulation
                .steps(model.steps())
                .map_err(|fault| fault.to_string())
        })
    };
    let [cut, whole] = with_step("5e-3");
    assert_eq!(whole, Ok(()));
    let said = cut.expect_err("its first step cannot be taken whole");
    for told in [
        "`b.1`",
        "takes every step whole",
        "take a smaller step, or run it whole",
        "velocities at the start that do not fit the joints",
    ] {
        assert!(said.contains(told), "{said}");
    }
    // What it says helps.
    assert_eq!(with_step("2e-4"), [Ok(()), Ok(())]);
}

/// The hub would have nothing but pitch bearings between its interfaces.
#[test]
fn a_turbine_that_is_cut_at_its_blade_roots_is_told_where_to_cut() {
    let hub = r#"at = ["hub"]"#;
    let text = example("wind-turbine");
    assert_eq!(text.matches(hub).count(), 1);
    let roots = r#"at = ["bearing1", "bearing2", "bearing3"]"#;
    let problems = read(&text.replace(hub, roots)).expect_err("a problem");
    let [problem] = &problems.iter().collect::<Vec<_>>()[..] else {
        panic!("{problems}");
    };
    let message = "a part would have joints alone, `pitch1`, `pitch2`, `pitch3`";
    assert!(problem.message.contains(message), "{problems}");
    let help = problem.help.as_deref();
    assert_eq!(help, Some("a cut at `hub` instead would work"));
    let line = text.lines().position(|line| line == hub).expect("a line");
    assert_eq!(problems.locate(problem).line, line + 1);
}
