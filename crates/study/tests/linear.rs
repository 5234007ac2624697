//! Linear models against closed forms and differences.

use std::f64::consts::TAU;

use nalgebra::Complex;
use oldham_model::Model;
use oldham_study::{LinearModel, ModelFile, Range, linearise};

fn read(text: &str) -> Model {
    let read = ModelFile::of_text("test.toml", text).read();
    read.unwrap_or_else(|problems| panic!("{problems}"))
}

/// The response at a frequency in hertz, as a complex number.
fn response(linear: &LinearModel, from: &str, to: &str, hertz: f64) -> Complex<f64> {
    let range = Range::listed("f", vec![hertz]).unwrap();
    let bode = linear
        .bode(&[from.into()], &[to.into()], Some(&range))
        .unwrap();
    let curve = &bode.curves[0];
    Complex::from_polar(curve.magnitude[0], curve.phase[0].to_radians())
}

fn assert_near(found: Complex<f64>, expected: Complex<f64>, tolerance: f64, what: &str) {
    let error = (found - expected).norm() / expected.norm();
    assert!(
        error < tolerance,
        "{what}: {found} instead of {expected}, {error:e}"
    );
}

/// The textbook transfer functions of a quarter car from the road to its wheel and body, although it is
/// cut between them.
#[test]
fn the_quarter_car_has_its_closed_form() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/src/code/quarter-car.toml"
    );
    let model = ModelFile::new(path).read().unwrap();
    let linear = linearise(&model, None).unwrap();
    let number = |name: &str| model.parameter(name).unwrap();
    let (m1, m2) = (number("wheel_mass"), number("body_mass"));
    let (k, c, kt) = (number("spring"), number("damper"), number("tyre"));
    for hertz in [0.01, 0.3, 1.3, 4.0, 11.0, 60.0] {
        let s = Complex::new(0.0, TAU * hertz);
        let (spring, s2) = (c * s + k, s * s);
        let both = (m2 * s2 + spring) * (m1 * s2 + spring + kt) - spring * spring;
        let body = kt * spring / both;
        let hub = kt * (m2 * s2 + spring) / both;
        let found = |to: &str| response(&linear, "wheel.road", to, hertz);
        assert_near(found("chassis.body.x"), body, 1e-10, "body");
        assert_near(
            found("chassis.body.a"),
            s2 * body,
            1e-10,
            "acceleration of the body",
        );
        assert_near(found("wheel.hub.x"), hub, 1e-10, "hub");
        let force = spring * (hub - body);
        assert_near(found("wheel.lift"), force, 1e-9, "force of the suspension");
    }
}

/// Two masses, laws that are not linear, a force and a moving base.
fn nonlinear(values: &[f64; 7]) -> String {
    let [x1, x2, v1, v2, f, base, base_rate] = values;
    format!(
        r#"
[model]
name = "nonlinear"
[simulation]
duration = 1.0
step = 1e-3
[lumped.two]
integrator = "rk4"
masses.one = {{ mass = 2.0, position = {x1:e}, velocity = {v1:e} }}
masses.two = {{ mass = 3.0, position = {x2:e}, velocity = {v2:e} }}
springs.hard = {{ between = ["base", "one"], force = "100*d + 900*d^3 + 3*v" }}
springs.link = {{ between = ["one", "two"], force = "50*sinh(d) + 4*v*(1 + d^2) + 2*v^3" }}
inputs.push = {{ force = "two" }}
inputs.base = {{ motion = "base" }}
outputs.one = {{ motion = "one" }}
outputs.two = {{ motion = "two" }}
outputs.hold = {{ force = "base" }}
[excitation]
"two.push" = {f:e}
"two.base" = {{ x = {base:e}, v = {base_rate:e}, a = 0 }}
"#
    )
}

/// Derivatives of accelerations and of the force on the base, against differences of fourth order of
/// models with other initial values.
#[test]
fn laws_that_are_not_linear_are_those_of_differences() {
    let point = [0.2, -0.1, 0.3, -0.4, 7.0, 0.05, 0.1];
    let linear = linearise(&read(&nonlinear(&point)), None).unwrap();
    let space = &linear.space;
    assert_eq!(
        space.states,
        ["two.one.x", "two.two.x", "two.one.v", "two.two.v"]
    );
    let wanted = ["two.one.a", "two.two.a", "two.hold"];
    let at = |values: &[f64; 7]| {
        let model = read(&nonlinear(values));
        let simulation = model.simulation().unwrap();
        let id = simulation.find("two").unwrap();
        let ports = simulation.ports(id);
        wanted.map(|name| {
            let names = (0..ports.output_width()).map(|i| ports.output_component_name(i));
            let names: Vec<String> = names.map(|name| format!("two.{name}")).collect();
            let place = names.iter().position(|known| known == name).unwrap();
            simulation.outputs(id)[place]
        })
    };
    const H: f64 = 1e-3;
    for (variable, name) in [
        "two.one.x",
        "two.two.x",
        "two.one.v",
        "two.two.v",
        "two.push",
        "two.base.x",
        "two.base.v",
    ]
    .iter()
    .enumerate()
    {
        let moved = |steps: f64| {
            let mut values = point;
            values[variable] += steps * H;
            at(&values)
        };
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(moved);
        for (row, output) in wanted.iter().enumerate() {
            let expected = (a[row] - 8.0 * b[row] + 8.0 * c[row] - d[row]) / (12.0 * H);
            let place = linear
                .targets()
                .iter()
                .position(|known| known == output)
                .unwrap();
            let state = space.states.iter().position(|known| known == name);
            let input = space.inputs.iter().position(|known| known.name == **name);
            let found = match (state, input) {
                (Some(state), _) => space.c[(place, state)],
                (None, Some(input)) => space.d[(place, input)],
                (None, None) => panic!("{name} in {:?}", space.inputs),
            };
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-7, "{output} by {name}: {found} {expected}");
        }
    }
    // The rates of the velocities are the accelerations.
    for (mass, output) in ["two.one.a", "two.two.a"].iter().enumerate() {
        let place = linear
            .targets()
            .iter()
            .position(|known| known == output)
            .unwrap();
        let difference = space.a.row(2 + mass) - space.c.row(place);
        assert!(difference.norm() < 1e-12);
    }
}

/// A pendulum that hangs, pushed sideways at its bob: (1/m) / (s² + g/l); and two pendulums with equal
/// masses and lengths: ω² = (2 ∓ √2) g/l.
#[test]
fn pendulums_have_their_closed_forms() {
    let text = r#"
[model]
name = "pendulum"
[simulation]
duration = 1.0
step = 1e-3
[multibody.arm]
gravity = [0, -9.81, 0]
nodes.one = { position = [0, -0.5, 0] }
bodies.one = { node = "one", mass = 2.0, inertia = [1e-9, 1e-9, 1e-9] }
joints.pivot = { type = "revolute", between = ["ground", "one"], position = [0, 0, 0] }
inputs.push = { scalar = "N" }
loads.push = { on = "one", force = [{ input = "push" }, 0, 0] }
outputs.side = { translation = "one", axis = [1, 0, 0] }
[excitation]
"arm.push" = 0
"#;
    let linear = linearise(&read(text), None).unwrap();
    assert_eq!(linear.space.states.len(), 2);
    for hertz in [0.1, 0.5, 0.9, 5.0] {
        let s = Complex::new(0.0, TAU * hertz);
        let expected = 0.5 / (s * s + 9.81 / 0.5);
        let found = |to: &str| response(&linear, "arm.push", to, hertz);
        assert_near(found("arm.side.x"), expected, 1e-7, "displacement");
        assert_near(found("arm.side.a"), s * s * expected, 1e-7, "acceleration");
    }
    let double = text.replace(
        "inputs.push",
        "nodes.two = { position = [0, -1, 0] }\n\
         bodies.two = { node = \"two\", mass = 2.0, inertia = [1e-9, 1e-9, 1e-9] }\n\
         joints.knee = { type = \"revolute\", between = [\"one\", \"two\"], position = [0, -0.5, 0] }\n\
         inputs.push",
    );
    let poles = linearise(&read(&double), None).unwrap().space.poles;
    let expected = [-1.0, 1.0].map(|sign: f64| ((2.0 + sign * 2.0_f64.sqrt()) * 9.81 / 0.5).sqrt());
    assert_eq!(poles.len(), 2);
    for (pole, omega) in poles.iter().zip(expected) {
        assert!((pole.norm() - omega).abs() < 1e-7 * omega, "{pole} {omega}");
    }
}

/// A chain of equal masses between walls: ω = 2 √(k/m) sin(jπ/2(n+1)), and sines as shapes.
#[test]
fn a_chain_has_the_modes_of_the_textbook() {
    let text = r#"
[model]
name = "chain"
[simulation]
duration = 1.0
step = 1e-3
[lumped.row]
integrator = "lms2"
masses."x{i}" = { repeat.i = 5, mass = 2.0 }
springs.first = { between = ["ground", "x1"], stiffness = 800.0 }
springs."s{i}" = { repeat.i = "2:5", between = ["x{i - 1}", "x{i}"], stiffness = 800.0 }
springs.last = { between = ["x5", "ground"], stiffness = 800.0 }
outputs.x1 = { motion = "x1" }
"#;
    let modes = linearise(&read(text), None).unwrap().modes(usize::MAX);
    assert_eq!(modes.len(), 5);
    for (j, mode) in (1..).zip(&modes) {
        let angle = f64::from(j) * std::f64::consts::PI / 6.0;
        let omega = 2.0 * 20.0 * (0.5 * angle).sin();
        assert!((mode.frequency() * TAU - omega).abs() < 1e-9 * omega, "{j}");
        let sines: Vec<f64> = (1..=5).map(|i| (f64::from(i) * angle).sin()).collect();
        let largest = sines.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        for ((name, value), sine) in mode.shape.iter().zip(sines) {
            let share = (value.norm() - sine.abs() / largest).abs();
            assert!(share < 1e-9, "{name} in mode {j}");
        }
    }
}

/// What is cut into parts is the same linear system.
#[test]
fn cuts_do_not_change_the_linear_model() {
    let one = r#"
[model]
name = "one"
[simulation]
duration = 1.0
step = 1e-3
[lumped.all]
integrator = "lms2"
masses.x1 = { mass = 1.0 }
masses.x2 = { mass = 2.0 }
springs.wall = { between = ["ground", "x1"], stiffness = 30.0, damping = 0.3 }
springs.link = { between = ["x1", "x2"], stiffness = 70.0, damping = 0.2 }
inputs.push = { force = "x2" }
outputs.x1 = { motion = "x1" }
[excitation]
"all.push" = 0
"#;
    let two = r#"
[model]
name = "two"
[simulation]
duration = 1.0
step = 1e-3
[lumped.left]
integrator = "lms2"
masses.x1 = { mass = 1.0 }
springs.wall = { between = ["ground", "x1"], stiffness = 30.0, damping = 0.3 }
springs.link = { between = ["x1", "far"], stiffness = 70.0, damping = 0.2 }
inputs.far = { motion = "far" }
outputs.x1 = { motion = "x1" }
outputs.pull = { force = "far" }
[lumped.right]
integrator = "lms2"
masses.x2 = { mass = 2.0 }
inputs.pull = { force = "x2" }
inputs.push = { force = "x2" }
outputs.x2 = { motion = "x2" }
[[connection]]
from = "left.pull"
to = "right.pull"
[[connection]]
from = "right.x2"
to = "left.far"
[excitation]
"right.push" = 0
"#;
    let [one, two] = [one, two].map(|text| linearise(&read(text), None).unwrap());
    for hertz in [0.1, 0.7, 1.6, 9.0] {
        let expected = response(&one, "all.push", "all.x1.x", hertz);
        let found = response(&two, "right.push", "left.x1.x", hertz);
        assert_near(found, expected, 1e-12, "cut");
    }
    assert_eq!(one.space.poles.len(), two.space.poles.len());
}
