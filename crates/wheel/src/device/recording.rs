//! What a device said at an earlier time, as `cat /dev/input/event5 > FILE` keeps it.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Device, refused};
use crate::{Axis, Event, RECORD, WheelError};

/// Longest recording that is read: days of driving.
const MOST_BYTES: u64 = 1 << 30;

/// Plays records at the times at which they were made, beginning with the first when it is first read.
pub struct Recording {
    name: String,
    bytes: Vec<u8>,
    /// How much of it was played.
    at: usize,
    begun: Option<Instant>,
}

impl Recording {
    /// Reads one from a file.
    pub fn open(path: &Path) -> Result<Self, WheelError> {
        let bytes = oldham_files::read(path, MOST_BYTES).map_err(|error| refused(path, &error))?;
        if bytes.is_empty() || bytes.len() % RECORD != 0 {
            return Err(WheelError::Damaged {
                path: path.into(),
                bytes: bytes.len(),
            });
        }
        Ok(Self::of(&path.display().to_string(), bytes))
    }

    /// One of these bytes.
    pub fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            bytes,
            at: 0,
            begun: None,
        }
    }

    /// How long after its beginning the next record was made; none at the end.
    fn next(&self) -> Option<Duration> {
        let mut left = Event::all(&self.bytes[self.at..]);
        let first = Event::all(&self.bytes).next()?;
        left.next()
            .map(|event| event.time.saturating_sub(first.time))
    }
}

impl Device for Recording {
    fn name(&self) -> &str {
        &self.name
    }

    fn axes(&self) -> io::Result<Vec<Axis>> {
        Ok(Vec::new())
    }

    fn read(&mut self, bytes: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let over = || io::Error::new(io::ErrorKind::UnexpectedEof, "the recording is over");
        let due = self.next().ok_or_else(over)?;
        let wait = due.saturating_sub(begun.elapsed());
        if wait > timeout {
            std::thread::sleep(timeout);
            return Ok(0);
        }
        std::thread::sleep(wait);
        let mut count = 0;
        while count + RECORD <= bytes.len() && self.next().is_some_and(|due| due <= begun.elapsed())
        {
            let record = &self.bytes[self.at..self.at + RECORD];
            bytes[count..count + RECORD].copy_from_slice(record);
            self.at += RECORD;
            count += RECORD;
        }
        Ok(count)
    }

    fn can_return(&self) -> bool {
        false
    }
}
