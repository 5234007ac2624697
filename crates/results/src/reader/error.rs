//! What can be wrong with a result file.

use std::io;
use std::path::PathBuf;

use arrow_schema::{ArrowError, DataType};
use parquet::errors::ParquetError;

/// A result file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: ReadProblem,
}

/// What is wrong with a result file.
#[derive(Debug, thiserror::Error)]
pub enum ReadProblem {
    /// The extension names no known format.
    #[error("results are read from `.parquet`, `.csv` and `.partial` files")]
    UnknownFormat,
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Not a parquet file, or a damaged one.
    #[error("not a readable parquet file: {0}")]
    Parquet(#[from] ParquetError),
    /// Not an Arrow stream, or damaged.
    #[error("not a readable result stream: {0}")]
    Arrow(#[from] ArrowError),
    /// The decoder gave up in a way it was not made for.
    #[error("the file is damaged: its contents contradict each other")]
    Damaged,
    /// The file announces far more than its size can hold.
    #[error(
        "{rows} rows ({:.1} GB) are announced, far more than a file of this size can hold; \
         is it a result?", *bytes as f64 * 1e-9
    )]
    TooLarge {
        /// Rows announced.
        rows: u64,
        /// What they would take in memory.
        bytes: u64,
    },
    /// A time that is no time.
    #[error("row {row}: the time is {value}; times must be finite numbers")]
    NoFiniteTime {
        /// Counted from one.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// The run was ended before it wrote its header.
    #[error("the stream ends before its header; it holds no results")]
    NoHeader,
    /// No column has this name.
    #[error("there is no column `time`; is this a result file?")]
    NoTime,
    /// Two columns share a name.
    #[error("two columns are called `{name}`")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// A column holds something other than numbers.
    #[error("column `{name}` holds {data_type} values; only numbers can be read")]
    NotNumeric {
        /// The column.
        name: String,
        /// What it holds.
        data_type: DataType,
    },
    /// A CSV file that is no text.
    #[error("line {line}: not UTF-8 text")]
    NotText {
        /// Counted from one.
        line: usize,
    },
    /// A CSV row of the wrong length.
    #[error("line {line}: {found} cells, where the header has {expected}")]
    RaggedRow {
        /// Counted from one.
        line: usize,
        /// Cells in the header.
        expected: usize,
        /// Cells in this row.
        found: usize,
    },
    /// A CSV cell that is not a number.
    #[error("line {line}, column `{column}`: `{text}` is not a number")]
    NotANumber {
        /// Counted from one.
        line: usize,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
}
