//! The append-only stream of a running simulation.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::WRITE_BYTES;
use super::error::WriteError;
use super::rows::Rows;
use super::ticker::Ticker;

/// Batches that wait in memory are written at the latest when they have so many bytes.
const MOST_WAITING: usize = 16 << 20;

/// An Arrow stream that is readable up to the last flush, whatever ends the run. It is locked as
/// long as it is written, so that a second run finds that it is in use.
pub(super) struct PartialStream {
    path: PathBuf,
    rows: Rows,
    /// Batches that are not written yet. A run that ends before they are due needs no stream.
    waiting: Vec<RecordBatch>,
    waiting_bytes: usize,
    stream: StreamWriter<BufWriter<File>>,
    ticker: Ticker,
    /// Rows in the file, and all that were taken.
    written: u64,
    taken: u64,
    /// Whether its end is marked.
    is_complete: bool,
    /// A failed write may have left half a batch: anything after it would be unreadable.
    broken: Option<String>,
}

impl PartialStream {
    pub(super) fn create(
        path: PathBuf,
        schema: SchemaRef,
        overwrite: bool,
    ) -> Result<Self, WriteError> {
        let not_opened = |source| WriteError::Open {
            path: path.clone(),
            source,
        };
        let ticker = Ticker::start();
        make_room(&path, overwrite)?;
        let file = open(&path)?;
        // The header too is on disk from the start: a run killed at once leaves a readable file.
        let file = BufWriter::with_capacity(WRITE_BYTES, file);
        let stream = StreamWriter::try_new(file, &schema).and_then(|mut stream| {
            stream.flush()?;
            Ok(stream)
        });
        let stream = stream.map_err(|error| {
            // Nothing was started, so nothing is left behind that the next run would stumble over.
            let _ = fs::remove_file(&path);
            not_opened(io_error(error))
        })?;
        Ok(Self {
            path,
            rows: Rows::new(schema),
            waiting: Vec::new(),
            waiting_bytes: 0,
            stream,
            ticker,
            written: 0,
            taken: 0,
            is_complete: false,
            broken: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn push(&mut self, t: f64, row: &[f64]) -> Result<(), WriteError> {
        self.check_whole()?;
        self.rows.push(t, row);
        if self.rows.is_full() {
            self.gather()?;
        }
        self.flush_if_due()
    }

    pub(super) fn flush_if_due(&mut self) -> Result<(), WriteError> {
        if self.ticker.has_ticked() || self.waiting_bytes > MOST_WAITING {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// The rows become a batch that waits.
    fn gather(&mut self) -> Result<(), WriteError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.taken += self.rows.len() as u64;
        let batch = self.rows.take();
        let batch = self.or_broken(batch)?;
        self.waiting_bytes += batch.get_array_memory_size();
        self.waiting.push(batch);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.check_whole()?;
        self.ticker.reset();
        self.gather()?;
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.waiting_bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let mut batches = waiting.iter();
        let written = batches.try_for_each(|batch| self.stream.write(batch));
        let written = written.and_then(|()| self.stream.flush());
        self.or_broken(written)?;
        self.written = self.taken;
        Ok(())
    }

    /// All rows, from wherever they are, and their number. Until the final file is complete the stream
    /// stays.
    pub(super) fn all_rows(&mut self) -> Result<(AllRows, u64), WriteError> {
        self.check_whole()?;
        self.gather()?;
        if self.written == 0 {
            let schema = self.rows.schema().clone();
            let waiting = AllRows::Waiting(schema, self.waiting.clone());
            return Ok((waiting, self.taken));
        }
        self.complete()?;
        // Read from the very file that was written, whatever its name stands for by now.
        let file = self.stream.get_ref().get_ref().try_clone();
        let file = file.and_then(|mut file| {
            file.rewind()?;
            Ok(file)
        });
        let file = self.or_broken(file.map_err(ArrowError::from))?;
        Ok((AllRows::Written(file), self.taken))
    }

    /// Writes what waits and the end marker: no rows are to come.
    pub(super) fn complete(&mut self) -> Result<(), WriteError> {
        if self.is_complete {
            return Ok(());
        }
        self.flush()?;
        // Flushes, too.
        let finished = self.stream.finish();
        self.is_complete = true;
        self.or_broken(finished)
    }

    /// The final file is complete: the stream has done its duty.
    pub(super) fn remove(mut self) {
        self.waiting.clear();
        // A stream that cannot be removed costs space, not results.
        let _ = fs::remove_file(&self.path);
    }

    fn or_broken<T>(&mut self, result: Result<T, ArrowError>) -> Result<T, WriteError> {
        result.map_err(|source| {
            self.broken = Some(source.to_string());
            WriteError::Stream {
                partial: self.path.clone(),
                source,
            }
        })
    }

    fn check_whole(&self) -> Result<(), WriteError> {
        match &self.broken {
            None => Ok(()),
            Some(cause) => Err(WriteError::Broken {
                partial: self.path.clone(),
                cause: cause.clone(),
            }),
        }
    }
}

impl Drop for PartialStream {
    fn drop(&mut self) {
        // A run that ends by an error keeps its last rows. If this fails too, there is nobody
        // left to tell.
        if self.broken.is_none() {
            let _ = self.flush();
        }
    }
}

/// The rows of a run that is done.
pub(super) enum AllRows {
    /// In memory.
    Waiting(SchemaRef, Vec<RecordBatch>),
    /// In the stream, from its start, which is still locked.
    Written(File),
}

/// Whether a run may write its stream here. An empty stream holds nothing that could be lost.
pub(super) fn check_free(path: &Path, overwrite: bool) -> Result<(), WriteError> {
    old_stream(path, overwrite).map(drop)
}

/// Removes a stream that nobody writes any more.
fn make_room(path: &Path, overwrite: bool) -> Result<(), WriteError> {
    let Some(old) = old_stream(path, overwrite)? else {
        return Ok(());
    };
    let failed = |source| WriteError::Open {
        path: path.to_owned(),
        source,
    };
    // Another run may have put its own stream there since the old one was opened.
    if !is_at(&old, path) {
        return Err(WriteError::InUse {
            path: path.to_owned(),
        });
    }
    fs::remove_file(path).map_err(failed)
}

/// The stream that is there, locked, if it may be replaced.
fn old_stream(path: &Path, overwrite: bool) -> Result<Option<File>, WriteError> {
    let Ok(there) = fs::symlink_metadata(path) else {
        return Ok(None);
    };
    let path = path.to_owned();
    // A pipe would not even open.
    if !there.is_file() {
        return Err(WriteError::NotAFile { path });
    }
    let opened = OpenOptions::new().read(true).write(true).open(&path);
    let old = match opened {
        Ok(file) => file,
        Err(source) => return Err(WriteError::Open { path, source }),
    };
    if is_locked(&old) {
        return Err(WriteError::InUse { path });
    }
    if !overwrite && there.len() > 0 {
        return Err(WriteError::PartialExists { path });
    }
    Ok(Some(old))
}

/// Locks a file, unless another has locked it. Where the file system knows no locks there are none.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let key = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let here = file.metadata().map(key).ok();
    here == fs::symlink_metadata(path).map(key).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn open(path: &Path) -> Result<File, WriteError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    let path = path.to_owned();
    match options.open(&path) {
        Ok(file) if is_locked(&file) => Err(WriteError::InUse { path }),
        Ok(file) => Ok(file),
        Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {
            Err(WriteError::InUse { path })
        }
        Err(source) => Err(WriteError::Open { path, source }),
    }
}

fn io_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, source) => source,
        other => io::Error::other(other),
    }
}
