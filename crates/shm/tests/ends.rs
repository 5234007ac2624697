//! Two ends of a memory, on two threads: what is written before a ring is seen behind it, awake or asleep.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use oldham_shm::{End, Link, Memory};

const LONG: Duration = Duration::from_secs(20);

fn answer(mut worker: Link, rounds: u64, spins: u32) {
    for _ in 0..rounds {
        assert!(worker.wait(spins, LONG));
        let cells = worker.cells();
        cells[1].store(3 * cells[0].load(Relaxed) + 1, Relaxed);
        worker.ring();
    }
}

#[test]
fn every_question_gets_its_answer() {
    for spins in [0, 10, 2000] {
        let (memory, file) = Memory::new(4).unwrap();
        let other = Memory::of(file.as_fd()).unwrap();
        let mut host = Link::new(Arc::new(memory), End::Host);
        let worker = Link::new(Arc::new(other), End::Worker);
        let rounds = 3000;
        let thread = std::thread::spawn(move || answer(worker, rounds, spins));
        for n in 0..rounds {
            host.cells()[0].store(n, Relaxed);
            host.ring();
            assert!(host.wait(spins, LONG));
            assert_eq!(host.cells()[1].load(Relaxed), 3 * n + 1);
        }
        thread.join().unwrap();
    }
}

#[test]
fn who_is_not_answered_waits_no_longer_than_it_wants() {
    let (memory, _file) = Memory::new(1).unwrap();
    let mut host = Link::new(Arc::new(memory), End::Host);
    host.ring();
    let started = Instant::now();
    assert!(!host.wait(5, Duration::from_millis(30)));
    assert!(started.elapsed() >= Duration::from_millis(25));
    assert!(started.elapsed() < LONG);
}

#[test]
fn only_memory_that_cannot_shrink_is_mapped() {
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    assert!(Memory::of(file.as_fd()).is_err());
}
