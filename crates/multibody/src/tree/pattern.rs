//! Which freedoms meet in a matrix: rows that are nested, so that factors fill in nothing new.
//!
//! A freedom meets those that carry it. Where an element acts between two branches it meets more; then the freedoms on
//! which it depends are a chain of the elimination tree, which holds all fill-in.

use std::collections::BTreeSet;

/// Rows of freedoms, each itself first, then the others that it meets and that come before it, the last one first.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    others: Vec<usize>,
    rows: Vec<usize>,
}

impl Pattern {
    /// For each freedom the one before it in its row.
    pub fn of_chains(before: &[Option<usize>]) -> Self {
        let (mut others, mut rows) = (Vec::new(), vec![0]);
        for id in 0..before.len() {
            let mut next = Some(id);
            while let Some(freedom) = next {
                others.push(freedom);
                next = before[freedom];
            }
            rows.push(others.len());
        }
        Self { others, rows }
    }

    /// The smallest one that has these and lets all freedoms of a group meet each other.
    pub fn with_groups(&self, groups: &[Vec<usize>]) -> Self {
        let mut met: Vec<BTreeSet<usize>> = (0..self.freedoms())
            .map(|id| self.row(id)[1..].iter().copied().collect())
            .collect();
        for group in groups {
            for &id in group {
                met[id].extend(group.iter().copied().filter(|&other| other < id));
            }
        }
        let mut before = vec![None; met.len()];
        for id in (0..met.len()).rev() {
            let row = std::mem::take(&mut met[id]);
            before[id] = row.last().copied();
            if let Some(next) = before[id] {
                met[next].extend(row.into_iter().filter(|&other| other < next));
            }
        }
        Self::of_chains(&before)
    }

    pub fn freedoms(&self) -> usize {
        self.rows.len() - 1
    }

    /// Number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.others.len()
    }

    #[inline(always)]
    pub fn row(&self, id: usize) -> &[usize] {
        &self.others[self.rows[id]..self.rows[id + 1]]
    }

    /// Entry of the diagonal of a row.
    #[inline(always)]
    pub fn start(&self, id: usize) -> usize {
        self.rows[id]
    }

    /// The entry of two freedoms in the row of the later one; nothing if they do not meet.
    pub fn entry(&self, later: usize, earlier: usize) -> Option<usize> {
        let place = self.row(later).iter().position(|&other| other == earlier)?;
        Some(self.rows[later] + place)
    }
}

/// A matrix with such a pattern, not symmetric.
#[derive(Clone, Debug, Default)]
pub(super) struct BranchMatrix {
    /// Of each row the diagonal, then what is left of it in the order of the pattern.
    pub left: Vec<f64>,
    /// Of each column what is above the diagonal, in the same order; the first entry is not used.
    pub above: Vec<f64>,
}

impl BranchMatrix {
    pub fn new(pattern: &Pattern) -> Self {
        Self {
            left: vec![0.0; pattern.entries()],
            above: vec![0.0; pattern.entries()],
        }
    }

    pub fn clear(&mut self) {
        self.left.fill(0.0);
        self.above.fill(0.0);
    }

    /// Adds to the entry of a row and a column that meet.
    #[inline(always)]
    pub fn add(&mut self, pattern: &Pattern, row: usize, column: usize, value: f64) {
        let (later, earlier) = (row.max(column), row.min(column));
        let entry = pattern.entry(later, earlier).expect("freedoms that meet");
        match row >= column {
            true => self.left[entry] += value,
            false => self.above[entry] += value,
        }
    }

    /// An entry; zero where freedoms do not meet.
    pub fn get(&self, pattern: &Pattern, row: usize, column: usize) -> f64 {
        let (later, earlier) = (row.max(column), row.min(column));
        match pattern.entry(later, earlier) {
            Some(entry) if row >= column => self.left[entry],
            Some(entry) => self.above[entry],
            None => 0.0,
        }
    }

    /// Factors in place, from the last freedom to the first, without exchanging any. The freedom with a pivot that is
    /// nothing but rounding, if there is one.
    pub fn factor(&mut self, pattern: &Pattern) -> Result<(), usize> {
        for id in (0..pattern.freedoms()).rev() {
            let start = pattern.start(id);
            let row = pattern.row(id);
            let inverse = 1.0 / self.left[start];
            if !inverse.is_finite() {
                return Err(id);
            }
            for place in 1..row.len() {
                self.above[start + place] *= inverse;
            }
            for by_row in 1..row.len() {
                let factor = self.above[start + by_row];
                if factor == 0.0 {
                    continue;
                }
                let (target, before) = (
                    pattern.start(row[by_row]),
                    self.diagonal(pattern, row[by_row]),
                );
                for by_column in by_row..row.len() {
                    self.left[target + by_column - by_row] -= factor * self.left[start + by_column];
                }
                for (by_column, &other) in row.iter().enumerate().take(by_row).skip(1) {
                    let target = pattern.start(other) + by_row - by_column;
                    self.above[target] -= factor * self.left[start + by_column];
                }
                if self.left[target].abs() <= ROUNDING * before.abs() {
                    return Err(row[by_row]);
                }
            }
            self.left[start] = inverse;
        }
        Ok(())
    }

    fn diagonal(&self, pattern: &Pattern, id: usize) -> f64 {
        self.left[pattern.start(id)]
    }

    /// Solves with the factors in place.
    pub fn solve(&self, pattern: &Pattern, values: &mut [f64]) {
        for id in (0..pattern.freedoms()).rev() {
            let start = pattern.start(id);
            let value = values[id];
            let row = pattern.row(id);
            for (entry, &other) in self.above[start + 1..].iter().zip(&row[1..]) {
                values[other] -= entry * value;
            }
        }
        for id in 0..pattern.freedoms() {
            let start = pattern.start(id);
            let row = pattern.row(id);
            let mut value = values[id];
            for (entry, &other) in self.left[start + 1..].iter().zip(&row[1..]) {
                value -= entry * values[other];
            }
            values[id] = value * self.left[start];
        }
    }
}

/// A pivot that falls below this fraction of itself is nothing but rounding.
const ROUNDING: f64 = 1e-14;
