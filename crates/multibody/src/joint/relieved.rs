//! A joint without those of its constraints that follow from other joints.

use std::ops::Range;

use crate::element::{At, Element, ElementEnergy, Half, Jacobian, References, Residual, Weights};
use crate::linear::Destination;
use crate::node::NodeId;
use oldham_space::{M3, Mat3, Vec3};

/// Most constraints of a joint between two nodes.
const MOST: usize = 6;
/// Two nodes, and the constraints.
const ORDER: usize = 12 + MOST;

/// A joint of which some constraints are left out.
#[derive(Clone, Debug)]
pub(crate) struct Relieved {
    joint: Box<dyn Element>,
    /// The constraints that are left, by their places in the joint.
    kept: Vec<usize>,
}

impl Relieved {
    /// Whether an element can be relieved: between two nodes, without a past or a life of its own.
    pub fn is_possible(element: &dyn Element) -> bool {
        element.nodes().len() == 2
            && element.constraints() <= MOST
            && element.memory() == 0
            && !element.drifts()
            && !element.depends_on_past()
    }

    pub fn new(joint: Box<dyn Element>, kept: Vec<usize>) -> Self {
        debug_assert!(Self::is_possible(&*joint));
        Self { joint, kept }
    }

    fn multipliers(&self, at: &At<'_>) -> [f64; MOST] {
        let mut all = [0.0; MOST];
        for (&place, &value) in self.kept.iter().zip(at.multipliers) {
            all[place] = value;
        }
        all
    }
}

impl Element for Relieved {
    fn nodes(&self) -> &[NodeId] {
        self.joint.nodes()
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.joint.refer(references);
    }

    fn constraints(&self) -> usize {
        self.kept.len()
    }

    fn on_velocities(&self) -> Range<usize> {
        let own = self.joint.on_velocities();
        let mut places = self.kept.iter();
        let first = places.position(|place| own.contains(place));
        let count = self.kept.iter().filter(|place| own.contains(place)).count();
        first.map_or(0..0, |first| first..first + count)
    }

    fn relieved(&self) -> Option<(&dyn Element, &[usize])> {
        Some((&*self.joint, &self.kept))
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let all = self.multipliers(at);
        let at = At {
            multipliers: &all[..self.joint.constraints()],
            ..*at
        };
        let mut values = [0.0; ORDER];
        let mut whole = Residual::new(&mut values, &[0, 6, 12]);
        self.joint.residual(&at, &mut whole);
        let vector = |i: usize| Vec3::new(values[i], values[i + 1], values[i + 2]);
        for node in 0..2 {
            out.load(node, vector(6 * node), vector(6 * node + 3));
        }
        for (row, &place) in self.kept.iter().enumerate() {
            out.constraint(row, -values[12 + place]);
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let all = self.multipliers(at);
        let at = At {
            multipliers: &all[..self.joint.constraints()],
            ..*at
        };
        let mut matrix = [0.0; ORDER * ORDER];
        let destinations: [Destination; 9] = std::array::from_fn(|pair| Destination {
            start: 6 * (pair % 3) * ORDER + 6 * (pair / 3),
            stride: ORDER,
        });
        let mut whole = Jacobian {
            matrix: &mut matrix,
            destinations: &destinations,
            blocks: 3,
        };
        self.joint.jacobian(&at, weights, &mut whole);
        let entry = |row: usize, column: usize| matrix[column * ORDER + row];
        let block = |row: usize, column: usize| -> Mat3 {
            M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(row + i, column + j))))
        };
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for row in [Linear, Angular] {
                for column in [Linear, Angular] {
                    let part = block(6 * a + row as usize, 6 * b + column as usize);
                    out.add((a, row), (b, column), part);
                }
            }
        }
        for (row, &place) in self.kept.iter().enumerate() {
            for node in 0..2 {
                let across = |k: usize| entry(12 + place, 6 * node + k);
                let down = |k: usize| entry(6 * node + k, 12 + place);
                let both = |f: &dyn Fn(usize) -> f64| {
                    (Vec3::new(f(0), f(1), f(2)), Vec3::new(f(3), f(4), f(5)))
                };
                let (position, rotation) = both(&across);
                out.constraint_row(row, node, position, rotation);
                let (force, moment) = both(&down);
                out.by_multiplier(row, node, force, moment);
            }
        }
    }

    fn knows_derivatives(&self) -> bool {
        self.joint.knows_derivatives()
    }

    fn violation_derivatives(&self, at: &At<'_>, step: f64, out: &mut [[f64; 2]]) {
        let multipliers = self.multipliers(at);
        let count = self.joint.constraints();
        let at = At {
            multipliers: &multipliers[..count],
            ..*at
        };
        let mut all = [[0.0; 2]; MOST];
        self.joint
            .violation_derivatives(&at, step, &mut all[..count]);
        for (derivatives, &place) in out.iter_mut().zip(&self.kept) {
            *derivatives = all[place];
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let all = self.multipliers(at);
        self.joint.energy(&At {
            multipliers: &all[..self.joint.constraints()],
            ..*at
        })
    }

    fn is_conservative(&self) -> bool {
        self.joint.is_conservative()
    }
}
