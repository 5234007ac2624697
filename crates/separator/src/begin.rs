//! First labels of a small graph: bisected again and again.

use std::collections::VecDeque;

use crate::graph::Cost;
use crate::labels::{Label, Labels, Linked};
use crate::random::Random;

/// Bisections that are tried, of which the best is taken.
const TRIED: usize = 32;
/// The halves differ from what they should be by up to this fraction: a narrow place may be near.
const UNEVEN: f64 = 0.5;

/// Labels for so many parts, with a separator between them; nothing if there is none.
pub(crate) fn begin(on: &Linked, parts: usize, random: &mut Random) -> Option<Vec<Label>> {
    let count = on.graph.vertices.len();
    let all: Vec<usize> = (0..count).collect();
    // The first ones are even.
    let attempt = |number: usize| {
        let uneven = UNEVEN * number.saturating_sub(TRIED / 4) as f64 / TRIED as f64;
        let mut owner = vec![0; count];
        bisect(on, &all, 0..parts, uneven, &mut owner, random);
        separated(on, owner)
    };
    let found = (0..TRIED).filter_map(attempt);
    found.min_by_key(|labels| Labels::new(on, parts, labels).price())
}

/// Shares vertices out to parts: those that are reached first from one of them to the first half of the parts.
fn bisect(
    on: &Linked,
    vertices: &[usize],
    parts: std::ops::Range<usize>,
    uneven: f64,
    owner: &mut [usize],
    random: &mut Random,
) {
    if parts.len() < 2 || vertices.is_empty() {
        vertices.iter().for_each(|&v| owner[v] = parts.start);
        return;
    }
    let order = by_distance(on, vertices, random);
    let half = parts.start + parts.len() / 2;
    let costs = |v: usize| weight(on, v);
    let all: Cost = order.iter().map(|&v| costs(v)).sum();
    let even = all as f64 * (half - parts.start) as f64 / parts.len() as f64;
    let wanted = even * (1.0 + uneven * (random.below(201) as f64 / 100.0 - 1.0));
    let mut sum = 0;
    let first = order.iter().take_while(|&&v| {
        // The vertex in the middle goes where most of it lies.
        let middle = sum as f64 + 0.5 * costs(v) as f64;
        sum += costs(v);
        middle <= wanted
    });
    let split = first.count();
    bisect(
        on,
        &order[..split],
        parts.start..half,
        uneven,
        owner,
        random,
    );
    bisect(on, &order[split..], half..parts.end, uneven, owner, random);
}

/// A vertex with its share in its links.
fn weight(on: &Linked, vertex: usize) -> Cost {
    let links = on.links_at[vertex]
        .iter()
        .map(|&link| &on.graph.links[link]);
    let shares = links.map(|link| link.cost / link.vertices.len() as Cost);
    on.graph.vertices[vertex].in_part + shares.sum::<Cost>()
}

/// These vertices as they are reached from one of them; from the last that is reached from one at random, or from that one.
fn by_distance(on: &Linked, vertices: &[usize], random: &mut Random) -> Vec<usize> {
    let start = vertices[random.below(vertices.len())];
    let order = reached(on, vertices, start, random);
    match random.below(3) {
        0 => order,
        _ => reached(on, vertices, order[order.len() - 1], random),
    }
}

fn reached(on: &Linked, vertices: &[usize], start: usize, random: &mut Random) -> Vec<usize> {
    let mut waits = vec![false; on.graph.vertices.len()];
    vertices.iter().for_each(|&v| waits[v] = true);
    let mut order = Vec::with_capacity(vertices.len());
    let shuffled = random.order(vertices.len());
    let starts = shuffled.into_iter().map(|place| vertices[place]);
    for start in std::iter::once(start).chain(starts) {
        if !std::mem::take(&mut waits[start]) {
            continue;
        }
        let mut queue = VecDeque::from([start]);
        while let Some(vertex) = queue.pop_front() {
            order.push(vertex);
            for &link in &on.links_at[vertex] {
                for &next in &on.graph.links[link].vertices {
                    if std::mem::take(&mut waits[next]) {
                        queue.push_back(next);
                    }
                }
            }
        }
    }
    order
}

/// Takes vertices out of the parts until no link joins two of them; nothing if some that may not separate stand in the way.
fn separated(on: &Linked, owner: Vec<usize>) -> Option<Vec<Label>> {
    let mut labels: Vec<Label> = owner.into_iter().map(Some).collect();
    let parted = |labels: &[Label], link: usize| {
        let mut found = on.graph.links[link]
            .vertices
            .iter()
            .filter_map(|&v| labels[v]);
        let first = found.next();
        first.is_some() && found.any(|label| Some(label) != first)
    };
    loop {
        let wrong: Vec<usize> = (0..on.graph.links.len())
            .filter(|&link| parted(&labels, link))
            .collect();
        if wrong.is_empty() {
            return Some(labels);
        }
        // The vertex that puts most links right; of equal ones the cheapest.
        let mut rated = vec![0_u64; labels.len()];
        for &link in &wrong {
            on.graph.links[link]
                .vertices
                .iter()
                .for_each(|&v| rated[v] += 1);
        }
        let may =
            |&v: &usize| rated[v] > 0 && labels[v].is_some() && on.graph.vertices[v].may_separate;
        let cost = |v: usize| on.graph.vertices[v].in_separator;
        let better = |a: &usize, b: &usize| {
            let by_cost = cost(*b).cmp(&cost(*a));
            rated[*a].cmp(&rated[*b]).then(by_cost).then(b.cmp(a))
        };
        let taken = (0..labels.len()).filter(may).max_by(better)?;
        labels[taken] = None;
    }
}
