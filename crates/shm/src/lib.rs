//! Processes beside this one, and memory that two of them share, with a bell at each end (Linux).
//!
//! A [`Memory`] is a file without a name that both map; the other process gets its descriptor. Everything in it is atomic,
//! so that nothing that the other does to it can break this one. A [`Link`] is one end of it: each end writes cells, rings,
//! and waits for the other to ring. Waiting spins for a few microseconds and then sleeps in the kernel. A process is
//! [`Started`], and what it said last is known when it ends.

mod child;
mod link;
mod memory;

pub use child::{Started, words_of};
pub use link::{End, Link};
pub use memory::Memory;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// From now on this process ends when the *thread* that started it does. Says whether the parent is still the process with
/// this number: it may have ended before.
pub fn end_with_parent(parent: u32) -> bool {
    let asked = set_parent_process_death_signal(Some(Signal::KILL));
    let is_there = getppid().is_some_and(|pid| pid.as_raw_nonzero().get() as u32 == parent);
    asked.is_ok() && is_there
}
