//! Which constraints depend on each other, and how many degrees of freedom they leave.
//!
//! The constraint gradients are sparse rows: a joint touches a few nodes. They are eliminated one
//! after the other against those before, as in Gauss's method, each with its own pivot; what is
//! left of a dependent row is nothing. Beside each row stands how it was made of the given ones:
//! for a dependent row these are the rows that take part. In chains and trees the cost grows with
//! the number of joints, and with the length of its loops for each loop.

use crate::assembly::{Assembly, EvaluationPoint};
use crate::element::{At, Element, Jacobian, NOWHERE, Weights};
use crate::linear::Destination;
use crate::model::Model;
use crate::node::{Motion, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// A gradient of which less than this is left is dependent.
const DEPENDENT: f64 = 1e-8;
/// Entries and shares below this are rounding errors.
const NOTHING: f64 = 1e-12;
/// A row takes part in a dependence with at least this share of the largest.
const TAKES_PART: f64 = 1e-6;

/// A sparse vector.
pub(crate) type Sparse = BTreeMap<usize, f64>;

/// In how many ways a mechanism can move, in one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DegreesOfFreedom {
    /// Coordinates of all nodes: six each.
    pub coordinates: usize,
    /// Constraint equations.
    pub constraints: usize,
    /// How many of them are independent: the rank of their gradients.
    pub rank: usize,
}

impl DegreesOfFreedom {
    /// Degrees of freedom.
    pub fn count(&self) -> usize {
        self.coordinates - self.rank
    }

    /// Constraints that follow from the others.
    pub fn redundant(&self) -> usize {
        self.constraints - self.rank
    }
}

impl Model {
    /// The degrees of freedom in the initial position. The poses of some nodes may be given from
    /// outside besides.
    pub fn degrees_of_freedom(
        &self,
        time: f64,
        inputs: &[f64],
        given: &[NodeId],
    ) -> DegreesOfFreedom {
        let order: Vec<usize> = (0..self.elements.len()).collect();
        let mut found = self.dependence(&order, time, inputs);
        for node in given.iter().filter(|&&node| node != NodeId::GROUND) {
            for component in 0..6 {
                found.add(
                    found.rows,
                    Sparse::from([(6 * (node.0 - 1) + component, 1.0)]),
                );
            }
        }
        DegreesOfFreedom {
            coordinates: 6 * (self.nodes.len() - 1),
            constraints: found.rows,
            rank: found.rank(),
        }
    }

    /// Eliminates the constraints of the elements in a given order. Rows are named by their places
    /// among the multipliers.
    pub(crate) fn dependence(&self, order: &[usize], time: f64, inputs: &[f64]) -> Dependence {
        self.dependence_among(order, time, inputs, |_| true, |_| true)
    }

    /// The same among some rows only, as they are seen from some nodes.
    pub(crate) fn dependence_among(
        &self,
        order: &[usize],
        time: f64,
        inputs: &[f64],
        counts: impl Fn(usize) -> bool,
        sees: impl Fn(NodeId) -> bool,
    ) -> Dependence {
        let motions: Vec<Motion> = self.nodes.iter().map(|node| node.initial).collect();
        let size = crate::system::extent(&motions);
        let mut first = vec![0; self.elements.len() + 1];
        for (index, named) in self.elements.iter().enumerate() {
            first[index + 1] = first[index] + named.element.constraints();
        }
        let none = vec![0.0; first[self.elements.len()]];
        let mut found = Dependence::new(size);
        for &index in order {
            let element = &*self.elements[index].element;
            let memory = vec![0.0; element.memory()];
            let at = At {
                time,
                motions: &motions,
                sensed: &motions,
                multipliers: &none[first[index]..first[index + 1]],
                all_multipliers: &none,
                inputs,
                input_time: time,
                load_factor: 1.0,
                memory: &memory,
                elapsed: 0.0,
                assumed: None,
                elements: &[],
                all_memory: &[],
            };
            for (name, mut gradient) in (first[index]..).zip(gradients(element, &at)) {
                if counts(name) {
                    gradient.retain(|unknown, _| sees(NodeId(1 + unknown / 6)));
                    found.add(name, gradient);
                }
            }
        }
        found
    }
}

/// Names of the joints that take part in a linear dependence of the constraint gradients; empty if
/// there is none. Rotations count by `size`, a length that is typical for the model.
pub(crate) fn dependent_joints(
    assembly: &Assembly,
    at: &EvaluationPoint<'_>,
    size: f64,
) -> Vec<String> {
    names_of(assembly, eliminated(assembly, at, size).involved)
}

/// What the constraints before it leave of each, in the order of the multipliers.
pub(crate) fn remainders(
    assembly: &Assembly,
    at: &EvaluationPoint<'_>,
    size: f64,
) -> Vec<Remainder> {
    eliminated(assembly, at, size).eliminated.remainders
}

/// Eliminates all constraints.
fn eliminated(assembly: &Assembly, at: &EvaluationPoint<'_>, size: f64) -> Dependence {
    let mut found = Dependence::new(size);
    for placed in &assembly.elements {
        let rows = gradients(&*placed.element, &at.of(placed, &assembly.elements));
        found.add_all(placed.multipliers.start, rows);
    }
    found
}

/// Names of the joints to which some rows belong.
pub(crate) fn names_of(assembly: &Assembly, rows: impl IntoIterator<Item = usize>) -> Vec<String> {
    let first = 6 * assembly.nodes();
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let name = assembly.name_of(first + row);
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// What is left of a row.
#[derive(Clone, Debug)]
pub(crate) struct Remainder {
    /// As a fraction of the row.
    pub left: f64,
    /// The rows that take part in it.
    pub involved: Vec<usize>,
}

/// What elimination has found so far.
pub(crate) struct Dependence {
    size: f64,
    rows: usize,
    eliminated: Elimination,
    /// Rows that take part in some dependence.
    pub involved: BTreeSet<usize>,
    /// Rows that depend on those before them.
    pub dependent: BTreeSet<usize>,
}

impl Dependence {
    fn new(size: f64) -> Self {
        Self {
            size,
            rows: 0,
            eliminated: Elimination::default(),
            involved: BTreeSet::new(),
            dependent: BTreeSet::new(),
        }
    }

    fn rank(&self) -> usize {
        self.rows - self.dependent.len()
    }

    fn add_all(&mut self, first: usize, rows: impl Iterator<Item = Sparse>) {
        for (index, row) in rows.enumerate() {
            self.add(first + index, row);
        }
    }

    fn add(&mut self, name: usize, mut gradient: Sparse) {
        for (unknown, value) in &mut gradient {
            if unknown % 6 >= 3 {
                *value /= self.size;
            }
        }
        self.rows += 1;
        let involved = self.eliminated.add(name, gradient);
        if !involved.is_empty() {
            self.dependent.insert(name);
            self.involved.extend(involved);
        }
    }
}

/// The matrix of one element on its own: its nodes one after the other, then its multipliers.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalMatrix {
    order: usize,
    nodes: usize,
    matrix: Vec<f64>,
    destinations: Vec<Destination>,
}

impl LocalMatrix {
    /// Evaluates the constraint gradients. Allocates only where an earlier element was smaller.
    pub fn evaluate(&mut self, element: &dyn Element, at: &At<'_>) {
        let (nodes, rows) = (element.nodes().len(), element.constraints());
        let order = 6 * nodes + rows;
        (self.order, self.nodes) = (order, nodes);
        self.matrix.clear();
        self.matrix.resize(order * order, 0.0);
        self.destinations.clear();
        for (row, column) in pairs(nodes + 1) {
            let is_ground = |i: usize| i < nodes && element.nodes()[i] == NodeId::GROUND;
            self.destinations
                .push(match is_ground(row) || is_ground(column) {
                    true => NOWHERE,
                    false => Destination {
                        start: 6 * column * order + 6 * row,
                        stride: order,
                    },
                });
        }
        let mut out = Jacobian {
            matrix: &mut self.matrix,
            destinations: &self.destinations,
            blocks: nodes + 1,
        };
        let weights = Weights {
            mass: 0.0,
            damping: 0.0,
            stiffness: 0.0,
        };
        element.jacobian(at, weights, &mut out);
    }

    /// The derivative of a constraint by a component of the pose of a node.
    pub fn gradient(&self, row: usize, node: usize, component: usize) -> f64 {
        self.matrix[(6 * node + component) * self.order + 6 * self.nodes + row]
    }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |row| (0..count).map(move |column| (row, column)))
}

/// The constraint gradients of an element, the ground left out.
fn gradients(element: &dyn Element, at: &At<'_>) -> impl Iterator<Item = Sparse> + use<> {
    let rows = element.constraints();
    let mut local = LocalMatrix::default();
    if rows > 0 {
        local.evaluate(element, at);
    }
    let nodes: Vec<usize> = element.nodes().iter().map(|node| node.0).collect();
    (0..rows).map(move |row| {
        let mut gradient = Sparse::new();
        for (place, &node) in nodes.iter().enumerate().filter(|(_, node)| **node > 0) {
            for component in 0..6 {
                let value = local.gradient(row, place, component);
                if value != 0.0 {
                    *gradient.entry(6 * (node - 1) + component).or_default() += value;
                }
            }
        }
        gradient
    })
}

/// A row, and how it is made of the given ones.
struct Reduced {
    entries: Sparse,
    shares: Sparse,
    /// Its own unknown.
    pivot: usize,
}

#[derive(Default)]
struct Elimination {
    /// Each with a pivot of one.
    rows: Vec<Reduced>,
    /// By the unknown of the pivot.
    places: BTreeMap<usize, usize>,
    /// Of all rows.
    remainders: Vec<Remainder>,
}

impl Elimination {
    /// Adds a row. Gives the rows that take part if it depends on those before.
    fn add(&mut self, name: usize, gradient: Sparse) -> Vec<usize> {
        let mut row = Reduced {
            entries: gradient,
            shares: Sparse::from([(name, 1.0)]),
            pivot: usize::MAX,
        };
        let size = largest(&row.entries);
        if size > 0.0 {
            row.scale(1.0 / size);
            self.reduce(&mut row);
        }
        let left = largest(&row.entries);
        let involved = row.involved();
        self.remainders.push(Remainder {
            left,
            involved: involved.clone(),
        });
        if left <= DEPENDENT {
            return involved;
        }
        let by_size = |a: &(&usize, &f64), b: &(&usize, &f64)| a.1.abs().total_cmp(&b.1.abs());
        let pivot = row.entries.iter().max_by(by_size);
        let (&pivot, &value) = pivot.expect("a row that is left is not empty");
        row.scale(1.0 / value);
        row.pivot = pivot;
        self.places.insert(pivot, self.rows.len());
        self.rows.push(row);
        Vec::new()
    }

    /// Takes away what earlier rows can, the oldest first: a row has no entries at the pivots of
    /// those before it, so that nothing comes back.
    fn reduce(&self, row: &mut Reduced) {
        let place = |unknown: &usize| self.places.get(unknown).copied();
        let mut waiting: BTreeSet<usize> = row.entries.keys().filter_map(place).collect();
        while let Some(next) = waiting.pop_first() {
            let known = &self.rows[next];
            let Some(value) = row.entries.remove(&known.pivot) else {
                continue;
            };
            waiting.extend(known.entries.keys().filter_map(place).filter(|&p| p > next));
            row.subtract(value, known);
            row.entries.remove(&known.pivot);
        }
    }
}

impl Reduced {
    fn scale(&mut self, factor: f64) {
        let all = self.entries.values_mut().chain(self.shares.values_mut());
        all.for_each(|value| *value *= factor);
    }

    /// The given rows that take part in what is left.
    fn involved(&self) -> Vec<usize> {
        let most = largest(&self.shares);
        let takes_part = |share: &f64| share.abs() > TAKES_PART * most;
        let involved = self.shares.iter().filter(|(_, share)| takes_part(share));
        involved.map(|(name, _)| *name).collect()
    }

    fn subtract(&mut self, factor: f64, other: &Self) {
        let parts = [
            (&mut self.entries, &other.entries),
            (&mut self.shares, &other.shares),
        ];
        for (mine, others) in parts {
            for (&key, value) in others {
                let entry = mine.entry(key).or_default();
                *entry -= factor * value;
                if entry.abs() < NOTHING {
                    mine.remove(&key);
                }
            }
        }
    }
}

fn largest(vector: &Sparse) -> f64 {
    vector
        .values()
        .fold(0.0, |most, value| most.max(value.abs()))
}
