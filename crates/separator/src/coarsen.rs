//! Smaller graphs with the same separators: vertices that belong together become one.

use std::collections::BTreeMap;

use crate::graph::{Cost, Graph, Link, Vertex};
use crate::labels::{Label, Linked};
use crate::random::Random;
use crate::sets::Sets;

/// Vertices from which on a graph is small.
const SMALL: usize = 64;
/// A step of coarsening leaves at most this share of the vertices, or is the last.
const LEAST_GAIN: f64 = 0.95;

/// A graph, and where the vertices of the finer one went.
pub(crate) struct Level {
    pub on: Linked,
    /// For each vertex of the finer graph its vertex in this one.
    pub place: Vec<usize>,
}

/// Coarser and coarser graphs, each of the one before. With labels only vertices of the same label become one.
pub(crate) fn levels(
    finest: &Graph,
    parts: usize,
    labels: Option<&[Label]>,
    random: &mut Random,
) -> Vec<Level> {
    let most = finest.whole() / (8 * parts as Cost);
    let mut levels = vec![glued(finest)];
    let mut labels = labels.map(|labels| levels[0].carried(labels));
    loop {
        let here = &levels[levels.len() - 1].on;
        let before = here.graph.vertices.len();
        if before <= SMALL.max(4 * parts) {
            return levels;
        }
        let sets = matched(here, most, labels.as_deref(), random);
        let next = level(&here.graph, sets);
        if next.on.graph.vertices.len() as f64 > LEAST_GAIN * before as f64 {
            return levels;
        }
        labels = labels.map(|labels| next.carried(&labels));
        levels.push(next);
    }
}

/// The graph in which neighbours that both must stay in their part, and so can never be separated, are one.
pub(crate) fn glued(finest: &Graph) -> Level {
    let mut sets = Sets::new(finest.vertices.len());
    glue(finest, &mut sets);
    level(finest, sets)
}

impl Level {
    /// Labels of this graph from those of the finer one, where all that became one have the same.
    pub fn carried(&self, labels: &[Label]) -> Vec<Label> {
        let mut here = vec![None; self.on.graph.vertices.len()];
        for (place, label) in self.place.iter().zip(labels) {
            here[*place] = *label;
        }
        here
    }

    /// Labels of the finer graph from those of this one.
    pub fn expanded(&self, labels: &[Label]) -> Vec<Label> {
        self.place.iter().map(|&place| labels[place]).collect()
    }
}

/// Puts vertices of a link that may not separate together.
fn glue(graph: &Graph, sets: &mut Sets) {
    for link in &graph.links {
        let held = link.vertices.iter().copied();
        sets.join_all(held.filter(|&v| !graph.vertices[v].may_separate));
    }
}

/// Pairs of neighbours, each along its tightest link; those that may separate with one another first.
fn matched(on: &Linked, most: Cost, labels: Option<&[Label]>, random: &mut Random) -> Sets {
    let count = on.graph.vertices.len();
    let order = random.order(count);
    let mut is_matched = vec![false; count];
    let mut sets = Sets::new(count);
    for only_alike in [true, false] {
        for &vertex in &order {
            if is_matched[vertex] {
                continue;
            }
            let fits = |other: usize| {
                let vertices = &on.graph.vertices;
                let is_alike = vertices[other].may_separate == vertices[vertex].may_separate;
                !is_matched[other]
                    && (is_alike || !only_alike)
                    && vertices[other].in_part + vertices[vertex].in_part <= most
                    && labels.is_none_or(|labels| labels[other] == labels[vertex])
            };
            let Some(mate) = mate(on, vertex, fits) else {
                continue;
            };
            (is_matched[vertex], is_matched[mate]) = (true, true);
            sets.join(vertex, mate);
        }
    }
    // What was matched may now be next to something that must stay in its part, too.
    let merged = level(&on.graph, sets.clone());
    let mut further = Sets::new(merged.on.graph.vertices.len());
    glue(&merged.on.graph, &mut further);
    let mut first = vec![usize::MAX; merged.on.graph.vertices.len()];
    for vertex in 0..count {
        let stands = further.find(merged.place[vertex]);
        if first[stands] == usize::MAX {
            first[stands] = vertex;
        }
        sets.join(first[stands], vertex);
    }
    sets
}

/// The neighbour that holds a vertex most tightly, of those that fit.
fn mate(on: &Linked, vertex: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let mut ratings: BTreeMap<usize, f64> = BTreeMap::new();
    for &link in &on.links_at[vertex] {
        let link = &on.graph.links[link];
        let share = (1.0 + link.tightness) / (link.vertices.len() - 1).max(1) as f64;
        for &other in link.vertices.iter().filter(|&&other| other != vertex) {
            if fits(other) {
                *ratings.entry(other).or_default() += share;
            }
        }
    }
    let best = ratings
        .iter()
        .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
    best.map(|(other, _)| *other)
}

/// The graph whose vertices are sets of those of another.
fn level(finer: &Graph, mut sets: Sets) -> Level {
    let (place, count) = sets.places();
    let mut vertices = vec![
        Vertex {
            may_separate: true,
            ..Vertex::default()
        };
        count
    ];
    for (vertex, &at) in finer.vertices.iter().zip(&place) {
        let sum = &mut vertices[at];
        sum.in_part += vertex.in_part;
        sum.in_separator += vertex.in_separator;
        sum.copy += vertex.copy;
        sum.may_separate &= vertex.may_separate;
    }
    let mut links: BTreeMap<Vec<usize>, (Cost, f64)> = BTreeMap::new();
    for link in &finer.links {
        let mut at: Vec<usize> = link.vertices.iter().map(|&v| place[v]).collect();
        at.sort_unstable();
        at.dedup();
        if let [only] = at[..] {
            // It goes where its vertices go.
            vertices[only].in_part += link.cost;
            vertices[only].in_separator += link.cost;
            continue;
        }
        let sum = links.entry(at).or_default();
        sum.0 += link.cost;
        sum.1 += link.tightness;
    }
    let link = |(vertices, (cost, tightness))| Link {
        vertices,
        cost,
        tightness,
    };
    let links = links.into_iter().map(link).collect();
    Level {
        on: Linked::new(Graph { vertices, links }),
        place,
    }
}
