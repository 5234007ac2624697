//! Constraints that a prescribed pose would repeat.

use std::collections::{BTreeMap, BTreeSet};

use super::partition::Subdomain;
use crate::element::{At, ElementId, Jacobian, NOWHERE, Weights};
use crate::linear::Destination;
use crate::model::Model;
use crate::node::{Motion, NodeId};

/// A gradient whose part independent of the others is smaller than this is dependent.
const DEPENDENT: f64 = 1e-8;
/// Above this number of constraints the test is left to the solver: it takes their square.
const MAX_ROWS: usize = 1500;

/// Interface nodes that the joints of a part hold already.
pub(super) struct HeldTwice {
    pub nodes: Vec<NodeId>,
    pub joints: Vec<String>,
}

/// The gradient of one constraint, node by node, the ground left out.
struct ConstraintRow {
    element: usize,
    by_node: BTreeMap<usize, [f64; 6]>,
}

/// Whether the poses of a part's copies and its joints demand the same thing twice, though the
/// joints alone do not.
pub(super) fn held_twice(model: &Model, subdomain: &Subdomain) -> Option<HeldTwice> {
    let rows: Vec<ConstraintRow> = subdomain
        .elements
        .iter()
        .flat_map(|&element| gradients(model, element))
        .collect();
    if rows.len() > MAX_ROWS {
        return None;
    }
    let is_copy = |node: usize| subdomain.copies.contains(&NodeId(node));
    let rows: Vec<&ConstraintRow> = rows.iter().collect();
    let involved = dependent(&rows, |node| !is_copy(node));
    let involved: Vec<&ConstraintRow> = involved.into_iter().map(|row| rows[row]).collect();
    // What the whole model holds twice itself is not the cut's fault.
    if involved.is_empty() || !dependent(&involved, |_| true).is_empty() {
        return None;
    }
    let touched = involved.iter().flat_map(|row| row.by_node.keys().copied());
    let nodes: BTreeSet<usize> = touched.filter(|&node| is_copy(node)).collect();
    // Where no copy takes part, lengths of very different size are to blame, not the cut.
    if nodes.is_empty() {
        return None;
    }
    let joints: BTreeSet<usize> = involved.iter().map(|row| row.element).collect();
    let name = |element: usize| model.elements[element].name.clone();
    Some(HeldTwice {
        nodes: nodes.into_iter().map(NodeId).collect(),
        joints: joints.into_iter().map(name).collect(),
    })
}

/// The rows that take part in a linear dependence, seen at the chosen nodes only.
fn dependent(rows: &[&ConstraintRow], sees: impl Fn(usize) -> bool) -> Vec<usize> {
    let nodes = rows.iter().flat_map(|row| row.by_node.keys().copied());
    let nodes: BTreeSet<usize> = nodes.filter(|&node| sees(node)).collect();
    let place: BTreeMap<usize, usize> = nodes.into_iter().zip(0..).collect();
    let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let mut involved = BTreeSet::new();
    for (index, row) in rows.iter().enumerate() {
        let mut vector = vec![0.0; 6 * place.len()];
        let mut size = 0.0;
        for (node, gradient) in &row.by_node {
            size += gradient.iter().map(|g| g * g).sum::<f64>();
            if let Some(&place) = place.get(node) {
                vector[6 * place..6 * place + 6].copy_from_slice(gradient);
            }
        }
        let mut combination = vec![0.0; rows.len()];
        combination[index] = 1.0;
        for (direction, made_of) in &basis {
            let part: f64 = direction.iter().zip(&vector).map(|(a, b)| a * b).sum();
            subtract(&mut vector, direction, part);
            subtract(&mut combination, made_of, part);
        }
        let rest = norm(&vector);
        if rest > DEPENDENT * size.sqrt() {
            let unit = |values: Vec<f64>| values.into_iter().map(|v| v / rest).collect();
            basis.push((unit(vector), unit(combination)));
        } else {
            let weighty = |&row: &usize| combination[row].abs() > 1e-6;
            involved.extend((0..rows.len()).filter(weighty));
        }
    }
    involved.into_iter().collect()
}

fn subtract(from: &mut [f64], what: &[f64], times: f64) {
    for (value, other) in from.iter_mut().zip(what) {
        *value -= times * other;
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The constraint gradients of an element in the initial configuration.
fn gradients(model: &Model, ElementId(index): ElementId) -> Vec<ConstraintRow> {
    let element = &model.elements[index].element;
    let rows = element.constraints();
    if rows == 0 {
        return Vec::new();
    }
    let nodes = element.nodes();
    let size = 6 * nodes.len() + rows;
    let mut matrix = vec![0.0; size * size];
    let blocks = nodes.len() + 1;
    let is_ground = |block: usize| nodes.get(block) == Some(&NodeId::GROUND);
    let destination = |place: usize| {
        let (row, column) = (place / blocks, place % blocks);
        if is_ground(row) || is_ground(column) {
            return NOWHERE;
        }
        Destination {
            start: 6 * column * size + 6 * row,
            stride: size,
        }
    };
    let destinations: Vec<Destination> = (0..blocks * blocks).map(destination).collect();
    let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
    let nothing = Weights {
        mass: 0.0,
        damping: 0.0,
        stiffness: 0.0,
    };
    element.jacobian(
        &At {
            time: 0.0,
            motions: &motions,
            multipliers: &vec![0.0; rows],
            all_multipliers: &[],
            inputs: &vec![0.0; model.inputs_used().last().map_or(0, |last| last + 1)],
            input_time: 0.0,
            load_factor: 1.0,
            memory: &vec![0.0; element.memory()],
            elapsed: 0.0,
        },
        nothing,
        &mut Jacobian {
            matrix: &mut matrix,
            destinations: &destinations,
            blocks,
        },
    );
    let first = 6 * nodes.len();
    let row = |row: usize| {
        let mut by_node: BTreeMap<usize, [f64; 6]> = BTreeMap::new();
        for (block, node) in nodes.iter().enumerate() {
            if is_ground(block) {
                continue;
            }
            let sum = by_node.entry(node.0).or_default();
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum += matrix[(6 * block + i) * size + first + row];
            }
        }
        ConstraintRow {
            element: index,
            by_node,
        }
    };
    (0..rows).map(row).collect()
}
