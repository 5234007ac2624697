//! Linear models against closed forms and differences.

use std::f64::consts::TAU;

use nalgebra::Complex;
use oldham_model::{About, Model};
use oldham_study::{LinearFormat, LinearModel, ModelFile, Range, campbell, linearise};

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

/// Two links that torques hold at an angle, with dampers in the joints.
fn held_arm([a1, a2, w1, w2, t1, t2]: [f64; 6]) -> String {
    format!(
        r#"
[model]
name = "held arm"
[parameters]
a1 = {a1:e}
a2 = {a2:e}
w1 = {w1:e}
w2 = {w2:e}
[simulation]
duration = 1.0
step = 1e-3
[multibody.arm]
gravity = [0, 0, -9.81]
frames.upper = {{ orientation = {{ axis = [0, -1, 0], angle = "a1" }} }}
frames.lower = {{ in = "upper", position = [0.8, 0, 0], orientation = {{ axis = [0, -1, 0], angle = "a2 - a1" }} }}
nodes.upper = {{ in = "upper", position = [0.4, 0, 0], velocity = [0, 0, "0.4 * w1"], angular_velocity = [0, "-w1", 0] }}
nodes.lower = {{ in = "lower", position = [0.3, 0, 0], velocity = ["0.8 * w1 * sin(a2 - a1)", 0, "0.8 * w1 * cos(a2 - a1) + 0.3 * w2"], angular_velocity = [0, "-w2", 0] }}
bodies.upper = {{ node = "upper", mass = 3, inertia = [0.1, 0.3, 0.3] }}
bodies.lower = {{ node = "lower", mass = 2, inertia = [0.1, 0.2, 0.2] }}
joints.shoulder = {{ type = "revolute", between = ["ground", "upper"], position = [0, 0, 0], axis = [0, -1, 0] }}
joints.elbow = {{ type = "revolute", between = ["upper", "lower"], in = "lower", position = [0, 0, 0], axis = [0, -1, 0] }}
torsion_springs.damper = {{ between = ["upper", "lower"], axis = [0, -1, 0], damping = 0.7 }}
inputs.shoulder = {{ torque = "shoulder" }}
inputs.elbow = {{ torque = "elbow" }}
outputs.pin = {{ reaction = "elbow" }}
[excitation]
"arm.shoulder" = {t1:e}
"arm.elbow" = {t2:e}
"#
    )
}

/// A mechanism in equilibrium: how accelerations, angles, rates and the force of a joint change with angles,
/// rates and torques, against differences of fourth order of models with other initial values. The states are
/// coordinates of nodes and have their names.
#[test]
fn a_mechanism_is_that_of_differences() {
    let (a1, a2) = (0.5_f64, -0.3_f64);
    let elbow = 9.81 * 2.0 * 0.3 * a2.cos();
    let shoulder = elbow + 9.81 * a1.cos() * (3.0 * 0.4 + 2.0 * 0.8);
    let point = [a1, a2, 0.0, 0.0, shoulder, elbow];
    let linear = linearise(&read(&held_arm(point)), None).unwrap();
    let space = &linear.space;
    let expected = ["upper.ry", "lower.ry", "upper.wy", "lower.wy"];
    assert_eq!(space.states, expected.map(|name| format!("arm.{name}")));
    let wanted = [
        "arm.shoulder.motion.x",
        "arm.elbow.motion.x",
        "arm.shoulder.motion.v",
        "arm.elbow.motion.v",
        "arm.shoulder.motion.a",
        "arm.elbow.motion.a",
        "arm.pin.fx",
        "arm.pin.fz",
        "arm.pin.my",
    ];
    let at = |values: [f64; 6]| {
        let simulation = read(&held_arm(values)).simulation().unwrap();
        let id = simulation.find("arm").unwrap();
        let ports = simulation.ports(id);
        let names: Vec<String> = (0..ports.output_width())
            .map(|i| format!("arm.{}", ports.output_component_name(i)))
            .collect();
        wanted.map(|name| {
            let place = names.iter().position(|known| known == name);
            simulation.outputs(id)[place.unwrap_or_else(|| panic!("{name} in {names:?}"))]
        })
    };
    // Angles are counted from the start, which moves with the initial values.
    let (initial, inputs) = (0..4, 4..6);
    const H: f64 = 1e-3;
    for variable in initial.clone().chain(inputs.clone()) {
        let moved = |steps: f64| {
            let mut values = point;
            values[variable] += steps * H;
            at(values)
        };
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(moved);
        for (row, output) in wanted.iter().enumerate() {
            let counted = output.ends_with(".x");
            if counted && initial.contains(&variable) {
                continue;
            }
            let expected = (a[row] - 8.0 * b[row] + 8.0 * c[row] - d[row]) / (12.0 * H);
            let place = linear.targets().iter().position(|known| known == output);
            let place = place.unwrap();
            // Rotations are about +y, angles about -y.
            let found = match variable {
                4.. => space.d[(place, variable - 4)],
                state => -space.c[(place, state)],
            };
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-7, "{output} by {variable}: {found} {expected}");
        }
    }
    // Rates of the rates of the nodes, from the accelerations of the joints; angles of the joints, from the nodes.
    let row = |name: &str| {
        linear
            .targets()
            .iter()
            .position(|known| *known == name)
            .unwrap()
    };
    let [shoulder, elbow] =
        ["shoulder", "elbow"].map(|joint| row(&format!("arm.{joint}.motion.a")));
    let lower = space.c.row(shoulder) + space.c.row(elbow);
    assert!((space.a.row(2) + space.c.row(shoulder)).norm() < 1e-9);
    assert!((space.a.row(3) + lower).norm() < 1e-9);
    let lower = space.d.row(shoulder) + space.d.row(elbow);
    assert!((space.b.row(2) + space.d.row(shoulder)).norm() < 1e-9);
    assert!((space.b.row(3) + lower).norm() < 1e-9);
    let angle = space.c.row(row("arm.elbow.motion.x"));
    for (found, expected) in angle.iter().zip([1.0, -1.0, 0.0, 0.0]) {
        assert!((found - expected).abs() < 1e-9, "{angle}");
    }
}

/// The arrays of a file `.npz`, by name: the header of each and its bytes. Read as the ZIP standard says, from the
/// directory at the end.
fn arrays(file: &[u8]) -> Vec<(String, String, Vec<u8>)> {
    let number = |at: usize, bytes: usize| {
        let bytes = file[at..at + bytes].iter().rev();
        bytes.fold(0, |sum, byte| 256 * sum + usize::from(*byte))
    };
    let end = file.len() - 22;
    assert_eq!(&file[end..end + 4], b"PK\x05\x06");
    let mut at = number(end + 16, 4);
    (0..number(end + 10, 2))
        .map(|_| {
            assert_eq!(&file[at..at + 4], b"PK\x01\x02");
            let (size, name, local) = (number(at + 20, 4), number(at + 28, 2), number(at + 42, 4));
            let title = String::from_utf8(file[at + 46..at + 46 + name].to_vec()).unwrap();
            at += 46 + name;
            assert_eq!(&file[local..local + 4], b"PK\x03\x04");
            let start = local + 30 + number(local + 26, 2) + number(local + 28, 2);
            let header = number(start + 8, 2);
            let text = String::from_utf8(file[start + 10..start + 10 + header].to_vec()).unwrap();
            let data = file[start + 10 + header..start + size].to_vec();
            (title, text, data)
        })
        .collect()
}

/// What is written as a table and as arrays is the linear model, to the last bit.
#[test]
fn files_hold_the_matrices() {
    let point = [0.5, -0.3, 0.0, 0.0, 10.0, 20.0];
    let linear = linearise(&read(&held_arm(point)), None).unwrap();
    let space = &linear.space;
    let table = String::from_utf8(linear.file(LinearFormat::Csv)).unwrap();
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let (states, inputs) = (space.states.len(), space.inputs.len());
    assert_eq!(lines.len(), 1 + states + space.outputs.len());
    assert_eq!(lines[0][1], "arm.upper.ry");
    assert_eq!(lines[0][1 + states], "arm.shoulder [N.m]");
    assert_eq!(lines[3][0], "d/dt arm.upper.wy");
    for (i, line) in lines[1..].iter().enumerate() {
        assert_eq!(line.len(), 1 + states + inputs);
        for (j, text) in line[1..].iter().enumerate() {
            let expected = match (i < states, j < states) {
                (true, true) => space.a[(i, j)],
                (true, false) => space.b[(i, j - states)],
                (false, true) => space.c[(i - states, j)],
                (false, false) => space.d[(i - states, j - states)],
            };
            assert_eq!(text.parse::<f64>().unwrap(), expected, "{i} {j}");
        }
    }
    let files = arrays(&linear.file(LinearFormat::Npz));
    let names: Vec<&str> = files.iter().map(|(name, ..)| name.as_str()).collect();
    let expected = ["A", "B", "C", "D", "states", "inputs", "outputs", "poles"];
    assert_eq!(names, expected.map(|name| format!("{name}.npy")));
    for ((_, header, data), matrix) in files.iter().zip([&space.a, &space.b, &space.c, &space.d]) {
        let shape = format!("'shape': ({}, {})", matrix.nrows(), matrix.ncols());
        assert!(
            header.contains(&shape) && header.contains("'fortran_order': True"),
            "{header}"
        );
        let values = data
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        assert!(values.eq(matrix.iter().copied()));
    }
    let (_, header, data) = &files[4];
    assert!(
        header.contains("'descr': '<U12', 'fortran_order': False, 'shape': (4,)"),
        "{header}"
    );
    let letters = data[..4 * 12].chunks_exact(4).map(|bytes| bytes[0] as char);
    assert_eq!(letters.collect::<String>(), "arm.upper.ry");
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
    let modes = linearise(&read(text), None).unwrap();
    let modes = modes.modes(usize::MAX, None);
    assert_eq!(modes.found.modes.len(), 5);
    for (j, mode) in (1..).zip(&modes.found.modes) {
        let angle = f64::from(j) * std::f64::consts::PI / 6.0;
        let omega = 2.0 * 20.0 * (0.5 * angle).sin();
        assert!((mode.frequency() * TAU - omega).abs() < 1e-9 * omega, "{j}");
        let sines: Vec<f64> = (1..=5).map(|i| (f64::from(i) * angle).sin()).collect();
        let largest = sines.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        for ((name, value), sine) in modes.shape(mode).zip(sines) {
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

/// Where all springs grow alike the frequencies grow with the root, and each curve keeps its shape however
/// far the values are apart.
#[test]
fn modes_are_followed_over_a_parameter() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let file = ModelFile::new(format!("{examples}/four-mass-chain.toml"));
    let range = Range::between("k", 50.0, 200.0).points(4);
    let found = campbell(&file, &range, About::Start, 4, None).unwrap();
    let part = &found.parts[0];
    assert_eq!((found.parts.len(), part.curves.len()), (1, 4));
    let at = |curve: &Vec<Option<usize>>, index| part.frequency(curve, index).unwrap();
    for curve in &part.curves {
        for (index, value) in part.values.iter().enumerate().skip(1) {
            let expected = at(curve, 1) * (value / part.values[1]).sqrt();
            let error = (at(curve, index) - expected).abs() / expected;
            // Damping does not grow with the springs.
            assert!(error < 1e-5, "{value}: {error}");
        }
    }
}

/// A mass that a controller slows by its velocity as sampled, and pushes by the sum of its places.
fn sampled(period: f64, kd: f64, ki: f64) -> String {
    format!(
        r#"
        [model]
        name = "Sampled"
        [simulation]
        duration = 1
        step = 0.01
        [lumped.plant]
        integrator = "exact"
        masses.x = {{ mass = 2, velocity = 1e-3 }}
        inputs.u = {{ force = "x" }}
        inputs.w = {{ force = "x" }}
        outputs.m = {{ motion = "x" }}
        outputs.v = {{ velocity = "x" }}
        outputs.x = {{ displacement = "x" }}
        [control.c]
        sample = {period}
        inputs = {{ v = "m/s", x = "m" }}
        states.sum = {{ initial = 0, next = "sum + x" }}
        outputs.u = {{ value = "-{kd} * v - {ki} * sum", unit = "N" }}
        [excitation]
        "plant.w" = "0"
        [[connection]]
        from = "plant.v"
        to = "c.v"
        [[connection]]
        from = "plant.x"
        to = "c.x"
        [[connection]]
        from = "c.u"
        to = "plant.u"
        "#
    )
}

/// A mass under a force that is held: x becomes x + T v + T²/2m u, v becomes v + T/m u. There was no linear model at
/// all, and the sampling was not named as the reason.
#[test]
fn a_sampled_loop_goes_from_sample_to_sample() {
    let (t, kd, ki, m) = (0.05, 10.0, 3.0, 2.0);
    let model = read(&sampled(t, kd, ki));
    let linear = linearise(&model, None).unwrap();
    let space = &linear.space;
    assert_eq!(space.sample, Some(t));
    assert_eq!(space.states.len(), 3, "{:?}", space.states);
    let (by_u, half) = (t / m, t * t / (2.0 * m));
    let expected = [
        [1.0, t - half * kd, -half * ki],
        [0.0, 1.0 - by_u * kd, -by_u * ki],
        [1.0, 0.0, 1.0],
    ];
    for (i, row) in expected.iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            let found = space.a[(i, j)];
            assert!((found - value).abs() < 1e-12, "{i} {j}: {found} {value}");
        }
    }
    let free = space
        .inputs
        .iter()
        .position(|i| i.name == "plant.w")
        .unwrap();
    for (i, value) in [half, by_u, 0.0].into_iter().enumerate() {
        assert!((space.b[(i, free)] - value).abs() < 1e-12);
    }
    for (s, z) in space.poles.iter().zip(&space.multipliers) {
        assert!(((s * t).exp() - z).norm() < 1e-12);
    }
    let text = String::from_utf8(linear.file(LinearFormat::Csv)).unwrap();
    assert!(text.starts_with("row [sample time 0.05 s],"), "{text}");
    assert!(text.contains("\nnext plant.x.x,"), "{text}");
    let json = serde_json::to_value(&linear).unwrap();
    assert_eq!(json["sample_time"], 0.05);
    assert_eq!(json["z_poles"].as_array().unwrap().len(), space.poles.len());
    let poles = oldham_study::poles(&model, Default::default()).unwrap();
    assert_eq!(poles.sample_time, Some(t));
    assert_eq!(poles.poles.len(), space.poles.len());
    assert!(poles.poles.iter().all(|pole| pole.multiplier.is_some()));
}

/// Two controllers with periods of two and three tenths: one of six is the product of the maps by hand.
#[test]
fn several_sample_times_are_seen_where_they_meet() {
    let text = r#"
        [model]
        name = "Two rates"
        [simulation]
        duration = 1
        step = 0.01
        [lumped.plant]
        integrator = "exact"
        masses.x = { mass = 1, velocity = 1e-3 }
        inputs.a = { force = "x" }
        inputs.b = { force = "x" }
        outputs.v = { velocity = "x" }
        outputs.x = { displacement = "x" }
        [control.slow]
        sample = 0.3
        inputs = { x = "m" }
        outputs.u = { value = "-2 * x", unit = "N" }
        [control.fast]
        sample = 0.2
        inputs = { v = "m/s" }
        outputs.u = { value = "-v", unit = "N" }
        [[connection]]
        from = "plant.x"
        to = "slow.x"
        [[connection]]
        from = "slow.u"
        to = "plant.a"
        [[connection]]
        from = "plant.v"
        to = "fast.v"
        [[connection]]
        from = "fast.u"
        to = "plant.b"
    "#;
    let linear = linearise(&read(text), None).unwrap();
    assert!((linear.space.sample.unwrap() - 0.6).abs() < 1e-12);
    for column in 0..2 {
        let (mut x, mut v) = (1.0 - f64::from(column), f64::from(column));
        let [mut slow, mut fast] = [0.0; 2];
        for tick in 0..6 {
            if tick % 3 == 0 {
                slow = -2.0 * x;
            }
            if tick % 2 == 0 {
                fast = -v;
            }
            x += 0.1 * v + 0.005 * (slow + fast);
            v += 0.1 * (slow + fast);
        }
        let j = column as usize;
        assert!((linear.space.a[(0, j)] - x).abs() < 1e-12);
        assert!((linear.space.a[(1, j)] - v).abs() < 1e-12);
    }
}

/// Each part that has no linear model is named with its own reason; hydraulic circuits and networks have one.
#[test]
fn parts_without_a_linear_model_say_why() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let of = |name: &str, key: &str| {
        let file = ModelFile::new(format!("{examples}/{name}.toml"));
        let held = match key.is_empty() {
            true => file,
            false => file.set(format!("{key}.predictor"), "zero-order"),
        };
        linearise(&held.read().unwrap(), None)
    };
    let error = of("stacked-boxes", "").unwrap_err().to_string();
    assert!(error.contains("has contacts"), "{error}");
    let lift = of("hydraulic-lift", "hydraulic_network.oil").unwrap();
    for state in ["oil.head", "oil.supply", "oil.bladder"] {
        assert!(
            lift.space.states.iter().any(|s| s == state),
            "{:?}",
            lift.space.states
        );
    }
    let arm = of("two-cylinder-arm", "hydraulics.oil").unwrap();
    let chambers = arm.space.states.iter().filter(|s| s.contains("chamber"));
    assert_eq!(chambers.count(), 4, "{:?}", arm.space.states);
}

fn rotor(g: f64) -> ModelFile {
    let text = format!(
        r#"
        [model]
        name = "Blade"
        [parameters]
        spin = 5
        [simulation]
        duration = 1
        step = 0.001
        [multibody.m]
        gravity = [0, 0, -{g}]
        nodes.hub = {{ angular_velocity = ["spin", 0, 0] }}
        bodies.hub = {{ node = "hub", mass = 10, inertia = [5, 5, 5] }}
        joints.shaft = {{ type = "revolute", between = ["ground", "hub"], position = [0, 0, 0], axis = [1, 0, 0] }}
        sections.s = {{ axial = 1e7, shear = [1e7, 1e7], torsion = 1e3, bending = [1e3, 1e3], mass = 2, inertia = [0.01, 0.01, 0.01] }}
        beams.blade = {{ from = "hub", to = [0, 0, 3], elements = 3, section = "s", up = [1, 0, 0], angular_velocity = ["spin", 0, 0] }}
        "#
    );
    ModelFile::of_text("test.toml", &text)
}

/// A blade that turns flaps faster. Under gravity it is never in a steady rotation: the curves were flat, without
/// a word.
#[test]
fn a_campbell_diagram_has_its_stiffening_or_is_refused() {
    let range = Range::between("spin", 2.0, 10.0).points(3);
    let about = About::Start;
    let found = campbell(&rotor(0.0), &range, about, 3, None).unwrap();
    let part = &found.parts[0];
    let rises = part.curves.iter().any(|curve| {
        let at = |i: usize| part.frequency(curve, i);
        matches!((at(0), at(2)), (Some(a), Some(b)) if b > 1.1 * a && a > 0.0)
    });
    assert!(rises);
    let Err(refused) = campbell(&rotor(9.81), &range, about, 3, None) else {
        panic!("it is not in a steady rotation");
    };
    assert!(refused.to_string().contains("steady rotation"), "{refused}");
}
