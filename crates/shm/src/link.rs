//! One end of a shared memory: ringing, and waiting for the other end to ring.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::Timespec;
use rustix::thread::futex;

use crate::memory::Memory;

/// The two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that asks.
    Host,
    /// The one that answers.
    Worker,
}

impl End {
    /// The words of this end: how often it has rung, and whether it sleeps.
    fn words(self) -> [usize; 2] {
        match self {
            Self::Host => [0, 1],
            Self::Worker => [2, 3],
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Host => Self::Worker,
            Self::Worker => Self::Host,
        }
    }
}

/// One end of a shared memory.
pub struct Link {
    memory: Arc<Memory>,
    end: End,
    /// How often the other end had rung when it was last heard.
    heard: u32,
}

impl Link {
    /// This end of a memory.
    pub fn new(memory: Arc<Memory>, end: End) -> Self {
        Self {
            memory,
            end,
            heard: 0,
        }
    }

    /// The cells that both ends see. Write them before ringing, read them after hearing.
    pub fn cells(&self) -> &[AtomicU64] {
        self.memory.cells()
    }

    /// The memory itself.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    fn rung(&self, end: End) -> &AtomicU32 {
        self.memory.word(end.words()[0])
    }

    fn sleeps(&self, end: End) -> &AtomicU32 {
        self.memory.word(end.words()[1])
    }

    /// Tells the other end that there is something; what was written before is visible to it when it hears.
    pub fn ring(&self) {
        let bell = self.rung(self.end);
        // In one order with the other end's going to sleep: either it sees this, or is seen asleep.
        bell.fetch_add(1, Ordering::SeqCst);
        if self.sleeps(self.end.other()).load(Ordering::SeqCst) != 0 {
            let _ = futex::wake(bell, futex::Flags::empty(), 1);
        }
    }

    /// Waits until the other end rings: looks so many times, then sleeps. Says whether it has rung in time.
    pub fn wait(&mut self, spins: u32, patience: Duration) -> bool {
        let heard = self.heard;
        let other = self.end.other();
        for _ in 0..=spins {
            if self.rung(other).load(Ordering::Acquire) != heard {
                self.heard = heard.wrapping_add(1);
                return true;
            }
            std::hint::spin_loop();
        }
        self.sleep(patience)
    }

    #[cold]
    fn sleep(&mut self, patience: Duration) -> bool {
        let other = self.end.other();
        let time = Timespec {
            tv_sec: patience.as_secs() as _,
            tv_nsec: patience.subsec_nanos() as _,
        };
        let asleep = self.sleeps(self.end);
        asleep.store(1, Ordering::SeqCst);
        let bell = self.rung(other);
        if bell.load(Ordering::SeqCst) == self.heard {
            // Woken for no reason is as good as out of time: whoever waits asks again.
            let _ = futex::wait(bell, futex::Flags::empty(), self.heard, Some(&time));
        }
        asleep.store(0, Ordering::SeqCst);
        let has_rung = bell.load(Ordering::SeqCst) != self.heard;
        if has_rung {
            self.heard = self.heard.wrapping_add(1);
        }
        has_rung
    }
}
