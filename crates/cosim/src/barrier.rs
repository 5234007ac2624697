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
    spins: u32,
    yields: u32,
    /// How many barriers each thread has reached. Only that thread writes it: the others see its
    /// arrival with the first look at the one cache line that changes.
    reached: Box<[Padded]>,
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
            spins,
            yields,
            reached: (0..threads).map(|_| Padded::default()).collect(),
            sleepers: Padded::default(),
            asleep: Mutex::new(()),
            woken: Condvar::new(),
            slept: AtomicU64::new(0),
        }
    }

    /// How many threads meet here.
    pub fn threads(&self) -> usize {
        self.reached.len()
    }

    /// Returns when all threads have called it, each with its own number; what each wrote before is
    /// then visible to all.
    pub fn wait(&self, thread: usize) {
        if self.reached.len() == 1 {
            return;
        }
        let own = &self.reached[thread].0;
        let count = own.load(Ordering::Relaxed).wrapping_add(1);
        // In one order with the count of sleepers: either they see this arrival, or are seen.
        own.store(count, Ordering::SeqCst);
        if self.sleepers.0.load(Ordering::SeqCst) > 0 {
            let _guard = self
                .asleep
                .lock()
                .expect("no thread panics while it holds it");
            self.woken.notify_all();
        }
        let mut tries = self.spins + self.yields;
        for other in &self.reached {
            while !is_there(other.0.load(Ordering::Acquire), count) {
                match tries {
                    0 => return self.sleep(count),
                    left if left > self.yields => std::hint::spin_loop(),
                    _ => std::thread::yield_now(),
                }
                tries -= 1;
            }
        }
    }

    /// How long threads have slept here, all together. They sleep where another one takes far longer
    /// than usual: because it has much more to do, or because it was not given its core.
    pub fn slept(&self) -> Duration {
        Duration::from_nanos(self.slept.load(Ordering::Relaxed))
    }

    #[cold]
    fn sleep(&self, count: usize) {
        let started = Instant::now();
        let guard = self
            .asleep
            .lock()
            .expect("no thread panics while it holds it");
        self.sleepers.0.fetch_add(1, Ordering::SeqCst);
        let misses_some = |_: &mut ()| {
            let mut reached = self.reached.iter();
            !reached.all(|other| is_there(other.0.load(Ordering::SeqCst), count))
        };
        let slept = self.woken.wait_while(guard, misses_some);
        drop(slept.expect("no thread panics while it holds it"));
        self.sleepers.0.fetch_sub(1, Ordering::SeqCst);
        let slept = started.elapsed().as_nanos() as u64;
        self.slept.fetch_add(slept, Ordering::Relaxed);
    }
}

/// Whether a thread that has reached so many barriers is at this one, or at the next.
fn is_there(reached: usize, count: usize) -> bool {
    reached.wrapping_sub(count) <= 1
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
                for thread in 0..threads {
                    let (barrier, total) = (&barrier, &total);
                    scope.spawn(move || {
                        for round in 1..=200 {
                            total.fetch_add(1, Ordering::Relaxed);
                            barrier.wait(thread);
                            assert_eq!(total.load(Ordering::Relaxed), round * threads as u64);
                            barrier.wait(thread);
                        }
                    });
                }
            });
        }
    }
}
