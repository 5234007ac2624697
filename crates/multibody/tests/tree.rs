//! Joint coordinates against the absolute equations of the same models.

#[path = "support/random_trees.rs"]
mod random_trees;

use oldham_cosim::{Snapshot, StageInputs};
use oldham_multibody::contact::{ContactShape, Shape, Surface};
use oldham_multibody::{
    Body, Coordinate, Coordinates, Joint, Marker, Mat3, Method, Model, ModelError, Motion, NodeId,
    Options, Servo, System, Vec3,
};
use random_trees::{RandomTree, answers, difference, largest, places, random_tree};

const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Interpolated,
};

fn options(coordinates: Coordinates) -> Options {
    Options {
        method: RK4,
        account_energy: true,
        coordinates,
        ..Options::default()
    }
}

fn started(tree: &RandomTree, coordinates: Coordinates) -> System {
    let system = System::new(tree.model.clone(), options(coordinates));
    let mut system = system.unwrap_or_else(|errors| panic!("{errors:?}"));
    system.start(0.0, &[]).expect("a consistent start");
    system
}

/// Each tree takes a few steps in joint coordinates; then the absolute equations say what accelerations and reactions
/// belong to the motions reached.
#[test]
fn accelerations_and_reactions_are_those_of_the_absolute_equations() {
    let count = std::env::var("OLDHAM_MODELS").map_or(100, |count| count.parse().unwrap());
    let mut worst = [0.0_f64; 2];
    for seed in 0..count {
        let bodies = 2 + (seed as usize * 7) % 39;
        let tree = random_tree(seed, bodies, Vec3::ZERO);
        let mut system = started(&tree, Coordinates::Joint);
        for _ in 0..3 {
            system.step(1e-3, &[]).unwrap();
        }
        let ours = answers(&system, &tree);
        system.restart(&[]).unwrap();
        let theirs = answers(&system, &tree);
        let found = difference(&ours, &theirs);
        assert!(
            found.iter().all(|apart| *apart < 1e-10),
            "seed {seed}, {bodies} bodies: {found:?}"
        );
        worst = [0, 1].map(|k| worst[k].max(found[k]));
    }
    println!(
        "accelerations {:.1e}, multipliers {:.1e}",
        worst[0], worst[1]
    );
}

/// Ten kilometres from the origin nothing is lost but the digits of the positions themselves.
#[test]
fn far_from_the_origin_no_digits_are_lost() {
    for seed in [3, 14, 27] {
        let near = random_tree(seed, 12, Vec3::ZERO);
        let far = random_tree(seed, 12, Vec3::new(1e4, -2e4, 5e3));
        let [near, far] = [near, far].map(|tree| {
            let mut system = started(&tree, Coordinates::Joint);
            system.step(1e-3, &[]).unwrap();
            answers(&system, &tree)
        });
        let found = difference(&near, &far);
        assert!(found.iter().all(|apart| *apart < 1e-8), "{seed}: {found:?}");
    }
}

fn run(tree: &RandomTree, coordinates: Coordinates, steps: usize) -> System {
    let mut system = started(tree, coordinates);
    for _ in 0..steps {
        system.step(END / steps as f64, &[]).unwrap();
    }
    system
}

const END: f64 = 0.1;

/// Both converge to the same motion, with the fourth power of the step; and so do all energies.
#[test]
fn runs_agree_to_the_order_of_the_method() {
    for seed in [1, 4, 8, 15, 16, 23, 42] {
        let tree = random_tree(seed, 3 + seed as usize % 9, Vec3::ZERO);
        let reference = run(&tree, Coordinates::Absolute, 320);
        let expected = places(&reference, &tree);
        let error = |steps: usize| {
            let found = places(&run(&tree, Coordinates::Joint, steps), &tree);
            let apart: Vec<f64> = found.iter().zip(&expected).map(|(x, y)| x - y).collect();
            largest(&apart)
        };
        let errors = [10, 20, 40].map(error);
        let order = (errors[0] / errors[1]).log2();
        assert!(
            order > 3.4 || errors[1] < 1e-9,
            "seed {seed}: order {order}, errors {errors:?}"
        );
        assert!(errors[2] < 1e-6, "seed {seed}: {errors:?}");
        let found = run(&tree, Coordinates::Joint, 320);
        let apart = places(&found, &tree);
        let apart: Vec<f64> = apart.iter().zip(&expected).map(|(x, y)| x - y).collect();
        assert!(largest(&apart) < 1e-9, "seed {seed}: {:e}", largest(&apart));
        let [ours, theirs] = [&found, &reference].map(|system| system.energy(&[]));
        let pairs = [
            (ours.kinetic, theirs.kinetic),
            (ours.potential, theirs.potential),
            (ours.dissipated, theirs.dissipated),
            (ours.supplied, theirs.supplied),
        ];
        let scale = pairs
            .iter()
            .fold(1.0, |most: f64, pair| most.max(pair.1.abs()));
        for (ours, theirs) in pairs {
            assert!(
                (ours - theirs).abs() < 1e-9 * scale,
                "seed {seed}: {pairs:?}"
            );
        }
    }
}

/// What a checkpoint keeps is all that a run goes on from.
#[test]
fn a_run_from_a_checkpoint_has_the_same_bits() {
    for seed in [2, 9, 30] {
        let tree = random_tree(seed, 15, Vec3::ZERO);
        let mut whole = started(&tree, Coordinates::Joint);
        for _ in 0..20 {
            whole.step(1e-3, &[]).unwrap();
        }
        let mut kept = Snapshot::default();
        kept.save(&mut whole);
        let mut other = started(&tree, Coordinates::Joint);
        kept.restore(&mut other);
        for _ in 0..20 {
            whole.step(1e-3, &[]).unwrap();
            other.step(1e-3, &[]).unwrap();
        }
        for (a, b) in places(&whole, &tree).iter().zip(places(&other, &tree)) {
            assert_eq!(a.to_bits(), b.to_bits());
        }
        assert_eq!(answers(&whole, &tree), answers(&other, &tree));
        assert_eq!(whole.energy(&[]), other.energy(&[]));
    }
}

fn with_impulses(model: &Model, coordinates: Coordinates, steps: usize) -> System {
    let options = Options {
        method: Method::Impulses,
        ..options(coordinates)
    };
    let mut system = System::new(model.clone(), options).expect("a valid model");
    system.start(0.0, &[]).expect("a consistent start");
    for _ in 0..steps {
        system.step(1e-3, &[]).unwrap();
    }
    system
}

/// Impulses obey the same equations in both; only who solves them differs.
#[test]
fn steps_with_impulses_are_those_of_the_absolute_equations() {
    let count = std::env::var("OLDHAM_MODELS").map_or(30, |count| count.parse().unwrap());
    for seed in 0..count {
        let tree = random_tree(seed, 2 + (seed as usize * 7) % 39, Vec3::ZERO);
        let both = [Coordinates::Joint, Coordinates::Absolute];
        let [ours, theirs] = both.map(|it| with_impulses(&tree.model, it, 20));
        let found = difference(&answers(&ours, &tree), &answers(&theirs, &tree));
        let apart = places(&ours, &tree);
        let apart: Vec<f64> = apart
            .iter()
            .zip(places(&theirs, &tree))
            .map(|(x, y)| x - y)
            .collect();
        assert!(largest(&apart) < 1e-10, "{seed}: {:e}", largest(&apart));
        // Accelerations and reactions are differences over a step.
        assert!(found.iter().all(|it| *it < 1e-7), "{seed}: {found:?}");
    }
}

/// A body with four legs of two links each that lands on its feet.
fn walker() -> (Model, Vec<NodeId>) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let floor = ContactShape {
        name: "floor".into(),
        at: Marker::on(NodeId::GROUND),
        shape: Shape::Plane,
        surface: Surface::rough(0.6),
    };
    model.contacts().shapes.push(floor);
    let trunk = model.node("trunk", Motion::at(Vec3::Z * 0.55));
    model.body(trunk, Body::centred(5.0, Mat3::diagonal(0.05, 0.1, 0.12)));
    let mut nodes = vec![trunk];
    for (index, (x, y)) in [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]
        .into_iter()
        .enumerate()
    {
        let mut above = trunk;
        for (link, z) in [0.55, 0.3].into_iter().enumerate() {
            let lean = 0.05 * (1.0 - 2.0 * link as f64);
            let hip = Vec3::new(x + 0.1 * link as f64, y, z);
            let centre = hip + Vec3::new(lean, 0.0, -0.125);
            let node = model.node(format!("leg {index}.{link}"), Motion::at(centre));
            model.body(node, Body::centred(0.5, Mat3::IDENTITY * 0.003));
            let ends = [above, node].map(|n| model.axis_marker(n, hip, Vec3::Y));
            model.element(
                format!("hinge {index}.{link}"),
                Joint::revolute(ends[0], ends[1]),
            );
            let servo = Servo::new(Coordinate::Angle, ends, [60.0, 2.0]).at_position(0.0);
            model.element(format!("servo {index}.{link}"), servo);
            if link == 1 {
                let foot = ContactShape {
                    name: format!("foot {index}"),
                    at: Marker::on(node).offset(Vec3::new(lean, 0.0, -0.125)),
                    shape: Shape::Sphere { radius: 0.03 },
                    surface: Surface::rough(0.6),
                };
                model.contacts().shapes.push(foot);
            }
            above = node;
            nodes.push(node);
        }
    }
    (model, nodes)
}

#[test]
fn a_walker_lands_as_in_absolute_coordinates() {
    let (model, nodes) = walker();
    let both = [Coordinates::Joint, Coordinates::Absolute];
    let [ours, theirs] = both.map(|it| with_impulses(&model, it, 300));
    assert!(!ours.pressed_contacts().is_empty(), "it has landed");
    for node in nodes {
        let [a, b] = [&ours, &theirs].map(|system| system.motion(node));
        // The contact problem is solved to its residual.
        assert!((a.position - b.position).norm() < 1e-6);
        let [a, b] = [a, b].map(|motion| motion.rotation * Vec3::new(1.0, 1.0, 1.0));
        assert!((a - b).norm() < 1e-5);
    }
}

fn hinged(closed: bool) -> Model {
    let mut model = Model::new();
    let mut above = NodeId::GROUND;
    for index in 0..3 {
        let place = Vec3::X * f64::from(index);
        let node = model.node(format!("n{index}"), Motion::at(place + Vec3::X * 0.5));
        model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
        let [a, b] = [above, node].map(|n| model.axis_marker(n, place, Vec3::Y));
        model.element(format!("j{index}"), Joint::revolute(a, b));
        above = node;
    }
    if closed {
        let [a, b] = [NodeId::GROUND, above].map(|n| model.marker(n, Vec3::X * 3.0));
        model.element("closing", Joint::in_plane(a, b));
    }
    model
}

fn refusal(model: Model, method: Method) -> ModelError {
    let options = Options {
        method,
        ..options(Coordinates::Joint)
    };
    let errors = System::new(model, options).err().expect("a refusal");
    errors.into_iter().next().unwrap()
}

#[test]
fn what_is_no_tree_is_refused_by_name() {
    let joints = vec!["closing".to_owned()];
    assert_eq!(refusal(hinged(true), RK4), ModelError::NotATree { joints });
    let mut model = hinged(false);
    let last = NodeId::GROUND;
    let node = model.moving_nodes().last().unwrap().0;
    let rod = [last, node].map(Marker::on);
    model.element("rod", Joint::distance(rod[0], rod[1], 2.5));
    let elements = vec!["rod".to_owned()];
    assert_eq!(refusal(model, RK4), ModelError::NotOfATree { elements });
}

#[test]
fn a_joint_that_moves_no_mass_is_refused_by_name() {
    // A tip without mass.
    let mut model = hinged(false);
    let last = model.moving_nodes().last().unwrap().0;
    let tip = model.node("tip", Motion::at(Vec3::X * 3.0));
    let [a, b] = [last, tip].map(|n| model.axis_marker(n, Vec3::X * 3.0, Vec3::Y));
    model.element("wrist", Joint::revolute(a, b));
    let joint = "wrist".to_owned();
    assert_eq!(refusal(model, RK4), ModelError::NoInertia { joint });
    // A point mass on the axis of its joint, far from the root.
    let mut model = hinged(false);
    let last = model.moving_nodes().last().unwrap().0;
    let tip = model.node("tip", Motion::at(Vec3::new(3.0, 0.3, 0.1)));
    model.body(tip, Body::centred(0.7, Mat3::ZERO));
    let [a, b] = [last, tip].map(|n| model.axis_marker(n, Vec3::new(3.0, 0.1, 0.1), Vec3::Y));
    model.element("wrist", Joint::revolute(a, b));
    let joint = "wrist".to_owned();
    assert_eq!(refusal(model.clone(), RK4), ModelError::NoInertia { joint });
    // A rotor behind a gear is enough.
    model.reflected_inertia("rotor", Coordinate::Angle, [a, b], 1e-3);
    assert!(System::new(model, options(Coordinates::Joint)).is_ok());
}
