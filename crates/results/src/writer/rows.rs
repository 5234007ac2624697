//! Rows on their way to the disk, kept column by column.

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

/// Rows not yet written; space for a whole batch is there from the start.
pub(super) struct Rows {
    schema: SchemaRef,
    fields: Vec<Values>,
    /// Numbers of a row.
    width: usize,
    capacity: usize,
}

/// The values of a field, a row after the other.
struct Values {
    width: usize,
    numbers: Vec<f64>,
}

impl Rows {
    pub(super) fn new(schema: SchemaRef) -> Self {
        let width = column_count(&schema);
        let capacity = (BATCH_BYTES / (width * size_of::<f64>())).clamp(FEWEST_ROWS, MOST_ROWS);
        let values = |width: usize| Values {
            width,
            numbers: Vec::with_capacity(width * capacity),
        };
        let fields = schema.fields().iter();
        Self {
            fields: fields.map(|field| values(width_of(field))).collect(),
            schema,
            width,
            capacity,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        // Time is a single number.
        self.fields[0].numbers.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Adds a row; the caller empties the buffer when it is full.
    pub(super) fn push(&mut self, t: f64, row: &[f64]) {
        assert_eq!(row.len() + 1, self.width, "width of a recorded row");
        self.fields[0].numbers.push(t);
        let mut rest = row;
        for field in &mut self.fields[1..] {
            match field.width {
                1 => field.numbers.push(rest[0]),
                width => field.numbers.extend_from_slice(&rest[..width]),
            }
            rest = &rest[field.width..];
        }
    }

    /// Takes all rows out as one batch.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let arrays = self
            .fields
            .iter_mut()
            .zip(self.schema.fields())
            .map(|(values, field)| {
                let room = Vec::with_capacity(values.width * self.capacity);
                array_of(std::mem::replace(&mut values.numbers, room), field)
            });
        let arrays = arrays.collect::<Result<_, _>>()?;
        RecordBatch::try_new(self.schema.clone(), arrays)
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
