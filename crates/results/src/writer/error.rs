//! What can go wrong while results are written, and what to do then.

use std::io;
use std::path::PathBuf;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

/// Results could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The extension names no known format.
    #[error("{path}: results are written as `.parquet` or `.csv`; give --out one of these endings")]
    UnknownFormat {
        /// The path asked for.
        path: PathBuf,
    },
    /// The file is there already.
    #[error("{path} already exists; use --force to replace it, or choose another --out")]
    Exists {
        /// The existing file.
        path: PathBuf,
    },
    /// An interrupted run left its results there.
    #[error(
        "{path} holds the results of an interrupted run; use --force to discard them, \
         or choose another --out"
    )]
    PartialExists {
        /// The existing stream.
        path: PathBuf,
    },
    /// Another run writes there now.
    #[error("another run is writing {path} now; wait for it, or choose another --out")]
    InUse {
        /// Its stream.
        path: PathBuf,
    },
    /// Something that is no file of ours has the name.
    #[error("{path} is a link, a pipe or a device, not a file; remove it, or choose another --out")]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// Somebody else wrote into the stream.
    #[error(
        "{partial} was changed by another program while the run wrote to it: {found} of {written} \
         rows can be read there; {path} was not written"
    )]
    Changed {
        /// The file that was not written.
        path: PathBuf,
        /// The stream that stays.
        partial: PathBuf,
        /// Rows that are left.
        found: u64,
        /// Rows that were written.
        written: u64,
    },
    /// The path names a directory.
    #[error("{path} is a directory; choose a file name with --out")]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The directory of the file could not be made.
    #[error("cannot create the directory {path}: {source}; choose another --out")]
    CreateDirectory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The stream could not be opened.
    #[error("cannot write {path}: {source}; choose another --out")]
    Open {
        /// The stream.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Two columns share a name.
    #[error("two columns are called `{name}`; the first column of a result is always `time`")]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// A column's name or unit cannot stand in a header line.
    #[error("the name or unit of column {name:?} contains a control character")]
    ControlCharacter {
        /// The name.
        name: String,
    },
    /// The stream does not take more data.
    #[error(
        "cannot write results to {partial}: {source}; \
         what was written before stays readable there"
    )]
    Stream {
        /// The stream.
        partial: PathBuf,
        /// Why not.
        source: ArrowError,
    },
    /// An earlier write failed, so the stream ends there.
    #[error("results end where writing to {partial} failed ({cause}); they stay readable there")]
    Broken {
        /// The stream.
        partial: PathBuf,
        /// Why writing failed.
        cause: String,
    },
    /// The finished stream could not be turned into the final file.
    #[error("cannot write {path}: {source}; {}", left(source, partial))]
    Finish {
        /// The file that was not written.
        path: PathBuf,
        /// The stream that stays.
        partial: PathBuf,
        /// Why not.
        source: ConvertError,
    },
}

/// What there is of the results.
fn left(source: &ConvertError, partial: &std::path::Path) -> String {
    let partial = partial.display();
    match source {
        ConvertError::Stream(_) => {
            format!("{partial} was changed by somebody else while the run wrote to it")
        }
        _ => format!("all results stay readable in {partial}"),
    }
}

/// The final file could not be made from the stream.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The stream could not be read back.
    #[error(transparent)]
    Stream(#[from] ArrowError),
    /// The parquet writer refused.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        let kind = match &error {
            WriteError::Stream {
                source: ArrowError::IoError(_, source),
                ..
            } => source.kind(),
            WriteError::Open { source, .. } => source.kind(),
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
