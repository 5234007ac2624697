//! What is to be separated.

/// Time, as a whole number of the smallest unit that counts.
pub type Cost = u64;

/// A vertex, and what it costs where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vertex {
    /// In a part.
    pub in_part: Cost,
    /// In the separator.
    pub in_separator: Cost,
    /// In the separator, to each part beside it: the part has a copy of it.
    pub copy: Cost,
    /// Whether it may be in the separator.
    pub may_separate: bool,
}

/// What belongs together: all vertices of a link that are not in the separator are in one part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Its vertices, each once.
    pub vertices: Vec<usize>,
    /// To the part that has it, or to the separator, where all its vertices are in that.
    pub cost: Cost,
    /// How much its vertices want to stay together.
    pub tightness: f64,
}

/// Vertices and links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// The links.
    pub links: Vec<Link>,
}

impl Graph {
    /// For each vertex the links at it.
    pub(crate) fn links_at(&self) -> Vec<Vec<usize>> {
        let mut at = vec![Vec::new(); self.vertices.len()];
        for (index, link) in self.links.iter().enumerate() {
            link.vertices.iter().for_each(|&v| at[v].push(index));
        }
        at
    }

    /// What everything costs in one part.
    pub fn whole(&self) -> Cost {
        let vertices = self.vertices.iter().map(|vertex| vertex.in_part);
        vertices.sum::<Cost>() + self.links.iter().map(|link| link.cost).sum::<Cost>()
    }
}
