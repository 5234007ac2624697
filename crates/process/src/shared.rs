//! Frames over shared memory: what is sent lies there when the bell rings, and so does the answer.
//!
//! Both sides write to the same cells, in turn: the first one holds the number of bytes, those follow. A program gets the memory
//! as its standard input.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use oldham_shm::{End, Link, Memory};

/// Cells: what has more bytes cannot be sent.
const CELLS: usize = 1 << 17;
/// Where bytes begin.
const BYTES: usize = 8;
/// How often the other side is looked for before this one sleeps, where there is a core for each.
const SPINS: u32 = 2000;
/// How long it sleeps before the program is looked after.
const TICK: Duration = Duration::from_millis(20);

/// Programs that are reached so.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// This end of a memory.
pub(crate) struct Shared {
    link: Link,
    /// Bytes of the answer, and those that were read.
    length: usize,
    taken: usize,
    is_late: bool,
}

impl Shared {
    /// New memory, and what the program maps.
    pub fn new() -> Result<(Self, OwnedFd)> {
        let (memory, file) = Memory::new(CELLS)?;
        COUNT.fetch_add(1, Ordering::Relaxed);
        let shared = Self {
            link: Link::new(Arc::new(memory), End::Host),
            length: 0,
            taken: 0,
            is_late: false,
        };
        Ok((shared, file))
    }

    /// Puts bytes there and rings.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let cells = self.link.cells();
        if bytes.len() > (cells.len() - BYTES) * 8 {
            let most = (cells.len() - BYTES) * 8;
            let message = format!("a frame of {} bytes is longer than {most}", bytes.len());
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        for (cell, chunk) in cells[BYTES..].iter().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            cell.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        cells[0].store(bytes.len() as u64, Ordering::Relaxed);
        (self.length, self.taken) = (0, 0);
        self.link.ring();
        Ok(())
    }

    /// Reads some of the answer. That there is none yet is an error of its own kind, as it is for sockets.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        if self.taken == self.length {
            let spins = match COUNT.load(Ordering::Relaxed) < cores() && !self.is_late {
                true => SPINS,
                false => 0,
            };
            self.is_late = !self.link.wait(spins, TICK);
            if self.is_late {
                return Err(ErrorKind::WouldBlock.into());
            }
            let cells = self.link.cells();
            let length = cells[0].load(Ordering::Relaxed) as usize;
            self.length = length.min((cells.len() - BYTES) * 8);
            self.taken = 0;
        }
        let count = bytes.len().min(self.length - self.taken);
        let cells = &self.link.cells()[BYTES..];
        let mut rest = &mut bytes[..count];
        while !rest.is_empty() {
            let word = cells[self.taken / 8].load(Ordering::Relaxed).to_le_bytes();
            let word = &word[self.taken % 8..];
            let (now, later) = rest.split_at_mut(word.len().min(rest.len()));
            now.copy_from_slice(&word[..now.len()]);
            self.taken += now.len();
            rest = later;
        }
        Ok(count)
    }
}

fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

impl Drop for Shared {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}
