//! A mapping, seen as atomics: all that is unsafe about sharing memory.
//!
//! The file is sealed against shrinking, so that no access can fall off its end, and it is as long as it was when it was
//! mapped. Other processes may write to it at any time; of atomics that is allowed, of plain numbers it would not be.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Bytes before the cells: words on cache lines of their own.
const WORDS: usize = 8;
const LINE: usize = 128;
const HEAD: usize = WORDS * LINE;

/// Memory that is shared with another process: a few words of 32 bits, each on cache lines of its own, and cells of 64 bits.
pub struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

// Safety: it is reached through atomics alone.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl Memory {
    /// New memory with so many cells, all zero, and what the other process needs to map it.
    pub fn new(cells: usize) -> io::Result<(Self, OwnedFd)> {
        let bytes = HEAD + cells * size_of::<u64>();
        let file = memfd_create("oldham", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, bytes as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok((Self::map(&file, bytes)?, file))
    }

    /// The memory of another process, by its descriptor.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let seals = fcntl_get_seals(&file)?;
        let bytes = fstat(&file)?.st_size as usize;
        if !seals.contains(SealFlags::SHRINK) || bytes < HEAD {
            let message = "it is not memory that was made to be shared";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Self::map(&file, bytes)
    }

    fn map(file: &impl AsFd, bytes: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // Safety: a new mapping, at a place that the kernel chooses, of a file that cannot become shorter.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                access,
                MapFlags::SHARED,
                file.as_fd(),
                0,
            )
        }?;
        let start = NonNull::new(start.cast()).expect("a mapping is not at zero");
        Ok(Self { start, bytes })
    }

    /// A word of the head.
    pub(crate) fn word(&self, index: usize) -> &AtomicU32 {
        assert!(index < WORDS);
        // Safety: within the head, aligned to a cache line, and alive as long as `self`.
        unsafe { self.start.add(index * LINE).cast().as_ref() }
    }

    /// The cells.
    pub fn cells(&self) -> &[AtomicU64] {
        let count = (self.bytes - HEAD) / size_of::<u64>();
        // Safety: so many whole cells lie behind the head, aligned, and alive as long as `self`.
        unsafe { NonNull::slice_from_raw_parts(self.start.add(HEAD).cast(), count).as_ref() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Safety: nobody can have borrowed from it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
