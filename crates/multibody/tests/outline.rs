//! What a search for cuts is told of a model, and elements under a clock.

use oldham_multibody::bench::hanging_beam;
use oldham_multibody::cut::Obstacle;
use oldham_multibody::{
    Body, Joint, Law, Marker, Mat3, Model, Motion, NodeId, Options, Rod, Stopwatch, System, Vec3,
};

#[test]
fn nodes_inside_of_elements_and_without_inertia_are_obstacles() {
    let (mut model, _) = hanging_beam(12, 0.0);
    let massless = model.node("massless", Motion::at(Vec3::X * 25.0));
    let there = Marker::on(massless);
    model.element("pin", Joint::spherical(Marker::on(NodeId::GROUND), there));
    let outline = model.outline();
    assert_eq!(outline.nodes.len(), 26);
    for (place, node) in outline.nodes.iter().enumerate() {
        let is_between_elements = place % 2 == 0 && (1..24).contains(&place);
        match &node.obstacle {
            None => assert!(is_between_elements, "node {place}"),
            Some(Obstacle::InsideElement(name)) => {
                assert!(!is_between_elements && name.starts_with("beam"), "{name}");
            }
            Some(Obstacle::NoInertia(_)) => assert_eq!(place, 25),
        }
    }
    let elements = &outline.elements;
    let beams = elements.iter().filter(|it| it.is_structural);
    assert_eq!(beams.clone().count(), 12);
    assert!(
        beams
            .clone()
            .all(|it| it.kind.nodes == 3 && it.nodes.len() == 3)
    );
    // A hinge on the ground has one moving node.
    let hinge = elements.iter().find(|it| it.kind.constraints == 5).unwrap();
    assert_eq!((hinge.kind.nodes, hinge.nodes.len()), (2, 1));
}

/// A bar of stiffness EA/l between two nodes answers with that along itself; joints do not give at all.
#[test]
fn stiffnesses_are_those_of_the_elements() {
    let (model, _) = hanging_beam(12, 0.0);
    let outline = model.outline();
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let stiffnesses = system.stiffnesses(&[]);
    for (element, stiffness) in outline.elements.iter().zip(stiffnesses) {
        match element.is_structural {
            false => assert_eq!(stiffness, f64::INFINITY),
            // Finite volumes between the points at ±1/√3 of three nodes, EA = 1e6 N, 2 m long: the two slopes of
            // the middle node's parabola there.
            true => {
                let expected = 8.0 / 3.0_f64.sqrt() * 1e6 / 2.0;
                assert!((stiffness / expected - 1.0).abs() < 1e-9, "{stiffness}");
            }
        }
    }
}

/// Looking changes nothing, to the last bit.
#[test]
fn a_stopwatch_leaves_the_motion_as_it_is() {
    let run = |looks: bool| {
        let (model, nodes) = hanging_beam(6, 1e-3);
        let mut system = System::new(model, Options::default()).unwrap();
        system.start(0.0, &[]).unwrap();
        let mut watch = Stopwatch::new(&system);
        for _ in 0..20 {
            system.step(1e-3, &[]).unwrap();
            if looks {
                watch.look(&system, 1e-3, &[]);
            }
        }
        let place = system.motion(nodes[6]).position;
        (place.0.map(f64::to_bits), watch.times())
    };
    let (looked, times) = run(true);
    assert_eq!(looked, run(false).0);
    let counts: Vec<(usize, usize)> = times.iter().map(|it| (it.kind.nodes, it.count)).collect();
    assert_eq!(counts, [(3, 6), (2, 2)]);
    assert!(
        times
            .iter()
            .all(|it| it.residual > 0.0 && it.jacobian > 0.0)
    );
}

/// A spring between two bodies shows its stiffness, whatever it is attached to.
#[test]
fn a_spring_answers_with_its_stiffness() {
    let mut model = Model::new();
    let [a, b] = [0.0, 1.0].map(|x| {
        let node = model.node(format!("at {x}"), Motion::at(Vec3::X * x));
        model.body(node, Body::centred(1.0, Mat3::diagonal(1.0, 1.0, 1.0)));
        node
    });
    let law = Law::Linear {
        stiffness: 250.0,
        damping: 3.0,
    };
    let [a, b] = [a, b].map(Marker::on);
    model.element("spring", Rod::new(a, b, 1.0, law));
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let found = system.stiffnesses(&[])[0];
    assert!((found - 250.0).abs() < 1e-9, "{found}");
}
