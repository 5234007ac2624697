//! Where none of it is built in.

const LINUX_ONLY: &str = "it is built in for Linux alone";

pub fn thread_cpu_seconds() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0.0, |time| time.as_secs_f64())
}

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
