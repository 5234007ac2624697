//! Runs that wait and go on.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oldham_cosim::Cancel;

/// While a run waits it looks so often whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// Lets a run wait between two steps, go on, or end. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Pause(Arc<(Mutex<Wanted>, Condvar)>);

#[derive(Debug, Default)]
struct Wanted {
    paused: bool,
    ended: bool,
    /// Ends the stretch that runs now.
    stretch: Cancel,
}

impl Pause {
    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run is to wait.
    pub fn pause(&self) {
        let mut wanted = self.wanted();
        wanted.paused = true;
        wanted.stretch.request();
    }

    /// It is to go on.
    pub fn go_on(&self) {
        self.wanted().paused = false;
        self.0.1.notify_all();
    }

    /// It is to end.
    pub fn end(&self) {
        let mut wanted = self.wanted();
        wanted.ended = true;
        wanted.stretch.request();
        self.0.1.notify_all();
    }

    /// Whether it waits, or soon will.
    pub fn is_paused(&self) -> bool {
        self.wanted().paused
    }

    /// Waits until the run may go on, and gives what ends the next stretch; `None` if the run is to
    /// end.
    pub(crate) fn next(&self, cancel: Option<&Cancel>) -> Option<Cancel> {
        let mut wanted = self.wanted();
        loop {
            if wanted.ended || cancel.is_some_and(Cancel::is_requested) {
                return None;
            }
            if !wanted.paused {
                wanted.stretch = Cancel::default();
                return Some(wanted.stretch.clone());
            }
            let waited = self.0.1.wait_timeout(wanted, LOOK);
            wanted = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
