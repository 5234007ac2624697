//! Disjoint sets of small numbers.

/// Which numbers belong together.
pub(super) struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    /// Every number alone.
    pub fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    /// The number that stands for the set of `x`: its smallest.
    pub fn find(&mut self, mut x: usize) -> usize {
        while self.parent[x] != x {
            self.parent[x] = self.parent[self.parent[x]];
            x = self.parent[x];
        }
        x
    }

    /// Puts the sets of `a` and `b` together.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Puts the sets of all these together.
    pub fn join_all(&mut self, members: impl IntoIterator<Item = usize>) {
        let mut members = members.into_iter();
        if let Some(first) = members.next() {
            members.for_each(|member| self.join(first, member));
        }
    }
}
