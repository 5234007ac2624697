//! Fiduccia and Mattheyses on separators: the best move at a time, also where it makes things worse for a while.

use crate::labels::{Label, Labels, Price};

/// Passes at most.
const PASSES: usize = 8;
/// A pass ends after so many moves without anything better, and at least as many as the separator has vertices, twice.
const PATIENCE: usize = 40;

/// Moves vertices between parts and separator until nothing becomes better.
pub(crate) fn refine(labels: &mut Labels<'_>) {
    for _ in 0..PASSES {
        if !pass(labels) {
            return;
        }
    }
}

/// One pass, in which no vertex enters a part twice. Whether it has made anything better.
fn pass(labels: &mut Labels<'_>) -> bool {
    let parts = labels.work().len();
    let mut is_settled = vec![false; labels.labels().len()];
    let before = labels.price();
    let (mut best, mut kept) = (before, 0);
    let mut done: Vec<Vec<(usize, Label)>> = Vec::new();
    let patience = PATIENCE.max(2 * labels.separator().len());
    while done.len() < kept + patience {
        let Some((vertex, part)) = best_move(labels, parts, &is_settled) else {
            break;
        };
        let moved = labels.advance(vertex, part).expect("the move was tried");
        is_settled[vertex] = true;
        done.push(moved);
        if labels.price() < best {
            (best, kept) = (labels.price(), done.len());
        }
    }
    for moved in done[kept..].iter().rev() {
        labels.undo(moved);
    }
    best < before
}

fn best_move(labels: &mut Labels<'_>, parts: usize, is_settled: &[bool]) -> Option<(usize, usize)> {
    let mut best: Option<(Price, usize, usize)> = None;
    for vertex in labels.separator() {
        if is_settled[vertex] {
            continue;
        }
        let alone = (0..parts).all(|part| !labels.touches(vertex, part));
        for part in 0..parts {
            // Into a part that is beside it, or, where none is, into any.
            if !alone && !labels.touches(vertex, part) {
                continue;
            }
            let Some(moved) = labels.advance(vertex, part) else {
                continue;
            };
            let price = labels.price();
            labels.undo(&moved);
            if best.is_none_or(|(least, ..)| price < least) {
                best = Some((price, vertex, part));
            }
        }
    }
    best.map(|(_, vertex, part)| (vertex, part))
}
