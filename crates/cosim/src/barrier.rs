//! A barrier for steps of a few microseconds.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// Keeps neighbouring counters off each other's cache line.
#[repr(align(128))]
#[derive(Default)]
struct Padded(AtomicUsize);

/// Spins before the time slice is given away: about ten microseconds.
const SPINS: u32 = 2_000;
/// The same where threads share cores: a spin would wait for the very thread that it keeps out.
const SPINS_SHARED: u32 = 100;
/// Time slices given away before the thread sleeps. A thread that sleeps leaves its core to
/// others, but takes tens of microseconds to wake.
const YIELDS: u32 = 50;

pub(crate) struct Barrier {
    threads: usize,
    spins: u32,
    arrived: Padded,
    epoch: Padded,
    sleepers: Padded,
    asleep: Mutex<()>,
    woken: Condvar,
}

impl Barrier {
    pub fn new(threads: usize) -> Self {
        // Asking for the number of cores takes longer than a step: a single thread never waits.
        let has_cores = || {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            threads <= cores
        };
        Self {
            threads,
            spins: match threads == 1 || has_cores() {
                true => SPINS,
                false => SPINS_SHARED,
            },
            arrived: Padded::default(),
            epoch: Padded::default(),
            sleepers: Padded::default(),
            asleep: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Returns when all threads have called it; what each wrote before is then visible to all.
    pub fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let epoch = self.epoch.0.load(Ordering::Relaxed);
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.0.store(0, Ordering::Relaxed);
            // In one order with the count of sleepers: either they see the new epoch, or are seen.
            self.epoch.0.store(epoch + 1, Ordering::SeqCst);
            if self.sleepers.0.load(Ordering::SeqCst) > 0 {
                let _guard = self.asleep.lock().expect("nobody panics holding it");
                self.woken.notify_all();
            }
            return;
        }
        let is_over = || self.epoch.0.load(Ordering::Acquire) != epoch;
        for _ in 0..self.spins {
            if is_over() {
                return;
            }
            std::hint::spin_loop();
        }
        for _ in 0..YIELDS {
            if is_over() {
                return;
            }
            std::thread::yield_now();
        }
        self.sleep(epoch);
    }

    #[cold]
    fn sleep(&self, epoch: usize) {
        let guard = self.asleep.lock().expect("nobody panics holding it");
        self.sleepers.0.fetch_add(1, Ordering::SeqCst);
        let slept = self
            .woken
            .wait_while(guard, |()| self.epoch.0.load(Ordering::SeqCst) == epoch);
        drop(slept.expect("nobody panics holding it"));
        self.sleepers.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn nobody_runs_ahead() {
        for threads in [1, 2, 5] {
            let barrier = Barrier::new(threads);
            let total = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for round in 1..=200 {
                            total.fetch_add(1, Ordering::Relaxed);
                            barrier.wait();
                            assert_eq!(total.load(Ordering::Relaxed), round * threads as u64);
                            barrier.wait();
                        }
                    });
                }
            });
        }
    }
}
