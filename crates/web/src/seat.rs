//! Somebody who drives without a page, such as at a wheel that is plugged into this computer.

use crate::{Stage, Wish};

/// The place at a stage from which one drives without a page. Whoever leaves it lets go of the inputs.
pub struct Seat {
    stage: Stage,
    seen: u64,
}

impl Seat {
    /// No page is given this number.
    pub(crate) const ID: u64 = u64::MAX;

    /// Sits down, without driving yet.
    pub fn at(stage: &Stage) -> Self {
        Self {
            stage: stage.clone(),
            seen: 0,
        }
    }

    /// Does what is wished, if this one may.
    pub fn wish(&self, wish: Wish) {
        self.stage.obey(Self::ID, wish);
    }

    /// Whether this one drives.
    pub fn drives(&self) -> bool {
        self.stage.is_driven_by(Self::ID)
    }

    /// Whether the run waits.
    pub fn is_paused(&self) -> bool {
        self.stage.is_paused()
    }

    /// A number of the newest row, if that is newer than the last one that was asked for.
    pub fn newest(&mut self, at: usize) -> Option<f32> {
        self.stage.number_newer_than(&mut self.seen, at)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.wish(Wish::Leave);
    }
}
