//! After start-up a step allocates nothing.

use std::alloc::System as SystemAllocator;

use oldham_multibody::bench::{hanging_beam, spatial_chain};
use oldham_multibody::{Model, Options, System};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<SystemAllocator> = &INSTRUMENTED_SYSTEM;

fn assert_no_allocation(model: Model, h: f64) {
    let options = Options {
        account_energy: true,
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    let region = Region::new(ALLOCATOR);
    for _ in 0..200 {
        system.step(h, &[]).unwrap();
    }
    let change = region.change();
    assert!(
        system.counters().factorisations > 1,
        "factorisations are part of the test"
    );
    assert_eq!(change.allocations + change.reallocations, 0);
}

#[test]
fn steps_and_factorisations_allocate_nothing() {
    assert_no_allocation(spatial_chain(5).0, 1e-3);
    assert_no_allocation(hanging_beam(4, 0.05).0, 1e-4);
}
