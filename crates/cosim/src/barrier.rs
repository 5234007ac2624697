//! A barrier for steps of a few microseconds.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Keeps neighbouring counters off each other's cache line.
#[repr(align(128))]
#[derive(Default)]
struct Padded(AtomicUsize);

/// Spins before a thread sleeps: about ten microseconds. To give the time slice away instead would
/// hand the core to another program for milliseconds.
const SPINS: u32 = 2_000;
/// The same where threads share cores: a spin would wait for the very thread that it keeps out.
const SPINS_SHARED: u32 = 100;
/// Time slices given away there before the thread sleeps: it takes tens of microseconds to wake.
const YIELDS_SHARED: u32 = 50;

pub(crate) struct Barrier {
    threads: usize,
    spins: u32,
    yields: u32,
    arrived: Padded,
    epoch: Padded,
    sleepers: Padded,
    asleep: Mutex<()>,
    woken: Condvar,
    /// Nanoseconds that threads have slept, all together.
    slept: AtomicU64,
}

impl Barrier {
    pub fn new(threads: usize) -> Self {
        // Asking for the number of cores takes longer than a step: a single thread never waits.
        let has_cores = || {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            threads <= cores
        };
        let (spins, yields) = match threads == 1 || has_cores() {
            true => (SPINS, 0),
            false => (SPINS_SHARED, YIELDS_SHARED),
        };
        Self {
            threads,
            spins,
            yields,
            arrived: Padded::default(),
            epoch: Padded::default(),
            sleepers: Padded::default(),
            asleep: Mutex::new(()),
            woken: Condvar::new(),
            slept: AtomicU64::new(0),
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
        for _ in 0..self.yields {
            if is_over() {
                return;
            }
            std::thread::yield_now();
        }
        self.sleep(epoch);
    }

    /// How long threads have slept here, all together. They sleep where another one takes far longer
    /// than usual: because it has much more to do, or because it was not given its core.
    pub fn slept(&self) -> Duration {
        Duration::from_nanos(self.slept.load(Ordering::Relaxed))
    }

    #[cold]
    fn sleep(&self, epoch: usize) {
        let started = Instant::now();
        let guard = self.asleep.lock().expect("nobody panics holding it");
        self.sleepers.0.fetch_add(1, Ordering::SeqCst);
        let slept = self
            .woken
            .wait_while(guard, |()| self.epoch.0.load(Ordering::SeqCst) == epoch);
        drop(slept.expect("nobody panics holding it"));
        self.sleepers.0.fetch_sub(1, Ordering::SeqCst);
        let slept = started.elapsed().as_nanos() as u64;
        self.slept.fetch_add(slept, Ordering::Relaxed);
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
