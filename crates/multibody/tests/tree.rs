//! Joint coordinates against the absolute equations of the same models.

use oldham_cosim::{Snapshot, StageInputs};
use oldham_multibody::contact::{ContactShape, Shape, Surface};
use oldham_multibody::{
    Body, Bushing, Coordinate, CoordinateForce, Coordinates, Direction, Drive, DrivenCoordinate,
    Joint, Law, Load, Marker, Mat3, Method, Model, ModelError, Motion, NodeId, Options, Quaternion,
    Rod, Servo, System, Target, Vec3,
};

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

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(
            self.between(-size, size),
            self.between(-size, size),
            self.between(-size, size),
        )
    }

    fn orientation(&mut self) -> Quaternion {
        Quaternion::exp(self.vector(2.0))
    }

    fn body(&mut self) -> Body {
        let parts = [0, 1, 2].map(|_| self.between(0.01, 0.05));
        let [a, b, c] = parts;
        let turn = self.orientation().matrix();
        let mut inertia = turn * Mat3::diagonal(b + c, a + c, a + b) * turn.transpose();
        for i in 0..3 {
            for j in 0..i {
                inertia.0[i][j] = inertia.0[j][i];
            }
        }
        Body::centred(self.between(0.5, 2.0), inertia).with_centre(self.vector(0.1))
    }

    fn wave(&mut self) -> Drive {
        Drive::Sine {
            mean: 0.0,
            amplitude: self.between(0.05, 0.3),
            omega: self.between(1.0, 6.0),
            phase: 0.0,
        }
    }
}

/// A tree of `bodies` with all joints, springs, servos, loads.
struct RandomTree {
    model: Model,
    nodes: Vec<NodeId>,
}

fn random_tree(seed: u64, bodies: usize, far: Vec3) -> RandomTree {
    let mut random = Random(seed);
    let mut model = Model::new();
    model.gravity(Vec3::new(0.3, -0.5, -9.81));
    let mut nodes = vec![NodeId::GROUND];
    for index in 0..bodies {
        // Long branches and short ones.
        let parent = match random.below(4) {
            0 => nodes[random.below(nodes.len())],
            1 | 2 => nodes[nodes.len() - 1],
            _ => {
                nodes[nodes
                    .len()
                    .saturating_sub(1 + random.below(4))
                    .min(nodes.len() - 1)]
            }
        };
        let base = match parent == NodeId::GROUND {
            true => far,
            false => model.initial(parent).position,
        };
        let place = base + random.vector(0.4);
        let motion = Motion::at_rest(place, random.orientation())
            .moving(random.vector(0.5), random.vector(1.0));
        let node = model.node(format!("n{index}"), motion);
        model.body(node, random.body());
        let (at, axes) = (place + random.vector(0.2), random.orientation());
        let mut ends = [parent, node].map(|n| model.oriented_marker(n, at, axes));
        if random.below(2) == 0 {
            ends.reverse();
        }
        let [a, b] = ends;
        let name = format!("j{index}");
        let joint = match random.below(15) {
            0 => Joint::clamp(a, b),
            1 | 2 => {
                decorate(&mut model, &mut random, &name, Coordinate::Angle, ends);
                Joint::revolute(a, b)
            }
            3 => {
                decorate(&mut model, &mut random, &name, Coordinate::Slide, ends);
                Joint::prismatic(a, b)
            }
            4 => Joint::cylindrical(a, b),
            5 => Joint::universal(a, b),
            6 => Joint::spherical(a, b),
            7 => Joint::planar(a, b),
            8 => Joint::in_line(a, b),
            9 => Joint::in_plane(a, b),
            10 => Joint::driven_revolute(a, b, random.wave()),
            11 => Joint::driven_prismatic(a, b, random.wave()),
            12 => Joint::driven_cylindrical(a, b, Some(random.wave()), None),
            13 => {
                let turn = [0, 1, 2].map(|_| Direction::Prescribed(random.wave()));
                let slide = [
                    Direction::Free,
                    Direction::Locked,
                    Direction::Prescribed(random.wave()),
                ];
                Joint::total(a, b, slide, turn)
            }
            _ => {
                nodes.push(node);
                continue;
            }
        };
        model.element(name, joint);
        nodes.push(node);
    }
    for index in 0..bodies {
        let pair = [0, 1].map(|_| nodes[random.below(nodes.len())]);
        if pair[0] == pair[1] {
            continue;
        }
        let ends = pair.map(|node| {
            let base = if node == NodeId::GROUND {
                far
            } else {
                Vec3::ZERO
            };
            Marker::on(node).offset(base + random.vector(0.2))
        });
        let name = format!("e{index}");
        match random.below(3) {
            0 => {
                let law = Law::Linear {
                    stiffness: random.between(10.0, 100.0),
                    damping: random.between(0.1, 1.0),
                };
                model.element(name, Rod::new(ends[0], ends[1], 0.4, law));
            }
            1 => {
                let mut bushing = Bushing::new(ends[0], ends[1]);
                bushing.stiffness = Mat3::diagonal(20.0, 30.0, 10.0);
                bushing.damping = Mat3::IDENTITY * 0.3;
                model.element(name, bushing);
            }
            _ => {
                let force = [0, 1, 2].map(|_| random.wave());
                let moment = [0, 1, 2].map(|_| random.wave());
                let load = match random.below(2) {
                    0 => Load::fixed(ends[1], force, moment),
                    _ => Load::follower(ends[1], force, moment),
                };
                model.element(name, load);
            }
        }
    }
    RandomTree { model, nodes }
}

/// Things that act along the coordinate of a joint.
fn decorate(
    model: &mut Model,
    random: &mut Random,
    name: &str,
    coordinate: Coordinate,
    ends: [Marker; 2],
) {
    match random.below(5) {
        0 => {
            let servo = Servo::new(coordinate, ends, [20.0, 2.0]).at_position(random.wave());
            model.element(format!("{name}.servo"), servo);
            model.reflected_inertia(&format!("{name}.rotor"), coordinate, ends, 0.2);
        }
        1 => {
            let law = Law::Linear {
                stiffness: 5.0,
                damping: 0.5,
            };
            let spring = CoordinateForce::new(coordinate, ends, law, 0.1);
            model.element(format!("{name}.spring"), spring);
        }
        2 => {
            model.reflected_inertia(&format!("{name}.rotor"), coordinate, ends, 0.1);
        }
        3 => {
            let drive = match random.below(2) {
                0 => Target::Value(random.wave()),
                _ => Target::Rate(random.wave()),
            };
            let drive = DrivenCoordinate::new(coordinate, ends, drive);
            model.element(format!("{name}.drive"), drive);
        }
        _ => {}
    }
}

fn started(tree: &RandomTree, coordinates: Coordinates) -> System {
    let system = System::new(tree.model.clone(), options(coordinates));
    let mut system = system.unwrap_or_else(|errors| panic!("{errors:?}"));
    system.start(0.0, &[]).expect("a consistent start");
    system
}

/// What accelerates the nodes, and what the joints carry.
fn answers(system: &System, tree: &RandomTree) -> (Vec<Vec3>, Vec<f64>) {
    let loads = tree.nodes[1..].iter().flat_map(|&node| {
        let (force, moment) = system.inertia_load(node);
        [force, moment]
    });
    let count = tree.model.element_names().count();
    let multipliers = (0..count).flat_map(|index| {
        let name = tree.model.element_names().nth(index).expect("its name");
        let element = tree.model.find_element(name).expect("the element");
        system.multipliers(element).to_vec()
    });
    (loads.collect(), multipliers.collect())
}

fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// Differences over the largest value: of what accelerates, and of multipliers.
fn difference(a: &(Vec<Vec3>, Vec<f64>), b: &(Vec<Vec3>, Vec<f64>)) -> [f64; 2] {
    let flat = |vectors: &[Vec3]| -> Vec<f64> { vectors.iter().flat_map(|v| v.0).collect() };
    let relative = |x: &[f64], y: &[f64]| {
        let apart: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        largest(&apart) / largest(y).max(1e-3)
    };
    [relative(&flat(&a.0), &flat(&b.0)), relative(&a.1, &b.1)]
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

fn places(system: &System, tree: &RandomTree) -> Vec<f64> {
    let nodes = tree.nodes[1..].iter();
    let motions = nodes.map(|&node| system.motion(node));
    motions
        .flat_map(|m| [m.position.0, m.velocity.0, m.angular_velocity.0])
        .flatten()
        .collect()
}

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
    let method = Method::Lms2 { rho: 0.6 };
    let word = "lms2".to_owned();
    assert_eq!(
        refusal(hinged(false), method),
        ModelError::NotInJointCoordinates { method: word }
    );
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
