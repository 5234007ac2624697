//! The wish to end a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish to end a run, shared by whoever may have it, the engine, and parts that wait for others.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// From now on the run should end.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it should.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
