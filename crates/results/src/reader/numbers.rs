//! Record batches to plain columns of numbers.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, FixedSizeListArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use oldham_cosim::Column;

use super::error::ReadProblem;
use super::table::{Table, check_names};
use crate::schema::{column_count, columns_of, metadata_of, width_of};

/// More numbers in a row than any model records: names for them are made before any row is read.
const MOST_COLUMNS: usize = 1 << 20;

/// Columns that grow batch by batch.
pub(super) struct Numbers {
    columns: Vec<Column>,
    schema: Schema,
    data: Vec<Vec<f64>>,
}

impl Numbers {
    /// Refuses a schema that is no result.
    pub(super) fn new(schema: &Schema) -> Result<Self, ReadProblem> {
        if column_count(schema) > MOST_COLUMNS {
            return Err(ReadProblem::Damaged);
        }
        let columns = columns_of(schema);
        check_names(&columns)?;
        for field in schema.fields() {
            check_numeric(field)?;
        }
        Ok(Self {
            data: vec![Vec::new(); columns.len()],
            columns,
            schema: schema.clone(),
        })
    }

    /// Adds the rows of a batch with this schema.
    pub(super) fn extend(&mut self, batch: &RecordBatch) -> Result<(), ReadProblem> {
        if batch.num_columns() != self.schema.fields().len() {
            return Err(ReadProblem::Damaged);
        }
        let mut rest = &mut self.data[..];
        for (array, field) in batch.columns().iter().zip(self.schema.fields()) {
            let (data, others) = rest.split_at_mut(width_of(field));
            rest = others;
            match array.as_fixed_size_list_opt() {
                None => extend(&mut data[0], array, field)?,
                Some(lists) => extend_lists(data, lists, field)?,
            }
        }
        Ok(())
    }

    pub(super) fn into_table(self, complete: bool) -> Result<Table, ReadProblem> {
        let metadata = metadata_of(&self.schema);
        Table::new(self.columns, self.data, metadata, complete)
    }
}

fn check_numeric(field: &Field) -> Result<(), ReadProblem> {
    match field.data_type() {
        number if is_number(number) => Ok(()),
        DataType::FixedSizeList(item, _) if is_number(item.data_type()) => Ok(()),
        _ => Err(not_numeric(field)),
    }
}

fn is_number(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float64 | DataType::Float32) || data_type.is_integer()
}

/// A column for each place in the lists.
fn extend_lists(
    out: &mut [Vec<f64>],
    lists: &FixedSizeListArray,
    field: &Field,
) -> Result<(), ReadProblem> {
    let mut numbers = Vec::new();
    extend(&mut numbers, lists.values(), field)?;
    let is_whole = lists.null_count() == 0 && numbers.len() == lists.len() * out.len();
    if !is_whole {
        return Err(ReadProblem::Damaged);
    }
    for row in numbers.chunks_exact(out.len().max(1)) {
        for (column, number) in out.iter_mut().zip(row) {
            column.push(*number);
        }
    }
    Ok(())
}

fn not_numeric(field: &Field) -> ReadProblem {
    ReadProblem::NotNumeric {
        name: field.name().clone(),
        data_type: field.data_type().clone(),
    }
}

fn extend(out: &mut Vec<f64>, array: &dyn Array, field: &Field) -> Result<(), ReadProblem> {
    match array.data_type() {
        DataType::Float64 => append::<Float64Type>(out, array, |value| value),
        DataType::Float32 => append::<Float32Type>(out, array, f64::from),
        DataType::Int8 => append::<Int8Type>(out, array, f64::from),
        DataType::Int16 => append::<Int16Type>(out, array, f64::from),
        DataType::Int32 => append::<Int32Type>(out, array, f64::from),
        DataType::Int64 => append::<Int64Type>(out, array, |value| value as f64),
        DataType::UInt8 => append::<UInt8Type>(out, array, f64::from),
        DataType::UInt16 => append::<UInt16Type>(out, array, f64::from),
        DataType::UInt32 => append::<UInt32Type>(out, array, f64::from),
        DataType::UInt64 => append::<UInt64Type>(out, array, |value| value as f64),
        _ => return Err(not_numeric(field)),
    }
    Ok(())
}

/// A missing value is NaN.
fn append<T: ArrowPrimitiveType>(
    out: &mut Vec<f64>,
    array: &dyn Array,
    widen: impl Fn(T::Native) -> f64,
) {
    let array = array.as_primitive::<T>();
    if array.null_count() == 0 {
        out.extend(array.values().iter().map(|&value| widen(value)));
    } else {
        out.extend(array.iter().map(|value| value.map_or(f64::NAN, &widen)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float32Array, Float64Array, Int32Array, StringArray, UInt64Array};

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn table_of(batch: &RecordBatch) -> Result<Table, ReadProblem> {
        let mut numbers = Numbers::new(&batch.schema())?;
        numbers.extend(batch)?;
        numbers.into_table(true)
    }

    #[test]
    fn all_numbers_become_floats_and_missing_ones_not_a_number() {
        let batch = batch(vec![
            ("count", Arc::new(Int32Array::from(vec![-3, 4]))),
            ("large", Arc::new(UInt64Array::from(vec![1, 1 << 40]))),
            ("gaps", Arc::new(Float64Array::from(vec![None, Some(0.5)]))),
            ("time", Arc::new(Float32Array::from(vec![0.0, 0.25]))),
        ]);
        let table = table_of(&batch).unwrap();
        assert_eq!(table.time(), [0.0, 0.25]);
        assert_eq!(table.column("count").unwrap(), [-3.0, 4.0]);
        assert_eq!(table.column("large").unwrap(), [1.0, 1_099_511_627_776.0]);
        let gaps = table.column("gaps").unwrap();
        assert!(gaps[0].is_nan() && gaps[1] == 0.5);
    }

    #[test]
    fn text_is_refused_by_name() {
        let batch = batch(vec![
            ("time", Arc::new(Float64Array::from(vec![0.0]))),
            ("note", Arc::new(StringArray::from(vec!["start"]))),
        ]);
        let message = table_of(&batch).unwrap_err().to_string();
        assert!(message.contains("`note`"), "{message}");
    }

    #[test]
    fn a_table_without_time_is_no_result() {
        let batch = batch(vec![("x", Arc::new(Float64Array::from(vec![0.0])))]);
        assert!(matches!(table_of(&batch), Err(ReadProblem::NoTime)));
    }
}
