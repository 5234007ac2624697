//! Reads a parquet file.

use std::path::Path;

use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;

use super::error::ReadProblem;
use super::numbers::Numbers;
use super::table::Table;
use super::unwind::caught;
use crate::schema::{TIME, column_count, columns_of, width_of};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 1 << 15;

/// What any table may take in memory, however small its file, in bytes.
const FREE_BYTES: u64 = 256 << 20;

/// How many times the file's size a table may take beyond that. Results of other tools are
/// compressed; none that is worth drawing shrinks to less than a hundredth.
const MOST_EXPANSION: u64 = 100;

/// Reads the columns that are wanted, and the time; others that are stored with one of them come along.
pub(super) fn read(path: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Table, ReadProblem> {
    let file = oldham_files::open(path)?;
    let most_bytes =
        FREE_BYTES.saturating_add(MOST_EXPANSION.saturating_mul(file.metadata()?.len()));
    caught(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let rows = check_size(
            builder.metadata(),
            column_count(builder.schema()),
            most_bytes,
        )?;
        // All are looked at, so that a damaged file is found whatever is wanted of it.
        Numbers::new(builder.schema())?;
        let wanted = wanted_fields(builder.schema(), is_wanted);
        let mut numbers = Numbers::new(&builder.schema().project(&wanted)?)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
        let builder = builder.with_projection(mask);
        let mut found = 0;
        for batch in builder.with_batch_size(BATCH_ROWS).build()? {
            let batch = batch?;
            found += batch.num_rows() as u64;
            // What is read may be more than what was announced.
            if found > rows {
                return Err(ReadProblem::Damaged);
            }
            numbers.extend(&batch)?;
        }
        numbers.into_table(true)
    })
}

/// The fields that hold a wanted column, and the time.
fn wanted_fields(schema: &Schema, is_wanted: &dyn Fn(&str) -> bool) -> Vec<usize> {
    let columns = columns_of(schema);
    let mut rest = &columns[..];
    let holds = |(place, width): (usize, usize)| {
        let (own, others) = rest.split_at(width);
        rest = others;
        let is_time = own.iter().any(|column| column.name == TIME);
        (is_time || own.iter().any(|column| is_wanted(&column.name))).then_some(place)
    };
    let widths = schema.fields().iter().map(|field| width_of(field));
    widths.enumerate().filter_map(holds).collect()
}

/// The rows that a file announces, if they fit into what it may take in memory.
fn check_size(
    metadata: &ParquetMetaData,
    columns: usize,
    most_bytes: u64,
) -> Result<u64, ReadProblem> {
    let mut rows: u64 = 0;
    let mut encoded: u64 = 0;
    for group in metadata.row_groups() {
        let announced = u64::try_from(group.num_rows()).map_err(|_| ReadProblem::Damaged)?;
        rows = rows.saturating_add(announced);
        for column in group.columns() {
            let size =
                u64::try_from(column.uncompressed_size()).map_err(|_| ReadProblem::Damaged)?;
            encoded = encoded.saturating_add(size);
        }
    }
    let width = (columns.max(1) * size_of::<f64>()) as u64;
    let bytes = rows.saturating_mul(width).max(encoded);
    if bytes > most_bytes {
        return Err(ReadProblem::TooLarge { rows, bytes });
    }
    Ok(rows)
}
