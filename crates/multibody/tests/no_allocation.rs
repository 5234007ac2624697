//! After start-up a step allocates nothing.

use std::alloc::System as SystemAllocator;

use oldham_cosim::{Hold, Inputs, StageInputs, Subsystem};
use oldham_multibody::bench::{hanging_beam, spatial_chain};
use oldham_multibody::{Method, Model, Options, PartBuilder, System};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<SystemAllocator> = &INSTRUMENTED_SYSTEM;

const RK4: Method = Method::Rk4 {
    inputs: StageInputs::Interpolated,
};

fn assert_no_allocation(model: Model, method: Method, h: f64) {
    let options = Options {
        method,
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

/// The same where Newton fails and steps are taken in pieces.
fn assert_retries_without_allocation() {
    let options = Options {
        max_iterations: 4,
        ..Options::default()
    };
    let mut system = System::new(hanging_beam(4, 0.05).0, options).unwrap();
    system.start(0.0, &[]).unwrap();
    let region = Region::new(ALLOCATOR);
    for _ in 0..5 {
        system.step(0.1, &[]).unwrap();
    }
    let change = region.change();
    assert!(system.counters().retries > 0);
    assert_eq!(change.allocations + change.reallocations, 0);
}

/// The same through the engine's interface, with a received wrench.
fn assert_advance_without_allocation(method: Method) {
    let (model, nodes) = spatial_chain(4);
    let options = Options {
        method,
        ..Options::default()
    };
    let mut builder = PartBuilder::new(model);
    builder.load("tip", nodes[4]);
    let mut part = builder.build(options, 2).unwrap();
    let mut inputs = Inputs::new(part.ports(), Box::new(Hold::new(1, part.ports())));
    let mut outputs = vec![0.0; part.ports().output_width()];
    part.outputs(0.0, &[0.0; 6], &mut outputs).unwrap();
    let region = Region::new(ALLOCATOR);
    for step in 0..200 {
        let t = step as f64 * 1e-3;
        part.advance(t, t + 1e-3, &mut inputs).unwrap();
        part.outputs(t + 1e-3, &[0.0; 6], &mut outputs).unwrap();
    }
    let change = region.change();
    assert_eq!(change.allocations + change.reallocations, 0);
}

/// One test, since the counter is that of the whole process.
#[test]
fn steps_factorisations_and_advances_allocate_nothing() {
    // The harness still allocates on its own thread when it has started a test.
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_retries_without_allocation();
    for (method, beam_damping) in [(Method::default(), 0.05), (RK4, 0.0)] {
        assert_no_allocation(spatial_chain(5).0, method, 1e-3);
        assert_no_allocation(hanging_beam(4, beam_damping).0, method, 1e-4);
        assert_advance_without_allocation(method);
    }
}
