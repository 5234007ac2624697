//! Every vertex alone: in trees and chains the best separator is often one.

use crate::deal::dealt;
use crate::labels::{Labels, Linked};
use crate::pool::Pool;

/// Graphs of more vertices are not looked through: the work grows with the square of their number.
const MOST: usize = 2000;

/// Puts all single vertices that separate into the pool. How many were tried.
pub(crate) fn singles(on: &Linked, parts: usize, pool: &mut Pool) -> usize {
    let count = on.graph.vertices.len();
    if count > MOST {
        return 0;
    }
    let mut is_separator = vec![false; count];
    let mut tried = 0;
    for vertex in 0..count {
        if !on.graph.vertices[vertex].may_separate {
            continue;
        }
        tried += 1;
        is_separator[vertex] = true;
        if let Some(labels) = dealt(on, parts, &is_separator) {
            pool.offer(&Labels::new(on, parts, &labels));
        }
        is_separator[vertex] = false;
    }
    tried
}
