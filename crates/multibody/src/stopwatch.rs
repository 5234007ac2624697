//! Where the time of a step goes: elements by kind; and how stiff they are.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::assembly::Placed;
use crate::element::{ElementKind, Jacobian, NOWHERE, Residual, Weights};
use crate::linear::Destination;
use crate::node::NodeId;
use crate::system::System;

/// Evaluations under one reading of the clock, at least.
const TOGETHER: usize = 64;

/// Times the evaluation of elements beside the steps of a system, which it does not touch.
pub struct Stopwatch {
    kinds: Vec<Timed>,
    residual: Vec<f64>,
    matrix: Vec<f64>,
    looks: u32,
}

/// Elements of a kind.
struct Timed {
    kind: ElementKind,
    elements: Vec<usize>,
    /// Where the blocks of such an element lie in a matrix of its own.
    destinations: Vec<Destination>,
    repeats: usize,
    residual: Duration,
    jacobian: Duration,
}

/// Times of an element of a kind, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindTimes {
    /// The kind.
    pub kind: ElementKind,
    /// How many there are.
    pub count: usize,
    /// To evaluate the forces of one.
    pub residual: f64,
    /// To evaluate the derivatives of one.
    pub jacobian: f64,
}

impl Stopwatch {
    /// For all elements of a system.
    pub fn new(system: &System) -> Self {
        let mut by_kind: BTreeMap<ElementKind, Vec<usize>> = BTreeMap::new();
        for (index, placed) in system.assembly.elements.iter().enumerate() {
            let kind = ElementKind::of(&*placed.element);
            by_kind.entry(kind).or_default().push(index);
        }
        let timed = |(kind, elements): (ElementKind, Vec<usize>)| Timed {
            kind,
            destinations: own_blocks(kind, |_| false),
            repeats: TOGETHER.div_ceil(elements.len()),
            elements,
            residual: Duration::ZERO,
            jacobian: Duration::ZERO,
        };
        let kinds: Vec<Timed> = by_kind.into_iter().map(timed).collect();
        let largest = kinds.iter().map(|timed| order(timed.kind).pow(2)).max();
        Self {
            residual: vec![0.0; system.assembly.residual_length()],
            matrix: vec![0.0; largest.unwrap_or(0)],
            kinds,
            looks: 0,
        }
    }

    /// Evaluates all elements at the state that the system has reached, as if that ended a step of this length.
    pub fn look(&mut self, system: &System, step: f64, inputs: &[f64]) {
        const ALL: Weights = Weights {
            mass: 1.0,
            damping: 1.0,
            stiffness: 1.0,
        };
        let elements = &system.assembly.elements;
        let at = system.evaluation_point(inputs).after(step);
        for timed in &mut self.kinds {
            let start = Instant::now();
            for placed in timed.each(elements) {
                let mut out = Residual::new(&mut self.residual, &placed.rows);
                placed.element.residual(&at.of(placed, elements), &mut out);
            }
            let middle = Instant::now();
            for placed in timed.each(elements) {
                let mut out = Jacobian {
                    matrix: &mut self.matrix,
                    destinations: &timed.destinations,
                    blocks: timed.kind.nodes + 1,
                };
                let at = at.of(placed, elements);
                placed.element.jacobian(&at, ALL, &mut out);
            }
            timed.jacobian += middle.elapsed();
            timed.residual += middle - start;
        }
        // What adds up over all looks is of no use, and may overflow.
        self.residual.fill(0.0);
        self.matrix.fill(0.0);
        self.looks += 1;
    }

    /// What was found so far.
    pub fn times(&self) -> Vec<KindTimes> {
        let times = |timed: &Timed| {
            let evaluations = timed.elements.len() * timed.repeats * self.looks.max(1) as usize;
            let each = |time: Duration| time.as_secs_f64() * 1e6 / evaluations as f64;
            KindTimes {
                kind: timed.kind,
                count: timed.elements.len(),
                residual: each(timed.residual),
                jacobian: each(timed.jacobian),
            }
        };
        self.kinds.iter().map(times).collect()
    }
}

impl Timed {
    fn each<'e>(&self, elements: &'e [Placed]) -> impl Iterator<Item = &'e Placed> {
        let all = self.elements.iter().map(|&index| &elements[index]);
        let all: Vec<&Placed> = all.collect();
        (0..self.repeats).flat_map(move |_| all.clone())
    }
}

impl System {
    /// For each element the largest force in N/m with which it answers to a displacement of one of its nodes; without limit
    /// where it has constraints.
    pub fn stiffnesses(&self, inputs: &[f64]) -> Vec<f64> {
        const STIFFNESS: Weights = Weights {
            mass: 0.0,
            damping: 0.0,
            stiffness: 1.0,
        };
        let elements = &self.assembly.elements;
        let at = self.evaluation_point(inputs);
        let stiffness = |placed: &Placed| {
            let kind = ElementKind::of(&*placed.element);
            if kind.constraints > 0 {
                return f64::INFINITY;
            }
            let n = order(kind);
            let mut matrix = vec![0.0; n * n];
            let nodes = placed.element.nodes();
            let mut out = Jacobian {
                matrix: &mut matrix,
                destinations: &own_blocks(kind, |node| nodes[node] == NodeId::GROUND),
                blocks: kind.nodes + 1,
            };
            let at = at.of(placed, elements);
            placed.element.jacobian(&at, STIFFNESS, &mut out);
            let translation = |node: usize| {
                let entries = (0..9).map(move |i| (6 * node + i / 3) * n + 6 * node + i % 3);
                entries.map(|entry| matrix[entry].abs()).fold(0.0, f64::max)
            };
            (0..kind.nodes).map(translation).fold(0.0, f64::max)
        };
        elements.iter().map(stiffness).collect()
    }
}

/// Rows of an element.
fn order(kind: ElementKind) -> usize {
    6 * kind.nodes + kind.constraints
}

/// The blocks of an element in a matrix of its own, column by column.
fn own_blocks(kind: ElementKind, is_ground: impl Fn(usize) -> bool) -> Vec<Destination> {
    let stride = order(kind);
    let is_out = |block: usize| match block == kind.nodes {
        true => kind.constraints == 0,
        false => is_ground(block),
    };
    let blocks = 0..=kind.nodes;
    let pairs = blocks
        .clone()
        .flat_map(|row| blocks.clone().map(move |column| (row, column)));
    pairs
        .map(|(row, column)| match is_out(row) || is_out(column) {
            true => NOWHERE,
            false => Destination {
                start: 6 * column * stride + 6 * row,
                stride,
            },
        })
        .collect()
}
