//! From the finished stream to the final file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::Format;
use super::error::ConvertError;
use crate::csv::write_header;
use crate::schema::columns_of;

/// A row group is built in memory: this bounds it, however many columns there are.
const ROW_GROUP_BYTES: usize = 16 << 20;

/// Large enough that a stream's batch is read in one go.
const READ_BYTES: usize = 1 << 20;

/// Writes the stream `partial` to `path` in the given format, and waits until it is on the disk.
pub(super) fn convert(partial: &Path, path: &Path, format: Format) -> Result<(), ConvertError> {
    let source = BufReader::with_capacity(READ_BYTES, File::open(partial)?);
    let batches = StreamReader::try_new(source, None)?;
    let target = File::create(path)?;
    let file = match format {
        Format::Parquet => write_parquet(batches, target)?,
        Format::Csv => write_csv(batches, target)?,
    };
    // Before the rename that follows: or a power cut could leave the name without the data.
    file.sync_data()?;
    Ok(())
}

fn write_parquet(batches: impl RecordBatchReader, file: File) -> Result<File, ConvertError> {
    let schema = batches.schema();
    let options = ArrowWriterOptions::new().with_properties(parquet_properties(&schema));
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options)?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.into_inner()?)
}

/// The digits of a simulation hardly compress, and results are read whole: plain values, without
/// dictionary and statistics, make writing almost as cheap as copying.
fn parquet_properties(schema: &Schema) -> WriterProperties {
    let pairs = schema
        .metadata()
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    let row_bytes = schema.fields().len() * size_of::<f64>();
    WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_encoding(Encoding::PLAIN)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some((ROW_GROUP_BYTES / row_bytes).max(1)))
        .set_key_value_metadata(Some(pairs))
        .build()
}

fn write_csv(batches: impl RecordBatchReader, file: File) -> Result<File, ConvertError> {
    let mut out = BufWriter::with_capacity(READ_BYTES, file);
    write_header(&mut out, &columns_of(&batches.schema()))?;
    for batch in batches {
        write_csv_rows(&mut out, &batch?)?;
    }
    out.into_inner().map_err(|error| error.into_error().into())
}

fn write_csv_rows(out: &mut impl Write, batch: &RecordBatch) -> Result<(), ConvertError> {
    let columns: Vec<&[f64]> = batch
        .columns()
        .iter()
        .map(|column| column.as_primitive::<Float64Type>().values().as_ref())
        .collect();
    for row in 0..batch.num_rows() {
        for (index, column) in columns.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            // The debug form is the shortest that reads back to the same bits, with an exponent
            // where plain digits would run long.
            write!(out, "{separator}{:?}", column[row])?;
        }
        writeln!(out)?;
    }
    Ok(())
}
