//! A part of a mechanism that is solved elsewhere, as the interface nodes see it.

use super::{
    At, Element, ElementEnergy, Half, Jacobian, References, Residual, Weights, refer_nodes,
};
use crate::node::NodeId;
use oldham_space::Quaternion;
use oldham_space::{M3, Mat3, Vec3};

/// The loads that a part exerts on its interface nodes, with their tangent.
///
/// The part found the loads at poses that were predicted. Where the nodes really go, the loads
/// change by the tangent times the difference of the poses; cross terms between all interface
/// nodes of the part are included. At the start of a run, where accelerations are sought, the
/// tangent is that by the accelerations.
#[derive(Clone, Debug)]
pub struct Remote {
    nodes: Vec<NodeId>,
    /// First input component of each node's load.
    loads: Vec<usize>,
    /// First input component of the motion at which each load was found.
    found_at: Vec<usize>,
    /// First input component of the tangent, row by row.
    tangent: usize,
}

impl Remote {
    /// Where the part's messages are in the input vector, for each of the nodes.
    pub fn new(
        nodes: Vec<NodeId>,
        loads: Vec<usize>,
        found_at: Vec<usize>,
        tangent: usize,
    ) -> Self {
        assert!(nodes.len() == loads.len() && nodes.len() == found_at.len());
        Self {
            nodes,
            loads,
            found_at,
            tangent,
        }
    }

    fn vector(at: &At<'_>, first: usize) -> Vec3 {
        Vec3::new(at.inputs[first], at.inputs[first + 1], at.inputs[first + 2])
    }

    /// A 3 × 3 block of the tangent, by rows and columns of three.
    fn block(&self, at: &At<'_>, row: usize, column: usize) -> Mat3 {
        let width = 6 * self.nodes.len();
        let start = self.tangent + 3 * row * width + 3 * column;
        M3([0, 1, 2].map(|i| {
            let line = &at.inputs[start + i * width..];
            [line[0], line[1], line[2]]
        }))
    }

    /// How far node `j` is from where the loads were found: displacement and rotation vector.
    fn deviation(&self, at: &At<'_>, j: usize) -> [Vec3; 2] {
        let (motion, first) = (at.motion(self.nodes[j]), self.found_at[j]);
        let found = Quaternion([3, 4, 5, 6].map(|i| at.inputs[first + i]));
        let turn = motion.orientation.times(found.conjugate()).log();
        [motion.position - Self::vector(at, first), turn]
    }

    /// The acceleration that node `j` had when the loads were found.
    fn acceleration(&self, at: &At<'_>, j: usize) -> [Vec3; 2] {
        let first = self.found_at[j];
        [Self::vector(at, first + 13), Self::vector(at, first + 16)]
    }

    /// Hands forces and moments on the nodes to `take`, which adds them up: those that were found,
    /// and what the given changes of the nodes add.
    fn loads(
        &self,
        at: &At<'_>,
        change: impl Fn(usize) -> [Vec3; 2],
        mut take: impl FnMut(usize, Vec3, Vec3),
    ) {
        for (i, &first) in self.loads.iter().enumerate() {
            take(i, Self::vector(at, first), Self::vector(at, first + 3));
        }
        for j in 0..self.nodes.len() {
            let [moved, turned] = change(j);
            for i in 0..self.nodes.len() {
                let block = |half, other| self.block(at, 2 * i + half, 2 * j + other);
                let force = block(0, 0) * moved + block(0, 1) * turned;
                take(i, force, block(1, 0) * moved + block(1, 1) * turned);
            }
        }
    }
}

/// Whether accelerations are sought rather than the end of a step.
fn seeks_accelerations(at: &At<'_>) -> bool {
    at.elapsed == 0.0
}

impl Element for Remote {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        for component in self.loads.iter_mut().chain(&mut self.found_at) {
            references.input(component);
        }
        references.input(&mut self.tangent);
    }

    fn stands_for_others(&self) -> bool {
        true
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let add = |i: usize, force: Vec3, moment: Vec3| out.load(i, force, moment);
        if seeks_accelerations(at) {
            // What the accelerations themselves add is in the matrix.
            let change = |j| self.acceleration(at, j).map(|a| -a);
            self.loads(at, change, add);
        } else {
            self.loads(at, |j| self.deviation(at, j), add);
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let weight = if seeks_accelerations(at) {
            weights.mass
        } else {
            weights.stiffness
        };
        let halves = [Half::Linear, Half::Angular];
        for i in 0..self.nodes.len() {
            for j in 0..self.nodes.len() {
                for (half, row) in halves.into_iter().enumerate() {
                    for (other, column) in halves.into_iter().enumerate() {
                        let block = self.block(at, 2 * i + half, 2 * j + other);
                        out.add((i, row), (j, column), block * -weight);
                    }
                }
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let mut energy = ElementEnergy::default();
        self.loads(
            at,
            |j| self.deviation(at, j),
            |i, force, moment| {
                let motion = at.motion(self.nodes[i]);
                energy.supplied += force.dot(motion.velocity) + moment.dot(motion.angular_velocity);
            },
        );
        energy
    }
}
