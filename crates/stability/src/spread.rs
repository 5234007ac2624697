//! Independent work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, scope};

/// Does something for each item, by the next thread that is free, and gives what came out in the
/// order of the items: it does not depend on the number of threads. Threads that the system refuses
/// are done without.
pub(crate) fn spread<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    f: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if threads < 2 || items.len() < 2 {
        return items.iter().map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return mine;
            };
            mine.push((index, f(item)));
        }
    };
    let mut all: Vec<(usize, R)> = scope(|scope| {
        let helpers: Vec<_> = (1..threads.min(items.len()))
            .filter_map(|_| Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut all = work();
        for helper in helpers {
            all.extend(helper.join().expect("work on an item does not panic"));
        }
        all
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_number_of_threads() {
        for threads in [0, 1, 3, 50] {
            let items: Vec<usize> = (0..20).collect();
            let squares = spread(&items, threads, |item| item * item);
            assert!(squares.into_iter().eq((0..20).map(|item| item * item)));
            assert!(spread(&items[..0], threads, |item| *item).is_empty());
        }
    }
}
