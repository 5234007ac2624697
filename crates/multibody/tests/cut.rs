//! Models taken apart: what goes where, and which cuts are refused.

use oldham_cosim::Subsystem;
use oldham_multibody::cut::{
    Couplings, Cut, CutError, Home, Lack, Partition, Reason, Remedy, Role, partition,
};
use oldham_multibody::{
    BeamMesh, Body, Bushing, Drive, ElementId, Joint, LineInertia, Load, Lumping, Marker, Mat3,
    Measured, Model, Motion, NodeId, Options, PartBuilder, Section, Sensor, Vec3, straight_beam,
};

const LENGTH: f64 = 12.0;

/// A beam of three-node elements, hinged at both ends.
fn beam(elements: usize) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    let mesh = BeamMesh {
        from: Vec3::ZERO,
        to: Vec3::X * LENGTH,
        up: Vec3::Y,
        elements,
        section: Section::diagonal([1e6, 0.6e6, 0.6e6, 1e3, 2e3, 1e4]),
        inertia: LineInertia {
            mass: 5.0,
            rotary: [0.1, 0.05, 0.05],
        },
        lumping: Lumping::Segments,
    };
    let nodes = straight_beam(&mut model, "girder", &mesh);
    for node in [nodes[0], nodes[2 * elements]] {
        hinge(&mut model, "hinge", NodeId::GROUND, node);
    }
    (model, nodes)
}

/// A hinge about y at the second node.
fn hinge(model: &mut Model, name: &str, a: NodeId, b: NodeId) -> ElementId {
    let place = model.initial(b).position;
    let [a, b] = [a, b].map(|node| model.axis_marker(node, place, Vec3::Y));
    model.element(name, Joint::revolute(a, b))
}

fn bead(model: &mut Model, name: &str, place: Vec3) -> NodeId {
    let node = model.node(name, Motion::at(place));
    model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
    node
}

fn tie(model: &mut Model, name: &str, a: NodeId, b: NodeId) -> ElementId {
    model.element(name, Bushing::new(Marker::on(a), Marker::on(b)))
}

/// Beads in a closed row.
fn ring(count: usize) -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    let place = |i: usize| {
        let angle = std::f64::consts::TAU * i as f64 / count as f64;
        Vec3::new(angle.cos(), angle.sin(), 0.0)
    };
    let beads: Vec<NodeId> = (0..count)
        .map(|i| bead(&mut model, &format!("bead{i}"), place(i)))
        .collect();
    for i in 0..count {
        tie(
            &mut model,
            &format!("tie{i}"),
            beads[i],
            beads[(i + 1) % count],
        );
    }
    (model, beads)
}

fn at(nodes: &[NodeId]) -> Cut {
    Cut {
        nodes: nodes.to_vec(),
        ..Cut::default()
    }
}

fn only(refused: Result<Partition, Vec<CutError>>) -> CutError {
    let mut errors = refused.expect_err("a refusal");
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

fn instead(node: &str) -> Option<Remedy> {
    Some(Remedy::Instead(node.into()))
}

fn count(partition: &Partition, role: Role) -> usize {
    let subdomains = partition.subdomains.iter();
    subdomains
        .filter(|subdomain| subdomain.role == role)
        .count()
}

#[test]
fn the_pieces_of_a_beam_add_up_to_the_whole() {
    for cuts in [vec![8], vec![8, 16], vec![4, 8, 20]] {
        let (model, nodes) = beam(12);
        let elements = 12 + 2;
        let cut_nodes: Vec<NodeId> = cuts.iter().map(|&i| nodes[i]).collect();
        let partition = partition(&model, &at(&cut_nodes)).unwrap();
        assert_eq!(count(&partition, Role::Part), cuts.len() + 1);
        assert_eq!(count(&partition, Role::Coupling), cuts.len());
        let sizes = partition.sizes(&model);
        let mass: f64 = sizes.iter().map(|size| size.mass).sum();
        assert!((mass - 5.0 * LENGTH).abs() < 1e-12);
        assert_eq!(sizes.iter().map(|size| size.nodes).sum::<usize>(), 25);
        assert_eq!(
            sizes.iter().map(|size| size.elements).sum::<usize>(),
            elements
        );
        let splits = partition.split(model);
        let masses = |split: &oldham_multibody::cut::Split| -> f64 {
            let nodes = split.nodes.iter().flatten();
            nodes.map(|&node| split.model.inertia(node).0).sum()
        };
        let split_mass: f64 = splits.iter().map(masses).sum();
        assert!((split_mass - 5.0 * LENGTH).abs() < 1e-12);
        for interface in partition.interfaces() {
            assert_eq!(interface.followers.len(), 2);
            for &follower in &interface.followers {
                let copy = splits[follower].nodes[interface.node.index()].unwrap();
                assert_eq!(splits[follower].model.inertia(copy).0, 0.0);
            }
        }
    }
}

#[test]
fn couplings_that_share_a_part_can_be_made_one_or_none() {
    let (model, nodes) = beam(12);
    let wanted = |couplings: Couplings| {
        let cut = at(&[nodes[8], nodes[16]]);
        partition(&model, &Cut { couplings, ..cut }).unwrap()
    };
    let joined = wanted(Couplings::Joined);
    assert_eq!(count(&joined, Role::Coupling), 1);
    assert_eq!(joined.subdomains[3].nodes, [nodes[8], nodes[16]]);
    let without = wanted(Couplings::InParts);
    assert_eq!(count(&without, Role::Coupling), 0);
    let moved: Vec<_> = without
        .interfaces()
        .into_iter()
        .map(|interface| (interface.owner, interface.followers))
        .collect();
    assert_eq!(moved, [(0, vec![1]), (1, vec![2])]);
}

/// The hub with its bearing is the coupling, and even a single blade a part.
#[test]
fn a_hub_is_cut_from_any_number_of_blades() {
    for blades in [1, 2, 4] {
        let mut model = Model::new();
        let hub = bead(&mut model, "hub", Vec3::ZERO);
        hinge(&mut model, "bearing", NodeId::GROUND, hub);
        for i in 0..blades {
            let tip = bead(&mut model, &format!("tip{i}"), Vec3::X * (i + 1) as f64);
            tie(&mut model, "blade", hub, tip);
        }
        let partition = partition(&model, &at(&[hub])).unwrap();
        assert_eq!(count(&partition, Role::Part), blades);
        assert_eq!(partition.interfaces()[0].followers.len(), blades);
        assert_eq!(partition.subdomains[blades].elements.len(), 1);
    }
}

#[test]
fn a_cut_joint_goes_into_the_coupling_with_both_its_nodes() {
    let (mut model, nodes) = ring(6);
    let extra = bead(&mut model, "extra", Vec3::Z);
    let end = bead(&mut model, "end", Vec3::Z * 2.0);
    tie(&mut model, "chain", extra, end);
    let joint = hinge(&mut model, "pin", nodes[0], extra);
    let cut = Cut {
        elements: vec![joint],
        ..Cut::default()
    };
    let partition = partition(&model, &cut).unwrap();
    assert_eq!(partition.subdomains[2].nodes, [nodes[0], extra]);
    assert_eq!(partition.subdomains[2].elements, [joint]);
    assert_eq!(partition.subdomains[0].copies, [nodes[0]]);
    assert_eq!(partition.subdomains[1].copies, [extra]);
}

#[test]
fn parts_are_grouped_and_ordered_as_wanted() {
    let (model, nodes) = beam(12);
    let cut = Cut {
        nodes: vec![nodes[8], nodes[16]],
        parts: vec![vec![nodes[12]], vec![nodes[0], nodes[24]]],
        ..Cut::default()
    };
    let partition = partition(&model, &cut).unwrap();
    assert_eq!(count(&partition, Role::Part), 2);
    assert!(partition.subdomains[0].nodes.contains(&nodes[12]));
    assert_eq!(partition.subdomains[1].nodes.len(), 16);
    assert_eq!(count(&partition, Role::Coupling), 2);
}

/// Five nodes between two parts, two of which a spring ties together, make two couplings.
#[test]
fn a_line_of_nodes_is_shared_out_to_as_many_couplings_as_parts() {
    let mut model = Model::new();
    let ends = [-1.0, 1.0].map(|x| bead(&mut model, "end", Vec3::X * x));
    let line: Vec<NodeId> = (0..5)
        .map(|i| bead(&mut model, &format!("line{i}"), Vec3::Y * f64::from(i)))
        .collect();
    for &node in &line {
        ends.iter().for_each(|&end| {
            tie(&mut model, "cord", node, end);
        });
    }
    tie(&mut model, "tie", line[0], line[3]);
    let partition = partition(&model, &at(&line)).unwrap();
    let nodes: Vec<_> = partition.subdomains[2..]
        .iter()
        .map(|subdomain| &subdomain.nodes)
        .collect();
    assert_eq!(
        nodes,
        [&[line[0], line[1], line[3]][..], &[line[2], line[4]]]
    );
}

#[test]
fn inside_a_beam_element_the_next_end_is_suggested() {
    let (model, nodes) = beam(12);
    let error = only(partition(&model, &at(&[nodes[11]])));
    let expected = Reason::InsideElement {
        node: "girder.11".into(),
        element: "girder.element 5".into(),
    };
    assert_eq!(error.reason, expected);
    assert_eq!(error.remedy, instead("girder.10"));
    // The same where parts are named, which are not separated then.
    let named = Cut {
        parts: vec![vec![nodes[0]], vec![nodes[24]]],
        ..at(&[nodes[11]])
    };
    assert_eq!(only(partition(&model, &named)).reason, expected);
}

#[test]
fn a_beam_element_cannot_be_cut_itself() {
    let (model, nodes) = beam(2);
    let whole = partition(&model, &at(&[nodes[2]])).unwrap();
    let cut = Cut {
        elements: vec![whole.subdomains[0].elements[0]],
        ..Cut::default()
    };
    let error = only(partition(&model, &cut));
    assert!(matches!(
        error.reason,
        Reason::NotBetweenTwo { nodes: 3, .. }
    ));
    assert_eq!(error.remedy, instead("girder.2"));
}

#[test]
fn the_ground_cannot_be_cut() {
    let (model, _) = beam(2);
    let error = only(partition(&model, &at(&[NodeId::GROUND])));
    assert_eq!(error.reason, Reason::Ground);
}

/// Three beads in a row, the middle one as given.
fn row(middle: Option<Body>) -> (Model, [NodeId; 5]) {
    let mut model = Model::new();
    let nodes = [0, 1, 2, 3, 4].map(|i| {
        let (name, place) = (format!("n{i}"), Vec3::X * f64::from(i));
        match i {
            2 => model.node(name, Motion::at(place)),
            _ => bead(&mut model, &name, place),
        }
    });
    if let Some(body) = middle {
        model.body(nodes[2], body);
    }
    for i in 0..4 {
        tie(&mut model, &format!("tie{i}"), nodes[i], nodes[i + 1]);
    }
    (model, nodes)
}

#[test]
fn an_interface_needs_mass_and_rotary_inertia() {
    let rod = Mat3::diagonal(0.0, 0.1, 0.1);
    let cases = [
        (None, Lack::Mass),
        (Some(Body::centred(1.0, Mat3::ZERO)), Lack::RotaryInertia),
        (Some(Body::centred(1.0, rod)), Lack::RotaryInertia),
    ];
    for (body, lack) in cases {
        let (model, nodes) = row(body);
        let error = only(partition(&model, &at(&[nodes[2]])));
        let node = "n2".into();
        assert_eq!(error.reason, Reason::NoInertia { node, lack });
        // Beyond the first bead there is one more, so a cut there separates.
        assert_eq!(error.remedy, instead("n1"));
    }
}

#[test]
fn a_part_needs_mass() {
    let (model, nodes) = row(None);
    let error = only(partition(&model, &at(&[nodes[1], nodes[3]])));
    let nodes = vec!["n2".into()];
    assert_eq!(error.reason, Reason::PartWithoutInertia { nodes });
    assert_eq!(error.remedy, Some(Remedy::Without("n1".into())));
}

#[test]
fn a_ring_needs_two_cuts() {
    let (model, beads) = ring(8);
    let error = only(partition(&model, &at(&[beads[0]])));
    let Reason::NothingSeparated { nodes, through } = &error.reason else {
        panic!("{error:?}");
    };
    assert_eq!(nodes, &["bead0"]);
    assert_eq!(through.len(), 6, "all the way round: {through:?}");
    assert_eq!(error.remedy, Some(Remedy::Also("bead4".into())));
    assert!(partition(&model, &at(&[beads[0], beads[4]])).is_ok());
}

#[test]
fn parts_that_hang_together_are_not_two() {
    let (model, nodes) = beam(12);
    let cut = Cut {
        nodes: vec![nodes[8]],
        parts: vec![vec![nodes[12]], vec![nodes[24]]],
        ..Cut::default()
    };
    let error = only(partition(&model, &cut));
    assert!(matches!(error.reason, Reason::NotSeparated { .. }));
    let cut = Cut {
        parts: vec![vec![nodes[8]]],
        ..at(&[nodes[8]])
    };
    let error = only(partition(&model, &cut));
    assert!(matches!(error.reason, Reason::CutNodeAsMember { .. }));
}

/// A rigid link with hinges at both ends fixes their distance; two prescribed poses do so again.
#[test]
fn interfaces_that_joints_hold_already_are_refused() {
    let mut model = Model::new();
    let names = ["left", "a", "link", "b", "right"];
    let nodes: Vec<NodeId> = (0..)
        .zip(names)
        .map(|(i, name)| bead(&mut model, name, Vec3::X * f64::from(i)))
        .collect();
    tie(&mut model, "first", nodes[0], nodes[1]);
    hinge(&mut model, "pin a", nodes[2], nodes[1]);
    hinge(&mut model, "pin b", nodes[2], nodes[3]);
    tie(&mut model, "last", nodes[3], nodes[4]);
    let error = only(partition(&model, &at(&[nodes[1], nodes[3]])));
    let Reason::HeldTwice { nodes, joints } = &error.reason else {
        panic!("{error:?}");
    };
    assert_eq!(nodes, &["a", "b"]);
    assert_eq!(joints, &["pin a", "pin b"]);
    assert_eq!(error.remedy, instead("link"));
}

#[test]
fn an_interface_tied_to_the_ground_is_refused() {
    let mut model = Model::new();
    let names = ["far", "cut", "post"];
    let nodes: Vec<NodeId> = (0..)
        .zip(names)
        .map(|(i, name)| bead(&mut model, name, Vec3::X * f64::from(i)))
        .collect();
    tie(&mut model, "spring", nodes[0], nodes[1]);
    let clamp = |model: &mut Model, name: &str, a: NodeId, b: NodeId| {
        let [a, b] = [a, b].map(|node| model.marker(node, Vec3::ZERO));
        model.element(name, Joint::clamp(a, b))
    };
    clamp(&mut model, "weld", nodes[1], nodes[2]);
    clamp(&mut model, "foot", nodes[2], NodeId::GROUND);
    let error = only(partition(&model, &at(&[nodes[1]])));
    let Reason::HeldTwice { nodes, joints } = &error.reason else {
        panic!("{error:?}");
    };
    assert_eq!(nodes, &["cut"]);
    assert_eq!(joints, &["weld", "foot"]);
}

#[test]
fn elements_know_their_new_nodes() {
    let (model, nodes) = beam(4);
    let partition = partition(&model, &at(&[nodes[4]])).unwrap();
    let expected: Vec<Vec<String>> = partition.subdomains[1]
        .elements
        .iter()
        .map(|&id| names(&model, model.nodes_of(id)))
        .collect();
    let elements = partition.subdomains[1].elements.clone();
    let right = partition.split(model).remove(1);
    for (id, expected) in elements.into_iter().zip(expected) {
        let here = right.elements[id.index()].unwrap();
        assert_eq!(names(&right.model, right.model.nodes_of(here)), expected);
    }
}

fn names(model: &Model, nodes: &[NodeId]) -> Vec<String> {
    let names = nodes.iter().map(|&node| model.node_name(node).to_owned());
    names.collect()
}

/// Reactions couple the massless copy weakly with the root and strongly with the clamp; its row
/// must be scaled by the latter.
#[test]
fn a_massless_copy_can_carry_a_clamped_spinning_blade() {
    const SPIN: f64 = 10.0;
    let (mut model, blade) = {
        let mut model = Model::new();
        model.gravity(Vec3::Z * -9.81);
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: Vec3::X,
            up: Vec3::Y,
            elements: 4,
            section: Section::diagonal([1e6, 3e5, 3e5, 30.0, 40.0, 400.0]).damped(1e-3),
            inertia: LineInertia {
                mass: 0.5,
                rotary: [2e-3, 1e-3, 1e-3],
            },
            lumping: Lumping::Segments,
        };
        let blade = straight_beam(&mut model, "blade", &mesh);
        (model, blade)
    };
    for &node in &blade {
        let motion = *model.initial(node);
        let velocity = Vec3::Z.cross(motion.position) * SPIN;
        model.place(node, motion.moving(velocity, Vec3::Z * SPIN));
    }
    let turning = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, Vec3::Z * SPIN);
    let hub = model.node("hub", turning);
    let [a, b] = [hub, blade[0]].map(Marker::on);
    model.element("clamp", Joint::clamp(a, b));
    let mut builder = PartBuilder::new(model);
    builder.prescribe("hub", hub);
    let mut part = builder.build(Options::default(), 1).unwrap();
    let inputs = part.ports().initial_inputs().to_vec();
    part.system_mut().start(0.0, &inputs).unwrap();
    part.system_mut().step(5e-4, &inputs).unwrap();
}

/// Two rows of beads that only feedback connects, of which one is cut: its two parts and the other
/// row are three parts, unless the other row is named together with what it follows.
#[test]
fn feedback_between_unconnected_rows_keeps_them_in_one_part() {
    let mut model = Model::new();
    let mut row = |name: &str, count: usize| -> Vec<NodeId> {
        let place = |i: usize| Vec3::X * i as f64;
        let beads: Vec<NodeId> = (0..count)
            .map(|i| bead(&mut model, &format!("{name}{i}"), place(i)))
            .collect();
        for pair in beads.windows(2) {
            tie(&mut model, name, pair[0], pair[1]);
        }
        beads
    };
    let (a, b) = (row("a", 5), row("b", 2));
    let sensors = vec![Sensor::Position(a[0].into(), Vec3::X)];
    let follow = Drive::Measured(Measured::new(sensors, |readings| -readings[1]));
    let force = [follow, Drive::ZERO, Drive::ZERO];
    let none = [(); 3].map(|()| Drive::ZERO);
    let load = Load::fixed(Marker::on(b[0]), force, none);
    model.element("servo", load);
    let refused = only(partition(&model, &at(&[a[2]])));
    assert_eq!(
        refused.reason,
        Reason::MeasuredElsewhere {
            element: "servo".into(),
            measured: "a0".into(),
            home: Home::Part("b0".into()),
            elsewhere: Home::Part("a0".into()),
        }
    );
    let together = ["b0", "a0"].map(String::from);
    assert_eq!(refused.remedy, Some(Remedy::Together(together)));
    let cut = Cut {
        parts: vec![vec![b[0], a[0]]],
        ..at(&[a[2]])
    };
    assert_eq!(count(&partition(&model, &cut).unwrap(), Role::Part), 2);
}

/// A coupling that touches no part can be put into none.
#[test]
fn a_cut_through_everything_is_refused_whatever_becomes_of_the_couplings() {
    let mut model = Model::new();
    let ends = [0.0, 1.0].map(|x| bead(&mut model, &format!("bead{x}"), Vec3::X * x));
    tie(&mut model, "tie", ends[0], ends[1]);
    for couplings in [Couplings::Separate, Couplings::Joined, Couplings::InParts] {
        let cut = Cut {
            couplings,
            ..at(&ends)
        };
        let errors = partition(&model, &cut).expect_err("a refusal");
        let nothing = |error: &CutError| matches!(error.reason, Reason::NothingSeparated { .. });
        assert!(errors.iter().all(nothing), "{errors:?}");
    }
}

/// Both ends of a row act on another one, so that no cut of the first works; nor does none.
#[test]
fn feedback_from_both_sides_of_a_cut_is_refused() {
    let mut model = Model::new();
    let row = [0.0, 1.0, 2.0].map(|x| bead(&mut model, &format!("bead{x}"), Vec3::X * x));
    for pair in row.windows(2) {
        tie(&mut model, "tie", pair[0], pair[1]);
    }
    let alone = bead(&mut model, "alone", Vec3::Y);
    let sensors = [row[0], row[2]].map(|node| Sensor::Position(node.into(), Vec3::X));
    let follow = Drive::Measured(Measured::new(sensors.to_vec(), |r| r[1] - r[2]));
    let none = || [(); 3].map(|()| Drive::ZERO);
    let force = [follow, Drive::ZERO, Drive::ZERO];
    model.element("servo", Load::fixed(Marker::on(alone), force, none()));
    for cut in [at(&[row[1]]), Cut::default()] {
        let refused = only(partition(&model, &cut));
        assert!(matches!(refused.reason, Reason::MeasuredElsewhere { .. }));
        assert_eq!(refused.remedy, None);
    }
}
