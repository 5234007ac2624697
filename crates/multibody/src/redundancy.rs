//! Finds the joints whose constraints depend on each other.
//!
//! The constraint gradients are sparse rows: a joint touches a few nodes. They are eliminated one
//! after the other against those before, as in Gauss's method, each with its own pivot; what is
//! left of a dependent row is nothing. Beside each row stands how it was made of the given ones:
//! for a dependent row these are the rows that take part. In chains and trees the cost grows with
//! the number of joints, and with the length of its loops for each loop.

use crate::assembly::{Assembly, Everywhere, Placed};
use crate::element::{Jacobian, NOWHERE, Weights};
use crate::linear::Destination;
use std::collections::{BTreeMap, BTreeSet};

/// A gradient of which less than this is left is dependent.
const DEPENDENT: f64 = 1e-8;
/// Entries and shares below this are rounding errors.
const NOTHING: f64 = 1e-12;
/// A row takes part in a dependence with at least this share of the largest.
const TAKES_PART: f64 = 1e-6;

/// A sparse vector.
type Sparse = BTreeMap<usize, f64>;

/// Names of the joints that take part in a linear dependence of the constraint gradients; empty if
/// there is none. Rotations count by `size`, a length that is typical for the model.
pub(crate) fn dependent_joints(assembly: &Assembly, at: &Everywhere<'_>, size: f64) -> Vec<String> {
    let mut eliminated = Elimination::default();
    let mut involved = BTreeSet::new();
    for placed in &assembly.elements {
        for (index, mut gradient) in gradients(placed, at, assembly.unknowns()).enumerate() {
            for (unknown, value) in &mut gradient {
                if unknown % 6 >= 3 {
                    *value /= size;
                }
            }
            involved.extend(eliminated.add(placed.multipliers.start + index, gradient));
        }
    }
    let first = 6 * assembly.nodes();
    let mut names: Vec<String> = Vec::new();
    for row in involved {
        let name = assembly.name_of(first + row);
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The constraint gradients of an element, the ground left out.
fn gradients(placed: &Placed, at: &Everywhere<'_>, ground: usize) -> impl Iterator<Item = Sparse> {
    let nodes = placed.rows.len() - 1;
    let rows = placed.multipliers.len();
    let order = 6 * nodes + rows;
    let mut matrix = vec![0.0; order * order];
    let place = |row: usize, column: usize| {
        let block = |i: usize| placed.rows[i] == ground && i < nodes;
        if block(row) || block(column) {
            return NOWHERE;
        }
        Destination {
            start: 6 * column * order + 6 * row,
            stride: order,
        }
    };
    if rows > 0 {
        let pairs = (0..=nodes).flat_map(|row| (0..=nodes).map(move |column| (row, column)));
        let destinations: Vec<Destination> = pairs.map(|(r, c)| place(r, c)).collect();
        let mut out = Jacobian {
            matrix: &mut matrix,
            destinations: &destinations,
            blocks: nodes + 1,
        };
        let weights = Weights {
            mass: 0.0,
            damping: 0.0,
            stiffness: 0.0,
        };
        placed.element.jacobian(&at.of(placed), weights, &mut out);
    }
    let starts: Vec<usize> = placed.rows[..nodes].to_vec();
    (0..rows).map(move |row| {
        let mut gradient = Sparse::new();
        for (node, &start) in starts.iter().enumerate().filter(|(_, s)| **s != ground) {
            for component in 0..6 {
                let value = matrix[(6 * node + component) * order + 6 * nodes + row];
                if value != 0.0 {
                    *gradient.entry(start + component).or_default() += value;
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
        if size == 0.0 {
            return vec![name];
        }
        row.scale(1.0 / size);
        self.reduce(&mut row);
        let left = largest(&row.entries);
        if left <= DEPENDENT {
            let most = largest(&row.shares);
            let takes_part = |share: &f64| share.abs() > TAKES_PART * most;
            let involved = row.shares.iter().filter(|(_, share)| takes_part(share));
            return involved.map(|(name, _)| *name).collect();
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
