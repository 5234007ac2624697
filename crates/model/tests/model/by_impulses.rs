//! Everything that a mechanism may be made of moves by impulses as it does by a smooth method, with an error of first order.

use oldham_cosim::{InMemory, Run};

use crate::common::read;

/// A body on a ball joint carries another one by what is given.
fn text(method: &str, step: f64, between: &str) -> String {
    format!(
        r#"
[model]
name = "carried"
[simulation]
step = {step}
duration = 0.3
[multibody.m]
{method}
gravity = [1.0, -2.0, -9.81]
[multibody.m.nodes]
a = {{}}
b = {{ position = [0.3, 0.2, 0.1] }}
[multibody.m.bodies]
a = {{ node = "a", mass = 2, inertia = [0.02, 0.03, 0.04] }}
b = {{ node = "b", mass = 1, inertia = [0.01, 0.02, 0.015] }}
[multibody.m.joints.base]
type = "spherical"
between = ["ground", "a"]
position = [0, 0, 0.4]
{between}
"#
    )
}

/// Positions and orientations at the end.
fn end(method: &str, step: f64, between: &str) -> Vec<f64> {
    let model = read(&text(method, step, between)).unwrap_or_else(|problems| panic!("{problems}"));
    let mut simulation = model.simulation().unwrap();
    let columns = simulation.columns().iter().enumerate();
    let is_pose = |name: &str| {
        let part = name
            .strip_prefix("m.nodes.")
            .and_then(|n| n.split_once('.'));
        part.is_some_and(|(_, part)| part.starts_with('p') || part.starts_with('q'))
    };
    let poses: Vec<usize> = columns
        .filter(|(_, column)| is_pose(&column.name))
        .map(|(place, _)| place)
        .collect();
    assert_eq!(poses.len(), 14);
    let mut memory = InMemory::default();
    let run = simulation.run(Run {
        record_columns: Some(poses.clone()),
        record_every: model.steps(),
        ..Run::new(model.steps(), &mut memory)
    });
    run.end.unwrap();
    let last = |i: usize| *memory.column(i).last().unwrap();
    (0..poses.len()).map(last).collect()
}

/// A joint between the two bodies, with what is given.
fn joint(kind: &str, what: &str) -> String {
    format!("[multibody.m.joints.j]\ntype = \"{kind}\"\nbetween = [\"a\", \"b\"]\n{what}")
}

#[test]
fn whatever_connects_bodies_acts_by_impulses_as_it_does_otherwise() {
    const PLACE: &str = "position = [0.1, 0.1, 0]\n";
    const AXIS: &str = "axis = [0, 1, 1]\n";
    let turning = format!("{PLACE}{AXIS}");
    let element = |table: &str, what: &str| format!("[multibody.m.{table}]\n{what}");
    let hinged = |rest: &str| joint("revolute", &turning) + rest;
    let cases = [
        joint("fixed", ""),
        joint("revolute", &turning),
        joint("spherical", PLACE),
        joint("prismatic", AXIS),
        joint("cylindrical", AXIS),
        joint("universal", PLACE),
        joint("planar", AXIS),
        joint("point-on-line", AXIS),
        joint("point-on-plane", AXIS),
        joint("constant-velocity", &format!("{PLACE}axis = [1, 0, 0]")),
        joint("rod", ""),
        joint("rod", "length = \"sqrt(0.14) + 0.05*sin(3*t)^2\""),
        joint(
            "point-on-curve",
            "curve = [\"0.3*cos(2*pi*s)\", \"0.3*sin(2*pi*s)\"]\npoints = [[0, 0.2, 0.1], [0.3, 0.2, 0.1]]",
        ),
        joint(
            "total",
            "displacement = [\"free\", \"locked\", \"0.1*sin(2*t)^2\"]\nrotation = [\"free\", \"0.1*sin(2*t)^2\", \"locked\"]",
        ),
        element(
            "joints.j",
            "type = \"rolling\"\nbetween = [\"ground\", \"b\"]\nnormal = [0, 0, 1]\naxis = [0, 1, 0]\nradius = 0.1\nposition = [0.3, 0.2, 0.1]",
        ),
        joint("revolute", &format!("{turning}angle = \"sin(3*t)^2\"")),
        joint("revolute", &format!("{turning}angle_rate = \"2*t\"")),
        joint("prismatic", &format!("{AXIS}slide = \"0.1*sin(3*t)^2\"")),
        joint("cylindrical", &format!("{turning}slide_rate = \"0.2*t\"")),
        joint(
            "revolute",
            &format!(
                "{turning}angle_stops = {{ lower = -0.2, upper = 0.2, stiffness = 200, damping = 1 }}"
            ),
        ),
        hinged(
            "[multibody.m.motors.m]\njoint = \"j\"\ncharacteristic = [[-10, 1], [0, 0.5], [10, 0]]",
        ),
        hinged(
            "[multibody.m.torsion_springs.t]\nbetween = [\"a\", \"b\"]\naxis = [0, 1, 1]\nstiffness = 5\ndamping = 0.05",
        ),
        element("rigid_links.r", "master = \"a\"\nnodes = [\"b\"]"),
        element(
            "springs.s",
            "between = [\"a\", \"b\"]\nstiffness = 300\ndamping = 2\nlength = 0.3",
        ),
        element(
            "springs.s",
            "between = [\"a\", \"b\"]\nforce = \"200*d + 1000*d^3 + 2*v\"",
        ),
        element(
            "bushings.s",
            "between = [\"a\", \"b\"]\nstiffness = [500, 400, 300]\ndamping = [3, 2, 1]\nrotational_stiffness = [5, 4, 3]\nrotational_damping = [0.05, 0.05, 0.05]",
        ),
        element(
            "actuators.s",
            "between = [\"a\", \"b\"]\nload = \"5*sin(4*t)\"\ndamping = 3",
        ),
        element(
            "loads.l",
            "on = \"b\"\nforce = [\"sin(3*t)\", 1, 2]\nmoment = [0, 0.1, 0]\noffset = [0.1, 0, 0]\nfollower = true",
        ),
    ];
    for case in cases {
        let smooth = end("rho = 0.9", 2e-4, &case);
        let [coarse, fine] = [1e-3, 5e-4].map(|step| {
            let found = end("integrator = \"impulses\"", step, &case);
            let apart = found.iter().zip(&smooth).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f64::max)
        });
        let ratio = coarse / fine;
        assert!(fine < 2e-3, "{case}: {fine}");
        assert!((ratio - 2.0).abs() < 0.25, "{case}: {coarse} {fine}");
    }
}
