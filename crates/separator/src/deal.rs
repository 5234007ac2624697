//! What hangs together without the separator, dealt to parts.

use crate::graph::{Cost, Graph};
use crate::labels::{Label, Labels, Linked};
use crate::sets::Sets;

/// Ways of dealing that are all tried.
const ALL_TRIED: usize = 4096;

/// For each vertex that is not in the separator what it hangs together with, by number, and how many such pieces there are.
fn pieces(graph: &Graph, is_separator: &[bool]) -> (Vec<Option<usize>>, usize) {
    let mut sets = Sets::new(graph.vertices.len());
    for link in &graph.links {
        let vertices = link.vertices.iter().copied();
        sets.join_all(vertices.filter(|&v| !is_separator[v]));
    }
    let mut place = vec![None; graph.vertices.len()];
    let mut piece = Vec::with_capacity(graph.vertices.len());
    let mut count = 0;
    for (vertex, separates) in is_separator.iter().enumerate() {
        let stands = sets.find(vertex);
        piece.push((!separates).then(|| {
            *place[stands].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        }));
    }
    (piece, count)
}

/// The best labels for a separator that are found by dealing the pieces that it leaves; nothing if they are too few.
pub(crate) fn dealt(on: &Linked, parts: usize, is_separator: &[bool]) -> Option<Vec<Label>> {
    let graph = &on.graph;
    let (piece, count) = pieces(graph, is_separator);
    if count < parts {
        return None;
    }
    let mut costs = vec![0; count];
    for (vertex, piece) in piece.iter().enumerate() {
        if let Some(piece) = piece {
            costs[*piece] += graph.vertices[vertex].in_part;
        }
    }
    for link in &graph.links {
        if let Some(piece) = link.vertices.iter().find_map(|&v| piece[v]) {
            costs[piece] += link.cost;
        }
    }
    let labels = |dealt: &[usize]| -> Vec<Label> {
        piece
            .iter()
            .map(|piece| piece.map(|piece| dealt[piece]))
            .collect()
    };
    let price = |dealt: &[usize]| Labels::new(on, parts, &labels(dealt)).price();
    let ways = parts.checked_pow(count.min(64) as u32 - 1);
    let best = match ways {
        Some(ways) if ways <= ALL_TRIED => best_of_all(&costs, parts, ways),
        _ => largest_first(&costs, parts),
    };
    let all_tried = ways.is_some_and(|ways| ways <= ALL_TRIED);
    if all_tried && is_separator.iter().filter(|it| **it).count() == 1 {
        // Every part has one copy, so that the sums decide.
        return Some(labels(&best));
    }
    let mut best = (price(&best), best);
    // Copies are not in the sums: single pieces in other parts.
    loop {
        let mut better = None;
        for piece in 0..count.min(64) {
            for part in 0..parts {
                let mut dealt = best.1.clone();
                dealt[piece] = part;
                let found = price(&dealt);
                if found < best.0 && better.as_ref().is_none_or(|(least, _)| found < *least) {
                    better = Some((found, dealt));
                }
            }
        }
        match better {
            Some(found) => best = found,
            None => return Some(labels(&best.1)),
        }
    }
}

/// The most even way of all; the first piece is in the first part.
fn best_of_all(costs: &[Cost], parts: usize, ways: usize) -> Vec<usize> {
    let way = |number: usize| -> Vec<usize> {
        let mut rest = number;
        let mut dealt = vec![0; costs.len()];
        for place in dealt.iter_mut().skip(1) {
            *place = rest % parts;
            rest /= parts;
        }
        dealt
    };
    let largest = |number: &usize| {
        let mut sums = vec![(0, 0); parts];
        for (cost, part) in costs.iter().zip(way(*number)) {
            sums[part].0 += cost;
            sums[part].1 += 1;
        }
        let empty = sums.iter().filter(|(_, count)| *count == 0).count();
        (empty, sums.iter().map(|(sum, _)| *sum).max())
    };
    let best = (0..ways).min_by_key(largest);
    way(best.unwrap_or(0))
}

/// The largest piece first, always to the part that has least.
fn largest_first(costs: &[Cost], parts: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| costs[b].cmp(&costs[a]).then(a.cmp(&b)));
    let (mut dealt, mut sums) = (vec![0; costs.len()], vec![(0, 0); parts]);
    for piece in order {
        // An empty part before all others.
        let least = (0..parts).min_by_key(|&part| (sums[part].1 > 0, sums[part].0));
        let least = least.unwrap_or(0);
        dealt[piece] = least;
        sums[least].0 += costs[piece];
        sums[least].1 += 1;
    }
    dealt
}
