//! After start-up a step of a shell allocates nothing.

use std::alloc::System as SystemAllocator;

use oldham_multibody::bench::clamped_shell;
use oldham_multibody::{Options, System};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<SystemAllocator> = &INSTRUMENTED_SYSTEM;

#[test]
fn steps_and_factorisations_allocate_nothing() {
    // The harness still allocates on its own thread when it has started a test.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut system = System::new(clamped_shell([4, 2]).0, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let region = Region::new(ALLOCATOR);
    for _ in 0..200 {
        system.step(1e-3, &[]).unwrap();
    }
    let change = region.change();
    assert!(system.counters().factorisations > 1);
    assert_eq!(change.allocations + change.reallocations, 0);
}
