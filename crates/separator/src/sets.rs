//! Disjoint sets of small numbers.

/// Which numbers belong together.
#[derive(Clone)]
pub(crate) struct Sets(Vec<usize>);

impl Sets {
    /// Every number alone.
    pub fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// The number that stands for the set of `x`: its smallest.
    pub fn find(&mut self, mut x: usize) -> usize {
        while self.0[x] != x {
            self.0[x] = self.0[self.0[x]];
            x = self.0[x];
        }
        x
    }

    /// Puts the sets of `a` and `b` together.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }

    /// Puts the sets of all these together.
    pub fn join_all(&mut self, members: impl IntoIterator<Item = usize>) {
        let mut members = members.into_iter();
        if let Some(first) = members.next() {
            members.for_each(|member| self.join(first, member));
        }
    }

    /// For each number the place of its set among all, in the order of their smallest numbers, and how many sets there are.
    pub fn places(&mut self) -> (Vec<usize>, usize) {
        let mut place = vec![usize::MAX; self.0.len()];
        let mut count = 0;
        let mut places = Vec::with_capacity(self.0.len());
        for x in 0..self.0.len() {
            let stands = self.find(x);
            if place[stands] == usize::MAX {
                place[stands] = count;
                count += 1;
            }
            places.push(place[stands]);
        }
        (places, count)
    }
}
