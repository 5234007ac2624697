//! Writing results: append-only while the simulation runs, one file at the end.
//!
//! While running, rows go to an Arrow stream beside the final file (`run.parquet.partial`). It is
//! readable up to the last flush, which is never more than half a second of computing ago.
//! [`ResultWriter::finish`] turns it into the final file, which appears complete or not at all.

mod convert;
mod error;
mod pages;
mod partial;
mod rows;
mod ticker;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oldham_cosim::{Column, Draft, Recorder};

use crate::schema::{Metadata, TIME, schema_of};
pub use error::{ConvertError, WriteError};
use partial::{AllRows, PartialStream};

/// Files grow by pieces of this size: the system's cache takes a large piece for a fraction of what it
/// takes many small ones for.
const WRITE_BYTES: usize = 256 << 10;

/// Form of the final file, told by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "parquet" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Records rows to disk; see the [module](self) for what is on disk when.
pub struct ResultWriter {
    path: PathBuf,
    format: Format,
    overwrite: bool,
    is_lasting: bool,
    partial: PartialStream,
}

impl ResultWriter {
    /// Whether results could be written to `path`, as far as that can be told without writing: for
    /// those who have long work to do before.
    pub fn check(path: &Path, overwrite: bool) -> Result<(), WriteError> {
        format_of(path)?;
        check_target(path, overwrite)?;
        partial::check_free(&with_suffix(path, ".partial"), overwrite)
    }

    /// Opens the stream beside `path`, whose extension (`.parquet` or `.csv`) chooses the format
    /// of the final file. A missing directory is created.
    ///
    /// Without `overwrite`, neither an existing file nor the stream of an interrupted run is
    /// touched. With it, the old file stays until the new one is complete.
    pub fn create(
        path: &Path,
        columns: &[Column],
        meta: &Metadata,
        overwrite: bool,
    ) -> Result<Self, WriteError> {
        let format = format_of(path)?;
        check_columns(columns)?;
        check_target(path, overwrite)?;
        create_directory_of(path)?;
        let schema = Arc::new(schema_of(columns, meta));
        Ok(Self {
            path: path.to_owned(),
            format,
            overwrite,
            is_lasting: true,
            partial: PartialStream::create(with_suffix(path, ".partial"), schema, overwrite)?,
        })
    }

    /// Whether [`finish`](Self::finish) waits until the file is on the disk, as it does by default. Without, a
    /// power cut soon after may leave it torn; that somebody ends the program does not.
    pub fn lasting(self, is_lasting: bool) -> Self {
        Self { is_lasting, ..self }
    }

    /// Where the rows are while the simulation runs.
    pub fn partial_path(&self) -> &Path {
        self.partial.path()
    }

    /// Writes pending rows if the last flush is long ago. [`Recorder::record`] does this by
    /// itself; call it where a run waits between rows.
    pub fn flush_if_due(&mut self) -> Result<(), WriteError> {
        self.partial.flush_if_due()
    }

    /// Makes the final file and removes the stream. If that fails, for want of disk space say,
    /// the stream stays and no final file appears.
    pub fn finish(self) -> Result<PathBuf, WriteError> {
        let Self {
            path,
            format,
            overwrite,
            is_lasting,
            partial: mut stream,
        } = self;
        let partial = stream.path().to_owned();
        let (rows, written) = stream.all_rows()?;
        let found = finish(rows, &path, format, written, [overwrite, is_lasting]);
        let found = match found {
            Ok(found) => found,
            Err(source) => {
                // It may have no room for what waits either.
                stream.complete()?;
                return Err(WriteError::Finish {
                    path,
                    partial,
                    source,
                });
            }
        };
        if found != written {
            return Err(WriteError::Changed {
                path,
                partial,
                found,
                written,
            });
        }
        stream.remove();
        Ok(path)
    }
}

/// Makes the final file if the stream still holds all rows; gives their number.
fn finish(
    rows: AllRows,
    path: &Path,
    format: Format,
    written: u64,
    [overwrite, is_lasting]: [bool; 2],
) -> Result<u64, ConvertError> {
    let mut draft = Draft::of(path)?;
    let found = convert::convert(rows, draft.file(), format, is_lasting)?;
    if found != written {
        return Ok(found);
    }
    if !overwrite && fs::symlink_metadata(path).is_ok() {
        let text = "somebody put a file there while the run went on";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text).into());
    }
    draft.publish()?;
    Ok(found)
}

impl Recorder for ResultWriter {
    fn record(&mut self, t: f64, row: &[f64]) -> io::Result<()> {
        Ok(self.partial.push(t, row)?)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn check_columns(columns: &[Column]) -> Result<(), WriteError> {
    let mut seen = HashSet::from([TIME]);
    for column in columns {
        let name = &column.name;
        if !seen.insert(name) {
            return Err(WriteError::DuplicateColumn { name: name.clone() });
        }
        if name
            .chars()
            .chain(column.unit.0.chars())
            .any(char::is_control)
        {
            return Err(WriteError::ControlCharacter { name: name.clone() });
        }
    }
    Ok(())
}

fn format_of(path: &Path) -> Result<Format, WriteError> {
    Format::of(path).ok_or_else(|| WriteError::UnknownFormat {
        path: path.to_owned(),
    })
}

fn check_target(path: &Path, overwrite: bool) -> Result<(), WriteError> {
    let path = path.to_owned();
    if path.is_dir() {
        return Err(WriteError::IsDirectory { path });
    }
    // A link counts as what it is: it would be replaced, not followed.
    let Ok(there) = fs::symlink_metadata(&path) else {
        return Ok(());
    };
    if !there.is_file() && !there.is_symlink() {
        return Err(WriteError::NotAFile { path });
    }
    if !overwrite {
        return Err(WriteError::Exists { path });
    }
    Ok(())
}

fn create_directory_of(path: &Path) -> Result<(), WriteError> {
    let Some(directory) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(directory).map_err(|source| WriteError::CreateDirectory {
        path: directory.to_owned(),
        source,
    })
}
