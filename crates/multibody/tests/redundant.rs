//! Joints that hold what others hold already, on request.

use oldham_cosim::Subsystem;
use oldham_multibody::{
    Body, ElementId, Joint, Mat3, MechanismPart, Model, Motion, NodeId, Options, PartBuilder, Vec3,
};

const G: f64 = 9.81;

fn shared(model: Model, shown: &[(ElementId, usize)]) -> MechanismPart {
    let mut builder = PartBuilder::new(model);
    builder.share_loads();
    for (i, &(element, node)) in shown.iter().enumerate() {
        builder.observe_element(&format!("joint {i}"), element, node);
    }
    builder.build(Options::default(), 1).unwrap()
}

/// A door of mass m whose centre is b from its axis, on two hinges at heights ±a. The weight is
/// shared equally. The couple m g b is taken by horizontal forces ±F and moments M at both hinges,
/// 2 a F + 2 M = m g b; with the size b of the model, F² + (M/b)² is least for F = k a and
/// M = k b², k = m g b / (2 (a² + b²)).
#[test]
fn two_hinges_of_a_door_share_its_weight() {
    let (m, a, b) = (3.0, 0.7, 0.4);
    let mut model = Model::new();
    model.gravity(Vec3::Z * -G);
    let door = model.node("door", Motion::at(Vec3::X * b));
    model.body(door, Body::centred(m, Mat3::diagonal(0.5, 0.4, 0.1)));
    let hinges = [a, -a].map(|height| {
        let place = Vec3::Z * height;
        let [on_ground, on_door] =
            [NodeId::GROUND, door].map(|node| model.axis_marker(node, place, Vec3::Z));
        model.element("hinge", Joint::revolute(on_ground, on_door))
    });
    let degrees_of_freedom = model.degrees_of_freedom(0.0, &[], &[]);
    assert_eq!(
        (degrees_of_freedom.count(), degrees_of_freedom.redundant()),
        (1, 5)
    );
    let mut part = shared(model, &hinges.map(|hinge| (hinge, 1)));
    let mut found = [0.0; 12];
    part.outputs(0.0, &[], &mut found).unwrap();
    let k = m * G * b / (2.0 * (a * a + b * b));
    for (i, height) in [a, -a].into_iter().enumerate() {
        let v = &found[6 * i..];
        let force = Vec3::new(v[0], v[1], v[2]);
        let expected = Vec3::new(-k * height, 0.0, 0.5 * m * G);
        assert!(
            (force - expected).norm() < 1e-9 * m * G,
            "{force:?} {expected:?}"
        );
        // About the hinge instead of about the centre of mass.
        let about_centre = Vec3::new(v[3], v[4], v[5]);
        let moment = about_centre - Vec3::new(-b, 0.0, height).cross(force);
        let expected = Vec3::Y * (-k * b * b);
        assert!(
            (moment - expected).norm() < 1e-9 * m * G,
            "{moment:?} {expected:?}"
        );
    }
}

/// A four-bar linkage in the plane y = 0, from four revolute joints or with one in-line joint: its
/// crank, coupler and rocker, and the joints.
fn four_bar(places: [Vec3; 4], is_redundant: bool) -> (Model, Vec<NodeId>, Vec<ElementId>) {
    let mut model = Model::new();
    model.gravity(Vec3::Z * -G);
    let nodes: Vec<NodeId> = (0..3)
        .map(|i| {
            let middle = (places[i] + places[i + 1]) * 0.5;
            let node = model.node(format!("bar {i}"), Motion::at(middle));
            model.body(node, Body::centred(1.0, Mat3::diagonal(0.1, 0.1, 0.1)));
            node
        })
        .collect();
    let pairs = [
        [NodeId::GROUND, nodes[0]],
        [nodes[0], nodes[1]],
        [nodes[1], nodes[2]],
        [nodes[2], NodeId::GROUND],
    ];
    let mut joints = Vec::new();
    for (i, pair) in pairs.into_iter().enumerate() {
        let [a, b] = pair.map(|node| model.axis_marker(node, places[i], Vec3::Y));
        let joint = match is_redundant || i < 3 {
            true => Joint::revolute(a, b),
            false => Joint::in_line(a, b),
        };
        joints.push(model.element(format!("joint {i}"), joint));
    }
    (model, nodes, joints)
}

const OPEN: [Vec3; 4] = [
    Vec3::ZERO,
    Vec3::new(0.3, 0.0, 0.8),
    Vec3::new(1.6, 0.0, 1.2),
    Vec3::new(1.5, 0.0, 0.0),
];

/// The motion is that of the mechanism with as many constraints as it needs, and so is the sum of
/// what the joints of a bar carry.
#[test]
fn four_hinges_make_a_four_bar_linkage() {
    let run = |is_redundant: bool| {
        let (model, nodes, joints) = four_bar(OPEN, is_redundant);
        let degrees_of_freedom = model.degrees_of_freedom(0.0, &[], &[]);
        assert_eq!(degrees_of_freedom.count(), 1);
        assert_eq!(
            degrees_of_freedom.redundant(),
            if is_redundant { 3 } else { 0 }
        );
        let mut part = shared(model, &[(joints[0], 1), (joints[1], 0)]);
        let mut forces = [0.0; 12];
        part.outputs(0.0, &[], &mut forces).unwrap();
        for _ in 0..500 {
            part.system_mut().step(1e-3, &[]).unwrap();
            part.outputs(0.0, &[], &mut forces).unwrap();
        }
        let place = part.system().motion(nodes[2]).position;
        (place, [0, 1, 2].map(|i| forces[i] + forces[6 + i]))
    };
    let ((place, sum), (expected, expected_sum)) = (run(true), run(false));
    assert!((place - (OPEN[2] + OPEN[3]) * 0.5).norm() > 0.1);
    assert!((place - expected).norm() < 1e-9, "{place:?} {expected:?}");
    for (found, expected) in sum.into_iter().zip(expected_sum) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

/// All bars in one line: more constraints depend on each other there than elsewhere.
#[test]
fn a_constraint_that_was_redundant_in_a_singular_position_only_is_missed() {
    let flat = [0.0, 1.0, 3.0, 2.0].map(|x| Vec3::X * x);
    let (model, _, joints) = four_bar(flat, true);
    assert_eq!(model.degrees_of_freedom(0.0, &[], &[]).count(), 2);
    let mut part = shared(model, &[(joints[0], 1)]);
    let mut forces = [0.0; 6];
    part.outputs(0.0, &[], &mut forces).unwrap();
    let error = (0..500).find_map(|_| {
        part.system_mut().step(1e-3, &[]).unwrap();
        part.outputs(0.0, &[], &mut forces).err()
    });
    let message = error.expect("an open joint").to_string();
    assert!(message.contains("not redundant any more"), "{message}");
}
