//! Energy: what comes in is counted once, whatever the file happens to show of it.

use oldham_cosim::{Discard, Fault, Run, Summary};
use oldham_model::{Model, Overrides};

use crate::common::{example, read, repository};

fn guide(name: &str) -> String {
    let path = repository().join("docs/src/code").join(name);
    std::fs::read_to_string(path).expect("a model of the guide")
}

fn set(text: &str, changes: &[(&str, &str)]) -> Model {
    let changes = changes.iter();
    let overrides = Overrides(changes.map(|(k, v)| ((*k).into(), (*v).into())).collect());
    Model::parse(text, "test.toml", &overrides).expect("a model")
}

fn summary(model: &Model, steps: u64) -> Summary {
    let mut simulation = model.simulation().expect("a simulation");
    let outcome = simulation.run(Run::new(steps, &mut Discard));
    outcome.end.expect("a finished run");
    outcome.summary
}

/// A mass on a spring whose other end is moved as x = a (1 - cos w t), from rest. The spring force on
/// the moved end gives the work in closed form; nothing in the file shows that force.
const MOVED: &str = r#"
[model]
name = "moved"
[simulation]
duration = 2.0
step = 1e-3
[lumped.m]
integrator = "rk4"
masses.x = { mass = 2.0 }
springs.s = { between = ["base", "x"], stiffness = 50.0 }
inputs.base = { KIND = "base" }
outputs.x = { motion = "x" }
[excitation]
"m.base" = DRIVE
"#;

#[test]
fn the_work_of_a_driven_motion_counts_without_an_output_for_its_force() {
    let (k, m, a, w) = (50.0_f64, 2.0_f64, 0.1, 3.0_f64);
    let own = (k / m).sqrt();
    // x = a (1 - cos own t) - forced part; with r = own^2 / (own^2 - w^2):
    // x'' = own^2 (u - x), u = a (1 - cos w t).
    let r = own * own / (own * own - w * w);
    let x = |t: f64| a * (1.0 - r * (w * t).cos() + (r - 1.0) * (own * t).cos());
    let v = |t: f64| a * (r * w * (w * t).sin() - (r - 1.0) * own * (own * t).sin());
    let u = |t: f64| a * (1.0 - (w * t).cos());
    let stored = |t: f64| 0.5 * m * v(t).powi(2) + 0.5 * k * (u(t) - x(t)).powi(2);
    for (kind, drive) in [
        (
            "motion",
            r#"{ x = "0.1 * (1 - cos(3 * t))", v = "0.3 * sin(3 * t)", a = "0.9 * cos(3 * t)" }"#,
        ),
        ("displacement", r#""0.1 * (1 - cos(3 * t))""#),
    ] {
        let text = MOVED.replace("KIND", kind).replace("DRIVE", drive);
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let summary = summary(&model, model.steps());
        let [supplied, imbalance] = [
            summary.final_energy.expect("energy").supplied,
            summary.imbalance.expect("energy"),
        ];
        let expected = stored(2.0);
        assert!(
            (supplied - expected).abs() < 1e-5 * expected,
            "{supplied} {expected}"
        );
        assert!(imbalance.abs() < 1e-5 * expected, "{imbalance}");
    }
}

#[test]
fn the_quarter_car_of_the_guide_gets_its_energy_from_the_road() {
    let model = read(&guide("quarter-car.toml")).expect("a model");
    let summary = summary(&model, model.steps());
    let supplied = summary.final_energy.expect("energy").supplied;
    let imbalance = summary.imbalance.expect("energy");
    assert!(supplied > 50.0, "{supplied}");
    assert!(
        imbalance.abs() < 1e-3 * supplied,
        "{imbalance} of {supplied}"
    );
}

#[test]
fn a_base_excited_model_that_explodes_is_stopped() {
    let model = set(&guide("quarter-car.toml"), &[("tyre", "2e10")]);
    let mut simulation = model.simulation().expect("a simulation");
    let end = simulation.run(Run {
        energy_bound: model.energy_bound(),
        ..Run::new(20, &mut Discard)
    });
    let fault = end.end.unwrap_err();
    assert!(matches!(fault, Fault::EnergyBound { .. }), "{fault}");
}

/// A pendulum released at the height of its pivot; nothing drives it.
#[test]
fn passive_joints_supply_nothing() {
    let text = r#"
[model]
name = "pendulum"
[simulation]
duration = 0.5
step = 1e-3
[multibody.p]
gravity = [0, 0, -9.81]
[multibody.p.nodes]
bob = { position = [1, 0, 0] }
[multibody.p.bodies]
bob = { node = "bob", mass = 1, inertia = [1e-2, 1e-2, 1e-2] }
[multibody.p.joints]
pivot = { type = "revolute", between = ["ground", "bob"], position = [0, 0, 0], axis = [0, 1, 0] }
"#;
    let model = read(text).expect("a model");
    assert_eq!(
        summary(&model, 500).final_energy.expect("energy").supplied,
        0.0
    );
}

/// A beam cut in two and a mechanism with a lumped absorber, without loads: what crosses an interface
/// is neither supplied by anybody nor counted on both sides.
#[test]
fn what_parts_exchange_is_not_supplied() {
    for (name, steps) in [("cut-beam", 40), ("interface-mass", 200)] {
        let model = read(&example(name)).expect("a model");
        let summary = summary(&model, steps);
        let supplied = summary.final_energy.expect("energy").supplied;
        assert!(supplied.abs() < 1e-9, "{name}: {supplied}");
    }
}
