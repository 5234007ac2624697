//! After start-up a step of the car allocates nothing.

mod common;

use std::alloc::System as SystemAllocator;

use common::car::car;
use oldham_cosim::{Discard, Run};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<SystemAllocator> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_step_allocates_nothing() {
    let set = [
        ("v0", "20"),
        ("v_test", "20"),
        ("t_step", "0.05"),
        ("simulation.duration", "3"),
    ];
    let model = car("", &set);
    for cut in [false, true] {
        let allocations = |steps: u64| {
            let mut simulation = match cut {
                true => model.simulation().unwrap(),
                false => model.monolithic(None).unwrap(),
            };
            let region = Region::new(ALLOCATOR);
            let outcome = simulation.run(Run {
                record_every: u64::MAX,
                ..Run::new(steps, &mut Discard)
            });
            let change = region.change();
            outcome.end.unwrap();
            change.allocations + change.reallocations
        };
        assert_eq!(allocations(200), allocations(2000), "cut: {cut}");
    }
}
