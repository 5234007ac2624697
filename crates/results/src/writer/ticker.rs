//! Tells when pending rows are due.
//!
//! Asking the clock at every row would cost as much as storing the row, and asking it every few
//! rows would be too late where steps turn slow at once. A sleeping thread that counts costs one
//! load a row and is never late. There is one for all writers of a process, started by the first: in a
//! sweep of short runs, a thread for each of them took longer than their rows. Where the system
//! refuses the thread the clock is asked after all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Half of the second that may be lost.
const INTERVAL: Duration = Duration::from_millis(500);

/// Intervals that have passed since the thread was started.
static TICKS: AtomicU64 = AtomicU64::new(0);
/// Whether it was.
static IS_TICKING: Mutex<bool> = Mutex::new(false);

/// What a writer has seen of the ticks.
pub(super) struct Ticker {
    seen: u64,
    /// When rows were last stored, where nobody counts.
    stored: Option<Instant>,
}

impl Ticker {
    pub(super) fn start() -> Self {
        let mut ticker = Self {
            seen: 0,
            stored: (!is_counted()).then(Instant::now),
        };
        ticker.reset();
        ticker
    }

    pub(super) fn has_ticked(&self) -> bool {
        match self.stored {
            Some(stored) => stored.elapsed() >= INTERVAL,
            None => TICKS.load(Ordering::Relaxed) != self.seen,
        }
    }

    pub(super) fn reset(&mut self) {
        self.seen = TICKS.load(Ordering::Relaxed);
        self.stored = self.stored.map(|_| Instant::now());
    }
}

/// Whether there is a thread that counts, after it was started if need be.
fn is_counted() -> bool {
    let count = || loop {
        thread::sleep(INTERVAL);
        TICKS.fetch_add(1, Ordering::Relaxed);
    };
    let mut is_ticking = IS_TICKING.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_ticking {
        let counting = thread::Builder::new().name("result-ticker".into());
        *is_ticking = counting.spawn(count).is_ok();
    }
    *is_ticking
}
