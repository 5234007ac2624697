//! Implicit formulas in joint coordinates.

#[path = "support/random_trees.rs"]
mod random_trees;

use oldham_cosim::{Snapshot, StageInputs};
use oldham_multibody::{
    Body, Coordinates, Joint, Marker, Mat3, Method, Model, Motion, NodeId, Options, System, Vec3,
};
use random_trees::{RandomTree, answers, difference, largest, places, random_tree};

const LMS2: Method = Method::Lms2 { rho: 0.6 };
const IMPLICIT: [Method; 3] = [
    LMS2,
    Method::GeneralisedAlpha { rho: 0.6 },
    Method::BackwardEuler,
];
const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Interpolated,
};
const END: f64 = 0.1;

fn started(tree: &RandomTree, method: Method, coordinates: Coordinates, tolerance: f64) -> System {
    let options = Options {
        method,
        tolerance,
        account_energy: true,
        coordinates,
        ..Options::default()
    };
    let system = System::new(tree.model.clone(), options);
    let mut system = system.unwrap_or_else(|errors| panic!("{errors:?}"));
    system.start(0.0, &[]).expect("a consistent start");
    system
}

fn run(mut system: System, steps: usize) -> System {
    for _ in 0..steps {
        system.step(END / steps as f64, &[]).unwrap();
    }
    system
}

/// Each tree takes a few steps in joint coordinates; then the absolute equations say what accelerations and reactions
/// belong to the motions reached. Newton's iteration ends at 1e-11 of the largest acceleration or at the last digits of the
/// places, divided by the square of the step; long branches multiply that.
#[test]
fn accelerations_and_reactions_are_those_of_the_absolute_equations() {
    let count = std::env::var("OLDHAM_MODELS").map_or(20, |count| count.parse().unwrap());
    let mut worst = [0.0_f64; 2];
    for seed in 0..count {
        let bodies = 2 + (seed as usize * 7) % 39;
        let tree = random_tree(seed, bodies, Vec3::ZERO);
        for method in IMPLICIT {
            let mut system = started(&tree, method, Coordinates::Joint, 1e-13);
            for _ in 0..4 {
                system.step(1e-3, &[]).unwrap();
            }
            let ours = answers(&system, &tree);
            system.restart(&[]).unwrap();
            let found = difference(&ours, &answers(&system, &tree));
            assert!(
                found.iter().all(|apart| *apart < 2e-9),
                "seed {seed}, {bodies} bodies, {method:?}: {found:?}"
            );
            worst = [0, 1].map(|k| worst[k].max(found[k]));
        }
    }
    println!(
        "accelerations {:.1e}, multipliers {:.1e}",
        worst[0], worst[1]
    );
}

/// Both converge to the motion that a method of fourth order finds, with the order of the formula; and so do all energies.
#[test]
fn runs_agree_to_the_order_of_the_method() {
    for seed in [1, 4, 8, 15, 16, 23, 42] {
        let tree = random_tree(seed, 3 + seed as usize % 9, Vec3::ZERO);
        let reference = run(started(&tree, RK4, Coordinates::Absolute, 1e-6), 320);
        let expected = places(&reference, &tree);
        for (method, order) in [(LMS2, 2.0), (IMPLICIT[1], 2.0), (IMPLICIT[2], 1.0)] {
            let system =
                |steps: usize, coordinates| run(started(&tree, method, coordinates, 1e-6), steps);
            let error = |steps: usize, coordinates| {
                let found = places(&system(steps, coordinates), &tree);
                let apart: Vec<f64> = found.iter().zip(&expected).map(|(x, y)| x - y).collect();
                largest(&apart)
            };
            let errors = [80, 160].map(|steps| error(steps, Coordinates::Joint));
            let found = (errors[0] / errors[1]).log2();
            assert!(
                found > order - 0.25,
                "seed {seed}, {method:?}: order {found}, errors {errors:?}"
            );
            let of_nodes = error(160, Coordinates::Absolute);
            assert!(
                errors[1] < 2.0 * of_nodes,
                "seed {seed}, {method:?}: {errors:?}, nodes {of_nodes}"
            );
            let ours = system(160, Coordinates::Joint).energy(&[]);
            let theirs = reference.energy(&[]);
            let pairs = [
                (ours.kinetic, theirs.kinetic),
                (ours.potential, theirs.potential),
                (ours.dissipated, theirs.dissipated),
                (ours.supplied, theirs.supplied),
            ];
            let scale = pairs
                .iter()
                .fold(1.0, |most: f64, pair| most.max(pair.1.abs()));
            let most = if order > 1.0 { 1e-3 } else { 3e-2 };
            for (ours, theirs) in pairs {
                assert!(
                    (ours - theirs).abs() < most * scale,
                    "seed {seed}, {method:?}: {pairs:?}"
                );
            }
        }
    }
}

/// One iteration a step is the rule, and few factorisations, as for the nodes.
#[test]
fn iterations_are_as_few_as_for_the_nodes() {
    for seed in [1, 8, 16, 42] {
        let tree = random_tree(seed, 3 + seed as usize % 9, Vec3::ZERO);
        for method in IMPLICIT {
            let [ours, theirs] = [Coordinates::Joint, Coordinates::Absolute].map(|coordinates| {
                let system = run(started(&tree, method, coordinates, 1e-6), 400);
                system.counters()
            });
            assert!(
                10 * ours.iterations <= 13 * theirs.iterations + 100,
                "seed {seed}, {method:?}: {ours:?}, nodes {theirs:?}"
            );
            assert!(
                ours.factorisations <= 2 * theirs.factorisations + 20,
                "seed {seed}, {method:?}: {ours:?}, nodes {theirs:?}"
            );
        }
    }
}

/// What a checkpoint keeps is all that a run goes on from, also between two factorisations: factors that are made again
/// have the same bits.
#[test]
fn a_run_from_a_checkpoint_has_the_same_bits() {
    let trees = (0..10).map(|seed| random_tree(seed, 6 + seed as usize % 9, Vec3::ZERO));
    let loops = (0..8).filter_map(with_loops);
    for (index, tree) in trees.chain(loops).enumerate() {
        for method in IMPLICIT {
            let begin = || started(&tree, method, Coordinates::Joint, 1e-6);
            for before in [2, 3, 5, 20] {
                let mut whole = begin();
                for _ in 0..before {
                    whole.step(2e-3, &[]).unwrap();
                }
                let mut kept = Snapshot::default();
                kept.save(&mut whole);
                let mut other = begin();
                kept.restore(&mut other);
                for system in [&mut whole, &mut other] {
                    for _ in 0..20 {
                        system.step(2e-3, &[]).unwrap();
                    }
                }
                for (a, b) in places(&whole, &tree).iter().zip(places(&other, &tree)) {
                    assert_eq!(
                        a.to_bits(),
                        b.to_bits(),
                        "tree {index}, {method:?}, {before}"
                    );
                }
                assert_eq!(answers(&whole, &tree), answers(&other, &tree));
                assert_eq!(whole.energy(&[]), other.energy(&[]));
            }
        }
    }
}

/// Steps of another size begin anew, and joints stay closed however long it goes.
#[test]
fn joints_stay_closed_whatever_the_steps() {
    let tree = random_tree(11, 12, Vec3::ZERO);
    for method in IMPLICIT {
        let mut system = started(&tree, method, Coordinates::Joint, 1e-6);
        for step in 0..200 {
            let size = if step % 50 < 25 { 2e-3 } else { 1e-3 };
            system.step(size, &[]).unwrap();
        }
        let before = places(&system, &tree);
        // Closes what is open.
        system.start(system.time(), &[]).unwrap();
        let after = places(&system, &tree);
        let apart: Vec<f64> = before.iter().zip(&after).map(|(x, y)| x - y).collect();
        assert!(largest(&apart) < 1e-11, "{method:?}: {:e}", largest(&apart));
    }
}

/// A tree with rods, guides and planes between its nodes; nothing where these leave it no way to move.
fn with_loops(seed: u64) -> Option<RandomTree> {
    let mut tree = random_tree(seed, 6 + seed as usize % 9, Vec3::ZERO);
    for k in 0..1 + seed as usize % 3 {
        let count = tree.nodes.len();
        let [a, b] = [3 * k + 1, 5 * k + 4].map(|i| tree.nodes[1 + i % (count - 1)]);
        if a == b {
            continue;
        }
        let model = &mut tree.model;
        let [at, there] = [a, b].map(|node| model.initial(node).position);
        let [ground, own] = [NodeId::GROUND, b].map(|node| model.marker(node, there));
        let joint = match (seed as usize + k) % 3 {
            0 => Joint::distance(Marker::on(a), Marker::on(b), (at - there).norm()),
            1 => Joint::in_plane(ground, own),
            _ => {
                let [a, b] = [a, b].map(|node| model.marker(node, there));
                Joint::in_line(a, b)
            }
        };
        model.element(format!("loop {k}"), joint);
    }
    let options = Options {
        method: RK4,
        ..Options::default()
    };
    let mut system = System::new(tree.model.clone(), options).ok()?;
    system.start(0.0, &[]).ok()?;
    Some(tree)
}

/// Loops are closed by rows on top: the same motion, with the order of the formula.
#[test]
fn loops_are_rows_on_top() {
    let count = std::env::var("OLDHAM_MODELS").map_or(10, |count| count.parse().unwrap());
    let mut compared = 0;
    for seed in 0..count {
        let Some(tree) = with_loops(seed) else {
            continue;
        };
        let reference = run(started(&tree, RK4, Coordinates::Absolute, 1e-6), 200);
        let expected = places(&reference, &tree);
        for method in [LMS2, IMPLICIT[1]] {
            let system = |steps, coordinates| run(started(&tree, method, coordinates, 1e-8), steps);
            let apart = |found: &[f64], expected: &[f64]| {
                let apart: Vec<f64> = found.iter().zip(expected).map(|(x, y)| x - y).collect();
                largest(&apart)
            };
            let error = |steps: usize, coordinates| {
                apart(&places(&system(steps, coordinates), &tree), &expected)
            };
            let errors = [100, 200].map(|steps| error(steps, Coordinates::Joint));
            let of_nodes = error(200, Coordinates::Absolute);
            assert!(
                errors[1] < 4.0 * of_nodes + 1e-6,
                "seed {seed}, {method:?}: {errors:?}, nodes {of_nodes}"
            );
            assert!(
                errors[0] > 3.0 * errors[1] || errors[0] < 1e-5,
                "seed {seed}, {method:?}: {errors:?}"
            );
            let of_forces = |coordinates| {
                let found = answers(&system(200, coordinates), &tree);
                difference(&found, &answers(&reference, &tree))
            };
            let [ours, theirs] = [Coordinates::Joint, Coordinates::Absolute].map(of_forces);
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert!(
                    *ours < 4.0 * theirs + 1e-6,
                    "seed {seed}, {method:?}: accelerations and reactions {ours}, nodes {theirs}"
                );
            }
            let mut found = system(200, Coordinates::Joint);
            let before = places(&found, &tree);
            found.start(found.time(), &[]).unwrap();
            let is_place = |i: &usize| i % 9 < 3;
            let places_of = |all: &[f64]| -> Vec<f64> {
                (0..all.len()).filter(is_place).map(|i| all[i]).collect()
            };
            let open = apart(&places_of(&before), &places_of(&places(&found, &tree)));
            assert!(open < 1e-8, "seed {seed}, {method:?}: open by {open:e}");
        }
        compared += 1;
    }
    assert!(2 * compared >= count, "{compared} trees with loops");
}

/// Where three bars and the ground close a loop, by circles about the ends of crank and rocker.
#[test]
fn a_four_bar_moves_as_its_circles_say() {
    let [crank, coupler, rocker, base] = [1.0_f64, 2.5, 2.0, 3.0];
    let far = Vec3::X * base;
    let meet = |tip: Vec3| {
        let between = far - tip;
        let distance = between.norm();
        let along = (coupler * coupler - rocker * rocker + distance * distance) / (2.0 * distance);
        let across = (coupler * coupler - along * along).sqrt();
        let n = between * (1.0 / distance);
        tip + n * along + Vec3::new(-n[2], 0.0, n[0]) * across
    };
    let tip = Vec3::new(1.0_f64.cos(), 0.0, 1.0_f64.sin()) * crank;
    let joint = meet(tip);
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let mut bar = |name: &str, from: Vec3, to: Vec3| {
        let node = model.node(name, Motion::at((from + to) * 0.5));
        model.body(node, Body::centred(1.0, Mat3::diagonal(0.1, 0.3, 0.3)));
        node
    };
    let [a, b, c] = [
        bar("crank", Vec3::ZERO, tip),
        bar("coupler", tip, joint),
        bar("rocker", far, joint),
    ];
    let mut hinge = |name: &str, ends: [NodeId; 2], at: Vec3| {
        let [one, two] = ends.map(|node| model.axis_marker(node, at, Vec3::Y));
        model.element(name, Joint::revolute(one, two));
    };
    hinge("crank bearing", [NodeId::GROUND, a], Vec3::ZERO);
    hinge("crank pin", [a, b], tip);
    hinge("rocker bearing", [NodeId::GROUND, c], far);
    let [one, two] = [b, c].map(|node| model.axis_marker(node, joint, Vec3::Y));
    model.element("rocker pin", Joint::in_line(one, two));
    let nodes = vec![NodeId::GROUND, a, b, c];
    let tree = RandomTree { model, nodes };
    for method in IMPLICIT {
        let mut system = started(&tree, method, Coordinates::Joint, 1e-8);
        let mut highest = [f64::INFINITY, f64::NEG_INFINITY];
        for _ in 0..1500 {
            system.step(1e-3, &[]).unwrap();
            let tip = system.motion(a).position * 2.0;
            let expected = meet(tip);
            let of_rocker = system.motion(c).position * 2.0 - far;
            let of_coupler = system.motion(b).position * 2.0 - tip;
            for found in [of_rocker, of_coupler] {
                assert!((found - expected).norm() < 1e-8, "{method:?}: {found:?}");
            }
            assert!((tip.norm() - crank).abs() < 1e-12);
            highest = [highest[0].min(tip[2]), highest[1].max(tip[2])];
        }
        assert!(highest[1] - highest[0] > 0.5, "it moves: {highest:?}");
        let energy = system.energy(&[]);
        let start = started(&tree, method, Coordinates::Joint, 1e-8).energy(&[]);
        let change = energy.kinetic + energy.potential - start.kinetic - start.potential;
        let most = if method == Method::BackwardEuler {
            0.5
        } else {
            1e-3
        };
        assert!(
            change.abs() < most,
            "{method:?}: energy changes by {change}"
        );
    }
}
