//! Mechanisms and couplings of cut mechanisms that are integrated explicitly.

use oldham_model::{Model, Overrides};
use oldham_stability::{Spectrum, critical};

use crate::common::{History, assert_checkpoint_keeps_bits, coupled, example, read};

/// An example with some of its values replaced.
fn with(name: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    let overrides = Overrides(set.collect());
    Model::parse(&example(name), "test.toml", &overrides).unwrap_or_else(|p| panic!("{p}"))
}

/// The largest difference of a column from the same model in one piece.
fn difference(model: &Model, column: &str) -> f64 {
    let whole = History::of(model, model.monolithic(None).expect("one piece"));
    let [pieces, whole] = [coupled(model), whole].map(|run| run.column(column));
    let differences = pieces.iter().zip(&whole).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// The observed order of an error from one step size to its half.
fn order(steps: [&str; 2], error: impl Fn(&str) -> f64) -> f64 {
    let [coarse, fine] = steps.map(error);
    (coarse / fine).log2()
}

const WITHIN: &str = "multibody.row.cut.coupling.inputs_within_step";

/// Lumped parts have a code of their own.
#[test]
fn masses_on_a_rail_have_the_spectral_radius_of_lumped_masses() {
    for within in ["held", "interpolated"] {
        let joint = "[lumped.joint]\nintegrator = \"lms2\"\nrho = \"rho\"\n";
        let explicit = format!(
            "[lumped.joint]\nintegrator = \"rk4\"\npredictor = \"first-order\"\ninputs_within_step = \"{within}\"\n"
        );
        let text = example("interface-mass");
        assert!(text.contains(joint));
        let lumped = read(&text.replace(joint, &explicit)).unwrap_or_else(|p| panic!("{p}"));
        let on_rails = with("four-mass-rails", &[(WITHIN, within)]);
        let [lumped, on_rails] = [lumped, on_rails].map(|model| {
            let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
            spectrum.dominant().value.norm()
        });
        let off = (lumped - on_rails).abs();
        assert!(off < 2e-9, "{within}: {lumped} and {on_rails}");
    }
}

/// As in lumped parts (Fontana 2026, Fig. 13): the held force decides, or the second order of the
/// parts and of the line between two forces.
#[test]
fn held_loads_cost_an_order_and_interpolated_ones_none() {
    for (within, expected) in [("held", 1.0), ("interpolated", 2.0)] {
        let found = order(["1e-3", "5e-4"], |step| {
            let set = [("simulation.step", step), (WITHIN, within)];
            difference(&with("four-mass-rails", &set), "row.middle.x")
        });
        assert!((found - expected).abs() < 0.05, "{within}: {found}");
    }
}

/// Positions of the interface from where it is at rest.
fn interface(run: &History, column: &str, origin: f64) -> Vec<f64> {
    let values = run.column(column).into_iter();
    values.map(|x| x - origin).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

/// Ratios of `papers/oracles/fontana_mixed.py`, from the equations of the four masses; the start, which
/// the paper does not state, moves them by a few parts in a hundred.
#[test]
fn errors_relative_to_the_monolithic_mechanism_are_those_of_lumped_masses() {
    let released = [
        ("lumped.left.masses.x1.position", "0.01"),
        ("lumped.joint.masses.x.position", "0.01"),
        ("lumped.right.masses.x4.position", "0.01"),
        ("monolithic.integrator", "exact"),
    ];
    let lumped = with("interface-mass", &released);
    let exact = History::of(&lumped, lumped.monolithic(None).unwrap());
    let exact = interface(&exact, "joint.x.x", 0.0);
    let error = |run: &History| distance(&interface(run, "row.middle.x", 2.0), &exact);
    let whole = with("four-mass-rails", &[]);
    let whole = error(&History::of(&whole, whole.monolithic(None).unwrap()));
    for (within, expected) in [("interpolated", 0.59), ("held", 115.0)] {
        let cut = with("four-mass-rails", &[(WITHIN, within)]);
        let ratio = error(&coupled(&cut)) / whole;
        assert!((ratio / expected - 1.0).abs() < 0.03, "{within}: {ratio}");
    }
}

#[test]
fn a_flexible_beam_with_an_explicit_coupling_has_the_same_orders() {
    for (within, expected) in [("held", 1.0), ("interpolated", 2.0)] {
        let found = order(["5e-5", "2.5e-5"], |step| {
            let set = [
                ("simulation.step", step),
                ("simulation.duration", "0.05"),
                ("D", "0"),
                ("multibody.beam.tolerance", "1e-10"),
                ("multibody.beam.cut.coupling.integrator", "rk4"),
                ("multibody.beam.cut.coupling.inputs_within_step", within),
            ];
            difference(&with("cut-beam", &set), "beam.middle.x")
        });
        assert!((found - expected).abs() < 0.25, "{within}: {found}");
    }
}

/// The hinge of the cut and the two nodes that it holds are the coupling.
#[test]
fn a_hinge_in_an_explicit_coupling_stays_closed() {
    let set = [
        ("simulation.step", "5e-5"),
        ("simulation.duration", "0.05"),
        ("multibody.pendulum.sections.rubber.damping", "0"),
        ("multibody.pendulum.cut.coupling.integrator", "rk4"),
    ];
    let model = with("cut-double-pendulum", &set);
    let run = coupled(&model);
    let [upper, lower] = ["upper.8", "lower.0"].map(|node| {
        ["px", "py", "pz"].map(|axis| run.column(&format!("pendulum.nodes.{node}.{axis}")))
    });
    for (a, b) in upper.iter().zip(&lower) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 1e-14, "{a} and {b}");
        }
    }
    assert!(difference(&model, "pendulum.tip.pz") < 2e-9);
}

/// Copies of interface nodes have no mass; their poses are prescribed.
#[test]
fn parts_may_be_explicit_too() {
    let found = order(["1e-3", "5e-4"], |step| {
        let set = [
            ("simulation.step", step),
            ("multibody.row.integrator", "rk4"),
        ];
        difference(&with("four-mass-rails", &set), "row.middle.x")
    });
    assert!((found - 2.0).abs() < 0.05, "{found}");
}

#[test]
fn a_checkpoint_continues_with_the_same_bits() {
    let model = with("four-mass-rails", &[]);
    assert_checkpoint_keeps_bits(&model, &["row.coupling"]);
}

/// A mass on a spring of 100 rad/s along a rail.
fn oscillator(step: f64, more: &str) -> String {
    let duration = 100.0 * step;
    format!(
        r#"
        [model]
        name = "M"
        [simulation]
        duration = {duration}
        step = {step}
        [multibody.m]
        integrator = "rk4"
        [multibody.m.nodes]
        a = {{ position = [1.1, 0, 0] }}
        [multibody.m.bodies]
        a = {{ node = "a", mass = 1, inertia = [1, 1, 1] }}
        [multibody.m.joints]
        rail = {{ type = "prismatic", between = ["ground", "a"], axis = [1, 0, 0] }}
        [multibody.m.springs]
        s = {{ between = ["ground", "a"], length = 1, stiffness = 1e4 }}
        {more}
        "#
    )
}

/// On the imaginary axis the method is stable up to 2 √2.
#[test]
fn the_analysis_finds_the_longest_stable_step() {
    let simulation = |step: f64| read(&oscillator(step, "")).ok()?.simulation().ok();
    let longest = critical(1e-2, 5e-2, simulation).expect("a limit");
    let exact = 8.0_f64.sqrt() / 100.0;
    assert!((longest / exact - 1.0).abs() < 1e-3, "{longest} {exact}");
}

#[test]
fn what_an_explicit_method_cannot_do_is_said_at_its_place() {
    let loose = "[multibody.m.bushings]
        k = { between = [\"a\", \"loose\"], stiffness = [1, 1, 1], rotational_stiffness = [1, 1, 1] }
        [multibody.m.nodes.loose]
        position = [2, 0, 0]";
    let viscous = "k = { between = [\"ground\", \"a\"], maxwell = [[1, 1]] }";
    let cases = [
        (
            loose,
            "`loose` that the joints allow moves no mass",
            "`lms2`",
        ),
        (viscous, "`k` depends on the past of the motion", "LMS2"),
    ];
    for (more, message, help) in cases {
        let problems = read(&oscillator(1e-3, more)).expect_err(more).to_string();
        assert!(problems.contains(message), "{more}: {problems}");
        assert!(problems.contains(help), "{more}: {problems}");
        let implicit = oscillator(1e-3, more).replace("\"rk4\"", "\"lms2\"");
        assert!(read(&implicit).is_ok(), "{more}");
    }
}

#[test]
fn settings_of_other_methods_and_tangents_are_refused() {
    let coupling = "coupling = { integrator = \"rk4\", inputs_within_step = \"interpolated\" }";
    let text = example("four-mass-rails");
    assert!(text.contains(coupling));
    let cases = [
        (
            "coupling = { integrator = \"rk4\", rho = 0.6 }",
            "`rho` belongs to the integrator `lms2`",
        ),
        (
            "coupling = { inputs_within_step = \"held\" }",
            "`inputs_within_step` belongs to the integrator `rk4`",
        ),
        (
            "coupling = { integrator = \"rk4\", inputs_within_step = \"hold\" }",
            "hold",
        ),
    ];
    for (instead, message) in cases {
        let problems = read(&text.replace(coupling, instead)).expect_err(instead);
        let problems = problems.to_string();
        assert!(problems.contains(message), "{instead}: {problems}");
    }
    let problems = read(&text.replace("\"interface-mass\"", "\"interface-tangent\""));
    let problems = problems.unwrap_err().to_string();
    assert!(problems.contains("explicit integrator `rk4`"), "{problems}");
    assert!(problems.contains("`interface-mass` works"), "{problems}");
}

/// Where nothing is said of the scheme, an explicit coupling gets the one that it can have.
#[test]
fn an_explicit_coupling_gets_the_plain_scheme() {
    let text = example("four-mass-rails").replace("scheme = \"interface-mass\"\n", "");
    let model = read(&text).unwrap_or_else(|p| panic!("{p}"));
    let simulation = model.simulation().unwrap();
    assert_eq!(simulation.schedule().stages.len(), 2);
}
