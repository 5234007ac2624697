//! Reads a parquet file.

use std::fs::File;
use std::path::Path;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::error::ReadProblem;
use super::numbers::Numbers;
use super::table::Table;
use super::unwind::caught;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 1 << 15;

pub(super) fn read(path: &Path) -> Result<Table, ReadProblem> {
    let file = File::open(path)?;
    caught(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let mut numbers = Numbers::new(builder.schema())?;
        for batch in builder.with_batch_size(BATCH_ROWS).build()? {
            numbers.extend(&batch?)?;
        }
        numbers.into_table(true)
    })
}
