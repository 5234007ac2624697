//! Rows on their way to the disk.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Float64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};

use crate::schema::{column_count, width_of};

/// Enough rows that the cost of a batch does not count.
const MOST_ROWS: usize = 4096;
/// Few enough bytes that wide rows do not fill the memory.
const BATCH_BYTES: usize = 1 << 20;
/// A batch also carries a header per column, which should not outweigh its rows.
const FEWEST_ROWS: usize = 64;

/// Bytes of rows that are turned into columns at a time: they stay in the nearest cache.
const TURNED_BYTES: usize = 16 << 10;

/// Rows not yet written, one after the other; space for a whole batch is there from the start.
pub(super) struct Rows {
    schema: SchemaRef,
    numbers: Vec<f64>,
    /// Numbers of a row.
    width: usize,
    capacity: usize,
}

impl Rows {
    pub(super) fn new(schema: SchemaRef) -> Self {
        let width = column_count(&schema);
        let capacity = (BATCH_BYTES / (width * size_of::<f64>())).clamp(FEWEST_ROWS, MOST_ROWS);
        Self {
            numbers: Vec::with_capacity(width * capacity),
            schema,
            width,
            capacity,
        }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    pub(super) fn is_full(&self) -> bool {
        self.numbers.len() == self.capacity * self.width
    }

    /// Adds a row; the caller empties the buffer when it is full.
    pub(super) fn push(&mut self, t: f64, row: &[f64]) {
        assert_eq!(row.len() + 1, self.width, "width of a recorded row");
        self.numbers.push(t);
        self.numbers.extend_from_slice(row);
    }

    /// Takes all rows out as one batch.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = self.len();
        let fields = self.schema.fields().iter();
        let mut columns: Vec<(usize, Vec<f64>)> = fields
            .map(|field| (width_of(field), Vec::with_capacity(rows * width_of(field))))
            .collect();
        let row_bytes = self.width * size_of::<f64>();
        let turned = self.width * (TURNED_BYTES / row_bytes).max(1);
        for block in self.numbers.chunks(turned) {
            let mut first = 0;
            for (width, column) in &mut columns {
                let rows = block.chunks_exact(self.width);
                match *width {
                    1 => column.extend(rows.map(|row| row[first])),
                    width => rows.for_each(|row| column.extend_from_slice(&row[first..][..width])),
                }
                first += *width;
            }
        }
        self.numbers.clear();
        let columns = columns.into_iter().zip(self.schema.fields());
        let arrays = columns.map(|((_, numbers), field)| array_of(numbers, field));
        RecordBatch::try_new(self.schema.clone(), arrays.collect::<Result<_, _>>()?)
    }
}

fn array_of(numbers: Vec<f64>, field: &Field) -> Result<ArrayRef, ArrowError> {
    let numbers = Arc::new(Float64Array::from(numbers));
    Ok(match field.data_type() {
        DataType::FixedSizeList(item, width) => {
            let list = FixedSizeListArray::try_new(item.clone(), *width, numbers, None)?;
            Arc::new(list)
        }
        _ => numbers,
    })
}
