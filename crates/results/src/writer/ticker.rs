//! Tells when pending rows are due.
//!
//! Asking the clock at every row would cost as much as storing the row, and asking it every few
//! rows would be too late where steps turn slow at once. A sleeping thread that raises a flag
//! costs one load a row and is never late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Half of the second that may be lost.
const INTERVAL: Duration = Duration::from_millis(500);

/// A flag that goes up every [`INTERVAL`].
pub(super) struct Ticker {
    ticked: Arc<AtomicBool>,
    /// The thread ends when this is dropped.
    _alive: Sender<()>,
}

impl Ticker {
    pub(super) fn start() -> std::io::Result<Self> {
        let ticked = Arc::new(AtomicBool::new(false));
        let (alive, dropped) = mpsc::channel::<()>();
        let flag = Arc::clone(&ticked);
        thread::Builder::new()
            .name("result-ticker".into())
            .spawn(move || {
                while dropped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    flag.store(true, Ordering::Relaxed);
                }
            })?;
        Ok(Self {
            ticked,
            _alive: alive,
        })
    }

    pub(super) fn has_ticked(&self) -> bool {
        self.ticked.load(Ordering::Relaxed)
    }

    pub(super) fn reset(&mut self) {
        self.ticked.store(false, Ordering::Relaxed);
    }
}
