//! Runs that wait, go on, and go back.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oldham_cosim::Cancel;

/// While a run waits it looks so often whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// Where a run can go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its start.
    Start,
    /// The state that was saved last; the start, if none was.
    Saved,
}

/// Lets a run wait between two steps, go on, save its state, go back or end. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Pause(Arc<(Mutex<Wanted>, Condvar)>);

#[derive(Debug, Default)]
struct Wanted {
    paused: bool,
    ended: bool,
    /// It is to keep its state ...
    saves: bool,
    /// ... and then to end, and to go on from there.
    returns: Option<Place>,
    /// Ends the stretch that runs now.
    stretch: Cancel,
}

/// What a run does next.
pub(crate) enum Next {
    /// It runs until this ends the stretch.
    Run(Cancel),
    /// It takes a turn first.
    Turn,
    /// It ends.
    End,
}

impl Pause {
    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn want(&self, change: impl FnOnce(&mut Wanted)) {
        let mut wanted = self.wanted();
        change(&mut wanted);
        wanted.stretch.request();
        self.0.1.notify_all();
    }

    /// The run is to wait.
    pub fn pause(&self) {
        self.want(|wanted| wanted.paused = true);
    }

    /// It is to go on.
    pub fn go_on(&self) {
        self.wanted().paused = false;
        self.0.1.notify_all();
    }

    /// It is to save its state, and go on.
    pub fn save(&self) {
        self.want(|wanted| wanted.saves = true);
    }

    /// It is to go back, and on from there.
    pub fn go_back(&self, place: Place) {
        self.want(|wanted| {
            wanted.returns = Some(place);
            wanted.paused = false;
        });
    }

    /// It is to end.
    pub fn end(&self) {
        self.want(|wanted| wanted.ended = true);
    }

    /// Whether it waits, or soon will.
    pub fn is_paused(&self) -> bool {
        self.wanted().paused
    }

    /// Whether it was ended for good.
    pub fn is_ended(&self) -> bool {
        self.wanted().ended
    }

    /// Where it is to go back to, if it is; asked once, it is forgotten.
    pub fn take_return(&self) -> Option<Place> {
        self.wanted().returns.take()
    }

    /// Whether it is to save its state; asked once, it is forgotten.
    pub(crate) fn take_save(&self) -> bool {
        std::mem::take(&mut self.wanted().saves)
    }

    /// Waits until there is something to do.
    pub(crate) fn next(&self, cancel: Option<&Cancel>) -> Next {
        let mut wanted = self.wanted();
        loop {
            if wanted.ended || cancel.is_some_and(Cancel::is_requested) {
                return Next::End;
            }
            if wanted.saves || wanted.returns.is_some() {
                return Next::Turn;
            }
            if !wanted.paused {
                wanted.stretch = Cancel::default();
                return Next::Run(wanted.stretch.clone());
            }
            let waited = self.0.1.wait_timeout(wanted, LOOK);
            wanted = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
