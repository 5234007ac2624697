//! Where those who advance the parts of a model meet: threads of one process, or the threads of
//! several processes, which also exchange there what they have written.

use std::time::Duration;

use crate::barrier::Barrier;
use crate::worker::Signals;

/// What is new in the exchange buffer since the last meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brought {
    /// Nothing that others read.
    Nothing,
    /// Outputs, in this half.
    Outputs(usize),
    /// The first iterate of an implicit step.
    Iterates,
    /// What the coordinator receives.
    Reports,
}

/// A meeting of all who advance units. Everybody comes to every meeting, in the same order.
pub(crate) trait Meeting: Sync {
    /// Returns when all have called it, each thread with its own number; what each wrote to the
    /// exchange buffer and the signals before is then visible to all.
    fn wait(&self, thread: usize, brought: Brought, signals: &Signals);

    /// Whether there is anybody else to meet.
    fn is_needed(&self) -> bool;

    /// How long threads have slept here, all together.
    fn slept(&self) -> Duration;
}

/// The threads of one process share the exchange buffer: to meet is enough.
impl Meeting for Barrier {
    fn wait(&self, thread: usize, _: Brought, _: &Signals) {
        Barrier::wait(self, thread);
    }

    fn is_needed(&self) -> bool {
        self.threads() > 1
    }

    fn slept(&self) -> Duration {
        Barrier::slept(self)
    }
}
