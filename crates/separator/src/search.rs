//! The whole search.

use crate::begin::begin;
use crate::coarsen::{Level, glued, levels};
use crate::deal::dealt;
use crate::graph::Graph;
use crate::labels::{Label, Labels, Linked};
use crate::pool::{Pool, Separator};
use crate::random::Random;
use crate::refine::refine;
use crate::single::singles;

/// How often a separator is coarsened and refined again.
const CYCLES: usize = 4;
/// So many of the best separators are refined further in the end, so many times.
const POLISHED: usize = 4;

/// What is looked for, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many parts, at least two.
    pub parts: usize,
    /// From how many starts.
    pub starts: usize,
    /// How many separators are kept.
    pub kept: usize,
}

impl Settings {
    /// So many parts, from 16 starts, the best 20.
    pub fn parts(parts: usize) -> Self {
        Self {
            parts,
            starts: 16,
            kept: 20,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best separators, best first; none of them leaves a part empty.
    pub separators: Vec<Separator>,
    /// Starts of the multilevel search.
    pub starts: usize,
    /// Single vertices that were tried.
    pub singles: usize,
}

/// Looks for the best separators of a graph.
///
/// ```
/// use oldham_separator::{Graph, Link, Settings, Vertex, search};
///
/// // A chain of nine equal vertices.
/// let vertex = Vertex { in_part: 10, in_separator: 3, copy: 1, may_separate: true };
/// let link = |at| Link { vertices: vec![at, at + 1], cost: 100, tightness: 1.0 };
/// let chain = Graph { vertices: vec![vertex; 9], links: (0..8).map(link).collect() };
/// let found = search(&chain, &Settings::parts(2));
/// assert_eq!(found.separators[0].vertices, [4]);
/// assert_eq!(found.separators[0].work, [441, 441]);
/// ```
pub fn search(graph: &Graph, settings: &Settings) -> Found {
    let on = Linked::new(graph.clone());
    let mut pool = Pool::new(settings.kept);
    let singles = singles(&on, settings.parts, &mut pool);
    for start in 0..settings.starts {
        from_start(&on, settings.parts, start, &mut pool);
    }
    for round in 0..POLISHED {
        let mut random = Random(0x00b0_11e7 + round as u64);
        for labels in pool.first(POLISHED) {
            cycles(&on, settings.parts, labels, &mut random, &mut pool);
        }
    }
    Found {
        separators: pool.best(),
        starts: settings.starts,
        singles,
    }
}

/// From a coarse graph and from the whole one: coarsens, bisects and refines on the way back.
fn from_start(on: &Linked, parts: usize, start: usize, pool: &mut Pool) {
    let mut random = Random(0x0001_d4a3 + start as u64);
    let coarse = levels(&on.graph, parts, None, &mut random);
    for levels in [coarse, vec![glued(&on.graph)]] {
        let coarsest = &levels[levels.len() - 1].on;
        let Some(labels) = begin(coarsest, parts, &mut random) else {
            continue;
        };
        let labels = refined_upwards(on, &levels, parts, labels);
        cycles(on, parts, labels, &mut random, pool);
    }
}

/// Coarsens and refines labels again and again, with the separator as it is: whole pieces of it move at once.
fn cycles(on: &Linked, parts: usize, labels: Vec<Label>, random: &mut Random, pool: &mut Pool) {
    let mut labels = labels;
    for _ in 0..CYCLES {
        offer(on, parts, &labels, pool);
        let levels = levels(&on.graph, parts, Some(&labels), random);
        let coarse = levels
            .iter()
            .fold(labels, |labels, level| level.carried(&labels));
        labels = refined_upwards(on, &levels, parts, coarse);
    }
    offer(on, parts, &labels, pool);
}

/// From the labels of the coarsest graph to those of the whole, refined on each level.
fn refined_upwards(on: &Linked, levels: &[Level], parts: usize, labels: Vec<Label>) -> Vec<Label> {
    let upwards = levels.iter().rev();
    let labels = upwards.fold(labels, |labels, level| {
        level.expanded(&refined(&level.on, parts, &labels))
    });
    refined(on, parts, &labels)
}

/// Puts labels into the pool, also with other parts for the pieces that the separator leaves.
fn offer(on: &Linked, parts: usize, labels: &[Label], pool: &mut Pool) {
    pool.offer(&Labels::new(on, parts, labels));
    let is_separator: Vec<bool> = labels.iter().map(Option::is_none).collect();
    if let Some(dealt) = dealt(on, parts, &is_separator) {
        let mut made = Labels::new(on, parts, &dealt);
        pool.offer(&made);
        refine(&mut made);
        pool.offer(&made);
    }
}

fn refined(on: &Linked, parts: usize, labels: &[Label]) -> Vec<Label> {
    let mut made = Labels::new(on, parts, labels);
    refine(&mut made);
    made.labels().to_vec()
}
