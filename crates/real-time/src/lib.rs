//! What a thread with deadlines wants of the system: to be scheduled before others, memory that is
//! never fetched from disk, a core of its own. None of it is needed, all of it helps, and most
//! systems grant it to a few users only: what is granted is used, and what is not is told. Beside that, the clock of what a
//! thread has computed.
//!
//! ```
//! use oldham_real_time::{Privileges, Wishes};
//!
//! let privileges = Privileges::new(Wishes { fifo: Some(10), ..Wishes::default() });
//! std::thread::scope(|scope| {
//!     scope.spawn(|| privileges.take(1));
//! });
//! for told in privileges.told() {
//!     println!("{}: {}", told.what, told.outcome());
//! }
//! ```

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Time in s that the calling thread has computed since some instant: on a busy machine it goes on only while the thread
/// does. Where the system has no such clock it is the time of day.
pub fn thread_cpu_seconds() -> f64 {
    system::thread_cpu_seconds()
}

/// What is wished for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The class SCHED_FIFO with this priority, from 1 to 99: before all usual threads, until it waits.
    pub fifo: Option<u8>,
    /// All memory of the process is kept in main memory.
    pub locked_memory: bool,
    /// Cores, one for each thread in turn.
    pub cores: Vec<usize>,
}

impl Wishes {
    /// Whether nothing is.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What came of a wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// What was wished for.
    pub what: String,
    /// Why it was refused; `None` if it was granted.
    pub refused: Option<String>,
}

impl Told {
    /// In words.
    pub fn outcome(&self) -> String {
        match &self.refused {
            None => "granted".into(),
            Some(reason) => format!("not granted ({reason})"),
        }
    }
}

/// Takes what is wished for, thread by thread, and remembers what was refused.
#[derive(Debug, Default)]
pub struct Privileges {
    wishes: Wishes,
    told: Mutex<Vec<Told>>,
}

impl Privileges {
    /// Locks the memory, if that is wished for; everything else is for threads to take.
    pub fn new(wishes: Wishes) -> Self {
        let privileges = Self {
            wishes,
            told: Mutex::default(),
        };
        if privileges.wishes.locked_memory {
            privileges.tell("memory locked".into(), system::lock_memory());
        }
        privileges
    }

    /// The calling thread, which has this number among those of the run, takes what it may.
    pub fn take(&self, thread: usize) {
        if let Some(priority) = self.wishes.fifo {
            let what = format!("SCHED_FIFO, priority {priority}");
            self.tell(what, system::schedule_fifo(priority));
        }
        if !self.wishes.cores.is_empty() {
            let core = self.wishes.cores[thread % self.wishes.cores.len()];
            self.tell(format!("thread {thread} on core {core}"), system::pin(core));
        }
    }

    /// The calling thread becomes one like others.
    pub fn give_back(&self) {
        if self.wishes.fifo.is_some() {
            system::schedule_as_others();
        }
        if !self.wishes.cores.is_empty() {
            system::unpin();
        }
    }

    /// What was wished for so far, each once, in the order of the wishes.
    pub fn told(&self) -> Vec<Told> {
        self.log().clone()
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Vec<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, what: String, outcome: Result<(), String>) {
        let told = Told {
            what,
            refused: outcome.err(),
        };
        let mut log = self.log();
        if !log.contains(&told) {
            log.push(told);
        }
    }
}
