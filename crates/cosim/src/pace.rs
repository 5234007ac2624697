//! Steps at the pace of the clock on the wall.

use std::time::{Duration, Instant};

/// A sleep ends late by about so much; the rest is spun.
const SPUN: Duration = Duration::from_micros(150);

/// When each step may begin. Every thread waits for itself, to the same instants: nobody spins for
/// somebody who sleeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    start: Instant,
    first: u64,
    /// Wall time of a step, in seconds.
    period: f64,
}

impl Pace {
    /// Step `first` begins at `start`, and the others follow at this period.
    pub fn new(start: Instant, first: u64, period: f64) -> Self {
        Self {
            start,
            first,
            period,
        }
    }

    /// Waits until step n may begin. Returns how late it is.
    pub fn wait(&self, n: u64) -> Duration {
        let seconds = (n - self.first) as f64 * self.period;
        let due = self.start + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4);
        loop {
            let now = Instant::now();
            let Some(left) = due
                .checked_duration_since(now)
                .filter(|left| !left.is_zero())
            else {
                return now - due;
            };
            match left.checked_sub(SPUN) {
                Some(sleep) if !sleep.is_zero() => std::thread::sleep(sleep),
                _ => std::hint::spin_loop(),
            }
        }
    }
}
