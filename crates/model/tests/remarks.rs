//! What is possible but unlikely is remarked; what follows from another problem is not told; joints with damping and reflected
//! inertia, and bodies with a shape and an inertia of their own, against closed forms.

use oldham_cosim::{InMemory, Run};
use oldham_model::{Model, Overrides};

const PENDULUM: &str = r#"
[model]
name = "Pendulum"
[parameters]
g = 9.81
[simulation]
duration = 1
step = 1e-3
[multibody.m]
gravity = [0, 0, "-g"]
[multibody.m.nodes]
bob = { position = [0.5, 0, 0], velocity = [0, 0, "-0.5 * rate"], angular_velocity = [0, "rate", 0] }
[multibody.m.bodies]
bob = { node = "bob", mass = 2, shape = { box = [0.1, 0.2, 0.3] }, inertia = [0.01, 0.3, 0.3] }
[multibody.m.joints]
pin = { type = "revolute", between = ["ground", "bob"], position = [0, 0, 0], axis = [0, 1, 0], damping = 0.7, reflected_inertia = 0.25 }
"#;

fn read(text: &str) -> Result<Model, Vec<String>> {
    Model::parse(text, "model.toml", &Overrides::none()).map_err(|problems| {
        problems
            .iter()
            .map(|problem| problem.message.clone())
            .collect()
    })
}

fn pendulum(g: f64, rate: f64) -> Model {
    let text = PENDULUM.replace("g = 9.81", &format!("g = {g}\nrate = {rate}"));
    read(&text).unwrap()
}

fn angular_acceleration(model: &Model) -> f64 {
    let mut simulation = model.simulation().unwrap();
    let mut memory = InMemory::default();
    simulation.run(Run::new(0, &mut memory)).end.unwrap();
    let columns = simulation.columns();
    let column = columns
        .iter()
        .position(|column| column.name == "m.nodes.bob.aly");
    memory.rows[0][column.unwrap()]
}

/// Of the body about the pin, and of the rotor.
const INERTIA: f64 = 0.3 + 2.0 * 0.25 + 0.25;

#[test]
fn a_joint_feels_the_inertia_of_a_rotor_and_the_body_has_its_own_beside_a_shape() {
    let found = angular_acceleration(&pendulum(9.81, 0.0));
    let exact = 2.0 * 9.81 * 0.5 / INERTIA;
    assert!((found - exact).abs() < 1e-12 * exact, "{found} {exact}");
}

#[test]
fn a_joint_with_damping_resists_its_rate() {
    let found = angular_acceleration(&pendulum(0.0, 3.0));
    let exact = -0.7 * 3.0 / INERTIA;
    assert!((found - exact).abs() < 1e-12, "{found} {exact}");
}

#[test]
fn joints_without_a_single_coordinate_have_neither() {
    let text = PENDULUM
        .replace("\"revolute\"", "\"spherical\"")
        .replace("axis = [0, 1, 0], ", "");
    let problems = read(&text.replace("g = 9.81", "g = 9.81\nrate = 0")).unwrap_err();
    let all = problems.join("\n");
    assert!(
        all.contains("`damping` has no meaning")
            && all.contains("`reflected_inertia` has no meaning"),
        "{all}"
    );
}

fn remarks(text: &str) -> String {
    read(text)
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
        .notes()
        .join("\n")
}

#[test]
fn what_is_unlikely_is_remarked() {
    let plain = PENDULUM.replace("g = 9.81", "g = 9.81\nrate = 0");
    assert_eq!(remarks(&plain), "");
    let free = &plain[..plain.find("[multibody.m.joints]").unwrap()];
    assert!(
        remarks(free).contains("nothing holds `bob` of `m`"),
        "{}",
        remarks(free)
    );
    assert_eq!(remarks(&free.replace("\"-g\"", "0")), "", "nothing falls");
    let degrees = plain.replace(
        "mass = 2",
        "mass = 2, orientation = { axis = [0, 1, 0], angle = 90 }",
    );
    assert!(
        remarks(&degrees).contains("write \"90 deg\""),
        "{}",
        remarks(&degrees)
    );
    let tiny = plain.replace("step = 1e-3", "step = 1e-12");
    assert!(
        remarks(&tiny).contains("1e12 macro steps"),
        "{}",
        remarks(&tiny)
    );
    let soft = format!(
        "{plain}[multibody.m.sections]\ns = {{ rectangle = [0.1, 0.1], young = 210, poisson = 0.3, density = 7850 }}\n\
         [multibody.m.beams]\nb = {{ from = \"bob\", to = [1.5, 0, 0], elements = 2, section = \"s\", up = [0, 0, 1] }}\n"
    );
    assert!(
        remarks(&soft).contains("Young's modulus of 210 Pa"),
        "{}",
        remarks(&soft)
    );
}

/// The mass is missing because its key is wrong: that is told, and not that nothing resists a motion.
#[test]
fn a_problem_that_follows_from_another_is_not_told() {
    let text = PENDULUM.replace("g = 9.81", "g = 9.81\nrate = 0");
    for wrong in ["mas = 2", "mass = \"2 N\"", "mass = \"2 pound\""] {
        let problems = read(&text.replace("mass = 2", wrong)).unwrap_err();
        assert_eq!(problems.len(), 1, "{wrong}: {problems:#?}");
    }
}

#[test]
fn a_parameter_may_be_called_v_where_no_law_needs_the_word() {
    let text = PENDULUM.replace("g = 9.81", "g = 9.81\nv = 0.2\nrate = \"5 * v\"");
    assert!(read(&text).is_ok());
    let spring = format!(
        "{text}[multibody.m.springs]\ns = {{ between = [\"ground\", \"bob\"], force = \"3 * v\" }}\n"
    );
    let problems = read(&spring).unwrap_err();
    assert!(
        problems[0].contains("`v` is its rate here, and a parameter has the same name"),
        "{problems:?}"
    );
}
