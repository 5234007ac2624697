//! One stretch of a run: the threads from their start to their end.

use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::fault::Fault;
use crate::load_balancing::assign_threads;
use crate::slow::Companion;
use crate::stats::Split;
use crate::unit::Unit;
use crate::worker::{Coordinator, Reporting, Shared, Worker};

/// What came of a stretch.
pub(crate) struct Stretch {
    /// Complete steps.
    pub done: u64,
    pub split: Split,
}

/// Runs the steps from `first` on; this is the first of the threads. The units named as overlapping
/// have companion threads.
pub(crate) fn run_stretch(
    units: &mut [Unit],
    overlapping: &[usize],
    shared: &Shared<'_>,
    reporting: Reporting,
    first: u64,
    coordinator: &mut dyn Coordinator,
) -> Result<Stretch, Fault> {
    let threads = shared.threads();
    let companions = overlapping.iter().map(|&id| (id, Companion::default()));
    let companions: Vec<_> = companions.collect();
    let has_companion = |id: usize| companions.iter().any(|(slow, _)| *slow == id);
    let workers = threads - companions.len();
    let mut shares = assign_threads(units, shared.plan, workers, has_companion);
    let own = shares.remove(0);
    let stretch = std::thread::scope(|scope| {
        let mut beside = Vec::new();
        let outcome = (|| {
            for (_, companion) in &companions {
                beside.push(companion);
                let number = workers + beside.len() - 1;
                spawn(scope, move || {
                    shared.enter(number);
                    companion.run();
                })?;
            }
            // Nobody starts before all threads are there: where one is missing, the others would
            // wait for it for ever.
            let mut others = Vec::new();
            for (number, units) in (1..).zip(shares) {
                let mut worker = Worker::new(number, units, &companions, shared, reporting);
                let (gate, opened) = std::sync::mpsc::channel();
                let work = move || {
                    shared.enter(number);
                    if opened.recv().is_ok() {
                        worker.run(first, None);
                    }
                    worker.split
                };
                others.push((gate, spawn(scope, work)?));
            }
            shared.enter(0);
            let mut worker = Worker::new(0, own, &companions, shared, reporting);
            for (gate, _) in &others {
                let _ = gate.send(());
            }
            let done = worker.run(first, Some(coordinator));
            let mut split = worker.split;
            for (_, other) in others {
                split.add(&other.join().expect("a panic is a fault"));
            }
            Ok(Stretch { done, split })
        })();
        beside.into_iter().for_each(Companion::close);
        outcome
    });
    stretch.map_err(|message: String| Fault::Threads { threads, message })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, String> {
    let spawned = Builder::new().spawn_scoped(scope, work);
    spawned.map_err(|error| error.to_string())
}
