//! Counts allocations. The tests that use it are alone in their files: others that run at the same time would be counted
//! too.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::alloc::System;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Waits until the harness, which still allocates on its own thread when it has started a test, is done.
pub fn settle() {
    std::thread::sleep(Duration::from_millis(200));
}

/// Counts from now on.
pub fn region() -> Region<'static, System> {
    Region::new(ALLOCATOR)
}
