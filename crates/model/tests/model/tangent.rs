//! The interface tangent in model files: what comes of it, and why it is refused.

use oldham_model::{Model, Overrides};

use crate::common::{History, example};

fn with(text: &str, set: &[(&str, &str)]) -> Result<Model, String> {
    let set = set
        .iter()
        .map(|(key, value)| ((*key).into(), (*value).into()));
    let model = Model::parse(text, "test.toml", &Overrides(set.collect()));
    model.map_err(|problems| problems.to_string())
}

fn refused(text: &str, set: &[(&str, &str)]) -> String {
    with(text, set).expect_err("must be refused")
}

#[test]
fn a_chain_of_three_parts_runs_as_its_monolithic_model() {
    let model = with(&example("interface-tangent"), &[]).unwrap();
    let cut = History::of(&model, model.simulation().unwrap());
    let monolithic = History::of(&model, model.monolithic(None).unwrap());
    for name in ["left.x1.x", "middle.x2.x", "right.x3.x", "joints.b.v"] {
        let (found, exact) = (cut.column(name), monolithic.column(name));
        let largest = exact.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        for (found, exact) in found.iter().zip(&exact) {
            assert!((found - exact).abs() < 1e-10 * largest, "{name}");
        }
    }
}

/// Motions are echoed for the joints alone.
#[test]
fn tangents_and_echoes_are_not_recorded() {
    let model = with(&example("interface-tangent"), &[]).unwrap();
    let simulation = model.simulation().unwrap();
    let names: Vec<_> = simulation
        .columns()
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert!(names.contains(&"left.fa"));
    let internal = |name: &&str| name.contains("tangent") || name.contains(".at");
    assert!(!names.iter().any(internal), "{names:?}");
}

#[test]
fn some_parts_can_be_chosen_by_name() {
    let text = example("interface-mass");
    let model = with(&text, &[("schedule.tangent", "[\"left\"]")]).unwrap();
    let simulation = model.simulation().unwrap();
    let sends = |name: &str| {
        let ports = simulation.ports(simulation.find(name).unwrap());
        ports.output("tangent").is_some()
    };
    assert!(sends("left") && !sends("right"));
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let text = example("interface-mass");
    let on = ("schedule.tangent", "true");
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("lumped.joint.integrator", "rk4")],
            "needs the integrator `lms2`",
        ),
        (&[("lumped.joint.micro_steps", "2")], "one micro step"),
        (&[("lumped.left.every", "2")], "a macro step of its own"),
        (&[("schedule.kind", "jacobi")], "in a stage before `joint`"),
        (
            &[("schedule.coupling", "implicit")],
            "implicit (tight) coupling iterates",
        ),
    ];
    for (set, reason) in cases {
        let set: Vec<_> = set.iter().copied().chain([on]).collect();
        let told = refused(&text, &set);
        assert!(told.contains(reason), "{told}");
    }
    let told = refused(&text, &[("schedule.tangent", "[\"joint\"]")]);
    assert!(
        told.contains("receives no motion as `position_driven`"),
        "{told}"
    );
    let told = refused(&text, &[("schedule.tangent", "[\"lefd\"]")]);
    assert!(told.contains("did you mean `left`?"), "{told}");
    let told = refused(&example("two-mass-damped"), &[on]);
    assert!(
        told.contains("no subsystem has an interface Jacobian"),
        "{told}"
    );
}

/// The middle part's tangent has terms across both joints.
#[test]
fn joints_that_share_a_part_must_be_one_subsystem() {
    let text = example("interface-tangent");
    let apart = text
        .replace("masses.b = { mass = \"joint\" }\n", "")
        .replace("inputs.middle_b = { force = \"b\" }\n", "")
        .replace("inputs.right = { force = \"b\" }\n", "")
        .replace("outputs.b = { motion = \"b\" }\n", "")
        .replace("joints.b\"", "other.b\"")
        .replace("joints.middle_b", "other.middle_b")
        .replace("joints.right", "other.right")
        .replace("[\"joints\"]", "[\"joints\", \"other\"]")
        + "\n[lumped.other]\nintegrator = \"lms2\"\nmasses.b = { mass = \"joint\" }\n\
           inputs.middle_b = { force = \"b\" }\ninputs.right = { force = \"b\" }\n\
           outputs.b = { motion = \"b\" }\n";
    assert!(with(&apart, &[("schedule.tangent", "[\"left\", \"right\"]")]).is_ok());
    let told = refused(&apart, &[]);
    assert!(told.contains("make one subsystem of them"), "{told}");
}
