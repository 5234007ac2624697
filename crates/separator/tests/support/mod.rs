//! Random graphs, and the price of a separator by its definition.

use oldham_separator::{Graph, Link, Vertex};

pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() >> 11) as usize % count.max(1)
    }

    pub fn cost(&mut self, from: u64, to: u64) -> u64 {
        from + self.below((to - from) as usize) as u64
    }
}

pub fn vertex(random: &mut Random) -> Vertex {
    Vertex {
        in_part: random.cost(100, 300),
        in_separator: random.cost(50, 2000),
        copy: random.cost(50, 1000),
        may_separate: random.below(5) > 0,
    }
}

pub fn link(vertices: Vec<usize>, random: &mut Random) -> Link {
    Link {
        vertices,
        cost: random.cost(500, 3000),
        tightness: [0.01, 1.0, 1000.0][random.below(3)],
    }
}

/// Largest part and separator, by the definition; nothing if a link joins two parts or a part is empty.
pub fn price(graph: &Graph, labels: &[Option<usize>], parts: usize) -> Option<u64> {
    let mut work = vec![0; parts];
    let mut has_vertex = vec![false; parts];
    let mut separator = 0;
    let mut copies = std::collections::BTreeSet::new();
    for (vertex, label) in graph.vertices.iter().zip(labels) {
        match label {
            Some(part) => {
                work[*part] += vertex.in_part;
                has_vertex[*part] = true;
            }
            None if vertex.may_separate => separator += vertex.in_separator,
            None => return None,
        }
    }
    for link in &graph.links {
        let mut owners: Vec<usize> = link.vertices.iter().filter_map(|&v| labels[v]).collect();
        owners.sort_unstable();
        owners.dedup();
        match owners[..] {
            [] => separator += link.cost,
            [part] => {
                work[part] += link.cost;
                for &v in link.vertices.iter().filter(|&&v| labels[v].is_none()) {
                    if copies.insert((v, part)) {
                        work[part] += graph.vertices[v].copy;
                    }
                }
            }
            _ => return None,
        }
    }
    let largest = work.iter().max().copied().unwrap_or(0);
    has_vertex
        .iter()
        .all(|has| *has)
        .then_some(largest + separator)
}

/// What hangs together when some vertices are taken out, as a number for each vertex.
pub fn components(graph: &Graph, is_out: &[bool]) -> (Vec<Option<usize>>, usize) {
    let count = graph.vertices.len();
    let mut neighbours = vec![Vec::new(); count];
    for link in &graph.links {
        for &a in &link.vertices {
            neighbours[a].extend(link.vertices.iter().copied().filter(|&b| b != a));
        }
    }
    let mut component = vec![None; count];
    let mut found = 0;
    for start in 0..count {
        if is_out[start] || component[start].is_some() {
            continue;
        }
        let mut stack = vec![start];
        component[start] = Some(found);
        while let Some(vertex) = stack.pop() {
            for &next in &neighbours[vertex] {
                if !is_out[next] && component[next].is_none() {
                    component[next] = Some(found);
                    stack.push(next);
                }
            }
        }
        found += 1;
    }
    (component, found)
}

/// A number from the environment, for long runs.
pub fn from_environment(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |given| given.parse().expect("a whole number"))
}
