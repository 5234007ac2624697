//! A barrier for steps of a few microseconds.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps neighbouring counters off each other's cache line.
#[repr(align(128))]
#[derive(Default)]
struct Padded(AtomicUsize);

pub(crate) struct Barrier {
    threads: usize,
    /// Spins before the time slice is given away. A pure spin is fastest, but with more threads
    /// than cores it would spin on the very thread it waits for.
    spin_limit: u32,
    arrived: Padded,
    epoch: Padded,
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
            spin_limit: if threads == 1 || has_cores() {
                2_000
            } else {
                100
            },
            arrived: Padded::default(),
            epoch: Padded::default(),
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
            self.epoch.0.store(epoch + 1, Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.epoch.0.load(Ordering::Acquire) == epoch {
            if spins < self.spin_limit {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
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
