//! The best separators so far.

use std::collections::BTreeMap;

use crate::graph::Cost;
use crate::labels::{Labels, Price};

/// Vertices that separate, and what is where without them.
#[derive(Clone, Debug, PartialEq)]
pub struct Separator {
    /// The vertices, in order.
    pub vertices: Vec<usize>,
    /// The part of each vertex; none in the separator.
    pub parts: Vec<Option<usize>>,
    /// What it costs.
    pub price: Price,
    /// What each part costs, with its copies.
    pub work: Vec<Cost>,
    /// What the separator costs itself.
    pub in_separator: Cost,
}

/// Distinct separators, each at its best price.
pub(crate) struct Pool {
    kept: usize,
    found: BTreeMap<Vec<usize>, Separator>,
}

impl Pool {
    pub fn new(kept: usize) -> Self {
        Self {
            kept,
            found: BTreeMap::new(),
        }
    }

    /// Takes a separator that leaves no part empty.
    pub fn offer(&mut self, labels: &Labels<'_>) {
        let (price, vertices) = (labels.price(), labels.separator());
        if price.empty > 0 || vertices.is_empty() {
            return;
        }
        let known = self.found.get(&vertices);
        if known.is_some_and(|known| known.price <= price) {
            return;
        }
        let separator = Separator {
            vertices: vertices.clone(),
            parts: labels.labels().to_vec(),
            price,
            work: labels.work().to_vec(),
            in_separator: labels.in_separator(),
        };
        self.found.insert(vertices, separator);
        if self.found.len() > 2 * self.kept {
            self.drop_the_rest();
        }
    }

    fn drop_the_rest(&mut self) {
        let mut prices: Vec<_> = self
            .found
            .iter()
            .map(|(at, it)| (it.price, at.clone()))
            .collect();
        prices.sort();
        for (_, vertices) in prices.split_off(self.kept.min(prices.len())) {
            self.found.remove(&vertices);
        }
    }

    /// Labels of so many of the best.
    pub fn first(&self, count: usize) -> Vec<Vec<Option<usize>>> {
        let mut found: Vec<&Separator> = self.found.values().collect();
        found.sort_by(|a, b| {
            a.price
                .cmp(&b.price)
                .then_with(|| a.vertices.cmp(&b.vertices))
        });
        let best = found.into_iter().take(count);
        best.map(|separator| separator.parts.clone()).collect()
    }

    /// The best ones, best first.
    pub fn best(self) -> Vec<Separator> {
        let mut found: Vec<Separator> = self.found.into_values().collect();
        found.sort_by(|a, b| {
            a.price
                .cmp(&b.price)
                .then_with(|| a.vertices.cmp(&b.vertices))
        });
        found.truncate(self.kept);
        found
    }
}
