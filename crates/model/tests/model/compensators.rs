//! Compensators are offered when they help, and only then.

use oldham_model::{Approach, CompensationError, Model, Offer, Overrides};
use oldham_stability::compensate::DesignError;

use crate::common::{example, read};

/// Three masses in a row, cut at the second spring. Assignment puts the poles right with a gain of
/// nearly minus the mass of 3 kg on its acceleration: a gram is left, and answers to everything.
const THREE_MASSES: &str = r#"
[model]
name = "Three masses"
[simulation]
step = 3e-4
duration = 3.0
energy_bound = 0
[lumped.left]
integrator = "semi-implicit-euler"
masses.x0 = { mass = 0.04, velocity = -100.0 }
masses.x1 = { mass = 3.0, velocity = -30.0 }
springs.s0 = { between = ["ground", "x0"], stiffness = 2e4, damping = 20.0 }
springs.s1 = { between = ["x0", "x1"], stiffness = 100.0 }
springs.s2 = { between = ["x1", "far"], stiffness = 2000.0 }
inputs.far = { motion = "far" }
inputs.correction = { force = "x1" }
outputs.x0 = { motion = "x0" }
outputs.x1 = { motion = "x1" }
outputs.f = { force = "far" }
[lumped.right]
integrator = "semi-implicit-euler"
masses.x2 = { mass = 0.15, velocity = 70.0 }
springs.s3 = { between = ["x2", "ground"], stiffness = 3000.0, damping = 7.0 }
inputs.push = { force = "x2" }
outputs.x2 = { motion = "x2" }
[[connection]]
from = "right.x2"
to = "left.far"
[[connection]]
from = "left.f"
to = "right.push"
[compensator.c]
force = "left.f"
correct = "left.correction"
[schedule]
predictor = "zero-order"
"#;

#[test]
fn an_assignment_that_spoils_the_motion_is_not_offered() {
    let model = read(THREE_MASSES).expect("a model");
    match model.compensate(Approach::Sampled) {
        Err(CompensationError::Worse { errors }) => {
            assert!(errors[1] > 1.0 && errors[0] < 0.05, "{errors:?}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("offered"),
    }
    let (_, offer) = model.compensate(Approach::Structural).expect("an offer");
    let Offer::Structural { errors, .. } = offer else {
        panic!("another offer");
    };
    let [without, with] = errors.expect("a monolithic model");
    assert!(with < without, "{without} {with}");
}

/// What the compensator remembers of its own part's acceleration is a recurrence of its own, with the
/// factor kc h² / (2 m2): 1.28 here. No recorded signal shows it before it overflows.
#[test]
fn the_memory_of_a_structural_compensator_is_analysed() {
    let changes = [
        ("m1", "100"),
        ("k2", "1"),
        ("cc", "0"),
        ("simulation.step", "0.16"),
        ("simulation.duration", "8"),
    ];
    let overrides = Overrides(changes.map(|(k, v)| (k.into(), v.into())).to_vec());
    let text = example("two-mass-compensated");
    let model = Model::parse(&text, "test.toml", &overrides).expect("a model");
    match model.compensate(Approach::Structural) {
        Err(CompensationError::Design(DesignError::StructureUnstable { radius })) => {
            assert!((radius[1] - 1.28).abs() < 1e-3, "{radius:?}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("offered"),
    }
}

#[test]
fn where_there_is_no_delay_there_is_nothing_to_compensate() {
    let refusal = |name: &str| {
        let model = read(&example(name)).expect("a model");
        match model.compensate(Approach::Sampled) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name}: offered"),
        }
    };
    let tight = refusal("two-mass-tight");
    assert!(
        tight.contains("implicit (tight) coupling iterates the delay away"),
        "{tight}"
    );
    let corrected = refusal("interface-tangent");
    assert!(corrected.contains("corrects every step"), "{corrected}");
}

#[test]
fn an_interface_behind_a_cut_is_refused_by_the_name_of_the_mechanism() {
    let text = example("beam-absorber");
    let cut = text.replace("rho = 0.6", "rho = 0.6\ncut.at = [\"girder.2\"]");
    let model = read(&cut).expect("a model");
    let problems = model.simulation().err().expect("it is refused").to_string();
    assert!(problems.contains("`beam` is cut into parts"), "{problems}");
}
