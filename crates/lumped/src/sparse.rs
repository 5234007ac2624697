//! Sparse matrices, row by row.

use std::collections::BTreeMap;

/// Rows of entries, each with the column it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct SparseRows<E> {
    starts: Vec<usize>,
    entries: Vec<(usize, E)>,
}

impl<E> SparseRows<E> {
    /// From entries by (row, column).
    pub(crate) fn new(rows: usize, by_place: BTreeMap<(usize, usize), E>) -> Self {
        let mut starts = vec![0; rows + 1];
        for &(row, _) in by_place.keys() {
            starts[row + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        // The map is sorted by row, then by column.
        let entries = by_place.into_iter();
        Self {
            starts,
            entries: entries
                .map(|((_, column), entry)| (column, entry))
                .collect(),
        }
    }

    /// The entries of a row, by increasing column.
    pub(crate) fn row(&self, row: usize) -> &[(usize, E)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }

    /// The entries of each row in turn.
    #[inline(always)]
    pub(crate) fn each_row(&self) -> impl Iterator<Item = &[(usize, E)]> {
        let ends = self.starts.windows(2);
        ends.map(|ends| &self.entries[ends[0]..ends[1]])
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Every entry with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize, &E)> {
        let of_row = |row| {
            self.row(row)
                .iter()
                .map(move |(column, e)| (row, *column, e))
        };
        (0..self.rows()).flat_map(of_row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_entries_apart() {
        let places = BTreeMap::from([((2, 0), 'c'), ((0, 1), 'b'), ((0, 0), 'a')]);
        let sparse = SparseRows::new(3, places);
        assert_eq!(sparse.row(0), [(0, 'a'), (1, 'b')]);
        assert_eq!(sparse.row(1), []);
        assert_eq!(sparse.row(2), [(0, 'c')]);
        assert_eq!(sparse.iter().count(), 3);
    }
}
