//! The elimination order: minimum degree on the graph of the principal blocks.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// Orders the vertices of a graph, given as cliques, by minimum degree, those in `last` after all
/// others. Ties go to the vertex that is further from these, so that a chain ends there, and then
/// to the lower index, so that the order of a chain is the chain.
pub fn minimum_degree(vertices: usize, cliques: &[Vec<usize>], last: &[usize]) -> Vec<usize> {
    let mut is_last = vec![false; vertices];
    last.iter().for_each(|&vertex| is_last[vertex] = true);
    let mut graph = CliqueGraph::new(vertices, cliques);
    let distance = graph.distances(last);
    let key = |v: usize, degree: usize| (is_last[v], degree, Reverse(distance[v]), v);
    let mut degree: Vec<usize> = (0..vertices).map(|v| graph.degree(v)).collect();
    let mut queue: BTreeSet<_> = (0..vertices).map(|v| key(v, degree[v])).collect();
    let mut order = Vec::with_capacity(vertices);
    while let Some((.., vertex)) = queue.pop_first() {
        order.push(vertex);
        let clique = graph.eliminate(vertex);
        for place in 0..graph.cliques[clique].len() {
            let a = graph.cliques[clique][place];
            queue.remove(&key(a, degree[a]));
            degree[a] = graph.degree_beside(a, clique);
            queue.insert(key(a, degree[a]));
        }
    }
    order
}

/// A graph as the union of cliques. The elimination of a vertex makes one clique of all that it belongs
/// to, so that the graph takes no more memory than at first, however much is filled in.
struct CliqueGraph {
    /// Those that are part of others are empty.
    cliques: Vec<Vec<usize>>,
    /// The cliques of each vertex, and some that are empty by now.
    of_vertex: Vec<Vec<usize>>,
    /// When each vertex was last counted, and last joined a clique.
    counted: Marks,
    joined: Marks,
}

impl CliqueGraph {
    fn new(vertices: usize, cliques: &[Vec<usize>]) -> Self {
        let mut of_vertex = vec![Vec::new(); vertices];
        for (index, clique) in cliques.iter().enumerate() {
            for &vertex in clique {
                of_vertex[vertex].push(index);
            }
        }
        Self {
            cliques: cliques.to_vec(),
            of_vertex,
            counted: Marks::new(vertices),
            joined: Marks::new(vertices),
        }
    }

    /// How many others a vertex is connected with.
    fn degree(&mut self, vertex: usize) -> usize {
        self.counted.renew();
        self.counted.mark(vertex);
        let all = self.of_vertex[vertex]
            .iter()
            .flat_map(|&c| &self.cliques[c]);
        all.filter(|&&other| self.counted.mark(other)).count()
    }

    /// Joins all cliques of a vertex to one, without it: its index.
    fn eliminate(&mut self, vertex: usize) -> usize {
        self.joined.renew();
        self.joined.mark(vertex);
        let mut joined = Vec::new();
        for clique in std::mem::take(&mut self.of_vertex[vertex]) {
            let members = std::mem::take(&mut self.cliques[clique]);
            joined.extend(members.into_iter().filter(|&other| self.joined.mark(other)));
        }
        self.cliques.push(joined);
        self.cliques.len() - 1
    }

    /// The degree of a member of the clique that was just joined, which replaces those of its cliques that
    /// are part of it.
    fn degree_beside(&mut self, vertex: usize, joined: usize) -> usize {
        self.counted.renew();
        let mut degree = self.cliques[joined].len() - 1;
        let mut of_vertex = std::mem::take(&mut self.of_vertex[vertex]);
        of_vertex.retain(|&clique| {
            let members = self.cliques[clique].iter();
            let mut beyond = members.filter(|&&other| !self.joined.is_marked(other));
            let mut is_part = true;
            for &other in &mut beyond {
                is_part = false;
                degree += usize::from(self.counted.mark(other));
            }
            if is_part {
                self.cliques[clique] = Vec::new();
            }
            !is_part
        });
        of_vertex.push(joined);
        self.of_vertex[vertex] = of_vertex;
        degree
    }

    /// Steps from each vertex to the nearest one of some.
    fn distances(&self, from: &[usize]) -> Vec<usize> {
        let mut distance = vec![0; self.of_vertex.len()];
        let mut seen = vec![false; self.of_vertex.len()];
        let mut is_passed = vec![false; self.cliques.len()];
        let mut queue: VecDeque<usize> = from.iter().copied().collect();
        from.iter().for_each(|&vertex| seen[vertex] = true);
        while let Some(vertex) = queue.pop_front() {
            for &clique in &self.of_vertex[vertex] {
                if std::mem::replace(&mut is_passed[clique], true) {
                    continue;
                }
                for &next in &self.cliques[clique] {
                    if !std::mem::replace(&mut seen[next], true) {
                        distance[next] = distance[vertex] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        distance
    }
}

/// A set of vertices that is emptied at no cost.
struct Marks {
    of_vertex: Vec<usize>,
    now: usize,
}

impl Marks {
    fn new(vertices: usize) -> Self {
        Self {
            of_vertex: vec![0; vertices],
            now: 0,
        }
    }

    fn renew(&mut self) {
        self.now += 1;
    }

    fn is_marked(&self, vertex: usize) -> bool {
        self.of_vertex[vertex] == self.now
    }

    /// Marks a vertex; whether it was not.
    fn mark(&mut self, vertex: usize) -> bool {
        std::mem::replace(&mut self.of_vertex[vertex], self.now) != self.now
    }
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

    /// The same order as by the definition, with every neighbour listed.
    #[test]
    fn degrees_are_those_of_the_filled_graph() {
        let mut seed = 3_u64;
        let mut random = |most: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            (seed >> 33) as usize % most
        };
        for vertices in [5, 12, 30] {
            let cliques: Vec<Vec<usize>> = (0..2 * vertices)
                .map(|_| {
                    let members = (0..1 + random(4)).map(|_| random(vertices));
                    members.collect::<BTreeSet<_>>().into_iter().collect()
                })
                .collect();
            let mut neighbours = vec![BTreeSet::new(); vertices];
            for clique in &cliques {
                for &a in clique {
                    neighbours[a].extend(clique.iter().copied().filter(|&b| b != a));
                }
            }
            for vertex in minimum_degree(vertices, &cliques, &[]) {
                let around = std::mem::take(&mut neighbours[vertex]);
                let smallest = neighbours.iter().filter(|others| !others.is_empty());
                let smallest = smallest.map(BTreeSet::len).min().unwrap_or(0);
                assert!(around.len() <= smallest, "{vertex}: {around:?}");
                for &a in &around {
                    neighbours[a].extend(around.iter().copied().filter(|&b| b != a));
                    neighbours[a].remove(&vertex);
                }
            }
        }
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
