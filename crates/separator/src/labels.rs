//! Who is where, with what that costs, while vertices move between parts and separator.

use crate::graph::{Cost, Graph};

/// The part of a vertex; none in the separator.
pub(crate) type Label = Option<usize>;

/// A graph with the links at each vertex.
pub(crate) struct Linked {
    pub graph: Graph,
    pub links_at: Vec<Vec<usize>>,
}

impl Linked {
    pub fn new(graph: Graph) -> Self {
        let links_at = graph.links_at();
        Self { graph, links_at }
    }
}

/// What a separator costs, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price {
    /// Parts without any vertex.
    pub empty: usize,
    /// The largest part and the separator: nothing shortens the way through them.
    pub longest: Cost,
    /// All parts and the separator.
    pub total: Cost,
}

/// Where each vertex is. All vertices of a link that are not in the separator are in one part.
#[derive(Clone)]
pub(crate) struct Labels<'g> {
    on: &'g Linked,
    parts: usize,
    labels: Vec<Label>,
    /// For each link how many of its vertices are in its part.
    inside: Vec<u32>,
    /// For each vertex and part: links at the vertex that the part has.
    touching: Vec<u32>,
    /// For each part how many vertices it has.
    count: Vec<usize>,
    work: Vec<Cost>,
    separator: Cost,
}

impl<'g> Labels<'g> {
    /// All vertices where they are said to be.
    pub fn new(on: &'g Linked, parts: usize, labels: &[Label]) -> Self {
        let vertices = on.graph.vertices.len();
        let links = on.graph.links.iter();
        let mut made = Self {
            on,
            parts,
            labels: vec![None; vertices],
            inside: vec![0; on.graph.links.len()],
            touching: vec![0; vertices * parts],
            count: vec![0; parts],
            work: vec![0; parts],
            separator: links.map(|link| link.cost).sum(),
        };
        let inside = on.graph.vertices.iter().map(|vertex| vertex.in_separator);
        made.separator += inside.sum::<Cost>();
        for (vertex, label) in labels.iter().enumerate() {
            if let Some(part) = *label {
                made.enter(vertex, part);
            }
        }
        made
    }

    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The vertices in the separator.
    pub fn separator(&self) -> Vec<usize> {
        let all = 0..self.labels.len();
        all.filter(|&vertex| self.labels[vertex].is_none())
            .collect()
    }

    pub fn price(&self) -> Price {
        let works = self.work.iter();
        Price {
            empty: self.count.iter().filter(|count| **count == 0).count(),
            longest: works.clone().max().copied().unwrap_or(0) + self.separator,
            total: works.sum::<Cost>() + self.separator,
        }
    }

    /// What each part costs.
    pub fn work(&self) -> &[Cost] {
        &self.work
    }

    /// What the separator costs.
    pub fn in_separator(&self) -> Cost {
        self.separator
    }

    /// Whether a part has links at a vertex.
    pub fn touches(&self, vertex: usize, part: usize) -> bool {
        self.touching[vertex * self.parts + part] > 0
    }

    /// Vertices of other parts that share a link with this one; nothing if one of them may not leave its part.
    fn pulled(&self, vertex: usize, part: usize) -> Option<Vec<usize>> {
        let mut pulled = Vec::new();
        for &link in &self.on.links_at[vertex] {
            for &other in &self.on.graph.links[link].vertices {
                if self.labels[other].is_some_and(|label| label != part) && !pulled.contains(&other)
                {
                    if !self.on.graph.vertices[other].may_separate {
                        return None;
                    }
                    pulled.push(other);
                }
            }
        }
        Some(pulled)
    }

    /// Moves a vertex of the separator into a part, and those of other parts that share a link with it into the separator. What
    /// was done, to be undone; nothing if it cannot be.
    pub fn advance(&mut self, vertex: usize, part: usize) -> Option<Vec<(usize, Label)>> {
        let pulled = self.pulled(vertex, part)?;
        let mut before = Vec::with_capacity(pulled.len() + 1);
        for other in pulled {
            before.push((other, self.labels[other]));
            self.leave(other);
        }
        before.push((vertex, None));
        self.enter(vertex, part);
        Some(before)
    }

    /// Takes a move back.
    pub fn undo(&mut self, before: &[(usize, Label)]) {
        for &(vertex, label) in before.iter().rev() {
            match label {
                None => self.leave(vertex),
                Some(part) => self.enter(vertex, part),
            }
        }
    }

    /// From the separator into a part.
    fn enter(&mut self, vertex: usize, part: usize) {
        let graph = &self.on.graph;
        let costs = &graph.vertices[vertex];
        for other in 0..self.parts {
            if self.touches(vertex, other) {
                self.work[other] -= costs.copy;
            }
        }
        self.separator -= costs.in_separator;
        self.labels[vertex] = Some(part);
        self.work[part] += costs.in_part;
        self.count[part] += 1;
        for &link in &self.on.links_at[vertex] {
            self.inside[link] += 1;
            if self.inside[link] > 1 {
                continue;
            }
            let cost = graph.links[link].cost;
            self.separator -= cost;
            self.work[part] += cost;
            for &other in &graph.links[link].vertices {
                let touching = &mut self.touching[other * self.parts + part];
                *touching += 1;
                if *touching == 1 && self.labels[other].is_none() {
                    self.work[part] += graph.vertices[other].copy;
                }
            }
        }
    }

    /// From its part into the separator.
    fn leave(&mut self, vertex: usize) {
        let Some(part) = self.labels[vertex] else {
            return;
        };
        let graph = &self.on.graph;
        let costs = &graph.vertices[vertex];
        for &link in &self.on.links_at[vertex] {
            self.inside[link] -= 1;
            if self.inside[link] > 0 {
                continue;
            }
            let cost = graph.links[link].cost;
            self.separator += cost;
            self.work[part] -= cost;
            for &other in &graph.links[link].vertices {
                let touching = &mut self.touching[other * self.parts + part];
                *touching -= 1;
                if *touching == 0 && self.labels[other].is_none() {
                    self.work[part] -= graph.vertices[other].copy;
                }
            }
        }
        self.labels[vertex] = None;
        self.work[part] -= costs.in_part;
        self.count[part] -= 1;
        self.separator += costs.in_separator;
        for other in 0..self.parts {
            if self.touches(vertex, other) {
                self.work[other] += costs.copy;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Link, Vertex};
    use crate::random::Random;

    /// A grid of squares, each a link of four vertices.
    fn grid(rows: usize, columns: usize) -> Graph {
        let vertex = |i: usize| Vertex {
            in_part: 10 + i as u64 % 3,
            in_separator: 5,
            copy: 2,
            may_separate: i % 7 != 3,
        };
        let at = |row: usize, column: usize| row * columns + column;
        let mut links = Vec::new();
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                links.push(Link {
                    vertices: vec![
                        at(row, column),
                        at(row, column + 1),
                        at(row + 1, column),
                        at(row + 1, column + 1),
                    ],
                    cost: 100,
                    tightness: 1.0,
                });
            }
        }
        Graph {
            vertices: (0..rows * columns).map(vertex).collect(),
            links,
        }
    }

    /// What is counted along the way is what would be counted anew, and undone moves leave nothing behind.
    #[test]
    fn counts_follow_all_moves() {
        let on = Linked::new(grid(5, 9));
        let start: Vec<Label> = (0..45)
            .map(|v| match v % 9 {
                0..=3 => Some(0),
                4 => None,
                _ => Some(1),
            })
            .collect();
        let mut labels = Labels::new(&on, 2, &start);
        let mut random = Random(5);
        let mut moves = 0;
        for _ in 0..300 {
            let separator = labels.separator();
            let vertex = separator[random.below(separator.len())];
            let before = labels.price();
            let Some(done) = labels.advance(vertex, random.below(2)) else {
                continue;
            };
            if random.below(3) == 0 {
                labels.undo(&done);
                assert_eq!(labels.price(), before);
                continue;
            }
            moves += 1;
            let anew = Labels::new(&on, 2, labels.labels());
            assert_eq!(labels.price(), anew.price());
            assert_eq!(labels.work(), anew.work());
            assert_eq!(labels.in_separator(), anew.in_separator());
            if labels.separator().is_empty() {
                break;
            }
        }
        assert!(moves > 20, "{moves}");
    }
}
