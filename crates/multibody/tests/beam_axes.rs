//! The axes that a node happens to have do not matter for the beams at it.

use oldham_multibody::{
    Beam2, Beam3, Body, Drive, Joint, Load, Marker, Mat3, Model, Motion, NodeId, Options,
    Quaternion, Section, System, Vec3,
};
use std::f64::consts::PI;

/// Axes from the absolute ones by up to a half turn, of another kind at every node.
fn axes(node: usize) -> Quaternion {
    let turns = [
        Vec3::Z * PI,
        Vec3::new(0.4, -1.1, 0.7),
        Vec3::X * (0.5 * PI),
        Vec3::new(1.0, 1.0, 1.0) * (2.0 / 3.0 * PI / 3_f64.sqrt()),
        Vec3::Y * PI,
    ];
    Quaternion::exp(turns[node % turns.len()])
}

fn orientation(node: usize, is_turned: bool) -> Quaternion {
    match is_turned {
        true => axes(node),
        false => Quaternion::IDENTITY,
    }
}

/// A cantilever of length one and bending stiffness one along x, with a force at its tip.
fn cantilever(
    (per_element, elements): (usize, usize),
    is_turned: bool,
    (stiff, force): (f64, f64),
) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    let intervals = (per_element - 1) * elements;
    let section = Section::diagonal([stiff, stiff, stiff, 1.0, 1.0, 1.0]);
    let nodes: Vec<NodeId> = (0..=intervals)
        .map(|i| {
            let place = Vec3::X * (i as f64 / intervals as f64);
            let motion = Motion::at_rest(place, orientation(i, is_turned));
            let node = model.node(format!("node {i}"), motion);
            let body = Body::centred(1.0 / intervals as f64, Mat3::IDENTITY * 1e-4);
            model.body(node, body);
            node
        })
        .collect();
    for part in nodes.windows(per_element).step_by(per_element - 1) {
        match *part {
            [a, b] => model.element("beam", Beam2::new(&model, [a, b], section, Vec3::Y)),
            [a, b, c] => model.element("beam", Beam3::new(&model, [a, b, c], section, Vec3::Y)),
            _ => unreachable!(),
        };
    }
    let [a, b] = [NodeId::GROUND, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
    model.element("clamp", Joint::clamp(a, b));
    let force = [0.0, force, 0.0].map(Drive::Constant);
    let none = [0.0; 3].map(Drive::Constant);
    let tip = nodes[intervals];
    model.element("load", Load::fixed(Marker::on(tip), force, none));
    (model, nodes)
}

/// Mattiasson's elliptic integrals for P L²/EI = 5: 0.38763 and 0.71379.
#[test]
fn a_beam_on_nodes_of_any_axes_bends_as_the_elliptic_integrals_say() {
    let tip = |per_element, elements| {
        let (model, nodes) = cantilever((per_element, elements), true, (1e7, 5.0));
        let mut system = System::new(model, Options::default()).unwrap();
        system.equilibrium(0.0, 10, &[]).unwrap();
        system.motion(nodes[nodes.len() - 1]).position
    };
    let extrapolated = (tip(2, 40) * 4.0 - tip(2, 20)) * (1.0 / 3.0);
    for place in [tip(3, 10), extrapolated] {
        assert!((1.0 - place[0] - 0.38763).abs() < 1e-4, "{place:?}");
        assert!((place[1] - 0.71379).abs() < 1e-4, "{place:?}");
        assert!(place[2].abs() < 1e-9, "{place:?}");
    }
}

/// The same motion, whatever the axes of the nodes are.
#[test]
fn a_beam_swings_alike_on_nodes_of_any_axes() {
    for per_element in [2, 3] {
        let tip = |is_turned| {
            let (model, nodes) = cantilever((per_element, 4), is_turned, (1e4, 0.5));
            let options = Options {
                tolerance: 1e-9,
                ..Options::default()
            };
            let mut system = System::new(model, options).unwrap();
            system.start(0.0, &[]).unwrap();
            for _ in 0..200 {
                system.step(2e-3, &[]).unwrap();
            }
            system.motion(nodes[nodes.len() - 1]).position
        };
        let (own, given) = (tip(false), tip(true));
        assert!(own[1] > 0.05, "{own:?}");
        assert!((own - given).norm() < 1e-7, "{own:?} {given:?}");
    }
}
