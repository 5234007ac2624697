//! Rows on their way to the disk, kept column by column.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};

/// Enough rows that the cost of a batch does not count.
const MOST_ROWS: usize = 4096;
/// Few enough bytes that wide rows do not fill the memory.
const BATCH_BYTES: usize = 1 << 20;
/// A batch also carries a header per column, which should not outweigh its rows.
const FEWEST_ROWS: usize = 64;

/// Rows not yet written; space for a whole batch is there from the start.
pub(super) struct Rows {
    schema: SchemaRef,
    columns: Vec<Vec<f64>>,
    capacity: usize,
}

impl Rows {
    pub(super) fn new(schema: SchemaRef) -> Self {
        let width = schema.fields().len();
        let capacity = (BATCH_BYTES / (width * size_of::<f64>())).clamp(FEWEST_ROWS, MOST_ROWS);
        let columns = (0..width).map(|_| Vec::with_capacity(capacity)).collect();
        Self {
            schema,
            columns,
            capacity,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.columns[0].is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.columns[0].len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.columns[0].len() == self.capacity
    }

    /// Adds a row; the caller empties the buffer when it is full.
    pub(super) fn push(&mut self, t: f64, row: &[f64]) {
        assert_eq!(row.len() + 1, self.columns.len(), "width of a recorded row");
        self.columns[0].push(t);
        for (column, &value) in self.columns[1..].iter_mut().zip(row) {
            column.push(value);
        }
    }

    /// Takes all rows out as one batch.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let arrays = self
            .columns
            .iter_mut()
            .map(|column| std::mem::replace(column, Vec::with_capacity(self.capacity)))
            .map(|values| Arc::new(Float64Array::from(values)) as ArrayRef)
            .collect();
        RecordBatch::try_new(self.schema.clone(), arrays)
    }
}
