//! The append-only stream of a running simulation.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::error::WriteError;
use super::rows::Rows;
use super::ticker::Ticker;

/// An Arrow stream that is readable up to the last flush, whatever ends the run.
pub(super) struct PartialStream {
    path: PathBuf,
    rows: Rows,
    stream: StreamWriter<BufWriter<File>>,
    ticker: Ticker,
    /// A failed write may have left half a batch: anything after it would be unreadable.
    broken: bool,
}

impl PartialStream {
    pub(super) fn create(
        path: PathBuf,
        schema: SchemaRef,
        overwrite: bool,
    ) -> Result<Self, WriteError> {
        let file = open(&path, overwrite)?;
        let ticker = Ticker::start().map_err(|source| WriteError::Open {
            path: path.clone(),
            source,
        })?;
        let stream_error = |source| WriteError::Stream {
            partial: path.clone(),
            source,
        };
        let mut stream = StreamWriter::try_new_buffered(file, &schema).map_err(stream_error)?;
        // The header too is on disk from the start: a run killed at once leaves a readable file.
        stream.flush().map_err(stream_error)?;
        Ok(Self {
            path,
            rows: Rows::new(schema),
            stream,
            ticker,
            broken: false,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn push(&mut self, t: f64, row: &[f64]) -> Result<(), WriteError> {
        if self.broken {
            return Err(self.broken_error());
        }
        self.rows.push(t, row);
        if self.rows.is_full() {
            self.flush()
        } else {
            self.flush_if_due()
        }
    }

    pub(super) fn flush_if_due(&mut self) -> Result<(), WriteError> {
        if self.ticker.has_ticked() {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if self.broken {
            return Err(self.broken_error());
        }
        self.ticker.reset();
        if self.rows.is_empty() {
            return Ok(());
        }
        let written = write_rows(&mut self.rows, &mut self.stream);
        self.or_broken(written)
    }

    /// Writes what is left and the end marker, and closes the file.
    pub(super) fn close(mut self) -> Result<(), WriteError> {
        self.flush()?;
        // Writes the end marker and flushes.
        let finished = self.stream.finish();
        self.or_broken(finished)
    }

    fn or_broken(&mut self, result: Result<(), ArrowError>) -> Result<(), WriteError> {
        result.map_err(|source| {
            self.broken = true;
            WriteError::Stream {
                partial: self.path.clone(),
                source,
            }
        })
    }

    fn broken_error(&self) -> WriteError {
        WriteError::Broken {
            partial: self.path.clone(),
        }
    }
}

impl Drop for PartialStream {
    fn drop(&mut self) {
        // A run that ends by an error keeps its last rows. If this fails too, there is nobody
        // left to tell.
        if !self.broken {
            let _ = self.flush();
        }
    }
}

fn write_rows(
    rows: &mut Rows,
    stream: &mut StreamWriter<BufWriter<File>>,
) -> Result<(), ArrowError> {
    stream.write(&rows.take()?)?;
    stream.flush()
}

fn open(path: &Path, overwrite: bool) -> Result<File, WriteError> {
    let mut options = OpenOptions::new();
    options.write(true);
    if overwrite {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(path).map_err(|source| {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::AlreadyExists => WriteError::PartialExists { path },
            _ => WriteError::Open { path, source },
        }
    })
}
