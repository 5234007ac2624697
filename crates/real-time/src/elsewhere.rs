//! Where none of it is built in.

const LINUX_ONLY: &str = "it is built in for Linux alone";

pub fn schedule_fifo(_priority: u8) -> Result<(), String> {
    Err(LINUX_ONLY.into())
}

pub fn schedule_as_others() {}

pub fn lock_memory() -> Result<(), String> {
    Err(LINUX_ONLY.into())
}

pub fn pin(_core: usize) -> Result<(), String> {
    Err(LINUX_ONLY.into())
}

pub fn unpin() {}
