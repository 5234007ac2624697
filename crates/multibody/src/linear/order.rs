//! The elimination order: minimum degree on the graph of the principal blocks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// Orders the vertices of a graph, given as cliques, by minimum degree, those in `last` after all
/// others. Ties go to the vertex that is further from these, so that a chain ends there, and then
/// to the lower index, so that the order of a chain is the chain.
pub fn minimum_degree(vertices: usize, cliques: &[Vec<usize>], last: &[usize]) -> Vec<usize> {
    let mut is_last = vec![false; vertices];
    last.iter().for_each(|&vertex| is_last[vertex] = true);
    let mut neighbours = vec![BTreeSet::new(); vertices];
    for clique in cliques {
        for &a in clique {
            neighbours[a].extend(clique.iter().copied().filter(|&b| b != a));
        }
    }
    let distance = distances(&neighbours, last);
    let key =
        |v: usize, around: &BTreeSet<usize>| (is_last[v], around.len(), Reverse(distance[v]), v);
    let mut queue: BTreeSet<_> = (0..vertices).map(|v| key(v, &neighbours[v])).collect();
    let mut order = Vec::with_capacity(vertices);
    while let Some((.., vertex)) = queue.pop_first() {
        order.push(vertex);
        let around = std::mem::take(&mut neighbours[vertex]);
        for &a in &around {
            queue.remove(&key(a, &neighbours[a]));
            neighbours[a].extend(around.iter().copied().filter(|&b| b != a));
            neighbours[a].remove(&vertex);
            queue.insert(key(a, &neighbours[a]));
        }
    }
    order
}

/// Steps from each vertex to the nearest one of some.
fn distances(neighbours: &[BTreeSet<usize>], from: &[usize]) -> Vec<usize> {
    let mut distance = vec![0; neighbours.len()];
    let mut seen = vec![false; neighbours.len()];
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    from.iter().for_each(|&vertex| seen[vertex] = true);
    while let Some(vertex) = queue.pop_front() {
        for &next in &neighbours[vertex] {
            if !std::mem::replace(&mut seen[next], true) {
                distance[next] = distance[vertex] + 1;
                queue.push_back(next);
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_eliminated_from_its_leaves() {
        let cliques = (1..6).map(|leaf| vec![0, leaf]).collect::<Vec<_>>();
        let order = minimum_degree(6, &cliques, &[]);
        let centre = order.iter().position(|&v| v == 0).unwrap();
        assert!(centre >= 4, "{order:?}");
    }

    #[test]
    fn a_chain_keeps_its_order() {
        let cliques = (0..9).map(|i| vec![i, i + 1]).collect::<Vec<_>>();
        let order = minimum_degree(10, &cliques, &[]);
        assert_eq!(order, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_wanted_last_comes_last() {
        let cliques = (0..9).map(|i| vec![i, i + 1]).collect::<Vec<_>>();
        let order = minimum_degree(10, &cliques, &[0, 4]);
        assert_eq!(order[8..], [0, 4]);
    }

    #[test]
    fn a_chain_ends_where_it_is_wanted_last() {
        let cliques = (0..9).map(|i| vec![i, i + 1]).collect::<Vec<_>>();
        let order = minimum_degree(10, &cliques, &[0]);
        assert_eq!(order, (0..10).rev().collect::<Vec<_>>());
    }
}
