//! From all rows to the final file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, Schema};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::error::ConvertError;
use super::pages::{Chunk, PAGE_BYTES};
use super::partial::AllRows;
use super::{Format, WRITE_BYTES};
use crate::csv::write_header;
use crate::schema::{column_count, columns_of, width_of};

/// A row group is built in memory: this bounds it, however many columns there are.
const ROW_GROUP_BYTES: usize = 1 << 20;

/// The same where there are lists, whose rows are long: a group has a piece of every column.
const LIST_GROUP_BYTES: usize = 16 << 20;

/// Holds the header of a batch; its columns, which are larger, are read past the buffer.
const READ_BYTES: usize = 8 << 10;

/// Writes all rows to `target` in the given format, and waits until they are on the disk if that is asked
/// for. Gives the number of rows.
pub(super) fn convert(
    rows: AllRows,
    target: &mut File,
    format: Format,
    is_lasting: bool,
) -> Result<u64, ConvertError> {
    let rows = match rows {
        AllRows::Waiting(schema, batches) => {
            let batches = batches.into_iter().map(Ok);
            write(RecordBatchIterator::new(batches, schema), target, format)?
        }
        AllRows::Written(stream) => {
            let source = BufReader::with_capacity(READ_BYTES, stream);
            write(StreamReader::try_new(source, None)?, target, format)?
        }
    };
    // Before the rename that follows: or a power cut could leave the name without the data.
    if is_lasting {
        target.sync_data()?;
    }
    Ok(rows)
}

fn write(
    batches: impl RecordBatchReader,
    target: &mut File,
    format: Format,
) -> Result<u64, ConvertError> {
    match format {
        Format::Parquet => write_parquet(batches, target),
        Format::Csv => write_csv(batches, target),
    }
}

fn write_parquet(batches: impl RecordBatchReader, file: &mut File) -> Result<u64, ConvertError> {
    let schema = batches.schema();
    let layout = ArrowSchemaConverter::new().convert(&schema)?;
    let properties = Arc::new(parquet_properties(&schema));
    let mut file = BufWriter::with_capacity(WRITE_BYTES, file);
    let mut writer = SerializedFileWriter::new(&mut file, layout.root_schema_ptr(), properties)?;
    let most_rows = rows_of_group(&schema);
    let mut chunks: Vec<Chunk> = schema
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::FixedSizeList(..) => Chunk::of_lists(width_of(field)),
            _ => Chunk::of_numbers(),
        })
        .collect();
    let (mut total, mut pending) = (0, 0);
    for batch in batches {
        let batch = batch?;
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = (batch.num_rows() - start).min(most_rows - pending);
            let part = batch.slice(start, rows);
            for (chunk, column) in chunks.iter_mut().zip(part.columns()) {
                chunk.extend(&little_endian(numbers_of(column)));
            }
            start += rows;
            pending += rows;
            if pending == most_rows {
                write_group(&mut writer, &mut chunks)?;
                pending = 0;
            }
        }
        total += batch.num_rows() as u64;
    }
    if pending > 0 {
        write_group(&mut writer, &mut chunks)?;
    }
    writer.close()?;
    file.flush()?;
    Ok(total)
}

fn rows_of_group(schema: &Schema) -> usize {
    let row_bytes = column_count(schema) * size_of::<f64>();
    if column_count(schema) > schema.fields().len() {
        return (LIST_GROUP_BYTES / row_bytes).max(1);
    }
    // Whole pages: so the next group starts with a fresh one.
    let page_rows = PAGE_BYTES / size_of::<f64>();
    (ROW_GROUP_BYTES / row_bytes / page_rows).max(1) * page_rows
}

/// All numbers of a field, those of a list one after the other.
fn numbers_of(field: &dyn Array) -> &Float64Array {
    let list = field.as_fixed_size_list_opt();
    let numbers = list.map_or(field, |list| list.values().as_ref());
    numbers.as_primitive::<Float64Type>()
}

/// The bytes of a column as they stand in a file.
fn little_endian(column: &Float64Array) -> Cow<'_, [u8]> {
    let values = column.values();
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(values.inner().as_slice()),
        false => values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    }
}

fn write_group(
    writer: &mut SerializedFileWriter<impl Write + Send>,
    chunks: &mut [Chunk],
) -> Result<(), ParquetError> {
    let columns = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group()?;
    for (chunk, column) in chunks.iter_mut().zip(columns) {
        let (bytes, close) = chunk.take(column)?;
        group.append_column(&bytes::Bytes::from(bytes), close)?;
    }
    group.close()?;
    Ok(())
}

/// What the file says about itself: our pairs, and the units, which only Arrow's schema can say.
fn parquet_properties(schema: &Schema) -> WriterProperties {
    let pairs = schema
        .metadata()
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    let mut properties = WriterProperties::builder()
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(pairs))
        .build();
    add_encoded_arrow_schema_to_metadata(schema, &mut properties);
    properties
}

fn write_csv(batches: impl RecordBatchReader, file: &mut File) -> Result<u64, ConvertError> {
    let mut out = BufWriter::with_capacity(WRITE_BYTES, file);
    write_header(&mut out, &columns_of(&batches.schema()))?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        write_csv_rows(&mut out, &batch)?;
        rows += batch.num_rows() as u64;
    }
    out.flush()?;
    Ok(rows)
}

fn write_csv_rows(out: &mut impl Write, batch: &RecordBatch) -> Result<(), ConvertError> {
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    let fields: Vec<(usize, &[f64])> = fields
        .map(|(field, column)| (width_of(field), numbers_of(column).values().as_ref()))
        .collect();
    for row in 0..batch.num_rows() {
        for (index, (width, numbers)) in fields.iter().enumerate() {
            for (place, number) in numbers[row * width..][..*width].iter().enumerate() {
                let separator = if index + place == 0 { "" } else { "," };
                // The debug form is the shortest that reads back to the same bits, with an exponent
                // where plain digits would run long.
                write!(out, "{separator}{number:?}")?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
