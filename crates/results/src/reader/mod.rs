//! Reading results back: finished files, and what an interrupted run left.
//!
//! Whatever is in the file, reading ends with a [`Table`] or a [`ReadError`], in memory that is
//! bounded by a multiple of the file's size.

mod csv;
mod error;
mod numbers;
mod parquet;
mod stream;
mod table;
mod unwind;

use std::path::Path;

use crate::writer::Format;
pub use error::{ReadError, ReadProblem};
pub use table::Table;
pub use unwind::is_decoding;

/// Reads a `.parquet`, `.csv` or `.partial` file.
pub fn read(path: &Path) -> Result<Table, ReadError> {
    read_some(path, &|_| true)
}

/// The same, with the columns that are wanted at least: of a Parquet file only these are decoded.
pub fn read_some(path: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Table, ReadError> {
    let is_partial = path.extension().is_some_and(|end| end == "partial");
    let table = match Format::of(path) {
        _ if is_partial => stream::read(path),
        Some(Format::Parquet) => parquet::read(path, is_wanted),
        Some(Format::Csv) => csv::read(path),
        None => Err(ReadProblem::UnknownFormat),
    };
    table.map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })
}
