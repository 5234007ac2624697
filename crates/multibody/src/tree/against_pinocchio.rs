//! Mass matrices and bias forces against Pinocchio: `tests/oracles/pinocchio_trees.py` makes the numbers.

use super::Tree;
use crate::body::Body;
use crate::integrator::Method;
use crate::joint::Joint;
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_cosim::StageInputs;
use oldham_space::{Mat3, Quaternion, Vec3};

const NUMBERS: &str = include_str!("../../tests/oracles/pinocchio_trees.txt");
const GRAVITY: Vec3 = Vec3::new(0.3, -0.5, -9.81);
/// Largest difference, over the largest number of the same kind.
const TOLERANCE: f64 = 1e-10;

struct Reader<'t> {
    lines: std::str::Lines<'t>,
}

impl Reader<'_> {
    fn numbers(&mut self) -> Vec<f64> {
        let line = self.lines.next().expect("a line of numbers");
        let words = line.split_whitespace();
        words.map(|word| word.parse().expect("a number")).collect()
    }

    fn vector(&mut self) -> Vec3 {
        let [x, y, z] = self.numbers()[..] else {
            panic!("three numbers")
        };
        Vec3::new(x, y, z)
    }

    /// A node with its body, and its joint.
    fn body(&mut self, model: &mut Model, index: usize) {
        let line = self.lines.next().expect("a body");
        let [_, parent, kind] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("parent and kind of {line}")
        };
        let position = self.vector();
        let turn = Quaternion(self.numbers().try_into().expect("four numbers"));
        let (velocity, spin) = (self.vector(), self.vector());
        let motion = Motion::at_rest(position, turn).moving(velocity, spin);
        let node = model.node(format!("n{index}"), motion);
        let [mass, x, y, z, xx, xy, xz, yy, yz, zz] = self.numbers()[..] else {
            panic!("ten numbers")
        };
        let inertia = Mat3 {
            0: [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
        };
        let body = Body::centred(mass, inertia).with_centre(Vec3::new(x, y, z));
        model.body(node, body);
        let axis = self.vector();
        let parent = NodeId(parent.parse().expect("a number"));
        let along = [parent, node].map(|n| model.axis_marker(n, position, axis));
        let plain = [parent, node].map(|n| model.marker(n, position));
        let joint = match kind {
            "hinge" => Joint::revolute(along[0], along[1]),
            "slide" => Joint::prismatic(along[0], along[1]),
            "ball" => Joint::spherical(plain[0], plain[1]),
            "free" => return,
            other => panic!("{other}"),
        };
        model.element(format!("j{index}"), joint);
    }
}

#[test]
fn mass_matrices_and_bias_forces_are_those_of_pinocchio() {
    let mut reader = Reader {
        lines: NUMBERS.lines(),
    };
    let (mut trees, mut worst) = (0, 0.0_f64);
    while let Some(line) = reader.lines.next() {
        let words: Vec<&str> = line.split(' ').collect();
        let [bodies, freedoms]: [usize; 2] = [1, 2].map(|k: usize| words[k].parse().unwrap());
        let mut model = Model::new();
        model.gravity(GRAVITY);
        for index in 0..bodies {
            reader.body(&mut model, index);
        }
        let mass: Vec<Vec<f64>> = (0..freedoms).map(|_| reader.numbers()).collect();
        let bias = reader.numbers();
        let method = Method::Rk4 {
            inputs: StageInputs::Held,
        };
        let mut tree = Tree::new(&model, method).expect("a tree");
        let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        let inertia: Vec<_> = model.nodes.iter().map(|node| node.inertia).collect();
        tree.locate(&motions);
        tree.find_dynamics(&motions, &inertia, GRAVITY, &[]);
        // Theirs are numbered as the bodies.
        let mut first = vec![0; bodies + 1];
        for link in &tree.layout.links {
            first[link.node] = link.slides.ids().len() + link.turns.ids().len();
        }
        let mut before = 0;
        for count in &mut first[1..] {
            before += std::mem::replace(count, before);
        }
        assert_eq!(before, freedoms);
        let mut place = vec![0; freedoms];
        for link in &tree.layout.links {
            let ids = link.slides.ids().iter().chain(link.turns.ids());
            for (k, &id) in ids.enumerate() {
                place[id] = first[link.node] + k;
            }
        }
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let scale = largest(&mut mass.iter().flatten().map(|x| x.abs()));
        let mut ours = vec![vec![0.0; freedoms]; freedoms];
        for id in 0..freedoms {
            for (place_in_row, &other) in tree.pattern.row(id).iter().enumerate() {
                let (i, j) = (place[id], place[other]);
                ours[i.max(j)][i.min(j)] = tree.mass[tree.pattern.start(id) + place_in_row];
            }
        }
        for (ours, theirs) in ours.iter().zip(&mass) {
            for (a, b) in ours.iter().zip(theirs) {
                assert!(
                    (a - b).abs() < TOLERANCE * scale,
                    "{bodies} bodies: {a} {b}"
                );
                worst = worst.max((a - b).abs() / scale);
            }
        }
        let scale = largest(&mut bias.iter().map(|x| x.abs()));
        for id in 0..freedoms {
            let (a, b) = (-tree.found[id], bias[place[id]]);
            assert!(
                (a - b).abs() < TOLERANCE * scale,
                "{bodies} bodies: {a} {b}"
            );
            worst = worst.max((a - b).abs() / scale);
        }
        trees += 1;
    }
    assert_eq!(trees, 6);
    println!("largest difference {worst:.1e}");
}
