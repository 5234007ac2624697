//! What tells the time in paced runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A sleep ends late by about so much; the rest is spun.
const SPUN: Duration = Duration::from_micros(150);

/// Tells the time, and waits.
pub trait Clock: Send + Sync {
    /// Time since an instant of its own. It never goes back.
    fn now(&self) -> Duration;
    /// Returns when this time has come, or later.
    fn wait_until(&self, time: Duration);
}

/// The clock on the wall, which nobody sets: each wait sleeps nearly to its end, and spins the rest.
#[derive(Clone, Copy, Debug)]
pub struct WallClock(Instant);

impl Default for WallClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for WallClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait_until(&self, time: Duration) {
        loop {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            match left.checked_sub(SPUN) {
                Some(sleep) if !sleep.is_zero() => std::thread::sleep(sleep),
                _ => std::hint::spin_loop(),
            }
        }
    }
}

/// A clock that goes on only when told to, or when somebody waits for it: with it, lateness is what
/// was put in, and nothing else.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// So much time passes.
    pub fn pass(&self, time: Duration) {
        self.0.fetch_add(nanoseconds(time), Ordering::AcqRel);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Acquire))
    }

    fn wait_until(&self, time: Duration) {
        self.0.fetch_max(nanoseconds(time), Ordering::AcqRel);
    }
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
